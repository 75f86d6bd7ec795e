"""The sizes of a Parquet file's columns, from its footer's own bytes.

PyArrow has them too, but ends the process where a damaged footer's histograms do not fit: asking it is no option.
The footer is a record of Thrift's compact protocol; https://parquet.apache.org names its fields by their numbers.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

# The numbers of fields: of the file, of a row group, of a column's chunk, and of its metadata.
_ROW_GROUPS, _COLUMNS, _METADATA = 4, 1, 3
_TYPE, _PATH, _UNPACKED, _DICTIONARY = 1, 3, 6, 11
# The types of columns whose values are of any length.
_TEXTS = (6, 7)


class Chunk(NamedTuple):
    """A column of a row group: its name, its unpacked size, and where its dictionary of texts begins, if it has one."""

    name: str
    unpacked: int
    dictionary: int | None


def chunks(location: Path) -> Iterator[Chunk]:
    """Yield every column of every row group."""
    with open(location, "rb") as file:
        file.seek(-8, os.SEEK_END)
        file.seek(-8 - int.from_bytes(file.read(4), "little"), os.SEEK_END)
        record, _ = struct_at(file.read()[:-8], 0)
    for group in record.get(_ROW_GROUPS, ()):
        for column in group[_COLUMNS]:
            facts = column[_METADATA]
            name = b".".join(facts[_PATH]).decode("utf-8", "replace")
            yield Chunk(name, facts[_UNPACKED], facts.get(_DICTIONARY) if facts[_TYPE] in _TEXTS else None)


def struct_at(data: bytes, place: int) -> tuple[dict[int, Any], int]:
    r"""Return a record by the numbers of its fields, and the place after it; damaged bytes raise some error.

    Examples
    --------
    >>> struct_at(b"\x15\x04\x18\x01x\x00", 0)
    ({1: 2, 2: b'x'}, 6)
    """
    found: dict[int, Any] = {}
    number = 0
    while data[place]:
        kind, step = data[place] & 15, data[place] >> 4
        place += 1
        if step:
            number += step
        else:
            number, place = _whole(data, place)
        # A field that is true or false is so by its kind.
        found[number], place = (kind == 1, place) if kind in (1, 2) else _value(data, place, kind)
    return found, place + 1


def _value(data: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind in (1, 2, 3):
        return data[place], place + 1
    if kind in (4, 5, 6):
        return _whole(data, place)
    if kind == 7:
        return data[place : place + 8], place + 8
    if kind == 8:
        length, place = _plain(data, place)
        return data[place : place + length], place + length
    if kind in (9, 10):
        count, inner = data[place] >> 4, data[place] & 15
        place += 1
        if count == 15:
            count, place = _plain(data, place)
        entries = []
        for _ in range(count):
            entry, place = _value(data, place, inner)
            entries.append(entry)
        return entries, place
    if kind == 12:
        return struct_at(data, place)
    raise ValueError("a kind that Parquet does not use")


def _plain(data: bytes, place: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        value |= (data[place] & 0x7F) << shift
        shift, place = shift + 7, place + 1
        if data[place - 1] < 0x80 or shift > 63:
            return value, place


def _whole(data: bytes, place: int) -> tuple[int, int]:
    value, place = _plain(data, place)
    return (value >> 1) ^ -(value & 1), place
