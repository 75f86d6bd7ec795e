"""Theorems of Coq say what they said when their pages were read, and proofs/check refuses what is assumed."""

import shutil
import subprocess
from pathlib import Path

import pytest

import coq_pins
from coq_pins import PROOFS, digest_of

CHECK = PROOFS / "check"
HONEST = "Theorem honest : 1 = 1.\nProof. reflexivity. Qed.\n"


def test_every_theorem_that_a_page_names_says_what_it_said_when_the_page_was_read():
    said = {theorem: digest_of(theorem) for theorem in coq_pins.named()}
    remedy = "read the statement beside its page, then run: python tests/coq_pins.py"
    assert {*said} == {*coq_pins.pinned()}, remedy
    assert {name: digest for name, digest in said.items() if digest != coq_pins.pinned()[name]} == {}, remedy


# Definitions that tactics make, and others in their place: of noise that is always 0, say.
DRAWN = ("(fun y => drawn (scores ^~ y))) => [y|E mE]; first", "(fun y => dirac 0)) => [y|E mE]; first")
FURTHER = ("lattice_law s0' (histogram (bin p.1) S))) => [p|E mE]", "dirac (histogram (bin p.1) S))) => [p|E mE]")
CHOSEN = ("(fun y => choice_law (scores ^~ y))) => [y|E _]", "(fun y => dirac 0)) => [y|E _]")
CHEATS = 'Notation "x <= y" := (True : Prop).\nSection'


