"""E2, E3, E4: the privacy of ``argmin F(w) + <b, w>/n`` over a ball, b drawn from a law, for one row replaced.

A setting's constants are suprema over that ball. Members speak of the exact minimiser; E4 carries them to what a solver
returns: it ends within ``tau / alpha`` of the perturbed minimiser, for every dataset and every draw of the noise, and
releases it with a little more noise on top, for ``2 tau / alpha`` at a small share of epsilon (docs/proofs/E4.md).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import ClassVar

from ...vocabulary.constants import LEAST_TOLERANCE, constants, rounding_floor
from ...vocabulary.facts import Conditions, Constants, Hypothesis, Problem, Recipe, Setting
from ..curves import LATTICE_DELTA, Curve, PureCurve, SumCurve, log_normal
from ..laws import Law
from .base import ROUNDING_MARGIN, proved_for
from .minimisers import double_precision

SUFFIX = "+E4"

# What a sum of a few terms may be wrong by; whoever plans takes more, so that what follows here follows everywhere.
LAST_DIGITS = 1 + 4e-15


class Perturbation(ABC):
    """A theorem on objective perturbation; its proof is in ``docs/proofs/<id>.md``."""

    id: ClassVar[str]
    units: ClassVar[tuple[str, ...]] = ("row",)
    # Those whose densities the proof is about.
    laws: ClassVar[tuple[str, ...]] = ("spherical-laplace", "gaussian")
    # The only loss that the proof is for, if it is for one.
    loss: ClassVar[str] = ""

    def hypotheses(self, setting: Setting, law: Law) -> Conditions:
        """Yield every condition, met or not, each with its remedy."""
        facts, problem = setting.constants, setting.problem
        yield from proved_for(self.units, setting)
        ridge = problem.penalty.id == "l2" and facts.strong_convexity > 0
        claim = "the penalty is a ridge, so that noise and minimiser determine each other (E2)"
        yield Hypothesis(claim, ridge, "use an L2 penalty with alpha > 0")
        claim = "the loss is convex and its slope has a bounded derivative (E2)"
        yield Hypothesis(claim, math.isfinite(facts.smoothness), "use a smooth loss, such as logistic")
        claim, remedy = "the slope is bounded where the weights may lie", "use a Lipschitz loss, or declare a radius"
        yield Hypothesis(claim, math.isfinite(facts.gradient_diameter), remedy)
        claim = f"the noise is {' or '.join(self.laws)}"
        yield Hypothesis(claim, law.id in self.laws, f"use {' or '.join(self.laws)} noise")
        if self.loss:
            yield Hypothesis(f"the loss is the {self.loss} one", problem.loss.id == self.loss, "use E2 or E3a")

    @abstractmethod
    def curve(self, setting: Setting, law: Law, scale: float) -> Curve:
        """Return the privacy curve of the exact minimiser; called only when every hypothesis holds."""


def in_ball(problem: Problem, radius: float, tolerance: float, n_samples: int, n_features: int) -> Setting:
    """Return the setting over a public ball; clipped rows may be longer than B by their rounding (M4)."""
    exact, margin = constants(problem, radius), 1 + ROUNDING_MARGIN
    facts = replace(exact, row_norm=exact.row_norm * margin, gradient_diameter=exact.gradient_diameter * margin)
    return Setting(problem, Recipe(tolerance), n_samples, n_features, facts)


def row_share(setting: Setting) -> float:
    """Return ``B^2 / (n alpha)``, how much one row's direction weighs against the ridge."""
    return setting.constants.row_norm**2 / (setting.n_samples * setting.constants.strong_convexity)


def ranks(setting: Setting) -> int:
    """Return in how many directions one row can be curved, one for each free prediction, or all rows of a person."""
    return min(setting.dimension, (setting.problem.domain.rows_a_person or 1) * setting.problem.loss.free_outputs)


