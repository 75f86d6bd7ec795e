"""A plan in a few lines, for the commands that make one; the whole argument is a word away."""

from collections.abc import Iterator
from typing import Annotated

import typer

from equipoise.certify.certificate import Certificate

Verbose = Annotated[bool, typer.Option("--verbose", help="Print the whole argument: every theorem, every check.")]

# Where the planner's sentence about accuracy stands among its notes.
COST = "What it costs"


def told(certificate: Certificate, verbose: bool) -> str:
    """Return the whole argument, or what somebody must know who does not want to read it."""
    return certificate.explain() if verbose else "\n".join(summary(certificate)) + "\n"


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
        *(f"  {word:<9} {line}" for word, line in _lines(certificate)),
    )


def _lines(certificate: Certificate) -> Iterator[tuple[str, str]]:
    for line in certificate.notes.get("claim", ())[:2]:
        yield "released", line.removeprefix("Released: ").rstrip(".")
    scale = certificate.noise_scale
    noise = f"{certificate.mechanism} noise" + ("" if scale is None else f" of scale {scale:.4g}")
    yield "proof", f"{certificate.theorem}, {noise}"
    for title, lines in certificate.notes.get("sections", ()):
        if title == COST:
            yield "costs", lines[0]
    for line in certificate.assumptions[:2]:
        yield "assumed", line
    for line in certificate.caveats[:3]:
        yield "mind", line
