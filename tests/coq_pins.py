"""What theorems of Coq say: a digest of every statement that a page or the checker names, with all that it is made of.

A proof that compiles proves what is stated, whatever that is. So `tests/coq_statements.txt` has a line for every
theorem that `certify/standing.py`, docs/machine-checked.md or docs/proofs/README.md name::

    Minimisers.A1 0f3a9c1b2d4e

The digest is that of the sentence from `Theorem` to `Proof`, of the variables, hypotheses and notations of the sections
that it stands in, of what the files that it requires hand on without a name (symbolic notations, scopes, instances,
tactics), and of the definitions and lemmas of proofs/ that occur in any of it, on and on; where tactics make a
definition, of these. Comments and white space do not count. Where it changes, a test fails until somebody has read the
statement beside its page and says so: ``python tests/coq_pins.py`` writes the digests of today and prints what changed.
`proofs/check` fails where a theorem of the list is not stated.
"""

import functools
import hashlib
import re
import sys
from pathlib import Path
from typing import NamedTuple

from equipoise.certify import standing

ROOT = Path(__file__).parents[1]
PROOFS = ROOT / "proofs"
PINS = Path(__file__).parent / "coq_statements.txt"
STATED = ["Theorem", "Corollary", "Lemma", "Fact", "Remark", "Proposition", "Property"]
DEFINED = [
    "Definition",
    "Fixpoint",
    "Record",
    "Structure",
    "Inductive",
    "CoInductive",
    "Variant",
    "Class",
    "Let",
    "Canonical",
    "Coercion",
]
SCOPE = [
    "Variable",
    "Variables",
    "Hypothesis",
    "Hypotheses",
    "Context",
    "Notation",
    "Implicit",
    "Open",
    "Infix",
    "Arguments",
    "Import",
]
# What whoever requires a file reads differently, whatever it is called.
HANDED_ON = [
    "Notation",
    "Infix",
    "Reserved",
    "Open",
    "Arguments",
    "Coercion",
    "Canonical",
    "HB.instance",
    "Existing",
    "Instance",
    "Ltac",
    "Tactic",
]
HANDS_ON = "handed on"
NAME = r"[A-Za-z_][\w']*"


class Sentence(NamedTuple):
    """A sentence of a file: its first word, the name that it gives, its text, and the sentences of its sections."""

    word: str
    name: str
    text: str
    scope: tuple[str, ...]


def without_comments(text: str) -> str:
    """Return the text of a file without comments, which may be nested.

    Examples
    --------
    >>> without_comments("Lemma a (* of (* page *) A1 *) : b.")
    'Lemma a  : b.'
    """
    kept, depth, place = [], 0, 0
    while place < len(text):
        if text.startswith("(*", place) and not text.startswith("(*)", place):
            depth, place = depth + 1, place + 2
        elif depth and text.startswith("*)", place):
            depth, place = depth - 1, place + 2
        else:
            kept += [text[place]] * (depth == 0)
            place += 1
    return "".join(kept)


@functools.cache
def sentences(path: Path) -> tuple[Sentence, ...]:
    """Return what a file states, defines, hands on and assumes in order; of proofs, those that define."""
    found: list[Sentence] = []
    sections: list[list[str]] = [[]]
    proof: list[str] | None = None
    for part in re.split(r"\.(?=\s|$)", without_comments(path.read_text(encoding="utf-8"))):
        text = " ".join(part.split())
        bare = re.sub(r"^((Local|Global|#\[[^\]]*\])\s+)+", "", text)
        prefix = text.removesuffix(bare).lower()
        word, _, rest = bare.partition(" ")
        if word == "Proof" or proof is not None:
            # Proofs of one sentence: "Proof. by []. Qed." are three.
            proof = [*(proof or []), text]
            if word in ("Qed", "Defined", "Abort"):
                # What it proves is said; what it defines is only said with it.
                if found and (word == "Defined" or found[-1].word in DEFINED):
                    found[-1] = found[-1]._replace(text=". ".join((found[-1].text, *proof)))
                    sections[-1] += [found[-1].text] if found[-1].word == "Let" else []
                proof = None
            continue
        if word in ("Qed", "Defined"):
            raise ValueError(f"{path.name}: what ends before {bare!r} does not begin with Proof")
        if word == "Section":
            sections.append([])
        elif word == "End":
            sections.pop()
        elif word in STATED + DEFINED:
            name = re.match(rf"\(?({NAME})", rest)
            found.append(Sentence(word, name[1] if name else "", text, tuple(line for own in sections for line in own)))
            # What a section defines for itself is part of what its theorems say.
            sections[-1] += [text] if word == "Let" else []
        elif word in SCOPE:
            sections[-1].append(text)
            if word == "Notation" and (name := re.match(rf"({NAME})", rest)):
                found.append(Sentence(word, name[1], text, ()))
        stays = len(sections) == 1 or prefix or word in ("Canonical", "Coercion", "HB.instance")
        if word in HANDED_ON and "local" not in prefix and stays:
            found.append(Sentence(HANDS_ON, "", text, ()))
    return tuple(found)


