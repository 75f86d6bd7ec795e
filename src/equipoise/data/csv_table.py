"""CSV files as raw tables: a line is one row, whatever it holds.

Each line is parsed by itself, so the bytes of one line can change no other row, and a line that cannot be used is the
public row "every value missing" instead of an error. `row_of` is the rule. Plain lines, for which splitting says the
same, are split by a compiled loop, and only the others are handed to the rule.
"""

import codecs
import contextlib
import copy
import csv
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np

from equipoise.data.arrow_values import Column
from equipoise.data.encodings import as_utf_8, mark_in
from equipoise.data.header import fields_in, fields_of, header_names, names_by_position, number_of_values
from equipoise.data.raw import BATCH_ROWS, RawTable, cannot_open, constant_failure
from equipoise.data.schema.file_format import FileFormat
from equipoise.data.texts import Bytes, Places, Texts, make_ready, padded
from equipoise.errors import InvalidData

# A longer line is one unusable row, of which no more is kept: no line can exhaust the memory.
LONGEST_LINE = 2**22
# Python's csv module refuses longer fields unless a program tells it otherwise; here the limit is always the same.
LONGEST_FIELD = 2**17
# What is read at once, in bytes, and what a batch may hold, in values: both stay in the processor's cache.
BLOCK_BYTES = 2**19
BATCH_VALUES = 2**17

BLANK = (b"\n", b"\r\n", b"\r")


