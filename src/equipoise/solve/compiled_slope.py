"""The slope of a loss, compiled into whichever loop takes it.

A loop that is compiled by Numba can take a function in three ways, and two of them do not serve here. A pointer is
called and not inlined, which makes a step of one row a third to two thirds slower. A compiled function as an argument
is inlined, but Numba's cache on disk does not recognise it in another process, and compiles the loop again. So a slope
is passed as an empty object whose *type* names the formula: every formula gets a loop of its own, as fast as one that
was written for it, and the cache finds it by the name. The name carries a digest of the formula, because the cache
looks at the loop's own file alone, and would keep a formula that was changed elsewhere. Whatever else a loop takes from
other files stands in the same digest.
"""

import functools
import hashlib
import inspect
from collections.abc import Callable
from typing import Any

import numba
from numba.extending import NativeValue, models, overload, register_model, typeof_impl, unbox

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.losses import Loss

# Of a prediction, a target and a parameter; loops of several outputs have forms of their own.
Formula = Callable[..., float]

# Formulas by the name of their type. Numba writes types to disk, so a type holds no formula itself.
_FORMULAS: dict[str, Formula] = {}


class SlopeType(numba.types.Type):
    """The type of a compiled slope: its name says which formula, to the last instruction."""


class CompiledSlope:
    """A formula, for loops to take as an argument; `beside` are functions of other files that they take as well."""

    def __init__(self, formula: Formula, *beside: Callable[..., Any]) -> None:
        self.formula = formula
        digests = "-".join(map(_digest, (formula, *beside)))
        name = f"{formula.__module__}.{formula.__qualname__}({digests})"
        _FORMULAS[name] = formula
        self.type = SlopeType(name)


def _digest(formula: Callable[..., Any]) -> str:
    """Return a digest of all that Numba compiles in: instructions, constants, and the values of names from outside."""
    plain = inspect.unwrap(formula)
    code, outside = plain.__code__, plain.__globals__
    values = [outside[name] for name in code.co_names if name in outside]
    values += [cell.cell_contents for cell in plain.__closure__ or ()]
    return hashlib.sha256(repr((code.co_code, code.co_consts, code.co_names, values)).encode()).hexdigest()


@functools.cache
def _compiled(formula: Formula, *beside: Callable[..., Any]) -> CompiledSlope:
    return CompiledSlope(formula, *beside)


def compiled_slope(loss: Loss, *beside: Callable[..., Any]) -> CompiledSlope:
    """Return what the compiled loops take as the slope of a loss: its class's `slope_at`.

    `beside` are the functions that these loops compile in from other files than their own: where one of them changes,
    so does the type, and the cache on disk has no loop of it.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> huber = losses.named("huber:0.5")
    >>> slope(compiled_slope(huber), 3.0, 0.0, huber.parameter)
    0.5
    """
    if loss.outputs != 1:
        raise InvalidParameter(
            "a loss of one output",
            f"the loss {loss.name!r}",
            "use a loss with one prediction a row, or a solver that minimises",
        )
    return _compiled(type(loss).slope_at, *beside)


def slope(compiled: CompiledSlope, prediction: float, target: float, parameter: float) -> float:
    """Return the derivative in the prediction; in a compiled loop, without a call."""
    return compiled.formula(prediction, target, parameter)


@overload(slope, jit_options={"error_model": "numpy", "forceinline": True})
def _slope(compiled: Any, prediction: Any, target: Any, parameter: Any) -> Any:
    formula = numba.njit(error_model="numpy", forceinline=True)(_FORMULAS[compiled.name])

    def inlined(compiled: Any, prediction: Any, target: Any, parameter: Any) -> Any:
        return formula(prediction, target, parameter)

    return inlined


@typeof_impl.register(CompiledSlope)
def _typeof(compiled: CompiledSlope, _: object) -> SlopeType:
    return compiled.type


register_model(SlopeType)(models.OpaqueModel)


@unbox(SlopeType)  # type: ignore[untyped-decorator, no-untyped-call]
def _unboxed(_: SlopeType, __: object, compiler: Any) -> Any:
    """Return nothing: all there is to know is in the type."""
    return NativeValue(compiler.context.get_dummy_value())  # type: ignore[no-untyped-call]
