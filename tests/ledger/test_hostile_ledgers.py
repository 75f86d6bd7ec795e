"""Ledgers and exports from anywhere: what is no plain table is refused, and what is listed has an end."""

import json
import sqlite3

import pytest

import equipoise as eq
from equipoise.errors import LedgerRefused, LedgerTampered, LedgerUnreachable
from equipoise.ledger import chain, store

TEXTS = ("kind", "epsilon", "delta", "certificate", "made", "previous", "digest")
VIEW = "CREATE VIEW entries AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS number, "
VIEW += "'trial' AS dataset, " + ", ".join(f"'a' AS {name}" for name in TEXTS) + " FROM r"
TRIGGER = """CREATE TRIGGER slow AFTER INSERT ON entries BEGIN
    SELECT max(n) FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r); END"""
COMPUTED = "CREATE TABLE entries (number INTEGER, dataset TEXT, kind TEXT AS (hex(zeroblob(1000))))"


@pytest.fixture
def limited(monkeypatch):
    """End every statement soon, so that a missing refusal fails instead of waiting."""
    monkeypatch.setattr(store, "PATIENCE", 1)


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("statement", [VIEW, VIEW.replace("entries", "ENTRIES"), COMPUTED])
def test_tables_that_are_none_are_refused(statement, tmp_path):
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute(statement)
    connection.close()
    ledger = eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#trial")
    for act in (ledger.statement, ledger.history, ledger.verify, lambda: ledger.create(eq.Budget(1.0))):
        with pytest.raises(LedgerTampered, match="plain tables"):
            act()


@pytest.mark.usefixtures("limited")
def test_a_trigger_without_end_is_given_up_on(tmp_path):
    ledger = eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#trial")
    ledger.create(eq.Budget(1.0))
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute(TRIGGER)
    connection.close()
    with pytest.raises(LedgerUnreachable, match="interrupted"):
        eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#other").create(eq.Budget(1.0))


def exported(entries: object) -> str:
    return json.dumps({"export_version": chain.EXPORT_VERSIONS[-1], "dataset": "trial", "entries": entries})


def test_the_first_hundred_departures_are_listed_and_the_others_counted():
    found = chain.departures("trial", (), exported([[]] * 1000))
    assert len(found) == 101
    assert found[99:] == ("entry 100 of the export is missing", "and 900 more entries of the export")


def test_an_export_of_too_many_entries_is_refused_unread():
    with pytest.raises(LedgerRefused, match="something else"):
        chain.departures("trial", (), exported("X").replace('"X"', f"[{'[],' * 2**22}[]]"))
