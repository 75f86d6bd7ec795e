"""The measurements of the study, and their grids: distances on hard instances, risks of the hinge loss, noise."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from equipoise.certify.sampled import SampledGaussianCurve
from equipoise.lab.estimate import Estimate
from equipoise.planning.sampling import smallest_multiplier
from equipoise_studies.frame import Report
from equipoise_studies.nonsmooth_stability import corrected, instances, published
from equipoise_studies.nonsmooth_stability.descent import Plan, Runs, mean, measure
from equipoise_studies.nonsmooth_stability.populations import Population, a_column_each, few_columns

Array = NDArray[np.float64]

INSTANCES = (instances.TWO_SIDED, instances.ONE_SIDED)
BUDGET = (1.0, 1e-6)
# (n, epsilon, delta) at which Theorem 5.1's noise is judged; the deltas and the n at which it is drawn.
NOISES = ((1000, 1.0, 1e-6), (1000, 0.5, 1e-8))
DELTAS, DRAWN = (1e-6, 1e-8, 1e-10), 100


@dataclass(frozen=True)
class Grid:
    """What is measured: rows and steps of the instances, how often coins are tossed, sizes and repetitions of runs."""

    n_samples: int = 100
    n_steps: int = 10_000
    tosses: int = 60
    few: tuple[int, ...] = (25, 50, 100, 200, 400, 800, 1600)
    each: tuple[int, ...] = (25, 50, 100, 200, 400, 800)
    noisy: tuple[int, ...] = (25, 50, 100, 200, 400, 800)
    few_repetitions: int = 100
    each_repetitions: int = 30
    shown: int = 200
    epsilons: tuple[float, ...] = (0.05, 0.1, 0.2, 0.5, 1.0)


FULL = Grid()
QUICK = Grid(
    tosses=6,
    few=(25, 50, 100, 200),
    each=(25, 50, 100, 200),
    noisy=(25, 50, 100, 200),
    few_repetitions=30,
    each_repetitions=15,
    epsilons=(0.1, 0.5, 1.0),
)


@dataclass(frozen=True)
class Rule:
    """An order of the steps: its name, Table 1's bound that is drawn, and the swapped row's shares of the steps."""

    key: str
    name: str
    printed: Callable[[int, int], float]
    shares: Callable[[int, int, np.random.Generator], Array]
    random: bool = False


RULES = (
    Rule(
        "full-batch",
        "full-batch descent",
        published.table_full_batch,
        lambda n, steps, _: instances.full_batch(n, steps),
    ),
    Rule("replacement", "SGD with replacement", published.table_replacement, instances.replacement, random=True),
    Rule(
        "permutation",
        "SGD, fixed permutation",
        published.table_permutation,
        lambda n, steps, _: instances.permutation(n, steps),
    ),
)


@dataclass(frozen=True)
class Pair:
    """Distances and C1's bounds on them for the same coins, (tosses, looks), of the last iterates or of averages."""

    simulated: Array
    bound: Array

    @property
    def within(self) -> float:
        """The share of the distances that do not exceed their bound; the slack is for rounding."""
        return float((self.simulated <= self.bound * (1 + 1e-12)).mean())

    @property
    def end(self) -> Estimate:
        """The expected distance at the last look."""
        values = self.simulated[:, -1]
        return Estimate.exact(float(values[0])) if len(values) == 1 else mean(values)

    @property
    def attained(self) -> float:
        """The expected distance over the expected bound at the last look."""
        return float(self.simulated[:, -1].mean() / self.bound[:, -1].mean())


@dataclass(frozen=True)
class Distances:
    """What was simulated of one rule: by instance, of the last iterates and of the averages."""

    rule: Rule
    n_samples: int
    steps: tuple[int, ...]
    last: Mapping[str, Pair]
    average: Mapping[str, Pair]

    @property
    def constant(self) -> float:
        """The least simulated last distance over ``sqrt(T) + T/n`` from one pass on: the lower bound's constant."""
        looks = np.asarray(self.steps, np.float64)
        shape = np.sqrt(looks) + looks / self.n_samples
        best = np.max([pair.simulated.mean(0) for pair in self.last.values()], axis=0)
        return float((best / shape)[looks >= self.n_samples].min())


def simulate(rule: Rule, grid: Grid, report: Report) -> Distances:
    """Return the distances of neighbours on both instances under a rule."""
    # Whole passes, for which Table 1 is written.
    steps = (*range(grid.n_samples, grid.n_steps, 2 * grid.n_samples), grid.n_steps)
    at = np.asarray(steps) - 1
    tosses = grid.tosses if rule.random else 1
    draws = np.random.default_rng(7)
    coins = [rule.shares(grid.n_samples, grid.n_steps, draws) for _ in range(tosses)]
    bounds = [instances.recursion(shares) for shares in coins]
    last_bound = np.stack([bound[at] for bound in bounds])
    average_bound = np.stack([instances.averaged(bound)[at] for bound in bounds])
    last: dict[str, Pair] = {}
    average: dict[str, Pair] = {}
    for place, instance in enumerate(INSTANCES):
        walks = []
        for toss, shares in enumerate(coins):
            walks.append(instances.simulate(instance, shares, steps))
            report(f"neighbours, {rule.name}", place * tosses + toss + 1, len(INSTANCES) * tosses)
        last[instance.name] = Pair(np.stack([walk.last for walk in walks]), last_bound)
        average[instance.name] = Pair(np.stack([walk.average for walk in walks]), average_bound)
    return Distances(rule, grid.n_samples, steps, last, average)


