"""M1: the curve of a mechanism whose sensitivity depends on secret coins, averaged over them."""

import math
from dataclasses import dataclass

from equipoise.errors import BudgetImpossible
from equipoise.proof.curves import Curve
from equipoise.proof.mechanisms import Calibration, Mechanism, named
from equipoise.proof.theorems.random_hits import LEFT_OUT
from equipoise.vocabulary.facts import Budget, Chance

# The law of the noise under random sensitivities: its curve is cheap, and random numbers of meetings need delta anyway.
LAW = "gaussian"


@dataclass(frozen=True, slots=True)
class AveragedCurve(Curve):
    """``delta(epsilon) = sum of probability times delta`` over the coins, and what their law leaves out on top (M1).

    Examples
    --------
    >>> from equipoise.proof.curves import GaussianCurve
    >>> curve = AveragedCurve(((0.9, GaussianCurve(0.1)), (0.1, GaussianCurve(0.2))))
    >>> GaussianCurve(0.1).delta(0.5) < curve.delta(0.5) < GaussianCurve(0.2).delta(0.5)
    True
    """

    parts: tuple[tuple[float, Curve], ...]

    def delta(self, epsilon: float) -> float:
        """Return the average, rounded up."""
        mean = math.fsum(probability * curve.delta(epsilon) for probability, curve in self.parts)
        return min(1.0, mean * (1 + 1e-12) + LEFT_OUT)


def averaged_curve(law: tuple[Chance, ...], dimension: int, scale: float) -> AveragedCurve:
    """Return the curve of noise of this scale under a random sensitivity."""
    mechanism = named(LAW)
    return AveragedCurve(
        tuple((chance.probability, _curve(mechanism, chance.value, dimension, scale)) for chance in law)
    )


def averaged_calibration(law: tuple[Chance, ...], dimension: int, budget: Budget) -> Calibration:
    """Return the smallest noise whose averaged curve meets the budget, by bisection to a part in ten thousand.

    Examples
    --------
    >>> from math import comb
    >>> coins = tuple(Chance(comb(20, hits) / 2**20, hits / 10) for hits in range(21))
    >>> calibration = averaged_calibration(coins, 3, Budget(1.0, 1e-5))
    >>> 1.0 < calibration.scale / named("gaussian").scale_for(1.0, 3, Budget(1.0, 1e-5)) < 1.6
    True
    """
    mechanism = named(LAW)
    largest = max(chance.value for chance in law)
    high = mechanism.scale_for(largest, dimension, Budget(budget.epsilon, max(0.0, budget.delta - 2 * LEFT_OUT)))
    if high is None:
        raise BudgetImpossible(
            "a release whose number of meetings with a row is random",
            f"delta={budget.delta:g}",
            'pass order="permutation" and skip=0.0, or a larger delta',
        )

    def meets(scale: float) -> bool:
        return averaged_curve(law, dimension, scale).delta(budget.epsilon) <= budget.delta

    # What the law rounds up may exceed one in sum.
    while not meets(high):
        high *= 1.01
    low = high / 2
    while meets(low):
        low, high = low / 2, low
    while high > low * 1.0001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if meets(middle) else (middle, high)
    return Calibration(LAW, high, mechanism.deviation(high, dimension))


def _curve(mechanism: Mechanism, sensitivity: float, dimension: int, scale: float) -> Curve:
    # A sensitivity of 0 would divide by it; the smallest positive one is as good.
    return mechanism.curve(max(sensitivity, scale * 1e-30), dimension, scale)
