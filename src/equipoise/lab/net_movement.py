"""How far one record moves the weights of a small net: measured, for methods of which no theorem speaks.

No bound is known for batch normalisation, dropout nets, swapout and Entropy-SGD (table I of docs/proofs/README.md), so
what is found here is a finding and certifies nothing. The nets are those of `equipoise.lab.small_net`.

The module is not called like the function `net_stability`, since ``equipoise.lab.net_stability`` cannot name both.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.errors import InvalidParameter
from equipoise.lab.estimate import Array, Estimate
from equipoise.lab.small_net import HIDDEN, NETS, Change, Net, Places, Table, forward, parts, trained
from equipoise.vocabulary.numbers import plain, require_count

METHODS = tuple(NETS)

# A net that starts with weights of about 1 learns nothing from larger entries, and its arithmetic would overflow.
LARGEST_ENTRY = 1e6


class Runs(NamedTuple):
    """What was found for each seed: the worst distance, the way from the start, and the training accuracy."""

    apart: Array
    travelled: Array
    accuracy: Array


def measured(net: Net, table: Table, change: Change, seeds: range, passes: int) -> Runs:
    """Train a net on a table and on its neighbours, for each seed."""
    start, ends = trained(net, table, change, seeds, passes)
    apart = np.linalg.norm(ends[:, 1:] - ends[:, :1], axis=2).max(axis=1)
    travelled = np.linalg.norm(ends[:, 0] - start, axis=1)
    return Runs(apart, travelled, np.array([_accuracy(net, weights, table) for weights in ends[:, 0]]))


def _accuracy(net: Net, weights: Array, table: Table) -> float:
    """Return the share of rows whose sign the net gives, its coins at their means, scaled over the whole table."""
    coins = np.array(net.coins)[:, None, None]
    margin = forward(net, parts(weights, table.rows.shape[1]), table.rows, coins).margin[:, 0]
    return float(np.mean(np.where(margin > 0, 1.0, -1.0) == table.signs))


def median(values: Array, confidence: float) -> Estimate:
    """Return the median of independent figures, between two of them that hold the true median with the confidence.

    The ``r``-th smallest and the ``r``-th largest of ``k`` figures miss the true median with probability at most
    ``2 P(B < r)``, ``B`` binomial of ``k`` and 1/2, whatever the law of the figures; ``r`` is the largest that the
    confidence allows.

    Examples
    --------
    >>> print(median(np.arange(1.0, 21.0), 0.95))
    10.5 [6, 15]
    """
    rank = _rank(len(values), confidence)
    ordered = np.sort(values)
    return Estimate(float(np.median(values)), float(ordered[rank - 1]), float(ordered[-rank]), confidence)


def _rank(count: int, confidence: float) -> int:
    """Return the rank of the interval's ends among so many figures, 0 if there are too few of them."""
    # Whole numbers: powers of 1/2 would vanish for many figures.
    allowed = Fraction(1 - confidence) * 2 ** (count - 1)
    below, rank = 1, 0
    while below <= allowed and 2 * (rank + 1) <= count:
        rank += 1
        below += math.comb(count, rank)
    return rank


@dataclass(frozen=True, slots=True)
class Movement:
    """How a net moves: medians over the seeds.

    Parameters
    ----------
    apart : Estimate
        The L2 distance between all weights of two runs on neighbouring tables, the worst of the replaced records.
    travelled : Estimate
        The L2 distance of the weights from their start, on the table itself: a net that learns slowly stays close.
    accuracy : Estimate
        The share of the training rows whose label the net gives.
    """

    apart: Estimate
    travelled: Estimate
    accuracy: Estimate


