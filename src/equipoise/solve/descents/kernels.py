"""The loops of stochastic descent, compiled: one step a turn, dense or sparse rows, any loss of one output.

All of them stand in this file because Numba's cache looks at no other file; the slope comes with the loss, and the
cache knows it and `add_noise` by a digest (`equipoise.solve.compiled_slope`). docs/proofs/SGD-rounding.md prices them:
sums may be taken in any order, so products of vectors may be reassociated and fused, and nothing else may. Division by
zero gives infinity, as in NumPy; no value of a row raises or is reported. What is random comes in arrays.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.kept_loops import compiled
from equipoise.solve.compiled_slope import CompiledSlope as Slope
from equipoise.solve.compiled_slope import slope
from equipoise.solve.descents.compiling import inlined, vectorised
from equipoise.solve.descents.gridded import add_noise
from equipoise.solve.descents.layout import DenseRows, Schedule, Settings, SparseRows
from equipoise.solve.descents.prefetch import fetch

Array = NDArray[np.float64]
Order = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Rows of a batch are taken in tiles that stay in the first cache for their second use. A row's page is looked up FAR
# rows ahead, and its lines are fetched AHEAD rows ahead.
TILE = 32
FAR = 64
AHEAD = 32
LINE = 64

# Where a row's share of its person stands among the facts of dense rows, if rows are those of persons.
SHARE = 3

# How many steps the sum of sparse weights may be deferred for (docs/proofs/SGD-rounding.md, part 5).
STRETCH = 256


@inlined
def clipped(pull: float, norm: float, limit: float) -> float:
    """Return the slope of a row of this norm whose gradient is no longer than the limit (B7)."""
    return pull if abs(pull) * norm <= limit else math.copysign(limit / norm, pull)


@inlined
def step_length(settings: Settings, number: int) -> float:
    """Return the length of a step, counted from 1 over all passes (B4)."""
    if settings.decay == 0.0:
        return settings.step
    return min(settings.step, 1.0 / (settings.decay * number))


@vectorised
def product(table: NDArray[Any], row: int, weights: Array) -> float:
    """Return a row of the table times the weights of its columns."""
    total = 0.0
    for column in range(table.shape[1]):
        total += table[row, column] * weights[column]
    return total


@vectorised
def four_products(table: NDArray[Any], rows: Any, weights: Array, out: Array) -> None:
    """Put the products of four rows with the weights into `out`; each weight is loaded once for all of them."""
    one, two, three, four = rows
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    for column in range(table.shape[1]):
        first += table[one, column] * weights[column]
        second += table[two, column] * weights[column]
        third += table[three, column] * weights[column]
        fourth += table[four, column] * weights[column]
    out[0], out[1], out[2], out[3] = first, second, third, fourth


@vectorised
def mask_row(table: NDArray[Any], row: int, mask: Mask, kept: Array) -> float:
    """Copy the kept part of a row, and return its squared norm."""
    total = 0.0
    for column in range(table.shape[1]):
        entry = np.float64(table[row, column]) if mask[column] else 0.0
        kept[0, column] = entry
        total += entry * entry
    return total


@vectorised
def add_row(total: Array, pull: float, table: NDArray[Any], row: int) -> None:
    """Add a multiple of a row of the table."""
    for column in range(table.shape[1]):
        total[column] += pull * table[row, column]


@vectorised
def add_four_rows(total: Array, pulls: Array, table: NDArray[Any], rows: Any) -> None:
    """Add multiples of four rows of the table; the sum is loaded once for all of them."""
    one, two, three, four = rows
    first, second, third, fourth = pulls[0], pulls[1], pulls[2], pulls[3]
    for column in range(table.shape[1]):
        lower = first * table[one, column] + second * table[two, column]
        total[column] += lower + (third * table[three, column] + fourth * table[four, column])


@vectorised
def move_along_row(weights: Array, shrink: float, length: float, table: NDArray[Any], row: int) -> None:
    """Shrink the columns' weights and take a multiple of a row from them."""
    for column in range(table.shape[1]):
        weights[column] = shrink * weights[column] - length * table[row, column]


@vectorised
def move(weights: Array, shrink: float, length: float, direction: Array) -> None:
    """Shrink the weights and take a multiple of a vector from them."""
    for column in range(len(weights)):
        weights[column] = shrink * weights[column] - length * direction[column]


@vectorised
def square(weights: Array) -> float:
    """Return the squared norm of the weights."""
    total = 0.0
    for column in range(len(weights)):
        total += weights[column] * weights[column]
    return total


@inlined
def into_ball(weights: Array, settings: Settings) -> None:
    """Project the weights to the ball, where there is one."""
    if settings.radius < math.inf:
        norm = math.sqrt(square(weights))
        if norm > settings.radius:
            move(weights, settings.radius / norm, 0.0, weights)


