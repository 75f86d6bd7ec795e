"""How large the pieces of a packed file are once they are unpacked, from the headers alone: no value is looked at.

A file of 10 kB can unpack to more than any memory holds. What a reader must hold at once is bounded here, before
anything is spent: a column of a row group (Parquet) or a batch (Arrow) of more than `LARGEST_PIECE` is refused, and a
text that stands once in a file and a million times in its rows makes batches of fewer rows.
"""

import contextlib
import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from equipoise.data import parquet_footer
from equipoise.errors import InvalidData

# What one piece may unpack to, and how long the texts of one batch of rows may be, in bytes of the file. Python's text
# takes up to four for each of them, where one character lies beyond the first 65,536.
LARGEST_PIECE, LARGEST_BATCH = 2**30, 2**25
NUMBER_BYTES = 8


def refuse_larger(size: int, what: str, source: str, remedy: str) -> None:
    """Refuse a piece of a file that unpacks to more than can be held. Its size depends on rows, and is not told.

    Examples
    --------
    >>> refuse_larger(2**31, "a larger batch", "people.arrow", "write smaller batches")
    Traceback (most recent call last):
    equipoise.errors.InvalidData: asked: pieces of people.arrow that unpack to at most 1024 MiB; found: a \
larger batch; to do: write smaller batches
    """
    if size > LARGEST_PIECE:
        asked = f"pieces of {source} that unpack to at most {LARGEST_PIECE // 2**20} MiB"
        raise InvalidData(asked, what, remedy)


def rows_of_a_batch(row: int, most: int) -> int:
    """Return how many rows a batch may have whose columns' numbers and longest texts have so many bytes together.

    Examples
    --------
    >>> rows_of_a_batch(20, 65_536), rows_of_a_batch(2**20, 65_536)
    (65536, 32)
    """
    return max(1, min(most, LARGEST_BATCH // max(1, row)))


def parquet_sizes(location: Path, footer: parquet_footer.Record) -> dict[str, int]:
    """Return how many bytes a row of every column has at most; refuse pieces that are too large.

    Repeated texts stand in a dictionary page, or are told by what they share with the one before; they are no longer
    than their page is. Others stand once for every row, and are counted by the mean of their row group. The footer's
    own sizes are not believed: pages tell theirs.
    """
    remedy = "write it with smaller row groups, such as row_group_size=65536, or leave that column out"
    found: dict[str, int] = {}
    with open(location, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        # A header takes 7 bytes at least. Only chunks that overlap have more pages: they would take any time to count.
        left = len(data) // 7
        for chunk in parquet_footer.chunks(footer):
            unpacked, values, repeated = 0, 0, 0
            for page in parquet_footer.pages(data, chunk):
                left -= 1
                if left < 0:
                    raise ValueError("more pages than fit into the file")
                unpacked += page.unpacked
                values += page.values
                repeated = max(repeated, page.unpacked if page.repeats else 0)
            refuse_larger(unpacked, "a larger column of a row group", location.name, remedy)
            text = repeated + unpacked // max(1, values) if chunk.texts else 0
            found[chunk.name] = max(found.get(chunk.name, NUMBER_BYTES), text)
    return found


def check_arrow(location: Path, stream: bool) -> None:
    """Refuse an Arrow file with a batch that unpacks to more than can be held; without packing nothing can grow."""
    import pyarrow  # type: ignore[import-untyped]

    remedy = "write it in smaller batches, such as max_chunksize=65536, or without compression"
    with pyarrow.memory_map(str(location)) as file:
        for message in _messages(file) if stream else _messages_of_blocks(file):
            refuse_larger(sum(_unpacked_buffers(message)), "a larger batch", location.name, remedy)


def _messages(file: Any) -> Iterator[Any]:
    """Yield the messages of a stream, one after the other, as its reader meets them."""
    from pyarrow import ipc

    reader = ipc.MessageReader.open_stream(file)
    with contextlib.suppress(StopIteration):
        while True:
            yield reader.read_next_message()


def _messages_of_blocks(file: Any) -> Iterator[Any]:
    """Yield the messages of a file where its footer says that they are: its reader looks nowhere else."""
    from pyarrow import ipc

    # The end of a file: the footer, its length, and six letters.
    end = file.size() - 10
    file.seek(end)
    (length,) = struct.unpack("<i", file.read(4))
    file.seek(end - length)
    footer = file.read(length)
    for number in (2, 3):
        blocks = _field(footer, _root(footer), number)
        start = _follow(footer, blocks) if blocks else 0
        (count,) = struct.unpack_from("<I", footer, start) if start else (0,)
        for place in range(count):
            (offset,) = struct.unpack_from("<q", footer, start + 4 + 24 * place)
            file.seek(offset)
            yield ipc.read_message(file)


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
