"""The audit of Algorithm 2 as printed, where its sensitivity is exactly how far a row moves the elastic net."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from equipoise.lab.auditing import Finding, audit
from equipoise.lab.estimate import Estimate
from equipoise_studies.frame import Session
from equipoise_studies.stability_enhanced_privacy import printed
from equipoise_studies.stability_enhanced_privacy.noises import spherical
from equipoise_studies.stability_enhanced_privacy.preparation import COLUMNS, Array

EPSILON = 1.0
RUNS, QUICK_RUNS = 20_000, 4_000
DRAWS = 400_000
# Linear losses <z, w>, which attain A1, and rows so long that the two mistakes of the bound cancel: kappa = 4 n.
N_ROWS, STRENGTH = 10, 0.1
LONGEST = 4.0 * N_ROWS
CONFIDENCE = 0.95


def elastic_net(rows: Array) -> Array:
    """Return the minimiser of ``mean <z, w> + lambda (gamma |w|^2 + eta |w|_1)``: a soft threshold of the mean row."""
    mean = rows.mean(0)
    shrunk = np.sign(mean) * np.maximum(0.0, np.abs(mean) - STRENGTH * printed.ETA)
    return np.asarray(-shrunk / (2 * STRENGTH * printed.GAMMA))


def neighbours() -> tuple[Array, Array]:
    """Return the minimisers on two tables: all rows lie along the diagonal, and one of them is turned round.

    Examples
    --------
    >>> one, other = neighbours()
    >>> moved = float(np.linalg.norm(one - other))
    >>> round(moved, 6), round(printed.sensitivity(STRENGTH, N_ROWS, LONGEST), 6)
    (47.058824, 47.058824)
    """
    rows = np.full((N_ROWS, COLUMNS), LONGEST / math.sqrt(COLUMNS))
    turned = rows.copy()
    turned[0] *= -1
    return elastic_net(rows), elastic_net(turned)


@dataclass(frozen=True)
class Audits:
    """What audits found: of the printed mechanism, of the repaired one, and the simulated delta of the printed one."""

    as_printed: Finding
    repaired: Finding
    delta: Estimate


def audits(session: Session) -> Audits:
    """Audit both mechanisms at the same sensitivity, with the statistic that tells the neighbours apart best."""
    one, other = neighbours()
    scale = printed.sensitivity(STRENGTH, N_ROWS, LONGEST) / EPSILON
    stream = np.random.default_rng((9, 2))
    runs = QUICK_RUNS if session.quick else RUNS

    def independent(weights: Array) -> Callable[[], Array]:
        return lambda: weights + printed.noise(stream, weights.shape, scale)

    def joint(weights: Array) -> Callable[[], Array]:
        return lambda: weights + spherical(stream, (1, *weights.shape), scale)[0]

    def told(order: float) -> Callable[[Array], float]:
        return lambda found: float(np.linalg.norm(found - other, order) - np.linalg.norm(found - one, order))

    def told_progress(name: str) -> Callable[[int, int], None]:
        return lambda done, total: session.report(name, done, total) if done % 1000 == 0 or done == total else None

    def one_audit(name: str, release: Callable[[Array], Callable[[], Array]], order: float) -> Finding:
        return audit(
            release(one), release(other), claimed=EPSILON, statistic=told(order), runs=runs,
            progress=told_progress(name),
        )  # fmt: skip

    return Audits(
        one_audit("auditing, as printed", independent, 1),
        one_audit("auditing, repaired", joint, 2),
        simulated_delta(stream, one - other, scale),
    )


def simulated_delta(stream: np.random.Generator, shift: Array, scale: float, draws: int = DRAWS) -> Estimate:
    """Return delta at epsilon = 1 of independent Laplace noise under a shift: ``E max(0, 1 - exp(1 - loss))``."""
    total = np.zeros(draws)
    # One coordinate at a time: 32 columns of draws at once would take memory for nothing.
    for step in shift:
        noise = stream.laplace(scale=scale, size=draws)
        total += (np.abs(noise + step) - np.abs(noise)) / scale
    values = np.maximum(0.0, -np.expm1(EPSILON - total))
    value, error = float(values.mean()), float(values.std() / math.sqrt(draws))
    return Estimate(value, value - 1.96 * error, value + 1.96 * error, CONFIDENCE)
