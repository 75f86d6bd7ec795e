"""From raw batches to rows in their domain, where the part is: encoded, clipped, with coded targets, piece by piece."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.data.encoder import Encoder
from equipoise.data.engines.base import SHARES, Batch, PartedTable, batch_length
from equipoise.data.projection import projected_rows
from equipoise.data.rows import coded_targets, row_source
from equipoise.data.schema import Schema
from equipoise.vocabulary.constants import BLOCK_ROWS
from equipoise.vocabulary.facts import Label, Problem
from equipoise.vocabulary.work import FINE_ROWS

Array = NDArray[np.float64]

# So many bytes of encoded rows are at hand at once, whatever a row's width.
BYTES_AT_ONCE = 2**24

# A digest's words are mixed so that their low bits depend on their high ones.
HALF_A_WORD = np.uint64(32)


class Encoded(NamedTuple):
    """Encoded rows, their coded targets, and what each counts for where rows are shares of persons (N1)."""

    rows: Array
    targets: Array
    shares: Array | None

    def cut(self, where: slice) -> "Encoded":
        """Return some of the rows."""
        return Encoded(self.rows[where], self.targets[where], None if self.shares is None else self.shares[where])

    @classmethod
    def joined(cls, several: "list[Encoded]") -> "Encoded":
        """Return rows that came in several batches."""
        rows, targets, shares = zip(*several, strict=True)
        return cls(np.concatenate(rows), np.concatenate(targets), None if shares[0] is None else np.concatenate(shares))


class EncodedPiece(NamedTuple):
    """Rows of one block in their domain, with targets and shares; `place` is that of the first among all rows."""

    place: int
    block: Array
    targets: Array
    shares: Array | None


@dataclass(frozen=True, slots=True, eq=False)
class EncodedPieces:
    """Turns batches of a part into pieces of blocks: by a schema's public rules and a problem's domain, row by row.

    `columns` are public directions to which rows are reduced, if there are any.
    """

    schema: Schema
    problem: Problem
    classes: tuple[Label, ...]
    columns: Array | None = None

    @property
    def names(self) -> list[str]:
        """The raw columns that are needed."""
        return [*(column.name for column in self.schema.columns), self.schema.target.name]

    @property
    def dimension(self) -> int:
        """Weights an output."""
        features = self.schema.n_features if self.columns is None else self.columns.shape[1]
        return features + (1 if self.problem.intercept > 0 else 0)

    def pieces(self, batches: Iterator[Batch], first: int) -> Iterator[EncodedPiece]:
        """Yield pieces of blocks one after the other; `first` is the place of the first row.

        However rows come in batches, a piece is a whole block, or a public share of one where rows are wide; only a
        part's first and last may be shorter. Rows are in one buffer, which the next piece overwrites.
        """
        size, place = self._rows_of_a_piece, first
        waiting: list[Encoded] = []
        lacking = size - first % size
        for encoded in self._encoded(batches):
            begin, length = 0, len(encoded.rows)
            if waiting or lacking < size:
                begin = min(lacking, length)
                waiting.append(encoded.cut(slice(begin)))
                lacking -= begin
                if lacking:
                    continue
                yield from self._mapped(Encoded.joined(waiting), place)
                place += sum(len(some.rows) for some in waiting)
                waiting, lacking = [], size
            end = begin + (length - begin) // size * size
            if begin < end:
                yield from self._mapped(encoded.cut(slice(begin, end)), place)
                place += end - begin
            if end < length:
                waiting.append(encoded.cut(slice(end, None)))
                lacking -= length - end
        if waiting:
            yield from self._mapped(Encoded.joined(waiting), place)

    @property
    def _rows_of_a_piece(self) -> int:
        """A whole block, or a power of two of rows that fit; never fewer than are added up at a time (N10)."""
        fitting = BYTES_AT_ONCE // (8 * self.schema.n_features)
        return max(FINE_ROWS, min(BLOCK_ROWS, 1 << fitting.bit_length() - 1)) if fitting else FINE_ROWS

    def _encoded(self, batches: Iterator[Batch]) -> Iterator[Encoded]:
        """Yield encoded rows, as many at once as fit."""
        encoder, name = Encoder(self.schema), self.schema.target.name
        at_once = max(self._rows_of_a_piece, BYTES_AT_ONCE // (8 * self.schema.n_features))
        for batch in batches:
            for begin in range(0, batch_length(batch), at_once):
                some = {column: values[begin : begin + at_once] for column, values in batch.items()}
                targets = coded_targets(encoder.encode_target(some[name]), self.problem, self.classes)
                shares = np.asarray(some[SHARES]) if SHARES in some else None
                yield Encoded(encoder.encode(some, batch_length(some)), targets, shares)

    def _mapped(self, encoded: Encoded, place: int) -> Iterator[EncodedPiece]:
        domain, intercept = self.problem.domain, self.problem.intercept
        if self.columns is None:
            rows = row_source(encoded.rows, domain, intercept)
        else:
            rows = projected_rows(encoded.rows, domain, intercept, self.columns)
        for block, where in rows.blocks():
            some = encoded.cut(where)
            yield EncodedPiece(place + where.start, block, some.targets, some.shares)


@dataclass(frozen=True, slots=True)
class EncodedParts:
    """A table that is gone through part by part, with the schema that encodes its rows."""

    table: PartedTable
    schema: Schema

    def pieces(self, problem: Problem, classes: tuple[Label, ...], columns: Array | None) -> EncodedPieces:
        """Return how parts come as pieces in a problem's domain."""
        return EncodedPieces(self.schema, problem, classes, columns)


@dataclass(slots=True)
class Digest:
    """Tells whether the same rows were read again: a sum over pieces of products with secret odd numbers (N12).

    Where a part's rows differ in one number it always differs; in more, but for a chance of 2^-31. It is private, like
    all that depends on rows, and is compared where it was made.

    Examples
    --------
    >>> first, second = Digest(1), Digest(1)
    >>> first.add(0, np.array([[1.0, 2.0]]), np.array([1.0]))
    >>> second.add(0, np.array([[1.0, 3.0]]), np.array([1.0]))
    >>> first.value == second.value
    False
    """

    key: int
    value: int = field(default=0)

    def add(self, place: int, block: Array, targets: Array, shares: Array | None = None) -> None:
        """Add a piece."""
        here = _product(block, self.key) + _product(targets, self.key + 1)
        here += 0 if shares is None else _product(shares, self.key + 2)
        self.value = (self.value + here * (2 * place + 1)) % 2**64


def _product(numbers: Array, key: int) -> int:
    words = np.ascontiguousarray(numbers).reshape(-1).view(np.uint64)
    return int(np.dot(words ^ (words >> HALF_A_WORD), _odd_numbers(key, -(-words.size // BLOCK_ROWS))[: words.size]))


# For rows, targets and shares of whole pieces and of a part's last one: those of earlier fits are not kept.
@lru_cache(maxsize=6)
def _odd_numbers(key: int, blocks: int) -> NDArray[np.uint64]:
    coins = np.random.default_rng(key)
    return coins.integers(0, 2**64, size=blocks * BLOCK_ROWS, dtype=np.uint64) | np.uint64(1)
