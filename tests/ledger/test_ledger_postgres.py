"""What can go wrong with a server that cannot go wrong with a file."""

import dataclasses
import socket
import sys
import threading
from decimal import Decimal

import psycopg
import pytest

import equipoise as eq
from equipoise.errors import LedgerRefused, LedgerUnreachable, MissingExtra, Overdraft
from equipoise.ledger import chain, store
from equipoise.planning.issue import issue
from equipoise.planning.request import Request

pytest_plugins = ["postgres_server"]

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
PLAN = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1)))

ON_INSERT = """
CREATE FUNCTION on_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM {action}; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER on_insert AFTER INSERT ON entries {moment} FOR EACH ROW EXECUTE FUNCTION on_insert();
"""
AT_COMMIT = "DEFERRABLE INITIALLY DEFERRED"


@pytest.fixture
def name(postgres) -> str:
    """Return the name of a database with a ledger of 1 for "trial"."""
    name = postgres.new_database()
    eq.Ledger(f"{postgres.address(name)}#trial").create(eq.Budget(1.0))
    return name


@pytest.fixture
def ledger(postgres, name) -> eq.Ledger:
    return eq.Ledger(f"{postgres.address(name)}#trial")


def test_a_server_that_is_down_is_unreachable():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(LedgerUnreachable, match="refused"):
            eq.Ledger(f"postgresql://someone@127.0.0.1:{port}/none#trial").admit(PLAN)


def test_a_server_that_never_answers_is_given_up_on(monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(LedgerUnreachable, match="timeout"):
        eq.Ledger(f"postgresql://someone@127.0.0.1:{silent.getsockname()[1]}/none#trial").admit(PLAN)


def test_a_server_that_hangs_in_a_commit_is_given_up_on_and_the_spend_may_stand(postgres, name, ledger, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 1)
    with postgres.connect(name) as connection:
        connection.execute(ON_INSERT.format(action="pg_sleep(600)", moment=AT_COMMIT))
        with pytest.raises(LedgerUnreachable, match="may have been recorded: look with equipoise ledger history"):
            ledger.admit(PLAN)
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.parametrize("moment", [AT_COMMIT, ""], ids=["in the commit", "before it"])
def test_a_lost_connection_is_not_retried_and_only_a_commit_leaves_a_doubt(postgres, name, ledger, moment):
    with postgres.connect(name) as connection:
        connection.execute(ON_INSERT.format(action="pg_terminate_backend(pg_backend_pid())", moment=moment))
    with pytest.raises(LedgerUnreachable) as caught:
        ledger.admit(PLAN)
    assert ("may have been recorded" in str(caught.value)) is bool(moment)
    assert len(ledger.history()) == 1


def test_what_was_admitted_outlives_a_crash_of_the_server(postgres, name, ledger):
    eq.Ledger(f"{postgres.address(name)}#long").create(eq.Budget(1e6))
    long = eq.Ledger(f"{postgres.address(name)}#long")
    admitted: list[str] = []
    failures: list[Exception] = []
    enough = threading.Event()

    def spend() -> None:
        for number in range(10_000):
            plan = dataclasses.replace(PLAN, terms=dataclasses.replace(PLAN.terms, public_seed=number))
            try:
                long.admit(plan)
            except LedgerUnreachable as error:
                failures.append(error)
                break
            admitted.append(plan.planned_digest)
            if number == 5:
                enough.set()
        enough.set()

    spender = threading.Thread(target=spend)
    spender.start()
    enough.wait()
    # The server was started with synchronous_commit=off: on its own it would forget what it said a moment ago.
    postgres.crash()
    spender.join()
    postgres.start()
    recorded = [entry.certificate for entry in long.history()[1:]]
    assert recorded[: len(admitted)] == admitted
    assert len(admitted) >= 6
    assert len(failures) == 1
    if "may have been recorded" in str(failures[0]):
        assert len(recorded) <= len(admitted) + 1
    else:
        assert recorded == admitted
    assert long.verify() == ()


@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
def test_a_password_is_shown_nowhere(postgres, name, right):
    password = postgres.password if right else "wrong-but-secret"
    ledger = eq.Ledger(f"{postgres.address_with_password(name, password)}#trial")
    shown = [repr(ledger), str(ledger.dataset)]
    if right:
        ledger.admit(PLAN)
        assert ledger.balance().epsilon_left == Decimal("0.9")
        for use in (lambda: ledger.create(eq.Budget(1.0)), eq.Ledger(f"{ledger!r}"[8:-2] + "x").balance):
            with pytest.raises((LedgerRefused, LedgerUnreachable)) as caught:
                use()
            shown.append(str(caught.value))
    else:
        with pytest.raises(LedgerUnreachable, match="authentication failed") as caught:
            ledger.balance()
        shown.append(str(caught.value))
    assert not [text for text in shown if password in text]
    assert "***" in shown[0]


@pytest.mark.parametrize(
    "wrong",
    [
        "postgresql://me:sec@ret@host/db#trial",
        "postgresql://me:sec#ret@host/db#trial",
        "postgresql://me:5432#ret@host/db#trial",
        "postgresql://me:x@host:secret/db#trial",
        "postgresql://me@host/db?password=secret#trial",
        "postgresql://me@host/db?sslpassword=secret#trial",
        "secret://me:secret@host/db#trial",
    ],
)
def test_an_address_that_cannot_be_read_is_not_repeated(wrong):
    with pytest.raises(LedgerRefused) as caught:
        eq.Ledger(wrong)
    if not wrong.startswith("secret"):
        assert "PGPASSWORD" in str(caught.value)
        assert "ret" not in str(caught.value).replace("read", "")
    assert "me:" not in str(caught.value)


def test_an_error_that_quotes_the_password_is_not_shown():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(LedgerUnreachable, match="not shown because a password or another secret occurs"):
            eq.Ledger(f"postgresql://someone:refused@127.0.0.1:{port}/db#trial").balance()


def test_a_missing_driver_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r'pip install "equipoise\[postgres\]"'):
        eq.Ledger("postgresql://someone@localhost/db#trial").balance()


