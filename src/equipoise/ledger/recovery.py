"""The way back from a history that does not hold together: what is malformed is kept as evidence, and counted.

What was spent never becomes less. docs/ledger-postgresql.md says who may do this and what it means.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import sqlalchemy as sql

from equipoise.errors import EquipoiseError, InvalidParameter, LedgerRefused
from equipoise.ledger import chain, postgresql, records, witness
from equipoise.ledger.book import Ledger
from equipoise.ledger.chain import Entry
from equipoise.ledger.checkpoints import Checkpoint
from equipoise.ledger.currencies import Amount, Currency
from equipoise.ledger.currencies.base import BASIC, NOTHING
from equipoise.ledger.grounds import adjacency_in
from equipoise.ledger.walk import Walk
from equipoise.vocabulary.facts import Budget

_QUARANTINED = sql.Table(
    "quarantined",
    sql.MetaData(),
    sql.Column("dataset", sql.String, primary_key=True),
    # The number of the recovery, and the place of the entry in the list of digests that it records.
    sql.Column("recovery", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("place", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("evidence", sql.String, nullable=False),
)

# Finer amounts would make sums that are longer than a reader takes (postgresql.sql).
_FINEST_DIGITS = 400


def recover(ledger: Ledger, stated: Amount | None) -> Entry:
    """Move a history from its first fault on to the table `quarantined`, and return the entry that says so.

    The entries before stay. A fault is what `verify` finds: a spend that costs more than it says is one. The new total
    is theirs, plus what the moved entries that are as they were sealed say or, if that is more, what their certificates
    cost, plus `stated` for all the others together, or what can be read in them if that is more; at least what the
    witnesses of the environment say was spent; never more than the limit, at which nothing is admitted any more. The
    limit it is, whatever was stated, where the moved entries set another currency or recovered another fault, or where
    certificates are about different neighbours. What neighbours are is taken from certificates alone; where none says
    it, the next spend decides.

    Parameters
    ----------
    ledger : Ledger
        As its owner: in PostgreSQL the role that owns the table `entries`.
    stated : Amount or None
        What the moved entries that cannot be relied on may have spent, in the currency of the entries before; None for
        all that is left.

    Examples
    --------
    >>> import sqlite3, tempfile
    >>> import equipoise as eq
    >>> plan = eq.Ridge(epsilon=1.0, domain=eq.Domain(1.0, labels=(0, 1))).plan(5000, 4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"sqlite:///{folder}/ledger.db#trial")
    ...     ledger.create(Budget(3.0))
    ...     spend = ledger.admit(plan)
    ...     with sqlite3.connect(f"{folder}/ledger.db") as file:
    ...         columns = "number, dataset, kind, epsilon, delta, certificate, made, previous, digest"
    ...         bad = file.execute(f"INSERT INTO entries ({columns}) VALUES (3, 'trial', '', '', '', '', '', '', '')")
    ...     entry = recover(ledger, Amount(Decimal("0.5"), Decimal(0)))
    ...     entry.kind, str(ledger.balance().epsilon_left), ledger.verify()
    ('recovery', '1.5', ())
    """
    if stated is not None and not all(_is_amount(part) for part in (stated.amount, stated.delta)):
        remedy = "state decimals that are at least 0, or count everything that is left"
        raise InvalidParameter("an amount that may have been spent", f"{stated.amount} and {stated.delta}", remedy)
    store = ledger._store
    heard = witness.heard(ledger.dataset, signing=True, newest=None)
    with store.opened(writing=True) as connection:
        name = ledger._name(connection)
        store.make_tables(connection)
        _QUARANTINED.create(connection, checkfirst=True)
        # `verify` compares the evidence, and those who may read the history may verify it.
        postgresql.let_read(connection, _QUARANTINED.name)
        entries = sorted(store.history(connection, name), key=lambda entry: not _is_number(entry.number))
        grounds = store.grounds(connection, name)
        sound = _sound(entries, grounds)
        walk = Walk(grounds=grounds)
        for entry in entries[:sound]:
            list(walk.take(entry))
        last, moved = walk.last, entries[sound:]
        if last is None:
            remedy = "create a budget under another name with what is truly left, and keep this ledger as a record"
            raise LedgerRefused(f"to recover {name!r}", "a budget that is itself malformed, or none", remedy)
        if not moved:
            raise LedgerRefused(f"to recover {name!r}", "a history that holds together", "leave it as it is")
        neighbours = walk.neighbours | _neighbours_of(moved, grounds)
        agreed = len(neighbours) <= 1
        spent = _counted(walk, moved, stated, _witnessed(heard, entries[:sound])) if stated and agreed else walk.limit
        evidence = [_evidence(entry, beside) for entry, beside in _beside(connection, name, moved)]
        record = {
            "adjacency": min(neighbours, default=None) if agreed else walk.adjacency,
            "quarantined": [hashlib.sha256(text.encode()).hexdigest() for text in evidence],
            "spent": records.plain(spent),
            "under": walk.under,
        }
        entry = chain.following([last], name, "recovery", record=records.canonical(record))
        rows = [
            {"dataset": name, "recovery": entry.number, "place": place, "evidence": text}
            for place, text in enumerate(evidence)
        ]
        connection.execute(sql.insert(_QUARANTINED), rows)
        _take_out(connection, name, sound)
        store.append(connection, entry)
    return entry


def evidence_faults(ledger: Ledger) -> tuple[str, ...]:
    """Return one line for every recovery whose evidence is no longer what it recorded."""
    with ledger._store.opened() as connection:
        name = ledger._name(connection)
        recoveries = [entry for entry in ledger._store.history(connection, name) if entry.kind == "recovery"]
        found = []
        for entry in recoveries:
            chosen = sql.select(_QUARANTINED.c.evidence).where(
                (_QUARANTINED.c.dataset == name) & (_QUARANTINED.c.recovery == entry.number)
            )
            kept = sql.inspect(connection).has_table(_QUARANTINED.name)
            texts = connection.execute(chosen.order_by(_QUARANTINED.c.place)).scalars() if kept else ()
            digests = [hashlib.sha256(str(text).encode()).hexdigest() for text in texts]
            if records.read(entry.record, records.RECOVERY_KEYS)["quarantined"] != digests:
                found.append(f"entry {entry.number}: the evidence that it moved was altered, or is missing")
    return tuple(found)


def _is_amount(part: Decimal) -> bool:
    # Beyond the last digit of a multiple of the finest there is none.
    exponent = part.as_tuple().exponent if isinstance(part, Decimal) else "no number"
    return isinstance(exponent, int) and -_FINEST_DIGITS <= exponent <= _FINEST_DIGITS and part >= 0


def _is_number(number: object) -> bool:
    return isinstance(number, int) and number >= 1


def _sound(entries: Sequence[Entry], grounds: Mapping[int, str]) -> int:
    """Return how many entries, from the first on, hold together, every price computed again from its certificate."""
    walk = Walk(lambda number: entries[: number - 1], grounds)
    for place, entry in enumerate(entries):
        if list(walk.take(entry)) or list(walk.end()):
            return place
    return len(entries)


def _told(entry: Entry) -> dict[str, Any]:
    """Return what an entry records, as it was sealed or not: what can be read may have been spent."""
    try:
        record = json.loads(entry.record or "")
    except (ValueError, TypeError, RecursionError):
        record = None
    return record if isinstance(record, dict) else {}


def _neighbours_of(moved: Sequence[Entry], grounds: Mapping[int, str]) -> set[str]:
    """Return what neighbours are for the moved spends, by every certificate among them that can be read.

    Spends of version 0.2.0 have no certificate; what was kept beside them says it.
    """
    found: set[str | None] = {adjacency_in(grounds[entry.number]) for entry in moved if entry.number in grounds}
    for entry in moved:
        with suppress(ValueError):
            found.add(records.neighbours_of(records.read_spend(entry.record)[1]))
    return {said for said in found if said is not None}


def _witnessed(heard: Sequence[witness.Evidence], entries: Sequence[Entry]) -> list[Checkpoint]:
    """Return the trusted checkpoints of entries that the sound ones lack: moved, or lost without a trace here.

    Those that an earlier recovery among the sound entries replaced are left out: it counts them, and its owner said so.
    """
    owner = witness.owner_of(entries[0])
    trusted = witness.trusted_keys(owner)
    witness.require_signed(heard, trusted)
    unknown = witness.unknown_to(
        heard, len(entries), {entry.number: entry.digest for entry in entries}.get, witness.owners_among(trusted, owner)
    )
    return [one.signed.checkpoint for one in unknown if one.signed is not None]


def _counted(walk: Walk, moved: Sequence[Entry], stated: Amount, witnessed: Sequence[Checkpoint]) -> Amount:
    """Return the total after the sound entries, the moved ones and what was stated: at most the limit, and readable.

    It is no less than what checkpoints of the entries that were moved, or lost before, say was spent; in another
    currency than this one nobody knows how much that is, and it is all.
    """
    sealed = altered = highest = NOTHING
    for checkpoint in witnessed:
        if checkpoint.currency != walk.currency.name:
            return walk.limit
        highest = _larger(highest, records.amount_of(checkpoint.spent))
    for entry in moved:
        told = _told(entry)
        # What was spent after a migration is in another currency, and nobody knows what it was worth in this one. What
        # a moved recovery counted has no certificates either. A migration that was altered or deleted shows in `under`.
        if entry.kind in ("migration", "recovery") or told.get("under", walk.under) != walk.under:
            return walk.limit
        if entry.digest == entry.seal():
            sealed += _said(walk.currency, entry) if entry.kind == "spend" else NOTHING
        else:
            altered += _said(walk.currency, entry)
        # Of an entry that is gone the totals after it still tell.
        highest = _larger(highest, _amount_in(told, "spent"))
    total = walk.spent + sealed + _larger(stated, altered)
    spent = _capped(_larger(total, highest), walk.limit)
    return spent if _is_amount(spent.amount) and _is_amount(spent.delta) else walk.limit


def _said(currency: Currency, entry: Entry) -> Amount:
    """Return the most that a spend can be read to cost: by its record, its certificate, or its epsilon and delta.

    The last count beside the others where they are amounts of the currency, else where nothing else can be read.
    """
    said = _amount_in(_told(entry), "cost")
    with suppress(ValueError, TypeError, KeyError, OverflowError, EquipoiseError):
        said = _larger(said, records.judged(currency.name, records.read_spend(entry.record)[1]).price)
    if currency.id == BASIC or said == NOTHING:
        with suppress(ValueError, TypeError, OverflowError, EquipoiseError):
            said = _larger(said, currency.price_of_budget(Budget(float(entry.epsilon), float(entry.delta))))
    return said


def _amount_in(record: Mapping[str, Any], key: str) -> Amount:
    try:
        return records.amount_of(record.get(key))
    except (ValueError, KeyError):
        return NOTHING


def _larger(one: Amount, other: Amount) -> Amount:
    return Amount(max(one.amount, other.amount), max(one.delta, other.delta))


def _capped(spent: Amount, limit: Amount) -> Amount:
    return Amount(min(spent.amount, limit.amount), min(spent.delta, limit.delta))


def _beside(
    connection: sql.Connection, name: str, moved: Sequence[Entry]
) -> list[tuple[Entry, dict[str, list[dict[str, Any]]]]]:
    """Return the moved entries, each with what other tables hold of it."""
    beside: list[tuple[Entry, dict[str, list[dict[str, Any]]]]] = []
    tables = [table for table in ("grounds", "callers") if sql.inspect(connection).has_table(table)]
    for entry in moved:
        found = {}
        for table in tables:
            asked = sql.text(f"SELECT * FROM {table} WHERE dataset = :name AND number = :number")  # noqa: S608
            rows = connection.execute(asked, {"name": name, "number": entry.number}).mappings()
            found[table] = [dict(row) for row in rows]
        beside.append((entry, found))
    return beside


def _evidence(entry: Entry, beside: Mapping[str, object]) -> str:
    """Return everything that was found of an entry, as text; what is no text is written in hexadecimal digits."""
    return json.dumps(
        {"entry": asdict(entry), **beside},
        sort_keys=True,
        default=lambda value: value.hex() if isinstance(value, bytes) else str(value),
    )


def _take_out(connection: sql.Connection, name: str, sound: int) -> None:
    """Delete what was moved, with the triggers that refuse it out of the way for as long as that takes."""
    tables = [table for table in ("entries", "grounds") if sql.inspect(connection).has_table(table)]
    if connection.dialect.name == "postgresql":
        before = [f"ALTER TABLE {table} DISABLE TRIGGER USER" for table in tables]
        after = [f"ALTER TABLE {table} ENABLE TRIGGER USER" for table in tables]
        tables.append("callers")
    else:
        asked = (
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) IN ('entries', 'grounds')"
        )
        triggers = connection.exec_driver_sql(asked).all()
        before = [f'DROP TRIGGER "{trigger.name}"' for trigger in triggers]
        after = [trigger.sql for trigger in triggers]
    for statement in before:
        connection.exec_driver_sql(statement)
    for table in tables:
        taken = sql.text(f"DELETE FROM {table} WHERE dataset = :name AND NOT (number BETWEEN 1 AND :sound)")  # noqa: S608
        connection.execute(taken, {"name": name, "sound": sound})
    for statement in after:
        connection.exec_driver_sql(statement)
