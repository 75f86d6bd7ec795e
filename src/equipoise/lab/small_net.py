"""A small net in five forms, trained by the same coins on a table and on its neighbours; all runs at once.

The net has two hidden layers of ``tanh`` units with biases and the logistic loss. With a row ``x``, coins ``u, s, t``
and a layer's scaling ``N``, its margin is

    a = u * tanh(N(W1 x) + b1),    c = tanh(N(W2 a) + b2),    margin = <w3, s * a + t * c> + b3.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.lab.estimate import Array

Places = NDArray[np.intp]
# From a layer's sums, (..., batch, units), to its scaled sums, and to the map of slopes back through the scaling.
Scaling = Callable[[Array], tuple[Array, Callable[[Array], Array]]]

# Units in each hidden layer, rows in a batch at most, and the step.
HIDDEN, BATCH, STEP = 8, 16, 0.5
# The chance of a coin, which is divided by it, so that its mean is 1.
KEEP = 0.5
# What batch normalisation adds to a variance.
VARIANCE_FLOOR = 1e-5
# Entropy-SGD (Chaudhari et al., 2017, Algorithm 1): steps of the inner chain, pull to its centre, noise, and the
# weight of the past in its mean. The outer step times the pull is 1, so that the centre moves to the mean.
CHAIN, PULL, NOISE, PAST = 5, 0.1, 1e-3, 0.75


def unscaled(sums: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Return the sums of a layer as they are."""
    return sums, lambda slopes: slopes


def batch_normalised(sums: Array) -> tuple[Array, Callable[[Array], Array]]:
    """Return the sums of a layer less their mean over the batch, divided by their deviation over the batch.

    Examples
    --------
    >>> scaled, _ = batch_normalised(np.array([[1.0], [3.0]]))
    >>> scaled.round(3).tolist()
    [[-1.0], [1.0]]
    """
    width = np.sqrt(sums.var(-2, keepdims=True) + VARIANCE_FLOOR)
    scaled = (sums - sums.mean(-2, keepdims=True)) / width

    def back(slopes: Array) -> Array:
        along = scaled * (slopes * scaled).mean(-2, keepdims=True)
        return np.asarray((slopes - slopes.mean(-2, keepdims=True) - along) / width)

    return scaled, back


class Descent:
    """Gradient descent on all runs at once: ``w <- w - STEP g``."""

    def __init__(self, start: Array) -> None:
        self.point = start

    def step(self, slopes: Array, shake: Array) -> None:
        """Move the point at which the next gradient is taken."""
        self.point = self.point - STEP * slopes

    def found(self) -> Array:
        """Return the weights that training ends with."""
        return self.point


class EntropyDescent(Descent):
    """Entropy-SGD: a Langevin chain of a few batches around a centre, which then moves to the mean of the chain."""

    def __init__(self, start: Array) -> None:
        super().__init__(start)
        self.centre = self.mean = start
        self.turn = 0

    def step(self, slopes: Array, shake: Array) -> None:
        """Move the chain by one batch, and the centre when the chain ends."""
        drift = slopes - PULL * (self.centre - self.point)
        self.point = self.point - STEP * drift + math.sqrt(STEP) * NOISE * shake
        self.mean = PAST * self.mean + (1 - PAST) * self.point
        self.turn += 1
        if self.turn % CHAIN == 0:
            self.point = self.centre = self.mean

    def found(self) -> Array:
        """Return the mean of the last chain, which is the centre when the chain has ended."""
        return self.mean


@dataclass(frozen=True, slots=True)
class Net:
    """A net and how it is trained.

    Parameters
    ----------
    coins : tuple of float
        The means of the coins ``u, s, t`` of the module's formula; ``s = 0`` is a net without a skip path.
    tossed : tuple of bool
        Which of them are tossed, for each unit and row of a batch anew; the others stay at their means.
    """

    coins: tuple[float, float, float] = (1.0, 0.0, 1.0)
    tossed: tuple[bool, bool, bool] = (False, False, False)
    scaling: Scaling = unscaled
    descent: type[Descent] = Descent

    def plain(self) -> "Net":
        """Return the same net by plain descent, unscaled, its coins at their means."""
        return Net(self.coins)

    def at(self, uniform: Array) -> Array:
        """Return the coins at uniform numbers of shape (..., 3, batch, HIDDEN)."""
        sides = np.where(np.array(self.tossed)[:, None, None], (uniform < KEEP) / KEEP, 1.0)
        return np.asarray(np.array(self.coins)[:, None, None] * sides)


NETS = {
    "plain": Net(),
    "batch-norm": Net(scaling=batch_normalised),
    "dropout-net": Net(tossed=(True, False, True)),
    "swapout": Net(coins=(1.0, 1.0, 1.0), tossed=(False, True, True)),
    "entropy-sgd": Net(descent=EntropyDescent),
}


class Table(NamedTuple):
    """Rows of shape (n, columns) and their labels as signs."""

    rows: Array
    signs: Array


class Change(NamedTuple):
    """Which record is replaced in each run, and by what: (seeds, runs), (seeds, runs, columns) and (seeds, runs)."""

    places: Places
    rows: Array
    signs: Array


class Weights(NamedTuple):
    """The weights of many runs by layer, views of an array of shape (seeds, runs, parameters)."""

    inner: Array
    inner_bias: Array
    middle: Array
    middle_bias: Array
    outer: Array
    outer_bias: Array


