"""Whatever a user calls a table, as raw columns; a target that comes apart from it is put beside them, unread."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from equipoise.data import engines
from equipoise.data.arrow_values import Column, Kind
from equipoise.data.entries import is_undeclared
from equipoise.data.frames import FrameTable
from equipoise.data.header import contained_names
from equipoise.data.number_types import NumberType
from equipoise.data.raw import RawTable
from equipoise.data.tables import as_frame, target_column
from equipoise.errors import InvalidData

# What the type of a NumPy array holds, by its letter, where that is no number.
ARRAY_KINDS: dict[str, Kind] = {**dict.fromkeys("SUT", "text"), "M": "date", "m": "duration"}


def new_rows(X: Any) -> RawTable:  # noqa: N803 - the field's word for a table
    """Return a data frame or an opened file to predict from as a raw table: the names of its columns are nobody's.

    Examples
    --------
    >>> import pandas as pd
    >>> new_rows(pd.DataFrame({"age": [31], "2020": [7]})).names
    ('age', '2020')
    """
    return X if isinstance(X, RawTable) else engines.frame_table(X) or FrameTable(X)


def raw_table(X: Any, target: str = "", y: Any = None) -> RawTable:  # noqa: N803 - the field's word for a table
    """Return a data frame or an opened file as a raw table; y, if there is one, becomes its target column.

    Examples
    --------
    >>> import pandas as pd
    >>> raw_table(pd.DataFrame({"age": [31, 52]}), "ill", [0, 1]).names
    ('age', 'ill')
    """
    raw = new_rows(X)
    contained_names(raw.names, raw.source)
    if y is None:
        return raw
    # Beside a table that is never held whole it would be read whole.
    if raw.n_samples is None or isinstance(raw, engines.PartedTable):
        raise InvalidData(
            "the target as a column of the table", "a target passed beside it", "leave y out: fit(open_table(path))"
        )
    return _WithTarget(raw, target, *_target(y, raw.n_samples))


def _target(y: Any, n_samples: int) -> tuple[Kind, NumberType | None, Callable[[], NDArray[Any]]]:
    """Return the kind of a target, which numbers it can hold and how to read it, all by its type alone."""
    column = target_column(y, n_samples)
    if is_undeclared(y):
        return "unknown", None, column.read
    given = nw.from_native(as_frame(y), eager_only=True, allow_series=True, pass_through=True)
    if isinstance(given, nw.DataFrame):
        given = next(given.iter_columns())
    if isinstance(given, nw.Series):
        table = FrameTable(given.alias("target").to_frame().to_native(), "the target")
        return table.kinds["target"], table.number_types.get("target"), lambda: _whole(table)
    letter = getattr(getattr(y, "dtype", None), "kind", "O")
    if column.numeric:
        return (
            "truth" if letter == "b" else "number",
            NumberType(getattr(getattr(y, "dtype", None), "name", "")),
            column.read,
        )
    return ARRAY_KINDS.get(letter, "unknown"), None, column.read


def _whole(table: RawTable) -> NDArray[Any]:
    parts = [batch["target"] for batch in table.batches(["target"])]
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)


class _WithTarget(RawTable):
    """A raw table whose target came as an array of its own; a column of that name in the table is not used."""

    def __init__(
        self, raw: RawTable, name: str, kind: Kind, numbers: NumberType | None, read: Callable[[], NDArray[Any]]
    ) -> None:
        self._raw, self._name, self._read = raw, name, read
        self.names = (*(column for column in raw.names if column != name), name)
        self.n_samples = raw.n_samples
        self.kinds = {**raw.kinds, name: kind}
        others = {column: held for column, held in raw.number_types.items() if column != name}
        self.number_types = others if numbers is None else {**others, name: numbers}
        self.source, self.file = raw.source, raw.file

    def with_ids(self, name: str) -> Self:
        """Return the table with a column of ids, which the table beside the target holds."""
        table = super().with_ids(name)
        table._raw = self._raw.with_ids(name)
        return table

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the table's batches with the target's entries of the same rows."""
        others = [name for name in names if name != self._name]
        target = np.asarray(self._read())
        start = 0
        # A batch needs at least one column of the table, to tell how many rows it has.
        for batch in self._raw.batches(others or self._raw.names[:1]):
            count = len(next(iter(batch.values())))
            chosen = {name: batch[name] for name in others}
            yield {**chosen, self._name: target[start : start + count]} if self._name in names else chosen
            start += count
