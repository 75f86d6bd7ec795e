"""Images that nobody took: soft strokes and blobs, drawn by public coins, and a map that is fitted to them.

A feature map may be fitted to public rows (docs/feature-maps.md), and these are public by their making: they follow
from a seed.
"""

import functools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from equipoise.data.scattering import Images, Scattering, unit, width_of

Array = NDArray[np.float64]
Single = NDArray[np.float32]

# Images are drawn in a square of so many units, and so many at a time.
SQUARE = 28.0
BLOCK = 512
STROKES = 6
# How many images the map is fitted to. Six times as many won 0.1 points of accuracy in a trial, within its noise.
IMAGES = 5_000
# Directions are divided by (variance + RIDGE mean variance)^POWER: evened out half way, and noise is not blown up.
POWER, RIDGE = 0.25, 0.1


def drawn_images(count: int, height: int, width: int, public_seed: int) -> Iterator[Array]:
    """Yield blocks of images, pixels from 0 to 1: up to six strokes of all places, directions, sizes and bends.

    Examples
    --------
    >>> first = next(drawn_images(2, 8, 8, public_seed=0))
    >>> first.shape, bool(0 <= first.min() and first.max() <= 1)
    ((2, 8, 8), True)
    """
    # The legacy generator's stream is frozen: another NumPy draws the same images.
    legacy = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(public_seed)))
    across = ((np.arange(width) + 0.5) * SQUARE / width - 0.5)[None, None, :]
    down = ((np.arange(height) + 0.5) * SQUARE / height - 0.5)[None, :, None]
    for start in range(0, count, BLOCK):
        images = np.zeros((min(BLOCK, count - start), height, width))
        for _ in range(STROKES):
            coins = legacy.random_sample((8, len(images), 1, 1))
            angle = math.pi * coins[2]
            right, below = across - (4 + 20 * coins[0]), down - (4 + 20 * coins[1])
            along = right * np.cos(angle) + below * np.sin(angle)
            beside = below * np.cos(angle) - right * np.sin(angle) - 0.2 * (coins[3] - 0.5) * along**2
            thickness = 0.8 * 5.0 ** coins[4]
            ends, edges = 1.5 * (np.abs(along) - (2 + 8 * coins[5])), 3.0 * (np.abs(beside) - thickness)
            stroke = scipy.special.expit(-ends) * scipy.special.expit(-edges) * (0.4 + 0.6 * coins[6])
            np.maximum(images, np.where(coins[7] < 0.6, stroke, 0.0), out=images)
        yield images


class EvenMap(NamedTuple):
    """Rows less their centre, times directions: what the map of one size of images does to their scattering."""

    centre: Single
    directions: Single

    def __call__(self, rows: Images) -> Images:
        """Return rows of norm at most 1."""
        return unit((rows - self.centre) @ self.directions)


@functools.lru_cache(maxsize=2)
def even_map(height: int, width: int, count: int, public_seed: int, images: int = IMAGES) -> EvenMap:
    """Return the `count` directions in which drawn images vary most, scaled so that they vary more evenly.

    With mean m and covariance ``U diag(v) U'`` of their scattering, a row x becomes
    ``(x - m) U (v + RIDGE mean(v))^-POWER``. All is computed in double precision, because directions of nearly equal
    variance hang on the last digits, and each is turned so that its largest entry is positive.

    Examples
    --------
    >>> found = even_map(8, 8, 10, public_seed=0, images=200)
    >>> found.centre.shape, found.directions.shape
    ((324,), (324, 10))
    """
    scattering = Scattering(height, width)
    total = np.zeros(width_of(height, width))
    squares = np.zeros((len(total), len(total)))
    for block in drawn_images(images, height, width, public_seed):
        rows = scattering.rows(block)
        total += rows.sum(axis=0)
        squares += rows.T @ rows
    centre = total / images
    squares /= images
    squares -= np.outer(centre, centre)
    ridge = RIDGE * np.trace(squares) / len(centre)
    places = (len(centre) - min(count, len(centre)), len(centre) - 1)
    variances, columns = scipy.linalg.eigh(squares, subset_by_index=places, overwrite_a=True, check_finite=False)
    largest = columns[np.abs(columns).argmax(axis=0), np.arange(columns.shape[1])]
    columns *= np.sign(largest) * (np.maximum(variances, 0.0) + ridge) ** -POWER
    # The most telling direction first.
    return EvenMap(centre.astype(np.float32), np.ascontiguousarray(columns[:, ::-1], dtype=np.float32))
