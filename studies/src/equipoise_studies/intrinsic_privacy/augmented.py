"""Algorithm 2 of the intrinsic-privacy paper: noise that is credited with SGD's own. A finding, never a release.

Its Theorem 3 assumes that SGD is a Gaussian mechanism; that assumption is refuted (H2), so weights made here carry no
guarantee at any epsilon. What can be measured is how much utility the credit would buy.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from equipoise.errors import InvalidData, InvalidParameter
from equipoise.lab.epsilon import gaussian_factor
from equipoise.lab.estimate import Array, Bootstrap, Estimate, checked, positive
from equipoise.planning.laws.gaussian import largest_mu

Score = Callable[[NDArray[Any]], ArrayLike]


def target_sigma(sensitivity: float, epsilon: float, delta: float, rule: str = "paper") -> float:
    """Return the noise that (epsilon, delta) asks for: ``c Delta / epsilon`` ("paper"), or the exact one ("gaussian").

    Examples
    --------
    >>> round(target_sigma(1.0, 1.0, 1e-5), 4), round(target_sigma(1.0, 1.0, 1e-5, rule="gaussian"), 4)
    (4.8448, 3.7306)
    """
    positive(sensitivity=sensitivity, epsilon=epsilon)
    factor = gaussian_factor(delta)
    if rule not in ("paper", "gaussian"):
        raise InvalidParameter("a rule for the noise", repr(rule), 'pass "paper" or "gaussian"')
    return sensitivity * factor / epsilon if rule == "paper" else sensitivity / largest_mu(epsilon, delta)


def augmenting_sigma(target: float, intrinsic: float) -> float:
    """Return what Algorithm 2 adds, ``sqrt(target^2 - intrinsic^2)``, or 0 where SGD's own noise is as large.

    Examples
    --------
    >>> augmenting_sigma(5.0, 3.0), augmenting_sigma(3.0, 5.0)
    (4.0, 0.0)
    """
    if not (0 <= target < math.inf and 0 <= intrinsic < math.inf):
        raise InvalidParameter("two sigmas from 0 up", f"{target!r} and {intrinsic!r}", "pass finite ones")
    return math.sqrt(max(0.0, (target - intrinsic) * (target + intrinsic)))


def augmenting_covariance(covariance: ArrayLike, target: float) -> Array:
    """Return what is missing of `target` in every direction: ``U diag(max(0, target^2 - lambda_i)) U'`` (H3).

    Examples
    --------
    >>> augmenting_covariance([[1.0, 0.0], [0.0, 9.0]], 2.0).tolist()
    [[3.0, 0.0], [0.0, 0.0]]
    """
    table = np.asarray(covariance, np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.allclose(table, table.T):
        raise InvalidData("a symmetric covariance", f"shape {table.shape}", "pass a square, symmetric table")
    positive(target=target)
    sizes, directions = np.linalg.eigh(table)
    return np.asarray((directions * np.maximum(0, target**2 - sizes)) @ directions.T)


def augment(weights: ArrayLike, sigma: float, seed: int = 0) -> Array:
    """Return weights with seeded Gaussian noise of that sigma added: for measuring utility, not for release.

    Examples
    --------
    >>> augment(np.zeros((2, 2, 500)), 0.5).std().round(2).item()
    0.5
    """
    table = checked(weights, least_seeds=1, least_datasets=1)
    if not 0 <= sigma < math.inf:
        raise InvalidParameter("a finite sigma from 0 up", repr(sigma), "see augmenting_sigma")
    return np.asarray(table + sigma * np.random.default_rng(seed).standard_normal(table.shape))


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A mean difference with its interval, and Student's paired test of no difference.

    Runs of a seed are alike, so a seed counts as one pair (`n_pairs`, `p_value`). The paper counts every run, which
    overstates the evidence; `p_value_by_run` is that. `wins` is the share of seeds with a positive difference.
    """

    difference: Estimate
    statistic: float
    p_value: float
    p_value_by_run: float
    wins: float
    n_pairs: int


@dataclass(frozen=True, slots=True)
class Utility:
    """The scores at one epsilon without noise, with SGD as deterministic, and with SGD's noise credited (Algorithm 2).

    `gain` is augmented minus deterministic, `shortfall` augmented minus noiseless; `gap_closed` is the gain over the
    gap from deterministic to noiseless, None where there is no gap.
    """

    epsilon: float
    sigma_target: float
    sigma_augmented: float
    noiseless: Estimate
    deterministic: Estimate
    augmented: Estimate
    gain: PairedTest
    shortfall: PairedTest
    gap_closed: Estimate | None


