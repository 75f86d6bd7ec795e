"""What a careless address, a hostile table or an odd folder could do to a ledger, and does not."""

import dataclasses
import json
from decimal import Decimal

import pytest
import sqlalchemy as sql
from sqlalchemy.exc import DatabaseError
from typer.testing import CliRunner

import equipoise as eq
from equipoise.cli.ledger import group
from equipoise.errors import EquipoiseError, InvalidParameter, LedgerRefused, LedgerTampered, LedgerUnreachable
from equipoise.estimators.showing import without_password
from equipoise.ledger import Entry, chain, walk
from equipoise.ledger.store import shown_reference
from equipoise.ledger.witness import trusted_keys
from equipoise.planning.issue import issue
from equipoise.planning.request import Request

pytest_plugins = ["postgres_server"]

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
PLAN = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1), ledger="trial"))


@pytest.fixture
def ledger(database) -> eq.Ledger:
    ledger = eq.Ledger(f"{database.address}#trial")
    ledger.create(eq.Budget(1.0))
    return ledger


@pytest.mark.parametrize(
    "wrong",
    ["postgresql:/me:secret@host/db", "host=x password=secret", "me@secret", "secret.db#trial", "sqlite:secret"],
)
def test_a_mistyped_address_is_no_name_and_is_not_repeated(wrong):
    with pytest.raises(LedgerRefused, match=r'pass ledger="sqlite:///ledger\.db#dataset"') as caught:
        eq.Ledger(wrong)
    assert "secret" not in str(caught.value)


def test_the_scheme_of_an_address_is_repeated_only_if_it_is_one():
    with pytest.raises(LedgerRefused, match="'mysql'"):
        eq.Ledger("mysql://host/db")
    with pytest.raises(LedgerRefused, match="another kind"):
        eq.Ledger("me:secret@host://db")


def test_a_ledger_in_memory_is_refused_since_it_would_forget():
    with pytest.raises(LedgerRefused):
        eq.Ledger("sqlite:///:memory:#trial")


def test_a_name_too_long_for_a_file_is_unreachable():
    ledger = eq.Ledger(f"sqlite:///{'a' * 300}/ledger.db#trial")
    for use in (ledger.balance, lambda: ledger.create(eq.Budget(1.0))):
        with pytest.raises(LedgerUnreachable, match=r"too long"):
            use()


def test_an_empty_home_variable_is_an_unset_one_and_no_home_at_all_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    eq.Ledger("trial").create(eq.Budget(1.0))
    assert (tmp_path / ".equipoise" / "ledger.db").is_file()

    def homeless() -> None:
        raise RuntimeError

    monkeypatch.setattr("pathlib.Path.home", homeless)
    with pytest.raises(LedgerRefused, match="set EQUIPOISE_HOME"):
        eq.Ledger("trial")
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / ".equipoise"))
    assert eq.Ledger("trial").balance().epsilon_left == 1


def test_options_of_an_address_that_may_be_secrets_are_not_shown():
    options = "oauth_client_secret=hunter2secret&options=-cx%3Dhunter2&scram_client_key=hunter2%2A&sslmode=require"
    ledger = eq.Ledger(f"postgresql://me@127.0.0.1:1/db?{options}#trial")
    shown = "oauth_client_secret=***&options=***&scram_client_key=***&sslmode=require#trial"
    assert repr(ledger) == f"Ledger('postgresql://me@127.0.0.1:1/db?{shown}')"
    with pytest.raises(LedgerUnreachable) as caught:
        ledger.balance()
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(eq.Ridge(ledger=f"postgresql://me@host/db?{options}#trial"))


def test_an_estimator_takes_no_password_since_it_shows_its_parameters():
    model = eq.LogisticRegression(domain=CLASSES, ledger="postgresql://me:secret@host/db#trial")
    with pytest.raises(LedgerRefused, match=r"PGPASSWORD or ~/\.pgpass") as caught:
        model.plan(40, 2)
    assert "secret" not in str(caught.value)
    model.set_params(ledger="postgresql://me@host/db#trial").plan(40, 2)


@pytest.mark.parametrize("wrong", [3.0, None, (1.0, 0.0)])
def test_a_budget_is_a_budget(tmp_path, wrong):
    with pytest.raises(InvalidParameter, match=r"Budget\(3\.0, 1e-6\)"):
        eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#trial").create(wrong)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("epsilon", "delta"), [("0.0", "0.0"), ("1.0", "1.5"), ("1.0", "-0.5")])
def test_a_sealed_budget_that_means_nothing_is_a_fault(epsilon, delta):
    draft = Entry(1, "trial", "budget", epsilon, delta, "", "", chain.NOTHING_BEFORE, "")
    assert walk.faults([dataclasses.replace(draft, digest=draft.seal())]) == ("entry 1: epsilon or delta is no amount",)


SWALLOW = {
    "sqlite": ["CREATE TRIGGER swallow BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END"],
    "postgresql": ["CREATE RULE swallow AS ON INSERT TO entries DO INSTEAD NOTHING"],
}
CHANGE = {
    "sqlite": [
        "DROP TRIGGER no_update",
        "CREATE TRIGGER change AFTER INSERT ON entries BEGIN UPDATE entries SET epsilon = '0.0' WHERE number > 1; END",
    ],
    "postgresql": [
        "CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.epsilon = '0.0'; RETURN NEW; END $$",
        "CREATE TRIGGER change BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION change()",
    ],
}


