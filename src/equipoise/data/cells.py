"""Counts of a column's numbers in public cells: whole numbers, the same however the rows are dealt to parts (N6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.data.encoder import Encoder
from equipoise.data.engines.base import Batch, PartedTable, batch_length
from equipoise.data.schema import Schema
from equipoise.errors import PrivateFailure

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
# The cells of one column that hold something, and how many numbers each holds.
Held = tuple[NDArray[np.intp], Counts]

MANTISSA_BITS, EXPONENT_OF_ONE = 52, 1023


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of either sign, ``2^bits`` from each power of two to the next, and one around zero.

    A cell holds its end that is nearer to zero, and not the other. The first and the last hold what is
    ``2^largest`` or more; a missing number is in none, and neither is one that is not finite. A number is in one cell
    at most, so that one row moves one count down and one up.

    Examples
    --------
    >>> cells = Cells(smallest=0, largest=2, bits=1)
    >>> cells.places(np.array([-np.inf, -5.0, -3.0, -1.0, 0.0, 1.0, 1.5, 2.0, 3.9, 4.0, np.nan])).tolist()
    [0, 1, 4, 5, 6, 7, 8, 9, 10]
    >>> cells.starts(np.array([-4.0, -1.0, 0.0, 1.5, 4.0])).tolist()
    [1, 5, 5, 7, 10]
    """

    smallest: int
    largest: int
    bits: int

    @property
    def of_one_sign(self) -> int:
        """How many cells the numbers of one sign have, from the smallest power of two to the largest."""
        return (self.largest - self.smallest) << self.bits

    @property
    def count(self) -> int:
        """How many cells there are."""
        return 2 * self.of_one_sign + 3

    def _steps(self, sizes: Array) -> NDArray[np.int64]:
        """Return how many cells lie between zero's and a size's own: 1 in the first, 0 in that of zero."""
        # The leading bits of a double rise with its size, and they are its cell.
        leading = np.ascontiguousarray(sizes).view(np.int64) >> (MANTISSA_BITS - self.bits)
        steps: NDArray[np.int64] = leading - ((self.smallest + EXPONENT_OF_ONE) << self.bits) + 1
        return np.clip(steps, 0, self.of_one_sign + 1, out=steps)

    def places(self, numbers: Array) -> NDArray[np.int64]:
        """Return the cell of every number that is not missing; one that is not finite is."""
        known = numbers[np.isfinite(numbers)]
        return self.of_one_sign + 1 + np.where(known < 0, -1, 1) * self._steps(np.abs(known))

    def starts(self, edges: Array) -> NDArray[np.int64]:
        """Return the first cell above each edge, that of zero for zero; the one before it is the last below."""
        steps = self._steps(np.abs(edges))
        return self.of_one_sign + 1 + np.where(edges < 0, 1 - steps, steps)

    def counts(self, numbers: Array) -> Counts:
        """Return how many numbers each cell holds."""
        return np.bincount(self.places(numbers), minlength=self.count)


class PartCounts(NamedTuple):
    """What a part answers: the place of its first row, how many it has, and for each column the cells that hold any."""

    first: int
    rows: int
    held: tuple[Held, ...]

    def same(self, other: "PartCounts") -> bool:
        """Return whether a part that was asked again has answered the same."""
        return self[:2] == other[:2] and all(
            map(np.array_equal, chain.from_iterable(self.held), chain.from_iterable(other.held))
        )


@dataclass(frozen=True, slots=True, eq=False)
class CellWork:
    """What travels to a part: how its numbers are read, and the cells in which they are counted."""

    schema: Schema
    names: tuple[str, ...]
    cells: Cells

    def __call__(self, batches: Iterator[Batch], first: int) -> PartCounts:
        """Return the counts of a part."""
        encoder, rows = reader(self.schema), 0
        counts = np.zeros((len(self.names), self.cells.count), dtype=np.int64)
        for batch in batches:
            rows += batch_length(batch)
            for place, name in enumerate(self.names):
                counts[place] += self.cells.counts(encoder.read(name, batch[name]))
        return PartCounts(first, rows, tuple((held := np.flatnonzero(row), row[held]) for row in counts))


def reader(schema: Schema) -> Encoder:
    """Return what reads columns whose bounds may be blank.

    What is read does not depend on bounds: these only make the encoder complete.
    """
    return Encoder(schema.with_bounds(dict.fromkeys(schema.unbounded, (-1.0, 1.0))))


def counts_of_parts(table: PartedTable, work: CellWork, n_samples: int) -> list[Counts]:
    """Return every column's counts over the whole table: each row once, whoever answers how often (N12)."""
    answered: dict[int, PartCounts] = {}
    for part, answer in table.answers(work, work.names, n_samples):
        if not answered.setdefault(part, answer).same(answer):
            raise PrivateFailure
    reached, totals = 0, [np.zeros(work.cells.count, dtype=np.int64) for _ in work.names]
    for answer in sorted(answered.values(), key=lambda answer: answer[:2]):
        # A part that is lost, or stands under another's number, would be a table with other rows.
        if answer.first != reached and answer.rows:
            raise PrivateFailure
        reached += answer.rows
        for counts, (held, found) in zip(totals, answer.held, strict=True):
            counts[held] += found
    if reached != n_samples:
        raise PrivateFailure
    return totals
