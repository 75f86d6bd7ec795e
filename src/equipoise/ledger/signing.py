"""Signing a checkpoint: only of a history that verifies, and goes on from everything that was signed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from equipoise.errors import LedgerRefused, LedgerTampered
from equipoise.keys import PrivateKey, fingerprint
from equipoise.ledger import witness
from equipoise.ledger.book import Ledger
from equipoise.ledger.chain import Entry
from equipoise.ledger.checkpoint_table import NEWEST, CheckpointTable
from equipoise.ledger.checkpoints import Checkpoint, Recovered, SignedCheckpoint, in_order, signed
from equipoise.ledger.currencies import Amount
from equipoise.ledger.currencies.base import text_of
from equipoise.ledger.records import amount_of
from equipoise.ledger.walk import Walk

# So many entries one statement on a recovery names at most: no reader takes a longer one than `LARGEST_CHECKPOINT`.
MOST_REPLACED = 10_000


def signed_head(
    reference: str, key: PrivateKey, to: str | None = None, full: bool = False, after_recovery: bool = False
) -> tuple[SignedCheckpoint, bool]:
    """Return the signed head of a ledger's history, and whether the table that it is kept in had none such yet.

    A key that signed whatever it is shown would make a rolled back history the true one, and a junk certificate a part
    of it that no recovery can move any more. So the history must be one that `verify` finds nothing in, and hold what
    the witnesses of the environment and the table itself know of it. Chain, seals and totals are checked from the
    first entry on; prices are computed again from the last checkpoint on that this key signed and the history holds.

    Parameters
    ----------
    reference : str
        The ledger.
    key : PrivateKey
        The owner's or a witness's: never one that an analyst can read.
    to : str, optional
        The URL of a second file or database, whose table of checkpoints it is added to.
    full : bool
        Compute every price again.
    after_recovery : bool
        Also say, as the owner, which entries that witnesses know a recovery replaced. It must count at least what they
        say was spent. Of more than `MOST_REPLACED` the table is given several statements, and the last is returned.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from equipoise.keys import new_key, private_key
    >>> from equipoise.vocabulary.facts import Budget
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = new_key(Path(folder) / "owner.key")
    ...     Ledger(f"sqlite:///{folder}/ledger.db#trial").create(Budget(1.0))
    ...     key, to = private_key(Path(folder) / "owner.key"), f"sqlite:///{folder}/witness.db"
    ...     [signed_head(f"sqlite:///{folder}/ledger.db#trial", key, to)[1] for _ in range(2)]
    [True, False]
    """
    ledger = Ledger(reference)
    others = [name for name in witness.named() if name != to]
    table = None if to is None else CheckpointTable(to)
    if to is not None and table is not None:
        table.require_elsewhere(reference)
        others += [to] if table.exists() else []
    heard = witness.heard(ledger.dataset, others, signing=True, newest=None if after_recovery else NEWEST)
    budget = ledger.entry(1)
    owner = None if budget is None else witness.owner_of(budget)
    trusted = witness.trusted_keys(owner)
    keys = {key.public, *trusted}
    witness.require_signed(heard, keys)
    verified = 0 if full or after_recovery else _verified_by(ledger, heard, key)
    reading = _read(ledger, heard, verified)
    length, said = reading.last.number, list[Recovered | None]([None])
    if after_recovery:
        if trusted and key.public not in witness.owners_among(trusted, owner):
            found = f"the key {fingerprint(key.public)}, which is not the owner's"
            raise LedgerRefused("the owner's word on a recovery", found, "sign with the owner's key")
        owners = witness.owners_among(trusted or keys, owner)
        wrong = witness.unknown_to(heard, length, reading.digests.get, owners)
        said = [*_recovered(ledger, reading, wrong)]
        if table is None and len(said) > 1:
            found = f"more entries that witnesses know than the {MOST_REPLACED} that one statement names"
            remedy = "name a table, which takes several: --to URL; nothing was signed"
            raise LedgerRefused("one statement on a recovery", found, remedy)
    else:
        witness.check(heard, length, reading.digests.get, keys, owner)
    statements = [signed(Checkpoint.of(reading.last, reading.currency, reading.spent, each), key) for each in said]
    added = [table is None or table.add(kept) for kept in statements]
    return statements[-1], any(added)


@dataclass
class _Reading:
    """What a history says where a checkpoint needs it."""

    last: Entry
    currency: str
    spent: Amount
    digests: dict[int, str] = field(default_factory=dict)
    # Every recovery, the currency that it counts in, its total, and whether that left nothing.
    recoveries: list[tuple[Entry, str, Amount, bool]] = field(default_factory=list)


def _verified_by(ledger: Ledger, heard: Sequence[witness.Evidence], key: PrivateKey) -> int:
    """Return the number of the newest entry that this key signed, and so verified, and that the history has."""
    own = {(one.number, one.digest) for one in heard if one.signed is not None and one.signed.key == key.public}
    for number, digest in sorted(own, reverse=True):
        entry = ledger.entry(number)
        if entry is not None and entry.digest == digest:
            return number
    return 0


def _read(ledger: Ledger, heard: Sequence[witness.Evidence], verified: int) -> _Reading:
    """Go through a history; refuse one that `verify` refuses. Prices up to a number were computed again before."""
    store = ledger._store
    with store.opened() as connection:
        name = ledger._name(connection)
        grounds = store.grounds(connection, name)
    asked = {1, *(one.number for one in heard), *_numbers_of_recoveries(heard)}
    walk = Walk(lambda number: ledger._in_parts(name, before=number), grounds, verified)
    digests, recoveries, found = {}, [], list[str]()
    for entry in ledger._in_parts(name):
        found += walk.take(entry)
        if found:
            break
        if entry.number in asked:
            digests[entry.number] = entry.digest
        if entry.kind == "recovery":
            digests[entry.number] = entry.digest
            recoveries.append((entry, walk.currency.name, walk.spent, walk.spent == walk.limit))
    found += walk.end()
    if found or walk.last is None:
        remedy = f"nothing is signed before its owner has looked, and has run: {store.command('recover')} --everything"
        asked_for = f"a history of {ledger.dataset!r} that verifies, to sign it"
        raise LedgerTampered(asked_for, "; ".join(found[:3]) or "none", f"{remedy}, or --amount A --delta D")
    return _Reading(walk.last, walk.currency.name, walk.spent, digests, recoveries)


def _numbers_of_recoveries(heard: Sequence[witness.Evidence]) -> set[int]:
    said = (one.signed.checkpoint.recovered for one in heard if one.signed is not None)
    return {recovered.number for recovered in said if recovered is not None}


def _recovered(ledger: Ledger, reading: _Reading, wrong: Sequence[witness.Evidence]) -> list[Recovered]:
    """Return what the last recovery of a history replaced of what witnesses know, or refuse what it cannot have.

    What its owner said an earlier recovery replaced is not among it: that one counts it, maybe in another currency.
    A recovery explains entries from its own number on. It counts what it moved, so that its total is no less than what
    a witness knows was spent there: otherwise an older copy that was made malformed, and then recovered, would give
    budget back.
    """
    asked = f"to bring witnesses of {ledger.dataset!r} along after a recovery"
    if not wrong or not reading.recoveries:
        found = "witnesses that know nothing else" if reading.recoveries else "a history without a recovery"
        raise LedgerRefused(asked, found, "sign without --after-recovery; nothing was signed")
    first, (entry, currency, total, nothing_left) = reading.recoveries[0][0].number, reading.recoveries[-1]
    for one in sorted(wrong, key=lambda one: one.number):
        fault = None
        if one.number < first:
            fault = f"known by {one.witness}, before the first recovery, entry {first}"
        elif one.signed is None:
            fault = f"known by the export {one.witness}, which nobody signed: put a new export in its place"
        elif not nothing_left and not _counts(total, currency, one.signed.checkpoint):
            spent = one.signed.checkpoint.spent
            fault = f"known by {one.witness}, when {spent['amount']} and delta {spent['delta']} were spent, "
            fault += f"and the recovery, entry {entry.number}, counts less: "
            fault += f"{text_of(total.amount)} and {text_of(total.delta)}"
        if fault:
            remedy = (
                "nothing was signed; if spends are lost, create a budget under another name with what is truly left"
            )
            raise LedgerTampered(asked, f"another entry {one.number} {fault}", remedy)
    places = sorted({one.place for one in wrong}, key=in_order)
    starts = range(0, len(places), MOST_REPLACED)
    return [Recovered(entry.place, tuple(places[start : start + MOST_REPLACED])) for start in starts]


def _counts(total: Amount, currency: str, said: Checkpoint) -> bool:
    """Return whether a recovery's total counts what was spent by a checkpoint; of another currency nobody knows."""
    return currency == said.currency and amount_of(said.spent).within(total)
