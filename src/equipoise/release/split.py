"""Rows dealt to parts by a public rule, and a job on some of its rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equipoise.data.tables import Unread
from equipoise.errors import PrivateFailure
from equipoise.release.job import Job

Places = NDArray[np.intp]

# Splits have coins of their own, whatever else a public seed drives.
_SPLIT_COINS = 5


def split(n_samples: int, validation_rows: int, chunks: int, public_seed: int) -> tuple[Places, tuple[Places, ...]]:
    """Return the validation rows and the rows of each chunk, in rising order: every row is in exactly one of them.

    Examples
    --------
    >>> validation, chunks = split(10, 4, 2, public_seed=0)
    >>> len(validation), [len(chunk) for chunk in chunks]
    (4, [3, 3])
    >>> sorted([*validation.tolist(), *chunks[0].tolist(), *chunks[1].tolist()]) == list(range(10))
    True
    """
    # The legacy generator's stream is frozen: whoever repeats the split with another NumPy finds the same one.
    legacy = np.random.RandomState(np.random.MT19937(np.random.SeedSequence([public_seed, _SPLIT_COINS])))
    order = legacy.permutation(n_samples)
    parts = np.split(order[validation_rows:], chunks)
    return np.sort(order[:validation_rows]), tuple(np.sort(part) for part in parts)


def taken(job: Job, places: Places) -> Job:
    """Return the job on the rows at these places; they are read when somebody asks for them."""
    table, target = job.table, job.target
    if target is None:
        raise PrivateFailure

    def rows() -> Any:
        matrix = table.read()
        return (sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix)[places]

    features = Unread((len(places), table.shape[1]), table.numeric, rows)
    labels = Unread((len(places),), target.numeric, lambda: np.asarray(target.read())[places])
    return replace(job, table=features, target=labels)
