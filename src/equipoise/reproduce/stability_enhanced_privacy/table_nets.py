"""Nets that no theorem covers, trained twice with the same coins on tables that differ in one row: a measurement."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Weights = tuple[Array, Array, Array]

ROWS, COLUMNS, HIDDEN = 64, 3, 6
BATCH, PASSES, STEP = 16, 10, 0.5
KEEP = 0.5
# How many rows are replaced, one at a time.
REPLACED = 8
# Entropy-SGD's inner chain: its length, its step, its pull back, its noise, and how its mean is taken.
INNER, INNER_STEP, PULL, NOISE, FORGET = 5, 0.1, 1.0, 1e-3, 0.75


@dataclass(frozen=True)
class Movement:
    """How far weights end apart at most, and how far the first meeting with the replaced row alone drives them."""

    end: float
    first: float


def gradient(weights: Weights, rows: Array, signs: Array, kept: tuple[Array, Array], normalise: bool) -> Weights:
    """Return the gradient of the mean logistic loss of ``kept[0] a + kept[1] tanh(a V)``, ``a = tanh(rows W)``."""
    inner, middle, outer = weights
    before = rows @ inner
    width = np.sqrt(before.var(0) + 1e-5) if normalise else np.ones(before.shape[1])
    scaled = (before - before.mean(0)) / width if normalise else before
    first = np.tanh(scaled)
    second = np.tanh(first @ middle)
    mixed = kept[0] * first + kept[1] * second
    slope = -signs / (1 + np.exp(signs * (mixed @ outer))) / len(rows)
    back = slope[:, None] * outer
    into = kept[1] * back * (1 - second**2)
    into_first = (kept[0] * back + into @ middle.T) * (1 - first**2)
    if normalise:
        into_first = (into_first - into_first.mean(0) - scaled * (into_first * scaled).mean(0)) / width
    return rows.T @ into_first, first.T @ into, mixed.T @ slope


def trained(method: str, rows: Array, signs: Array, passes: int) -> Array:
    """Return all weights after some passes, by coins that do not depend on the rows."""
    coins = np.random.default_rng(7)
    shapes = ((COLUMNS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN,))
    weights: Weights = tuple(coins.normal(size=shape) / np.sqrt(shape[0]) for shape in shapes)
    for _ in range(passes):
        for start in range(0, ROWS, BATCH):
            batch = slice(start, start + BATCH)
            coin = (coins.random((2, BATCH, HIDDEN)) < KEEP) / KEEP
            plain = np.zeros((BATCH, HIDDEN)), np.ones((BATCH, HIDDEN))
            kept = {"dropout-net": (plain[0], coin[1]), "swapout": (coin[0], coin[1])}.get(method, plain)
            noise = [coins.normal(size=(INNER, *shape)) for shape in shapes]
            found = weights
            if method == "entropy-sgd":
                mean = weights
                for turn in range(INNER):
                    slopes = gradient(found, rows[batch], signs[batch], kept, False)
                    found = tuple(
                        one - INNER_STEP * (slope - PULL * (centre - one)) + NOISE * np.sqrt(INNER_STEP) * shake[turn]
                        for one, slope, centre, shake in zip(found, slopes, weights, noise, strict=True)
                    )
                    mean = tuple(  # type: ignore[assignment]
                        FORGET * old + (1 - FORGET) * new for old, new in zip(mean, found, strict=True)
                    )
                slopes = tuple(PULL * (one - other) for one, other in zip(weights, mean, strict=True))  # type: ignore[assignment]
            else:
                slopes = gradient(weights, rows[batch], signs[batch], kept, method == "batch-norm")
            weights = tuple(one - STEP * slope for one, slope in zip(weights, slopes, strict=True))  # type: ignore[assignment]
    return np.concatenate([one.ravel() for one in weights])


def movement(method: str) -> Movement:
    """Return how far a net's weights move when a row is turned round and its label with it: the worst of a few rows.

    Examples
    --------
    >>> found = movement("batch-norm")
    >>> found.end > found.first > 0
    True
    """
    data = np.random.default_rng(3)
    rows = data.normal(size=(ROWS, COLUMNS))
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    signs = np.where(rows[:, 0] * rows[:, 1] > 0, 1.0, -1.0)
    distances = []
    for replaced in range(REPLACED):
        other, other_signs = rows.copy(), signs.copy()
        # The furthest row of the unit ball, with the label that the net does not expect.
        other[replaced] = -rows[replaced] / np.linalg.norm(rows[replaced])
        other_signs[replaced] *= -1
        distances.append(
            [
                float(
                    np.linalg.norm(trained(method, rows, signs, passes) - trained(method, other, other_signs, passes))
                )
                for passes in (PASSES, 1)
            ]
        )
    end, first = np.max(distances, axis=0)
    return Movement(float(end), float(first))
