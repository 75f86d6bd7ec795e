"""The sum over frequencies behind `tails`, compiled: the characteristic function of rows and noise, term by term.

Angles of successive terms differ by a fixed step, so that waves are turned by products and not computed anew. Terms that
cannot matter are passed over: a row's characteristic function at frequency t has a square of at most ``1 - (4 / pi^2)
t^2 variance`` as long as t times the spread of its values is at most pi, because ``1 - cos x >= 2 x^2 / pi^2`` there.
This module is imported when a figure is computed and not before: it loads Numba.
"""

import math

import numpy as np

from equipoise.evaluation.noise_law import Array
from equipoise.solve.descents.compiling import compiled

# What is smaller than this changes no tail that anybody looks at.
NEGLIGIBLE = 1e-9
_BOUND = 2.0 / math.pi**2


@compiled
def noise_at(gaussian: bool, scale: float, angle: float) -> float:
    """Return the characteristic function of one count's noise; `noise_law` has the formulas."""
    if not gaussian:
        ratio = math.exp(-1.0 / scale)
        return 1.0 / (1.0 + 4.0 * ratio / (1.0 - ratio) ** 2 * math.sin(0.5 * angle) ** 2)
    near = angle - 2.0 * math.pi * np.rint(angle / (2.0 * math.pi))
    total = 0.0
    if scale < 1.0:
        for number in range(-9, 10):
            upper, lower = (number + 0.5) / (scale * math.sqrt(2.0)), (number - 0.5) / (scale * math.sqrt(2.0))
            total += 0.5 * (math.erf(upper) - math.erf(lower)) * math.cos(number * angle)
        return total
    for wave in range(-2, 3):
        each = near + 2.0 * math.pi * wave
        shape = 1.0 if each == 0.0 else math.sin(0.5 * each) / (0.5 * each)
        total += math.exp(-0.5 * (scale * each) ** 2) * shape
    return total


@compiled
def summed(
    gaussian: bool,
    scale: float,
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
    weights, cells : array, questions x kinds
        Weights of noise, and how many cells have each.
    counts : array, questions x samples
        How many rows each sample has; its values are those from one of `starts` to the next.
    values, chances : array, questions x values
        What rows are worth, and how often.
    reach, smoothing : array
        The period over 1 and the deviation of the normal number that is added.
    distances : array, questions x 2
    """
    questions, kinds, listed, samples = len(reach), weights.shape[1], values.shape[1], counts.shape[1]
    found = np.zeros((questions, 2))
    ratio = math.exp(-1.0 / scale)
    wide = 4.0 * ratio / (1.0 - ratio) ** 2
    turn_real, turn_imaginary = np.empty(listed), np.empty(listed)
    real, imaginary = np.empty(listed), np.empty(listed)
    noise_turn_real, noise_turn_imaginary = np.empty(kinds), np.empty(kinds)
    noise_real, noise_imaginary = np.empty(kinds), np.empty(kinds)
    for question in range(questions):
        step = 2.0 * math.pi / reach[question]
        for place in range(listed):
            angle = step * values[question, place]
            turn_real[place], turn_imaginary[place] = math.cos(angle), math.sin(angle)
            real[place], imaginary[place] = math.cos(0.5 * angle), math.sin(0.5 * angle)
        for place in range(kinds):
            # Half angles: the law of Laplace asks for sin(t / 2).
            angle = 0.5 * step * weights[question, place]
            noise_turn_real[place], noise_turn_imaginary[place] = math.cos(angle), math.sin(angle)
            noise_real[place], noise_imaginary[place] = math.cos(0.5 * angle), math.sin(0.5 * angle)
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
                for place in range(listed):
                    turned = real[place] * turn_real[place] - imaginary[place] * turn_imaginary[place]
                    imaginary[place] = real[place] * turn_imaginary[place] + imaginary[place] * turn_real[place]
                    real[place] = turned
                for place in range(kinds):
                    turned = (
                        noise_real[place] * noise_turn_real[place] - noise_imaginary[place] * noise_turn_imaginary[place]
                    )
                    noise_imaginary[place] = (
                        noise_real[place] * noise_turn_imaginary[place] + noise_imaginary[place] * noise_turn_real[place]
                    )
                    noise_real[place] = turned
            size = math.exp(-0.5 * (frequency * smoothing[question]) ** 2) / (math.pi * half)
            if frequency * widest <= math.pi:
                if size * math.exp(-_BOUND * frequency * frequency * spread) < NEGLIGIBLE:
                    if terms * step * widest <= math.pi:
                        break
                    continue
            for place in range(kinds):
                if cells[question, place] > 0.0:
                    if gaussian:
                        one = noise_at(True, scale, frequency * weights[question, place])
                    else:
                        one = 1.0 / (1.0 + wide * noise_imaginary[place] * noise_imaginary[place])
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
