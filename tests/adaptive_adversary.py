"""The exact delta that an adaptive adversary reaches, who picks the next release from what was released before.

A law is a pair of distributions on finitely many outcomes: on a table, and on its neighbour. The adversary may use
every law in both roles. What is left of a budget decides which releases are admitted, and backward induction over
everything that can happen gives the largest ``integral of (P - e^epsilon P')_+`` of any strategy.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from equipoise.certify.curves import Curve

Law = tuple[tuple[float, float], ...]
# Whether a release is admitted after others, by their places in the menu, sorted.
Admission = Callable[[tuple[int, ...], int], bool]


class ExactCurve(Curve):
    """The curve of a law, in both directions."""

    law: Law

    def at(self, epsilon: float) -> float:
        """Return the larger of both deltas."""
        return max(delta_of(self.law, epsilon), delta_of(mirrored(self.law), epsilon)) * (1 + 1e-12)


def delta_of(law: Law, epsilon: float) -> float:
    """Return the largest ``P(E) - e^epsilon P'(E)``."""
    return math.fsum(max(here - math.exp(epsilon) * there, 0.0) for here, there in law)


def mirrored(law: Law) -> Law:
    """Return the law with table and neighbour exchanged."""
    return tuple((there, here) for here, there in law)


def divergence(law: Law, order: float) -> float:
    """Return the larger Renyi divergence of both directions."""
    sums = (math.fsum(here**order * there ** (1 - order) for here, there in pair) for pair in (law, mirrored(law)))
    return max(math.log(total) for total in sums) / (order - 1)


def response(epsilon: float, told: float = 0.0) -> Law:
    """Return randomised response, which tells all with a chance of `told`."""
    true = (1 - told) / (1 + math.exp(-epsilon))
    law = ((true, 1 - told - true), (1 - told - true, true))
    return law if told == 0 else (*law, (told, 0.0), (0.0, told))


def geometric(epsilon: float, shift: int) -> Law:
    """Return a whole number with two-sided geometric noise, ``e^(-epsilon |k|)``, that a row moves by `shift`."""
    decay = math.exp(-epsilon)
    scale = (1 - decay) / (1 + decay)
    between = ((scale * decay**place, scale * decay ** (shift - place)) for place in range(1, shift))
    end, far = 1 / (1 + decay), decay**shift / (1 + decay)
    return ((end, far), *between, (far, end))


def discrete_gaussian(mu: float, shift: int = 2, reach: int = 8) -> Law:
    """Return a whole number with discrete Gaussian noise of deviation ``shift / mu``; far ends are one outcome."""
    weight = [math.exp(-((place * mu / shift) ** 2) / 2) for place in range(-reach - 200, reach + 201)]
    total = math.fsum(weight)

    def of(centre: int) -> list[float]:
        chances = [weight[place - centre + reach + 200] / total for place in range(-reach, reach + 1)]
        low = math.fsum(weight[: -reach - centre + reach + 200]) / total
        return [low, *chances, math.fsum(weight[reach + 1 - centre + reach + 200 :]) / total]

    return tuple(zip(of(0), of(shift), strict=True))


def largest_count(epsilon: float, counts: Sequence[int], others: Sequence[int], reach: int = 4) -> Law:
    """Return the place of the largest noisy count, of counts with geometric noise that is cut at `reach`."""
    decay = math.exp(-epsilon)
    chances = {place: (1 - decay) / (1 + decay) * decay ** abs(place) for place in range(-reach + 1, reach)}
    chances |= dict.fromkeys((-reach, reach), decay**reach / (1 + decay))

    def of(table: Sequence[int]) -> list[float]:
        found = [0.0] * len(table)
        for noise in itertools.product(chances, repeat=len(table)):
            noisy = [count + drawn for count, drawn in zip(table, noise, strict=True)]
            found[noisy.index(max(noisy))] += math.prod(chances[drawn] for drawn in noise)
        return found

    return tuple(zip(of(counts), of(others), strict=True))


def reached(menu: Sequence[Law], admitted: Admission, epsilon: float, most: int = 4) -> float:
    """Return the exact delta at epsilon of the best strategy of at most so many releases that are admitted."""
    roles = [(place, way) for place, law in enumerate(menu) for way in {law, mirrored(law)}]

    @cache
    def value(history: tuple[int, ...], loss: float) -> float:
        best = max(1 - math.exp(epsilon - loss), 0.0)
        if loss == math.inf:
            return 1.0
        for place, law in roles:
            if len(history) < most and admitted(history, place):
                longer = tuple(sorted((*history, place)))
                best = max(
                    best, math.fsum(here * value(longer, later(loss, here, there)) for here, there in law if here)
                )
        return best

    return value((), 0.0)


def later(loss: float, here: float, there: float) -> float:
    """Return the loss after an outcome, to twelve digits, so that the same losses are met once."""
    return round(loss + math.log(here / there), 12) if there else math.inf


def composed(laws: Sequence[Law], epsilon: float) -> float:
    """Return the exact delta of releases that were all fixed beforehand, in both directions."""
    product: Counter[tuple[float, float]] = Counter({(1.0, 1.0): 1})
    for law in laws:
        following: Counter[tuple[float, float]] = Counter()
        for (before, other), times in product.items():
            for here, there in law:
                following[before * here, other * there] += times
        product = following
    whole = tuple((here * times, there * times) for (here, there), times in product.items())
    return max(delta_of(whole, epsilon), delta_of(mirrored(whole), epsilon))
