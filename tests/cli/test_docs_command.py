"""The pages of the documentation travel with the program, and every page that a text cites is there."""

import io
import json
import posixpath
import re
import zipfile
from contextlib import redirect_stdout

import pytest

from empty_environment import ROOT, wheel_of
from equipoise.certify.certificate import Certificate
from equipoise.certify.standing import MACHINE_CHECKED, ON_PAPER
from equipoise.cli.docs import command, other_files, pages_by_topic, texts_of
from program import run_program
from stored_certificates import STORED

# A page, with the mark of a section; other texts by their place in the repository, or by the name of a root page.
CITED = re.compile(
    r"docs/[\w./-]*\w(?:#[\w-]+)?|examples/[\w/]+\.py|(?<![\w/])(?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md"
)
# Where a wheel has the pages, and what they link to.
PAGES = "equipoise/documents/"
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")


def citations() -> set[str]:
    """Return every page that a source file cites; docs/proofs/<id>.md cites the folder."""
    found = set()
    for folder in (ROOT / "src", ROOT / "studies" / "src", ROOT / "verify"):
        for path in folder.rglob("*"):
            if path.suffix in (".py", ".sql", ".js", ".toml"):
                found |= set(CITED.findall(path.read_text("utf-8")))
    return found


def test_every_page_that_a_text_cites_is_found_as_it_is_cited():
    cited = citations()
    assert len(cited) > 60
    assert {"CONTRIBUTING.md", "examples/bagging.py", "docs/mechanisms.md"} <= cited
    for text in sorted(cited):
        assert all(texts_of(text.rstrip("/")).values()), text


def test_every_theorem_that_a_certificate_or_explain_names_has_its_page():
    named, explained = {*MACHINE_CHECKED, *ON_PAPER.split()}, {}
    for path in STORED:
        certificate = Certificate.from_json(path.read_text())
        theorems = {found for node in certificate.claim.nodes() if (found := getattr(node, "theorem", ""))}
        named |= theorems
        explained[certificate.theorem] = certificate
    for theorem, certificate in explained.items():
        named |= {theorem, *CITED.findall(certificate.explain())}
    assert {"E2+E4", "A2+A4", "B9.heavy-ball", "docs/mechanisms.md"} <= named
    for text in sorted(named):
        assert len(texts_of(text)) == text.count("+") + 1, text


@pytest.mark.parametrize(
    ("cited", "topics"),
    [
        ("E2+E4", ["proofs/E2", "proofs/E4"]),
        ("N4-sets", ["proofs/N4-sets"]),
        ("docs/proofs/A1.md", ["proofs/A1"]),
        ("../proofs/A1.md#statement", ["proofs/A1"]),
        ("by-hand", ["by-hand"]),
        ("proofs/README", ["proofs"]),
        ("README", ["README.md"]),
        ("../../proofs/Privacy.v", ["proofs/Privacy.v"]),
        ("income.py", ["examples/gallery/income.py"]),
        ("schema/adult.toml", ["docs/schema/adult.toml"]),
        ("../src/equipoise/certify/standing.py", ["src/equipoise/certify/standing.py"]),
    ],
)
def test_a_citation_is_taken_as_it_stands(cited, topics):
    assert list(texts_of(cited)) == topics


def test_a_mark_prints_its_section_and_several_theorems_their_pages():
    whole = (ROOT / "docs" / "mechanisms.md").read_text()
    part = run_program("docs", "docs/mechanisms.md#rows-of-few-entries").stdout
    assert part.splitlines()[0].endswith("Rows of few entries")
    assert part in whole
    assert 5 < len(part.splitlines()) < len(whole.splitlines()) / 3
    both = run_program("docs", "A2+A4").stdout
    assert both == "".join((ROOT / "docs" / "proofs" / f"{name}.md").read_text() for name in ("A2", "A4"))
    assert [page["topic"] for page in json.loads(run_program("docs", "A2+A4", "--json").stdout)] == [
        "proofs/A2",
        "proofs/A4",
    ]


def test_a_page_is_printed_as_it_was_written():
    text = (ROOT / "docs" / "mechanisms.md").read_text()
    for name in ("mechanisms", "docs/mechanisms.md", "Mechanisms.md", "../mechanisms.md"):
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


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("mechanism", "mechanisms"),
        ("A22", "proofs/A2"),
        ("E2+A22", "proofs/A2"),
        ("Privcy.v", "proofs/Privacy.v"),
        ("mechanisms#long-table", "mechanisms#long-tables"),
        ("sgd#zzz", "equipoise docs sgd prints the whole page"),
        ("Lemma R", "proofs/A2"),
        ("zzz", "lists them"),
        ("", "lists them"),
    ],
)
def test_an_unknown_page_is_refused_with_those_like_it(asked, said):
    done = run_program("docs", asked)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> dict[str, str]:
    """Return the texts of a wheel of this repository, by the places that they have in the repository."""
    with zipfile.ZipFile(wheel_of(ROOT, tmp_path_factory.mktemp("wheel"))) as packed:
        names = [name for name in packed.namelist() if name.startswith("equipoise/")]
        own = {name: f"src/{name}" for name in names} | {
            name: name.removeprefix(PAGES) for name in names if PAGES in name
        }
        return {own[name]: packed.read(name).decode("utf-8") for name in names}


def test_the_wheel_brings_every_file_of_the_package(wheel):
    files = {path for path in (ROOT / "src" / "equipoise").rglob("*.*") if "__pycache__" not in path.parts}
    assert len(files) > 300
    assert {path.relative_to(ROOT).as_posix() for path in files if path.is_file()} <= wheel.keys()


def test_the_wheel_brings_the_pages_and_all_that_they_link_to(wheel):
    paths = [*pages_by_topic().values(), *other_files().values()]
    assert {path.relative_to(ROOT).as_posix() for path in paths} <= wheel.keys()
    # And nothing that a tool left behind.
    endings = {posixpath.splitext(name)[1] for name in wheel if not name.startswith("src/")}
    assert endings == {".md", ".py", ".toml", ".v", ".svg", ""}


def test_no_link_of_a_page_in_the_wheel_points_to_nothing(wheel):
    folders = {parent for name in wheel for parent in _parents(name)}
    dangling, followed = [], 0
    for name, text in wheel.items():
        if not name.endswith(".md"):
            continue
        for link in LINK.findall(re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)):
            target, _, mark = link.partition("#")
            place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else name
            followed += 1
            if place not in wheel and place not in folders:
                dangling.append((name, link))
            elif mark and place.endswith(".md"):
                assert texts_of(f"{place}#{mark}"), (name, link)
    assert followed > 800
    assert dangling == []


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]
