"""How far scores are from the shares that they announce, over all bins."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from equipoise.evaluation.figure import LEVEL, Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.noise_law import variance
from equipoise.evaluation.shares import rebalanced

Array = NDArray[np.float64]


def calibration_error(counts: NoisyCounts, middles: Array, groups: Sequence[int]) -> Figure:
    """Return the expected calibration error: the sum over bins of ``|rows of class 1 - middle * rows|``, over all rows.

    A sum of absolute values has no law of its own that could be convolved: each bin's difference gets an interval from
    its estimated sampling and known noise, with the tails of one Laplace number, all hold together by a union of
    their errors, and the figure's interval adds up their least and greatest absolute values. It is wider than it would
    need to be; coverage is measured, not proved. The value has the mean absolute size of each bin's noise and sampling
    taken off, so that noise alone reads as no error.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[6120, 711], [905, 2270]]]), "laplace", 4.0, 10_000)
    >>> print(calibration_error(counts, np.array([0.25, 0.75]), [0]))
    0.08811 [0.07733, 0.1028] (sampling 0.0038, noise 0.00063)
    """
    rows = np.sum(rebalanced(counts)[list(groups)], axis=0)
    total = counts.n_samples if len(groups) == len(counts.counts) else max(float(np.sum(rows)), 1.0)
    difference = (rows[1] - middles * np.sum(rows, axis=0)) / total
    drawn = variance(counts.law, counts.scale) * len(groups) * (middles**2 + (1.0 - middles) ** 2)
    kept = np.maximum(rows, 0.0) + 1.0
    sampled = (1.0 - middles) ** 2 * kept[1] + middles**2 * kept[0]
    deviation = np.sqrt(drawn + sampled) / total
    error = (1.0 - LEVEL) / len(middles)
    # One Laplace number is beyond so many deviations with this chance; far out, sums with others are so more rarely.
    margin = max(-ndtri(0.5 * error), -np.log(error) / np.sqrt(2.0)) * deviation
    least = np.maximum(np.abs(difference) - margin, 0.0)
    low, high = float(np.sum(least)), min(float(np.sum(np.abs(difference) + margin)), 1.0)
    typical = np.sqrt(2.0 / np.pi) * deviation
    value = float(np.sum(np.sqrt(np.maximum(difference**2 - typical**2, 0.0))))
    parts = (float(np.sqrt(np.sum(part))) / total for part in (sampled, drawn))
    return Figure(min(max(value, low), high), low, high, *parts)
