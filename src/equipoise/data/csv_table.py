"""CSV files as raw tables: a line is one row, whatever it holds.

Each line is parsed by itself, so the bytes of one line can change no other row, and a line that cannot be used is the
public row "every value missing" instead of an error. `row_of` is the rule. Plain lines, for which splitting says the
same, are split by a compiled loop, and only the others are handed to the rule.
"""

import codecs
import csv
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from equipoise.data.arrow_values import Column
from equipoise.data.raw import BATCH_ROWS, RawTable, cannot_open, check_names, constant_failure
from equipoise.data.texts import Bytes, Places, Texts, make_ready, padded
from equipoise.errors import InvalidData

# A longer line is one unusable row, of which no more is kept: no line can exhaust the memory.
LONGEST_LINE = 2**24
# Python's csv module refuses longer fields unless a program tells it otherwise; here the limit is always the same.
LONGEST_FIELD = 2**17
# What is read at once, in bytes, and what a batch may hold, in values: both stay in the processor's cache.
BLOCK_BYTES = 2**19
BATCH_VALUES = 2**17

BLANK = (b"\n", b"\r\n", b"\r")
DELIMITERS = {";": "';'", "\t": r"'\t' (a tab)", "|": "'|'", ",": "','"}


class CsvTable(RawTable):
    """A CSV file of which the header was read; `open_table` makes it."""

    def __init__(self, location: Path, delimiter: str, opener: Callable[[Path], BinaryIO]) -> None:
        make_ready()
        self.source = location.name
        self.n_samples = None
        self._location = location
        self.files = (location,)
        self._delimiter = delimiter
        self._open = opener
        self.names = _header_names(self._header(), delimiter, self.source)
        self.kinds = dict.fromkeys(self.names, "unknown")

    def _header(self) -> bytes:
        try:
            with self._open(self._location) as file:
                line = file.readline(LONGEST_LINE + 1)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            remedy = "pack it again; if it is plain text, rename it to end in .csv"
            raise InvalidData("a file packed by gzip", f"{self.source}, which is not, or is damaged", remedy) from None
        except OSError as fault:
            raise cannot_open(self._location, fault) from None
        if len(line) > LONGEST_LINE:
            found = f"a first line of more than {LONGEST_LINE // 2**20} MiB in {self.source}"
            remedy = "check that the file is text and that its lines end in \\n"
            raise InvalidData("a header line of column names", found, remedy)
        return line

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of these columns as text; None for every value of a line that is no row of this table."""
        with constant_failure(), self._open(self._location) as file:
            file.readline(LONGEST_LINE + 1)
            for block in _blocks(file):
                yield from self._rows(block, list(dict.fromkeys(names)))

    def _rows(self, block: bytes, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of whole lines, in batches that end where there is no more room for values."""
        from equipoise.data.text_loops import find_marks, split_lines

        size, width, content = len(block), len(self.names), padded(block)
        # Only a delimiter of one byte can be looked for among bytes: with any other every line is too long to be plain.
        delimiter, longest = (ord(self._delimiter), LONGEST_FIELD) if self._delimiter.isascii() else (0, 0)
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
            fields = row_of(block[first:last], self._delimiter, len(self.names))
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
        return {name: Texts(content, *limits) for name, *limits in zip(names, starts, ends, strict=True)}


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield the rest of a file in pieces of whole lines; a blank line at its very end is none."""
    begun, piece = b"", file.read(BLOCK_BYTES)
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
            end = last if block[last:] in BLANK else len(block)
        if end > 0:
            yield block[:end]
        begun, piece = block[end:][: LONGEST_LINE + 1], following


def row_of(line: bytes, delimiter: str, width: int) -> list[str] | None:
    r"""Return the fields of one line by the csv module's rules, None for a line that is no row of so many fields.

    Examples
    --------
    >>> row_of(b'31,"Graz, Austria"\n', ",", 2), row_of(b'"a stray quote', ",", 2), row_of(b"1,2,3\r\n", ",", 2)
    (['31', 'Graz, Austria'], None, None)
    """
    if line in BLANK or len(line) > LONGEST_LINE:
        return None
    text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", errors="replace")
    if "\0" in text:
        return None
    if '"' not in text and "\r" not in text and len(line) <= LONGEST_FIELD:
        # Without a quote the csv module's rules are those of split, which takes half the time.
        fields = text.split(delimiter, width)
        return fields if len(fields) == width else None
    try:
        fields = next(csv.reader((text,), delimiter=delimiter), [])
    except csv.Error:
        return None
    return fields if len(fields) == width and max(map(len, fields)) <= LONGEST_FIELD else None


def _header_names(line: bytes, delimiter: str, source: str) -> tuple[str, ...]:
    asked = f"a header line with the names of the columns of {source}, in UTF-8"
    if not line:
        raise InvalidData(asked, "an empty file", "write the names of the columns into the first line")
    if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in line:
        remedy = 'save it as UTF-8 (in a spreadsheet: "CSV UTF-8"), or by iconv -f UTF-16 -t UTF-8'
        raise InvalidData(asked, "UTF-16 text, or no text at all", remedy)
    try:
        text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8-sig")
    except UnicodeDecodeError:
        remedy = 'save it as UTF-8 (in a spreadsheet: "CSV UTF-8"), or by iconv -f LATIN1 -t UTF-8'
        raise InvalidData(asked, "bytes that are no UTF-8: another encoding, or no text at all", remedy) from None
    if "\r" in text:
        found = "a first line with a carriage return inside"
        raise InvalidData(asked, found, "end each line by \\n or \\r\\n, and keep each name on one line")
    try:
        names = [name.strip() for name in next(csv.reader((text,), delimiter=delimiter, strict=True), [])]
    except csv.Error:
        found = "a first line with an unbalanced quote, or a name that is far too long"
        raise InvalidData(asked, found, "keep each name on one line, in a pair of quotes or in none") from None
    if len(names) == 1:
        for other, shown in DELIMITERS.items():
            if other != delimiter and other in names[0]:
                remedy = f"wrong delimiter? pass --delimiter {shown}, in Python delimiter={other!r}"
                raise InvalidData(asked, f"one column, whose name holds {shown}", remedy)
    return check_names(names, source)
