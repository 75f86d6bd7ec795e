"""How likely an outcome is, given what a model predicts: what an attacker who inverts a model weighs levels by.

One class for each kind of model. Each says in words what the attacker has to know for it.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import InvalidData, InvalidParameter
from equipoise.lab.estimate import Array
from equipoise.vocabulary.numbers import plain, require_number

# Expectation-maximisation stops when the deviation moves by less than this share of itself, or after so many rounds.
SETTLED, ROUNDS = 1e-10, 1000


class Likelihood(Protocol):
    """Turns a model's answers for every level into the logarithm of the outcome's likelihood, (rows, levels)."""

    def weigh(self, model: Any, tables: Iterable[Any], outcomes: NDArray[Any], prior: Array) -> tuple[Array, str]:
        """Return the logarithms, and in words what the attacker used."""


@dataclass(frozen=True, slots=True)
class GaussianError:
    """A regressor's outcome is its prediction and a Gaussian error.

    Parameters
    ----------
    deviation : float, optional
        The error's standard deviation, where it was published with the model. Left out, the attacker estimates it by
        maximum likelihood from what he has: the outcomes and the other attributes of the attacked rows, the prior and
        the model. The true levels are not used.

    Examples
    --------
    >>> GaussianError(0.0)
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: a finite deviation > 0; found: deviation=0.0; to do: pass the standard \
deviation of the model's error, in the outcome's unit
    """

    deviation: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no deviation."""
        if self.deviation is not None:
            remedy = "pass the standard deviation of the model's error, in the outcome's unit"
            object.__setattr__(
                self, "deviation", require_number("deviation", plain(self.deviation), above=0.0, remedy=remedy)
            )

    def weigh(self, model: Any, tables: Iterable[Any], outcomes: NDArray[Any], prior: Array) -> tuple[Array, str]:
        """Return the logarithms of the Gaussian density of each level's error."""
        truth = numbers(outcomes, "outcomes y", "pass y as finite numbers, or the likelihood of a classifier")
        residuals = np.column_stack(
            [truth - numbers(answers(model, "predict", table, len(truth)), "predictions") for table in tables]
        )
        deviation, source = self.deviation, "given by the caller"
        if deviation is None:
            deviation = estimated_deviation(residuals, prior)
            source = "estimated by the attacker from the outcomes, without the levels"
        return -0.5 * (residuals / deviation) ** 2, f"a Gaussian error of deviation {deviation:.4g}, {source}"


@dataclass(frozen=True, slots=True)
class PredictedProbabilities:
    """A classifier says by `predict_proba` how likely it thinks each outcome."""

    def weigh(self, model: Any, tables: Iterable[Any], outcomes: NDArray[Any], prior: Array) -> tuple[Array, str]:
        """Return the logarithms of the predicted probabilities of the outcomes."""
        classes = np.asarray(getattr(model, "classes_", ())).tolist()
        places = {outcome: place for place, outcome in enumerate(classes)}
        strange = sorted({str(outcome) for outcome in outcomes.tolist() if outcome not in places})
        if strange:
            found = f"{strange[0]} among y, and the model's classes_ {', '.join(map(str, classes)) or 'missing'}"
            raise InvalidData("outcomes that the model knows", found, "pass y as the labels that the model predicts")
        rows, which = np.arange(len(outcomes)), np.array([places[outcome] for outcome in outcomes.tolist()])
        logarithms = []
        for table in tables:
            given = answers(model, "predict_proba", table, len(outcomes))
            chances = numbers(given, "predicted probabilities").reshape(len(outcomes), -1)
            if chances.shape[1] != len(classes):
                found = f"{chances.shape[1]} columns for {len(classes)} classes"
                raise InvalidData("a predicted probability for every class", found, "pass a fitted classifier")
            with np.errstate(divide="ignore"):
                logarithms.append(np.log(np.clip(chances[rows, which], 0.0, 1.0)))
        return np.column_stack(logarithms), "the probabilities that the classifier predicts"


