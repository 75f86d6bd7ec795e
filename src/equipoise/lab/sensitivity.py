"""How far one row moves the weights of SGD: what the theorems allow, and what an ensemble shows.

Distances are measured between runs of the same seed, which see the rows in the same order. What is observed is a
maximum over the pairs that were trained: a lower bound on the sensitivity, never an upper one (H2).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import InvalidParameter
from equipoise.lab.estimate import Array, Bootstrap, Estimate, Resamples, checked, positive

# Quantiles and modes are resampled on at most so many pairs of runs; extremes always on all that are held.
POOL = 20_000
BINS = 60
QUANTILES = (0.05, 0.5, 0.95)


def fractional_passes(n_steps: int, n_samples: int, batch_size: int) -> float:
    """Return how many times SGD passes over its rows, as the paper counts: ``T b / n``.

    Examples
    --------
    >>> round(fractional_passes(3400, 29305, 32), 3)
    3.713
    """
    positive(n_steps=n_steps, n_samples=n_samples, batch_size=batch_size)
    return n_steps * batch_size / n_samples


def theoretical_sensitivity(passes: float, lipschitz: float, step: float, batch_size: int) -> float:
    """Return the paper's bound for one replaced row, ``2 k L eta / b``; k may be a fraction there.

    A row is met a whole number of times, so a fraction of a pass counts as one: see `rigorous_sensitivity`.

    Examples
    --------
    >>> round(theoretical_sensitivity(fractional_passes(3400, 29305, 32), 2**0.5, 0.5, 32), 4)
    0.1641
    """
    positive(passes=passes, lipschitz=lipschitz, step=step, batch_size=batch_size)
    return 2 * passes * lipschitz * step / batch_size


def rigorous_sensitivity(
    n_steps: int,
    n_samples: int,
    lipschitz: float,
    step: float,
    batch_size: int,
    *,
    last_batch: str = "nominal",
    smoothness: float | None = None,
) -> float:
    """Return the bound of B1 for one replaced row of a convex, smooth loss: ``ceil(T / m) 2 eta L / b``.

    `m` is how many batches an epoch has. Where the short last batch is divided by its own size ("mean"), the row may
    sit in it, and `b` is that size; where it is left out ("drop"), an epoch has one batch less. Two datasets that each
    replace a row of their own are two replacements apart: twice this.

    Examples
    --------
    >>> round(rigorous_sensitivity(3400, 29305, 2**0.5, 0.5, 32), 4)
    0.1768
    >>> round(rigorous_sensitivity(1850, 10397, 2**0.5, 0.1, 32, last_batch="mean"), 4)  # its last batch has 29 rows
    0.0585
    """
    positive(n_steps=n_steps, n_samples=n_samples, lipschitz=lipschitz, step=step, batch_size=batch_size)
    if last_batch not in ("nominal", "mean", "drop"):
        raise InvalidParameter("a rule for the last batch", repr(last_batch), 'pass "nominal", "mean" or "drop"')
    if smoothness is not None and step > 2 / smoothness:
        asked = f"a step of at most 2 / smoothness = {2 / smoothness:.4g}, beyond which runs drift apart by themselves"
        raise InvalidParameter(asked, f"step={step:g}", "no bound of this kind holds; take a smaller step")
    batches = n_samples // batch_size if last_batch == "drop" else -(-n_samples // batch_size)
    if not batches:
        raise InvalidParameter("at least one whole batch", f"{n_samples} rows", "take a smaller batch_size")
    size = n_samples - (batches - 1) * batch_size if last_batch == "mean" else batch_size
    return 2 * math.ceil(n_steps / batches) * step * lipschitz / size


def distance_table(points: NDArray[Any]) -> Array:
    """Return the distances between all rows of a table, (m, m), by one matrix product.

    Examples
    --------
    >>> distance_table(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    # Centred first: the rows of one seed differ far less than they are long, and the product would cancel.
    centred = points.astype(np.float64)
    centred -= centred.mean(0)
    products = centred @ centred.T
    squares = np.diagonal(products)
    table = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0))
    np.fill_diagonal(table, 0)
    return table