def test_a_spender_needs_no_right_but_to_read_and_to_call_the_function(postgres, name, ledger):
    with postgres.connect(name) as connection:
        for role in ("spender", "reader"):
            connection.execute(f"CREATE ROLE {role}_{name} LOGIN; GRANT SELECT ON entries TO {role}_{name}")
        connection.execute(f"GRANT EXECUTE ON FUNCTION equipoise_append(text, text) TO spender_{name}")
    spender, reader = (
        eq.Ledger(f"{postgres.address(name).replace('ledger@', f'{role}_{name}@')}#trial")
        for role in ("spender", "reader")
    )
    spender.admit(PLAN)
    assert reader.balance().epsilon_left == Decimal("0.9")
    assert reader.verify(against=ledger.export()) == ()
    assert reader.withdrawn() == ((), ())
    with pytest.raises(LedgerUnreachable, match="permission denied"):
        reader.admit(PLAN)
    assert len(ledger.history()) == 2


def test_an_entry_put_in_behind_the_lock_is_refused_by_the_key(postgres, name, ledger):
    with postgres.connect(name) as connection:
        connection.execute(
            "INSERT INTO entries SELECT 2, dataset, 'spend', '1.0', delta, '', made, digest, '' FROM entries"
        )
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO entries SELECT 2, dataset, kind, '0.0', '0.0', '', '', '', '' FROM entries")
    with pytest.raises(eq.errors.LedgerTampered):
        ledger.admit(PLAN)


def spend_of_everything(ledger: eq.Ledger) -> chain.Entry:
    """Return the entry that another client writes meanwhile."""
    plan = dataclasses.replace(PLAN, claim=dataclasses.replace(PLAN.claim, budget=eq.Budget(1.0)))
    with ledger._store.opened() as connection:
        return ledger._next_spend(connection, plan, {}, "another", ())[0]


def test_a_spend_that_waited_for_the_lock_sees_what_was_spent_meanwhile(postgres, name, ledger):
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    endings: list[str] = []

    def spend() -> None:
        try:
            ledger.admit(PLAN)
        except Overdraft:
            endings.append("refused")
        else:
            endings.append("admitted")

    with postgres.connect(name) as connection:
        connection.execute(f"SELECT pg_advisory_lock({store.ADVISORY_LOCK})")
        spender = threading.Thread(target=spend)
        spender.start()
        # The server's own default, serializable, would show the spender the history from before it waited.
        while spender.is_alive() and connection.execute(waiting).fetchone() == (0,):
            pass
        everything = spend_of_everything(ledger)
        connection.execute(
            f"INSERT INTO entries VALUES ({', '.join(['%s'] * 10)})",  # noqa: S608
            dataclasses.astuple(everything),
        )
    spender.join()
    assert endings == ["refused"]
    assert ledger.verify() == ()
