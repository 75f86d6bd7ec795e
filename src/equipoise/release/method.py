"""Noise on weights that the caller's code computes, inside the door."""

import warnings
from typing import ClassVar

import numpy as np

from equipoise.errors import PrivateFailure
from equipoise.learn.rows import RowSource
from equipoise.proof.mechanisms import named
from equipoise.release.base import Array, Carrier, Task


class OtherMethod(Carrier):
    """The caller's code sees mapped rows and coded targets; what it returns meets noise before anyone else sees it."""

    id: ClassVar[str] = "method"

    @classmethod
    def carry_out(cls, task: Task) -> Array:
        """Train by the caller's code and add noise. Whatever it raises, and any other shape, fails without a word."""
        if task.train is None:
            raise PrivateFailure
        # A warning of the caller's code, or of a library that it calls, would tell of rows.
        with warnings.catch_warnings(action="ignore"):
            trained = np.asarray(task.train(_dense(task.rows), task.targets), dtype=np.float64).ravel()
        if trained.size != task.argument.dimension:
            raise PrivateFailure
        # Values are private: a public rule maps what is no number.
        finite = np.nan_to_num(trained, nan=0.0, posinf=0.0, neginf=0.0)
        return named(task.argument.mechanism).release(finite, task.argument.noise_scale, task.source)[None]


def _dense(rows: RowSource) -> Array:
    """Return all rows as an array of their own, the constant column last where there is one."""
    return np.vstack([block.copy() if isinstance(block, np.ndarray) else block.toarray() for block, _ in rows.blocks()])
