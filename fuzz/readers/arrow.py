"""An Arrow file or stream, packed or not, and a Feather file."""

from fuzz.mutation import binary
from fuzz.sample_tables import as_arrow, as_feather, coded_tables, read_whole, tables
from fuzz.tricks import with_an_early_end
from fuzz.written import written

SHARE = 0.2

mutate = binary


def examples() -> list[bytes]:
    """Return every sample table as a file and as a stream, plain and packed."""
    ways = [(stream, packed) for stream in (False, True) for packed in (None, "lz4", "zstd")]
    found = [as_arrow(table, *way) for table in (*tables(), *coded_tables()) for way in ways]
    forged = [with_an_early_end(as_arrow(table, compression="zstd")) for table in tables()]
    return found + forged + [as_feather(table) for table in tables()]


def read(data: bytes) -> None:
    """Read it from a file."""
    read_whole(written(data, "table.arrow"))