@pytest.mark.parametrize("statements", [SWALLOW, CHANGE], ids=["swallows", "changes"])
def test_a_database_that_does_not_keep_an_entry_admits_nothing(ledger, database, statements):
    with database.engine.begin() as connection:
        for statement in statements[database.engine.dialect.name]:
            connection.exec_driver_sql(statement)
    with pytest.raises(LedgerTampered, match="did not keep it"):
        ledger.admit(PLAN)
    assert len(ledger.history()) == 1
    assert ledger.balance().epsilon_left == 1


def test_sqlite_replaces_no_row_by_a_number_of_its_own(tmp_path):
    ledger = eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#trial")
    ledger.create(eq.Budget(1.0))
    engine = sql.create_engine(f"sqlite:///{tmp_path}/ledger.db", poolclass=sql.NullPool)
    columns = ", ".join(["rowid", *(field.name for field in dataclasses.fields(Entry))])
    with pytest.raises(DatabaseError, match="rowid"), engine.begin() as connection:
        connection.exec_driver_sql(f"REPLACE INTO entries ({columns}) VALUES (1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0)")  # noqa: S608
    assert ledger.verify() == ()


def test_a_schema_of_ones_own_is_no_second_budget(postgres):
    name = postgres.new_database()
    ledger = eq.Ledger(f"{postgres.address(name)}#trial")
    ledger.create(eq.Budget(1.0))
    ledger.admit(PLAN)
    with postgres.connect(name) as connection:
        # The server looks into a schema of the user's name first.
        connection.execute("CREATE SCHEMA ledger; CREATE TABLE ledger.entries (LIKE public.entries)")
    assert ledger.balance().epsilon_left == Decimal("0.9")
    with pytest.raises(LedgerRefused, match="never changed"):
        ledger.create(eq.Budget(5.0))
    other = eq.Ledger(f"{postgres.address(name)}&options=-csearch_path%3Dledger#trial")
    assert other.balance().epsilon_left == Decimal("0.9")


def test_a_statement_is_the_balance_and_its_entries(ledger):
    ledger.admit(PLAN)
    balance, entries = ledger.statement()
    assert balance == ledger.balance()
    assert entries == ledger.history()
    assert all(entry.made for entry in entries)


def test_what_a_terminal_would_obey_is_shown_as_text(ledger, database):
    database.drop_triggers()
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE entries SET made = '\x1b[2Jgone'")
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(group, ["history", f"{database.address}#trial"]).stdout
    assert "\\x1b[2Jgone" in shown
    assert "\x1b[2J" not in shown


def test_a_column_of_bytes_is_listed_and_a_fault(tmp_path):
    reference = f"sqlite:///{tmp_path}/ledger.db#trial"
    eq.Ledger(reference).create(eq.Budget(1.0))
    engine = sql.create_engine(f"sqlite:///{tmp_path}/ledger.db", poolclass=sql.NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER no_update")
        connection.exec_driver_sql("UPDATE entries SET epsilon = x'ff'")
    for command in ("history", "verify"):
        for options in ([], ["--json"]):
            done = CliRunner().invoke(group, [command, reference, *options])
            assert done.exit_code == (command == "verify"), done.exception
    with pytest.raises(LedgerTampered):
        eq.Ledger(reference).balance()


def test_create_answers_in_json(database):
    arguments = ["create", f"{database.address}#trial", "--epsilon", "3", "--delta", "1e-6", "--json"]
    done = CliRunner().invoke(group, arguments)
    assert done.exit_code == 0
    record = json.loads(done.stdout)
    assert record.pop("currency")
    assert record == {"dataset": "trial", "limit": {"epsilon": "3.0", "delta": "1e-06"}}


@pytest.mark.parametrize(
    "address",
    [
        *("postgresql:///me:secret@127.0.0.1/db#p", "postgresql:////me:secret@127.0.0.1/db#p"),
        *("postgresql://me%3Asecret@127.0.0.1:1/db#p", "postgresql://me;secret@127.0.0.1:1/db#p"),
        *("postgresql://me,secret@127.0.0.1:1/db#p", "postgresql://me\uff1asecret@127.0.0.1:1/db#p"),
        *("postgresql://127.0.0.1:1/db;password=secret#p", "postgresql://127.0.0.1:1/db&password=secret#p"),
        *("postgresql://127.0.0.1:1/db password=secret#p", "postgresql://127.0.0.1:1/db?user=me:secret#p"),
        *("postgresql://127.0.0.1:1/db#password=secret", "sqlite:////tmp/x.db;password=secret#p"),
        *("sqlite:////tmp/x.db?key=secret#p", "sqlite:////me%3Asecret%40host/db#p"),
    ],
)
def test_a_password_in_another_place_of_an_address_is_not_shown(address):
    with pytest.raises(EquipoiseError) as caught:
        eq.Ledger(address).history()
    shown = (str(caught.value), shown_reference(address), repr(without_password(address)))
    assert not [text for text in shown if "secret" in text]


def test_a_number_that_no_port_has_is_not_shown():
    assert shown_reference("postgresql://officer:48213377/budgets#people") == "***"
    assert "5432" in shown_reference("postgresql://localhost:5432/budgets#people")


@pytest.mark.parametrize("variable", ["EQUIPOISE_WITNESS_KEY", "EQUIPOISE_HOME"])
@pytest.mark.parametrize("address", ["postgresql://me:secret@host/db", "me:secret@host"])
def test_an_address_in_a_variable_for_files_is_not_shown(monkeypatch, variable, address):
    monkeypatch.setenv(variable, address)
    with pytest.raises(EquipoiseError) as caught:
        trusted_keys() if variable == "EQUIPOISE_WITNESS_KEY" else eq.Ledger("people").balance()
    assert "secret" not in str(caught.value)
