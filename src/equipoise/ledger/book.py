"""The ledger itself: who may spend how much of a dataset's budget."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

import sqlalchemy as sql

from equipoise.certify.certificate import ADJACENCIES, Certificate
from equipoise.certify.withdrawn import affecting
from equipoise.errors import InvalidParameter, LedgerRefused, LedgerTampered, Overdraft
from equipoise.ledger import chain, witness
from equipoise.ledger.chain import Balance, Entry
from equipoise.ledger.names import meant_by, require_new
from equipoise.ledger.store import Store
from equipoise.vocabulary.facts import Budget

REPLACE_ONE = ADJACENCIES["row"]


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
    ...     ledger.create(Budget(3.0, 1e-6))
    ...     str(ledger.balance().epsilon_left), ledger.verify()
    ('3.0', ())
    """

    def __init__(self, reference: str) -> None:
        self._store = Store(reference)
        self.dataset = self._store.dataset

    def __repr__(self) -> str:
        """Return the reference, without a password."""
        return f"Ledger({self._store.shown!r})"

    def create(self, budget: Budget) -> None:
        """Create the dataset's budget, and the file or table if need be; an existing budget is never changed."""
        if not isinstance(budget, Budget):
            raise InvalidParameter("a budget", f"an object of type {type(budget).__name__}", "pass Budget(3.0, 1e-6)")
        require_new(self._store.written)
        with self._store.opened(writing=True, creating=True) as connection:
            if self._store.histories(connection):
                remedy = "choose another dataset name; budgets are never changed"
                raise LedgerRefused(f"a new budget for {self.dataset!r}", "one that exists already", remedy)
            self._store.append(connection, chain.following((), self.dataset, "budget", budget))

    def admit(self, certificate: Certificate, software: Mapping[str, str] | None = None) -> None:
        """Record the spend of a certificate, or refuse it and record nothing.

        Parameters
        ----------
        certificate : Certificate
            What `plan` returned.
        software : mapping, optional
            The software that will carry it out, by version: should a part of it be withdrawn, the entry is found.
        """
        _require_release(certificate)
        heard = witness.heard(self.dataset)
        with self._store.opened(writing=True) as connection:
            spend = self._next_spend(connection, certificate, heard)[0]
            self._store.append(connection, spend, _written(certificate, software or {}))
            if certificate.adjacency != REPLACE_ONE and not self._store.grounds(connection, spend.dataset):
                found = "one of version 0.1.0, which does not record what neighbours are"
                remedy = f"create another: {self._store.creation}"
                raise LedgerRefused("a ledger for spends about persons", found, remedy)

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
        _require_release(certificate)
        heard = witness.heard(self.dataset)
        with self._store.opened() as connection:
            return self._next_spend(connection, certificate, heard)[1]

    def _next_spend(
        self, connection: sql.Connection, certificate: Certificate, heard: Sequence[witness.Evidence]
    ) -> tuple[Entry, Balance]:
        """Return the entry of a spend that the budget and the witnesses allow, and the balance before it."""
        entries = self._intact(connection, spending=True)
        if heard:
            keys = witness.trusted_keys(witness.owner_of(entries[0]))
            witness.check(heard, len(entries), lambda number: entries[number - 1].digest, keys)
        self._of_one_kind(connection, entries, certificate)
        left = chain.balance(entries)
        amount = Budget(certificate.epsilon, certificate.delta)
        spend = chain.following(entries, entries[0].dataset, "spend", amount, certificate.planned_digest)
        if spend.number in self._store.grounds(connection, spend.dataset):
            raise self._tampered(f"entry {spend.number} is missing, and what it rested on was left behind")
        if Decimal(spend.epsilon) > left.epsilon_left or Decimal(spend.delta) > left.delta_left:
            asked = f"to spend epsilon={spend.epsilon}, delta={spend.delta} of {self.dataset!r}"
            found = f"epsilon={left.epsilon_left}, delta={left.delta_left} remaining of {left.limit.epsilon:g}"
            remedy = "lower epsilon and delta to what remains, or stop: nothing was read and nothing was spent"
            raise Overdraft(asked, f"{found}, {left.limit.delta:g}", remedy)
        return spend, left

    def _of_one_kind(self, connection: sql.Connection, entries: tuple[Entry, ...], certificate: Certificate) -> None:
        """Refuse a spend about other neighbours than those before: what adds up must be about one replacement (N1).

        Moving a row from one person to another replaces one row and two persons, and a person is more than a row: a sum
        of both kinds would be a promise about neither.
        """
        grounds = self._store.grounds(connection, entries[0].dataset)
        earlier = {_adjacency(grounds.get(entry.number, "")) for entry in entries if entry.kind == "spend"}
        if earlier - {certificate.adjacency}:
            raise LedgerRefused(
                f"a spend for neighbours {certificate.adjacency!r} of {self.dataset!r}",
                f"earlier spends for neighbours {', '.join(map(repr, sorted(earlier)))}",
                "create a budget under another name for this promise, after asking what the people have left in all",
            )

    def balance(self) -> Balance:
        """Return the budget and what remains of it; a broken history is refused."""
        return self.statement()[0]

    def statement(self) -> tuple[Balance, tuple[Entry, ...]]:
        """Return the balance and the entries it comes from, read at the same moment; a broken history is refused."""
        with self._store.opened() as connection:
            entries = self._intact(connection)
        return chain.balance(entries), entries

    def history(self) -> tuple[Entry, ...]:
        """Return every entry of the dataset in its order, as it is recorded, intact or not."""
        with self._store.opened() as connection:
            return self._known(self._store.histories(connection))

    def export(self) -> str:
        """Return the dataset's history as JSON, to be kept elsewhere; a broken one is refused."""
        with self._store.opened() as connection:
            entries = self._intact(connection)
        return chain.export(entries[0].dataset, entries)

    def verify(self, against: str | None = None) -> tuple[str, ...]:
        """Return one line for every fault of the recorded history.

        Parameters
        ----------
        against : str, optional
            The text of an earlier `export`, which the history must still begin with. Only so is a cut-off end noticed.
        """
        with self._store.opened() as connection:
            # Of every dataset: where the last entry was given another dataset id, only that one's history shows it.
            histories = self._store.histories(connection, everyone=True)
        lines = [f"{name!r}: {fault}" for name, entries in histories.items() for fault in chain.faults(entries)]
        own = meant_by(self._store.written, histories)
        if against is None:
            self._known({name: histories[name] for name in own})
            return tuple(lines)
        name = own[0] if own else self.dataset
        return (*lines, *chain.departures(name, histories.get(name, ()), against))

    def withdrawn(self) -> tuple[tuple[tuple[Entry, tuple[str, ...]], ...], tuple[Entry, ...]]:
        """Return the spends that rest on what was found false since, each with the reasons, and those nobody can tell.

        A ledger of version 0.1.0 kept no grounds: its spends are looked up by the certificates of their releases.
        """
        with self._store.opened() as connection:
            entries = self._known(self._store.histories(connection))
            grounds = self._store.grounds(connection, entries[0].dataset)
        spends = [entry for entry in entries if entry.kind == "spend"]
        reasons = {entry.number: _reasons(grounds.get(entry.number, "")) for entry in spends}
        affected = tuple((entry, found) for entry in spends if (found := reasons[entry.number]))
        return affected, tuple(entry for entry in spends if reasons[entry.number] is None)

    def _intact(self, connection: sql.Connection, spending: bool = False) -> tuple[Entry, ...]:
        histories = self._store.histories(connection)
        if spending and len(histories) > 1:
            found = f"{len(histories)} budgets, of {', '.join(map(repr, sorted(histories)))}, which are one name"
            remedy = "create a budget under another name with what is truly left of the people's, and spend that"
            raise LedgerRefused(f"to spend of {self.dataset!r}", found, remedy)
        entries = self._known(histories)
        if faults := chain.faults(entries):
            raise self._tampered("; ".join(faults[:3]))
        return entries

    def _tampered(self, found: str) -> LedgerTampered:
        remedy = f"nothing is admitted before people have looked: {self._store.command('verify')} --against EXPORT"
        return LedgerTampered(f"an intact history of {self.dataset!r}", found, remedy)

    def _known(self, histories: Mapping[str, tuple[Entry, ...]]) -> tuple[Entry, ...]:
        """Return the dataset's history: the only one, or of several that its name stands for the one spelled so."""
        own = meant_by(self._store.written, histories)
        if not own:
            found = f"none in {self._store.path if self._store.in_file else self._store.shown}"
            raise LedgerRefused(f"a budget for {self.dataset!r}", found, self._store.creation)
        if len(own) > 1 and own[0] != self._store.written:
            found = f"{len(own)} of them, of {', '.join(map(repr, own))}"
            raise LedgerRefused(f"the budget of {self.dataset!r}", found, "spell the name as one of these")
        return histories[own[0]]


