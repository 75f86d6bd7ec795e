"""Solvers, one file each; members are discovered from this folder."""

from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Solver
from equipoise.vocabulary.discovery import discover, look_up

__all__ = ["Solver", "members", "named", "suited"]


def members() -> dict[str, type[Solver]]:
    """Return every solver by its id."""
    return discover(__name__, Solver)


def suited(objective: Objective) -> Solver:
    """Return the solver that says it suits an objective best."""
    return named(max(members().values(), key=lambda solver: solver.suits(objective)).id)


def named(name: str) -> Solver:
    """Return the solver called `name`.

    Examples
    --------
    >>> named("newton").id
    'newton'
    """
    return look_up(members(), name, "solver")()
