"""Bins of margins after an earlier look: what its counts were, and how much of them was noise, is all that counts."""

import math

import numpy as np
from scipy.special import logit

from equipoise.certify.claims import Noise
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.noise_law import variance
from equipoise.evaluation.shares import rebalanced
from equipoise.planning.bins_from import edges_where, most_for_accuracy, seen
from equipoise.planning.evaluation import bins
from equipoise.planning.laws import deviation_of


def edges_after(looked: NoisyCounts, reach: tuple[float, float], n_samples: int, noise: Noise) -> tuple[float, ...]:
    """Return the inner edges of bins of margins of two classes, by where an earlier evaluation saw them.

    There are no more bins than without a look, and no more than accuracy can carry the noise of: where a model is
    hardly ever wrong its sampling is small. How often it is the look says up to its own noise, one deviation of which
    is taken off.

    Parameters
    ----------
    looked : NoisyCounts
        What it released; groups are added up.
    reach : pair of float
        Where margins can lie.
    n_samples, noise : int, Noise
        How many rows are counted now, of one group, and with how much noise on a count.

    Examples
    --------
    >>> counts = np.array([[[120, 5800, 3100, -40], [30, 90, 640, 260]]])
    >>> looked = NoisyCounts((0.1, 0.5, 0.9), counts, "laplace", 40.0, 10_000)
    >>> [round(edge, 1) for edge in edges_after(looked, (-6.0, 6.0), 10_000, Noise("laplace", 5.0, 1))]
    [-0.4, 0.0, 0.3, 0.5, 0.7, 0.9, 1.0, 1.3, 1.5, 1.8, 2.4]
    """
    rows = np.sum(rebalanced(looked), axis=0) * (n_samples / looked.n_samples)
    # Shares of 0 or 1 have no margin.
    margins = logit(np.clip(looked.edges, 2.0**-1000, 1.0 - 2.0**-53))
    deviation = math.sqrt(variance(looked.law, looked.scale)) * n_samples / looked.n_samples
    found = seen(rows, margins, reach, max(deviation, 1e-6))
    # Half of the difference of right and wrong, to which every cell that was looked at adds its noise.
    cut = 1 + int(np.argmin(np.abs(margins)))
    wrong = float(np.sum(rows[0, cut:]) + np.sum(rows[1, :cut])) - 0.5 * deviation * math.sqrt(looked.counts.size)
    most = min(bins(n_samples, 2, noise), most_for_accuracy(wrong / n_samples, n_samples, deviation_of(noise)))
    return edges_where(found, n_samples, deviation_of(noise), most)