def paired_test(differences: ArrayLike, bootstrap: Bootstrap | None = None) -> PairedTest:
    """Test whether differences, (seeds, runs of the seed), have mean zero.

    Examples
    --------
    >>> found = paired_test([[1.0, 1.2], [0.8, 1.0], [1.1, 0.9]])
    >>> found.n_pairs, found.wins, round(found.difference.value, 2), found.p_value < 0.01
    (3, 1.0, 1.0, True)
    """
    chosen, table = bootstrap or Bootstrap(), np.asarray(differences, np.float64)
    if table.ndim != 2 or len(table) < 2 or not table.shape[1] or not np.isfinite(table).all():
        raise InvalidData("finite differences of two seeds at least", f"shape {table.shape}", "pass (seeds, runs)")
    by_seed = table.mean(1)
    difference = chosen.estimate(by_seed.mean(), _shares(chosen, len(table)) @ by_seed)
    statistic, p_value = _student(by_seed)
    wins = float((by_seed > 0).mean())
    return PairedTest(difference, statistic, p_value, _student(table.ravel())[1], wins, len(table))


def _shares(bootstrap: Bootstrap, n_seeds: int) -> Array:
    return np.asarray(bootstrap.draw(n_seeds, 2).seeds / n_seeds)


def _student(values: Array) -> tuple[float, float]:
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))
    if not error:
        return (0.0, 1.0) if not mean else (math.copysign(math.inf, mean), 0.0)
    return mean / error, float(2 * stats.t.sf(abs(mean / error), len(values) - 1))


def utility(
    weights: ArrayLike,
    score: Score,
    *,
    sensitivity: float,
    sigma: float,
    epsilons: Sequence[float],
    delta: float,
    rule: str = "paper",
    draws: int = 1,
    seed: int = 0,
    bootstrap: Bootstrap | None = None,
) -> tuple[Utility, ...]:
    """Measure what crediting SGD's own noise buys, at each epsilon (Table IV, Figures 5 and 9).

    Parameters
    ----------
    weights : array (seeds, datasets, parameters)
        The runs; pass a part of the datasets where scoring is slow.
    score : callable
        Takes weights, (m, parameters), and returns m scores on test data, such as accuracies.
    sensitivity, sigma : float
        What the noise is calibrated to, and SGD's own noise.
    epsilons, delta, rule
        The targets, and how the noise for them is computed; see `target_sigma`.
    draws, seed : int
        How often noise is drawn for each run, and from which stream. Either noise is the same draw, scaled, so the
        scores are paired.

    Examples
    --------
    >>> runs = np.ones((20, 2, 5)) + 0.1 * np.random.default_rng(0).normal(size=(20, 1, 5))
    >>> found, = utility(runs, lambda w: -np.abs(w - 1).mean(1), sensitivity=0.1, sigma=0.1, epsilons=[4.0], delta=1e-5)
    >>> round(found.sigma_target, 3), round(found.sigma_augmented, 3), found.gain.difference.low > 0
    (0.121, 0.068, True)
    """
    chosen, table = bootstrap or Bootstrap(), checked(weights, least_datasets=1)
    if not isinstance(draws, int) or draws < 1:
        raise InvalidParameter("at least one draw of noise a run", repr(draws), "pass draws=1")
    targets = [target_sigma(sensitivity, each, delta, rule) for each in epsilons]
    added = [augmenting_sigma(each, sigma) for each in targets]
    plain = np.stack([_scores(score, runs) for runs in table])
    noisy = np.zeros((2, len(targets), *table.shape[:2]))
    for place, runs in enumerate(table):
        stream = np.random.default_rng((seed, place))
        for _ in range(draws):
            noise = stream.standard_normal(runs.shape)
            for way, scales in enumerate((targets, added)):
                for target, scale in enumerate(scales):
                    # Without noise the score is known already.
                    found = _scores(score, runs + scale * noise) if scale else plain[place]
                    noisy[way, target, place] += found / draws
    shares = _shares(chosen, len(table))

    def mean(scores: Array) -> Estimate:
        return chosen.estimate(scores.mean(), shares @ scores.mean(1))

    findings = []
    for place, epsilon in enumerate(epsilons):
        deterministic, augmented = noisy[:, place]
        gain, gap = augmented - deterministic, plain - deterministic
        closed = None
        if gap.mean() > 0:
            below = shares @ gap.mean(1)
            replicates = np.divide(shares @ gain.mean(1), below, out=np.full(len(below), math.inf), where=below > 0)
            closed = chosen.estimate(gain.mean() / gap.mean(), replicates)
        findings.append(
            Utility(
                float(epsilon),
                targets[place],
                added[place],
                mean(plain),
                mean(deterministic),
                mean(augmented),
                paired_test(gain, chosen),
                paired_test(augmented - plain, chosen),
                closed,
            )
        )
    return tuple(findings)


def _scores(score: Score, runs: NDArray[Any]) -> Array:
    found = np.asarray(score(runs), np.float64)
    if found.shape != (len(runs),) or not np.isfinite(found).all():
        asked = f"a score that returns {len(runs)} finite numbers for weights of shape {runs.shape}"
        raise InvalidData(asked, f"shape {found.shape}", "score each row of weights by itself")
    return found
