"""How long rows are that a schema encodes, of numbers spread evenly between their bounds: a public row norm."""

import math
from typing import TYPE_CHECKING

from equipoise.data.schema.kinds.base import Column
from equipoise.data.schema.kinds.curve import CurveColumn
from equipoise.data.schema.kinds.number import NumberColumn
from equipoise.data.schema.pairs import Surface

if TYPE_CHECKING:
    from equipoise.data.schema.record import Schema

# Rows longer than the mean by so many deviations are clipped: about one in 40.
DEVIATIONS = 2.0

# What share of a typical row most rows are within.
CROWDED = 0.6

# A typical row above this share of the longest is near it: a plan says nothing of it.
NEAR = 0.8


def typical_row(schema: "Schema") -> float:
    """Return a length that one encoded row in 40 exceeds, before it is divided by a norm; the longest if that is less.

    Numbers are imagined to be spread evenly and apart from each other, everything else to be as long as it can be; no
    row is looked at. The squared length then has the mean ``m``, the sum of the means of columns and pairs, and, up to
    terms of second order, the variance ``v``, so that the length is ``sqrt(m + 2 sqrt(v))``. For d columns of kind
    "number" that is ``sqrt(d/3 + 0.6 sqrt(d))``, the rule of a `Domain` with bounds. What says that a number is
    missing is left out of it.

    Examples
    --------
    >>> from equipoise.data.schema import Schema, Target
    >>> columns = tuple(NumberColumn(f"column {place}") for place in range(30))
    >>> schema = Schema(None, columns, Target("ill", classes=(0, 1)))
    >>> round(typical_row(schema), 3), round(math.sqrt(30 / 3 + 0.6 * math.sqrt(30)), 3), round(schema.longest_row, 3)
    (3.642, 3.645, 5.477)
    """
    mean = math.fsum(math.prod(_spread(side)[0] for side in _sides(part)) for part in schema.parts)
    # What a number's squared length is multiplied by, wherever it occurs as it is: alone, and in pairs.
    slopes: dict[tuple[str, float], float] = {}
    variances: dict[tuple[str, float], float] = {}
    for part in schema.parts:
        sides = _sides(part)
        for place, side in enumerate(sides):
            found, variance = _spread(side)
            others = math.prod(_spread(other)[0] for other in sides[:place] + sides[place + 1 :])
            slopes[side.name, found] = slopes.get((side.name, found), 0.0) + others
            variances[side.name, found] = variance
    variance = math.fsum(slope * slope * variances[key] for key, slope in slopes.items())
    return min(math.sqrt(mean + DEVIATIONS * math.sqrt(variance)), schema.longest_row)


def crowded_row(schema: "Schema") -> float:
    """Return three fifths of a typical row, but no less than one column alone can be long.

    Numbers are rarely spread evenly: they crowd somewhere between their bounds, and most rows are far shorter. Those
    that are not are clipped, which leaves the side of a line on which they lie as it was but for the intercept.

    Examples
    --------
    >>> from equipoise.data.schema import Schema, Target
    >>> columns = tuple(NumberColumn(f"column {place}") for place in range(30))
    >>> schema = Schema(None, columns, Target("ill", classes=(0, 1)))
    >>> round(crowded_row(schema), 3), round(crowded_row(Schema(None, columns[:2], schema.target)), 3)
    (2.185, 1.0)
    """
    typical = typical_row(schema)
    return max(CROWDED * typical, min(typical, 1.0))


def public_norm(schema: "Schema") -> float:
    """Return the row norm that an additive model writes into a schema which declares none (docs/additive.md).

    Classes are told apart by the sides of lines on which rows lie, and have the norm of `crowded_row`. A number is
    predicted from how long rows are, and so is everything from curves, whose rows are nearly of one length: they have
    that of `typical_row`.
    """
    return crowded_row(schema) if are_sides(schema) else typical_row(schema)


def are_sides(schema: "Schema") -> bool:
    """Return whether classes are told apart by sides of lines alone, so that shortened rows say what whole ones do.

    Examples
    --------
    >>> from equipoise.data.schema import Schema, Target
    >>> age = (NumberColumn("age"),)
    >>> are_sides(Schema(None, age, Target("ill", classes=(0, 1)))), are_sides(Schema(None, age, Target("dose")))
    (True, False)
    """
    bent = bool(schema.pairs) or any(isinstance(column, CurveColumn) for column in schema.columns)
    return not bent and schema.target.classes is not None


def shorter_row(schema: "Schema") -> tuple[float, float] | None:
    """Return by what rows are divided, and `public_norm` where it is far below; None where one is declared, or near.

    Measured for lines (docs/additive.md).

    Examples
    --------
    >>> from equipoise.data.schema import Schema, Target
    >>> columns = tuple(NumberColumn(f"column {place}") for place in range(30))
    >>> schema = Schema(None, columns, Target("ill", classes=(0, 1)))
    >>> [round(length, 3) for length in shorter_row(schema)]
    [5.477, 2.185]
    >>> one, short = Schema(None, columns[:1], schema.target), Schema(None, columns, schema.target, row_norm=2.0)
    >>> shorter_row(one), shorter_row(short)
    (None, None)
    """
    # Rows of levels are all as long as they can be: shorter ones would be the same rows.
    if schema.row_norm is not None or typical_row(schema) > NEAR * schema.longest_row:
        return None
    return schema.longest_row, public_norm(schema)


def _sides(part: Column | Surface) -> tuple[Column, ...]:
    return part.sides if isinstance(part, Surface) else (part,)


def _spread(column: Column) -> tuple[float, float]:
    """Return mean and variance of what a column adds to a row's squared length, at an even spread.

    A number adds ``1 - (4/c) u (1 - u)``, where ``u`` is the share of the way through one of c cells; a line has one.
    """
    if not isinstance(column, NumberColumn):
        return column.squared_length, 0.0
    cells = column.cells if isinstance(column, CurveColumn) else 1
    return 1 - 2 / (3 * cells), 4 / (45 * cells * cells)
