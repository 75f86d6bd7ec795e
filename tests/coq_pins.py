"""What theorems of Coq say: a digest of every statement that a page or the checker names, with all that it is made of.

A proof that compiles proves what is stated, whatever that is. So `tests/coq_statements.txt` has a line for every
theorem that `certify/standing.py`, docs/machine-checked.md or docs/proofs/README.md name::

    Minimisers.A1 0f3a9c1b2d4e

The digest is that of the sentence from `Theorem` to `Proof`, of the variables, hypotheses and notations of the sections
that it stands in, of the definitions and lemmas of proofs/ that occur in any of it, on and on (where tactics make a
definition, of these), and of every sentence that decides how others are read (imports, scopes, notations, options,
instances, tactics): those before it in its own file, and all of the files that it requires, in order. Comments and
white space, which are found as Coq finds them, do not count. A sentence that begins unlike those of proofs/ is refused:
what it does to others is not known here, and `FORMS` is short so that it stays known.

Where a digest changes, a test fails until somebody has read the statement beside its page and says so:
``python tests/coq_pins.py`` writes the digests of today and prints what changed.
`proofs/check` fails where a theorem of the list is not stated.
"""

import functools
import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from equipoise.certify import standing

ROOT = Path(__file__).parents[1]
PROOFS = ROOT / "proofs"
PINS = Path(__file__).parent / "coq_statements.txt"
NAME = r"[A-Za-z_][\w']*(?![\w'])"
STATED = ["Lemma", "Theorem", "Corollary"]
DEFINED = ["Definition", "Let", "Fixpoint", "Inductive", "Structure"]
# What a section has for itself, and what decides how the sentences after it are read, there or where it is required.
OWN = ["Variable", "Variables", "Hypothesis", "Hypotheses", "Context"]
NOTED = ["Notation", "Local Notation", "Implicit Types"]
OPTIONS = ["Set Implicit Arguments", "Unset Strict Implicit", "Unset Printing Implicit Defensive"]
READING = ["From", "Import", "Open Scope", "Local Open Scope", "Arguments", "Canonical", "HB.instance Definition"]
READING += ["#[local] Instance", "Add Field", "Ltac", *NOTED, *OPTIONS]
LIBRARY = r"(HB|mathcomp|mathcomp\.classical|mathcomp\.analysis|Coq|Flocq|Coquelicot) Require (Import|Export)"
# Every way in which a sentence may begin, and how it goes on: what proofs/ uses.
FORMS = {
    **dict.fromkeys([*OWN, *READING], " .+"),
    **dict.fromkeys([*STATED, *DEFINED], rf" (?P<name>{NAME}).*"),
    **dict.fromkeys(["Section", "End"], rf" {NAME}"),
    **dict.fromkeys(["Proof", *OPTIONS], ""),
    "From": rf" (Equipoise Require Import|{LIBRARY})( {NAME})+",
    "Notation": rf" ((?P<name>{NAME})|\").+",
}
# A tactic begins with a small letter, after bullets, braces and the number of a goal: commands do not. Those with
# "abstract" define something.
TACTIC = re.compile(r"(?!.*abstract)([-+*{} ]|[0-9]+:)*[a-z]", re.DOTALL)
# What is defined together with something else; constructors and fields.
TOGETHER = re.compile(rf"\bwith ({NAME})")
PARTS = re.compile(rf"(?:[|{{;]|:=|\bwith\b) *({NAME})")
BLANK = " \t\r\n"
TOKEN = re.compile(rf'\(\*|\*\)|"[^"]*"|(?P<end>\.(?=[{BLANK}]|\Z))|[{BLANK}]+|.', re.DOTALL)


class Sentence(NamedTuple):
    """A sentence of a file: how it begins, the names that it gives, its text, and what is to be read before it."""

    word: str
    name: str
    further: frozenset[str]
    text: str
    scope: tuple[str, ...]
    reading: tuple[str, ...]

    def whole(self) -> str:
        """Return the sentence after those of its sections, and a digest of what decides how it is read."""
        return "\n".join((digest(self.reading), *self.scope, self.text))


