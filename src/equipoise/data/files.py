"""Files as raw tables: CSV, Parquet and Arrow. Opening one reads its header or footer; the rows wait.

A line of a CSV file is one row, whatever it holds. Each is parsed by itself, so the bytes of one line can change no
other row, and a line that cannot be used is the public row "every value missing" instead of an error.
"""

import codecs
import contextlib
import copy
import csv
import gzip
import io
import itertools
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from equipoise.data.raw import BATCH_ROWS, RawTable, arrow_kinds, arrow_values, check_names, constant_failure
from equipoise.data.unpacked import LARGEST_BATCH, check_arrow, parquet_texts, rows_of_a_batch
from equipoise.errors import InvalidData, InvalidParameter

# A longer line is one unusable row, and is skipped piece by piece, so that no line can exhaust the memory.
LONGEST_LINE = 2**24
# Python's csv module refuses longer fields unless a program tells it otherwise; here the limit is always the same.
LONGEST_FIELD = 2**17
# Of values, not rows: small batches of text stay in the processor's cache, which is several times as fast.
BATCH_VALUES = 2**15
# Workers get row groups of at least so many rows together.
PART_ROWS = 2**20

FORMATS = "CSV (.csv, .tsv, also with .gz), Parquet (.parquet, .pq) and Arrow (.arrow, .feather, .ipc)"
# How a Parquet footer holds the notes that Arrow's writers leave there: a key, and a text that starts like this.
ARROW_NOTES = re.compile(rb"(?<=\x18\x0c)ARROW(?=:schema\x18[\x80-\xff]*[\x00-\x7f]/////)")
DELIMITERS = {";": "';'", "\t": r"'\t' (a tab)", "|": "'|'", ",": "','"}


def open_table(path: str | os.PathLike[str], delimiter: str = ",") -> RawTable:
    r"""Open a file by its suffix; only its header or footer is read.

    Parameters
    ----------
    path : str or path
        A CSV file (.csv, .csv.gz; .tsv is delimited by tabs), a Parquet file (.parquet, .pq) or an Arrow file (.arrow,
        .feather, .ipc).
    delimiter : str
        What stands between the fields of a CSV file: one character.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "people.csv")
    >>> _ = path.write_bytes(b'age,town\n31,"Graz, Austria"\n"a stray quote\n')
    >>> table = open_table(path)
    >>> table.names, table.n_samples, table.kinds["age"]
    (('age', 'town'), None, 'unknown')
    >>> [batch["town"].tolist() for batch in table.batches(["town"])]
    [['Graz, Austria', None]]
    >>> folder.cleanup()
    """
    _check_delimiter(delimiter)
    location = _existing_file(path)
    name = location.name.lower()
    packed = name.endswith(".gz")
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix in (".csv", ".tsv"):
        opener = _open_gzip if packed else _open_plain
        return CsvTable(location, "\t" if suffix == ".tsv" and delimiter == "," else delimiter, opener)
    if suffix in (".parquet", ".pq") and not packed:
        return ParquetTable(location)
    if suffix in (".arrow", ".feather", ".ipc") and not packed:
        return ArrowTable(location)
    found = f"a file that ends in {location.suffix!r}: {location.name}" if location.suffix else f"{location.name}"
    remedy = f"pass one of {FORMATS}; rename the file if it is one of them under another suffix"
    raise InvalidData("a table in a format that is known by its suffix", found, remedy)


def _check_delimiter(delimiter: object) -> None:
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise InvalidParameter(
            "a delimiter of one character that is no quote and no line end",
            f"delimiter={delimiter!r}",
            r"pass ',', ';', '|' or a tab: from a shell write --delimiter ';' or --delimiter $'\t'",
        )


