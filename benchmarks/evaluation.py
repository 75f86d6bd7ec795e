"""How much wider intervals are for the noise: accuracy and the area under the ROC curve at 10,000 rows and epsilon 0.5.

Beside each interval stands that of the same rows counted without noise, by the same tests (noise of scale 0.01 is zero
but with a chance of 1e-43 a cell). The promise is a ratio of at most 1.3 for accuracy and 1.6 for the area; with few
rows of one class the area has a larger one, printed too: ``PYTHONPATH=tests python benchmarks/evaluation.py``.

With ``accurate`` models that are right in 75 to 99.5 % of rows are tried, at once and after a look; beside what is
measured stands the formula, and the least that any counts could have, two cells for right and wrong.

With ``looked`` a tenth of epsilon is spent first, to see where scores are (`bins_from`), on the same rows. Printed is
then also what bins hide of the exact area, in deviations of sampling. ``best`` prints the same for edges that nobody
can have, by the very laws of the population and with all of epsilon for one histogram, by formulas. ``coverage N``
prints how often intervals hold in N worlds of two spends.
"""

import math
import sys
from dataclasses import replace

import numpy as np
from scipy.special import expit

from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.two_classes import TwoClasses
from equipoise.planning.bins_from import Seen, edges_where
from equipoise.planning.evaluation import bins, edges_of_margins, noise_on_counts
from equipoise.planning.laws import deviation_of
from equipoise.vocabulary.facts import Budget
from looked_worlds import ACCURATE, COLUMNS, LAWS, REACH, Spends, counted, holds, noisy
from noisy_worlds import Cell, Population, two_classes

WORLDS = 10
PREVALENCES = (0.05, 0.1, 0.25, 0.5)


def widths(population: Population, table: np.ndarray) -> tuple[float, float]:
    figures = TwoClasses(replace(population.template, counts=table))
    return tuple(figure.high - figure.low for figure in (figures.accuracy, figures.binned_auc))


def one_spend() -> None:
    for prevalence in PREVALENCES:
        noisy = two_classes(Cell(10_000, 0.5, prevalence))
        plain = replace(noisy, template=replace(noisy.template, scale=0.01))
        ratios = []
        for world in range(WORLDS):
            with_noise = widths(noisy, noisy.worlds(np.random.default_rng(world), 1)[0])
            without = widths(plain, plain.worlds(np.random.default_rng(world), 1)[0])
            ratios.append(np.array(with_noise) / np.array(without))
        mean, most = np.mean(ratios, axis=0), np.max(ratios, axis=0)
        told = (f"{name} {mean[place]:.3f} (most {most[place]:.3f})" for place, name in enumerate(("accuracy", "area")))
        print(f"prevalence {prevalence}:", *told)


def plain(counts: NoisyCounts, chances: np.ndarray, coins: np.random.Generator) -> NoisyCounts:
    """Return other rows in the same bins, without noise."""
    rows = coins.multinomial(counts.n_samples, chances.ravel()).reshape(1, *chances.shape)
    return replace(counts, counts=rows, scale=0.01)


def compared(spends: Spends, counts: NoisyCounts, chances: np.ndarray, coins: np.random.Generator) -> tuple[float, ...]:
    """Return how much wider accuracy's interval and the area's are for the noise, what bins hide, and their number."""
    with_noise, without = (TwoClasses(each) for each in (counts, plain(counts, chances, coins)))
    ratios = [
        (getattr(with_noise, name).high - getattr(with_noise, name).low)
        / (getattr(without, name).high - getattr(without, name).low)
        for name in ("accuracy", "binned_auc")
    ]
    laws = chances / chances.sum(axis=1, keepdims=True)
    binned = float(laws[1] @ (np.cumsum(laws[0]) - 0.5 * laws[0]))
    return (*ratios, (spends.area - binned) / without.binned_auc.sampling, counts.bins)


def two_spends(worlds: int = 40) -> None:
    for law in LAWS:
        for prevalence in PREVALENCES:
            spends, found = Spends(10_000, prevalence, 0.05, 0.45, law), []
            for world in range(worlds):
                coins = np.random.default_rng(world)
                found.append(compared(spends, *counted(spends, coins), coins))
            accuracy, area, hidden, count = np.mean(found, axis=0)
            error = np.std(found, axis=0) / np.sqrt(worlds)
            print(
                f"{law}, prevalence {prevalence}: accuracy {accuracy:.3f}, area {area:.3f} +- {error[1]:.3f} (most "
                f"{np.max(found, axis=0)[1]:.2f}), hidden {hidden:.2f} +- {error[2]:.2f}, {count:.1f} bins",
                flush=True,
            )


