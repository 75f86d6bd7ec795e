"""`equipoise ledger create | migrate | show | releases | history | export | verify | withdrawn`."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import equipoise as eq
from equipoise.certify.withdrawn import Withdrawal
from equipoise.cli.ledger import group
from equipoise.errors import EquipoiseError, InvalidParameter, LedgerRefused, LedgerUnreachable, OutputRefused
from equipoise.ledger import currencies
from equipoise.ledger.currencies import Amount, Worth
from equipoise.ledger.currencies.base import SHARE, spent_on_order
from equipoise.ledger.currencies.basic import Basic
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from program import run_program

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
PLAN = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1, 1e-6)))

MALFORMED = (
    "INSERT INTO entries (number, dataset, kind, epsilon, delta, certificate, made, previous, digest) "
    "VALUES ({number}, '{dataset}', 'spend', '', '', '', '', '', '')"
)


def run(*arguments: object) -> Result:
    """Run the command; a refusal is raised, as the program's entrance expects."""
    result = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}).invoke(group, list(map(str, arguments)))
    if isinstance(result.exception, EquipoiseError):
        raise result.exception
    return result


@pytest.fixture
def reference(tmp_path) -> str:
    reference = f"sqlite:///{tmp_path}/ledger.db#trial"
    assert run("create", reference, "--epsilon", 1, "--delta", 1e-5, "--currency", "basic").exit_code == 0
    eq.Ledger(reference).admit(PLAN)
    return reference


def test_create_gives_a_budget_once(reference):
    assert eq.Ledger(reference).balance().limit == eq.Budget(1.0, 1e-5)
    with pytest.raises(LedgerRefused, match="never changed") as refused:
        run("create", reference, "--epsilon", 2)
    # Nobody is led to a second budget for the same people.
    remedy = refused.value.remedy
    assert remedy.startswith("for the same people, spend from it: equipoise ledger show "), remedy
    assert remedy.endswith("; for others, another name"), remedy


def test_a_dataset_that_is_not_there_is_met_with_those_that_are(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path))
    for name in ("people", "trial"):
        run("create", name, "--epsilon", 3)
    for command in ("show", "releases", "history", "export"):
        with pytest.raises(LedgerRefused, match=r"did you mean 'people'\? Else create it once: .* create peple "):
            run(command, "peple")
    with pytest.raises(LedgerRefused, match="did you mean 'people'"):
        eq.Ledger("peple").admit(PLAN)
    with pytest.raises(LedgerRefused, match="'people', 'trial' if these are the same people; else create it once"):
        run("show", "ward")


@pytest.mark.parametrize("wrong", [("--epsilon", -1), ("--epsilon", "nan"), ("--epsilon", 1, "--delta", 1)])
def test_create_refuses_a_budget_that_means_nothing_and_makes_no_file(tmp_path, wrong):
    with pytest.raises(InvalidParameter):
        run("create", f"sqlite:///{tmp_path}/ledger.db#trial", *wrong)
    assert not list(tmp_path.iterdir())


def test_show_says_what_was_spent_what_remains_and_how_it_went(reference):
    shown = run("show", reference).stdout
    for words in ("'trial'", "1.0", "0.9", "0.000009", "1 spend(s)", "####", "10 %", "All releases together"):
        assert words in shown
    record = json.loads(run("show", reference, "--json").stdout)
    assert record["dataset"] == "trial"
    assert record["limit"] == {"epsilon": "1.0", "delta": "1e-05"}
    assert record["spent"] == {"epsilon": "0.1", "delta": "0.000001"}
    assert record["left"] == {"epsilon": "0.9", "delta": "0.000009"}
    assert record["spends"] == 1
    assert record["basic"] == record["spent"]
    assert record["currency"] == "basic"
    assert record["in_currency"]["left"] == {"amount": "0.9", "delta": "0.000009"}
    assert [point["share"] for point in record["course"]] == [0.1]


def test_show_draws_the_spends_into_a_new_file(reference, tmp_path):
    picture = tmp_path / "spends.svg"
    assert run("show", reference, "--picture", picture).exit_code == 0
    assert picture.read_text().startswith("<svg")
    with pytest.raises(OutputRefused):
        run("show", reference, "--picture", picture)


