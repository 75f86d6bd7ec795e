"""docs/proofs/README.md lists every statement, and a page stays with the code that it proves."""

import re
import subprocess
from pathlib import Path

import pytest

import equipoise as eq
import proof_pins
from equipoise.artifact import shipped
from equipoise.certify import standing
from equipoise.certify.theorems.base import Theorem
from equipoise.planning import comparisons
from equipoise.vocabulary.discovery import discover
from handbook import witnesses
from stored_certificates import STORED

ROOT = Path(__file__).parents[1]
PROOFS = ROOT / "docs" / "proofs"
PAGES = sorted(path for path in PROOFS.glob("*.md") if path.name != "README.md")
ROW = re.compile(r"^\| ([^|]+) \| (.+?) \| (\w+) \| (.*?) ?\| (.*?) ?\| (.*?) ?\|$", flags=re.MULTILINE)
STATUS = {"proved", "attained", "comparison", "refuted", "cited", "measured", "open"}


def entries() -> dict[str, tuple[str, ...]]:
    """Return the rows of the catalogue by their ids: statement, status, page, code, test."""
    rows = [row for row in ROW.findall((PROOFS / "README.md").read_text()) if row[0] != "Id"]
    found = {row[0]: row[1:] for row in rows}
    assert len(found) == len(rows), "one row for an id"
    return found


ENTRIES = entries()


def test_every_row_of_the_catalogue_is_complete():
    assert len(ENTRIES) > 90
    for name, (statement, status, page, code, test) in ENTRIES.items():
        assert statement, name
        assert status in STATUS, name
        # What nobody proved has no page, no code and no test, and nothing may rest on it.
        assert bool(page) == bool(code) == bool(test) == (status not in {"cited", "open"}), name


@pytest.mark.parametrize("name", [name for name, row in ENTRIES.items() if row[3]])
def test_what_a_row_names_exists(name):
    _, _, page, code, test = ENTRIES[name]
    linked = re.findall(r"\(([^)]*)\)", page)
    assert linked
    assert all((PROOFS / link).is_file() for link in linked)
    code, test = code.strip("`"), test.strip("`")
    assert (ROOT / code).exists() or (ROOT / "src" / "equipoise" / code).exists()
    assert (ROOT / "tests" / test).is_file()


def test_everything_that_is_called_attained_names_the_test_that_shows_it():
    listed = witnesses.ROW.findall((PROOFS / "README.md").read_text())
    names = [name for name, *_ in listed]
    assert len(set(names)) == len(names)
    assert {name for name, row in ENTRIES.items() if row[1] == "attained"} <= set(names) <= set(ENTRIES)
    for name, file, test, picture in listed:
        written = re.search(rf"^def {test}\((.*)\):$", (ROOT / "tests" / file).read_text(), re.MULTILINE)
        assert written is not None, name
        # What is drawn is what the test notes.
        assert ("witness" in written[1].split(", ")) == (not picture.startswith("none: ")), name


def test_the_catalogue_says_which_pages_have_a_picture():
    catalogue = (PROOFS / "README.md").read_text()
    pictures = witnesses.listed(catalogue)
    pages = {name for name, picture in pictures.items() if picture == witnesses.DRAWN}
    assert all((PROOFS / f"{name}.md").is_file() for name in pages)
    for name, picture in pictures.items():
        found = re.fullmatch(r"drawn|none: \S.*|on \[([\w.-]+)\]\(\1\.md\)", picture)
        assert found, name
        assert found[1] in {None, *pages}, name
        if picture == witnesses.DRAWN:
            assert f"({name}.md)" in ENTRIES[name][2], name
    assert f"draws below {len(pages)} proofs" in catalogue


def test_every_page_is_in_the_catalogue():
    listed = {target for row in ENTRIES.values() for target in re.findall(r"\(([^)/]+)\.md\)", row[2])}
    # A member gets its row with the version that ships it.
    coming = shipped.members()["theorem"] - set(shipped.SHIPPED["theorem"].split())
    assert {page.stem for page in PAGES} - coming == listed


def test_what_claims_name_is_proved_and_what_is_compared_is_not_named():
    stored = [eq.Certificate.from_json(path.read_text()) for path in STORED]
    named = {node.theorem for certificate in stored for node in certificate.claim.nodes()}
    certifying = {*shipped.SHIPPED["theorem"].split(), *(part for name in named for part in name.split("+") if part)}
    assert len(certifying) > 30
    assert {name for name in certifying if ENTRIES[name][1] not in {"proved", "attained"}} == set()
    compared = set(discover(comparisons.__name__, Theorem))
    assert compared
    assert {name for name in compared if ENTRIES[name][1] not in {"comparison", "refuted"}} == set()
    assert not compared & certifying


def test_every_id_that_code_and_pages_cite_is_in_the_catalogue():
    known = set(ENTRIES)
    cited = re.compile(r"\((?:docs/proofs/)?([A-HJ-NPQ][1-9]\d?[a-d]?)(?:, ([A-HJ-NPQ][1-9]\d?[a-d]?))*\)")
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "studies" / "src").rglob("*.py"), *PAGES]:
        names = {name for match in cited.finditer(path.read_text()) for name in match.groups() if name}
        assert names <= known, path


def proved_in_coq() -> set[str]:
    """Return what proofs/check reads from the files, compiles and asks Coq about, with the files' names."""
    stated = re.compile(r"^(?:Theorem|Corollary) ([\w']+)", flags=re.MULTILINE)
    files = (ROOT / "proofs").glob("*.v")
    return {f"{file.stem}.{name}" for file in files for name in stated.findall(file.read_text())}


