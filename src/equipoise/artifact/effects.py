"""What a released model says along every curve of its schema, and how much of it may be noise, as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import mul

from equipoise.data.schema import Column, CurveColumn, NumberColumn, Schema
from equipoise.report.release_record import Effect, EffectPoint

Ends = tuple[float, float]

# Where a line is drawn whose root counts, which is no straight one: roots of shares of the way between its bounds.
ROOTS = tuple(part / 8 for part in range(9))


def effects_of(
    schema: Schema,
    coefficients: Sequence[Sequence[float]],
    outputs: Sequence[str],
    deviation: float | None,
    paid: Mapping[str, Ends],
) -> tuple[Effect, ...]:
    """Return the effect of each curve at its knots, an entry an output; it is a straight line between them. Then pairs.

    At a knot a row has one entry, that of the knot's hat, which is 1 divided by the row norm. The effect is what its
    weight says, in the target's own unit where it is a number, and noise in the weight is as much noise in it. Lines
    whose root counts have an effect as well, because it bends.

    Parameters
    ----------
    schema : Schema
        As it was released; its curves and pairs are drawn, and nothing else.
    coefficients : sequence of rows of weights
        The released weights, a row an output.
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
    >>> (effect,) = effects_of(schema, [[-1.0, 2.0, 1.0]], ["1"], 0.5, {})
    >>> [(point.place, point.value) for point in effect.points]
    [(0.0, -1.0), (50.0, 2.0), (100.0, 1.0)]
    >>> effect.points[0].deviation
    0.5
    >>> amount = Schema(9, (NumberColumn("rent", (0, 64), root=True),), schema.target, row_norm=1.0)
    >>> (effect,) = effects_of(amount, [[2.0]], ["1"], 0.5, {})
    >>> [(point.place, point.value, point.deviation) for point in effect.points[::4]]
    [(0.0, -2.0, 0.5), (16.0, -0.5, 0.125), (64.0, 2.0, 0.5)]
    """
    length = schema.row_norm or schema.longest_row
    ends = schema.target.bounds or paid.get(schema.target.name)
    unit = 1.0 if schema.target.classes is not None or ends is None else (ends[1] - ends[0]) / 2
    found = []
    for place, column in _curves(schema):
        bounds = column.bounds or paid.get(column.name)
        if bounds is None:
            continue
        for output, weights in zip(outputs, coefficients, strict=True):
            points = tuple(
                EffectPoint(
                    where,
                    unit / length * math.fsum(map(mul, entries, weights[place:])),
                    None if deviation is None else unit / length * deviation * math.hypot(*entries),
                )
                for where, entries in _entries(column, bounds)
            )
            if all(math.isfinite(point.value) for point in points):
                found.append(Effect(column.name, output, points))
    found += _surfaces(schema, coefficients, outputs, unit / length, paid)
    return tuple(found)


def _surfaces(
    schema: Schema,
    coefficients: Sequence[Sequence[float]],
    outputs: Sequence[str],
    unit: float,
    paid: Mapping[str, Ends],
) -> Iterator[Effect]:
    """Yield what each pair adds along its first column of numbers, an entry a knot or level of the other column.

    A line has one weight, which is that of its upper end; at its lower end it counts as much the other way.
    """
    place = sum(column.width for column in schema.columns)
    for surface in schema.surfaces:
        sides, width = surface.sides, surface.width
        turned = not isinstance(sides[0], NumberColumn)
        along, across = (sides[1], sides[0]) if turned else sides
        bounds, ends = (
            (side.bounds or paid.get(side.name)) if isinstance(side, NumberColumn) else None for side in (along, across)
        )
        if bounds is not None and (ends is not None or not isinstance(across, NumberColumn)):
            for output, weights in zip(outputs, coefficients, strict=True):
                own, second = weights[place : place + width], sides[1].width
                lines = [own[start : start + second] for start in range(0, width, second)]
                table = lines if turned else [list(line) for line in zip(*lines, strict=True)]
                if _is_line(along):
                    table = [[-line[0], line[0]] for line in table]
                if _is_line(across):
                    table = [[-weight for weight in table[0]], table[0]]
                named = f"{along.name} with {across.name}" + (f": {output}" if len(outputs) > 1 else "")
                for level, line in enumerate(table):
                    if ends is None:
                        name = across.encoded_names()[level]
                    else:
                        name = f"{across.name} at {_between(ends, level / (len(table) - 1)):.4g}"
                    points = tuple(
                        EffectPoint(where, unit * weight, None) for where, weight in _drawn(along, bounds, line)
                    )
                    if all(math.isfinite(point.value) for point in points):
                        yield Effect(named, name, points, pair=True)
        place += width


def _is_line(column: Column) -> bool:
    return type(column) is NumberColumn


def _entries(column: NumberColumn, bounds: Ends) -> Iterator[tuple[float, list[float]]]:
    """Yield the places at which a curve is drawn, each with the entries of a number there."""
    if isinstance(column, CurveColumn):
        for knot in range(column.cells + 1):
            yield _between(bounds, knot / column.cells), [float(hat == knot) for hat in range(column.cells + 1)]
        return
    for root in ROOTS:
        yield _between(bounds, root * root), [root * root + root - 1]


def _drawn(column: Column, bounds: Ends, line: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Yield the places at which one side of a pair is drawn, and what it says there, given that at its knots."""
    if getattr(column, "root", False):
        low, high = line
        for root in ROOTS:
            share = (root * root + root) / 2
            yield _between(bounds, root * root), low * (1 - share) + high * share
        return
    for step, weight in enumerate(line):
        yield _between(bounds, step / (len(line) - 1)), weight


def _between(ends: Ends, share: float) -> float:
    """Return the place at a share of the way from the lower end to the upper one."""
    return ends[0] * (1 - share) + ends[1] * share


def _curves(schema: Schema) -> Iterator[tuple[int, NumberColumn]]:
    """Yield the columns of a schema whose effect can bend, each with the place of its first encoded column."""
    place = 0
    for column in schema.columns:
        if isinstance(column, CurveColumn) or (isinstance(column, NumberColumn) and column.root):
            yield place, column
        place += column.width
