"""Stability under removal of rows: which rows go, what is counted, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import equipoise as eq
from equipoise.errors import EquipoiseError, InvalidData, InvalidParameter
from equipoise.lab.row_removal import (
    WAYS,
    Repetition,
    absolute,
    at_random,
    least_sure_first,
    mean_squared,
    repeat,
    summarise,
)


@pytest.fixture(scope="module")
def rows():
    draws = np.random.default_rng(0)
    table = draws.normal(size=(300, 4))
    labels = np.where(table[:, 0] + 0.8 * draws.normal(size=300) > 0, "yes", "no")
    return table[:150], labels[:150], table[150:], labels[150:]


class Remembering(LogisticRegression):
    """Keeps what every clone was fitted to."""

    seen: list = []  # noqa: RUF012 - shared by the clones on purpose

    def fit(self, X, y):
        Remembering.seen.append((X, y))
        return super().fit(X, y)


def test_the_finding_is_measured_and_says_so(rows):
    found = eq.lab.removal(LogisticRegression(), *rows, [0.2, 0.6], repetitions=4)
    assert isinstance(found, eq.lab.RemovalFinding)
    assert found.grade == "measured"
    text = found.explain()
    assert text.startswith("measured: stability under removal of rows, share of wrong labels on 150 test rows, 4 rep")
    assert "adversarial removal" in text
    assert "60 % removed" in text
    assert "no private one" in text
    assert str(found).startswith("measured: share of wrong labels")


def test_the_same_seed_gives_the_same_finding_and_another_seed_another(rows):
    model = SGDClassifier(max_iter=20, tol=None)
    one, same, other = (eq.lab.removal(model, *rows, [0.5], repetitions=3, seed=seed).explain() for seed in (1, 1, 2))
    assert one == same
    assert one != other
    assert model.get_params()["random_state"] is None


def test_marginal_error_is_the_absolute_difference_of_mean_errors(rows):
    runs = [repeat(LogisticRegression(), rows[:2], rows[2:], [0.3, 0.9], WAYS, (number,)) for number in range(5)]
    found = summarise(runs, [0.3, 0.9], (150, 150), "share of wrong labels")
    for way in WAYS:
        for place in (0, 1):
            errors = np.mean([run.errors[way][place] for run in runs])
            baseline = np.mean([run.baseline for run in runs])
            assert found.curves[way].marginal[place].value == pytest.approx(abs(errors - baseline))
            assert found.curves[way].error[place].value == pytest.approx(errors)


def test_an_error_that_falls_counts_as_marginal_too():
    runs = [Repetition(0.5, {"random": np.array([0.5 - fall])}, {"random": np.zeros(1)}) for fall in (0.1, 0.2, 0.3)]
    found = summarise(runs, [0.5], (10, 10), "share").curves["random"].marginal[0]
    assert found.value == pytest.approx(0.2)
    assert found.low == 0.0
    assert found.high == pytest.approx(0.448, abs=1e-3)
    assert absolute(eq.lab.Estimate(-3.0, -4.0, -2.0, 0.95)).low == 2.0


def test_the_adversary_takes_the_rows_with_the_smallest_margins(rows):
    table, labels, *test = rows
    Remembering.seen.clear()
    repeat(Remembering(), (table, labels), tuple(test), [0.4], {"adversarial": least_sure_first}, (0,))
    (whole, _), (left, left_labels) = Remembering.seen
    assert len(whole) == 150
    model = LogisticRegression().fit(table, labels)
    margins = np.abs(model.decision_function(table))
    kept = np.sort(np.argsort(margins)[60:])
    assert np.array_equal(left, table[kept])
    assert np.array_equal(left_labels, labels[kept])


def test_what_is_removed_at_a_small_share_is_removed_at_a_larger_one(rows):
    table, labels, *test = rows
    Remembering.seen.clear()
    repeat(Remembering(), (table, labels), tuple(test), [0.2, 0.5], {"random": at_random}, (3,))
    _, (more, _), (fewer, _) = Remembering.seen
    assert len(more) == 120
    assert len(fewer) == 75
    assert {tuple(row) for row in fewer} < {tuple(row) for row in more}


def test_several_classes_and_probabilities_have_an_order_too():
    draws = np.random.default_rng(1)
    table = draws.normal(size=(60, 2))
    labels = np.argmax(table @ draws.normal(size=(2, 3)), axis=1)
    model = LogisticRegression().fit(table, labels)
    order = least_sure_first(model, table, labels, draws)
    chances = np.sort(model.decision_function(table), axis=1)
    lead = chances[:, -1] - chances[:, -2]
    assert (np.diff(lead[order]) >= 0).all()
    neighbours = KNeighborsClassifier(5).fit(table, labels)
    chances = np.sort(neighbours.predict_proba(table), axis=1)
    lead = chances[:, -1] - chances[:, -2]
    assert (np.diff(lead[least_sure_first(neighbours, table, labels, draws)]) >= 0).all()


def test_a_constant_does_not_move_and_a_memory_does():
    draws = np.random.default_rng(2)
    table = draws.normal(size=(200, 2))
    labels = draws.integers(0, 2, 200)
    memory = eq.lab.removal(KNeighborsClassifier(1), table, labels, table, labels, [0.5], repetitions=4)
    assert memory.baseline.value == 0
    assert memory.curves["random"].marginal[0].low > 0.15
    assert memory.curves["random"].moved[0].value == pytest.approx(memory.curves["random"].error[0].value)
    constant = eq.lab.removal(
        DummyRegressor(strategy="constant", constant=3.0), table, labels, table, labels, [0.5], repetitions=4
    )
    assert constant.curves["adversarial"].marginal[0].high == 0
    assert constant.curves["adversarial"].moved[0].high == 0


def test_sparse_matrices_frames_and_pipelines_give_what_arrays_give(rows):
    table, labels, test, truth = rows
    arrays, sparse = (
        eq.lab.removal(LogisticRegression(), kind(table), labels, kind(test), truth, [0.5], repetitions=3).explain()
        for kind in (np.asarray, csr_matrix)
    )
    assert arrays == sparse
    model = make_pipeline(StandardScaler(), SGDClassifier(max_iter=5, tol=None))
    arrays, frames = (
        eq.lab.removal(model, kind(table), labels, kind(test), truth, [0.5], repetitions=3).explain()
        for kind in (np.asarray, lambda given: pd.DataFrame(given, columns=list("abcd")))
    )
    assert arrays == frames


def test_one_class_that_is_left_is_predicted(rows):
    table, labels, test, truth = rows

    def yes_last(model, given, outcomes, stream):
        return np.argsort(outcomes == "yes", kind="stable")

    once = repeat(LogisticRegression(), (table, labels), (test, truth), [0.9], {"no first": yes_last}, (0,))
    assert once.errors["no first"][0] == (truth != "yes").mean()


def test_a_regressor_and_an_error_of_ones_own():
    line = np.arange(40.0)[:, None]
    found = eq.lab.removal(LinearRegression(), line, line[:, 0], line, line[:, 0] + 2, [0.5], repetitions=2)
    assert found.baseline.value == pytest.approx(4.0)

    def largest(truth, predicted):
        return float(np.abs(truth - predicted).max())

    found = eq.lab.removal(
        LinearRegression(), line, line[:, 0], line, line[:, 0] + 2, [0.5], repetitions=2, error=largest
    )
    assert found.baseline.value == pytest.approx(2.0)
    assert "largest" in found.explain()
    assert mean_squared(np.array([0, 2]), np.array([1.0, 1.0])) == 1.0


def test_intervals_hold_the_mean_as_often_as_they_say():
    """95 % intervals of 20 repetitions miss in 5 % of 400 cases: more than 37 misses happen with chance 1e-4."""
    draws = np.random.default_rng(3)
    missed = 0
    for _ in range(400):
        runs = [
            Repetition(0.3, {"random": np.array([0.3 + each])}, {"random": np.zeros(1)})
            for each in draws.normal(0.1, 0.05, 20)
        ]
        missed += 0.1 not in summarise(runs, [0.5], (1, 1), "share").curves["random"].marginal[0]
    assert missed <= 37


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"fractions": [0.5, 0.2]}, InvalidParameter, "rising fractions"),
        ({"fractions": [0.0]}, InvalidParameter, "above 0 and below 1"),
        ({"fractions": []}, InvalidParameter, "rising fractions"),
        ({"repetitions": 1}, InvalidParameter, "2 repetitions or more"),
        ({"confidence": 95}, InvalidParameter, "confidence"),
        ({"seed": -1}, InvalidParameter, "seed"),
        ({"ways": {}}, InvalidParameter, "orders of removal"),
        ({"ways": {"mine": lambda *_: np.zeros(150, int)}}, InvalidParameter, "'mine' removes"),
        ({"y": np.zeros(3)}, InvalidData, "one outcome for every row"),
        ({"y_test": np.zeros((150, 2))}, InvalidData, "one outcome for every row"),
        ({"estimator": "a model"}, EquipoiseError, "clone"),
        ({"X": np.zeros((150, 0))}, InvalidData, "table"),
        ({"fractions": [0.999]}, InvalidData, "rows that remain"),
    ],
)
def test_what_cannot_be_measured_is_refused(rows, changes, error, says):
    arguments = {"estimator": LogisticRegression(), "fractions": [0.5], "repetitions": 2}
    arguments |= dict(zip(("X", "y", "X_test", "y_test"), rows, strict=True)) | changes
    with pytest.raises(error, match=says):
        eq.lab.removal(**arguments)


def test_a_classifier_without_scores_has_no_adversary(rows):
    class Silent(KNeighborsClassifier):
        predict_proba = None

        def __getattribute__(self, name):
            if name == "predict_proba":
                raise AttributeError(name)
            return super().__getattribute__(name)

    with pytest.raises(InvalidParameter, match="without decision_function and predict_proba"):
        eq.lab.removal(Silent(), *rows, [0.5], repetitions=2)
    assert eq.lab.removal(Silent(), *rows, [0.5], repetitions=2, ways={"random": at_random}).curves
