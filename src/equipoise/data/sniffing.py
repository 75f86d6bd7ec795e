"""How a CSV file seems to be written: proposed to its owner with the reasons, and never decided here.

The first lines are looked at, as the draft of a schema looks at them for kinds. One row among them can decide what is
proposed, and `[file]` is published with the model, so the draft asks for what is publicly known of the program that
wrote the file. What is proposed stands in the draft's `[file]`, where somebody confirms it; a fit takes it from there
and looks at no line. Where numbers can be read in two ways, nothing is proposed: the mark of decimals stays blank.
"""

import codecs
import csv
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from equipoise.data.files import first_bytes, separated_by
from equipoise.data.header import asked_of, fields_of, values_of
from equipoise.data.no_text import refuse_other_contents
from equipoise.data.schema.file_format import COMMON_FILE, DELIMITERS, FileFormat
from equipoise.data.schema.numerals import COMMON, Numerals, likeliest, rival
from equipoise.data.schema.text import written
from equipoise.errors import InvalidData

# So much of a file is looked at.
HEAD_BYTES = 2**18
HEAD_LINES = 1_000
MARKS = frozenset(".,' \u00a0\u202f\u2019")


@dataclass(frozen=True)
class Proposal:
    """How a file seems to be written, and for each key why; keys of which the first lines do not tell are blank."""

    file: FileFormat
    reasons: dict[str, str]
    blank: tuple[str, ...] = ()

    def _shown(self, key: str) -> str:
        return written("" if key in self.blank else getattr(self.file, key))

    def lines(self) -> list[str]:
        """Return the lines of a draft's table `[file]`, for somebody to confirm; none where nothing is proposed."""
        if not self.reasons:
            return []
        head = [
            "# How the file is written, proposed from its first lines: confirm or correct every line. When a model is",
            "# trained nothing is guessed: lines and numbers are read as this table says. It is published with the",
            "# model, and a single row of the first ones can have decided what is proposed, an encoding or a decimal",
            "# mark for example. So let here stand what is publicly known of the program that wrote the file.",
            "[file]",
        ]
        return [*head, *(f"{key} = {self._shown(key)}  # {why}" for key, why in self.reasons.items()), ""]

    def said(self) -> list[str]:
        """Return the same for a terminal."""
        return [f"  {key:<10} {self._shown(key):<10} {why}" for key, why in self.reasons.items()]


def propose(path: str | os.PathLike[str], delimiter: str | None = None, header: bool = True) -> Proposal | None:
    r"""Return how a CSV file seems to be written; None for a file of another format, which knows that itself.

    Parameters
    ----------
    path : str or path
        The file; some of its first lines are read.
    delimiter : str, optional
        What separates values, if its owner says so.
    header : bool
        Whether the first line holds names: its owner says so.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "people.csv")
    ...     _ = path.write_bytes("größe;ort\n1,75;Graz\n1,8;Linz\n".encode("latin-1"))
    ...     list(propose(path).file.lines())
    ['delimiter = ";"', 'decimal = ","', 'encoding = "cp1252"']
    """
    content = first_bytes(path, HEAD_BYTES)
    if content is None:
        return None
    source = os.path.basename(path)
    asked = asked_of(replace(COMMON_FILE, header=header), source)
    refuse_other_contents(content, asked)
    encoding, why_encoding = _encoding(content)
    lines = _lines(content, encoding)
    quote, why_quote = _quote(lines[0])
    file = replace(COMMON_FILE, encoding=encoding, quote=quote, header=header)
    if delimiter is None:
        file, why_delimiter = _separated(file, lines)
    else:
        file, why_delimiter = separated_by(file, delimiter), "as you say"
    # What is wrong with the first line itself is told as it is, before its number of values is.
    ended = b"\n" in content
    if lines[0].strip() and (ended or len(content) < HEAD_BYTES):
        values_of(f"{lines[0]}\n".encode() if ended else lines[0].encode(), file, asked)
    if delimiter is None:
        _refuse_other_widths(file, (replace(file, delimiter=mark) for mark in DELIMITERS), lines, source)
    else:
        _refuse_other_delimiters(file, lines, source)
        _refuse_other_widths(file, (file,), lines, source)
    values = _values(file, lines[1:] if header else lines, _width(file, lines[0]))
    numerals = likeliest(values)
    other = rival(values, numerals, file.delimiter)
    seen = "of the first values most read as numbers so"
    reasons = {
        "delimiter": why_delimiter,
        "decimal": "as most files have it" if numerals == COMMON else seen,
        "thousands": seen if numerals.thousands else "none was seen that no decimal mark explains",
        "quote": why_quote,
        "encoding": why_encoding,
        "header": "no name there reads as a number, a date or another value, or repeats; look whether they are names"
        if header
        else "as you say",
    }
    if other is not None:
        reasons |= two_ways(numerals, other)
    found = replace(file, decimal=numerals.decimal, thousands=numerals.thousands)
    return Proposal(found, reasons, () if other is None else ("decimal", "thousands"))


