"""What becomes of a raw value, as plain numbers that another program can follow: the rules behind exports.

Nothing is told a second time: every rule asks the column's own reading and writing what they make of the few values
that decide it, such as the levels, a missing value, and a text that is none of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data.schema import Column, DateColumn, NumberColumn, Schema, YesNoColumn
from equipoise.data.schema.kinds.curve import entries_at_knots
from equipoise.data.schema.text import number_of, same_moments
from equipoise.errors import InvalidParameter

Array = NDArray[np.float64]

# So many texts of one column are compared at most: a long word has too many ways to be written in capitals.
MOST_TEXTS = 100_000
MOST_SPELLINGS = 10_000
LAST_CHARACTER = 0x110000

PREDICT = "predict with equipoise predict, or equipoise.load in Python"


@dataclass(frozen=True, slots=True)
class Rule:
    """What becomes of the values of one raw column.

    Attributes
    ----------
    column : Column
        As the schema declares it.
    first : int
        The place of its first encoded column.
    """

    column: Column
    first: int

    @property
    def encoded(self) -> slice:
        """The places of its encoded columns."""
        return slice(self.first, self.first + self.column.width)


@dataclass(frozen=True, slots=True)
class NumberRule(Rule):
    """A number between bounds: -1 at the lower, 1 at the upper, and a curve's hats over that.

    With `root` an entry ``e`` becomes ``s + sqrt(s) - 1`` with ``s = (1 + e)/2``, also that of a missing number; hats
    stand over what it became.

    Attributes
    ----------
    low, high : float
        The bounds.
    filled : float
        The entry of a missing number.
    missing : tuple of float
        Numbers that count as missing.
    cells : int
        How many cells a curve has, 0 for a line.
    indicator : bool
        Whether the last encoded column says where the number was missing.
    root : bool
        Whether the root of the place between the bounds counts for half.
    """

    low: float
    high: float
    filled: float
    missing: tuple[float, ...]
    cells: int
    indicator: bool
    root: bool

    @property
    def knots(self) -> tuple[float, ...]:
        """The entries at which a curve bends."""
        return tuple(2.0 * place / self.cells - 1.0 for place in range(self.cells + 1)) if self.cells else ()

    def lines(self, weights: Array) -> list[tuple[float, float]]:
        """Return for each cell, or for all numbers, the constant and the slope of what entries weigh.

        Examples
        --------
        >>> from equipoise.data.schema import CurveColumn, Target
        >>> schema = Schema(9, (CurveColumn("age", (0, 8), cells=2),), Target("ill", classes=(0, 1)))
        >>> rule_of(schema.columns[0], 0, schema.missing).lines(np.array([0.0, 1.0]))
        [(1.0, 1.0), (1.0, -1.0)]
        """
        if not self.cells:
            return [(0.0, float(weights[0]))]
        tops = (np.array(entries_at_knots(self.cells)) @ weights[: self.cells]).tolist()
        found = []
        for knot, (left, right) in zip(self.knots, pairwise(tops), strict=False):
            rise = (right - left) * self.cells / 2.0
            found.append((left - rise * knot, rise))
        return found


@dataclass(frozen=True, slots=True)
class TextRule(Rule):
    """A text from a public list: the number of each place, entries of which are known.

    Attributes
    ----------
    places : dict from str to int
        The place of every known text, and of those that count as missing.
    at_missing, at_unknown : int
        The places of a missing value, and of any other text.
    entries : array of shape (places, width)
        What each place is encoded as.
    """

    places: dict[str, int]
    at_missing: int
    at_unknown: int
    entries: Array


@dataclass(frozen=True, slots=True)
class DateRule(Rule):
    """A date, of which some parts count; `column` is the `DateColumn` that names them."""


def rules_of(schema: Schema) -> list[Rule]:
    """Return the rule of every raw column; refuse kinds of columns that have none.

    Examples
    --------
    >>> from equipoise.data.schema import CategoryColumn, Target
    >>> columns = (NumberColumn("age", (20, 60)), CategoryColumn("job", ("none", "nurse"), unknown="none"))
    >>> age, job = rules_of(Schema(9, columns, Target("ill", classes=(0, 1)), missing=("", "-9")))
    >>> age.missing, age.filled, job.places, job.first, job.entries.tolist()
    ((-9.0,), 0.0, {'none': 0, 'nurse': 1, '': 0, '-9': 0}, 1, [[1.0, 0.0], [0.0, 1.0]])
    """
    if schema.pairs:
        raise InvalidParameter(
            "effects of single columns, which an export of raw columns can follow",
            f"the pair of {' and '.join(schema.pairs[0].columns)}",
            f"{PREDICT}; --to csv has the weights, and model.to_sklearn() is a plain pipeline",
        )
    rules, first = [], 0
    for column in schema.columns:
        rules.append(rule_of(column, first, schema.missing))
        first += column.width
    return rules


def rule_of(column: Column, first: int, missing: tuple[str, ...]) -> Rule:
    """Return the rule of a column whose encoded columns begin at a place; these texts count as missing."""
    if isinstance(column, NumberColumn) and column.unit is None and column.bounds is not None:
        numbers = [number for number in map(number_of, missing) if np.isfinite(number)]
        # Of a curve the number that its hats stand over.
        plain = NumberColumn(column.name, column.bounds, fill=column.fill)
        filled = float(_written(plain, np.array([np.nan]))[0, 0])
        cells = getattr(column, "cells", 0)
        ends, root = column.bounds, bool(column.root)
        return NumberRule(column, first, *ends, filled, tuple(numbers), cells, column.indicator, root)
    if isinstance(column, DateColumn) and not column.formats:
        return DateRule(column, first)
    if column.texts():
        return _text_rule(column, first, missing)
    kind = f"{column.kind} with units" if isinstance(column, NumberColumn) else column.kind
    kind = f"{kind} with formats" if isinstance(column, DateColumn) else kind
    raise refusal(column, "any export of raw columns", kind)


def refusal(column: Column, where: str, kind: str = "", others: str = "") -> InvalidParameter:
    """Return the refusal of a column whose values another program does not read by the schema's rules.

    `others` are the formats that read it.
    """
    return InvalidParameter(
        f"columns that {where} can read",
        f"{column.name}, of kind {kind or column.kind}, which it does not read by the schema's rules",
        f"{f'export {others}, which reads it; or ' if others else ''}{PREDICT}; --to csv has the weights",
    )


def _text_rule(column: Column, first: int, missing: tuple[str, ...]) -> TextRule:
    texts = [*column.texts(), *(other for text in column.texts() for other in same_moments(text))]
    if isinstance(column, YesNoColumn):
        texts = [way for text in texts for way in ways_to_write(text)]
    texts = list(dict.fromkeys([*texts, *missing]))
    if len(texts) > MOST_TEXTS:
        raise refusal(column, "an export", f"{column.kind} with more than {MOST_TEXTS} texts")
    unknown = "other"
    while unknown in texts:
        unknown += " other"
    values = np.empty(len(texts) + 2, dtype=object)
    values[:] = [*texts, None, unknown]
    *places, at_missing, at_unknown = column.reading(missing)(values).tolist()
    known = dict(zip(texts, places, strict=True))
    count = max(*places, at_missing, at_unknown) + 1
    entries = np.eye(column.width) if column.spread else _written(column, np.arange(count)).T
    return TextRule(column, first, known, at_missing, at_unknown, entries)


def _written(column: Column, read: NDArray[Any]) -> Array:
    """Return the entries of what was read, a line for each encoded column."""
    entries = np.empty((column.width, len(read)))
    writing = column.writing()
    assert writing is not None  # noqa: S101 - kinds that are spread have places for entries
    writing(read, entries, np.zeros(len(read)))
    return entries


def ways_to_write(text: str) -> list[str]:
    """Return every text that is this one but for capital letters, as Python's `casefold` has it.

    Examples
    --------
    >>> ways_to_write("no")
    ['NO', 'No', 'nO', 'no']
    """
    ways: list[list[str]] = [[""]]
    for end in range(1, len(text) + 1):
        pieces = [(begin, _folded_to().get(text[begin:end], ())) for begin in range(max(0, end - 3), end)]
        ways.append([way + piece for begin, found in pieces for way in ways[begin] for piece in found])
        if len(ways[-1]) > MOST_SPELLINGS:
            raise InvalidParameter(
                "spellings of yes and no that are short enough to list in capital and small letters",
                f"{text!r}, which has more than {MOST_SPELLINGS} ways to be written",
                f"{PREDICT}; or declare the column as a category",
            )
    return sorted(ways[-1])


@cache
def _folded_to() -> dict[str, Sequence[str]]:
    """Return by what they become the characters that are the same but for capital letters."""
    found: dict[str, list[str]] = {}
    for code in range(LAST_CHARACTER):
        found.setdefault(chr(code).casefold(), []).append(chr(code))
    return {text: tuple(characters) for text, characters in found.items()}
