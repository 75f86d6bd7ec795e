"""A raw table seen through a schema: what names, kinds and n can tell is checked first, and rows are read after that.

Privacy of the n rule: every line gives exactly one row by itself, the rows beyond the declared number are left out, and
those that lack are the public row "every value missing". Which row stands at which place is thus fixed by its line
alone: tables that differ in one line give encoded tables that differ in one row at most, so neighbours stay
neighbours, and the number of rows is the declared one whatever the file holds.
"""

import contextlib
import difflib
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data.arrow_values import Column, Kind
from equipoise.data.cells import Cells, CellWork, Counts, counts_of_parts, reader
from equipoise.data.encoder import Encoder
from equipoise.data.engines.base import PartedTable
from equipoise.data.engines.pieces import EncodedParts
from equipoise.data.excel_table import WORKBOOKS
from equipoise.data.number_types import require_held
from equipoise.data.person_runs import PersonRule
from equipoise.data.raw import RawTable, listed
from equipoise.data.schema import Column as Declared
from equipoise.data.schema import NumberColumn, Schema
from equipoise.data.schema.file_format import FileFormat
from equipoise.data.schema.kinds.base import can_be, levels_fit
from equipoise.data.schema.text import number_of, place, text_of, written
from equipoise.data.slots import Slots
from equipoise.data.unread import Unread
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.vocabulary.facts import Label
from equipoise.vocabulary.numbers import require_count

Array = NDArray[np.float64]
# What a batch of rows was read as: numbers, and positions among levels and classes.
Batch = dict[str, NDArray[Any]]
NONE: Array = np.empty(0)

# What a column's type holds, in words.
TYPES = {
    "number": "numbers",
    "truth": "truth values",
    "text": "text",
    "date": "dates",
    "day": "dates without a time of day",
    "time": "times of day",
    "duration": "durations",
    "nothing": "no values, whatever the rows",
}
# What to do about a type, whatever was declared.
REMEDIES = {
    "truth": 'declare true and false, as classes = [false, true] or levels = [false, true], or kind = "yes-no"; or '
    "convert the column to numbers",
    "day": "declare what a date without a time of day has: dates as 2020-02-29 among levels, parts but the hour",
    "time": "declare what a time of day has: times as 14:30:00 among levels, or the parts hour and cyclic hour alone",
    "duration": "convert it to a number in a stated unit, such as hours",
    "nothing": 'declare kind = "unused", or leave the column out',
}
# What to do about the target of a regression, which cannot be left out.
TARGETS = {
    **dict.fromkeys(
        ("text", "date", "day", "time"), "convert the target to numbers by a public rule, or declare classes"
    ),
    "duration": REMEDIES["duration"],
    "nothing": "name the column that holds the target",
}
# What to declare of a target of a type.
CLASSES = {
    "number": "declare numbers, such as classes = [0, 1]",
    "truth": "declare classes = [false, true]",
    "text": 'declare texts, such as classes = ["no", "yes"]',
    "date": 'declare moments, such as classes = ["2020-02-29T14:30:00", ...]',
    "day": 'declare dates, such as classes = ["2020-02-29", ...]',
    "time": 'declare times, such as classes = ["14:30:00", ...]',
    "duration": "write it as numbers in a stated unit",
    "nothing": "name the column that holds the target",
}

# So many numbers a row a solver of one output holds at most besides the rows and their targets: measured, not proved.
NUMBERS_A_ROW = 10


