"""E2, E2a: objective perturbation with pure privacy."""

import math
from collections.abc import Iterator
from typing import ClassVar

from equipoise.proof.curves import Curve, PureCurve
from equipoise.proof.mechanisms.base import Mechanism
from equipoise.proof.perturbations.base import Perturbation, determinant_price, row_share, smallest_scale
from equipoise.vocabulary.facts import Budget, Hypothesis, Setting


class PureTilt(Perturbation):
    """``epsilon = Gam / scale + price``, where the price of the determinant is ``ln(1 + c / (n alpha))`` (E2).

    For K classes the price is ``(K - 1) ln(1 + B^2 / (K n alpha))``.
    """

    id: ClassVar[str] = "E2"
    citation: ClassVar[str] = "Chaudhuri, Monteleoni and Sarwate 2011, sharpened; docs/proofs/E2.md"
    statement: ClassVar[str] = "epsilon = Gam / s + ln(1 + c / (n alpha))"
    certifies: ClassVar[bool] = True

    def hypotheses(self, setting: Setting, law: Mechanism) -> Iterator[Hypothesis]:
        """Yield the common conditions, and that the noise is spherical Laplace."""
        yield from super().hypotheses(setting, law)
        yield Hypothesis(
            "the noise has density exp(-||b|| / s)", law.id == "spherical-laplace", "use spherical-laplace noise"
        )

    def level(self, setting: Setting, scale: float) -> float:
        """Return the epsilon of this scale, rounded up."""
        return (setting.constants.gradient_diameter / scale + determinant_price(setting)) * (1 + 1e-14)

    def curve(self, setting: Setting, law: Mechanism, scale: float) -> Curve:
        """Return the pure curve."""
        return PureCurve(self.level(setting, scale))

    def scale_for(self, setting: Setting, law: Mechanism, budget: Budget) -> float | None:
        """Return ``Gam / (epsilon - price)``, rounded up."""
        rest = budget.epsilon - determinant_price(setting)
        return _settled(self, setting, setting.constants.gradient_diameter / rest, budget) if rest > 0 else None


class FreeDeterminant(PureTilt):
    """``epsilon = max over p in [0, 1] of (B / scale)(1 + p) + ln(1 + k p (1 - p))``, ``k = B^2 / (n alpha)`` (E2a).

    For the logistic loss a row that pulls with force p is curved by p (1 - p): one that pulls with all its force is
    far on the wrong side, where the loss is straight. From ``2 B / scale >= 2 k`` on the determinant is free.
    """

    id: ClassVar[str] = "E2a"
    citation: ClassVar[str] = "docs/proofs/E2a.md"
    statement: ClassVar[str] = "epsilon = max over p of (B / s)(1 + p) + ln(1 + p (1 - p) B^2 / (n alpha))"

    def hypotheses(self, setting: Setting, law: Mechanism) -> Iterator[Hypothesis]:
        """Yield those of E2, and that the loss is the plain logistic one."""
        yield from super().hypotheses(setting, law)
        yield Hypothesis("the loss is the logistic one", setting.problem.loss.id == "logistic", "use E2")

    def level(self, setting: Setting, scale: float) -> float:
        """Return the maximum, found where its slope changes sign: the function is concave in p."""
        half, share = setting.constants.row_norm / scale, row_share(setting)
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            rising = half + share * (1 - 2 * middle) / (1 + share * middle * (1 - middle)) > 0
            low, high = (middle, high) if rising else (low, middle)
        # Each term at its largest between the ends of the bracket, which is 2^-60 wide.
        price = math.log1p(share * max(low * (1 - low), high * (1 - high)))
        return (half * (1 + high) + price) * (1 + 1e-14)

    def scale_for(self, setting: Setting, law: Mechanism, budget: Budget) -> float | None:
        """Return the smallest scale: ``2 B / epsilon``, rounded up, where the determinant is free."""

        def private(scale: float) -> bool:
            return self.level(setting, scale) <= budget.epsilon

        free = 2 * setting.constants.row_norm / budget.epsilon * (1 + 1e-13)
        return free if private(free) else smallest_scale(free, private)


def _settled(theorem: PureTilt, setting: Setting, scale: float, budget: Budget) -> float:
    """Return the scale, raised by a few last digits until its own level is within the budget."""
    step = 1e-15
    while theorem.level(setting, scale) > budget.epsilon:
        scale, step = math.nextafter(scale * (1 + step), math.inf), 2 * step
    return scale
