"""What an attack on a model shows: rates with intervals that hold for every number of rows, curves, and ceilings.

A rate has the interval of Clopper and Pearson. How much better one guess is than another, on the same rows, follows
from the rows on which they disagree. A curve pools scores of several models for the same rows: such scores are not
independent, so its intervals are the wider of two, one exact for independent scores and one by drawing models and rows
anew (docs/attacks.md).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from equipoise.errors import InvalidData
from equipoise.lab.auditing import at_least, at_most
from equipoise.lab.estimate import Array, Bootstrap, Estimate
from equipoise.vocabulary.facts import Budget

# The false-positive rates at which an attack's power is told. The first is the one by which attacks are quoted, as
# Carlini et al. (2022) do; all are those at which a certificate says what no attack exceeds (N7).
RATES = (0.001, 0.01, 0.1)
LOW_RATE = RATES[0]


def proportion(count: float, of: int, confidence: float) -> Estimate:
    """Return a share with its Clopper-Pearson interval; a fraction of a count is rounded outwards.

    Examples
    --------
    >>> print(proportion(45, 100, 0.95))
    0.45 [0.3503, 0.5527]
    >>> print(proportion(0, 100, 0.95))
    0 [0, 0.03622]
    """
    tail = (1 - confidence) / 2
    low = at_least(math.floor(count + 1e-9), of, tail)
    high = at_most(math.ceil(count - 1e-9), of, tail)
    return Estimate(count / of, low, high, confidence)


def paired_difference(gained: int, lost: int, of: int, confidence: float) -> Estimate:
    """Return by how much one rule is right more often than another on the same rows, with an exact interval.

    Let s be the chance that just one of them is right, and r the chance that it is the first. The difference is
    s (2 r - 1). Given how many rows disagree, the gained ones are binomial in r; how many disagree is binomial in s.
    Each has a Clopper-Pearson interval that fails with half of what the confidence leaves, so both hold together.

    Examples
    --------
    >>> print(paired_difference(30, 10, 200, 0.95))
    0.1 [0.0184, 0.2094]
    >>> print(paired_difference(0, 0, 200, 0.95))
    0 [-0.02167, 0.02167]
    """
    each = 1 - (1 - confidence) / 2
    split = gained + lost
    apart = proportion(split, of, each)
    first = proportion(gained, split, each) if split else Estimate(0.5, 0.0, 1.0, each)
    low, high = 2 * first.low - 1, 2 * first.high - 1
    return Estimate(
        (gained - lost) / of,
        low * (apart.low if low > 0 else apart.high),
        high * (apart.high if high > 0 else apart.low),
        confidence,
    )


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most true positives that any attack on an (epsilon, delta)-private trainer can have, by its false positives.

    A row is a member of a random table of n rows, or another row is in its place: two tables that differ in one row.
    So under replace-one the guarantee holds as it stands, ``TPR <= exp(epsilon) FPR + delta``, and so does its mirror
    image, ``1 - FPR <= exp(epsilon) (1 - TPR) + delta`` (docs/attacks.md has the argument).

    Examples
    --------
    >>> ceiling = Ceiling(1.0)
    >>> float(ceiling.at(0.001).round(6)), round(ceiling.advantage, 4), round(ceiling.auc, 4)
    (0.002718, 0.4621, 0.7311)
    >>> Ceiling.add_or_remove(1.0)
    Ceiling(epsilon=2.0, delta=0.0)
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no budget."""
        budget = Budget(self.epsilon, self.delta)
        object.__setattr__(self, "epsilon", budget.epsilon)
        object.__setattr__(self, "delta", budget.delta)

    @classmethod
    def add_or_remove(cls, epsilon: float, delta: float = 0.0) -> "Ceiling":
        """Return the ceiling for a trainer whose guarantee is for adding or removing a row.

        Another row in a row's place is one removal and one addition, so two such steps: a group of two.
        """
        return cls(2 * epsilon, (1 + math.exp(epsilon)) * delta)

    def at(self, false_positive_rate: ArrayLike) -> Array:
        """Return the largest true-positive rate at these false-positive rates."""
        rate = np.asarray(false_positive_rate, np.float64)
        factor = math.exp(self.epsilon)
        mirrored = 1 - (1 - self.delta - rate) / factor
        return np.asarray(np.minimum(np.minimum(factor * rate + self.delta, mirrored), 1.0))

    @property
    def corners(self) -> Array:
        """The false-positive rates at which the ceiling bends, with both ends."""
        return np.array([0.0, (1 - self.delta) / (1 + math.exp(self.epsilon)), 1 - self.delta, 1.0])

    @property
    def advantage(self) -> float:
        """The largest difference of the two rates."""
        return math.tanh(self.epsilon / 2) + self.delta * (1 - math.tanh(self.epsilon / 2))

    @property
    def auc(self) -> float:
        """The area below the ceiling."""
        return float(np.trapezoid(self.at(self.corners), self.corners))


