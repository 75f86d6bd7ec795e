"""From raw columns to rows of numbers by a schema's public rules: row by row, and no value ever raises (M3).

What a row becomes depends on that row alone. Every shortcut for speed must therefore give what the rule gives for
each value by itself, or the other rows of a batch would show.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data.arrow_values import Column
from equipoise.data.schema import CategoryColumn, Schema
from equipoise.data.schema.text import number_of, text_of
from equipoise.data.tables import NUMERIC_KINDS
from equipoise.data.texts import Texts, Words
from equipoise.errors import InvalidData, InvalidParameter

Array = NDArray[np.float64]

# Values of exactly these types become numbers in one go in the same way as one by one.
PLAIN_TYPES = {str, float, int, bool, type(None)}

# Real numbers are compared with so many known ones at most, and sorted where there are more.
FEW_NUMBERS = 32


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
        self.names = encoded_names(schema)
        self.width = len(self.names)
        entries = sum(1 + getattr(column, "indicator", False) for column in schema.columns)
        self._row_norm = math.sqrt(entries) if schema.row_norm is None else schema.row_norm
        # No row is longer than the root of its number of entries, however it is rounded: all have the same length, by
        # which numbers are divided at once.
        self._length = self._row_norm if schema.row_norm is None else 1.0
        self._places, self._scales = np.fromiter(_number_places(schema), np.int64), [*map(_scale, schema.columns)]
        self._missing_numbers = [number for number in map(number_of, schema.missing) if math.isfinite(number)]
        self._levels = {
            column.name: _Positions(column.levels, column.unknown, column.fill, schema.missing)
            for column in schema.columns
            if isinstance(column, CategoryColumn)
        }
        classes = schema.target.classes or ()
        self._classes = np.empty(len(classes), dtype=object)
        self._classes[:] = classes
        texts = tuple(text_of(label) or "" for label in classes)
        self._class_positions = _Positions(texts, texts[0], None, schema.missing) if texts else None

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
        positions = self._class_positions if name == self.schema.target.name else self._levels.get(name)
        if positions is not None:
            return positions(values)
        plain = values.dtype == np.float64 and not self._missing_numbers
        return np.ascontiguousarray(values) if plain else self.numbers(values)

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
        from equipoise.data.row_loops import mark_levels, put_entries, scale_numbers

        count = len(rows)
        scaled = room[: len(self._places) * count].reshape(len(self._places), count)
        levels: list[tuple[int, NDArray[np.intp]]] = []
        # Squared lengths are added up column by column, which rounds in the same way for any number of rows.
        squares = np.zeros(count)
        entries, place = iter(scaled), 0
        for column, scale in zip(self.schema.columns, self._scales, strict=True):
            values = read[column.name]
            if isinstance(column, CategoryColumn):
                levels.append((place, values))
                squares += 1.0
                place += len(column.levels)
                continue
            scale_numbers(values, *scale, self._length, next(entries), squares)
            if column.indicator:
                missing = next(entries)
                np.logical_not(np.isfinite(values), out=missing)
                squares += missing
                missing /= self._length
            place += 1 + column.indicator
        lengths = np.maximum(np.sqrt(squares), self._row_norm)
        if levels:
            rows.fill(0.0)
        if self.schema.row_norm is not None:
            scaled /= lengths
        put_entries(scaled, self._places, rows)
        for first, positions in levels:
            mark_levels(positions, first, lengths, rows)
        squares /= lengths
        squares /= lengths
        return float(squares.max(initial=0.0))

    def targets(self, read: NDArray[Any]) -> NDArray[Any]:
        """Return the class at each position that was read, or the numbers scaled to [-1, 1]."""
        if self._class_positions is not None:
            found: NDArray[Any] = self._classes[read]
            return found
        from equipoise.data.row_loops import scale_numbers

        scaled = np.empty(len(read))
        scale_numbers(read, *_scale(self.schema.target), 1.0, scaled, np.zeros(len(read)))
        return scaled

    def class_codes(self, codes: Callable[[NDArray[Any]], Array]) -> Callable[[NDArray[Any]], Array]:
        """Return what codes targets that were read: classes by a table of their codes, instead of one by one.

        Examples
        --------
        >>> from equipoise.data.schema import NumberColumn, Target
        >>> encoder = Encoder(Schema(None, (NumberColumn("age", (20, 60)),), Target("ill", classes=("no", "yes"))))
        >>> encoder.class_codes(lambda classes: np.where(classes == "yes", 1.0, -1.0))(np.array([0, 1, 1]))
        array([-1.,  1.,  1.])
        """
        if self._class_positions is None:
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

    def numbers(self, values: Column) -> Array:
        """Return a raw column as numbers, with NaN where a value is missing, unreadable or infinite.

        Examples
        --------
        >>> from equipoise.data.schema import NumberColumn, Target
        >>> encoder = Encoder(Schema(None, (NumberColumn("age", (20, 60)),), Target("dose", bounds=(0, 400))))
        >>> encoder.numbers(np.array([" 3.5 ", 7, "NA", None, "seven"], dtype=object))
        array([3.5, 7. , nan, nan, nan])
        """
        if isinstance(values, Texts):
            numbers = values.numbers()
        else:
            with _silence():
                if values.dtype.kind in NUMERIC_KINDS:
                    numbers = values.astype(np.float64)
                else:
                    numbers = _numbers_of_objects(values.astype(object, copy=False))
        numbers[~np.isfinite(numbers)] = np.nan
        for number in self._missing_numbers:
            # A missing text that is a number, such as -999, is that number however it is written.
            numbers[numbers == number] = np.nan
        return numbers

    def _column(self, columns: Mapping[str, Column], name: str, count: int) -> Column:
        if name not in columns or columns[name].shape != (count,):
            found = "none" if name not in columns else f"shape {columns[name].shape}"
            raise InvalidData(f"a column {name!r} of {count} values", found, "pass every column of the schema")
        return columns[name]


def encoded_names(schema: Schema) -> tuple[str, ...]:
    """Return the names of the encoded columns; bounds may still be blank.

    Examples
    --------
    >>> from equipoise.data.schema import Target
    >>> encoded_names(Schema(None, (CategoryColumn("job", ("none", "nurse"), unknown="none"),), Target("ill")))
    ('job=none', 'job=nurse')
    """
    return tuple(_encoded_names(schema))


def _encoded_names(schema: Schema) -> Iterator[str]:
    for column in schema.columns:
        if isinstance(column, CategoryColumn):
            yield from (f"{column.name}={level}" for level in column.levels)
        else:
            yield column.name
            if column.indicator:
                yield f"{column.name} missing"


@contextmanager
def _silence() -> Iterator[None]:
    """Let nothing about a value be seen: neither a warning of NumPy nor one that an odd object gives."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _numbers_of_objects(values: NDArray[Any]) -> Array:
    # NumPy reads some types otherwise than float() does (datetime64), so it may only be asked about plain ones.
    if PLAIN_TYPES.issuperset(map(type, values)):
        try:
            return values.astype(np.float64)
        except (ValueError, OverflowError):
            pass  # some text is no number: one by one
    return np.fromiter(map(number_of, values), dtype=np.float64, count=len(values))


