"""Made-up populations of finitely many rows: the population risk of the hinge loss is a sum, not an estimate."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]

FLIPPED = 0.2


@dataclass(frozen=True)
class Population:
    """Rows of norm 1 times their labels, their probabilities, the weights' radius, and the least risk within it.

    The start is the origin and the minimiser lies at the radius, so that the radius is also the distance to go.
    """

    name: str
    rows: Array
    chances: Array
    radius: float
    least: float

    def risk(self, weights: Array) -> Array:
        """Return the population's hinge risk of each row of weights."""
        losses: Array = np.maximum(0.0, 1 - weights @ self.rows.T)
        return losses @ self.chances

    def draw(self, n_samples: int, draws: np.random.Generator) -> Array:
        """Return training rows, drawn independently."""
        return self.rows[draws.choice(len(self.rows), n_samples, p=self.chances)]


def few_columns(n_columns: int = 10, size: int = 1000, seed: int = 1) -> Population:
    """Return rows on the unit sphere, a fifth of the labels flipped; a linear program finds the minimiser.

    Examples
    --------
    >>> population = few_columns(3, 200)
    >>> population.rows.shape, bool(population.least < population.risk(np.zeros((1, 3)))[0])
    ((200, 3), True)
    """
    draws = np.random.default_rng(seed)
    rows = draws.standard_normal((size, n_columns))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.sign(rows @ draws.standard_normal(n_columns)) * np.where(draws.random(size) < FLIPPED, -1, 1)
    signed = rows * labels[:, None]
    # min mean(slack) with slack >= 1 - <w, row>, slack >= 0
    costs = np.concatenate([np.zeros(n_columns), np.full(size, 1 / size)])
    limits = np.hstack([-signed, -np.eye(size)])
    ranges = [(None, None)] * n_columns + [(0, None)] * size
    found = linprog(costs, limits, -np.ones(size), bounds=ranges, method="highs")
    radius = float(np.linalg.norm(found.x[:n_columns]))
    return Population("few columns", signed, np.full(size, 1 / size), radius, float(found.fun))


def a_column_each(n_columns: int) -> Population:
    """Return rows that each have a column of their own, a fifth of the labels flipped.

    Within the unit ball no margin reaches 1, so the risk is ``1 - (1 - 2 flipped) mean(w)`` and its least is at the
    weights ``1/sqrt(d)``. With as many columns as training rows a row tells little of the others: the hard case.

    Examples
    --------
    >>> population = a_column_each(4)
    >>> round(population.least, 3), round(float(population.risk(np.full((1, 4), 0.5))[0]), 3)
    (0.7, 0.7)
    """
    rows = np.vstack([np.eye(n_columns), -np.eye(n_columns)])
    chances = np.repeat([(1 - FLIPPED) / n_columns, FLIPPED / n_columns], n_columns)
    return Population("a column each", rows, chances, 1.0, 1 - (1 - 2 * FLIPPED) / math.sqrt(n_columns))