def encoded_table(schema: Schema, raw: RawTable, n_samples: int) -> "EncodedTable":
    """Return the table as rows and targets of an objective, unread.

    Parameters
    ----------
    schema : Schema
        Complete, but for bounds that are to be paid for.
    raw : RawTable
        The table; only its names, kinds and number of rows are looked at.
    n_samples : int
        The declared number of rows, or of persons.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.frames import FrameTable
    >>> from equipoise.data.schema import Target
    >>> schema = Schema(2, (NumberColumn("age", (20, 60)),), Target("ill", classes=("no", "yes")))
    >>> table = encoded_table(schema, FrameTable(pyarrow.table({"age": [20, 50], "ill": ["yes", "no"]})), 2)
    >>> table.features.shape, table.features.read().tolist(), table.target.read().tolist()
    ((2, 1), [[-1.0], [0.5]], ['yes', 'no'])
    """
    count = require_count("n_samples", n_samples, "declare the number of rows, or of persons: n in the schema")
    # A blank would otherwise be noticed by the encoder, when the fit is paid for.
    schema.require_complete(ignoring=("n", "vouched_by", "vouched_on"))
    check_columns(schema, raw)
    # How many rows persons have in all is private, and nothing is compared with it.
    if schema.person is None and raw.n_samples is not None and raw.n_samples != count:
        raise InvalidData(
            f"the declared {count} rows",
            f"{raw.n_samples} rows in {raw.source}",
            "pass the table that the schema describes, or correct n in the schema if it was declared wrongly",
        )
    return EncodedTable(schema, raw, count)


def check_columns(schema: Schema, raw: RawTable) -> None:
    """Refuse a table whose names and kinds do not fit the schema, or that was opened otherwise; no row is read."""
    if raw.file is not None and _opened(raw.file) != _opened(schema.file):
        raise InvalidData(
            f"{raw.source} as the schema's [file] says that it is written",
            "a table that was opened with another mark of decimals or thousands, another header, or another sheet",
            "open it by equipoise.open_table(path, schema=schema)",
        )
    required = [*(column.name for column in schema.columns), schema.target.name, *_id_name(schema)]
    known = {*required, *schema.unused, *schema.identifiers}
    present = set(raw.names)
    absent = [name for name in required if name not in present]
    surplus = [name for name in raw.names if name not in known]
    if absent:
        raise _absent(absent, required, surplus or raw.names, raw.source)
    if surplus:
        lines = "; ".join(f'[{place("columns", name)}] with kind = "unused"' for name in surplus[:3])
        raise InvalidData(
            f"columns that the schema knows in {raw.source}",
            f"columns that it does not mention: {listed(surplus)}",
            f"add to the schema: {lines}{' and so on' if len(surplus) > 3 else ''}",
        )
    _check_kinds(schema.columns, raw)
    _check_numbers(schema, raw)
    if schema.task == "regression":
        _check_kinds((NumberColumn(schema.target.name),), raw, TARGETS)
    else:
        _check_labels(schema, raw)


def _opened(file: FileFormat) -> tuple[object, ...]:
    """Return what decides which rows a file has, and what its texts are, beyond the names of its columns."""
    return file.numerals, file.header, file.sheet


def _absent(absent: Sequence[str], required: Sequence[str], others: Sequence[str], source: str) -> InvalidData:
    close = difflib.get_close_matches(absent[0], list(others)[:1000], n=1)
    hint = f"; is {close[0]!r} what the schema calls {absent[0]!r}?" if close else ""
    if len(absent) == len(required) and not close:
        hint = "; where a title stands above the names, delete it: what comes first is taken for names"
    return InvalidData(
        f"every column of the schema in {source}",
        f"no column {listed(absent)}",
        f"correct the names in the schema or in the table{hint}",
    )


def _check_kinds(columns: Sequence[Declared], raw: RawTable, remedies: Mapping[str, str] = REMEDIES) -> None:
    """Refuse columns whose type can hold no value of their declared kind."""
    wrong = [column for column in columns if not column.fits(raw.kinds[column.name])]
    for column in wrong[:1]:
        found = raw.kinds[column.name]
        alike = [other.name for other in wrong if (other.kind, raw.kinds[other.name]) == (column.kind, found)]
        raise InvalidData(
            f"{column.asked} in {raw.source} where the schema says {column.kind}",
            f"columns of {TYPES[found]}: {listed(alike)}",
            remedies.get(found, column.remedy),
        )