@dataclass(frozen=True, slots=True)
class Agreement:
    """A classifier is wrong at a known rate, and wrong in every way alike: only its labels are seen.

    Parameters
    ----------
    error_rate : float
        How often the model is wrong, as published with it; above 0 and below 1.
    n_classes : int
        How many outcomes there are; an error is shared evenly among all but the predicted one.

    Examples
    --------
    >>> Agreement(1.5)
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: an error rate above 0 and below 1; found: 1.5; to do: pass how often the \
model is wrong
    """

    error_rate: float
    n_classes: int = 2

    def __post_init__(self) -> None:
        """Refuse what is no rate, and fewer than two classes."""
        if not isinstance(plain(self.error_rate), int | float) or not 0 < self.error_rate < 1:
            asked = "an error rate above 0 and below 1"
            raise InvalidParameter(asked, repr(self.error_rate), "pass how often the model is wrong")
        if not isinstance(self.n_classes, int) or self.n_classes < 2:
            raise InvalidParameter("two classes or more", f"n_classes={self.n_classes!r}", "pass n_classes=2")

    def weigh(self, model: Any, tables: Iterable[Any], outcomes: NDArray[Any], prior: Array) -> tuple[Array, str]:
        """Return the logarithms of the chance to be right or to err in this way."""
        right, wrong = math.log1p(-self.error_rate), math.log(self.error_rate / (self.n_classes - 1))
        same = [np.equal(answers(model, "predict", table, len(outcomes)), outcomes) for table in tables]
        logarithms = np.where(np.column_stack(same), right, wrong)
        return logarithms, f"predicted labels with an error rate of {self.error_rate:g}, given by the caller"


@dataclass(frozen=True, slots=True)
class ConfusionTable:
    """A classifier's errors are known by kind: for each prediction, the probability of each outcome.

    Parameters
    ----------
    table : mapping of prediction to mapping of outcome to probability
        As published with the model; each prediction's probabilities sum to 1.

    Examples
    --------
    >>> ConfusionTable({"low": {"low": 0.9, "high": 0.2}})
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: probabilities that sum to 1 for the prediction 'low'; found: a sum of \
1.1; to do: divide by the sum
    """

    table: Mapping[Hashable, Mapping[Hashable, float]]

    def __post_init__(self) -> None:
        """Refuse what are no probabilities."""
        for prediction, chances in self.table.items():
            probabilities(chances, f"for the prediction {prediction!r}")

    def weigh(self, model: Any, tables: Iterable[Any], outcomes: NDArray[Any], prior: Array) -> tuple[Array, str]:
        """Return the logarithms of the chance of each outcome after its prediction."""
        known = outcomes.tolist()
        columns = []
        for table in tables:
            said = answers(model, "predict", table, len(known)).tolist()
            missing = sorted({str(prediction) for prediction in said if prediction not in self.table})
            if missing:
                asked = "a line of the confusion table for every prediction"
                raise InvalidData(asked, f"none for {missing[0]}", "add it, or pass Agreement(error_rate)")
            columns.append([self.table[one].get(outcome, 0.0) for one, outcome in zip(said, known, strict=True)])
        with np.errstate(divide="ignore"):
            return np.log(np.array(columns, np.float64).T), "predicted labels with a confusion table, given"


def likelihood_of(model: Any) -> Likelihood:
    """Return how a model's outcomes are weighed unless the caller says otherwise.

    Examples
    --------
    >>> class Regressor:
    ...     def predict(self, X): ...
    >>> likelihood_of(Regressor())
    GaussianError(deviation=None)
    """
    if hasattr(model, "predict_proba"):
        return PredictedProbabilities()
    if hasattr(model, "classes_"):
        raise InvalidParameter(
            "the likelihood of an outcome under a classifier without predict_proba",
            "none",
            "pass likelihood=Agreement(error_rate), or ConfusionTable(...), with the errors published for the model",
        )
    return GaussianError()