def growth(rule: Rule, n_samples: int = 1000, n_steps: int = 4000) -> float:
    """Return the exponent with which the distance grows where the drift is small, from one pass to the last step."""
    steps = tuple(range(n_samples, n_steps + 1, 500))
    shares = rule.shares(n_samples, n_steps, np.random.default_rng(7))
    found = instances.simulate(instances.TWO_SIDED, shares, steps)
    return float(np.polyfit(np.log(steps), np.log(found.last), 1)[0])


@dataclass(frozen=True)
class Curve:
    """Runs of Algorithm 1 or 2 over sizes, with the population and the step of each size."""

    name: str
    populations: Mapping[int, Population]
    runs: Mapping[int, Runs]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of training rows."""
        return tuple(self.runs)

    def gap(self, size: int, look: int = -1) -> Estimate:
        """Return the mean generalisation error."""
        return mean(self.runs[size].gaps[:, look])

    def excess(self, size: int, look: int = -1) -> Estimate:
        """Return the mean excess risk."""
        return mean(self.runs[size].excesses[:, look])

    def needed(self, size: int, chance: float = 0.1) -> float:
        """Return the c that Theorem 2.1 needs at least for these runs: the error's quantile over the rest."""
        plan = self.runs[size].plan
        passes = plan.updates[-1] / size
        stability = published.generalisation(size, passes, plan.step)
        reached = float(np.quantile(np.abs(self.runs[size].gaps[:, -1]), 1 - chance))
        return reached / published.high_probability_shape(size, stability, self.populations[size].radius, chance)

    def risk_bound(self, size: int, look: int = -1, noise: float = 0.0) -> float:
        """Return C4's bound on the expected excess risk at the step that was taken."""
        plan, radius = self.runs[size].plan, self.populations[size].radius
        return corrected.excess_risk(size, plan.updates[look] / size, plan.step, radius, noise)


def passes_of(size: int) -> tuple[int, ...]:
    """Return the numbers of passes that are looked at, up to as many as rows.

    Examples
    --------
    >>> passes_of(25)
    (1, 2, 5, 10, 20, 25)
    """
    tens = 10 ** np.arange(math.ceil(math.log10(size)) + 1)
    return (*(int(each) for ten in tens for each in (ten, 2 * ten, 5 * ten) if each < size), size)


def many_passes(grid: Grid, report: Report) -> tuple[Curve, Curve]:
    """Return runs of Algorithm 1 for as many passes as rows, at C4's step, on both populations."""
    few = few_columns()
    plans = (
        ("few columns", dict.fromkeys(grid.few, few), grid.few_repetitions),
        ("a column each", {size: a_column_each(size) for size in grid.each}, grid.each_repetitions),
    )
    found = []
    for number, (name, populations, repetitions) in enumerate(plans):
        runs = {}
        for done, (size, population) in enumerate(populations.items()):
            report(f"many passes, {name}", done, len(populations))
            step = corrected.best_step(size, size, population.radius)
            updates = tuple(size * passes for passes in passes_of(size))
            runs[size] = measure(population, Plan(size, updates, step, 0.0, repetitions), (number,))
        report(f"many passes, {name}", len(populations), len(populations))
        found.append(Curve(name, populations, runs))
    return found[0], found[1]


@dataclass(frozen=True)
class Noisy:
    """Runs of Algorithm 2 with one way to choose noise and step; the noise by size, ``d sigma^2``."""

    curve: Curve
    noise: Mapping[int, float]


def noisy(grid: Grid, report: Report) -> tuple[Noisy, Noisy]:
    """Return runs of Algorithm 2 as printed, and with calibrated noise and C4's step."""
    population = few_columns()
    columns, radius = population.rows.shape[1], population.radius
    epsilon, delta = BUDGET
    found = []
    for number, name in enumerate(("as printed", "calibrated noise, C4's step")):
        runs, noises = {}, {}
        for done, size in enumerate(grid.noisy):
            report(f"noisy SGD, {name}", done, len(grid.noisy))
            if number:
                sigma = 2 * smallest_multiplier(epsilon, delta, 1 / size, size**2)
                step = corrected.best_step(size, size, radius, columns * sigma**2)
            else:
                sigma = 2 * published.noise_multiplier(epsilon, delta)
                step = published.noisy_step(size, columns, epsilon, delta, radius)
            noises[size] = columns * sigma**2
            runs[size] = measure(population, Plan(size, (size**2,), step, sigma, grid.few_repetitions), (2, number))
        report(f"noisy SGD, {name}", len(grid.noisy), len(grid.noisy))
        found.append(Noisy(Curve(name, dict.fromkeys(grid.noisy, population), runs), noises))
    return found[0], found[1]


@dataclass(frozen=True)
class Noise:
    """Theorem 5.1's noise at a size and a budget: as printed, calibrated; and the epsilon of the printed one."""

    n_samples: int
    epsilon: float
    delta: float
    printed: float
    calibrated: float
    reached: float


def noise(n_samples: int, epsilon: float, delta: float) -> Noise:
    """Return what Algorithm 2 needs over its n^2 steps, and what the printed noise gives.

    Examples
    --------
    >>> found = noise(100, 1.0, 1e-6)
    >>> round(found.printed, 3), round(found.calibrated, 2), round(found.reached, 2)
    (5.257, 4.62, 0.86)
    """
    share, steps = 1 / n_samples, n_samples**2
    printed = published.noise_multiplier(epsilon, delta)
    curve = SampledGaussianCurve(printed, share, steps)
    reached = brentq(lambda value: math.log(curve.delta(value) / delta), epsilon / 4, 4 * epsilon, xtol=1e-4)
    return Noise(n_samples, epsilon, delta, printed, smallest_multiplier(epsilon, delta, share, steps), float(reached))
