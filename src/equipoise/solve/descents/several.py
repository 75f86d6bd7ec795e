"""The loops of stochastic descent on the multinomial loss, compiled: a row has one prediction a class.

Weights are the free ones, a line for each of K - 1 orthonormal directions (`MultinomialArrays.free`), in one array: to
the noise, the ball and the average they are one vector. Numba's cache looks at this file alone; what stands elsewhere
is known by digests in the type of the loss (`compiled_loss`). docs/proofs/SGD-rounding.md prices them, part 7.
"""

import functools
import math
from typing import Any

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from equipoise.errors import InvalidParameter
from equipoise.kept_loops import compiled
from equipoise.solve.compiled_slope import CompiledSlope
from equipoise.solve.descents import kernels
from equipoise.solve.descents.compiling import inlined
from equipoise.solve.descents.gridded import add_noise
from equipoise.solve.descents.kernels import (
    SHARE,
    TILE,
    add_four_rows,
    add_row,
    end_of_step,
    fetch_ahead,
    four_products,
    into_ball,
    move,
    product,
    sparse_product,
    step_length,
)
from equipoise.solve.descents.layout import DenseRows, Schedule, Settings, SparseRows
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.losses.multinomial import Multinomial

Array = NDArray[np.float64]
Order = NDArray[np.int64]


@inlined
def slopes_of_classes(pulls: Array, place: int, target: float, chances: Array) -> float:
    """Put the slopes in the free predictions in place of these, in one column of `pulls`, and return their norm.

    The directions are Helmert's: the p-th, ``1 / sqrt(p (p + 1))`` for the classes before p, ``-p`` times that for p
    and 0 after it. So predictions are sums over later directions and slopes are sums over earlier classes. `chances`
    has room for one number a class.
    """
    later, highest = 0.0, -math.inf
    for number in range(len(pulls), -1, -1):
        own = pulls[number - 1, place] * (1.0 / math.sqrt(number * (number + 1.0))) if number > 0 else 0.0
        chances[number] = later - number * own
        highest = max(highest, chances[number])
        later += own
    total = 0.0
    for number in range(len(chances)):
        chances[number] = math.exp(chances[number] - highest)
        total += chances[number]
    earlier, squares = 0.0, 0.0
    for number in range(len(chances)):
        slope = chances[number] / total - (1.0 if number == target else 0.0)
        if number > 0:
            pull = (earlier - number * slope) / math.sqrt(number * (number + 1.0))
            pulls[number - 1, place] = pull
            squares += pull * pull
        earlier += slope
    return math.sqrt(squares)


@inlined
def weigh(pulls: Array, place: int, length: float, row_norm: float, limit: float, share: float) -> None:
    """Multiply a row's slopes by what it counts for, after its gradient was clipped at the limit."""
    if length * row_norm > limit:
        share *= limit / (length * row_norm)
    if share != 1.0:
        for output in range(len(pulls)):
            pulls[output, place] *= share