def determinant_price(setting: Setting) -> float:
    """Return ``r ln(1 + t B^2 / (r n alpha))``: r directions share curvature t (E2; N1 for persons), rounded up."""
    shared = row_share(setting) * setting.problem.loss.trace_bound() / ranks(setting)
    return ranks(setting) * math.log1p(shared) * (1 + 1e-12)


class PureTilt(Perturbation):
    """``epsilon = Gam / scale + price``, where the price of the determinant is ``ln(1 + c / (n alpha))`` (E2).

    For K classes the price is ``(K - 1) ln(1 + B^2 / (K n alpha))``.
    """

    id = "E2"
    units = ("row", "person")
    laws = ("spherical-laplace",)

    def diameter(self, setting: Setting) -> float:
        """Return how far apart two rows' gradients are, in the norm that the noise's density falls with."""
        return setting.constants.gradient_diameter

    def level(self, setting: Setting, scale: float) -> float:
        """Return the epsilon of this scale, rounded up."""
        return (self.diameter(setting) / scale + determinant_price(setting)) * LAST_DIGITS

    def curve(self, setting: Setting, law: Law, scale: float) -> Curve:
        """Return the pure curve."""
        return PureCurve(self.level(setting, scale))


class SummedTilt(PureTilt):
    """``epsilon = 2 s B_1 / scale + price``: a row's slope is at most s, the sum of its entries at most B_1 (E2d).

    Noise of its own in every coordinate is less than that of one length, where rows have few entries that are not 0.
    """

    id = "E2d"
    laws = ("laplace",)

    def hypotheses(self, setting: Setting, law: Law) -> Conditions:
        """Yield those of E2, and that sums of rows are bounded."""
        yield from super().hypotheses(setting, law)
        bounded = setting.problem.domain.row_sum is not None
        yield Hypothesis("the sums of rows are bounded", bounded, "declare row_sum, or use spherical-laplace noise")
        yield Hypothesis("a row has one prediction", setting.problem.loss.outputs == 1, "use E2 for several classes")

    def diameter(self, setting: Setting) -> float:
        """Return ``2 s B_1``, the constant column's entry included."""
        facts, problem = setting.constants, setting.problem
        summed = (problem.domain.row_sum or math.inf) * (1 + ROUNDING_MARGIN) + problem.intercept
        return 2 * facts.lipschitz / problem.row_norm * summed * (1 + ROUNDING_MARGIN)


class FreeDeterminant(PureTilt):
    """``epsilon = max over g in [0, h] of (B / scale)(h + g) + r ln(1 + k t(g) / r)``, ``k = B^2 / (n alpha)`` (E2a).

    A row that pulls with force g has curvature t(g) in all, over r directions: for the logistic loss ``g (1 - g)``. One
    that pulls with all its force h is far on the wrong side, where the loss is straight: from ``2 B / scale >= 2 k`` on
    the determinant is free.
    """

    id = "E2a"
    loss = "logistic"

    def level(self, setting: Setting, scale: float) -> float:
        """Return the maximum, found where its slope changes sign: the function is concave in p."""
        half, share, loss = setting.constants.row_norm / scale, row_share(setting), setting.problem.loss
        low, high = 0.0, loss.slope_bound(math.inf, 1.0)
        for _ in range(60):
            middle = (low + high) / 2
            curved, growing = loss.bend(middle)
            rising = half + share * growing / (1 + share * curved / ranks(setting)) > 0
            low, high = (middle, high) if rising else (low, middle)
        # Each term at its largest between the ends of the bracket, which is 2^-60 wide.
        price = ranks(setting) * math.log1p(share * max(loss.bend(low)[0], loss.bend(high)[0]) / ranks(setting))
        return (half * (loss.slope_bound(math.inf, 1.0) + high) + price) * LAST_DIGITS


class FreeClasses(FreeDeterminant):
    """The same for K classes: ``t(g) = min(1 - 1/K, 2 - g^2)``, free from ``2 sqrt(2) B / scale >= 8 k`` on (E2e)."""

    id = "E2e"
    loss = "multinomial"