def pairwise_distances(weights: ArrayLike) -> Array:
    """Return the paper's pairwise sensitivities ``||w_ra - w_rb||``, (seeds, pairs a < b), pair by pair as in `triu`.

    Examples
    --------
    >>> pairwise_distances([[[0.0], [3.0], [4.0]], [[0.0], [1.0], [2.0]]]).tolist()
    [[3.0, 4.0, 1.0], [1.0, 2.0, 1.0]]
    """
    table = checked(weights, least_seeds=1)
    upper = np.triu_indices(table.shape[1], 1)
    return np.stack([distance_table(rows)[upper] for rows in table])


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distances between pairs of runs, ascending, with the seeds and datasets of each pair.

    `places` names, pair by pair, what has to be drawn for the pair to be there: ("seed" or "dataset", indices).
    """

    distances: Array
    places: tuple[tuple[str, NDArray[np.int32]], ...]

    @classmethod
    def sorted(cls, distances: Array, *places: tuple[str, NDArray[Any]]) -> "Pairs":
        """Return the pairs in order of their distances."""
        order = np.argsort(distances)
        return cls(distances[order], tuple((axis, index[order].astype(np.int32)) for axis, index in places))

    @classmethod
    def by_data(cls, weights: ArrayLike) -> "Pairs":
        """Return all pairs of runs that share a seed and differ in the dataset."""
        return cls._within(checked(weights), "seed", "dataset")

    @classmethod
    def by_seed(cls, weights: ArrayLike) -> "Pairs":
        """Return all pairs of runs that share a dataset and differ in the seed."""
        return cls._within(checked(weights).swapaxes(0, 1), "dataset", "seed")

    @classmethod
    def _within(cls, table: NDArray[Any], same: str, other: str) -> "Pairs":
        first, second = np.triu_indices(table.shape[1], 1)
        distances = np.concatenate([distance_table(rows)[first, second] for rows in table])
        groups = np.repeat(np.arange(len(table)), len(first))
        return cls.sorted(
            distances, (same, groups), (other, np.tile(first, len(table))), (other, np.tile(second, len(table)))
        )

    @classmethod
    def by_both(cls, weights: ArrayLike, most: int = POOL, seed: int = 0) -> "Pairs":
        """Return pairs of runs that differ in seed and dataset: all, or `most` of them drawn without replacement."""
        table = checked(weights)
        n_seeds, n_datasets, _ = table.shape
        # Ordered pairs of datasets, unordered pairs of seeds: each pair of runs once.
        seeds, datasets = n_seeds * (n_seeds - 1) // 2, n_datasets * (n_datasets - 1)
        stream = np.random.default_rng((seed, n_seeds, n_datasets))
        chosen = stream.choice(seeds * datasets, most, replace=False) if seeds * datasets > most else None
        place = np.arange(seeds * datasets) if chosen is None else chosen
        left, right = (index[place // datasets] for index in np.triu_indices(n_seeds, 1))
        first, step = np.divmod(place % datasets, n_datasets - 1)
        second = (first + 1 + step) % n_datasets
        distances = np.empty(len(place))
        for part in np.array_split(np.arange(len(place)), -(-len(place) * table.shape[2] // 2**22)):
            one, other = table[left[part], first[part]], table[right[part], second[part]]
            distances[part] = np.linalg.norm(one.astype(np.float64) - other, axis=1)
        return cls.sorted(distances, ("seed", left), ("seed", right), ("dataset", first), ("dataset", second))

    def farthest(self) -> dict[str, list[int]]:
        """Return the seeds and datasets of the pair that is farthest apart."""
        found: dict[str, list[int]] = {"seed": [], "dataset": []}
        for axis, index in self.places:
            found[axis].append(int(index[-1]))
        return found

    @cached_property
    def pool(self) -> "Pairs":
        """The pairs, or so many of them as quantiles are resampled on."""
        if len(self.distances) <= POOL:
            return self
        chosen = np.random.default_rng(len(self.distances)).choice(len(self.distances), POOL, replace=False)
        chosen.sort()
        return Pairs(self.distances[chosen], tuple((axis, index[chosen]) for axis, index in self.places))

    def counts(self, resamples: Resamples) -> Iterator[Array]:
        """Yield how often each pair is in each replicate."""
        for seeds, datasets in zip(*resamples, strict=True):
            product = np.ones(len(self.distances))
            for axis, index in self.places:
                product *= (seeds if axis == "seed" else datasets)[index]
            yield product

    def extremes(self, resamples: Resamples) -> tuple[Array, Array]:
        """Return the smallest and largest distance of each replicate."""
        found = np.array([[self._outermost(*drawn, end) for end in (1, -1)] for drawn in zip(*resamples, strict=True)])
        return found[:, 0], found[:, 1]

    def _outermost(self, seeds: Array, datasets: Array, step: int) -> float:
        """Return the first distance from one end whose seeds and datasets were all drawn."""
        start, size, total = 0, 256, len(self.distances)
        while start < total:
            part = slice(start, start + size) if step > 0 else slice(max(total - start - size, 0), total - start)
            there = np.ones(len(self.distances[part]), np.bool_)
            for axis, index in self.places:
                there &= (seeds if axis == "seed" else datasets)[index[part]] > 0
            if there.any():
                return float(self.distances[part][there][0 if step > 0 else -1])
            start, size = start + size, 4 * size
        return math.nan  # impossible while a replicate holds two seeds and two datasets and all pairs are held


@dataclass(frozen=True, slots=True)
class Spread:
    """The law of a distance (or of an epsilon) over pairs of runs: its extremes, its quantiles, where it concentrates.

    The intervals of the extremes say how much they owe to the runs that were trained; they end at what was observed.
    """

    minimum: Estimate
    lower: Estimate
    mode: Estimate
    median: Estimate
    upper: Estimate
    maximum: Estimate


@dataclass(frozen=True, eq=False)
class SpreadReplicates:
    """The six figures of a `Spread`, (6,), and those of every replicate, (replicates, 6)."""

    values: Array
    replicates: Array

    def spread(self, bootstrap: Bootstrap) -> Spread:
        """Return the figures with their intervals."""
        return Spread(
            *(bootstrap.estimate(*each) for each in zip(self.values.tolist(), self.replicates.T, strict=True))
        )


def spread_replicates(pairs: Pairs, resamples: Resamples) -> SpreadReplicates:
    """Return the figures of a law of distances, and those of every replicate."""
    smallest, largest = pairs.extremes(resamples)
    edges = np.linspace(pairs.distances[0], pairs.distances[-1], BINS + 1)
    pool = pairs.pool
    bins = np.clip(np.searchsorted(edges, pool.distances, side="right") - 1, 0, BINS - 1)
    rows = []
    for weight in pool.counts(resamples):
        running = np.cumsum(weight)
        # The smallest distance that at least a share q of the pairs do not exceed.
        places = np.searchsorted(running, np.array(QUANTILES) * running[-1])
        rows.append((*pool.distances[places], _mode(np.bincount(bins, weight, BINS), edges)))
    lower, median, upper, mode = np.array(rows).T
    value_lower, value_median, value_upper = np.quantile(pairs.distances, QUANTILES, method="inverted_cdf").tolist()
    value_mode = _mode(np.histogram(pairs.distances, edges)[0] if edges[0] < edges[-1] else np.ones(BINS), edges)
    extremes = pairs.distances[[0, -1]].tolist()
    values = np.array([extremes[0], value_lower, value_mode, value_median, value_upper, extremes[1]])
    return SpreadReplicates(values, np.column_stack([smallest, lower, mode, median, upper, largest]))


def _mode(heights: NDArray[Any], edges: Array) -> float:
    peak = int(np.argmax(np.convolve(heights, [1, 2, 1], mode="same")))
    return float((edges[peak] + edges[peak + 1]) / 2)


@dataclass(frozen=True, slots=True)
class EmpiricalSensitivity:
    """The paper's empirical bound, the largest pairwise distance; the runs that attain it; and the law of them all."""

    maximum: Estimate
    seed: int
    datasets: tuple[int, int]
    pairwise: Spread


