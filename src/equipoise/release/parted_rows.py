"""Rows seen through sums alone: questions go to the parts of a table, answers are added once by place (N12)."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from equipoise.data.engines.base import Batch, PartedTable
from equipoise.data.engines.pieces import Digest, EncodedPieces
from equipoise.errors import PrivateFailure
from equipoise.solve.places import PlaceSums, Sums
from equipoise.solve.questions import Piece, Question


@dataclass(frozen=True, slots=True, eq=False)
class PartWork:
    """What travels to a part: how its rows are encoded, what is asked about them, and how many rows answer in all."""

    encoding: EncodedPieces
    question: Question
    places: int
    key: int

    def __call__(self, batches: Iterator[Batch], first: int) -> tuple[int, PlaceSums]:
        """Return a digest of the rows that were read, and the question's sums over them."""
        digest, sums = Digest(self.key), PlaceSums(self.places)
        for encoded in self.encoding.pieces(batches, first):
            digest.add(*encoded)
            piece = Piece(*encoded)
            sums.add(piece.place, piece.stop, self.question(piece))
        return digest.value, sums


class PartedRows:
    """A table's rows in their domain, wherever they are; every question is a pass over them.

    A part that answers again is not counted again. Rows that are not those of the first pass end the fit: parts that
    were tried twice, or read twice, must have been the same. Where n counts persons, the rows are those that are kept
    of them, each with what it counts for; how many there are is private (N1).
    """

    def __init__(self, table: PartedTable, encoding: EncodedPieces, n_samples: int) -> None:
        self.n_samples = n_samples
        self.dimension = encoding.dimension
        self._table = table
        self._encoding = encoding
        self._key = secrets.randbits(62)
        self._first: dict[int, int] | None = None

    def sums(self, question: Question) -> Sums:
        """Return a question's answers, added up over all rows."""
        places = self._table.places(self.n_samples)
        if not places:
            return question(Piece(0, np.empty((0, self.dimension)), np.empty(0)))
        work = PartWork(self._encoding, question, places, self._key)
        whole, read = PlaceSums(places), dict[int, int]()
        for part, (digest, sums) in self._table.answers(work, self._encoding.names, self.n_samples):
            if part not in read:
                whole.merge(sums)
            if read.setdefault(part, digest) != digest:
                raise PrivateFailure
        if self._first is None:
            self._first = read
        if self._first != read:
            raise PrivateFailure
        return whole.total()