def two_ways(first: Numerals, second: Numerals) -> dict[str, str]:
    """Return what to say where numbers can be read in two ways; the mark is shown, and no value."""
    mark = first.thousands or second.thousands
    decimal = "," if mark == "." else "."
    return {
        "decimal": f"ambiguous: is 1{mark}234 a little more than one, or more than a thousand? Nobody but you can say: "
        f"write {written(mark)} for the former; for the latter {written(decimal)}, and thousands = {written(mark)}",
        "thousands": f"{written(mark)} if 1{mark}234 is more than a thousand",
    }


def _encoding(content: bytes) -> tuple[str, str]:
    if content.startswith(codecs.BOM_UTF8):
        return "utf-8", "a byte-order mark says so; it belongs to no name"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", "a byte-order mark says so"
    if content[1:200:2].count(0) > len(content[1:200:2]) // 2:
        return "utf-16", "every other byte of the first line is zero"
    try:
        _whole_lines(content).decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252", "some bytes are no UTF-8; Windows writes Western texts so, and Latin-1 is much the same"
    return "utf-8", "no byte-order mark, and all of the first bytes fit"


def _whole_lines(content: bytes) -> bytes:
    """Return the lines that were read whole."""
    return content[: content.rfind(b"\n") + 1] if len(content) == HEAD_BYTES and b"\n" in content else content


def _lines(content: bytes, encoding: str) -> list[str]:
    """Return the first lines that are not blank; one that is, if all are."""
    whole = content if encoding == "utf-16" else _whole_lines(content)
    text = whole.decode("utf-8-sig" if encoding == "utf-8" else encoding, errors="replace")
    lines = [line.removesuffix("\r") for line in text.split("\n")[:HEAD_LINES]]
    return [lines[0], *(line for line in lines[1:] if line)]


def _quote(first: str) -> tuple[str, str]:
    if len(first) > 1 and first[0] == first[-1] == "'" and '"' not in first:
        return "'", "the first line begins and ends with it"
    return '"', "as most files have it"


def _separated(file: FileFormat, lines: Sequence[str]) -> tuple[FileFormat, str]:
    """Return the format with the delimiter that cuts most lines into as many values as the first one.

    Where several do, as in a file of decimal commas, the comma comes last.
    """
    ways = [replace(file, delimiter=mark) for mark in DELIMITERS]
    widths = {way: [_width(way, line) for line in lines] for way in ways}
    cutting = [way for way in ways if widths[way][0] > 1]
    if not cutting:
        return file, "the first line has one value, whatever separates them"
    alike = {way: widths[way][1:].count(widths[way][0]) for way in cutting}
    best = max(cutting, key=lambda way: (alike[way], 0 if len(lines) > 1 else widths[way][0]))
    also = ", and so have the lines after it" if alike[best] else ""
    return best, f"the first line has {widths[best][0]} values so{also}"


def _refuse_other_widths(file: FileFormat, ways: Iterable[FileFormat], lines: Sequence[str], source: str) -> None:
    """Refuse a file most lines of which have as many values as each other, and the first another number.

    A title above the names, a name too few, or a delimiter too many: no row would be one.
    """
    first, *after = lines
    for way in (file, *ways):
        width, count = Counter(_width(way, line) for line in after).most_common(1)[0] if after else (0, 0)
        if 2 * count <= len(after) or width < 2:
            continue
        if width == _width(way, first) or first[:4].lower() == "sep=":
            return  # as it should be, or told elsewhere
        raise InvalidData(
            f"as many names in the first line of {source} as values in the lines after it",
            "another number of values in most lines after it",
            "delete a title above the names; give row numbers a name; put values that hold the delimiter in quotes; "
            "end no line by a delimiter",
        )


def _refuse_other_delimiters(file: FileFormat, lines: Sequence[str], source: str) -> None:
    """Refuse a delimiter that its owner says and the first line has not, where another cuts most lines as it does."""
    best, _ = _separated(file, lines)
    width = _width(best, lines[0])
    alike = [_width(best, line) for line in lines[1:]].count(width)
    if _width(file, lines[0]) > 1 or width < 2 or 2 * alike <= len(lines) - 1:
        return
    raise InvalidData(
        f"values in {source} that are separated by {written(file.delimiter)}",
        f"a first line without it, and {width} values in that and most lines by {written(best.delimiter)}",
        f"pass --delimiter {DELIMITERS[best.delimiter]}, or leave the option out",
    )


def _width(file: FileFormat, line: str) -> int:
    return len(_fields(file, line))


def _fields(file: FileFormat, line: str) -> list[str]:
    """Return the values of a line; none of one that is no row."""
    try:
        return next(fields_of(line, file), [])
    except csv.Error:
        return []


def _values(file: FileFormat, lines: Sequence[str], width: int) -> list[str]:
    """Return the values of rows that hold a mark of decimals or thousands: all others are the same in every way."""
    rows = [row for row in (_fields(file, line) for line in lines) if len(row) == width]
    return [value for row in rows for value in row if MARKS.intersection(value)]
