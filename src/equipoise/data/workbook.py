"""Workbooks of Excel (.xlsx): a zip of XML, read within public limits by the standard library's readers of both.

A value is a cell, and becomes what it is by a rule for that cell alone: no cell raises, and none moves another. Where
rows lie is structure. The libraries that read workbooks promise none of it: python-calamine 0.9 allocates a grid that
reaches to the farthest cell, so that one stray cell ends the process, and panics at a long duration; openpyxl 3.1 ends
at a number that is none (`<v>NaN</v>`), and holds whatever it does not know. So neither is asked.
"""

import contextlib
import posixpath
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self
from xml.parsers import expat

from equipoise.data.cell_rules import Value, cell_value, column_of, is_date_format

# The list of what is in the zip, in bytes: some 10,000 members. It stands at the end, with a tail of so many bytes.
LARGEST_DIRECTORY, TAIL, LONG_TAIL = 2**20, 22, 20
# What the members unpack to, in bytes: all of them, the texts that cells share, and any part but these and a sheet.
LARGEST_BOOK, LARGEST_TEXTS, LARGEST_PART = 2**30, 2**27, 2**24
# Sheets unpack to some 5 to 30 times their size. What a small workbook unpacks to is no danger.
LARGEST_RATIO, ALWAYS = 100, 2**20
# What is read at once, and the longest tag, in bytes: the parser holds a whole tag, and all tags that are open.
PIECE, LONGEST_TAG, DEEPEST = 2**16, 2**20, 100
# A longer text is a missing value, as in a CSV file; Excel itself has none above 32,767 letters.
LONGEST_TEXT = 2**17
# As many rows and columns as a sheet of Excel's has.
MOST_ROWS, MOST_COLUMNS = 2**20, 2**14

Attributes = dict[str, str]


class StructureError(Exception):
    """The structure of a workbook is damaged, or beyond the limits; its values have no say."""


class Workbook:
    """An open workbook: its sheets, the texts that cells share, and which styles show dates.

    Parameters
    ----------
    file : binary file
        A zip whose tail has no comment, as Excel and others write it.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._archive = _archive(file)
        book = self._target("", "/officeDocument")
        if book is None:
            raise StructureError
        self._sheet_ids, self._from_1904 = dict[str, str](), False
        self._walk(book, LARGEST_PART, start=self._book_element)
        self._relations = self._relations_of(book)
        self._texts: list[str | None] = []
        if texts := self._target(book, "/sharedStrings"):
            writer = _Texts(self._texts)
            self._walk(texts, LARGEST_TEXTS, writer.start, writer.end, writer.text)
        styles = _Styles()
        if found := self._target(book, "/styles"):
            self._walk(found, LARGEST_PART, styles.start, styles.end)
        self._date_styles = styles.dates()

    @property
    def sheets(self) -> tuple[str, ...]:
        """The names of the sheets with cells, in their order; charts have sheets of their own, which are none."""
        return tuple(name for name, key in self._sheet_ids.items() if key in self._relations)

    def rows(self, sheet: str) -> Iterator[tuple[int, dict[int, Value]]]:
        """Yield the rows of a sheet that are written there: the place, from 1 on, and the values by column, from 0."""
        rows = _Rows(self._value)
        for _ in self._pieces(self._relations[self._sheet_ids[sheet]], LARGEST_BOOK, rows.start, rows.end, rows.text):
            yield from rows.done
            rows.done.clear()

    def _value(self, kind: str, style: str, text: str) -> Value:
        return cell_value(kind, text, self._texts, style in self._date_styles, self._from_1904)

    def _book_element(self, name: str, attributes: Attributes) -> None:
        if name == "workbookPr":
            self._from_1904 = attributes.get("date1904", "") in ("1", "true", "on")
        elif name == "sheet":
            # The prefix of the id is the writer's choice.
            keys = [value for key, value in attributes.items() if key.endswith(":id")]
            if len(keys) != 1 or "name" not in attributes or attributes["name"] in self._sheet_ids:
                raise StructureError
            self._sheet_ids[attributes["name"]] = keys[0]

    def _relations_of(self, part: str, ending: str = "/worksheet") -> dict[str, str]:
        """Return the parts of a kind that a part is related to, by their ids there."""
        folder, name = posixpath.split(part)
        found: dict[str, str] = {}

        def relation(name: str, attributes: Attributes) -> None:
            if name == "Relationship" and attributes.get("Type", "").endswith(ending):
                target = posixpath.join("/", folder, attributes.get("Target", ""))
                found[attributes.get("Id", "")] = posixpath.normpath(target).lstrip("/")

        relations = posixpath.join(folder, "_rels", f"{name}.rels")
        if relations in self._archive.NameToInfo:
            self._walk(relations, LARGEST_PART, start=relation)
        return found

    def _target(self, part: str, ending: str) -> str | None:
        return next(iter(self._relations_of(part, ending).values()), None)

    def _walk(self, part: str, largest: int, *handlers: Callable[..., None], **named: Callable[..., None]) -> None:
        for _ in self._pieces(part, largest, *handlers, **named):
            pass

    def _pieces(
        self,
        part: str,
        largest: int,
        start: Callable[[str, Attributes], None],
        end: Callable[[str], None] | None = None,
        text: Callable[[str], None] | None = None,
    ) -> Iterator[None]:
        """Hand a part to handlers of its elements, by names without prefixes, and pause after every piece of it."""
        member = self._archive.getinfo(part)
        if member.file_size > largest:
            raise StructureError
        parser: Any = expat.ParserCreate()
        parser.buffer_text = True
        # Entities of a document's own could stand for more than any memory holds; no workbook has any.
        parser.StartDoctypeDeclHandler = _refuse
        depth = 0

        def opened(name: str, attributes: Attributes) -> None:
            nonlocal depth
            depth += 1
            if depth > DEEPEST:
                raise StructureError
            start(name[name.find(":") + 1 :], attributes)

        def closed(name: str) -> None:
            nonlocal depth
            depth -= 1
            if end is not None:
                end(name[name.find(":") + 1 :])

        parser.StartElementHandler, parser.EndElementHandler = opened, closed
        parser.CharacterDataHandler = text
        fed = 0
        with self._archive.open(member) as source:
            while piece := source.read(PIECE):
                fed += len(piece)
                parser.Parse(piece, False)
                if fed - parser.CurrentByteIndex > LONGEST_TAG:
                    raise StructureError
                yield
        parser.Parse(b"", True)
        yield

    def close(self) -> None:
        """Let go of the file."""
        self._archive.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Close it."""
        self.close()


