"""The pages of the documentation travel with the program, and every page that a text cites is there."""

import io
import json
import re
import zipfile
from contextlib import redirect_stdout

import pytest

from empty_environment import ROOT, wheel_of
from equipoise.cli.docs import command, pages_by_topic, topic_of
from program import run_program

CITED = re.compile(r"docs/[\w./-]*\w")


def citations() -> dict[str, str]:
    """Return every page that a source file cites, with that file's name; docs/proofs/<id>.md cites the folder."""
    found = {}
    for folder in (ROOT / "src", ROOT / "studies" / "src"):
        for path in folder.rglob("*"):
            if path.suffix in (".py", ".sql", ".js", ".toml"):
                found |= dict.fromkeys(CITED.findall(path.read_text("utf-8")), path.name)
    return found


def test_every_page_that_a_text_cites_is_found_as_it_is_cited():
    pages, cited = pages_by_topic(), citations()
    assert len(cited) > 40
    for text in cited:
        topic_of(text, pages)


def test_a_page_is_printed_as_it_was_written():
    text = (ROOT / "docs" / "mechanisms.md").read_text()
    for name in ("mechanisms", "docs/mechanisms.md", "Mechanisms.md", "docs/mechanisms.md#rows-of-few-entries"):
        assert run_program("docs", name).stdout == text
    assert run_program("docs", "B9.heavy-ball").stdout == (ROOT / "docs" / "proofs" / "B9.heavy-ball.md").read_text()
    assert run_program("docs", "docs/proofs").stdout == (ROOT / "docs" / "proofs" / "README.md").read_text()
    assert json.loads(run_program("docs", "A2", "--json").stdout)["topic"] == "proofs/A2"


class Terminal(io.StringIO):
    """What says that it is one."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_page_that_is_set():
    with redirect_stdout(Terminal()) as terminal:
        command("sgd")
    shown = terminal.getvalue()
    assert not any(line.startswith(("# ", "|")) for line in shown.splitlines())
    assert len(shown) > 1000


def test_the_list_names_every_page():
    listed = run_program("docs").stdout
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "proofs").glob("*.md")]
    assert len(listed.splitlines()) == len(pages)
    assert re.search(r"^ledger +The ledger", listed, re.MULTILINE | re.IGNORECASE)
    assert set(json.loads(run_program("docs", "--json").stdout)) == set(pages_by_topic())
    assert all(title for title in json.loads(run_program("docs", "--json").stdout).values())


@pytest.mark.parametrize(("asked", "said"), [("mechanism", "mechanisms"), ("A22", "proofs/A2"), ("zzz", "lists them")])
def test_an_unknown_page_is_refused_with_those_like_it(asked, said):
    done = run_program("docs", asked)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_the_wheel_brings_the_pages(tmp_path):
    with zipfile.ZipFile(wheel_of(ROOT, tmp_path)) as wheel:
        names = set(wheel.namelist())
    for path in [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "proofs").glob("*.md")]:
        assert f"equipoise/docs/{path.relative_to(ROOT / 'docs').as_posix()}" in names
