"""Bins of margins after an earlier look: what its counts were, and how much of them was noise, is all that counts."""

import math

import numpy as np
from scipy.special import logit

from equipoise.certify.claims import Noise
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.noise_law import variance
from equipoise.evaluation.shares import rebalanced
from equipoise.planning.bins_from import bins_for, edges_where


def edges_after(looked: NoisyCounts, reach: tuple[float, float], n_samples: int, noise: Noise) -> tuple[float, ...]:
    """Return the inner edges of bins of margins of two classes, by where an earlier evaluation saw them.

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
    >>> [round(edge, 1) for edge in edges_after(looked, (-6.0, 6.0), 10_000, Noise("laplace", 9.0, 1))]
    [-0.5, 0.0, 0.9, 1.6, 2.3]
    """
    rows = np.sum(rebalanced(looked), axis=0)
    rare = n_samples * float(np.min(np.sum(rows, axis=1))) / looked.n_samples
    # Shares of 0 or 1 have no margin.
    margins = logit(np.clip(looked.edges, 2.0**-1000, 1.0 - 2.0**-53))
    least = min(math.sqrt(variance(looked.law, looked.scale)) / looked.n_samples, 0.25)
    return edges_where(rows, margins, reach, bins_for(rare, n_samples, noise), least)