def _check_labels(schema: Schema, raw: RawTable) -> None:
    """Refuse a target whose type can be no declared class but the first: as that one all rows would count."""
    classes, found = schema.target.classes or (), raw.kinds[schema.target.name]
    possible = levels_fit([text_of(label) or "" for label in classes[1:]], found)
    if not possible or (found == "text" and not any(isinstance(label, str) for label in classes)):
        raise InvalidData(
            f"a target in {raw.source} whose type can be one of the declared classes",
            f"{TYPES[found]}, and no class but the first can be one of them",
            f"{CLASSES[found]}, or convert the target by a public rule",
        )
    _check_decimals(classes, raw, found)
    numbers = [label for label in classes if can_be(text_of(label) or "", "number")]
    asked = f"a target in {raw.source} whose type can be every declared class"
    require_held(asked, raw.number_types.get(schema.target.name), numbers)


def _check_decimals(classes: Sequence[Label], raw: RawTable, found: Kind) -> None:
    """Refuse classes with a fraction, as numbers, where a text file writes those with a comma: no text is such a class.

    A file without types has texts alone, and labels are compared with them to the letter. A workbook has types.
    """
    file = raw.file
    typed = any(path.suffix.lower() in WORKBOOKS for path in raw.files)
    if file is None or file.decimal == "." or found != "unknown" or typed:
        return
    fractions = [label for label in classes if not isinstance(label, str) and "." in (text_of(label) or "")]
    if fractions:
        texts = ", ".join(written((text_of(label) or "").replace(".", file.decimal)) for label in fractions[:8])
        raise InvalidData(
            f"classes that are texts of {raw.source}, in which numbers have a decimal {written(file.decimal)}",
            f"numbers with a fraction, which stand there otherwise: {listed([str(label) for label in fractions])}",
            f"write these classes as the texts in the file, in quotes: {texts}",
        )


def _check_numbers(schema: Schema, raw: RawTable) -> None:
    """Refuse columns whose type can hold none of the numbers that are their levels or spellings."""
    wrong = [
        column.name
        for column in schema.columns
        if (held := raw.number_types.get(column.name)) is not None
        and column.texts()
        and not any(can_be(text, "number") and held.holds(number_of(text)) for text in column.texts())
    ]
    if wrong:
        types = sorted({raw.number_types[name].name for name in wrong})
        raise InvalidData(
            f"columns that can hold a level or spelling of the schema in {raw.source}",
            f"numbers of type {listed(types)}, none of which can be one: {listed(wrong)}",
            "declare the levels as the column has them, or another kind",
        )


def _kept_rows(schema: Schema, table: PartedTable, n_samples: int) -> PartedTable:
    """Return a table that is never held whole, grouped by persons where n counts them; nothing is read yet."""
    person = schema.person
    if person is None:
        return table
    return table.grouped(PersonRule(person.column, frozenset(schema.missing), n_samples, person.rows_at_most))


def _id_name(schema: Schema) -> list[str]:
    return [] if schema.person is None else [schema.person.column]


