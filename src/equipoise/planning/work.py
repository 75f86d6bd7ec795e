"""How much work a fit may be, from public facts alone: a plan whose worst case is beyond the limit is refused (N10).

Work is counted in numbers of the table that are met. The limit is what two cores meet within an hour; the environment
variable EQUIPOISE_WORK_LIMIT sets another.
"""

import math
import os
from dataclasses import replace

from equipoise.certify.work import corner_tolerance, momentum_tolerance, solver_passes
from equipoise.errors import InvalidParameter
from equipoise.vocabulary.facts import Setting
from equipoise.vocabulary.numbers import require_number

LIMIT = 3e12
VARIABLE = "EQUIPOISE_WORK_LIMIT"

# What a pass costs besides a row's columns, a slope and its value, and besides all rows, in numbers met.
NUMBERS_A_ROW = 30
NUMBERS_A_PASS = 50_000

# What persons can do about the work besides: the worst case is that all of them have as many rows as one may have.
FEWER_ROWS = ", or lower the most rows that a person counts with (rows_a_person, in a schema rows_at_most)"


def limit() -> float:
    """Return the most work that a fit may be.

    Examples
    --------
    >>> limit() > 1e9
    True
    """
    text = os.environ.get(VARIABLE)
    if text is None:
        return LIMIT
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    return require_number(VARIABLE, number, above=0.0, remedy="set it to a number such as 3e12, or leave it unset")


def work_of(passes: float, n_samples: int, columns: int) -> float:
    """Return how many numbers are met in so many passes over a table.

    Examples
    --------
    >>> work_of(10, 1000, 60)
    1400000.0
    """
    return float(passes) * (n_samples * (columns + NUMBERS_A_ROW) + NUMBERS_A_PASS)


def require_work(passes: float, rows: int, columns: int, remedy: str) -> None:
    """Refuse so many passes over a table where they are beyond the limit."""
    work, most = work_of(passes, rows, columns), limit()
    if work <= most:
        return
    known = "no known number" if math.isinf(passes) else f"up to {passes:.3g}"
    found = f"{known} of passes over {rows:,} rows of {columns:,} columns, on the worst rows"
    raise InvalidParameter(
        f"a fit that ends, on any rows, within {most:.3g} numbers met",
        found if math.isinf(passes) else f"{found}: {work:.3g} numbers",
        f"{remedy}, or raise the limit: {VARIABLE}={max(10 * most, 2 * work):.1g}" if work < math.inf else remedy,
    )


def affordable(where: Setting) -> bool:
    """Return whether a solver's worst case is within the limit."""
    return work_of(solver_passes(where), where.rows, where.n_features) <= limit()


def eased(where: Setting, largest: float) -> Setting:
    """Return the setting with a tolerance of at most `largest` that makes a worst case beyond the limit affordable.

    Fewer steps are needed then, and rounding is small enough beside it to prove their number.
    """
    if where.recipe.tolerance == 0 or affordable(where):
        return where
    raised = corner_tolerance(where) if math.isinf(where.constants.smoothness) else momentum_tolerance(where)
    other = replace(where, recipe=replace(where.recipe, tolerance=raised * (1 + 1e-9)))
    return other if where.recipe.tolerance < raised <= largest and affordable(other) else where


def passes_within(where: Setting) -> int:
    """Return the number of passes to record for a solver, or refuse a worst case beyond the limit."""
    passes = solver_passes(where)
    if math.isinf(where.constants.smoothness):
        remedy = "round the corner off (loss='smooth-hinge', or HuberRegressor for the absolute loss)"
    else:
        remedy = "raise alpha, declare a smaller row_norm, or choose a loss or penalty that is less sharp"
    require_work(passes, where.rows, where.n_features, f"{remedy}{FEWER_ROWS if where.unit == 'person' else ''}")
    return int(passes)
