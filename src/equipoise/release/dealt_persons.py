"""Persons one by one, of a table that is never held: their kept rows are read once and put together on disk.

Persons are dealt to places in secret, every order equally likely, by the source of the noise; orders are public orders
of places, and draws with equal chances are draws of places (docs/proofs/N1.md, part (vii)).
"""

import contextlib
from collections.abc import Iterator
from itertools import count, repeat

import numpy as np
from numpy.typing import NDArray

from equipoise.data.engines.base import Batch
from equipoise.data.engines.person_piles import PersonPiles, PersonRows
from equipoise.data.engines.piles import pile_order
from equipoise.data.rows import DenseArrays, row_source
from equipoise.errors import PrivateFailure
from equipoise.release.job import Made, Task
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.descents.layout import Persons
from equipoise.solve.descents.stochastic import Hand
from equipoise.solve.objective import Objective
from equipoise.vocabulary.facts import Problem

Places = NDArray[np.int64]


class DealtPersons:
    """Persons of a problem at secret places, and the public seed that orders places."""

    def __init__(self, piles: PersonPiles, problem: Problem, public_seed: int) -> None:
        self.n_samples = piles.n_persons
        self.dimension = piles.columns + (1 if problem.intercept > 0 else 0)
        # Persons, who are fetched with all their rows.
        self.rows_at_once = piles.persons_at_once
        self._piles = piles
        self._problem = problem
        self._seed = public_seed

    def passes(self, batch: int, fresh: bool) -> Iterator[Hand]:
        """Yield the persons of one pass after the other, without end, in whole batches.

        A pass goes through the places from the first to the last. Where the order is fresh, piles and the places in
        them have a new order in every pass, but for the last pile, which alone may end with a short batch.
        """
        ends = self._piles.ends
        for number in count() if fresh else repeat(0):
            piles = np.arange(len(ends))
            if fresh:
                piles[:-1] = pile_order(self._seed, number, 0, len(ends) - 1)
            for pile in piles.tolist():
                first, stop = int(ends[pile - 1]) if pile else 0, int(ends[pile])
                order = pile_order(self._seed, number, 1 + pile, stop - first) if fresh else np.arange(stop - first)
                yield self._hand(self._piles.between(first, stop), order)

    def drawn(self, places: Places) -> Hand:
        """Return the persons that were drawn, each once, with the draws as their order."""
        distinct, order = np.unique(places, return_inverse=True)
        return self._hand(self._piles.picked(distinct), order)

    def objective(self, places: NDArray[np.intp]) -> Objective:
        """Return the objective over the persons at some places: a mean over them of their rows' means."""
        problem, found = self._problem, self._piles.picked(places)
        source = row_source(found.rows, problem.domain, problem.intercept)
        return Objective(
            problem.loss, problem.penalty, source, found.targets, shares=found.shares, n_samples=len(places)
        )

    def _hand(self, found: PersonRows, order: Places) -> Hand:
        # Rows were clipped when they were written: their factors are 1.
        arrays = DenseArrays(found.rows, np.ones(len(found.rows)), self._problem.intercept)
        persons = Persons(np.arange(len(found.rows)), found.starts, found.shares)
        return Hand(arrays, found.targets, order, persons)


@contextlib.contextmanager
def dealt_persons(task: Task[Made], rows: PartedRows, batch: int) -> Iterator[DealtPersons]:
    """Read a task's table once and deal its persons to secret places; they are gone at the end."""
    problem, person = task.claim.problem, rows.encoding.schema.person
    if person is None:
        raise PrivateFailure
    columns = rows.dimension - (1 if problem.intercept > 0 else 0)
    places = task.source.permutation(task.claim.n_samples)
    with PersonPiles(places, person.rows_at_most, columns, batch) as piles:
        del places
        rows.visit(_Writing(piles, rows))
        piles.finish()
        yield DealtPersons(piles, problem, task.public_seed)


class _Writing:
    """Work on the kept rows, in this process: they go to the piles of their persons, the constant column apart."""

    def __init__(self, piles: PersonPiles, rows: PartedRows) -> None:
        self._piles, self._rows = piles, rows

    def __call__(self, batches: Iterator[Batch], first: int) -> None:
        slots, columns = self._rows.kept_slots(), self._piles.columns
        for _, block, targets, shares in self._rows.encoding.pieces(batches, first):
            if shares is None:
                raise PrivateFailure
            self._piles.add(slots.next_rows(len(targets)), block[:, :columns], targets, shares)
