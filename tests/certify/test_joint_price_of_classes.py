"""Page E2's smaller sum for several classes: densities of random and optimised pairs of rows never exceed it.

No claim rests on the formula. Here it is attacked without its proof: the density of the private point u is computed as
it stands, ``f(-T(u)) |det DT(u)|``, for both datasets, with common rows and a ball that may bind.
"""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

pytestmark = pytest.mark.statistics

ROOT = math.sqrt(2)


def joint(classes: int, scale: float, ridge: float) -> float:
    """Return the formula's maximum for rows of norm 1, over a grid of g that holds it to 1e-9."""
    pull = np.linspace(0, ROOT, 200_001)
    trace = np.minimum(1 - 1 / classes, np.maximum(2 - pull**2, 0))
    return float(np.max((pull + ROOT) / scale + (classes - 1) * np.log1p(trace / ((classes - 1) * ridge))))


def free_basis(classes: int) -> np.ndarray:
    """Return an orthonormal basis of the vectors that sum to 0, a row each."""
    centred = np.eye(classes) - 1 / classes
    return np.linalg.svd(centred)[0][:, : classes - 1].T


def ratio(u: np.ndarray, radius: float, rows: list, pair: list, scale: float, ridge: float, basis: np.ndarray) -> float:
    """Return the log ratio of the densities of u (free outputs by columns) on the two datasets.

    ``T(u) = sum_i g_i(Pi(u)) + ridge u`` with ridge for n alpha; the Jacobian is ``ridge I + (sum_i H_i) DPi(u)``.
    """
    norm, size = np.linalg.norm(u), u.size
    inside = norm <= radius
    point = u if inside else u * (radius / norm)
    flat = u.ravel() / norm
    projection = np.eye(size) if inside else (radius / norm) * (np.eye(size) - np.outer(flat, flat))

    def part(row: np.ndarray, label: int) -> tuple[np.ndarray, np.ndarray]:
        chances = softmax(basis.T @ (point @ row))
        slope = basis @ (chances - np.eye(len(chances))[label])
        bend = basis @ (np.diag(chances) - np.outer(chances, chances)) @ basis.T
        return np.outer(slope, row), np.kron(bend, np.outer(row, row))

    gradient, curved = ridge * u, ridge * np.eye(size)
    for row, label in rows:
        first, second = part(row, label)
        gradient, curved = gradient + first, curved + second @ projection
    logs = []
    for row, label in pair:
        first, second = part(row, label)
        logs.append(-np.linalg.norm(gradient + first) / scale + np.linalg.slogdet(curved + second @ projection)[1])
    return float(logs[0] - logs[1])


def clipped(row: np.ndarray) -> np.ndarray:
    return row / max(1.0, float(np.linalg.norm(row)))


@pytest.mark.parametrize("classes", range(3, 11))
def test_random_pairs_of_rows_stay_below_the_joint_price(classes):
    generator, basis = np.random.default_rng(classes), free_basis(classes)
    reached = 0.0
    for _ in range(1_500):
        columns = int(generator.integers(1, 4))
        scale, ridge = 10 ** generator.uniform(-1.5, 1.5), 10 ** generator.uniform(-3, 2)
        u = generator.normal(size=(classes - 1, columns)) * 10 ** generator.uniform(-1, 2)
        rows = [
            (clipped(generator.normal(size=columns)), int(generator.integers(classes)))
            for _ in range(generator.integers(4))
        ]
        pair = [(clipped(2 * generator.normal(size=columns)), int(generator.integers(classes))) for _ in range(2)]
        radius = 10 ** generator.uniform(-1, 3)
        found = ratio(u, radius, rows, pair, scale, ridge, basis)
        reached = max(reached, found / joint(classes, scale, ridge))
    assert reached <= 1 + 1e-9


@pytest.mark.parametrize("classes", range(3, 11))
def test_optimised_pairs_of_rows_reach_the_joint_price_and_do_not_exceed_it(classes):
    """The worst pair is searched with the tilt far out, where norms differ by all of the gradients' difference."""
    generator = np.random.default_rng(100 + classes)
    reached = 0.0
    for _ in range(30):
        columns = int(generator.integers(1, 4))
        scale, ridge = 10 ** generator.uniform(-1.5, 1.5), 10 ** generator.uniform(-3, 2)
        labels = generator.integers(classes, size=2)

        def cost(free: np.ndarray, columns=columns, scale=scale, ridge=ridge, labels=labels) -> float:
            weights = free[: classes * columns].reshape(classes, columns)
            rows = [clipped(row) for row in free[classes * columns :].reshape(2, columns)]
            chances = [softmax(weights @ row) for row in rows]
            slopes = [np.outer(p - np.eye(classes)[k], row) for p, k, row in zip(chances, labels, rows, strict=True)]
            bends = [
                np.log1p(np.linalg.eigvalsh(np.diag(p) - np.outer(p, p)).clip(0) * (row @ row) / ridge).sum()
                for p, row in zip(chances, rows, strict=True)
            ]
            return -float(np.linalg.norm(slopes[0] - slopes[1]) / scale + bends[0] - bends[1])

        start = generator.normal(size=(classes + 2) * columns)
        start[: classes * columns] *= 10 ** generator.uniform(-1, 1.5)
        found = minimize(cost, start, method="BFGS", options={"maxiter": 120})
        reached = max(reached, -min(found.fun, cost(start)) / joint(classes, scale, ridge))
    assert 0.98 < reached <= 1 + 1e-9
