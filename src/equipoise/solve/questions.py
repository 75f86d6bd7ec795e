"""What an objective asks of a piece of the rows: each question travels to where the rows are, and sums come back."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from equipoise.solve.fine_rows import FineBlock
from equipoise.solve.losses import arrays_of
from equipoise.solve.objective import clipped_slopes
from equipoise.solve.places import Array, Sums
from equipoise.vocabulary.losses import Loss


class Piece(NamedTuple):
    """Rows of one block, in their domain, with their targets; `place` is that of the first in the table.

    `block` may be overwritten by who asked for it last. `shares` say what each row counts for, where it is not 1 (N1).
    """

    place: int
    block: Array
    targets: Array
    shares: Array | None = None

    @property
    def stop(self) -> int:
        """The place after the last row."""
        return self.place + len(self.targets)

    def shared(self, values: Array) -> Array:
        """Return a number or several a row, each times what its row counts for."""
        if self.shares is None:
            return values
        return values * (self.shares if values.ndim == 1 else self.shares[:, None])


class Question(Protocol):
    """A function of a piece whose answers are added up over all pieces."""

    def __call__(self, piece: Piece, /) -> Sums:
        """Return fresh arrays, always of the same shapes."""


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """Sums of losses, slopes and, if it is asked for, curvatures at weights: a column an output.

    Examples
    --------
    >>> from equipoise.vocabulary.losses import named
    >>> value, gradient, hessian = Expansion(named("squared"), np.zeros(2), True)(Piece(0, np.eye(2), np.ones(2)))
    >>> value.tolist(), gradient.tolist(), hessian.round(9).tolist()
    ([2.0], [-2.0, -2.0], [[2.0, 0.0], [0.0, 2.0]])
    """

    loss: Loss
    weights: Array
    curved: bool
    finely: bool = False

    def __call__(self, piece: Piece) -> Sums:
        """Return the sums over a piece."""
        arrays, block = arrays_of(self.loss), piece.block
        predictions = block @ self.weights
        slopes = piece.shared(arrays.slope(predictions, piece.targets)).T
        gradient = slopes @ FineBlock(block) if self.finely else slopes @ block
        value = np.array([piece.shared(arrays.value(predictions, piece.targets)).sum()])
        if not self.curved:
            return value, gradient
        block *= np.sqrt(piece.shared(arrays.curvature(predictions, piece.targets)))[:, None]
        return value, gradient, block.T @ block


@dataclass(frozen=True, slots=True, eq=False)
class CurvatureProduct:
    """The sum of curvatures at weights times a direction."""

    loss: Loss
    weights: Array
    direction: Array

    def __call__(self, piece: Piece) -> Sums:
        """Return the sum over a piece."""
        predictions, along = piece.block @ self.weights, piece.block @ self.direction
        curved = arrays_of(self.loss).curvature_product(predictions, piece.targets, along)
        return (piece.shared(curved).T @ piece.block,)


@dataclass(frozen=True, slots=True, eq=False)
class ClippedSlopes:
    """The sum of slopes at weights, each example's shortened to at most `clip`."""

    loss: Loss
    weights: Array
    clip: float

    def __call__(self, piece: Piece) -> Sums:
        """Return the sum over a piece."""
        predictions = piece.block @ self.weights
        slopes = clipped_slopes(arrays_of(self.loss), predictions, piece.targets, self.clip)
        return (piece.shared(slopes).T @ piece.block,)


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """``sum x x'`` and ``sum y x``, over rows of which each counts for one."""

    def __call__(self, piece: Piece) -> Sums:
        """Return the sums over a piece."""
        return piece.block.T @ piece.block, piece.targets @ piece.block


class RowParts(Protocol):
    """Rows that are seen through sums alone, wherever they are."""

    n_samples: int
    dimension: int

    def sums(self, question: Question, /) -> Sums:
        """Return a question's answers, added up over all rows in the tree of their places (N12)."""

    def first(self, count: int, /) -> "RowParts | None":
        """Return the rows at the first places, None where rows have no places of their own."""


def is_parted(rows: Any) -> bool:
    """Return whether rows are seen through sums alone."""
    return hasattr(rows, "sums")
