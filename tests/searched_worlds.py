"""Worlds that were looked for because intervals might fail in them: nearly all rows in one bin, few events far out.

Somebody who had no part in the intervals looked for worlds in which they fail. Calibration errors did where nearly all
rows lie in one joined bin and are off by 0.5 to 1.5 deviations (in 0.898 of worlds they held, where 0.95 were nominal),
log loss at few events in the outermost bins (0.931). Bins are those of the rule that `eq.evaluate` has.
"""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from equipoise.evaluation.noise_law import variance
from noisy_worlds import FIGURES, Array, Cell, Mask, Population, two_classes

CALIBRATION, LOG_LOSS = "calibration error", "log loss"


class Searched(NamedTuple):
    """A world's name, its population and the figure that is asked about."""

    name: str
    population: Population
    figure: str


def holds(searched: Searched, worlds: int, seed: int) -> Mask:
    """Whether the interval of each world holds the truth."""
    population = searched.population
    rows = population.rebalanced(population.worlds(np.random.default_rng(seed), worlds))
    return FIGURES["two classes"][1][searched.figure](population, population.template, rows)


def _nearest(population: Population, middle: float) -> int:
    return int(np.argmin(np.abs(population.middles - middle)))


def _off(population: Population, place: int, rows: float, deviations: float) -> float:
    """The share of class 1 in a bin with so many rows that is so many deviations off its middle."""
    middle, template = population.middles[place], population.template
    noise = variance(template.law, template.scale) * (middle**2 + (1.0 - middle) ** 2)
    return float(middle + deviations * math.sqrt(rows * middle * (1.0 - middle) + noise) / rows)


def one_bin(n: int, epsilon: float, middle: float, deviations: float) -> Searched:
    """All rows in the bin around this middle, and so many deviations off it."""
    usual = two_classes(Cell(n, epsilon, 0.5))
    place, chances = _nearest(usual, middle), np.zeros_like(usual.chances)
    share = _off(usual, place, n, deviations)
    chances[0, :, place] = 1.0 - share, share
    name = f"one bin: n {n}, epsilon {epsilon:g}, middle {usual.middles[place]:.4f}, share {share:.4f}"
    return Searched(name, Population(usual.template, chances), CALIBRATION)


def one_bin_of_a_group(n: int, epsilon: float, share: float, middle: float, deviations: float) -> Searched:
    """The same of a rare group; the rows of the other one lie evenly in all bins."""
    usual = two_classes(Cell(n, epsilon, 0.5), (1.0 - share, share))
    place, chances = _nearest(usual, middle), np.empty_like(usual.chances)
    second = _off(usual, place, n * share, deviations)
    chances[0] = (1.0 - share) * np.array([[0.7], [0.3]]) / chances.shape[2]
    chances[1] = 0.0
    chances[1, :, place] = share * (1.0 - second), share * second
    name = f"one bin of a group: n {n}, epsilon {epsilon:g}, share {share:g}, middle {middle:g}, off {deviations:g}"
    return Searched(name, Population(usual.template, chances), CALIBRATION)


def narrow_margins(n: int, epsilon: float, centre: float, width: float, off: float) -> Searched:
    """Margins N(centre, width), and log odds of class 1 that are larger than them by so much."""
    usual = two_classes(Cell(n, epsilon, 0.5))
    margins = np.linspace(centre - 6.0 * width, centre + 6.0 * width, 4001)
    law: Array = norm.pdf(margins, centre, width)
    law /= law.sum()
    chances, place = np.zeros_like(usual.chances), np.searchsorted(logit(np.array(usual.template.edges)), margins)
    np.add.at(chances[0, 1], place, law * expit(margins + off))
    np.add.at(chances[0, 0], place, law * expit(-margins - off))
    name = f"margins N({centre:g}, {width:g}): n {n}, epsilon {epsilon:g}, off by {off:g}"
    return Searched(name, Population(usual.template, chances), CALIBRATION)


def outermost(n: int, epsilon: float, second: float, lowest: float, highest: float = 0.0) -> Searched:
    """Class 1, of this share, in the highest bin but for a part in the lowest; class 0 the other way round."""
    usual = two_classes(Cell(n, epsilon, 0.5))
    chances = np.zeros_like(usual.chances)
    chances[0, 0, [0, -1]] = (1.0 - second) * (1.0 - highest), (1.0 - second) * highest
    chances[0, 1, [0, -1]] = second * lowest, second * (1.0 - lowest)
    name = f"outermost bins: n {n}, epsilon {epsilon:g}, {second:g} of class 1, {lowest:g} of it lowest, {highest:g}"
    return Searched(name, Population(usual.template, chances), LOG_LOSS)


# Where intervals held least, before.
WORST = [one_bin(2000, 5.0, 0.03, 0.8), one_bin(2000, 1.0, 0.45, -0.8), narrow_margins(1000, 5.0, -2.2, 0.15, 0.1)]


def every() -> Iterator[Searched]:
    """All worlds that were looked at, as far as 1 % to 99 % of their rows are of class 1."""
    middles, deviations = (0.03, 0.1, 0.3, 0.5), (-1.5, -0.8, 0.8, 1.5)
    rows, budgets = (200, 1000, 2000, 10_000, 100_000), (0.05, 0.5, 1.0, 5.0)
    for each in itertools.product(rows, budgets, middles, deviations):
        found = one_bin(*each)
        if 0.01 <= found.population.chances[0, 1].sum() <= 0.99:
            yield found
    cells = [(1000, 1.0), (1000, 5.0), (2000, 1.0), (2000, 5.0), (10_000, 0.5), (10_000, 1.0), (10_000, 5.0)]
    margins = [(-3.5, 0.4), (-2.2, 0.4), (-2.2, 0.15), (-1.0, 0.25), (0.0, 0.3), (-1.0, 1.0)]
    for cell, margin, off in itertools.product(cells, margins, (0.0, 0.05, 0.1, 0.2)):
        yield narrow_margins(*cell, *margin, off)
    of_groups = [(2000, 5.0), (10_000, 1.0), (10_000, 5.0)], (0.1, 0.5), [(0.1, 0.8), (0.3, 0.8), (0.3, -0.8)]
    for cell, share, bin_ in itertools.product(*of_groups):
        yield one_bin_of_a_group(*cell, share, *bin_)
    few = [(200, 0.01), (200, 0.03), (500, 0.01), (1000, 0.01), (2000, 0.01), (300, 0.5)]
    ends = [(0.05, 0.0), (0.1, 0.0), (0.2, 0.0), (0.4, 0.0), (0.5, 0.01), (1.0, 0.02), (0.0, 0.003)]
    for (n, second), epsilon, parts in itertools.product(few, (1.0, 5.0), ends):
        yield outermost(n, epsilon, second, *parts)