@dataclass(frozen=True, slots=True)
class NetStability:
    """How far one record moved a net, beside its plain form; measured on this table, with these hyperparameters.

    Parameters
    ----------
    method : str
        How the net was trained.
    net, plain : Movement
        Of the method, and of the same net by plain descent with its coins at their means, by the same seeds.
    ratio : Estimate
        The median over the seeds of the net's distance over the plain net's.
    rows, columns, hidden : int
        The table, and the units of each hidden layer.
    passes, seeds, replaced : int
        Passes over the table, seeds, and records replaced for each seed, one at a time.
    """

    mark: ClassVar[str] = "measured: on raw rows of public data, by the same coins on both tables; no bound"

    method: str
    net: Movement
    plain: Movement
    ratio: Estimate
    rows: int
    columns: int
    hidden: int
    passes: int
    seeds: int
    replaced: int

    @property
    def confidence(self) -> float:
        """The confidence of each interval by itself."""
        return self.net.apart.confidence

    def __str__(self) -> str:
        """Return both nets side by side, with the mark."""
        lines = [
            f"Net stability of {self.method} ({self.mark})",
            f"  {self.rows} rows, {self.columns} columns, {self.hidden} + {self.hidden} units, {self.passes} passes; "
            f"medians over {self.seeds} seeds, the worst of {self.replaced} replaced records,",
            f"  each interval with confidence {self.confidence:g} by itself",
            f"  {'':<20}{self.method:>26}{'its plain net':>26}",
        ]
        for name in ("apart", "travelled", "accuracy"):
            both = [str(getattr(movement, name)) for movement in (self.net, self.plain)]
            lines.append(f"  {name:<20}{both[0]:>26}{both[1]:>26}")
        return "\n".join([*lines, f"  {'apart, times plain':<20}{self.ratio!s:>26}"])


def net_stability(
    method: str,
    X: Any = None,  # noqa: N803 - the field's word for a table
    y: Any = None,
    *,
    seeds: int = 20,
    passes: int = 20,
    replaced: int = 8,
    confidence: float = 0.95,
    first_seed: int = 0,
) -> NetStability:
    """Measure how far apart the weights of a small net end when one record of a public table is replaced.

    For each seed a few records are drawn. Each in turn gets the opposite label, once with its own row and once with the
    row of the table that is furthest from it, so that the slopes of the last bias always differ. The net is trained on
    the table and on each neighbour by the same coins; the largest L2 distance between the weights counts. Seeds are
    independent and the table is fixed: intervals speak of other coins and other records of this table, not of other
    tables.

    A distance that was measured is no sensitivity: other records can move the net further, and nothing may be released
    by it. Use it on public data alone. How a net compares with its plain form depends on how long both are trained:
    ask for several `passes`. Rows are taken as they are: scale columns to about 1 first.

    Parameters
    ----------
    method : str
        "plain"; "batch-norm" (both layers normalised over the batch); "dropout-net" (units of both layers dropped);
        "swapout" (coins on the skip path and on the second layer); or "entropy-sgd".
    X, y : array and array, optional
        Public rows and labels of two kinds. Left out, a table is generated: 64 rows of 3 columns.
    seeds, passes, replaced : int
        Seeds, passes over the table, and records replaced for each seed.
    confidence : float
        Of each interval by itself.
    first_seed : int
        Seeds are counted from here.

    Examples
    --------
    >>> found = net_stability("batch-norm", seeds=6, passes=1)
    >>> found.ratio.low > 1, found.net.accuracy.value > 0.5
    (True, True)
    >>> net_stability("batch-norm", seeds=2)
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: at least 6 seeds for a confidence of 0.95; found: seeds=2; to do: pass \
seeds=20
    """
    if not isinstance(method, str) or method not in NETS:
        raise InvalidParameter(f"a method: one of {', '.join(NETS)}", repr(method), "pass method='plain'")
    table = generated() if X is None and y is None else _table(X, y)
    n_rows, n_columns = table.rows.shape
    level = _confident(plain(confidence))
    n_seeds = _enough(require_count("seeds", seeds, "pass seeds=20"), level)
    n_passes = require_count("passes", passes, "pass passes=20")
    n_replaced = require_count("replaced", replaced, "pass replaced=8")
    if n_replaced > n_rows:
        asked = f"at most {n_rows} replaced records, the rows of the table"
        raise InvalidParameter(asked, f"replaced={replaced}", f"pass replaced={min(8, n_rows)}")
    first = plain(first_seed)
    if isinstance(first, bool) or not isinstance(first, int) or first < 0:
        raise InvalidParameter("a first seed: a whole number from 0 up", repr(first_seed), "pass first_seed=0")
    used = range(first, first + n_seeds)
    # The records have a stream of their own, so that the coins of training do not depend on how many are drawn.
    draws = [np.random.default_rng((seed, 0)).choice(n_rows, n_replaced, replace=False) for seed in used]
    change = replacements(table, np.array(draws))
    net = NETS[method]
    own = measured(net, table, change, used, n_passes)
    other = own if net == net.plain() else measured(net.plain(), table, change, used, n_passes)
    movement, plain_movement = (Movement(*(median(figure, level) for figure in runs)) for runs in (own, other))
    ratio = Estimate.exact(1.0) if own is other else median(own.apart / other.apart, level)
    return NetStability(
        method, movement, plain_movement, ratio, n_rows, n_columns, HIDDEN, n_passes, n_seeds, n_replaced
    )


