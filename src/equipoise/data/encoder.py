"""From raw columns to rows of numbers by a schema's public rules: row by row, and no value ever raises (M3).

What a row becomes depends on that row alone. What reads and writes a column's values is its kind's
(`equipoise.data.schema.kinds`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data.arrow_values import Column
from equipoise.data.readings import Reading
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema
from equipoise.data.schema import Column as Declared
from equipoise.data.schema.text import text_of
from equipoise.data.writings import Multiplied, Scaled
from equipoise.errors import InvalidData, InvalidParameter

Array = NDArray[np.float64]


class Encoder:
    """Turns raw columns into rows of norm at most 1, and raw targets into classes or numbers in [-1, 1], and back.

    Parameters
    ----------
    schema : Schema
        Its columns and target must be complete; the number of rows and the voucher may be blank.

    Examples
    --------
    >>> from equipoise.data.schema import NumberColumn, Target
    >>> columns = (NumberColumn("age", (20, 60)), CategoryColumn("job", ("none", "nurse"), unknown="none"))
    >>> encoder = Encoder(Schema(None, columns, Target("ill", classes=(0, 1)), row_norm=2.0))
    >>> encoder.names
    ('age', 'job=none', 'job=nurse')
    >>> encoder.encode({"age": np.array([60, 15]), "job": np.array(["nurse", None], dtype=object)}, 2)
    array([[ 0.5,  0. ,  0.5],
           [-0.5,  0.5,  0. ]])
    >>> encoder.encode_target(np.array(["1", "?"], dtype=object)).tolist()
    [1, 0]
    """

    def __init__(self, schema: Schema) -> None:
        # Bounds that are still to be paid for are blank to an encoder.
        replace(schema, private_bounds=None).require_complete(ignoring=("n", "vouched_by", "vouched_on"))
        self.schema = schema
        self.names = schema.encoded_names()
        self.width = len(self.names)
        self._row_norm = schema.longest_row if schema.row_norm is None else schema.row_norm
        self._widths = [column.width for column in schema.columns]
        spread = np.repeat([column.spread for column in schema.columns], self._widths)
        spread = np.append(spread, np.zeros(self.width - len(spread), dtype=bool))
        self._places = np.flatnonzero(~spread)
        self._writings = [column.writing() for column in schema.columns]
        self._surfaces = [Multiplied(surface.sides) for surface in schema.surfaces]
        target = target_as_column(schema)
        self._readings = {column.name: column.reading(schema.missing) for column in (*schema.columns, target)}
        self._classes = np.empty(len(schema.target.classes or ()), dtype=object)
        self._classes[:] = schema.target.classes or ()

    def encode(self, columns: Mapping[str, Column], count: int) -> Array:
        """Return one encoded row for each of the `count` raw ones; other columns than the features are ignored."""
        names = [column.name for column in self.schema.columns]
        return self.rows({name: self.read(name, self._column(columns, name, count)) for name in names}, count)

    def encode_target(self, values: Column) -> NDArray[Any]:
        """Return the class of each raw target, or its place between the bounds scaled to [-1, 1]."""
        return self.targets(self.read(self.schema.target.name, values))

    def read(self, name: str, values: Column) -> NDArray[Any]:
        """Return what raw values of a column or of the target are: numbers, or positions among levels or classes.

        None of it depends on bounds. Numbers that are not finite are missing; those that came as such are not copied.
        """
        return self._readings[name](values)

    def reading(self, name: str) -> Reading:
        """Return what reads a column or the target."""
        return self._readings[name]

    def rows(self, read: Mapping[str, NDArray[Any]], count: int, into: Array | None = None) -> Array:
        """Return one encoded row for each of the `count` that were read, in a new array or in a given one.

        Examples
        --------
        >>> from equipoise.data.schema import NumberColumn, Target
        >>> columns = (NumberColumn("age", (20, 60)), CategoryColumn("job", ("none", "nurse"), unknown="none"))
        >>> encoder = Encoder(Schema(None, columns, Target("ill", classes=(0, 1)), row_norm=2.0))
        >>> encoder.rows({"age": np.array([60.0, np.nan]), "job": np.array([1, 0])}, 2)
        array([[0.5, 0. , 0.5],
               [0. , 0.5, 0. ]])
        """
        rows = np.empty((count, self.width)) if into is None else into
        self.fill(read, rows, self.room(count))
        return rows

    def room(self, count: int) -> Array:
        """Return the room that `fill` needs for so many rows; who fills many blocks keeps it."""
        return np.empty(len(self._places) * count)

    def fill(self, read: Mapping[str, NDArray[Any]], rows: Array, room: Array) -> float:
        """Put encoded rows where they are wanted; return the largest of their squared norms, but for rounding."""
        from equipoise.data.row_loops import mark_levels, put_entries

        count = len(rows)
        scaled = room[: len(self._places) * count].reshape(len(self._places), count)
        levels: list[tuple[int, NDArray[np.intp]]] = []
        # Squared lengths are added up column by column, which rounds in the same way for any number of rows.
        squares = np.zeros(count)
        line = place = 0
        for column, width, writing in zip(self.schema.columns, self._widths, self._writings, strict=True):
            values = read[column.name]
            if writing is None:
                levels.append((place, values))
                squares += 1.0
            else:
                writing(values, scaled[line : line + width], squares)
                line += width
            place += width
        for surface in self._surfaces:
            surface(read, scaled[line : line + surface.width], squares)
            line += surface.width
        lengths = np.maximum(np.sqrt(squares), self._row_norm)
        if levels:
            rows.fill(0.0)
        # Divided, not multiplied by 1 / length: releases of older versions predict to the last bit what they did.
        scaled /= lengths
        put_entries(scaled, self._places, rows)
        for first, positions in levels:
            mark_levels(positions, first, lengths, rows)
        squares /= lengths
        squares /= lengths
        return float(squares.max(initial=0.0))

    def targets(self, read: NDArray[Any]) -> NDArray[Any]:
        """Return the class at each position that was read, or the numbers scaled to [-1, 1]."""
        if self.schema.target.classes is not None:
            found: NDArray[Any] = self._classes[read]
            return found
        scaled = np.empty((1, len(read)))
        Scaled(self.schema.target.bounds, None)(read, scaled, np.zeros(len(read)))
        return scaled.reshape(-1)

    def class_codes(self, codes: Callable[[NDArray[Any]], Array]) -> Callable[[NDArray[Any]], Array]:
        """Return what codes targets that were read: classes by a table of their codes, instead of one by one.

        Examples
        --------
        >>> from equipoise.data.schema import NumberColumn, Target
        >>> encoder = Encoder(Schema(None, (NumberColumn("age", (20, 60)),), Target("ill", classes=("no", "yes"))))
        >>> encoder.class_codes(lambda classes: np.where(classes == "yes", 1.0, -1.0))(np.array([0, 1, 1]))
        array([-1.,  1.,  1.])
        """
        if self.schema.target.classes is None:
            return lambda read: codes(self.targets(read))
        return codes(self._classes).__getitem__

    def decode_target(self, scores: Array) -> Array:
        """Return a regression's scores in units of the target, clipped into its bounds.

        Examples
        --------
        >>> from equipoise.data.schema import NumberColumn, Target
        >>> encoder = Encoder(Schema(None, (NumberColumn("age", (20, 60)),), Target("dose", bounds=(0, 400))))
        >>> encoder.decode_target(encoder.encode_target(np.array([100.0, 500.0, np.nan])))
        array([100., 400., 200.])
        """
        if self.schema.target.bounds is None:
            raise InvalidParameter("the target of a regression", "classes", "scores of classes need no decoding")
        low, high = self.schema.target.bounds
        share = (np.clip(scores, -1.0, 1.0) + 1.0) / 2.0
        return np.clip(low * (1.0 - share) + high * share, low, high)

    def _column(self, columns: Mapping[str, Column], name: str, count: int) -> Column:
        if name not in columns or columns[name].shape != (count,):
            found = "none" if name not in columns else f"shape {columns[name].shape}"
            raise InvalidData(f"a column {name!r} of {count} values", found, "pass every column of the schema")
        return columns[name]


def target_as_column(schema: Schema) -> Declared:
    """Return what a complete target would be as a column: it is read in the same way.

    Examples
    --------
    >>> from equipoise.data.schema import Target
    >>> target_as_column(Schema(None, (NumberColumn("age", (20, 60)),), Target("ill", classes=(0, 1)))).levels
    ('0', '1')
    """
    target = schema.target
    if target.classes is None:
        return NumberColumn(target.name, target.bounds)
    texts = tuple(text_of(label) or "" for label in target.classes)
    return CategoryColumn(target.name, texts, unknown=texts[0])
