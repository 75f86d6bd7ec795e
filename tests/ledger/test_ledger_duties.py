"""PostgreSQL: an analyst spends and reads, and can do nothing else, whatever is tried with a real server."""

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import resources
from threading import Thread

import psycopg
import pytest
import sqlalchemy as sql

import equipoise as eq
from equipoise.certify.certificate import ADJACENCIES
from equipoise.errors import LedgerRefused, LedgerTampered, LedgerUnreachable, Overdraft
from equipoise.ledger import postgresql, records, store
from equipoise.ledger.currencies.base import LAST_PLACE, SMALLEST_COST
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from equipoise.vocabulary.numbers import LARGEST_EPSILON, SMALLEST
from former_ledgers import make_former
from ledger_lines import MADE, Line, Lines, amount, written
from stored_certificates import STORED

pytest_plugins = ["postgres_server"]

PLAN = issue(Request("logistic", "l2", 0.1, eq.Domain(1.0, classes=(0, 1)), 0.0, 40, 2, eq.Budget(0.1)))
APPEND = "SELECT public.equipoise_append(%s)"


@dataclass
class Duties:
    """A database with an owner, who is no superuser, and an analyst with the rights that the docs give."""

    server: object
    name: str
    owner: str
    analyst: str

    def address(self, role: str) -> str:
        return self.server.address(self.name).replace("ledger@", f"{role}@")

    def connect(self, role: str, **options: object) -> psycopg.Connection:
        where = {"host": str(self.server.folder), "port": self.server.port, "user": role, "dbname": self.name}
        connection = psycopg.connect(**where, autocommit=True, connect_timeout=10)
        connection.execute("SET default_transaction_isolation = 'read committed'")
        return connection

    def insert(self, line: Line, **altered: object) -> None:
        """Insert an entry directly, as the owner can."""
        row = {**line.row(), **altered}
        columns, marks = ", ".join(row), ", ".join(f"%({name})s" for name in row)
        with self.connect(self.owner) as connection:
            connection.execute(f"INSERT INTO entries ({columns}) VALUES ({marks})", row)  # noqa: S608

    def count(self, dataset: str) -> int:
        with self.connect(self.owner) as connection:
            return connection.execute("SELECT count(*) FROM entries WHERE dataset = %s", [dataset]).fetchone()[0]


def granted(server: object) -> Duties:
    name = server.new_database()
    duties = Duties(server, name, f"owner_{name}", f"analyst_{name}")
    with server.connect() as connection:
        connection.execute(f"CREATE ROLE {duties.owner} LOGIN; CREATE ROLE {duties.analyst} LOGIN")
        connection.execute(f"ALTER DATABASE {name} OWNER TO {duties.owner}")
    eq.Ledger(f"{duties.address(duties.owner)}#trial").create(eq.Budget(1.0))
    with duties.connect(duties.owner) as connection:
        connection.execute(f"GRANT SELECT ON entries TO {duties.analyst}")
        connection.execute(f"GRANT EXECUTE ON FUNCTION equipoise_append(text, text) TO {duties.analyst}")
    return duties


@pytest.fixture(scope="module")
def shared(postgres) -> Duties:
    """A database that refusals leave as it was."""
    return granted(postgres)


@pytest.fixture
def duties(postgres) -> Duties:
    return granted(postgres)


@contextmanager
def analyst_of(duties):
    with duties.connect(duties.analyst) as connection:
        yield connection


def started(duties: Duties, dataset: str, spends: int = 1, **options: object) -> Lines:
    """Return a dataset's history after its budget of 3 and so many spends by the analyst."""
    lines = Lines(dataset, amount(3, "0.000001"), **options)
    lines.took(lines.budget())
    duties.insert(lines.entries[0])
    for _ in range(spends):
        appended(duties, lines, lines.spend())
    return lines


def appended(duties: Duties, lines: Lines, line: Line) -> None:
    with analyst_of(duties) as connection:
        assert connection.execute(APPEND, [str(line)]).fetchone() == (line.digest,)
    lines.took(line)


def refused(duties: Duties, line: object, *settings: str) -> psycopg.Error:
    """Return the error with which the function refuses a line, after the settings that the analyst makes."""
    with analyst_of(duties) as connection:
        for setting in settings:
            connection.execute(setting)
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(APPEND, [line if line is None else str(line)])
    return caught.value


