"""The first line of a table: the names of its columns, which are published, so that no value may be among them.

A file without a header begins with a person. Names that read as numbers, dates or other values, that are empty or
repeated are therefore refused, by their places alone: what stands there may be somebody's.
"""

import codecs
import csv
from collections.abc import Iterable, Iterator, Sequence

from equipoise.data.encodings import ONE_BYTE
from equipoise.data.names import column_numbers, reads_as_a_value
from equipoise.data.no_text import SAVE_AS_UTF_8, refuse_other_contents, refuse_zero_bytes
from equipoise.data.raw import check_names, positions, repeated_places
from equipoise.data.schema.file_format import DELIMITERS, FileFormat
from equipoise.data.schema.text import written
from equipoise.errors import InvalidData

NO_HEADER = (
    "if this line is a row, the file has no header: draft its schema by equipoise schema draft --no-header, which "
    "names columns by position and writes header = false into [file]; if it is none, rename these columns: "
    '"sales 2019"'
)

RENAME = (
    "if these names are a row, read the first file again with header=None and name its columns; if they are none, "
    'rename them: "sales 2019"'
)

LONE_RETURNS = "lines that carriage returns alone end, as in files of an old Macintosh"


def header_names(line: bytes, file: FileFormat, source: str) -> tuple[str, ...]:
    r"""Return the names of the columns of a file, as its first line has them in UTF-8; refuse what may be a row.

    Names that are not published, those of new rows, may be anything.

    Examples
    --------
    >>> header_names(b"age;town\n", FileFormat(delimiter=";"), "people.csv")
    ('age', 'town')
    """
    asked = asked_of(file, source)
    if not line:
        raise InvalidData(asked, "an empty file", "write the names of the columns into the first line")
    names = [name.strip() for name in values_of(line, file, asked)]
    if len(names) == 1 and file.encoding == "utf-16" and file.published and not names[0].isascii():
        # Read so, a file of another encoding has hardly a line's end: rows would stand in the one name.
        remedy = 'write encoding = "utf-8" into the schema\'s [file], or save the file as UTF-16 ("Unicode text")'
        raise InvalidData(f"{asked}, in UTF-16", "one name, as in a file of another encoding", remedy)
    if len(names) == 1:
        for other, shown in DELIMITERS.items():
            if other != file.delimiter and other in names[0]:
                remedy = (
                    f"wrong delimiter? pass --delimiter {shown}, in Python delimiter={other!r}; "
                    f"or write delimiter = {written(other)} into the schema's [file]"
                )
                raise InvalidData(asked, f"one column, whose name holds {shown}", remedy)
    return usable_names(names, asked, source, NO_HEADER) if file.published else check_names(names, source)


