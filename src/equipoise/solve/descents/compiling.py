"""How the loops of stochastic descent are compiled, and kept on disk."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Compiled = TypeVar("Compiled", bound=Callable[..., Any])


def compiled(function: Compiled, **options: Any) -> Compiled:
    """Compile a function, and keep the result on disk where a folder can be written."""
    try:
        made: Compiled = numba.njit(cache=True, error_model="numpy", **options)(function)
    except RuntimeError:  # no folder for the cache: compile in every process
        made = numba.njit(error_model="numpy", **options)(function)
    return made


def inlined(function: Compiled) -> Compiled:
    """Compile a function into its callers: a call in every step would count references to every array."""
    return compiled(function, forceinline=True)


def vectorised(function: Compiled) -> Compiled:
    """Compile a sum over entries of vectors, whose order may be chosen and whose products may be fused."""
    return compiled(function, forceinline=True, fastmath={"reassoc", "contract"})
