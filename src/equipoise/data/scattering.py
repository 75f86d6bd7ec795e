"""Scattering: what oriented waves find in small grey images, averaged over cells; every number here is fixed.

Let ``f_o`` be a fine wave and ``c_o`` a coarse one of each of eight orientations, and ``A`` a mean over cells of about
4 by 4 pixels, weighted by a bell curve. The 81 channels of an image x, one number a cell each, are

    A x,   A |x * f_o|,   A |x * c_o|,   A ||x * f_o| * c_p|   for all orientations o and p.

Moduli forget where in a cell a stroke lies and keep its direction, so that linear models of the channels separate
shapes (Bruna and Mallat 2013; Oyallon and Mallat 2015). An image's numbers depend on that image alone (N8).
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.fft import fft2, ifft2

Images = NDArray[np.floating]

ORIENTATIONS = 8
CHANNELS = 1 + 2 * ORIENTATIONS + ORIENTATIONS**2
# Channels of a group are centred and scaled together.
GROUP = 3
CELL = 4
# An image is continued by its reflection so far on every side.
MARGIN = 6
SMALLEST_SIDE = MARGIN + 2
# The spread of a fine wave and its frequency; a coarse one has twice the spread and half the frequency.
SPREAD, FREQUENCY = 0.8, 3 * math.pi / 4
# Waves are longer across their direction by this factor.
LENGTH = 2.0
# Of so many images the transforms stay in a core's cache.
AT_ONCE = 32
# What is added to a group's spread and to a row's norm, so that a flat image has numbers too.
FLAT, EMPTY = 1e-5, 1e-6


def cells(side: int) -> int:
    """Return how many cells lie along a side.

    Examples
    --------
    >>> cells(28), cells(9)
    (7, 2)
    """
    return side // CELL


def width_of(height: int, width: int) -> int:
    """Return how many numbers describe an image.

    Examples
    --------
    >>> width_of(28, 28)
    3969
    """
    return CHANNELS * cells(height) * cells(width)


class Scattering:
    """The channels of images of one size, as rows of norm at most 1.

    Channels are taken three by three in their order; a group's numbers are centred at their mean and divided by their
    standard deviation, and the row by its norm.

    Examples
    --------
    >>> image = np.zeros((1, 8, 8))
    >>> image[0, 2:6, 3] = 1.0
    >>> row = Scattering(8, 8).rows(image)
    >>> row.shape, round(float(np.linalg.norm(row)), 5)
    ((1, 324), 1.0)
    """

    def __init__(self, height: int, width: int, kind: type[np.floating] = np.float64) -> None:
        sides = padded(height), padded(width)
        self.margins = tuple(
            (MARGIN, whole - MARGIN - side) for side, whole in zip((height, width), sides, strict=True)
        )
        self.fine = np.stack([wave(sides, 1, place) for place in range(ORIENTATIONS)]).astype(kind)
        self.coarse = np.stack([wave(sides, 2, place) for place in range(ORIENTATIONS)]).astype(kind)
        self.means = {step: (means(height, step).astype(kind), means(width, step).astype(kind)) for step in (1, 2)}

    def rows(self, images: Images) -> Images:
        """Return a row an image; pixels from 0 to 1."""
        blocks = [self._rows(images[start : start + AT_ONCE]) for start in range(0, len(images), AT_ONCE)]
        return np.concatenate(blocks)

    def _rows(self, images: Images) -> Images:
        count = len(images)
        whole = np.pad(images, ((0, 0), *self.margins), mode="reflect")[:, None]
        spectrum = fft2(whole)
        fine = np.abs(ifft2(spectrum * self.fine))
        channels = [self._averaged(whole, 1), self._averaged(fine, 1), self._averaged(self._coarsened(spectrum), 2)]
        for place in range(ORIENTATIONS):
            channels.append(self._averaged(self._coarsened(fft2(fine[:, place, None])), 2))
        groups = np.concatenate(channels, axis=1).reshape(count, CHANNELS // GROUP, -1)
        groups -= groups.mean(axis=2, keepdims=True)
        groups /= groups.std(axis=2, keepdims=True) + FLAT
        return unit(groups.reshape(count, -1))

    def _coarsened(self, spectrum: NDArray[np.complexfloating]) -> Images:
        """Return what coarse waves find, at every second pixel: there the inverse transform has folded the spectrum."""
        product = spectrum * self.coarse
        height, width = (side // 2 for side in product.shape[2:])
        product = product[:, :, :height] + product[:, :, height:]
        product = product[..., :width] + product[..., width:]
        found: Images = np.abs(ifft2(product))
        found *= 0.25
        return found

    def _averaged(self, images: Images, step: int) -> Images:
        down, across = self.means[step]
        averaged: Images = np.matmul(down, images @ across.T)
        return averaged


def unit(rows: Images) -> Images:
    """Divide every row by a little more than its norm, in place.

    Examples
    --------
    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).round(3).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    # A row at a time, so that no other row has a say in how its squares are added.
    rows /= np.sqrt(np.add.reduce(rows * rows, axis=1, keepdims=True)) * (1 + EMPTY) + EMPTY
    return rows