def _written(certificate: Certificate, software: Mapping[str, str]) -> str:
    """Return what a certificate rests on, as a ledger keeps it."""
    kept: dict[str, object] = {"members": certificate.rests_on(), "software": dict(software)}
    if certificate.adjacency != REPLACE_ONE:
        kept["adjacency"] = certificate.adjacency
    return json.dumps(kept, sort_keys=True)


def _adjacency(grounds: str) -> str:
    """Return what neighbours are for an entry; one that does not say is about rows."""
    try:
        return str(json.loads(grounds).get("adjacency", REPLACE_ONE))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return REPLACE_ONE


def _reasons(grounds: str) -> tuple[str, ...] | None:
    """Return why the grounds of an entry were withdrawn; None where they are not known, or were overwritten."""
    try:
        record = json.loads(grounds)
        members = [(str(family), str(name)) for family, name in record["members"]]
        return affecting(members, dict(record["software"]).items())
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _require_release(certificate: object) -> None:
    """Refuse what is no certificate of a release, or one that no ledger takes."""
    if not isinstance(certificate, Certificate):
        remedy = "pass what `plan` returned: a finding is measured, not proved, and cannot be a spend"
        raise LedgerRefused("a certificate", f"an object of type {type(certificate).__name__}", remedy)
    if certificate.terms.seeded:
        remedy = "leave random_state=None where a ledger is bound"
        raise LedgerRefused("a release", "a seeded run, for experiments only", remedy)
    if certificate.grade != "proved":
        found = f"grade {certificate.grade!r}: {'; '.join(certificate.assumptions)}"
        remedy = "declare the classes, or run fewer noisy steps: whatever the assumption rests on"
        raise LedgerRefused('a certificate of grade "proved"', found, remedy)
