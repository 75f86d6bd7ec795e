"""The reference problem: how much accuracy a plan should cost, modelled from public facts alone (docs/mechanisms.md).

Plans are compared by what they would cost on one imagined dataset, the same for everybody. Its rows fill half of their
squared length with one direction, as rows do that are not centred, and spread the other half over the remaining
directions like 1, 1/2, 1/3, ...; its best weights are equally long in every direction, and a typical prediction says
odds of e^3 = 20 to 1 for a class, or is a third of the way from the middle to the end of a target's range. Around the
best weights the loss is a quadratic with curvatures

    h_i = c B^2 p_i,    p = (1/2, then (1/2) (1/j) / H),    w_i = m / B,

where m is such a prediction and c the mean curvature of the loss there. A plan shrinks each w_i by a
known factor and adds noise of a known variance v_i, so that its excess risk is

    (1/2) sum_i h_i ((shrinkage_i w_i)^2 + v_i),

quoted here as a share of ``(1/2) sum_i h_i w_i^2``, what a model that says nothing would lose.

In a regression the mean of the targets has to be found as well: it is imagined as far from the middle of their range as
a typical prediction is from it. It is told along the common direction, and what is missing of it costs

    (1/2) c m^2 shrinkage(c B^2 p)^2,    the mean over p = 1, 1/2, 1/4, 1/8,

since no public fact tells how much of their length rows have in common, and a descent tuned to one curvature would miss
the mean at every other. That much is lost by weights of 0 on top of the share of 1.

Of K classes the quadratic around the best weights leaves out most of what there is to win: a row that is surely of its
class curves the loss little, and the more classes there are, the less of ln K is left of c m^2 / 2. On the way from 0
the loss turns by its whole slope within one prediction. So descents, which walk that way, are judged with what is
missing of the weights as costly as the way is curved, and reach them by the mean of both curvatures: as if along the
way, and as if around its end.

The model picks hyper-parameters and mechanisms; no privacy claim rests on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Literal, NamedTuple

from equipoise.planning.classes import Classes, classes_of
from equipoise.planning.losses import known
from equipoise.vocabulary.facts import Problem
from equipoise.vocabulary.losses import Loss

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# There are few groups of directions: plain numbers are as fast as arrays, and NumPy is loaded for descents alone.
Numbers = tuple[float, ...]
Average = Literal["last", "uniform"]

# How much evidence a typical prediction carries, in the loss's units.
EVIDENCE = {"classification": 3.0, "regression": 1.0}

# The share of the rows' squared length along their common direction.
COMMON_SHARE = 0.5

# The shares along which a target's mean is told, and the threshold of classes by rows that fill their norm.
MEAN_SHARES = (1.0, 0.5, 0.25, 0.125)

# Predictions are normal: a grid of so many points, up to so many deviations on either side.
POINTS, FARTHEST = 240, 6.0

# Costs that differ by less than this are equal as far as the model can tell.
RESOLUTION = 1e-3

# Wide rows of several classes have a rule of their own, a smaller clip with more and longer steps, that was chosen with
# one curvature from end to end: it stays (docs/mechanisms.md#several-classes-the-way-to-the-weights).
WIDE = 256

# Directions beyond the first are put together where their spread is nearly the same: this many groups an octave.
GROUPS_AN_OCTAVE = 4


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Curvatures along groups of directions, how many directions each group has, and the length of the weights.

    ``means`` is what a target's mean costs that is missed along each group: after the groups of directions there are
    those that a mean may be told along, which count as no directions. Without targets there are none. ``steepness`` is
    how many times as curved the loss is on the way from weights of 0 as around the best.
    """

    curvatures: Numbers
    counts: Numbers
    weight: float
    norm: float
    means: Numbers = ()
    steepness: float = 1.0

    @property
    def nothing(self) -> float:
        """What weights of 0 cost: all that is at stake, and the target's mean."""
        stakes = sum(map(math.prod, zip(self.counts, self.curvatures, strict=True)))
        # Without a mean it is 1 to the last digit.
        return 1 + sum(self.means) / (stakes * (self.weight * self.weight)) if self.means else 1.0

    def share(self, shrinkage: Iterable[float], variance: Iterable[float] | float) -> float:
        """Return the excess risk as a share of what a model that says nothing would lose; infinity beyond doubles."""
        noises = repeat(variance) if isinstance(variance, float) else variance
        stakes = [count * curvature for count, curvature in zip(self.counts, self.curvatures, strict=True)]
        shrinkage = tuple(shrinkage)
        parts = zip(stakes, shrinkage, noises, strict=False)
        cost = sum(stake * ((short * self.weight) * (short * self.weight) + noise) for stake, short, noise in parts)
        cost += sum(mean * (short * short) for mean, short in zip(self.means, shrinkage, strict=False))
        whole = sum(stakes) * (self.weight * self.weight)
        found = cost / whole if whole > 0 else math.inf
        return found if math.isfinite(found) else math.inf

    def shares(self, shrinkage: Array, variance: Array) -> Array:
        """Return that of many descents, a row a descent; what is missing costs as much as the way is curved."""
        import numpy as np

        with np.errstate(all="ignore"):
            stakes = np.array(self.counts) * np.array(self.curvatures)
            cost = stakes * (self.steepness * np.square(shrinkage * self.weight) + variance)
            if self.means:
                cost += np.array(self.means) * np.square(shrinkage)
            whole = self.steepness * stakes.sum() * np.square(self.weight)
            found = np.asarray(cost.sum(axis=-1) / whole)
        return np.where(np.isfinite(found), found, np.inf)

    def even(self) -> tuple[Reference, Reference]:
        """Return this with one curvature from end to end: that of the way, and that around the best weights."""
        along = tuple(self.steepness * curvature for curvature in self.curvatures)
        return replace(self, curvatures=along, steepness=1.0), replace(self, steepness=1.0)


