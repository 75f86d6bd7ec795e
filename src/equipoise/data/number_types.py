"""Which numbers a column's declared type can hold: whole ones of a range, or real ones of a precision.

A class that no number of the type equals is a public mistake: every row would count as another one.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.data.schema.text import number_of, text_of
from equipoise.errors import InvalidData

# Arrow's names of real types, where they are not those of everybody else.
ARROW_NAMES = {"halffloat": "float16", "float": "float32", "double": "float64"}

_WHOLE = re.compile(r"(u?)int(\d+)")


@dataclass(frozen=True, slots=True)
class NumberType:
    """A type of numbers by its name, such as "int8" or "float32"; one of any other name holds every number.

    Examples
    --------
    >>> [NumberType(name).holds(-1) for name in ("uint8", "int8", "float32")]
    [False, True, True]
    >>> [NumberType(name).holds(0.1) for name in ("int8", "float32", "float64")]
    [False, False, True]
    """

    name: str

    def holds(self, number: float) -> bool:
        """Return whether a value of the type can equal a number, as values are read in 64 bits."""
        if whole := _WHOLE.fullmatch(self.name):
            bits = int(whole[2])
            low, high = (0, 2**bits - 1) if whole[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            # The largest whole numbers are rounded up where they are read as real ones.
            return low <= number <= float(high) and number == int(number)
        if self.name in ("float16", "float32"):
            with np.errstate(over="ignore"):
                return float(np.dtype(self.name).type(number)) == number
        return True


def arrow_number_type(arrow_type: Any) -> NumberType | None:
    """Return the type of numbers that an Arrow type is, None for one that holds others than whole or real numbers.

    Examples
    --------
    >>> import pyarrow
    >>> arrow_number_type(pyarrow.dictionary(pyarrow.int8(), pyarrow.float32()))
    NumberType(name='float32')
    """
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow import types

    if isinstance(arrow_type, pyarrow.BaseExtensionType):
        return arrow_number_type(arrow_type.storage_type)
    if types.is_dictionary(arrow_type) or types.is_run_end_encoded(arrow_type):
        return arrow_number_type(arrow_type.value_type)
    name = str(arrow_type)
    known = types.is_integer(arrow_type) or types.is_floating(arrow_type)
    return NumberType(ARROW_NAMES.get(name, name)) if known else None


def require_held(asked: str, numbers: NumberType | None, classes: Iterable[object]) -> None:
    """Refuse classes, all of them numbers, unless the target's type can hold each; one that is not known can.

    Examples
    --------
    >>> require_held("a target", NumberType("int64"), (0, "2.5"))
    Traceback (most recent call last):
    equipoise.errors.InvalidData: asked: a target; found: numbers of type int64, none of which can be the class 2.5; \
to do: declare the classes as the column has them, or convert the column by a public rule
    """
    if numbers is None:
        return
    impossible = [text_of(label) or "" for label in classes if not numbers.holds(number_of(label))]
    if impossible:
        named = f"the class {impossible[0]}" if len(impossible) == 1 else f"the classes {', '.join(impossible[:8])}"
        raise InvalidData(
            asked,
            f"numbers of type {numbers.name}, none of which can be {named}",
            "declare the classes as the column has them, or convert the column by a public rule",
        )
