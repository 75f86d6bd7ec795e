"""The intrinsic privacy of SGD, measured: Algorithm 1 of Hyland and Tople, "On the Intrinsic Privacy of SGD".

If SGD were a Gaussian mechanism whose noise is its own randomness, how private would it be? The answers are findings:
figures with intervals, under an assumption that is known to be false (H2 in the catalogue, docs/intrinsic-privacy.md).
Nothing here can certify anything, and nothing here makes a certificate.

Weights are arrays of shape (seeds, datasets, parameters); runs of one seed saw the rows in the same order.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import InvalidParameter
from equipoise.lab.anisotropy import Anisotropy, anisotropy
from equipoise.lab.epsilon import (
    gaussian_epsilon,
    gaussian_factor,
    intrinsic_epsilon,
    intrinsic_epsilon_gaussian,
    paper_epsilon,
    quotient,
)
from equipoise.lab.estimate import Array, Bootstrap, Estimate, Resamples, checked, figures
from equipoise.lab.sensitivity import (
    EmpiricalSensitivity,
    Pairs,
    Spread,
    SpreadReplicates,
    describe_sensitivity,
    empirical_sensitivity,
    fractional_passes,
    pairwise_distances,
    rigorous_sensitivity,
    spread_replicates,
    theoretical_sensitivity,
)
from equipoise.lab.variability import (
    ESTIMATORS,
    Claims,
    GradientNorms,
    Normality,
    Variability,
    claim_1_bound,
    claim_2_bound,
    claims,
    gradient_norms,
    normality,
    norms_from_trace,
    sigma,
    sigma_per_dataset,
    sigma_replicates,
    summarise_sigma,
    variability,
)

__all__ = [
    "ESTIMATORS",
    "Anisotropy",
    "Bootstrap",
    "Claims",
    "EmpiricalSensitivity",
    "Epsilons",
    "Estimate",
    "GradientNorms",
    "HalfSize",
    "IntrinsicFinding",
    "Normality",
    "PairwiseEpsilons",
    "Spread",
    "Variability",
    "anisotropy",
    "claim_1_bound",
    "claim_2_bound",
    "claims",
    "empirical_sensitivity",
    "fractional_passes",
    "gaussian_factor",
    "gradient_norms",
    "half_size_check",
    "intrinsic_epsilon",
    "intrinsic_epsilon_gaussian",
    "normality",
    "norms_from_trace",
    "pairwise_distances",
    "pairwise_epsilons",
    "rigorous_sensitivity",
    "sigma",
    "sigma_per_dataset",
    "study",
    "theoretical_sensitivity",
    "variability",
]


@dataclass(frozen=True, slots=True)
class Epsilons:
    """An intrinsic epsilon by the paper's formula and by the exact Gaussian curve; a finding, not a guarantee."""

    paper: Estimate
    gaussian: Estimate


@dataclass(frozen=True, eq=False)
class PairwiseEpsilons:
    """The law of the paper's pairwise epsilon over pairs of datasets and seeds (Figures 4, 7 and 8).

    `paper` and `gaussian` sum it up by either formula; `values` and `gaussian_values` hold (a sample of) all of them.
    """

    paper: Spread
    gaussian: Spread
    values: Array
    gaussian_values: Array


@dataclass(frozen=True, slots=True)
class HalfSize:
    """Sigma and empirical sensitivity of an ensemble and of its half-size twin, and the ratios, twin over whole."""

    sigma: Estimate
    sigma_half: Estimate
    sigma_ratio: Estimate
    sensitivity: Estimate
    sensitivity_half: Estimate
    sensitivity_ratio: Estimate


@dataclass(frozen=True, eq=False)
class IntrinsicFinding:
    """Everything that Algorithm 1 says about an ensemble, each figure with its interval.

    `theoretical` is the paper's bound with fractional passes, `rigorous` the one that a theorem gives (B1); figures
    that need them are None for a loss without such a bound.
    """

    grade: ClassVar[str] = "measured"
    reasons: ClassVar[tuple[str, ...]] = (
        "with a fixed start SGD takes finitely many values, other ones on a neighbour: its true delta is 1",
        "tests of normality say nothing about tails at 1/N, nor about the joint law of the weights",
        "the mean and the covariance of the noise both depend on the data",
        "sigma is estimated from runs on the data that it is meant to protect",
        "the empirical sensitivity is a maximum over sampled pairs, a lower bound",
    )

    n_seeds: int
    n_datasets: int
    n_parameters: int
    delta: float
    theoretical: Estimate | None
    rigorous: Estimate | None
    empirical: EmpiricalSensitivity
    sigma: Estimate
    sigmas: dict[str, Estimate]
    epsilon_theoretical: Epsilons | None
    epsilon_rigorous: Epsilons | None
    epsilon_empirical: Epsilons
    pairwise: PairwiseEpsilons
    anisotropy: Anisotropy
    normality: Normality
    variability: Variability
    claims: Claims | None
    half_size: HalfSize | None

    def figures(self) -> dict[str, Estimate]:
        """Return every figure by its dotted name ("sigma", "epsilon_theoretical.paper", ...)."""
        return dict(figures(self))


