"""Stochastic descent on rows: a run whose every number is public, and what is random given from outside.

The loops are compiled on first use and kept on disk (`kernels`). This module checks nothing about values: rows are
clipped already, and an order is the caller's to make.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from equipoise.solve.descents.layout import DenseRows, GriddedNoise, Persons, Schedule, Settings, SparseRows
from equipoise.solve.rows import DenseArrays, RowBlocks, SparseArrays
from equipoise.vocabulary.losses import Loss

if TYPE_CHECKING:
    from equipoise.solve.compiled_slope import CompiledSlope

Array = NDArray[np.float64]
Order = NDArray[np.int64]
Switches = NDArray[np.bool_]

# How many random numbers are drawn at a time: what fits into the second cache.
CHUNK = 2**16


@dataclass(frozen=True, slots=True)
class Run:
    """How a run goes, in public numbers that were fixed before a row was read.

    Parameters
    ----------
    batch : int
        Rows, or persons, a step; the sum of their gradients is divided by this number, in a short last batch too.
    steps : int
        How many steps are taken over all passes.
    step : float
        The length of a step, or its upper limit.
    decay : float
        0 for steps of one length; otherwise step t has length ``min(step, 1 / (decay t))`` (B4).
    average : {"last", "uniform", "suffix"}
        The weights to return: after the last step, the mean after every step, or the mean over the steps after the
        first ``ceil(steps / 2)``.
    radius : float
        The ball that the weights are projected to after every step.
    clip : float
        The largest norm of one row's gradient of the loss (B7).
    ridge, l1 : float
        The penalties' factors: the ridge is part of the gradient, the L1 norm is met by a soft threshold.
    short : float
        The norm that a row's kept columns are clipped to (B6).

    Examples
    --------
    >>> Run(batch=1, steps=100, step=0.1).average
    'last'
    """

    batch: int
    steps: int
    step: float
    decay: float = 0.0
    average: Literal["last", "uniform", "suffix"] = "last"
    radius: float = math.inf
    clip: float = math.inf
    ridge: float = 0.0
    l1: float = 0.0
    short: float = math.inf

    @property
    def averaged_from(self) -> int:
        """The first step whose weights are averaged, counted from 1; of one step the suffix is that step."""
        first = {"last": self.steps, "uniform": 1, "suffix": (self.steps + 1) // 2 + 1}[self.average]
        return min(first, self.steps)


class Hand(NamedTuple):
    """Rows that are at hand, their targets, the order in which steps take them or their persons, and whose they are.

    Rows that do not all count for 1 (N2) are persons with one row each.
    """

    arrays: DenseArrays | SparseArrays
    targets: Array
    order: Order
    persons: Persons | None = None


class StepNoise(Protocol):
    """Noise on a public grid of ``2^exponent``: ``wholes + parts`` steps of it, each part right to `margin`."""

    @property
    def exponent(self) -> int:
        """The grid's exponent."""

    @property
    def wholes(self) -> Array | NDArray[np.int64]:
        """The noise in steps, rounded down."""

    @property
    def parts(self) -> Array:
        """What that left out."""

    @property
    def margin(self) -> float:
        """What `parts` may be wrong by."""

    def settled(self, place: int, value: float) -> float:
        """Return a value plus one of these, rounded to the grid, whatever it takes."""


def ready_for(loss: Loss) -> None:
    """Load the compiled loops, and refuse a loss that they do not take, while nothing is at stake."""
    from equipoise.solve.descents import kernels as _kernels  # noqa: F401 - loaded, not used
    from equipoise.solve.descents import orders as _orders  # noqa: F401 - loaded, not used

    _compiled(loss)


def _compiled(loss: Loss) -> "CompiledSlope":
    """Return what the loops take as the loss."""
    if loss.outputs > 1:
        from equipoise.solve.descents.several import compiled_loss

        return compiled_loss(loss)
    from equipoise.solve.compiled_slope import compiled_slope
    from equipoise.solve.descents.gridded import add_noise

    return compiled_slope(loss, add_noise)


