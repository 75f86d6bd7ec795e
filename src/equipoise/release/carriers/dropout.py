"""Dropout: release the data's curvature, solve the dropout objective, add the noise that the curvature leaves."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigvalsh

from equipoise.certify.claims import Claim
from equipoise.certify.claims.dropout import Dropout, ReleasedCurvature
from equipoise.data.rows import RowSource
from equipoise.planning.laws import known
from equipoise.release.carriers.base import TrainedCarrier, target_of
from equipoise.release.job import Array, Task
from equipoise.solve import solvers
from equipoise.solve.column_ridge import ColumnRidge
from equipoise.solve.objective import Objective
from equipoise.solve.places import folded
from equipoise.vocabulary.constants import BLOCK_ROWS
from equipoise.vocabulary.penalties.l2 import L2

# Masks have coins of their own, whatever else a public seed drives.
MASK_COINS = 6


class DropoutCarrier(TrainedCarrier[Dropout]):
    """The curvature is released first; the claim then says which scale of noise it asks for, 0 after a refusal."""

    claim: ClassVar[type[Claim]] = Dropout

    def prepared(self, task: Task[Dropout]) -> Task[Dropout]:
        """Release the curvature, or test the proposal, and say so in the claim."""
        return replace(task, claim=replace(task.claim, released=release_curvature(task)))

    def weights(self, task: Task[Dropout]) -> Array:
        """Solve and add noise, or return weights of 0, which predict the public midpoint or the first class."""
        claim, problem, masks = task.claim, task.claim.problem, task.claim.masks
        if claim.scale == 0:
            return np.zeros((1, task.rows.dimension))
        if masks.count == 0:
            added = _squares(task.whole, problem.intercept) * (2 * (1 - masks.keep) / masks.keep)
            ridge = ColumnRidge(L2(claim.alpha), added)
            objective = Objective(problem.loss, ridge, task.whole, task.targets)
        else:
            rows = MaskedRows(task.whole, problem.intercept > 0, masks.keep, masks.count, task.public_seed)
            objective = Objective(problem.loss, problem.penalty, rows, rows.repeated(task.targets))
        # The fallback is sized by the ridge alone, whatever was released (L6).
        weights = solvers.suited(objective).solve(objective, target_of(claim, claim.tolerance))
        return task.source.add(claim.law, weights, claim.scale)[None, :]


def release_curvature(task: Task[Dropout]) -> ReleasedCurvature:
    """Return the noisy lower bound on the data's curvature, or whether a proposal was confirmed (G4)."""
    claim, noisy = task.claim, task.claim.noisy()
    drawn = float(task.source.add("laplace", np.array([curvature(task)]), noisy.scale)[0])
    if claim.proposal is None:
        # A lower bound, between 0 and the most that rows can be curved (G4).
        return settled(claim, min(max(drawn - noisy.margin, 0.0), claim.most()))
    if not drawn > claim.proposal + noisy.margin:
        return ReleasedCurvature(claim.proposal, False, 0.0, 0.0)
    return settled(claim, claim.proposal)


def settled(claim: Dropout, curvature: float) -> ReleasedCurvature:
    """Return a curvature that may be used, with the distance and the scale of noise that follow from it."""
    distance = claim.distance(curvature)
    scale = known(claim.law).scale_for(distance, claim.noise.dimension, claim.weights) or math.inf
    # At least the plan's scale for this distance, so that the plan's whole curve holds and not one point of it.
    least = claim.noise.scale / claim.worst * distance * (1 + 1e-14)
    return ReleasedCurvature(curvature, True, distance, max(scale, least))


def curvature(task: Task[Dropout]) -> float:
    """Return the smallest eigenvalue of the mean of masked rows' products, before noise: private."""
    masks, rows, intercept = task.claim.masks, task.whole, task.claim.problem.intercept
    if masks.count == 0:
        products = _products(rows)
        products.flat[:: len(products) + 1] += _squares(rows, intercept) * ((1 - masks.keep) / masks.keep)
    else:
        products = _products(MaskedRows(rows, intercept > 0, masks.keep, masks.count, task.public_seed))
    return float(eigvalsh(products, subset_by_index=[0, 0])[0])


