"""What every loss says about itself: names, constants and the arithmetic of one row. Arrays of rows are in `solve`."""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

from ..records import Of, Record


class Loss(Record, ABC):
    """A convex function of one scalar, the linear prediction ``m = <w, x>``, and of a coded target.

    Classification targets are coded -1 and +1; regression targets are centred at the public midpoint of their bounds.
    A loss of several outputs takes a sequence of predictions, and the place of the class among them. A loss is a frozen
    dataclass whose only field, if it has one, is its parameter. Every constant below is a supremum that a property test
    tries to exceed.
    """

    id: ClassVar[str]
    task: ClassVar[Literal["classification", "regression"]]
    # How many predictions a row has, one but for several classes, and how many weight vectors are free to move.
    outputs = 1
    free_outputs = Of[int]("outputs")
    # Whether every slope has the sign of -y: a row pushes its prediction towards its label or not at all.
    one_sided: ClassVar[bool] = False

    @property
    def spread(self) -> float:
        """Half of the range of slopes at one target, over their bound: they lie between 0 and -y, or to both sides."""
        return 0.5 if self.one_sided else 1.0

    @property
    def parameter(self) -> float:
        """The number that the loss's name carries, a cap or a width; 0 where there is none."""
        return float(next(iter(vars(self).values()), 0.0))

    @property
    def name(self) -> str:
        """The text that `losses.named` turns back into this loss, parameter included."""
        return ":".join([self.id, *map(repr, vars(self).values())])

    @abstractmethod
    def value(self, prediction: Any, target: float) -> float:
        """Return the loss of one example."""

    @staticmethod
    def slope_at(prediction: float, target: float, parameter: float) -> float:
        """Return the derivative in the prediction, for one output: the only place where its formula stands.

        Solvers compile it as it is, so it uses arithmetic, comparisons, `abs`, `min`, `max`, `math`, and nothing else.
        """
        raise NotImplementedError

    def slope(self, prediction: float, target: float) -> float:
        """Return the derivative in the prediction, for one output."""
        return self.slope_at(prediction, target, self.parameter)

    @abstractmethod
    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return ``sup |slope|`` over predictions in [-reach, reach] and targets in [-label_bound, label_bound]."""

    def slope_floor(self, reach: float) -> float:
        """Return ``inf |slope|`` over predictions in [-reach, reach], for a one-sided loss: 0 unless it stays above."""
        return 0.0

    @abstractmethod
    def curvature_bound(self) -> float:
        """Return ``sup curvature`` over all predictions and targets."""

    @abstractmethod
    def pull(self, reach: float, label_bound: float) -> float:
        """Return ``sup -m * slope(m)`` over predictions in [-reach, reach]: how hard one example pushes outwards.

        With a penalty of strong convexity mu and minimum at 0, optimality of w gives ``mu ||w||^2 <= pull(B ||w||,
        Y)``, which bounds the norm of every minimiser before any data is seen (docs/proofs/A2.md, lemma R).
        """

    def gradient_diameter(self, row_norm: float, radius: float, label_bound: float) -> float:
        """Return a bound on ``||g_z(w) - g_z'(w)||`` over ``||w|| <= radius`` and two examples of the domain (A2).

        Twice the longest gradient, unless the loss knows better.
        """
        return 2 * row_norm * self.slope_bound(row_norm * radius, label_bound)

    def shift_vertices(self, row_norm: float, radius: float, label_bound: float) -> tuple[tuple[int, float], ...]:
        """Return how many corners, of which length, hold every change of a gradient in their hull (E3a).

        A row's gradient is its slope times the row, so the change runs in a parallelogram. Slopes of one sign, of sizes
        from `low` to `high`: one corner of length 2 high B, two of (high + low) B, one of 2 low B. Slopes of both
        signs: two of 2 high B and two of sqrt(2) high B.
        """
        reach = row_norm * radius
        high = row_norm * self.slope_bound(reach, label_bound)
        if not self.one_sided:
            return (2, 2 * high), (2, math.sqrt(2) * high)
        low = row_norm * self.slope_floor(reach)
        return (1, 2 * high), (2, high + low), (1, 2 * low)

    def trace_bound(self) -> float:
        """Return the largest sum of a row's curvatures over all directions of its predictions (E2): one has one."""
        return self.curvature_bound()

    def bend(self, pull: float) -> tuple[float, float]:
        """Return a bound on that sum for rows whose slope is `pull` long, concave in it, and its derivative (E2e)."""
        return self.trace_bound(), 0.0


class KinkedLoss(Loss):
    """A loss with corners: its slope is one choice of subgradient, at most 1 in size; its smoothness is infinite."""

    def slope_bound(self, reach: float, label_bound: float) -> float:
        """Return 1, reached at prediction 0."""
        return 1.0

    def curvature_bound(self) -> float:
        """Return infinity."""
        return math.inf
