"""How large the pieces of a packed file are once they are unpacked, from the headers alone: no value is looked at.

A file of 10 kB can unpack to more than any memory holds. What a reader must hold at once is bounded here, before
anything is spent: a column of a row group (Parquet) or a batch (Arrow) of more than `LARGEST_PIECE` is refused, and a
text that stands once in a file and a million times in its rows makes batches of fewer rows.
"""

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from equipoise.data import parquet_footer
from equipoise.errors import InvalidData

# What one piece may unpack to, and what the texts of one batch of rows may take, in bytes.
LARGEST_PIECE, LARGEST_BATCH = 2**30, 2**27


def refuse_larger(size: int, what: str, source: str, remedy: str) -> None:
    """Refuse a piece of a file that unpacks to more than can be held.

    Examples
    --------
    >>> refuse_larger(2**31, "a batch", "people.arrow", "write smaller batches")
    Traceback (most recent call last):
    equipoise.errors.InvalidData: asked: pieces of people.arrow that unpack to at most 1024 MiB; found: a batch of \
2048 MiB; to do: write smaller batches
    """
    if size > LARGEST_PIECE:
        asked = f"pieces of {source} that unpack to at most {LARGEST_PIECE // 2**20} MiB"
        raise InvalidData(asked, f"{what} of {size // 2**20} MiB", remedy)


def rows_of_a_batch(texts: int, most: int) -> int:
    """Return how many rows a batch may have whose columns' longest texts together have so many bytes at most.

    Examples
    --------
    >>> rows_of_a_batch(20, 65_536), rows_of_a_batch(2**20, 65_536)
    (65536, 128)
    """
    return max(1, min(most, LARGEST_BATCH // max(1, texts)))


def parquet_texts(location: Path) -> dict[str, int]:
    """Return for every column a bound on its longest repeated text, in bytes; refuse pieces that are too large.

    Repeated texts stand in a dictionary page, and are no longer than it is.
    """
    remedy = "write it with smaller row groups, such as row_group_size=65536, or leave that column out"
    longest: dict[str, int] = {}
    with open(location, "rb") as file:
        for chunk in parquet_footer.chunks(location):
            size = 0 if chunk.dictionary is None else _page_size(file, chunk.dictionary)
            refuse_larger(max(size, chunk.unpacked), "a column of a row group", location.name, remedy)
            longest[chunk.name] = max(size, longest.get(chunk.name, 0))
    return longest


def _page_size(file: BinaryIO, place: int) -> int:
    """Return the unpacked size that the header of a page states, 0 if it is none: then nothing can be read from it."""
    # The header begins with its type, field 1, and its size, field 2; what follows does not matter.
    header = os.pread(file.fileno(), 24, max(0, place))
    if header[:1] != b"\x15":
        return 0
    end = 2 + next((count for count, byte in enumerate(header[1:]) if byte < 0x80), 0)
    size = header[end + 1 :] if header[end : end + 1] == b"\x15" else b""
    length = next((count for count, byte in enumerate(size, start=1) if byte < 0x80), 0)
    fields, _ = parquet_footer.struct_at(header[: end + 1 + length] + b"\0", 0)
    return int(fields.get(2, 0))


def check_arrow(location: Path, stream: bool) -> None:
    """Refuse an Arrow file with a batch that unpacks to more than can be held; without packing nothing can grow."""
    import pyarrow  # type: ignore[import-untyped]
    from pyarrow import ipc

    remedy = "write it in smaller batches, such as max_chunksize=65536, or without compression"
    with pyarrow.memory_map(str(location)) as file:
        if not stream:
            file.seek(8)
        reader = ipc.MessageReader.open_stream(file)
        for message in iter(lambda: _next(reader), None):
            size = sum(_unpacked_buffers(message))
            refuse_larger(size, "a batch", location.name, remedy)


def _next(reader: Any) -> Any:
    try:
        return reader.read_next_message()
    except StopIteration:
        return None


def _unpacked_buffers(message: Any) -> Iterator[int]:
    """Yield the unpacked sizes of a message's packed buffers, each of which stands before its buffer."""
    header, kind = bytes(message.metadata), message.type
    if kind not in ("record batch", "dictionary"):
        return
    batch = _field(header, _root(header), 2)
    if kind == "dictionary" and batch:
        batch = _field(header, _follow(header, batch), 1)
    batch = _follow(header, batch) if batch else 0
    if not batch or not _field(header, batch, 3):
        return
    buffers = _field(header, batch, 2)
    start = _follow(header, buffers) if buffers else 0
    (count,) = struct.unpack_from("<I", header, start) if start else (0,)
    body = memoryview(message.body)
    for place in range(count):
        offset, length = struct.unpack_from("<qq", header, start + 4 + 16 * place)
        if length >= 8:
            (size,) = struct.unpack_from("<q", body, offset)
            yield max(size, 0)


def _root(header: bytes) -> int:
    return int(struct.unpack_from("<I", header, 0)[0])


def _follow(header: bytes, place: int) -> int:
    return place + int(struct.unpack_from("<I", header, place)[0])


def _field(header: bytes, table: int, number: int) -> int:
    """Return the place of a table's field in a FlatBuffers message, 0 where it is absent."""
    vtable = table - int(struct.unpack_from("<i", header, table)[0])
    (size,) = struct.unpack_from("<H", header, vtable)
    if 4 + 2 * number >= size:
        return 0
    (offset,) = struct.unpack_from("<H", header, vtable + 4 + 2 * number)
    return table + offset if offset else 0