def test_the_analyst_spends_through_the_ledger_and_the_server_says_who_it_was(duties):
    analyst, owner = (eq.Ledger(f"{duties.address(role)}#trial") for role in (duties.analyst, duties.owner))
    for _ in range(10):
        analyst.admit(PLAN)
    with pytest.raises(Overdraft):
        analyst.admit(PLAN)
    assert analyst.balance().epsilon_left == 0
    assert owner.verify() == ()
    with duties.connect(duties.owner) as connection:
        callers = connection.execute("SELECT number, role FROM callers ORDER BY number").fetchall()
    assert callers == [(number, duties.analyst) for number in range(2, 12)]


def test_entries_with_records_are_taken_up_to_the_limit_and_outcomes_once(duties):
    lines = started(duties, "people")
    appended(duties, lines, lines.outcome(2))
    assert "a second outcome" in str(refused(duties, lines.outcome(2, "failed")))
    appended(duties, lines, lines.spend("2.25", "0.000001"))
    appended(duties, lines, lines.outcome(4, "failed"))
    assert refused(duties, lines.spend("0.26")).sqlstate == "EQ002"
    assert refused(duties, lines.spend("0.01", "1E-20")).sqlstate == "EQ002"
    appended(duties, lines, lines.spend("0.25"))
    appended(duties, lines, lines.outcome(6, files="a" * 64))
    assert duties.count("people") == 7


def test_a_certificate_of_this_dataset_is_taken_and_that_of_an_older_spelling_is_left_to_verify(duties):
    for dataset, currency in (("people", "gaussian"), ("People of 2025", None)):
        lines = started(duties, dataset, 0, currency=currency)
        lines.currency = "gaussian"
        named = {"terms": {"ledger": dataset.casefold()}}
        appended(duties, lines, lines.spend(certificate=named))


def test_two_lines_in_one_statement_are_taken_one_after_the_other(duties):
    lines = started(duties, "people", 0)
    first = lines.spend("2")
    lines.took(first)
    second = lines.spend("1.5")
    with analyst_of(duties) as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute("SELECT equipoise_append(%s), equipoise_append(%s)", [str(first), str(second)])
    assert caught.value.sqlstate == "EQ002"
    assert duties.count("people") == 1


@pytest.mark.parametrize("dataset", ["people", "caf\u00e9 \u2603", '\U0001f600\x7f "quoted" \\ \t', "p\ud7ff\ue000"])
def test_lines_are_sealed_as_python_seals_them(shared, dataset):
    lines = started(shared, dataset, 2)
    with shared.connect(shared.owner) as connection:
        found = connection.execute(
            "SELECT digest FROM entries WHERE dataset = %s ORDER BY number", [dataset]
        ).fetchall()
    assert [digest for (digest,) in found] == [line.digest for line in lines.entries]


@pytest.mark.parametrize("value", [0.1, 1e-6, 1.5e-7, 123456.789, 5e-324, 0.30000000000000004, 1e14, 2.0, 1e-5, 1e-4])
def test_doubles_are_read_as_python_writes_them(shared, value):
    with shared.connect(shared.owner) as connection:
        asked = "SELECT equipoise_is_double(%s), equipoise_is_double(%s)"
        assert connection.execute(asked, [repr(value), f"0{value!r}"]).fetchone() == (True, False)


DECIMALS = ["0", "0.5", "10", "1E+1", "1E-7", "0.000001", "0.0000010", "1.5E-7", "0E-7", "0.000000", "1.20E+3", "12.30"]


@pytest.mark.parametrize(
    "text", [*DECIMALS, "0.0000001", "00", "01", "1.", ".5", "1E1", "1e-7", "1.2E+1", "10E+1", "+1"]
)
def test_decimals_are_read_as_python_writes_them(shared, text):
    with shared.connect(shared.owner) as connection:
        found = connection.execute("SELECT equipoise_amount(%s)", [written(amount(text))]).fetchone()[0]
    assert (found is not None) == (str(Decimal(text)) == text)
    assert found is None or found[0] == Decimal(text)


def test_records_of_every_kind_of_certificate_are_written_as_the_function_expects(shared):
    with shared.connect(shared.owner) as connection:
        for path in STORED:
            text = records.canonical(records.of_plan(eq.Certificate.from_json(path.read_text())))
            found = connection.execute("SELECT equipoise_canonical(%s, 0)", [text]).fetchone()
            assert found == (text,), path