@lru_cache(maxsize=256)
def reference(
    loss: Loss, row_norm: float, label_bound: float, columns: int, classes: Classes | None = None
) -> Reference:
    """Return the reference problem of a loss with rows of this norm and this many columns.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> found = reference(losses.named("logistic"), 1.0, 1.0, 100)
    >>> round(sum(map(math.prod, zip(found.counts, found.curvatures))), 3), round(found.norm, 6)
    (0.115, 30.0)
    >>> found.nothing, round(reference(losses.named("squared"), 1.0, 1.0, 100).nothing, 9)
    (1.0, 2.0)
    """
    spreads, counts = _spectrum(columns)
    longest = EVIDENCE[loss.task] * known(loss).unit(label_bound)
    told, weight, prevalence = (1.0, 1.0, 0.5) if classes is None else (classes.told, classes.weight, classes.rarer)
    prediction = longest * told
    # A corner is as curved as a slope that turns within one prediction.
    curvature = mean_curvature(loss, label_bound, prediction, prevalence)
    curvature = curvature or known(loss).typical_slope(label_bound) / prediction
    curvatures = tuple(weight * curvature * row_norm**2 * spread for spread in spreads)
    means: Numbers = ()
    if loss.task == "regression":
        each = curvature * (prediction * prediction) / len(MEAN_SHARES)
        means = (0.0,) * len(curvatures) + (each,) * len(MEAN_SHARES)
        curvatures += tuple(curvature * row_norm**2 * share for share in MEAN_SHARES)
        counts += (0.0,) * len(MEAN_SHARES)
    # Classes are told along K - 1 free outputs, each of which carries its part of a prediction's squared length.
    length = row_norm * math.sqrt(loss.free_outputs)
    on_the_way = known(loss).curvature_on_the_way(prediction) if columns < WIDE else 0.0
    steepness = (on_the_way or curvature) / curvature
    return Reference(curvatures, counts, prediction / length, longest / length * math.sqrt(columns), means, steepness)


def of_problem(problem: Problem, n_features: int) -> Reference:
    """Return the reference problem of a problem."""
    columns = n_features + (1 if problem.intercept > 0 else 0)
    return reference(problem.loss, problem.row_norm, problem.domain.label_bound, columns, classes_of(problem.domain))