def _number_places(schema: Schema) -> Iterator[int]:
    """Yield the places of numbers, and of what says that they are missing, in a row."""
    place = 0
    for column in schema.columns:
        width = len(column.levels) if isinstance(column, CategoryColumn) else 1 + column.indicator
        if not isinstance(column, CategoryColumn):
            yield from range(place, place + width)
        place += width


def _scale(column: Any) -> tuple[float, float, float, float]:
    """Return the unit in which a column's numbers are scaled, the bounds in it, and the share of missing ones."""
    bounds, fill = getattr(column, "bounds", None), getattr(column, "fill", None)
    if bounds is None:
        return math.nan, math.nan, math.nan, math.nan
    # A quarter of the largest numbers cannot overflow in a difference; small ones must not be made smaller.
    unit = 0.25 if max(abs(bounds[0]), abs(bounds[1])) > 1.0 else 1.0
    low, high = unit * bounds[0], unit * bounds[1]
    return unit, low, high, 0.5 if fill is None else (unit * fill - low) / (high - low)


class _Positions:
    """From raw values to positions among texts; a missing text that is among them is that one."""

    def __init__(self, texts: tuple[str, ...], unknown: str | None, fill: str | None, missing: tuple[str, ...]) -> None:
        positions = {text: position for position, text in enumerate(texts)}
        self._unknown = positions[unknown or ""]
        self._missing = positions.get(fill or "", self._unknown)
        self._known = dict.fromkeys(missing, self._missing) | positions

    def one(self, value: object) -> int:
        """Return the position of one value."""
        text = text_of(value)
        return self._missing if text is None else self._known.get(text, self._unknown)

    @cached_property
    def _numbers(self) -> list[float]:
        """The numbers whose texts may be known; any other number's text is not."""
        return sorted({0.0, *(number for number in map(number_of, self._known) if math.isfinite(number))})

    def _found(self, numbers: Array) -> NDArray[np.intp]:
        """Return the positions of real numbers, of which only few are known."""
        from equipoise.data.row_loops import find_numbers

        found = np.empty(len(numbers), dtype=np.intp)
        find_numbers(np.ascontiguousarray(numbers), *self._known_numbers, self._missing, self._unknown, found)
        return found

    @cached_property
    def _known_numbers(self) -> tuple[Array, NDArray[np.intp]]:
        """Numbers that may be known, infinite ones among them, and their positions."""
        known = [*self._numbers, math.inf, -math.inf]
        return np.array(known), np.array([self.one(number) for number in known], dtype=np.intp)

    @cached_property
    def _words(self) -> Words:
        return Words(self._known)

    def __call__(self, values: Column) -> NDArray[np.intp]:
        """Return the position of every value."""
        # Texts are remembered, other objects are not: 1 and True would be the same key.
        memory = _Memory(self._known, self.one)
        if isinstance(values, Texts):
            return values.found(self._words, self._missing, self._unknown, memory.__getitem__)
        with _silence():
            if values.dtype == np.float64 and len(self._numbers) <= FEW_NUMBERS:
                return self._found(values)
            if values.dtype.kind in NUMERIC_KINDS:
                distinct, where = np.unique(values, return_inverse=True)
                return np.array([self.one(value) for value in distinct.tolist()], dtype=np.intp)[where]
            found = (memory[value] if type(value) is str else self.one(value) for value in values.astype(object))
            return np.fromiter(found, dtype=np.intp, count=len(values))


class _Memory(dict[str, int]):
    """Positions of the texts that one batch has met; it is thrown away with the batch, since they are private."""

    def __init__(self, known: Mapping[str, int], one: Callable[[object], int]) -> None:
        super().__init__(known)
        self._one = one

    def __missing__(self, text: str) -> int:
        self[text] = position = self._one(text)
        return position
