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
    from equipoise.kept_loops import compiled
    from equipoise.solve.descents.compiling import inlined
except ModuleNotFoundError:

    def compiled(function: Loop, **options: Any) -> Loop:
        """Return a loop as it is."""
        return function

    inlined = compiled


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


# So many rows' values, and so many weights of noise, are looked at before all of them are.
_FIRST = 8
# What these leave of a term that the others are not asked about, far less than what is negligible.
_ENOUGH = math.log(1e12)
_LOG_NEGLIGIBLE = -math.log(NEGLIGIBLE)
# Waves are turned as long as so few terms were passed over, and computed anew after more.
_GAP = 12


@inlined
def _heaviest(sizes: Array, starts: Array, sample: int) -> Array:
    """Return the places of the largest sizes of one sample, at most `_FIRST` of them."""
    begin, end = starts[sample], starts[sample + 1]
    number = min(_FIRST, end - begin)
    found = np.empty(number, dtype=np.int64)
    for rank in range(number):
        best = -1
        for place in range(begin, end):
            taken = False
            for earlier in range(rank):
                taken = taken or found[earlier] == place
            if not taken and (best < 0 or sizes[place] > sizes[best]):
                best = place
        found[rank] = best
    return found


@inlined
def _turned(number: int, real: Array, imaginary: Array, turn_real: Array, turn_imaginary: Array) -> None:
    """Turn waves from one term to the next."""
    for place in range(number):
        turned = real[place] * turn_real[place] - imaginary[place] * turn_imaginary[place]
        imaginary[place] = real[place] * turn_imaginary[place] + imaginary[place] * turn_real[place]
        real[place] = turned


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
    angles = np.empty(listed + kinds)
    real, imaginary = np.empty(listed + kinds), np.empty(listed + kinds)
    turn_real, turn_imaginary = np.empty(listed + kinds), np.empty(listed + kinds)
    # The same of those that are looked at first.
    first = np.empty((samples + 1) * _FIRST, dtype=np.int64)
    first_real, first_imaginary = np.empty(len(first)), np.empty(len(first))
    first_turn_real, first_turn_imaginary = np.empty(len(first)), np.empty(len(first))
    ends, masses = np.empty(samples + 1, dtype=np.int64), np.empty(samples)
    every_kind = np.array([0, kinds])
    logarithms = np.log(math.pi * (np.arange(terms) + 0.5))
    for question in range(questions):
        step = 2.0 * math.pi / reach[question]
        for place in range(listed + kinds):
            # Half angles of noise: with r = exp(-1/scale), Laplace's law has 1 / (1 + 4 r / (1 - r)^2 sin^2(t / 2)).
            angle = step * (values[question, place] if place < listed else 0.5 * weights[question, place - listed])
            angles[place] = angle
            turn_real[place], turn_imaginary[place] = math.cos(angle), math.sin(angle)
        spread, widest, number = 0.0, 0.0, 0
        for sample in range(samples):
            mean, square, least, greatest = 0.0, 0.0, math.inf, -math.inf
            for place in range(starts[sample], starts[sample + 1]):
                value = values[question, place]
                mean += chances[question, place] * value
                square += chances[question, place] * value * value
                least, greatest = min(least, value), max(greatest, value)
            spread += counts[question, sample] * max(square - mean * mean, 0.0)
            widest = max(widest, greatest - least)
            masses[sample] = 0.0
            for place in _heaviest(chances[question], starts, sample):
                first[number] = place
                masses[sample] += chances[question, place]
                number += 1
            ends[sample] = number
        if not gaussian:
            for place in _heaviest(cells[question] * weights[question] ** 2, every_kind, 0):
                first[number] = listed + place
                number += 1
        ends[samples] = number
        for place in range(number):
            angle = angles[first[place]]
            first_real[place], first_imaginary[place] = math.cos(0.5 * angle), math.sin(0.5 * angle)
            first_turn_real[place], first_turn_imaginary[place] = turn_real[first[place]], turn_imaginary[first[place]]
        seen = -_GAP - 1
        for term in range(terms):
            half = term + 0.5
            frequency = half * step
            if term > 0:
                _turned(number, first_real, first_imaginary, first_turn_real, first_turn_imaginary)
            exponent = 0.5 * (frequency * smoothing[question]) ** 2 + logarithms[term]
            if frequency * widest <= math.pi and exponent + _BOUND * frequency * frequency * spread > _LOG_NEGLIGIBLE:
                if terms * step * widest <= math.pi:
                    break
                continue
            left, start = exponent, 0
            for sample in range(samples):
                along, across = 0.0, 0.0
                for place in range(start, ends[sample]):
                    chance = chances[question, first[place]]
                    along += chance * first_real[place]
                    across += chance * first_imaginary[place]
                left += counts[question, sample] * (masses[sample] - math.sqrt(along * along + across * across))
                start = ends[sample]
            if left > _ENOUGH:
                continue
            product = 1.0
            for place in range(start, number):
                kind = first[place] - listed
                product *= (1.0 + wide[kind] * first_imaginary[place] ** 2) ** int(cells[question, kind])
            if product > math.exp(_ENOUGH - left):
                continue
            size = math.exp(-exponent)
            if term - seen > _GAP:
                for place in range(listed + kinds):
                    real[place], imaginary[place] = math.cos(half * angles[place]), math.sin(half * angles[place])
            else:
                for _ in range(term - seen):
                    _turned(listed + kinds, real, imaginary, turn_real, turn_imaginary)
            seen = term
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
