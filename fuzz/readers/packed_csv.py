"""A CSV file packed by gzip: damaged packing, and damaged text inside whole packing."""

import gzip
import random

from fuzz.mutation import binary, lines
from fuzz.readers import csv_file
from fuzz.sample_tables import read_whole
from fuzz.written import written

SHARE = 0.2


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Alter the packed bytes, or what they hold."""
    if chance.random() < 0.5:
        return binary(data, chance)
    try:
        return gzip.compress(lines(gzip.decompress(data), chance), mtime=0)
    except Exception:
        return binary(data, chance)


def examples() -> list[bytes]:
    """Return the examples of CSV, packed."""
    return [gzip.compress(data, mtime=0) for data in csv_file.examples()]


def read(data: bytes) -> None:
    """Read it from a file."""
    read_whole(written(data, "table.csv.gz"))
