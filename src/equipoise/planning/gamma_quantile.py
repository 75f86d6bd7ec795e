"""Quantiles of Gamma variables in plain arithmetic: lengths of noise vectors (J4).

SciPy has them too, and takes longer to load than a release to be checked.
"""

import math

# Sums end where a term is below this share of the whole.
PRECISION = 1e-17

# A fraction and Newton's method end where a step is below this share of what it changes, the latter after so many steps
# in any case.
STEP, STEPS = 1e-15, 200


def upper_quantile(shape: float, failure: float) -> float:
    """Return the place that a Gamma variable of this shape and of scale 1 exceeds with this probability.

    The root of ``log Q(shape, x) = log failure`` by Newton's method. From shape 1 on that function is concave, so that
    from the second step on places fall towards the root; a step that would leave the half-line is halved.

    Examples
    --------
    >>> round(upper_quantile(1.0, math.exp(-3)), 12)
    3.0
    >>> round(2 * upper_quantile(0.5, 0.05), 4)
    3.8415
    """
    place, level = shape + 1.0, math.log(failure)
    for _ in range(STEPS):
        tail, density = _log_tail(shape, place), _log_density(shape, place)
        step = (tail - level) * math.exp(tail - density)
        following = place + step if place + step > 0 else place / 2
        if abs(following - place) <= STEP * place:
            return following
        place = following
    return place


def _log_density(shape: float, place: float) -> float:
    return (shape - 1) * math.log(place) - place - math.lgamma(shape)


def _log_tail(shape: float, place: float) -> float:
    """Return ``log Q(shape, place)``: by the series of the rest below the mean, by a continued fraction above it."""
    if place < shape + 1:
        term = total = 1 / shape
        count = shape
        while term > PRECISION * total:
            count += 1
            term *= place / count
            total += term
        below = total * math.exp(shape * math.log(place) - place - math.lgamma(shape))
        return math.log1p(-min(below, 1 - 2**-53))
    # The fraction of Lentz: x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)).
    bottom, change, count = place + 1 - shape, math.inf, 0
    upper, lower = math.inf, 1 / bottom
    fraction = lower
    while abs(change - 1) > STEP:
        count += 1
        factor = -count * (count - shape)
        bottom += 2
        lower = 1 / (factor * lower + bottom)
        upper = bottom + factor / upper
        change = lower * upper
        fraction *= change
    return math.log(fraction) + shape * math.log(place) - place - math.lgamma(shape)
