"""How much a model depends on particular rows: train without a share of them, and look at the test error.

The measure of Jain, Kulkarni, Thakurta and Williams ([003], section 5). Rows are removed at random, or by an adversary
who takes first the rows that the full model is least sure of. The *marginal error* is how far the mean test error lies
from that of the models trained on all rows, in either direction.

The module is not called like the function `removal`, since ``equipoise.lab.removal`` cannot name both.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

from equipoise.errors import EquipoiseError, InvalidData, InvalidParameter
from equipoise.lab.attack_tables import table_of
from equipoise.lab.estimate import Array, Estimate
from equipoise.vocabulary.numbers import plain, require_count

Rows = NDArray[np.intp]
# Asked with the model of all rows, the rows, their outcomes and a stream of coins: which row goes first, second, ...
Order = Callable[[Any, Any, NDArray[Any], np.random.Generator], ArrayLike]
Error = Callable[[NDArray[Any], NDArray[Any]], float]


def at_random(model: Any, table: Any, outcomes: NDArray[Any], stream: np.random.Generator) -> Rows:
    """Return the rows in a random order."""
    return stream.permutation(len(outcomes))


def least_sure_first(model: Any, table: Any, outcomes: NDArray[Any], stream: np.random.Generator) -> Rows:
    """Return the rows by how sure the model is of them, the least sure first; ties in random order.

    For a linear classifier this is the paper's order, by ``abs(<x, theta>)``. With several classes it is the lead of
    the best class; without scores, the lead of the most probable one. For a regressor it is the distance of the
    prediction from the mean outcome, which is the same number where outcomes are centred.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rows, outcomes = np.array([[-2.0], [0.5], [1.5]]), np.array([-2.0, 0.5, 1.5])
    >>> model = LinearRegression().fit(rows, outcomes)
    >>> least_sure_first(model, rows, outcomes, np.random.default_rng(0)).tolist()
    [1, 2, 0]
    """
    shuffled = stream.permutation(len(outcomes))
    return np.asarray(shuffled[np.argsort(_sureness(model, table, outcomes)[shuffled], kind="stable")])


def _sureness(model: Any, table: Any, outcomes: NDArray[Any]) -> Array:
    if not hasattr(model, "classes_"):
        return np.asarray(np.abs(np.asarray(model.predict(table), np.float64).ravel() - outcomes.mean()))
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            scores = np.asarray(getattr(model, method)(table), np.float64)
            if scores.ndim == 1:
                return np.abs(scores)
            best = np.partition(scores, -2, axis=1)
            return np.asarray(best[:, -1] - best[:, -2])
    raise InvalidParameter(
        "a classifier with scores or probabilities, to find the rows that it is least sure of",
        f"a {type(model).__name__} without decision_function and predict_proba",
        'pass ways={"random": at_random}, or an order of your own',
    )


WAYS: Mapping[str, Order] = {"random": at_random, "adversarial": least_sure_first}


def share_wrong(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the share of predictions that differ from the truth."""
    return float(np.mean(truth != predicted))


