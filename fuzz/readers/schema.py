"""A schema in TOML: read, judged and written again."""

from equipoise.data.schema import Schema
from fuzz.mutation import lines
from sample_schemas import EXAMPLE

SHARE = 4.0

mutate = lines

REGRESSION = b"""n = 40
seeded = true
[target]
name = "y"
bounds = [0, 400]
[columns."a.b"]
kind = "number"
bounds = []
"""


def examples() -> list[bytes]:
    """Return a schema with every key but one, and one of a regression with that one, and blanks."""
    return [EXAMPLE.encode(), REGRESSION]


def read(data: bytes) -> None:
    """Read it; what is read must be read back as the same from what is written."""
    schema = Schema.from_text(data.decode("utf-8", "replace"))
    schema.blanks()
    if Schema.from_text(schema.to_toml()) != schema:
        raise AssertionError("a schema that reads back as another one")
