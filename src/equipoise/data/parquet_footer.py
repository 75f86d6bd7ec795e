"""The footer of a Parquet file and the headers of its pages, from their own bytes.

PyArrow reads them too, but ends the process where a damaged footer's histograms do not fit, and tells no sizes of
pages. Both are records of Thrift's compact protocol; https://parquet.apache.org names their fields by numbers. A field
is known here by its number *and* its kind, as in every reader of Thrift: one of another kind is another field.

What PyArrow is handed is not the file's footer but `footer_bytes`: the fields that reading needs, written anew. So both
see the same places and sizes, whatever tricks the bytes of the file play; and extremes, histograms and notes are gone.
The notes of Arrow's writers would ask for coded text, whose UTF-8 PyArrow checks while it makes the codes: a value
would raise.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, Protocol

# Kinds of fields. A list is known by the kind of its entries too.
_TRUTH, _SHORT, _WHOLE, _LONG, _BYTES, _LIST, _RECORD = 1, 4, 5, 6, 8, 9, 12
_BITS = {_SHORT: 16, _WHOLE: 32, _LONG: 64}
Field = tuple[int, ...]
Record = dict[Field, Any]

# What reading needs of a footer: of a column's chunk, a row group, a column of the schema, and the file. A record that
# is described by nothing is taken whole: types hold no lists.
_TYPE, _PATH, _PACKED, _PAGES, _DICTIONARY = (1, _WHOLE), (3, _LIST, _BYTES), (7, _LONG), (9, _LONG), (11, _LONG)
_FACTS: Mapping[Field, Any] = dict.fromkeys(
    [_TYPE, (2, _LIST, _WHOLE), _PATH, (4, _WHOLE), (5, _LONG), (6, _LONG), _PACKED, _PAGES, _DICTIONARY]
)
_ROWS = (3, _LONG)
_METADATA, _COLUMNS, _ROW_GROUPS, _WRITER = (3, _RECORD), (1, _LIST, _RECORD), (4, _LIST, _RECORD), (6, _BYTES)
_COLUMN = {(1, _BYTES): None, (2, _LONG): None, _METADATA: _FACTS}
_GROUP: Mapping[Field, Any] = {_COLUMNS: _COLUMN, (7, _SHORT): None} | dict.fromkeys((n, _LONG) for n in (2, 3, 5, 6))
_ELEMENT: Mapping[Field, Any] = {(4, _BYTES): None, (10, _RECORD): None} | dict.fromkeys(
    (number, _WHOLE) for number in (1, 2, 3, 5, 6, 7, 8, 9)
)
_FILE = {(1, _WHOLE): None, (2, _LIST, _RECORD): _ELEMENT, (3, _LONG): None, _ROW_GROUPS: _GROUP, _WRITER: None}
# Notes by their names. That of Arrow's writers tells types that Parquet lacks.
_NOTES, _NAME, _NOTE = (5, _LIST, _RECORD), (1, _BYTES), (2, _BYTES)
_OF_ARROW = b"ARROW:schema"
# Of the file: how it, or some of its columns, is encrypted.
_SECRETS = (8, 9)

# The types of columns whose values are of any length.
_TEXTS = (6, 7)
# Readers look for a page so many bytes further in files of a writer whose early versions forgot to count its header.
_FORGETFUL, _FORGOTTEN = b"parquet-mr", 100

# Of a page's header: its type, sizes, and what it says of values, by the version of the page.
_PAGE_TYPE, _PAGE_UNPACKED, _PAGE_PACKED = (1, _WHOLE), (2, _WHOLE), (3, _WHOLE)
_PAGE_FACTS = (((5, _RECORD), (2, _WHOLE)), ((8, _RECORD), (4, _WHOLE)))
_DICTIONARY_PAGE, _PREFIXES = 2, 7


class Bytes(Protocol):
    """Bytes, in memory or mapped from a file."""

    def __getitem__(self, place: Any, /) -> Any:
        """Return one byte, or some."""

    def __len__(self) -> int:
        """Return their number."""


class Chunk(NamedTuple):
    """A column of a row group: its name, whether its values are of any length, and where its pages begin and end."""

    name: str
    texts: bool
    start: int
    end: int


class Page(NamedTuple):
    """A page of a chunk: its unpacked size, how many values it has, and whether its texts stand for many values."""

    unpacked: int
    values: int
    repeats: bool


def footer_of(file: BinaryIO) -> Record:
    """Return a file's footer, reduced to what reading needs; damaged and encrypted ones raise some error."""
    file.seek(-8, os.SEEK_END)
    file.seek(-8 - int.from_bytes(file.read(4), "little"), os.SEEK_END)
    record, _ = record_at(file.read()[:-8], 0)
    if any(field[0] in _SECRETS for field in record):
        raise ValueError("an encrypted file")
    return _reduced(record, {**_FILE, _NOTES: {_NAME: None, _NOTE: None}})


def _reduced(record: Record, needed: Mapping[Field, Any]) -> Record:
    found: Record = {}
    for field in needed.keys() & record.keys():
        value, inner = record[field], needed[field]
        if inner is not None:
            value = [_reduced(entry, inner) for entry in value] if field[1] == _LIST else _reduced(value, inner)
        found[field] = value
    return found


def footer_bytes(footer: Record) -> bytes:
    """Return a whole Parquet file without pages that has this footer, but for its notes."""
    content = bytearray()
    _write_record(_reduced(footer, _FILE), content)
    return b"PAR1" + bytes(content) + len(content).to_bytes(4, "little") + b"PAR1"


def note_of_arrow(footer: Record) -> bytes:
    """Return what Arrow's writers note about the types of columns; empty where there is no such note."""
    notes = (note.get(_NOTE, b"") for note in footer.get(_NOTES, ()) if note.get(_NAME) == _OF_ARROW)
    return bytes(next(notes, b""))