class Corners(Perturbation):
    """``delta(epsilon) = sum over corners of delta_noise(epsilon - price; length)`` (E3a).

    The log ratio of the noise's densities is convex in the shift, and the shift runs in the hull of fixed corners, so
    it is at most what one of the corners gives.
    """

    id = "E3a"
    units = ("row", "weighted row")

    def curve(self, setting: Setting, law: Law, scale: float) -> Curve:
        """Return the sum over the corners that the loss names."""
        facts, price = setting.constants, determinant_price(setting)
        corners = setting.problem.loss.shift_vertices(facts.row_norm, facts.radius, facts.label_bound)
        return _sum(setting, law, scale, tuple((count, length, price) for count, length in corners))


class LogisticCorners(Perturbation):
    """``delta(epsilon; 2B) + delta(epsilon; B) + delta(epsilon - k; B)``, ``k = B^2/(n alpha)``, logistic loss (E3b).

    The determinant's price falls only where one row's pull is gone.
    """

    id = "E3b"
    units = ("row", "weighted row")
    loss = "logistic"

    def curve(self, setting: Setting, law: Law, scale: float) -> Curve:
        """Return the sum of three."""
        norm, price = setting.constants.row_norm, row_share(setting) * (1 + 1e-12)
        return _sum(setting, law, scale, ((1, 2 * norm, 0.0), (1, norm, 0.0), (1, norm, price)))


def _sum(setting: Setting, law: Law, scale: float, corners: tuple[tuple[int, float, float], ...]) -> SumCurve:
    # A corner of length 0 changes nothing about the noise.
    felt = (corner for corner in corners if corner[1] > 0)
    return SumCurve(tuple((count, law.curve(size, setting.dimension, scale), price) for count, size, price in felt))


class TailCurve(Curve):
    """``delta(epsilon) = sqrt(2 pi) mu e^e Phi(-e/mu - mu/2)``, ``e = epsilon - price >= mu^2 / 2``; 1 below that."""

    mu: float
    price: float

    def at(self, epsilon: float) -> float:
        """Return the bound, rounded up."""
        rest = epsilon - self.price
        if rest < self.mu**2 / 2:
            return 1.0
        exponent = rest + log_normal(-rest / self.mu - self.mu / 2)
        error = 1e-15 * (20 + 2 * rest + abs(exponent))
        return min(1.0, math.sqrt(2 * math.pi) * self.mu * math.exp(exponent) * (1 + error) + LATTICE_DELTA)


class GaussianShift(Perturbation):
    """``delta = sqrt(2 pi) mu e^e Phi(-e/mu - mu/2)`` with ``mu = Gam / sigma`` and ``e = epsilon - price`` (E3c)."""

    id = "E3c"
    units = ("row", "weighted row")
    laws = ("gaussian",)

    def hypotheses(self, setting: Setting, law: Law) -> Conditions:
        """Yield the common conditions, and that a row has one prediction."""
        yield from super().hypotheses(setting, law)
        yield Hypothesis("a row has one prediction", setting.problem.loss.outputs == 1, "use E3a for several classes")

    def curve(self, setting: Setting, law: Law, scale: float) -> Curve:
        """Return the tail bound."""
        return TailCurve(setting.constants.gradient_diameter / scale, determinant_price(setting))


