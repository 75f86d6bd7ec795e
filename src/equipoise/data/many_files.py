"""Many files as one table: a folder of parts or a list, in a declared order."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from equipoise.data.arrow_values import Column, are_different
from equipoise.data.files import FORMATS, open_table
from equipoise.data.number_types import NumberType
from equipoise.data.raw import RawTable, constant_failure, listed
from equipoise.data.schema.file_format import COMMON_FILE, FileFormat
from equipoise.errors import InvalidData, TableUnreadable

# Names that writers of folders of parts give to what is no part.
NO_PART = (".", "_")


def parts_of(folder: Path) -> list[Path]:
    r"""Return the files of a folder in the order of their names, which is the order of their rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     for part in ("b.csv", "a.csv", "_SUCCESS"):
    ...         _ = Path(name, part).write_text("age\n31\n")
    ...     [path.name for path in parts_of(Path(name))]
    ['a.csv', 'b.csv']
    """
    return sorted(path for path in folder.iterdir() if not path.name.startswith(NO_PART))


def absolute(path: Any) -> Any:
    """Return paths as workers find them, whatever folder they work in; anything else as it is.

    Examples
    --------
    >>> absolute([Path("/rows/a.csv")]), absolute(7)
    (['/rows/a.csv'], 7)
    """
    if isinstance(path, list | tuple):
        return [absolute(part) for part in path]
    return os.path.abspath(path) if isinstance(path, str | os.PathLike) else path


def open_files(path: Any, file: FileFormat = COMMON_FILE) -> RawTable:
    """Open one file, a folder of parts, or a list of files; only headers and footers are read."""
    if isinstance(path, list | tuple):
        if not path:
            raise InvalidData("files with a table", "an empty list", "pass the path of a file, a folder or a list")
        tables = [open_table(part, file=file) for part in path]
        _require_distinct(path)
        return ManyFiles(tables, f"{Path(path[0]).name} and the other files")
    if isinstance(path, str | os.PathLike) and Path(path).is_dir():
        folder = Path(path)
        files = parts_of(folder)
        if not files:
            remedy = f"pass a folder of {FORMATS}; names that begin with . or _ are no parts"
            raise InvalidData("a folder with parts of a table", f"no file in {folder}", remedy)
        tables = [open_table(part, file=file) for part in files]
        _require_distinct(files)
        return ManyFiles(tables, f"the folder {folder.name}", folder)
    return open_table(path, file=file)


def _require_distinct(paths: Sequence[Any]) -> None:
    """Refuse a file that stands twice, by whatever names: each of its rows would be two, and the promise about one."""
    found = [os.stat(path) for path in paths]
    if len({(each.st_dev, each.st_ino) for each in found}) < len(found):
        remedy = "name each file once; a link in the folder may lead to another part of it"
        raise InvalidData("files of which each holds other rows", "one file twice", remedy)


class ManyFiles(RawTable):
    """Files with the same columns, one after the other; a row's place is its position in that order."""

    def __init__(self, tables: Sequence[RawTable], source: str, folder: Path | None = None) -> None:
        first = tables[0]
        for table in tables[1:]:
            _require_alike(first, table)
        # A row's place must not hang on what the last row of a file before it holds (N3, and every order by place).
        self.tables = (*(table.followed() for table in tables[:-1]), tables[-1])
        self.names, self.source = first.names, source
        counts = [table.n_samples for table in tables]
        self.n_samples = None if None in counts else sum(count or 0 for count in counts)
        # A column is of a kind only where all files say so; CSV says nothing.
        self.kinds = {name: _one_kind([table.kinds[name] for table in tables]) for name in first.names}
        types = {name: _one_number_type(name, tables) for name in first.names}
        self.number_types = {name: held for name, held in types.items() if held is not None}
        self.files = tuple(path for table in tables for path in table.files)
        self.file = next((table.file for table in tables if table.file is not None), None)
        self._folder = folder
        self._files = None if folder is None else parts_of(folder)

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Yield the rows of these columns, file by file."""
        self.require_same_files()
        for table in self.tables:
            yield from table.batches(names)
        self.require_same_files()

    def with_ids(self, name: str) -> Self:
        """Return the table with a column of ids in every file."""
        table = super().with_ids(name)
        table.tables = tuple(part.with_ids(name) for part in self.tables)
        return table

    def parts(self) -> Sequence[RawTable]:
        """Return the parts of all files."""
        return [part for table in self.tables for part in table.parts()]

    def ends_lines_inside_quotes(self) -> bool:
        """Return whether a line of any file does."""
        return any(table.ends_lines_inside_quotes() for table in self.tables)

    def require_same_files(self) -> None:
        """Refuse a folder that has gained or lost a file since it was opened: its rows would be others."""
        if self._folder is None:
            return
        with constant_failure():
            if parts_of(self._folder) != self._files:
                raise TableUnreadable


def require_files(raw: RawTable) -> None:
    """Refuse a table whose files are not all there any more, or not alone in their folder: nothing is spent yet."""
    gone = [path.name for path in raw.files if not os.access(path, os.R_OK)]
    found = f"no file {listed(gone)} that can be read" if gone else ""
    if not gone:
        try:
            raw.require_same_files()
        except TableUnreadable:
            found = "a folder that has gained or lost files since"
    if found:
        raise InvalidData(f"the files of {raw.source} as they were opened", found, "open the table again")


def _require_alike(first: RawTable, other: RawTable) -> None:
    if sorted(first.names) != sorted(other.names):
        different = sorted(set(first.names) ^ set(other.names))
        raise InvalidData(
            f"files with the columns of {first.source}",
            f"{other.source}, which differs in {listed(different)}",
            "write all parts with the same columns, or keep other files elsewhere",
        )
    wrong = [name for name in first.names if are_different(first.kinds[name], other.kinds[name])]
    if wrong:
        raise InvalidData(
            f"files whose columns have the types of {first.source}",
            f"{other.source}, where {listed(wrong)} is of another kind",
            "write all parts with the same types",
        )


def _one_kind(kinds: Sequence[Any]) -> Any:
    # A file in which a column's type holds nothing has missing values there, and the others tell its kind.
    told = set(kinds) - {"nothing"}
    return told.pop() if len(told) == 1 else "unknown" if told else "nothing"


def _one_number_type(name: str, tables: Sequence[RawTable]) -> NumberType | None:
    """Return which numbers a column can hold, where all files that hold any say the same."""
    told = {table.number_types.get(name) for table in tables if table.kinds[name] != "nothing"}
    return told.pop() if len(told) == 1 else None
