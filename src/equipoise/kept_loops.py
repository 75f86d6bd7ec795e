"""How loops are compiled, and kept on disk where that can be done.

Most loops are compiled when they are first called, which is after a spend was recorded. So a disk that is full, or that
keeps what cannot be read, must not matter: a loop is compiled again in every process, and gives the same. Numba has no
digest of machine code: what was altered and still reads is run as it is (docs/sharp-edges.md).
This module is imported where loops are compiled and not before: it loads Numba.
"""

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache

Compiled = TypeVar("Compiled", bound=Callable[..., Any])


class Kept(FunctionCache):
    """What Numba keeps of a loop on disk; whatever goes wrong there is as if nothing had been kept."""

    def load_overload(self, *asked: Any) -> Any:
        """Return the compiled loop, None where there is none that can be read; what cannot be read is thrown away."""
        try:
            return super().load_overload(*asked)  # type: ignore[no-untyped-call]
        except Exception:  # a damaged file may raise anything
            with contextlib.suppress(Exception):
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, *made: Any) -> None:
        """Keep a compiled loop if that can be done."""
        with contextlib.suppress(Exception):
            super().save_overload(*made)  # type: ignore[no-untyped-call]


def compiled(function: Compiled, **options: Any) -> Compiled:
    """Compile a function when it is first called, and keep the result on disk where a folder can be written.

    Examples
    --------
    >>> @compiled
    ... def double(number):
    ...     return 2 * number
    >>> double(21)
    42
    """
    made = numba.njit(error_model="numpy", **options)(function)
    with contextlib.suppress(RuntimeError):  # no folder for the cache: compile in every process
        # As `cache=True` does it, with a cache of our own.
        made._cache = Kept(function)  # type: ignore[no-untyped-call]
    return cast(Compiled, made)