def common(imagined: Reference) -> Reference:
    """Return the problem of two classes where nobody knows how much of their length rows have in common.

    What is at stake along the common direction stays, and is told along any of `MEAN_SHARES`, each as likely: a descent
    with momentum that is tuned to one share swings past the threshold where rows have more in common.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> imagined = reference(losses.named("logistic"), 1.0, 1.0, 100)
    >>> spread = common(imagined)
    >>> [round(curvature / imagined.curvatures[0], 3) for curvature in spread.curvatures[-4:]]
    [2.0, 1.0, 0.5, 0.25]
    """
    first, *others = imagined.curvatures
    if not others:
        # One column is all there is.
        return imagined
    along = [first / COMMON_SHARE * share for share in MEAN_SHARES]
    each = 1 / len(along)
    kept = [each * (first - curvature) * (imagined.weight * imagined.weight) for curvature in along]
    counts = (*imagined.counts[1:], *(each for _ in along))
    return replace(imagined, curvatures=(*others, *along), counts=counts, means=(*(0.0 for _ in others), *kept))


def _spectrum(columns: int) -> tuple[Numbers, Numbers]:
    """Return the shares of the squared row length and how many directions have each."""
    if columns == 1:
        return (1.0,), (1.0,)
    others = columns - 1
    edges = [1.0]
    while edges[-1] < others + 1:
        edges.append(min(others + 1, max(edges[-1] + 1, math.floor(edges[-1] * 2 ** (1 / GROUPS_AN_OCTAVE)))))
    counts = [end - start for start, end in pairwise(edges)]
    spreads = [2 / (start + end - 1) for start, end in pairwise(edges)]
    unit = (1 - COMMON_SHARE) / sum(count * spread for count, spread in zip(counts, spreads, strict=True))
    return (COMMON_SHARE, *(unit * spread for spread in spreads)), (1.0, *counts)


@lru_cache(maxsize=256)
def lost_by_projection(columns: int, directions: int) -> float:
    """Return the share of what is at stake that no model of randomly projected rows can win back.

    A random projection to k directions acts like a ridge r on the spectrum p of the rows: what is left is
    ``sum_i p_i^2 / (p_i + r)``, with ``sum_i p_i / (p_i + r) = k``. The ridge is found by bisection.

    Examples
    --------
    >>> round(lost_by_projection(64, 4), 2), lost_by_projection(64, 64)
    (0.51, 0.0)
    """
    if directions >= columns:
        return 0.0
    groups = tuple(zip(*_spectrum(columns), strict=True))
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        kept = sum(count * spread / (spread + middle) for spread, count in groups)
        low, high = (middle, high) if kept > directions else (low, middle)
    return 1.0 - sum(count * spread**2 / (spread + high) for spread, count in groups)


@lru_cache(maxsize=256)
def mean_curvature(loss: Loss, label_bound: float, deviation: float, prevalence: float = 0.5) -> float:
    """Return the mean curvature at normal predictions of this deviation, with labels as likely as they say.

    The mean of two classes' predictions is where the second has this share; for several classes one class leads. In a
    regression it is what predictions leave of targets that is normal: of an even spread, whose variance is Y^2/3, the
    mean and the predictions tell Y^2/9 each, and as much is left, whatever the deviation. The mean over a cell of a
    grid is the change of the slope across it, which sees corners too.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> round(mean_curvature(losses.named("clipped-logistic"), 1.0, 3.0), 3)
    0.083
    >>> round(mean_curvature(losses.named("clipped-squared:1"), 1.0, 1 / 3), 2)
    1.73
    """
    gap = 2 * FARTHEST / (POINTS - 1)
    points = [place * gap - FARTHEST for place in range(POINTS)]
    likely = [math.exp(-point * point / 2) for point in points]
    width = deviation * gap

    def curvature(place: float, label: float) -> float:
        return (loss.slope(place + width / 2, label) - loss.slope(place - width / 2, label)) / width

    def expected(place: float) -> float:
        chance = (1 + math.tanh(place / 2)) / 2
        return chance * curvature(place, 1.0) + (1 - chance) * curvature(place, -1.0)

    if loss.outputs > 1:
        others = (0.0,) * loss.free_outputs
        found = [known(loss).curvature_trace((deviation * point, *others)) / loss.free_outputs for point in points]
    elif loss.task == "regression":
        left = known(loss).unit(label_bound) * gap
        # Neighbouring cells share an edge to the last digit: a corner at 0 is counted once.
        slopes = [loss.slope(left * (place - POINTS / 2), 0.0) for place in range(POINTS + 1)]
        found = [(after - before) / left for before, after in pairwise(slopes)]
    else:
        centre, flat = _centre(deviation, prevalence, points, likely), _flat_below(loss)
        share = 1.0
        if centre < flat:
            # No prediction is driven beyond the corner of a hinge, which is put inside a cell. What there is to win
            # there is told by the rarer class, as the curvature of a logistic loss says by itself.
            centre, share = flat + width / 4, 4 * prevalence * (1 - prevalence)
        found = [share * expected(centre + deviation * point) for point in points]
    return math.fsum(map(math.prod, zip(likely, found, strict=True))) / math.fsum(likely)


