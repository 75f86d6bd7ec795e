"""Membership inference: whether a row was among those that a model was trained on.

Three attacks on the same models. The loss threshold of Yeom, Giacomelli, Fredrikson and Jha (2018) calls a row a member
if the model fits it well. The likelihood-ratio attack of Carlini, Chien, Nasr, Song, Terzis and Tramer (2022) asks how
well models with the row and models without it fit that very row, by Gaussians fitted to shadow models; its offline form
uses only the models without it.

Every model is trained on a random half of a pool: always the same number of rows, in random order. So a row that is in,
and a row that is out with another in its place, are tables that differ in one row (docs/attacks.md).

The module is not called like the function `membership`, since ``equipoise.lab.membership`` cannot name both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import EquipoiseError, InvalidData, InvalidParameter
from equipoise.lab.attack_finding import LOW_RATE, AttackCurve, Ceiling, attack_curve
from equipoise.lab.attack_tables import table_of
from equipoise.lab.estimate import Array, Bootstrap
from equipoise.lab.outcome_likelihoods import answers, numbers
from equipoise.vocabulary.numbers import plain, require_count

Trainer = Callable[[Any, NDArray[Any], int], Any]
Loss = Callable[[Any, Any, NDArray[Any]], ArrayLike]

LEAST_ROWS, LEAST_SHADOWS, LEAST_TARGETS = 20, 8, 2
# With so many shadow models with a row, and as many without it, each row has variances of its own (Carlini et al. fit
# them from 64 models on); with fewer, one for all rows varies less than it errs.
OWN_VARIANCE = 32
# Probabilities this close to 0 or 1 are rounding: beyond, the logit measures the arithmetic and not the model.
FINEST = 1e-12


class Signal(Protocol):
    """A number for each row that training on the row moves in a known direction."""

    def read(self, model: Any, table: Any, outcomes: NDArray[Any]) -> Array:
        """Return the number for every row."""

    def fit(self, read: Array) -> Array:
        """Return how well the rows are fitted: higher is a lower loss."""

    def direction(self, without: Array) -> Array:
        """Return the sign of the move, from where the numbers lie when the row is left out."""


@dataclass(frozen=True, slots=True)
class LogitConfidence:
    """For classifiers: ``log p - log(1 - p)`` with the probability p of the true label, nearly Gaussian over models.

    Without probabilities the margin takes its place: the score of the true label less the best of the others. Without
    scores there is only whether the predicted label is the true one.
    """

    def read(self, model: Any, table: Any, outcomes: NDArray[Any]) -> Array:
        """Return the confidence in the true labels."""
        truth = np.asarray(outcomes[:, None] == np.asarray(model.classes_))
        if not truth.any():
            found = f"classes {', '.join(map(str, np.asarray(model.classes_)[:8].tolist()))} and none of them in y"
            raise InvalidData("a model that knows the labels of y", found, "pass y as the labels that are trained on")
        if hasattr(model, "predict_proba"):
            given = answers(model, "predict_proba", table, len(outcomes))
            chances = numbers(given, "predicted probabilities").reshape(truth.shape)
            # A label that this half of the rows does not hold is one that its model holds for impossible.
            inside, outside = (np.clip(np.where(side, chances, 0.0).sum(1), FINEST, 1) for side in (truth, ~truth))
            return np.asarray(np.log(inside) - np.log(outside))
        if not hasattr(model, "decision_function"):
            return np.asarray(answers(model, "predict", table, len(outcomes)) == outcomes, np.float64)
        scores = numbers(answers(model, "decision_function", table, len(outcomes)), "decision values")
        if scores.ndim == 1:
            scores = np.column_stack([-scores / 2, scores / 2])
        own, best = (np.where(side, scores, -np.inf).max(1) for side in (truth, ~truth))
        return np.asarray(np.where(np.isfinite(own), own, scores.min(1)) - best)

    def fit(self, read: Array) -> Array:
        """Return the confidence: the log-loss falls as it grows."""
        return read

    def direction(self, without: Array) -> Array:
        """Return that training on a row raises the confidence in its label."""
        return np.ones_like(without)


@dataclass(frozen=True, slots=True)
class Residual:
    """For regressors: the outcome less the prediction, with its sign; Gaussian over models where predictions are."""

    def read(self, model: Any, table: Any, outcomes: NDArray[Any]) -> Array:
        """Return the residuals."""
        truth = numbers(outcomes, "outcomes y", "pass y as finite numbers, or a loss")
        return truth - numbers(answers(model, "predict", table, len(outcomes)), "predictions")

    def fit(self, read: Array) -> Array:
        """Return the squared error with the sign changed."""
        return -(read**2)

    def direction(self, without: Array) -> Array:
        """Return that training on a row draws its residual towards 0."""
        return -np.sign(without)


@dataclass(frozen=True, slots=True)
class OwnLoss:
    """A loss of the caller's own: a finite number for each row, lower for a better fit."""

    loss: Loss

    def read(self, model: Any, table: Any, outcomes: NDArray[Any]) -> Array:
        """Return the losses with the sign changed."""
        losses = numbers(np.asarray(self.loss(model, table, outcomes)), "losses", "return a finite loss for each row")
        if losses.shape != outcomes.shape:
            found = f"losses of shape {losses.shape} for {len(outcomes):,} rows"
            raise InvalidData("a loss for every row, not their mean", found, "return an array of one loss for each row")
        return -losses

    def fit(self, read: Array) -> Array:
        """Return what was read."""
        return read

    def direction(self, without: Array) -> Array:
        """Return that training on a row lowers its loss."""
        return np.ones_like(without)


