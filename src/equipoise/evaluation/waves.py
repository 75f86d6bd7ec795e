"""The sum over frequencies behind `tails`, compiled: the characteristic function of rows and noise, term by term.

Angles of successive terms differ by a fixed step, so that waves are turned by products and not computed anew. Terms
that cannot matter are passed over: a row's characteristic function at frequency t has a square of at most ``1 -
(4 / pi^2) t^2 variance`` as long as t times the spread of its values is at most pi, because there
``1 - cos x >= 2 x^2 / pi^2``.
This module is imported when a figure is computed and not before: it loads Numba. Where that is not installed Python
reads the same loops, and a figure takes seconds.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from equipoise.evaluation.noise_law import Array

Loop = TypeVar("Loop", bound=Callable[..., Any])

try:
    from equipoise.solve.descents.compiling import compiled
except ModuleNotFoundError:

    def compiled(function: Loop, **options: Any) -> Loop:
        """Return a loop as it is."""
        return function


# What is smaller than this changes no tail that anybody looks at.
NEGLIGIBLE = 1e-9
_BOUND = 2.0 / math.pi**2


# From this scale on the sum over waves is exact with five of them; below it, that over few whole numbers is.
_WIDE = 1.0


@compiled
def rounded_normal(scale: float, angle: float) -> float:
    """Return the characteristic function of a normal number of this deviation that is rounded to a whole one.

    The sum over whole numbers, or, by Poisson's formula, that of the characteristic functions of a normal number plus a
    uniform one of width 1 around every multiple of ``2 pi``.

    Examples
    --------
    >>> round(rounded_normal(4.0, 0.1), 4), round(rounded_normal(0.5, 0.1), 4)
    (0.9227, 0.9984)
    """
    total = 0.0
    if scale < _WIDE:
        for number in range(-9, 10):
            above, below = (number + 0.5) / (scale * math.sqrt(2.0)), (number - 0.5) / (scale * math.sqrt(2.0))
            total += 0.5 * (math.erf(above) - math.erf(below)) * math.cos(number * angle)
        return total
    near = angle - 2.0 * math.pi * np.rint(angle / (2.0 * math.pi))
    for wave in range(-2, 3):
        each = near + 2.0 * math.pi * wave
        shape = 1.0 if each == 0.0 else math.sin(0.5 * each) / (0.5 * each)
        total += math.exp(-0.5 * (scale * each) ** 2) * shape
    return total


@compiled
def summed(
    gaussian: bool,
    scales: Array,
    weights: Array,
    cells: Array,
    counts: Array,
    values: Array,
    chances: Array,
    starts: Array,
    reach: Array,
    smoothing: Array,
    distances: Array,
    terms: int,
) -> Array:
    """Return Davies' sum for each question at two distances: ``sum of Im(phi(t) exp(-i t distance)) / (pi (k + 1/2))``.

    Parameters
    ----------
    scales : array, kinds
        The scale of each kind's noise.
    weights, cells : array, questions x kinds
        Weights of noise, and how many cells have each.
    counts : array, questions x samples
        How many rows each sample has; its values are those from one of `starts` to the next.
    values, chances : array, questions x values
        What rows are worth, and how often.
    reach, smoothing : array
        How far aliases are, and the deviation of the normal number that is added.
    distances : array, questions x 2
    """
    questions, kinds, listed, samples = len(reach), weights.shape[1], values.shape[1], counts.shape[1]
    found = np.zeros((questions, 2))
    ratios = np.exp(-1.0 / scales)
    wide = 4.0 * ratios / (1.0 - ratios) ** 2
    # Waves of rows come first, those of noise after them: where they are, and the turn from one term to the next.
    real, imaginary = np.empty(listed + kinds), np.empty(listed + kinds)
    turn_real, turn_imaginary = np.empty(listed + kinds), np.empty(listed + kinds)
    for question in range(questions):
        step = 2.0 * math.pi / reach[question]
        for place in range(listed + kinds):
            # Half angles of noise: with r = exp(-1/scale), Laplace's law has 1 / (1 + 4 r / (1 - r)^2 sin^2(t / 2)).
            angle = step * (values[question, place] if place < listed else 0.5 * weights[question, place - listed])
            real[place], imaginary[place] = math.cos(0.5 * angle), math.sin(0.5 * angle)
            turn_real[place], turn_imaginary[place] = math.cos(angle), math.sin(angle)
        spread, widest = 0.0, 0.0
        for sample in range(samples):
            mean, square, least, greatest = 0.0, 0.0, math.inf, -math.inf
            for place in range(starts[sample], starts[sample + 1]):
                value = values[question, place]
                mean += chances[question, place] * value
                square += chances[question, place] * value * value
                least, greatest = min(least, value), max(greatest, value)
            spread += counts[question, sample] * max(square - mean * mean, 0.0)
            widest = max(widest, greatest - least)
        for term in range(terms):
            half = term + 0.5
            frequency = half * step
            if term > 0:
                for place in range(listed + kinds):
                    turned = real[place] * turn_real[place] - imaginary[place] * turn_imaginary[place]
                    imaginary[place] = real[place] * turn_imaginary[place] + imaginary[place] * turn_real[place]
                    real[place] = turned
            size = math.exp(-0.5 * (frequency * smoothing[question]) ** 2) / (math.pi * half)
            bound = math.exp(-_BOUND * frequency * frequency * spread)
            if frequency * widest <= math.pi and size * bound < NEGLIGIBLE:
                if terms * step * widest <= math.pi:
                    break
                continue
            for place in range(kinds):
                if cells[question, place] > 0.0:
                    if gaussian:
                        one = rounded_normal(scales[place], frequency * weights[question, place])
                    else:
                        one = 1.0 / (1.0 + wide[place] * imaginary[listed + place] ** 2)
                    size *= one ** int(cells[question, place])
                    if abs(size) < NEGLIGIBLE:
                        break
            if abs(size) < NEGLIGIBLE:
                continue
            angle = 0.0
            for sample in range(samples):
                along, across = 0.0, 0.0
                for place in range(starts[sample], starts[sample + 1]):
                    along += chances[question, place] * real[place]
                    across += chances[question, place] * imaginary[place]
                square = along * along + across * across
                if square == 0.0:
                    size = 0.0
                    break
                size *= math.exp(0.5 * counts[question, sample] * math.log(square))
                # A power of a whole number does not depend on the branch of the angle.
                angle += counts[question, sample] * math.atan2(across, along)
            for side in range(2):
                found[question, side] += size * math.sin(angle - frequency * distances[question, side])
    return found