@inlined
def dense_gradient(
    rows: DenseRows, order: Order, start: int, stop: int, settings: Settings, weights: Array, out: Array
) -> None:
    """Put the sum of a batch's gradients into `out`, an output a line."""
    out[:] = 0.0
    pulls, chances = np.empty((len(weights), TILE)), np.empty(len(weights) + 1)
    shared = rows.facts.shape[1] > SHARE
    for first in range(start, stop, TILE):
        count = min(TILE, stop - first)
        # In fours, and of persons to the end, the last row in place of those that are missing: as in `batch_gradient`.
        fours = (count + 3) // 4 * 4 if shared else count // 4 * 4
        last = first + count - 1
        for place in range(first, first + count):
            fetch_ahead(rows, order, place)
        for place in range(0, fours, 4):
            begin = first + place
            four = (order[begin], order[min(begin + 1, last)], order[min(begin + 2, last)], order[min(begin + 3, last)])
            for output in range(len(weights)):
                four_products(rows.table, four, weights[output], pulls[output, place:])
        for place in range(fours, count):
            for output in range(len(weights)):
                pulls[output, place] = product(rows.table, order[first + place], weights[output])
        for place in range(count):
            row = order[first + place]
            factor = rows.facts[row, 0]
            for output in range(len(weights)):
                pulls[output, place] *= factor
                if settings.intercept > 0.0:
                    pulls[output, place] += settings.intercept * weights[output, -1]
            length = slopes_of_classes(pulls, place, rows.facts[row, 1], chances)
            row_norm = rows.facts[row, 2] if settings.clip < math.inf else 0.0
            weigh(pulls, place, length, row_norm, settings.clip, rows.facts[row, SHARE] if shared else 1.0)
            for output in range(len(weights)):
                if settings.intercept > 0.0:
                    out[output, -1] += settings.intercept * pulls[output, place]
                pulls[output, place] *= factor
        for place in range(0, count // 4 * 4, 4):
            four = (order[first + place], order[first + place + 1], order[first + place + 2], order[first + place + 3])
            for output in range(len(weights)):
                add_four_rows(out[output], pulls[output, place:], rows.table, four)
        for place in range(count // 4 * 4, count):
            for output in range(len(weights)):
                add_row(out[output], pulls[output, place], rows.table, order[first + place])


@inlined
def sparse_gradient(
    rows: SparseRows, order: Order, start: int, stop: int, settings: Settings, weights: Array, out: Array
) -> None:
    """Put the sum of a batch's gradients into `out`, an output a line; the constant is an entry of every row."""
    out[:] = 0.0
    pulls, chances = np.empty((len(weights), 1)), np.empty(len(weights) + 1)
    for row in order[start:stop]:
        for output in range(len(weights)):
            pulls[output, 0] = sparse_product(rows, row, weights[output])
        length = slopes_of_classes(pulls, 0, rows.targets[row], chances)
        weigh(pulls, 0, length, rows.norms[row], settings.clip, rows.shares[row] if len(rows.shares) > 0 else 1.0)
        for output in range(len(weights)):
            for entry in range(rows.starts[row], rows.starts[row + 1]):
                out[output, np.uint64(rows.places[entry])] += pulls[output, 0] * rows.entries[entry]


def gradient_of(rows: Any, order: Order, start: int, stop: int, settings: Settings, weights: Array, out: Array) -> None:
    """Put the sum of a batch's gradients into `out`, for dense or sparse rows: a compiled loop knows which."""
    raise NotImplementedError


@overload(gradient_of, jit_options={"error_model": "numpy", "forceinline": True})
def _gradient_of(rows: Any, order: Any, start: Any, stop: Any, settings: Any, weights: Any, out: Any) -> Any:
    gradient = dense_gradient if rows.instance_class is DenseRows else sparse_gradient

    def inlined_gradient(rows: Any, order: Any, start: Any, stop: Any, settings: Any, weights: Any, out: Any) -> Any:
        return gradient(rows, order, start, stop, settings, weights, out)

    return inlined_gradient


@compiled
def steps_of_classes(
    loss: CompiledSlope,
    rows: Any,
    schedule: Schedule,
    settings: Settings,
    done: int,
    weights: Array,
    total: Array,
) -> int:
    """Take the steps of a schedule, add weights to be averaged to `total`, return the number done, -1 if undecided.

    The number of classes is the loss's parameter. Every step touches every weight, of sparse rows too.
    """
    outputs, stop = int(settings.parameter) - 1, 0
    gradient = np.zeros(len(weights))
    lines, slopes = weights.reshape((outputs, -1)), gradient.reshape((outputs, -1))
    noisy = len(schedule.noise.wholes) > 0
    for here in range(len(schedule.ends) or -(-len(schedule.order) // settings.batch)):
        if done == settings.steps:
            break
        done += 1
        start, stop = stop, end_of_step(schedule, settings, here)
        if len(schedule.skips) == 0 or not schedule.skips[here]:
            length = step_length(settings, done)
            shrink = 1.0 - length * settings.ridge
            gradient_of(rows, schedule.order, start, stop, settings, lines, slopes)
            if not noisy:
                move(weights, shrink, length / settings.batch, gradient)
            elif add_noise(gradient, settings.batch, schedule.noise, here):
                move(weights, shrink, length, gradient)
            else:
                return -1
            into_ball(weights, settings)
        if done >= settings.averaged_from:
            move(total, 1.0, -1.0, weights)
    return done


# What the loops above compile in from other files.
BESIDE = (
    add_noise,
    add_four_rows,
    add_row,
    end_of_step,
    fetch_ahead,
    four_products,
    into_ball,
    kernels.square,
    move,
    product,
    sparse_product,
    step_length,
)


def compiled_loss(loss: Loss) -> CompiledSlope:
    """Return what the loops take as the loss, in whose type stand all functions that they take from other files.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> compiled_loss(losses.named("multinomial:3")) is compiled_loss(losses.named("multinomial:10"))
    True
    """
    if not isinstance(loss, Multinomial):
        remedy = "use the multinomial loss, or a solver that minimises"
        raise InvalidParameter("the multinomial loss, of those with several outputs", f"the loss {loss.name!r}", remedy)
    return _compiled_loss()


@functools.cache
def _compiled_loss() -> CompiledSlope:
    return CompiledSlope(slopes_of_classes, *BESIDE)