def generated() -> Table:
    """Return the table that is measured on by default: uniform rows and a curved boundary, which the net can learn.

    Examples
    --------
    >>> table = generated()
    >>> table.rows.shape, int((table.signs > 0).sum())
    ((64, 3), 32)
    """
    rows = np.random.default_rng(0).uniform(-1.0, 1.0, (64, 3))
    height = rows[:, 0] + rows[:, 1] ** 2
    return Table(rows, np.where(height > np.median(height), 1.0, -1.0))


def replacements(table: Table, places: Places) -> Change:
    """Return two replacements for each place, both with the opposite label: by its own row, by the furthest row.

    The slope of the last bias is below 0 for one label and above 0 for the other, whatever the row, so that no
    replacement leaves the net as it was.
    """
    furthest = [[np.argmax(np.square(table.rows - table.rows[place]).sum(1)) for place in seed] for seed in places]
    by = np.concatenate([places, np.array(furthest)], axis=1)
    twice = np.concatenate([places, places], axis=1)
    return Change(twice, table.rows[by], -table.signs[twice])


def _confident(confidence: object) -> float:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise InvalidParameter("a confidence above 0 and below 1", repr(confidence), "pass confidence=0.95")
    return float(confidence)


def _enough(seeds: int, confidence: float) -> int:
    # The smallest and the largest figure miss the median with probability 2^(1 - seeds).
    least = max(2, math.ceil(1 - math.log2(1 - confidence)))
    if seeds < least:
        asked = f"at least {least} seeds for a confidence of {confidence:.12g}"
        raise InvalidParameter(asked, f"seeds={seeds}", f"pass seeds={max(least, 20)}")
    return seeds


def _table(X: Any, y: Any) -> Table:  # noqa: N803
    remedy = "pass X of shape (n, columns) and y of shape (n,), or neither for a generated table"
    if X is None or y is None:
        raise InvalidParameter("rows and labels together", "one of X and y alone", remedy)
    asked = "a table of numbers with rows and columns, and a label for each row"
    try:
        rows, labels = np.asarray(X), np.asarray(y)
        kinds = np.unique(labels)
        # Text that looks like numbers and complex numbers would be converted in silence.
        rows = np.asarray(rows if rows.dtype.kind in "biufO" else None, np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter(asked, f"{type(X).__name__} and {type(y).__name__} of other things", remedy) from None
    if rows.ndim != 2 or not rows.size or labels.shape != rows.shape[:1]:
        raise InvalidParameter(asked, f"X of shape {rows.shape}, y of shape {labels.shape}", remedy)
    if not (np.abs(rows) <= LARGEST_ENTRY).all():
        asked = f"finite numbers of at most {LARGEST_ENTRY:g} in size"
        raise InvalidParameter(asked, "a table with others", "fill what is missing and scale columns to about 1")
    if len(kinds) != 2 or (kinds != kinds).any():
        found = f"{len(kinds)} kinds, a missing one counted"
        raise InvalidParameter("labels of two kinds, none missing", found, "keep the rows of two classes")
    return Table(rows, np.where(labels == kinds[1], 1.0, -1.0))
