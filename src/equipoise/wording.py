"""Numbers and sentences for people, from plain numbers: no claim rests on them, and no check.

This file ships with equipoise-verify, too.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, Context
from typing import Any, Protocol

# A table of another n has other public facts, from which another plan follows: no theorem here compares the two.
ADD_OR_REMOVE = "Neighbours by add-or-remove, with another n: nothing is claimed about them."

# Of what a machine has checked: rounding is not in it, and the page has what is.
MACHINE = " over the reals (docs/machine-checked.md)"


def class_text(label: object) -> str:
    """Return a class as texts have it: truth values in small letters, as schemas and JSON write them.

    Examples
    --------
    >>> class_text(True), class_text("True"), class_text(2)
    ('true', 'True', '2')
    """
    return str(label).lower() if isinstance(label, bool) else str(label)


def percent(share: float) -> str:
    """Return a share in percent, rounded up, small ones to more digits: no more is promised than is proved.

    Examples
    --------
    >>> percent(0.5), percent(0.731058), percent(0.0271), percent(0.002718)
    ('50 %', '73.2 %', '2.71 %', '0.272 %')
    """
    digits = 1 if share >= 0.1 else 2 if share >= 0.01 else 3
    return f"{min(math.ceil(share * 100 * 10**digits * (1 - 1e-12)) / 10**digits, 100):g} %"


def four_digits(value: float) -> str:
    """Return a number in at most four digits, rounded up: for what is proved to be no larger.

    Examples
    --------
    >>> four_digits(0.5), four_digits(0.26801), four_digits(1e-06)
    ('0.5', '0.2681', '1e-06')
    """
    return f"{float(Context(4, ROUND_CEILING).create_decimal_from_float(value)):.4g}"


def gains_in_words(
    unit: str, guess: float, true_positive_rates: Sequence[tuple[float, float]], advantage: float, mu: float | None
) -> Iterator[str]:
    """Yield what an attacker gains at most (N7); a unit is a row or a person."""
    yield f"An attacker knows two candidate {unit}s, one of which was in the table, and all the rest of the table."
    yield f"Both being equally likely beforehand, the right one is named in at most {percent(guess)} of cases,"
    yield "by whichever method; by a coin in 50 %."
    yield "To name the first where it was the second is a false positive, where it was the first a true one."
    for false, true in true_positive_rates:
        yield f"With false positives in {percent(false)} of cases, true ones are at most {percent(true)}."
    yield f"Advantage, the true positive rate less the false one: at most {percent(advantage)}."
    if mu is not None:
        yield f"No easier to tell than two normal laws of deviation 1 whose means are mu = {four_digits(mu)} apart."


def standing_in_words(theorems: Mapping[str, str]) -> Iterator[str]:
    """Yield how theorems are known, a line for each way, the best known first.

    A machine has checked theorems about real numbers: where their rounding is proved the page says that is cited.

    Examples
    --------
    >>> list(standing_in_words({"A2": "proved on paper", "A1": "machine-checked", "B1": "machine-checked"}))
    ['machine-checked over the reals (docs/machine-checked.md): A1, B1', 'proved on paper: A2']
    """
    for known, more in (("machine-checked", MACHINE), ("proved on paper", ""), ("cited", "")):
        names = [name for name, how in theorems.items() if how == known]
        if names:
            yield f"{known}{more}: {', '.join(names)}"


class Told(Protocol):
    """What is said of a certificate as it stands."""

    @property
    def epsilon(self) -> float:
        """That of the whole release."""

    @property
    def delta(self) -> float:
        """That of the whole release."""

    @property
    def grade(self) -> str:
        """Whether it is proved or conditional."""

    @property
    def adjacency(self) -> str:
        """What neighbours are called."""

    @property
    def n_samples(self) -> int:
        """The public number of rows, or of persons."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What makes it conditional."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """What else to keep in mind."""


def one_line(text: str) -> str:
    """Return recorded text with blanks for line breaks and controls, behind which it could look like our own words."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def explained(
    told: Told,
    unit: str,
    amiss: tuple[str, ...],
    checked: Sequence[tuple[str, bool]],
    released: tuple[str, ...],
    gains: Mapping[str, Any],
    theorems: Mapping[str, str],
    noted: tuple[str, ...],
    sections: Sequence[tuple[str, tuple[str, ...]]],
) -> str:
    """Return a claim in plain words, what the planner noted, and everything that was checked.

    `amiss` is what `verify` finds; `gains` and `theorems` are empty where there is anything. `noted` and
    `sections` are the file's own words, and titles of the latter are marked as such: a file could call a section as the
    checker calls what it found. Names of columns are recorded, too, so that no line has a break of its own.
    """
    kind = "pure" if told.delta == 0 else "approximate"
    grade = "does not hold" if amiss else told.grade
    head = f"Claim ({grade}): ({told.epsilon:.6g}, {told.delta:.6g})-{kind} differential privacy"
    replaced = "one row is" if unit == "row" else "all rows of one person are"
    about = f"Neighbours: {told.adjacency}; n = {told.n_samples} is public and {replaced} replaced."
    condition = ", if the assumptions hold" * bool(told.assumptions)
    parts = (
        (head, (about, ADD_OR_REMOVE, *noted)),
        ("What does not follow", amiss),
        (f"What an attacker gains, at most{condition}", tuple(gains_in_words(unit, **gains)) if gains else ()),
        *((f"{title} (noted, not checked)", lines) for title, lines in sections),
        ("Released on the way, and paid for", released),
        ("Checked", tuple(f"{'yes' if holds else 'NO '} {claim}" for claim, holds in checked)),
        ("Theorems that it rests on", tuple(standing_in_words(theorems))),
        ("Assumptions that make it conditional", told.assumptions),
        ("What to keep in mind", told.caveats),
    )
    return "\n\n".join("\n  ".join(map(one_line, (title, *lines))) for title, lines in parts if lines) + "\n"


def of_type(value: object) -> str:
    """Return what something is, by the name of its type, with the article that goes before it.

    Examples
    --------
    >>> of_type(0.5), of_type(object())
    ('a float', 'an object')
    """
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
