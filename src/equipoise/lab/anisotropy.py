"""The noise of SGD is not the same in every direction: what its full covariance says (H3)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from equipoise.errors import InvalidData
from equipoise.lab.epsilon import gaussian_epsilon, quotient
from equipoise.lab.estimate import Array, Bootstrap, Estimate, checked
from equipoise.lab.sensitivity import distance_table
from equipoise.lab.variability import sigma_per_dataset

# Directions in which all runs together vary less than this part of the largest variance are rounding, not noise.
ROUNDING = 1e-9
# One seed in so many measures the noise along the direction that the others choose.
PARTS = 4


@dataclass(frozen=True, slots=True)
class Anisotropy:
    """What becomes of epsilon when the noise is not taken to be the same in every direction (H3).

    `least` is the standard deviation along the least noisy direction, chosen by other seeds than those that measure
    it; `isotropic` is what the paper's flattened sigma says of every direction, and `optimism` their ratio. `smallest`
    is the root of the covariance's smallest eigenvalue, which few seeds make too small. `mahalanobis` is ``max
    ||Sigma^(-1/2) (w_ra - w_rb)||``, freed of the bias of an inverse covariance. Epsilons are by the exact Gaussian
    curve. Intervals are those of the Gaussian law itself (chi-squared), at the chosen direction or pair. Where seeds
    are too few for the dimensions in which runs vary, figures are None: a covariance cannot be known from them.
    """

    dataset: int
    dimensions: int
    isotropic: float
    smallest: float
    least: Estimate | None
    optimism: Estimate | None
    mahalanobis: Estimate | None
    epsilon_theoretical: Estimate | None
    epsilon_empirical: Estimate | None


def _support(table: NDArray[Any]) -> Array:
    """Return an orthonormal basis, (p, q), of the directions in which the runs vary at all, over seeds and datasets."""
    centre = table.mean((0, 1), dtype=np.float64)
    moment = np.zeros((table.shape[2], table.shape[2]))
    for runs in table:
        moved = runs - centre
        moment += moved.T @ moved
    sizes, directions = np.linalg.eigh(moment)
    if not sizes[-1] > 0:
        raise InvalidData("runs that differ", "all have the same weights", "pass runs of different seeds and datasets")
    return np.asarray(directions[:, sizes > ROUNDING * sizes[-1]])


def anisotropy(
    weights: ArrayLike, delta: float, sensitivity: float | None = None, bootstrap: Bootstrap | None = None
) -> Anisotropy:
    """Measure epsilon with the full covariance of the noise instead of one sigma (H3).

    The covariance is that of the dataset with the median sigma, within the directions in which any runs differ.
    `sensitivity`, a bound on the distance in any direction, is set against the least noisy one: ``Delta / least``.

    Examples
    --------
    >>> scales = np.array([1.0, 1.0, 0.1])
    >>> noise = np.random.default_rng(0).normal(size=(400, 1, 3)) * scales
    >>> found = anisotropy(noise + np.linspace(0, 0.2, 4)[:, None] * scales, 1e-5, sensitivity=0.2)
    >>> 0.1 in found.least, 0.2 * 3**0.5 in found.mahalanobis
    (True, True)
    """
    chosen, table = bootstrap or Bootstrap(), checked(weights, least_seeds=2 * PARTS)
    tails = np.array([0.5, (1 - chosen.confidence) / 2, (1 + chosen.confidence) / 2])
    by_dataset = sigma_per_dataset(table)
    dataset = int(np.argsort(by_dataset, kind="stable")[(len(by_dataset) - 1) // 2])
    basis = _support(table)
    runs = table[:, dataset] @ basis
    n_seeds, dimensions = runs.shape
    sizes, directions = _covariance(runs)
    isotropic, smallest = float(by_dataset[dataset]), math.sqrt(max(sizes[0], 0.0))

    def over(above: float, below: Estimate | None) -> Estimate | None:
        if below is None:
            return None
        value, low, high = quotient(above, [below.value, below.high, below.low]).tolist()
        return Estimate(value, low, high, chosen.confidence)

    def epsilon(mu: Estimate | None) -> Estimate | None:
        if mu is None:
            return None
        value, low, high = gaussian_epsilon(np.array([mu.value, mu.low, mu.high]), delta).tolist()
        return Estimate(value, low, high, chosen.confidence)

    least = _least_noise(runs, tails, chosen.confidence)
    farthest = None
    if n_seeds > dimensions:
        farthest = _mahalanobis(table, basis, sizes, directions, tails, chosen.confidence)
    theoretical = None if sensitivity is None else epsilon(over(sensitivity, least))
    return Anisotropy(
        dataset,
        dimensions,
        isotropic,
        smallest,
        least,
        over(isotropic, least),
        farthest,
        theoretical,
        epsilon(farthest),
    )


def _least_noise(runs: Array, tails: Array, confidence: float) -> Estimate | None:
    """Return the standard deviation along the least noisy direction, None where the seeds are too few to choose it.

    The smallest eigenvalue of a covariance is far too small when seeds are few. So some seeds choose the direction, and
    the others, which know nothing of the choice, measure it. Any direction has at least the noise of the least noisy.
    """
    measuring = np.arange(len(runs)) % PARTS == 0
    choosing, measured = runs[~measuring], runs[measuring]
    if len(choosing) <= runs.shape[1]:
        return None
    spread = float(np.std(measured @ _covariance(choosing)[1][:, 0], ddof=1))
    freedom = len(measured) - 1
    low, high = (spread * np.sqrt(freedom / stats.chi2.ppf(tails[[2, 1]], freedom))).tolist()
    return Estimate(spread, low, high, confidence)


def _covariance(runs: Array) -> tuple[Array, Array]:
    """Return the variances along the principal directions, ascending, and these directions."""
    sizes, directions = np.linalg.eigh(np.atleast_2d(np.cov(runs, rowvar=False)))
    return sizes, directions


def _mahalanobis(
    table: NDArray[Any], basis: Array, sizes: Array, directions: Array, tails: Array, confidence: float
) -> Estimate:
    if sizes[0] <= ROUNDING * sizes[-1]:  # datasets differ where seeds do not
        return Estimate(math.inf, math.inf, math.inf, confidence)
    whitening = basis @ (directions / np.sqrt(sizes))
    farthest = max(float(distance_table(runs @ whitening).max()) for runs in table)
    n_seeds, dimensions = len(table), len(sizes)
    # For a fixed v and Gaussian runs, (R - 1) v' Sigma^-1 v / (v' S^-1 v) is chi-squared with R - p degrees of freedom.
    factors = np.sqrt(stats.chi2.ppf(tails, n_seeds - dimensions) / (n_seeds - 1))
    value, low, high = (farthest * factors).tolist()
    return Estimate(value, low, high, confidence)