def test_releases_lists_ids_and_outcomes(reference):
    ledger = eq.Ledger(reference)
    entry = ledger.admit(PLAN, release_id="cafe")
    ledger.conclude(entry, "failed")
    shown = run("releases", reference).stdout
    assert "cafe" in shown
    assert "failed" in shown
    first, second = json.loads(run("releases", reference, "--json").stdout)
    assert (first["number"], first["outcome"], len(first["release"])) == (2, "unknown", 32)
    assert (second["digest"], second["release"], second["outcome"]) == (entry.digest, "cafe", "failed")


def test_ids_of_releases_stand_in_one_line_of_a_narrow_terminal(reference):
    ledger = eq.Ledger(reference)
    ids = [f"{number:032x}" for number in (2**127 + 1, 2**127 + 2)]
    for name in ids:
        ledger.conclude(ledger.admit(PLAN, release_id=name), "failed")
    narrow = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"})
    lines = narrow.invoke(group, ["releases", reference]).stdout.splitlines()
    assert all(any(f" {name} " in line for line in lines) for name in ids)
    assert max(map(len, lines)) <= 80
    assert any("failed" in line for line in lines)


def test_migrate_moves_a_ledger_and_show_speaks_both_languages(reference, monkeypatch):
    class Halves(Basic):
        id = "halves"

        def limit(self, _budget):
            return Amount(Decimal("0.5"), Decimal("1e-5"))

        def price(self, claim):
            return Amount(Decimal(repr(claim.budget.epsilon)) / 4, Decimal(repr(claim.budget.delta)))

        def worth(self, spent, budget):
            return Worth(2 * float(spent.amount), budget.delta)

    monkeypatch.setitem(currencies.CURRENCIES, "halves", Halves)
    assert "moved: 'trial' counts in halves from entry 3 on" in run("migrate", reference, "--currency", "halves").stdout
    record = json.loads(run("show", reference, "--json").stdout)
    assert (record["currency"], record["limit"]["epsilon"]) == ("halves", "1.0")
    assert record["in_currency"]["limit"]["amount"] == "0.5"
    assert record["in_currency"]["spent"]["amount"] == "0.025"
    assert (record["spent"]["epsilon"], record["basic"]["epsilon"]) == ("0.05", "0.1")
    shown = run("show", reference).stdout
    for words in ("in halves", "0.475", "spent, by basic composition", "0.95"):
        assert words in shown
    assert run("verify", reference).exit_code == 0
    assert json.loads(run("migrate", reference, "--currency", "basic", "--json").stdout)["entry"] == 4


def test_show_says_what_an_order_costs_once_and_writes_nothing_as_0(tmp_path):
    reference = f"sqlite:///{tmp_path}/ledger.db#people"
    run("create", reference, "--epsilon", "3", "--delta", "1e-6")
    assert "what the order costs" not in run("show", reference).stdout
    assert json.loads(run("show", reference, "--json").stdout)["spent"] == {"epsilon": "0", "delta": "0"}
    small = issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.01, 1e-9)))
    eq.Ledger(reference).admit(small)
    order = spent_on_order(13, 1e-6 * SHARE)
    explained, _, table = run("show", reference).stdout.partition("The budget of")
    assert f"Of the epsilon spent, {order:.3g} is what the order costs once" in explained
    assert "by basic composition" in table
    assert order < float(json.loads(run("show", reference, "--json").stdout)["spent"]["epsilon"]) < order + 0.01


def test_where_everything_was_counted_recover_says_so_and_show_writes_0(tmp_path):
    reference = f"sqlite:///{tmp_path}/ledger.db#people"
    run("create", reference, "--epsilon", "3", "--delta", "1e-6")
    with contextlib.closing(sqlite3.connect(tmp_path / "ledger.db")) as file, file:
        file.execute(MALFORMED.format(number=2, dataset="people"))
    assert "Nothing is left, whatever was stated" in run("recover", reference, "--amount", "9", "--delta", "1").stdout
    (left,) = [line for line in run("show", reference).stdout.splitlines() if "left" in line]
    assert [cell.strip() for cell in left.split("\u2502")[2:-1]] == ["0", "0.000001", "0", "0"]


