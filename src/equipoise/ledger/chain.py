"""A dataset's history: entries that are only ever appended, each sealed with the digest of the one before.

Amounts are added as exact decimals, in the currency that the budget was created in or moved to (N5). Entries of
versions 0.1.0 and 0.2.0 have no record; they are sealed as they were, and count in basic composition.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from equipoise.certify.record import parse
from equipoise.errors import LedgerRefused
from equipoise.vocabulary.facts import Budget

# An export of entries that have records is of the second version; the first is as it was.
EXPORT_VERSIONS = (1, 2)
NOTHING_BEFORE = "0" * 64

# What an entry that spends nothing of its own has for epsilon and delta.
NO_AMOUNT = "0.0"

# So many differences to an export are listed, and the others counted.
MOST_DEPARTURES = 100

# What an export may weigh (`equipoise.certify.record.weight_of`): about 100,000 entries, whose records are texts in it.
MOST_EXPORTED = 2**25

# What was overwritten may hold anything: what is no JSON is sealed as its text, and does not fit.
_encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a dataset's history.

    Parameters
    ----------
    number : int
        Its place in the dataset's history, from 1.
    dataset : str
        The dataset id.
    kind : str
        "budget" for the first entry; then "spend", "outcome" of a spend, "migration" to another currency, or
        "recovery" from what was malformed.
    epsilon, delta : str
        The amounts, in the shortest digits that read back to the same double; "0.0" where nothing is spent.
    certificate : str
        The digest of the certificate that was admitted; of an outcome, that of the released one; else empty.
    made : str
        When, in UTC.
    previous : str
        The digest of the entry before; 64 zeros for the first.
    digest : str
        SHA-256 of a JSON list of the other fields.
    record : str, optional
        What it cost, what was spent so far and for which certificate (`equipoise.ledger.records`), as JSON. None in
        entries of versions 0.1.0 and 0.2.0.

    Examples
    --------
    >>> budget = following((), "trial", "budget", Budget(1.0))
    >>> budget.number, budget.epsilon, budget.digest == budget.seal()
    (1, '1.0', True)
    """

    number: int
    dataset: str
    kind: str
    epsilon: str
    delta: str
    certificate: str
    made: str
    previous: str
    digest: str
    record: str | None = None

    @property
    def line(self) -> str:
        """The text that is sealed: a JSON list of every field but the digest; a missing record is left out."""
        fields = (
            *(self.number, self.dataset, self.kind, self.epsilon, self.delta),
            *(self.certificate, self.made, self.previous),
        )
        return _encode(fields if self.record is None else (*fields, self.record))

    def seal(self) -> str:
        """Return the digest that the other fields call for."""
        return hashlib.sha256(self.line.encode()).hexdigest()

    @property
    def place(self) -> str:
        """How a certificate names the entry that paid for it: "<number>:<digest>"."""
        return f"{self.number}:{self.digest}"


def following(
    entries: Sequence[Entry],
    dataset: str,
    kind: str,
    amount: Budget | None = None,
    certificate: str = "",
    record: str | None = None,
    made: str | None = None,
) -> Entry:
    """Return the sealed entry that comes next; of the entries before it only the last one is looked at.

    It is made now, unless `made` says another time.

    Examples
    --------
    >>> following((), "trial", "budget", Budget(1.0)).previous == NOTHING_BEFORE
    True
    """
    made = made or datetime.now(UTC).isoformat(timespec="seconds")
    number, previous = (entries[-1].number + 1, entries[-1].digest) if entries else (1, NOTHING_BEFORE)
    epsilon, delta = (NO_AMOUNT, NO_AMOUNT) if amount is None else (repr(amount.epsilon), repr(amount.delta))
    draft = Entry(number, dataset, kind, epsilon, delta, certificate, made, previous, "", record)
    return replace(draft, digest=draft.seal())


def is_amount(entry: Entry) -> bool:
    """Return whether epsilon and delta are those of a budget or a spend, or none where nothing is spent."""
    if entry.kind not in ("budget", "spend"):
        return (entry.epsilon, entry.delta) == (NO_AMOUNT, NO_AMOUNT)
    return _is_budget(entry.epsilon, entry.delta)


@lru_cache(maxsize=4096)
def _is_budget(epsilon: str, delta: str) -> bool:
    try:
        amount = Budget(float(epsilon), float(delta))
    except (TypeError, ValueError, OverflowError):  # InvalidParameter is a ValueError too
        return False
    return (repr(amount.epsilon), repr(amount.delta)) == (epsilon, delta)


def _exported(entry: Entry) -> dict[str, object]:
    """Return an entry for an export; one without a record is written as it was before there were any."""
    fields = asdict(entry)
    return fields if entry.record is not None else {name: fields[name] for name in fields if name != "record"}


def export(dataset: str, entries: Iterable[Entry]) -> str:
    """Return a dataset's history as JSON, to be kept where the ledger cannot be reached.

    Examples
    --------
    >>> json.loads(export("trial", [following((), "trial", "budget", Budget(1.0))]))["entries"][0]["epsilon"]
    '1.0'
    """
    written = [_exported(entry) for entry in entries]
    version = EXPORT_VERSIONS["record" in written[-1]] if written else EXPORT_VERSIONS[0]
    return json.dumps({"export_version": version, "dataset": dataset, "entries": written}, indent=2) + "\n"


def departures(dataset: str, entries: Iterable[Entry], exported: str) -> tuple[str, ...]:
    """Return one line for every entry of an earlier export that the history no longer begins with, the first of many.

    Examples
    --------
    >>> budget = following((), "trial", "budget", Budget(1.0))
    >>> departures("trial", (), export("trial", [budget]))
    ('entry 1 of the export is missing',)
    """
    try:
        record = parse(exported, MOST_EXPORTED)
        version, subject, former = record["export_version"], record["dataset"], list(record["entries"])
    except (TypeError, ValueError, KeyError):
        version, subject, former = None, None, []
    if version not in EXPORT_VERSIONS or subject != dataset or not former:
        found = "something else, or a part of one" if subject is None else f"one of {subject!r:.80}"
        remedy = "pass what `equipoise ledger export` wrote for this dataset, whole and unchanged"
        raise LedgerRefused(f"an export of {dataset!r} of version 1 or 2", found, remedy)
    gone = list(_gone(former, iter(entries)))
    more = len(gone) - MOST_DEPARTURES
    return (*gone[:MOST_DEPARTURES], *([f"and {more} more entries of the export"] if more > 0 else ()))


def _gone(former: Sequence[object], present: Iterator[Entry]) -> Iterator[str]:
    for place, entry in enumerate(former, start=1):
        now = next(present, None)
        if now is None or _exported(now) != entry:
            yield f"entry {place} of the export {'is missing' if now is None else 'differs'}"
