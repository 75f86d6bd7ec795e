"""Witnesses: what others know of a dataset's history, so that a restored copy of yesterday's is noticed.

A witness is a checkpoint file, an export, or a database with a table of checkpoints. Each says that the history once
had an entry of that number and digest. A history that is shorter, or has another entry there, is refused. A checkpoint
must be signed by a trusted key. An export is not signed: it can refuse, and vouches for nothing.

A recovery moves entries that witnesses may know. They follow it by one checkpoint that the owner signs after it, which
names the entries that it replaced; it counts only for a history that has the recovery.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equipoise.certify.record import parse
from equipoise.errors import CertificateUnreadable, InvalidParameter, LedgerRefused, LedgerTampered, LedgerUnreachable
from equipoise.keys import fingerprint, public_key
from equipoise.ledger.addresses import HIDDEN, shown_path
from equipoise.ledger.chain import Entry
from equipoise.ledger.checkpoint_table import NEWEST, UNREAD, CheckpointTable
from equipoise.ledger.checkpoints import SignedCheckpoint, from_json
from equipoise.ledger.names import normal_form

WITNESSES, WITNESS_KEYS = "EQUIPOISE_WITNESS", "EQUIPOISE_WITNESS_KEY"

AFTER_RECOVERY = "after a recovery its owner signs once with equipoise ledger checkpoint LEDGER --after-recovery"

# About 100,000 entries; of a longer history, checkpoints are kept.
LARGEST_FILE = 2**27


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a witness says of a dataset: that its history had this entry.

    Parameters
    ----------
    witness : str
        Where it was read, without a password.
    dataset : str
        Of which dataset.
    number, digest : int and str
        Of the entry.
    made : str
        When it was said.
    signed : SignedCheckpoint or None
        None where nobody signed it.
    """

    witness: str
    dataset: str
    number: int
    digest: str
    made: str
    signed: SignedCheckpoint | None = None

    @property
    def place(self) -> str:
        """The entry, "<number>:<digest>"."""
        return f"{self.number}:{self.digest}"

    @property
    def author(self) -> str:
        """Whose word it is."""
        return "by nobody" if self.signed is None else f"by {fingerprint(self.signed.key)}"


def named() -> tuple[str, ...]:
    """Return the witnesses that the environment names: one or several, separated by blanks, quoted as in a shell."""
    return _words(WITNESSES)


def trusted_keys(owner: bytes | None = None, given: Sequence[Path] = ()) -> tuple[bytes, ...]:
    """Return the public keys whose checkpoints count: those that are given, else the environment's, else the owner's.

    The owner's key is recorded in the ledger, so that whoever writes a ledger anew writes another key. One that
    somebody names from outside is therefore not added to it: it takes its place.
    """
    words = () if given else _words(WITNESS_KEYS)
    if HIDDEN in map(shown_path, words):
        found = "what may be an address; it is not shown, as it may hold a password"
        raise InvalidParameter(f"files of public keys in {WITNESS_KEYS}", found, "name files ending in .pub")
    files = [*given] or [Path(name) for name in words]
    return tuple(public_key(file) for file in files) or (() if owner is None else (owner,))


def owner_of(budget: Entry) -> bytes | None:
    """Return the owner's public key, where the record of a budget names one."""
    try:
        return bytes.fromhex(json.loads(budget.record or "{}").get("key") or "") or None
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def heard(
    dataset: str, witnesses: Sequence[str] | None = None, signing: bool = False, newest: int | None = NEWEST
) -> tuple[Evidence, ...]:
    """Return what witnesses say of a dataset, those of the environment unless told; none where none is named.

    A witness that cannot be read is never left out: it is refused. So are witnesses of which none knows the dataset,
    except where its first checkpoint is being signed. Ask before the ledger is locked: what a witness knows cannot
    become too new for a history that is read later.
    """
    listed = named() if witnesses is None else tuple(witnesses)
    said = [one for witness in listed for one in evidence_of(witness, dataset, newest)]
    if listed and not said and not signing:
        found = f"{len(listed)} witness(es), of which none knows it"
        remedy = "ask the owner for a checkpoint of it: equipoise ledger checkpoint LEDGER --key FILE --to WITNESS"
        raise LedgerRefused(f"a witness of {dataset!r}, as {WITNESSES} asks for", found, remedy)
    return tuple(said)


