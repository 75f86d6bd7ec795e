"""Where training tends to as tables grow, given rows and a truth about their labels; and back from there.

Rows x are public; labels follow a linear model with coefficients b. Training clips a row to c(x), and minimises the
mean loss plus a ridge. With ever more rows its weights w tend to the solution of

    E[ c(x) slope(<w, c(x)>, y) ] + alpha w = 0,    y by the model at <b, x>.

The same equation is solved for w, given the truth, and for the truth, given w: what clipping and the ridge took off is
put back. No row of anybody's is looked at, and no privacy claim rests on any of it (docs/coefficients.md).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from equipoise.certify.claims.noisy_gradient import NoisyGradient
from equipoise.solve import losses
from equipoise.solve.descents.gradient import descend
from equipoise.vocabulary import penalties
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.losses import Loss

Array = NDArray[np.float64]

# Newton's method ends well within so many steps, or there is nothing to find.
STEPS, HALVINGS = 60, 30
NEAR = 1e-9

# A descent is moved to its release as near as this, by differences over this width, of the truth's own length.
NEAR_BY_STEPS, APART = 1e-4, 1e-3

# A normal number is as good as so many quantiles of it.
QUANTILES = 20


class Slope(NamedTuple):
    """The mean slope of the loss at every row, how it changes with the score and the truth's own score, its square."""

    value: Array
    by_score: Array
    by_truth: Array
    square: Array


class Labels(ABC):
    """How labels follow from the truth's score of a row."""

    def __init__(self, loss: Loss, domain: Domain) -> None:
        self._arrays, self.domain = losses.arrays_of(loss), domain

    @abstractmethod
    def drawn(self, truth: Array, stream: np.random.Generator) -> NDArray[Any]:
        """Return labels for rows whose true scores are these, as a table has them."""

    @abstractmethod
    def slope(self, scores: Array, truth: Array) -> Slope:
        """Return the loss's slope at these scores, averaged over labels at these true scores."""


class TwoClasses(Labels):
    """The second of two classes with chance ``1 / (1 + exp(-<b, x>))``."""

    def drawn(self, truth: Array, stream: np.random.Generator) -> NDArray[Any]:
        """Return classes."""
        second = (stream.random(len(truth)) < expit(truth)).astype(int)
        classes: NDArray[Any] = np.array(self.domain.classes)[second]
        return classes

    def slope(self, scores: Array, truth: Array) -> Slope:
        """Return the mean over both classes."""
        chance, ones = expit(truth), np.ones(len(scores))
        second, first = self._arrays.slope(scores, ones), self._arrays.slope(scores, -ones)
        bends = self._arrays.curvature(scores, ones), self._arrays.curvature(scores, -ones)
        return Slope(
            chance * second + (1 - chance) * first,
            chance * bends[0] + (1 - chance) * bends[1],
            chance * (1 - chance) * (second - first),
            chance * second**2 + (1 - chance) * first**2,
        )


class Numbers(Labels):
    """A normal number around ``<b, x>``, with a declared deviation; training clips it into its range."""

    def __init__(self, loss: Loss, domain: Domain, deviation: float) -> None:
        super().__init__(loss, domain)
        quantiles = ndtri((np.arange(QUANTILES) + 0.5) / QUANTILES)
        self._apart = deviation * quantiles / np.std(quantiles)
        self._deviation = deviation

    def drawn(self, truth: Array, stream: np.random.Generator) -> NDArray[Any]:
        """Return numbers in the units of the target."""
        return truth + self.domain.label_centre + stream.normal(0.0, self._deviation, len(truth))

    def slope(self, scores: Array, truth: Array) -> Slope:
        """Return the mean over evenly spaced quantiles of the label."""
        bound, parts = self.domain.label_bound, []
        for apart in self._apart:
            label = np.clip(truth + apart, -bound, bound)
            slope, bend = self._arrays.slope(scores, label), self._arrays.curvature(scores, label)
            parts.append((slope, bend, -bend * (np.abs(truth + apart) < bound), slope**2))
        return Slope(*np.mean(parts, axis=0))