@dataclass(frozen=True, slots=True, eq=False)
class AttackCurve:
    """How well scores tell members from others, over all thresholds and at three places.

    Parameters
    ----------
    false_positive_rate, true_positive_rate : array
        The corners of the measured curve, from (0, 0) to (1, 1).
    auc : Estimate
        The chance that a member scores higher than another row; 0.5 is guessing.
    tpr_at_rates : tuple of Estimate
        The true-positive rates at 0.1 %, 1 % and 10 % false positives, on the straight line between two corners of the
        curve: a threshold drawn at random between theirs has it.
    advantage : Estimate
        The true-positive rate less the false-positive rate, at a threshold that was chosen on the other models.
    members, others : int
        How many scores of either kind were pooled.
    """

    false_positive_rate: Array
    true_positive_rate: Array
    auc: Estimate
    tpr_at_rates: tuple[Estimate, ...]
    advantage: Estimate
    members: int
    others: int

    @property
    def tpr_at_low_fpr(self) -> Estimate:
        """The true-positive rate at 0.1 % false positives."""
        return self.tpr_at_rates[0]

    def above(self, ceiling: Ceiling) -> tuple[str, ...]:
        """Return which figures lie above the ceiling with their whole interval."""
        limits = {"auc": ceiling.auc, "tpr_at_low_fpr": float(ceiling.at(LOW_RATE)), "advantage": ceiling.advantage}
        # The three are computed sums of rounded numbers: equality up to rounding is no excess.
        return tuple(name for name, limit in limits.items() if getattr(self, name).low > limit + 1e-12)

    def __str__(self) -> str:
        """Return the three figures in one line."""
        return (
            f"AUC {self.auc}, advantage {self.advantage}, "
            f"true positives at {100 * LOW_RATE:g} % false positives {self.tpr_at_low_fpr}"
        )


def attack_curve(scores: ArrayLike, members: ArrayLike, bootstrap: Bootstrap | None = None) -> AttackCurve:
    """Return the curve of an attack from its scores, a row for each attacked model and a column for each person.

    Parameters
    ----------
    scores : array of shape (models, rows)
        Higher says member.
    members : array of truth values, of the same shape
        Whether the row was among those that the model was trained on.
    bootstrap : Bootstrap, optional
        How models and rows are drawn anew, and the confidence of the intervals.

    Examples
    --------
    >>> stream = np.random.default_rng(0)
    >>> members = stream.random((8, 100)) < 0.5
    >>> print(attack_curve(stream.normal(members), members).auc)
    0.7799 [0.7217, 0.8326]
    """
    table, inside = np.asarray(scores, np.float64), np.asarray(members, np.bool_)
    if table.ndim != 2 or table.shape != inside.shape or table.shape[0] < 2 or table.shape[1] < 2:
        found = f"shapes {table.shape} and {inside.shape}"
        raise InvalidData(
            "scores and membership of two or more models (rows) for two or more people (columns)", found, "attack more"
        )
    if not np.isfinite(table).all():
        raise InvalidData("finite scores", "nan or infinity", "clip the scores")
    ways = inside.sum(1)
    if not ways.all() or (ways == table.shape[1]).any():
        raise InvalidData("members and others for every model", "a model with only one kind", "split the rows")
    bootstrap = bootstrap or Bootstrap()
    ranking = _Ranking(table, inside)
    guesses = _guesses(ranking, table)
    everywhere = np.ones(table.shape)
    fpr, tpr = ranking.rates(everywhere)
    figures = np.array([_area(fpr, tpr), *_heights(fpr, tpr), _gap(guesses, inside, everywhere)])
    counts = bootstrap.draw(*table.shape)
    replicates = []
    for models, rows in zip(counts.seeds, counts.datasets, strict=True):
        weights = np.outer(models, rows)
        # What was drawn may lack one kind where that kind is rare: it has no curve.
        if weights[inside].any() and weights[~inside].any():
            drawn = ranking.rates(weights)
            replicates.append((_area(*drawn), *_heights(*drawn), _gap(guesses, inside, weights)))
    n_members = int(inside.sum())
    n_others = inside.size - n_members
    least, confidence = min(n_members, n_others), bootstrap.confidence
    # So many disjoint pairs of a member and another compare as independent coins, and all pairs vary less than they.
    area = proportion(figures[0] * least, least, confidence)
    right = proportion((1 + figures[-1]) / 2 * 2 * least, 2 * least, confidence)
    exact = (
        (area.low, area.high),
        *(_height_interval(fpr, tpr, rate, (n_members, n_others), confidence) for rate in RATES),
        (2 * right.low - 1, 2 * right.high - 1),
    )
    auc, *heights, gap = (
        _wider(bootstrap.estimate(float(figure), column), *interval)
        for figure, column, interval in zip(figures, np.array(replicates).T, exact, strict=True)
    )
    kept = _corners(fpr, tpr)
    return AttackCurve(fpr[kept], tpr[kept], auc, tuple(heights), gap, n_members, n_others)


