"""Numbers inside public bounds whose effect may bend: a line, and steps at halves, quarters, eighths of the range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from equipoise.data.schema.columns import settle
from equipoise.data.schema.kinds.number import NumberColumn
from equipoise.data.schema.text import Faults, place, written_list, written_number

if TYPE_CHECKING:
    from equipoise.data.writings import Writing

# Beyond this many levels a cell is finer than a table of millions of rows can fill.
MOST_LEVELS = 8

# Finer steps are lower by the fourth root of 2 a level: finer cells hold fewer rows (docs/additive.md).
FADING = 2.0**-0.25


@dataclass(frozen=True, slots=True)
class CurveColumn(NumberColumn):
    """A column of numbers of which a model learns a curve: the entry of a number column, and steps beside it.

    Level l = 1, 2, ... cuts the bounds into 2^(l-1) equal cells, with an encoded column each. Of these the one whose
    cell holds the number is not 0: it is -h_l in the lower half of the cell and h_l in the upper one. So a value has
    one entry and one for each level, however many columns there are, and a linear model of them is a curve that is a
    line within each of the 2^L finest half-cells. A missing number has no steps, unless it is filled.

    Parameters
    ----------
    name, bounds, fill, indicator, unit, units
        As in `NumberColumn`.
    steps : tuple of float
        The height h_l of each level's steps, the coarsest first, above 0 and at most 1; none make it a number column.

    Examples
    --------
    >>> age = CurveColumn("age", (0, 100), steps=(1.0, 0.5))
    >>> age.encoded_names()
    ('age', 'age at 1/2', 'age at 1/4', 'age at 3/4')
    >>> from equipoise.data.encoder import Encoder
    >>> from equipoise.data.schema import Schema, Target
    >>> import numpy as np
    >>> encoder = Encoder(Schema(None, (age,), Target("ill", classes=(0, 1)), row_norm=1.5))
    >>> encoder.encode({"age": np.array([0.0, 80.0, np.nan])}, 3) * 1.5
    array([[-1. , -1. , -0.5,  0. ],
           [ 0.6,  1. ,  0. ,  0.5],
           [ 0. ,  0. ,  0. ,  0. ]])
    """

    kind: ClassVar[str] = "curve"
    keys: ClassVar[tuple[str, ...]] = (*NumberColumn.keys, "steps")

    steps: tuple[float, ...] = tuple(FADING**level for level in range(4))

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        path = place("columns", faults.name(self.name))
        given = self.steps if isinstance(self.steps, list | tuple) else (None,)
        heights = [faults.number(f"{path}.steps", entry) for entry in given]
        if len(heights) > MOST_LEVELS or any(height is not None and not 0 < height <= 1 for height in heights):
            asked = f"at most {MOST_LEVELS} heights above 0 and at most 1, one a level, the coarsest first"
            faults.add(f"{path}.steps", asked, self.steps)
        settle(self, steps=tuple(heights))
        faults.attempt(lambda: NumberColumn.__post_init__(self))
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield from NumberColumn.lines(self)
        yield f"steps = {written_list(map(written_number, self.steps))}"

    def encoded_names(self) -> tuple[str, ...]:
        """Return the name, one for each step by its place between the bounds, and one for where it was missing."""
        name, *missing = NumberColumn.encoded_names(self)
        cuts = (f"{2 * cell + 1}/{2 << level}" for level in range(len(self.steps)) for cell in range(1 << level))
        return (name, *(f"{name} at {cut}" for cut in cuts), *missing)

    @property
    def entries(self) -> int:
        """One, one for each level, and one for what says that it is missing."""
        return 1 + len(self.steps) + self.indicator

    @property
    def squared_length(self) -> float:
        """That of a number, and the square of each level's step."""
        return 1.0 + self.indicator + sum(height * height for height in self.steps)

    @property
    def summed_length(self) -> float:
        """That of a number, and each level's step."""
        return 1.0 + self.indicator + sum(self.steps)

    def writing(self) -> Writing:
        """Return what scales numbers and writes their steps."""
        from equipoise.data.writings import Stepped

        return Stepped(self.bounds, self.fill, self.indicator, self.steps)
