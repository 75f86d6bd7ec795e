"""What a spend rests on can be listed by what was found false since; ledgers of 0.2.0 kept it beside their entries."""

import dataclasses
import hashlib
import json
import shutil
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sql
from sqlalchemy.exc import DatabaseError

import equipoise as eq
from equipoise.certify.withdrawn import Withdrawal
from equipoise.errors import LedgerRefused, LedgerTampered, LedgerUnreachable, Overdraft
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from former_ledgers import make_former

pytest_plugins = ["postgres_server"]

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
PLAN = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1)))
X = np.array([[0.5, 0.1], [-0.5, 0.2], [0.4, -0.1], [-0.3, 0.3]] * 10)
Y = np.array([1, 0, 1, 0] * 10)
MEMBERS = [
    ["kind", "output"],
    ["theorem", "A2"],
    ["theorem", "A4"],
    ["loss", "logistic"],
    ["penalty", "l2"],
    ["law", "spherical-laplace"],
    # Beneath what the claim names: its noise, its rounding, its solver and what a pure level says below it.
    ["theorem", "D1"],
    ["theorem", "D6"],
    ["theorem", "M4"],
    ["theorem", "N10"],
    ["theorem", "N12"],
    ["theorem", "N3"],
]
RELEASED = Path(__file__).parents[1] / "released" / "0.1.0"


@pytest.fixture
def ledger(database) -> eq.Ledger:
    """Return a ledger of version 0.2.0."""
    make_former(database.engine, ("trial", eq.Budget(1.0)), ("other", eq.Budget(1.0)))
    return eq.Ledger(f"{database.address}#trial")


@pytest.fixture
def withdraw(monkeypatch):
    """Return a function that plants withdrawals."""

    def plant(*found: Withdrawal) -> None:
        monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", found)

    return plant


def entries_of(listed) -> list[int]:
    return [entry.number for entry, _ in listed]


def test_a_fit_keeps_what_its_certificate_rests_on_and_the_software_that_made_it(ledger, database):
    model = eq.LogisticRegression(
        0.1, domain=CLASSES, alpha=0.1, mechanism="output", ledger=f"{database.address}#trial"
    )
    model.plan(40, 2)
    model.fit(X, Y)
    kept = database.grounds("trial")
    # The budget rests on nothing.
    assert list(kept) == [2]
    record = json.loads(kept[2])
    assert record["members"] == [list(member) for member in model.certificate_.rests_on()] == MEMBERS
    assert record["software"] == dict(model.certificate_.release.software)
    assert record["software"]["equipoise"] == version("equipoise")
    assert {"cryptography", "numba", "opendp"} <= record["software"].keys()


def test_a_spend_that_names_no_software_keeps_the_members(ledger, database):
    ledger.admit(PLAN)
    assert json.loads(database.grounds("trial")[2]) == {"members": MEMBERS, "software": {}}


def test_a_spend_that_is_refused_keeps_no_grounds(ledger, database):
    claim = dataclasses.replace(PLAN.claim, budget=eq.Budget(2.0))
    with pytest.raises(Overdraft):
        ledger.admit(dataclasses.replace(PLAN, claim=claim))
    assert database.grounds("trial") == {}


@pytest.mark.parametrize(
    "statement", ["UPDATE grounds SET grounds = '{}'", "DELETE FROM grounds", "TRUNCATE grounds", "DELETE FROM entries"]
)
def test_the_database_itself_refuses_to_change_grounds(ledger, database, statement):
    if statement.startswith("TRUNCATE") and database.engine.dialect.name == "sqlite":
        statement = "INSERT OR REPLACE INTO grounds SELECT number, dataset, '{}' FROM grounds"
    ledger.admit(PLAN)
    before = database.grounds("trial")
    with pytest.raises(DatabaseError, match="append-only"), database.engine.begin() as connection:
        connection.exec_driver_sql(statement)
    assert database.grounds("trial") == before != {}


def test_a_tail_whose_grounds_were_left_behind_is_noticed_by_the_next_spend(ledger, database):
    for _ in range(3):
        ledger.admit(PLAN)
    database.drop_triggers()
    with database.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM entries WHERE dataset = 'trial' AND number > 3")
    with pytest.raises(LedgerTampered, match=r"equipoise ledger verify .* --against EXPORT"):
        ledger.admit(PLAN)
    assert len(ledger.history()) == 3


REFUSE_GROUNDS = {
    "sqlite": ["CREATE TRIGGER refuse BEFORE INSERT ON grounds BEGIN SELECT RAISE(ABORT, 'not today'); END"],
    "postgresql": [
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$",
        "CREATE TRIGGER refuse BEFORE INSERT ON grounds FOR EACH ROW EXECUTE FUNCTION refuse()",
    ],
}
SWALLOW_ENTRIES = {
    "sqlite": ["CREATE TRIGGER swallow BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END"],
    "postgresql": ["CREATE RULE swallow AS ON INSERT TO entries DO INSTEAD NOTHING"],
}


