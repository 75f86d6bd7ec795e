"""The Renyi divergence of a Gaussian tilt (N5), against quadrature of tilted minimisers on the line."""

import math

import numpy as np
import pytest

import equipoise as eq
from equipoise.certify.theorems.perturbation import in_ball
from equipoise.ledger.prices import divergence_of_tilt
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Problem

ALPHA, ROWS, RADIUS = 0.5, 3, 24.0


def quadrature(row: float, other: float, scale: float, order: float) -> float:
    """Return the divergence of ``argmin sum log(1 + exp(-a w)) + n alpha w^2 / 2 + b w`` for one row replaced."""
    weights = np.linspace(-RADIUS, RADIUS, 40001)

    def density(rows: list[float]) -> np.ndarray:
        pulls = [1 / (1 + np.exp(each * weights)) for each in rows]
        gradient = sum(-each * pull for each, pull in zip(rows, pulls, strict=True)) + ROWS * ALPHA * weights
        curvature = sum(each**2 * pull * (1 - pull) for each, pull in zip(rows, pulls, strict=True)) + ROWS * ALPHA
        return np.exp(-((gradient / scale) ** 2) / 2) / (scale * math.sqrt(2 * math.pi)) * curvature

    here, there = density([row, 1.0, -0.5]), density([other, 1.0, -0.5])
    assert np.trapezoid(here, weights) == pytest.approx(1.0, abs=1e-6)
    return math.log(np.trapezoid(here * (here / there) ** (order - 1), weights)) / (order - 1)


@pytest.mark.parametrize("order", [8.0, 30.0])
def test_no_pair_of_rows_exceeds_the_divergence_and_a_quarter_of_the_noise_is_found_out(order):
    problem = Problem(losses.named("logistic"), penalties.named("l2", ALPHA), eq.Domain(1.0, classes=(0, 1)))
    where = in_ball(problem, RADIUS, 1e-6, ROWS, 1)
    scale = 2.0 if order < 20 else 4.0
    bound = divergence_of_tilt(where, scale, order).amount
    found = max(
        quadrature(row, other, scale, order) for row in (1.0, -1.0) for other in (1.0, 0.0, -1.0) if row != other
    )
    assert found <= bound
    # The corners' number and the determinant's price are what is lost.
    assert divergence_of_tilt(where, 4 * scale, order).amount < found
    assert found > 0.1 * bound
