"""A Parquet file: its footer, its pages, and the rows that a schema makes of them."""

from fuzz.mutation import binary
from fuzz.sample_tables import as_parquet, read_whole, tables
from fuzz.written import written

SHARE = 0.2

mutate = binary


def examples() -> list[bytes]:
    """Return every sample table, packed in several ways."""
    options = ({}, {"compression": "zstd", "row_group_size": 2}, {"use_dictionary": False, "compression": "none"})
    return [as_parquet(table, **each) for table in tables() for each in options]


def read(data: bytes) -> None:
    """Read it from a file."""
    read_whole(written(data, "table.parquet"))