def empirical_sensitivity(weights: ArrayLike, bootstrap: Bootstrap | None = None) -> EmpiricalSensitivity:
    """Measure ``max ||w_ra - w_rb||`` over seeds r and datasets a, b, and the law of the distances.

    The paper's datasets differ in two rows (each replaces its own), so this may exceed the bound for one row. The
    interval's upper end is the maximum itself: runs that were not trained may lie farther apart.

    Examples
    --------
    >>> noise, means = np.random.default_rng(0).normal(size=(9, 1, 3)), np.array([0.0, 1.0, 5.0])[:, None]
    >>> found = empirical_sensitivity(noise + means)
    >>> round(found.maximum.value / 3**0.5, 6), found.datasets
    (5.0, (0, 2))
    """
    chosen = bootstrap or Bootstrap()
    table = checked(weights)
    pairs = Pairs.by_data(table)
    spread = spread_replicates(pairs, chosen.draw(*table.shape[:2])).spread(chosen)
    return describe_sensitivity(pairs, spread)


def describe_sensitivity(pairs: Pairs, spread: Spread) -> EmpiricalSensitivity:
    """Return the empirical sensitivity of pairs by data whose law is known."""
    farthest = pairs.farthest()
    first, second = farthest["dataset"]
    return EmpiricalSensitivity(spread.maximum, farthest["seed"][0], (first, second), spread)