def usable_names(
    names: Sequence[str], asked: str, source: str, remedy: str, numbered: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Return names of columns; refuse what may be a row, by its places alone, with a remedy for such a table.

    Names that number columns are no values.

    Examples
    --------
    >>> usable_names(["age", "31"], "names of columns", "people.xlsx", "rename them")
    Traceback (most recent call last):
    equipoise.errors.InvalidData: asked: names of columns; found: a number, a date, another value or no name at \
position 2; to do: rename them
    """
    wrong = [place for place, name in enumerate(names, start=1) if name not in numbered and reads_as_a_value(name)]
    if wrong:
        found = f"a number, a date, another value or no name at {positions(wrong)}"
        if [place for place in wrong if not names[place - 1]]:
            remedy += "; where a title stands above the names, delete it"
            remedy += "; pandas writes a file without its index by index=False"
        raise InvalidData(asked, found, remedy)
    if repeated := repeated_places(names):
        raise InvalidData(asked, f"one name several times, at {positions(repeated)}", remedy)
    return check_names(names, source)


def contained_names(names: Sequence[object], source: str, published: bool = True) -> tuple[str, ...]:
    """Return the names that a file with types or a data frame has for its columns; refuse what may be a row.

    Whoever wrote it may have taken a first row for names. Where they number all columns, from 0 or 1 on, they tell
    nothing. Names that are not published, those of new rows, may be anything.

    Examples
    --------
    >>> contained_names(["age", "town"], "people.parquet"), contained_names(["0", "1"], "people.parquet")
    (('age', 'town'), ('0', '1'))
    >>> contained_names(["31", "Graz"], "people.parquet")
    Traceback (most recent call last):
    equipoise.errors.InvalidData: asked: names of columns in people.parquet; found: a number, a date, another value \
or no name at position 1; to do: if these names are a row, read the first file again with header=None and name its \
columns; if they are none, rename them: "sales 2019"
    """
    known = check_names(names, source)
    if not published:
        return known
    return usable_names(known, f"names of columns in {source}", source, RENAME, column_numbers(known))


def names_by_position(count: int) -> tuple[str, ...]:
    """Return the names of the columns of a file without a header.

    Examples
    --------
    >>> names_by_position(2)
    ('column 1', 'column 2')
    """
    return tuple(f"column {place}" for place in range(1, count + 1))


def number_of_values(line: bytes, file: FileFormat, source: str) -> int:
    r"""Return how many values the first line of a file without a header has: for drafts and new rows, never for a fit.

    Examples
    --------
    >>> number_of_values(b"31,Graz\n", FileFormat(header=False), "people.csv")
    2
    """
    asked = asked_of(file, source)
    if not line.strip():
        raise InvalidData(asked, "an empty file, or an empty first line", "begin the file with a row")
    return len(values_of(line, file, asked))


def fields_of(text: str, file: FileFormat, strict: bool = False) -> Iterator[list[str]]:
    """Return the csv module's reader of one line."""
    return fields_in((text,), file, strict)


def fields_in(lines: Iterable[str], file: FileFormat, strict: bool = False) -> Iterator[list[str]]:
    """Return the csv module's reader of lines, which takes as many for a row as its quotes go on."""
    if not file.quote:
        return csv.reader(lines, delimiter=file.delimiter, quoting=csv.QUOTE_NONE, strict=strict)
    return csv.reader(lines, delimiter=file.delimiter, quotechar=file.quote, strict=strict)


def asked_of(file: FileFormat, source: str) -> str:
    """Return what the first line of a file is to be, in words.

    Examples
    --------
    >>> asked_of(FileFormat(header=False), "people.csv")
    'a first line with the values of a row of people.csv'
    """
    held = "header line with the names of the columns" if file.header else "first line with the values of a row"
    return f"a {held} of {source}"


def values_of(line: bytes, file: FileFormat, asked: str) -> list[str]:
    r"""Return the values of a first line in UTF-8; refuse one that is no text, or that another line ends.

    Examples
    --------
    >>> values_of(b'31;"Graz; Linz"\n', FileFormat(delimiter=";"), "a first line")
    ['31', 'Graz; Linz']
    >>> values_of(b"31;Graz\r7;Linz", FileFormat(delimiter=";"), "a first line")
    Traceback (most recent call last):
    equipoise.errors.InvalidData: asked: a first line; found: lines that carriage returns alone end, as in files of ...
    """
    refuse_other_contents(line, asked)
    if file.encoding == "utf-8":
        refuse_zero_bytes(line, asked)
    elif b"\0" in line:
        remedy = f"delete them, or {SAVE_AS_UTF_8}: this encoding may be another than [file] says"
        raise InvalidData(f"{asked}, in {file.encoding}", "zeros in the first line, which text has not", remedy)
    words = line.removeprefix(codecs.BOM_UTF8).strip()
    if words[:4].lower() == b"sep=" and len(words) <= 5:
        remedy = "delete this first line, which spreadsheets write; the schema's [file] tells the delimiter"
        raise InvalidData(asked, "a line that begins by sep= and tells what separates values", remedy)
    try:
        text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8-sig")
    except UnicodeDecodeError:
        remedy = f'write encoding = "cp1252" into the schema\'s [file], or {SAVE_AS_UTF_8}'
        found = "bytes that are no UTF-8: another encoding, or no text at all"
        raise InvalidData(f"{asked}, in UTF-8", found, remedy) from None
    if file.encoding in ONE_BYTE and text.startswith(codecs.BOM_UTF8.decode(file.encoding)):
        found = f"UTF-8, by the mark at its beginning, and the schema says {file.encoding}"
        remedy = 'write encoding = "utf-8" into the schema\'s [file], or save the file as it says'
        raise InvalidData(f"{asked}, in {file.encoding}", found, remedy)
    if "\r" in text:
        # Where no line feed follows, the whole file is this one line.
        found = "a first line with a carriage return inside" if line.endswith(b"\n") else LONE_RETURNS
        remedy = "end each line by \\n or \\r\\n, and keep each name and each value on one line"
        raise InvalidData(asked, found, remedy)
    try:
        return next(fields_of(text, file, strict=True), [])
    except csv.Error as fault:
        if "limit" in str(fault):
            found = f"a name or value of more than {csv.field_size_limit():,} characters in the first line"
            raise InvalidData(asked, found, "write a shorter one; does a quote that begins it end it?") from None
        found = "a first line with an unbalanced quote"
        remedy = "keep each name and each value on one line, in a pair of quotes or in none"
        raise InvalidData(asked, found, remedy) from None
