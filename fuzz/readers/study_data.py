"""A dataset of a study: the Parquet file that `equipoise reproduce` opens."""

from equipoise_studies.data import Dataset
from fuzz.mutation import binary
from fuzz.readers import parquet
from fuzz.written import folder, written

SHARE = 0.2

DATASET = Dataset("made up", "study.parquet", "nowhere", "nowhere", "any", ("a",))

mutate = binary


def examples() -> list[bytes]:
    """Return the examples of Parquet."""
    return parquet.examples()


def read(data: bytes) -> None:
    """Look at its columns and read it."""
    written(data, DATASET.file)
    DATASET.require(folder())
    DATASET.read(folder())