def check(
    said: Sequence[Evidence],
    length: int,
    digest_at: Callable[[int], str | None],
    keys: Collection[bytes] = (),
    owner: bytes | None = None,
) -> None:
    """Refuse a history that does not hold what witnesses know of it.

    Parameters
    ----------
    said : sequence of Evidence
        What was `heard`.
    length : int
        The number of the history's last entry.
    digest_at : callable
        Returns the digest of the entry of a number from 1 to `length`.
    keys : collection of bytes
        The public keys whose checkpoints count (`trusted_keys`).
    owner : bytes, optional
        The owner's key, where the budget names one: who may say what a recovery replaced (`owners_among`).

    Examples
    --------
    >>> check([Evidence("export.json", "trial", 2, "ab" * 32, "2026-11-17T00:00:00+00:00")], 1, {}.get)
    Traceback (most recent call last):
    equipoise.errors.LedgerTampered: asked: the history of 'trial' that export.json knows, which has entry 2 \
(2026-11-17T00:00:00+00:00, signed by nobody); found: one that ends at entry 1: an older copy, or its end was cut off; \
to do: nothing is admitted before people have looked: equipoise ledger verify LEDGER --against export.json; \
after a recovery its owner signs once with equipoise ledger checkpoint LEDGER --after-recovery
    """
    require_signed(said, keys)
    for one in unknown_to(said, length, digest_at, owners_among(keys, owner)):
        known = f"entry {one.number} ({one.made}, signed {one.author})"
        remedy = f"equipoise ledger verify LEDGER --against {shlex.quote(one.witness)}"
        raise LedgerTampered(
            f"the history of {one.dataset!r} that {one.witness} knows, which has {known}",
            str(contradiction(one, length, digest_at)),
            f"nothing is admitted before people have looked: {remedy}; {AFTER_RECOVERY}",
        )


def owners_among(keys: Collection[bytes], owner: bytes | None) -> Collection[bytes]:
    """Return which of the trusted keys may say what a recovery replaced: the owner's, or all if it is none of them.

    A key that is named from outside takes the place of one in the ledger, which whoever writes it anew could write.

    Examples
    --------
    >>> owners_among([b"owner", b"auditor"], b"owner"), owners_among([b"new owner"], b"owner")
    ((b'owner',), [b'new owner'])
    """
    return (owner,) if owner is not None and owner in keys else keys


def require_signed(said: Sequence[Evidence], keys: Collection[bytes]) -> None:
    """Refuse checkpoints that none of these keys signed; exports are not signed."""
    for one in said:
        if one.signed is not None:
            one.signed.require(keys, one.witness)


def binding(
    said: Sequence[Evidence], digest_at: Callable[[int], str | None], owners: Collection[bytes]
) -> tuple[Evidence, ...]:
    """Return what binds a history: all that was said of it but what its owner says a recovery replaced.

    The owner's word counts for a history that has that very recovery. An older copy has not, and is bound by all of it.

    Parameters
    ----------
    said : sequence of Evidence
        What was `heard`, every signature of it checked (`require_signed`).
    digest_at : callable
        Returns the digest of the history's entry of a number, None where there is none.
    owners : collection of bytes
        The public keys of those who may say so.
    """
    signed = [one.signed for one in said if one.signed is not None and one.signed.key in owners]
    recoveries = [kept.checkpoint.recovered for kept in signed if kept.checkpoint.recovered is not None]
    replaced = {
        place for one in recoveries if f"{one.number}:{digest_at(one.number)}" == one.entry for place in one.replaced
    }
    return tuple(one for one in said if one.place not in replaced)


def unknown_to(
    said: Sequence[Evidence], length: int, digest_at: Callable[[int], str | None], owners: Collection[bytes]
) -> tuple[Evidence, ...]:
    """Return what binds a history (`binding`), and is not in it."""
    return tuple(one for one in binding(said, digest_at, owners) if contradiction(one, length, digest_at))


