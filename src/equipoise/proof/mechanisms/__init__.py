"""Mechanisms, one file each; members are discovered from this folder."""

import functools
import sys

from equipoise.errors import BudgetImpossible
from equipoise.proof.mechanisms.base import Calibration, Mechanism
from equipoise.vocabulary.discovery import discover, look_up
from equipoise.vocabulary.facts import Budget

__all__ = ["Calibration", "Mechanism", "calibrations", "members", "named", "quietest"]

# The words of `mechanism=` that name a kind of mechanism, from which the quietest member is taken.
KINDS = ("auto", "output")

# The samplers' proofs (D1, D3) need scales far above the spacing of doubles and far below their end.
SMALLEST_SCALE, LARGEST_SCALE = 2.0**-400, 2.0**400


@functools.cache
def members() -> dict[str, type[Mechanism]]:
    """Return every mechanism by its id."""
    return discover(sys.modules[__name__], Mechanism)  # type: ignore[type-abstract]


def named(name: str) -> Mechanism:
    """Return the mechanism called `name`.

    Examples
    --------
    >>> named("gaussian").id
    'gaussian'
    """
    return look_up(members(), name, "mechanism")()


def calibrations(sensitivity: float, dimension: int, budget: Budget, request: str = "auto") -> tuple[Calibration, ...]:
    """Return every requested mechanism that can meet the budget, quietest first (D4: compared by standard deviation).

    Examples
    --------
    >>> [choice.mechanism for choice in calibrations(1.0, 5, Budget(1.0, 1e-5))]
    ['spherical-laplace', 'laplace', 'gaussian']
    >>> [choice.mechanism for choice in calibrations(1.0, 50, Budget(1.0, 1e-5))]
    ['spherical-laplace', 'gaussian', 'laplace']
    """
    candidates = [named(name) for name in sorted(members())] if request in KINDS else [named(request)]
    scales = {mechanism: mechanism.scale_for(sensitivity, dimension, budget) for mechanism in candidates}
    found = [
        Calibration(mechanism.id, scale, mechanism.deviation(scale, dimension))
        for mechanism, scale in scales.items()
        if scale is not None and SMALLEST_SCALE <= scale <= LARGEST_SCALE
    ]
    # Laws that differ by less than a thousandth count as equal, and the exact samplers of OpenDP come first by name.
    return tuple(sorted(found, key=lambda choice: (round(choice.deviation / found[0].deviation, 3), choice.mechanism)))


def quietest(sensitivity: float, dimension: int, budget: Budget, request: str = "auto") -> Calibration:
    """Return the calibration with the smallest noise, or say why none meets the budget."""
    choices = calibrations(sensitivity, dimension, budget, request)
    if not choices:
        reasons = "; ".join(f"{name}: {named(name).requirement}" for name in sorted(members()))
        raise BudgetImpossible(
            f"mechanism={request!r} at epsilon={budget.epsilon:g}, delta={budget.delta:g}",
            "a budget it cannot meet",
            f'pass mechanism="auto", or change the budget ({reasons})',
        )
    return choices[0]
