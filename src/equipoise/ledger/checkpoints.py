"""Checkpoints: the head of a dataset's history at one moment, signed by its owner or a witness, and kept elsewhere.

A chain cannot show that it once was longer. A checkpoint can: whoever has it knows that entry `number` was there, with
that digest, and so everything before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from equipoise.certify.record import parse
from equipoise.errors import CertificateUnreadable, LedgerRefused, LedgerTampered
from equipoise.keys import PrivateKey, fingerprint, sign, verify
from equipoise.ledger.chain import Entry
from equipoise.ledger.currencies import Amount
from equipoise.ledger.records import plain

# One after a recovery is of the second version, and signed for a purpose of its own.
VERSIONS = (1, 2)
PURPOSE = "application/vnd.equipoise.checkpoint.v1+json"
PURPOSE_AFTER_RECOVERY = "application/vnd.equipoise.recovery.v1+json"

# A checkpoint takes some 700 letters, its dataset's name included; one after a recovery 80 more for every one of the
# checkpoints that it takes the place of.
LARGEST_CHECKPOINT = 2**20

# The one way in which each text is written: what could be written in two would be two statements for one fact.
_FORMS = {
    "digest": r"[0-9a-f]{64}",
    "currency": r"[a-z]{1,20}(:[0-9]{1,20}(\.[0-9]{1,20})?)?",
    "made": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\+00:00",
}
_AMOUNT = r"[0-9]{1,400}(\.[0-9]{1,400})?(E[+-]?[0-9]{1,3})?"
_PLACE = r"[1-9][0-9]{0,15}:[0-9a-f]{64}"
_HIGHEST = 2**53
_RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a recovery did to entries that witnesses know, by the owner's word.

    Parameters
    ----------
    entry : str
        The recovery, "<number>:<digest>": what a history must have for this to mean anything about it.
    replaced : tuple of str
        The witnessed entries that it moved, or that were lost before it, in the same form and in their order. It
        counts at least what their checkpoints say was spent.
    """

    entry: str
    replaced: tuple[str, ...]

    @property
    def number(self) -> int:
        """The number of the recovery."""
        return int(self.entry.partition(":")[0])


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the head of a history was.

    Parameters
    ----------
    dataset : str
        The dataset id, as it is recorded.
    number : int
        Of the last entry.
    digest : str
        Of the last entry: it seals all entries before.
    currency : str
        What the ledger counts in.
    spent : dict
        The texts `amount` and `delta` of what was spent so far. For people: the digest already says it.
    made : str
        When, in UTC.
    recovered : Recovered, optional
        What a recovery did to entries that were witnessed; None in an ordinary checkpoint, which does not write it.

    Examples
    --------
    >>> from equipoise.ledger.chain import following
    >>> from equipoise.ledger.currencies.base import NOTHING
    >>> from equipoise.vocabulary.facts import Budget
    >>> checkpoint = Checkpoint.of(following((), "trial", "budget", Budget(1.0)), "basic", NOTHING)
    >>> checkpoint.number, checkpoint.currency, checkpoint.spent
    (1, 'basic', {'amount': '0', 'delta': '0'})
    """

    dataset: str
    number: int
    digest: str
    currency: str
    spent: dict[str, str]
    made: str
    recovered: Recovered | None = None

    @classmethod
    def of(cls, last: Entry, currency: str, spent: Amount, recovered: Recovered | None = None) -> Checkpoint:
        """Return the checkpoint of an intact history by its last entry and what was spent by then, as of now."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(last.dataset, last.number, last.digest, currency, plain(spent), now, recovered)

    @property
    def place(self) -> str:
        """The entry, "<number>:<digest>"."""
        return f"{self.number}:{self.digest}"

    @property
    def facts(self) -> dict[str, Any]:
        """What it says, as it is written."""
        said = asdict(self)
        return said if self.recovered is not None else {name: said[name] for name in said if name != _RECOVERED}

    @property
    def message(self) -> bytes:
        """The bytes that are signed: JSON with sorted keys, without spaces, in ASCII."""
        return json.dumps(self.facts, sort_keys=True, separators=(",", ":")).encode()

    @property
    def purpose(self) -> str:
        """What it is signed for."""
        return PURPOSE if self.recovered is None else PURPOSE_AFTER_RECOVERY


