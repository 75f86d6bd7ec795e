"""E4: from the exact perturbed minimiser to what a solver returns in double precision (docs/proofs/E4.md).

A solver that ends within ``tau / alpha`` of the perturbed minimiser, for every dataset and every draw of the noise,
releases it with a little more noise on top, calibrated to ``2 tau / alpha`` at a small share of epsilon. The weights
are kept in a ball, so that this holds for every draw: a tilt too steep for the solver's rounding has its minimiser on
the sphere, where a fixed point finds it.
"""

import math
from dataclasses import replace

from equipoise.proof.theorems.approximate import ROUNDING_MARGIN, double_precision
from equipoise.vocabulary.constants import rounding_floor
from equipoise.vocabulary.facts import Bound, Constants, Hypothesis, Setting

# The share of epsilon that hides where the solver stopped.
FINISHING_SHARE = 0.02

# The solver is asked for this share of one row's pull, where rounding allows it.
TOLERANCE_SHARE = 1e-6

# Tilts beyond this multiple of what loss and ridge can answer are left to the fixed point (zone 2 of E4).
STEEP = 2.0**4


def steep(facts: Constants) -> float:
    """Return the length of a tilt from which on the minimiser is found by the fixed point."""
    return STEEP * answer(facts)


def answer(facts: Constants) -> float:
    """Return ``rho + (beta + alpha) R``, a bound on the gradient anywhere in the ball."""
    return facts.lipschitz + (facts.smoothness + facts.strong_convexity) * facts.radius


def smallest_tolerance(setting: Setting, scale: float) -> float:
    """Return 20 times what rounding can hide: of the gradient, of the tilt in the sum, of the drawn noise (E4).

    With K classes the tilt is also mapped from the free coordinates, which rounds 2 K + 9 times as much.
    """
    facts, n_samples, outputs = setting.constants, setting.n_samples, setting.problem.loss.outputs
    dimension = setting.problem.dimension(setting.n_features)
    tilted = (1 if outputs == 1 else 2 * outputs + 9) * 2.0**-48 * answer(facts)
    drawn = math.sqrt(dimension) * 2.0**-40 * scale / n_samples
    return 20 * (rounding_floor(facts, n_samples, dimension) + tilted + drawn)


def public_tolerance(setting: Setting, scale: float) -> float:
    """Return the gradient norm that the solver must reach, from public facts alone."""
    wanted = TOLERANCE_SHARE * setting.constants.gradient_diameter / setting.n_samples
    return max(wanted, smallest_tolerance(setting, scale))


def finishing_sensitivity(setting: Setting) -> float:
    """Return ``2 tau / alpha``: how far apart the solver's errors on neighbouring datasets can be."""
    return 2 * setting.recipe.tolerance / setting.constants.strong_convexity * (1 + ROUNDING_MARGIN)


def completed(bound: Bound, setting: Setting, scale: float) -> Bound:
    """Return the bound with the conditions of E4, for noise of this scale."""
    facts, tolerance = setting.constants, setting.recipe.tolerance
    floor = smallest_tolerance(setting, scale)
    hypotheses = (
        *bound.hypotheses,
        Hypothesis(
            "the weights are kept in a public ball (E4)", math.isfinite(facts.radius), "declare a weight radius"
        ),
        Hypothesis(
            "tau is large enough to be proved in double precision for every draw (E4)",
            tolerance >= floor * (1 - ROUNDING_MARGIN),
            "raise the tolerance",
        ),
        *double_precision(setting),
    )
    holds = all(hypothesis.holds for hypothesis in hypotheses)
    return replace(bound, theorem=f"{bound.theorem}+E4", value=bound.value if holds else None, hypotheses=hypotheses)
