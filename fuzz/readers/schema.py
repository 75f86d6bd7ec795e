"""A schema in TOML: read, judged and written again."""

from equipoise.data.schema import Schema
from fuzz.mutation import lines

SHARE = 4.0

mutate = lines

EVERY_KEY = b"""schema_version = 1
n = 32561
vouched_by = "A. Officer"
vouched_on = 2026-11-16
missing = ["", "NA", "?"]
row_norm = 2.0

[target]
name = "income"
classes = ["<=50K", ">50K"]

[columns.age]
kind = "number"
bounds = [17, 90]
fill = 40
indicator = true

[columns.workclass]
kind = "category"
levels = ["Private", "State-gov", "?"]
unknown = "Private"
fill = "?"

[columns.id]
kind = "unused"
"""
REGRESSION = b"""n = 40
[target]
name = "y"
bounds = [0, 400]
[columns."a.b"]
kind = "number"
bounds = []
"""


def examples() -> list[bytes]:
    """Return a schema with every key, and one of a regression with blanks."""
    return [EVERY_KEY, REGRESSION]


def read(data: bytes) -> None:
    """Read it; what is read must be read back as the same from what is written."""
    schema = Schema.from_text(data.decode("utf-8", "replace"))
    schema.blanks()
    if Schema.from_text(schema.to_toml()) != schema:
        raise AssertionError("a schema that reads back as another one")
