"""The ledger itself: who may spend how much of a dataset's budget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import sqlalchemy as sql

from equipoise.certify.certificate import Certificate
from equipoise.errors import EquipoiseError, InvalidParameter, LedgerRefused, LedgerTampered
from equipoise.ledger import chain, records, witness
from equipoise.ledger.chain import Entry
from equipoise.ledger.currencies import currency_named, default_for
from equipoise.ledger.currencies.base import require_countable, shown, text_of
from equipoise.ledger.grounds import REPLACE_ONE, grounds_of, reasons_of, require_admissible
from equipoise.ledger.names import meant_by, others_in_words, require_apart, require_new, require_one_script
from equipoise.ledger.release_ids import DrawnId, drawn_id, require_release_id
from equipoise.ledger.statements import (
    Balance,
    Head,
    Paid,
    balance_after,
    claim_digest,
    claim_faults,
    outcome_of,
    overdraft,
    paid_by,
)
from equipoise.ledger.store import Store
from equipoise.ledger.walk import NO_RECORD, Walk, all_faults
from equipoise.vocabulary.facts import Budget

# So many entries at the end of a history, or of so many letters, are checked before a spend; all of them by `verify`.
LAST, LETTERS = 64, 2**20

# So many entries are read at once where a whole history is checked.
PART = 10_000


class Ledger:
    """A ledger named by a URL or a dataset id, never held open.

    Parameters
    ----------
    reference : str
        ``sqlite:///folder/file.db#dataset`` (an absolute path has four slashes), ``postgresql://user@host/db#dataset``,
        or a plain dataset name, which is kept in ``ledger.db`` of the folder EQUIPOISE_HOME (``~/.equipoise`` if
        unset). Without ``#dataset`` the dataset is called "default". Names are compared in a normal form
        (`equipoise.ledger.names`): "People" and "people " are one dataset.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"sqlite:///{folder}/ledger.db#trial")
    ...     ledger.create(Budget(3.0))
    ...     str(ledger.balance().epsilon_left), ledger.verify()
    ('3.0', ())
    """

    def __init__(self, reference: str) -> None:
        self._store = Store(reference)
        self.dataset = self._store.dataset
        # The file, or the server without a password: where it is kept, as it may be shown.
        self.place = self._store.shown_path if self._store.in_file else self._store.shown

    @property
    def has_password(self) -> bool:
        """Whether the reference holds a password, which must be shown to nobody."""
        return self._store.url.password is not None

    def __repr__(self) -> str:
        """Return the reference, without a password."""
        return f"Ledger({self._store.shown!r})"

    def create(
        self,
        budget: Budget,
        currency: str | None = None,
        key: str | None = None,
        apart_from: Iterable[str] = (),
    ) -> None:
        """Create the dataset's budget, and the file or table if need be; an existing budget is never changed.

        Parameters
        ----------
        budget : Budget
            What all releases together may lose.
        currency : str, optional
            What spends are counted in (docs/currencies.md); None for the default of this budget.
        key : str, optional
            The owner's public key, by which checkpoints are signed.
        apart_from : iterable of str, optional
            Names of budgets that are there, nearly the same, and of other people by the owner's word.
        """
        if not isinstance(budget, Budget):
            raise InvalidParameter("a budget", f"an object of type {type(budget).__name__}", "pass Budget(3.0, 1e-6)")
        require_new(self._store.written)
        chosen = default_for(budget) if currency is None else currency_named(currency)
        limit = chosen.limit(budget)
        record = {"version": records.RECORD_VERSION, "currency": chosen.name, "limit": records.plain(limit), "key": key}
        with self._store.opened(writing=True, creating=True) as connection:
            recorded = self._store.names(connection, whole=True)
            if meant_by(self._store.written, recorded):
                found = "one that exists already; budgets are never changed"
                remedy = f"for the same people, spend from it: {self._store.command('show')}; for others, another name"
                raise LedgerRefused(f"a new budget for {self.dataset!r}", found, remedy)
            require_apart(self.dataset, recorded, apart_from)
            require_one_script(self.dataset)
            text = records.canonical(record)
            self._store.append(connection, chain.following((), self.dataset, "budget", budget, record=text))

    def admit(
        self, certificate: Certificate, software: Mapping[str, str] | None = None, release_id: str | None = None
    ) -> Entry:
        """Record the spend of a certificate and return the entry, or refuse it and record nothing.

        Parameters
        ----------
        certificate : Certificate
            What `plan` returned.
        software : mapping, optional
            The software that will carry it out, by version: should a part of it be withdrawn, the entry is found.
        release_id : str, optional
            The id of the release that the entry pays for, and for no other; drawn here if None. One that an earlier
            entry pays for is refused, however old that is.
        """
        release = drawn_id() if release_id is None else require_release_id(release_id)
        require_admissible(certificate, self.dataset)
        heard = witness.heard(self.dataset)
        with self._store.opened(writing=True) as connection:
            spend, grounds, _ = self._next_spend(connection, certificate, software or {}, release, heard)
            self._store.append(connection, spend, grounds)
        return spend

    def would_admit(self, certificate: Certificate) -> Balance:
        """Return the balance before a spend that would be admitted now, or refuse it as `admit` would, writing nothing.

        Examples
        --------
        >>> import tempfile
        >>> import equipoise as eq
        >>> plan = eq.Ridge(epsilon=2.0, domain=eq.Domain(1.0, labels=(0, 1))).plan(5000, 4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(f"sqlite:///{folder}/ledger.db#trial")
        ...     ledger.create(Budget(3.0))
        ...     str(ledger.would_admit(plan).epsilon_left), str(ledger.balance().epsilon_left)
        ('3.0', '3.0')
        """
        require_admissible(certificate, self.dataset)
        heard = witness.heard(self.dataset)
        with self._store.opened() as connection:
            return balance_after(self._next_spend(connection, certificate, {}, "", heard)[2])

    def conclude(self, entry: Entry, outcome: str, certificate: Certificate | None = None, files: str = "") -> None:
        """Record what became of a spend, once: "released" with certificate and digest of files if known, or "failed".

        It bears the spend's time: how long a fit takes depends on rows. Ledgers of 0.1.0 and 0.2.0 keep no outcomes.
        """
        if outcome not in records.OUTCOMES or (certificate is None) is (outcome == "released"):
            remedy = 'pass "released" and the released certificate, or "failed" alone'
            raise InvalidParameter("an outcome", f"{outcome!r:.20}", remedy)
        with self._store.opened(writing=True) as connection:
            if not self._store.records(connection):
                return
            walk = self._position(connection, spending=True)
            recorded = self._store.entry(connection, entry.dataset, entry.number)
            if entry.kind != "spend" or entry.record is None or recorded != entry:
                raise LedgerRefused("the outcome of a spend", "no spend of this ledger", "pass what `admit` returned")
            rest, _ = records.read_spend(entry.record)
            later = self._store.history(connection, entry.dataset, after=entry.number)  # usually few, and of others
            if entry.number in [outcome_of(found)[0] for found in later if found.kind == "outcome"]:
                asked, remedy = f"an outcome of entry {entry.number}", "spend again: an entry pays for one release"
                raise LedgerRefused(asked, "one that was recorded already", remedy)
            named = {records.FILES: files} if files else {}
            record = {"of": entry.number, "release": rest["release"], "outcome": outcome, "adjacency": walk.adjacency}
            told = records.canonical({**record, **named, "spent": records.plain(walk.spent), "under": walk.under})
            facts = None, "" if certificate is None else claim_digest(certificate), told, entry.made
            self._store.append(connection, chain.following((_last(walk),), entry.dataset, "outcome", *facts))

    def migrate(self, currency: str) -> Entry:
        """Move a dataset to another currency and return the entry that says what was done; for the owner.

        Every earlier spend is priced again: by its certificate where it was recorded, else as an (epsilon, delta)
        of which nothing more is known, and so is what a recovery counted. The budget stays what it is. docs/ledger.md
        says what the promise is then.
        """
        chosen = currency_named(currency)
        with self._store.opened(writing=True) as connection:
            name = self._name(connection, spending=True)
            self._store.make_tables(connection)
            grounds = self._store.grounds(connection, name)
            walk = Walk(lambda number: self._store.history(connection, name, before=number), grounds)
            self._require_intact(walk, self._store.history(connection, name))
            if walk.currency.name == chosen.name or walk.budget is None:
                found = f"one that counts in {chosen.name} already"
                raise LedgerRefused(f"to move {self.dataset!r}", found, "name another currency, or leave it")
            try:
                limit, spent = chosen.limit(walk.budget), walk.worth_in(chosen, self._store.history(connection, name))
            except ValueError as error:
                if isinstance(error, EquipoiseError):
                    raise
                remedy = f"leave it in {walk.currency.name}, or name a currency that prices every spend"
                raise LedgerRefused(f"to move {self.dataset!r} to {chosen.name}", str(error), remedy) from None
            if not spent.within(limit):
                worth = f"{shown(spent.amount, True)} and delta {shown(spent.delta, True)}"
                found = f"spends worth {worth}, of {text_of(limit.amount)} and {text_of(limit.delta)}"
                remedy = f"leave it in {walk.currency.name}, where they are within the budget"
                raise LedgerRefused(f"to move {self.dataset!r} to {chosen.name}", found, remedy)
            record = {
                "from": walk.currency.name,
                "currency": chosen.name,
                "limit": records.plain(limit),
                "spent": records.plain(spent),
                "adjacency": min(walk.neighbours, default=None),
            }
            moved = self._following(walk, "migration", None, "", records.canonical(record))
            self._store.append(connection, moved)
        return moved

    def balance(self) -> Balance:
        """Return the budget and what remains of it; where the last entries do not hold together it is refused."""
        with self._store.opened() as connection:
            return balance_after(self._position(connection))

    def head(self) -> Head:
        """Return where the history ends."""
        with self._store.opened() as connection:
            walk = self._position(connection)
        last = _last(walk)
        return Head(last.dataset, last.number, last.digest, walk.currency.name, walk.spent, last.made)

    def entry(self, number: int) -> Entry | None:
        """Return an entry by its number, as it is recorded."""
        with self._store.opened() as connection:
            return self._store.entry(connection, self._name(connection), number)

    def statement(self) -> tuple[Balance, tuple[Entry, ...]]:
        """Return the balance and the entries it comes from, read at the same moment; a broken history is refused."""
        with self._store.opened() as connection:
            name = self._name(connection)
            walk = Walk(grounds=self._store.grounds(connection, name))
            entries = tuple(self._store.history(connection, name))
            self._require_intact(walk, entries)
        return balance_after(walk), entries

    def history(self) -> tuple[Entry, ...]:
        """Return every entry of the dataset in its order, as it is recorded, intact or not."""
        with self._store.opened() as connection:
            return tuple(self._store.history(connection, self._name(connection)))

    def export(self) -> str:
        """Return the dataset's history as JSON, to be kept elsewhere; a broken one is refused."""
        _, entries = self.statement()
        return chain.export(entries[0].dataset, entries)

    def verify(self, against: str | None = None) -> tuple[str, ...]:
        """Return one line for every fault of the recorded history, every price computed again from its certificate.

        Parameters
        ----------
        against : str, optional
            The text of an earlier `export`, which the history must still begin with. Only so is a cut-off end noticed.
        """
        with self._store.opened() as connection:
            # Of every dataset: where the last entry was given another dataset id, only that one's history shows it.
            names = sorted(self._store.names(connection, whole=True), key=str)
            own = (*meant_by(self._store.written, names), self.dataset)[0]
            if against is None:
                self._name(connection)  # a history that is gone is found against an export, and refused without one
        lines = (f"{name!r}: {fault}" for name in names for fault in self._faults(name))
        if against is None:
            return tuple(lines)
        return (*lines, *chain.departures(own, self._in_parts(own), against))

    def releases(self) -> tuple[Paid, ...]:
        """Return every spend with the id of its release and what became of it."""
        with self._store.opened() as connection:
            return paid_by(self._store.history(connection, self._name(connection)))

    def claimed(self, certificate: Certificate) -> tuple[str, ...]:
        """Return one line for every reason why a released certificate cannot claim the entry of this ledger it names.

        A spend commits to the id of one release, and its outcome names the certificate of that release: of two that
        name the same entry, one at most is named by it.
        """
        named = "" if certificate.release is None else certificate.release.entry or ""
        return claim_faults(certificate, {paid.entry.place: paid for paid in self.releases()}.get(named))

    def withdrawn(self) -> tuple[tuple[tuple[Entry, tuple[str, ...]], ...], tuple[Entry, ...]]:
        """Return the spends that rest on what was found false since, each with the reasons, and those nobody can tell.

        A ledger of version 0.1.0 kept no grounds: its spends are looked up by the certificates of their releases.
        """
        with self._store.opened() as connection:
            name = self._name(connection)
            spends = [entry for entry in self._store.history(connection, name) if entry.kind == "spend"]
            grounds = self._store.grounds(connection, name)
        reasons = {entry.number: reasons_of(entry, grounds.get(entry.number, "")) for entry in spends}
        affected = tuple((entry, found) for entry in spends if (found := reasons[entry.number]))
        return affected, tuple(entry for entry in spends if reasons[entry.number] is None)

    def _next_spend(
        self,
        connection: sql.Connection,
        certificate: Certificate,
        software: Mapping[str, str],
        release: str,
        heard: Sequence[witness.Evidence],
    ) -> tuple[Entry, str, Walk]:
        """Return the entry of a spend that budget and witnesses allow, what is kept beside it, and where it follows."""
        walk = self._position(connection, spending=True)
        name = _last(walk).dataset
        witness.check_entries(heard, _last(walk).number, lambda number: self._store.entry(connection, name, number))
        if release:
            self._require_unpaid(connection, walk, release)
        if earlier := walk.neighbours - {certificate.adjacency}:
            # What adds up must be about one replacement (N1): moving a row from one person to another replaces one row
            # and two persons, and a person is more than a row. A sum of both would be a promise about neither.
            raise LedgerRefused(
                f"a spend for neighbours {certificate.adjacency!r} of {self.dataset!r}",
                f"earlier spends for neighbours {', '.join(map(repr, sorted(earlier)))}",
                "create a budget under another name for this promise, after asking what the people have left in all",
            )
        cost = walk.currency.price(certificate.claim)
        require_countable(cost)
        spent = walk.spent + cost
        if not spent.within(walk.limit):
            raise overdraft(self.dataset, walk, cost, certificate)
        last = _last(walk)
        if self._store.grounds(connection, last.dataset, last.number + 1):
            raise self._tampered(f"entry {last.number + 1} is missing, and what it rested on was left behind")
        grounds, text = "", None
        if self._store.records(connection):
            record = {"adjacency": certificate.adjacency, "certificate": records.of_plan(certificate)}
            sums = {"cost": records.plain(cost), "spent": records.plain(spent), "under": walk.under}
            text = records.canonical({**record, **sums, "release": release, "software": dict(software)})
        elif certificate.adjacency == REPLACE_ONE or self._store.has_grounds(connection):
            grounds = grounds_of(certificate, software)
        else:
            found = "one of version 0.1.0, which does not record what neighbours are"
            remedy = f"create another: {self._store.creation}"
            raise LedgerRefused("a ledger for spends about persons", found, remedy)
        amount = Budget(certificate.epsilon, certificate.delta)
        return self._following(walk, "spend", amount, certificate.planned_digest, text), grounds, walk

    def _require_unpaid(self, connection: sql.Connection, walk: Walk, release: str) -> None:
        """Refuse the id of a release that an earlier spend pays for; entries without records name none."""
        paid = release in walk.releases
        if not paid and not isinstance(release, DrawnId) and self._store.records(connection):
            named = self._store.spends_with(connection, _last(walk).dataset, f'"release":{json.dumps(release)}')
            paid = any(one.release == release for one in paid_by(named))
        if paid:
            remedy = "pass release_id=None, or an id of its own for every release; nothing was spent"
            raise LedgerRefused(f"a spend for the release {release!r:.80}", "an earlier spend that pays for it", remedy)

    def _following(self, walk: Walk, kind: str, amount: Budget | None, certificate: str, text: str | None) -> Entry:
        return chain.following((_last(walk),), _last(walk).dataset, kind, amount, certificate, text)

    def _position(self, connection: sql.Connection, spending: bool = False) -> Walk:
        """Return where the history stands, from its budget and its last entries, which must hold together.

        A history without running totals, of versions 0.1.0 and 0.2.0, is gone through from its beginning.
        """
        name = self._name(connection, spending)
        last = self._store.last(connection, name, LAST, LETTERS)
        if last[0].number == 1 or last[-1].record is None:
            # Entries without a record may have grounds, and nothing else does.
            grounds = {} if last[0].record is not None else self._store.grounds(connection, name)
            walk = Walk(grounds=grounds)
            entries = iter(last) if last[0].number == 1 else self._store.history(connection, name)
        else:
            walk, entries = self._midway(connection, name, last)
        self._require_intact(walk, entries)
        return walk

    def _midway(self, connection: sql.Connection, name: str, last: tuple[Entry, ...]) -> tuple[Walk, Iterator[Entry]]:
        """Return the state before the last entries that have records, and these."""
        start = next(place for place, entry in enumerate(last) if entry.record is not None)
        for former, entry in pairwise(last[: start + 1]):
            if former.seal() != former.digest or entry.previous != former.digest:
                raise self._tampered(f"entry {former.number}: a field was altered after it was written")
        first = last[start]
        try:
            under = 1 if first.kind == "migration" else json.loads(first.record or "")["under"]
            places = (1, max(0, min(int(under), first.number)))  # of a size that every database takes
            budget, setter = (self._store.entry(connection, name, number) for number in places)
            if budget is None or setter is None:
                raise ValueError("the budget, or the entry that moved it to a currency, is missing")
            return Walk.midway(budget, setter, first), iter(last[start:])
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            found = str(error) if type(error) is ValueError else f"entry {first.number!r:.20}: {NO_RECORD}"
            raise self._tampered(found) from None

    def _require_intact(self, walk: Walk, entries: Iterable[Entry]) -> None:
        """Go through entries; refuse those that do not hold together."""
        found = [fault for entry in entries for fault in walk.take(entry)]
        if found := [*found, *walk.end()]:
            raise self._tampered("; ".join(found[:3]))

    def _faults(self, name: str) -> Iterator[str]:
        """Yield what is wrong with a whole history, every price computed again."""
        with self._store.opened() as connection:
            grounds = self._store.grounds(connection, name)
        return all_faults(self._in_parts(name), lambda number: self._in_parts(name, before=number), grounds)

    def _in_parts(self, name: str, before: int | None = None) -> Iterator[Entry]:
        """Yield a history by and by: spends are not kept waiting while all of a long one is read."""
        after: int | None = None
        while True:
            with self._store.opened() as connection:
                part = tuple(self._store.history(connection, name, before, after, PART))
            if not part:
                return
            yield from part
            after = part[-1].number

    def _tampered(self, found: str) -> LedgerTampered:
        remedy = f"nothing is admitted before people have looked: {self._store.command('verify')} --against EXPORT"
        return LedgerTampered(f"an intact history of {self.dataset!r}", found, remedy)

    def _name(self, connection: sql.Connection, spending: bool = False) -> str:
        """Return the recorded id of the dataset; of several that its name stands for, the one that is spelled so.

        Ledgers of versions 0.1.0 and 0.2.0 may hold several. Each of them can be read, and none of them spends.
        """
        written = self._store.written
        # Where a budget was taken out, the rest of its history is still found.
        own = meant_by(written, self._store.names(connection))
        recorded = () if own else self._store.names(connection, whole=True)
        if not (own := own or meant_by(written, recorded)):
            remedy = f"{others_in_words(self.dataset, recorded)}{self._store.creation}"
            raise LedgerRefused(f"a budget for {self.dataset!r}", f"none in {self.place}", remedy)
        if len(own) > 1 and spending:
            found = f"{len(own)} budgets, of {', '.join(map(repr, sorted(own)))}, which are one name"
            remedy = "create a budget under another name with what is truly left of the people's, and spend that"
            raise LedgerRefused(f"to spend of {self.dataset!r}", found, remedy)
        if len(own) > 1 and own[0] != written:
            found = f"{len(own)} of them, of {', '.join(map(repr, own))}"
            raise LedgerRefused(f"the budget of {self.dataset!r}", found, "spell the name as one of these")
        return own[0]


def _last(walk: Walk) -> Entry:
    if walk.last is None:
        raise ValueError("a history without entries")
    return walk.last