def read_by(path: Path) -> set[Path]:
    """Return a file and those of proofs/ that it requires, on and on."""
    found, waiting = set(), [path]
    while waiting:
        if (file := waiting.pop()) not in found:
            found.add(file)
            required = re.findall(
                r"From Equipoise Require (?:Import |Export )?([\w\s]+)\.", file.read_text(encoding="utf-8")
            )
            waiting += [file.with_name(f"{name}.v") for names in required for name in names.split()]
    return found


@functools.cache
def defined_for(path: Path) -> dict[str, list[Sentence]]:
    """Return what a file can speak of, by name; what a section defines for itself is in its scope."""
    found: dict[str, list[Sentence]] = {}
    for file in sorted(read_by(path)):
        for each in sentences(file):
            if each.word not in ("Let", HANDS_ON):
                found.setdefault(each.name, []).append(each)
    return found


def digest_of(theorem: str, folder: Path = PROOFS) -> str:
    """Return the digest of what a theorem says, `File.name`."""
    file, _, name = theorem.partition(".")
    path = folder / f"{file}.v"
    stated = next((each for each in sentences(path) if each.word in STATED and each.name == name), None)
    if stated is None:
        raise LookupError(f"proofs/{file}.v states no {name}")
    defined = defined_for(path)
    read: set[str] = set()
    waiting = [stated.text, *stated.scope]
    waiting += [each.text for file in read_by(path) for each in sentences(file) if each.word == HANDS_ON]
    while waiting:
        if (text := waiting.pop()) not in read:
            read.add(text)
            known = [each for word in set(re.findall(NAME, text)) for each in defined.get(word, ())]
            waiting += [part for each in known for part in (each.text, *each.scope)]
    return hashlib.sha256("\n".join([stated.text, *sorted(read)]).encode()).hexdigest()[:12]


def named() -> list[str]:
    """Return every theorem that the checker, or a page about proofs, names."""
    every = [(path, each) for path in sorted(PROOFS.glob("*.v")) for each in sentences(path)]
    stated = {f"{path.stem}.{each.name}" for path, each in every if each.word in STATED}
    page = (ROOT / "docs" / "machine-checked.md").read_text(encoding="utf-8")
    words = set(re.findall(rf"`({NAME})`", page))
    rows = (ROOT / "docs" / "proofs" / "README.md").read_text(encoding="utf-8")
    linked = {f"{file}.{name}" for name, file in re.findall(rf"\[({NAME})\]\(\.\./\.\./proofs/(\w+)\.v\)", rows)}
    listed = {theorem for theorem in stated if theorem.split(".")[1] in words}
    return sorted(listed | linked | set(standing.MACHINE_CHECKED.values()))


def pinned() -> dict[str, str]:
    """Return the digests that were written down."""
    return dict(line.split() for line in PINS.read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    before = pinned() if PINS.exists() else {}
    after = {theorem: digest_of(theorem) for theorem in named()}
    PINS.write_text("".join(f"{theorem} {digest}\n" for theorem, digest in after.items()), encoding="utf-8")
    changed = [theorem for theorem in sorted({*before, *after}) if before.get(theorem) != after.get(theorem)]
    sys.stdout.write(f"Read beside their pages: {', '.join(changed) or 'nothing changed'}\n")