# What no analyst may do, statement by statement. The file stands for a key that lies beside the server's data.
FORBIDDEN = [
    "INSERT INTO entries SELECT * FROM entries",
    "INSERT INTO callers VALUES (9, 'trial', 'nobody', now())",
    "SELECT * FROM callers",
    "UPDATE entries SET epsilon = '1000.0'",
    "DELETE FROM entries",
    "TRUNCATE entries",
    "DROP TABLE entries",
    "ALTER TABLE entries DISABLE TRIGGER append_only",
    "DROP TRIGGER append_only ON entries",
    "CREATE TRIGGER mine BEFORE INSERT ON entries EXECUTE FUNCTION entries_append_only()",
    "CREATE RULE mine AS ON INSERT TO entries DO INSTEAD NOTHING",
    "CREATE OR REPLACE FUNCTION equipoise_append(line text, rests_on text) RETURNS text LANGUAGE sql AS 'SELECT $1'",
    "CREATE FUNCTION equipoise_amount(varchar) RETURNS numeric[] LANGUAGE sql AS 'SELECT NULL::numeric[]'",
    "ALTER FUNCTION equipoise_append(text, text) RESET ALL",
    "SELECT equipoise_quoted('x')",
    "CREATE TABLE quarantined (number integer)",
    "SELECT * FROM entries FOR UPDATE",
    "BEGIN; LOCK TABLE entries IN ROW EXCLUSIVE MODE",
    "SELECT pg_read_file('/etc/hostname')",
    "COPY entries TO '/tmp/entries'",
    "SELECT * FROM pg_authid",
    "CREATE SCHEMA mine",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_an_analyst_may_not(shared, statement):
    before = shared.count("trial")
    with analyst_of(shared) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)
    assert shared.count("trial") == before


def test_creating_is_the_owners(shared):
    with pytest.raises(LedgerRefused, match="connect as the ledger's owner"):
        eq.Ledger(f"{shared.address(shared.analyst)}#mine").create(eq.Budget(1000.0))
    assert shared.count("mine") == 0