def test_recover_of_a_budget_without_delta_says_nothing_of_the_kind(reference, tmp_path):
    pure = f"sqlite:///{tmp_path}/ledger.db#pure"
    run("create", pure, "--epsilon", "3")
    eq.Ledger(pure).admit(issue(Request("logistic", "l2", 0.1, CLASSES, 0.0, 40, 2, eq.Budget(0.1))))
    with contextlib.closing(sqlite3.connect(tmp_path / "ledger.db")) as file, file:
        file.execute(MALFORMED.format(number=3, dataset="pure"))
    said = run("recover", pure, "--amount", "0.25").stdout
    assert "spent 0.35 of 3.0" in said
    assert "Nothing is left" not in said


def test_show_says_no_more_after_migrations_than_is_proved(tmp_path):
    reference = f"sqlite:///{tmp_path}/ledger.db#moved"
    run("create", reference, "--epsilon", "3", "--delta", "1e-6", "--currency", "basic")
    assert "All releases together are private with the limit." in run("show", reference).stdout
    assert json.loads(run("show", reference, "--json").stdout)["proved"] == {"epsilon": "3.0", "delta": "0.000001"}
    for moves, currency in enumerate(("gaussian", "basic"), start=1):
        said = run("migrate", reference, "--currency", currency).stdout, run("show", reference).stdout
        record = json.loads(run("show", reference, "--json").stdout)
        assert (record["migrations"], float(record["proved"]["delta"])) == (moves, (moves + 1) * 1e-6)
        for text in said:
            assert f"It was migrated {moves} time(s)" in text
            assert f"else with delta {record['proved']['delta']} (docs/ledger.md)" in text


def test_history_lists_every_entry(reference):
    shown = run("history", reference).stdout
    assert PLAN.digest[:12] in shown
    assert "does not hold" not in shown
    budget, spend = json.loads(run("history", reference, "--json").stdout)
    assert (budget["kind"], spend["kind"], spend["certificate"]) == ("budget", "spend", PLAN.digest)


def test_an_export_is_written_once_and_verified_against(reference, tmp_path):
    file = tmp_path / "export.json"
    assert run("export", reference, "--out", file).exit_code == 0
    assert file.read_text() == run("export", reference).stdout == eq.Ledger(reference).export()
    with pytest.raises(OutputRefused):
        run("export", reference, "--out", file)
    eq.Ledger(reference).admit(PLAN)
    done = run("verify", reference, "--against", file)
    assert done.exit_code == 0
    assert "intact: 3 entry(s) of 'trial'" in done.stdout
    assert "only with --against" in run("verify", reference).stdout
    assert json.loads(run("verify", reference, "--json").stdout) == {"intact": True, "faults": []}


def test_verify_names_the_fault_and_ends_with_1(reference, tmp_path):
    kept = tmp_path / "export.json"
    run("export", reference, "--out", kept)
    connection = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    connection.execute("DROP TRIGGER no_update")
    connection.execute("UPDATE entries SET epsilon = '0.01' WHERE number = 2")
    connection.close()
    done = run("verify", reference)
    assert done.exit_code == 1
    assert "entry 2: a field was altered" in done.stdout
    record = json.loads(run("verify", reference, "--against", kept, "--json").stdout)
    assert record["intact"] is False
    assert record["faults"][-1] == "entry 2 of the export differs"
    assert "does not hold" in run("history", reference).stdout


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"{}"])
def test_what_is_no_export_is_refused(reference, tmp_path, content):
    file = tmp_path / "export.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises((InvalidParameter, LedgerRefused), match="equipoise ledger export"):
        run("verify", reference, "--against", file)


FALSE = Withdrawal("2026-11-16", "theorem", "A2", "two rows [were] one")


def test_withdrawn_says_that_nothing_is(reference):
    done = run("withdrawn", reference)
    assert done.exit_code == 0
    assert done.stdout == "nothing withdrawn that entries of 'trial' rest on\n"
    assert json.loads(run("withdrawn", reference, "--json").stdout) == {"affected": [], "unknown": []}


