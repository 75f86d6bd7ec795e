"""How much work a fit may be, from public facts alone: a plan whose worst case is beyond the limit is refused (N10).

Work is counted in numbers of the table that are met; an output beyond the first counts a third, since a number that was
fetched serves all of them (benchmarks/work.py). Sparse rows count as if every entry were stored, which public facts
cannot exclude. The limit is what two cores meet within an hour; the environment variable EQUIPOISE_WORK_LIMIT sets
another.
"""

import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, update_wrapper
from typing import Generic, ParamSpec, TypeVar

from equipoise.certify.work import corner_tolerance, momentum_tolerance, solver_passes
from equipoise.errors import InvalidParameter
from equipoise.vocabulary.facts import Setting
from equipoise.vocabulary.numbers import require_number

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

LIMIT = 2e12
VARIABLE = "EQUIPOISE_WORK_LIMIT"

# What a pass costs besides a row's columns, a slope and its value for every output, and besides all rows, in numbers
# met (benchmarks/work.py).
NUMBERS_A_ROW = 30
NUMBERS_A_PASS = 50_000
# What every output beyond the first costs, over the first: a fourth to two fifths of its time was measured there.
ANOTHER_OUTPUT = 1 / 3

# What one exact draw of Gaussian noise costs, in numbers met: below half a microsecond (docs/proofs/D7.md).
NUMBERS_A_DRAW = 500

# What persons can do about the work besides: the worst case is that all of them have as many rows as one may have.
FEWER_ROWS = ", or lower the most rows that a person counts with (rows_a_person, in a schema rows_at_most)"


def limit() -> float:
    """Return the most work that a fit may be.

    Examples
    --------
    >>> limit() > 1e9
    True
    """
    return set_by(VARIABLE, LIMIT)


def set_by(variable: str, usual: float) -> float:
    """Return the limit that an environment variable sets, or the usual one.

    Examples
    --------
    >>> set_by("EQUIPOISE_LIMIT_OF_NOTHING", 512.0)
    512.0
    """
    text = os.environ.get(variable)
    if text is None:
        return usual
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    return require_number(variable, number, above=0.0, remedy=f"set it to one such as {usual:g}, or unset it")


class Remembered(Generic[Asked, Answer]):
    """A function of public facts whose answers are remembered, each with the limit that it was given under.

    Facts are the same if they are written alike: to Python the classes 0 and 1, 0.0 and 1.0, False and True are equal.
    """

    def __init__(self, function: Callable[Asked, Answer], most: int) -> None:
        @lru_cache(maxsize=most)
        def remembered(_: tuple[float, str], *facts: Asked.args, **named: Asked.kwargs) -> Answer:
            return function(*facts, **named)

        self._remembered = remembered
        update_wrapper(self, function)

    def __call__(self, *facts: Asked.args, **named: Asked.kwargs) -> Answer:
        """Return the answer under today's limit."""
        return self._remembered((limit(), repr((facts, named))), *facts, **named)  # type: ignore[arg-type] # facts are hashable

    def cache_clear(self) -> None:
        """Forget all answers."""
        self._remembered.cache_clear()


def remembered(most: int) -> Callable[[Callable[Asked, Answer]], Remembered[Asked, Answer]]:
    """Return what remembers the last `most` answers of a function that depends on the limit.

    Examples
    --------
    >>> @remembered(most=10)
    ... def doubled(number: int) -> int:
    ...     return 2 * number
    >>> doubled(4)
    8
    """
    return lambda function: Remembered(function, most)


def work_of(passes: float, rows: int, columns: int, outputs: int = 1) -> float:
    """Return how many numbers are met in so many passes over a table, for a loss of so many outputs.

    Examples
    --------
    >>> work_of(10, 1000, 60), work_of(10, 1000, 60, outputs=4)
    (1400000.0, 2300000.0)
    """
    return float(passes) * (rows * (columns + NUMBERS_A_ROW) * (1 + (outputs - 1) * ANOTHER_OUTPUT) + NUMBERS_A_PASS)


def work_in(where: Setting, passes: float) -> float:
    """Return how many numbers are met in so many passes of a setting."""
    return work_of(passes, where.rows, where.n_features, where.problem.loss.outputs)


def require_work(work: float, found: str, remedy: str) -> None:
    """Refuse a worst case beyond the limit."""
    most = limit()
    if work <= most:
        return
    raise InvalidParameter(
        f"a fit that ends, on any rows, within {most:.3g} numbers met",
        f"{found}, on the worst rows" + (f": {work:.3g} numbers" if work < math.inf else ""),
        f"{remedy}, or raise the limit: {VARIABLE}={max(10 * most, 2 * work):.1g}" if work < math.inf else remedy,
    )


def require_passes(passes: float, rows: int, columns: int, outputs: int, remedy: str) -> None:
    """Refuse so many passes over a table where they are beyond the limit."""
    known = "no known number" if math.isinf(passes) else f"up to {passes:.3g}"
    classes = f" for {outputs} classes" if outputs > 1 else ""
    found = f"{known} of passes over {rows:,} rows of {columns:,} columns{classes}"
    require_work(work_of(passes, rows, columns, outputs), found, remedy)


def affordable(where: Setting) -> bool:
    """Return whether a solver's worst case is within the limit."""
    return work_in(where, solver_passes(where)) <= limit()


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
        smooth = "huber" if where.problem.loss.task == "regression" else "smooth-hinge"
        remedy = f"round the corner off with loss='{smooth}'"
    else:
        remedy = "raise alpha, declare a smaller row_norm, or choose a loss or penalty that is less sharp"
    if where.unit == "person":
        remedy += FEWER_ROWS
    require_passes(passes, where.rows, where.n_features, where.problem.loss.outputs, remedy)
    return int(passes)
