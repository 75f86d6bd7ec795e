"""How the loops of stochastic descent are compiled into one another."""

from collections.abc import Callable
from typing import Any, TypeVar

from equipoise.kept_loops import compiled

Compiled = TypeVar("Compiled", bound=Callable[..., Any])


def inlined(function: Compiled) -> Compiled:
    """Compile a function into its callers: a call in every step would count references to every array."""
    return compiled(function, forceinline=True)


def vectorised(function: Compiled) -> Compiled:
    """Compile a sum over entries of vectors, whose order may be chosen and whose products may be fused."""
    return compiled(function, forceinline=True, fastmath={"reassoc", "contract"})