@pytest.mark.parametrize(
    ("statements", "error"),
    [(REFUSE_GROUNDS, LedgerUnreachable), (SWALLOW_ENTRIES, LedgerTampered)],
    ids=["grounds that are refused", "an entry that is swallowed"],
)
def test_a_spend_and_its_grounds_are_recorded_together_or_not_at_all(ledger, database, statements, error):
    with database.engine.begin() as connection:
        for statement in statements[database.engine.dialect.name]:
            connection.exec_driver_sql(statement)
    with pytest.raises(error):
        ledger.admit(PLAN)
    assert len(ledger.history()) == 1
    assert ledger.balance().epsilon_left == 1
    assert database.grounds("trial") == {}


def test_where_nothing_was_withdrawn_nothing_is_listed(ledger):
    ledger.admit(PLAN)
    assert ledger.withdrawn() == ((), ())


def test_what_was_withdrawn_lists_the_spends_that_rest_on_it_each_with_its_reasons(ledger, database, withdraw):
    other = issue(Request("squared", "l2", 0.1, eq.Domain(1.0, labels=(-1.0, 1.0)), 0.0, 40, 2, eq.Budget(0.1)))
    elsewhere = eq.Ledger(f"{database.address}#other")
    elsewhere.admit(other)
    for plan in (PLAN, other, PLAN):
        ledger.admit(plan)
    wrong = Withdrawal("2026-11-16", "loss", "logistic", "its slope is steeper")
    worse = Withdrawal("2026-11-17", "theorem", "A4", "a gradient may be larger")
    withdraw(wrong, worse)
    affected, unknown = ledger.withdrawn()
    assert entries_of(affected) == [2, 3, 4]
    assert [reasons for _, reasons in affected] == [(str(wrong), str(worse)), (str(worse),), (str(wrong), str(worse))]
    assert unknown == ()
    withdraw(wrong)
    assert entries_of(ledger.withdrawn()[0]) == [2, 4]
    assert elsewhere.withdrawn() == ((), ())


@pytest.mark.parametrize(("family", "name"), MEMBERS, ids=lambda name: name)
def test_every_member_that_a_spend_rests_on_can_be_withdrawn(ledger, withdraw, family, name):
    ledger.admit(PLAN)
    withdraw(Withdrawal("2026-11-16", family, name, "false"))
    assert entries_of(ledger.withdrawn()[0]) == [2]
    withdraw(Withdrawal("2026-11-16", family, f"{name}'", "false"))
    assert ledger.withdrawn() == ((), ())


@pytest.mark.parametrize(
    ("software", "versions", "listed"),
    [
        ({"equipoise": "0.2.0", "opendp": "0.14.1"}, ("0.14.0", "0.14.1"), True),
        ({"equipoise": "0.2.0", "opendp": "0.14.1"}, ("0.14.0",), False),
        ({"equipoise": "0.2.0", "opendp": "0.14.1"}, (), True),
        # Noise that did not come from it is none of its business.
        ({"equipoise": "0.2.0", "numpy": "2.0"}, (), False),
    ],
)
def test_a_sampler_is_withdrawn_for_the_versions_that_drew_the_noise(ledger, withdraw, software, versions, listed):
    ledger.admit(PLAN, software)
    withdraw(Withdrawal("2026-11-16", "sampler", "opendp", "noise of the wrong law", versions))
    assert entries_of(ledger.withdrawn()[0]) == ([2] if listed else [])


@pytest.mark.parametrize(
    ("software", "listed"), [({"equipoise": "0.2.0"}, True), ({"equipoise": "0.2.1"}, False), ({}, True)]
)
def test_a_member_is_withdrawn_for_versions_and_an_unknown_one_may_be_affected(ledger, withdraw, software, listed):
    ledger.admit(PLAN, software)
    withdraw(Withdrawal("2026-11-16", "theorem", "A2", "false", ("0.2.0",)))
    assert entries_of(ledger.withdrawn()[0]) == ([2] if listed else [])


def overwrite(database, grounds: str) -> None:
    """Put other grounds in the place of all, as someone who can drop the triggers could."""
    database.drop_triggers()
    with database.engine.begin() as connection:
        connection.execute(sql.text("UPDATE grounds SET grounds = :grounds"), {"grounds": grounds})


