"""Pairs of columns whose effects depend on each other: a surface over two columns, from public facts alone (N8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import TYPE_CHECKING

from equipoise.data.schema.columns import settle
from equipoise.data.schema.kinds.base import Column
from equipoise.data.schema.kinds.category import CategoryColumn
from equipoise.data.schema.kinds.curve import MOST_CELLS, are_halves, curved, line_of
from equipoise.data.schema.kinds.number import NumberColumn
from equipoise.data.schema.text import Faults, written, written_list

if TYPE_CHECKING:
    from equipoise.data.schema.record import Schema

# A surface has the square of it in weights, each with its noise: few are enough, and more drown.
PAIR_CELLS = 4

# With so many there is no knot between the bounds: a column of numbers is a line, and has one weight with each other.
LINES = 1


@dataclass(frozen=True, slots=True)
class Pair:
    """Two columns whose effects are learnt together, besides those of each alone.

    Parameters
    ----------
    columns : (str, str)
        Their names: two of the schema's columns, of numbers (kinds "number" and "curve") or of categories.
    cells : int
        Into how many cells the bounds of a column of numbers are cut; 1 for a line, whose slope the other column moves.

    Examples
    --------
    >>> Pair(("age", "hours")).cells
    4
    """

    columns: tuple[str, str]
    cells: int = PAIR_CELLS

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        named = isinstance(self.columns, list | tuple) and len(self.columns) == 2
        if not named or not all(isinstance(name, str) for name in self.columns) or len(set(self.columns)) < 2:
            faults.add("pairs.columns", "the names of two different columns", self.columns)
        cells = faults.count("pairs.cells", self.cells)
        if cells is None or not (cells == LINES or are_halves(cells)):
            faults.add("pairs.cells", f"a power of two from {LINES} to {MOST_CELLS}", self.cells)
        settle(self, cells=cells)
        faults.refuse()
        settle(self, columns=tuple(self.columns))

    def lines(self) -> Iterator[str]:
        """Yield the lines of the pair's TOML table."""
        yield f"columns = {written_list(map(written, self.columns))}"
        yield f"cells = {self.cells}"


@dataclass(frozen=True, slots=True)
class Surface:
    """A pair with the facts of its columns: an encoded column for each entry of one with each of the other.

    An entry is the product of two: of a column of numbers its line or a hat (`CurveColumn`), of a category a level. So
    a linear model of them is a surface over the two columns, less what either says alone, whose entries in one row are
    few; their squares add up to 1 at most.

    Examples
    --------
    >>> from equipoise.data.schema import CurveColumn
    >>> sides = CurveColumn("age", (0, 100), cells=2), CategoryColumn("job", ("none", "nurse"), unknown="none")
    >>> surface = Surface(sides)
    >>> surface.encoded_names()[:3], surface.width, surface.entries, surface.squared_length
    (('age and job=none', 'age and job=nurse', 'age bent at 1/2 and job=none'), 4, 2, 1.0)
    """

    sides: tuple[Column, Column]

    def encoded_names(self) -> tuple[str, ...]:
        """Return a name for each entry or level of the first column with each of the second, in this order."""
        first, second = (side.encoded_names() for side in self.sides)
        return tuple(f"{one} and {other}" for one in first for other in second)

    @property
    def width(self) -> int:
        """How many encoded columns there are."""
        return self.sides[0].width * self.sides[1].width

    @property
    def entries(self) -> int:
        """How many of its entries can be other than 0 in one row."""
        return self.sides[0].entries * self.sides[1].entries

    @property
    def squared_length(self) -> float:
        """The largest that the squares of its entries in one row add up to: a product of two sums."""
        return self.sides[0].squared_length * self.sides[1].squared_length

    @property
    def summed_length(self) -> float:
        """The largest that its entries in one row add up to."""
        return self.sides[0].summed_length * self.sides[1].summed_length


def surface_of(pair: Pair, columns: Sequence[Column]) -> Surface:
    """Return a pair with the facts of its columns; those of a schema that was checked."""
    known = {column.name: column for column in columns}
    first, second = (_side(known[name], pair.cells) for name in pair.columns)
    return Surface((first, second))


def all_lines(schema: "Schema") -> tuple[Pair, ...]:
    """Return all pairs of a schema's numbers with each other and with its categories, as lines, but those it has.

    Examples
    --------
    >>> from equipoise.data.schema import Schema, Target
    >>> columns = NumberColumn("age"), NumberColumn("dose"), CategoryColumn("sex", ("f", "m"))
    >>> schema = Schema(None, columns, Target("ill"), pairs=(Pair(("dose", "age")),))
    >>> [pair.columns for pair in all_lines(schema)]
    [('age', 'sex'), ('dose', 'sex')]
    """
    known = {frozenset(pair.columns) for pair in schema.pairs}
    numbers = [column.name for column in schema.columns if isinstance(column, NumberColumn)]
    categories = [column.name for column in schema.columns if isinstance(column, CategoryColumn)]
    both = (*combinations(numbers, 2), *product(numbers, categories))
    return tuple(Pair(names, LINES) for names in both if frozenset(names) not in known)


def check_pairs(pairs: Sequence[Pair], columns: Sequence[Column], faults: Faults) -> None:
    """Note pairs that name no column of the schema, or one of another kind, and those that stand there twice."""
    known = {column.name: column for column in columns}
    seen: set[frozenset[str]] = set()
    for pair in pairs:
        for name in pair.columns:
            if name not in known:
                faults.add("pairs.columns", "columns of the schema that are features", name)
            elif not isinstance(known[name], NumberColumn | CategoryColumn):
                asked = f"columns of kind number, curve or category ({name} is of kind {known[name].kind})"
                faults.add("pairs.columns", asked, name)
        if frozenset(pair.columns) in seen:
            faults.add("pairs.columns", "every pair once", list(pair.columns))
        seen.add(frozenset(pair.columns))


def read_pairs(tables: object, faults: Faults) -> tuple[Pair, ...]:
    """Return the pairs that TOML tables describe, none where there are no tables."""
    if tables is None:
        return ()
    if not isinstance(tables, list):
        faults.add("pairs", "a table [[pairs]] for each pair", tables)
        return ()
    found = []
    for table in tables:
        facts = faults.table("pairs", table, ("columns", "cells"))
        pair = faults.attempt(partial(Pair, facts.get("columns", ()), facts.get("cells", PAIR_CELLS)))
        found += [] if pair is None else [pair]
    return tuple(found)


def _side(column: Column, cells: int) -> Column:
    """Return a column as one side of a surface: a curve of its own, a line, or its levels."""
    if not isinstance(column, NumberColumn):
        return column
    alone = line_of(column, indicator=False)
    return alone if cells == LINES else curved(alone, cells)
