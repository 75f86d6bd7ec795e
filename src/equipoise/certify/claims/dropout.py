"""Dropout: a minimiser over masks, with noise scaled by a released bound on the data's own curvature (G3, G4)."""

import math
from dataclasses import replace

from ...vocabulary.constants import rounding_unit
from ...vocabulary.facts import Budget, Conditions, Constants, Hypothesis, Problem, Recipe, Record, Setting
from ..curves import Curve, add_up
from ..statistic import NoisyStatistic
from ..theorems.base import ROUNDING_MARGIN
from ..theorems.minimisers import solved
from ..work import within
from .base import AGREEMENT, Trained, at_most, holds

# The curvature is the smallest eigenvalue of a matrix that is formed: beyond this many columns it takes too long, and
# rows hardly ever fill so many directions.
MOST_COLUMNS = 2_000

# What a computed smallest eigenvalue may be wrong by, in units of d 2^-53 times the matrix's norm (G3).
EIGENVALUE_ROUNDING = 100


class Masks(Record):
    """How columns are dropped: kept with a probability, by so many public masks a row; 0 for the expectation."""

    keep: float
    count: int

    def most_of_a_row(self, problem: Problem) -> float:
        """Return the largest eigenvalue, which is also the largest trace, that one row can give the matrix of squares.

        ``b^2/q + s^2`` in expectation over masks, ``b^2/q^2 + s^2`` for any set of them: the constant column s is kept.
        """
        keep = self.keep if self.count == 0 else self.keep**2
        return problem.domain.row_norm**2 / keep + problem.intercept**2

    def constants(self, problem: Problem) -> Constants:
        """Return the constants of the dropout objective over the ball of the constraint (G3).

        The expected squared loss adds ``((1-q)/q) sum_j x_j^2 w_j^2`` to every row's loss (G1). With masks a row's
        loss is the mean over its masked rows, which are as long as ``sqrt((b/q)^2 + s^2)``.

        Examples
        --------
        >>> from ...vocabulary import losses, penalties
        >>> from ...vocabulary.facts import Domain
        >>> domain = Domain(1.0, labels=(-1.0, 1.0), radius=1.0)
        >>> facts = Masks(0.5, 0).constants(Problem(losses.named("squared"), penalties.named("l2", 0.1), domain))
        >>> facts.lipschitz, facts.smoothness, round(facts.gradient_diameter, 4)
        (6.0, 4.0, 7.1962)
        """
        loss, label_bound, radius = problem.loss, problem.domain.label_bound, problem.domain.radius or math.inf
        length = problem.domain.row_norm if self.count == 0 else problem.domain.row_norm / self.keep
        row_norm = math.hypot(length, problem.intercept)
        # One row's added term is a diagonal between 0 and `added`, so two of them differ by no more than that. A mean
        # of masked gradients lies in the hull of what single masked rows can have, which is no wider.
        added = 2 * (1 - self.keep) / self.keep * problem.domain.row_norm**2 if self.count == 0 else 0.0
        lipschitz = row_norm * loss.slope_bound(row_norm * radius, label_bound) + added * radius
        diameter = min(loss.gradient_diameter(row_norm, radius, label_bound) + added * radius, 2 * lipschitz)
        smoothness = loss.curvature_bound() * self.most_of_a_row(problem)
        return Constants(row_norm, label_bound, radius, lipschitz, smoothness, problem.penalty.alpha, diameter)

    def factor(self, problem: Problem) -> float:
        """Return the least curvature of the loss at predictions that the ball allows, rounded down (G2).

        2 for the squared loss, ``sigmoid(U) sigmoid(-U)`` with ``U = B R`` for the logistic one.
        """
        if self.count == 0:
            return problem.loss.curvature_bound()
        facts = self.constants(problem)
        reach = facts.row_norm * facts.radius
        least = problem.loss.slope_bound(reach, facts.label_bound) * problem.loss.slope_floor(reach) * (1 - 1e-12)
        return least if problem.loss.id == "logistic" else 0.0


class ReleasedCurvature(Record):
    """What a fit appends: the curvature that was released or confirmed, and the distance and noise that follow.

    A refused proposal has `passed` False, and neither distance nor noise: nothing else was computed from rows.
    """

    low: float
    passed: bool
    sensitivity: float
    noise_scale: float