def run_passes(
    rows: RowBlocks,
    targets: Array,
    loss: Loss,
    run: Run,
    orders: Iterable[Order],
    masks: Iterable[Switches] | None = None,
    skips: Iterable[Switches] | None = None,
    start: Array | None = None,
    dealt: Order | None = None,
    persons: Persons | None = None,
) -> Array:
    """Return the weights of a run over rows, or over persons with all of their rows, in a given order.

    A loss of several outputs has its free weights one after the other, an output's together.

    Parameters
    ----------
    orders : iterable of integer arrays
        The rows to take, one array a pass, or a pass in several arrays of whole batches. The last batch of an array may
        be short. Arrays are taken until `run.steps` steps are done.
    masks : iterable of boolean arrays, optional
        For each array of orders, one line a step: which columns the step sees (B6).
    skips : iterable of boolean arrays, optional
        For each array of orders, one entry a step: whether it is skipped. A skipped step leaves the weights alone and
        counts (B6).
    start : array, optional
        The weights to start from, 0 otherwise.
    dealt : integer array, optional
        The rows are first copied in this order, and `orders` speak of places in the copy: passes over memory as it lies
        are twice as fast as passes that jump about, and a few of them pay for the copy.
    persons : Persons, optional
        Whose rows they are: `orders` then speak of persons, and a person's gradient is the mean of their rows' (N1).

    Examples
    --------
    >>> from equipoise.data.rows import row_source
    >>> from equipoise.vocabulary import losses
    >>> from equipoise.vocabulary.facts import Domain
    >>> rows = row_source(np.eye(2), Domain(1.0, labels=(-1.0, 1.0)), intercept=0.0)
    >>> run = Run(batch=1, steps=4, step=0.25)
    >>> run_passes(rows, np.array([1.0, -1.0]), losses.named("squared"), run, [np.arange(2)] * 2).tolist()
    [0.75, -0.75]
    """
    steps, arrays = _Steps(rows.dimension, loss, run, start=start), rows.arrays()
    if dealt is not None:
        arrays, targets = arrays.dealt(dealt), targets[dealt]
        if persons is not None:
            persons = Persons(np.argsort(dealt)[persons.rows], persons.starts, persons.shares[dealt])
    steps.meet(arrays, targets, persons)
    return _passed(steps, orders, masks, skips)


def run_hands(
    hands: Iterable[Hand],
    dimension: int,
    loss: Loss,
    run: Run,
    masks: Iterable[Switches] | None = None,
    skips: Iterable[Switches] | None = None,
    start: Array | None = None,
    steps_at_once: int | None = None,
) -> Array:
    """Return the weights of a run over rows that are at hand a few at a time: the same steps, from other memory.

    Parameters
    ----------
    hands : iterable of Hand
        The rows to take, in whole batches; only the last hand of a pass may end with a short one. The arrays of a hand
        are no longer used when the next is asked for.
    masks, skips, start
        As in `run_passes`: one array for so many steps at once, or for each hand.
    steps_at_once : int, optional
        A hand's order is cut into orders of this many steps.

    Examples
    --------
    >>> from equipoise.data.rows import DenseArrays
    >>> from equipoise.vocabulary import losses
    >>> hands = [Hand(DenseArrays(np.eye(2)[[k]], np.ones(1), 0.0), np.ones(1), np.zeros(1, int)) for k in (0, 1)]
    >>> run_hands(hands, 2, losses.named("squared"), Run(batch=1, steps=2, step=0.25)).tolist()
    [0.5, 0.5]
    """
    steps = _Steps(dimension, loss, run, start=start)

    def orders() -> Iterator[Order]:
        for hand in hands:
            steps.meet(hand.arrays, hand.targets, hand.persons)
            length = len(hand.order) if steps_at_once is None else steps_at_once * run.batch
            for first in range(0, len(hand.order), length):
                yield hand.order[first : first + length]

    return _passed(steps, orders(), masks, skips)


def _passed(
    steps: "_Steps", orders: Iterable[Order], masks: Iterable[Switches] | None, skips: Iterable[Switches] | None
) -> Array:
    masked = repeat(np.empty((0, 0), dtype=np.bool_)) if masks is None else masks
    skipped = repeat(np.empty(0, dtype=np.bool_)) if skips is None else skips
    for order, mask, skip in zip(orders, masked, skipped, strict=False):
        if steps.take(order, mask, skip) == steps.run.steps:
            break
    return steps.result()


