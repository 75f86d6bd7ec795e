"""Which figures an evaluation has: those of two classes, of several, or of numbers."""

from collections.abc import Sequence

from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.regression import Regression
from equipoise.evaluation.several_classes import SeveralClasses
from equipoise.evaluation.two_classes import TwoClasses

Figures = TwoClasses | SeveralClasses | Regression


def figures_of(
    counts: NoisyCounts, groups: Sequence[int] | None = None, true_shares: NoisyCounts | None = None
) -> Figures:
    """Return every figure that follows from counts; of some groups where they are named.

    Of several classes, and all groups together, `true_shares` are the counts by the share of the true class.
    """
    if counts.range is not None:
        return Regression(counts, groups)
    if counts.counts.shape[1] == 2:
        return TwoClasses(counts, groups)
    return SeveralClasses(counts, groups, None if groups is not None else true_shares)