@functools.cache
def digest(texts: tuple[str, ...]) -> str:
    """Return the digest of texts in order."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def split(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a file and the lines where they begin, without comments, as Coq finds them.

    Comments may be nested, and are read for strings, which hide their ends: ``(* "*)" *)`` is one comment.

    Examples
    --------
    >>> list(split('Lemma a (* of (* "*)" *) A1 *) :  b.  Notation "x.  y" := c. '))
    [(1, 'Lemma a : b'), (1, 'Notation "x.  y" := c')]
    """
    parts: list[str] = []
    line, begins, depth = 1, 1, 0
    for token in TOKEN.finditer(text):
        part, before = token[0], text[token.start() - 1 : token.start()]
        # A quotation mark without another one; letters and blanks that Coq may tell apart in its own way; ".(".
        if part == '"' or not part.isascii() or part in "\f\v" or (part == "(*" and not depth and before.strip(BLANK)):
            raise ValueError(f"{line}: Coq may read {part!r} here in another way")
        comment = depth > 0 or part == "(*"
        begins = begins if parts else line
        depth += (part == "(*") - (depth > 0 and part == "*)")
        if token["end"] and not comment:
            yield begins, "".join(parts).strip()
            parts = []
        elif comment or part.strip(BLANK) == "":
            parts += [" "] * (parts[-1:] not in ([], [" "]))
        else:
            parts.append(part)
        line += part.count("\n")
    if depth or parts:
        raise ValueError(f"{begins}: a sentence or a comment does not end")


@functools.cache
def sentences(path: Path) -> tuple[Sentence, ...]:
    """Return what a file states and defines, in order, with the proofs that define, and what it hands on."""
    try:
        return tuple(_sentences(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path.name}:{error}") from error


def _sentences(source: str) -> list[Sentence]:
    found: list[Sentence] = []
    sections: list[list[str]] = [[]]
    reading: list[str] = []
    proof: list[str] | None = None
    word = ""
    for line, text in split(source):
        if proof is not None and TACTIC.match(text):
            proof.append(text)
            continue
        if proof is not None and text in ("Qed", "Defined"):
            # What it proves is said; what it defines is only said with it.
            if text == "Defined" or found[-1].word in DEFINED:
                found[-1] = found[-1]._replace(text=". ".join((found[-1].text, *proof, text)))
                sections[-1] += [found[-1].text] if found[-1].word == "Let" else []
            proof, word = None, text
            continue
        forms = ((word, re.fullmatch(re.escape(word) + rest, text, re.DOTALL)) for word, rest in FORMS.items())
        before, (word, form) = word, next(((word, form) for word, form in forms if form), ("", None))
        if proof is not None or form is None or (word == "Proof" and before not in STATED + DEFINED):
            raise ValueError(f"{line}: no sentence of proofs/ begins like {text[:60]!r}")
        if '"' in text and word not in NOTED:
            raise ValueError(f"{line}: a notation within another sentence")
        scope = tuple(each for own in sections for each in own)
        if word == "Proof":
            proof = [text]
        elif word == "Section":
            sections.append([])
        elif word == "End":
            sections.pop()
        elif word in STATED + DEFINED or form.groupdict().get("name"):
            further = frozenset((PARTS if word in ("Inductive", "Structure") else TOGETHER).findall(text))
            found.append(Sentence(word, form["name"], further, text, scope, tuple(reading)))
        if word in OWN + NOTED or word == "Let":
            sections[-1].append(text)
        if word in READING:
            reading.append(text)
    # What the file hands on.
    return [*found, Sentence("", "", frozenset(), "", (), tuple(reading))]


def read_by(path: Path) -> set[Path]:
    """Return a file and those of proofs/ that it requires, on and on."""
    found, waiting = set(), [path]
    while waiting:
        if (file := waiting.pop()) not in found:
            found.add(file)
            required = [each.split() for each in sentences(file)[-1].reading if each.startswith("From Equipoise ")]
            waiting += [file.with_name(f"{name}.v") for words in required for name in words[4:]]
    return found


@functools.cache
def defined_for(path: Path) -> dict[str, list[Sentence]]:
    """Return what a file can speak of, by name; what a section defines for itself is in its scope."""
    found: dict[str, list[Sentence]] = {}
    for file in sorted(read_by(path)):
        for each in sentences(file):
            for name in {each.name, *each.further} if each.word not in ("", "Let") else ():
                found.setdefault(name, []).append(each)
    return found


@functools.cache
def words_of(text: str) -> frozenset[str]:
    """Return the names that occur in a text."""
    return frozenset(re.findall(NAME, text))


def digest_of(theorem: str, folder: Path = PROOFS) -> str:
    """Return the digest of what a theorem says, `File.name`."""
    file, _, name = theorem.partition(".")
    path = folder / f"{file}.v"
    stated = next((each for each in sentences(path) if each.word in STATED and each.name == name), None)
    if stated is None:
        raise LookupError(f"proofs/{file}.v states no {name}")
    defined = defined_for(path)
    required = sorted(read_by(path) - {path})
    read: set[str] = set()
    before = [stated.reading, *(sentences(each)[-1].reading for each in required)]
    waiting = [stated.whole(), *("\n".join(each) for each in before)]
    while waiting:
        if (text := waiting.pop()) not in read:
            read.add(text)
            waiting += [each.whole() for word in words_of(text) for each in defined.get(word, ())]
    return digest((stated.text, *sorted(read)))[:12]


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
