"""Files as raw tables: CSV, Parquet, Arrow and Excel. Opening one reads its header or footer; the rows wait."""

import base64
import contextlib
import copy
import gzip
import io
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from equipoise.data import parquet_footer
from equipoise.data.arrow_columns import text_of_a_row, undamaged
from equipoise.data.arrow_values import Column, Kind, arrow_batch
from equipoise.data.csv_table import CsvTable, opening
from equipoise.data.excel_table import WORKBOOKS, ExcelTable
from equipoise.data.header import contained_names
from equipoise.data.raw import (
    BATCH_ROWS,
    RawTable,
    arrow_kinds,
    arrow_number_types,
    cannot_open,
    constant_failure,
    listed,
)
from equipoise.data.schema.file_format import COMMON_FILE, FileFormat
from equipoise.data.texts import make_ready
from equipoise.data.unpacked import check_arrow, parquet_sizes, rows_of_a_batch
from equipoise.errors import UNSPENT, InvalidData, InvalidParameter, MissingExtra, SchemaInvalid

# Workers get row groups of at least so many rows together.
PART_ROWS = 2**20

# So many bytes of a Parquet file are read at once, of all columns together, and of each at least so many.
READ_BYTES, LEAST_BUFFER = 2**23, 2**12

TEXT = (".csv", ".tsv")
OTHER_SPREADSHEETS = (".xls", ".xlsb", ".ods")
FORMATS = (
    "CSV (.csv, .tsv, also with .gz), Parquet (.parquet, .pq), Arrow (.arrow, .feather, .ipc) and Excel (.xlsx, .xlsm)"
)


def open_table(path: str | os.PathLike[str], delimiter: str | None = None, file: FileFormat = COMMON_FILE) -> RawTable:
    r"""Open a file by its suffix; only its header or footer is read.

    Parameters
    ----------
    path : str or path
        A CSV file (.csv, .csv.gz; .tsv is delimited by tabs), a Parquet file (.parquet, .pq), an Arrow file (.arrow,
        .feather, .ipc) or a workbook of Excel (.xlsx, .xlsm).
    delimiter : str, optional
        What stands between the fields of a CSV file: one character. Without it, what the format says.
    file : FileFormat
        How a CSV file is written, or which sheet of a workbook it is: that of a schema.

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
    file = file if delimiter is None else separated_by(file, delimiter)
    location = _existing_file(path)
    suffix, packed = _suffix(location)
    if suffix in TEXT:
        if suffix == ".tsv" and file.delimiter == ",":
            file = replace(file, delimiter="\t")
        return CsvTable(location, file, _open_gzip if packed else _open_plain)
    if suffix in (".parquet", ".pq") and not packed:
        return ParquetTable(location, file.published)
    if suffix in (".arrow", ".feather", ".ipc") and not packed:
        return ArrowTable(location, file.published)
    if suffix in WORKBOOKS and not packed:
        return ExcelTable(location, file)
    if suffix in OTHER_SPREADSHEETS:
        remedy = (
            'save it as .xlsx, or the sheet as "CSV UTF-8", in the program that made it, and draft a schema of that'
        )
        raise InvalidData("a table in a format that is read", f"a spreadsheet: {location.name}", remedy)
    found = f"a file that ends in {location.suffix!r}: {location.name}" if location.suffix else f"{location.name}"
    remedy = f"pass one of {FORMATS}; rename the file if it is one of them under another suffix"
    raise InvalidData("a table in a format that is known by its suffix", found, remedy)


def separated_by(file: FileFormat, delimiter: object) -> FileFormat:
    """Return a format with another delimiter.

    Examples
    --------
    >>> separated_by(COMMON_FILE, ";").delimiter
    ';'
    """
    try:
        return replace(file, delimiter=delimiter)  # type: ignore[arg-type] # whatever a caller passes is looked at
    except SchemaInvalid:
        raise InvalidParameter(
            "a delimiter of one character that is no quote and no line end",
            f"delimiter={delimiter!r}",
            r"pass ',', ';', '|' or a tab: from a shell write --delimiter ';' or --delimiter $'\t'",
        ) from None


def first_bytes(path: str | os.PathLike[str], count: int) -> bytes | None:
    """Return how a CSV file begins, for its owner's eyes; None for a file of another format."""
    location = _existing_file(path)
    suffix, packed = _suffix(location)
    if suffix not in TEXT:
        return None
    with opening(location), (_open_gzip if packed else _open_plain)(location) as file:
        return file.read(count)