def run_noisy(
    rows: RowBlocks,
    targets: Array,
    loss: Loss,
    run: Run,
    draw_rows: Callable[[Order], None],
    draw_noise: Callable[[int], StepNoise],
    start: Array | None = None,
    persons: Persons | None = None,
) -> Array:
    """Return the weights of a run with noise in every step, each on a fresh random subset of rows or persons (C3).

    `draw_rows` fills an array with independent numbers of rows, or of persons, every one equally likely, and
    `draw_noise` returns so many independent numbers; they are added to the mean of the batch's gradients, and the sums
    are rounded to the noise's grid (D7). Subsets come of rejecting what the batch has: about b draws for a batch much
    smaller than the table, n ln n for the whole of it. On sparse rows a step takes time for every weight, because noise
    does.

    Examples
    --------
    >>> from equipoise.data.rows import row_source
    >>> from equipoise.vocabulary import losses
    >>> from equipoise.vocabulary.facts import Domain
    >>> rows = row_source(np.eye(2), Domain(1.0, labels=(-1.0, 1.0)), intercept=0.0)
    >>> coins = np.random.default_rng(0)
    >>> def draw_rows(out): out[:] = coins.integers(2, size=len(out))
    >>> from equipoise.noise import SeededSource
    >>> def draw_noise(count): return SeededSource(count).noise("gaussian", count, 0.1)
    >>> run = Run(batch=1, steps=2000, step=0.1, average="suffix")
    >>> run_noisy(rows, np.array([1.0, -1.0]), losses.named("squared"), run, draw_rows, draw_noise).round(1)
    array([ 1., -1.])
    """
    steps = _Steps(rows.dimension, loss, run, start)
    steps.meet(rows.arrays(), targets, persons)
    at_once = max(1, CHUNK // max(steps.dimension, run.batch))
    return _noisy(steps, draw_rows, draw_noise, at_once, lambda order: order)


def run_noisy_hands(
    gather: Callable[[Order], Hand],
    dimension: int,
    loss: Loss,
    run: Run,
    draw_rows: Callable[[Order], None],
    draw_noise: Callable[[int], StepNoise],
    steps_at_once: int,
) -> Array:
    """Return the weights of a run with noise in every step, on rows that are fetched once they are drawn.

    As `run_noisy`; `gather` returns the rows that so many steps at once have drawn, in the order of the draws.
    """
    steps = _Steps(dimension, loss, run, None)

    def at_hand(drawn: Order) -> Order:
        hand = gather(drawn)
        steps.meet(hand.arrays, hand.targets, hand.persons)
        return hand.order

    return _noisy(steps, draw_rows, draw_noise, steps_at_once, at_hand)


def _noisy(
    steps: "_Steps",
    draw_rows: Callable[[Order], None],
    draw_noise: Callable[[int], StepNoise],
    at_once: int,
    at_hand: Callable[[Order], Order],
) -> Array:
    from equipoise.solve.descents.orders import distinct_rows

    run = steps.run
    no_masks, no_skips = np.empty((0, 0), dtype=np.bool_), np.empty(0, dtype=np.bool_)
    draws = np.empty(CHUNK, dtype=np.int64)
    # Twice as many spots as a batch has rows, or more.
    seen = np.zeros((1 << (2 * run.batch - 1).bit_length(), 2), dtype=np.int64)
    done = 0
    while done < run.steps:
        count = min(at_once, run.steps - done)
        order = np.empty(count * run.batch, dtype=np.int64)
        if run.batch == 1:
            draw_rows(order)
        else:
            filled = 0
            while filled < len(order):
                # Draws that are left over are thrown away: the others do not depend on them.
                some = draws[: len(order) - filled]
                draw_rows(some)
                filled = distinct_rows(some, run.batch, done, filled, seen, order)
        noise = draw_noise(count * steps.dimension)
        done = steps.take(at_hand(order), no_masks, no_skips, noise)
    return steps.result()


class _Steps:
    """The state of a run: weights, the sum of those to be averaged, and how many steps are done."""

    def __init__(self, dimension: int, loss: Loss, run: Run, start: Array | None) -> None:
        self.run = run
        # All free weights, of every output.
        self.dimension = dimension * loss.free_outputs
        self._columns = dimension
        self._loss = loss
        self._slope = _compiled(loss)
        self._weights = np.zeros(self.dimension) if start is None else np.array(start, dtype=np.float64)
        self._total = np.zeros(self.dimension)
        self._done = 0
        self._settings: Settings
        self._persons: Persons | None = None
        self._advance: Callable[..., int]
        self._rows: Any

    def meet(self, arrays: DenseArrays | SparseArrays, targets: Array, persons: Persons | None = None) -> None:
        """Take the next steps on these rows, which are those of persons if these are given."""
        from equipoise.solve.descents import kernels

        self._persons, shares = persons, np.empty(0) if persons is None else persons.shares
        self._settings = _settings(self._loss, self.run, arrays.intercept)
        if isinstance(arrays, DenseArrays):
            self._advance = kernels.dense_steps
            self._rows = DenseRows(arrays.matrix, _facts(arrays, targets, self.run.clip, shares))
        else:
            self._advance = kernels.sparse_steps
            squares = np.add.reduceat(np.append(np.square(arrays.data), 0.0), arrays.indptr[:-1])
            norms = np.sqrt(np.where(np.diff(arrays.indptr) > 0, squares, 0.0))
            columns = self._columns - (arrays.intercept > 0)
            self._rows = SparseRows(arrays.data, arrays.indices, arrays.indptr, targets, norms, shares, columns)
        if self._loss.outputs > 1:
            from equipoise.solve.descents.several import steps_of_classes

            self._advance = steps_of_classes

    def take(self, order: Order, masks: Switches, skips: Switches, noise: StepNoise | None = None) -> int:
        """Take the steps of an order and return how many are done in all.

        Where noise needs more digits than it came with, these are drawn, and the same steps are taken once more.
        """
        from equipoise.solve.descents.orders import rows_of

        order, ends = np.ascontiguousarray(order, dtype=np.int64), np.empty(0, dtype=np.int64)
        if self._persons is not None:
            order, ends = rows_of(self._persons, order, self.run.batch)
        settled: dict[int, float] = {}
        while True:
            gridded = _gridded(noise, self.dimension, settled)
            schedule = Schedule(order, ends, np.ascontiguousarray(masks), np.ascontiguousarray(skips), gridded)
            # A sum of its own for each order: a million small additions to one large sum would lose more.
            weights, total = self._weights.copy(), np.zeros_like(self._total)
            done = self._advance(self._slope, self._rows, schedule, self._settings, self._done, weights, total)
            if noise is None or done >= 0:
                break
            place, mean = int(gridded.asked[0]), float(gridded.asked[1])
            settled[place] = math.ldexp(noise.settled(place, mean), -noise.exponent)
        self._done, self._weights = done, weights
        self._total += total
        return self._done

    def result(self) -> Array:
        """Return the average."""
        result: Array = self._total / (self.run.steps - self.run.averaged_from + 1)
        return result


def _gridded(noise: StepNoise | None, dimension: int, settled: dict[int, float]) -> GriddedNoise:
    """Return noise as the loops want it, with what was settled by itself."""
    places, sums = np.array(list(settled), dtype=np.int64), np.array(list(settled.values()), dtype=np.float64)
    if noise is None:
        nothing = np.empty((0, 0))
        return GriddedNoise(nothing, nothing, 0.0, 1.0, places, sums, np.empty(2))
    # The noise of a step is as wide as its scale, whatever the number of weights: doubles hold its whole parts (D7).
    wholes, parts = (cast("Array", numbers).reshape(-1, dimension) for numbers in (noise.wholes, noise.parts))
    return GriddedNoise(wholes, parts, noise.margin, math.ldexp(1.0, noise.exponent), places, sums, np.empty(2))


def _settings(loss: Loss, run: Run, intercept: float) -> Settings:
    return Settings(
        parameter=loss.parameter,
        intercept=float(intercept),
        batch=int(run.batch),
        steps=int(run.steps),
        averaged_from=int(run.averaged_from),
        step=float(run.step),
        decay=float(run.decay),
        ridge=float(run.ridge),
        l1=float(run.l1),
        radius=float(run.radius),
        clip=float(run.clip),
        short=float(run.short),
    )


def _facts(arrays: DenseArrays, targets: Array, clip: float, shares: Array) -> Array:
    """Return each row's factor and target side by side, its norm where gradients are clipped, its share of a person."""
    columns = [arrays.factors, targets]
    if clip < math.inf:
        squares = np.empty(len(targets))
        for first in range(0, len(targets), CHUNK):
            block = arrays.matrix[first : first + CHUNK].astype(np.float64, copy=False)
            squares[first : first + CHUNK] = np.einsum("ij,ij->i", block, block)
        columns.append(np.hypot(arrays.factors * np.sqrt(squares), arrays.intercept))
    elif len(shares):
        columns.append(np.zeros(len(targets)))
    if len(shares):
        columns.append(shares)
    return np.column_stack(columns)