@dataclass(frozen=True, slots=True)
class SignedCheckpoint:
    """A checkpoint, the public key of whoever signed it, and the signature."""

    checkpoint: Checkpoint
    key: bytes
    signature: bytes

    def require(self, trusted: Collection[bytes], place: str) -> None:
        """Refuse a checkpoint that none of the trusted keys signed; the key in the file vouches for nothing."""
        asked = f"a checkpoint in {place} that a trusted key signed"
        if not trusted:
            remedy = "name the public key of whoever signs: --key FILE.pub, or EQUIPOISE_WITNESS_KEY=FILE.pub"
            raise LedgerRefused(asked, f"no key to trust; it says {fingerprint(self.key)} of itself", remedy)
        remedy = "nothing is admitted before people have looked: ask whoever keeps the checkpoints"
        if self.key not in trusted:
            known = ", ".join(fingerprint(key) for key in trusted)
            raise LedgerTampered(asked, f"the key {fingerprint(self.key)}, and those trusted are {known}", remedy)
        if not verify(self.key, self.checkpoint.purpose, self.checkpoint.message, self.signature):
            raise LedgerTampered(asked, f"a signature that {fingerprint(self.key)} did not make", remedy)

    def to_json(self) -> str:
        """Return the text of a checkpoint file."""
        record = {
            "checkpoint_version": VERSIONS[self.checkpoint.recovered is not None],
            "checkpoint": self.checkpoint.facts,
            "key": self.key.hex(),
            "signature": self.signature.hex(),
        }
        return json.dumps(record, indent=2) + "\n"


def signed(checkpoint: Checkpoint, key: PrivateKey) -> SignedCheckpoint:
    """Return a checkpoint with the signature of a key."""
    return SignedCheckpoint(checkpoint, key.public, sign(key, checkpoint.purpose, checkpoint.message))


def from_json(text: str, place: str) -> SignedCheckpoint:
    """Return the checkpoint of a text, whose signature is still to be checked; every field has one way to be written.

    Examples
    --------
    >>> from_json('{"checkpoint_version": 1}', "people.json")
    Traceback (most recent call last):
    equipoise.errors.LedgerTampered: asked: a checkpoint in people.json; found: other fields than a checkpoint has; \
to do: ask whoever keeps the checkpoints for it again
    """
    found = "text that is too long to be one" if len(text) > LARGEST_CHECKPOINT else None
    try:
        record = None if found else parse(text)
    except CertificateUnreadable as error:
        found, record = error.found, None
    found = found or _fault(record)
    if found or not isinstance(record, dict):
        remedy = "ask whoever keeps the checkpoints for it again"
        raise LedgerTampered(f"a checkpoint in {place}", f"{found}", remedy)
    key, signature = bytes.fromhex(record["key"]), bytes.fromhex(record["signature"])
    facts = dict(record["checkpoint"])
    if _RECOVERED in facts:
        facts[_RECOVERED] = Recovered(facts[_RECOVERED]["entry"], tuple(facts[_RECOVERED]["replaced"]))
    return SignedCheckpoint(Checkpoint(**facts), key, signature)


def _fault(record: Any) -> str | None:
    """Return what is wrong with the fields of a checkpoint file, or None."""
    if not isinstance(record, dict) or record.keys() != {"checkpoint_version", "checkpoint", "key", "signature"}:
        return "other fields than a checkpoint has"
    version, head = record["checkpoint_version"], record["checkpoint"]
    if type(version) is not int or version not in VERSIONS:
        return f"version {version!r:.20}, and this one reads {VERSIONS[0]} and {VERSIONS[1]}"
    facts = {field.name for field in fields(Checkpoint)} - ({_RECOVERED} if version == VERSIONS[0] else set())
    if not isinstance(head, dict) or head.keys() != facts:
        return "other facts than a checkpoint has"
    if version != VERSIONS[0] and not _is_recovered(head[_RECOVERED]):
        return "no recovery, or not the entries that it replaced, each once and in their order"
    number, spent = head["number"], head["spent"]
    # True and 2.0 equal whole numbers, and are none.
    if type(number) is not int or not 1 <= number <= _HIGHEST:
        return f"number {number!r:.20}, which no entry has"
    if not isinstance(head["dataset"], str) or not head["dataset"]:
        return "a dataset without a name"
    if not isinstance(spent, dict) or spent.keys() != {"amount", "delta"}:
        return "no amount that was spent"
    written = {
        **{name: (head[name], form) for name, form in _FORMS.items()},
        **{name: (spent[name], _AMOUNT) for name in spent},
        "key": (record["key"], r"[0-9a-f]{64}"),
        "signature": (record["signature"], r"[0-9a-f]{128}"),
    }
    wrong = [
        name for name, (text, form) in written.items() if not isinstance(text, str) or not re.fullmatch(form, text)
    ]
    return f"{wrong[0]!r} in another form than it is written" if wrong else None


def _is_recovered(said: Any) -> bool:
    """Return whether this is what a recovery did, in the one way in which it is written."""
    if not isinstance(said, dict) or said.keys() != {field.name for field in fields(Recovered)}:
        return False
    replaced = said["replaced"] if isinstance(said["replaced"], list) else []
    places = [said["entry"], *replaced]
    if not replaced or not all(isinstance(place, str) and re.fullmatch(_PLACE, place) for place in places):
        return False
    return replaced == sorted(set(replaced), key=in_order)


def in_order(place: str) -> tuple[int, str]:
    """Return what places, "<number>:<digest>", are ordered by.

    Examples
    --------
    >>> sorted(["10:ab", "9:cd"], key=in_order)
    ['9:cd', '10:ab']
    """
    number, _, digest = place.partition(":")
    return int(number), digest