def check_entries(said: Sequence[Evidence], length: int, entry_at: Callable[[int], Entry | None]) -> None:
    """Refuse a history, read entry by entry, that does not hold what witnesses know of it (`check`)."""

    def digest_at(number: int) -> str | None:
        entry = entry_at(number)
        return None if entry is None else entry.digest

    if said:
        budget = entry_at(1)
        owner = None if budget is None else owner_of(budget)
        check(said, length, digest_at, trusted_keys(owner), owner)


def contradiction(said: Evidence, length: int, digest_at: Callable[[int], str | None]) -> str | None:
    """Return in which way a history is not the one that a witness knows, or None where it is."""
    if said.number > length:
        return f"one that ends at entry {length}: an older copy, or its end was cut off"
    if digest_at(said.number) != said.digest:
        return f"one with another entry {said.number}: what came after an older copy, or was written anew"
    return None


def evidence_of(witness: str, dataset: str, newest: int | None = None) -> tuple[Evidence, ...]:
    """Return what one witness says of a dataset: nothing, if it is about others alone; unreadable ones are refused."""
    if "://" in witness:
        table = CheckpointTable(witness)
        kept = table.read(dataset, newest)
        if kept is None:
            raise LedgerUnreachable(f"the witness {table.shown}", "a database without a table of checkpoints", UNREAD)
        said = tuple(_spoken(one, table.shown) for one in kept)
    else:
        record, text = read_file(witness)
        if "export_version" in record:
            last = exported(record, witness)[-1]
            said = (Evidence(witness, record["dataset"], last["number"], last["digest"], str(last.get("made"))),)
        else:
            said = (_spoken(from_json(text, witness), witness),)
    return tuple(one for one in said if normal_form(one.dataset) == normal_form(dataset))


def _spoken(kept: SignedCheckpoint, place: str) -> Evidence:
    said = kept.checkpoint
    return Evidence(place, said.dataset, said.number, said.digest, said.made, kept)


def read_file(witness: str) -> tuple[dict[str, Any], str]:
    """Return the JSON object of an export or a checkpoint file, and its text."""
    asked = f"the witness {shown_path(witness)}"
    try:
        path = Path(witness)
        if not path.is_file():
            raise LedgerUnreachable(asked, "no plain file", UNREAD)
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise LedgerUnreachable(asked, "a file that is too large to be a checkpoint or an export", UNREAD)
        text = content.decode("utf-8")
        record = parse(text)
    except LedgerUnreachable:
        raise
    except CertificateUnreadable as error:
        raise LedgerUnreachable(asked, error.found, UNREAD) from None
    except (OSError, ValueError) as error:
        found = error.strerror if isinstance(error, OSError) else "bytes that are not UTF-8 text, or a path of none"
        raise LedgerUnreachable(asked, str(found), UNREAD) from None
    if not isinstance(record, dict) or not record.keys() & {"checkpoint_version", "export_version"}:
        raise LedgerUnreachable(asked, "neither a checkpoint nor an export", UNREAD)
    return record, text


def exported(record: dict[str, Any], witness: str) -> list[dict[str, Any]]:
    """Return the entries of an export: numbered from 1, each with a digest; what its version adds is not looked at."""
    entries, dataset = record.get("entries"), record.get("dataset")
    whole = isinstance(entries, list) and entries and isinstance(dataset, str)
    if not whole or not all(
        isinstance(entry, dict)
        and type(entry.get("number")) is int
        and entry["number"] == place
        and isinstance(entry.get("digest"), str)
        for place, entry in enumerate(entries or (), start=1)
    ):
        raise LedgerUnreachable(f"the witness {witness}", "an export that is not whole", UNREAD)
    return list(entries or ())


def _words(variable: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(os.environ.get(variable, "")))
    except ValueError:
        found = "quotes that do not close"
        raise InvalidParameter(f"names in {variable}, separated by blanks", found, "quote names with blanks") from None
