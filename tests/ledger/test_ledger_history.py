"""A history that was edited is noticed; what cannot be noticed from inside is noticed against an export."""

import dataclasses
import hashlib
import json

import pytest
import sqlalchemy as sql
from sqlalchemy.exc import DatabaseError

import equipoise as eq
from equipoise.errors import LedgerRefused, LedgerTampered
from equipoise.ledger import Entry, chain, walk
from equipoise.planning.issue import issue
from equipoise.planning.request import Request

pytest_plugins = ["postgres_server"]

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
PLAN = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1, 1e-6)))
SPENDS = 4


@pytest.fixture
def ledger(database) -> eq.Ledger:
    """Return a ledger of one budget and four spends, beside another dataset."""
    eq.Ledger(f"{database.address}#other").create(eq.Budget(1.0))
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(1.0, 1e-5), "basic")
    for number in range(SPENDS):
        ledger.admit(dataclasses.replace(PLAN, terms=dataclasses.replace(PLAN.terms, public_seed=number)))
    return ledger


def rewrite(database, entries, dataset="trial") -> None:
    """Put other entries in the place of a dataset's, as someone who can drop the triggers could."""
    table = database.entries()
    with database.engine.begin() as connection:
        connection.execute(sql.delete(table).where(table.c.dataset == dataset))
        for entry in entries:
            connection.execute(sql.insert(table).values(dataclasses.asdict(entry)))


def test_the_history_is_a_chain_of_a_budget_and_spends(ledger):
    entries = ledger.history()
    assert [entry.number for entry in entries] == [1, 2, 3, 4, 5]
    assert [entry.kind for entry in entries] == ["budget", *["spend"] * SPENDS]
    assert [entry.previous for entry in entries] == ["0" * 64, *(entry.digest for entry in entries[:-1])]
    assert len({entry.digest for entry in entries}) == len({entry.certificate for entry in entries}) == len(entries)
    assert {entry.dataset for entry in entries} == {"trial"}
    assert all(entry.made.endswith("+00:00") for entry in entries)
    assert ledger.verify() == ()


def test_the_digest_is_that_of_the_documented_text():
    entry = Entry(1, "trial", "budget", "1.0", "1e-05", "", "2026-11-16T10:00:00+00:00", "0" * 64, "")
    text = f'[1,"trial","budget","1.0","1e-05","","2026-11-16T10:00:00+00:00","{"0" * 64}"]'
    assert entry.seal() == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("statement", ["UPDATE entries SET epsilon = '0.0'", "DELETE FROM entries", "TRUNCATE entries"])
def test_the_database_itself_refuses_changes(ledger, database, statement):
    if statement.startswith("TRUNCATE") and database.engine.dialect.name == "sqlite":
        statement = (
            "INSERT OR REPLACE INTO entries SELECT number, dataset, kind, '0.0', delta, certificate, made, "
            "previous, digest, record FROM entries"
        )
    before = ledger.history()
    with pytest.raises(DatabaseError, match="append-only"), database.engine.begin() as connection:
        connection.exec_driver_sql(statement)
    assert ledger.history() == before


OTHER_VALUES = {
    "number": 77,
    "dataset": "moved",
    "kind": "budget",
    "epsilon": "0.01",
    "delta": "0.0",
    "certificate": "f" * 64,
    "made": "2001-01-01T00:00:00+00:00",
    "previous": "e" * 64,
    "digest": "d" * 64,
    "record": '{"spent":"nothing"}',
}


def test_every_altered_field_is_noticed_and_nothing_more_is_admitted(ledger, database):
    assert list(OTHER_VALUES) == [field.name for field in dataclasses.fields(Entry)]
    entries, kept = ledger.history(), ledger.export()
    database.drop_triggers()
    for field, value in OTHER_VALUES.items():
        rewrite(
            database, [dataclasses.replace(entry, **{field: value} if entry.number == 3 else {}) for entry in entries]
        )
        assert ledger.verify(), field
        assert ledger.verify(against=kept), field
        for use in (lambda: ledger.admit(PLAN), ledger.balance, ledger.export):
            with pytest.raises(LedgerTampered, match=r"equipoise ledger verify .* --against EXPORT"):
                use()
        assert eq.Ledger(f"{database.address}#other").balance().epsilon_left == 1
        rewrite(database, (), "moved")
    rewrite(database, entries)
    assert ledger.verify(against=kept) == ()


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("field", OTHER_VALUES)
def test_every_field_of_every_entry_is_under_a_seal(field, number):
    entries = sealed(("budget", "1.0", "1e-05"), *[("spend", "0.1", "1e-06")] * SPENDS)
    assert walk.faults(entries) == ()
    value = "spend" if (field, number) == ("kind", 1) else OTHER_VALUES[field]
    entries[number - 1] = dataclasses.replace(entries[number - 1], **{field: value})
    assert walk.faults(entries)


def test_a_last_entry_that_was_moved_to_another_dataset_is_noticed_there(ledger, database):
    *entries, last = ledger.history()
    database.drop_triggers()
    rewrite(database, [*entries, dataclasses.replace(last, dataset="moved")])
    assert "'moved': entry 1 is missing" in ledger.verify()


def test_an_entry_that_was_taken_out_is_noticed(ledger, database):
    entries = ledger.history()
    database.drop_triggers()
    for missing in (1, 2, 3, 4):
        rewrite(database, [entry for entry in entries if entry.number != missing])
        assert f"'trial': entry {missing} is missing" in ledger.verify()
        with pytest.raises(LedgerTampered):
            ledger.admit(PLAN)


