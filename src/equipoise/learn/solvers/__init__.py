"""Solvers, one file each; members are discovered from this folder."""

import functools
import sys

from equipoise.learn.solvers.base import Solver
from equipoise.vocabulary.discovery import discover, look_up

__all__ = ["Solver", "members", "named"]


@functools.cache
def members() -> dict[str, type[Solver]]:
    """Return every solver by its id."""
    return discover(sys.modules[__name__], Solver)  # type: ignore[type-abstract]


def named(name: str) -> Solver:
    """Return the solver called `name`.

    Examples
    --------
    >>> named("newton").id
    'newton'
    """
    return look_up(members(), name, "solver")()
