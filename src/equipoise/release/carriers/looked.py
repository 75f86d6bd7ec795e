"""Counts of rows in bins that follow from a first look at them, which was paid for as well (N3, N4)."""

import math
from dataclasses import replace
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.certify.claims.evaluation import Evaluation, Looked
from equipoise.errors import PrivateFailure
from equipoise.release import carriers
from equipoise.release.carriers.base import Carrier
from equipoise.release.job import Carried, Job


class LookedCarrier(Carrier[Looked]):
    """Rows are counted with much noise; where these noisy counts say that scores are, they are counted once more."""

    claim: ClassVar[type[Claim]] = Looked

    def carry_out(self, claim: Looked, job: Job) -> Carried:
        """Look, put bins where the look saw scores, from what it released alone, and count."""
        look, planned = claim.of
        if not isinstance(planned, Evaluation) or job.scoring is None:
            raise PrivateFailure
        first = carriers.carry_out(look, job)
        if not isinstance(first.claim, Evaluation):
            raise PrivateFailure
        cells = job.scoring.after(first.claim).cells(planned.n_samples, planned.noise)
        asked = replace(planned, cells=cells, noise=replace(planned.noise, dimension=math.prod(cells.shape)))
        if asked.check():
            raise PrivateFailure
        counted = carriers.carry_out(asked, job)
        return replace(counted, claim=replace(claim, of=(first.claim, planned), released=counted.claim))