def padded(side: int) -> int:
    """Return the even number of pixels of a side with its margins.

    Examples
    --------
    >>> padded(28), padded(9)
    (40, 22)
    """
    return 2 * math.ceil(side / 2 + MARGIN)


def wave(sides: tuple[int, int], scale: int, place: int) -> NDArray[np.float64]:
    """Return the spectrum of a wave under a bell curve, without its mean (a Morlet wavelet).

    ``G(v - k) - c G(v)`` with ``G(v) = exp(-(s^2 <v, e>^2 + s^2 LENGTH^2 <v, e'>^2) / 2)``, k = (frequency / scale) e
    and s = spread * scale, where e is the direction and e' lies across it; c makes it vanish at 0. Pixels are samples,
    so the spectrum is added up over its periods.

    Examples
    --------
    >>> found = wave((20, 20), 2, 0)
    >>> abs(float(found[0, 0])) < 1e-12, tuple(int(i) for i in np.unravel_index(found.argmax(), found.shape))
    (True, (4, 0))
    """
    angle = math.pi * place / ORIENTATIONS
    spread, centre = SPREAD * scale, FREQUENCY / scale
    bell, shifted = np.zeros(sides), np.zeros(sides)
    turn = 2 * math.pi
    for period_down in (-2, -1, 0, 1):
        for period_across in (-2, -1, 0, 1):
            down = turn * (np.arange(sides[0])[:, None] / sides[0] + period_down)
            across = turn * (np.arange(sides[1])[None, :] / sides[1] + period_across)
            along = down * math.cos(angle) + across * math.sin(angle)
            beside = LENGTH * (across * math.cos(angle) - down * math.sin(angle))
            bell += np.exp(-(spread**2) * (along**2 + beside**2) / 2)
            shifted += np.exp(-(spread**2) * ((along - centre) ** 2 + beside**2) / 2)
    shifted -= shifted[0, 0] / bell[0, 0] * bell
    return shifted


def means(side: int, step: int) -> NDArray[np.float64]:
    """Return the weights of every `step`-th pixel of a padded side in each cell's mean: bell curves around its middle.

    Examples
    --------
    >>> found = means(28, 2)
    >>> found.shape, bool(np.allclose(found.sum(axis=1), 1.0))
    ((7, 20), True)
    """
    count = cells(side)
    middles = MARGIN + (np.arange(count) + 0.5) * side / count - 0.5
    distances = np.arange(0, padded(side), step)[None, :] - middles[:, None]
    weights: NDArray[np.float64] = np.exp(-(distances**2) / (2 * (2 * SPREAD) ** 2))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