def _suffix(location: Path) -> tuple[str, bool]:
    """Return the suffix by which a format is known, and whether the file is packed besides."""
    name = location.name.lower()
    return Path(name.removesuffix(".gz")).suffix, name.endswith(".gz")


def _existing_file(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InvalidParameter("the path of a file", f"an object of type {type(path).__name__}", "pass its path")
    location = Path(path)
    try:
        mode = os.stat(location).st_mode
    except FileNotFoundError:
        raise InvalidData("a file with a table", f"no file {location}", "check the path and its spelling") from None
    except (OSError, ValueError) as fault:
        raise cannot_open(location, fault) from None
    if stat.S_ISDIR(mode):
        remedy = "pass a file, a folder whose entries are all files, or a list of files"
        raise InvalidData("a file with a table", f"a folder: {location}", remedy)
    if not stat.S_ISREG(mode):
        remedy = "write the rows to a file first: they may have to be read again, and must then be the same"
        raise InvalidData("a file with a table", f"a pipe or device: {location}", remedy)
    return location


def _open_plain(location: Path) -> BinaryIO:
    return open(location, "rb")


def _open_gzip(location: Path) -> BinaryIO:
    return io.BufferedReader(gzip.open(location, "rb"), 2**16)


class ParquetTable(RawTable):
    """A Parquet file of which the footer was read; `open_table` makes it."""

    def __init__(self, location: Path, published: bool = True) -> None:
        make_ready()
        self.source = location.name
        self._location = location
        self.files = (location,)
        with _opening(location, "a Parquet file"), open(location, "rb") as file:
            import pyarrow  # type: ignore[import-untyped]
            from pyarrow import parquet

            footer = parquet_footer.footer_of(file)
            self._footer = parquet.read_metadata(pyarrow.BufferReader(parquet_footer.footer_bytes(footer)))
            schema = self._footer.schema.to_arrow_schema()
            names: list[str] = schema.names
            self.n_samples = int(self._footer.num_rows)
        self.names = contained_names(names, self.source, published)
        self.kinds = {**arrow_kinds(schema, self.source), **_durations(footer, self.names)}
        self.number_types = arrow_number_types(schema)
        _check_decimals(self._footer, schema, self.source)
        with _opening(location, "a Parquet file"):
            self._sizes = parquet_sizes(location, footer)
        groups = range(self._footer.num_row_groups)
        # No page of a group without rows was looked at, and none is read.
        self._groups: Sequence[int] = [group for group in groups if self._footer.row_group(group).num_rows]

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

    def _coded(self, names: Sequence[str]) -> list[str]:
        """Return the texts that PyArrow can leave coded: it has no codes for those that are told by the one before."""
        chunks = [
            self._footer.row_group(group).column(place)
            for group in self._groups
            for place in range(self._footer.num_columns)
        ]
        texts = {chunk.path_in_schema for chunk in chunks if chunk.physical_type == "BYTE_ARRAY"}
        shared = {chunk.path_in_schema for chunk in chunks if any("DELTA" in coding for coding in chunk.encodings)}
        return [name for name in names if name in texts - shared]

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of these columns, in batches of at most `BATCH_ROWS`, fewer where rows are long."""
        from pyarrow import parquet

        rows = rows_of_a_batch(sum(self._sizes.get(name, 0) for name in names), BATCH_ROWS)
        # Read as it is used: PyArrow would otherwise hold the bytes of all row groups until the last is done.
        reading: dict[str, Any] = {"pre_buffer": False, "buffer_size": max(LEAST_BUFFER, READ_BYTES // len(names))}
        # A page that says what its bytes add up to must have them.
        reading["page_checksum_verification"] = True
        if rows < BATCH_ROWS:
            # A long text that stands once in the file and in every row is looked up, and not unpacked for each of them.
            reading["read_dictionary"] = self._coded(names)
        with constant_failure(), parquet.ParquetFile(self._location, metadata=self._footer, **reading) as file:
            for batch in file.iter_batches(batch_size=rows, row_groups=list(self._groups), columns=list(names)):
                yield arrow_batch({name: batch.column(name) for name in names}, self.ids)


def _durations(footer: parquet_footer.Record, names: Sequence[str]) -> dict[str, Kind]:
    """Return which columns Arrow's writers note as durations: to Parquet they are whole numbers, of any unit."""
    import pyarrow
    from pyarrow import ipc, types

    try:
        note = base64.b64decode(parquet_footer.note_of_arrow(footer), validate=True)
        fields = ipc.read_schema(pyarrow.py_buffer(note)) if note else ()
        noted = {field.name for field in fields if types.is_duration(field.type)}
    except (pyarrow.ArrowException, OSError, ValueError):  # a note that nobody can read tells nothing
        return {}
    return dict.fromkeys(noted.intersection(names), "duration")


def _check_decimals(footer: Any, schema: Any, source: str) -> None:
    """Refuse decimals that are stored as bytes of any number: PyArrow raises where one value has none or too many."""
    from pyarrow import types

    columns = [(footer.schema.column(place), field) for place, field in enumerate(schema)]
    loose = [
        field.name for column, field in columns if types.is_decimal(field.type) and column.physical_type == "BYTE_ARRAY"
    ]
    if loose:
        found = f"decimals of any length: {listed(loose)}"
        raise InvalidData(f"decimals of one length in {source}", found, "write these columns as real or whole numbers")


class ArrowTable(RawTable):
    """An Arrow file or stream of which the schema was read; `open_table` makes it."""

    def __init__(self, location: Path, published: bool = True) -> None:
        make_ready()
        self.source = location.name
        self._location = location
        self.files = (location,)
        with _opening(location, "an Arrow or Feather file"):
            with open(location, "rb") as file:
                self._stream = file.read(6) != b"ARROW1"
            with self._reader() as reader:
                schema = reader.schema
                names: list[str] = schema.names
        self.names = contained_names(names, self.source, published)
        self.kinds, self.number_types = arrow_kinds(schema, self.source), arrow_number_types(schema)
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

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of these columns, in batches of at most `BATCH_ROWS`."""
        chosen = set(names)
        places = [place for place, name in enumerate(self.names) if name in chosen]
        with constant_failure(), self._reader(included_fields=places) as reader:
            count = None if self._stream else reader.num_record_batches
            for batch in reader if count is None else map(reader.get_batch, range(count)):
                columns = {name: undamaged(batch.column(name)) for name in names}
                rows = rows_of_a_batch(sum(map(text_of_a_row, columns.values())), BATCH_ROWS)
                for start in range(0, batch.num_rows, rows):
                    yield arrow_batch({name: column.slice(start, rows) for name, column in columns.items()}, self.ids)


@contextlib.contextmanager
def _opening(location: Path, what: str) -> Iterator[None]:
    """Refuse a file whose footer or schema cannot be read, before any row is."""
    try:
        yield
    except InvalidData:
        raise
    except ImportError as absent:
        raise MissingExtra.of(what, absent, UNSPENT) from None
    except PermissionError as fault:
        raise cannot_open(location, fault) from None
    except Exception:  # PyArrow raises errors of many kinds on damaged bytes
        found = f"{location.name}, which is empty, damaged, encrypted or of another format"
        raise InvalidData(what, found, "write the file again, or give it the suffix of its format") from None