def _existing_file(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InvalidParameter("the path of a file", f"an object of type {type(path).__name__}", "pass its path")
    location = Path(path)
    try:
        mode = os.stat(location).st_mode
    except FileNotFoundError:
        raise InvalidData("a file with a table", f"no file {location}", "check the path and its spelling") from None
    except (OSError, ValueError) as fault:
        raise _cannot_open(location, fault) from None
    if stat.S_ISDIR(mode):
        remedy = "pass one file; write a folder of parts as one Parquet or CSV file first"
        raise InvalidData("a file with a table", f"a folder: {location}", remedy)
    if not stat.S_ISREG(mode):
        remedy = "write the rows to a file first: they may have to be read again, and must then be the same"
        raise InvalidData("a file with a table", f"a pipe or device: {location}", remedy)
    return location


def _cannot_open(location: Path, fault: Exception) -> InvalidData:
    reason = getattr(fault, "strerror", None) or type(fault).__name__
    found = f"{location} cannot be opened: {reason}"
    return InvalidData("a file that can be read", found, "check the path and your permission to read it")


def _open_plain(location: Path) -> BinaryIO:
    return open(location, "rb")


def _open_gzip(location: Path) -> BinaryIO:
    return io.BufferedReader(gzip.open(location, "rb"), 2**16)


class CsvTable(RawTable):
    """A CSV file of which the header was read; `open_table` makes it."""

    def __init__(self, location: Path, delimiter: str, opener: Callable[[Path], BinaryIO]) -> None:
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
            raise _cannot_open(self._location, fault) from None
        if len(line) > LONGEST_LINE:
            found = f"a first line of more than {LONGEST_LINE // 2**20} MiB in {self.source}"
            remedy = "check that the file is text and that its lines end in \\n"
            raise InvalidData("a header line of column names", found, remedy)
        return line

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the rows of these columns as text; None for every value of a line that is no row of this table."""
        every = {name: place for place, name in enumerate(self.names)}
        places = {name: every[name] for name in names}
        # Batches end by their number of rows, or where their lines are so long that they would fill the memory; a row
        # is encoded by itself, whatever batch it comes in.
        batch_rows = max(1, min(BATCH_ROWS, BATCH_VALUES // len(self.names)))
        with constant_failure(), self._open(self._location) as file:
            file.readline(LONGEST_LINE + 1)
            rows = self._rows(file)
            while batch := _some(rows, file, batch_rows):
                columns = list(zip(*batch, strict=True))
                yield {
                    name: np.fromiter(columns[place], dtype=object, count=len(batch)) for name, place in places.items()
                }

    def _rows(self, file: BinaryIO) -> Iterator[Sequence[str | None]]:
        """Yield one row a line; a blank line at the very end is none."""
        width = len(self.names)
        unusable = (None,) * width
        delimiter = self._delimiter
        blank = False
        while line := file.readline(LONGEST_LINE + 1):
            if blank:
                yield unusable
            blank = line in (b"\n", b"\r\n", b"\r")
            if blank:
                continue
            if len(line) > LONGEST_FIELD:
                yield _long_row(line, file, delimiter, width) or unusable
                continue
            text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", errors="replace")
            if '"' in text or "\r" in text or "\0" in text:
                yield _parsed(text, delimiter, width) or unusable
                continue
            # Without a quote the csv module's rules are those of split, which takes half the time.
            fields = text.split(delimiter, width)
            yield fields if len(fields) == width else unusable


def _some(rows: Iterator[Sequence[str | None]], file: BinaryIO, count: int) -> list[Sequence[str | None]]:
    """Return the next rows of a file: at most so many, and no more after `LARGEST_BATCH` bytes of it."""
    batch: list[Sequence[str | None]] = []
    end = file.tell() + LARGEST_BATCH
    while len(batch) < count and file.tell() < end:
        # Eight of the longest lines are as long as a batch.
        part = list(itertools.islice(rows, min(8, count - len(batch))))
        if not part:
            break
        batch += part
    return batch


def _long_row(line: bytes, file: BinaryIO, delimiter: str, width: int) -> list[str] | None:
    """Return the fields of a long line, None if it is unusable; what is left of it in the file is passed over."""
    if len(line) > LONGEST_LINE:
        while line and not line.endswith(b"\n"):
            line = file.readline(LONGEST_LINE)
        return None
    text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", errors="replace")
    fields = _parsed(text, delimiter, width)
    return fields if fields is not None and max(map(len, fields)) <= LONGEST_FIELD else None


def _parsed(text: str, delimiter: str, width: int) -> list[str] | None:
    """Return the fields of one line by the csv module's rules, None if there is another number of them."""
    if "\0" in text:
        return None
    try:
        fields = next(csv.reader((text,), delimiter=delimiter), None)
    except csv.Error:
        return None
    return fields if fields is not None and len(fields) == width else None


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


class ParquetTable(RawTable):
    """A Parquet file of which the footer was read; `open_table` makes it."""

    def __init__(self, location: Path) -> None:
        self.source = location.name
        self._location = location
        self.files = (location,)
        with _opening(location, "a Parquet file"):
            self._footer = _parquet_footer(location)
            schema = self._footer.schema.to_arrow_schema()
            names: list[str] = schema.names
            # The footer also keeps each column's extremes: they are private, and nothing here looks at them.
            self.n_samples = int(self._footer.num_rows)
        self.names = check_names(names, self.source)
        self.kinds = arrow_kinds(schema, self.source)
        with _opening(location, "a Parquet file"):
            self._texts = parquet_texts(location)
        self._groups: Sequence[int] = range(self._footer.num_row_groups)

    def parts(self) -> Sequence[RawTable]:
        """Return its row groups, each as a table of its own, small ones together."""
        found: list[RawTable] = []
        groups: list[int] = []
        for group in self._groups:
            groups.append(group)
            rows = sum(self._footer.row_group(number).num_rows for number in groups)
            if rows >= PART_ROWS or group == self._groups[-1]:
                part = copy.copy(self)
                part.n_samples, part._groups = rows, groups
                found.append(part)
                groups = []
        return found or (self,)

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the rows of these columns, in batches of at most `BATCH_ROWS`, fewer where texts are long."""
        from pyarrow import parquet  # type: ignore[import-untyped]

        rows = rows_of_a_batch(sum(self._texts.get(name, 0) for name in names), BATCH_ROWS)
        with constant_failure(), parquet.ParquetFile(self._location, metadata=self._footer) as file:
            for batch in file.iter_batches(batch_size=rows, row_groups=list(self._groups), columns=list(names)):
                yield {name: arrow_values(batch.column(name)) for name in names}


def _parquet_footer(location: Path) -> Any:
    """Return the footer of a Parquet file without the notes of Arrow's writers.

    They ask for coded text, and PyArrow checks its UTF-8 while it makes the codes: a value would raise. Parquet's own
    types say all that is needed.
    """
    import pyarrow
    from pyarrow import parquet

    with open(location, "rb") as file:
        file.seek(-8, os.SEEK_END)
        ending = file.read(8)
        file.seek(-8 - int.from_bytes(ending[:4], "little"), os.SEEK_END)
        footer = ARROW_NOTES.sub(b"arrow", file.read()[:-8])
    return parquet.read_metadata(pyarrow.BufferReader(b"PAR1" + footer + ending))


class ArrowTable(RawTable):
    """An Arrow file or stream of which the schema was read; `open_table` makes it."""

    def __init__(self, location: Path) -> None:
        self.source = location.name
        self._location = location
        self.files = (location,)
        with _opening(location, "an Arrow or Feather file"):
            with open(location, "rb") as file:
                self._stream = file.read(6) != b"ARROW1"
            with self._reader() as reader:
                schema = reader.schema
                names: list[str] = schema.names
        self.names = check_names(names, self.source)
        self.kinds = arrow_kinds(schema, self.source)
        with _opening(location, "an Arrow or Feather file"):
            self.n_samples = None if self._stream else self._count()
            check_arrow(location, self._stream)

    @contextlib.contextmanager
    def _reader(self, **options: Any) -> Iterator[Any]:
        import pyarrow
        from pyarrow import ipc

        opener = ipc.open_stream if self._stream else ipc.open_file
        with pyarrow.OSFile(str(self._location)) as file, opener(file, options=ipc.IpcReadOptions(**options)) as reader:
            yield reader

    def _count(self) -> int:
        """Return the number of rows as the batches' own headers tell it: no value is read. A stream has none."""
        from pyarrow import dataset

        return int(dataset.dataset(str(self._location), format="ipc").count_rows())

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield the rows of these columns, in batches of at most `BATCH_ROWS`."""
        chosen = set(names)
        places = [place for place, name in enumerate(self.names) if name in chosen]
        with constant_failure(), self._reader(included_fields=places) as reader:
            count = None if self._stream else reader.num_record_batches
            for batch in reader if count is None else map(reader.get_batch, range(count)):
                columns = {name: _undamaged(batch.column(name)) for name in names}
                rows = rows_of_a_batch(sum(map(_repeated, columns.values())), BATCH_ROWS)
                for start in range(0, batch.num_rows, rows):
                    yield {name: arrow_values(column.slice(start, rows)) for name, column in columns.items()}


def _repeated(column: Any) -> int:
    """Return a bound on the longest text that stands once in a column and in many of its rows, in bytes."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        return int(column.dictionary.nbytes)
    return int(column.values.nbytes) if types.is_run_end_encoded(column.type) else 0


def _undamaged(column: Any) -> Any:
    """Return the column if every offset and position lies within its buffers: reading others would end the process.

    Nothing else is checked: text that is no UTF-8 or a time of 25 o'clock is a value, and values never raise.
    """
    import pyarrow
    from pyarrow import types

    column.validate()
    if isinstance(column.type, pyarrow.BaseExtensionType):
        _undamaged(column.storage)
    elif types.is_dictionary(column.type):
        pyarrow.DictionaryArray.from_arrays(column.indices, _undamaged(column.dictionary), safe=True)
    elif types.is_run_end_encoded(column.type):
        places = pyarrow.nulls(len(_undamaged(column.values)))
        pyarrow.RunEndEncodedArray.from_arrays(column.run_ends, places).validate(full=True)
    elif types.is_string(column.type):
        column.view(pyarrow.binary()).validate(full=True)
    elif types.is_large_string(column.type):
        column.view(pyarrow.large_binary()).validate(full=True)
    elif types.is_string_view(column.type):
        column.view(pyarrow.binary_view()).validate(full=True)
    elif types.is_binary(column.type) or types.is_large_binary(column.type) or types.is_binary_view(column.type):
        column.validate(full=True)
    return column


@contextlib.contextmanager
def _opening(location: Path, what: str) -> Iterator[None]:
    """Refuse a file whose footer or schema cannot be read, before any row is."""
    try:
        yield
    except InvalidData:
        raise
    except PermissionError as fault:
        raise _cannot_open(location, fault) from None
    except Exception:  # PyArrow raises errors of many kinds on damaged bytes
        found = f"{location.name}, which is empty, damaged, encrypted or of another format"
        raise InvalidData(what, found, "write the file again, or give it the suffix of its format") from None
