"""Theorems 3, 10, 14, 15, 16 and 17 measured: populations with exact risks, neighbours, and the paper's own example."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.lab.estimate import Estimate
from equipoise.lab.row_removal import mean
from equipoise_studies.dropout_stability.descent import (
    DropoutDescentRegressor,
    PrintedDropoutDescentRegressor,
    ball_minimiser,
    expected_hessian,
    expected_minimiser,
)
from equipoise_studies.frame import Report

Array = NDArray[np.float64]
KEEP, NOISE, RADIUS = 0.5, 0.5, 2.0


@dataclass(frozen=True, eq=False)
class Population:
    """Rows ``signs * scales`` and outcomes ``<x, truth> +- NOISE``; the signs are independent, or all equal.

    The loss is ``(u - y)^2 / 2``, of curvature 1. With equal signs all rows lie on one line.
    """

    name: str
    scales: Array
    truth: Array
    together: bool

    @property
    def second(self) -> Array:
        """The second moments of the rows."""
        return np.outer(self.scales, self.scales) if self.together else np.diag(np.square(self.scales))

    @property
    def hessian(self) -> Array:
        """The Hessian of the dropout risk at keep = 1/2."""
        return self.second + np.diag(np.diag(self.second))

    @property
    def best(self) -> Array:
        """The minimiser of the dropout risk; it lies inside of the ball."""
        return ball_minimiser(self.hessian, self.second @ self.truth, RADIUS)

    @property
    def row_norm(self) -> float:
        """B: the norm of every row."""
        return float(np.linalg.norm(self.scales))

    @property
    def slope(self) -> float:
        """G: the largest slope of the loss on the ball, ``2 B R`` and the largest outcome together."""
        return 2 * self.row_norm * RADIUS + self.largest_outcome

    @property
    def largest_outcome(self) -> float:
        """The largest absolute outcome."""
        return float(np.abs(self.scales * self.truth).sum()) + NOISE

    def draw(self, n_samples: int, draws: np.random.Generator) -> tuple[Array, Array]:
        """Return rows and outcomes."""
        signs = draws.choice([-1.0, 1.0], size=(n_samples, 1 if self.together else len(self.scales)))
        rows = signs * self.scales
        return rows, rows @ self.truth + NOISE * draws.choice([-1.0, 1.0], size=n_samples)

    def excess(self, weights: Array) -> float:
        """Return the excess dropout risk (13)."""
        apart = weights - self.best
        return float(apart @ self.hessian @ apart / 2)


POPULATIONS = (
    Population(
        "independent columns", np.array([1.0, 0.8, 0.7, 0.6, 0.5]), np.array([1.0, -0.5, 0.5, 0.3, -0.2]), False
    ),
    Population("rows on one line", np.full(5, 0.7), np.array([1.0, -0.5, 0.5, 0.3, -0.2]), True),
)


@dataclass(frozen=True, eq=False)
class Risks:
    """Excess dropout risks, by size an array over repetitions: Algorithm 1 corrected and printed, and the ERM (12)."""

    population: Population
    corrected: Mapping[int, Array]
    printed: Mapping[int, Array]
    minimised: Mapping[int, Array]


def risks(population: Population, sizes: Sequence[int], repetitions: int, report: Report) -> Risks:
    """Return the excess risks of Theorems 3 (T = n^2 steps) and 10 (a fixed mask a row)."""
    found: dict[str, dict[int, Array]] = {"corrected": {}, "printed": {}, "minimised": {}}
    for done, size in enumerate(sizes):
        report(f"excess risk, {population.name}", done, len(sizes))
        values: dict[str, list[float]] = {name: [] for name in found}
        for repetition in range(repetitions):
            draws = np.random.default_rng((5, size, repetition))
            rows, outcomes = population.draw(size, draws)
            coins = int(draws.integers(2**31))
            for name, rule in (("corrected", DropoutDescentRegressor), ("printed", PrintedDropoutDescentRegressor)):
                model = rule(radius=RADIUS, random_state=coins).fit(rows, outcomes)
                values[name].append(population.excess(model.coef_))
            masked = rows * (draws.random(rows.shape) < KEEP) / KEEP
            weights = ball_minimiser(masked.T @ masked / size, masked.T @ outcomes / size, RADIUS)
            values["minimised"].append(population.excess(weights))
        for name, kept in found.items():
            kept[size] = np.array(values[name])
    report(f"excess risk, {population.name}", len(sizes), len(sizes))
    return Risks(population, found["corrected"], found["printed"], found["minimised"])


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Distances between the models of neighbours by size, and what Theorem 14 multiplies its unnamed constant with."""

    population: Population
    independent: Mapping[int, Array]
    shared: Mapping[int, Array]
    boosted: Mapping[int, Array]
    minimisers: Mapping[int, Array]
    shapes: Mapping[int, float]
    runs: int
    chance: float

    def needed(self, size: int) -> float:
        """Return the constant that Theorem 14 needs at least for these runs."""
        return float(self.independent[size].mean()) / self.shapes[size]

    def needed_boosted(self, size: int) -> float:
        """Return the constant that Theorem 15 needs at least: the quantile of the boosted distance over its shape."""
        reached = float(np.quantile(self.boosted[size], 1 - self.chance))
        return reached / (self.shapes[size] * math.sqrt(math.log(1 / self.chance)))