def altered_lines(lines: Lines) -> dict[str, object]:
    """Return lines that no honest client writes, by what is wrong with them."""
    spend, backwards = lines.spend(), dict(reversed(json.loads(lines.spend().record).items()))
    raw = lines.spend().record
    deep = "[" * 60 + "]" * 60
    again = lines.altered
    return {
        "nothing": None,
        "no text": "",
        "no JSON": "[1,2",
        "an object": '{"number":2}',
        "a list of lists": "[[],[],[],[],[],[],[],[],[]]",
        "nulls": "[null,null,null,null,null,null,null,null,null]",
        "too few fields": "[3]",
        "a budget": lines.budget(),
        "a second budget": replace(lines.budget(), number=3, previous=spend.previous),
        "a budget of another dataset": replace(lines.budget(), dataset="mine"),
        "a migration": replace(spend, kind="migration"),
        "a recovery": replace(spend, kind="recovery"),
        "a dataset without a budget": replace(spend, dataset="nobody's", number=1),
        "another dataset's number": replace(spend, dataset="trial"),
        "a number that is taken": replace(spend, number=2),
        "a number that is skipped": replace(spend, number=4),
        "a number as text": replace(spend, number="3"),
        "a fraction of a number": str(spend).replace("[3,", "[3.0,", 1),
        "a number beyond integers": str(spend).replace("[3,", f"[{10**20},", 1),
        "a negative number": replace(spend, number=-3),
        "another previous": replace(spend, previous="0" * 64),
        "a blank in the line": str(spend).replace(",", ", ", 1),
        "a letter written as a number": str(spend).replace("spend", "\\u0073pend", 1),
        "a letter that is not ASCII": str(spend).replace("\\\\u00e9", "\u00e9"),
        "a newline after the line": f"{spend}\n",
        "a zero byte in a text": str(spend).replace("release-3", "release\\\\u0000"),
        "half a surrogate": str(spend).replace("release-3", "release\\\\ud800"),
        "epsilon is NaN": replace(spend, epsilon="NaN"),
        "epsilon is infinite": replace(spend, epsilon="Infinity"),
        "epsilon is inf": replace(spend, epsilon="inf"),
        "epsilon is negative": replace(spend, epsilon="-0.5"),
        "epsilon is 0": replace(spend, epsilon="0.0"),
        "epsilon is smaller than any budget's": replace(spend, epsilon="9e-101"),
        "epsilon is larger than any budget's": replace(spend, epsilon="1000000000000001.0"),
        "delta is a negative zero": replace(spend, delta="-0.0"),
        "epsilon is 1e400": replace(spend, epsilon="1e400"),
        "epsilon is 1e+400": replace(spend, epsilon="1e+400"),
        "epsilon is not as Python writes it": replace(spend, epsilon="0.50"),
        "epsilon in Arabic digits": replace(spend, epsilon="\u0660.\u0665"),
        "epsilon is a number": replace(spend, epsilon=0.5),
        "epsilon of a thousand digits": replace(spend, epsilon="0." + "5" * 1000),
        "delta is 1": replace(spend, delta="1.0"),
        "a certificate that is none": replace(spend, certificate="x"),
        "a time that is none": replace(spend, made="yesterday"),
        "a day that is none": replace(spend, made=MADE.replace("11-17", "02-30")),
        "an hour that Python has not": replace(spend, made=MADE.replace("T10", "T24")),
        "no record": replace(spend, record=None),
        "an empty record": replace(spend, record=""),
        "a record that is a list": replace(spend, record="[]"),
        "a record with blanks": replace(spend, record=raw.replace(":", ": ", 1)),
        "a record that is not sorted": replace(spend, record=json.dumps(backwards, separators=(",", ":"))),
        "a key twice": replace(spend, record=raw.replace('"under":1', '"under":1,"under":1')),
        "a key twice inside": replace(spend, record=raw.replace('{"claim"', '{"claim":1,"claim"')),
        "a key too many": again(spend, extra=1),
        "a number beyond doubles": replace(spend, record=raw.replace("0.25", "1e400")),
        "a number of a thousand digits": replace(spend, record=raw.replace("0.25", "9" * 1000)),
        "a number as PostgreSQL writes it": replace(spend, record=raw.replace("0.25", "1e+15")),
        "a number not as Python writes it": replace(spend, record=raw.replace("0.25", "0.250")),
        "NaN in the record": replace(spend, record=raw.replace("0.25", "NaN")),
        "a record that is too deep": replace(spend, record=raw.replace("[1,0.25", f"[{deep},0.25")),
        "no cost": again(spend, cost=None),
        "a cost of nothing": again(spend, cost=amount("0"), spent=amount("0.5")),
        "a negative cost": again(spend, cost=amount("-0.5"), spent=amount("0.0")),
        "a cost of NaN": again(spend, cost=amount("NaN"), spent=amount("NaN")),
        "an infinite cost": again(spend, cost=amount("Infinity"), spent=amount("Infinity")),
        "a cost in a list": again(spend, cost=["0.5", "0"]),
        "a cost that is a number": again(spend, cost={"amount": 0.5, "delta": 0}),
        "a cost of three parts": again(spend, cost={**amount("0.5"), "more": "1"}),
        "a cost with a delta that is a list": again(spend, cost={"amount": "0.5", "delta": ["0"]}),
        "a cost with blanks": again(spend, cost=amount(" 0.5")),
        "a cost in Arabic digits": again(spend, cost=amount("\u0660.\u0665")),
        "a cost of next to nothing": lines.spend("9.9E-31"),
        "a cost of next to nothing, in both parts": lines.spend("9.9E-31", "9.9E-31"),
        "a cost that makes totals long": lines.spend("0.5", "1E-61"),
        "a zero that makes totals long": again(spend, cost=amount("0.5", "0E-61")),
        "a cost that nobody can add to": lines.spend("0.5", "1E-401"),
        "a zero that nobody can add to": again(spend, cost=amount("0.5", "0E-500")),
        "a total that is lower": again(spend, spent=amount("0.1")),
        "a total that is the old one": again(spend, spent=amount("0.5")),
        "a total that is higher": again(spend, spent=amount("2.5")),
        "no total": again(spend, spent=None),
        "more than remains": lines.spend("2.6"),
        "far more than remains": lines.spend("1E+200"),
        "more delta than remains": lines.spend("0.1", "0.000002"),
        "another limit": again(spend, under=2),
        "another limit as text": again(spend, under="1"),
        "other neighbours": again(spend, adjacency="replace-one-person"),
        "no neighbours": again(spend, adjacency=["x"]),
        "software inside software": again(spend, software={"a": {"b": 1}, "cost": 1}),
        "a version that is no text": again(spend, software={"equipoise": 3}),
        "no release": again(spend, release=""),
        "a release that is no text": again(spend, release=3),
        "a release with an escape": again(spend, release="\u001b[31m"),
        "a certificate that is a text": again(spend, certificate="x"),
        "a certificate of another dataset": again(spend, certificate={"terms": {"ledger": "others"}}),
        "a certificate of a dataset that is no text": again(spend, certificate={"terms": {"ledger": 3}}),
        "an outcome of the budget": lines.outcome(1),
        "an outcome of nothing": lines.outcome(77),
        "an outcome of itself": lines.outcome(3),
        "an outcome as text": again(lines.outcome(2), of="2"),
        "an outcome of another release": again(lines.outcome(2), release="mine"),
        "an outcome that is unknown": again(lines.outcome(2), outcome="lost"),
        "a failure with a digest": again(lines.outcome(2), outcome="failed"),
        "files that are no digest": again(lines.outcome(2), files="31337"),
        "files that are no text": again(lines.outcome(2), files=31337),
        "a failure with files": again(lines.outcome(2, "failed"), files="a" * 64),
        "an outcome that spends": replace(lines.outcome(2), epsilon="0.1"),
        "an outcome that gives back": again(lines.outcome(2), spent=amount("0.0")),
        "an outcome without a record": replace(lines.outcome(2), record=None),
        "a line of two mebibytes": replace(spend, record="x" * 2**21),
        "a certificate of two mebibytes": again(spend, certificate={"x": "x" * 2**21}),
    }


