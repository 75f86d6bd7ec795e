"""Whether a schema leaves a model anything to learn, by its public facts alone: what does not is refused unspent."""

from equipoise.data.raw import listed
from equipoise.data.schema.record import Schema
from equipoise.errors import SchemaInvalid
from equipoise.vocabulary.numbers import LARGEST

# Norms are sums of squares of doubles, and people write a few digits of them.
ROUNDING = 1e-3


def require_useful(schema: Schema) -> None:
    """Refuse a schema whose rows are all the same whatever the data, or that only makes every row shorter.

    A column is divided by the width of its bounds: beyond the sizes that arithmetic can bear nothing of it is left.

    A column with one level, and nothing beside it, is the same in every row. Encoded rows are divided by `row_norm`;
    one beyond the longest row that the schema can encode clips none, and the noise stays while the rows shrink.

    Examples
    --------
    >>> from equipoise.data.schema import CategoryColumn, NumberColumn, Target
    >>> target = Target("ill", classes=("no", "yes"))
    >>> require_useful(Schema(100, (CategoryColumn("site", ("A",), unknown="A"),), target))
    Traceback (most recent call last):
    equipoise.errors.SchemaInvalid: asked: features that can differ from row to row; found: one level in every column: \
site; to do: declare a second level or other = true, or add a feature
    >>> require_useful(Schema(100, (NumberColumn("age", (17, 90)),), target, row_norm=4.0))
    Traceback (most recent call last):
    equipoise.errors.SchemaInvalid: asked: a row_norm that rows can reach; found: row_norm = 4, and no encoded row is \
longer than 1; to do: write row_norm = 1, or leave it out: a larger one makes rows shorter, not the noise
    """
    if all(column.spread and column.width == 1 for column in schema.columns):
        names = ", ".join(column.name for column in schema.columns[:8])
        remedy = "declare a second level or other = true, or add a feature"
        raise SchemaInvalid("features that can differ from row to row", f"one level in every column: {names}", remedy)
    named = [*((column.name, getattr(column, "bounds", None)) for column in schema.columns)]
    named.append((schema.target.name, schema.target.bounds))
    # The width of finite bounds may be infinite, and is then too large, too.
    if wide := [name for name, bounds in named if bounds is not None and bounds[1] - bounds[0] > LARGEST]:
        found = f"bounds farther apart than {LARGEST:g}: {listed(wide)}"
        remedy = "write the physical or legal range, or another unit: rows would be the same once they are scaled"
        raise SchemaInvalid("bounds between which rows differ", found, remedy)
    longest = schema.longest_row
    if schema.row_norm is not None and schema.row_norm > longest * (1 + ROUNDING):
        raise SchemaInvalid(
            "a row_norm that rows can reach",
            f"row_norm = {schema.row_norm:.6g}, and no encoded row is longer than {longest:.6g}",
            f"write row_norm = {longest:.6g}, or leave it out: a larger one makes rows shorter, not the noise",
        )
