"""E3c: objective perturbation with Gaussian noise, by the gradient diameter alone."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from scipy.special import log_ndtr

from equipoise.proof.curves import LATTICE_DELTA, Curve
from equipoise.proof.mechanisms.base import Mechanism
from equipoise.proof.perturbations.base import Perturbation, determinant_price
from equipoise.vocabulary.facts import Hypothesis, Setting


@dataclass(frozen=True, slots=True)
class TailCurve(Curve):
    """``delta(epsilon) = sqrt(2 pi) mu e^e Phi(-e/mu - mu/2)``, ``e = epsilon - price >= mu^2 / 2``; 1 below that."""

    mu: float
    price: float

    def delta(self, epsilon: float) -> float:
        """Return the bound, rounded up."""
        rest = epsilon - self.price
        if rest < self.mu**2 / 2:
            return 1.0
        exponent = rest + float(log_ndtr(-rest / self.mu - self.mu / 2))
        error = 1e-15 * (20 + 2 * rest + abs(exponent))
        return min(1.0, math.sqrt(2 * math.pi) * self.mu * math.exp(exponent) * (1 + error) + LATTICE_DELTA)


class GaussianShift(Perturbation):
    """``delta = sqrt(2 pi) mu e^e Phi(-e/mu - mu/2)`` with ``mu = Gam / sigma`` and ``e = epsilon - price`` (E3c)."""

    id: ClassVar[str] = "E3c"
    citation: ClassVar[str] = "docs/proofs/E3c.md"
    statement: ClassVar[str] = "delta = sqrt(2 pi) mu e^e Phi(-e/mu - mu/2), e = epsilon - price"
    certifies: ClassVar[bool] = True

    def hypotheses(self, setting: Setting, law: Mechanism) -> Iterator[Hypothesis]:
        """Yield the common conditions, that the noise is Gaussian and that a row has one prediction."""
        yield from super().hypotheses(setting, law)
        yield Hypothesis("the noise is Gaussian", law.id == "gaussian", "use gaussian noise")
        yield Hypothesis("a row has one prediction", setting.problem.loss.outputs == 1, "use E3a for several classes")

    def curve(self, setting: Setting, law: Mechanism, scale: float) -> Curve:
        """Return the tail bound."""
        return TailCurve(setting.constants.gradient_diameter / scale, determinant_price(setting))
