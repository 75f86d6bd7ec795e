"""Rows one by one, of a table that is never held: read once into piles on disk, handed to descents a pile at a time.

Orders are public and follow from the public seed, the number of rows and the number of columns alone. Draws are the
caller's: a slot of the piles stands for a row by a public one-to-one rule, so that slots drawn with equal chances are
rows drawn with equal chances.
"""

import contextlib
from collections.abc import Iterator
from itertools import count, repeat

import numpy as np
from numpy.typing import NDArray

from equipoise.data.engines.base import Batch
from equipoise.data.engines.pieces import EncodedPieces
from equipoise.data.engines.piles import Piles, pile_order
from equipoise.data.rows import DenseArrays, row_source
from equipoise.data.weighed import weighed
from equipoise.errors import PrivateFailure
from equipoise.release.dealt_persons import DealtPersons, dealt_persons
from equipoise.release.job import Array, Made, Task
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.descents.layout import Persons
from equipoise.solve.descents.stochastic import Hand
from equipoise.solve.objective import Objective
from equipoise.vocabulary.facts import Problem

Order = NDArray[np.int64]


class DealtRows:
    """Rows of a problem in piles, and the public seed that orders them."""

    def __init__(self, piles: Piles, problem: Problem, public_seed: int) -> None:
        self.n_samples = piles.n_samples
        self.dimension = piles.columns + (1 if problem.intercept > 0 else 0)
        self.rows_at_once = piles.rows_at_once
        self._piles = piles
        self._problem = problem
        self._seed = public_seed

    def passes(self, batch: int, fresh: bool) -> Iterator[Hand]:
        """Yield the rows of one pass after the other, without end, in whole batches.

        A pass takes every row once: pile after pile, the rows of each in a random order, what is left of a batch with
        the next pile, a short batch at the end. Where the order is fresh, piles and the rows in them have a new order
        in every pass; else the order is that of the first.
        """
        sizes = self._piles.sizes
        length = int(sizes.max()) + batch - 1
        table, targets = np.empty((length, self._piles.columns)), np.empty(length)
        for number in count() if fresh else repeat(0):
            left, rows_to_come = 0, self.n_samples
            for pile in pile_order(self._seed, number, 0, len(sizes)):
                size = self._piles.read_pile(pile, table[left:], targets[left:])
                rows_to_come -= size
                order = np.concatenate([np.arange(left), left + pile_order(self._seed, number, 1 + pile, size)])
                whole = len(order) // batch * batch if rows_to_come else len(order)
                if whole:
                    yield self._hand(table[: left + size], targets[: left + size], order[:whole])
                rest = order[whole:]
                left = len(rest)
                table[:left], targets[:left] = table[rest], targets[rest]

    def drawn(self, slots: Order) -> Hand:
        """Return the rows that were drawn, each once, with the draws as their order."""
        distinct, order = np.unique(slots, return_inverse=True)
        return self._hand(*self._piles.picked(distinct), order)

    def objective(self, slots: NDArray[np.intp]) -> Objective:
        """Return the objective over some rows, given by their slots in rising order."""
        rows, targets = self._piles.picked(slots)
        source = row_source(rows, self._problem.domain, self._problem.intercept)
        shares = weighed(targets, self._problem)
        return Objective(self._problem.loss, self._problem.penalty, source, targets, shares=shares)

    def _hand(self, table: Array, targets: Array, order: Order) -> Hand:
        # Rows were clipped when they were written: their factors are 1.
        arrays = DenseArrays(table, np.ones(len(table)), self._problem.intercept)
        shares = weighed(targets, self._problem)
        return Hand(arrays, targets, order, None if shares is None else Persons.alone(shares))


class Turns:
    """Deals one pass to whoever comes, so many rows to each: no row goes to two of them."""

    def __init__(self, hands: Iterator[Hand]) -> None:
        self._hands = hands
        self._rest: Hand | None = None

    def next_rows(self, rows: int) -> Iterator[Hand]:
        """Yield the next rows, which must be used before others are asked for."""
        while rows > 0:
            hand = next(self._hands) if self._rest is None else self._rest
            some, rest = hand.order[:rows], hand.order[rows:]
            self._rest = hand._replace(order=rest) if len(rest) else None
            rows -= len(some)
            yield hand._replace(order=some)


@contextlib.contextmanager
def dealt_rows(task: Task[Made], batch: int) -> Iterator[DealtRows | DealtPersons]:
    """Read a task's table once and deal its rows, or its persons, for batches of so many; they are gone at the end."""
    if not isinstance(task.rows, PartedRows):
        raise PrivateFailure
    if task.claim.unit == "person":
        with dealt_persons(task, task.rows, batch) as persons:
            yield persons
        return
    problem, encoding = task.claim.problem, task.rows.encoding
    columns = encoding.dimension - (1 if problem.intercept > 0 else 0)
    with Piles(task.rows.n_samples, columns, task.public_seed) as piles:
        task.rows.visit(_Writing(piles, encoding))
        piles.finish()
        yield DealtRows(piles, problem, task.public_seed)


class _Writing:
    """Work on a part, in this process: rows go into piles, the constant column apart."""

    def __init__(self, piles: Piles, encoding: EncodedPieces) -> None:
        self._piles = piles
        self._encoding = encoding

    def __call__(self, batches: Iterator[Batch], first: int) -> None:
        for place, block, targets, _ in self._encoding.pieces(batches, first):
            self._piles.add(place, block[:, : self._piles.columns], targets)
