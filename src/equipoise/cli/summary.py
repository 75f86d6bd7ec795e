"""A plan in a few lines, for the commands that make one; the whole argument is a word away."""

import math
from collections.abc import Iterator
from typing import Annotated

import typer

from equipoise.certify.certificate import Certificate
from equipoise.wording import one_line

Verbose = Annotated[bool, typer.Option("--verbose", help="Print the whole argument: every theorem, every check.")]

# Where the planner's sentence about accuracy stands among its notes.
COST = "What it costs"

# A modelled loss above this share of what could be learned is worth a line of its own.
MOST = 0.5


def told(certificate: Certificate, verbose: bool, most: int = 10) -> str:
    """Return the whole argument, or what somebody must know who does not want to read it, in at most so many lines."""
    return certificate.explain() if verbose else "\n".join(summary(certificate)[:most]) + "\n"


def summary(certificate: Certificate) -> tuple[str, ...]:
    """Return the claim, how it is met, what it costs and what it does not cover, in at most ten lines.

    Examples
    --------
    >>> import equipoise as eq
    >>> plan = eq.Ridge(epsilon=1.0, domain=eq.Domain(1.0, labels=(0, 1))).plan(5000, 4)
    >>> summary(plan)[0]
    'Claim (proved): (1, 0)-differential privacy for each of 5,000 rows, replace-one'
    """
    unit = f"each of {certificate.n_samples:,} {certificate.claim.unit}s"
    promise = f"({certificate.epsilon:.6g}, {certificate.delta:.6g})-differential privacy for {unit}"
    return (
        f"Claim ({certificate.grade}): {promise}, {certificate.adjacency}",
        *(f"  {word:<9} {one_line(line)}" for word, line in _lines(certificate)),
    )


def _lines(certificate: Certificate) -> Iterator[tuple[str, str]]:
    for line in certificate.notes.get("claim", ())[:2]:
        yield "released", line.removeprefix("Released: ").rstrip(".")
    scale = certificate.noise_scale
    noise = f"{certificate.mechanism} noise" + ("" if scale is None else f" of scale {scale:.4g}")
    yield "proof", f"{certificate.theorem}, {noise}"
    for title, lines in certificate.notes.get("sections", ()):
        if title == COST:
            yield "costs", _first_clause(lines[0])
    for line in certificate.assumptions[:2]:
        yield "assumed", line
    yield from (("mind", line) for line in _minded(certificate))


def _minded(certificate: Certificate) -> list[str]:
    """Return three things to mind: that nobody counts the spend is among them, whatever else there is."""
    from equipoise.planning.notes import NOT_RECORDED

    lines = [*_hidden(certificate), *map(_first_clause, certificate.caveats)]
    return lines[:3] if NOT_RECORDED not in lines[3:] else [*lines[:2], NOT_RECORDED]


def _first_clause(line: str) -> str:
    """Return what a sentence says before its first semicolon: the whole of it is a word away."""
    return line.partition("; ")[0]


def _hidden(certificate: Certificate) -> Iterator[str]:
    """Yield what to say of a plan whose noise leaves little to learn."""
    from equipoise.planning.mean_alone import SAID
    from equipoise.planning.notes import Notes

    cost = Notes.of(certificate).cost
    if MOST < cost < math.inf and SAID not in certificate.caveats:
        yield (
            f"noise would hide {min(99.9, 100 * cost):.3g}% of what could be learned: take a larger epsilon, more "
            "rows or fewer columns, or do not spend it"
        )
