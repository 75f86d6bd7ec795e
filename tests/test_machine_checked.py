"""docs/machine-checked.md and proofs/ name the same theorems; Coq itself is asked by `make proofs`."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "machine-checked.md").read_text()
STATED = re.compile(r"^(Theorem|Corollary|Lemma) ([\w']+)", flags=re.MULTILINE)


# A cell that ends with a file below tests/ and tests that stand in it.
WITNESS = re.compile(r"; `([\w/]+\.py)`((?:, `test_\w+`)+)$")
LINK = re.compile(r"\[`([^`]+)`\]\(\.\./([^)]+)\)")


def stated() -> dict[str, str]:
    """Return what Coq files state: the name, and whether it is a theorem or a lemma."""
    return {name: kind for file in (ROOT / "proofs").glob("*.v") for kind, name in STATED.findall(file.read_text())}


def test_every_name_in_the_table_is_stated_in_coq():
    cells = [line.split(" | ")[2] for line in PAGE.splitlines() if line.startswith("| [")]
    linked = [found for cell in cells for found in LINK.findall(cell)]
    assert len(linked) > 150
    # Nothing is named without a link to the file that states it.
    assert [cell for cell in cells if not LINK.search(cell) or "`" in LINK.sub("", cell)] == []
    assert [(name, file) for name, file in linked if name not in stated_in(ROOT / file)] == []


def stated_in(file: Path) -> set[str]:
    """Return what one Coq file states."""
    return {name for _, name in STATED.findall(file.read_text())}


def test_every_theorem_of_coq_is_on_the_page():
    theorems = {name for name, kind in stated().items() if kind != "Lemma"}
    assert not {name for name in theorems if f"`{name}`" not in PAGE}


def test_the_tables_of_all_three_chains_name_code_and_a_witness_that_is_a_test():
    tables = PAGE.partition("## Theorem by theorem")[2].partition("## What the machine found")[0]
    last = [line.removesuffix(" |").rpartition(" | ")[2] for line in tables.splitlines() if line.startswith("| [")]
    assert len(last) > 50
    assert [cell for cell in last if not (WITNESS.search(cell) or cell.endswith("; the same"))] == []
    for file, named in (found.groups() for cell in last if (found := WITNESS.search(cell))):
        tests = set(re.findall(r"def (test_\w+)", (ROOT / "tests" / file).read_text()))
        assert set(re.findall(r"test_\w+", named)) <= tests
    linked = [found for cell in last for found in LINK.findall(cell)]
    assert len(linked) > 60
    for name, place in linked:
        path = ROOT / place
        if "/" in name:
            assert path == ROOT / "src" / "equipoise" / name
            assert path.exists()
        else:
            own = name.rpartition(".")[2]
            assert re.search(rf"^ *((class|def) {own}\b|{own}\b.* = )", path.read_text(), re.MULTILINE), (name, place)


def test_no_proof_is_left_out():
    words = re.compile(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b")
    for file in (ROOT / "proofs").glob("*.v"):
        assert not words.search(file.read_text()), file
        assert file.name in (ROOT / "proofs" / "_CoqProject").read_text()
