"""Bounds of columns that are released before a model (N6)."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Claim
from equipoise.certify.claims.chosen_bounds import ChosenBounds
from equipoise.certify.claims.private_bounds import ReleasedBounds
from equipoise.data.cells import Counts
from equipoise.errors import PrivateFailure
from equipoise.noise import NoiseSource
from equipoise.release.carriers.base import Carrier, numbers_of
from equipoise.release.intervals import CELLS, PARTS, intervals
from equipoise.release.job import Carried, Job


class ChosenBoundsCarrier(Carrier[ChosenBounds]):
    """Chooses an interval for each column by noisy counts of rows; the rows are then encoded by them (N6)."""

    claim: ClassVar[type[Claim]] = ChosenBounds

    def sums_suffice(self, claim: ChosenBounds) -> bool:
        """Return True: it counts."""
        return True

    def ready(self, claim: ChosenBounds, source: NoiseSource) -> None:
        """Load what chooses, and lay out the grid."""
        source.ready(numbers_of(claim), choosing=True)
        intervals()

    def carry_out(self, claim: ChosenBounds, job: Job) -> Carried:
        """Count all columns in one pass, choose, and encode the rows by what was chosen."""
        if job.unbounded is None:
            raise PrivateFailure
        counted = job.unbounded.counts(claim.columns, CELLS)
        released = tuple(
            chosen(column, counts, claim.scale, job.source)
            for column, counts in zip(claim.columns, counted, strict=True)
        )
        bounded = job.unbounded.with_bounds({bounds.column: (bounds.low, bounds.high) for bounds in released})
        following = replace(job, table=bounded.features, target=bounded.target, unbounded=None)
        return Carried(replace(claim, released=released), np.zeros((0, 0)), following)


def chosen(column: str, counts: Counts, scale: float, source: NoiseSource) -> ReleasedBounds:
    """Return the interval whose score is largest, with exponential noise of `scale` rows on each.

    Examples
    --------
    >>> from equipoise.noise import SeededSource
    >>> chosen("height", CELLS.counts(np.linspace(170, 190, 5000)), 50.0, SeededSource(0))
    ReleasedBounds(column='height', low=168.0, high=192.0)
    """
    grid = intervals()
    place = source.largest(grid.scores(counts), PARTS * scale)
    return ReleasedBounds(column, float(grid.lows[place]), float(grid.highs[place]))
