"""Which figures an evaluation has: those of two classes, of several, or of numbers."""

from collections.abc import Sequence

from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.regression import Regression
from equipoise.evaluation.several_classes import SeveralClasses
from equipoise.evaluation.two_classes import TwoClasses

Figures = TwoClasses | SeveralClasses | Regression


def figures_of(counts: NoisyCounts, groups: Sequence[int] | None = None, further: NoisyCounts | None = None) -> Figures:
    """Return every figure that follows from counts; of some groups where they are named.

    For all groups together `further` are the counts by the share of the true class of several, or by the target.
    """
    more = None if groups is not None else further
    if counts.range is not None:
        return Regression(counts, groups, more)
    if counts.counts.shape[1] == 2:
        return TwoClasses(counts, groups)
    return SeveralClasses(counts, groups, more)
