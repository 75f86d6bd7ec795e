"""Neighbouring tables on which minimisers move as far as their bounds allow, or nearly so, each solved by the library.

Most of them use a loss that is straight where the weights are, Huber's with targets far away or the hinge below its
corner: a row then pulls with the same force wherever the weights go, and one that changes its sign moves them most.
Every distance is that of two solutions which `solve.solvers` returned.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from equipoise.data.rows import row_source
from equipoise.solve import solvers
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Target
from equipoise.vocabulary.constants import constants
from equipoise.vocabulary.facts import Problem

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Training = Callable[[Array, Array], Array]

# The tables: n rows of norm 1, and the targets of Huber's loss, so far away that a row pulls with 1 everywhere.
N_ROWS, FAR = 100, 1e4


def solved(problem: Problem, rows: Array, targets: Array, tolerance: float) -> Array:
    """Return the minimiser that the library's solver finds: some subgradient there has at most this norm.

    Examples
    --------
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.facts import Domain
    >>> problem = Problem(losses.named("squared"), penalties.named("l2", 2.0), Domain(1.0, labels=(-1.0, 1.0)))
    >>> solved(problem, np.ones((3, 1)), np.ones(3), 1e-9).round(6).tolist()
    [0.5]
    """
    facts, penalty = constants(problem), problem.penalty
    objective = Objective(problem.loss, penalty, row_source(rows, problem.domain, problem.intercept), targets)
    target = Target(
        tolerance=tolerance,
        smoothness=facts.smoothness + penalty.smoothness(),
        strong_convexity=facts.strong_convexity,
        start_distance=facts.radius,
        radius=problem.domain.radius,
        row_norm=facts.row_norm,
        label_bound=facts.label_bound,
    )
    return solvers.suited(objective).solve(objective, target)


def apart(trained: Training, place: int = 0) -> float:
    """Return how far training moves when one of n equal rows turns round; a row's target stays."""
    rows, targets = np.ones((N_ROWS, 1)), np.full(N_ROWS, FAR)
    turned = rows.copy()
    turned[place] *= -1
    return float(np.linalg.norm(trained(rows, targets) - trained(turned, targets)))


def minimiser_distance(problem: Problem, tolerance: float) -> float:
    """Return how far a minimiser moves when one of n equal rows turns round."""
    return apart(lambda rows, targets: solved(problem, rows, targets, tolerance))


def multi_task_distance(problem: Problem, sizes: tuple[int, ...], tolerance: float) -> float:
    """Return how far the stacked weights ``(w0, v_1, ..., v_T)`` move when a row of the smallest task turns round.

    A row x of task t is ``(x, 0, .., x, .., 0)`` in the stacked space. Each is repeated ``lcm(sizes)/n_t`` times, so
    that the mean over all of them has the weight ``1/(T n_t)`` on every row of task t.
    """
    longer = replace(problem, domain=replace(problem.domain, row_norm=math.sqrt(2) * problem.domain.row_norm))
    tasks = np.repeat(np.arange(len(sizes)), sizes)
    copies = math.lcm(*sizes) // np.array(sizes)[tasks]

    def trained(rows: Array, targets: Array) -> Array:
        stacked = np.zeros((len(rows), 1 + len(sizes)))
        stacked[:, 0] = stacked[np.arange(len(rows)), 1 + tasks] = rows[:, 0]
        return solved(longer, np.repeat(stacked, copies, axis=0), np.repeat(targets, copies), tolerance)

    return apart(trained, int(np.flatnonzero(tasks == np.argmin(sizes))[0]))


def ranked(problem: Problem, rows: Array, grades: Array, normaliser: int, tolerance: float) -> Array:
    """Return the weights that rank all pairs of different grades, their losses divided by a public number.

    A pair is the difference of its rows, the higher grade first. Pairs of rows that are 0 fill up to the number: they
    pull at nothing.
    """
    longer = replace(problem, domain=replace(problem.domain, row_norm=2 * problem.domain.row_norm))
    above, below = np.nonzero(grades[:, None] > grades)
    pairs = np.zeros((normaliser, rows.shape[1]))
    pairs[: len(above)] = rows[above] - rows[below]
    return solved(longer, pairs, np.ones(normaliser), tolerance)


def ranking_distance(problem: Problem, tolerance: float) -> float:
    """Return how far a ranking of all pairs moves when the record that stands out goes from the top to the bottom."""
    rows = np.full((N_ROWS, 1), -1.0)
    rows[0] = 1.0
    ends = []
    for grade in (2.0, 0.0):
        grades = np.ones(N_ROWS)
        grades[0] = grade
        ends.append(ranked(problem, rows, grades, N_ROWS * (N_ROWS - 1) // 2, tolerance))
    return float(np.linalg.norm(ends[0] - ends[1]))


def partite_distance(problem: Problem, sizes: tuple[int, ...], tolerance: float) -> float:
    """Return how far a ranking of public classes moves when a row of the lowest class goes to the other end.

    The lowest class must be the smallest: all pairs of its records pull together.
    """
    grades = np.repeat(np.arange(len(sizes)), sizes).astype(float)
    rows = np.where(grades > 0, 1.0, -1.0)[:, None]
    turned = rows.copy()
    turned[0] *= -1
    pairs = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2
    ends = [ranked(problem, each, grades, pairs, tolerance) for each in (rows, turned)]
    return float(np.linalg.norm(ends[0] - ends[1]))


def graph_distance(problem: Problem, degree: int, tolerance: float) -> float:
    """Return how far a ridge on sums over a star moves when the centre turns round; the other nodes' rows are 0.

    The sums are clipped to the rows' norm by the solver's own reading of rows.
    """
    graph = np.eye(N_ROWS)
    graph[0, : degree + 1] = graph[: degree + 1, 0] = 1.0
    ends = []
    for sign in (1.0, -1.0):
        features = np.zeros((N_ROWS, 1))
        features[0] = sign
        ends.append(solved(problem, graph @ features, np.full(N_ROWS, FAR), tolerance))
    return float(np.linalg.norm(ends[0] - ends[1]))


def parts_distance(problem: Problem, parts: int, tolerance: float, clip: float = math.inf) -> float:
    """Return how far the mean of minimisers on disjoint parts, each clipped to a norm, moves when a row turns round."""

    def trained(rows: Array, targets: Array) -> Array:
        found = np.array(
            [solved(problem, rows[part], targets[part], tolerance) for part in np.array_split(np.arange(N_ROWS), parts)]
        )
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray((found * np.minimum(1.0, clip / np.maximum(norms, np.finfo(float).tiny))).mean(0))

    return apart(trained)


def bags(count: int, seed: int = 0) -> Counts:
    """Return how often every bag draws every row, by public coins."""
    coins = np.random.default_rng(seed)
    return np.array([np.bincount(coins.integers(N_ROWS, size=N_ROWS), minlength=N_ROWS) for _ in range(count)])


def bootstrap_distance(problem: Problem, counts: Counts, tolerance: float) -> float:
    """Return how far the mean of minimisers on bags moves when the row that is drawn most turns round."""

    def trained(rows: Array, targets: Array) -> Array:
        repeated = ((np.repeat(rows, bag, axis=0), np.repeat(targets, bag)) for bag in counts)
        return np.asarray(np.mean([solved(problem, *bag, tolerance) for bag in repeated], axis=0))

    return apart(trained, int(counts.sum(0).argmax()))
