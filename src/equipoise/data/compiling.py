"""Loops that are compiled when they are defined, or left as they are where a table is too short to be worth it.

Numba takes half a second to load, and is an extra. A loop that is not compiled gives the same bits: it is the same
text, read by Python.
"""

import contextlib
import functools
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

Compiled = TypeVar("Compiled", bound=Callable[..., Any])

# Python is done with a shorter file before what compiles loops is loaded.
FEW_BYTES = 2**18


class Type:
    """A type of Numba's by the words that name it, so that nobody has to load Numba to say it.

    Examples
    --------
    >>> types.float64[::1].named()
    Array(float64, 1, 'C', False, aligned=True)
    """

    def __init__(self, named: Callable[[], Any]) -> None:
        self.named = named

    def __getattr__(self, name: str) -> "Type":
        """Return what has this name."""
        return Type(lambda: getattr(self.named(), name))

    def __getitem__(self, places: Any) -> "Type":
        """Return the type of an array."""
        return Type(lambda: self.named()[places])

    def __call__(self, *given: Any, **settings: Any) -> "Type":
        """Return the type that is made of others, or that of a function."""
        return Type(lambda: self.named()(*map(_plain, given), **settings))


def _plain(given: Any) -> Any:
    return given.named() if isinstance(given, Type) else given


def _all_types() -> Any:
    from numba import types

    return types


types = Type(_all_types)

# Loops that were left as they are, in the order in which they were defined: later ones call earlier ones.
_waiting: "list[Loop]" = []
_leaving = False


class Loop:
    """A loop that Python reads until it is compiled."""

    def __init__(self, function: Callable[..., Any], signature: Type | None) -> None:
        self.function = function
        self.signature = signature
        functools.update_wrapper(self, function)

    def __call__(self, *given: Any) -> Any:
        """Go through the loop; whole numbers are Python's own, which do not overflow."""
        with np.errstate(all="ignore"):
            return self.function(*map(_seen, given))

    def compile(self) -> None:
        """Put what is compiled in its place: where the next loops, and whoever imports it, look for it."""
        self.function.__globals__[self.function.__name__] = _compiled(self.function, self.signature)


class _Unaligned:
    """Whole numbers from any byte on, which a view of memory has no word for."""

    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers

    def __getitem__(self, place: int) -> int:
        return int(self._numbers[place])


def _seen(given: Any) -> Any:
    if not isinstance(given, np.ndarray) or given.dtype.kind not in "iu":
        return given
    return given.data if given.flags.aligned else _Unaligned(given)


def _compiled(function: Compiled, signature: Type | None) -> Compiled:
    from equipoise import kept_loops

    made: Any = kept_loops.compiled(function, nogil=True)
    if signature is not None:
        made.compile(_plain(signature))
        made.disable_compile()
    return cast(Compiled, made)


@functools.cache
def compiler_is_there() -> bool:
    """Return whether Numba is installed, without loading it."""
    return importlib.util.find_spec("numba") is not None


def compiled(signature: Type | None = None) -> Callable[[Compiled], Compiled]:
    """Return what compiles a function, for a signature if there is one, and keeps the result on disk where it can."""

    def make(function: Compiled) -> Compiled:
        if not _leaving and compiler_is_there():
            return _compiled(function, signature)
        _waiting.append(Loop(function, signature))
        # Without a signature it is called by other loops alone, with what they see.
        return function if signature is None else cast(Compiled, _waiting[-1])

    return make


def is_short(path: Path) -> bool:
    """Return whether a file is of text, as it lies, and short.

    Examples
    --------
    >>> is_short(Path(__file__)), is_short(Path("people.parquet"))
    (False, False)
    """
    try:
        return path.suffix.lower() in (".csv", ".tsv") and path.stat().st_size <= FEW_BYTES
    except OSError:
        return False


@contextlib.contextmanager
def left_as_they_are(few: bool = True) -> Iterator[None]:
    """Compile no loop inside, if rows are few: Python is done with them before Numba is loaded."""
    global _leaving
    before, _leaving = _leaving, few
    try:
        yield
    finally:
        _leaving = before


def compile_all() -> None:
    """Compile the loops that were left as they are, unless they are to stay so: by Numba, where it is installed."""
    while _waiting and not _leaving and compiler_is_there():
        _waiting.pop(0).compile()
