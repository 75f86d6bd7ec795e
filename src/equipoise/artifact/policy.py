"""A site's policy: what a release may cost at most, and what must be shown for it, in a file of ten lines."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from equipoise.artifact.toml_file import read_toml
from equipoise.certify.certificate import Certificate
from equipoise.errors import InvalidParameter

GRADES = ("proved", "conditional")

# An export alone shows nothing: anybody can write one.
LEDGER_SHOWN = "pass --ledger, or --export with --witness and --witness-key"

# TOML has numbers beyond doubles, infinity, and what is no number.
LARGEST_LIMIT = 1e300


@dataclass(frozen=True, slots=True)
class Shown:
    """What was shown for a release: a signature that counts, a ledger that paid for it, a page that is its own."""

    signature: bool = False
    ledger: bool = False
    page: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """A site's limits; None, and False, is no limit.

    Examples
    --------
    >>> import equipoise as eq
    >>> plan = eq.Ridge(epsilon=2.0, domain=eq.Domain(1.0, labels=(0, 1))).plan(5000, 4)
    >>> list(Policy(largest_epsilon=1.0, signature=True).faults(plan, Shown()))
    ['largest_epsilon: 1, and the release has 2', 'signature: required, and none was shown: pass --key or --trust']
    """

    largest_epsilon: float | None = None
    largest_delta: float | None = None
    largest_advantage: float | None = None
    grade: str | None = None
    signature: bool = False
    ledger: bool = False
    page: bool = False

    def faults(self, certificate: Certificate, shown: Shown) -> Iterator[str]:
        """Yield one line for every limit that a release exceeds, named as in the file."""
        found = {
            "largest_epsilon": certificate.epsilon,
            "largest_delta": certificate.delta,
            "largest_advantage": advantage(certificate) if self.largest_advantage is not None else 0.0,
        }
        for name, number in found.items():
            limit = getattr(self, name)
            # What is no number is beyond every limit.
            if limit is not None and not number <= limit:
                yield f"{name}: {limit:g}, and the release has {number:.6g}"
        if self.grade is not None and GRADES.index(certificate.grade) > GRADES.index(self.grade):
            yield f"grade: {self.grade}, and the release is {certificate.grade}"
        ways = {"signature": "pass --key or --trust", "ledger": LEDGER_SHOWN, "page": "see above"}
        for name, way in ways.items():
            if getattr(self, name) and not getattr(shown, name):
                yield f"{name}: required, and none was shown: {way}"


def advantage(certificate: Certificate) -> float:
    """Return by how much an attacker's true positive rate can exceed the false one, whatever the attack (J3).

    It is the distance of the two laws of what is released: the curve's delta at epsilon 0, or what the claim's own
    epsilon and delta leave, which is less where the curve says nothing there.

    Examples
    --------
    >>> import equipoise as eq
    >>> plan = eq.Ridge(epsilon=1.0, domain=eq.Domain(1.0, labels=(0, 1)), mechanism="output").plan(5000, 4)
    >>> advantage(plan) <= 0.4622
    True
    """
    # What plans is loaded only where a policy asks.
    from equipoise.planning.risk import total_variation

    return min(total_variation(certificate.epsilon, certificate.delta), certificate.curve().delta(0.0))


def read_policy(path: Path) -> Policy:
    """Return the policy in a TOML file; refuse a key that is unknown or of another type, and a file without any."""
    hints = get_type_hints(Policy)
    asked = f"a policy {path.name}"
    remedy = f"write some of {', '.join(hints)}, each once (docs/release.md)"
    record = read_toml(path, asked, remedy)
    if not record:
        raise InvalidParameter(asked, "no limit at all", remedy)
    for name, value in record.items():
        if name not in hints or not _fits(name, value, get_args(hints[name]) or (hints[name],)):
            # Of tables within tables, which may be deeper than Python writes, the outermost are shown.
            raise InvalidParameter(asked, f"{name!r:.60} = {reprlib.repr(value):.60}", remedy)
    return Policy(**record)


def _fits(name: str, value: Any, kinds: tuple[type, ...]) -> bool:
    """Return whether a value can be what a key says: a number from 0 on, a grade, or whether something is required."""
    if float in kinds:
        return type(value) in (int, float) and 0 <= value <= LARGEST_LIMIT
    return value in GRADES if name == "grade" else type(value) is bool
