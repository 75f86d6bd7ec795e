"""Counts of rows in public cells, by what a released model says of them (N4)."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from equipoise.certify.claims import Claim
from equipoise.certify.claims.evaluation import Cells, Evaluation
from equipoise.data.rows import class_positions
from equipoise.errors import PrivateFailure
from equipoise.noise import COINS
from equipoise.release.carriers.base import Carrier
from equipoise.release.job import Array, Carried, Job


class EvaluationCarrier(Carrier[Evaluation]):
    """What leaves is one number a cell, with noise; whatever a score is, its row lies in exactly one of them."""

    claim: ClassVar[type[Claim]] = Evaluation

    def carry_out(self, claim: Evaluation, job: Job) -> Carried:
        """Score, count, and add noise to every count."""
        if job.scoring is None or job.target is None:
            raise PrivateFailure
        rows, truth = job.table.read(), job.target.read()
        scores, groups = job.scoring.scores(rows), job.scoring.groups(rows)
        if claim.cells.labels:
            truth = class_positions(truth, claim.cells.labels)
        if not len(scores) == len(truth) == len(groups) == claim.n_samples:
            raise PrivateFailure
        counts = counted(claim.cells, scores, truth, groups)
        noisy = job.source.add_whole(claim.law, counts, claim.scale).tolist()
        if claim.further_noise is not None:
            if claim.cells.targets:
                further = counted_by_target(claim.cells, truth, job.source.coins(claim.n_samples))
            else:
                further = counted_by_true_share(claim.cells, scores, truth)
            noisy += job.source.add_whole(claim.law, further, claim.further_noise.scale).tolist()
        return Carried(replace(claim, released=tuple(noisy)), np.zeros((0, 0)), job)


def counted(cells: Cells, scores: Array, truth: Array, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rows every cell holds: group by group, class by class, and in a class output by output.

    Parameters
    ----------
    cells : Cells
        The public cells.
    scores : array of shape (n_samples, outputs)
        Margins of the second of two classes, or one a class; or predictions. What is no number counts as 0.
    truth : array of shape (n_samples,)
        The place of each row's true class, or its true number.
    groups : array of shape (n_samples,)
        The place of the group that each row belongs to.

    Examples
    --------
    >>> alone = np.zeros(3, dtype=np.int64)
    >>> counted(Cells((0.5,), (0, 1)), np.array([[2.0], [-1.0], [0.0]]), np.array([1.0, 1.0, 0.0]), alone).tolist()
    [1, 0, 1, 1]
    """
    _, classes, outputs = cells.shape
    scores, truth = np.nan_to_num(scores), np.nan_to_num(truth)
    if cells.labels:
        rows, columns = truth.astype(np.int64), outputs_of(cells, scores)
    else:
        rows, columns = binned(cells.predictions, scores[:, 0]), binned(cells.edges, truth - scores[:, 0])
    places = (groups * classes + rows) * outputs + columns
    return np.bincount(places, minlength=int(np.prod(cells.shape))).astype(np.int64)


def counted_by_true_share(cells: Cells, scores: Array, truth: Array) -> NDArray[np.int64]:
    """Return how many rows lie in each bin of the share that the model gives their true class; each row in one.

    Examples
    --------
    >>> cells = Cells((), (0, 1, 2), true_shares=(0.2, 0.5))
    >>> counted_by_true_share(cells, np.log([[0.1, 0.3, 0.6], [0.1, 0.3, 0.6]]), np.array([0.0, 2.0])).tolist()
    [1, 0, 1]
    """
    own = share_bins(cells, np.nan_to_num(scores))[np.arange(len(truth)), truth.astype(np.int64)]
    return np.bincount(own, minlength=len(cells.true_shares) + 1).astype(np.int64)


def counted_by_target(cells: Cells, truth: Array, coins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many rows are dealt to each cell of the target; each row to one, by its own coin.

    Examples
    --------
    >>> cells = Cells((0.0,), predictions=(0.5,), range=(0.0, 1.0), targets=(0.0, 0.5, 1.0))
    >>> counted_by_target(cells, np.array([0.0, 0.25, 0.25, 1.0]), np.array([0, 0, COINS - 1, 5])).tolist()
    [2, 0, 1, 1]
    """
    first, chances = dealt(cells.targets, truth)
    share = coins / COINS
    places = first + (share >= chances[:, 0]) + (share >= chances[:, 0] + chances[:, 1])
    return np.bincount(places, minlength=len(cells.targets) + 1).astype(np.int64)


def dealt(knots: tuple[float, ...], values: Array) -> tuple[NDArray[np.int64], Array]:
    """Return the first of three neighbouring cells that a value is dealt to, and with which chances (rows x 3).

    Chances are the quadratic B-splines of the knots, the outer ones of which count thrice: they are not below 0 and add
    up to 1. In the mean over coins a value keeps itself and its square, if the cell between two knots stands for
    their mean and for their product, and an outer cell for the outer knot and its square (Marsden, 1970).

    Examples
    --------
    >>> first, chances = dealt((0.0, 0.5, 1.0), np.array([0.0, 0.25, 0.6]))
    >>> first, chances.round(3).tolist()
    (array([0, 0, 1]), [[1.0, 0.0, 0.0], [0.25, 0.625, 0.125], [0.32, 0.64, 0.04]])
    """
    padded = np.array([knots[0], *knots, knots[-1]])
    values = np.clip(np.nan_to_num(values), knots[0], knots[-1])
    first: NDArray[np.int64] = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, len(knots) - 2)
    before, low, high, after = (padded[first + step] for step in range(4))
    lower = (high - values) / (high - before) * ((high - values) / (high - low))
    upper = (values - low) / (after - low) * ((values - low) / (high - low))
    return first, np.stack([lower, 1.0 - lower - upper, upper], axis=1)


def share_bins(cells: Cells, scores: Array) -> NDArray[np.int64]:
    """Return for every row and class the bin of the share that the model gives the class; a share on an edge is below.

    Examples
    --------
    >>> share_bins(Cells((), (0, 1, 2), true_shares=(0.2, 0.5)), np.log([[0.1, 0.3, 0.6]])).tolist()
    [[0, 1, 2]]
    """
    return binned(cells.true_shares, softmax(scores, axis=1))


def binned(edges: tuple[float, ...], values: Array) -> NDArray[np.int64]:
    """Return the bin of every value; one on an edge lies below it."""
    found: NDArray[np.int64] = np.searchsorted(np.array(edges), values, side="left")
    return found


def outputs_of(cells: Cells, scores: Array) -> NDArray[np.int64]:
    """Return the output that each row lies in: the bin of its share for the second of two classes.

    Of several classes: the bins of the predicted one's share, one predicted class after the other. A share on an edge
    lies below it, as a margin of 0 is decided for the first class.
    """
    if scores.shape[1] == 1:
        return binned(cells.edges, expit(scores[:, 0]))
    shares = binned(cells.edges, softmax(scores, axis=1).max(axis=1))
    predicted: NDArray[np.int64] = scores.argmax(axis=1)
    return predicted * (len(cells.edges) + 1) + shares