@dataclass(frozen=True, eq=False)
class _Noise:
    """Sigma and its replicates by every estimator, drawn together with the pairs of the same resamples."""

    values: dict[str, Array]
    replicates: dict[str, Array]
    resamples: Resamples

    @classmethod
    def of(cls, table: NDArray[Any], resamples: Resamples) -> "_Noise":
        values = sigma_replicates(table, np.ones((1, len(table))), drawn=False)
        return cls(values, sigma_replicates(table, resamples.seeds), resamples)

    def by(self, estimator: str) -> tuple[float, Array]:
        drawn = summarise_sigma(self.replicates, estimator, self.resamples.datasets)
        return float(summarise_sigma(self.values, estimator)[0]), drawn


def _epsilons(
    sensitivity: tuple[float, ArrayLike], noise: tuple[float, Array], delta: float, by: Bootstrap
) -> Epsilons:
    value, drawn = quotient(sensitivity[0], noise[0]), quotient(sensitivity[1], noise[1])
    paper, gaussian = (
        by.estimate(each(np.atleast_1d(value), delta)[0], each(drawn, delta))
        for each in (paper_epsilon, gaussian_epsilon)
    )
    return Epsilons(paper, gaussian)


def pairwise_epsilons(
    weights: ArrayLike, delta: float, estimator: str = "median", bootstrap: Bootstrap | None = None
) -> PairwiseEpsilons:
    """Measure the epsilon of every pair of datasets and seed, ``c ||w_ra - w_rb|| / sigma``; any model will do.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(40, 1, 30))
    >>> found = pairwise_epsilons(noise + np.linspace(0, 1, 6)[:, None], delta=1e-5)
    >>> round(found.paper.maximum.value / gaussian_factor(1e-5) / 30**0.5, 1)
    1.0
    """
    chosen, table = bootstrap or Bootstrap(), checked(weights)
    resamples, pairs = chosen.draw(*table.shape[:2]), Pairs.by_data(table)
    noise = _Noise.of(table, resamples).by(estimator)
    return _pairwise(pairs, spread_replicates(pairs, resamples), noise, delta, chosen)


def _pairwise(
    pairs: Pairs, found: SpreadReplicates, noise: tuple[float, Array], delta: float, by: Bootstrap
) -> PairwiseEpsilons:
    # Both formulas grow with the distance, so quantiles and extremes of epsilon are those of the distance.
    values, replicates = quotient(found.values, noise[0]), quotient(found.replicates, noise[1][:, None])
    paper, gaussian = (
        SpreadReplicates(each(values, delta), each(replicates, delta)).spread(by)
        for each in (paper_epsilon, gaussian_epsilon)
    )
    mu = quotient(pairs.pool.distances, noise[0])
    return PairwiseEpsilons(paper, gaussian, paper_epsilon(mu, delta), gaussian_epsilon(mu, delta))


def half_size_check(
    weights: ArrayLike, half: ArrayLike | None = None, estimator: str = "median", bootstrap: Bootstrap | None = None
) -> HalfSize:
    """Compare an ensemble with one trained on half the rows, as the paper's remark under Table III.

    Without `half`, every other seed and dataset of the same grid is taken: then it is the study that is halved.

    Examples
    --------
    >>> stream = np.random.default_rng(0)
    >>> whole = stream.normal(size=(40, 1, 9)) + 0.1 * stream.normal(size=(20, 9))
    >>> 1.0 in half_size_check(whole).sigma_ratio
    True
    """
    chosen, table = bootstrap or Bootstrap(), checked(weights)
    other = checked(table[::2, ::2] if half is None else half)
    apart = Bootstrap(chosen.replicates, chosen.confidence, chosen.seed + 1)
    found = []
    for each, by in ((table, chosen), (other, apart)):
        resamples = by.draw(*each.shape[:2])
        pairs = Pairs.by_data(each)
        found.append((_Noise.of(each, resamples).by(estimator), (pairs.distances[-1], pairs.extremes(resamples)[1])))
    figures = []
    for whole, twin in zip(*found, strict=True):
        ratio, drawn = quotient(twin[0], whole[0]), quotient(twin[1], whole[1])
        figures += [chosen.estimate(*whole), chosen.estimate(*twin), chosen.estimate(float(ratio), drawn)]
    return HalfSize(*figures)