def neighbours(
    population: Population, sizes: Sequence[int], repetitions: int, report: Report, chance: float = 0.05
) -> Neighbours:
    """Return how far Algorithm 1 (corrected, T = n^2) moves when one row is replaced by the opposite extreme."""
    # Theorem 15 prints log(1/delta) runs; each misses with 1/2, so the base is 2 (G4).
    runs = math.ceil(math.log2(1 / chance))
    tables: list[dict[int, Array]] = [{}, {}, {}, {}]
    shapes = {}
    for done, size in enumerate(sizes):
        report(f"neighbours, {population.name}", done, len(sizes))
        values = np.empty((repetitions, 4))
        lambdas = []
        for repetition in range(repetitions):
            draws = np.random.default_rng((6, size, repetition))
            rows, outcomes = population.draw(size, draws)
            others, changed = rows.copy(), outcomes.copy()
            others[-1], changed[-1] = population.scales, -population.largest_outcome
            first, second, third = draws.integers(2**31, size=3).tolist()
            reached = _reached(rows, outcomes, first, 1)
            values[repetition, 0] = np.linalg.norm(reached - _reached(others, changed, second, 1))
            values[repetition, 1] = np.linalg.norm(reached - _reached(others, changed, first, 1))
            boosted = [
                _reached(*data, third + side, runs) for side, data in enumerate(((rows, outcomes), (others, changed)))
            ]
            values[repetition, 2] = np.linalg.norm(boosted[0] - boosted[1])
            best = [expected_minimiser(*data, KEEP, RADIUS) for data in ((rows, outcomes), (others, changed))]
            values[repetition, 3] = np.linalg.norm(best[0] - best[1])
            squares = np.square(rows)
            lambdas.append(float((squares.sum(0) - squares.max(0)).min()) / size)
        for place, table in enumerate(tables):
            table[size] = values[:, place]
        shapes[size] = theorem_14(population, size, float(np.mean(lambdas)))
    report(f"neighbours, {population.name}", len(sizes), len(sizes))
    return Neighbours(population, tables[0], tables[1], tables[2], tables[3], shapes, runs, chance)


def _reached(rows: Array, outcomes: Array, seed: int, runs: int) -> Array:
    model = DropoutDescentRegressor(radius=RADIUS, runs=runs, random_state=seed).fit(rows, outcomes)
    return np.asarray(model.coef_)


def theorem_14(population: Population, size: int, curvature: float) -> float:
    """Return the expression inside of Theorem 14's O() at T = n^2, ``Delta_1`` being close to ``Lambda``.

    Examples
    --------
    >>> theorem_14(POPULATIONS[0], 100, 0.25) > theorem_14(POPULATIONS[0], 200, 0.25)
    True
    """
    steps = size**2
    ratio = size / (size - 1)
    share = population.slope * population.row_norm / curvature
    return share * (math.sqrt(math.log(steps) * ratio / steps) + 1 / size)


@dataclass(frozen=True, eq=False)
class Example:
    """The example of Appendix C at one size: curvatures without the worst rows, and adversarial changes.

    Parameters
    ----------
    changes, moved, bounds : tuple
        How many rows were changed, how far the minimiser moved, and Theorem 16's bound ``m eps_mod``.
    gammas, curvatures : tuple
        How many rows are taken away, and ``Lambda_Gamma``.
    distance : int
        The distance to instability: the most rows for which ``eps_mod`` is at most twice what it is at no row.
    """

    n_samples: int
    changes: tuple[int, ...]
    moved: tuple[float, ...]
    bounds: tuple[float, ...]
    gammas: tuple[int, ...]
    curvatures: tuple[float, ...]
    distance: int