def estimated_deviation(residuals: Array, prior: Array) -> float:
    """Return the deviation under which the outcomes are most likely, the levels being unknown.

    Each row is a mixture over its levels. Expectation-maximisation never lowers the likelihood; it starts at the
    deviation that the prior alone suggests.

    Examples
    --------
    >>> stream = np.random.default_rng(0)
    >>> level, error = stream.integers(2, size=4000), 0.5 * stream.normal(size=4000)
    >>> residuals = (3.0 * level + error)[:, None] - np.array([0.0, 3.0])
    >>> round(estimated_deviation(residuals, np.array([0.5, 0.5])), 2)
    0.5
    """
    squares = residuals**2
    start = float((squares @ prior).mean())
    # Where the model fits some level of every row, the estimate tends to 0; there it stays a positive number.
    floor = max(1e-18 * start, float(np.finfo(np.float64).tiny))
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)
    variance = max(start, floor)
    for _ in range(ROUNDS):
        logarithms = log_prior - 0.5 * squares / variance
        weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        updated = max(float((weights * squares).sum(axis=1).mean()), floor)
        settled = abs(updated - variance) <= SETTLED * variance
        variance = updated
        if settled:
            break
    return math.sqrt(variance)


def probabilities(given: Mapping[Hashable, float], what: str) -> Array:
    """Return a mapping's values if they are probabilities that sum to 1, or say what they are.

    Examples
    --------
    >>> probabilities({"yes": 0.5, "no": 0.5}, "of the prior").tolist()
    [0.5, 0.5]
    """
    wrong = [level for level, chance in given.items() if not _is_chance(chance)]
    if wrong:
        found = f"{given[wrong[0]]!r} for {wrong[0]!r}"
        raise InvalidParameter(f"probabilities {what}, each from 0 to 1", found, "pass a number from 0 to 1")
    total = math.fsum(given.values())
    if abs(total - 1) > 1e-6:
        asked = f"probabilities that sum to 1 {what}"
        raise InvalidParameter(asked, f"a sum of {total:.6g}", "divide by the sum")
    return np.array(list(given.values()), np.float64) / total


def _is_chance(value: object) -> bool:
    number = plain(value)
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number <= 1


def answers(model: Any, method: str, table: Any, rows: int) -> NDArray[Any]:
    """Return what a model answers for every row, or say why it does not."""
    asked = getattr(model, method, None)
    if not callable(asked):
        found = f"a {type(model).__name__} without {method}"
        raise InvalidParameter(f"a fitted model with {method}", found, "pass a fitted regressor or classifier")
    try:
        given = np.asarray(asked(table))
    except Exception as error:
        # scikit-learn's NotFittedError is known by its name: importing the library for it would take a second.
        if type(error).__name__ == "NotFittedError":
            found = f"a {type(model).__name__} that was not fitted"
            raise InvalidParameter("a fitted model", found, "call model.fit(X, y) before the attack") from None
        raise InvalidData(
            f"a model whose {method} takes the attacked table",
            f"{type(error).__name__}: {error!s:.200}",
            f"call model.{method}(X) by itself, with X of the columns and types that the model was fitted on",
        ) from error
    if len(np.atleast_1d(given)) != rows or (method == "predict" and given.size != rows):
        found = f"answers of shape {given.shape} for {rows:,} rows"
        raise InvalidData(f"one answer of {method} for every row", found, "pass a model with one outcome")
    return given.ravel() if method == "predict" else given


def numbers(given: NDArray[Any], what: str, remedy: str = "look at the model: it may have diverged") -> Array:
    """Return finite numbers as floats, or say that they are none."""
    if given.dtype.kind not in "fiub":
        raise InvalidData(f"{what} as finite numbers", f"type {given.dtype}", remedy)
    floats = given.astype(np.float64)
    bad = int((~np.isfinite(floats)).sum())
    if bad:
        raise InvalidData(f"{what} as finite numbers", f"{bad:,} of {floats.size:,} that are nan or infinity", remedy)
    return floats