@inlined
def settle(weights: Array, length: float, settings: Settings) -> None:
    """Finish a step: the L1 norm's soft threshold, and the ball."""
    if settings.l1 > 0.0:
        threshold = length * settings.l1
        for column in range(len(weights)):
            # Adding 0 turns -0 into 0.
            weights[column] = math.copysign(max(abs(weights[column]) - threshold, 0.0), weights[column]) + 0.0
    into_ball(weights, settings)


@inlined
def fetch_ahead(rows: DenseRows, order: Order, place: int) -> None:
    """Ask for rows and facts that the order comes to later: the page of one, all lines of another."""
    if place + FAR < len(order):
        row = order[place + FAR]
        fetch(rows.facts, row * rows.facts.shape[1])
        fetch(rows.table, row * rows.table.shape[1])
    if place + AHEAD < len(order):
        first = order[place + AHEAD] * rows.table.shape[1]
        for entry in range(first, first + rows.table.shape[1], LINE // rows.table.itemsize):
            fetch(rows.table, entry)


@inlined
def batch_gradient(
    loss: Slope, rows: DenseRows, order: Order, start: int, stop: int, settings: Settings, weights: Array, out: Array
) -> None:
    """Put the sum of a batch's gradients into `out`."""
    out[:] = 0.0
    pulls = np.empty(TILE)
    shared = rows.facts.shape[1] > SHARE
    constant = settings.intercept * weights[-1] if settings.intercept > 0.0 else 0.0
    constants = 0.0
    for first in range(start, stop, TILE):
        count = min(TILE, stop - first)
        fours = count // 4 * 4
        # All at once: between products it holds them up.
        for place in range(first, first + count):
            fetch_ahead(rows, order, place)
        for place in range(0, fours, 4):
            four = (order[first + place], order[first + place + 1], order[first + place + 2], order[first + place + 3])
            four_products(rows.table, four, weights, pulls[place:])
        if shared and fours < count:
            # In fours to the end, the last row in place of those that are missing: a row of a person is rounded in
            # one way at every place, since persons before it may have any number of rows (SGD-rounding, part 6).
            last, begin = first + count - 1, first + fours
            four = (order[begin], order[min(begin + 1, last)], order[min(begin + 2, last)], order[last])
            four_products(rows.table, four, weights, pulls[fours:])
        else:
            for place in range(fours, count):
                pulls[place] = product(rows.table, order[first + place], weights)
        for place in range(count):
            row = order[first + place]
            factor = rows.facts[row, 0]
            pull = slope(loss, factor * pulls[place] + constant, rows.facts[row, 1], settings.parameter)
            if settings.clip < math.inf:
                pull = clipped(pull, rows.facts[row, 2], settings.clip)
            if shared:
                pull *= rows.facts[row, SHARE]
            constants += pull
            pulls[place] = factor * pull
        for place in range(0, fours, 4):
            four = (order[first + place], order[first + place + 1], order[first + place + 2], order[first + place + 3])
            add_four_rows(out, pulls[place:], rows.table, four)
        for place in range(fours, count):
            add_row(out, pulls[place], rows.table, order[first + place])
    if settings.intercept > 0.0:
        out[-1] = settings.intercept * constants


@inlined
def masked_gradient(
    loss: Slope, rows: DenseRows, batch: Order, mask: Mask, settings: Settings, weights: Array, out: Array
) -> None:
    """Put the sum of a batch's gradients into `out`, columns dropped and the rest clipped anew (B6)."""
    out[:] = 0.0
    kept = np.empty((1, rows.table.shape[1]))
    constant = settings.intercept * weights[-1] if settings.intercept > 0.0 else 0.0
    constants = 0.0
    for row in batch:
        factor, target = rows.facts[row, 0], rows.facts[row, 1]
        norm = factor * math.sqrt(mask_row(rows.table, row, mask, kept))
        if norm > settings.short:
            factor *= settings.short / norm
            norm = settings.short
        pull = slope(loss, factor * product(kept, 0, weights) + constant, target, settings.parameter)
        pull = clipped(pull, math.hypot(norm, settings.intercept), settings.clip)
        if rows.facts.shape[1] > SHARE:
            pull *= rows.facts[row, SHARE]
        constants += pull
        add_row(out, factor * pull, kept, 0)
    if settings.intercept > 0.0:
        out[-1] = settings.intercept * constants


@inlined
def single_step(
    loss: Slope, rows: DenseRows, row: int, shrink: float, length: float, settings: Settings, weights: Array
) -> None:
    """Take the step of one row, without a detour over its gradient."""
    factor = rows.facts[row, 0]
    prediction = factor * product(rows.table, row, weights)
    if settings.intercept > 0.0:
        prediction += settings.intercept * weights[-1]
    pull = slope(loss, prediction, rows.facts[row, 1], settings.parameter)
    if settings.clip < math.inf:
        pull = clipped(pull, rows.facts[row, 2], settings.clip)
    if rows.facts.shape[1] > SHARE:
        # 1 for the only row of a person; less where classes have weights (N2).
        pull *= rows.facts[row, SHARE]
    if settings.intercept > 0.0:
        weights[-1] = shrink * weights[-1] - length * pull * settings.intercept
    move_along_row(weights, shrink, length * pull * factor, rows.table, row)


@inlined
def end_of_step(schedule: Schedule, settings: Settings, here: int) -> int:
    """Return where the rows of a step end in the order."""
    return schedule.ends[here] if len(schedule.ends) > 0 else min((here + 1) * settings.batch, len(schedule.order))


@compiled
def dense_steps(
    loss: Slope, rows: DenseRows, schedule: Schedule, settings: Settings, done: int, weights: Array, total: Array
) -> int:
    """Take the steps of a schedule, add weights to be averaged to `total`, return the number done, -1 if undecided."""
    order, masked, stop = schedule.order, len(schedule.masks) > 0, 0
    gradient = np.zeros(len(weights))
    noisy = len(schedule.noise.wholes) > 0
    # `settle` counts references to its arrays, for as long as a short step takes: it is left out where it can be.
    unsettled = settings.l1 > 0.0
    for here in range(len(schedule.ends) or -(-len(order) // settings.batch)):
        if done == settings.steps:
            break
        done += 1
        start, stop = stop, end_of_step(schedule, settings, here)
        if len(schedule.skips) == 0 or not schedule.skips[here]:
            length = step_length(settings, done)
            shrink = 1.0 - length * settings.ridge
            # A person of one row is that row.
            if settings.batch == 1 and stop - start == 1 and not masked and not noisy:
                fetch_ahead(rows, order, start)
                single_step(loss, rows, order[start], shrink, length, settings, weights)
            else:
                if masked:
                    masked_gradient(loss, rows, order[start:stop], schedule.masks[here], settings, weights, gradient)
                else:
                    batch_gradient(loss, rows, order, start, stop, settings, weights, gradient)
                if not noisy:
                    move(weights, shrink, length / settings.batch, gradient)
                elif add_noise(gradient, settings.batch, schedule.noise, here):
                    move(weights, shrink, length, gradient)
                else:
                    return -1
            if unsettled:
                settle(weights, length, settings)
            else:
                into_ball(weights, settings)
        if done >= settings.averaged_from:
            move(total, 1.0, -1.0, weights)
    return done


@compiled
def masked_rows(rows: SparseRows, batch: Order, mask: Mask, short: float) -> SparseRows:
    """Return a copy of a batch's rows, columns dropped and the rest clipped anew (B6)."""
    stored = 0
    for row in batch:
        stored += rows.starts[row + 1] - rows.starts[row]
    entries, places = np.empty(stored), np.empty(stored, dtype=rows.places.dtype)
    starts, norms, end = np.zeros(len(batch) + 1, dtype=np.int64), np.empty(len(batch)), 0
    for place, row in enumerate(batch):
        squares, constant = 0.0, 0.0
        for entry in range(rows.starts[row], rows.starts[row + 1]):
            column, value = rows.places[entry], rows.entries[entry]
            if column >= rows.columns:
                constant += value * value
            elif mask[column]:
                squares += value * value
            else:
                continue
            entries[end], places[end], end = value, column, end + 1
        norm = math.sqrt(squares)
        if norm > short:
            for entry in range(starts[place], end):
                entries[entry] *= short / norm if places[entry] < rows.columns else 1.0
        starts[place + 1], norms[place] = end, math.hypot(min(norm, short), math.sqrt(constant))
    shares = rows.shares[batch] if len(rows.shares) > 0 else rows.shares
    return SparseRows(entries, places, starts, rows.targets[batch], norms, shares, rows.columns)


@inlined
def sparse_product(rows: SparseRows, row: int, weights: Array) -> float:
    """Return a row times the weights: two sums that need not wait for each other; wider gathers are slower."""
    first, last = rows.starts[row], rows.starts[row + 1]
    even, odd = 0.0, 0.0
    for entry in range(first, last - 1, 2):
        # An index without a sign cannot count from the end.
        even += rows.entries[entry] * weights[np.uint64(rows.places[entry])]
        odd += rows.entries[entry + 1] * weights[np.uint64(rows.places[entry + 1])]
    if (last - first) % 2 == 1:
        even += rows.entries[last - 1] * weights[np.uint64(rows.places[last - 1])]
    return even + odd


@inlined
def sparse_pulls(
    loss: Slope, rows: SparseRows, batch: Order, settings: Settings, weights: Array, scale: float, pulls: Array
) -> float:
    """Put each row's slope into `pulls`, and return the sum of the norms of the gradients."""
    norms = 0.0
    for place, row in enumerate(batch):
        prediction = scale * sparse_product(rows, row, weights)
        pull = slope(loss, prediction, rows.targets[row], settings.parameter)
        pulls[place] = clipped(pull, rows.norms[row], settings.clip)
        if len(rows.shares) > 0:
            pulls[place] *= rows.shares[row]
        norms += abs(pulls[place]) * rows.norms[row]
    return norms


@inlined
def sparse_move(
    rows: SparseRows, batch: Order, length: float, pulls: Array, counted: float, weights: Array, owed: Array
) -> None:
    """Take multiples of rows from the stored weights; what sums of earlier weights must not see goes to `owed`."""
    for place, row in enumerate(batch):
        pull = length * pulls[place]
        for entry in range(rows.starts[row], rows.starts[row + 1]):
            weights[np.uint64(rows.places[entry])] -= pull * rows.entries[entry]
        if counted != 0.0:
            for entry in range(rows.starts[row], rows.starts[row + 1]):
                owed[np.uint64(rows.places[entry])] += counted * pull * rows.entries[entry]


@compiled
def write_back(scale: float, counted: float, weights: Array, owed: Array, total: Array) -> None:
    """Multiply the scale into the stored weights and bring the deferred sum up to date."""
    for column in range(len(weights)):
        total[column] += counted * weights[column] + owed[column]
        owed[column] = 0.0
        weights[column] *= scale


@compiled
def sparse_steps(
    loss: Slope, rows: SparseRows, schedule: Schedule, settings: Settings, done: int, weights: Array, total: Array
) -> int:
    """Do what `dense_steps` does, in time proportional to the entries stored; noise and L1 touch every weight.

    The weights are ``scale v``, so that a ridge costs one product a step. Their sum is ``counted v + owed``. The scale
    is kept above 1/2 and the sum is deferred for `STRETCH` steps at most. `bound` is never below the norm, so that the
    norm itself is computed only where the ball may have been left.
    """
    order, masked, stop = schedule.order, len(schedule.masks) > 0, 0
    # One person may have all rows of an order.
    owed, pulls = np.zeros(len(weights)), np.empty(len(order) if len(schedule.ends) > 0 else settings.batch)
    noisy, gradient = len(schedule.noise.wholes) > 0, np.zeros(len(weights))
    dense = noisy or settings.l1 > 0.0
    scale, counted, deferred = 1.0, 0.0, 0
    bound = math.sqrt(square(weights))
    for here in range(len(schedule.ends) or -(-len(order) // settings.batch)):
        if done == settings.steps:
            break
        done += 1
        start, stop = stop, end_of_step(schedule, settings, here)
        if len(schedule.skips) == 0 or not schedule.skips[here]:
            if stop < len(order):
                following = order[stop]
                for entry in range(rows.starts[following], rows.starts[following + 1], 8):
                    fetch(rows.entries, entry)
                    fetch(rows.places, entry)
            batch = order[start:stop]
            length = step_length(settings, done)
            shrink = 1.0 - length * settings.ridge
            if masked:
                kept, few = masked_rows(rows, batch, schedule.masks[here], settings.short), np.arange(len(batch))
                norms = sparse_pulls(loss, kept, few, settings, weights, scale, pulls)
            else:
                norms = sparse_pulls(loss, rows, batch, settings, weights, scale, pulls)
            if dense or abs(scale * shrink) < 0.5:
                write_back(scale, counted, weights, owed, total)
                move(weights, shrink, 0.0, weights)
                scale, counted, deferred = 1.0, 0.0, 0
            else:
                scale *= shrink
            stored = length / (settings.batch * scale)
            if noisy:
                gradient[:] = 0.0
                sparse_move(rows, batch, -1.0, pulls, 0.0, gradient, owed)
                if not add_noise(gradient, settings.batch, schedule.noise, here):
                    return -1
                move(weights, 1.0, length, gradient)
            elif masked:
                sparse_move(kept, few, stored, pulls, counted, weights, owed)
            else:
                sparse_move(rows, batch, stored, pulls, counted, weights, owed)
            # More than rounding can add to the norm in a step.
            bound = (abs(shrink) * bound + length / settings.batch * norms) * (1.0 + 1e-9 + len(batch) * 2.0**-52)
            if dense:
                settle(weights, length, settings)
            elif bound > settings.radius:
                bound = abs(scale) * math.sqrt(square(weights))
                if bound > settings.radius:
                    scale, bound = scale * (settings.radius / bound), settings.radius
        if done >= settings.averaged_from:
            counted += scale
            deferred += 1
        if abs(scale) < 0.5 or deferred == STRETCH:
            write_back(scale, counted, weights, owed, total)
            scale, counted, deferred = 1.0, 0.0, 0
    write_back(scale, counted, weights, owed, total)
    return done