LONGEST, EXAMPLE_TRUTH = 4.0, np.array([0.6, -0.5, 0.4, 0.3, -0.2])


def example(n_samples: int, seed: int = 0) -> Example:
    """Return the paper's example: normal rows of unit scale (here clipped to norm 4), exact outcomes, squared loss.

    The adversary replaces the rows with the largest entries in the column of least curvature by rows of norm 4 along
    it, with the outcome that pulls its weight the other way.

    Examples
    --------
    >>> found = example(100)
    >>> all(moved <= bound for moved, bound in zip(found.moved, found.bounds))
    True
    """
    draws = np.random.default_rng((8, n_samples, seed))
    rows = draws.standard_normal((n_samples, len(EXAMPLE_TRUTH)))
    rows *= np.minimum(1, LONGEST / np.linalg.norm(rows, axis=1))[:, None]
    outcomes = rows @ EXAMPLE_TRUTH
    largest = LONGEST * float(np.linalg.norm(EXAMPLE_TRUTH))
    squares = np.sort(np.square(rows), axis=0)[::-1]
    total = squares.sum(0)
    taken = np.vstack([np.zeros_like(total), np.cumsum(squares, axis=0)])
    by_gamma = (total - taken).min(1) / n_samples
    # G3 for (u - y)^2/2 at keep = 1/2, on the ball of radius RADIUS.
    slope = (RADIUS * LONGEST + largest) * LONGEST + LONGEST**2 * RADIUS
    best = expected_minimiser(rows, outcomes, KEEP, RADIUS)
    column = int(np.argmin(total))
    worst = np.argsort(-np.square(rows[:, column]))
    changes = tuple(sorted({max(1, round(share * n_samples)) for share in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)}))
    moved, bounds = [], []
    for count in changes:
        others, changed = rows.copy(), outcomes.copy()
        others[worst[:count]] = LONGEST * np.eye(len(best))[column]
        changed[worst[:count]] = -np.sign(best[column]) * largest
        moved.append(float(np.linalg.norm(expected_minimiser(others, changed, KEEP, RADIUS) - best)))
        bounds.append(float(count * 2 * slope / (n_samples * by_gamma[count])))
    gammas = tuple(round(share * n_samples) for share in (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5))
    distance = int(np.flatnonzero(by_gamma >= by_gamma[0] / 2).max())
    curvatures = tuple(float(by_gamma[gamma]) for gamma in gammas)
    return Example(n_samples, changes, tuple(moved), tuple(bounds), gammas, curvatures, distance)


def group_delta(epsilon: float, delta: float, changes: int) -> float:
    """Return the chance of a set after m changes that a chain attains from chance 0: ``p -> e^epsilon p + delta``.

    Every step of the chain is (epsilon, delta)-close, so Theorem 17's additive term is at least this.

    Examples
    --------
    >>> group_delta(0.5, 1e-6, 1), round(group_delta(0.5, 1e-6, 10) / 1e-6)
    (1e-06, 227)
    """
    reached = 0.0
    for _ in range(changes):
        reached = math.exp(epsilon) * reached + delta
    return reached


def printed_over_best(size: int = 200, repetitions: int = 20) -> Estimate:
    """Return where Algorithm 1 as printed ends, as a multiple of the minimiser of its own objective."""
    population = POPULATIONS[0]
    values = []
    for repetition in range(repetitions):
        draws = np.random.default_rng((9, repetition))
        rows, outcomes = population.draw(size, draws)
        best = expected_minimiser(rows, outcomes, KEEP)
        model = PrintedDropoutDescentRegressor(n_steps=size**2, radius=10.0, random_state=repetition).fit(
            rows, outcomes
        )
        values.append(float(model.coef_ @ best / (best @ best)))
    return mean(np.array(values))


def curvature_holds(sizes: Sequence[int] = (20, 50, 100), seeds: int = 20) -> float:
    """Return the share of samples whose expected Hessian is at least the least mean square of a column (Lemma 8).

    Examples
    --------
    >>> curvature_holds((20,), 3)
    1.0
    """
    held = []
    for size in sizes:
        for seed in range(seeds):
            rows, _ = POPULATIONS[1].draw(size, np.random.default_rng((10, size, seed)))
            least = float(np.square(rows).mean(0).min())
            held.append(np.linalg.eigvalsh(expected_hessian(rows, KEEP))[0] >= least * (1 - 1e-9))
    return float(np.mean(held))
