"""Sheets of Excel workbooks as raw tables: the first row holds the names, and every other one is a row by its place."""

import contextlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from equipoise.data.arrow_values import Column
from equipoise.data.cell_rules import Value
from equipoise.data.header import usable_names
from equipoise.data.raw import BATCH_ROWS, RawTable, cannot_open, check_names, constant_failure, listed
from equipoise.data.schema.file_format import FileFormat
from equipoise.data.schema.text import text_of
from equipoise.data.texts import SheetColumn
from equipoise.data.workbook import Workbook, open_workbook
from equipoise.errors import InvalidData

WORKBOOKS = (".xlsx", ".xlsm")

# What a batch may hold, in values.
BATCH_VALUES = 2**20

NAMES = (
    "write the names of the columns into the first row of the sheet, each once, as text: row 1 of the sheet, not below "
    "a title"
)
SHEET = (
    'write the name of one of its sheets into the schema: [file], sheet = "..."; draft a schema of it by equipoise '
    "schema draft --sheet NAME, and predict new rows by --file sheet=NAME"
)


class ExcelTable(RawTable):
    """A sheet of a workbook of which the first row was read; `open_table` makes it.

    A cell has a type of its own and a column has none, so that every column is of the kind "unknown": what a value is
    read as depends on that cell alone. Numbers in texts are read as the format says, as those of a CSV file. Rows that
    hold nothing at the end of a sheet are none.
    """

    file: FileFormat

    def __init__(self, location: Path, file: FileFormat) -> None:
        self.source = location.name
        self.n_samples = None
        self._location = location
        self.files = (location,)
        self.file = file
        # A blank mark of decimals is told before any row is read.
        self._numerals = file.numerals
        asked = f"a first row with the names of the columns of {self.source}"
        if not file.header:
            raise InvalidData(asked, "header = false in the schema's [file], which is for text files", NAMES)
        with _opening(location), open_workbook(location) as book:
            self._sheet = _chosen(book, file.sheet, self.source)
            place, cells = next(book.rows(self._sheet), (0, {}))
        width = max(cells, default=-1) + 1 if place == 1 else 0
        cells_above = [cells.get(column) for column in range(width)]
        # What is no text is no name, and may be a value of somebody's; of new rows the names are nobody's.
        texts = [(text_of(name) or "") if isinstance(name, str) or not file.published else "" for name in cells_above]
        if not texts:
            raise InvalidData(asked, "an empty first row", NAMES)
        remedy = f"if this row is a person, insert one above it: {NAMES}"
        self.names = (
            usable_names(texts, asked, self.source, remedy) if file.published else check_names(texts, self.source)
        )
        self.kinds = dict.fromkeys(self.names, "unknown")

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of these columns as objects: texts, numbers and truth values, None where missing."""
        columns = {name: self.names.index(name) for name in names}
        room = max(1, min(BATCH_ROWS, BATCH_VALUES // max(1, len(columns))))
        with constant_failure(), open_workbook(self._location) as book:
            rows = self._rows(book)
            while batch := list(islice(rows, room)):
                cells = {name: [row.get(place) for row in batch] for name, place in columns.items()}
                yield {name: self._column(values) for name, values in cells.items()}

    def first_rows(self, count: int) -> list[dict[int, Value]]:
        """Return the first rows below the names, by column, with what stands beside the table: for its owner's eyes."""
        with _opening(self._location), open_workbook(self._location) as book:
            rows = (cells for place, cells in book.rows(self._sheet) if place > 1)
            return [{at: value for at, value in row.items() if value is not None} for row in islice(rows, count)]

    def _column(self, values: list[Value]) -> NDArray[np.object_]:
        return SheetColumn.of(np.fromiter(values, dtype=object, count=len(values)), self._numerals)

    def followed(self) -> Self:
        """Refuse: a sheet does not tell a last row without values from none, and later rows would move up for it."""
        remedy = "copy the rows into one sheet, or save each workbook as CSV"
        raise InvalidData("one workbook, with all rows", "several, or other files after one", remedy)

    def _rows(self, book: Workbook) -> Iterator[dict[int, Value]]:
        """Yield the cells of every row below the first, by column; where a sheet leaves a row out, there is none."""
        empty, width, reached = dict[int, Value](), len(self.names), 1
        for place, cells in book.rows(self._sheet):
            # What stands beside the named columns is no value of the table.
            if place == 1 or not any(column < width and value is not None for column, value in cells.items()):
                continue
            for _ in range(reached + 1, place):
                yield empty
            yield cells
            reached = place


def _chosen(book: Workbook, wanted: str, source: str) -> str:
    """Return the name of the sheet that is wanted, by default of the only one with rows."""
    asked, sheets = f"a sheet with a table in {source}", book.sheets
    if not sheets:
        raise InvalidData(asked, "no sheet with cells", "save the table as a sheet of the workbook")
    if wanted and wanted not in sheets:
        raise InvalidData(f"{asked} that is named {wanted!r}", f"the sheets {listed(sheets)}", SHEET)
    if wanted or len(sheets) == 1:
        return wanted or sheets[0]
    filled = [name for name in sheets if next(book.rows(name), None) is not None]
    if len(filled) > 1:
        raise InvalidData(f"{asked}, chosen by its name", f"several: {listed(filled)}", SHEET)
    return (*filled, *sheets)[0]


@contextlib.contextmanager
def _opening(location: Path) -> Iterator[None]:
    """Refuse a file that is no workbook, or whose first row cannot be read."""
    try:
        yield
    except InvalidData:
        raise
    except PermissionError as fault:
        raise cannot_open(location, fault) from None
    except Exception:  # zips and XML that are damaged raise errors of many kinds
        found = (
            f"{location.name}, which is empty, damaged, encrypted, far too large once unpacked, or of another format"
        )
        remedy = 'save it again as .xlsx without a password, or the sheet as "CSV UTF-8"'
        raise InvalidData("a workbook of Excel", found, remedy) from None
