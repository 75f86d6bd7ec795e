"""Neighbouring tables on which algorithms move as far as their bounds allow, or nearly so.

Most of them use a loss that is straight where the weights are, Huber's with targets far away or the hinge below its
corner: a row then pulls with the same force wherever the weights go, and one that changes its sign moves them most.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import binom, norm

from equipoise.errors import InvalidParameter
from equipoise.proof.certificate import Certificate

Array = NDArray[np.float64]

# The straight problem: n rows of norm 1 whose gradients have norm 1, with a ridge.
N_ROWS, RIDGE = 100, 0.1
# The descents: passes, the length of a step, and momentum.
PASSES, STEP, MOMENTUM_STEPS, MOMENTUM_STEP = 3, 0.1, 5, 0.01
# The rankings' ridge, which keeps margins below the hinge's corner.
RANKING_RIDGE = 5.0


def minimised(pulls: Array, ridge: float = RIDGE, l1: float = 0.0, power: float = 2.0) -> float:
    """Return the minimiser of ``-mean(pulls) w + l1 |w| + ridge/2 w^2``, or of ``ridge |w|^power`` in its place."""
    pull = float(pulls.mean())
    left = math.copysign(max(0.0, abs(pull) - l1), pull)
    return left / ridge if power == 2 else math.copysign((abs(left) / (ridge * power)) ** (1 / (power - 1)), left)


def ridge_distance(l1: float = 0.0, power: float = 2.0) -> float:
    """Return how far the minimiser moves when the first of n equal rows turns round."""
    pulls = np.ones(N_ROWS)
    turned = pulls.copy()
    turned[0] = -1.0
    return abs(minimised(pulls, l1=l1, power=power) - minimised(turned, l1=l1, power=power))


def descent_distance(
    *, pull: float = 1.0, batch: int = 1, ridge: float = 0.0, limit: float = STEP, decay: bool = False,
    average: bool = False,
) -> float:  # fmt: skip
    """Return how far a descent moves when one row turns round: the largest distance over the row's places."""
    places = np.arange(N_ROWS)[:, None]
    ends = []
    for sign in (1.0, -1.0):
        pulls = np.where(places == np.arange(N_ROWS), sign * pull, pull)
        weights, total, steps = np.zeros(N_ROWS), np.zeros(N_ROWS), PASSES * N_ROWS // batch
        for step in range(steps):
            length = min(limit, 1 / (ridge * (step + 1))) if decay else limit
            first = step * batch % N_ROWS
            weights = weights - length * (ridge * weights - pulls[:, first : first + batch].mean(1))
            total += weights / steps
        ends.append(total if average else weights)
    return float(np.abs(ends[0] - ends[1]).max())


def momentum_distance(method: str, momentum: float) -> float:
    """Return how far least squares with momentum moves when the only row that is not 0 gets the opposite target."""
    ends = []
    for target in (1.0, -1.0):
        before = weight = 0.0
        for _ in range(MOMENTUM_STEPS):
            ahead = weight + momentum * (weight - before)
            point = ahead if method == "nesterov" else weight
            before, weight = weight, ahead - MOMENTUM_STEP * 2 * (point - target) / N_ROWS
        ends.append(weight)
    return abs(ends[0] - ends[1])


def multi_task_distance(sizes: tuple[int, ...]) -> float:
    """Return how far the stacked weights of all tasks move when a row of the smallest task turns round."""
    stacked = []
    for sign in (1.0, -1.0):
        means = np.ones(len(sizes))
        smallest = int(np.argmin(sizes))
        means[smallest] = (sizes[smallest] - 1 + sign) / sizes[smallest]
        pulls = means / len(sizes)
        stacked.append(np.array([pulls.sum(), *pulls]) / RIDGE)
    return float(np.linalg.norm(stacked[0] - stacked[1]))


def ranked(rows: Array, grades: Array, normaliser: float) -> float:
    """Return the weight that ranks by the hinge of pairs, while no pair's margin reaches its corner."""
    above = grades[:, None] > grades
    weight = float((np.subtract.outer(rows, rows) * above).sum() / normaliser / RANKING_RIDGE)
    if np.abs(weight * np.subtract.outer(rows, rows)).max() >= 1:
        raise InvalidParameter("margins below the corner", "a pair beyond it", "raise the ridge")
    return weight


def ranking_distance(sizes: tuple[int, ...] = ()) -> float:
    """Return how far a ranking moves: one record goes from the top to the bottom, or only its row turns round."""
    if sizes:
        grades = np.repeat(np.arange(len(sizes)), sizes).astype(float)
        rows = np.where(grades > 0, 1.0, -1.0)
        # One of the smallest class: its row goes to the other end.
        place = int(np.searchsorted(grades, int(np.argmin(sizes))))
        turned = rows.copy()
        turned[place] *= -1
        pairs = sum(one * sum(sizes[place + 1 :]) for place, one in enumerate(sizes))
        return abs(ranked(rows, grades, pairs) - ranked(turned, grades, pairs))
    rows, grades = np.full(N_ROWS, -1.0), np.ones(N_ROWS)
    rows[0], pairs = 1.0, N_ROWS * (N_ROWS - 1) // 2
    ends = [ranked(rows, np.concatenate([[top], grades[1:]]), pairs) for top in (2.0, 0.0)]
    return abs(ends[0] - ends[1])


