"""Tables so long that full gradients take seconds: "auto" may then take steps on secret batches of rows.

Noisy SGD is the noisy gradient on batches. Where both cost the same by the model, it meets fewer numbers of the table.
Its plan composes all of its steps, a second or two of work, so that it is considered only beside a fit that takes
longer; which fit that is, public facts tell. No privacy claim rests on any of it.
"""

from dataclasses import dataclass, replace
from typing import Any

from equipoise.certify.claims.descents import NoisyDescent
from equipoise.certify.claims.noisy_gradient import NoisyGradient
from equipoise.planning.kinds import Plan, planner_of
from equipoise.planning.kinds.noisy_gradient import PASSES
from equipoise.planning.kinds.noisy_sgd import begun
from equipoise.planning.losses import known
from equipoise.planning.reference import RESOLUTION
from equipoise.planning.request import Request
from equipoise.planning.work import NUMBERS_A_DRAW
from equipoise.vocabulary.facts import Recipe

# From this work on, in numbers met, noisy gradients of all rows take some five seconds of one core.
LONG = 9e9

# Steps on batches are taken where they are at most this part of that work.
FASTER = 1 / 3


@dataclass(frozen=True, slots=True)
class Batches:
    """What noisy SGD would be asked for in place of a noisy gradient, its claim but for the noise, and both costs."""

    request: Request
    claim: NoisyDescent
    clip: float
    cost: float
    work: float

    def beats(self, chosen: Plan) -> bool:
        """Return whether the model tells no loss, and most of the work is saved."""
        return self.cost <= chosen.share + RESOLUTION and self.work <= FASTER * work_of_plan(chosen)

    @property
    def allowed(self) -> bool:
        """Whether rows are at hand: those that a schema encodes may lie with workers, who draw no batches."""
        return not self.request.schema


def batches_beside(request: Request, chosen: Plan) -> Batches | None:
    """Return what noisy SGD would do beside a noisy gradient of all rows that takes long; None elsewhere.

    For classifiers alone: no table with numbers for targets was measured.

    Examples
    --------
    >>> from equipoise.planning.menu import choose
    >>> from equipoise.vocabulary.facts import Budget, Domain
    >>> asked = Request("logistic", "l2", "public", Domain(1.0, classes=(0, 1)), 0.2, 10**4, 10, Budget(1.0, 1e-8))
    >>> batches_beside(asked, choose(asked)[0]) is None
    True
    """
    claim = chosen.claim
    if not isinstance(claim, NoisyGradient) or claim.batch or request.domain.classes is None:
        return None
    if work_of_plan(chosen) < LONG:
        return None
    clip = known(claim.problem.loss).typical_slope(request.domain.label_bound)
    recipe = Recipe(passes=PASSES, step="public", order="replacement", clip=clip * claim.problem.row_norm)
    # The ridge is that of the noisy gradient: what is minimised is the same.
    asked = replace(request, alpha=claim.alpha, recipe=recipe, left_open=("batch_size", "average"))
    descent, _, cost = begun(asked)
    draws = descent.recipe.steps(request.n_samples) * descent.noise.dimension
    return Batches(asked, descent, clip, cost, _work_of(descent) + NUMBERS_A_DRAW * draws)


def work_of_plan(plan: Plan) -> float:
    """Return how many numbers the fit of a plan meets."""
    return _work_of(plan.claim)


def _work_of(claim: Any) -> float:
    return planner_of(claim).work(claim, ())
