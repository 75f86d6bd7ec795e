"""Theorems of Coq say what they said when their pages were read, and proofs/check refuses what is assumed."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
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
        ("Acceptance.A4_accepted", "Doubles.v", "Definition", 'Notation "x <= y" := (Rge x y).\nDefinition', True),
        ("Privacy.N3", "Privacy.v", "isMeasure.Build _ _ _ (joint nu K)", "isMeasure.Build _ _ _ (other nu K)", True),
    ],
)
def test_another_statement_or_definition_is_noticed_and_another_proof_is_not(
    tmp_path, theorem, file, old, new, noticed
):
    copy = altered(tmp_path, file, old, new)
    assert (digest_of(theorem, copy) != digest_of(theorem)) == noticed


LOADED = "From Equipoise Require Import Arithmetic InnerProduct.\n"
GRADIENTS = "Minimisers.A1_gradients"
THEOREM = "Corollary A1_gradients "
NOTHING = "Corollary A1_gradients : True.\nProof. exact I. Qed.\n"
SHADOW = " strongly_convex (R : realType) : Prop := False.\n"


def said_of(theorem: str, folder: Path) -> str:
    """Return the digest of what a theorem says, or at which line the file is refused."""
    try:
        return digest_of(theorem, folder)
    except ValueError as error:
        return f"refused at {error}"


@pytest.mark.parametrize(
    ("loads", "refused"),
    [
        ("From Equipoise Require Import Cheat.\n", False),
        ("From  Equipoise (* *) Require\nImport  Cheat.\n", False),
        ("From Coq Require Import Reals.\n", False),
        ("Require Import Equipoise.Cheat.\n", True),
        ("Require Equipoise.Cheat. Export Equipoise.Cheat.\n", True),
        ("From Equipoise Require Export Cheat.\n", True),
        ("From Equipoise Require Cheat. Import Cheat.\n", True),
        ("From Elsewhere Require Import Cheat.\n", True),
        ("Require Import Reals.\n", True),
    ],
)
def test_another_file_or_library_is_noticed_however_it_is_loaded(tmp_path, loads, refused):
    copy = altered(tmp_path, "Minimisers.v", LOADED, LOADED + loads)
    (copy / "Cheat.v").write_text('Notation "x <= y" := (True).\n')
    said = said_of(GRADIENTS, copy)
    assert (said != digest_of(GRADIENTS), said.startswith("refused at Minimisers.v:")) == (True, refused)


@pytest.mark.parametrize(
    "begins",
    [
        "Example",
        "Infix",
        "Program Definition",
        "Time Definition",
        "#[local]Definition",
        "#[local] Definition",
        "Local Definition",
        "Instance",
        "Abort.\nDefinition",
        "Section a. End a. Proof. exact I. Qed.\nDefinition",
        "Lemma a : True. exact I. Qed.\nDefinition",
        "Lemma a : True.\nProof. exact I. Definition",
        "Lemma a : True.\nProof. 1: { - Definition",
        "Definition a : True.\nProof. transparent_abstract (exact I) using strongly_convex. Defined.\nDefinition",
        'Inductive a : Prop := A : 0 <= 1 where "x <= y" := a.\nDefinition',
    ],
)
def test_a_sentence_that_begins_like_none_of_the_proofs_is_refused_with_its_line(tmp_path, begins):
    copy = altered(tmp_path, "Minimisers.v", "Section minimisers.", begins + SHADOW + "Section minimisers.")
    assert said_of(GRADIENTS, copy).startswith("refused at Minimisers.v:")


@pytest.mark.parametrize(
    "shadow",
    [
        "Definition strongly_convex := False.",
        "Fixpoint other n := n with strongly_convex (n : nat) := n.",
        "Inductive other := Other | strongly_convex.",
        "Structure other := Other { first : nat; strongly_convex : nat }.",
        "Notation strongly_convex := (fun _ => False).",
        "Canonical strongly_convex := Other.",
    ],
)
def test_another_meaning_of_a_word_before_a_theorem_is_noticed(tmp_path, shadow):
    copy = altered(tmp_path, "Minimisers.v", "Section minimisers.", shadow + "\nSection minimisers.")
    assert said_of(GRADIENTS, copy) != digest_of(GRADIENTS)


@pytest.mark.parametrize(
    ("theorem", "file", "old", "new"),
    [
        ("Privacy.N3", "Privacy.v", "Local Open Scope ereal_scope.", "Local Open Scope nat_scope."),
        (
            "Privacy.N3",
            "Privacy.v",
            SCOPES := "Local Open Scope ereal_scope.",
            SCOPES + " Local Close Scope ereal_scope.",
        ),
        ("Minimisers.A1", "Arithmetic.v", "Set Implicit Arguments.", ""),
        ("Minimisers.A1", "Minimisers.v", "Import Order.TTheory GRing.Theory", "Import GRing.Theory Order.TTheory"),
    ],
)
def test_what_decides_how_sentences_are_read_is_part_of_a_statement(tmp_path, theorem, file, old, new):
    assert said_of(theorem, altered(tmp_path, file, old, new)) != digest_of(theorem)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('(* " *)\n', '(* " *)\n(* "(*" *)\n' + NOTHING + '(* "*)" *)\n'),
        ("(*) .\n", '(* *) *)\n(* "(*" *)\n' + NOTHING + '(* "*)" *)\n'),
        ('(* """ *)\n', '(* """ *)\n' + NOTHING),
    ],
)
def test_what_coq_takes_for_a_comment_is_no_statement(tmp_path, before, after):
    text = (PROOFS / "Minimisers.v").read_text(encoding="utf-8")
    begin = text.index(THEOREM)
    proved = text[begin : text.index("Qed.\n", begin) + 5]
    copy = altered(tmp_path, "Minimisers.v", proved, before + proved + after)
    assert [each.text for each in coq_pins.sentences(copy / "Minimisers.v") if each.name == "A1_gradients"] == [
        "Corollary A1_gradients : True"
    ]
    assert digest_of(GRADIENTS, copy) != digest_of(GRADIENTS)


@pytest.mark.parametrize(
    "text", ["Section a.(* b *)", "Section a", '(* " *)', "(* (* *)", "Section a\u00a0b.", 'Section "a.']
)
def test_what_coq_may_read_in_another_way_is_refused(tmp_path, text):
    (tmp_path / "A1.v").write_text(f"\n{text}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^A1\.v:2: "):
        coq_pins.sentences(tmp_path / "A1.v")


def check(folder: Path, listed: str = "", limit: Sequence[str] = (), **files: str) -> tuple[int, str]:
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
    done = subprocess.run([*limit, CHECK, proofs], capture_output=True, text=True, timeout=300, check=False)
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
    "a theorem that is given up": {"A1": "Theorem A1 : 1 = 2.\nAbort.\nDefinition A1 := I.\n" + HONEST},
    "a theorem that fails": {"A1": "Fail Theorem A1 : 1 = true.\nDefinition A1 := I.\n" + HONEST},
    "a module": {"A1": "Module boolp. Hypothesis cheat : False. End boolp.\n" + HONEST},
}


def stand_in(place: Path, name: str, text: str) -> None:
    """Write a program that stands for one of Coq's."""
    (place / name).write_text(f"#!/bin/sh\n{text}\n")
    (place / name).chmod(0o755)


def test_without_coq_the_check_of_proofs_names_every_package_that_it_needs(tmp_path, monkeypatch):
    stand_in(tmp_path, "coqc", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    code, said = check(tmp_path, A1=HONEST)
    page = (coq_pins.ROOT / "docs" / "machine-checked.md").read_text(encoding="utf-8")
    packages = re.search(r"Debian's packages (.*?)\)", page)[1]
    assert (code, re.search(r"apt-get install (.*)", said)[1].split()) == (1, re.findall(r"`([\w-]+)`", packages))


def test_a_check_of_proofs_that_runs_out_of_time_says_so(tmp_path, monkeypatch):
    (tmp_path / "user-contrib" / "mathcomp" / "analysis").mkdir(parents=True)
    stand_in(tmp_path, "coqc", f"echo {tmp_path}")
    stand_in(tmp_path, "coqdep", "exec sleep 120")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    code, said = check(tmp_path, A1=HONEST, limit=["timeout", "1"])
    told = "Stopped before its end: make proofs allows 10 minutes, and a busy machine is the usual reason."
    assert (code, said.splitlines()[-1]) == (124, told)
    assert "timeout 600 proofs/check" in (coq_pins.ROOT / "Makefile").read_text(encoding="utf-8")


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
@pytest.mark.parametrize(
    "instead",
    [
        "(*\nTheorem honest : 1 = 2.\n*) Definition honest := I.\n",
        '(* " *)\nTheorem honest : 1 = 2.\nProof. Qed.\n(* " *) Notation honest := I.\n',
        "Definition honest : 1 = 1.\nProof. reflexivity. Qed.\n",
    ],
)
def test_the_check_of_proofs_takes_nothing_for_a_theorem_that_coq_does_not(tmp_path, instead):
    other = "Theorem other : 1 = 1.\nProof. reflexivity. Qed.\n"
    code, said = check(tmp_path, listed="A1.honest 0123456789ab\nA1.other 0123456789ab\n", A1=instead + other)
    assert (code, said) == (1, "Named in tests/coq_statements.txt and not stated: A1.honest\n")


@coq
def test_the_check_of_proofs_calls_proved_what_coq_calls_so(tmp_path):
    hidden = "(*\nTheorem fake : 1 = 2.\n*) Definition fake := I.\n"
    inline = "Section own. Variable n : nat. Theorem inside : n = n. Proof. reflexivity. Qed. End own.\n"
    code, said = check(tmp_path, listed="A1.inside 0123456789ab\n", A1=hidden + inline + HONEST)
    assert (code, "Proved: A1.honest\n" in said, "and 2 statements" in said) == (0, True, True), said


@coq
def test_the_check_of_proofs_notices_a_statement_that_was_deleted(tmp_path):
    code, said = check(tmp_path, listed="A1.honest 0123456789ab\nA1.deleted 0123456789ab\n", A1=HONEST)
    assert (code, said) == (1, "Named in tests/coq_statements.txt and not stated: A1.deleted\n")
