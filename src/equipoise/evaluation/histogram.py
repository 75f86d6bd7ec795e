"""What an evaluation released: noisy counts of rows in public cells. Every figure is a function of it alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.claims.evaluation import Evaluation as EvaluationClaim


@dataclass(frozen=True, slots=True, eq=False)
class NoisyCounts:
    """Counts by group, true class and output, with known noise that is independent in every cell.

    Parameters
    ----------
    edges : tuple of float
        The inner edges of the bins, ascending: of scores between 0 and 1, or of residuals. A score on an edge lies
        below it.
    counts : array of shape (groups, classes, outputs)
        As they were released: whole numbers, some of which may be below 0. Of two classes an output is the bin of the
        second one's score; of C classes outputs are C times as many: the bins of the predicted class's score, one
        predicted class after the other. Of a regression the second axis are bins of predictions.
    law, scale : str, float
        The noise of every cell. "laplace": k with probability proportional to ``exp(-|k| / scale)``. "gaussian": a
        normal number of this standard deviation, rounded to a whole one.
    n_samples : int
        The public number of rows, to which the true counts add up.
    predictions, range : tuple of float
        Of a regression: the inner edges of bins of predictions, and the declared range of the target, in which
        predictions lie as well; residuals, the true number less the predicted one, are no larger than it is wide.

    Examples
    --------
    >>> NoisyCounts((0.5,), np.array([[[40, 12], [9, 41]]]), "laplace", 4.0, 100).bins
    2
    """

    edges: tuple[float, ...]
    counts: NDArray[np.int64]
    law: str
    scale: float
    n_samples: int
    predictions: tuple[float, ...] = ()
    range: tuple[float, float] | None = None

    @classmethod
    def of(cls, claim: EvaluationClaim) -> "NoisyCounts":
        """Return what a claim has released."""
        counts = np.array(claim.released, dtype=np.int64).reshape(claim.cells.shape)
        cells = claim.cells
        return cls(cells.edges, counts, claim.law, claim.scale, claim.n_samples, cells.predictions, cells.range)

    @property
    def bins(self) -> int:
        """How many bins a score, or a residual, has."""
        return len(self.edges) + 1
