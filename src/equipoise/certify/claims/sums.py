"""Least squares from noisy sums: of products of columns (SSP), or of the objective's coefficients (E7)."""

import math
from abc import abstractmethod

from ...vocabulary.constants import rounding_unit
from ...vocabulary.facts import Conditions, Hypothesis, Problem, Record
from ..curves import Curve, PureCurve
from ..theorems.base import ROUNDING_MARGIN
from .base import Moved, at_most, holds

# Beyond this many sums their noise drowns everything, and drawing it takes longer than any fit.
MOST_SUMS = 200_000


class Solution(Record):
    """How the noisy sums are solved: post-processing, on which no inequality depends.

    `ridge` is the curvature that the noisy matrix is brought up to, `radius` that of the ball solutions are put into.
    """

    ridge: float
    radius: float


def least_squares(problem: Problem, n_features: int) -> Conditions:
    """Yield the conditions of methods that release sums of products."""
    yield Hypothesis("the loss is the squared one", problem.loss.id == "squared", "use Ridge, or mechanism='objective'")
    yield Hypothesis("the penalty is a ridge", problem.penalty.id == "l2", "use an L2 penalty, or mechanism='output'")
    claim, remedy = f"there are at most {MOST_SUMS:,} sums of products", "use fewer columns, or mechanism='objective'"
    yield Hypothesis(claim, sums_of(problem, n_features) <= MOST_SUMS, remedy)


def sums_of(problem: Problem, n_features: int) -> int:
    """Return how many sums there are: of every pair of columns, and of every column with the target."""
    columns = problem.dimension(n_features)
    return columns * (columns + 3) // 2


class NoisySums(Moved):
    """Sums over all rows, with noise, and a solution that is computed from them."""

    procedure: Solution

    @abstractmethod
    def movement(self, unit: float) -> float:
        """Return how far one row moves the sums, and twice what rounding of this relative size does."""

    def conditions(self) -> Conditions:
        """Yield the conditions of the method, the bound on the sums' change, and the noise."""
        yield from least_squares(self.problem, self.n_features)
        count = sums_of(self.problem, self.n_features)
        bound = self.movement(rounding_unit(self.n_samples, count) * self.n_samples) * (1 + ROUNDING_MARGIN)
        yield at_most(f"{self.theorem} bounds the sums' change", bound, self.sensitivity)
        yield from self.covered(count)


class Products(NoisySums):
    """``(sum x x', weight * sum y x)`` with noise; one row moves them by at most `sensitivity` in L2 (SSP)."""

    kind = "sufficient-statistics"

    moment_weight: float

    def movement(self, unit: float) -> float:
        """Return the L2 bound."""
        norm, bound = self.problem.row_norm, self.problem.domain.label_bound
        rounding = unit * norm * math.hypot(norm, self.moment_weight * bound)
        return joint_sensitivity(norm, bound, self.moment_weight) + 2 * rounding

    def conditions(self) -> Conditions:
        """Yield those of the sums, which SSP bounds."""
        yield holds("SSP is the theorem on these sums", self.theorem == "SSP")
        yield from NoisySums.conditions(self)


def joint_sensitivity(row_norm: float, label_bound: float, weight: float) -> float:
    """Return the largest change of ``(x x', weight * y x)`` in L2 when one row is replaced (SSP, attained).

    ``sqrt(2 B^4 (1 - c^2) + 2 t^2 B^2 Y^2 (1 + c))`` with ``c = min(1, t^2 Y^2 / (2 B^2))``.

    Examples
    --------
    >>> round(joint_sensitivity(1.0, 1.0, 1.0), 6)
    2.12132
    """
    ratio = (weight * label_bound / row_norm) ** 2
    cosine = min(1.0, ratio / 2)
    return row_norm**2 * math.sqrt(2 * (1 - cosine**2) + 2 * ratio * (1 + cosine)) * (1 + 1e-14)


class Functional(NoisySums):
    """Coefficients of ``w_j`` and ``w_j w_l`` with Laplace noise; one row moves them by `sensitivity` in L1 (E7)."""

    kind = "functional"

    def movement(self, unit: float) -> float:
        """Return the L1 bound."""
        columns, bound = self.problem.dimension(self.n_features), self.problem.domain.label_bound
        return coefficient_sensitivity(self.problem.row_norm, bound, columns) * (1 + 2 * unit)

    def curve(self) -> Curve:
        """Return the pure curve of Laplace noise for an L1 sensitivity."""
        return PureCurve(self.sensitivity / self.scale)

    def conditions(self) -> Conditions:
        """Yield those of the coefficients, which E7 bounds in L1."""
        yield holds("E7 is the theorem on Laplace noise here", self.theorem == "E7" and self.law == "laplace")
        yield from NoisySums.conditions(self)


def coefficient_sensitivity(row_norm: float, label_bound: float, columns: int) -> float:
    """Return ``2 (2 Y s + s^2)``, ``s = sqrt(d) B``: the L1 change of all coefficients when one row is replaced (E7).

    Examples
    --------
    >>> round(coefficient_sensitivity(1.0, 1.0, 14), 2)
    42.97
    """
    length = math.sqrt(columns) * row_norm
    return 2 * (2 * label_bound * length + length**2) * (1 + 1e-14)
