"""Rows seen through sums alone: questions go to the parts of a table, answers are added once by place (N12)."""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from equipoise.data.engines.base import Batch, PartedTable, Work
from equipoise.data.engines.grouped import GroupedHere, KeptSlots
from equipoise.data.engines.pieces import Digest, EncodedPieces
from equipoise.errors import PrivateFailure
from equipoise.solve.places import PlaceSums, Sums, added
from equipoise.solve.questions import Piece, Question
from equipoise.vocabulary.work import FINE_ROWS

# Of a part's rows at places that were looked at before all others, and of its other rows.
Digests = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class PartWork:
    """What travels to a part: how its rows are encoded, what is asked about them, and how many rows answer in all.

    So many of them at the first places were `seen` before, by themselves.
    """

    encoding: EncodedPieces
    question: Question
    places: int
    key: int
    seen: int = 0

    def __call__(self, batches: Iterator[Batch], first: int) -> tuple[Digests, PlaceSums]:
        """Return digests of the rows that were read, at the first places and at the others, and the question's sums."""
        digests, sums = (Digest(self.key), Digest(self.key)), PlaceSums(self.places)
        for start, stop, answer in in_groups(self._answered(batches, first, digests)):
            sums.add(start, stop, answer)
        return (digests[0].value, digests[1].value), sums

    def _answered(
        self, batches: Iterator[Batch], first: int, digests: tuple[Digest, Digest]
    ) -> Iterator[tuple[int, int, Sums]]:
        for encoded in self.encoding.pieces(batches, first):
            digests[encoded.place >= self.seen].add(*encoded)
            piece = Piece(*encoded)
            yield piece.place, piece.stop, self.question(piece)


def in_groups(answers: Iterable[tuple[int, int, Sums]]) -> Iterator[tuple[int, int, Sums]]:
    """Yield the sums over pieces; small ones are first added up to groups of `FINE_ROWS` places (N12, 1).

    Examples
    --------
    >>> [(start, stop) for start, stop, _ in in_groups((place, place + 1, ()) for place in range(60, 70))]
    [(60, 64), (64, 70)]
    """
    begun: tuple[int, int, Sums] | None = None
    for start, stop, sums in answers:
        if begun is not None and start % FINE_ROWS:
            begun = begun[0], stop, added(begun[2], sums)
            continue
        if begun is not None:
            yield begun
        begun = start, stop, sums
    if begun is not None:
        yield begun


class PartedRows:
    """A table's rows in their domain, wherever they are; every question is a pass over them.

    A part that answers again is not counted again. Rows that are not those of the first pass end the fit: parts that
    were tried twice, or read twice, must have been the same. Where n counts persons, the rows are those that are kept
    of them, each with what it counts for; how many there are is private (N1).
    """

    def __init__(self, table: PartedTable, encoding: EncodedPieces, n_samples: int) -> None:
        self.n_samples = n_samples
        self.dimension = encoding.dimension
        self.encoding = encoding
        self._table = table
        self._key = secrets.randbits(62)
        self._first: dict[int, Digests] | None = None
        # The rows at the first places, where these were looked at by themselves.
        self._few: PartedRows | None = None

    def first(self, count: int) -> "PartedRows | None":
        """Return the rows at the first places; none where n counts persons, whose rows have no public places."""
        if self.encoding.schema.person is not None:
            return None
        self._few = PartedRows(self._table, self.encoding, count)
        self._few._key = self._key
        return self._few

    def kept_slots(self) -> KeptSlots:
        """Return what tells whose the kept rows are, of a table that was grouped in this process."""
        if not isinstance(self._table, GroupedHere):
            raise PrivateFailure
        return self._table.kept_slots()

    def visit(self, work: Work[None]) -> None:
        """Carry work to every part, for what it does there."""
        for _ in self._table.answers(work, self.encoding.names, self.n_samples):
            pass

    def sums(self, question: Question) -> Sums:
        """Return a question's answers, added up over all rows."""
        places = self._table.places(self.n_samples)
        if not places:
            return question(Piece(0, np.empty((0, self.dimension)), np.empty(0)))
        work = PartWork(self.encoding, question, places, self._key, 0 if self._few is None else self._few.n_samples)
        whole, read = PlaceSums(places), dict[int, Digests]()
        for part, (digest, sums) in self._table.answers(work, self.encoding.names, self.n_samples):
            if part not in read:
                whole.merge(sums)
            if read.setdefault(part, digest) != digest:
                raise PrivateFailure
        if self._first is None:
            self._first = read
        if self._first != read or not self._are_those_of_the_few(read):
            raise PrivateFailure
        return whole.total()

    def _are_those_of_the_few(self, read: dict[int, Digests]) -> bool:
        """Return whether the rows at the first places are what they were when these were looked at by themselves."""
        few = None if self._few is None else self._few._first
        return few is None or all(part in read and read[part][0] == alone for part, (_, alone) in few.items())
