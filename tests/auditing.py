"""A statistical audit: from releases on two neighbours to a lower confidence bound on epsilon.

The event is fixed in advance: the release, projected on the direction in which the neighbours differ, lies beyond a
threshold. With Clopper-Pearson bounds on both probabilities, ``ln((p_low - delta) / q_high)`` exceeds the true epsilon
with probability at most `failure`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

Array = NDArray[np.float64]

# The false-alarm rate of the whole suite, shared evenly: every audit that may not fail uses `FAILURE`.
SUITE_FALSE_ALARM = 1e-4
AUDITS = 41
FAILURE = SUITE_FALSE_ALARM / AUDITS


@dataclass(frozen=True)
class Finding:
    """A lower bound on epsilon that holds with probability at least ``1 - failure``."""

    epsilon: float
    failure: float
    runs: int


def at_least(count: int, runs: int, failure: float) -> float:
    """Return the lower Clopper-Pearson bound of a probability."""
    return 0.0 if count == 0 else float(beta.ppf(failure, count, runs - count + 1))


def at_most(count: int, runs: int, failure: float) -> float:
    """Return the upper Clopper-Pearson bound of a probability."""
    return 1.0 if count == runs else float(beta.ppf(1 - failure, count + 1, runs - count))


def audit(first: Array, second: Array, delta: float, thresholds: Array, failure: float = FAILURE) -> Finding:
    """Return the best lower bound over the given thresholds, both directions, and both sides of each threshold.

    `first` and `second` are the projections of the releases on the two neighbours. Thresholds are fixed before the
    runs; the failure probability is shared among all events that are looked at.
    """
    runs = len(first)
    share = failure / (8 * len(thresholds))
    best = 0.0
    for threshold in thresholds:
        for left, right in ((first, second), (second, first)):
            for count, other in (
                (int(np.sum(left > threshold)), int(np.sum(right > threshold))),
                (int(np.sum(left <= threshold)), int(np.sum(right <= threshold))),
            ):
                low, high = at_least(count, runs, share), at_most(other, runs, share)
                if low > delta:
                    best = max(best, math.log((low - delta) / high))
    return Finding(best, failure, 2 * runs)