def chunks(footer: Record) -> Iterator[Chunk]:
    """Yield every column of every row group that has rows; pages of others are never read."""
    further = _FORGOTTEN if footer.get(_WRITER, b"").lower().startswith(_FORGETFUL) else 0
    for group in footer.get(_ROW_GROUPS, ()):
        for column in group[_COLUMNS] if group[_ROWS] else ():
            facts = column[_METADATA]
            # Where PyArrow begins: at the dictionary if one is said to come first, else at the pages.
            start, dictionary = facts[_PAGES], facts.get(_DICTIONARY, 0)
            start = dictionary if 0 < dictionary < start else start
            if start < 0 or facts[_PACKED] < 0:
                raise ValueError("pages outside of the file")
            name = b".".join(facts[_PATH]).decode("utf-8", "replace")
            yield Chunk(name, facts[_TYPE] in _TEXTS, start, start + facts[_PACKED] + further)


def pages(data: Bytes, chunk: Chunk) -> Iterator[Page]:
    """Yield the pages of a chunk as their headers tell them; where none can begin, a reader finds none either."""
    place = chunk.start
    while place < min(chunk.end, len(data)):
        header, place = record_at(data, place)
        if not header.keys() >= {_PAGE_TYPE, _PAGE_UNPACKED, _PAGE_PACKED}:
            return
        unpacked, packed = header[_PAGE_UNPACKED], header[_PAGE_PACKED]
        if unpacked < 0 or packed < 0:
            raise ValueError("a page without a size")
        place += packed
        found = [(header[kind], encoding) for kind, encoding in _PAGE_FACTS if kind in header]
        values = sum(facts.get((1, _WHOLE), 0) for facts, _ in found)
        prefixes = any(facts.get(encoding) == _PREFIXES for facts, encoding in found)
        yield Page(unpacked, values, header[_PAGE_TYPE] == _DICTIONARY_PAGE or prefixes)


def record_at(data: Bytes, place: int) -> tuple[Record, int]:
    r"""Return a record by the numbers and kinds of its fields, and the place after it; damaged bytes raise some error.

    Examples
    --------
    >>> record_at(b"\x15\x04\x18\x01x\x00", 0)
    ({(1, 5): 2, (2, 8): b'x'}, 6)
    """
    found: Record = {}
    number = 0
    while data[place]:
        kind, step = data[place] & 15, data[place] >> 4
        place += 1
        if step:
            number += step
        else:
            number, place = _whole(data, place)
        field: Field = (number, kind)
        if kind in (1, 2):
            # A field that is true or false is so by its kind.
            field, value = (number, _TRUTH), kind == 1
        elif kind in (9, 10):
            inner, value, place = _list(data, place)
            field = (*field, inner)
        else:
            value, place = _value(data, place, kind)
        # Of two fields with one number each reader takes another one, and a number beyond 15 bits is no reader's.
        if field in found or not 0 < number < 2**15:
            raise ValueError("a field that readers disagree about")
        found[field] = value
    return found, place + 1


def _value(data: Bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2, 3):
        return data[place], place + 1
    if kind in _BITS:
        value, place = _whole(data, place)
        if not -(2 ** (_BITS[kind] - 1)) <= value < 2 ** (_BITS[kind] - 1):
            raise ValueError("a number of which readers take the last bits")
        return value, place
    if kind in (7, 8):
        length, place = (8, place) if kind == 7 else _plain(data, place)
        if length > len(data) - place:
            raise ValueError("bytes beyond the end")
        return data[place : place + length], place + length
    if kind in (9, 10):
        return _list(data, place)[1:]
    if kind == 12:
        return record_at(data, place)
    raise ValueError("a kind that Parquet does not use")


def _list(data: Bytes, place: int) -> tuple[int, list[Any], int]:
    count, inner = data[place] >> 4, data[place] & 15
    place += 1
    if count == 15:
        count, place = _plain(data, place)
    # Every entry takes a byte at least.
    if count > len(data) - place:
        raise ValueError("a list of more entries than bytes are left")
    entries = []
    for _ in range(count):
        entry, place = _value(data, place, inner)
        entries.append(entry)
    return inner, entries, place


def _plain(data: Bytes, place: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        value |= (data[place] & 0x7F) << shift
        shift, place = shift + 7, place + 1
        if data[place - 1] < 0x80 or shift > 63:
            return value, place


def _whole(data: Bytes, place: int) -> tuple[int, int]:
    value, place = _plain(data, place)
    return (value >> 1) ^ -(value & 1), place


def _write_record(record: Record, content: bytearray) -> None:
    for (number, kind, *inner), value in record.items():
        content.append(2 if kind == _TRUTH and not value else kind)
        _write_plain(2 * number, content)
        if kind == _LIST:
            content.append(0xF0 | inner[0])
            _write_plain(len(value), content)
            for entry in value:
                _write_value(entry, inner[0], content)
        elif kind != _TRUTH:
            _write_value(value, kind, content)
    content.append(0)


def _write_value(value: Any, kind: int, content: bytearray) -> None:
    if kind == _RECORD:
        _write_record(value, content)
    elif kind == _BYTES:
        _write_plain(len(value), content)
        content += value
    elif kind in _BITS:
        _write_plain(2 * value if value >= 0 else -2 * value - 1, content)
    elif kind == 3:
        content.append(value)
    else:
        raise ValueError("a kind that no footer needs")


def _write_plain(value: int, content: bytearray) -> None:
    while value > 0x7F:
        content.append(value & 0x7F | 0x80)
        value >>= 7
    content.append(value)
