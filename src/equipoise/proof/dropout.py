"""Dropout with the data's own curvature (G3, G4): what is asked for, the rule that a plan fixes, what a fit appends.

The curvature of the data strengthens the objective beyond its ridge, and so calms the weights. It is private: a part
of the budget releases a lower bound on it, or tests a proposed one, before the noise on the weights is scaled.
"""

import math
from dataclasses import dataclass
from typing import Literal

from equipoise.errors import InvalidParameter
from equipoise.proof import mechanisms
from equipoise.proof.mechanisms.propose_test_release import NoisyStatistic
from equipoise.vocabulary.facts import Budget
from equipoise.vocabulary.numbers import plain, require_count, require_number


@dataclass(frozen=True, slots=True)
class Dropout:
    """What a request says about dropout.

    Parameters
    ----------
    keep : float
        The chance that a column is kept; kept ones are divided by it.
    masks : int
        How many public masks each row has; 0 stands for the expectation over all of them, where it has a closed form.
    share : float or "public"
        The part of epsilon that pays for the curvature; "public" picks it from public facts.
    proposal : float, optional
        None releases a lower bound on the curvature, whatever it is. A number proposes that curvature: where a noisy
        test does not confirm it, the release is refused.

    Examples
    --------
    >>> Dropout(0.8, 0)
    Dropout(keep=0.8, masks=0, share='public', proposal=None)
    """

    keep: float
    masks: int
    share: float | Literal["public"] = "public"
    proposal: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no chance, no count, no share or no curvature."""
        object.__setattr__(self, "keep", _inside("keep_probability", self.keep, "pass keep_probability=0.8"))
        masks = plain(self.masks)
        if masks != 0:
            masks = require_count("masks", masks, "pass masks=4, the number of public masks of a row")
        object.__setattr__(self, "masks", masks)
        if self.share != "public":
            share = _inside("curvature_share", self.share, 'pass curvature_share=0.2, or "public"')
            object.__setattr__(self, "share", share)
        if self.proposal is not None:
            remedy = "pass the curvature that the data should be tested for, or None to release a lower bound on it"
            proposal = require_number("proposal", plain(self.proposal), above=0.0, remedy=remedy)
            object.__setattr__(self, "proposal", proposal)


def _inside(name: str, value: object, remedy: str) -> float:
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1:
        raise InvalidParameter(f"{name} between 0 and 1, both left out", f"{name}={value!r}", remedy)
    return float(number)


@dataclass(frozen=True, slots=True)
class CurvatureRule:
    """The rule by which a released curvature becomes a scale of noise; every number in it is public.

    Parameters
    ----------
    keep, masks, proposal
        As in `Dropout`.
    statistic : Budget
        What the curvature costs: epsilon of its noise, and the chance that its margin does not hold.
    weights : Budget
        What is left for the weights.
    sensitivity, error : float
        How far one row moves the computed curvature, and how far that is from the true one.
    most : float
        The largest curvature that rows of the domain can have.
    alpha, factor : float
        The objective is strongly convex with ``alpha + factor * curvature``.
    movement : float
        ``Gam/n + 2 tau``: divided by the strong convexity, how far the weights move (L3).
    ratio : float
        The scale of the noise over that distance, in the plan.
    """

    keep: float
    masks: int
    proposal: float | None
    statistic: Budget
    weights: Budget
    sensitivity: float
    error: float
    most: float
    alpha: float
    factor: float
    movement: float
    ratio: float = 0.0

    @property
    def noisy(self) -> NoisyStatistic:
        """The curvature with its noise and its margin."""
        return NoisyStatistic(self.sensitivity, self.statistic, self.error)

    def distance(self, curvature: float) -> float:
        """Return how far the weights move when the data's curvature is at least this (G3)."""
        return self.movement / ((self.alpha + self.factor * curvature) * (1 - 1e-15))

    def settled(self, curvature: float, mechanism: str, dimension: int) -> "ReleasedCurvature":
        """Return a curvature that may be used, with the distance and the scale of noise that follow from it."""
        distance = self.distance(curvature)
        scale = mechanisms.named(mechanism).scale_for(distance, dimension, self.weights) or math.inf
        # At least the plan's scale for this distance, so that the plan's whole curve holds and not one point of it.
        return ReleasedCurvature(curvature, True, distance, max(scale, self.ratio * distance * (1 + 1e-14)))


@dataclass(frozen=True, slots=True)
class ReleasedCurvature:
    """What a fit appends to its certificate: the curvature that was released or confirmed, and what follows from it.

    A refused proposal has `passed` False, and neither distance nor noise: nothing else was computed from rows.
    """

    low: float
    passed: bool
    sensitivity: float
    noise_scale: float


def refused(rule: CurvatureRule) -> ReleasedCurvature:
    """Return what is appended where the test did not confirm the proposal."""
    return ReleasedCurvature(rule.proposal or 0.0, False, 0.0, 0.0)


def faults(
    rule: CurvatureRule | None, released: ReleasedCurvature | None, mechanism: str, dimension: int
) -> tuple[str, ...]:
    """Return what cannot be true of a released curvature; a plan has none yet."""
    if released is None:
        return ()
    if rule is None:
        return ("released_curvature: no part of the budget paid for one",)
    if not released.passed and rule.proposal is None:
        return ("released_curvature.passed: a lower bound is never refused",)
    if rule.proposal is None and not 0 <= released.low <= rule.most:
        return (f"released_curvature.low: {released.low!r} is not between 0 and {rule.most!r}",)
    if rule.proposal is not None and released.low != rule.proposal:
        return (f"released_curvature.low: {released.low!r} is not the proposed {rule.proposal!r}",)
    expected = rule.settled(released.low, mechanism, dimension) if released.passed else refused(rule)
    return tuple(
        f"released_curvature.{name}: recorded {found!r}, but {wanted!r} follows from the curvature"
        for name, found, wanted in (
            ("sensitivity", released.sensitivity, expected.sensitivity),
            ("noise_scale", released.noise_scale, expected.noise_scale),
        )
        if not math.isclose(found, wanted, rel_tol=1e-12, abs_tol=0.0)
    )
