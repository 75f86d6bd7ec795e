"""Solvers, one file each; members are discovered from this folder."""

from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Solver
from equipoise.vocabulary.discovery import discover, look_up
from equipoise.vocabulary.losses import KinkedLoss

__all__ = ["Solver", "members", "named", "suited"]


def members() -> dict[str, type[Solver]]:
    """Return every solver by its id."""
    return discover(__name__, Solver)


def suited(objective: Objective) -> Solver:
    """Return the solver for an objective, picked by its kind and shape: loss, penalty, format and size are public."""
    if isinstance(objective.loss, KinkedLoss):
        return named("smoothing" if objective.compact else "dual")
    if objective.penalty.kinked:
        return named("proximal")
    return named("newton" if objective.compact else "newton-conjugate")


def named(name: str) -> Solver:
    """Return the solver called `name`.

    Examples
    --------
    >>> named("newton").id
    'newton'
    """
    return look_up(members(), name, "solver")()
