"""Public rules for what a request leaves open: where a solver stops, and how long a step is."""

import math
from dataclasses import replace

from equipoise.errors import InvalidParameter
from equipoise.planning.work import eased
from equipoise.vocabulary.constants import constants, masked, setting, smallest_tolerance
from equipoise.vocabulary.facts import Constants, Problem, Recipe, Setting

# The share of the exact sensitivity that the solver's tolerance may add (A4 allows 1 %; Newton steps make 0.1 % cheap).
TOLERANCE_SHARE = 0.001
KINKED_TOLERANCE_SHARE = 0.04
EASED_SHARE = 1.0


def public_tolerance(facts: Constants, n_samples: int, dimension: int, epsilon: float, rows_a_person: int = 1) -> float:
    """Return the gradient norm the solver must reach, from public facts alone (A4, L3).

    It adds at most 0.1 % to the exact sensitivity, 4 % for a loss with corners, and for a large epsilon it stays as far
    below the noise, so that a model without privacy to speak of is also one without error. Where rounding allows no
    less, it is the smallest that can be proved.

    Examples
    --------
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.facts import Domain
    >>> facts = constants(Problem(losses.named("squared"), penalties.named("l2", 0.5), Domain(1.0, labels=(-1.0, 1.0))))
    >>> round(public_tolerance(facts, 1000, 5, 1.0) / facts.gradient_diameter, 9)
    5e-07
    """
    if math.isinf(facts.smoothness):
        # A tenth is as much as a large epsilon can ask for: the duality gap goes with the square of the distance.
        share = KINKED_TOLERANCE_SHARE / min(max(1.0, epsilon), 10.0)
    else:
        share = TOLERANCE_SHARE / max(1.0, epsilon)
    wanted = share * facts.gradient_diameter / (2 * n_samples)
    if math.isinf(facts.smoothness):
        # More than the weights can be apart would say nothing, and N10 counts no steps towards it.
        wanted = min(wanted, 3 * facts.strong_convexity * facts.radius)
    return max(wanted, smallest_tolerance(facts, n_samples * rows_a_person, dimension))


def planned_setting(problem: Problem, n_samples: int, n_features: int, epsilon: float) -> Setting:
    """Return the setting in which the problem will be solved: its tolerance comes from public facts."""
    facts = constants(problem)
    # Without strong convexity no tolerance means anything, and every theorem refuses with the remedy.
    certifiable = facts.strong_convexity > 0
    weights, most = problem.dimension(n_features), problem.domain.rows_a_person or 1
    tolerance = public_tolerance(facts, n_samples, weights, epsilon, most) if certifiable else 0.0
    # A worst case beyond the limit may be eased by a tolerance of up to a quarter of the sensitivity (N10).
    largest = EASED_SHARE * facts.gradient_diameter / (2 * n_samples)
    return eased(setting(problem, Recipe(tolerance), n_samples, n_features), largest)


def settled(problem: Problem, recipe: Recipe) -> Recipe:
    """Return the recipe with the rule "decay" as numbers: ``min(1/(beta + alpha), 1/(alpha t))`` (B4)."""
    if recipe.step != "decay":
        return recipe
    seen = masked(problem, recipe)
    ridge, smoothness = seen.penalty.smoothness(), seen.loss.curvature_bound() * seen.row_norm**2
    if not (ridge > 0 and math.isfinite(smoothness)):
        raise InvalidParameter(
            'a smooth loss and a ridge for step="decay"',
            f"{seen.loss.id} with alpha={seen.penalty.alpha:g}",
            "pass alpha > 0 and a smooth loss, or a number as the step",
        )
    return replace(recipe, step=1 / (smoothness + ridge), decay=ridge)
