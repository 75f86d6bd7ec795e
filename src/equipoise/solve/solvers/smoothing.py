"""Newton's method on ever narrower smoothings of a loss with corners, tested on the corners themselves."""

from itertools import takewhile
from typing import ClassVar

import numpy as np

from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Array, Solver, Target
from equipoise.solve.solvers.dual import DualGradient
from equipoise.solve.solvers.kinks import first, kinked_arrays, near
from equipoise.solve.solvers.line_search import search
from equipoise.solve.solvers.newton import minimise_model
from equipoise.vocabulary.numbers import SMALLEST

# Widths shrink by this factor from one smoothing to the next; Newton starts each where the last one ended.
NARROWER = 0.2
WIDTHS = 40
STEPS_A_WIDTH = 60


class Smoothing(Solver):
    """Solves ``mean smoothed(loss) + penalty`` for shrinking widths until its slopes prove the point near enough.

    The slopes of a smoothing are slopes of the loss at nearby predictions, so they are a valid proof at any width;
    narrow ones are a good one. If none passes, the dual method, which always ends, does the work.
    """

    id: ClassVar[str] = "smoothing"
    takes_constraint: ClassVar[bool] = False
    takes_smooth: ClassVar[bool] = False

    @classmethod
    def suits(cls, objective: Objective) -> float:
        """Suit losses with corners, where a Hessian is worth forming."""
        return float(objective.has_corners and objective.compact)

    def solve(self, objective: Objective, target: Target) -> Array:
        """Return weights that are proved near the minimiser."""
        kinked = kinked_arrays(objective)
        weights = objective.start
        # The margin that a hinge asks for, or a third of the way to the end of a target's range.
        width = 1.0 if objective.loss.task == "classification" else target.label_bound / 3
        for _ in takewhile(lambda _: first(objective, target), range(WIDTHS)):
            smooth = objective.with_loss(kinked.smoothed(width))
            for _ in takewhile(lambda _: first(objective, target), range(STEPS_A_WIDTH)):
                predictions, gradient, hessian = smooth.expansion(weights)
                if near(objective, target, weights, smooth.loss_arrays.slope(predictions, objective.targets)):
                    return weights
                # Well inside the tolerance the rest is the width's doing: a narrower one is next.
                if float(np.linalg.norm(gradient)) <= 0.1 * target.tolerance:
                    break
                following = self._step(smooth, weights, predictions, gradient, hessian)
                if following is None:
                    break
                weights = following
            width = max(width * NARROWER, SMALLEST)
        return DualGradient().solve(objective, target)

    def _step(
        self, objective: Objective, weights: Array, predictions: Array, gradient: Array, hessian: Array
    ) -> Array | None:
        try:
            proposal = minimise_model(weights, gradient, hessian, None)
        except np.linalg.LinAlgError:
            return None
        return search(objective, weights, predictions, gradient, proposal - weights)
