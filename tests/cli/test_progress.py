"""What a terminal shows to those who wait: on standard error, nothing that private rows decide, and never in a file."""

import io
import sys
from contextlib import redirect_stderr

import pytest

from equipoise.cli import main
from equipoise.cli.progress import counting, waiting
from program import VARIABLES

SCHEMA = """
schema_version = 1
n = {n}
vouched_by = "A. Officer"
vouched_on = 2026-11-16
[target]
name = "ill"
classes = ["no", "yes"]
[columns.age]
kind = "number"
bounds = [0, 100]
"""


class Terminal(io.StringIO):
    """A standard error at which somebody sits."""

    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    """A terminal that was closed: nothing can be written to it."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


@pytest.fixture(autouse=True)
def variables(monkeypatch):
    for name, value in {**VARIABLES, "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)


def test_whoever_waits_sees_what_is_done_and_the_time(capsys):
    with redirect_stderr(Terminal()) as terminal, waiting("training"):
        print("a result")
    assert "training" in terminal.getvalue()
    assert "0:00:0" in terminal.getvalue()
    # What is printed meanwhile goes where it was meant to go.
    assert capsys.readouterr().out == "a result\n"


@pytest.mark.parametrize(("total", "shown"), [(12, "3/12"), (None, "3/?")])
def test_whoever_waits_sees_how_much_is_done_of_a_total_or_of_what_nobody_knows(total, shown):
    with redirect_stderr(Terminal()) as terminal, counting() as report:
        report("rows read", 3, total)
    assert "rows read" in terminal.getvalue()
    assert shown in terminal.getvalue()


@pytest.mark.parametrize(("stream", "quiet"), [(Terminal, True), (io.StringIO, False)])
def test_without_a_terminal_or_in_quiet_nothing_is_shown(monkeypatch, stream, quiet):
    # A variable that asks for colours makes no terminal.
    monkeypatch.setenv("FORCE_COLOR", "1")
    with redirect_stderr(stream()) as written, waiting("training", quiet), counting(quiet) as report:
        report("rows read", 3, 12)
    assert written.getvalue() == ""


def test_a_terminal_that_is_gone_costs_nothing():
    done = []
    with redirect_stderr(Gone()):
        with waiting("training"):
            done.append("a release that was paid for")
        with counting() as report:
            report("rows read", 3, 12)
            done.append("all rows")
    assert len(done) == 2


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run the program at a terminal; return what it showed there and what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["equipoise", *map(str, words)])
        with redirect_stderr(Terminal()) as terminal, pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code, terminal.getvalue()
        return terminal.getvalue(), capsys.readouterr().out

    return call


def table(rows: int) -> str:
    return "age,ill\n" + "".join(f"{20 + row % 60},{'yes' if row % 60 > 30 else 'no'}\n" for row in range(rows))


@pytest.mark.usefixtures("plain_page")
def test_commands_show_counts_of_rows_that_may_be_known_and_none_of_those_that_are_trained_on(run, tmp_path):
    (tmp_path / "rows.csv").write_text(table(300))
    (tmp_path / "schema.toml").write_text(SCHEMA.format(n=400))
    checked, _ = run("schema", "check", "rows.csv", "schema.toml")
    assert "300/400" in checked
    trained, said = run("train", "rows.csv", "--schema", "schema.toml", "--epsilon", 1)
    assert "training" in trained
    assert "released to release" in said
    # Neither how many rows there are, nor a share of anything: only how much time has passed.
    for telling in ("300", "%", "/"):
        assert telling not in trained
    predicted, _ = run("predict", "release", "rows.csv", "--out", "predictions.csv")
    assert "300/?" in predicted
    assert "checking" in run("verify", "release")[0]
    for words in (
        ("schema", "check", "rows.csv", "schema.toml"),
        ("verify", "release"),
        ("predict", "release", "rows.csv"),
    ):
        assert run(*words, "--json")[0] == ""


@pytest.mark.usefixtures("plain_page")
def test_whoever_asks_for_the_figures_of_an_evaluation_sees_that_they_are_computed(run, tmp_path):
    (tmp_path / "rows.csv").write_text(table(600))
    (tmp_path / "schema.toml").write_text(SCHEMA.format(n=600))
    run("train", "rows.csv", "--schema", "schema.toml", "--epsilon", 2, "--holdout", 0.5)
    # Where loops are not compiled it takes a minute.
    for words in (("figures", "evaluation"), ("card", "release", "--evaluation", "evaluation")):
        assert "computing figures" in run(*words)[0]
        assert run(*words, "--json")[0] == ""
    assert "checking" in run("verify", "evaluation")[0]
