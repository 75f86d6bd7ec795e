"""How much the weights of SGD vary from seed to seed: the size of that noise, its law, and what the paper claims of it.

The paper writes a run as ``w = mean of the dataset + noise of the seed`` and takes the noise for Gaussian with one
standard deviation for all weights. Both are assumptions; `normality` and the anisotropy of `intrinsic` look at them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from equipoise.errors import InvalidData, InvalidParameter
from equipoise.lab.estimate import Array, Bootstrap, Estimate, Resamples, checked, positive
from equipoise.lab.sensitivity import Pairs, Spread, spread_replicates

# How the standard deviations of the datasets become one: the paper takes the median.
SUMMARIES: dict[str, Callable[[Array], NDArray[Any]]] = {
    "median": lambda table: np.median(table, axis=-1),
    "mean": lambda table: table.mean(-1),
    "min": lambda table: table.min(-1),
    "max": lambda table: table.max(-1),
    "pooled": lambda table: np.sqrt(np.square(table).mean(-1)),
}
# The two other ways that the paper mentions; their medians over the datasets are taken.
OTHER_WAYS = ("per-weight", "norm")
ESTIMATORS = (*SUMMARIES, *OTHER_WAYS)


def sigma_per_dataset(weights: ArrayLike, way: str = "flattened") -> Array:
    """Return the standard deviation over the seeds of each dataset's runs, (datasets,).

    "flattened" is the paper's: of all weights together, each about its own mean. "per-weight" averages the standard
    deviations of the weights. "norm" solves ``Var ||w||^2 = 2 p s^4 + 4 s^2 ||mean||^2``, which holds for equal,
    independent Gaussian noise, for s. Variances are divided by R - 1, since the means come from the same runs.

    Examples
    --------
    >>> sigma_per_dataset([[[0.0, 5.0], [1.0, 1.0]], [[2.0, 7.0], [1.0, 1.0]]]).round(4).tolist()
    [1.4142, 0.0]
    """
    table = checked(weights, least_datasets=1)
    if way not in ("flattened", *OTHER_WAYS):
        raise InvalidParameter("a way to measure sigma", repr(way), 'pass "flattened", "per-weight" or "norm"')
    found: Array = sigma_replicates(table, np.ones((1, len(table))), drawn=False)[way][0]
    return found


def sigma_replicates(table: NDArray[np.floating], counts: Array, drawn: bool = True) -> dict[str, Array]:
    """Return each way's standard deviations, (replicates, datasets), where replicates hold seeds `counts` times.

    Drawing with replacement shrinks a variance by 1 - 1/R on average; `drawn` undoes it, so that the replicates
    scatter about the estimate.
    """
    n_seeds, n_datasets, n_weights = table.shape
    scale = (n_seeds / (n_seeds - 1)) ** (2 if drawn else 1)
    shares = counts / n_seeds
    found = {way: np.empty((len(counts), n_datasets)) for way in ("flattened", *OTHER_WAYS)}
    for dataset in range(n_datasets):
        runs = table[:, dataset].astype(np.float64)
        centre = runs.mean(0)
        lengths = np.square(runs).sum(1)
        lengths -= lengths.mean()
        runs -= centre
        shift = shares @ runs
        variances = np.maximum(shares @ np.square(runs) - np.square(shift), 0) * scale
        found["flattened"][:, dataset] = np.sqrt(variances.mean(1))
        found["per-weight"][:, dataset] = np.sqrt(variances).mean(1)
        of_norm = np.maximum(shares @ np.square(lengths) - np.square(shares @ lengths), 0) * scale
        # An average of R runs is longer than what it estimates by their variance over R, and a drawn one by twice that.
        excess = variances.sum(1) * (2 if drawn else 1) / n_seeds
        mean = np.maximum(np.square(centre + shift).sum(1) - excess, 0)
        root = mean + np.sqrt(np.square(mean) + n_weights * of_norm / 2)
        found["norm"][:, dataset] = np.sqrt(np.divide(of_norm / 2, root, out=np.zeros_like(root), where=root > 0))
    return found


def summarise_sigma(by_way: dict[str, Array], estimator: str, datasets: Array | None = None) -> Array:
    """Return one sigma a replicate, the datasets being held `datasets` times, (replicates, S), or once each."""
    if estimator not in ESTIMATORS:
        raise InvalidParameter("an estimator of sigma", repr(estimator), f"pass one of {', '.join(ESTIMATORS)}")
    table = by_way[estimator if estimator in OTHER_WAYS else "flattened"]
    if datasets is not None:
        places = np.arange(table.shape[1])
        rows = zip(table, datasets.astype(np.int64), strict=True)
        table = np.stack([row[np.repeat(places, held)] for row, held in rows])
    return np.asarray(SUMMARIES.get(estimator, SUMMARIES["median"])(table))


def sigma(weights: ArrayLike, estimator: str = "median", bootstrap: Bootstrap | None = None) -> Estimate:
    """Measure the standard deviation of SGD's own noise; the paper's is the "median" over the datasets.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(0, 0.1, size=(50, 1, 20))
    >>> found = sigma(np.linspace(0, 1, 8)[:, None] + noise)
    >>> 0.1 in found, round(found.value, 2)
    (True, 0.1)
    """
    chosen, table = bootstrap or Bootstrap(), checked(weights)
    return sigmas(table, chosen.draw(*table.shape[:2]), chosen, (estimator,))[estimator]


def sigmas(
    table: NDArray[np.floating], resamples: Resamples, bootstrap: Bootstrap, estimators: Sequence[str] = ESTIMATORS
) -> dict[str, Estimate]:
    """Return sigma by each estimator, all on the same replicates."""
    values = sigma_replicates(table, np.ones((1, len(table))), drawn=False)
    replicates = sigma_replicates(table, resamples.seeds)
    return {
        name: bootstrap.estimate(
            summarise_sigma(values, name)[0], summarise_sigma(replicates, name, resamples.datasets)
        )
        for name in estimators
    }


@dataclass(frozen=True, eq=False)
class Normality:
    """Shapiro-Wilk p-values, (datasets, weights), and the shares of tests that reject a normal law.

    `corrected` is Bonferroni's threshold, the level over the number of weights (the paper's); `strict` divides by the
    number of all tests. A weight that no seed changes has no p-value (NaN) and counts in `constant` only. Intervals
    draw datasets and weights anew. Failing to reject says nothing about tails at 1/N, nor about the joint law (H2).
    """

    p_values: Array
    level: float
    corrected: float
    strict: float
    constant: int
    rejected: Estimate
    rejected_corrected: Estimate
    rejected_strict: Estimate


def normality(
    weights: ArrayLike, *, datasets: int = 25, level: float = 0.05, bootstrap: Bootstrap | None = None
) -> Normality:
    """Test each weight of (at most) `datasets` datasets for a normal law over the seeds, as the paper's Figure 3.

    Examples
    --------
    >>> draws = np.random.default_rng(0)
    >>> found = normality(np.stack([draws.normal(size=(60, 9)), draws.exponential(size=(60, 9))], axis=1))
    >>> (found.p_values < found.corrected).mean(1).tolist()
    [0.0, 1.0]
    """
    chosen, table = bootstrap or Bootstrap(), checked(weights, least_seeds=3, least_datasets=1)
    if not isinstance(datasets, int) or datasets < 1:
        raise InvalidParameter("how many datasets to test: a whole number", repr(datasets), "pass datasets=25")
    if not 0 < level < 1:
        raise InvalidParameter("a level above 0 and below 1", repr(level), "pass level=0.05")
    places = np.unique(np.linspace(0, table.shape[1] - 1, min(datasets, table.shape[1])).round().astype(np.int64))
    # The test's p-values are approximated for at most 5,000 values.
    samples = table[:5000, places].reshape(min(len(table), 5000), -1).astype(np.float64)
    varying = np.ptp(samples, axis=0) > 1e-12 * np.abs(samples).max(0)
    p_values = np.full(samples.shape[1], math.nan)
    centred = samples - np.median(samples, axis=0)
    for place in np.flatnonzero(varying):
        p_values[place] = stats.shapiro(centred[:, place]).pvalue
    by_dataset = p_values.reshape(len(places), -1)
    if not varying.any():
        raise InvalidData("weights that vary from seed to seed", "none does", "pass runs of different seeds")
    resamples = chosen.draw(len(places), table.shape[2])
    counts = [np.outer(*each) * varying.reshape(by_dataset.shape) for each in zip(*resamples, strict=True)]
    thresholds = (level, level / table.shape[2], level / int(varying.sum()))
    shares = []
    for threshold in thresholds:
        below = by_dataset < threshold
        replicates = [(count * below).sum() / max(count.sum(), 1) for count in counts]
        shares.append(chosen.estimate(below.sum() / varying.sum(), replicates))
    return Normality(by_dataset, *thresholds, int((~varying).sum()), *shares)


@dataclass(frozen=True, eq=False)
class Distances:
    """The laws of the distance between two runs that differ in the data, in the seed, or in both (Figures 2 and 6).

    The pairs themselves, for pictures: `data`, `seed`, `both`. `dominance` is the share of pairs by seed that lie
    farther apart than the farthest pair by data.
    """

    by_data: Spread
    by_seed: Spread
    by_both: Spread
    dominance: Estimate
    data: Pairs
    seed: Pairs
    both: Pairs


@dataclass(frozen=True, eq=False)
class Variability:
    """Distances with a start that depends on the seed and with a fixed one, and how much the start adds.

    `ratio` compares the medians by seed: varying start over fixed start.
    """

    varying: Distances
    fixed: Distances | None
    ratio: Estimate | None


def distances(weights: ArrayLike, bootstrap: Bootstrap | None = None) -> Distances:
    """Measure how far runs lie apart that differ in data, in seed, or in both.

    Examples
    --------
    >>> stream = np.random.default_rng(0)
    >>> found = distances(stream.normal(size=(20, 1, 5)) + 0.01 * stream.normal(size=(12, 5)))
    >>> found.by_seed.median.low > found.by_data.median.high, found.dominance.value
    (True, 1.0)
    """
    chosen, table = bootstrap or Bootstrap(), checked(weights)
    resamples = chosen.draw(*table.shape[:2])
    pairs = (Pairs.by_data(table), Pairs.by_seed(table), Pairs.by_both(table, seed=chosen.seed))
    data, seed, both = (spread_replicates(each, resamples) for each in pairs)
    pool, largest = pairs[1].pool, data.replicates[:, -1]
    beyond = [
        count[np.searchsorted(pool.distances, limit, side="right") :].sum() / count.sum()
        for count, limit in zip(pool.counts(resamples), largest, strict=True)
    ]
    dominance = chosen.estimate((pairs[1].distances > data.values[-1]).mean(), beyond)
    return Distances(data.spread(chosen), seed.spread(chosen), both.spread(chosen), dominance, *pairs)


def variability(varying: ArrayLike, fixed: ArrayLike | None = None, bootstrap: Bootstrap | None = None) -> Variability:
    """Measure the distances of an ensemble, and of one with a fixed start, if there is one.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(30, 1, 5)) + np.linspace(0, 0.1, 8)[:, None]
    >>> round(variability(3 * noise, noise).ratio.value, 3)
    3.0
    """
    chosen, table = bootstrap or Bootstrap(), checked(varying)
    first = distances(table, chosen)
    if fixed is None:
        return Variability(first, None, None)
    other = checked(fixed)
    if other.shape[2] != table.shape[2]:
        found = f"{table.shape[2]} and {other.shape[2]} weights"
        raise InvalidData("two ensembles of one model", found, "train both with the same model")
    second = distances(other, chosen)
    # The two are resampled apart: wider than need be where they share their seeds, and right where they do not.
    apart = Bootstrap(chosen.replicates, chosen.confidence, chosen.seed + 1)
    above = spread_replicates(first.seed, chosen.draw(*table.shape[:2]))
    below = spread_replicates(second.seed, apart.draw(*other.shape[:2]))
    ratio = Bootstrap.estimate(
        chosen, above.values[3] / below.values[3], above.replicates[:, 3] / below.replicates[:, 3]
    )
    return Variability(first, second, ratio)


@dataclass(frozen=True, slots=True)
class Claims:
    """The bounds of the paper's Claims 1 and 2, and what was observed.

    Claim 1: runs of two seeds lie at most `variability_bound` apart, which exceeds `sensitivity_bound`. Claim 2: the
    bound, as a random number with mean `expected`, misses it by `deviation` with at most `probability`. Both compare
    upper bounds with upper bounds, so neither says that runs do lie apart (H2); `attained` is the largest observed
    distance over the bound of Claim 1.
    """

    variability_bound: float
    sensitivity_bound: float
    expected: float
    deviation: float
    probability: float
    observed: Spread | None = None
    attained: Estimate | None = None


def claim_1_bound(passes: float, lipschitz: float, step: float, n_samples: int, batch_size: int = 1) -> float:
    """Return the paper's bound on the distance between two seeds, ``2 k L N eta / b`` (equation 8 has b = 1).

    Examples
    --------
    >>> claim_1_bound(2, 1.0, 0.5, n_samples=100)
    200.0
    """
    positive(passes=passes, lipschitz=lipschitz, step=step, n_samples=n_samples, batch_size=batch_size)
    return 2 * passes * lipschitz * n_samples * step / batch_size


def claim_2_bound(passes: float, n_samples: int) -> float:
    """Return the paper's Chebyshev bound of Claim 2, ``4 / (k (N - 2)^2)``.

    Examples
    --------
    >>> claim_2_bound(4, 102)
    0.0001
    """
    positive(passes=passes)
    if n_samples < 3:
        raise InvalidParameter("at least 3 rows", f"n_samples={n_samples!r}", "the claim is empty below")
    return min(1.0, 4 / (passes * (n_samples - 2) ** 2))


def claims(
    passes: float,
    lipschitz: float,
    step: float,
    n_samples: int,
    batch_size: int = 1,
    observed: Spread | None = None,
) -> Claims:
    """Return the bounds of Claims 1 and 2 beside the observed law of the distances by seed.

    Examples
    --------
    >>> found = claims(1, 1.0, 0.5, n_samples=100)
    >>> found.variability_bound, found.sensitivity_bound, found.expected, found.deviation
    (100.0, 1.0, 99.0, 49.0)
    """
    bound = claim_1_bound(passes, lipschitz, step, n_samples, batch_size)
    one = bound / n_samples
    attained = None
    if observed is not None:
        largest = observed.maximum
        attained = Estimate(largest.value / bound, largest.low / bound, largest.high / bound, largest.confidence)
    probability = claim_2_bound(passes, n_samples)
    return Claims(bound, one, one * (n_samples - 1), one * (n_samples - 2) / 2, probability, observed, attained)


@dataclass(frozen=True, slots=True)
class GradientNorms:
    """The median and largest gradient norm over the runs at each traced step, and the Lipschitz bound above them."""

    steps: tuple[int, ...]
    median: tuple[Estimate, ...]
    maximum: tuple[Estimate, ...]
    lipschitz: float


def norms_from_trace(trace: ArrayLike, steps: Sequence[int], sizes: ArrayLike) -> Array:
    """Return how fast traced weights moved, (R, T - 1, S): ``||w_s - w_t|| / (sum of the step sizes in between)``.

    `trace` holds weights, (R, T, S, parameters), after each of `steps`; `sizes` is every step's size, or one for all.
    With plain SGD and every step traced this is the norm of each batch's gradient; over several steps it is that of
    their average, which is at most the average norm.

    Examples
    --------
    >>> norms_from_trace(np.array([0.0, 1.0, 4.0]).reshape(1, 3, 1, 1), (1, 2, 4), 0.5).ravel().tolist()
    [2.0, 3.0]
    """
    table = np.asarray(trace)
    if table.ndim != 4 or len(steps) != table.shape[1] or len(steps) < 2 or min(np.diff(steps)) < 1:
        found = f"shape {table.shape}, {len(steps)} steps"
        raise InvalidData("a trace (seeds, steps, datasets, parameters) of ascending steps", found, "pass `trace`")
    covered = np.cumsum(np.broadcast_to(np.asarray(sizes, np.float64), (int(steps[-1]),)))[np.asarray(steps) - 1]
    moved = [np.linalg.norm(np.diff(each.astype(np.float64), axis=0), axis=2) for each in table]
    return np.asarray(np.stack(moved) / np.diff(covered)[:, None])


def gradient_norms(
    norms: ArrayLike, steps: Sequence[int], lipschitz: float, bootstrap: Bootstrap | None = None
) -> GradientNorms:
    """Summarise gradient norms along training, (R, T) or (R, T, S); seeds are drawn anew for the intervals.

    Examples
    --------
    >>> found = gradient_norms([[1.0, 0.5], [1.2, 0.3], [1.1, 0.4]], (1, 100), lipschitz=2**0.5)
    >>> [round(each.value, 3) for each in found.median], found.maximum[0].value
    ([1.1, 0.4], 1.2)
    """
    chosen, table = bootstrap or Bootstrap(), np.asarray(norms, np.float64)
    positive(lipschitz=lipschitz)
    if table.ndim not in (2, 3) or len(table) < 2 or table.shape[1] != len(steps) or not np.isfinite(table).all():
        asked = f"finite norms of shape (seeds, {len(steps)}) or (seeds, {len(steps)}, datasets), of two seeds at least"
        raise InvalidData(asked, f"shape {table.shape}", "pass one norm a seed and traced step")
    drawn = chosen.draw(len(table), 2).seeds.astype(np.int64)
    seeds = np.stack([np.repeat(np.arange(len(table)), held) for held in drawn])
    median, maximum = [], []
    for place in range(len(steps)):
        values = table[:, place].reshape(len(table), -1)
        # Runs of one seed move together, so a seed's median stands for them in the replicates of the median.
        centre, largest = np.median(values, axis=1), values.max(1)
        median.append(chosen.estimate(float(np.median(centre)), np.median(centre[seeds], axis=1)))
        maximum.append(chosen.estimate(float(largest.max()), largest[seeds].max(1)))
    return GradientNorms(tuple(int(each) for each in steps), tuple(median), tuple(maximum), lipschitz)
