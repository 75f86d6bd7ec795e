"""A history gone through entry by entry: what cannot be as it was written, and what is left at its end.

`equipoise ledger verify` goes through the whole of it and computes every price again from the recorded certificate.
Admission goes through the last entries alone and takes prices as they are recorded: a client that lies about a price is
found by the next verification, and is not stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from equipoise.certify.certificate import ADJACENCIES
from equipoise.errors import EquipoiseError, LedgerRefused
from equipoise.ledger import records
from equipoise.ledger.chain import NOTHING_BEFORE, Entry, is_amount
from equipoise.ledger.currencies import Amount, Currency, currency_named
from equipoise.ledger.currencies.base import NOTHING
from equipoise.ledger.grounds import adjacency_in
from equipoise.ledger.names import is_about
from equipoise.ledger.records import MOST_REMEMBERED, OUTCOMES, amount_of, judged
from equipoise.vocabulary.facts import Budget

KINDS = ("spend", "outcome", "migration", "recovery")

NO_RECORD = "its record is missing, or cannot be read"
OTHER_LIMIT = "it was counted under another limit than the last one that was set"
UNKNOWN_NEIGHBOURS = "it does not say what neighbours are, or nothing that is known"
WRONG_TOTAL = "what it says was spent so far is not the sum of what was recorded before it"


class Walk:
    """The state after the entries that were taken so far.

    Parameters
    ----------
    earlier : callable, optional
        Returns the entries before a number. With it prices are computed again from the recorded certificates, those
        of a migration included; without it they are taken as they are recorded.
    grounds : mapping, optional
        What version 0.2.0 kept beside entries, by number, which says what neighbours are for spends without a record.
        Without it, as for an export, that is not known.
    verified : int, optional
        Prices up to the entry of this number were computed again before, and are not once more.

    Attributes
    ----------
    last : Entry or None
        The last entry that was taken.
    budget : Budget or None
        The budget in (epsilon, delta), once it was met.
    currency : Currency
        What is counted in.
    limit, spent : Amount
        What may be spent in all, and what was.
    under : int
        The number of the entry that set currency and limit: the budget, or the last migration.
    adjacency : str or None
        What neighbours are for the spends so far; None where no record says it.
    former : set of str
        What they are for the spends that have no record, as far as that is known.
    releases : set of str
        The ids of the releases that the spends taken so far pay for.

    Examples
    --------
    >>> from equipoise.ledger.chain import following
    >>> walk = Walk()
    >>> list(walk.take(following((), "trial", "budget", Budget(1.0)))), str(walk.limit.amount)
    ([], '1.0')
    """

    def __init__(
        self,
        earlier: Callable[[int], Iterable[Entry]] | None = None,
        grounds: Mapping[int, str] | None = None,
        verified: int = 0,
    ) -> None:
        self._earlier, self._grounds, self._verified = earlier, grounds, verified
        self._previous, self._place = NOTHING_BEFORE, 1
        self._gap = self._recorded = self._overspent = self._midway = False
        # The release ids of spends without an outcome yet, by number.
        self._open: dict[int, str] = {}
        # What recoveries added to the total, and in which currency; None where that was cut off at the limit.
        self._recovered: list[tuple[Currency, Amount | None]] = []
        self.last: Entry | None = None
        self.budget: Budget | None = None
        self.currency: Currency = currency_named("basic")
        self.limit = self.spent = NOTHING
        self.under = 1
        self.adjacency: str | None = None
        self.former: set[str] = set()
        self.releases: set[str] = set()

    @property
    def neighbours(self) -> set[str]:
        """What neighbours are for all spends so far: one kind, or none where nothing was spent."""
        return self.former if self.adjacency is None else {self.adjacency}

    @classmethod
    def midway(cls, budget: Entry, setter: Entry, first: Entry) -> Walk:
        """Return the state before the last entries of a long history, of which the first is taken at its word.

        Parameters
        ----------
        budget, setter, first : Entry
            The budget; the entry that set currency and limit for the first of the last entries; and that one.
        """
        walk = cls()
        for before in dict.fromkeys((budget, setter)):
            walk._previous, walk._place = before.previous, before.number
            if before.kind not in ("budget", "migration") or before.number >= first.number or list(walk.take(before)):
                raise ValueError("the budget, or the entry that moved it to a currency, was altered")
        walk._previous, walk._place, walk._midway = first.previous, first.number, True
        return walk

    def take(self, entry: Entry) -> Iterator[str]:
        """Take the next entry; yield one line for everything about it that cannot be as it was written."""
        if entry.number != self._place and not self._gap:
            self._gap = True
            yield f"entry {self._place} is missing"
        first = self.last is None
        checks = (
            ("it does not follow the entry before it", entry.previous == self._previous),
            ("a field was altered after it was written", entry.digest == entry.seal()),
            ("a spend before the budget", not first or entry.kind == "budget"),
            ("a second budget, or of an unknown kind", first or entry.kind in KINDS),
            ("epsilon or delta is no amount", is_amount(entry)),
        )
        found = [fault for fault, holds in checks if not holds]
        # What was overwritten may hold anything, even what a terminal obeys.
        yield from (f"entry {entry.number!r:.20}: {fault}" for fault in found or self._content(entry))
        self.last, self._previous, self._place, self._midway = entry, entry.digest, self._place + 1, False

    def end(self) -> Iterator[str]:
        """Yield what can be said only of all entries together."""
        if self._overspent:
            yield "the spends add up to more than the budget"

    def worth_in(self, currency: Currency, entries: Iterable[Entry]) -> Amount:
        """Return what everything so far is worth in a currency, or refuse where that is not known.

        Spends by their certificates, where they were recorded; what a recovery counted by its sum alone (N5).

        Parameters
        ----------
        currency : Currency
            The one that is counted in from now on.
        entries : iterable of Entry
            The entries that were taken so far.
        """
        total = NOTHING
        for entry in entries:
            if entry.kind == "spend":
                total += _worth(currency.name, entry)
        for counted_in, added in self._recovered:
            if added is None:
                found = "a recovery after which nothing was left: nobody knows how much was spent"
                remedy = "create a budget under another name with what is truly left of the people's"
                raise LedgerRefused(f"to count in {currency.name}", found, remedy)
            total += currency.price_of_sum(added, counted_in)
        return total

    def _content(self, entry: Entry) -> list[str]:
        """Return what is wrong with what an entry says, and let it count."""
        try:
            if entry.record is None:
                found = [NO_RECORD] if self._recorded or self._former(entry) else []
            else:
                self._recorded = True
                found = list(getattr(self, f"_{entry.kind}")(entry))
        except (ValueError, KeyError, TypeError, EquipoiseError):
            found = [NO_RECORD]
        self._overspent |= not self.spent.within(self.limit)
        return found

    def _former(self, entry: Entry) -> bool:
        """Take an entry of version 0.1.0 or 0.2.0; return whether it is none."""
        amount = Budget(float(entry.epsilon), float(entry.delta)) if entry.kind in ("budget", "spend") else None
        if amount is not None and entry.kind == "budget":
            self.budget, self.limit = amount, self.currency.limit(amount)
        elif amount is not None:
            self.spent += self.currency.price_of_budget(amount)
            if self._grounds is not None:
                self.former.add(adjacency_in(self._grounds.get(entry.number, "")))
        return amount is None

    def _budget(self, entry: Entry) -> Iterator[str]:
        record = records.read(entry.record, records.BUDGET_KEYS)
        self.budget = Budget(float(entry.epsilon), float(entry.delta))
        yield from self._set(record["currency"], amount_of(record["limit"]), NOTHING)
        if record["version"] != records.RECORD_VERSION or not isinstance(record["key"], str | None):
            yield "of an unknown version"

    def _migration(self, entry: Entry) -> Iterator[str]:
        record = records.read(entry.record, records.MIGRATION_KEYS)
        if record["from"] != self.currency.name and not self._jumped(entry):
            yield "a migration from another currency"
        spent = amount_of(record["spent"])
        yield from self._set(record["currency"], amount_of(record["limit"]), spent)
        yield from self._neighbours(record["adjacency"])
        self.under = entry.number
        if self._earlier is None or entry.number <= self._verified:
            return
        if not self.worth_in(self.currency, self._earlier(entry.number)).within(spent):
            yield "earlier spends are worth more in the new currency than it says"

    def _spend(self, entry: Entry) -> Iterator[str]:
        rest, head = records.read_spend(entry.record)
        cost = amount_of(rest["cost"])
        yield from self._standing(rest, cost)
        neighbours = _neighbours_in(head)
        yield from self._neighbours(neighbours)
        if neighbours is None:
            yield UNKNOWN_NEIGHBOURS
        if not (isinstance(rest["release"], str) and rest["release"] and isinstance(rest["software"], dict)):
            yield "it names no release, or no software"
        repeated = rest["release"] in self.releases
        self.releases.add(rest["release"])
        if self._earlier is None:
            return
        self._open[entry.number] = rest["release"]
        if repeated:
            yield "it pays for the release of an earlier spend"
        if entry.number <= self._verified:
            return
        found = judged(self.currency.name, head)
        yield from found.faults
        if not found.faults:
            if (entry.certificate, entry.epsilon, entry.delta) != (found.digest, *found.amount):
                yield "its amounts or its digest are not those of its certificate"
            if not is_about(found.dataset, entry.dataset):
                yield "its certificate was planned for another dataset"
            if not found.price.within(cost):
                yield "its certificate costs more than it says"

    def _outcome(self, entry: Entry) -> Iterator[str]:
        record = records.read_outcome(entry.record)
        yield from self._standing(record, NOTHING)
        yield from self._neighbours(record["adjacency"])
        if record["outcome"] not in OUTCOMES or bool(entry.certificate) != (record["outcome"] == "released"):
            yield "an outcome that is neither released nor failed"
        # Of a spend that is not among the last entries nothing is known here.
        if self._earlier is not None and self._open.pop(record["of"], "") != record["release"]:
            yield "the outcome of no spend, or a second one of the same spend"

    def _recovery(self, entry: Entry) -> Iterator[str]:
        record = records.read(entry.record, records.RECOVERY_KEYS)
        spent = amount_of(record["spent"])
        # What was moved counts as well: how much it was is the owner's word.
        if not self.spent.within(spent):
            yield WRONG_TOTAL
        if record["under"] != self.under:
            yield OTHER_LIMIT
        yield from self._neighbours(record["adjacency"])
        below = spent.amount < self.limit.amount and spent.delta < self.limit.delta
        self._recovered.append((self.currency, spent - self.spent if below else None))
        self.spent = spent

    def _set(self, currency: object, limit: Amount, spent: Amount) -> Iterator[str]:
        """Count from here on in a currency, up to a limit that is at most what the budget allows."""
        self.currency = currency_named(str(currency))
        self.limit, self.spent = limit, spent
        if self.budget is None or not limit.within(self.currency.limit(self.budget)):
            yield "its limit is more than the budget allows"

    def _standing(self, record: dict[str, object], cost: Amount) -> Iterator[str]:
        spent = amount_of(record["spent"])
        if spent != self.spent + cost and not (self._midway and cost.within(spent)):
            yield WRONG_TOTAL
        if record["under"] != self.under:
            yield OTHER_LIMIT
        self.spent = spent

    def _neighbours(self, adjacency: object) -> Iterator[str]:
        # A recovery after which nothing is left may say nothing: spends before it were not about the same neighbours.
        if (self.adjacency is not None or adjacency is not None) and self.neighbours - {adjacency}:
            yield "it is about other neighbours than the spends before it"
        elif adjacency is not None and adjacency not in ADJACENCIES.values():
            yield UNKNOWN_NEIGHBOURS
        self.adjacency = str(adjacency) if adjacency is not None else None

    def _jumped(self, entry: Entry) -> bool:
        """Return whether a migration is met without what came between the budget and it."""
        return self._earlier is None and self.last is not None and self.last.number != entry.number - 1


@lru_cache(maxsize=MOST_REMEMBERED)
def _neighbours_in(head: str) -> object:
    return records.read(head, {"adjacency", "certificate"})["adjacency"]


def faults(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Return one line for everything about a dataset's history that cannot be as it was written.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from equipoise.ledger.chain import following
    >>> budget = following((), "trial", "budget", Budget(1.0))
    >>> faults([budget]), faults([replace(budget, epsilon="9.0")])
    ((), ('entry 1: a field was altered after it was written',))
    """
    return tuple(all_faults(entries, lambda number: entries[: number - 1]))


def all_faults(
    entries: Iterable[Entry],
    earlier: Callable[[int], Iterable[Entry]],
    grounds: Mapping[int, str] | None = None,
) -> Iterator[str]:
    """Yield the same for a history that is read as it goes by; `earlier` reads what came before a number again."""
    walk = Walk(earlier, grounds)
    for entry in entries:
        yield from walk.take(entry)
    yield from walk.end()


def _worth(currency: str, entry: Entry) -> Amount:
    if entry.record is None:
        return _of_budget(currency, entry.epsilon, entry.delta)
    found = judged(currency, records.read_spend(entry.record)[1])
    if found.faults:
        raise ValueError(f"entry {entry.number}: {found.faults[0]}")
    return found.price


@lru_cache(maxsize=MOST_REMEMBERED)
def _of_budget(currency: str, epsilon: str, delta: str) -> Amount:
    return currency_named(currency).price_of_budget(Budget(float(epsilon), float(delta)))
