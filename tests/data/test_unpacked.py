"""Small files that unpack to far more than they are: batches are bounded in bytes, and a piece that cannot be held is
refused before a row is read."""

import gzip
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from equipoise.data import unpacked
from equipoise.data.files import open_table
from equipoise.data.texts import Texts, Words
from equipoise.errors import InvalidData
from fuzz import tricks

LONG = "x" * (2**17 - 2)
ROWS = 1100


def largest_batch(table) -> int:
    """Return the most text that a batch holds, in characters; all rows must be there."""
    sizes, count = [], 0
    for batch in table.batches(table.names):
        sizes.append(sum(len(value) for values in batch.values() for value in values))
        count += len(batch[table.names[0]])
    assert count == ROWS
    return max(sizes)


def written(tmp_path, array, packed="zstd", stream=False):
    path = tmp_path / "table.arrow"
    batch = pa.record_batch([array], names=["a"])
    options = pa.ipc.IpcWriteOptions(compression=packed)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(path), batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return path


def test_a_text_that_a_parquet_file_holds_once_fills_no_memory(tmp_path):
    path = tmp_path / "table.parquet"
    pa.parquet.write_table(pa.table({"a": pa.array([LONG] * ROWS)}), path, compression="zstd")
    assert path.stat().st_size < 1000
    assert largest_batch(open_table(path)) <= unpacked.LARGEST_BATCH


def test_a_long_text_that_a_parquet_file_holds_once_is_looked_at_once_a_batch(tmp_path, monkeypatch):
    """Else a file of some kilobytes would keep a fit busy for hours after the spend."""
    path, looked_at, found = tmp_path / "table.parquet", [], Texts.found
    pa.parquet.write_table(pa.table({"a": pa.array([LONG] * 5000)}), path, compression="zstd")

    def counted(texts, *rest):
        looked_at.append(int((texts._ends - texts._starts).sum()))
        return found(texts, *rest)

    monkeypatch.setattr(Texts, "found", counted)
    batches = [batch["a"][1:] for batch in open_table(path).batches(["a"])]
    assert sum(map(len, batches)) > 4000
    for batch in batches:
        assert set(batch.found(Words({"x": 5}), 0, 1, len).tolist()) == {1}
    assert len(looked_at) == len(batches)
    assert max(looked_at) == len(LONG)


@pytest.mark.parametrize("kind", ["dictionary", "run-end"])
def test_a_text_that_an_arrow_file_holds_once_fills_no_memory(tmp_path, kind):
    codes = pa.array(np.zeros(ROWS, dtype=np.int32))
    array = pa.DictionaryArray.from_arrays(codes, pa.array([LONG]))
    if kind == "run-end":
        array = pa.RunEndEncodedArray.from_arrays(pa.array([ROWS], pa.int32()), pa.array([LONG]))
    path = written(tmp_path, array, "zstd" if kind == "dictionary" else None)
    assert largest_batch(open_table(path)) <= unpacked.LARGEST_BATCH


def test_long_lines_end_a_batch_before_it_fills_the_memory(tmp_path):
    path = tmp_path / "table.csv.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(b"a\n" + f"{LONG}\n".encode() * ROWS)
    assert path.stat().st_size < 2**20
    assert largest_batch(open_table(path)) <= unpacked.LARGEST_BATCH + 8 * len(LONG)


def test_wide_characters_count_by_the_memory_that_they_take(tmp_path):
    # One of them makes Python keep every character of its text in four bytes.
    path, line = tmp_path / "table.csv.gz", f"\U0001f600{LONG[:-8]}"
    with gzip.open(path, "wb", 1) as file:
        file.write(b"a\n" + f"{line}\n".encode() * ROWS)
    assert 4 * largest_batch(open_table(path)) <= unpacked.LARGEST_BATCH + 8 * len(LONG)


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()], ids=str)
@pytest.mark.parametrize("coded", [False, True])
def test_views_of_one_text_fill_no_memory(tmp_path, kind, coded):
    view = struct.pack("<i4sii", len(LONG), b"xxxx", 0, 0)
    buffers = [None, pa.py_buffer(view * ROWS), pa.py_buffer(LONG.encode())]
    array = pa.Array.from_buffers(kind, ROWS, buffers)
    if coded:
        array = pa.DictionaryArray.from_arrays(pa.array(np.arange(ROWS, dtype=np.int32)), array)
    path = written(tmp_path, array, None)
    assert path.stat().st_size < 2**18
    assert largest_batch(open_table(path)) <= unpacked.LARGEST_BATCH


def test_texts_that_are_told_by_the_one_before_fill_no_memory(tmp_path):
    path = tmp_path / "table.parquet"
    options = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY", "compression": "zstd"}
    pa.parquet.write_table(pa.table({"a": pa.array([LONG] * ROWS)}), path, **options)
    assert path.stat().st_size < 2**15
    assert largest_batch(open_table(path)) <= unpacked.LARGEST_BATCH


