"""``alpha="public"``: the ridge that minimises a certified excess-risk bound over what is public (docs/proofs/J6.md).

For weights w and zero-mean isotropic noise with coordinate variance v, a loss of curvature at most c on rows of norm
at most B obeys ``E L(w + k) <= L(w) + c B^2 v / 2``: the first-order term averages out. With the ridge's own cost
against any comparator of norm at most G,

    E L(released) - L(comparator)  <=  alpha G^2 / 2  +  c B^2 v(alpha) / 2  +  tau^2 / (2 alpha),

and every number on the right is public. The guess of G is one for all data: three units of evidence over the row norm,
so that a row which points along the weights can reach the far end of what a prediction needs to say: odds of e^3 = 20
to 1 (95 %) for a class, the end of the public range for a target. A larger guess pays noise for confidence that
accuracy does not need, since decisions do not change with the length of the weights; a smaller one could not express a
clear case. The argument came first; docs/alpha.md then shows the accuracies for guesses from 1 to 100.
"""

import bisect
import math

from equipoise.certify import laws
from equipoise.certify.claims import Noise
from equipoise.errors import NoTheoremApplies
from equipoise.planning.grids import Cost, cheapest
from equipoise.planning.laws import deviation_of, quietest
from equipoise.planning.losses import known as known_loss
from equipoise.planning.penalties import known as known_penalty
from equipoise.planning.request import Request
from equipoise.planning.rules import planned_setting
from equipoise.planning.stability import smallest
from equipoise.planning.work import affordable, remembered
from equipoise.vocabulary.constants import constants, well_conditioned
from equipoise.vocabulary.facts import Problem, Setting

WEIGHT_GUESS = 3.0

# The grid: eight steps an octave, from 2^-48 to 2^12 of the loss's smoothness. The bound is flat at its minimum, so 9
# % is fine.
STEPS_AN_OCTAVE = 8
OCTAVES = (-48, 12)


def guessed_norm(problem: Problem, guess: float = WEIGHT_GUESS) -> float:
    """Return G: `guess` units of evidence divided by the row norm, and never more than a declared weight radius."""
    norm = guess * known_loss(problem.loss).unit(problem.domain.label_bound) / problem.row_norm
    return norm if problem.domain.radius is None else min(norm, problem.domain.radius)


def excess_risk(situation: Setting, noise: Noise, norm: float) -> float:
    """Return the bound on the release's expected empirical risk above that of any weights of norm `norm`."""
    problem, facts = situation.problem, situation.constants
    # The penalty sees every output's weights, also where some follow from the others.
    weights = problem.dimension(situation.n_features) // problem.loss.free_outputs * problem.loss.outputs
    shrinkage = known_penalty(problem.penalty).largest(norm, weights)
    rise = known_loss(problem.loss).noise_cost(
        facts.row_norm * deviation_of(noise), laws.named(noise.law).rotation_invariant
    )
    return shrinkage + rise + situation.recipe.tolerance**2 / (2 * facts.strong_convexity)


def _yardstick(problem: Problem) -> float:
    """Return a strength in the problem's units: the loss's smoothness, or slope over prediction without one."""
    smoothness = constants(problem).smoothness
    if math.isfinite(smoothness):
        return smoothness
    label_bound = problem.domain.label_bound
    return (
        problem.loss.slope_bound(math.inf, label_bound)
        / known_loss(problem.loss).unit(label_bound)
        * problem.row_norm**2
    )


@remembered(most=1024)
def public_alpha(request: Request, guess: float = WEIGHT_GUESS) -> float:
    """Return the grid's alpha with the smallest excess-risk bound.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget, Domain
    >>> request = Request("logistic", "l2", "public", Domain(1.0, classes=(0, 1)), 0.0, 10_000, 20, Budget(1.0))
    >>> round(public_alpha(request), 4)
    0.0033
    """
    unit = _yardstick(request.problem(1.0))

    def cost(step: int) -> Cost:
        problem = request.problem(unit * math.pow(2.0, step / STEPS_AN_OCTAVE))
        situation = planned_setting(problem, request.n_samples, request.n_features, request.budget.epsilon)
        # Where no strength ends within the limit, the plan is refused with the remedy.
        endless = not affordable(situation)
        try:
            sensitivity = smallest(situation).sensitivity
        except NoTheoremApplies:
            return endless, math.inf
        found = quietest(sensitivity, situation.dimension, request.budget, request.mechanism)
        return endless, excess_risk(situation, found.noise(situation.dimension), guessed_norm(problem, guess))

    def feasible(step: int) -> bool:
        problem = request.problem(unit * math.pow(2.0, step / STEPS_AN_OCTAVE))
        return well_conditioned(constants(problem), request.rows, problem.dimension(request.n_features))

    grid = range(OCTAVES[0] * STEPS_AN_OCTAVE, OCTAVES[1] * STEPS_AN_OCTAVE + 1)
    # A stronger penalty is better conditioned.
    steps = grid[bisect.bisect_left(grid, True, key=feasible) :]
    if not steps:
        remedy = "pass alpha as a number, use fewer rows or columns, a smaller l1_ratio, or a larger power"
        raise NoTheoremApplies('alpha="public", at which rounding stays small (A4)', "none of the grid", remedy)
    return unit * math.pow(2.0, cheapest(steps, cost, STEPS_AN_OCTAVE) / STEPS_AN_OCTAVE)
