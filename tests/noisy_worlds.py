"""Simulated worlds: rows of a known population, counted with noise of a known law."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from equipoise.evaluation.histogram import NoisyCounts

BINS = 20
EDGES = tuple(np.linspace(0.0, 1.0, BINS + 1)[1:-1].tolist())


@dataclass(frozen=True)
class Cell:
    """A cell of the grid: rows, budget (discrete Laplace noise of scale 2 / epsilon) and share of class 1."""

    n: int
    epsilon: float
    prevalence: float

    @property
    def chances(self) -> NDArray[np.float64]:
        """Classes x bins: two normal populations of scores, 1.5 deviations apart, through a logistic function."""
        margins = 0.8 * np.log(np.array(EDGES) / (1.0 - np.array(EDGES))) + 0.6
        laws = [np.diff(np.r_[0.0, norm.cdf(margins - shift), 1.0]) for shift in (0.0, 1.5)]
        return np.stack([(1.0 - self.prevalence) * laws[0], self.prevalence * laws[1]])

    @property
    def events(self) -> float:
        """Expected rows of class 1."""
        return self.n * self.prevalence

    @property
    def template(self) -> NoisyCounts:
        """The histogram of a world of which only the public facts matter."""
        return NoisyCounts(EDGES, np.zeros((1, 2, BINS), dtype=np.int64), "laplace", 2.0 / self.epsilon, self.n)

    def worlds(self, coins: np.random.Generator, number: int) -> NDArray[np.int64]:
        """Worlds x classes x bins: noisy counts."""
        rows = coins.multinomial(self.n, self.chances.ravel(), size=number)
        kept = 1.0 - math.exp(-0.5 * self.epsilon)
        noise = coins.geometric(kept, rows.shape) - coins.geometric(kept, rows.shape)
        return (rows + noise).reshape(number, 2, BINS)


def grid(rows: tuple[int, ...], budgets: tuple[float, ...], prevalences: tuple[float, ...]) -> list[Cell]:
    """The cells of the issue's ranges, corners included."""
    return [Cell(n, epsilon, prevalence) for n in rows for epsilon in budgets for prevalence in prevalences]