def mean_squared(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the mean squared difference."""
    return float(np.mean(np.square(np.asarray(truth, np.float64) - predicted)))


@dataclass(frozen=True, slots=True, eq=False)
class Repetition:
    """One repetition: the test error with all rows, and by way the errors without some, one for each fraction.

    `moved` says how far the predictions for the test rows moved from those of the model of all rows, by the same
    measure as the errors: the share that changed, or their mean squared change.
    """

    baseline: float
    errors: dict[str, Array]
    moved: dict[str, Array]


@dataclass(frozen=True, slots=True)
class RemovalCurve:
    """What one way of removal does, at each fraction.

    Parameters
    ----------
    error : tuple of Estimate
        The mean test error.
    marginal : tuple of Estimate
        How far that lies from the mean test error with all rows, in absolute value.
    moved : tuple of Estimate
        The share of test predictions that changed (classifiers), or their mean squared change (regressors).
    """

    error: tuple[Estimate, ...]
    marginal: tuple[Estimate, ...]
    moved: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RemovalFinding:
    """How a model's test error changes as rows are removed; measured, on these rows and this split.

    Parameters
    ----------
    fractions : tuple of float
        The shares of the rows that were removed.
    baseline : Estimate
        The mean test error with all rows.
    curves : dict of str to RemovalCurve
        By way of removal.
    rows, test_rows, repetitions : int
        What it was measured on.
    error : str
        What the error is, in words.
    """

    fractions: tuple[float, ...]
    baseline: Estimate
    curves: dict[str, RemovalCurve]
    rows: int
    test_rows: int
    repetitions: int
    error: str
    grade: ClassVar[str] = "measured"

    @property
    def confidence(self) -> float:
        """The confidence of each interval."""
        return self.baseline.confidence

    def explain(self) -> str:
        """Return the finding in plain words, a line for each fraction."""
        lines = [
            f"{self.grade}: stability under removal of rows, {self.error} on {self.test_rows:,} test rows, "
            f"{self.repetitions} repetitions",
            f"  all {self.rows:,} rows: {self.baseline}",
        ]
        for name, curve in self.curves.items():
            lines.append(f"  {name} removal")
            for place, fraction in enumerate(self.fractions):
                lines.append(
                    f"    {100 * fraction:g} % removed: error {curve.error[place]}, marginal error "
                    f"{curve.marginal[place]}, predictions moved {curve.moved[place]}"
                )
        lines.append(
            f"  confidence of each interval: {100 * self.confidence:g} %, over repetitions and not over other rows; "
            "a model that is stable here is no private one"
        )
        return "\n".join(lines)

    def __str__(self) -> str:
        """Return the finding in one sentence."""
        worst = {
            name: max(zip(curve.marginal, self.fractions, strict=True), key=lambda pair: pair[0].value)
            for name, curve in self.curves.items()
        }
        said = "; ".join(
            f"{name} removal: at most {marginal} away, at {100 * fraction:g} % removed"
            for name, (marginal, fraction) in worst.items()
        )
        return f"{self.grade}: {self.error} {self.baseline} with all {self.rows:,} rows; {said}"


def removal(
    estimator: Any,
    X: Any,  # noqa: N803 - the field's word for a table
    y: ArrayLike,
    X_test: Any,  # noqa: N803
    y_test: ArrayLike,
    fractions: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    *,
    repetitions: int = 20,
    ways: Mapping[str, Order] | None = None,
    error: Error | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> RemovalFinding:
    """Measure how a model's test error changes when a share of the training rows is removed.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Trained anew, as a clone, ``repetitions * (1 + ways * fractions)`` times.
    X, y : array, sparse matrix or data frame, and array
        The training rows.
    X_test, y_test : the same
        The rows on which errors are measured; never trained on.
    fractions : sequence of float
        The shares to remove, above 0 and below 1, rising.
    repetitions : int
        Each draws another order of removal and gives a random estimator another seed. One order serves all fractions
        of a repetition: what is removed at 20 % was removed at 10 % too, or stands next in the order.
    ways : mapping of str to callable, optional
        Which rows go first; by default `at_random` and `least_sure_first`, the paper's two.
    error : callable, optional
        ``error(y_test, predictions)``; by default the share of wrong labels, or the mean squared error.
    confidence : float
        Of each interval, by Student's law over the repetitions.
    seed : int
        The same seed, the same finding.

    Returns
    -------
    RemovalFinding
        Test errors and marginal errors by way and fraction. It makes no certificate.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> stream = np.random.default_rng(0)
    >>> rows = stream.normal(size=(400, 3))
    >>> labels = (rows[:, 0] + stream.normal(size=400) > 0).astype(int)
    >>> found = removal(LogisticRegression(), rows[:200], labels[:200], rows[200:], labels[200:], [0.5], repetitions=5)
    >>> found.grade, sorted(found.curves), found.curves["random"].error[0].value < 0.4
    ('measured', ['adversarial', 'random'], True)
    """
    from sklearn.base import is_classifier

    if not all(hasattr(estimator, name) for name in ("get_params", "set_params", "fit")):
        remedy = "pass an estimator that clone(estimator) copies, such as LogisticRegression()"
        raise InvalidParameter("a scikit-learn estimator", f"a {type(estimator).__name__}", remedy)
    shares, ways = _checked_fractions(fractions), dict(WAYS if ways is None else ways)
    repetitions = require_count("repetitions", repetitions, "pass repetitions=20")
    if repetitions < 2 or not 0 < confidence < 1:
        found = f"repetitions={repetitions}, confidence={confidence!r}"
        raise InvalidParameter("2 repetitions or more, and a confidence above 0 and below 1", found, "pass 20 and 0.95")
    if not ways or not all(callable(order) for order in ways.values()):
        raise InvalidParameter("orders of removal by name", repr(ways), 'pass ways={"random": at_random}')
    whole = plain(seed)
    if not isinstance(whole, int) or isinstance(whole, bool) or whole < 0:
        raise InvalidParameter("a seed: a whole number from 0 up", repr(seed), "pass seed=0")
    outcomes, truth = np.asarray(y), np.asarray(y_test)
    found_repetitions = [
        repeat(estimator, (X, outcomes), (X_test, truth), shares, ways, (whole, number), error)
        for number in range(repetitions)
    ]
    named = "share of wrong labels" if is_classifier(estimator) else "mean squared error"
    what = named if error is None else getattr(error, "__name__", "error")
    return summarise(found_repetitions, shares, (len(outcomes), len(truth)), what, confidence)


def _checked_fractions(fractions: Sequence[float]) -> tuple[float, ...]:
    shares = tuple(float(each) for each in fractions)
    rising = all(low < high for low, high in itertools.pairwise(shares))
    if not shares or not rising or not all(0 < each < 1 for each in shares):
        raise InvalidParameter("rising fractions above 0 and below 1", repr(shares), "pass fractions=(0.1, 0.3, 0.5)")
    return shares


def repeat(
    estimator: Any,
    training: tuple[Any, NDArray[Any]],
    test: tuple[Any, NDArray[Any]],
    fractions: Sequence[float],
    ways: Mapping[str, Order],
    seed: Sequence[int],
    error: Error | None = None,
) -> Repetition:
    """Train with all rows and without some, once; `summarise` puts repetitions together, of one split or of several.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> line = np.arange(20.0)[:, None]
    >>> once = repeat(LinearRegression(), (line, line[:, 0]), (line, line[:, 0]), [0.5], WAYS, (0,))
    >>> once.baseline < 1e-20, once.errors["adversarial"].shape
    (True, (1,))
    """
    from sklearn.base import is_classifier

    (table, outcomes), (test_table, truth) = training, test
    n_rows = _matching(table, outcomes)
    _matching(test_table, truth)
    measured = error or (share_wrong if is_classifier(estimator) else mean_squared)
    apart = share_wrong if is_classifier(estimator) else mean_squared
    stream = np.random.default_rng(tuple(seed))
    coins = int(stream.integers(2**31))
    model = _trained(estimator, table, outcomes, coins)
    before = np.asarray(model.predict(test_table))
    errors: dict[str, Array] = {}
    moved: dict[str, Array] = {}
    for name, order in ways.items():
        goes = np.asarray(order(model, table, outcomes, stream))
        if goes.shape != (n_rows,) or not np.array_equal(np.sort(goes), np.arange(n_rows)):
            asked = f"every row once, in the order in which {name!r} removes them"
            raise InvalidParameter(asked, f"an array of shape {goes.shape} that is no order", "return a permutation")
        errors[name], moved[name] = np.empty(len(fractions)), np.empty(len(fractions))
        for place, fraction in enumerate(fractions):
            kept = np.sort(goes[round(fraction * n_rows) :])
            if not len(kept):
                raise InvalidData("rows that remain", f"none of {n_rows} at {fraction:g}", "remove less, or pass more")
            after = _predictions(estimator, _take(table, kept), outcomes[kept], coins, test_table)
            errors[name][place] = measured(truth, after)
            moved[name][place] = apart(before, after)
    return Repetition(measured(truth, before), errors, moved)


def summarise(
    repetitions: Sequence[Repetition],
    fractions: Sequence[float],
    rows: tuple[int, int],
    error: str,
    confidence: float = 0.95,
) -> RemovalFinding:
    """Return the finding of repetitions: means with intervals by Student's law.

    Examples
    --------
    >>> runs = [Repetition(0.2, {"random": np.array([0.2 + by])}, {"random": np.array([0.1])}) for by in (0.1, 0.2)]
    >>> found = summarise(runs, [0.5], (100, 100), "share of wrong labels")
    >>> round(found.curves["random"].marginal[0].value, 3)
    0.15
    """
    baselines = np.array([each.baseline for each in repetitions])
    curves = {}
    for name in repetitions[0].errors:
        errors, moved = (
            np.stack([table[name] for table in tables])
            for tables in ([each.errors for each in repetitions], [each.moved for each in repetitions])
        )
        curves[name] = RemovalCurve(
            tuple(mean(column, confidence) for column in errors.T),
            tuple(absolute(mean(column - baselines, confidence)) for column in errors.T),
            tuple(mean(column, confidence) for column in moved.T),
        )
    shares = tuple(float(each) for each in fractions)
    return RemovalFinding(shares, mean(baselines, confidence), curves, *rows, len(repetitions), error)


def mean(values: Array, confidence: float = 0.95) -> Estimate:
    """Return the mean of independent repetitions with its interval by Student's law.

    Examples
    --------
    >>> print(mean(np.array([1.0, 2.0, 3.0])))
    2 [-0.4841, 4.484]
    """
    centre, count = float(values.mean()), len(values)
    reach = float(student.ppf((1 + confidence) / 2, count - 1) * values.std(ddof=1) / math.sqrt(count))
    return Estimate(centre, centre - reach, centre + reach, confidence)


def absolute(found: Estimate) -> Estimate:
    """Return the absolute value of a figure; an interval around 0 starts at 0.

    Examples
    --------
    >>> print(absolute(Estimate(-2.0, -3.0, 1.0, 0.95)))
    2 [0, 3]
    """
    low, high = sorted((abs(found.low), abs(found.high)))
    return Estimate(abs(found.value), 0.0 if 0.0 in found else low, high, found.confidence)


def _matching(table: Any, outcomes: NDArray[Any]) -> int:
    n_rows = table.shape[0] if hasattr(table, "tocsr") else table_of(table).n_rows
    if outcomes.shape != (n_rows,):
        found = f"outcomes of shape {outcomes.shape} for {n_rows:,} rows"
        raise InvalidData("one outcome for every row", found, "pass X and y of the same rows")
    return int(n_rows)


def _take(table: Any, rows: Rows) -> Any:
    return table.tocsr()[rows] if hasattr(table, "tocsr") else table_of(table).take(rows)


def _trained(estimator: Any, table: Any, outcomes: NDArray[Any], seed: int) -> Any:
    from sklearn.base import clone

    try:
        model = clone(estimator)
        names = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
        return model.set_params(**dict.fromkeys(names, seed)).fit(table, outcomes)
    except EquipoiseError:
        raise
    except Exception as failure:
        raise InvalidParameter(
            "a scikit-learn estimator that can be cloned and fitted to the rows",
            f"{type(failure).__name__}: {failure!s:.200}",
            "call clone(estimator).fit(X, y) by itself",
        ) from failure


def _predictions(estimator: Any, table: Any, outcomes: NDArray[Any], seed: int, test_table: Any) -> NDArray[Any]:
    from sklearn.base import is_classifier

    if is_classifier(estimator) and (outcomes == outcomes[0]).all():
        # Many classifiers refuse one class; whatever they would learn from it, they could predict nothing else.
        return np.full(test_table.shape[0], outcomes[0])
    return np.asarray(_trained(estimator, table, outcomes, seed).predict(test_table))
