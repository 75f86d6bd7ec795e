"""What a released model says along every curve of its schema, and how much of it may be noise, as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import mul

from equipoise.data.schema import Column, CurveColumn, NumberColumn, Schema
from equipoise.data.schema.kinds.curve import entries_at_knots
from equipoise.report.release_record import Effect, EffectPoint

Ends = tuple[float, float]

# In so many parts a line is drawn whose root counts, which is no straight one, and no fewer a curve of roots.
PARTS = 8


def effects_of(
    schema: Schema,
    coefficients: Sequence[Sequence[float]],
    outputs: Sequence[str],
    deviation: float | None,
    paid: Mapping[str, Ends],
) -> tuple[Effect, ...]:
    """Return the effect of each curve at its knots, an entry an output; it is a straight line between them. Then pairs.

    The effect is what the weights of the entries say, divided by the row norm, in the target's own unit where it is a
    number. At a knot the entries of a curve have the length 1, so that noise in a weight is as much noise in the
    effect. Lines whose root counts have an effect as well, because it bends; between the knots of a curve of roots it
    is drawn at more places.

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
    >>> (effect,) = effects_of(schema, [[-1.0, 2.0]], ["1"], 0.5, {})
    >>> [(point.place, point.value) for point in effect.points]
    [(0.0, 1.0), (50.0, 2.0), (100.0, -1.0)]
    >>> effect.points[0].deviation
    0.5
    >>> amount = Schema(9, (NumberColumn("rent", (0, 64), root=True),), schema.target, row_norm=1.0)
    >>> (effect,) = effects_of(amount, [[2.0]], ["1"], 0.5, {})
    >>> [(point.place, point.value, point.deviation) for point in effect.points[::4]]  # doctest: +ELLIPSIS
    [(0.0, -2.0, 0.5), (24.4..., 0.0, 0.0), (64.0, 2.0, 0.5)]
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
                for where, entries in _drawn(column, bounds)
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
    """Yield what each pair adds along its first column of numbers, an entry a knot or level of the other column."""
    place = sum(column.width for column in schema.columns)
    for surface in schema.surfaces:
        sides, width = surface.sides, surface.width
        turned = not isinstance(sides[0], NumberColumn)
        along, across = (sides[1], sides[0]) if turned else sides
        bounds, ends = (
            (side.bounds or paid.get(side.name)) if isinstance(side, NumberColumn) else None for side in (along, across)
        )
        if isinstance(along, NumberColumn) and bounds is not None and (ends or not isinstance(across, NumberColumn)):
            for output, weights in zip(outputs, coefficients, strict=True):
                own, second = weights[place : place + width], sides[1].width
                lines = [own[start : start + second] for start in range(0, width, second)]
                table = lines if turned else [list(line) for line in zip(*lines, strict=True)]
                named = f"{along.name} with {across.name}" + (f": {output}" if len(outputs) > 1 else "")
                for name, levels in _across(across, ends):
                    line = [math.fsum(map(mul, levels, column)) for column in zip(*table, strict=True)]
                    points = tuple(
                        EffectPoint(where, unit * math.fsum(map(mul, entries, line)), None)
                        for where, entries in _drawn(along, bounds)
                    )
                    if all(math.isfinite(point.value) for point in points):
                        yield Effect(named, name, points, pair=True)
        place += width


def _across(column: Column, ends: Ends | None) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield what one line of a pair is called, and its entries of the other column: at a knot, or of a level."""
    if isinstance(column, NumberColumn) and ends is not None:
        knots = _at_knots(column)
        for step, entries in enumerate(knots):
            yield f"{column.name} at {_between(ends, _share(column, step / (len(knots) - 1))):.4g}", entries
        return
    names = column.encoded_names()
    for level, name in enumerate(names):
        yield name, [float(other == level) for other in range(len(names))]


def _drawn(column: NumberColumn, bounds: Ends) -> Iterator[tuple[float, list[float]]]:
    """Yield the places at which a curve is drawn, each with the entries of a number there: knots, and between roots."""
    knots = _at_knots(column)
    finer = -(-PARTS // (len(knots) - 1)) if column.root else 1
    for step in range(finer * (len(knots) - 1) + 1):
        before, part = min(step // finer, len(knots) - 2), step / finer
        way = part - before
        entries = [low * (1 - way) + high * way for low, high in zip(knots[before], knots[before + 1], strict=True)]
        yield _between(bounds, _share(column, part / (len(knots) - 1))), entries


def _at_knots(column: NumberColumn) -> Sequence[Sequence[float]]:
    """Return the entries of a column of numbers at its knots; those of a line are its bounds."""
    return entries_at_knots(column.cells) if isinstance(column, CurveColumn) else ((-1.0,), (1.0,))


def _share(column: NumberColumn, place: float) -> float:
    """Return the share s of the way between bounds at which an entry is at this share of its own way, (s + sqrt(s))/2.

    That is ``r^2`` for the root ``r`` of ``r^2 + r = 2 place``.
    """
    return ((math.sqrt(1 + 8 * place) - 1) / 2) ** 2 if column.root else place


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