class MeanCurve(Curve):
    """The least of ``e^-t sum m G(e; v / sigma)`` and ``e^-t sqrt(2 pi) mu Phi(mu/2 - e/mu)``, Gaussian noise (N1).

    ``e = epsilon - price - (e^t - 1 - t) >= 0``, ``G(e; mu) = mu (phi(a) - a Phi(-a))`` with ``a = e/mu - mu/2``. The
    second is for rows of one prediction and ``e >= mu^2 / 2``. Every public t >= 0 serves: this one is nearly the best.
    """

    corners: tuple[tuple[int, float], ...]
    mu: float
    price: float
    plane: bool

    def at(self, epsilon: float) -> float:
        """Return the bound, rounded up."""
        rest = epsilon - self.price
        if rest < 0:
            return 1.0
        # e^t - 1 is about the mean excess over e, and at most the root of what is left, so that e stays above 0.
        excess = min(self.mu / (max(rest / self.mu - self.mu / 2, 0.0) + 1.25), math.sqrt(rest))
        tangent = math.log1p(excess)
        rest = max(rest - (excess - tangent), 0.0) * (1 - 1e-14)
        bound = math.fsum(count * self._excess(rest, mu) for count, mu in self.corners)
        if self.plane and rest >= self.mu**2 / 2:
            place = self.mu / 2 - rest / self.mu
            tail = math.sqrt(2 * math.pi) * self.mu * math.exp(log_normal(place))
            bound = min(bound, tail * (1 + 1e-15 * (20 + place * place)))
        return min(1.0, math.exp(-tangent) * bound * (1 + 1e-14) + LATTICE_DELTA)

    @staticmethod
    def _excess(rest: float, mu: float) -> float:
        """Return G, rounded up: the two terms nearly cancel far out."""
        place = rest / mu - mu / 2
        density = math.exp(-place * place / 2) / math.sqrt(2 * math.pi)
        tail = place * math.exp(log_normal(-place))
        return mu * (density - tail + 1e-15 * (20 + place * place) * (density + abs(tail)))


class PersonsShift(Perturbation):
    """A person's change is a mean over pairs of rows, of which each obeys E3a's corners and E3c's plane (N1)."""

    id = "N1"
    units = ("person",)
    laws = ("gaussian",)

    def curve(self, setting: Setting, law: Law, scale: float) -> Curve:
        """Return the bound for the corners that the loss names, or for the diameter alone."""
        facts, loss = setting.constants, setting.problem.loss
        corners = loss.shift_vertices(facts.row_norm, facts.radius, facts.label_bound)
        lengths = tuple((count, length / scale) for count, length in corners if length > 0)
        return MeanCurve(lengths, facts.gradient_diameter / scale, determinant_price(setting), loss.outputs == 1)


def answer(facts: Constants) -> float:
    """Return ``rho + (beta + alpha) R``, a bound on the gradient anywhere in the ball."""
    return facts.lipschitz + (facts.smoothness + facts.strong_convexity) * facts.radius


def smallest_tolerance(setting: Setting, scale: float) -> float:
    """Return 20 times what rounding can hide: of the gradient, of the tilt in the sum, of the drawn noise (E4).

    With K classes the tilt is also mapped from the free coordinates, which rounds 2 K + 9 times as much.
    """
    facts, outputs = setting.constants, setting.problem.loss.outputs
    tilted = (1 if outputs == 1 else 2 * outputs + 9) * 2.0**-48 * answer(facts)
    drawn = math.sqrt(setting.dimension) * 2.0**-40 * scale / setting.n_samples
    return max(20 * (rounding_floor(facts, setting.rows, setting.dimension) + tilted + drawn), LEAST_TOLERANCE)


def finishing_sensitivity(setting: Setting) -> float:
    """Return ``2 tau / alpha``: how far apart the solver's errors on neighbouring datasets can be."""
    return 2 * setting.recipe.tolerance / setting.constants.strong_convexity * (1 + ROUNDING_MARGIN)


def finishing(setting: Setting, scale: float) -> Conditions:
    """Yield the conditions of E4, for a tilt of this scale."""
    inside = math.isfinite(setting.constants.radius)
    yield Hypothesis("the weights are kept in a public ball (E4)", inside, "declare a weight radius")
    provable = setting.recipe.tolerance >= smallest_tolerance(setting, scale) * (1 - ROUNDING_MARGIN)
    claim = "tau is large enough to be proved in double precision for every draw (E4)"
    yield Hypothesis(claim, provable, "raise the tolerance")
    yield from double_precision(setting)
