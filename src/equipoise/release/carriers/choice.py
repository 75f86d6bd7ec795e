"""One of several candidates: by the exponential mechanism on rows of nobody (E5), or the best of secret runs (E6)."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from equipoise.certify.claims import Claim, Trained
from equipoise.certify.claims.choice import LEVELS, Choice, Stopping
from equipoise.data.projection import directions, shortening
from equipoise.data.rows import coded_targets, row_source
from equipoise.errors import PrivateFailure
from equipoise.noise import NoiseSource
from equipoise.planning.random_stopping import DRAW_BITS, run_count
from equipoise.release import carriers
from equipoise.release.carriers.base import Carrier, numbers_of
from equipoise.release.job import Array, Carried, Job
from equipoise.release.split import split, taken

# A uniform number comes in words of so many binary digits.
_WORD_BITS = 62


class ChoiceCarrier(Carrier[Choice]):
    """Nothing leaves but the noisy weights of the chosen candidate and which one it is: the others are forgotten."""

    claim: ClassVar[type[Claim]] = Choice

    def ready(self, claim: Choice, source: NoiseSource) -> None:
        """Load what chooses."""
        source.ready(numbers_of(claim), choosing=True)

    def carry_out(self, claim: Choice, job: Job) -> Carried:
        """Score the candidates on rows that trained none of them, and choose by noise."""
        scores = [score(candidate, job, claim.procedure.bound) for candidate in job.candidates]
        place = job.source.choose(np.array(scores), claim.scale)
        return Carried(replace(claim, released=place), job.candidates[place].weights, job)


class StoppingCarrier(Carrier[Stopping]):
    """Candidates drawn by secret coins, trained and scored a secret number of times, of which the best is kept."""

    claim: ClassVar[type[Claim]] = Stopping

    def carry_out(self, claim: Stopping, job: Job) -> Carried:
        """Train and score so often, and keep the best run."""
        source, left = job.source, claim.n_samples - claim.validation_rows
        validating, (training,) = split(claim.n_samples, claim.validation_rows, [left], job.terms.public_seed)
        validation, part = taken(job, validating), taken(job, training)
        kept: tuple[float, int, Carried] | None = None
        for _ in range(run_count(_uniform(source), claim.shape, claim.gamma)):
            place = int(source.subset(len(claim.of), 1)[0])
            run = carriers.carry_out(claim.of[place], part)
            exact = np.array([score(run, validation, claim.procedure.bound)])
            noisy = float(source.add(claim.law, exact, claim.scale)[0])
            # The first of equals: runs are exchangeable, so this breaks ties by coins that know nothing of the data.
            if kept is None or noisy > kept[0]:
                kept = noisy, place, run
        if kept is None:
            raise PrivateFailure
        return Carried(replace(claim, released=kept[1]), kept[2].weights, job)


def _uniform(source: NoiseSource) -> int:
    """Return a uniform whole number below ``2^DRAW_BITS``."""
    number = 0
    for _ in range(DRAW_BITS // _WORD_BITS):
        number = (number << _WORD_BITS) + int(source.subset(2**_WORD_BITS, 1)[0])
    return number


def score(candidate: Carried, job: Job, bound: float) -> float:
    """Return minus the sum of clipped losses, in whole parts of the score bound: exact, and moved by one row alone."""
    claim = candidate.claim.trained
    if not isinstance(claim, Trained) or job.target is None:
        raise PrivateFailure
    problem = claim.problem
    predictions = np.nan_to_num(_predictions(claim, job, job.table.read(), candidate.weights))
    coded = coded_targets(job.target.read(), problem, job.classes)
    if problem.loss.task == "regression":
        limit = problem.domain.label_bound
        losses = (np.clip(predictions[:, 0], -limit, limit) - coded) ** 2
    elif predictions.shape[1] == 1:
        losses = ((predictions[:, 0] > 0) != (coded > 0)).astype(np.float64)
    else:
        losses = (predictions.argmax(axis=1) != coded).astype(np.float64)
    shares = np.minimum(losses / bound, 1.0)
    return -float(np.floor(LEVELS * shares).astype(np.int64).sum())


def _predictions(claim: Trained, job: Job, matrix: Any, weights: Array) -> Array:
    """Return every row times the weights, mapped into its domain as in training, a column an output."""
    domain, count, columns = claim.problem.domain, getattr(claim, "projection", 0), job.terms.n_features
    rows = row_source(matrix, domain, intercept=0.0)
    products = rows.predictions(np.ascontiguousarray(weights[:, :columns].T))
    if count:
        # Rows are clipped in their few directions as in training (P1).
        found = directions(columns, count, job.terms.public_seed)
        products *= shortening(rows.predictions(found), domain)[:, None]
    intercept = claim.problem.intercept
    return products + intercept * weights[:, -1] if intercept > 0 else products