def altered(folder: Path, file: str, old: str, new: str) -> Path:
    """Return a copy of the proofs with other words in one place."""
    copy = shutil.copytree(PROOFS, folder / "proofs")
    text = (copy / file).read_text(encoding="utf-8")
    assert old in text
    (copy / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    return copy


@pytest.mark.parametrize(
    ("theorem", "file", "old", "new", "noticed"),
    [
        ("Minimisers.A1", "Minimisers.v", "norm (w - w') <= 2 * rho / (n%:R * mu).", "True.", True),
        ("Minimisers.A1", "Minimisers.v", "Definition objective n", "Definition objective (_ : True) n", True),
        ("Minimisers.A1", "InnerProduct.v", "Definition norm", "Definition norm (_ : True)", True),
        ("Descents.B1", "Descents.v", "Hypotheses (beta0 : 0 <= beta)", "Hypotheses (beta0 : False)", True),
        ("Descents.B1", "Gradients.v", "Definition shrinkage beta", "Definition shrinkage' beta", False),
        ("Descents.B1", "Descents.v", "(* After T steps. *)", "(* After all steps. *)", False),
        ("Descents.B1", "Descents.v", "move=> [i same] once Tkm small top0 below", "move=> h", False),
        ("Choice.E5_chunks", "Maximum.v", *DRAWN, True),
        ("Choice.E5_chunks", "Choice.v", *CHOSEN, True),
        ("Discrete.N4", "Discrete.v", *FURTHER, True),
        # What a file hands on without a name.
        ("Minimisers.A1", "Arithmetic.v", "Section", CHEATS, True),
        ("Acceptance.A4_accepted", "Doubles.v", "Definition", 'Infix "<=" := Rge.\nDefinition', True),
        ("Privacy.N3", "Privacy.v", "isMeasure.Build _ _ _ (joint nu K)", "isMeasure.Build _ _ _ (other nu K)", True),
    ],
)
def test_another_statement_or_definition_is_noticed_and_another_proof_is_not(
    tmp_path, theorem, file, old, new, noticed
):
    copy = altered(tmp_path, file, old, new)
    assert (digest_of(theorem, copy) != digest_of(theorem)) == noticed


def test_what_ends_without_a_beginning_is_no_definition_that_anybody_reads(tmp_path):
    path = tmp_path / "A1.v"
    path.write_text("Definition drawn : nat. exact 0. Defined.\n")
    with pytest.raises(ValueError, match="does not begin with Proof"):
        coq_pins.sentences(path)


def check(folder: Path, listed: str = "", **files: str) -> tuple[int, str]:
    """Return how proofs/check ends on a folder of tiny files whose pages name what is listed, and what it says."""
    proofs = folder / "proofs"
    (folder / "tests").mkdir()
    (folder / "tests" / "coq_statements.txt").write_text(listed)
    for name, text in files.items():
        path = proofs / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".v").write_text(text)
    named = [f"{name}.v" for name in files if "__" not in name]
    (proofs / "_CoqProject").write_text("\n".join(["-R . Equipoise", *named, ""]))
    done = subprocess.run([CHECK, proofs], capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout + done.stderr


def installed() -> bool:
    """Return whether Coq is here with the library that proofs/check asks for."""
    if (compiler := shutil.which("coqc")) is None or shutil.which("coqchk") is None:
        return False
    where = subprocess.run([compiler, "-where"], capture_output=True, text=True, check=True).stdout.strip()
    return (Path(where) / "user-contrib" / "mathcomp" / "analysis").is_dir()


coq = pytest.mark.skipif(not installed(), reason="Coq is not installed")
CHEAT = "Hypothesis cheat : False.\n"
PLANTED = {
    "an axiom with a library's name": {
        "boolp": "Hypothesis propositional_extensionality : False.\n",
        "A1": "From Equipoise Require boolp.\nTheorem A1 : 1 = 2.\n"
        "Proof. destruct boolp.propositional_extensionality. Qed.\n",
    },
    "a fact": {"A1": CHEAT + "Fact A1 : 1 = 2.\nProof. destruct cheat. Qed.\n" + HONEST},
    "an indented theorem": {"A1": CHEAT + "  Theorem A1 : 1 = 2.\nProof. destruct cheat. Qed.\n" + HONEST},
    "a hypothesis that nothing uses": {"A1": CHEAT + HONEST},
    "a context": {"A1": "Context (cheat : False).\n" + HONEST},
}
REFUSED = {
    "a file that is loaded": {
        "A1": 'Load "hidden/g".\nTheorem A1 : 1 = 2.\nProof. destruct (loop 0). Qed.\n',
        "hidden__g": "Unset Guard Checking.\nFixpoint loop (n : nat) : False := loop n.\n",
    },
    "a recursion without an end": {
        "A1": "Unset Guard Checking.\nFixpoint loop (n : nat) : False := loop n.\n" + HONEST
    },
    "an attribute": {"A1": "#[bypass_check(guard)] Fixpoint loop (n : nat) : False := loop n.\n" + HONEST},
    "a module": {"A1": "Module boolp. Hypothesis cheat : False. End boolp.\n" + HONEST},
}


@coq
def test_the_check_of_proofs_passes_where_nothing_is_assumed(tmp_path):
    code, said = check(
        tmp_path, A1=f"Section own.\n{CHEAT}Lemma inside : 1 = 2.\nProof. destruct cheat. Qed.\nEnd own.\n{HONEST}"
    )
    assert code == 0, said
    assert "Proved: A1.honest" in said
    assert "Closed under the global context" in said


@coq
@pytest.mark.parametrize("planted", PLANTED)
def test_the_check_of_proofs_refuses_what_is_assumed(tmp_path, planted):
    code, said = check(tmp_path, **PLANTED[planted])
    assert (code, "assumed and not proved" in said) == (1, True), said


@coq
@pytest.mark.parametrize("refused", REFUSED)
def test_the_check_of_proofs_refuses_what_it_does_not_follow(tmp_path, refused):
    code, said = check(tmp_path, **REFUSED[refused])
    assert (code, "is in proofs/" in said or "does not follow" in said) == (1, True), said


@coq
def test_the_check_of_proofs_notices_a_statement_that_was_deleted(tmp_path):
    code, said = check(tmp_path, listed="A1.honest 0123456789ab\nA1.deleted 0123456789ab\n", A1=HONEST)
    assert (code, said) == (1, "Named in tests/coq_statements.txt and not stated: A1.deleted\n")