class MeanTraining:
    """Where training tends to with ever more rows like these.

    Parameters
    ----------
    rows, clipped : array of shape (n, d)
        Rows as they are and as training sees them, each with its constant entry, if any.
    labels : Labels
        How labels follow from a row.
    alpha : float
        The ridge.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> labels = TwoClasses(losses.named("logistic"), Domain(1.0, classes=(0, 1)))
    >>> rows = np.linspace(-1, 1, 100)[:, None]
    >>> training = MeanTraining(rows, rows, labels, 0.1)
    >>> weights = training.weights(np.array([2.0]))
    >>> weights.round(2).tolist(), training.truth(weights).round(6).tolist()
    ([0.78], [2.0])
    """

    def __init__(self, rows: Array, clipped: Array, labels: Labels, alpha: float) -> None:
        self._rows, self._clipped, self._labels, self._alpha = rows, clipped, labels, alpha

    def weights(self, truth: Array) -> Array | None:
        """Return the weights that training tends to, None where there are none."""
        scores = self._rows @ truth

        def balance(weights: Array) -> Array:
            return self._balance(self._labels.slope(self._clipped @ weights, scores), weights)

        def change(weights: Array) -> Array:
            bend = self._labels.slope(self._clipped @ weights, scores).by_score
            return self._moved(bend, self._clipped, self._alpha)

        return _root(balance, change, truth, NEAR)

    def truth(self, weights: Array) -> Array | None:
        """Return the truth from which training tends to these weights, None where no truth would lead there."""
        scores = self._clipped @ weights

        def balance(truth: Array) -> Array:
            return self._balance(self._labels.slope(scores, self._rows @ truth), weights)

        def change(truth: Array) -> Array:
            return self._moved(self._labels.slope(scores, self._rows @ truth).by_truth, self._rows, 0.0)

        return _root(balance, change, weights, NEAR)

    def put_back(self, truth: Array, weights: Array) -> Array | None:
        """Return the matrix by which a small change of the weights is one of the truth, None where it is singular."""
        slope = self._labels.slope(self._clipped @ weights, self._rows @ truth)
        by_truth = self._moved(slope.by_truth, self._rows, 0.0)
        return _solved(by_truth, -self._moved(slope.by_score, self._clipped, self._alpha))

    def sampling(self, truth: Array, weights: Array, n_samples: int) -> Array:
        """Return the covariance of the truth that so many rows would tell, without noise: the sandwich.

        It is ``A^-1 S A'^-1 / n``, S the covariance of a row's gradient and A how the mean gradient changes with the
        truth.
        """
        slope = self._labels.slope(self._clipped @ weights, self._rows @ truth)
        return self._sandwich(slope, slope.square) / n_samples

    def by_these_rows(self, truth: Array, weights: Array) -> Array:
        """Return the covariance of the truth that comes of these rows being few: others would put something else back.

        Labels are no part of it: S is the covariance of a row's mean gradient, which is 0 where nothing is put back.
        """
        slope = self._labels.slope(self._clipped @ weights, self._rows @ truth)
        return self._sandwich(slope, slope.value**2) / len(self._rows)

    def _sandwich(self, slope: Slope, squares: Array) -> Array:
        means = self._clipped.T @ slope.value / len(self._rows)
        gradients = self._clipped.T @ (squares[:, None] * self._clipped) / len(self._rows) - np.outer(means, means)
        inverse = np.linalg.inv(self._moved(slope.by_truth, self._rows, 0.0))
        return np.asarray(inverse @ gradients @ inverse.T)

    def _balance(self, slope: Slope, weights: Array) -> Array:
        balance: Array = self._clipped.T @ slope.value / len(self._rows) + self._alpha * weights
        return balance

    def _moved(self, changes: Array, rows: Array, ridge: float) -> Array:
        moved: Array = self._clipped.T @ (changes[:, None] * rows) / len(rows)
        return moved + ridge * np.eye(len(moved))


class MeanDescent(MeanTraining):
    """Where a descent by noisy gradients tends to: the same steps, on mean gradients, without the noise.

    It need not be near a minimiser: there are few steps, and often their mean is released. How the weights change with
    the truth is found by differences.
    """

    def __init__(self, rows: Array, clipped: Array, labels: Labels, alpha: float, claim: NoisyGradient) -> None:
        super().__init__(rows, clipped, labels, alpha)
        self._claim = claim

    def weights(self, truth: Array) -> Array | None:
        """Return the weights at which the descent ends."""
        claim, procedure, scores = self._claim, self._claim.procedure, self._rows @ truth

        def gradient(weights: Array) -> Array:
            slope = self._labels.slope(self._clipped @ weights[0], scores)
            return self._balance(slope, weights[0])[None]

        ends: Array = descend(
            gradient,
            penalties.named("none", 0.0),
            (1, len(truth)),
            steps=claim.steps,
            step=procedure.step,
            momentum=procedure.momentum,
            average=procedure.average == "uniform",
            radius=claim.radius,
        )[0]
        return ends

    def truth(self, weights: Array) -> Array | None:
        """Return the truth from which the descent ends at these weights, None where none is found."""
        found = super().truth(weights)
        start = weights if found is None else found
        return _root(lambda truth: self._ends(truth) - weights, self._changes, start, NEAR_BY_STEPS)

    def put_back(self, truth: Array, weights: Array) -> Array | None:
        """Return the matrix by which a small change of the weights is one of the truth, None where it is singular."""
        return _solved(self._changes(truth), np.eye(len(truth)))

    def _changes(self, truth: Array) -> Array:
        here, width = self._ends(truth), APART * (1.0 + float(np.linalg.norm(truth)))
        changes = [(self._ends(truth + width * axis) - here) / width for axis in np.eye(len(truth))]
        return np.array(changes).T

    def _ends(self, truth: Array) -> Array:
        return np.asarray(self.weights(truth))


def _root(value: Callable[[Array], Array], change: Callable[[Array], Array], start: Array, near: float) -> Array | None:
    """Return where a value is nearly 0, by Newton's method with steps halved until they help; None where it is not."""
    place, found = start, value(start)
    size = float(np.linalg.norm(found))
    enough = near * max(size, 1.0)
    for _ in range(STEPS):
        if size <= enough:
            return place
        step = _solved(change(place), -found)
        if step is None:
            return None
        for _ in range(HALVINGS):
            found = value(place + step)
            if float(np.linalg.norm(found)) < size:
                break
            step = step / 2
        else:
            return None
        place, size = place + step, float(np.linalg.norm(found))
    return None


def _solved(matrix: Array, right: Array) -> Array | None:
    # Rounding makes almost singular matrices invertible, and what comes of them nonsense.
    if not np.all(np.isfinite(matrix)) or np.linalg.cond(matrix) > 1e12:
        return None
    return np.asarray(np.linalg.solve(matrix, right))
