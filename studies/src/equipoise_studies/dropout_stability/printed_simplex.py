"""Algorithm 2 as printed: dropout over the simplex behind a test, its exact output law, and why it is not private.

The output is a coordinate or "failure". Column sums determine its law: with m_j ones in column j the score of j is
binomial (m_j, 1/2), scores are independent, and the least score wins, the first on ties. So the hockey-stick divergence
of neighbours is a finite sum. The corrected selector, with the threshold that makes it true, is `SimplexSelector`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

Array = NDArray[np.float64]


def winner_law(column_sums: Sequence[int]) -> Array:
    """Return the chance of each coordinate to be chosen, by exact enumeration of the least score.

    Examples
    --------
    >>> winner_law([1, 1]).round(12).tolist()
    [0.75, 0.25]
    """
    ones = np.asarray(column_sums)[:, None]
    score = np.arange(ones.max() + 1)[None]
    equal, above = binom.pmf(score, ones, 0.5), binom.sf(score, ones, 0.5)
    # An earlier column wins ties, so earlier ones must lie above and later ones must not lie below.
    earlier = np.vstack([np.ones_like(above[:1]), np.cumprod(above, axis=0)[:-1]])
    later = np.vstack([np.cumprod((above + equal)[::-1], axis=0)[::-1][1:], np.ones_like(above[:1])])
    return np.asarray((equal * earlier * later).sum(1))


def pass_probability(column_sums: Sequence[int], epsilon: float, delta: float) -> float:
    """Return the chance that the printed test passes: ``n Lambda + Lap(1/epsilon) > 2 log(1/delta)/epsilon``.

    ``n Lambda`` is the least column sum without one row, which is the least column sum less 1.

    Examples
    --------
    >>> round(pass_probability([29, 40], 1.0, 1e-6), 3)
    0.654
    """
    margin = epsilon * (min(column_sums) - 1) - 2 * math.log(1 / delta)
    return 1 - math.exp(-margin) / 2 if margin >= 0 else math.exp(margin) / 2


def output_law(column_sums: Sequence[int], epsilon: float, delta: float) -> Array:
    """Return the chance of each coordinate and, last, of failure.

    Examples
    --------
    >>> float(output_law([60, 70, 80], 0.5, 1e-6).sum().round(12))
    1.0
    """
    passes = pass_probability(column_sums, epsilon, delta)
    return np.append(passes * winner_law(column_sums), 1 - passes)


def hockey_stick(first: Array, second: Array, epsilon: float) -> float:
    """Return the least delta for which the first law is within (epsilon, delta) of the second.

    Examples
    --------
    >>> hockey_stick(np.array([0.5, 0.5]), np.array([0.25, 0.75]), 0.0)
    0.25
    """
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum())


@dataclass(frozen=True)
class Counterexample:
    """Two neighbours by their column sums: the row that is replaced moves every sum by one, the first one up.

    Examples
    --------
    >>> COUNTEREXAMPLES[0].delta_needed > 300 * COUNTEREXAMPLES[0].delta
    True
    """

    epsilon: float
    columns: int
    first: int
    others: int
    delta: float = 1e-6

    @property
    def neighbours(self) -> tuple[list[int], list[int]]:
        """The column sums of both datasets."""
        rest = self.columns - 1
        return [self.first, *[self.others + 1] * rest], [self.first + 1, *[self.others] * rest]

    @property
    def delta_needed(self) -> float:
        """The delta that Algorithm 2 really has at the claimed 2 epsilon, on this pair, at least."""
        one, other = (output_law(sums, self.epsilon, self.delta) for sums in self.neighbours)
        return max(hockey_stick(one, other, 2 * self.epsilon), hockey_stick(other, one, 2 * self.epsilon))


# Near the threshold of 55 and 31 ones, with a first column that seldom wins.
COUNTEREXAMPLES = (Counterexample(0.5, 50, 59, 55), Counterexample(0.9, 50, 44, 30))