@dataclass(frozen=True, slots=True, eq=False)
class MembershipFinding:
    """How well three attacks tell the rows that a model was trained on from rows that it was not trained on.

    Parameters
    ----------
    loss_threshold, likelihood_ratio, likelihood_ratio_offline : AttackCurve
        Each attack's curve, its area, its advantage and its true-positive rate at 0.1 % false positives.
    ceiling : Ceiling or None
        What no attack can exceed if the trainer is as private as it was said to be.
    rows : int
        The size of the pool.
    trained_on : int
        How many of them each model was trained on.
    shadows, targets : int
        How many models the attacker trained, and how many were attacked.
    """

    loss_threshold: AttackCurve
    likelihood_ratio: AttackCurve
    likelihood_ratio_offline: AttackCurve
    ceiling: Ceiling | None
    rows: int
    trained_on: int
    shadows: int
    targets: int
    grade: ClassVar[str] = "measured"

    @property
    def attacks(self) -> dict[str, AttackCurve]:
        """The three attacks by their names in words."""
        return {
            "loss threshold": self.loss_threshold,
            "likelihood ratio": self.likelihood_ratio,
            "likelihood ratio, offline": self.likelihood_ratio_offline,
        }

    @property
    def confidence(self) -> float:
        """The confidence of each interval."""
        return self.loss_threshold.auc.confidence

    @property
    def above_ceiling(self) -> dict[str, tuple[str, ...]]:
        """Which figures of which attack lie above the ceiling with their whole interval; empty without a ceiling."""
        if self.ceiling is None:
            return {}
        found = {name: curve.above(self.ceiling) for name, curve in self.attacks.items()}
        return {name: figures for name, figures in found.items() if figures}

    @property
    def verdict(self) -> str:
        """What follows for the stated privacy."""
        if self.ceiling is None:
            return "no privacy was stated"
        if not self.above_ceiling:
            return "no attack lies above the ceiling"
        return f"above the ceiling: {', '.join(self.above_ceiling)}"

    def explain(self) -> str:
        """Return the finding in plain words, a line for each thing."""
        lines = [
            f"{self.grade}: membership inference, {self.targets} models attacked with {self.shadows} shadow models, "
            f"each trained on {self.trained_on:,} of {self.rows:,} rows"
        ]
        for name, curve in self.attacks.items():
            lines += [
                f"  {name}",
                f"    area under the curve (0.5 is guessing): {curve.auc}",
                f"    advantage (0 is guessing):              {curve.advantage}",
                f"    true positives at {100 * LOW_RATE:g} % false positives:  {curve.tpr_at_low_fpr}",
            ]
        lines.append(f"  confidence of each interval: {100 * self.confidence:g} %")
        expected = LOW_RATE * self.loss_threshold.others
        lines.append(f"  the last figure rests on about {expected:.2g} false positives")
        if self.ceiling is not None:
            lines.append(
                f"  ceiling at epsilon = {self.ceiling.epsilon:g}, delta = {self.ceiling.delta:g} (one row replaced): "
                f"area {self.ceiling.auc:.4g}, advantage {self.ceiling.advantage:.4g}, true positives "
                f"{float(self.ceiling.at(LOW_RATE)):.4g}; {self.verdict}"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        """Return the finding in one sentence."""
        areas = "; ".join(f"{name}: AUC {curve.auc}" for name, curve in self.attacks.items())
        return (
            f"{self.grade}: {areas}; {self.targets} models of {self.trained_on:,} rows attacked, confidence "
            f"{100 * self.confidence:g} %; {self.verdict}"
        )


def membership(
    train: Trainer,
    X: Any,  # noqa: N803 - the field's word for a table
    y: ArrayLike,
    *,
    shadows: int = 64,
    targets: int = 16,
    loss: Loss | None = None,
    ceiling: Ceiling | None = None,
    bootstrap: Bootstrap | None = None,
    seed: int = 0,
) -> MembershipFinding:
    """Attack a way of training: tell the rows that its models were trained on from those that they were not.

    Parameters
    ----------
    train : callable
        ``train(X, y, seed)`` returns a fitted model. It is called `shadows` + `targets` times, each time with a random
        half of the rows in random order and another seed.
    X, y : array or data frame, and array
        The pool of rows; all are attacked.
    shadows : int
        An even number of models that the attacker trains for himself; every second one on the rows that the one before
        it did not see.
    targets : int
        How many models are attacked. They are independent of one another and of the shadow models.
    loss : callable, optional
        ``loss(model, X, y)`` returns a loss for each row. Left out: the confidence in the true label for classifiers,
        the residual for regressors.
    ceiling : Ceiling, optional
        What the trainer's privacy allows, for instance ``Ceiling(epsilon)`` for one certified under replace-one on as
        many rows as a half has.
    bootstrap : Bootstrap, optional
        How intervals are made: how often models and rows are drawn anew, and the confidence.
    seed : int
        Of the halves and of the trainers' seeds: the same seed, the same finding.

    Returns
    -------
    MembershipFinding
        The curves of three attacks with intervals. A weak attack shows no privacy: a stronger one may exist.

    Examples
    --------
    A table of everything it was trained on is recognised; a constant is not.

    >>> class Memory:
    ...     def __init__(self, X):
    ...         self.seen = set(X[:, 0])
    ...     def predict(self, X):
    ...         return np.array([value if value in self.seen else 0.0 for value in X[:, 0]])
    >>> values = np.random.default_rng(0).normal(size=(60, 1))
    >>> found = membership(lambda X, y, seed: Memory(X), values, values[:, 0], shadows=8, targets=4)
    >>> print(found.loss_threshold.auc)
    1 [0.9697, 1]
    >>> values[:] = 0.0
    >>> print(membership(lambda X, y, seed: Memory(X), values, values[:, 0], shadows=8, targets=4).likelihood_ratio.auc)
    0.5 [0.4074, 0.5926]
    """
    table, outcomes = table_of(X), np.asarray(y)
    if outcomes.shape not in ((table.n_rows,), (table.n_rows, 1)):
        found = f"outcomes of shape {outcomes.shape} for {table.n_rows:,} rows"
        raise InvalidData("one outcome for every row", found, "pass X and y of the same rows")
    if table.n_rows < LEAST_ROWS:
        asked = f"a pool of {LEAST_ROWS} rows or more"
        raise InvalidData(asked, f"{table.n_rows}", "pass more rows: half of them train each model")
    shadows = require_count("shadows", shadows, "pass shadows=64")
    targets = require_count("targets", targets, "pass targets=16")
    if shadows < LEAST_SHADOWS or shadows % 2 or targets < LEAST_TARGETS:
        asked = f"an even number of {LEAST_SHADOWS} shadow models or more, and {LEAST_TARGETS} targets or more"
        raise InvalidParameter(asked, f"shadows={shadows}, targets={targets}", "pass shadows=64, targets=16")
    if not callable(train):
        raise InvalidParameter("a trainer", f"a {type(train).__name__}", "pass train=lambda X, y, seed: a fitted model")
    whole = plain(seed)
    if not isinstance(whole, int) or isinstance(whole, bool) or whole < 0:
        raise InvalidParameter("a seed: a whole number from 0 up", repr(seed), "pass seed=0")
    outcomes = outcomes.ravel()
    stream = np.random.default_rng(whole)
    halves = _halves(stream, table.n_rows, shadows, targets)
    seeds = stream.integers(2**31, size=len(halves)).tolist()
    signal: Signal | None = None if loss is None else OwnLoss(loss)
    read = np.empty((len(halves), table.n_rows))
    inside = np.zeros(read.shape, np.bool_)
    for place, (rows, its_seed) in enumerate(zip(halves, seeds, strict=True)):
        model = _trained(train, table.take(rows), outcomes[rows], its_seed)
        signal = signal or _signal_of(model)
        read[place] = signal.read(model, X, outcomes)
        inside[place, rows] = True
    assert signal is not None  # noqa: S101 - there are models
    attacked, members = read[shadows:], inside[shadows:]
    online, offline = likelihood_ratios(read[:shadows], inside[:shadows], attacked, signal)
    return MembershipFinding(
        loss_threshold=attack_curve(signal.fit(attacked), members, bootstrap),
        likelihood_ratio=attack_curve(online, members, bootstrap),
        likelihood_ratio_offline=attack_curve(offline, members, bootstrap),
        ceiling=ceiling,
        rows=table.n_rows,
        trained_on=table.n_rows // 2,
        shadows=shadows,
        targets=targets,
    )


def likelihood_ratios(
    shadows: Array, inside: NDArray[np.bool_], attacked: Array, signal: Signal
) -> tuple[Array, Array]:
    """Return the scores of the likelihood-ratio attack, online and offline, (targets, rows).

    Parameters
    ----------
    shadows : array of shape (models, rows)
        What was read from each shadow model for each row.
    inside : array of truth values, of the same shape
        Whether the row was among those that the model was trained on.
    attacked : array of shape (targets, rows)
        What was read from the attacked models.
    signal : Signal
        What was read: it knows in which direction a row's training moves it.

    Examples
    --------
    >>> inside = np.tile([[True], [False]], (8, 3))
    >>> online, offline = likelihood_ratios(np.where(inside, 2.0, 0.0), inside, np.array([[0.0, 1.0, 2.0]]), Residual())
    >>> (np.sign(online)).tolist()
    [[-1.0, 0.0, 1.0]]
    """
    # What is read from the first model is taken as each row's zero, so that equal numbers stay equal in the means.
    zero = shadows[0]
    moved, goal = shadows - zero, attacked - zero
    with_it, without = (_Gaussians(moved, side, _finest(shadows)) for side in (inside, ~inside))
    online = with_it.log_density(goal) - without.log_density(goal)
    offline = signal.direction(without.mean + zero) * (goal - without.mean) / without.deviation
    return online, offline


class _Gaussians:
    """A Gaussian for each row, fitted to what the chosen models say of it."""

    def __init__(self, read: Array, chosen: NDArray[np.bool_], finest: float) -> None:
        counts = chosen.sum(0)
        if counts.min() < 2:
            asked = "two shadow models with every row, and two without"
            raise InvalidParameter(asked, f"{int(counts.min())} for some row", "train more shadow models")
        self.mean = np.where(chosen, read, 0.0).sum(0) / counts
        squares = np.where(chosen, (read - self.mean) ** 2, 0.0).sum(0)
        own = len(read) >= 2 * OWN_VARIANCE
        variance = squares / (counts - 1) if own else np.full(len(counts), squares.sum() / (counts - 1).sum())
        self.deviation = np.sqrt(np.maximum(variance, finest**2))

    def log_density(self, read: Array) -> Array:
        """Return the logarithm of the density, but for a constant."""
        return np.asarray(-0.5 * ((read - self.mean) / self.deviation) ** 2 - np.log(self.deviation))


def _finest(read: Array) -> float:
    """Return the least deviation that is told from rounding."""
    return max(1e-9 * float(np.abs(read).max()), 1e-75)


def _halves(stream: np.random.Generator, rows: int, shadows: int, targets: int) -> list[NDArray[np.intp]]:
    """Return the rows of every model, in random order: pairs of disjoint halves for the shadows, then the targets.

    The order is random so that a row which takes another's place takes its place in the order too: the tables differ
    in one row even for a trainer to which the order matters.
    """
    half = rows // 2
    orders = [stream.permutation(rows) for _ in range(shadows // 2 + targets)]
    paired = [part for order in orders[: shadows // 2] for part in (order[:half], order[half : 2 * half])]
    return paired + [order[:half] for order in orders[shadows // 2 :]]


def _trained(train: Trainer, table: Any, outcomes: NDArray[Any], seed: int) -> Any:
    try:
        return train(table, outcomes, seed)
    except EquipoiseError:
        raise
    except Exception as error:
        raise InvalidParameter(
            "a trainer that fits a model to half of the rows",
            f"{type(error).__name__}: {error!s:.200}",
            "call train(X, y, seed) by itself on half of the rows",
        ) from error


def _signal_of(model: Any) -> Signal:
    return LogitConfidence() if hasattr(model, "classes_") else Residual()
