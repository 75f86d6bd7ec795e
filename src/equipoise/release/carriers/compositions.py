"""Claims in sequence, over disjoint rows, and after post-processing; bounds that are released before a model."""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Claim
from equipoise.certify.claims.compositions import Disjoint, PostProcessing, Sequence
from equipoise.certify.claims.private_bounds import CANDIDATES, LEVELS, PrivateBounds, ReleasedBounds
from equipoise.errors import PrivateFailure
from equipoise.release import carriers
from equipoise.release.carriers.base import Carrier
from equipoise.release.job import Carried, Job
from equipoise.release.split import split, taken


class SequenceCarrier(Carrier[Sequence]):
    """One part after the other, each on the rows as the part before left them."""

    claim: ClassVar[type[Claim]] = Sequence

    def sums_suffice(self, claim: Sequence) -> bool:
        """Return True: its parts are asked by themselves."""
        return True

    def carry_out(self, claim: Sequence, job: Job) -> Carried:
        """Carry out the parts in their order; the last one's weights are the release."""
        done = []
        for part in claim.of:
            carried = carriers.carry_out(part, job)
            job = carried.job
            done.append(carried)
        return Carried(replace(claim, of=tuple(part.claim for part in done)), done[-1].weights, job)


class DisjointCarrier(Carrier[Disjoint]):
    """Rows are dealt by the public seed; the last part sees what the others released, on rows of its own."""

    claim: ClassVar[type[Claim]] = Disjoint

    def carry_out(self, claim: Disjoint, job: Job) -> Carried:
        """Deal the rows, carry out every part on its own, and let the last one choose."""
        *trainings, chooser = claim.of
        sizes = [part.n_samples for part in trainings]
        validating, chunks = split(claim.n_samples, chooser.n_samples, sizes, job.terms.public_seed)
        done = tuple(
            carriers.carry_out(part, taken(job, places)) for part, places in zip(trainings, chunks, strict=True)
        )
        chosen = carriers.carry_out(chooser, replace(taken(job, validating), candidates=done))
        parts = (*(part.claim for part in done), chosen.claim)
        return Carried(replace(claim, of=parts), chosen.weights, job)


class PostProcessingCarrier(Carrier[PostProcessing]):
    """What is computed from a release costs nothing: the release is carried out."""

    claim: ClassVar[type[Claim]] = PostProcessing

    def sums_suffice(self, claim: PostProcessing) -> bool:
        """Return True: its parts are asked by themselves."""
        return True

    def carry_out(self, claim: PostProcessing, job: Job) -> Carried:
        """Carry out the release."""
        carried = carriers.carry_out(claim.of[0], job)
        return replace(carried, claim=replace(claim, of=(carried.claim,)))


class PrivateBoundsCarrier(Carrier[PrivateBounds]):
    """Releases the bounds of columns, by which the rows are then encoded (Q1)."""

    claim: ClassVar[type[Claim]] = PrivateBounds

    def carry_out(self, claim: PrivateBounds, job: Job) -> Carried:
        """Release two quantiles a column, and encode the rows by them."""
        if job.unbounded is None:
            raise PrivateFailure
        released: list[ReleasedBounds] = []
        for column in claim.columns:
            # A missing value stands as 0: a public rule, so one row moves one value.
            values = np.nan_to_num(job.unbounded.numbers(column), nan=0.0)
            ends = (job.source.quantile(values, CANDIDATES, level, claim.scale) for level in LEVELS)
            released.append(ordered(column, *ends))
        bounded = job.unbounded.with_bounds({bounds.column: (bounds.low, bounds.high) for bounds in released})
        following = replace(job, table=bounded.features, target=bounded.target, unbounded=None)
        return Carried(replace(claim, released=tuple(released)), np.zeros((0, 0)), following)


def ordered(column: str, first: float, second: float) -> ReleasedBounds:
    """Return two noisy quantiles as bounds: in order, and one step apart on either side where they are equal.

    Examples
    --------
    >>> ordered("age", 100.0, 20.0), ordered("flag", 0.0, 0.0)
    (ReleasedBounds(column='age', low=20.0, high=100.0), ReleasedBounds(column='flag', low=-1e-06, high=1e-06))
    """
    low, high = sorted((first, second))
    if low == high:
        place = CANDIDATES.index(low)
        low, high = CANDIDATES[max(place - 1, 0)], CANDIDATES[min(place + 1, len(CANDIDATES) - 1)]
    return ReleasedBounds(column, low, high)