def test_withdrawn_lists_the_spends_with_the_reasons_and_ends_with_5(reference, monkeypatch):
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (FALSE,))
    done = run("withdrawn", reference)
    assert done.exit_code == 5
    assert done.stdout.splitlines() == [f"withdrawn: entry 2, certificate {PLAN.digest}", f"  {FALSE}"]
    done = run("withdrawn", reference, "--json")
    assert done.exit_code == 5
    found = {"number": 2, "certificate": PLAN.digest, "reasons": [str(FALSE)]}
    assert json.loads(done.stdout) == {"affected": [found], "unknown": []}


def test_withdrawn_names_the_spends_of_a_ledger_that_kept_no_grounds(tmp_path, monkeypatch):
    shutil.copy(Path(__file__).parents[1] / "released" / "0.1.0" / "ledger.db", tmp_path)
    former = f"sqlite:///{tmp_path}/ledger.db#people"
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (FALSE,))
    done = run("withdrawn", former)
    assert done.exit_code == 0
    assert "Not known here: entry(s) 2, 3," in done.stdout
    assert "equipoise verify RELEASE" in done.stdout
    assert json.loads(run("withdrawn", former, "--json").stdout) == {"affected": [], "unknown": [2, 3]}
    # The first budget that is created in the file brings the table, and later spends are known.
    assert run("create", f"sqlite:///{tmp_path}/ledger.db#others", "--epsilon", 1).exit_code == 0
    eq.Ledger(former).admit(PLAN)
    done = run("withdrawn", former)
    assert done.exit_code == 5
    assert f"withdrawn: entry 4, certificate {PLAN.digest}" in done.stdout
    assert "Not known here: entry(s) 2, 3," in done.stdout


@pytest.mark.parametrize(
    ("overwritten", "shown"),
    [("'\x1b[2Jgone'", "\\x1b[2Jgone"), ("'[red]gone[/]'", "[red]gone[/]"), ("x'ff'", "\\xff")],
    ids=["a command", "markup", "bytes"],
)
def test_withdrawn_shows_an_overwritten_certificate_as_text(reference, tmp_path, monkeypatch, overwritten, shown):
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (FALSE,))
    connection = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    connection.execute("DROP TRIGGER no_update")
    connection.execute(f"UPDATE entries SET certificate = {overwritten} WHERE number = 2")  # noqa: S608
    connection.close()
    done = run("withdrawn", reference)
    assert done.exit_code == 5, done.exception
    assert shown in done.stdout
    assert "\x1b" not in done.stdout
    done = run("withdrawn", reference, "--json")
    assert done.exit_code == 5, done.exception
    assert json.loads(done.stdout)["affected"][0]["number"] == 2


@pytest.mark.parametrize("command", ["show", "releases", "history", "export", "verify", "withdrawn"])
def test_a_ledger_that_is_not_there_is_unreachable(tmp_path, command):
    with pytest.raises(LedgerUnreachable, match="equipoise ledger create"):
        run(command, f"sqlite:///{tmp_path}/none.db#trial")
    assert not list(tmp_path.iterdir())


def test_a_name_with_markup_is_shown_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path))
    assert "'[red]x[/]'" in run("create", "[red]x[/]", "--epsilon", 1).stdout
    for command in ("show", "history", "verify", "withdrawn"):
        assert "'[red]x[/]'" in run(command, "[red]x[/]").stdout


def test_the_program_knows_the_group_and_refuses_in_three_lines(tmp_path):
    program = [sys.executable, "-c", "from equipoise.cli import main; main()", "ledger"]
    environment = {**os.environ, "EQUIPOISE_HOME": str(tmp_path), "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
    done = subprocess.run([*program, "show", "adult"], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 3
    assert [line.split("  ")[0] for line in done.stderr.splitlines()] == ["asked", "found", "to do"]
    assert "equipoise ledger create adult --epsilon E --delta D" in done.stderr


def test_create_says_where_the_ledger_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    done = run_program("ledger", "create", "people", "--epsilon", 3)
    assert f"It is kept in {tmp_path / 'home' / 'ledger.db'}." in done.stdout.splitlines()
    assert (tmp_path / "home" / "ledger.db").is_file()
    done = run_program("ledger", "create", f"sqlite:///{tmp_path}/other.db#people", "--epsilon", 3)
    assert f"It is kept in {tmp_path}/other.db." in done.stdout.splitlines()
