"""docs/machine-checked.md and proofs/ name the same theorems; Coq itself is asked by `make proofs`."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "machine-checked.md").read_text()
STATED = re.compile(r"^(Theorem|Corollary|Lemma) ([\w']+)", flags=re.MULTILINE)


def stated() -> dict[str, str]:
    """Return what Coq files state: the name, and whether it is a theorem or a lemma."""
    return {name: kind for file in (ROOT / "proofs").glob("*.v") for kind, name in STATED.findall(file.read_text())}


def test_every_name_in_the_table_is_stated_in_coq():
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.startswith("| [")]
    named = [name for row in rows for name in re.findall(r"`([\w']+)`", row[2])]
    assert len(named) > 20
    assert not set(named) - set(stated())


def test_every_theorem_of_coq_is_on_the_page():
    theorems = {name for name, kind in stated().items() if kind != "Lemma"}
    assert not {name for name in theorems if f"`{name}`" not in PAGE}


def test_the_tables_of_all_three_chains_name_code_and_a_witness_that_is_a_test():
    tests = {
        name for file in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", file.read_text())
    }
    tables = PAGE.partition("## Theorem by theorem")[2].partition("## What the machine found")[0]
    last = [line.removesuffix(" |").rpartition(" | ")[2] for line in tables.splitlines() if line.startswith("| [")]
    assert len(last) > 50
    without = [cell for cell in last if not re.search(r"; (`test_\w+`|the same)", cell)]
    assert not without
    assert not {name for cell in last for name in re.findall(r"`(test_\w+)`", cell)} - tests
    code = {path for cell in last for path in re.findall(r"`([\w/]+(?:\.py|/))`", cell)}
    assert [path for path in code if not (ROOT / "src" / "equipoise" / path).exists()] == []


def test_no_proof_is_left_out():
    words = re.compile(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b")
    for file in (ROOT / "proofs").glob("*.v"):
        assert not words.search(file.read_text()), file
        assert file.name in (ROOT / "proofs" / "_CoqProject").read_text()