FAULTS = list(altered_lines(Lines("x", amount(3), entries=[Line(1, "x", "budget"), Line(2, "x", "spend")])))


@pytest.fixture(scope="module")
def halfway(shared) -> Lines:
    return started(shared, "halfway")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_line_is_refused_and_freezes_nothing(shared, halfway, fault):
    line = altered_lines(halfway)[fault]
    error = refused(shared, line)
    # The function's own refusal, or the server's about a value that is none: of JSON, a number, a time.
    assert error.sqlstate in {"EQ001", "EQ002"} or error.sqlstate.startswith("22"), error
    assert shared.count("halfway") == 2
    with analyst_of(shared) as connection, connection.transaction(force_rollback=True):
        connection.execute(APPEND, [str(halfway.spend())])


@pytest.mark.parametrize("neighbours", ["foo", "", None, "replace-one "])
def test_the_first_spend_cannot_be_about_neighbours_that_nobody_knows(shared, neighbours):
    lines = Lines("untouched", amount(3), entries=[Line(1, "untouched", "budget")])
    lines.entries[0] = lines.budget()
    if not shared.count("untouched"):
        shared.insert(lines.entries[0])
    assert "neighbours that nobody knows" in str(refused(shared, lines.spend(adjacency=neighbours)))


def test_the_function_knows_the_bounds_and_the_neighbours_of_the_library():
    text = resources.files("equipoise.ledger").joinpath("postgresql.sql").read_text()
    assert f"IN ({', '.join(map(repr, ADJACENCIES.values()))})" in text
    assert f">= {SMALLEST_COST})" in text
    assert text.count(f"<= {-LAST_PLACE.as_tuple().exponent} ") == 1
    for bound in (f"< {SMALLEST:g}", f"> {LARGEST_EPSILON:g}"):
        assert f"fresh.epsilon::float8 {bound.replace('e+', 'e')}" in text


# What a session can set for itself. The planted functions would be found if the function looked for names along the
# analyst's path; the settings would change how its literals, doubles and comparisons are read.
SETTINGS = {
    "a search path": ["CREATE TEMP TABLE entries (LIKE public.entries)", "SET search_path = pg_temp, public"],
    "an operator": [
        "CREATE FUNCTION pg_temp.always(numeric, numeric) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "CREATE OPERATOR pg_temp.<= (LEFTARG = numeric, RIGHTARG = numeric, FUNCTION = pg_temp.always)",
        "SET search_path = pg_temp, pg_catalog, public",
    ],
    "a function": [
        "CREATE FUNCTION pg_temp.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT $1'",
        "CREATE FUNCTION pg_temp.equipoise_amount(json) RETURNS numeric[] LANGUAGE sql AS 'SELECT NULL::numeric[]'",
        "SET search_path = pg_temp, pg_catalog, public",
    ],
    "a type": ["CREATE DOMAIN pg_temp.numeric AS text", "SET search_path = pg_temp, pg_catalog, public"],
    "literals": ["SET standard_conforming_strings = off", "SET escape_string_warning = off"],
    "digits": ["SET extra_float_digits = -15"],
    "dates": ["SET datestyle = 'German'", "SET timezone = 'Asia/Kathmandu'"],
    "nulls": ["SET transform_null_equals = on"],
    "bytes": ["SET bytea_output = escape", "SET client_encoding = 'LATIN1'"],
    "plans": ["SET enable_indexscan = off", "SET plan_cache_mode = force_generic_plan"],
}


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_a_session_sets_for_itself_changes_nothing(shared, halfway, settings):
    faults = ("more than remains", "a total that is lower", "epsilon is not as Python writes it", "a blank in the line")
    for fault in faults:
        assert refused(shared, altered_lines(halfway)[fault], *SETTINGS[settings]).sqlstate in {"EQ001", "EQ002"}
    with analyst_of(shared) as connection:
        for setting in SETTINGS[settings]:
            connection.execute(setting)
        with connection.transaction(force_rollback=True):
            honest = halfway.spend()
            assert connection.execute(APPEND, [str(honest)]).fetchone() == (honest.digest,)
    assert shared.count("halfway") == 2


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_stale_snapshot_is_refused(duties, level):
    lines = started(duties, "people", 0)
    with analyst_of(duties) as connection:
        connection.execute(f"BEGIN ISOLATION LEVEL {level}")
        connection.execute("SELECT count(*) FROM entries")
        appended(duties, lines, lines.spend("2"))
        stale = Lines("people", amount(3), entries=lines.entries[:1])
        with pytest.raises(psycopg.Error, match="READ COMMITTED"):
            connection.execute(APPEND, [str(stale.spend("2"))])
    assert duties.count("people") == 2


