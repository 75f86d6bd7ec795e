"""Code books: tables of levels and bounds that were published beside the data, so that nobody types them by hand."""

import csv
import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equipoise.data.schema.columns import Bounds
from equipoise.data.schema.text import LARGEST_FILE, Faults, number_of
from equipoise.errors import InvalidData

ASKED = "a code book with the columns column, level and label, or column, low and high, or all of them"


@dataclass(frozen=True, slots=True)
class CodeBook:
    """The levels of some columns, with their labels or empty texts, and the bounds of others.

    `lines` tells where the last level of a column stands: the name of the file, and the line.

    Examples
    --------
    >>> CodeBook({"sex": {"1": "female", "2": "male"}}, {"age": (0.0, 110.0)}).levels["sex"]["2"]
    'male'
    """

    levels: dict[str, dict[str, str]] = field(default_factory=dict)
    bounds: dict[str, Bounds] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)


def read_code_books(paths: Sequence[str | Path], names: Sequence[str]) -> CodeBook:
    """Return what code books say about the columns of these names; refuse the first fault, with its line.

    Parameters
    ----------
    paths : sequence of paths
        CSV files in UTF-8, separated by commas, semicolons or tabs. A row gives one level of a column, with or without
        a label, or its bounds. Other columns of the file are for people.
    names : sequence of str
        The columns of the table.
    """
    book = CodeBook()
    for path in paths:
        for line, row in _rows(Path(path)):
            _add(book, row, names, f"{Path(path).name}, line {line}")
    return book


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows that are not empty by their names, each with the number of its line."""
    if path.exists() and not path.is_file():
        # A pipe or device may have no end, or no beginning.
        raise InvalidData(ASKED, f"{path}: no plain file", "pass the path of a CSV file")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise InvalidData(ASKED, f"{path}: {error.strerror}", "pass the path of a CSV file") from None
    except UnicodeDecodeError:
        raise InvalidData(ASKED, f"{path.name}: bytes that are no UTF-8", "save it as UTF-8") from None
    if len(content) > LARGEST_FILE:
        raise InvalidData(ASKED, f"{path.name}: more than {LARGEST_FILE // 2**20} MiB", "split or shorten it")
    lines = text.splitlines(keepends=True)
    first = lines[0] if lines else ""
    delimiter = next((mark for mark in ",;\t" if "column" in _names(first, mark)), ",")
    names = _names(first, delimiter)
    found = f"{path.name}, line 1: {', '.join(names)[:80] or 'nothing'}"
    if "column" not in names or not ("level" in names or {"low", "high"} <= set(names)) or len({*names}) < len(names):
        raise InvalidData(ASKED, found, "write these names into the first line")
    reader = csv.reader(lines[1:], delimiter=delimiter, strict=True)
    try:
        for fields in reader:
            if any(entry.strip() for entry in fields):
                padded = [*fields, *[""] * (len(names) - len(fields))]
                yield reader.line_num + 1, dict(zip(names, map(str.strip, padded), strict=False))
    except csv.Error as error:
        found = f"{path.name}, line {reader.line_num + 1}: {error}"
        raise InvalidData(ASKED, found, "correct the quotes of that line") from None


def _names(line: str, delimiter: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in line.strip().split(delimiter)]


def _add(book: CodeBook, row: dict[str, str], names: Sequence[str], where: str) -> None:
    """Put one row into the book, or refuse it."""
    name, level, low, high = (row.get(key, "") for key in ("column", "level", "low", "high"))
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        remedy = f"is it {close[0]!r}?" if close else "write a column of the table, or delete the line"
        raise InvalidData("a column of the table", f"{where}: {name!r}", remedy)
    if bool(level) == bool(low or high):
        remedy = "write a level, or low and high, in each line"
        raise InvalidData("a level or bounds", f"{where}: {'both' if level else 'neither'} for {name!r}", remedy)
    if name in (book.bounds if level else book.levels) or name in ({} if level else book.bounds):
        remedy = "keep the levels, or one line of bounds, for each column"
        raise InvalidData("levels or one pair of bounds for a column", f"{where}: more for {name!r}", remedy)
    if not level:
        bounds = Faults().bounds(name, [number_of(low), number_of(high)])
        if bounds is None:
            remedy = "write two finite numbers, the lower one first, with a decimal point"
            raise InvalidData("bounds low < high", f"{where}: {low!r} and {high!r} for {name!r}", remedy)
        book.bounds[name] = bounds
        return
    levels = book.levels.setdefault(name, {})
    if level in levels:
        raise InvalidData("each level once", f"{where}: {level!r} again for {name!r}", "delete one of the lines")
    levels[level] = row.get("label", "")
    book.lines[name] = where
