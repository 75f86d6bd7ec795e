"""Bins where scores are: edges that follow from the noisy counts of an earlier evaluation, which were paid for (N4).

Public facts say where scores can be. Counts that were released say where they are, and edges may depend on whatever
was released before (hypothesis 2 of N4): from there on they are as public as the counts.
"""

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.claims import Noise
from equipoise.planning.evaluation import FEWEST, bins
from equipoise.planning.laws import deviation_of

Array = NDArray[np.float64]

# So many rows of the rarer class, over the noise's variance, carry one bin: their noise is what widens the area's
# interval. Chosen with the table of docs/evaluation.md in view.
ROWS_A_BIN = 1.5


def bins_for(rare: float, n_samples: int, noise: Noise) -> int:
    """Return how many bins a score has if the rarer class has about so many rows: no more than those of the rule.

    The area under the ROC curve sums the noise of one cell of the rarer class a bin, over its rows: of the variance
    that sampling has this is a share like ``bins deviation^2/rows``.

    Examples
    --------
    >>> noise = Noise("laplace", 40 / 9, 1)
    >>> [bins_for(rare, 10_000, noise) for rare in (5000, 1000, 500, 100)]
    [16, 16, 8, 6]
    """
    carried = rare / (ROWS_A_BIN * deviation_of(noise) ** 2)
    return round(min(max(carried, FEWEST), bins(n_samples, 2, noise)))


def edges_where(rows: Array, margins: Array, reach: tuple[float, float], count: int, least: float) -> tuple[float, ...]:
    """Return the inner edges of so many bins of margins that are about equally full; one of them is 0.

    Full is meant of a mixture of the two classes' laws, each with the weight ``1/sqrt(rows)``: noise costs the rarer
    class more, so that bins lie where its rows are. Between the edges at which counts were cumulated, and beyond them,
    margins are taken as normal: quantiles are interpolated linearly in their normal scores.

    Parameters
    ----------
    rows : array, 2 x bins
        Noisy counts of both classes; below 0 they count as 0.
    margins : array
        The inner edges of those bins.
    reach : pair of float
        Where margins can lie at all.
    count : int
        How many bins there shall be.
    least : float
        Shares below this one, and above 1 less it, are noise.

    Examples
    --------
    >>> rows = np.array([[30.0, 600.0, 340.0, 20.0], [-4.0, 10.0, 60.0, 30.0]])
    >>> found = edges_where(rows, np.array([-2.0, 0.0, 2.0]), (-6.0, 6.0), 6, 0.01)
    >>> [round(edge, 2) for edge in found]
    [0.0, 0.42, 1.01, 1.59, 2.32]
    """
    from scipy.special import ndtr, ndtri

    seen = np.maximum(rows, 0.0)
    totals = np.maximum(np.sum(seen, axis=1), 1.0)
    law = totals**-1.5 @ seen
    upto = np.clip(np.cumsum(law)[:-1] / max(float(np.sum(law)), 1e-300), least, 1.0 - least)
    normal = ndtri(upto)
    # Where cumulated shares do not grow there is nothing between two edges: the first of them is kept.
    apart = np.r_[True, np.diff(normal) > 1e-9]
    normal, margins = normal[apart], margins[apart]
    wanted = np.arange(1, count) / count
    if len(margins) == 1:
        # All rows lie on one side of one edge, or nothing was seen: a width of a third of the way to either end.
        width = max(margins[0] - reach[0], reach[1] - margins[0], 1e-9) / 3.0
        normal, margins = np.r_[normal, normal + 1.0], np.r_[margins, margins + width]
    below, above = (np.diff(margins[part]) / np.diff(normal[part]) for part in (slice(0, 2), slice(-2, None)))
    scores = ndtri(wanted)
    found = np.interp(scores, normal, margins)
    found = np.where(scores < normal[0], margins[0] + (scores - normal[0]) * below, found)
    found = np.where(scores > normal[-1], margins[-1] + (scores - normal[-1]) * above, found)
    found = np.clip(found, *reach)
    # Decisions change at 0: the edge that is nearest to it, in rows, is moved there.
    found[np.argmin(np.abs(wanted - ndtr(np.interp(0.0, margins, normal))))] = 0.0
    return tuple(sorted({float(edge) for edge in found}))
