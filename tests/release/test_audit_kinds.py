"""Whole releases of every kind beside output perturbation, audited on neighbours; planted faults are caught.

Output perturbation has a file of its own, test_audit_estimators.py. A release here is all that `fit` does, without
scikit-learn's bookkeeping around it; `test_a_fit_is_this_release` holds the two together.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

import equipoise as eq
from auditing import FAILURE, FEW_RUNS, FRESH_RUNS, FifthOfTheNoise, HalvedNoise, TenthOfTheNoise, audit
from equipoise.certify.certificate import Certificate
from equipoise.certify.theorems import perturbation
from equipoise.data.tables import feature_table, target_column
from equipoise.errors import NoTheoremApplies
from equipoise.estimators.base import PrivateLinearModel
from equipoise.noise import SeededSource
from equipoise.planning.issue import forget
from equipoise.release import release

Array = NDArray[np.float64]

# test_audit_estimators.py counts four shares of the suite's false-alarm rate for this file. The audits that may not
# fail here use half a share each, and there are at most eight.
SHARE = FAILURE / 2
MOST_AUDITS = 8

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
THREE = eq.Domain(row_norm=1.0, classes=(0, 1, 2))
LABELS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))


@dataclass(frozen=True)
class Case:
    """A model, a row that is turned round, how many rows of zeros stand beside it, and how often it is released."""

    model: type[PrivateLinearModel]
    parameters: tuple[tuple[str, object], ...]
    runs: int
    others: int = 3

    def estimator(self, **changes: object) -> PrivateLinearModel:
        given = {"epsilon": 1.0, "fit_intercept": False, "random_state": 0, **dict(self.parameters), **changes}
        return self.model(**given)

    def tables(self, dimension: int = 1) -> tuple[Array, Array, Array]:
        X = np.zeros((1 + self.others, dimension))
        X[0] = 1 / np.sqrt(dimension)
        if self.model is eq.LogisticRegression:
            return X, -X, np.resize([1, 0], len(X))
        return X, -X, np.resize([1.0, 0.0, 0.0, 0.0], len(X))


def case(model: type[PrivateLinearModel], runs: int, others: int = 3, **parameters: object) -> Case:
    return Case(model, tuple(parameters.items()), runs, others)


# A strong ridge keeps the loss from adding curvature, and a weak one keeps the steps' noise in the weights: either way
# the releases come near their claim. Approximate privacy is audited at a delta that some thousand runs can see.
CASES = {
    "objective": case(eq.LogisticRegression, 2000, domain=CLASSES, alpha=20.0, mechanism="objective"),
    "objective, approximate": case(
        eq.LogisticRegression, 2000, domain=CLASSES, alpha=20.0, mechanism="objective", delta=0.1
    ),
    "objective, three classes": case(eq.LogisticRegression, 2000, domain=THREE, alpha=20.0, mechanism="objective"),
    "noisy gradient": case(
        eq.LogisticRegression, 2000, domain=CLASSES, alpha=0.01, mechanism="noisy-gradient", delta=0.1
    ),
    "noisy gradient, batches": case(
        eq.LogisticRegression, 1000, domain=CLASSES, alpha=0.01, mechanism="noisy-gradient:3", delta=0.1
    ),
    "sufficient statistics": case(eq.Ridge, 3000, domain=LABELS, alpha=0.01, mechanism="sufficient-statistics"),
    "functional": case(eq.Ridge, 4000, domain=LABELS, alpha=0.01, mechanism="functional"),
}
every_case = pytest.mark.parametrize("name", CASES)

# A fifth of the runs, and no more than this.
MOST_PILOTS = 200
QUANTILES = (0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95)

Statistic = Callable[[Array], float]


def along(weights: Array) -> float:
    """Return the sum of the weights, of several classes those of the row's own: all of them point where it does."""
    outputs = np.atleast_2d(weights)
    return float(outputs[min(1, len(outputs) - 1)].sum())


def releases(
    certificate: Certificate,
    tables: tuple[Array, Array, Array],
    source: type[SeededSource],
    runs: range,
    statistic: Statistic = along,
) -> tuple[Array, Array]:
    """Return one number a release, for both tables."""
    first, second, labels = tables
    target = target_column(labels, len(labels))
    sides = [feature_table(first), feature_table(second)]
    found = [
        [
            statistic(release(certificate, side, target, source(2 * run + place)).weights)
            for place, side in enumerate(sides)
        ]
        for run in runs
    ]
    one, other = np.array(found).T
    return one, other


