"""E3a, E3b: objective perturbation with any log-concave noise, by the corners of the gradient's change."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from equipoise.proof.curves import Curve
from equipoise.proof.mechanisms.base import Mechanism
from equipoise.proof.perturbations.base import Perturbation, determinant_price, row_share
from equipoise.vocabulary.facts import Hypothesis, Setting


@dataclass(frozen=True, slots=True)
class CornerCurve(Curve):
    """``delta(epsilon) = sum of count * curve.delta(epsilon - price)`` over corners, at most 1."""

    corners: tuple[tuple[int, Curve, float], ...]

    def delta(self, epsilon: float) -> float:
        """Return the sum; 1 where a price exceeds epsilon."""
        total = 0.0
        for count, curve, price in self.corners:
            total += count * curve.delta(epsilon - price) if epsilon >= price else 1.0
        return min(1.0, total * (1 + 1e-14))


class Corners(Perturbation):
    """``delta(epsilon) = sum over corners of delta_noise(epsilon - price; length)`` (E3a).

    The log ratio of the noise's densities is convex in the shift, and the shift runs in the hull of fixed corners, so
    it is at most what one of the corners gives.
    """

    id: ClassVar[str] = "E3a"
    citation: ClassVar[str] = "docs/proofs/E3a.md"
    statement: ClassVar[str] = "delta = sum over corners v of delta_noise(epsilon - price; ||v||)"
    certifies: ClassVar[bool] = True

    def curve(self, setting: Setting, law: Mechanism, scale: float) -> Curve:
        """Return the sum over the corners that the loss names."""
        facts, price = setting.constants, determinant_price(setting)
        corners = setting.problem.loss.shift_vertices(facts.row_norm, facts.radius, facts.label_bound)
        return _corner_curve(setting, law, scale, tuple((count, length, price) for count, length in corners))


class LogisticCorners(Perturbation):
    """``delta(epsilon; 2B) + delta(epsilon; B) + delta(epsilon - k; B)``, ``k = B^2/(n alpha)``, logistic loss (E3b).

    The determinant's price falls only where one row's pull is gone.
    """

    id: ClassVar[str] = "E3b"
    citation: ClassVar[str] = "docs/proofs/E3b.md"
    statement: ClassVar[str] = (
        "delta = delta_noise(eps; 2B) + delta_noise(eps; B) + delta_noise(eps - B^2/(n alpha); B)"
    )
    certifies: ClassVar[bool] = True

    def hypotheses(self, setting: Setting, law: Mechanism) -> Iterator[Hypothesis]:
        """Yield the common conditions, and that the loss is the plain logistic one."""
        yield from super().hypotheses(setting, law)
        yield Hypothesis("the loss is the logistic one", setting.problem.loss.id == "logistic", "use E3a")

    def curve(self, setting: Setting, law: Mechanism, scale: float) -> Curve:
        """Return the sum of three."""
        norm, price = setting.constants.row_norm, row_share(setting) * (1 + 1e-12)
        return _corner_curve(setting, law, scale, ((1, 2 * norm, 0.0), (1, norm, 0.0), (1, norm, price)))


def _corner_curve(
    setting: Setting, law: Mechanism, scale: float, corners: tuple[tuple[int, float, float], ...]
) -> CornerCurve:
    dimension = setting.problem.dimension(setting.n_features)
    # A corner of length 0 changes nothing about the noise.
    return CornerCurve(
        tuple((count, law.curve(length, dimension, scale), price) for count, length, price in corners if length > 0)
    )