class _Ranking:
    """All scores in falling order; equal ones stand together, since no threshold parts them."""

    def __init__(self, scores: Array, members: NDArray[np.bool_]) -> None:
        flat = scores.ravel()
        self._order = np.argsort(-flat, kind="stable")
        ranked = flat[self._order]
        self._ends = np.flatnonzero(np.append(np.diff(ranked) != 0, True))
        self._members = members.ravel()[self._order]
        self.thresholds = ranked[self._ends]

    def rates(self, weights: Array) -> tuple[Array, Array]:
        """Return both rates at every threshold, before them the point where nothing is called a member."""
        ranked = weights.ravel()[self._order]
        caught = np.cumsum(np.where(self._members, ranked, 0.0))[self._ends]
        alarms = np.cumsum(np.where(self._members, 0.0, ranked))[self._ends]
        return np.append(0.0, alarms / alarms[-1]), np.append(0.0, caught / caught[-1])


def _guesses(ranking: _Ranking, scores: Array) -> NDArray[np.bool_]:
    """Return who is called a member, each model's threshold being the best one for all the other models.

    The best threshold for the scores at hand would flatter the attack: it finds an advantage in noise.
    """
    called = np.empty(scores.shape, np.bool_)
    for model, row in enumerate(scores):
        weights = np.ones(scores.shape)
        weights[model] = 0.0
        fpr, tpr = ranking.rates(weights)
        # The point before all thresholds calls nobody a member: its advantage is 0, as that of calling all.
        called[model] = row >= ranking.thresholds[np.argmax((tpr - fpr)[1:])]
    return called


def _area(fpr: Array, tpr: Array) -> float:
    return float(np.trapezoid(tpr, fpr))


def _height(fpr: Array, tpr: Array, rate: float) -> float:
    """Return the true-positive rate at a false-positive rate, between corners on the straight line."""
    here = int(np.searchsorted(fpr, rate, side="right")) - 1
    if here == len(fpr) - 1:
        return float(tpr[here])
    along = (rate - fpr[here]) / (fpr[here + 1] - fpr[here])
    return float(tpr[here] + along * (tpr[here + 1] - tpr[here]))


def _heights(fpr: Array, tpr: Array) -> list[float]:
    return [_height(fpr, tpr, rate) for rate in RATES]


def _gap(guesses: NDArray[np.bool_], members: NDArray[np.bool_], weights: Array) -> float:
    return float(np.average(guesses[members], weights=weights[members])) - float(
        np.average(guesses[~members], weights=weights[~members])
    )


def _height_interval(
    fpr: Array, tpr: Array, rate: float, sizes: tuple[int, int], confidence: float
) -> tuple[float, float]:
    """Return an interval for the true-positive rate at a false-positive rate that is exact for independent scores.

    The threshold that has this rate in truth is not known. How many of the others lie above it is binomial, so it lies
    between two of their scores; the members above either bound those above it, and their share is binomial too. At
    0.1 %, with fewer than some 4,400 others, none of them need lie above it, and the lower end is 0. Equal scores are
    parted by lot.
    """
    members, others = sizes
    share = (1 - confidence) / 2
    fewest, most = (int(end) for end in binom.ppf([share / 2, 1 - share / 2], others, rate))
    surely = math.floor(members * _height(fpr, tpr, (fewest - 1) / others) + 1e-9) if fewest else 0
    perhaps = math.ceil(members * _height(fpr, tpr, most / others) - 1e-9)
    return at_least(surely, members, share / 2), at_most(perhaps, members, share / 2)


def _wider(estimate: Estimate, low: float, high: float) -> Estimate:
    return Estimate(estimate.value, min(estimate.low, low), max(estimate.high, high), estimate.confidence)


def _corners(fpr: Array, tpr: Array) -> NDArray[np.bool_]:
    """Return which points of a curve are not on the straight line through their neighbours."""
    steps = np.diff(fpr), np.diff(tpr)
    turns = steps[0][1:] * steps[1][:-1] - steps[0][:-1] * steps[1][1:]
    return np.concatenate([[True], np.abs(turns) > 1e-15, [True]])
