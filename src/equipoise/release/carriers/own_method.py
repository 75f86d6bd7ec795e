"""Noise on weights that the caller's code computes, inside the door."""

import warnings
from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Claim
from equipoise.certify.claims.own_method import OwnMethod
from equipoise.data.rows import RowSource
from equipoise.errors import PrivateFailure
from equipoise.release.carriers.base import TrainedCarrier
from equipoise.release.job import Array, Task


class OwnMethodCarrier(TrainedCarrier[OwnMethod]):
    """The caller's code sees mapped rows and coded targets; what it returns meets noise before anyone else sees it."""

    claim: ClassVar[type[Claim]] = OwnMethod

    def weights(self, task: Task[OwnMethod]) -> Array:
        """Train by the caller's code and add noise. Whatever it raises, and any other shape, fails without a word."""
        claim, train = task.claim, task.job.train
        if train is None:
            raise PrivateFailure
        # A warning of the caller's code, or of a library that it calls, would tell of rows.
        with warnings.catch_warnings(action="ignore"):
            trained = np.asarray(train(_dense(task.whole), task.targets), dtype=np.float64).ravel()
        if trained.size != claim.noise.dimension:
            raise PrivateFailure
        # Values are private: a public rule maps what is no number.
        finite = np.nan_to_num(trained, nan=0.0, posinf=0.0, neginf=0.0)
        return task.source.add(claim.law, finite, claim.scale)[None]


def _dense(rows: RowSource) -> Array:
    """Return all rows as an array of their own, the constant column last where there is one."""
    return np.vstack([block.copy() if isinstance(block, np.ndarray) else block.toarray() for block, _ in rows.blocks()])
