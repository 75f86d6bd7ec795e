"""From raw batches to rows in their domain, where the part is: encoded, clipped, with coded targets, piece by piece."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from equipoise.data.encoder import Encoder
from equipoise.data.engines.base import Batch, PartedTable, batch_length
from equipoise.data.projection import projected_rows
from equipoise.data.rows import coded_targets, row_source
from equipoise.data.schema import Schema
from equipoise.vocabulary.constants import BLOCK_ROWS
from equipoise.vocabulary.facts import Label, Problem

Array = NDArray[np.float64]

# So many bytes of encoded rows are at hand at once, whatever a row's width.
BYTES_AT_ONCE = 2**24

# A digest's words are mixed so that their low bits depend on their high ones.
HALF_A_WORD = np.uint64(32)


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

    def pieces(self, batches: Iterator[Batch], first: int) -> Iterator[tuple[int, Array, Array]]:
        """Yield the place of each piece's first row, its rows and its targets; a piece lies in one block.

        Rows are in one buffer, which the next piece overwrites.
        """
        encoder, place = Encoder(self.schema), first
        for batch in batches:
            length, begin = batch_length(batch), 0
            while begin < length:
                stop = min(length, begin + self._rows_at_once(place))
                yield from self._mapped(encoder, {name: values[begin:stop] for name, values in batch.items()}, place)
                place += stop - begin
                begin = stop

    def _rows_at_once(self, place: int) -> int:
        """Return how many rows are encoded together from a place on: whole blocks, or less than one."""
        fitting = max(1, BYTES_AT_ONCE // (8 * self.schema.n_features))
        to_the_end = BLOCK_ROWS - place % BLOCK_ROWS
        if to_the_end < BLOCK_ROWS or fitting < BLOCK_ROWS:
            return min(fitting, to_the_end)
        return fitting // BLOCK_ROWS * BLOCK_ROWS

    def _mapped(self, encoder: Encoder, batch: Batch, place: int) -> Iterator[tuple[int, Array, Array]]:
        domain, intercept = self.problem.domain, self.problem.intercept
        encoded = encoder.encode(batch, batch_length(batch))
        targets = coded_targets(encoder.encode_target(batch[self.schema.target.name]), self.problem, self.classes)
        if self.columns is None:
            rows = row_source(encoded, domain, intercept)
        else:
            rows = projected_rows(encoded, domain, intercept, self.columns)
        for block, where in rows.blocks():
            yield place + where.start, block, targets[where]


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

    def add(self, place: int, block: Array, targets: Array) -> None:
        """Add a piece."""
        here = _product(block, self.key) + _product(targets, self.key + 1)
        self.value = (self.value + here * (2 * place + 1)) % 2**64


def _product(numbers: Array, key: int) -> int:
    words = np.ascontiguousarray(numbers).reshape(-1).view(np.uint64)
    return int(np.dot(words ^ (words >> HALF_A_WORD), _odd_numbers(key, -(-words.size // BLOCK_ROWS))[: words.size]))


@lru_cache(maxsize=8)
def _odd_numbers(key: int, blocks: int) -> NDArray[np.uint64]:
    coins = np.random.default_rng(key)
    return coins.integers(0, 2**64, size=blocks * BLOCK_ROWS, dtype=np.uint64) | np.uint64(1)
