"""What a released model says along every curve of its schema, and how much of it may be noise, as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.data.schema import CurveColumn, Schema
from equipoise.report.release_record import Effect, EffectPoint

Array = NDArray[np.float64]
Ends = tuple[float, float]


def effects_of(
    schema: Schema, coefficients: Array, outputs: Sequence[str], deviation: float | None, paid: Mapping[str, Ends]
) -> tuple[Effect, ...]:
    """Return the effect of each curve at its knots, an entry an output; it is a straight line between them.

    At a knot a row has the entries x and h, the knot's place scaled to [-1, 1] and the height of hats, both divided by
    the row norm. The effect is what their weights say together, in the target's own unit where it is a number; noise of
    one deviation in all weights, uncorrelated, is noise of sqrt(x^2 + h^2) times that deviation in it.

    Parameters
    ----------
    schema : Schema
        As it was released; its curves are drawn, and nothing else.
    coefficients : array of shape (outputs, encoded columns)
        The released weights.
    outputs : sequence of str
        What each row of them speaks for.
    deviation : float, optional
        The noise's standard deviation in a weight, or the most that it can be.
    paid : mapping of column names to bounds
        The bounds that were released on the way, where the schema leaves them blank.

    Examples
    --------
    >>> from equipoise.data.schema import Target
    >>> schema = Schema(9, (CurveColumn("age", (0, 100), cells=2),), Target("ill", classes=(0, 1)), row_norm=1.0)
    >>> (effect,) = effects_of(schema, np.array([[1.0, 0.0, 2.0, 0.0]]), ["1"], 0.5, {})
    >>> [(point.place, point.value) for point in effect.points]
    [(0.0, -1.0), (50.0, 2.0), (100.0, 1.0)]
    >>> round(effect.points[0].deviation, 3), effect.points[1].deviation
    (0.707, 0.5)
    """
    length = schema.row_norm or schema.longest_row
    ends = schema.target.bounds or paid.get(schema.target.name)
    unit = 1.0 if schema.target.classes is not None or ends is None else (ends[1] - ends[0]) / 2
    found = []
    for place, column in _curves(schema):
        bounds = column.bounds or paid.get(column.name)
        if bounds is None:
            continue
        shares = np.arange(column.cells + 1) / column.cells
        scaled = 2 * shares - 1
        places = bounds[0] * (1 - shares) + bounds[1] * shares
        lengths = unit / length * np.hypot(scaled, column.height)
        for output, weights in zip(outputs, coefficients, strict=True):
            own = weights[place : place + column.cells + 2]
            values = unit / length * (own[0] * scaled + column.height * own[1:])
            spread = None if deviation is None else lengths * deviation
            points = tuple(
                EffectPoint(float(knot), float(values[row]), None if spread is None else float(spread[row]))
                for row, knot in enumerate(places)
            )
            if all(math.isfinite(point.value) for point in points):
                found.append(Effect(column.name, output, points))
    return tuple(found)


def _curves(schema: Schema) -> Iterator[tuple[int, CurveColumn]]:
    """Yield the curves of a schema, each with the place of its first encoded column."""
    place = 0
    for column in schema.columns:
        if isinstance(column, CurveColumn):
            yield place, column
        place += column.width
