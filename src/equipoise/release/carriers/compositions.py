"""Claims in sequence, over disjoint rows, and after post-processing."""

from dataclasses import replace
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.certify.claims.compositions import Disjoint, PostProcessing, Sequence
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