class Dropout(Trained):
    """Weights that move by at most ``movement / (alpha + factor curvature)`` (G3), the curvature released first (G4).

    `statistic` pays for the curvature, met with noise for `curvature_sensitivity`, and `weights` for the weights. A
    `proposal` is tested instead of a lower bound released. `worst` is how far weights move in the worst case, no
    curvature or the proposed one; `noise` belongs to it.
    """

    kind = "dropout"
    draws = "laplace"
    theorem = "G3+G4"

    masks: Masks
    statistic: Budget
    weights: Budget
    curvature_sensitivity: float
    tolerance: float
    worst: float
    proposal: float | None = None
    released: ReleasedCurvature | None = None
    passes: int | None = None

    @property
    def sensitivity(self) -> float:
        """How far the weights move, by the released curvature where there is one."""
        return self.worst if self.released is None else self.released.sensitivity

    @property
    def scale(self) -> float:  # type: ignore[override] # read-only, as all of a record
        """The scale of the noise, by the released curvature where there is one."""
        return self.noise.scale if self.released is None else self.released.noise_scale

    def setting(self) -> Setting:
        """Return the dropout objective over its ball."""
        facts = self.masks.constants(self.problem)
        return Setting(self.problem, Recipe(self.tolerance), self.n_samples, self.n_features, facts)

    def solved(self) -> Setting:
        """Return what the solver sees: every mask of a row is a row to it."""
        return replace(self.setting(), n_samples=self.n_samples * max(1, self.masks.count))

    def error(self) -> float:
        """Return how far the computed curvature can be from the true one."""
        rows, weights = self.n_samples * max(1, self.masks.count), self.setting().dimension
        unit = rounding_unit(rows, weights) + EIGENVALUE_ROUNDING * weights * 2.0**-53
        return unit * self.masks.most_of_a_row(self.problem)

    def noisy(self) -> NoisyStatistic:
        """Return the curvature with its noise and its margin."""
        return NoisyStatistic(self.curvature_sensitivity, self.statistic, self.error())

    def most(self) -> float:
        """Return the largest curvature of rows: the trace over the directions, and the kept constant's square."""
        own = self.masks.most_of_a_row(self.problem) / self.setting().dimension
        return min(own, self.problem.intercept**2) if self.problem.intercept > 0 else own

    def movement(self) -> float:
        """Return ``Gam/n + 2 tau``: divided by the strong convexity, how far the weights move (L3)."""
        return (self.constants.gradient_diameter / self.n_samples + 2 * self.tolerance) * (1 + ROUNDING_MARGIN)

    def distance(self, curvature: float) -> float:
        """Return how far the weights move when the data's curvature is at least this (G3)."""
        return self.movement() / ((self.alpha + self.masks.factor(self.problem) * curvature) * (1 - 1e-15))

    def curve(self) -> Curve:
        """Return the curve of the weights' noise, after what the curvature costs."""
        after = self.noisy().after_lower_bound if self.proposal is None else self.noisy().after_test
        return after(self.noise.curve(self.worst))

    def conditions(self) -> Conditions:
        """Yield the conditions of G3 and G4, that noise hides the worst case, and what follows from the released."""
        yield from masked_minimiser(self.setting(), self.masks)
        yield from within(self.solved(), self.passes)
        moved = self.masks.most_of_a_row(self.problem) / self.n_samples * (1 + ROUNDING_MARGIN) + 2 * self.error()
        yield at_most("G3 bounds the curvature's change", moved, self.curvature_sensitivity)
        yield at_most("G3 bounds the weights' change", self.distance(self.proposal or 0.0), self.worst)
        delta = self.noise.curve(self.worst).delta(self.weights.epsilon)
        yield holds("the weights' noise is within their share", delta <= self.weights.delta)
        # A lower bound adds its delta to that of the weights; of a test's and the weights' the larger counts (G4).
        free = self.proposal is not None and max(self.statistic.delta, self.weights.delta) <= self.budget.delta
        shares = tuple(Budget(share.epsilon) if free else share for share in (self.statistic, self.weights))
        yield holds("both shares add up to the budget", add_up(shares, self.budget))
        yield from self.covered(self.setting().dimension)
        if self.released is not None:
            yield from self._follows(self.released)

    def _follows(self, found: ReleasedCurvature) -> Conditions:
        """Yield that a released curvature may be what it is, and that the noise is no less than it asks for."""
        low = found.passed and 0 <= found.low <= self.most()
        possible = low if self.proposal is None else found.low == self.proposal and (low or not found.passed)
        yield holds("a lower bound is never refused, and rows can be so curved; a test is of the proposal", possible)
        if not found.passed:
            yield holds("after a refusal nothing else is released", found.sensitivity == found.noise_scale == 0)
            return
        yield at_most("G3 bounds the weights' change", self.distance(found.low), found.sensitivity)
        noise = replace(self.noise, scale=found.noise_scale)
        yield noise.drawable()
        # At least the plan's scale for this distance, so that the plan's whole curve holds and not one point of it.
        least = self.noise.scale / self.worst * found.sensitivity
        enough = noise.curve(found.sensitivity).delta(self.weights.epsilon) <= self.weights.delta
        yield holds("the noise is as much as the distance asks for", enough and found.noise_scale * AGREEMENT >= least)


def masked_minimiser(where: Setting, masks: Masks) -> Conditions:
    """Yield the conditions of G3."""
    facts, problem = where.constants, where.problem
    claim = "the expectation over masks has a closed form, or masks are public and rows have one prediction"
    known = problem.loss.id == "squared" if masks.count == 0 else problem.loss.outputs == 1
    yield Hypothesis(claim, known and 0 < masks.keep < 1 and masks.count >= 0, "pass masks=4, or use squared loss")
    claim = "the penalty is a ridge, so that the solver ends for every dataset (L6)"
    ridge = problem.penalty.id == "l2" and facts.strong_convexity > 0
    yield Hypothesis(claim, ridge, "use an L2 penalty with alpha > 0")
    claim = "slopes and curvatures are bounded on the ball of the constraint (G2)"
    yield Hypothesis(claim, 0 < facts.lipschitz < math.inf, "bound rows and labels in the domain")
    claim, few = f"the curvature is an eigenvalue of at most {MOST_COLUMNS:,} columns", where.dimension <= MOST_COLUMNS
    yield Hypothesis(claim, few, "use fewer columns, or Ridge or LogisticRegression")
    # Every mask of a row is a row to the solver.
    yield from solved(replace(where, n_samples=where.n_samples * max(1, masks.count)))
