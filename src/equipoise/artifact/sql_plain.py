"""What rows without a schema contribute to an SQL expression: numbers as they are, or scaled by the domain's bounds.

PostgreSQL stops at a number that overflows, and at one that is rounded to 0, so a row is divided by the row norm, or by
about its largest entry where that is more, before squares are taken, and what is `NOTHING` beside that counts as 0.
"""

from collections.abc import Iterator

import numpy as np

from equipoise.artifact.column_rules import Array
from equipoise.artifact.exported import Exported
from equipoise.artifact.sql_parts import BLANKS, NOTHING, literal, number, power, quoted, real, scaled, total


def plain_steps(model: Exported, columns: Array) -> Iterator[list[str]]:
    """Yield the steps from raw columns to p0, p1, ...: rows, filled, clipped and divided by the norm, times columns."""
    domain, count = model.facts.domain, columns.shape[1]
    norm, places = real(domain.row_norm), range(count)
    yield [
        f"TRIM(CAST({quoted(name)} AS TEXT), {literal(BLANKS)}) AS t{place}"
        for place, name in enumerate(model.plain_columns)
    ]
    yield ["*", *(f"{power(f't{place}')} AS x{place}" for place in places)]
    yield [f"{number(f't{place}', f'x{place}')} AS r{place}" for place in places]
    if domain.bounds is None:
        yield [f"CASE WHEN r{place} IS NULL THEN {real(domain.fill)} ELSE r{place} END AS e{place}" for place in places]
    else:
        filled = min(max(domain.fill, -1.0), 1.0)
        ends = np.broadcast_to(np.array(domain.bounds), (count, 2)).tolist()
        yield [f"{scaled(f'r{place}', low, high, filled)} AS e{place}" for place, (low, high) in enumerate(ends)]
    # A divisor that is more than the norm is less than the largest entry, so that a part is more than 1: such a row is
    # clipped whatever the divisor.
    share = real(count + 1.0)
    large = total(f"CASE WHEN ABS(e{place}) > {norm} THEN ABS(e{place}) / {share} ELSE 0.0 END" for place in places)
    yield ["*", f"{large} AS large"]
    yield ["*", f"CASE WHEN large > {norm} THEN large ELSE {norm} END AS divisor"]
    yield [
        f"CASE WHEN ABS(e{place}) < {real(NOTHING)} * divisor THEN 0.0 ELSE e{place} / divisor END AS u{place}"
        for place in places
    ]
    ratio = 0.0 if domain.row_sum is None else domain.row_norm / domain.row_sum
    yield [
        f"SQRT({total(f'u{place} * u{place}' for place in places)}) AS length",
        f"{real(ratio)} * {total(f'ABS(u{place})' for place in places)} AS spread",
        *(
            f"{total(f'{real(weight)} * u{place}' for place, weight in enumerate(weights))} AS z{output}"
            for output, weights in enumerate(columns.tolist())
        ),
    ]
    yield ["*", "CASE WHEN spread > length THEN spread ELSE length END AS size"]
    yield [f"z{output} / CASE WHEN size > 1.0 THEN size ELSE 1.0 END AS p{output}" for output in range(len(columns))]
