"""What the compiled loops are told: public numbers, rows as plain arrays, and which rows the steps take."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Settings(NamedTuple):
    """The public numbers of a run, as the loops want them; `averaged_from` counts steps from 1."""

    parameter: float
    intercept: float
    batch: int
    steps: int
    averaged_from: int
    step: float
    decay: float
    ridge: float
    l1: float
    radius: float
    clip: float
    short: float


class DenseRows(NamedTuple):
    """A table, and for each of its rows the factor that clips it, the target and, for `clip`, the norm so clipped.

    Rows of persons have a fourth fact, what each counts for.
    """

    table: NDArray[Any]
    facts: Array


class SparseRows(NamedTuple):
    """Clipped rows, each with its constant entry last, in the column after the `columns` that masks may drop.

    `shares` is what each row counts for, of rows of persons; empty where every row counts once.
    """

    entries: Array
    places: NDArray[Any]
    starts: NDArray[np.int64]
    targets: Array
    norms: Array
    shares: Array
    columns: int


class Persons(NamedTuple):
    """Whose rows a table has: `rows` are their numbers, person after person; those of person p begin at ``starts[p]``.

    `starts` has one entry more at its end. A person may have no rows. `shares` is what each row of the table counts
    for: one over the number of its person's rows (N1), times the weight of its class (N2).
    """

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    shares: Array

    @classmethod
    def of(cls, places: NDArray[np.int64], count: int, shares: Array) -> "Persons":
        """Return persons by the place that each row's person has among `count`; their rows stay in the table's order.

        Examples
        --------
        >>> persons = Persons.of(np.array([2, 0, 2]), 3, np.array([0.5, 1.0, 0.5]))
        >>> persons.rows.tolist(), persons.starts.tolist(), persons.rows_of(np.array([1, 2])).tolist()
        ([1, 0, 2], [0, 1, 1, 3], [0, 2])
        """
        ends = np.cumsum(np.bincount(places, minlength=count))
        return cls(np.argsort(places, kind="stable"), np.concatenate([[0], ends]), shares)

    @classmethod
    def alone(cls, shares: Array) -> "Persons":
        """Return persons with one row each, in the table's order: rows that do not all count for 1 (N2).

        Examples
        --------
        >>> Persons.alone(np.array([1.0, 0.25])).starts.tolist()
        [0, 1, 2]
        """
        return cls(np.arange(len(shares)), np.arange(len(shares) + 1), shares)

    @property
    def number(self) -> int:
        """How many persons there are, those without rows included."""
        return len(self.starts) - 1

    def rows_of(self, chosen: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return all rows of some persons, in rising order."""
        found = [self.rows[self.starts[person] : self.starts[person + 1]] for person in chosen]
        return np.sort(np.concatenate(found))


class GriddedNoise(NamedTuple):
    """Noise of steps on a public grid, a line a step: ``wholes + parts`` steps of the grid, parts right to `margin`.

    `places` are those entries, counted through all lines, whose sums were settled elsewhere, to ``sums`` steps. An
    entry that the loops cannot decide they put into `asked`, with the gradient's entry that it is added to.
    """

    wholes: Array
    parts: Array
    margin: float
    grid: float
    places: NDArray[np.int64]
    sums: Array
    asked: Array


class Schedule(NamedTuple):
    """Which rows the steps take, in batches; masks, skips and noise hold one entry a step, or none at all.

    `ends` says where the rows of each step end in the order, for batches of persons; it is empty for batches of rows.
    """

    order: NDArray[np.int64]
    ends: NDArray[np.int64]
    masks: NDArray[np.bool_]
    skips: NDArray[np.bool_]
    noise: GriddedNoise