def test_a_spend_is_flushed_though_the_session_asked_for_none(shared, halfway):
    with analyst_of(shared) as connection:
        connection.execute("SET synchronous_commit = off")
        with connection.transaction(force_rollback=True):
            connection.execute(APPEND, [str(halfway.spend())])
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


def test_a_spend_cannot_be_prepared_and_left_holding_the_lock(shared, halfway):
    with analyst_of(shared) as connection:
        connection.execute("BEGIN")
        connection.execute(APPEND, [str(halfway.spend())])
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="NOTIFY"):
            connection.execute("PREPARE TRANSACTION 'kept'")
    assert shared.count("halfway") == 2


def test_a_timeout_of_ones_own_ends_ones_own_spend(shared, halfway):
    with shared.connect(shared.owner) as holder, analyst_of(shared) as connection:
        holder.execute(f"SELECT pg_advisory_lock({store.ADVISORY_LOCK})")
        for setting in ("lock_timeout", "statement_timeout"):
            connection.execute(f"SET {setting} = '50ms'")
            with pytest.raises(psycopg.errors.OperationalError):
                connection.execute(APPEND, [str(halfway.spend())])
            connection.execute(f"RESET {setting}")
    assert shared.count("halfway") == 2


def test_what_is_rolled_back_was_never_spent_so_the_honest_client_commits_before_it_reads(duties):
    """The client decides about the commit: the function cannot know what it did with what it was told."""
    lines = started(duties, "people", 0)
    with analyst_of(duties) as connection:
        connection.execute("BEGIN")
        connection.execute("SAVEPOINT mine")
        connection.execute(APPEND, [str(lines.spend())])
        connection.execute("ROLLBACK TO mine")
        connection.execute("COMMIT")
    assert duties.count("people") == 1
    # A spend by the ledger is there for everybody when `admit` returns.
    eq.Ledger(f"{duties.address(duties.analyst)}#trial").admit(PLAN)
    assert duties.count("trial") == 2


def test_whoever_holds_the_lock_for_ever_is_found_and_ended(duties, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 1)
    analyst = eq.Ledger(f"{duties.address(duties.analyst)}#trial")
    with analyst_of(duties) as connection:
        connection.execute(f"SELECT pg_advisory_lock({store.ADVISORY_LOCK})")
        with pytest.raises(LedgerUnreachable, match="lock timeout"):
            analyst.admit(PLAN)
        # The remedy of docs/ledger-postgresql.md, by an administrator.
        page = (resources.files("equipoise").parent.parent / "docs" / "ledger-postgresql.md").read_text()
        statement = "".join(page.partition("SELECT pid, usename")[1:]).partition(";")[0]
        with duties.server.connect(duties.name) as administrator:
            ((process, role, *_),) = administrator.execute(statement).fetchall()
            assert role == duties.analyst
            administrator.execute("SELECT pg_terminate_backend(%s)", [process])
        # The process ends a moment later; the next spend waits for it.
        monkeypatch.setattr(store, "PATIENCE", 30)
        analyst.admit(PLAN)
    assert duties.count("trial") == 2