def _refuse(*doctype: object) -> None:
    raise StructureError


def _archive(file: BinaryIO) -> zipfile.ZipFile:
    """Return the zip that a file is; refuse one beyond the limits, before its list of members is read."""
    size = file.seek(0, 2)
    file.seek(max(0, size - TAIL - LONG_TAIL))
    tail = file.read().rjust(TAIL + LONG_TAIL, b"\0")
    # Another list, of more than 65,535 members or beyond 4 GiB, would be announced before the tail.
    if tail[-TAIL : 4 - TAIL] != b"PK\5\6" or tail[-2:] != b"\0\0" or tail.startswith(b"PK\6\7"):
        raise StructureError
    if struct.unpack("<L", tail[-10:-6])[0] > LARGEST_DIRECTORY:
        raise StructureError
    archive = zipfile.ZipFile(file)
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    if unpacked > min(LARGEST_BOOK, ALWAYS + LARGEST_RATIO * size) or len(archive.NameToInfo) != len(members):
        raise StructureError
    packings = {member.compress_type for member in members}
    if not packings <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} or any(member.flag_bits & 1 for member in members):
        raise StructureError
    return archive


class _Words:
    """Collects the text of elements `t` and `v`, but not what tells how to pronounce it."""

    def __init__(self) -> None:
        self._open, self._pieces, self._length, self._aside = False, list[str](), 0, 0

    def start(self, name: str, attributes: Attributes) -> None:
        if name in ("t", "v"):
            self._open = not self._aside
        elif name == "rPh":
            self._aside += 1

    def end(self, name: str) -> None:
        if name in ("t", "v"):
            self._open = False
        elif name == "rPh":
            self._aside -= 1

    def text(self, piece: str) -> None:
        if self._open:
            self._length += len(piece)
            if self._length <= LONGEST_TEXT:
                self._pieces.append(piece)

    def taken(self) -> str | None:
        """Return what was collected, None for what is too long, and begin anew."""
        words = "".join(self._pieces) if self._length <= LONGEST_TEXT else None
        self._open, self._length, self._aside = False, 0, 0
        self._pieces.clear()
        return words


class _Texts(_Words):
    """Collects the texts that cells share."""

    def __init__(self, texts: list[str | None]) -> None:
        super().__init__()
        self._texts = texts

    def end(self, name: str) -> None:
        super().end(name)
        if name == "si":
            self._texts.append(self.taken())


class _Styles:
    """Finds the styles that show dates."""

    def __init__(self) -> None:
        self._formats: dict[str, str] = {}
        self._styles: list[str] = []
        self._inside = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "numFmt":
            self._formats[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name == "cellXfs":
            self._inside = True
        elif name == "xf" and self._inside:
            self._styles.append(attributes.get("numFmtId", ""))

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self._inside = False

    def dates(self) -> frozenset[str]:
        """Return the numbers of these styles, as cells name them."""
        formats: Mapping[str, bool] = {key: is_date_format(key, self._formats.get(key)) for key in set(self._styles)}
        return frozenset(str(place) for place, key in enumerate(self._styles) if formats[key])


class _Rows(_Words):
    """Collects the rows of a sheet. Where they lie is structure; what is in a cell is a value, and never raises."""

    def __init__(self, value: Callable[[str, str, str], Value]) -> None:
        super().__init__()
        self.done: list[tuple[int, dict[int, Value]]] = []
        self._value = value
        self._place, self._cells = 0, dict[int, Value]()
        self._column, self._kind, self._style = -1, "", ""

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "c":
            self.taken()
            self._column = column_of(attributes.get("r"), self._column + 1)
            self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
        elif name == "row":
            place = attributes.get("r", str(self._place + 1))
            if not (place.isascii() and place.isdigit() and len(place) < 8 and self._place < int(place) <= MOST_ROWS):
                raise StructureError
            self._place, self._cells, self._column = int(place), {}, -1
        else:
            super().start(name, attributes)

    def end(self, name: str) -> None:
        if name == "c":
            text = self.taken()
            if text and 0 <= self._column < MOST_COLUMNS:
                self._cells[self._column] = self._value(self._kind, self._style, text)
        elif name == "row":
            self.done.append((self._place, self._cells))
        else:
            super().end(name)


@contextlib.contextmanager
def open_workbook(location: Path) -> Iterator[Workbook]:
    """Open a workbook, and close it again."""
    with open(location, "rb") as file, Workbook(file) as book:
        yield book
