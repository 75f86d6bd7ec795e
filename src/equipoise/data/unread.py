"""Data whose shape and type are known, and whose values nobody has looked at."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.data.arrow_values import Kind
from equipoise.data.number_types import NumberType

if TYPE_CHECKING:
    from equipoise.data.engines.pieces import EncodedParts

# How types are called whose own names tell lengths.
WORDS = {"U": "text", "T": "text", "S": "bytes", "V": "records"}

NUMERIC_KINDS = "fiub"


def type_in_words(kind: "np.dtype[Any]") -> str:
    """Return a data type without its width, which NumPy may have taken from the longest text among private ones.

    Examples
    --------
    >>> type_in_words(np.array(["a", "longer"]).dtype), type_in_words(np.dtype(object))
    ('data type text', 'data type object')
    """
    return f"data type {WORDS.get(kind.kind, kind.name)}"


class Matrix(Protocol):
    """What the objective needs of a table: its shape, and blocks of rows."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def __getitem__(self, rows: slice | NDArray[np.intp], /) -> NDArray[Any]:
        """Return a block of rows."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Data whose shape and type are known and whose values are fetched only by `read`."""

    shape: tuple[int, ...]
    numeric: bool
    read: Callable[[], Any]
    # Where rows are gone through part by part: they are never read whole.
    parts: "EncodedParts | None" = None
    # What the declared type of a target says its labels are; None for one that holds no labels, such as dates.
    labels: Kind | None = "unknown"
    # Which numbers that type can hold, where it says so and labels are compared with them exactly.
    numbers: NumberType | None = None
    # Takes what reading needs besides the rows, or refuses for public reasons: the door asks for it before the spend.
    ready: Callable[[], None] = lambda: None
