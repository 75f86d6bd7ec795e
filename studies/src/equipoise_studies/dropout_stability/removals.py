"""Figures 1 to 3: models trained without some of the rows, on the text sets and on Boston housing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.lab.estimate import Estimate
from equipoise.lab.row_removal import WAYS, RemovalFinding, Repetition, repeat, summarise
from equipoise_studies.dropout_stability import linear_models, text_models
from equipoise_studies.dropout_stability.preparation import Pair, Table
from equipoise_studies.frame import Report

Array = NDArray[np.float64]

CONFIDENCE, REPLICATES = 0.95, 500
RANDOM = {"random": WAYS["random"]}
BOSTON_TRAINING = 300


@dataclass(frozen=True)
class Plan:
    """Fractions that are removed, repetitions (each with its own split), and how the ridge's strength is chosen."""

    fractions: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    repetitions: int = 20
    passes: int = 100
    alphas: tuple[float, ...] = (1e-6, 1e-5, 1e-4, 1e-3)
    folds: int = 3


FULL = Plan()
QUICK = Plan((0.2, 0.5), 2, 20, (1e-5, 1e-4), 2)


@dataclass(frozen=True, eq=False)
class Compared:
    """What was found on one dataset: by model its finding and its repetitions, which share splits and orders."""

    key: str
    name: str
    n_train: int
    n_test: int
    n_columns: int
    fractions: tuple[float, ...]
    findings: Mapping[str, RemovalFinding]
    repetitions: Mapping[str, Sequence[Repetition]]
    alphas: tuple[float, ...] = ()

    def tables(self, model: str, way: str) -> tuple[Array, Array]:
        """Return a model's errors with all rows, (repetitions,), and without some, (repetitions, fractions)."""
        found = self.repetitions[model]
        return np.array([each.baseline for each in found]), np.stack([each.errors[way] for each in found])

    def apart(self, first: str, second: str, way: str = "random") -> tuple[Estimate, ...]:
        """Return by how much the marginal error of the first model exceeds the second's, at each fraction.

        Both models saw the same splits, so repetitions are drawn anew in pairs.
        """
        return _by_fraction(
            lambda rows: _marginal(self.tables(first, way), rows) - _marginal(self.tables(second, way), rows),
            len(self.repetitions[first]),
        )

    def worse(self, first: str, second: str, way: str = "random") -> tuple[Estimate, ...]:
        """Return by how much the first model's error exceeds the second's: with all rows, then at each fraction."""
        one, other = self.tables(first, way), self.tables(second, way)
        whole = np.column_stack([one[0] - other[0], one[1] - other[1]])
        return _by_fraction(lambda rows: whole[rows].mean(-2), len(whole))


def _marginal(tables: tuple[Array, Array], rows: NDArray[np.intp]) -> Array:
    baseline, errors = tables
    return np.asarray(np.abs((errors - baseline[:, None])[rows].mean(-2)))


def _by_fraction(value: Any, repetitions: int) -> tuple[Estimate, ...]:
    drawn = np.random.default_rng(0).integers(0, repetitions, (REPLICATES, repetitions))
    found, replicates = value(np.arange(repetitions)), value(drawn)
    return tuple(Estimate.of(each, column, CONFIDENCE) for each, column in zip(found, replicates.T, strict=True))


def share_below(found: Sequence[Estimate]) -> Estimate:
    """Return the share of differences below 0; the interval counts those surely below, and those not surely above.

    Examples
    --------
    >>> print(share_below([Estimate(-1, -2, -0.5, 0.95), Estimate(-1, -2, 1, 0.95), Estimate(1, 0.5, 2, 0.95)]))
    0.6667 [0.3333, 0.6667]
    """
    count = len(found)
    below, surely, perhaps = (sum(test(each) for each in found) / count for test in (_below, _surely, _perhaps))
    return Estimate(below, surely, perhaps, CONFIDENCE)


def _below(found: Estimate) -> bool:
    return found.value < 0


def _surely(found: Estimate) -> bool:
    return found.high < 0


def _perhaps(found: Estimate) -> bool:
    return found.low < 0


def compare_texts(table: Table, pair: Pair, plan: Plan, report: Report) -> Compared:
    """Return how the four kinds of logistic regression do on half of the documents, and without some of them.

    Rows are removed at random, and on the first pair also by the adversary. The ridge's strength is cross-validated
    once a repetition, on all of its training rows.
    """
    ways = WAYS if pair.key == "atheist" else RANDOM
    n_train = len(table.outcomes) // 2
    found: dict[str, list[Repetition]] = {}
    alphas = []
    for number in range(plan.repetitions):
        report(f"text, {pair.name}", number, plan.repetitions)
        train, test = table.split(n_train, number)
        alpha = text_models.chosen_alpha(train.rows, train.outcomes, plan.alphas, plan.folds, number)
        alphas.append(alpha)
        models = {
            "unregularised": text_models.PlainLogistic(),
            "L2": text_models.RidgeLogistic(alpha),
            "dropout": text_models.DropoutLogistic(passes=plan.passes),
            "deterministic dropout": text_models.DeterministicDropoutLogistic(),
        }
        _collect(found, models, train, test, plan.fractions, ways, number)
    report(f"text, {pair.name}", plan.repetitions, plan.repetitions)
    return _compared(pair.key, pair.name, table, n_train, plan, found, "share of wrong labels", tuple(alphas))


def compare_boston(table: Table, plan: Plan, report: Report, n_train: int = BOSTON_TRAINING) -> Compared:
    """Return how the four kinds of linear regression do on 300 rows, and without some of them, removed at random."""
    found: dict[str, list[Repetition]] = {}
    for number in range(plan.repetitions):
        report("Boston housing", number, plan.repetitions)
        train, test = table.split(n_train, number)
        _collect(found, linear_models.models(), train, test, plan.fractions, RANDOM, number)
    report("Boston housing", plan.repetitions, plan.repetitions)
    return _compared("boston", "Boston housing", table, n_train, plan, found, "mean squared error", ())


def _collect(
    found: dict[str, list[Repetition]],
    models: Mapping[str, Any],
    train: Table,
    test: Table,
    fractions: Sequence[float],
    ways: Mapping[str, Any],
    number: int,
) -> None:
    for name, model in models.items():
        # One seed for all models: they lose the same rows where removal is random.
        once = repeat(model, (train.rows, train.outcomes), (test.rows, test.outcomes), fractions, ways, (7, number))
        found.setdefault(name, []).append(once)


def _compared(
    key: str,
    name: str,
    table: Table,
    n_train: int,
    plan: Plan,
    found: Mapping[str, Sequence[Repetition]],
    error: str,
    alphas: tuple[float, ...],
) -> Compared:
    sizes = (n_train, len(table.outcomes) - n_train)
    findings = {model: summarise(each, plan.fractions, sizes, error) for model, each in found.items()}
    return Compared(key, name, *sizes, table.rows.shape[1], plan.fractions, findings, found, alphas)
