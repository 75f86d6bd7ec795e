"""How a file is written, as somebody vouches for it: the table `[file]` of a schema (docs/schema.md)."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from equipoise.data.schema.columns import settle
from equipoise.data.schema.numerals import Numerals
from equipoise.data.schema.text import Faults, written
from equipoise.errors import SchemaInvalid

DELIMITERS = {";": "';'", "\t": r"'\t' (a tab)", "|": "'|'", ",": "','"}
# Empty is a blank: a draft leaves it where the first values can be read in two ways.
DECIMALS = (".", ",", "")
THOUSANDS = ("", ".", ",", "'", " ")
QUOTES = ('"', "'", "")
NO_THOUSANDS = 'thousands = "" in [file], --file thousands= on the command line'
# By the name that Python's codecs give an encoding. A byte-order mark needs no name of its own: it is passed over.
ENCODINGS = {"utf-8": "utf-8", "utf-8-sig": "utf-8", "iso8859-1": "latin-1", "cp1252": "cp1252", "utf-16": "utf-16"}
# What is said of text files; workbooks have a key of their own.
KEYS = ("delimiter", "decimal", "thousands", "quote", "encoding", "header")
ALL_KEYS = (*KEYS, "sheet")
# Excel's own limit is 31.
LONGEST_SHEET = 255


@dataclass(frozen=True, slots=True)
class FileFormat:
    r"""How lines of a CSV file are cut into texts, and texts read as numbers, those in cells of a workbook too.

    Other formats know that themselves.

    Parameters
    ----------
    delimiter : str
        What stands between the values of a line: one character.
    decimal : "." or ","
        What stands before the fraction of a number; empty is a blank.
    thousands : "", ".", ",", "'" or " "
        What may stand between groups of three digits.
    quote : '"', "'" or ""
        What stands around a value that holds a delimiter; empty if nothing does.
    encoding : "utf-8", "latin-1", "cp1252" or "utf-16"
        What the bytes are; a byte-order mark at the beginning belongs to no value.
    header : bool
        Whether the first line holds the names of the columns. Without it they are "column 1", "column 2", ...
    columns : int, optional
        How many values a line without a header has. No key of the file: a schema knows it from its columns, and where
        there is none yet, the first line tells.
    sheet : str
        The sheet of a workbook that holds the table; empty for the only one with rows.
    published : bool
        Whether the names of its columns are published, so that no value may be among them. No key of the file: those of
        new rows are not.

    Examples
    --------
    >>> file = FileFormat(delimiter=";", decimal=",")
    >>> list(file.lines())
    ['delimiter = ";"', 'decimal = ","']
    >>> file.numerals.number_of("3,5")
    3.5
    """

    delimiter: str = ","
    decimal: str = "."
    thousands: str = ""
    quote: str = '"'
    encoding: str = "utf-8"
    header: bool = True
    columns: int | None = None
    sheet: str = ""
    published: bool = field(default=True, compare=False)

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so, or that contradict each other."""
        faults = Faults()
        if not _is_character(self.delimiter) or self.delimiter in '"\r\n\0':
            faults.add("file.delimiter", "one character that is no quote and no line end", self.delimiter)
        for key, allowed in (("decimal", DECIMALS), ("thousands", THOUSANDS), ("quote", QUOTES)):
            value = getattr(self, key)
            if not isinstance(value, str) or value not in allowed:
                choices = allowed if key != "decimal" else allowed[:-1]
                faults.add(f"file.{key}", f"one of {', '.join(map(written, choices))}", value)
        encoding = _encoding(self.encoding)
        if encoding is None:
            faults.add("file.encoding", 'one of "utf-8", "latin-1", "cp1252", "utf-16"', self.encoding)
        if not isinstance(self.sheet, str) or len(self.sheet) > LONGEST_SHEET:
            faults.add("file.sheet", f"the name of a sheet, of at most {LONGEST_SHEET} letters", self.sheet)
        settle(self, encoding=encoding, header=faults.flag("file.header", self.header))
        if not faults.found and self.decimal and self.decimal == self.thousands:
            faults.add("file.thousands", f"another mark than decimal, or none: {NO_THOUSANDS}", self.thousands)
        if not faults.found and self.delimiter == self.quote:
            faults.add("file.quote", "another character than delimiter", self.quote)
        faults.refuse()

    @property
    def numerals(self) -> Numerals:
        """How numbers are written; a file whose mark is still blank cannot be read."""
        if not self.decimal:
            remedy = 'write decimal = "." or decimal = "," there, as is known of the program that wrote the file'
            raise SchemaInvalid("a complete schema", "1 blank: file.decimal", remedy)
        return Numerals(self.decimal, self.thousands)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the TOML table: what is not as most files have it."""
        for fact in fields(self):
            value = getattr(self, fact.name)
            if fact.name in ALL_KEYS and value != fact.default:
                yield f"{fact.name} = {written(value)}"

    def with_columns(self, count: int) -> "FileFormat":
        """Return the format of lines with so many values, which only matters where no header tells it."""
        return self if self.header else replace(self, columns=count)

    def for_new_rows(self, **facts: Any) -> "FileFormat":
        """Return the format of another file of this kind, which differs in these facts and may lack columns at the end.

        Examples
        --------
        >>> FileFormat(decimal=",").for_new_rows(decimal=".") == FileFormat()
        True
        """
        return replace(self, columns=None, published=False, **facts)


def _is_character(value: object) -> bool:
    return isinstance(value, str) and len(value) == 1 and not "\ud800" <= value <= "\udfff"


def _encoding(name: object) -> str | None:
    """Return the one name that an encoding has here, None for one that is not read."""
    if not isinstance(name, str) or not name.isascii() or len(name) > 40:
        return None
    try:
        return ENCODINGS.get(codecs.lookup(name).name)
    except (LookupError, ValueError):
        return None


COMMON_FILE = FileFormat()


def read_file_format(table: object, faults: Faults) -> FileFormat:
    """Return the format that a TOML table describes; the common one where there is no table, or one at fault."""
    if table is None:
        return COMMON_FILE
    facts = faults.table("file", table, ALL_KEYS)
    return faults.attempt(partial(FileFormat, **facts)) or COMMON_FILE