@pytest.mark.parametrize(
    "grounds",
    [
        pytest.param("", id="nothing"),
        pytest.param("{", id="half"),
        pytest.param("null", id="null"),
        pytest.param("3", id="number"),
        pytest.param("[]", id="list"),
        pytest.param("{}", id="object"),
        pytest.param('{"members": [["theorem"]], "software": {}}', id="half a member"),
        pytest.param('{"members": 3, "software": {}}', id="no members"),
        pytest.param('{"members": [], "software": "opendp"}', id="no software"),
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_grounds_that_were_overwritten_are_not_known_and_no_crash(ledger, database, withdraw, grounds):
    ledger.admit(PLAN)
    overwrite(database, grounds)
    withdraw(Withdrawal("2026-11-16", "theorem", "A2", "false"))
    affected, unknown = ledger.withdrawn()
    assert affected == ()
    assert [entry.number for entry in unknown] == [2]


def test_an_unknown_dataset_has_no_spends_to_list(database, ledger):
    with pytest.raises(LedgerRefused, match=r"'none'.*equipoise ledger create .*#none"):
        eq.Ledger(f"{database.address}#none").withdrawn()


def without_grounds(database) -> None:
    """Make a ledger one of version 0.1.0, which had the one table."""
    with database.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE grounds")
        if database.engine.dialect.name == "postgresql":
            connection.exec_driver_sql("DROP FUNCTION grounds_append_only")


def test_a_ledger_that_kept_no_grounds_keeps_admitting_and_learns_when_a_budget_is_created(ledger, database, withdraw):
    ledger.admit(PLAN)
    without_grounds(database)
    ledger.admit(PLAN)
    withdraw(Withdrawal("2026-11-16", "theorem", "A2", "false"))
    affected, unknown = ledger.withdrawn()
    assert (affected, [entry.number for entry in unknown]) == ((), [2, 3])
    assert sql.inspect(database.engine).get_table_names() == ["entries"]
    eq.Ledger(f"{database.address}#new").create(eq.Budget(1.0))
    ledger.admit(PLAN)
    affected, unknown = ledger.withdrawn()
    assert (entries_of(affected), [entry.number for entry in unknown]) == ([4], [2, 3])
    assert ledger.balance().epsilon_left == Decimal("0.7")
    assert ledger.verify() == ()
    with pytest.raises(DatabaseError, match="append-only"), database.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM entries")


# --- what 0.1.0 wrote -------------------------------------------------------------------------------------------------


@pytest.fixture
def people(tmp_path) -> tuple[eq.Ledger, Path]:
    """Return the ledger that version 0.1.0 left, with its file."""
    path = tmp_path / "ledger.db"
    shutil.copy(RELEASED / "ledger.db", path)
    return eq.Ledger(f"sqlite:///{path}#people"), path


def test_a_ledger_of_0_1_0_opens_unchanged(people):
    ledger, path = people
    before = hashlib.sha256(path.read_bytes()).digest()
    export = (RELEASED / "ledger-export.json").read_text()
    assert ledger.balance().limit == eq.Budget(3.0, 1e-5)
    assert ledger.balance().epsilon_left == Decimal("2.25")
    assert ledger.balance().delta_left == Decimal("0.00001")
    assert ledger.verify() == ledger.verify(against=export) == ()
    assert ledger.export() == export
    assert ledger.withdrawn() == ((), ledger.history()[1:])
    assert hashlib.sha256(path.read_bytes()).digest() == before


def test_a_ledger_of_0_1_0_keeps_admitting_up_to_its_budget_and_its_old_spends_stay_unknown(people, withdraw):
    ledger, path = people
    export = (RELEASED / "ledger-export.json").read_text()
    model = eq.LogisticRegression(
        2.25, domain=CLASSES, alpha=0.1, mechanism="output", ledger=f"sqlite:///{path}#people"
    )
    planned = model.plan(40, 2)
    model.fit(X, Y)
    assert [entry.certificate for entry in ledger.history()][3:] == [planned.digest]
    assert ledger.balance().epsilon_left == 0
    with pytest.raises(Overdraft, match=r"epsilon=0\.0"):
        ledger.admit(PLAN)
    assert ledger.verify(against=export) == ()
    withdraw(Withdrawal("2026-11-16", "theorem", "A2", "false"))
    affected, unknown = ledger.withdrawn()
    assert (affected, [entry.number for entry in unknown]) == ((), [2, 3, 4])


def test_an_altered_ledger_of_0_1_0_admits_nothing(people):
    ledger, path = people
    engine = sql.create_engine(f"sqlite:///{path}", poolclass=sql.NullPool)
    with pytest.raises(DatabaseError, match="append-only"), engine.begin() as connection:
        connection.exec_driver_sql("UPDATE entries SET epsilon = '0.1' WHERE number = 2")
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER no_update")
        connection.exec_driver_sql("UPDATE entries SET epsilon = '0.1' WHERE number = 2")
    with pytest.raises(LedgerTampered):
        ledger.admit(PLAN)
    assert ledger.verify(against=(RELEASED / "ledger-export.json").read_text())
