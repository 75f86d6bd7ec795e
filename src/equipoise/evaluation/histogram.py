"""The one thing that an evaluation pays for: counts in public cells, with noise of a known law."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NoisyCounts:
    """Noisy counts of rows by group, true class and bin of the score; the true ones add up to the public ``n_samples``.

    Parameters
    ----------
    edges : tuple of float
        Inner edges of the bins, ascending: one less than there are bins. A score on an edge is in the bin above it.
    counts : array of int, groups x classes x bins
        What was released; a count may be negative. With two classes the bins are of the score of class 1.
    law : str
        ``"laplace"`` or ``"gaussian"``, both on whole numbers, independent in every cell.
    scale : float
        The law's scale: a whole number k has a chance proportional to ``exp(-|k|/scale)`` or ``exp(-k^2/(2 scale^2))``.
    n_samples : int
        The public number of rows.

    Examples
    --------
    >>> counts = NoisyCounts((0.5,), np.array([[[61, 7], [9, 24]]]), "laplace", 4.0, 100)
    >>> counts.counts.shape
    (1, 2, 2)
    """

    edges: tuple[float, ...]
    counts: NDArray[np.int64]
    law: str
    scale: float
    n_samples: int