def test_of_many_who_send_the_same_line_one_is_served(duties):
    lines = started(duties, "people", 0)
    line, endings = str(lines.spend("2")), []

    def send() -> None:
        with analyst_of(duties) as connection:
            try:
                connection.execute(APPEND, [line])
                endings.append("taken")
            except psycopg.Error as error:
                endings.append(error.sqlstate)

    senders = [Thread(target=send) for _ in range(8)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert sorted(endings) == [*["EQ001"] * 7, "taken"]


def test_entries_without_records_are_summed_by_the_function(duties):
    lines = started(duties, "former", 0, currency=None)
    for _ in range(5):
        assert "without a record" in str(refused(duties, lines.spend()))
        lines.took(lines.spend())
        duties.insert(lines.entries[-1])
    lines.currency = "basic"
    for bad in (lines.spend("0.6"), replace(lines.spend(), epsilon="NaN"), replace(lines.spend(), delta="0.5")):
        assert refused(duties, bad).sqlstate in {"EQ001", "EQ002"}
    with analyst_of(duties) as connection, pytest.raises(psycopg.Error, match="grounds"):
        connection.execute("SELECT equipoise_append(%s, %s)", [str(lines.spend()), "{}"])
    appended(duties, lines, lines.spend())
    assert refused(duties, lines.spend("1E-20")).sqlstate == "EQ002"


def former(postgres, *grounds: str | None) -> tuple[Duties, eq.Ledger, Lines]:
    """Return a ledger of 0.2.0 with spends that have these grounds, into which the owner has put the function."""
    name = postgres.new_database()
    duties = Duties(postgres, name, f"owner_{name}", f"analyst_{name}")
    with postgres.connect() as connection:
        connection.execute(f"CREATE ROLE {duties.owner} LOGIN; CREATE ROLE {duties.analyst} LOGIN")
        connection.execute(f"ALTER DATABASE {name} OWNER TO {duties.owner}")
    driver = duties.address(duties.owner).replace("postgresql://", "postgresql+psycopg://")
    make_former(sql.create_engine(driver, poolclass=sql.NullPool))
    lines = Lines("old", amount("3.0", "0.000001"), currency=None)
    lines.took(lines.budget())
    for _ in grounds:
        lines.took(lines.spend())
    with duties.connect(duties.owner) as connection:
        for line in lines.entries:
            row = {key: value for key, value in line.row().items() if key != "record"}
            marks = ", ".join(f"%({key})s" for key in row)
            connection.execute(f"INSERT INTO entries ({', '.join(row)}) VALUES ({marks})", row)  # noqa: S608
        for number, kept in enumerate(grounds, start=2):
            if kept is not None:
                connection.execute("INSERT INTO grounds VALUES (%s, 'old', %s)", [number, kept])
    eq.Ledger(f"{duties.address(duties.owner)}#another").create(eq.Budget(1.0))
    with duties.connect(duties.owner) as connection:
        connection.execute(f"GRANT SELECT ON entries, grounds TO {duties.analyst}")
        connection.execute(f"GRANT EXECUTE ON FUNCTION equipoise_append(text, text) TO {duties.analyst}")
    lines.currency = "basic"
    return duties, eq.Ledger(f"{duties.address(duties.owner)}#old"), lines


ROWS, PERSONS = ADJACENCIES["row"], ADJACENCIES["person"]
KEPT = json.dumps({"adjacency": PERSONS, "members": [], "software": {}})


@pytest.mark.parametrize(
    ("grounds", "neighbours"),
    [
        (["{}"], ROWS),
        ([None], ROWS),
        (["no JSON"], ROWS),
        ([json.dumps({"adjacency": "foo"})], ROWS),
        ([KEPT], PERSONS),
        ([KEPT[:-1]], PERSONS),
    ],
)
def test_spends_without_records_decide_what_neighbours_are(postgres, grounds, neighbours):
    """Else one line of an analyst's would shut everybody else out of a ledger of 0.2.0."""
    duties, owner, lines = former(postgres, *grounds)
    (others,) = {ROWS, PERSONS} - {neighbours}
    assert "about other neighbours" in str(refused(duties, lines.spend("0.1", adjacency=others)))
    assert owner.verify() == ()
    appended(duties, lines, lines.spend("0.1", adjacency=neighbours))


def test_where_nothing_was_spent_before_records_the_first_spend_decides(postgres):
    duties, _, lines = former(postgres)
    appended(duties, lines, lines.spend("0.1", adjacency=PERSONS))


def test_a_spend_about_others_that_an_earlier_function_took_is_found(postgres):
    duties, owner, lines = former(postgres, "{}")
    duties.insert(lines.spend("0.1", adjacency=PERSONS))
    assert any("entry 3: it is about other neighbours" in fault for fault in owner.verify())
    with pytest.raises(LedgerTampered, match="other neighbours"):
        owner.admit(PLAN)


@pytest.mark.parametrize("kind", ["VIEW", "TABLE"])
def test_grounds_of_somebody_elses_are_not_read_with_the_owners_rights(postgres, kind):
    duties, _, lines = former(postgres, "{}")
    with postgres.connect(duties.name) as connection:
        connection.execute("DROP TABLE grounds")
        connection.execute(f"CREATE {kind} grounds AS SELECT 2 AS number, 'old' AS dataset, '{KEPT}' AS grounds")
    assert "about other neighbours" in str(refused(duties, lines.spend("0.1", adjacency=PERSONS)))


@pytest.mark.parametrize(
    "altered",
    [{"epsilon": "1.0"}, {"digest": "x"}, {"record": '{"spent":{"amount":"-5","delta":"0"}}'}, {"record": "{}"}],
)
def test_after_a_malformed_entry_nothing_is_taken_and_the_owner_is_named(duties, altered):
    lines = started(duties, "people")
    bad = lines.spend("0.25")
    duties.insert(bad, **altered)
    lines.took(bad)
    line = replace(lines.spend("0.25"), previous=altered.get("digest", bad.digest))
    assert refused(duties, line).sqlstate == "EQ003"
    refusal = postgresql._refusal(sql.exc.DBAPIError("", {}, refused(duties, line)), line, "people")
    assert isinstance(refusal, LedgerTampered)
    assert "recover" in str(refusal)


def test_who_could_insert_before_may_call_the_function_once_the_owner_creates_again(postgres):
    """A ledger of an earlier version, with the rights that were documented then."""
    name = postgres.new_database()
    driver = postgres.address(name).replace("postgresql://", "postgresql+psycopg://")
    make_former(sql.create_engine(driver, poolclass=sql.NullPool), ("trial", eq.Budget(1.0)))
    with postgres.connect(name) as connection:
        connection.execute(f"CREATE ROLE old_{name} LOGIN; GRANT SELECT, INSERT ON entries, grounds TO old_{name}")
        connection.execute(f"CREATE ROLE looks_{name} LOGIN; GRANT SELECT ON entries, grounds TO looks_{name}")
    old = eq.Ledger(f"{postgres.address(name).replace('ledger@', f'old_{name}@')}#trial")
    old.admit(PLAN)
    eq.Ledger(f"{postgres.address(name)}#another").create(eq.Budget(1.0))
    old.admit(PLAN)
    assert old.balance().epsilon_left == Decimal("0.8")
    with postgres.connect(name) as connection:
        asked = "SELECT has_table_privilege(%s, 'entries', %s), has_function_privilege(%s, %s, 'EXECUTE')"
        function = "equipoise_append(text, text)"
        held = {
            role: connection.execute(asked, [f"{role}_{name}", "INSERT", f"{role}_{name}", function]).fetchone()
            for role in ("old", "looks")
        }
    assert held == {"old": (False, True), "looks": (False, False)}


def test_a_function_that_somebody_else_put_there_is_not_called(postgres, monkeypatch):
    """Where everybody creates in `public`, as before PostgreSQL 15, it would run with the rights of whoever spends."""
    name = postgres.new_database()
    with monkeypatch.context() as patch:
        patch.setattr(postgresql, "install", lambda connection: None)
        eq.Ledger(f"{postgres.address(name)}#trial").create(eq.Budget(1.0))
    with postgres.connect(name) as connection:
        connection.execute(f"CREATE ROLE planter_{name}; GRANT CREATE ON SCHEMA public TO planter_{name}")
        connection.execute(f"SET ROLE planter_{name}")
        connection.execute(
            "CREATE FUNCTION equipoise_append(line text, rests_on text) RETURNS text LANGUAGE sql AS 'SELECT line'"
        )
        connection.execute("CREATE TABLE callers (number integer, dataset varchar, role text, called timestamptz)")
    ledger = eq.Ledger(f"{postgres.address(name)}#trial")
    ledger.admit(PLAN)
    assert len(ledger.history()) == 2
    with postgres.connect(name) as connection:
        connection.execute("DROP FUNCTION equipoise_append(text, text)")
    with pytest.raises(LedgerTampered, match="callers"):
        eq.Ledger(f"{postgres.address(name)}#another").create(eq.Budget(1.0))


def test_the_function_and_the_store_lock_the_same_number():
    assert f"pg_advisory_xact_lock({store.ADVISORY_LOCK})" in (
        resources.files("equipoise.ledger").joinpath("postgresql.sql").read_text()
    )