def test_entries_that_changed_places_are_noticed(ledger, database):
    entries = list(ledger.history())
    database.drop_triggers()
    swapped = [dataclasses.replace(entries[3], number=3), dataclasses.replace(entries[2], number=4)]
    rewrite(database, [*entries[:2], *swapped, entries[4]])
    assert len(ledger.verify()) >= 2
    with pytest.raises(LedgerTampered):
        ledger.balance()


def test_a_cut_tail_is_noticed_against_an_export_and_only_so(ledger, database):
    kept = ledger.export()
    assert ledger.verify(against=kept) == ()
    ledger.admit(PLAN)
    assert ledger.verify(against=kept) == ()
    database.drop_triggers()
    rewrite(database, ledger.history()[:3])
    assert ledger.verify() == ()
    database.forget_callers()
    cut = ("entry 4 of the export is missing", "entry 5 of the export is missing")
    assert ledger.verify(against=kept) == cut
    # What is spent afterwards does not hide it.
    ledger.admit(PLAN)
    ledger.admit(PLAN)
    assert ledger.verify() == ()
    assert ledger.verify(against=kept) == ("entry 4 of the export differs", "entry 5 of the export differs")


def test_a_server_notices_a_cut_tail_by_who_appended_it(ledger, database):
    if database.engine.dialect.name == "sqlite":
        pytest.skip("a file does not record who appended an entry")
    database.drop_triggers()
    rewrite(database, ledger.history()[:3])
    with pytest.raises(LedgerTampered, match="entry 4 was there before, and is gone"):
        ledger.admit(PLAN)


def test_a_history_that_was_written_anew_is_noticed_against_an_export(ledger, database):
    kept = ledger.export()
    database.drop_triggers()
    rewrite(database, [])
    with pytest.raises(LedgerRefused, match="a budget"):
        ledger.verify()
    assert ledger.verify(against=kept)[0] == "entry 1 of the export is missing"
    ledger.create(eq.Budget(100.0))
    assert ledger.verify() == ()
    assert ledger.verify(against=kept)[0] == "entry 1 of the export differs"


def sealed(*amounts: tuple[str, str, str]) -> list[Entry]:
    """Return a chain whose digests are right, with any kinds and amounts."""
    entries: list[Entry] = []
    for kind, epsilon, delta in amounts:
        previous = entries[-1].digest if entries else chain.NOTHING_BEFORE
        draft = Entry(len(entries) + 1, "trial", kind, epsilon, delta, "", "", previous, "")
        entries.append(dataclasses.replace(draft, digest=draft.seal()))
    return entries


@pytest.mark.parametrize(
    ("amounts", "words"),
    [
        ([("spend", "0.1", "0.0"), ("budget", "1.0", "0.0")], "a spend before the budget"),
        ([("budget", "1.0", "0.0"), ("budget", "2.0", "0.0")], "a second budget"),
        ([("budget", "1.0", "0.0"), ("refund", "0.1", "0.0")], "of an unknown kind"),
        ([("budget", "1.0", "0.0"), ("spend", "0.6", "0.0"), ("spend", "0.5", "0.0")], "more than the budget"),
        ([("budget", "1.0", "1e-06"), ("spend", "0.6", "1e-05")], "more than the budget"),
        ([("budget", "1.0", "0.0"), ("spend", "-0.5", "0.0")], "no amount"),
        ([("budget", "1.0", "0.0"), ("spend", "nan", "0.0")], "no amount"),
        ([("budget", "inf", "0.0")], "no amount"),
        ([("budget", "a lot", "0.0")], "no amount"),
        ([("budget", "1", "0.0")], "no amount"),
    ],
)
def test_a_sealed_history_that_cannot_have_been_recorded_is_noticed(amounts, words):
    [fault] = [line for line in walk.faults(sealed(*amounts)) if words in line]
    assert fault


def test_a_column_of_bytes_is_a_fault_and_no_crash():
    [budget] = sealed(("budget", "1.0", "0.0"))
    assert walk.faults([dataclasses.replace(budget, epsilon=b"1.0", number="one")])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("{", id="half"),
        pytest.param("[]", id="list"),
        pytest.param("null", id="null"),
        pytest.param("3", id="number"),
        pytest.param("{}", id="object"),
        pytest.param('{"export_version": 1, "dataset": "trial", "entries": []}', id="no entries"),
        pytest.param('{"export_version": 3, "dataset": "trial", "entries": [{}]}', id="newer"),
        pytest.param('{"export_version": 1, "dataset": "other", "entries": [{}]}', id="other dataset"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param(None, id="no text"),
    ],
)
def test_what_is_no_export_of_the_dataset_is_refused(text):
    with pytest.raises(LedgerRefused, match="equipoise ledger export"):
        chain.departures("trial", sealed(("budget", "1.0", "0.0")), text)


def test_an_export_is_json_with_every_field(ledger):
    record = json.loads(ledger.export())
    assert set(record) == {"export_version", "dataset", "entries"}
    assert [Entry(**entry) for entry in record["entries"]] == list(ledger.history())


def test_an_amount_beyond_doubles_is_a_fault():
    budget = chain.following((), "trial", "budget", eq.Budget(1.0))
    assert "entry 1: epsilon or delta is no amount" in walk.faults([dataclasses.replace(budget, epsilon=10**400)])