def graph_distance(degree: int) -> float:
    """Return how far a ridge on sums over a star moves when the centre turns round; the other nodes' rows are 0."""
    graph = np.eye(N_ROWS)
    graph[0, : degree + 1] = graph[: degree + 1, 0] = 1.0
    ends = []
    for sign in (1.0, -1.0):
        features = np.zeros(N_ROWS)
        features[0] = sign
        ends.append(minimised(np.clip(graph @ features, -1.0, 1.0)))
    return abs(ends[0] - ends[1])


def bags(count: int, seed: int = 0) -> Array:
    """Return how often every bag draws every row, by public coins."""
    coins = np.random.default_rng(seed)
    return np.array([np.bincount(coins.integers(N_ROWS, size=N_ROWS), minlength=N_ROWS) for _ in range(count)], float)


def bootstrap_distance(counts: Array) -> float:
    """Return how far the mean of minimisers on bags moves when the row that is drawn most turns round."""
    pulls = np.ones(N_ROWS)
    turned = pulls.copy()
    turned[int(counts.sum(0).argmax())] = -1.0
    ends = [np.mean([minimised(bag * each) for bag in counts]) for each in (pulls, turned)]
    return float(abs(ends[0] - ends[1]))


def parts_distance(parts: int, clip: float = math.inf) -> float:
    """Return how far the mean of minimisers on disjoint parts moves; a part's one row decides alone if there are n."""
    pulls = np.ones(N_ROWS)
    turned = pulls.copy()
    turned[0] = -1.0
    ends = []
    for each in (pulls, turned):
        found = [minimised(part) for part in np.array_split(each, parts)]
        ends.append(float(np.mean(np.clip(found, -clip, clip))))
    return abs(ends[0] - ends[1])


def solver_distance(method: str) -> tuple[float, float]:
    """Return how far another solver's ridge moves, and the largest gradient norm at which it ended.

    The pulls of rows lie along two axes; coordinate descent draws an axis, SVRG a row, and both a public number of
    times.
    """
    pulls = np.tile(np.eye(2), (N_ROWS // 2, 1))
    turned = pulls.copy()
    turned[0] *= -1
    ends, gradients = [], []
    for each in (pulls, turned):
        coins, mean, weights = np.random.default_rng(1), each.mean(0), np.zeros(2)
        anchor, full = weights, -mean
        for turn in range(1500):
            if method == "coordinate-descent":
                axis = coins.integers(2)
                weights[axis] -= (RIDGE * weights[axis] - mean[axis]) / RIDGE
                continue
            if turn % N_ROWS == 0:
                anchor, full = weights.copy(), RIDGE * weights - mean
            row = each[coins.integers(N_ROWS)]
            weights = weights - 0.5 * ((RIDGE * weights - row) - (RIDGE * anchor - row) + full)
        ends.append(weights)
        gradients.append(float(np.linalg.norm(RIDGE * weights - mean)))
    return float(np.linalg.norm(ends[0] - ends[1])), max(gradients)


def langevin_epsilon(certificate: Certificate) -> float:
    """Return the epsilon, at the certificate's delta, of the sum of all noisy gradients on two extreme neighbours.

    The row pulls one way or the other whenever it is drawn, and nothing else moves: two mixtures of normal laws, whose
    probabilities of one event are compared.
    """
    recipe = certificate.argument.recipe
    if recipe is None:
        raise InvalidParameter("a certificate of noisy SGD", "one without a recipe", "plan a NoisySGDClassifier")
    n, steps = certificate.n_samples, recipe.steps(certificate.n_samples)
    meetings = np.arange(steps + 1)
    chances = binom.pmf(meetings, steps, recipe.batch_size / n)
    likely = chances > 1e-18
    meetings, chances = meetings[likely], chances[likely]
    centres = meetings * (certificate.sensitivity or 0.0) / 2
    width = certificate.noise_scale * math.sqrt(steps)

    # The event is that the sum lies beyond a place: any event bounds epsilon from below.
    places = np.linspace(-2 * width, 12 * width, 4001)[:, None]
    here, there = (norm.sf((places - side * centres) / width) @ chances for side in (1.0, -1.0))

    def excess(epsilon: float) -> float:
        return float((here - math.exp(epsilon) * there).max()) - certificate.delta

    return float(brentq(excess, 1e-3, 1.5 * certificate.epsilon, xtol=1e-4))
