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
        Inner edges of the bins, ascending, of scores between 0 and 1 or of residuals.
    counts : array of int, groups x classes x outputs
        What was released; a count may be negative. Of two classes an output is the bin of the second one's score; of C
        classes outputs are C times as many: bins of the predicted class's score, one predicted class after the other.
        Of a regression the second axis are bins of predictions.
    law, scale : str, float
        ``"laplace"``: k with a chance proportional to ``exp(-|k| / scale)``; ``"gaussian"``: a normal number of this
        deviation, rounded to a whole one. Independent in every cell.
    n_samples : int
        The public number of rows.
    predictions, range : tuple of float
        Of a regression: inner edges of bins of predictions, and the declared range of the target and of predictions.

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
    predictions: tuple[float, ...] = ()
    range: tuple[float, float] | None = None

    @property
    def bins(self) -> int:
        """How many bins a score, or a residual, has."""
        return len(self.edges) + 1
