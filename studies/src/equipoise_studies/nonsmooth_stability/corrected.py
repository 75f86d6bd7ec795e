"""What holds in place of what is printed: closed forms of C1, explicit risks (C4), exact binomial tails.

The units are as in `published`: Lipschitz constant and, for distances, step length are 1.
"""

import functools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import binom

from equipoise.certify.theorems.random_hits import CornerRandomHits
from equipoise.planning.stability import bounds
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.constants import setting
from equipoise.vocabulary.facts import Domain, Problem, Recipe, Setting
from equipoise_studies.nonsmooth_stability import published

Array = NDArray[np.float64]


def theorems(n_samples: int, n_steps: int, *, full_batch: bool = False, loss: str = "absolute") -> dict[str, float]:
    """Return what the product's theorems say of a fixed order, or of full batches, by their ids.

    Examples
    --------
    >>> found = theorems(100, 10_000)
    >>> {name: round(found[name], 1) for name in ("C1", "C1.closed", "001-Lem3.1", "001-Table1")}
    {'C1': 348.5, 'C1.closed': 397.0, '001-Lem3.1': 596.0, '001-Table1': 600.0}
    """
    passes, batch_size = (n_steps, n_samples) if full_batch else (n_steps / n_samples, 1)
    found = bounds(_problem(loss), Recipe(passes=passes, batch_size=batch_size, step=1.0), n_samples)
    return {bound.theorem: bound.value for bound in found if bound.value is not None}


def closed_form(n_samples: int, n_steps: int, hits: int) -> float:
    """Return C1's closed form when the row is drawn so often: ``2 (sqrt(T - N + 1) + N - 1)``, and 0 without a draw.

    Examples
    --------
    >>> round(closed_form(100, 10_000, 100), 1)
    397.0
    """
    return CornerRandomHits().distance(_drawn(n_samples, n_steps), hits)


def expected_closed_form(n_samples: int, n_steps: int) -> float:
    """Return the expectation of the closed form when each step draws its row anew.

    Examples
    --------
    >>> round(expected_closed_form(100, 10_000), 1)
    397.0
    """
    chances = binom.pmf(np.arange(n_steps + 1), n_steps, 1 / n_samples)
    likely = np.flatnonzero(chances > 1e-18).tolist()
    return math.fsum(float(chances[hits]) * closed_form(n_samples, n_steps, hits) for hits in likely)


def _problem(loss: str) -> Problem:
    domain = Domain(1.0, classes=(0, 1)) if loss == "hinge" else Domain(1.0, labels=(-1.0, 1.0))
    return Problem(losses.named(loss), penalties.named("none", 0.0), domain)


@functools.cache
def _drawn(n_samples: int, n_steps: int) -> Setting:
    recipe = Recipe(passes=n_steps / n_samples, step=1.0, order="replacement")
    return setting(_problem("absolute"), recipe, n_samples, 1)


def log_tail(hits: int, n_steps: int, n_samples: int) -> float:
    """Return ``log P(N >= hits)`` for the number of times that one row is drawn.

    Examples
    --------
    >>> round(log_tail(405, 10_000, 10_000))
    -2040
    """
    # The terms fall at least as fast as a normal law's beyond its mean; those left out are below 1e-100 of the first.
    terms = 100 + 40 * math.ceil(math.sqrt(n_steps / n_samples))
    counts = np.arange(hits, min(hits + terms, n_steps) + 1)
    return float(logsumexp(binom.logpmf(counts, n_steps, 1 / n_samples))) if len(counts) else -math.inf


def violating_hits(n_samples: int, n_steps: int, per_hit: float) -> int:
    """Return how many hits take two neighbours farther apart than Theorem 3.2 allows, for linear losses in one column.

    A hit moves the last iterates apart by 2, and the averages by 1 on average over where the hits fall.

    Examples
    --------
    >>> violating_hits(10_000, 10_000, 2.0), violating_hits(10_000, 10_000, 1.0)
    (203, 405)
    """
    return math.floor(published.table_full_batch(n_samples, n_steps) / per_hit) + 1


def log_violation(n_samples: int, n_steps: int, *, averages: bool) -> float:
    """Return the logarithm of a probability with which Theorem 3.2's bound is exceeded, at least.

    Where the averages are compared, hits fall early and late with equal chances, so that at least half of the orders
    that have enough hits exceed the bound.
    """
    hits = violating_hits(n_samples, n_steps, 1.0 if averages else 2.0)
    return log_tail(hits, n_steps, n_samples) - (math.log(2) if averages else 0.0)


def log_union(n_samples: int, n_steps: int) -> float:
    """Return the logarithm of the probability with which Theorem 3.2's bound is exceeded, at most.

    By C1 a row that is drawn N times moves the weights by `closed_form`; any of n rows may be.
    """
    allowed = published.table_full_batch(n_samples, n_steps)
    low, high = 1, n_steps + 1
    while low < high:  # the smallest number of hits above the bound; the closed form grows with hits up to T
        middle = (low + high) // 2
        low, high = (low, middle) if closed_form(n_samples, n_steps, middle) > allowed else (middle + 1, high)
    return math.log(n_samples) + log_tail(low, n_steps, n_samples)


def log_derivation(n_samples: int, n_steps: int) -> float:
    """Return the logarithm of n times the probability that the printed proof has to exclude.

    Lemma 3.1 gives ``2 sqrt(T) + 4 N``, so that the proof needs ``N <= T/n + sqrt(T)/2``.
    """
    allowed = math.floor(n_steps / n_samples + math.sqrt(n_steps) / 2)
    return math.log(n_samples) + log_tail(allowed + 1, n_steps, n_samples)


def quantile_bound(n_samples: int, n_steps: int, log_chance: float) -> float:
    """Return C1's closed form at the number of hits that any of n rows exceeds with at most the given chance."""
    hits = math.ceil(n_steps / n_samples)
    while math.log(n_samples) + log_tail(hits + 1, n_steps, n_samples) > log_chance:
        hits += 1
    return closed_form(n_samples, n_steps, hits)


def first_false(*, averages: bool, largest: int = 3000) -> int:
    """Return the n from which on, up to `largest`, the printed failure probability for T = n is below the true one.

    Examples
    --------
    >>> first_false(averages=False)
    146
    """
    size = largest
    while log_violation(size, size, averages=averages) > published.log_failure(size):
        size -= 1
    return size + 1


def generalisation(n_samples: int, passes: float, step: float) -> float:
    """Return C4's bound on the expected generalisation error: half the printed one."""
    return published.generalisation(n_samples, passes, step) / 2


def excess_risk(n_samples: int, passes: float, step: float, distance: float, noise: float = 0.0) -> float:
    """Return C4's bound on the expected excess risk of the averaged iterate after the given passes.

    ``D^2/(2 step T) + step (1 + noise)/2 + 2 step (sqrt(T) + passes)`` with T = passes n; `noise` is ``d sigma^2``.

    Examples
    --------
    >>> step = best_step(100, 100, 1.0)
    >>> round(excess_risk(100, 100, step, 1.0), 4), round(math.sqrt(1 + 8 * 100) / 100, 4)
    (0.283, 0.283)
    """
    updates = passes * n_samples
    spread = step * (1 + noise) / 2
    return distance**2 / (2 * step * updates) + spread + generalisation(n_samples, passes, step)


def best_step(n_samples: int, passes: float, distance: float, noise: float = 0.0) -> float:
    """Return the step that minimises `excess_risk`."""
    updates = passes * n_samples
    return distance / math.sqrt(updates * (1 + noise + 4 * (math.sqrt(updates) + passes)))
