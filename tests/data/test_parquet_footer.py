"""Footers and page headers of Parquet files: what PyArrow is handed is what was measured."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from equipoise.data import parquet_footer
from equipoise.data.files import open_table
from equipoise.errors import InvalidData

TABLE = pa.table({"a": ["x", "y"] * 50, "b": np.arange(100), "c": [b"z"] * 100, "d": [True] * 100})


def written(**options) -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(TABLE, sink, **options)
    return sink.getvalue()


def with_footer(content: bytes, footer) -> bytes:
    return content[: -8 - int.from_bytes(content[-8:-4], "little")] + parquet_footer.footer_bytes(footer)[4:]


def known(footer) -> list:
    groups = [footer.row_group(place) for place in range(footer.num_row_groups)]
    return [group.column(number) for group in groups for number in range(group.num_columns)]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("packed", ["none", "zstd"])
def test_pages_add_up_to_what_a_whole_footer_says(version, packed):
    content = written(row_group_size=20, data_page_size=8, compression=packed, data_page_version=version)
    footer = parquet_footer.footer_of(io.BytesIO(content))
    whole = pa.parquet.ParquetFile(io.BytesIO(content)).metadata
    for chunk, told in zip(parquet_footer.chunks(footer), known(whole), strict=True):
        assert chunk.name == told.path_in_schema
        assert chunk.texts == (told.physical_type == "BYTE_ARRAY")
        assert (chunk.start, chunk.end - chunk.start) == (
            min(told.dictionary_page_offset or told.data_page_offset, told.data_page_offset),
            told.total_compressed_size,
        )
        pages = list(parquet_footer.pages(content, chunk))
        assert sum(page.values for page in pages) == told.num_values
        assert any(page.repeats for page in pages) == told.has_dictionary_page
        # The footer counts headers too, which take some 20 bytes.
        unpacked = sum(page.unpacked for page in pages)
        assert told.total_uncompressed_size - 100 * len(pages) < unpacked < told.total_uncompressed_size


def test_what_pyarrow_is_handed_tells_no_extremes_and_the_same_places():
    content = written(row_group_size=20)
    whole = pa.parquet.ParquetFile(io.BytesIO(content)).metadata
    footer = parquet_footer.footer_bytes(parquet_footer.footer_of(io.BytesIO(content)))
    handed = pa.parquet.read_metadata(pa.BufferReader(footer))
    assert handed.schema.equals(whole.schema)
    assert (handed.num_rows, handed.num_row_groups, handed.created_by) == (100, 5, whole.created_by)
    assert handed.metadata is None
    names = ("data_page_offset", "dictionary_page_offset", "total_compressed_size", "num_values", "compression")
    for one, two in zip(known(handed), known(whole), strict=True):
        assert two.is_stats_set
        assert not one.is_stats_set
        assert [getattr(one, name) for name in names] == [getattr(two, name) for name in names]


TRICKS = {
    "a field twice": b"\x15\x02\x05\x02\x04\x00",
    "a number modulo 2**16": b"\x05\x84\x80\x08\x02\x00",
    "a size modulo 2**32": b"\x25\x82\x80\x80\x80\x20\x00",
    "a place modulo 2**64": b"\x96\x88\x80\x80\x80\x80\x80\x80\x80\x80\x04\x00",
    "a map": b"\x1b\x01\x55\x02\x02\x00",
    "cut": b"\x15",
}


@pytest.mark.parametrize("case", TRICKS)
def test_a_record_that_two_readers_may_read_differently_is_damaged(case):
    with pytest.raises((ValueError, IndexError)):
        parquet_footer.record_at(TRICKS[case], 0)


def test_chunks_that_share_their_pages_are_not_counted_for_ever(tmp_path):
    content = written(use_dictionary=False, data_page_size=1, write_batch_size=1)
    path = tmp_path / "table.parquet"
    path.write_bytes(content)
    assert open_table(path).n_samples == 100
    footer = parquet_footer.footer_of(io.BytesIO(content))
    footer[4, 9, 12] *= 50
    path.write_bytes(with_footer(content, footer))
    with pytest.raises(InvalidData, match="damaged"):
        open_table(path)


def byte_decimals(values: list[bytes]) -> bytes:
    """Return a Parquet file of decimals that are bytes of any number, which PyArrow reads and does not write."""
    sink = io.BytesIO()
    pa.parquet.write_table(pa.table({"a": pa.array(values, pa.binary())}), sink, store_schema=False)
    content = sink.getvalue()
    footer = parquet_footer.footer_of(io.BytesIO(content))
    # Converted type 5, a scale of 0 and 5 digits.
    footer[2, 9, 12][1].update({(6, 5): 5, (7, 5): 0, (8, 5): 5})
    return with_footer(content, footer)


@pytest.mark.parametrize("odd", [b"\1", b"", b"\1" * 40], ids=["plain", "empty", "long"])
def test_decimals_of_any_length_are_refused_by_their_type(tmp_path, odd):
    # PyArrow raises where one of them has no bytes, or too many: a value would decide the ending.
    path = tmp_path / "table.parquet"
    path.write_bytes(byte_decimals([b"\2", odd]))
    assert str(pa.parquet.read_schema(path).field("a").type) == "decimal128(5, 0)"
    with pytest.raises(InvalidData, match="decimals of any length: a"):
        open_table(path)


@pytest.mark.parametrize("inner", [7, 8], ids=["numbers of eight bytes", "texts"])
def test_a_list_that_claims_more_entries_than_there_are_bytes_ends_at_once(inner):
    """Beyond the end there are no bytes, and a slice of nothing raises nothing: the loop would go on for ever."""
    endless = bytes([0x19, 0xF0 | inner]) + b"\xff" * 8 + b"\x7f" + b"\x01" * 20
    with pytest.raises(ValueError, match="more entries than bytes"):
        parquet_footer.record_at(endless, 0)
    with pytest.raises(ValueError, match="beyond the end"):
        parquet_footer.record_at(b"\x17\x00\x00", 0)
