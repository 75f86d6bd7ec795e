"""Small files that unpack to far more than they are: batches are bounded in bytes, and a piece that cannot be held is
refused before a row is read."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from equipoise.data import parquet_footer, unpacked
from equipoise.data.files import open_table
from equipoise.errors import InvalidData

LONG = "x" * (2**17 - 2)
ROWS = 1100


def largest_batch(table) -> int:
    """Return the most characters of text that a batch holds; all rows must be there."""
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


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("packed", ["zstd", "lz4"])
def test_an_arrow_batch_that_cannot_be_held_is_refused_unread(tmp_path, monkeypatch, packed, stream):
    path = written(tmp_path, pa.array(np.zeros(2**18)), packed, stream)
    assert path.stat().st_size < 2**15
    open_table(path)
    monkeypatch.setattr(unpacked, "LARGEST_PIECE", 2**20)
    with pytest.raises(InvalidData, match=r"a batch of 2 MiB.*smaller batches"):
        open_table(path)


def test_an_arrow_dictionary_that_cannot_be_held_is_refused_unread(tmp_path, monkeypatch):
    path = written(tmp_path, pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(["x" * 2**21])))
    monkeypatch.setattr(unpacked, "LARGEST_PIECE", 2**20)
    with pytest.raises(InvalidData, match="a batch of 2 MiB"):
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
    with pytest.raises(InvalidData, match=r"a column of a row group of 2 MiB.*row_group_size"):
        open_table(path)


def test_sizes_are_those_that_pyarrow_reads_from_a_whole_footer(tmp_path):
    path = tmp_path / "table.parquet"
    table = pa.table({"a": ["x", "y"] * 50, "b": np.arange(100), "c": [b"z"] * 100, "d": [True] * 100})
    pa.parquet.write_table(table, path, row_group_size=20)
    footer = pa.parquet.read_metadata(path)
    groups = [footer.row_group(place) for place in range(footer.num_row_groups)]
    known = [group.column(number) for group in groups for number in range(group.num_columns)]
    texts = [chunk.dictionary_page_offset if chunk.physical_type == "BYTE_ARRAY" else None for chunk in known]
    sizes = [(chunk.path_in_schema, chunk.total_uncompressed_size) for chunk in known]
    found = list(parquet_footer.chunks(path))
    assert [(chunk.name, chunk.unpacked) for chunk in found] == sizes
    assert [chunk.dictionary for chunk in found] == texts


def test_histograms_that_do_not_fit_end_no_process(tmp_path):
    # Found by `make fuzz`: asked for this file's columns, PyArrow 26 ends the process.
    program = "import sys, equipoise as eq; t = eq.open_table(sys.argv[1]); list(t.batches(t.names))"
    damaged = Path(__file__).parent / "damaged" / "histograms.parquet"
    done = subprocess.run([sys.executable, "-c", program, damaged], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "equipoise.errors" in done.stderr
