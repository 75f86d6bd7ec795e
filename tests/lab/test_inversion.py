"""Model inversion as a tool: planted answers are found, nothing is found in a constant, bad input is named."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import equipoise as eq
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.lab import Agreement, ConfusionTable, GaussianError, PredictedProbabilities, inversion
from equipoise.lab.attack_finding import paired_difference, proportion
from equipoise.lab.outcome_likelihoods import estimated_deviation

LEVELS = ("A/A", "A/G", "G/G")
PRIOR = dict(zip(LEVELS, (0.35, 0.4, 0.25), strict=True))
GROUP = {"A/A": {2: 1.0, 3: 0.0}, "A/G": {2: 0.0, 3: 1.0}, "G/G": {2: 0.0, 3: 0.0}}


def people(rows: int, seed: int = 0, error: float = 0.8) -> tuple[pd.DataFrame, np.ndarray]:
    """Return made-up patients, whose dose depends on age, weight and genotype."""
    stream = np.random.default_rng(seed)
    genotype = stream.choice(LEVELS, size=rows, p=list(PRIOR.values()))
    frame = pd.DataFrame({"age": stream.normal(size=rows), "weight": stream.normal(size=rows), "genotype": genotype})
    effect = frame["genotype"].map({"A/A": -1.5, "A/G": 0.0, "G/G": 1.5}).to_numpy()
    dose = 5 - 0.5 * frame["age"].to_numpy() + 0.4 * frame["weight"].to_numpy() + effect
    return frame, dose + error * stream.normal(size=rows)


def coded(frame: pd.DataFrame) -> np.ndarray:
    """Return the patients as numbers, two columns for the three genotypes."""
    genotype = frame["genotype"].to_numpy()
    return np.column_stack([frame["age"], frame["weight"], genotype == "A/A", genotype == "A/G"]).astype(float)


def pipeline(last):
    """Return a model that reads the frame itself."""
    return make_pipeline(make_column_transformer((OneHotEncoder(), ["genotype"]), remainder="passthrough"), last)


# --- planted answers --------------------------------------------------------------------------------------------------


def test_the_attack_is_bayes_rule_row_by_row():
    frame, dose = people(60)
    X = coded(frame)
    model = LinearRegression().fit(X, dose)
    found = inversion(model, X, dose, GROUP, PRIOR, likelihood=GaussianError(0.7))
    expected = np.zeros((3, 3), int)
    for row, outcome, true in zip(X, dose, frame["genotype"], strict=True):
        weights = []
        for level, probability in PRIOR.items():
            tried = row.copy()
            tried[2], tried[3] = GROUP[level][2], GROUP[level][3]
            weights.append(probability * scipy.stats.norm.pdf(outcome, model.predict(tried[None])[0], 0.7))
        expected[LEVELS.index(true), int(np.argmax(weights))] += 1
    assert found.confusion.tolist() == expected.tolist()
    assert found.accuracy.value == np.trace(expected) / 60
    assert found.levels == LEVELS
    assert found.rows == 60


def test_the_accuracy_is_that_of_the_best_rule_where_the_model_is_right():
    """Two levels, a gap of 2 and an error of 1: the best rule is right with a probability that is known."""
    stream = np.random.default_rng(3)
    level = (stream.random(20_000) < 0.3).astype(float)
    X = np.column_stack([level, stream.normal(size=20_000)])
    y = 2 * level + X[:, 1] + stream.normal(size=20_000)
    model = LinearRegression().fit(X, y)
    cut = 1 + math.log(0.7 / 0.3) / 2
    best = 0.7 * scipy.stats.norm.cdf(cut) + 0.3 * scipy.stats.norm.sf(cut - 2)
    for likelihood in (GaussianError(1.0), None):
        found = inversion(model, X, y, 0, {0: 0.7, 1: 0.3}, likelihood=likelihood, confidence=0.9999)
        assert best in found.accuracy
        assert best - 0.7 in found.advantage
        assert found.advantage.low > 0.1


def test_an_overfitted_model_gives_its_training_rows_away_and_no_others():
    frame, dose = people(400, error=3.0)
    X = coded(frame)
    nearest = KNeighborsRegressor(1).fit(X[:200], dose[:200])
    seen = inversion(nearest, X[:200], dose[:200], GROUP, PRIOR, likelihood=GaussianError(0.1))
    unseen = inversion(nearest, X[200:], dose[200:], GROUP, PRIOR, likelihood=GaussianError(3.0))
    assert seen.accuracy.low > 0.9
    assert seen.balanced_accuracy.low > 0.8
    assert unseen.accuracy.high < 0.7


@pytest.mark.parametrize("model", [DummyRegressor(), DummyClassifier(strategy="prior")])
def test_a_constant_model_leaves_the_attacker_with_the_prior(model):
    frame, dose = people(300)
    y = dose if isinstance(model, DummyRegressor) else dose > 5
    found = inversion(model.fit(frame, y), frame, y, "genotype", PRIOR)
    assert found.accuracy == found.baseline
    assert found.advantage.value == 0
    assert found.advantage.low < 0 < found.advantage.high
    assert found.confusion[:, [0, 2]].sum() == 0
    assert found.balanced_accuracy.value == pytest.approx(1 / 3)
    assert "No difference" in found.explain()


def test_the_guesses_do_not_depend_on_the_true_levels():
    frame, dose = people(300)
    model = pipeline(LinearRegression()).fit(frame, dose)
    found = inversion(model, frame, dose, "genotype", PRIOR)
    shuffled = frame.assign(genotype=np.random.default_rng(1).permutation(frame["genotype"]))
    other = inversion(model, shuffled, dose, "genotype", PRIOR)
    assert other.confusion.sum(0).tolist() == found.confusion.sum(0).tolist()
    assert other.knowledge == found.knowledge
    assert other.accuracy.value < found.accuracy.value


def test_the_attackers_deviation_is_that_of_the_error():
    frame, dose = people(20_000, error=0.8)
    X = coded(frame)
    model = LinearRegression().fit(X, dose)
    residuals = dose[:, None] - np.column_stack(
        [
            model.predict(np.column_stack([X[:, :2], np.tile(list(held.values()), (len(X), 1))]))
            for held in GROUP.values()
        ]
    )
    assert estimated_deviation(residuals, np.array(list(PRIOR.values()))) == pytest.approx(0.8, rel=0.03)
    assert 0 < estimated_deviation(np.zeros((5, 2)), np.array([0.5, 0.5])) < 1e-100
    # A level that always fits lets the estimate tend to 0; the guess is then that level.
    assert 0 < estimated_deviation(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([0.5, 0.5])) < 1e-6


# --- models and tables of every kind ----------------------------------------------------------------------------------


def test_arrays_and_frames_of_either_library_give_the_same_answer():
    frame, dose = people(200)
    found = inversion(LinearRegression().fit(coded(frame), dose), coded(frame), dose, GROUP, PRIOR)
    names = ["age", "weight", "aa", "ag"]
    group = {level: dict(zip(["aa", "ag"], held.values(), strict=True)) for level, held in GROUP.items()}
    answers = []
    for library in (pd.DataFrame, lambda data, columns: pl.DataFrame(data, schema=columns)):
        X = library(coded(frame), columns=names)
        answers.append(inversion(LinearRegression().fit(X, dose), X, dose, group, PRIOR))
    whole = pl.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
    for raw in (frame, frame.astype({"genotype": "category"}).set_index(np.arange(200) // 2), whole):
        answers.append(inversion(pipeline(LinearRegression()).fit(raw, dose), raw, dose, "genotype", PRIOR))
    for answer in answers:
        assert answer.confusion.tolist() == found.confusion.tolist()
        assert answer.advantage == found.advantage


def test_a_model_is_asked_in_the_types_it_was_trained_on():
    frame, dose = people(30)
    kinds = []

    class Recorder:
        def predict(self, X):
            kinds.append(X.dtypes.astype(str).tolist())
            return np.zeros(len(X))

    categorical = frame.astype({"genotype": pd.CategoricalDtype([*LEVELS, "unknown"])})
    inversion(Recorder(), categorical, dose, "genotype", PRIOR)
    assert kinds == [categorical.dtypes.astype(str).tolist()] * 3
    assert categorical["genotype"].tolist() == frame["genotype"].tolist()


def test_a_classifier_is_inverted_by_its_probabilities():
    frame, dose = people(2000)
    high = np.where(dose > 5, "high", "low")
    model = pipeline(LogisticRegression()).fit(frame, high)
    found = inversion(model, frame, high, "genotype", PRIOR)
    assert found.advantage.low > 0.05
    assert (
        inversion(model, frame, high, "genotype", PRIOR, likelihood=PredictedProbabilities()).accuracy == found.accuracy
    )
    assert "probabilities" in found.knowledge


def test_labels_alone_with_an_error_rate_or_its_table_tell_the_same():
    frame, dose = people(2000)
    high = np.where(dose > 5, "high", "low")
    model = pipeline(LogisticRegression()).fit(frame, high)
    rate = float(np.mean(model.predict(frame) != high))
    table = {one: {other: 1 - rate if one == other else rate for other in ("high", "low")} for one in ("high", "low")}
    by_rate = inversion(model, frame, high, "genotype", PRIOR, likelihood=Agreement(rate))
    by_table = inversion(model, frame, high, "genotype", PRIOR, likelihood=ConfusionTable(table))
    assert by_rate.confusion.tolist() == by_table.confusion.tolist()
    assert by_rate.advantage.low > 0
    assert by_rate.accuracy.value <= inversion(model, frame, high, "genotype", PRIOR).accuracy.value + 0.02


def test_where_no_level_explains_the_outcome_the_prior_decides():
    frame, _ = people(50)
    never = ConfusionTable({"low": {"low": 1.0}})
    model = DummyClassifier(strategy="constant", constant="low").fit(frame, np.repeat(["low", "high"], 25))
    found = inversion(model, frame, np.repeat("high", 50), "genotype", PRIOR, likelihood=never)
    assert found.accuracy == found.baseline


def test_a_private_model_is_attacked_like_any_other():
    frame, dose = people(500)
    X, y = coded(frame) / 4, np.clip((dose - 5) / 4, -1, 1)
    model = eq.Ridge(epsilon=10.0, domain=eq.Domain(row_norm=1.0, labels=(-1.0, 1.0)), random_state=0).fit(X, y)
    group = {level: {column: value / 4 for column, value in held.items()} for level, held in GROUP.items()}
    found = eq.lab.inversion(model, X, y, group, PRIOR)
    assert found.grade == "measured"
    assert found.advantage.value > 0.1


# --- the numbers keep their promise -----------------------------------------------------------------------------------


def coverage(rows: int, gained: float, lost: float, confidence: float) -> float:
    """Return how often the interval of a paired difference holds it, summed over all that can be seen."""
    total = 0.0
    for first, second in itertools.product(range(rows + 1), repeat=2):
        if first + second <= rows:
            counts = [first, second, rows - first - second]
            chance = scipy.stats.multinomial.pmf(counts, rows, [gained, lost, 1 - gained - lost])
            interval = paired_difference(first, second, rows, confidence)
            total += chance * (interval.low - 1e-12 <= gained - lost <= interval.high + 1e-12)
    return total


@pytest.mark.parametrize("shares", [(0.0, 0.0), (0.3, 0.0), (0.2, 0.2), (0.5, 0.1), (0.05, 0.02), (0.75, 0.25)])
def test_a_paired_difference_is_in_its_interval_as_often_as_stated(shares):
    assert coverage(14, *shares, 0.8) >= 0.8


def test_a_paired_interval_is_not_so_wide_that_it_could_promise_anything():
    wide, narrow = paired_difference(60, 40, 400, 0.95), paired_difference(600, 400, 4000, 0.95)
    deviation = math.sqrt((0.25 - 0.05**2) / 400)
    assert wide.high - wide.low < 2 * 1.96 * deviation * 1.7
    assert narrow.high - narrow.low < (wide.high - wide.low) / 2.5
    assert narrow.low > 0 > wide.low
    mirrored = paired_difference(40, 60, 400, 0.95)
    assert (mirrored.low, mirrored.high) == pytest.approx((-wide.high, -wide.low))


def test_the_intervals_of_whole_attacks_hold_the_truth():
    stream, misses, runs = np.random.default_rng(11), np.zeros(3), 150
    cut = 0.5
    truth = scipy.stats.norm.cdf(cut)
    for _ in range(runs):
        level = (stream.random(80) < 0.5).astype(float)
        X, y = level[:, None], level + stream.normal(size=80)
        model = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
        found = inversion(model, X, y, 0, {0: 0.5, 1: 0.5}, likelihood=GaussianError(1.0), confidence=0.9)
        misses += [truth not in found.accuracy, 0.5 not in found.baseline, truth - 0.5 not in found.advantage]
        assert found.balanced_accuracy.low < found.balanced_accuracy.value < found.balanced_accuracy.high
    # On fresh draws a true promise fails this with probability 1e-6.
    assert (misses <= scipy.stats.binom.isf(1e-6, runs, 0.1)).all()
    assert misses.sum() > 0


def test_a_share_is_rounded_outwards():
    whole, part = proportion(45, 100, 0.95), proportion(45.4, 100, 0.95)
    assert part.low == whole.low
    assert part.high == proportion(46, 100, 0.95).high


# --- what a user reads ------------------------------------------------------------------------------------------------


def test_the_finding_speaks_in_words():
    frame, dose = people(500)
    found = inversion(pipeline(LinearRegression()).fit(frame, dose), frame, dose, "genotype", PRIOR)
    assert str(found).startswith("measured: the attacker names genotype rightly for ")
    text = found.explain()
    assert "The model helps the attacker." in text
    assert "estimated by the attacker from the outcomes, without the levels" in text
    for level, row in zip(LEVELS, found.confusion.tolist(), strict=True):
        line = next(line for line in reversed(text.splitlines()) if line.strip().startswith(level))
        assert line.split()[1:] == [str(count) for count in row]
    given = inversion(
        pipeline(LinearRegression()).fit(frame, dose), frame, dose, "genotype", PRIOR, likelihood=GaussianError(0.8)
    )
    assert "deviation 0.8, given by the caller" in given.explain()
    assert set(found.recall) == set(LEVELS)
    assert found.confidence == 0.95


def test_a_rule_that_hurts_is_said_to_hurt():
    frame, dose = people(500)
    backwards = LinearRegression().fit(coded(frame), -dose)
    found = inversion(backwards, coded(frame), dose, GROUP, PRIOR, likelihood=GaussianError(1.0))
    assert found.advantage.high < 0
    assert "worse than by the prior" in found.explain()


FRAME, DOSE = people(40)
MODEL = pipeline(LinearRegression()).fit(FRAME, DOSE)
CODED = LinearRegression().fit(coded(FRAME), DOSE)


class Diverged:
    def predict(self, X):
        return np.full(len(X), np.nan)


class Labels:
    classes_ = (0, 1)

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"sensitive": "VKORC1"}, InvalidParameter, "the column 'VKORC1'.*age, weight, genotype"),
        ({"model": CODED, "X": coded(FRAME), "sensitive": 7}, InvalidParameter, "columns 0 to 3"),
        ({"model": CODED, "X": coded(FRAME), "sensitive": "a"}, InvalidParameter, "by its number"),
        ({"prior": {"A/A": 0.5, "A/G": 0.4, "G/G": 0.3}}, InvalidParameter, "sum of 1.2"),
        ({"prior": {"A/A": -0.5, "A/G": 1.0, "G/G": 0.5}}, InvalidParameter, "-0.5 for 'A/A'"),
        ({"prior": {"A/A": math.nan, "A/G": 1.0}}, InvalidParameter, "nan for 'A/A'"),
        ({"prior": {"A/A": 0.5, "A/G": 0.5}}, InvalidData, "rows with another, the first: genotype='G/G'"),
        ({"prior": {}}, InvalidParameter, "0 levels"),
        ({"prior": [0.5, 0.5]}, InvalidParameter, "a list"),
        ({"sensitive": {}}, InvalidParameter, "a level without columns"),
        ({"sensitive": {"A/A": {}, "A/G": {}, "G/G": {}}}, InvalidParameter, "a level without columns"),
        ({"sensitive": {level: {"age": 1.0} for level in LEVELS}}, InvalidParameter, "two levels with the same"),
        ({"sensitive": {"A/A": {"age": 1.0}, "A/G": {"weight": 1.0}}}, InvalidParameter, "the same columns"),
        ({"sensitive": {"A/A": {"age": 1.0}, "A/G": {"age": 2.0}}}, InvalidParameter, "G/G in the prior only"),
        ({"y": DOSE[:-1]}, InvalidData, r"shape \(39,\) for 40 rows"),
        ({"y": np.repeat("high", 40)}, InvalidData, "outcomes y as finite numbers"),
        ({"y": np.where(DOSE > 5, np.nan, DOSE)}, InvalidData, "that are nan or infinity"),
        ({"X": FRAME.iloc[:0], "y": []}, InvalidData, "a table with rows"),
        ({"X": np.zeros(40)}, InvalidData, "rows by columns"),
        ({"X": FRAME[["genotype", "age"]]}, InvalidData, "predict takes the attacked table"),
        ({"model": pipeline(LinearRegression())}, InvalidParameter, "not fitted"),
        ({"model": object()}, InvalidParameter, "object without predict"),
        ({"model": Diverged()}, InvalidData, "predictions as finite numbers.*40 of 40"),
        ({"model": Labels()}, InvalidParameter, "pass likelihood=Agreement"),
        ({"confidence": 95}, InvalidParameter, "confidence=0.95"),
        ({"likelihood": Agreement(0.1), "y": DOSE[:5]}, InvalidData, "one outcome for every row"),
        ({"likelihood": ConfusionTable({"low": {"low": 1.0}})}, InvalidData, "a line of the confusion table"),
        ({"likelihood": PredictedProbabilities()}, InvalidData, "outcomes that the model knows"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(change, error, words):
    asked = {"model": MODEL, "X": FRAME, "y": DOSE, "sensitive": "genotype", "prior": PRIOR} | change
    with pytest.raises(error, match=words) as caught:
        inversion(**asked)
    assert caught.value.remedy


@pytest.mark.parametrize("kind", ["array", "pandas", "polars"])
def test_a_level_that_a_column_cannot_hold_is_refused_and_not_rounded(kind):
    whole = np.zeros((20, 2), np.int64)
    columns = {"a": whole[:, 0], "b": whole[:, 1]}
    table = {"array": whole, "pandas": pd.DataFrame(columns), "polars": pl.DataFrame(columns)}[kind]
    names = (0, 1) if kind == "array" else ("a", "b")
    group = {"no": dict(zip(names, (0, 0), strict=True)), "half": dict(zip(names, (1, 0.5), strict=True))}
    with pytest.raises(InvalidParameter, match=r"can hold; found: 0\.5 for a column of type"):
        inversion(Labels(), table, np.zeros(20), group, {"no": 0.5, "half": 0.5}, likelihood=Agreement(0.1))