def coq(name: str, how: str) -> list[str]:
    """Return the theorems of proofs/ that a row links to after a word, as the checker's table writes them."""
    links = re.search(rf", {how} (\[.*)$", ENTRIES[name][2])
    found = re.findall(r"\[([\w']+)\]\(\.\./\.\./proofs/(\w+)\.v\)", links[1] if links else "")
    return [f"{file}.{theorem}" for theorem, file in found]


def test_what_the_checker_calls_machine_checked_is_a_theorem_of_coq_that_the_catalogue_links_to():
    assert {name: coq(name, "Coq") for name in ENTRIES if coq(name, "Coq")} == {
        name: [theorem] for name, theorem in standing.MACHINE_CHECKED.items()
    }
    # `make proofs` compiles these, prints their names and asks Coq for their assumptions.
    linked = {theorem for name in ENTRIES for how in ("Coq", "in part") for theorem in coq(name, how)}
    assert linked <= proved_in_coq()
    # A theorem of Coq that bears an id is linked to by its row, as a whole or in part.
    names = {theorem.split(".")[1].split("_")[0] for theorem in proved_in_coq()}
    partly = {name for name in ENTRIES if coq(name, "in part")}
    assert names & set(ENTRIES) <= partly | set(standing.MACHINE_CHECKED)
    assert not partly & set(standing.MACHINE_CHECKED)
    # A page on which the machine has something to say is a row with a link.
    said = re.findall(r"^\| ((?:\[[^|]*)+) \|", (ROOT / "docs" / "machine-checked.md").read_text(), re.MULTILINE)
    assert {name for cell in said for name in re.findall(r"\[([^\]]+)\]", cell)} == partly | set(
        standing.MACHINE_CHECKED
    )


def test_the_checker_knows_how_every_theorem_is_known_that_a_claim_may_rest_on():
    stored = [eq.Certificate.from_json(path.read_text()) for path in STORED]
    named = {name for certificate in stored for name in certificate.theorems()}
    resting = {*shipped.SHIPPED["theorem"].split(), *named}
    known = {*standing.MACHINE_CHECKED, *standing.ON_PAPER.split()}
    assert resting == known
    assert len(known) == len(standing.MACHINE_CHECKED) + len(standing.ON_PAPER.split()), "one word for a theorem"
    # In the catalogue's words; what it only cites, the checker has no proof of.
    assert {name for name in known if ENTRIES[name][1] not in {"proved", "attained"}} == set()
    assert {standing.standing(name) for name, row in ENTRIES.items() if row[1] in {"cited", "open"}} == {"cited"}


@pytest.mark.parametrize("page", ["machine-checked.md", "proofs/README.md"])
def test_pages_count_what_is_known_and_how(page):
    text = " ".join((ROOT / "docs" / page).read_text().split())
    counts = re.search(
        r"Of the (\d+) (?:theorems )?that a claim may rest on, (\d+) are machine-checked.*?(\d+) are proved on paper"
        r".*?\b(\d+) of (?:which|them).*?\b(\d+) are cited",
        text,
    )
    partly = sum(bool(coq(name, "in part")) for name in ENTRIES)
    by_machine, on_paper = len(standing.MACHINE_CHECKED), len(standing.ON_PAPER.split())
    assert [int(count) for count in counts.groups()] == [by_machine + on_paper, by_machine, on_paper, partly, 0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_was_read_since_its_code_last_changed(page):
    pins = proof_pins.PIN.findall(page.read_text())
    assert pins, f"{page.name} names no code that it is about"
    changed = [name for name, digest in pins if proof_pins.digest_of(name) != digest]
    assert not changed, f"read {page.name} beside {changed}, then: python tests/proof_pins.py {page.stem}"


READING = "def bound(n):\n    return MOST / _rows(n)\nMOST = {}\ndef _rows(n):\n    return n + LESS\nLESS = {}\n"


def test_a_pin_notices_code_and_not_prose(tmp_path, monkeypatch):
    package = tmp_path / "src" / "equipoise"
    package.mkdir(parents=True)
    monkeypatch.setattr(proof_pins, "SOURCES", (package,))
    digests = []
    for number, text in enumerate(
        [
            'def bound(n):\n    """Say."""\n    return 2 / n\n',
            'def bound(n):\n    """Say more."""\n    # why\n    return  2 / n\n',
            'def bound(n):\n    """Say."""\n    return 1 / n\n',
            *(READING.format(most, less) for most, less in ((2, 0), (3, 0), (2, 1))),
        ]
    ):
        (package / f"file{number}.py").write_text(text)
        digests.append(proof_pins.digest_of(f"file{number}.bound"))
    assert digests[0] == digests[1]
    # A constant that is read, or one that a function reads that is called, is code too.
    assert len(set(digests)) == len(digests) - 1


def test_there_is_no_other_catalogue():
    # The planners' own names for what became docs/proofs/README.md and CONTRIBUTING.md.
    names = re.compile("|".join(("THEO" + "REMS", "DES" + "IGN")))
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S607
    tracked = [ROOT / name for name in listed.stdout.splitlines()]
    texts = [path for path in tracked if path.suffix in {".py", ".md", ".toml", ".json", ".yaml"} and path.is_file()]
    assert len(texts) > 300
    assert not [path for path in texts if names.search(path.read_text())]