def at_once(spends: Spends, coins: np.random.Generator) -> tuple[NoisyCounts, np.ndarray]:
    """Return what one spend of all releases in one world, and the chances of its bins."""
    noise = noise_on_counts(Budget(spends.first + spends.second))
    edges = edges_of_margins(0.0, REACH, COLUMNS, bins(spends.n, 2, noise))
    return noisy(*spends.rows(coins), edges, noise, coins), spends.chances(edges)


def accurate(worlds: int = 20) -> None:
    """Print a line of a table for every accuracy: by how much noise widens intervals, at once and after a look."""
    noise = noise_on_counts(Budget(0.5))
    count = bins(10_000, 2, noise)
    print(f"noise of deviation {deviation_of(noise):.3f} on every count, {count} bins at once; {worlds} worlds a cell")
    print(
        "| accuracy | AUC | formula | accuracy wider, at once | after a look | two cells | AUC wider, at once: 10 %, "
        "25 %, 50 % | after a look | hidden, at once | after a look | bins after a look |"
    )
    for accuracy in ACCURATE:
        sampling = 10_000 * accuracy * (1.0 - accuracy)
        formula, least = (math.sqrt(1.0 + cells * deviation_of(noise) ** 2 / 4 / sampling) for cells in (2 * count, 2))
        means = {}
        for prevalence in (0.1, 0.25, 0.5):
            spends = Spends(10_000, prevalence, 0.05, 0.45, accuracy)
            for name, draw in (("at once", at_once), ("looked", counted)):
                found = []
                for world in range(worlds):
                    coins = np.random.default_rng(world)
                    found.append(compared(spends, *draw(spends, coins), coins))
                means[name, prevalence] = np.mean(found, axis=0)
        once, looked = (np.array([means[name, share] for share in (0.1, 0.25, 0.5)]) for name in ("at once", "looked"))
        cells = [
            f"{accuracy:g}",
            f"{spends.area:.3f}",
            f"{formula:.2f}",
            f"{np.mean(once[:, 0]):.2f}",
            f"{np.mean(looked[:, 0]):.2f}",
            f"{least:.2f}",
            *(", ".join(f"{each:.2f}" for each in part[:, column]) for column in (1, 2) for part in (once, looked)),
            ", ".join(f"{each:.0f}" for each in looked[:, 3]),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


def best() -> None:
    """Print how wide the interval is in the best bins of one histogram, which only who knows the laws can choose."""
    noise = noise_on_counts(Budget(0.5))
    grid = np.linspace(-REACH, REACH, 241)
    for law in LAWS:
        for prevalence in PREVALENCES:
            spends = Spends(10_000, prevalence, 0.0, 0.5, law)
            chances = spends.chances(grid[1:-1])
            laws = chances / chances.sum(axis=1, keepdims=True)
            edges = edges_where(Seen(grid, (laws[0], laws[1]), 0, 10_000 * prevalence), 10_000, deviation_of(noise), 50)
            chances = spends.chances(edges)
            counts = NoisyCounts(tuple(expit(edges)), np.rint(10_000 * chances)[None], "laplace", noise.scale, 10_000)
            area = TwoClasses(counts).binned_auc
            hidden = (spends.area - area.value) / area.sampling
            wider = np.hypot(area.sampling, area.noise) / area.sampling
            print(f"{law}, prevalence {prevalence}: area {wider:.2f}, hidden {hidden:.2f}, {len(edges) + 1} bins")


def coverage(worlds: int) -> None:
    for spends in (
        *(Spends(10_000, share, 0.05, 0.45) for share in (0.01, 0.05, 0.1, 0.5)),
        *(Spends(2_000, share, 0.1, 0.9) for share in (0.01, 0.1, 0.5)),
        Spends(2_000, 0.1, 5.0, 5.0),
        Spends(200, 0.1, 5.0, 5.0),
        Spends(200, 0.5, 0.5, 4.5),
        Spends(10_000, 0.1, 0.05, 0.45, "a quarter as wide"),
        Spends(10_000, 0.05, 0.05, 0.45, "nearly told apart"),
    ):
        coins = np.random.default_rng(1)
        found = [holds(*counted(spends, coins)) for _ in range(worlds)]
        told = (f"{name} {np.mean([each[name] for each in found]):.4f}" for name in found[0])
        print(spends, *told, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["looked"]:
        two_spends()
    elif sys.argv[1:2] == ["accurate"]:
        accurate()
    elif sys.argv[1:2] == ["best"]:
        best()
    elif sys.argv[1:2] == ["coverage"]:
        coverage(int(sys.argv[2]))
    else:
        one_spend()
