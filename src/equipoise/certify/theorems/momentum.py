"""B9: heavy ball and Nesterov's method with constant momentum, for least squares and all rows in every step."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice

from ...vocabulary.constants import STEEPER
from ...vocabulary.facts import Conditions, Hypothesis, Setting
from ...vocabulary.methods import method_named
from .base import ROUNDING_MARGIN, Theorem, bearable
from .descent import DOUBLES, MOST_PASSES, UNIT


class Momentum(Theorem):
    """Differences obey a linear recursion, and what one push becomes after k steps is a Chebyshev polynomial."""

    # What ``step (beta + alpha)`` may be at most, and how far from 0 gradients are taken, in units of how far weights
    # are: (a, b) for ``a + b gamma``.
    limit = reach = (0.0, 0.0)

    @abstractmethod
    def recursion(self, setting: Setting, momentum: float) -> tuple[float, float]:
        """Return c and p of ``psi_(k+1) = c psi_k - p psi_(k-1)``, which bounds every eigenvalue's response."""

    def hypotheses(self, setting: Setting) -> Conditions:
        """Yield the conditions of B9."""
        recipe, problem, facts = setting.recipe, setting.problem, setting.constants
        most = _linear(self.limit, setting)
        claim = "the loss is squared and the penalty a ridge or none: elsewhere differences can grow exponentially (B9)"
        remedy = "use the squared loss with penalty l2 or none, or ridge, any accelerated solver and release_solution"
        yield Hypothesis(claim, problem.loss.id == "squared" and problem.penalty.id in ("l2", "none"), remedy)
        plain = recipe.decay == recipe.skip == recipe.dropout == 0 and recipe.clip is None and recipe.average == "last"
        whole = recipe.batch_size == setting.n_samples and problem.domain.radius is None
        claim = "every step sees all rows and has one length, the last weights are used, and nothing projects or clips"
        remedy = f"pass batch_size={setting.n_samples}, passes and a step; leave out everything else, and the radius"
        yield Hypothesis(claim, plain and whole, remedy)
        limit = most / (facts.smoothness * (1 + STEEPER) + facts.strong_convexity)
        steady = isinstance(recipe.step, float) and 0 < recipe.step <= limit and recipe.passes > 0
        yield Hypothesis(f"steps are at most {most:g} / (beta + alpha)", steady, f"pass a step of at most {limit:.6g}")
        few = recipe.batch_size <= setting.n_samples and recipe.steps(setting.n_samples) <= MOST_PASSES
        yield Hypothesis("steps are few enough to be followed one by one", few, f"run at most {MOST_PASSES:g} steps")
        small = not (steady and few) or self._rounding(setting) <= 0.01 * _push(setting)
        yield Hypothesis(DOUBLES, bearable(setting) and small, "run fewer steps, or train on fewer rows")

    def sensitivity(self, setting: Setting) -> float:
        """Return ``(step Gam / n + rounding) sum of psi_k``, Gam over the ball that gradients are taken in."""
        recipe, facts = setting.recipe, setting.constants
        diameter = setting.problem.loss.gradient_diameter(facts.row_norm, self.radius(setting), facts.label_bound)
        push = recipe.length * diameter / setting.n_samples + 2 * self._rounding(setting)
        return push * self._response(setting, recipe.steps(setting.n_samples)) * (1 + ROUNDING_MARGIN)

    def _response(self, setting: Setting, steps: int) -> float:
        c, p = self.recursion(setting, method_named(setting.recipe.method).numbers[0])
        return math.fsum(islice(responses(c, p), steps))

    def radius(self, setting: Setting) -> float:
        """Return the a-priori ball of every point where a gradient is taken, a hundredth more for rounding."""
        weights = 1.01 * _push(setting) * self._response(setting, setting.recipe.steps(setting.n_samples) - 1)
        return weights * _linear(self.reach, setting)

    def _rounding(self, setting: Setting) -> float:
        """Return how far one computed step can be from the exact one (docs/proofs/B9.heavy-ball.md)."""
        facts, radius = setting.constants, self.radius(setting)
        slope = facts.row_norm * setting.problem.loss.slope_bound(facts.row_norm * radius, facts.label_bound)
        sums = setting.n_samples + 2 * setting.dimension + 32
        return UNIT * (sums * setting.recipe.length * slope + 40 * radius)


class HeavyBall(Momentum):
    """``w <- w - step grad + gamma (w - w_before)``."""

    id = "B9.heavy-ball"
    about = "heavy-ball"

    # Beyond 2 (1 + gamma) the steepest direction diverges. Gradients are taken at the weights.
    limit, reach = (2.0, 2.0), (1.0, 0.0)

    def recursion(self, setting: Setting, momentum: float) -> tuple[float, float]:
        """Return the largest ``|1 + gamma - step h|`` over curvatures h, but no less than ``2 sqrt(gamma)``."""
        facts, length = setting.constants, setting.recipe.length
        flat = 1 + momentum - length * facts.strong_convexity
        steep = length * (facts.smoothness * (1 + STEEPER) + facts.strong_convexity) - 1 - momentum
        return max(2 * math.sqrt(momentum), flat, steep), momentum


class Nesterov(Momentum):
    """``y = w + gamma (w - w_before)``, then ``w <- y - step grad(y)``."""

    id = "B9.nesterov"
    about = "nesterov"

    # Up to 1 no direction overshoots. Gradients are taken at y, which is that much further out at most.
    limit, reach = (1.0, 0.0), (1.0, 2.0)

    def recursion(self, setting: Setting, momentum: float) -> tuple[float, float]:
        """Return ``max(a (1 + gamma), 2 sqrt(a gamma))`` and ``a gamma``, with ``a = 1 - step alpha``."""
        kept = 1 - setting.recipe.length * setting.constants.strong_convexity
        return max(kept * (1 + momentum), 2 * math.sqrt(kept * momentum)), kept * momentum


def _linear(factors: tuple[float, float], setting: Setting) -> float:
    return factors[0] + factors[1] * method_named(setting.recipe.method).numbers[0]


def responses(c: float, p: float) -> Iterator[float]:
    """Yield ``psi_0 = 1, psi_1, ...`` with ``psi_(k+1) = c psi_k - p psi_(k-1)`` and real roots, as sums without loss.

    Examples
    --------
    >>> list(islice(responses(1.5, 0.5), 4))
    [1.0, 1.5, 1.75, 1.875]
    """
    larger = (c + math.sqrt(max(0.0, c**2 - 4 * p))) / 2
    smaller = p / larger if larger > 0 else 0.0
    response, power = 1.0, 1.0
    while True:
        yield response
        power *= smaller
        response = larger * response + power


def _push(setting: Setting) -> float:
    """Return the longest step from 0."""
    facts = setting.constants
    return setting.recipe.length * facts.row_norm * setting.problem.loss.slope_bound(0.0, facts.label_bound)
