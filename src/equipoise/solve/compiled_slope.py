"""The slope of a loss, compiled into whichever loop takes it.

A loop that is compiled by Numba can take a function in three ways, and two of them do not serve here. A pointer is
called and not inlined, which makes a step of one row a third to two thirds slower. A compiled function as an argument
is inlined, but Numba's cache on disk does not recognise it in another process, and compiles the loop again. So a slope
is passed as an empty object whose *type* names the formula: every formula gets a loop of its own, as fast as one that
was written for it, and the cache finds it by the name. The name carries a digest of the formula, because the cache
looks at the date of the loop's file alone, and would keep a formula that was changed elsewhere.
"""

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import numba
from numba.extending import NativeValue, models, overload, register_model, typeof_impl, unbox

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.losses import Loss

Formula = Callable[[float, float, float], float]

# Formulas by the name of their type. Numba writes types to disk, so a type holds no formula itself.
_FORMULAS: dict[str, Formula] = {}


class SlopeType(numba.types.Type):
    """The type of a compiled slope: its name says which formula, to the last instruction."""


class CompiledSlope:
    """A formula, for loops to take as an argument."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        name = f"{formula.__module__}.{formula.__qualname__}({_digest(formula)})"
        _FORMULAS[name] = formula
        self.type = SlopeType(name)


def _digest(formula: Formula) -> str:
    """Return a digest of all that Numba compiles in: instructions, constants, and the values of names from outside."""
    code, outside = formula.__code__, formula.__globals__
    values = [outside[name] for name in code.co_names if name in outside]
    values += [cell.cell_contents for cell in formula.__closure__ or ()]
    return hashlib.sha256(repr((code.co_code, code.co_consts, code.co_names, values)).encode()).hexdigest()


@functools.cache
def _compiled(formula: Formula) -> CompiledSlope:
    return CompiledSlope(formula)


def compiled_slope(loss: Loss) -> CompiledSlope:
    """Return what the compiled loops take as the slope of a loss: its class's `slope_at`.

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
    return _compiled(type(loss).slope_at)


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
