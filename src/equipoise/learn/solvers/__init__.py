"""Solvers, one file each; members are discovered from this folder."""

import functools
import sys

from equipoise.learn.problem import Objective
from equipoise.learn.solvers.base import Solver, Target
from equipoise.vocabulary.discovery import discover, look_up
from equipoise.vocabulary.losses import KinkedLoss

__all__ = ["Solver", "members", "named", "suited"]


@functools.cache
def members() -> dict[str, type[Solver]]:
    """Return every solver by its id."""
    return discover(sys.modules[__name__], Solver)  # type: ignore[type-abstract]


def suited(objective: Objective, target: Target) -> Solver:
    """Return the solver for an objective, picked by its kind and shape: loss, penalty, format and size are public."""
    if isinstance(objective.loss, KinkedLoss):
        return named("smoothing" if objective.compact else "dual")
    if objective.penalty.kinked:
        return named("proximal")
    if objective.compact:
        return named("newton")
    return named("newton-conjugate" if target.radius is None else "gradient")


def named(name: str) -> Solver:
    """Return the solver called `name`.

    Examples
    --------
    >>> named("newton").id
    'newton'
    """
    return look_up(members(), name, "solver")()
