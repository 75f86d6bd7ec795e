"""What an evaluation released: noisy counts of rows in public cells. Every figure is a function of it alone."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.claims import Noise
from equipoise.certify.claims.evaluation import Cells
from equipoise.certify.claims.evaluation import Evaluation as EvaluationClaim
from equipoise.errors import InvalidParameter, ReleaseUnreadable
from equipoise.planning.evaluation import MOST, MOST_SHARES, MOST_TARGETS, further_noise
from equipoise.vocabulary.facts import Label

# Whole numbers up to the latter are doubles; noise never takes a count of so many rows there.
MOST_ROWS, LARGEST_COUNT = 2**40, 2**52
# Fourth powers of numbers up to this one, times rows, are numbers.
LARGEST_NUMBER = 1e60


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
    labels : tuple of label
        The classes, where they are known by more than their numbers.

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
    labels: tuple[Label, ...] = ()

    @classmethod
    def of(cls, claim: EvaluationClaim) -> "NoisyCounts":
        """Return what a claim has released in its cells; such as no evaluation of this library has are refused."""
        counts, cells = _counts_in(claim), claim.cells
        inside = counts[: math.prod(cells.shape)].reshape(cells.shape)
        known = cells.predictions, cells.range, cells.labels
        return cls(cells.edges, inside, claim.law, claim.scale, claim.n_samples, *known)

    @classmethod
    def of_further(cls, claim: EvaluationClaim) -> "NoisyCounts | None":
        """Return the counts by the share of the true class, or by the target, as of one class; None without such.

        Edges are then those of shares, or the knots by which targets are dealt.
        """
        if claim.further_noise is None:
            return None
        further = _counts_in(claim)[math.prod(claim.cells.shape) :].reshape(1, 1, -1)
        return cls(claim.cells.further, further, claim.law, claim.further_noise.scale, claim.n_samples)

    @property
    def bins(self) -> int:
        """How many bins a score, or a residual, has."""
        return len(self.edges) + 1

    @property
    def possible(self) -> NDArray[np.bool_]:
        """The cells that a row can lie in: of a regression, those whose targets reach into the declared range.

        What other cells were released with is noise alone, and no figure looks at it.

        Examples
        --------
        >>> none = np.zeros((1, 2, 4), dtype=np.int64)
        >>> NoisyCounts((-1.5, 0.0, 1.5), none, "laplace", 4.0, 9, (0.0,), (-1.0, 1.0)).possible.astype(int)
        array([[[0, 1, 1, 1],
                [1, 1, 1, 0]]])
        """
        if self.range is None:
            return np.ones(self.counts.shape, dtype=bool)
        low, high = self.range
        predictions = np.array([low, *self.predictions, high])[:, None]
        residuals = np.array([low - high, *self.edges, high - low])
        within = (predictions[:-1] + residuals[:-1] < high) & (predictions[1:] + residuals[1:] >= low)
        return np.broadcast_to(within, self.counts.shape)


def _counts_in(claim: EvaluationClaim) -> NDArray[np.int64]:
    loudest = max(claim.scale, claim.further_noise.scale) if claim.further_noise else claim.scale
    faults = list(faults_of(claim.cells, claim.n_samples, loudest))
    if claim.released is None or max(map(abs, claim.released)) > LARGEST_COUNT:
        faults.append("no counts, or counts beyond any number of rows")
    if faults:
        raise ReleaseUnreadable("counts and cells as evaluate makes them", faults[0], "ask for the folder again")
    return np.array(claim.released, dtype=np.int64)


def require_figures(cells: Cells, n_samples: int, noise: Noise, look: float | None = None) -> None:
    """Refuse a plan whose counts no figure could follow from, with the loudest noise that any of them has.

    `look` is the share of the budget that a first look has, where there is one: either of the two may have too little.
    """
    instead = "" if look is None else "pass another look, such as look=0.1, "
    for fault in faults_of(cells, n_samples, (further_noise(noise, cells) or noise).scale):
        remedy = f"{instead or 'scale the target, '}pass a larger epsilon, or ask for less"
        raise InvalidParameter("an evaluation from which figures follow", fault, remedy)


def faults_of(cells: Cells, n_samples: int, scale: float) -> Iterator[str]:
    """Yield why no figure could follow from counts in these cells: a claim's inequalities are about noise alone (N4).

    Examples
    --------
    >>> list(faults_of(Cells((0.5,), ("no", "yes")), 1000, 4.0)), list(faults_of(Cells((2.0,), (0, 1)), 1000, 4.0))
    ([], ['edges that no shares lie between'])
    """
    if n_samples > MOST_ROWS or not 0.0 < scale <= MOST_ROWS:
        yield "more rows, or more noise, than any table has"
    if max(len(cells.edges), len(cells.predictions)) >= MOST:
        yield f"more than {MOST} bins"
    if cells.true_shares and len(cells.labels) <= 2:
        yield "shares of the true class, without several classes"
    if len(cells.true_shares) >= MOST_SHARES:
        yield f"more than {MOST_SHARES} bins of the true class's share"
    if cells.labels:
        if not all(0.0 <= edge <= 1.0 for edge in (*cells.edges, *cells.true_shares)) or (
            len(cells.labels) == 2 and not cells.edges
        ):
            yield "edges that no shares lie between"
        return
    low, high = cells.range or (0.0, 0.0)
    if not (max(abs(low), abs(high)) <= LARGEST_NUMBER and low < high):
        yield f"no range of the target within {LARGEST_NUMBER:g}"
    elif not all(low < edge < high for edge in cells.predictions):
        yield "edges that no predictions lie between"
    elif not cells.edges or not all(abs(edge) < high - low for edge in cells.edges):
        yield "edges that no residuals lie between"
    elif cells.targets and (len(cells.targets) >= MOST_TARGETS or (cells.targets[0], cells.targets[-1]) != (low, high)):
        yield f"more than {MOST_TARGETS} cells of the target, or such as do not span its range"
