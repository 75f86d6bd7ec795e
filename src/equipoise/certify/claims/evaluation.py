"""How good a released model is, paid for once: noisy counts of rows in public cells; all figures follow from them (N4).

A cell is a group, a true class and an output of the model: its score's bin, with the predicted class before it where
there are several. Of a regression it is a bin of the prediction and one of the residual. Every row lies in one cell.
Rows may be counted once more, with noise of its own: of several classes by the share that their true class is given, of
a regression by their target.
"""

import math
from collections.abc import Iterator

from ...vocabulary.facts import Conditions, Label, Record
from ...vocabulary.records import Of
from .. import laws
from ..curves import Curve
from .base import Claim, Noise, holds
from .compositions import Composition, Disjoint, Sequence

# More cells than these nobody reads, and their noise drowns everything.
MOST_CELLS = 100_000


class Cells(Record):
    """The public cells: bins between `edges`, for each of `labels` (or bins of predictions), for each of `groups`.

    Examples
    --------
    >>> Cells((0.5,), labels=("no", "yes")).shape, Cells((0.5,), labels=(0, 1, 2), groups=("f", "m")).shape
    ((1, 2, 2), (2, 3, 6))
    """

    edges: tuple[float, ...]
    labels: tuple[Label, ...] = ()
    predictions: tuple[float, ...] = ()
    # The declared range of a regression's target.
    range: tuple[float, float] | None = None
    groups: tuple[Label, ...] = ()
    # The column whose levels the groups are.
    by: str = ""
    # The inner edges of bins of the share that the model gives the true class, if rows are counted by it as well.
    true_shares: tuple[float, ...] = ()
    # The knots of the splines by which coins deal a regression's target to cells, if rows are counted by it as well.
    targets: tuple[float, ...] = ()
    # The id of the evaluation from whose released counts the edges follow, where they do.
    bins_from: str | None = None

    @property
    def further(self) -> tuple[float, ...]:
        """What tells apart the cells in which rows are counted once more, which are one more than these."""
        return self.true_shares or self.targets

    @property
    def shape(self) -> tuple[int, int, int]:
        """Groups, classes or bins of predictions, and outputs."""
        classes, bins = len(self.labels), len(self.edges) + 1
        outputs = classes * bins if classes > 2 else bins
        return len(self.groups) or 1, classes or len(self.predictions) + 1, outputs

    def conditions(self) -> Conditions:
        """Yield that cells are told apart: a row that could lie in two of them might move four counts."""
        for edges in (self.edges, self.predictions, self.true_shares, self.targets):
            ascend = all(low < high for low, high in zip((-math.inf, *edges), (*edges, math.inf), strict=True))
            yield holds("edges of bins ascend", ascend)
        for names in (self.labels, self.groups):
            yield holds("classes and groups are named once", len({(type(name), name) for name in names}) == len(names))
        both = (self.labels and self.predictions) or (self.targets and (self.labels or self.true_shares))
        yield holds("there are classes, or bins of predictions", len(self.labels) != 1 and not both)


class Evaluation(Claim):
    """Counts of rows in public cells, each with noise of its own; `released` are they, group by group, class by class.

    Further ones, by the true class's share or the target, come after them and have the `further_noise`. `release` is
    the id of the release that is evaluated, and `model` the SHA-256 of its model.json.
    """

    kind = "evaluation"
    theorem = "N4"
    law = Of[str]("noise.law")
    draws = Of[str]("noise.law")
    scale = Of[float]("noise.scale")

    release: str
    model: str
    cells: Cells
    noise: Noise
    released: tuple[int, ...] | None = None
    further_noise: Noise | None = None

    @property
    def further(self) -> float:
        """How far a further count moves where another moves by 1, both in units of their noise."""
        return self.scale / self.further_noise.scale if self.further_noise else 0.0

    def curve(self) -> Curve:
        """Return the curve of noise on two counts that move by 1 each, and two further ones by `further` (N4).

        The L1 distance is ``2 (1 + further)``; the L2 distance is at most ``sqrt 2 (1 + further)``.
        """
        return laws.named(self.law).curve(math.sqrt(2) * (1 + self.further) * (1 + 1e-15), 2, self.scale)

    def conditions(self) -> Conditions:
        """Yield that every row has one cell, that all cells have noise, and that the noise is within the budget."""
        yield from self.cells.conditions()
        count = math.prod(self.cells.shape)
        yield holds(f"{self.noise.dimension} counts have noise, all of {count}", self.noise.dimension == count)
        more = self.further_noise or Noise(self.law, self.scale, 0)
        bins = len(self.cells.further) + 1 if self.cells.further else 0
        yield holds(f"{more.dimension} further counts have such noise, all of {bins}", more.dimension == bins)
        yield holds(f"there are at most {MOST_CELLS} cells", count + bins <= MOST_CELLS)
        yield holds("noise of one law, independent in every cell", {self.law, more.law} in ({"laplace"}, {"gaussian"}))
        yield holds("all counts were released, or none", self.released is None or len(self.released) == count + bins)
        yield from (self.noise.drawable(), more.drawable(), self.meets())


class Counted(Composition):
    """A composition one part of which plans counts, in cells whose edges may be others once the other was released.

    `released` is what was counted, once, with the noise that was planned.
    """

    planned = 0

    released: Claim | None = None

    def nodes(self) -> Iterator[Claim]:
        """Yield this claim, its parts' and the evaluation."""
        yield from Composition.nodes(self)
        yield from () if self.released is None else self.released.nodes()

    def conditions(self) -> Conditions:
        """Yield those of the parts together, and that the counts are those that were planned, with the same noise."""
        yield from super().conditions()
        both = [part for part in (self.of[self.planned], self.released) if isinstance(part, Evaluation)]
        noises = {(part.budget, part.n_samples, part.law, part.scale, part.further) for part in both}
        once = [part.released is not None for part in both] == [False, *(() if self.released is None else (True,))]
        yield holds("one other part, and rows counted once as planned", len(self.of) == 2 and len(noises) == 1 and once)
        yield from () if self.released is None else self.released.conditions()


class HeldOut(Counted, Disjoint):
    """Counts of rows that are held out by place, and a training on the other rows: parts in this order (N3, N4).

    The first part plans the counts, under no release's name, in cells whose edges may be others once there are weights.
    `released` is what was counted: of the release that the certificate names, and of the `model` whose SHA-256 is that
    of model.json without the certificate's digest, which covers this claim.
    """

    kind = "held-out"

    # Nothing was chosen: the training stands for the whole.
    trained = Composition.trained


class Looked(Counted, Sequence):
    """A first look at rows, and counts of the same rows in bins that follow from it: parts in this order (N3, N4).

    The second part plans the counts, in the cells that they would have without a look; `released` is what was counted.
    """

    kind = "looked"
    units = ("row",)
    planned = 1
