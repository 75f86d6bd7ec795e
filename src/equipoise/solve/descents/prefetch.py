"""One instruction that Numba does not offer: ask for memory before it is needed. It changes no number."""

from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic


def _fetch(typing_context: Any, array: Any, place: Any) -> Any:
    """Ask for an entry's cache line before it is needed; an order at random hides it from the processor."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        number, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        shape = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], shape)
        line = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        # To be read, into the second cache, as data.
        builder.call(instruction, [line, number(0), number(2), number(1)])
        return context.get_dummy_value()

    return numba.types.void(array, numba.types.intp), generate


fetch: Any = intrinsic(_fetch)