class EncodedTable:
    """A table of which nothing was read yet; its rows come encoded, by public rules, and as many as declared.

    Attributes
    ----------
    features : Unread
        The rows: a float64 array of norm at most 1 a row.
    target : Unread
        The targets: classes, or numbers in [-1, 1].
    persons : Unread or None
        Where n counts persons, the slot that each row belongs to. The rows are then those that are kept of them, and
        their first length is the number of persons: how many rows there are is private.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.frames import FrameTable
    >>> from equipoise.data.schema import Target
    >>> schema = Schema(2, (NumberColumn("age", None),), Target("ill", classes=("no", "yes")))
    >>> raw = FrameTable(pyarrow.table({"age": [20, None], "ill": ["yes", "no"]}))
    >>> table = encoded_table(schema.with_private_bounds(0.1), raw, 2)
    >>> np.flatnonzero(table.counts(("age",), Cells(smallest=4, largest=6, bits=1))[0]).tolist()
    [6]
    >>> table.with_bounds({"age": (0.0, 40.0)}).features.read().tolist()
    [[0.0], [0.0]]
    """

    def __init__(self, schema: Schema, raw: RawTable, n_samples: int, kept: list[Batch] | None = None) -> None:
        self._schema = schema
        self._raw = raw
        self._n_samples = n_samples
        self._kept = kept
        self._encoded: tuple[Array, NDArray[Any], NDArray[np.intp]] | None = None
        self._room: tuple[Array, NDArray[Any]] | None = None
        parts = EncodedParts(_kept_rows(schema, raw, n_samples), schema) if isinstance(raw, PartedTable) else None
        self.persons = None if schema.person is None else Unread((n_samples,), True, lambda: self._read()[2])
        shape = n_samples, schema.n_features
        self.features = Unread(shape, True, lambda: self._read()[0], parts, ready=self._take_room)
        self.target = Unread((n_samples,), schema.task == "regression", lambda: self._read()[1])

    def with_bounds(self, bounds: Mapping[str, tuple[float, float]]) -> "EncodedTable":
        """Return the table with blank bounds filled in; rows that were read already are not read again."""
        table = EncodedTable(self._schema.with_bounds(bounds), self._raw, self._n_samples, self._kept)
        table._room, self._room = self._room, None
        return table

    def at(self, places: NDArray[np.intp]) -> "EncodedTable":
        """Return the table of the rows at these places, in rising order, which are read now.

        Places count the declared rows: those that lack are the last ones, there as here.
        """
        kept, first = [], 0
        for batch in self._keep():
            start, end = np.searchsorted(places, (first, first + _count(batch)))
            kept.append({name: values[places[start:end] - first] for name, values in batch.items()})
            first += _count(batch)
        return EncodedTable(self._schema, self._raw, len(places), kept)

    def counts(self, names: tuple[str, ...], cells: Cells) -> list[Counts]:
        """Return how many numbers of each column, or of a regression's target, every cell holds.

        Missing and unreadable values, and the rows that lack, are in no cell.
        """
        unknown = [name for name in names if name not in self._number_names()]
        if unknown:
            remedy = f"choose from {listed(self._number_names())}"
            raise InvalidParameter("columns of numbers of the schema", listed(unknown), remedy)
        if not isinstance(self._raw, PartedTable):
            return [sum((cells.counts(batch[name]) for batch in self._keep()), cells.counts(NONE)) for name in names]
        return counts_of_parts(self._raw, CellWork(self._schema, names, cells), self._n_samples)

    def _names(self) -> list[str]:
        return [*(column.name for column in self._schema.columns), self._schema.target.name]

    def _number_names(self) -> list[str]:
        names = [column.name for column in self._schema.columns if isinstance(column, NumberColumn)]
        return [*names, self._schema.target.name] if self._schema.task == "regression" else names

    def _batches(self) -> Iterator[Batch]:
        """Yield the first rows, as many as declared; from memory once they were read for private bounds."""
        if self._kept is not None:
            yield from self._kept
            return
        encoder = reader(self._schema)
        left = self._n_samples
        with contextlib.closing(_closable(self._raw.batches(self._names()))) as batches:
            for batch in batches:
                yield {name: encoder.read(name, values[:left]) for name, values in batch.items()}
                left -= _count(batch)
                if left <= 0:
                    return

    def _keep(self) -> list[Batch]:
        """Return the rows in memory, read once: a file that changes between two readings would give other rows."""
        if self._kept is None:
            self._kept = list(self._batches())
        return self._kept

    def _take_room(self) -> None:
        """Take the memory for the declared rows where they are held whole; persons' rows are as many as they are."""
        if self._room is None and self.persons is None and self.features.parts is None:
            self._room = self._allocated(working=NUMBERS_A_ROW)

    def _allocated(self, working: int = 0) -> tuple[Array, NDArray[Any]]:
        """Return room for the declared rows, before the first is read; what is lacking is told by public numbers.

        As many working numbers a row must fit besides; they are given back at once.
        """
        try:
            target = np.empty(self._n_samples, dtype=np.float64 if self.target.numeric else object)
            room = np.empty(self.features.shape), target
            np.empty((working, self._n_samples))
            return room
        except (MemoryError, ValueError):
            raise InvalidData(
                "memory for the declared rows",
                f"too little for {self._n_samples} rows of {self.features.shape[1]} encoded columns",
                "check n in the schema, or use a machine with more memory",
            ) from None

    def _read(self) -> tuple[Array, NDArray[Any], NDArray[np.intp]]:
        if self._encoded is None:
            encoder = Encoder(self._schema)
            self._encoded = self._read_rows(encoder) if self._schema.person is None else self._read_persons(encoder)
        return self._encoded

    def _read_persons(self, encoder: Encoder) -> tuple[Array, NDArray[Any], NDArray[np.intp]]:
        """Return the rows that are kept of the declared number of persons, wherever they stand in the table."""
        person = self._schema.person
        assert person is not None  # noqa: S101 - asked for only then
        slots = Slots(self._n_samples, person.rows_at_most, self._schema.missing)
        features = [np.empty((0, self.features.shape[1]))]
        target: list[NDArray[Any]] = [np.empty(0, dtype=np.float64 if self.target.numeric else object)]
        persons = [np.empty(0, dtype=np.intp)]
        for batch in self._raw.with_ids(person.column).batches([*self._names(), person.column]):
            places, found = slots.of(batch[person.column])
            kept = {name: values[places] for name, values in batch.items()}
            features.append(encoder.encode(kept, len(places)))
            target.append(encoder.encode_target(kept[self._schema.target.name]))
            persons.append(found)
        return np.concatenate(features), np.concatenate(target), np.concatenate(persons)

    def _read_rows(self, encoder: Encoder) -> tuple[Array, NDArray[Any], NDArray[np.intp]]:
        """Return as many rows as were declared, the public row where one lacks; nobody asks whose they are."""
        name = self._schema.target.name
        features, target = self._room or self._allocated()
        self._room = None
        filled = 0
        for batch in self._batches():
            rows = slice(filled, filled + _count(batch))
            encoder.rows(batch, _count(batch), into=features[rows])
            target[rows] = encoder.targets(batch[name])
            filled = rows.stop
        nothing = np.array([None], dtype=object)
        features[filled:] = encoder.encode(dict.fromkeys(self._names(), nothing), 1)
        target[filled:] = encoder.encode_target(nothing)
        return features, target, np.empty(0, dtype=np.intp)


