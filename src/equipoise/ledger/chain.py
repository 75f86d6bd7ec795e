"""A dataset's history: entries that are only ever appended, each sealed with the digest of the one before.

Admission is by basic composition: the epsilons of all spends of a dataset add up, and so do the deltas. Amounts are
added as the decimals that people wrote (ten spends of 0.1 are 1).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal, localcontext

from equipoise.certify.record import parse
from equipoise.errors import LedgerRefused
from equipoise.vocabulary.facts import Budget

EXPORT_VERSION = 1
NOTHING_BEFORE = "0" * 64

# Doubles lie between 1e-341 and 1e309 when written out, so with this many digits no sum of them is ever rounded.
EXACT_DIGITS = 1000

# So many differences to an export are listed, and the others counted.
MOST_DEPARTURES = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a dataset's history: its budget, or a spend.

    Parameters
    ----------
    number : int
        Its place in the dataset's history, from 1.
    dataset : str
        The dataset id.
    kind : str
        "budget" for the first entry, "spend" for every other.
    epsilon, delta : str
        The amounts, in the shortest digits that read back to the same double.
    certificate : str
        The digest of the certificate that was admitted; empty for a budget.
    made : str
        When, in UTC.
    previous : str
        The digest of the entry before; 64 zeros for the first.
    digest : str
        SHA-256 of a JSON list of the other fields.

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

    def seal(self) -> str:
        """Return the digest that the other fields call for."""
        # A column that was overwritten may hold anything: what is no JSON is digested as its text, and does not fit.
        text = json.dumps(astuple(self)[:-1], separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Balance:
    """What a dataset's budget was, and what remains of it.

    Examples
    --------
    >>> Balance(Budget(1.0), Decimal("0.9"), Decimal(0)).epsilon_left
    Decimal('0.9')
    """

    limit: Budget
    epsilon_left: Decimal
    delta_left: Decimal


def following(entries: Sequence[Entry], dataset: str, kind: str, amount: Budget, certificate: str = "") -> Entry:
    """Return the sealed entry that comes next.

    Examples
    --------
    >>> following((), "trial", "budget", Budget(1.0)).previous == NOTHING_BEFORE
    True
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    previous = entries[-1].digest if entries else NOTHING_BEFORE
    epsilon, delta = repr(amount.epsilon), repr(amount.delta)
    draft = Entry(len(entries) + 1, dataset, kind, epsilon, delta, certificate, now, previous, "")
    return replace(draft, digest=draft.seal())


def balance(entries: Sequence[Entry]) -> Balance:
    """Return what remains after an intact history.

    Examples
    --------
    >>> budget = following((), "trial", "budget", Budget(1.0))
    >>> str(balance([budget, following([budget], "trial", "spend", Budget(0.1))]).epsilon_left)
    '0.9'
    """
    limit, *spends = entries
    with localcontext() as context:
        context.prec = EXACT_DIGITS
        epsilon = Decimal(limit.epsilon) - sum(Decimal(spend.epsilon) for spend in spends)
        delta = Decimal(limit.delta) - sum(Decimal(spend.delta) for spend in spends)
    return Balance(Budget(float(limit.epsilon), float(limit.delta)), epsilon, delta)


def faults(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return one line for everything about a dataset's history that cannot be as it was written.

    Examples
    --------
    >>> budget = following((), "trial", "budget", Budget(1.0))
    >>> faults([budget]), faults([replace(budget, epsilon="9.0")])
    ((), ('entry 1: a field was altered after it was written',))
    """
    found = [f"entry {place} is missing" for place, entry in enumerate(entries, start=1) if entry.number != place][:1]
    previous = NOTHING_BEFORE
    for entry in entries:
        checks = {
            "it does not follow the entry before it": entry.previous == previous,
            "a field was altered after it was written": entry.digest == entry.seal(),
            "a spend before the budget": entry is not entries[0] or entry.kind == "budget",
            "a second budget, or of an unknown kind": entry is entries[0] or entry.kind == "spend",
            "epsilon or delta is no amount": _is_amount(entry.epsilon, entry.delta),
        }
        # What was overwritten may hold anything, even what a terminal obeys.
        found += [f"entry {entry.number!r:.20}: {fault}" for fault, holds in checks.items() if not holds]
        previous = entry.digest
    if entries and not found and min(balance(entries).epsilon_left, balance(entries).delta_left) < 0:
        found.append("the spends add up to more than the budget")
    return tuple(found)


def _is_amount(epsilon: str, delta: str) -> bool:
    """Return whether these are the texts of a budget; InvalidParameter is a ValueError too."""
    try:
        amount = Budget(float(epsilon), float(delta))
    except (TypeError, ValueError, OverflowError):
        return False
    return (repr(amount.epsilon), repr(amount.delta)) == (epsilon, delta)


def export(dataset: str, entries: Sequence[Entry]) -> str:
    """Return a dataset's history as JSON, to be kept where the ledger cannot be reached.

    Examples
    --------
    >>> json.loads(export("trial", [following((), "trial", "budget", Budget(1.0))]))["entries"][0]["epsilon"]
    '1.0'
    """
    record = {"export_version": EXPORT_VERSION, "dataset": dataset, "entries": [asdict(entry) for entry in entries]}
    return json.dumps(record, indent=2) + "\n"


def departures(dataset: str, entries: Sequence[Entry], exported: str) -> tuple[str, ...]:
    """Return one line for every entry of an earlier export that the history no longer begins with, the first of many.

    Examples
    --------
    >>> budget = following((), "trial", "budget", Budget(1.0))
    >>> departures("trial", (), export("trial", [budget]))
    ('entry 1 of the export is missing',)
    """
    try:
        record = parse(exported)
        version, subject, former = record["export_version"], record["dataset"], list(record["entries"])
    except (TypeError, ValueError, KeyError):
        version, subject, former = None, None, []
    if version != EXPORT_VERSION or subject != dataset or not former:
        found = "something else, or a part of one" if subject is None else f"one of {subject!r:.80}"
        remedy = "pass what `equipoise ledger export` wrote for this dataset, whole and unchanged"
        raise LedgerRefused(f"an export of {dataset!r} of version {EXPORT_VERSION}", found, remedy)
    present = [asdict(entry) for entry in entries]
    gone = [
        f"entry {place} of the export {'differs' if place <= len(present) else 'is missing'}"
        for place, entry in enumerate(former, start=1)
        if [entry] != present[place - 1 : place]
    ]
    more = len(gone) - MOST_DEPARTURES
    return (*gone[:MOST_DEPARTURES], *([f"and {more} more entries of the export"] if more > 0 else ()))
