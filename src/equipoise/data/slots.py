"""Which person a row belongs to: ids become slots by a public rule that no value can make raise (docs/proofs/N1.md).

An id is a text, normalised by itself (`equipoise.data.schema.text.text_of`): blanks around it do not count, and 7, 7.0
and "7" are one id. A row without an id is left out. Persons have slots in the order in which their ids first appear,
at most as many as were declared; of a person's rows the first are kept, at most as many as were declared. So what is
kept of a person depends on that person's own rows, and two tables that differ in all rows of one person differ in one
slot. How many rows there are, in all or of one person, is private: nothing here tells it to anyone.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data.schema.record import DEFAULT_MISSING
from equipoise.data.schema.text import text_of

Array = NDArray[np.float64]
Places = NDArray[np.intp]


class Slots:
    """Deals rows to the slots of persons, batch by batch.

    Examples
    --------
    >>> slots = Slots(n_persons=2, rows_at_most=2)
    >>> places, persons = slots.of(["ann", "ben", None, " ann ", "ann", "eve"])
    >>> places.tolist(), persons.tolist()
    ([0, 1, 3], [0, 1, 0])
    """

    def __init__(self, n_persons: int, rows_at_most: int, missing: Iterable[str] = DEFAULT_MISSING) -> None:
        self._n_persons, self._rows_at_most = n_persons, rows_at_most
        self._missing = frozenset(missing)
        self._slots: dict[str, int] = {}
        self.counts: list[int] = []

    def of(self, ids: Iterable[Any]) -> tuple[Places, Places]:
        """Return the places of the rows that are kept, and the slot of each."""
        places, persons = [], []
        # As plain Python numbers and texts, which are faster to tell apart.
        for place, entry in enumerate(ids.tolist() if isinstance(ids, np.ndarray) else ids):
            text = text_of(entry)
            if text is None or text in self._missing:
                continue
            slot = self._slots.get(text)
            if slot is None:
                if len(self._slots) == self._n_persons:
                    continue
                slot = self._slots[text] = len(self._slots)
                self.counts.append(0)
            if self.counts[slot] < self._rows_at_most:
                self.counts[slot] += 1
                places.append(place)
                persons.append(slot)
        return np.array(places, dtype=np.intp), np.array(persons, dtype=np.intp)


def shares_of(persons: Places, n_persons: int) -> Array:
    """Return what every row counts for: one over the number of its person's rows.

    Examples
    --------
    >>> shares_of(np.array([0, 1, 0]), 3)
    array([0.5, 1. , 0.5])
    """
    shares: Array = 1.0 / np.bincount(persons, minlength=n_persons)[persons]
    return shares