def study(
    weights: ArrayLike,
    *,
    n_samples: int,
    n_steps: int,
    batch_size: int,
    step: float,
    lipschitz: float | None,
    smoothness: float | None = None,
    last_batch: str = "mean",
    delta: float | None = None,
    estimator: str = "median",
    fixed: ArrayLike | None = None,
    half: ArrayLike | None = None,
    bootstrap: Bootstrap | None = None,
) -> IntrinsicFinding:
    """Run Algorithm 1 and everything around it on the weights of an ensemble.

    Parameters
    ----------
    weights : array (seeds, datasets, parameters)
        The runs; at least 8 seeds and 2 datasets. Their start may depend on the seed.
    n_samples, n_steps, batch_size, step, last_batch
        How they were trained; see `rigorous_sensitivity`.
    lipschitz, smoothness : float or None
        Constants of the convex loss; ``lipschitz=None`` (a network, say) leaves out what needs a bound.
    delta : float, optional
        ``1 / n_samples`` by default, as in the paper.
    estimator : str
        How sigma is estimated; the paper's is "median".
    fixed, half : array, optional
        The same ensemble with a fixed start; one trained on half the rows.
    bootstrap : Bootstrap, optional
        Replicates, confidence and seed of the intervals.

    Examples
    --------
    >>> stream = np.random.default_rng(0)
    >>> runs = 0.1 * stream.normal(size=(30, 1, 5)) + 0.002 * stream.normal(size=(12, 5))
    >>> found = study(runs, n_samples=1000, n_steps=100, batch_size=10, step=0.1, lipschitz=1.0)
    >>> found.grade, found.theoretical.value, 0.1 in found.sigma
    ('measured', 0.02, True)
    """
    chosen, table = bootstrap or Bootstrap(), checked(weights, least_seeds=8)
    limit = 1 / n_samples if delta is None else delta
    resamples = chosen.draw(*table.shape[:2])
    noise = _Noise.of(table, resamples)
    by_estimator = {name: noise.by(name) for name in ESTIMATORS}
    if estimator not in by_estimator:
        raise InvalidParameter("an estimator of sigma", repr(estimator), f"pass one of {', '.join(ESTIMATORS)}")
    spread_of_noise = by_estimator[estimator]
    moved = variability(table, fixed, chosen)
    pairs = moved.varying.data
    found = spread_replicates(pairs, resamples)
    theoretical = rigorous = epsilon_theoretical = epsilon_rigorous = claimed = None
    if lipschitz is not None:
        passes = fractional_passes(n_steps, n_samples, batch_size)
        theoretical = Estimate.exact(theoretical_sensitivity(passes, lipschitz, step, batch_size))
        proved = rigorous_sensitivity(
            n_steps, n_samples, lipschitz, step, batch_size, last_batch=last_batch, smoothness=smoothness
        )
        rigorous = Estimate.exact(proved)
        epsilon_theoretical, epsilon_rigorous = (
            _epsilons((each.value, each.value), spread_of_noise, limit, chosen) for each in (theoretical, rigorous)
        )
        claimed = claims(passes, lipschitz, step, n_samples, batch_size, moved.varying.by_seed)
    return IntrinsicFinding(
        int(table.shape[0]),
        int(table.shape[1]),
        int(table.shape[2]),
        limit,
        theoretical,
        rigorous,
        describe_sensitivity(pairs, moved.varying.by_data),
        chosen.estimate(*spread_of_noise),
        {name: chosen.estimate(*each) for name, each in by_estimator.items()},
        epsilon_theoretical,
        epsilon_rigorous,
        _epsilons((found.values[-1], found.replicates[:, -1]), spread_of_noise, limit, chosen),
        _pairwise(pairs, found, spread_of_noise, limit, chosen),
        anisotropy(table, limit, None if rigorous is None else rigorous.value, chosen),
        normality(table, bootstrap=chosen),
        moved,
        claimed,
        None if half is None else half_size_check(table, half, estimator, chosen),
    )