def _products(rows: RowSource) -> Array:
    """Return ``(1/n) sum x x'``."""
    (products,) = folded((rows.gram(block, np.ones(block.shape[0])),) for block, _ in rows.blocks())
    return products / rows.n_samples


def _squares(rows: RowSource, intercept: float) -> Array:
    """Return the mean square of every column, 0 for the constant one, which is never dropped."""
    (squares,) = folded((_own(block),) for block, _ in rows.blocks())
    squares /= rows.n_samples
    if intercept > 0:
        squares[-1] = 0.0
    return squares


def _own(block: Any) -> Array:
    """Return the sum of squares of every column of a block."""
    if sparse.issparse(block):
        return np.asarray(block.multiply(block).sum(axis=0)).ravel()
    own: Array = np.einsum("ij,ij->j", block, block)
    return own


class MaskedRows(RowSource):
    """Every row as many times as it has masks, each time with other columns dropped and the kept ones divided by q.

    Masks belong to a row's place, not to its content, and come from the public seed. The constant column is kept.

    Examples
    --------
    >>> from equipoise.data.rows import Rows
    >>> from equipoise.vocabulary.facts import Domain
    >>> rows = Rows(np.array([[0.3, 0.4]]), Domain(1.0, classes=(0, 1)), intercept=0.5)
    >>> masked = MaskedRows(rows, True, keep=0.5, masks=3, public_seed=3)
    >>> [block.tolist() for block, _ in masked.blocks()]
    [[[0.6, 0.0, 0.5]], [[0.6, 0.8, 0.5]], [[0.6, 0.0, 0.5]]]
    """

    def __init__(self, rows: RowSource, constant: bool, keep: float, masks: int, public_seed: int) -> None:
        self.n_samples = rows.n_samples * masks
        self.dimension = rows.dimension
        self._rows = rows
        self._keep = keep
        self._masks = masks
        self._columns = rows.dimension - int(constant)
        # Bits for all rows and masks: drawn once, and the same whoever repeats the fit.
        coins = np.random.default_rng([public_seed, MASK_COINS])
        self._bits = [
            [np.packbits(coins.random((where.stop - where.start, self._columns)) < keep, axis=1) for _ in range(masks)]
            for where in _places(rows)
        ]

    def blocks(self) -> Iterator[tuple[Any, slice]]:
        """Yield every block of rows once for each mask."""
        for (block, _), bits, places in zip(self._rows.blocks(), self._bits, _places(self._rows), strict=True):
            count = places.stop - places.start
            # The buffer of a dense block is used again for the next one, so every masked one is a copy.
            for number, packed in enumerate(bits):
                first = places.start * self._masks + number * count
                yield self._masked(block, packed), slice(first, first + count)

    def _masked(self, block: Any, packed: NDArray[np.uint8]) -> Any:
        kept = np.unpackbits(packed, axis=1, count=self._columns).astype(np.float64)
        kept /= self._keep
        factors = np.hstack([kept, np.ones((len(kept), self.dimension - self._columns))])
        return sparse.csr_array(block.multiply(factors)) if sparse.issparse(block) else block * factors

    def repeated(self, targets: Array) -> Array:
        """Return the targets in the order of the blocks."""
        return np.concatenate([np.tile(targets[places], self._masks) for places in _places(self._rows)])

    def gram(self, block: Any, curvatures: Array) -> Array:
        """Return ``sum_i c_i x_i x_i'``, as the rows themselves do."""
        return self._rows.gram(block, curvatures)


def _places(rows: RowSource) -> list[slice]:
    """Return the places of the rows' blocks, which are public."""
    return [slice(start, min(start + BLOCK_ROWS, rows.n_samples)) for start in range(0, rows.n_samples, BLOCK_ROWS)]
