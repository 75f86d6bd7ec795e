"""Files that are forged rather than damaged: each tells its reader one thing, and PyArrow another."""

import struct
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from equipoise.data import parquet_footer

# The numbers and kinds of fields of a Parquet footer: row groups, columns, facts; sizes and places among them.
_GROUPS, _COLUMNS, _FACTS = (4, 9, 12), (1, 9, 12), (3, 12)
_UNPACKED, _PAGES, _DICTIONARY = (6, 6), (9, 6), (11, 6)


def _with_other_facts(content: bytes, alter: Any) -> bytes:
    length = int.from_bytes(content[-8:-4], "little")
    record, _ = parquet_footer.record_at(content[-8 - length : -8], 0)
    kept = {field: value for field, value in record.items() if field in {(1, 5), (2, 9, 12), (3, 6), _GROUPS}}
    for group in kept[_GROUPS]:
        for column in group[_COLUMNS]:
            for field in [field for field in column[_FACTS] if field[0] > 11]:
                del column[_FACTS][field]
            alter(column[_FACTS])
    return content[: -8 - length] + parquet_footer.footer_bytes(kept)[4:]


def without_dictionary_offset(content: bytes) -> bytes:
    """Return a Parquet file whose footer names no dictionaries: pages are said to begin where they lie."""

    def alter(facts: Any) -> None:
        if _DICTIONARY in facts:
            facts[_PAGES] = facts.pop(_DICTIONARY)

    return _with_other_facts(content, alter)


def with_a_smaller_size(content: bytes) -> bytes:
    """Return a Parquet file whose footer says that every column unpacks to 100 bytes."""
    return _with_other_facts(content, lambda facts: facts.update({_UNPACKED: 100}))


def with_an_early_end(content: bytes) -> bytes:
    """Return an Arrow file whose first message is the mark of its end; its footer still tells where the others are."""
    start, moved = _footer(content), 8
    footer = bytearray(content[start:])
    for place, offset, length in _blocks(content, start):
        struct.pack_into("<qi", footer, place - start, offset + moved, length)
    return content[:8] + b"\xff\xff\xff\xff" + bytes(4) + content[8:start] + bytes(footer)


def _footer(content: bytes) -> int:
    return len(content) - 10 - int(struct.unpack_from("<i", content, len(content) - 10)[0])


def _blocks(content: bytes, footer: int) -> list[tuple[int, int, int]]:
    """Return where the footer tells of a message, and that message's place and the length of its header."""
    found, place = [], 8
    source = pa.BufferReader(content)
    source.seek(place)
    while place < footer and content[place + 4 : place + 8] != bytes(4):
        message = ipc.read_message(source)
        told = content.find(struct.pack("<qi", place, len(message.metadata) + 8), footer)
        if told >= 0:
            found.append((told, place, len(message.metadata) + 8))
        place = source.tell()
    return found
