"""The noise that tilts an objective: the scale that each theorem on objective perturbation asks for, by search."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from equipoise.certify import laws, theorems
from equipoise.certify.curves import Curve, PureCurve, SumCurve
from equipoise.certify.laws import Law
from equipoise.certify.spherical import SphericalCurve
from equipoise.certify.theorems import Perturbation
from equipoise.certify.theorems.perturbation import SUFFIX, FreeDeterminant, PureTilt, determinant_price, finishing
from equipoise.errors import NoTheoremApplies
from equipoise.planning.laws import Calibration, known
from equipoise.planning.laws.base import smallest_scale
from equipoise.planning.laws.spherical_laplace import Estimate
from equipoise.vocabulary.facts import Bound, Budget, Hypothesis, Setting

LAWS = ("spherical-laplace", "laplace", "gaussian")

# Calibration ends when the scale is known to this share, on the private side.
FINENESS = 1e-7

# What a check's last digits may differ by on another machine.
ELSEWHERE = 1 + 1e-14

TOO_DEAR = Hypothesis(
    "some scale meets the budget: the curvature that changes costs less than epsilon", False, "raise alpha or epsilon"
)


@dataclass(frozen=True, slots=True)
class Tilt:
    """The quietest noise for the tilt, and everything that was considered."""

    theorem: str
    calibration: Calibration
    candidates: tuple[Calibration, ...]
    bounds: tuple[Bound, ...]


@lru_cache(maxsize=256)
def quietest_tilt(setting: Setting, budget: Budget) -> Tilt:
    """Return the quietest noise over theorems and laws, or say which conditions fail."""
    by_law = {name: answers(setting, laws.named(name), budget) for name in LAWS}
    found = [entry for answered in by_law.values() for entry in answered]
    ranked = sorted(
        ((calibration.deviation, bound, calibration) for bound, calibration in found if calibration),
        # Where theorems agree to the fineness of calibration, the first one by name is the simplest.
        key=lambda entry: (round(math.log(entry[0]), 6), entry[1].theorem),
    )
    if not ranked:
        price = determinant_price(setting) if setting.constants.strong_convexity > 0 else math.inf
        general = "E3a" if setting.unit == "row" else "N1"
        remedies = {hypothesis.remedy for bound, _ in found for hypothesis in bound.missing if bound.theorem == general}
        raise NoTheoremApplies(
            f"objective perturbation at epsilon={budget.epsilon:g}, delta={budget.delta:g}",
            f"hypotheses that do not hold (one {setting.unit}'s curvature costs {price:.3g})",
            "; ".join(sorted(remedies)) or "raise alpha or epsilon",
        )
    _, bound, calibration = ranked[0]
    quietest: dict[str, Calibration] = {}
    for _, _, candidate in ranked:
        quietest.setdefault(candidate.law, candidate)
    chosen_law = [entry for entry, _ in by_law[calibration.law]]
    ordered = sorted(chosen_law, key=lambda entry: (entry.value is None, entry.value or 0.0, entry.theorem))
    return Tilt(bound.theorem, calibration, tuple(quietest.values()), tuple(ordered))


def answers(setting: Setting, law: Law, budget: Budget) -> tuple[tuple[Bound, Calibration | None], ...]:
    """Return every theorem's answer for one law of noise: its conditions, and the scale that meets the budget.

    Theorems on other neighbours are not asked.
    The value of such a bound is the scale, since there is no sensitivity to bound.
    """
    found: list[tuple[Bound, Calibration | None]] = []
    for name, member in sorted(theorems.perturbations().items()):
        if setting.unit not in member.units:
            continue
        theorem = member()
        hypotheses = tuple(theorem.hypotheses(setting, law))
        holds = all(hypothesis.holds for hypothesis in hypotheses)
        scale = _scale_for(theorem, setting, law, budget) if holds else None
        if holds and scale is None:
            hypotheses += (TOO_DEAR,)
        deviation = None if scale is None else known(law.id).deviation(scale, setting.dimension)
        calibration = None if scale is None or deviation is None else Calibration(law.id, scale, deviation)
        found.append((Bound(name, True, scale, hypotheses), calibration))
    return tuple(found)


def _scale_for(theorem: Perturbation, setting: Setting, law: Law, budget: Budget) -> float | None:
    """Return the smallest scale that meets the budget, rounded to the private side; None when none does."""
    if isinstance(theorem, PureTilt):
        return _pure_scale(theorem, setting, budget.epsilon)
    rest = budget.epsilon - determinant_price(setting)
    if rest <= 0:
        return None
    start = known(law.id).scale_for(setting.constants.gradient_diameter, setting.dimension, Budget(rest, budget.delta))

    def spent(scale: float) -> float:
        return theorem.curve(setting, law, scale).delta(budget.epsilon)

    def estimate(scale: float) -> float:
        curve = theorem.curve(setting, law, scale)
        return (_with(Estimate, curve) if budget.delta > 0 else _where_nothing_is_left(curve)).delta(budget.epsilon)

    return None if start is None else smallest_scale(start, spent, budget.delta, FINENESS, estimate)


def _where_nothing_is_left(curve: Curve) -> Curve:
    """Return a curve that is 0 where this one is: a sum is where each part is, which a level tells without integrals.

    Examples
    --------
    >>> curve = SumCurve(((1.0, SphericalCurve(0.75, 10), 0.2),))
    >>> [(each.delta(0.96), each.delta(0.9) > 0) for each in (curve, _where_nothing_is_left(curve))]
    [(0.0, True), (0.0, True)]
    """
    return _with(lambda part: PureCurve(part.level), curve)


def _with(other: Callable[[SphericalCurve], Curve], curve: Curve) -> Curve:
    """Return a curve with others in the places of the spherical ones that it adds up."""
    if not isinstance(curve, SumCurve):
        return curve
    parts = (
        (factor, other(part) if isinstance(part, SphericalCurve) else part, price)
        for factor, part, price in curve.parts
    )
    return SumCurve(tuple(parts), curve.added)


def _pure_scale(theorem: PureTilt, setting: Setting, epsilon: float) -> float | None:
    """Return the smallest scale of a pure tilt: a closed form, raised by a few last digits, or a search."""

    def level(scale: float) -> float:
        return theorem.level(setting, scale) * ELSEWHERE

    if isinstance(theorem, FreeDeterminant):
        # Where the determinant is free, the gradient's change is all that has to be hidden.
        longest = setting.constants.row_norm * setting.problem.loss.slope_bound(math.inf, 1.0)
        free = 2 * longest / epsilon * (1 + 1e-13)
        return free if level(free) <= epsilon else smallest_scale(free, level, epsilon, FINENESS)
    rest = epsilon - determinant_price(setting)
    if rest <= 0:
        return None
    scale, step = theorem.diameter(setting) / rest, 1e-15
    while level(scale) > epsilon:
        scale, step = math.nextafter(scale * (1 + step), math.inf), 2 * step
    return scale


def completed(bound: Bound, setting: Setting, scale: float) -> Bound:
    """Return the bound with the conditions of E4, for noise of this scale."""
    hypotheses = (*bound.hypotheses, *finishing(setting, scale))
    holds = all(hypothesis.holds for hypothesis in hypotheses)
    value = bound.value if holds else None
    return replace(bound, theorem=bound.theorem + SUFFIX, value=value, hypotheses=hypotheses)
