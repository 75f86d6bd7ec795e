"""Numbers with proved errors, and what is found about an inequality between two of them.

A ball is an interval that contains a real number for certain: Arb's arithmetic, which rounds outwards. A recorded
number is a double and so a ball of radius 0.
"""

from typing import NamedTuple

from flint import arb, ctx

# Bits of every ball's centre: twenty digits are lost before a double's last one is.
PRECISION = 160
ctx.prec = PRECISION

INFINITY = arb.pos_inf()

HOLDS, EXCEEDS, OPEN = "holds", "exceeds", "not enclosed"

# What is said where two balls overlap, and narrower ones may tell.
CLOSE = "too close to tell"


class Undecided(ArithmeticError):  # noqa: N818 - named by what is wrong, as all errors of this house
    """Two balls overlap where a formula has to know which is larger, or a formula is not written in balls here."""


class Finding(NamedTuple):
    """What is known of one inequality: `verdict`, and how far apart its sides are, relative to the larger.

    `room` is a lower bound where the inequality holds and minus a lower bound of the excess where it does not.
    """

    claim: str
    verdict: str
    room: float = 0.0

    def __str__(self) -> str:
        """Return one line, without the verdict."""
        return self.claim if self.verdict == OPEN else f"{self.claim}, by {abs(self.room):.3g} (relative)"


def number(value: float | str) -> arb:
    """Return a recorded number, exactly; JSON's word for infinity is one.

    Examples
    --------
    >>> float(number(0.5) + number(1))
    1.5
    """
    return INFINITY if value == "infinity" else arb(value)


def certain(below: arb, above: arb) -> bool:
    """Return whether one number is at most another, where the balls tell; otherwise raise.

    Examples
    --------
    >>> certain(number(1), number(2)), certain(number(2).sqrt(), number(1))
    (True, False)
    """
    if below <= above:
        return True
    if below > above:
        return False
    raise Undecided(f"two numbers are {CLOSE} which is larger")


def smallest(*values: arb) -> arb:
    """Return the least of several balls; infinity counts for nothing."""
    finite = [value for value in values if value.is_finite()]
    found = finite[0] if finite else INFINITY
    for value in finite[1:]:
        found = found.min(value)
    return found


def largest(*values: arb) -> arb:
    """Return the largest of several finite balls."""
    found = values[0]
    for value in values[1:]:
        found = found.max(value)
    return found


def at_most(claim: str, found: arb, limit: arb) -> Finding:
    """Return what is known of ``found <= limit``: no rounding is granted.

    Examples
    --------
    >>> str(at_most("A1", number(1) / 3, number(0.5)))
    'A1, by 0.333 (relative)'
    >>> at_most("A1", number(1), number(0.5)).verdict
    'exceeds'
    """
    if found <= limit:
        return Finding(claim, HOLDS, _apart(found, limit))
    if found > limit:
        return Finding(claim, EXCEEDS, -_apart(limit, found))
    return Finding(f"{claim} ({CLOSE})", OPEN)


def _apart(less: arb, more: arb) -> float:
    if not more.is_finite() or more.is_zero():
        return 0.0
    return float(((more - less) / abs(more)).lower())
