"""What planning knows of each law of noise, one file each: the scale that meets a budget, lengths and marginals."""

import functools
import math
from dataclasses import dataclass

from equipoise.certify import laws
from equipoise.certify.claims import LARGEST_SCALE, SMALLEST_SCALE, Noise
from equipoise.errors import BudgetImpossible
from equipoise.planning.laws.base import KnownLaw
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.facts import Budget

__all__ = ["ANY", "Calibration", "KnownLaw", "calibrations", "deviation_of", "known", "quietest"]

# The words of `mechanism=` that leave the law of noise on the weights open: the quietest is taken.
ANY = ("auto", "output")


@dataclass(frozen=True, slots=True)
class Calibration:
    """A law of noise with the scale that meets a budget, and the standard deviation of one coordinate."""

    law: str
    scale: float
    deviation: float

    def noise(self, dimension: int) -> Noise:
        """Return it as noise on so many numbers."""
        return Noise(self.law, self.scale, dimension)


@functools.cache
def known(name: str) -> KnownLaw:
    """Return what is known of the law called `name`; of one without a file here, what every law tells.

    Examples
    --------
    >>> known("gaussian").law.id
    'gaussian'
    """
    law = laws.named(name)
    found: KnownLaw = discover(__name__, KnownLaw, key="of").get(type(law), KnownLaw)(law)
    return found


def deviation_of(noise: Noise) -> float:
    """Return the standard deviation of one number's noise.

    Examples
    --------
    >>> deviation_of(Noise("gaussian", 2.0, 3))
    2.0
    """
    return known(noise.law).deviation(noise.scale, noise.dimension)


def calibrations(sensitivity: float, dimension: int, budget: Budget, request: str = "auto") -> tuple[Calibration, ...]:
    """Return every requested law that can meet the budget, quietest first (D4: compared by standard deviation).

    Examples
    --------
    >>> [choice.law for choice in calibrations(1.0, 5, Budget(1.0, 1e-5))]
    ['spherical-laplace', 'laplace', 'gaussian']
    >>> [choice.law for choice in calibrations(1.0, 50, Budget(1.0, 1e-5))]
    ['spherical-laplace', 'gaussian', 'laplace']
    """
    candidates = sorted(laws.members()) if request in ANY else [laws.named(request).id]
    scales = {name: known(name).scale_for(sensitivity, dimension, budget) for name in candidates}
    found = [
        Calibration(name, scale, known(name).deviation(scale, dimension))
        for name, scale in scales.items()
        if scale is not None and SMALLEST_SCALE <= scale <= LARGEST_SCALE
    ]
    # Laws that differ by less than a thousandth count as equal, and the exact samplers of OpenDP come first by name.
    unit = next((choice.deviation for choice in found if math.isfinite(choice.deviation)), 1.0)
    return tuple(sorted(found, key=lambda choice: (round(choice.deviation / unit, 3), choice.law)))


def quietest(sensitivity: float, dimension: int, budget: Budget, request: str = "auto") -> Calibration:
    """Return the calibration with the smallest noise, or say why none meets the budget."""
    choices = calibrations(sensitivity, dimension, budget, request)
    if not choices:
        reasons = "; ".join(f"{name}: {known(name).requirement}" for name in sorted(laws.members()))
        raise BudgetImpossible(
            f"mechanism={request!r} at epsilon={budget.epsilon:g}, delta={budget.delta:g}",
            "a budget it cannot meet",
            f'pass mechanism="auto", or change the budget ({reasons})',
        )
    return choices[0]