def _centre(deviation: float, prevalence: float, points: list[float], likely: list[float]) -> float:
    """Return the mean prediction at which the second class has this share, by bisection."""
    low, high = -deviation * FARTHEST - 40.0, 0.0
    if prevalence >= 0.5:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        chances = ((1 + math.tanh((middle + deviation * point) / 2)) / 2 for point in points)
        found = sum(map(math.prod, zip(likely, chances, strict=True))) / sum(likely)
        low, high = (middle, high) if found < prevalence else (low, middle)
    return high


def _flat_below(loss: Loss) -> float:
    """Return the prediction below which the common class of two costs nothing, or none that matters, by bisection."""
    low, high = -40.0, 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if loss.slope(middle, -1.0) > 0 else (middle, high)
    return low


def ridge_share(imagined: Reference, alpha: float, tilt: float, deviation: float) -> float:
    """Return the modelled cost of a minimiser: ridge, noise in the gradient, noise on the weights.

    ``tilt`` is the deviation of a random linear term's coordinates, which moves ``w_i`` by ``tilt / (h_i + alpha)``;
    ``deviation`` is that of noise added to the weights.
    """
    totals = [curvature + alpha for curvature in imagined.curvatures]
    if min(totals) <= 0:
        # Curvatures below all doubles: nothing holds the weights.
        return math.inf
    variance = [(tilt / total) * (tilt / total) + deviation * deviation for total in totals]
    return imagined.share([alpha / total for total in totals], variance)


@dataclass(frozen=True, slots=True)
class Descent:
    """A way to descend: how many steps, of what length, with how much momentum, and what is released of them."""

    steps: int
    step: float
    momentum: float
    average: Average


class Descents(NamedTuple):
    """Ways to descend, and a row each: what they fall short by along each direction, what a unit of noise leaves."""

    ways: tuple[Descent, ...]
    shrinkage: Array
    variance: Array


@lru_cache(maxsize=64)
def descents(
    imagined: Reference, alpha: float, lengths: tuple[float, ...], momentum: float, marks: tuple[int, ...]
) -> Descents:
    """Return, for every descent, by how much it falls short along each direction and what a unit of noise leaves.

    Heavy-ball steps from 0 with noise in every gradient obey ``v <- momentum v + (h + alpha) e + noise``,
    ``e <- e - length v`` along a direction. The answers to a unit error and to one unit of noise are followed for all
    lengths and directions at once, and read off at the marks. Where the way is steeper than its end, the shortfall is
    the root of the mean square of both.
    """
    import numpy as np

    if imagined.steepness != 1:
        begun, ended = (descents(each, alpha, lengths, momentum, marks) for each in imagined.even())
        return Descents(ended.ways, _of_both(begun.shrinkage, ended.shrinkage), ended.variance)
    curvatures = np.array(imagined.curvatures)
    curved, length = curvatures[None, :] + alpha, np.array(lengths)[:, None]
    error = np.ones((len(lengths), len(curvatures)))
    speed, answer, push = np.zeros_like(error), np.zeros_like(error), np.ones_like(error)
    error_sum, answer_sum = np.zeros_like(error), np.zeros_like(error)
    last, uniform = np.zeros_like(error), np.zeros_like(error)
    # The descent goes towards the minimiser of loss and ridge, which is itself short by alpha / (h + alpha).
    kept = curvatures / (curvatures + alpha)
    ways: list[Descent] = []
    shrinkage, variance = [], []
    for count in range(1, max(marks) + 1):
        # What leaves the doubles has an infinite cost.
        with np.errstate(all="ignore"):
            speed = momentum * speed + curved * error
            error = error - length * speed
            error_sum += error
            # The first push is the noise itself; from then on the answer drives itself.
            push = push if count == 1 else momentum * push + curved * answer
            answer = answer - length * push
            answer_sum += answer
            last += np.square(answer)
            uniform += np.square(answer_sum)
        if count in marks:
            averages: tuple[Average, ...] = ("last", "uniform")
            ways += [Descent(count, size, momentum, average) for average in averages for size in lengths]
            shrinkage += [1 - kept * (1 - error), 1 - kept * (1 - error_sum / count)]
            variance += [last.copy(), uniform / count**2]
    return Descents(tuple(ways), np.concatenate(shrinkage), np.concatenate(variance))