def observed(
    name: str, source: type[SeededSource] = SeededSource, runs: int | None = None, start: int = 0, dimension: int = 1
) -> float:
    """Return the audit's lower bound on epsilon; its thresholds come from pilot runs that are not counted."""
    chosen = CASES[name]
    runs = runs or chosen.runs
    tables = chosen.tables(dimension)
    certificate = chosen.estimator().plan(*tables[0].shape)
    pilots = releases(certificate, tables, source, range(start + 2**41, start + 2**41 + min(runs // 5, MOST_PILOTS)))
    thresholds = np.quantile(np.concatenate(pilots), QUANTILES)
    first, second = releases(certificate, tables, source, range(start, start + runs))
    return audit(first, second, certificate.delta, thresholds, SHARE).epsilon


def test_the_file_keeps_to_its_share_of_the_false_alarm_rate():
    assert len(CASES) <= MOST_AUDITS


@every_case
def test_a_fit_is_this_release(name):
    first, _, labels = CASES[name].tables(dimension=2)
    for seed in range(3):
        fitted = CASES[name].estimator(random_state=seed).fit(first, labels)
        released = release(
            fitted.certificate_, feature_table(first), target_column(labels, len(labels)), SeededSource(seed)
        )
        assert np.ravel(fitted.coef_) == pytest.approx(released.weights.ravel(), abs=0)


@every_case
@pytest.mark.parametrize("runs", [FEW_RUNS, pytest.param(None, marks=pytest.mark.statistics, id="all runs")])
def test_a_whole_release_stays_below_its_claim(name, runs):
    assert observed(name, runs=runs) <= CASES[name].estimator().epsilon


@pytest.mark.statistics
@every_case
@pytest.mark.parametrize("dimension", [1, 3])
def test_a_whole_release_stays_below_its_claim_with_more_runs_and_fresh_seeds(name, dimension):
    start = secrets.randbelow(2**40)
    assert observed(name, runs=FRESH_RUNS, start=start, dimension=dimension) <= CASES[name].estimator().epsilon


# --- planted faults ---------------------------------------------------------------------------------------------------


class DividedByTheBatch(HalvedNoise):
    """A fault: the sensitivity of a mean over the batch, divided by the batch size once more."""

    fraction = 1 / 3


class FixedSeed(SeededSource):
    """A fault: every release draws the same noise."""

    def __init__(self, seed):
        super().__init__(0)


# What few and what all runs show. Where predictions of several classes are level, two rows differ by less than 0.6 of
# what any two can, and noise has two dimensions at least: contracts/test_classes.py has densities that come near (E2e).
FAULTS = dict.fromkeys(CASES, (FifthOfTheNoise, HalvedNoise))
FAULTS["objective, three classes"] = (TenthOfTheNoise, FifthOfTheNoise)


@every_case
def test_too_little_noise_is_caught_by_few_runs(name):
    assert observed(name, FAULTS[name][0], FEW_RUNS) > CASES[name].estimator().epsilon


@pytest.mark.statistics
@every_case
def test_too_little_noise_is_caught_by_all_runs(name):
    assert observed(name, FAULTS[name][1]) > CASES[name].estimator().epsilon


def test_a_sensitivity_divided_by_the_batch_size_is_caught(monkeypatch):
    batches = case(
        eq.LogisticRegression, 300, others=5, domain=CLASSES, alpha=0.01, mechanism="noisy-gradient:3", delta=0.1
    )
    monkeypatch.setitem(CASES, "batches of 3", batches)
    assert observed("batches of 3", DividedByTheBatch) > 1.0


@every_case
def test_the_same_noise_in_every_release_is_caught(name):
    tables = CASES[name].tables()
    certificate = CASES[name].estimator().plan(*tables[0].shape)
    pilots = np.concatenate(releases(certificate, tables, FixedSeed, range(2**41, 2**41 + 1)))
    first, second = releases(certificate, tables, FixedSeed, range(120))
    assert len(set(first)) == len(set(second)) == 1
    # What differs between the two is no longer noise.
    assert audit(first, second, certificate.delta, pilots.mean(keepdims=True), SHARE).epsilon > 1.0


@pytest.fixture
def faulty_row_share(monkeypatch):
    """Plant diffprivlib's fault: the curvature of a row scaled by its norm instead of the norm's square."""

    def share(setting):
        return setting.constants.row_norm / (setting.n_samples * setting.constants.strong_convexity)

    forget()
    monkeypatch.setattr(perturbation, "row_share", share)
    yield
    forget()


LONG = eq.Domain(row_norm=100.0, classes=(0, 1))


def long_rows(**changes: object) -> eq.LogisticRegression:
    given = {"domain": LONG, "alpha": 60.0, "mechanism": "objective:1", "fit_intercept": False, "random_state": 0}
    return eq.LogisticRegression(**{**given, **changes})


def nearness(weights: Array) -> float:
    """Return how small the weights are: the curvature of a long row keeps them near 0."""
    return float(np.abs(weights).sum())


# One row of norm 100, and the same table without it.
ROW = (np.array([[100.0]]), np.array([[0.0]]), np.array([1]))


@pytest.mark.usefixtures("faulty_row_share")
def test_curvature_scaled_by_the_row_norm_instead_of_its_square_is_caught():
    certificate = long_rows().plan(1, 1)
    first, second = releases(certificate, ROW, SeededSource, range(1200), nearness)
    assert audit(first, second, 0.0, np.array([0.03]), SHARE).epsilon > certificate.epsilon


def test_the_right_curvature_refuses_that_plan():
    with pytest.raises(NoTheoremApplies, match="raise alpha or epsilon"):
        long_rows().plan(1, 1)
