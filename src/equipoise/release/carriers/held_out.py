"""A training on some rows, and counts of the others by what it released: rows are dealt by place (N3, N4)."""

import math
from dataclasses import replace
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.certify.claims.evaluation import Evaluation, HeldOut
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.errors import PrivateFailure
from equipoise.release import carriers
from equipoise.release.carriers.base import Carrier
from equipoise.release.job import Carried, Job
from equipoise.release.split import split, taken


class HeldOutCarrier(Carrier[HeldOut]):
    """Rows are dealt by the public seed; those that are held out are first used when there are noisy weights."""

    claim: ClassVar[type[Claim]] = HeldOut

    def carry_out(self, claim: HeldOut, job: Job) -> Carried:
        """Deal the rows, train on some, and count the others in cells that follow from what the training released."""
        planned, training = claim.of
        if not isinstance(planned, Evaluation) or job.evaluating is None:
            raise PrivateFailure
        held, (others,) = split(claim.n_samples, planned.n_samples, [training.n_samples], job.terms.public_seed)
        trained = carriers.carry_out(training, taken(job, others))
        model = job.evaluating(trained)
        cells = model.cells(planned.n_samples, planned.noise)
        noise = replace(planned.noise, dimension=math.prod(cells.shape))
        # Further counts have noise as well, on as many bins as there are now.
        further = planned.further_noise and replace(planned.further_noise, dimension=len(cells.further) + 1)
        asked = replace(planned, release=job.release, model=model.digest, cells=cells, noise=noise)
        asked = replace(asked, further_noise=further)
        part = encoded(taken(job, held), trained.claim)
        if asked.check() or part.target is None:
            raise PrivateFailure
        counted = carriers.carry_out(asked, replace(part, target=model.known_target(part.target), scoring=model))
        return Carried(replace(claim, of=(planned, trained.claim), released=counted.claim), trained.weights, job)


def encoded(job: Job, training: Claim) -> Job:
    """Return the job on rows that are encoded by the bounds which a training has paid for, if it has."""
    if job.unbounded is None:
        return job
    paid = [node for node in training.nodes() if isinstance(node, PrivateBounds)]
    bounded = job.unbounded.with_bounds({each.column: (each.low, each.high) for node in paid for each in node.released})
    return replace(job, table=bounded.features, target=bounded.target, unbounded=None)
