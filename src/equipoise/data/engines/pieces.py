"""From raw batches to rows in their domain, where the part is: encoded, clipped, with coded targets, piece by piece."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.data.encoder import Encoder
from equipoise.data.engines.base import SHARES, Batch, PartedTable, batch_length
from equipoise.data.projection import projected_rows
from equipoise.data.rows import coded_targets, inspected
from equipoise.data.schema import Schema
from equipoise.data.weighed import weighed
from equipoise.vocabulary.constants import BLOCK_ROWS
from equipoise.vocabulary.facts import Domain, Label, Problem

Array = NDArray[np.float64]

# So many bytes of encoded rows are at hand at once, whatever a row's width.
BYTES_AT_ONCE = 2**24

# A squared norm below this share of the largest is below it however it was rounded: rows have at most 10^6 entries.
SURELY_INSIDE = 1 - 1e-9


class EncodedPiece(NamedTuple):
    """Rows of one block in their domain, with targets; `place` is that of the first among all rows.

    `shares` say what each row counts for where rows are those of persons (N1) or classes have weights (N2), and are
    None elsewhere.
    """

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
        encoder, name = Encoder(self.schema), self.schema.target.name
        coded = encoder.class_codes(lambda targets: coded_targets(targets, self.problem, self.classes))
        size, place, filled, longest = self._rows_of_a_piece, first, 0, 0.0
        lacking = size - first % size
        rows, targets, room = np.empty((size, self._width)), np.empty(size), encoder.room(size)
        shares = None if self.schema.person is None else np.empty(size)
        for batch in batches:
            # Ids that come with the rows are nothing to encode.
            read = {column: encoder.read(column, batch[column]) for column in self.names}
            codes, begin, count = coded(read.pop(name)), 0, batch_length(batch)
            while begin < count:
                end, until = min(count, begin + lacking - filled), min(lacking, filled + count - begin)
                some = {column: values[begin:end] for column, values in read.items()}
                longest = max(longest, encoder.fill(some, rows[filled:until, : encoder.width], room))
                targets[filled:until] = codes[begin:end]
                if shares is not None:
                    shares[filled:until] = batch[SHARES][begin:end]
                begin, filled = end, until
                if filled == lacking:
                    yield self._piece(place, rows[:filled], targets, shares, longest)
                    place, filled, lacking, longest = place + filled, 0, size, 0.0
        if filled:
            yield self._piece(place, rows[:filled], targets, shares, longest)

    @property
    def _width(self) -> int:
        """Columns of the buffer: the encoded ones, and the constant unless it is appended after they are reduced."""
        return self.schema.n_features + (1 if self.problem.intercept > 0 and self.columns is None else 0)

    @property
    def _rows_of_a_piece(self) -> int:
        """A whole block, or a power of two of rows that fit, or a single row."""
        fitting = BYTES_AT_ONCE // (8 * self._width)
        return min(BLOCK_ROWS, 1 << fitting.bit_length() - 1) if fitting else 1

    def _piece(self, place: int, encoded: Array, targets: Array, shares: Array | None, longest: float) -> EncodedPiece:
        count = len(encoded)
        block = self._mapped(encoded, longest)
        counted = weighed(targets[:count], self.problem, None if shares is None else shares[:count])
        return EncodedPiece(place, block, targets[:count], counted)

    def _mapped(self, encoded: Array, longest: float) -> Array:
        """Return encoded rows in their domain, with the constant column: in place, unless they are reduced."""
        domain, intercept = self.problem.domain, self.problem.intercept
        if self.columns is None:
            summed = self.schema.domain.row_sum
            inside = domain.row_sum is None or (summed is not None and summed <= domain.row_sum)
            return clipped_in_place(encoded, domain, intercept, longest if inside else math.inf)
        ((block, _),) = projected_rows(encoded, domain, intercept, self.columns).blocks()
        return np.asarray(block)


def clipped_in_place(block: Array, domain: Domain, intercept: float, longest: float = math.inf) -> Array:
    """Return a block of rows, clipped where they lie; the constant, if there is one, is put into their last column.

    No row is looked at where the longest one is known to be inside by more than rounding, and would be left as it is.

    Examples
    --------
    >>> clipped_in_place(np.array([[3.0, 4.0, 0.0], [np.nan, 0.5, 0.0]]), Domain(1.0), intercept=0.5).tolist()
    [[0.6000000000000001, 0.8, 0.5], [0.0, 0.5, 0.5]]
    """
    features = block[:, :-1] if intercept > 0 else block
    if not longest < SURELY_INSIDE * domain.row_norm**2:
        factors, repaired = inspected(features, domain)
        if factors.min() < 1.0:
            features *= factors[:, None]
        if repaired is not None:
            features[repaired.places] = repaired.rows
    if intercept > 0:
        block[:, -1] = intercept
    return block


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
    from equipoise.data.row_loops import mixed_product

    words = np.ascontiguousarray(numbers).reshape(-1).view(np.uint64)
    return int(mixed_product(words, _odd_numbers(key, -(-words.size // BLOCK_ROWS))))


# For rows, targets and shares of whole pieces and of a part's last one: those of earlier fits are not kept.
@lru_cache(maxsize=6)
def _odd_numbers(key: int, blocks: int) -> NDArray[np.uint64]:
    coins = np.random.default_rng(key)
    return coins.integers(0, 2**64, size=blocks * BLOCK_ROWS, dtype=np.uint64) | np.uint64(1)