def test_texts_of_many_row_groups_fill_no_memory(tmp_path):
    path = tmp_path / "table.parquet"
    table = pa.table({"a": pa.array([LONG] * ROWS)})
    pa.parquet.write_table(table, path, use_dictionary=False, compression="zstd", row_group_size=10)
    assert largest_batch(open_table(path)) <= unpacked.LARGEST_BATCH


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("packed", ["zstd", "lz4"])
def test_an_arrow_batch_that_cannot_be_held_is_refused_unread(tmp_path, monkeypatch, packed, stream):
    path = written(tmp_path, pa.array(np.zeros(2**18)), packed, stream)
    assert path.stat().st_size < 2**15
    open_table(path)
    monkeypatch.setattr(unpacked, "LARGEST_PIECE", 2**20)
    with pytest.raises(InvalidData, match=r"at most 1 MiB; found: a larger batch; to do: .*smaller batches"):
        open_table(path)


def test_an_arrow_dictionary_that_cannot_be_held_is_refused_unread(tmp_path, monkeypatch):
    path = written(tmp_path, pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(["x" * 2**21])))
    monkeypatch.setattr(unpacked, "LARGEST_PIECE", 2**20)
    with pytest.raises(InvalidData, match="found: a larger batch;"):
        open_table(path)


def test_an_arrow_file_that_is_not_packed_may_be_as_large_as_it_is(tmp_path, monkeypatch):
    path = written(tmp_path, pa.array(np.zeros(2**18)), None)
    monkeypatch.setattr(unpacked, "LARGEST_PIECE", 2**20)
    assert open_table(path).n_samples == 2**18


@pytest.mark.parametrize("array", [pa.array(np.zeros(2**18)), pa.array(["x" * 2**21])], ids=["numbers", "text"])
def test_a_parquet_column_that_cannot_be_held_is_refused_unread(tmp_path, monkeypatch, array):
    path = tmp_path / "table.parquet"
    pa.parquet.write_table(pa.table({"a": array}), path, compression="zstd", use_dictionary=array.type == pa.string())
    assert path.stat().st_size < 2**15
    open_table(path)
    monkeypatch.setattr(unpacked, "LARGEST_PIECE", 2**20)
    with pytest.raises(
        InvalidData, match=r"at most 1 MiB; found: a larger column of a row group; to do: .*row_group_size"
    ):
        open_table(path)


def test_a_refusal_says_the_same_of_every_size(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacked, "LARGEST_PIECE", 2**20)
    found = set()
    for length in (2**21, 2**22):
        with pytest.raises(InvalidData) as refusal:
            open_table(written(tmp_path, pa.array(["x" * length])))
        found.add(str(refusal.value))
    assert len(found) == 1


def test_an_end_before_the_batches_of_an_arrow_file_hides_none(tmp_path, monkeypatch):
    path = written(tmp_path, pa.array(np.zeros(2**18)))
    path.write_bytes(tricks.with_an_early_end(path.read_bytes()))
    assert open_table(path).n_samples == 2**18
    monkeypatch.setattr(unpacked, "LARGEST_PIECE", 2**20)
    with pytest.raises(InvalidData, match="a larger batch"):
        open_table(path)


def test_a_parquet_dictionary_that_the_footer_does_not_name_is_counted(tmp_path):
    path = tmp_path / "table.parquet"
    pa.parquet.write_table(pa.table({"a": pa.array([LONG] * ROWS)}), path, compression="zstd")
    path.write_bytes(tricks.without_dictionary_offset(path.read_bytes()))
    assert largest_batch(open_table(path)) <= unpacked.LARGEST_BATCH


def test_a_parquet_footer_that_lies_about_sizes_is_not_believed(tmp_path, monkeypatch):
    path = tmp_path / "table.parquet"
    pa.parquet.write_table(pa.table({"a": np.zeros(2**18)}), path, compression="zstd", use_dictionary=False)
    path.write_bytes(tricks.with_a_smaller_size(path.read_bytes()))
    assert pa.parquet.read_metadata(path).row_group(0).column(0).total_uncompressed_size == 100
    monkeypatch.setattr(unpacked, "LARGEST_PIECE", 2**20)
    with pytest.raises(InvalidData, match="a larger column of a row group"):
        open_table(path)


def test_histograms_that_do_not_fit_end_no_process(tmp_path):
    # Found by `make fuzz`: asked for this file's columns, PyArrow 26 ends the process.
    program = "import sys, equipoise as eq; t = eq.open_table(sys.argv[1]); list(t.batches(t.names))"
    damaged = Path(__file__).parent / "damaged" / "histograms.parquet"
    done = subprocess.run([sys.executable, "-c", program, damaged], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or (done.returncode == 1 and "equipoise.errors" in done.stderr)