class CsvTable(RawTable):
    """A CSV file of which the header was read; `open_table` makes it."""

    file: FileFormat
    # What at the very end of the file is no row: a blank line, unless rows of another file would move up for it.
    no_row: tuple[bytes, ...] = BLANK

    def __init__(self, location: Path, file: FileFormat, opener: Callable[[Path], BinaryIO]) -> None:
        make_ready()
        self.source = location.name
        self.n_samples = None
        self._location = location
        self.files = (location,)
        self._opener = opener
        self.file = file if file.published else self._as_marked(file)
        # The first line is read even where a schema tells what it would: a file that cannot be opened is told now.
        line = self._first_line()
        if file.header:
            self.names = header_names(line, file, self.source)
        else:
            self.names = names_by_position(file.columns or number_of_values(line, file, self.source))
        self._numerals = file.numerals
        self.kinds = dict.fromkeys(self.names, "unknown")

    def _open(self, location: Path) -> BinaryIO:
        return as_utf_8(self._opener(location), self.file.encoding)

    def _as_marked(self, file: FileFormat) -> FileFormat:
        """Return how new rows are written: a released schema cannot be corrected, and UTF-8's mark says what it is."""
        if file.encoding == "utf-8":
            return file
        with opening(self._location), self._opener(self._location) as content:
            marked = content.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
        return replace(file, encoding="utf-8") if marked else file

    def _first_line(self) -> bytes:
        with opening(self._location), self._open(self._location) as file:
            line = file.readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE and self.file.columns is None:
            found = f"a first line of more than {LONGEST_LINE // 2**20} MiB in {self.source}"
            remedy = "check that the file is text and that its lines end in \\n"
            raise InvalidData("a header line of column names", found, remedy)
        return line

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of these columns as text; None for every value of a line that is no row of this table."""
        with constant_failure(), self._open(self._location) as file:
            # It belongs to no value, also where it reads as three letters. It may be somebody's first ones, too, and so
            # nothing is refused by it.
            mark = mark_in(self.file.encoding)
            begun = b"" if self.file.header else file.read(len(mark)).removeprefix(mark)
            if self.file.header:
                file.readline(LONGEST_LINE + 1)
            for block in _blocks(file, begun, self.no_row):
                yield from self._rows(block, list(dict.fromkeys(names)))

    def followed(self) -> Self:
        """Return the file with every line a row, a blank one at its end too: it may be somebody's."""
        table = copy.copy(self)
        table.no_row = ()
        return table

    def ends_lines_inside_quotes(self) -> bool:
        """Return whether a value goes on in the line after it, which is another row here."""
        quote = self.file.quote.encode()
        if not quote:
            return False
        with constant_failure(), self._open(self._location) as file:
            # In pairs they are closed, or stand for a quote.
            lines = (line for block in _blocks(file) if quote in block for line in block.split(b"\n"))
            return any(line.count(quote) % 2 and ends_inside_quotes(line, self.file) for line in lines)

    def _rows(self, block: bytes, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of whole lines, in batches that end where there is no more room for values."""
        from equipoise.data.text_loops import find_marks, split_lines

        size, width, content = len(block), len(self.names), padded(block)
        # The loop knows delimiters of one byte and double quotes: with any other every line is too long to be plain.
        simple = self.file.delimiter.isascii() and self.file.quote == '"'
        delimiter, longest = (ord(self.file.delimiter), LONGEST_FIELD) if simple else (0, 0)
        slots = np.full(width, -1, dtype=np.int64)
        slots[[self.names.index(name) for name in names]] = np.arange(len(names))
        marks = np.empty(size + 1, dtype=np.int64)
        marks[find_marks(content, size, delimiter, marks)] = size
        lines = int(np.count_nonzero(content == ord("\n"))) + 1
        room = max(1, min(lines, BATCH_ROWS, BATCH_VALUES // max(1, len(names))))
        position = mark = 0
        while position < size:
            starts, ends = np.empty((2, len(names), room), dtype=np.int64)
            odd = np.empty((room, 3), dtype=np.int64)
            count, strange, position, mark = split_lines(
                content, size, position, marks, mark, delimiter, longest, slots, starts, ends, odd
            )
            yield self._batch(block, content, names, (starts[:, :count], ends[:, :count]), odd[:strange])

    def _batch(
        self, block: bytes, content: Bytes, names: Sequence[str], places: tuple[Places, Places], odd: Places
    ) -> dict[str, Column]:
        """Return a batch of plain lines, into which the rule's rows are put for the odd ones."""
        starts, ends = places
        columns = [self.names.index(name) for name in names]
        texts, size = [], len(block)
        for line, first, last in odd.tolist():
            fields = row_of(block[first:last], self.file, len(self.names))
            if fields is None:
                starts[:, line] = -1
                continue
            for slot, column in enumerate(columns):
                # What was decoded with replacement is Unicode, and comes back as it is.
                texts.append(fields[column].encode())
                starts[slot, line], ends[slot, line] = size, size + len(texts[-1])
                size += len(texts[-1])
        if texts:
            content = padded(block, *texts)
        return {
            name: Texts(content, start, end, self._numerals)
            for name, start, end in zip(names, starts, ends, strict=True)
        }


@contextlib.contextmanager
def opening(location: Path) -> Iterator[None]:
    """Refuse a file that cannot be opened, or is not packed as its suffix says."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error):
        remedy = "pack it again; if it is plain text, rename it to end in .csv"
        raise InvalidData("a file packed by gzip", f"{location.name}, which is not, or is damaged", remedy) from None
    except OSError as fault:
        raise cannot_open(location, fault) from None


def _blocks(file: BinaryIO, begun: bytes = b"", no_row: tuple[bytes, ...] = BLANK) -> Iterator[bytes]:
    """Yield what has begun and the rest of a file in pieces of whole lines, without a last one that is no row."""
    piece = file.read(BLOCK_BYTES)
    if begun and not piece:
        piece, begun = begun, b""
    while piece:
        following = file.read(BLOCK_BYTES)
        if len(begun) > LONGEST_LINE:
            # Nothing can make this line usable any more: what is left of it is passed over.
            end = piece.find(b"\n")
            piece = b"" if end < 0 else piece[end:]
        block = begun + piece
        if following:
            end = block.rfind(b"\n") + 1
        else:
            last = block.rfind(b"\n", 0, -1) + 1
            end = last if block[last:] in no_row else len(block)
        if end > 0:
            yield block[:end]
        begun, piece = block[end:][: LONGEST_LINE + 1], following


def row_of(line: bytes, file: FileFormat, width: int) -> list[str] | None:
    r"""Return the fields of one line by the csv module's rules, None for a line that is no row of so many fields.

    Examples
    --------
    >>> row_of(b'31,"Graz, Austria"\n', FileFormat(), 2), row_of(b'"a stray quote', FileFormat(), 2)
    (['31', 'Graz, Austria'], None)
    >>> row_of(b"1,2,3\r\n", FileFormat(), 2), row_of(b"1;'a;b'\r\n", FileFormat(delimiter=";", quote="'"), 2)
    (None, ['1', 'a;b'])
    """
    if line in BLANK or len(line) > LONGEST_LINE:
        return None
    text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", errors="replace")
    if "\0" in text:
        return None
    if not (file.quote and file.quote in text) and "\r" not in text and len(line) <= LONGEST_FIELD:
        # Without a quote the csv module's rules are those of split, which takes half the time.
        fields = text.split(file.delimiter, width)
        return fields if len(fields) == width else None
    try:
        fields = next(fields_of(text, file), [])
    except csv.Error:
        return None
    return fields if len(fields) == width and max(map(len, fields)) <= LONGEST_FIELD else None


def ends_inside_quotes(line: bytes, file: FileFormat) -> bool:
    r"""Return whether a line ends inside quotes by the csv module's rules, so that another reader would go on.

    Examples
    --------
    >>> [ends_inside_quotes(line, FileFormat()) for line in (b'31,"a note\n', b'31,"a note"\n', b"31,5'11\"\n")]
    [True, False, False]
    """
    if len(line) > LONGEST_LINE:
        return False
    lines = iter((line.decode("utf-8", errors="replace"), "the next line"))
    try:
        next(fields_in(lines, file), [])
    except csv.Error:
        return False
    return next(lines, None) is None
