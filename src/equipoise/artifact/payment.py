"""Whether a ledger, or an export of it, paid for a release: by the entry that its certificate names, and once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from equipoise.artifact.page_file import LedgerSaid, entry_number
from equipoise.artifact.parts import FILES_SEEN, NOT_PAID, OTHER_HISTORY, Part
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import PAGE
from equipoise.errors import InvalidParameter, LedgerRefused, LedgerTampered, LedgerUnreachable
from equipoise.ledger import Entry, Ledger, witness
from equipoise.ledger.chain import EXPORT_VERSIONS
from equipoise.ledger.statements import balance_after, claim_faults, outcome_of, paid_by
from equipoise.ledger.walk import Walk, faults

FILES_NOT_SEEN = (
    "whether certificate.json and model.json are those that were paid for: the ledger's entry, of an earlier version, "
    "names the claim alone; a signature would name them"
)

# So many faults of a history are named.
MOST_FAULTS = 5


UNSIGNED = "as an export that nobody signed says"
EXPORT_NOT_SEEN = (
    "whether the export is the ledger's history, which anybody can write: pass --witness and --witness-key, too"
)


@dataclass(frozen=True, slots=True)
class History:
    """The entries of a ledger, intact or not, how to speak of them, and whether the ledger itself was asked."""

    entries: Sequence[Entry]
    place: str
    asked: bool = True


def recorded_in(ledger: str) -> History:
    """Return the history of a ledger, as it is recorded."""
    book = Ledger(ledger)
    try:
        return History(book.history(), f"the ledger's {book.dataset!r}")
    except LedgerRefused as error:
        remedy = "pass the ledger that the release was paid from, or an export of it (--export)"
        raise LedgerRefused(error.asked, error.found, remedy) from None


def exported_in(path: Path) -> History:
    """Return the history in an export."""
    asked, remedy = f"an export at {path}", "pass what `equipoise ledger export` wrote"
    try:
        record, _ = witness.read_file(str(path))
        if "export_version" not in record:
            raise LedgerUnreachable(asked, "a checkpoint", remedy)
        entries = witness.exported(record, str(path))
    except LedgerUnreachable as error:
        raise InvalidParameter(asked, error.found, remedy) from None
    version = record["export_version"]
    if record.keys() != {"export_version", "dataset", "entries"} or type(version) is not int:
        raise InvalidParameter(asked, "other fields than an export has", remedy)
    if version not in EXPORT_VERSIONS:
        raise InvalidParameter(asked, f"version {version!r:.20}, and this one reads 1 and 2", remedy)
    if not all(_is_entry(entry, record["dataset"]) for entry in entries):
        raise InvalidParameter(asked, "entries with other fields, or of another dataset", remedy)
    return History(tuple(Entry(**entry) for entry in entries), f"an export of {record['dataset']!r}", asked=False)


def _is_entry(entry: dict[str, Any], dataset: str) -> bool:
    known = {field.name for field in fields(Entry)}
    texts = all(isinstance(entry.get(name), str) for name in known - {"number", "record"})
    record = "record" not in entry or isinstance(entry["record"], str | None)
    return entry.keys() <= known and texts and record and entry["dataset"] == dataset


def payment(
    certificate: Certificate,
    history: History,
    said: LedgerSaid | None,
    witnesses: Sequence[str] = (),
    witness_keys: Sequence[Path] = (),
    files: str = "",
    seen: str = FILES_SEEN,
) -> tuple[Part, ...]:
    """Return what a history says of a release, and what witnesses say of the history.

    Parameters
    ----------
    certificate : Certificate
        The release's.
    history : History
        That of a ledger, or an export: what an export says is confirmed only where a checkpoint vouches for it, signed
        by one of `witness_keys`.
    said : LedgerSaid or None
        What the page shows of the ledger, which is looked up, too.
    witnesses : sequence of str
        Files or URLs (`equipoise.ledger.witness`); those of the environment if there are none.
    witness_keys : sequence of Path
        The public keys whose checkpoints count; those of the environment, or the owner's, if there are none.
    files : str
        The digest of the files that hold the release (`equipoise.ledger.statements.files_digest`); empty for a
        certificate by itself.
    seen : str
        What is confirmed of these files where the entry names them.
    """
    entries, place = history.entries, history.place
    broken = faults(entries)
    if broken or not entries:
        more = f", and {len(broken) - MOST_FAULTS} more" if len(broken) > MOST_FAULTS else ""
        lines = tuple(f"ledger: {fault}" for fault in broken[:MOST_FAULTS]) or ("ledger: no entry",)
        return (Part(OTHER_HISTORY, (*lines[:-1], f"{lines[-1]}{more}")),)
    named = (certificate.release.entry if certificate.release else None) or ""
    found = {paid.entry.place: paid for paid in paid_by(entries)}.get(named)
    reasons = claim_faults(certificate, found, files)
    number = entry_number(named)
    if number > entries[-1].number:
        older = (
            f"{place} ends with entry {entries[-1].number}, before the entry {named:.20}... that the certificate names"
        )
        reasons = (f"{older}: it is older than the release, or of another ledger",)
    elif said is not None and not _was_said(entries, said, number):
        reasons = (*reasons, f"from that entry to its last it never said what {PAGE} and the page say it did")
    heard = _heard(entries, named, witnesses, witness_keys)
    if reasons:
        return heard, Part(NOT_PAID, tuple(f"ledger: {reason}" for reason in reasons))
    paid = f"paid for by entry {number}"
    if not history.asked and not (heard.confirmed and witness.trusted_keys(None, witness_keys)):
        return heard, Part(NOT_PAID, unchecked=(EXPORT_NOT_SEEN,), summary=f"{paid}, {UNSIGNED}")
    entry = (f"{paid} of {place}, and by it alone",)
    if not files or found is None:
        return heard, Part(NOT_PAID, confirmed=entry, summary=paid)
    if not found.files:
        return heard, Part(NOT_PAID, confirmed=entry, unchecked=(FILES_NOT_SEEN,), summary=paid)
    return heard, Part(NOT_PAID, confirmed=(*entry, seen), summary=paid)


def _heard(entries: Sequence[Entry], named: str, witnesses: Sequence[str], keys: Sequence[Path]) -> Part:
    """Return what witnesses say of a history that holds together."""
    heard = witness.heard(entries[0].dataset, witnesses or None)
    if not heard:
        return Part(OTHER_HISTORY, unchecked=("whether the ledger was rolled back: no witness was asked",))
    digests = {entry.number: entry.digest for entry in entries}
    try:
        witness.check(heard, len(entries), digests.get, witness.trusted_keys(witness.owner_of(entries[0]), keys))
    except LedgerTampered as error:
        return Part(OTHER_HISTORY, (f"witness: {error.asked}; found: {error.found}",))
    signed = [one for one in heard if one.signed is not None]
    if not signed:
        unsigned = "the witness is an export that nobody signed, which can refuse and vouches for nothing"
        return Part(OTHER_HISTORY, unchecked=(f"whether the ledger was rolled back: {unsigned}",))
    last = max(signed, key=lambda one: one.number)
    if last.number < _settled(entries, named):
        later = f"whether the ledger was rolled back since: witnesses know entries up to {last.number}"
        return Part(OTHER_HISTORY, unchecked=(later,))
    whose = "" if witness.trusted_keys(None, keys) else ", a key that the history itself names"
    known = f"the history holds entry {last.number}, which {last.witness} knows, signed {last.author}{whose}"
    return Part(OTHER_HISTORY, confirmed=(known,))


def _settled(entries: Sequence[Entry], named: str) -> int:
    """Return the number of the entry by which a spend is settled: its outcome, which names the files, or itself."""
    spend = max((entry.number for entry in entries if entry.place == named), default=0)
    outcomes = (entry.number for entry in entries if entry.kind == "outcome" and outcome_of(entry)[0] == spend)
    return next(outcomes, spend)


def _was_said(entries: Sequence[Entry], said: LedgerSaid, paid: int) -> bool:
    """Return whether a ledger had this head and balance once, and not before the entry that paid."""
    number = entry_number(said.head)
    if not max(1, paid) <= number <= len(entries) or entries[number - 1].place != said.head:
        return False
    walk = Walk()
    for entry in entries[:number]:
        list(walk.take(entry))
    balance = balance_after(walk)
    left = str(balance.epsilon_left), str(balance.delta_left)
    stated = (said.epsilon, said.delta, said.epsilon_left, said.delta_left, said.at)
    return stated == (balance.limit.epsilon, balance.limit.delta, *left, entries[number - 1].made)