def _count(batch: Mapping[str, Column]) -> int:
    return len(next(iter(batch.values())))


def _closable(batches: Iterator[dict[str, Column]]) -> Generator[dict[str, Column], None, None]:
    """Yield batches from a generator that can be closed, and with it the file that it reads."""
    yield from batches


def encoded_rows(schema: Schema, raw: RawTable) -> Iterator[Array]:
    """Return encoded rows for prediction, batch by batch; only the features' columns are needed and read.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.frames import FrameTable
    >>> from equipoise.data.schema import Target
    >>> schema = Schema(2, (NumberColumn("age", (20, 60)),), Target("ill", classes=("no", "yes")))
    >>> list(encoded_rows(schema, FrameTable(pyarrow.table({"age": [20, 50], "name": ["Ann", "Ben"]}))))
    [array([[-1. ],
           [ 0.5]])]
    """
    names = [column.name for column in schema.columns]
    absent = [name for name in names if name not in raw.names]
    if absent:
        raise _absent(absent, names, raw.names, raw.source)
    # New rows may lack every value of a column.
    _check_kinds([column for column in schema.columns if raw.kinds[column.name] != "nothing"], raw)
    encoder = Encoder(schema)
    return _encoded_batches(encoder, raw, names)


def _encoded_batches(encoder: Encoder, raw: RawTable, names: Sequence[str]) -> Iterator[Array]:
    for batch in raw.batches(names):
        yield encoder.encode(batch, _count(batch))
