"""What an evaluation says it would take, where noise drowns a figure: who follows it is told, not asked for more."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest

from equipoise.evaluation.figure import Figure
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.several_classes import SeveralClasses
from equipoise.evaluation.two_classes import TwoClasses
from noisy_worlds import Cell, two_classes

# Drowned for noise, for few rows, and for both; a fifth or half of the rows in class 1.
DROWNED = [
    Cell(*each, share)
    for each in ((50, 0.3), (50, 1.0), (50, 3.0), (200, 0.03), (200, 0.1), (500, 0.01), (500, 0.1), (2000, 0.01))
    for share in (0.2, 0.5)
]
WORLDS = 4
ADVICE = re.compile(r"it takes (about|more than) (\d+) times the (epsilon or the rows|epsilon|rows)$")


@dataclass(frozen=True)
class Asked:
    """A simulated evaluation: a cell of the grid, a figure, a world."""

    cell: Cell
    name: str
    world: int

    def figure(self) -> Figure:
        population = two_classes(self.cell)
        coins = np.random.default_rng([self.world, self.cell.n, round(1000 * self.cell.epsilon)])
        return getattr(TwoClasses(replace(population.template, counts=population.worlds(coins, 1)[0])), self.name)

    def more(self, what: str, times: float) -> "Asked":
        if what == "rows":
            return replace(self, cell=replace(self.cell, n=round(times * self.cell.n)))
        return replace(self, cell=replace(self.cell, epsilon=times * self.cell.epsilon))

    def advised(self) -> tuple[bool, str, int] | None:
        """Whether the number is a bound, of what, and the number: None where the figure is told."""
        if not (said := self.figure().verdict) or "bins" in said:
            return None
        found = ADVICE.search(said)
        assert found is not None, said
        return found[1] == "more than", found[3], int(found[2])

    def told_after(self) -> int:
        """After how many steps of what is advised the figure is told; 3 if not after two."""
        asked = self
        for steps in range(3):
            if (advice := asked.advised()) is None:
                return steps
            asked = asked.more(*advice[1:])
        return 3


def evaluations(name: str) -> Iterator[Asked]:
    for cell in DROWNED:
        yield from (Asked(cell, name, world) for world in range(WORLDS))


@pytest.mark.parametrize("name", ["accuracy", "auc"])
def test_who_follows_what_it_takes_once_or_twice_is_told(name):
    drowned = [asked for asked in evaluations(name) if asked.advised() is not None and not asked.advised()[0]]
    assert len(drowned) >= 16
    assert np.mean([asked.told_after() <= 2 for asked in drowned]) >= 0.9


@pytest.mark.parametrize("name", ["accuracy", "auc"])
def test_no_number_is_more_than_four_times_what_it_takes(name):
    for asked in (each for each in evaluations(name) if each.world == 0):
        advice = asked.advised()
        if advice is None:
            continue
        _, what, times = advice
        # With a quarter of what is named fewer than half of the worlds are told.
        fewer = [replace(asked, world=world).more(what.split()[0], times / 4.01) for world in range(1, 6)]
        assert times <= 4 or sum(each.advised() is None for each in fewer) <= 2, (asked, advice)


def test_what_noise_drowned_names_no_number_where_one_would_rest_on_it():
    rows = np.array([[[9, -4, 3], [2, 5, -6], [-8, 4, 1]]])
    figures = SeveralClasses(NoisyCounts((), rows, "laplace", 40.0, 12))
    assert figures.balanced_accuracy.verdict == "cannot be told at this budget; it takes more epsilon or more rows"


@pytest.mark.parametrize(
    ("rows", "epsilon", "share", "name", "words"),
    [
        # What a stranger met: 251.7, 76.6 and 2.0 times.
        (500, 0.1, 0.2, "auc", r"about [2-9] times the epsilon"),
        (1, 1.0, 0.5, "accuracy", r"more than 10 times the epsilon or the rows"),
        (500, 0.001, 0.2, "recall", r"more than 10 times the epsilon or the rows"),
    ],
)
@pytest.mark.parametrize("world", range(5))
def test_advice_is_of_the_right_order_where_it_was_not(rows, epsilon, share, name, words, world):
    found = Asked(Cell(rows, epsilon, share), name, world).figure()
    shown = found.figures[2] if name == "recall" else found
    assert shown.told or re.search(words, shown.verdict), shown.verdict
