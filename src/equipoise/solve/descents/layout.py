"""What the compiled loops are told: public numbers, rows as plain arrays, and which rows the steps take."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Settings(NamedTuple):
    """The public numbers of a run, as the loops want them; `averaged_from` counts steps from 1."""

    parameter: float
    intercept: float
    batch: int
    steps: int
    averaged_from: int
    step: float
    decay: float
    ridge: float
    l1: float
    radius: float
    clip: float
    short: float
    deviation: float


class DenseRows(NamedTuple):
    """A table, and for each of its rows the factor that clips it, the target and, for `clip`, the norm so clipped."""

    table: NDArray[Any]
    facts: Array


class SparseRows(NamedTuple):
    """Clipped rows, each with its constant entry last, in the column after the `columns` that masks may drop."""

    entries: Array
    places: NDArray[Any]
    starts: NDArray[np.int64]
    targets: Array
    norms: Array
    columns: int


class Schedule(NamedTuple):
    """Which rows the steps take, in batches; masks, skips and normals hold one entry a step, or none at all."""

    order: NDArray[np.int64]
    masks: NDArray[np.bool_]
    skips: NDArray[np.bool_]
    normals: Array
