"""Rows dealt to parts by a public rule, and a job on some of its rows."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equipoise.data.unread import Unread
from equipoise.errors import PrivateFailure
from equipoise.release.job import Job

Places = NDArray[np.intp]

# Splits have coins of their own, whatever else a public seed drives.
_SPLIT_COINS = 5


def split(n_samples: int, validation_rows: int, sizes: Sequence[int], public_seed: int) -> tuple[Places, list[Places]]:
    """Return the validation rows and so many rows for each part, in rising order: no row is in two of them.

    Examples
    --------
    >>> validation, chunks = split(10, 4, [3, 3], public_seed=0)
    >>> len(validation), [len(chunk) for chunk in chunks]
    (4, [3, 3])
    >>> sorted([*validation.tolist(), *chunks[0].tolist(), *chunks[1].tolist()]) == list(range(10))
    True
    """
    # The legacy generator's stream is frozen: whoever repeats the split with another NumPy finds the same one.
    legacy = np.random.RandomState(np.random.MT19937(np.random.SeedSequence([public_seed, _SPLIT_COINS])))
    order = legacy.permutation(n_samples)
    ends = np.cumsum([validation_rows, *sizes])
    if ends[-1] > n_samples:
        raise PrivateFailure
    return np.sort(order[:validation_rows]), [np.sort(order[a:b]) for a, b in itertools.pairwise(ends)]


def taken(job: Job, places: Places) -> Job:
    """Return the job on the rows at these places; they are read when somebody asks for them."""
    table, target = job.table, job.target
    if target is None:
        raise PrivateFailure
    if job.unbounded is not None:
        # Bounds of columns are found on these rows alone: on all of them they would be a spend of every part (N3).
        part = job.unbounded.at(places)
        return replace(job, table=part.features, target=part.target, unbounded=part)

    def rows() -> Any:
        matrix = table.read()
        return (sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix)[places]

    features = Unread((len(places), table.shape[1]), table.numeric, rows)
    labels = replace(target, shape=(len(places),), read=lambda: np.asarray(target.read())[places])
    return replace(job, table=features, target=labels)
