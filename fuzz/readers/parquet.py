"""A Parquet file: its footer, its pages, and the rows that a schema makes of them."""

from fuzz.mutation import binary
from fuzz.sample_tables import as_parquet, read_whole, tables
from fuzz.tricks import with_a_smaller_size, without_dictionary_offset
from fuzz.written import written

SHARE = 0.2

mutate = binary


def examples() -> list[bytes]:
    """Return every sample table, packed in several ways."""
    options = (
        {},
        {"compression": "zstd", "row_group_size": 2},
        {"use_dictionary": False, "compression": "none"},
        {"data_page_version": "2.0", "data_page_size": 8},
    )
    plain = [as_parquet(table, **each) for table in tables() for each in options]
    return plain + [trick(data) for data in plain for trick in (without_dictionary_offset, with_a_smaller_size)]


def read(data: bytes) -> None:
    """Read it from a file."""
    read_whole(written(data, "table.parquet"))