def shapes(columns: int) -> tuple[tuple[int, int], ...]:
    """Return the shape of each part of the weights."""
    return ((columns, HIDDEN), (1, HIDDEN), (HIDDEN, HIDDEN), (1, HIDDEN), (HIDDEN, 1), (1, 1))


def parts(flat: Array, columns: int) -> Weights:
    """Return the weights by layer."""
    ends = np.cumsum([math.prod(shape) for shape in shapes(columns)])[:-1]
    split = np.split(flat, ends, axis=-1)
    return Weights(*(one.reshape(*flat.shape[:-1], *shape) for one, shape in zip(split, shapes(columns), strict=True)))


class Pass(NamedTuple):
    """What one pass of a batch through the net leaves behind for the way back."""

    first: Array
    masked: Array
    second: Array
    mixed: Array
    margin: Array
    backs: tuple[Callable[[Array], Array], Callable[[Array], Array]]


def forward(net: Net, weights: Weights, rows: Array, coins: Array) -> Pass:
    """Return the margins of rows, shape (..., batch, columns), by the module's formula."""
    inner, skip, outer = (coins[..., place, :, :] for place in range(3))
    sums, first_back = net.scaling(rows @ weights.inner)
    first = np.tanh(sums + weights.inner_bias)
    masked = inner * first
    sums, second_back = net.scaling(masked @ weights.middle)
    second = np.tanh(sums + weights.middle_bias)
    mixed = skip * masked + outer * second
    margin = mixed @ weights.outer + weights.outer_bias
    return Pass(first, masked, second, mixed, margin, (first_back, second_back))


def gradient(net: Net, flat: Array, rows: Array, signs: Array, coins: Array) -> Array:
    """Return the gradient of the mean logistic loss of a batch, of the shape of the weights, for each run."""
    weights = parts(flat, rows.shape[-1])
    at = forward(net, weights, rows, coins)
    inner, skip, outer = (coins[..., place, :, :] for place in range(3))
    column = signs[..., None]
    # The slope -y / (1 + exp(y m)) in a form that cannot overflow.
    slope = -column * (1 - np.tanh(column * at.margin / 2)) / 2 / rows.shape[-2]
    back = slope @ weights.outer.swapaxes(-1, -2)
    into_second = outer * back * (1 - at.second**2)
    second_sums = at.backs[1](into_second)
    into_first = inner * (skip * back + second_sums @ weights.middle.swapaxes(-1, -2)) * (1 - at.first**2)
    first_sums = at.backs[0](into_first)
    found = (
        rows.swapaxes(-1, -2) @ first_sums, into_first.sum(-2),
        at.masked.swapaxes(-1, -2) @ second_sums, into_second.sum(-2),
        at.mixed.swapaxes(-1, -2) @ slope, slope.sum(-2),
    )  # fmt: skip
    return np.concatenate([one.reshape(*flat.shape[:-1], -1) for one in found], axis=-1)


def trained(net: Net, table: Table, change: Change, seeds: range, passes: int) -> tuple[Array, Array]:
    """Return where each seed starts, (seeds, parameters), and where its runs end, (seeds, 1 + runs, parameters).

    The first run of a seed sees the table itself, each other one the table with one record replaced. All of them start
    at the same weights and use the same order of rows, the same coins and the same noise, none of which looks at a row.
    """
    # Order and coins have streams of their own, so that a net and its plain form start alike and read alike.
    orders, tosses = ([np.random.default_rng((seed, use)) for seed in seeds] for use in (1, 2))
    size, columns = table.rows.shape
    start = np.array([_start(stream, columns) for stream in orders])
    runs = 1 + change.places.shape[1]
    descent = net.descent(np.repeat(start[:, None], runs, axis=1))
    for _ in range(passes):
        order = np.array([stream.permutation(size) for stream in orders])
        for batch in np.array_split(order, math.ceil(size / BATCH), axis=1):
            uniform = np.array([stream.random((1, 3, batch.shape[1], HIDDEN)) for stream in tosses])
            shake = np.array([stream.normal(size=(1, start.shape[1])) for stream in tosses])
            rows, signs = _seen(table, change, batch)
            descent.step(gradient(net, descent.point, rows, signs, net.at(uniform)), shake)
    return start, descent.found()


def _start(stream: np.random.Generator, columns: int) -> Array:
    """Return weights of variance one over the number of inputs, and biases of 0."""
    drawn = []
    for weights, bias in zip(shapes(columns)[::2], shapes(columns)[1::2], strict=True):
        drawn += [stream.normal(size=weights).ravel() / math.sqrt(weights[0]), np.zeros(bias[1])]
    return np.concatenate(drawn)


def _seen(table: Table, change: Change, batch: Places) -> tuple[Array, Array]:
    """Return a batch as each run sees it: (seeds, 1 + runs, batch, columns) and (seeds, 1 + runs, batch)."""
    hit = batch[:, None, :] == change.places[:, :, None]
    rows, signs = table.rows[batch][:, None], table.signs[batch][:, None]
    other_rows = np.where(hit[..., None], change.rows[:, :, None], rows)
    other_signs = np.where(hit, change.signs[..., None], signs)
    return np.concatenate([rows, other_rows], axis=1), np.concatenate([signs, other_signs], axis=1)