def averaged_descent(
    imagined: Reference, alpha: float, lengths: Array, steps: int, begun: int = 0
) -> tuple[Array, Array]:
    """Return what plain steps leave, a row a length: how far the mean weights fall short, and a unit of noise in them.

    Along a direction of curvature ``h + alpha`` a step keeps ``r = 1 - length (h + alpha)`` of an error. The mean of
    the weights after the steps ``begun + 1`` to ``steps`` keeps the mean of the powers of r; noise of variance 1 in
    every gradient leaves the sum of the squares of its answers, each a geometric sum. From ``r = -1`` on both diverge.
    Where the way is steeper than its end, the shortfall is the root of the mean square of both.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.vocabulary import losses
    >>> imagined = reference(losses.named("logistic"), 1.0, 1.0, 10)
    >>> short, left = averaged_descent(imagined, 0.0, np.array([1.0]), steps=50)
    >>> followed = descents(imagined, 0.0, (1.0,), 0.0, (50,))
    >>> place = followed.ways.index(Descent(50, 1.0, 0.0, "uniform"))
    >>> bool(np.allclose(short[0], followed.shrinkage[place])), bool(np.allclose(left[0], followed.variance[place]))
    (True, True)
    """
    import numpy as np

    if imagined.steepness != 1:
        (along, _), (around, left) = (averaged_descent(each, alpha, lengths, steps, begun) for each in imagined.even())
        return _of_both(along, around), left
    curvatures = np.array(imagined.curvatures)
    curved, count = curvatures[None, :] + alpha, steps - begun
    gone = lengths[:, None] * curved
    kept = 1 - gone
    with np.errstate(all="ignore"):
        lost = gone * (2 - gone)
        summed, squares = _powers(gone, count), _powers(lost, count)
        short = kept ** (begun + 1) * summed / count
        late = count - 2 * kept * summed + kept**2 * squares
        # Of a slow descent hardly a digit is left in the line above; there the sums are those of squares.
        late = np.where(count * np.abs(gone) < 1e-3, gone**2 * (count * (count + 1) * (2 * count + 1) / 6.0), late)
        early = np.square(gone * summed * kept) * _powers(lost, begun)
        left = (late + early) / np.square(curved * count)
    reached = curvatures / curved
    diverges = gone >= 2
    return np.where(diverges, np.inf, 1 - reached * (1 - short)), np.where(diverges, np.inf, left)


def _of_both(first: Array, second: Array) -> Array:
    """Return the root of the mean square of two shortfalls."""
    import numpy as np

    with np.errstate(all="ignore"):
        found: Array = np.sqrt((np.square(first) + np.square(second)) / 2)
    return found


def _powers(gone: Array, count: int) -> Array:
    """Return the sum of the powers of ``1 - gone`` from 0 to ``count - 1``, to all digits where little is gone."""
    import numpy as np

    near = -np.expm1(count * np.log1p(-gone))
    return np.where(gone < 1, near, 1 - (1 - gone) ** count) / gone
