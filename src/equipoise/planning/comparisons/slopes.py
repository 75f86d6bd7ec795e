"""What only the papers' own bounds need: a penalty whose slope is bounded."""

import math

from equipoise.planning.penalties import known
from equipoise.vocabulary.facts import Hypothesis, Setting


def penalty_slope(setting: Setting) -> float:
    """Return the largest slope of the penalty where minimisers can lie."""
    return known(setting.problem.penalty).slope_bound(setting.constants.radius)


def bounded_slope(setting: Setting) -> Hypothesis:
    """Return the condition that the penalty's slope is bounded, for bounds that let it into the Lipschitz constant."""
    return Hypothesis(
        "the penalty has a bounded slope where minimisers can lie",
        math.isfinite(penalty_slope(setting)),
        "use a ridge, or a bound that does not need the penalty's slope",
    )
