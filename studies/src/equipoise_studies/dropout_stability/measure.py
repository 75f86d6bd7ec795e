"""What the study measures, and its grids."""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.lab.estimate import Estimate
from equipoise_studies.dropout_stability import hidden_nodes, networks, preparation, removals, theory
from equipoise_studies.frame import Session


@dataclass(frozen=True)
class Grid:
    """Plans of the experiments; sizes and repetitions of descents; starts, rounds, steps; sizes of the example."""

    removed: removals.Plan = removals.FULL
    trained: networks.Plan = networks.DEFAULT
    sizes: tuple[int, ...] = (25, 50, 100, 200, 400)
    repetitions: int = 100
    polynomials: tuple[int, int, int] = (20, 5, 100)
    examples: tuple[int, ...] = (100, 400, 1600, 6400)


FULL = Grid()
QUICK = Grid(removals.QUICK, networks.QUICK, (25, 50, 100), 10, (5, 2, 20), (100, 400))


@dataclass(frozen=True, eq=False)
class Measured:
    """Everything that the page shows."""

    texts: Sequence[removals.Compared]
    boston: removals.Compared
    trained: networks.Trained
    nodes: Sequence[hidden_nodes.Network]
    learning: hidden_nodes.Learning
    risks: Sequence[theory.Risks]
    neighbours: Sequence[theory.Neighbours]
    ends: Estimate
    examples: Sequence[theory.Example]


def measure(session: Session, grid: Grid) -> Measured:
    """Run the experiments of the paper, and what its theorems are held against."""
    report = session.report
    texts = [
        removals.compare_texts(preparation.newsgroups(session.data, pair), pair, grid.removed, report)
        for pair in preparation.PAIRS
    ]
    boston = removals.compare_boston(preparation.boston(session.data), grid.removed, report)
    trained = networks.measure(*preparation.mnist(session.data), grid.trained, report)
    report("hidden nodes", 0, 1)
    learning = hidden_nodes.learn_polynomials(*grid.polynomials)
    report("hidden nodes", 1, 1)
    risks = [theory.risks(each, grid.sizes, grid.repetitions, report) for each in theory.POPULATIONS]
    near = [theory.neighbours(each, grid.sizes, grid.repetitions, report) for each in theory.POPULATIONS]
    ends = theory.printed_over_best(grid.sizes[-1])
    examples = [theory.example(size) for size in grid.examples]
    return Measured(texts, boston, trained, hidden_nodes.networks(), learning, risks, near, ends, examples)
