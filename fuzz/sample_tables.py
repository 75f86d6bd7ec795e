"""Made-up tables of every type, as files of three formats, and what is done with them once they are open."""

import io
from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import feather, ipc, parquet

from equipoise.data.encoded import encoded_table
from equipoise.data.files import open_table
from equipoise.data.schema import CategoryColumn, NumberColumn, Schema, Target
from equipoise.data.schema.draft import draft

FACTS = Schema(
    4,
    (NumberColumn("age", (0, 100)), CategoryColumn("job", ("none", "nurse"), unknown="none")),
    Target("ill", classes=(0, 1)),
    vouched_by="A. Officer",
    vouched_on="2026-11-16",
)


def tables() -> Iterator[Any]:
    """Yield a table that the schema describes, one of numbers, one of text and times, and one of rarer types."""
    yield pa.table({"age": [31.0, None, 7.5, 1e300], "job": ["nurse", "none", "x", None], "ill": [0, 1, 1, 0]})
    yield pa.table(
        {
            "a": pa.array([1, None, -3], pa.int8()),
            "b": pa.array([1, None, 2**63], pa.uint64()),
            "c": pa.array([0.5, None, 3.0], pa.float32()),
            "d": pa.array([True, None, False]),
            "e": pa.array([Decimal("1.5"), None, Decimal("2.5")]),
        }
    )
    yield pa.table(
        {
            "a": pa.array(["x", None, "é"], pa.large_string()),
            "b": pa.array([b"\xff", None, b""], pa.binary()),
            "c": pa.array([date(2026, 1, 1), None, date(1, 1, 1)]),
            "d": pa.array([datetime(2026, 1, 1), None, datetime(1990, 1, 1)]),
            "e": pa.array([time(1, 2), None, time(23, 59)]),
        }
    )
    yield pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode(), "b": pa.nulls(3), "c": pa.array([1, 2, 3])})


def coded_tables() -> Iterator[Any]:
    """Yield tables of what only Arrow files hold: indices outside of their dictionary, runs, and views of texts."""
    codes = pa.array([1, 9, -1], pa.int8())
    coded = pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y"]), safe=False)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int16()), pa.array(["x", None]))
    yield pa.table({"a": coded, "b": runs})
    texts = ["x", None, "a text of more than twelve bytes"]
    views = pa.array(texts, pa.string_view())
    yield pa.table({"a": views, "b": pa.DictionaryArray.from_arrays(pa.array([2, 0, 7]), views, safe=False)})


def as_parquet(table: Any, **options: Any) -> bytes:
    """Return the bytes of a Parquet file."""
    sink = io.BytesIO()
    parquet.write_table(table, sink, **options)
    return sink.getvalue()


def as_arrow(table: Any, stream: bool = False, compression: str | None = None) -> bytes:
    """Return the bytes of an Arrow file or stream."""
    sink = io.BytesIO()
    options = ipc.IpcWriteOptions(compression=compression)
    with (ipc.new_stream if stream else ipc.new_file)(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


def as_feather(table: Any) -> bytes:
    """Return the bytes of a Feather file."""
    sink = io.BytesIO()
    feather.write_feather(table, sink)
    return sink.getvalue()


def read_whole(path: Path) -> None:
    """Open a file, draft its schema, read every row, and encode it where the schema fits."""
    table = open_table(path)
    draft(table)
    for _ in table.batches(table.names):
        pass
    if set(table.names) == {"age", "job", "ill"}:
        encoded = encoded_table(FACTS, table, 4)
        encoded.features.read()
        encoded.target.read()
