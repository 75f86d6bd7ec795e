"""Private feature selection, and the path of weights without noise that it is compared with."""

import math
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import ElasticNet as PlainElasticNet
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import equipoise as eq
from checking import run_check
from equipoise.data.schema import NumberColumn, Target
from equipoise.errors import DomainMissing, InvalidParameter, LedgerRefused, Overdraft, PlanMismatch
from equipoise.estimators.base import INTERCEPT_SHARE
from equipoise.planning.flips import WeightNoise
from equipoise.planning.issue import asked_for
from equipoise.planning.notes import Notes

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
LABELS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
CHECKED = {"epsilon": 1e8, "alpha": 1e-3, "l1_ratio": 0.1, "random_state": 0, "threshold": "deviations:3"}
DTYPE_IS_DECLARED = "object columns are refused by their data type: whether they can be parsed depends on values"
# The probability that a test of drawn noise fails although everything is right, for each comparison.
FALSE_ALARM = 1e-7


@parametrize_with_checks(
    [
        # A ball of 10 and a stronger ridge: a seventh of the steps to the minimum, and the same code.
        eq.FeatureSelector(domain=eq.Domain(10.0, classes="observed"), **{**CHECKED, "alpha": 1e-2}),
        eq.FeatureSelector(domain=eq.Domain(20.0, labels=(-200.0, 200.0)), **CHECKED),
    ],
    expected_failed_checks=lambda _: {"check_dtype_object": DTYPE_IS_DECLARED},
)
def test_scikit_learn_checks(estimator, check, request):
    run_check(estimator, check, request)


@pytest.mark.statistics
@parametrize_with_checks(
    [eq.FeatureSelector(domain=eq.Domain(100.0, classes="observed"), **CHECKED)],
    expected_failed_checks=lambda _: {"check_dtype_object": DTYPE_IS_DECLARED},
)
def test_scikit_learn_checks_of_slow_solutions(estimator, check, request):
    run_check(estimator, check, request)


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.uniform(-0.4, 0.4, size=(6000, 6))
    scores = X @ [3.0, 0.0, -3.0, 0.0, 0.0, 0.6]
    return X, (scores + 0.2 * generator.logistic(size=6000) > 0).astype(int), np.clip(scores / 3, -1, 1)


def test_the_task_follows_from_the_domain(table):
    X, labels, target = table
    classifier = eq.FeatureSelector(epsilon=3.0, domain=CLASSES, l1_ratio=0.1, random_state=0).fit(X, labels)
    regressor = eq.FeatureSelector(epsilon=3.0, domain=LABELS, l1_ratio=0.1, random_state=0).fit(X, target)
    assert isinstance(classifier.estimator_, eq.ElasticNetClassifier)
    assert isinstance(regressor.estimator_, eq.ElasticNet)
    for selector in (classifier, regressor):
        assert set(selector.get_support(indices=True)) >= {0, 2}
        assert not selector.get_support()[[1, 3, 4]].any()
        assert selector.certificate_.verify() == ()


def test_what_is_selected_are_the_weights_beyond_the_threshold(table):
    X, labels, _ = table
    selector = eq.FeatureSelector(domain=CLASSES, threshold=0.4, random_state=0).fit(X, labels)
    assert selector.threshold_ == 0.4
    np.testing.assert_array_equal(selector.get_support(), np.abs(selector.estimator_.coef_[0]) > 0.4)
    np.testing.assert_array_equal(selector.transform(X), X[:, selector.get_support()])


def test_a_column_counts_for_any_of_several_classes(table):
    X, labels, _ = table
    classes = np.where(X[:, 4] > 0.2, 2, labels)
    domain = eq.Domain(row_norm=1.0, classes=(0, 1, 2))
    selector = eq.FeatureSelector(epsilon=3.0, domain=domain, threshold="deviations:2", random_state=0).fit(X, classes)
    weights = selector.estimator_.coef_
    assert weights.shape == (3, 6)
    np.testing.assert_array_equal(selector.get_support(), (np.abs(weights) > selector.threshold_).any(axis=0))
    assert selector.threshold_ == pytest.approx(2 * WeightNoise.of(selector.certificate_).deviation)
    assert selector.expected_flips(np.zeros((3, 6))).shape == (3, 6)
    with pytest.raises(InvalidParameter, match=r"shape \(3, 6\)"):
        selector.expected_flips(np.zeros(6))


at_both_powers = pytest.mark.parametrize("runs", [100, pytest.param(300, marks=pytest.mark.statistics)])


@at_both_powers
@pytest.mark.parametrize("mechanism", ["spherical-laplace", "laplace", "gaussian"])
def test_selections_flip_as_often_as_the_plan_says(table, mechanism, runs):
    X, labels, _ = (part[:300] for part in table)
    settings = {"epsilon": 8.0, "delta": 1e-5, "alpha": 0.02, "l1_ratio": 0.3, "mechanism": mechanism}
    model = eq.ElasticNetClassifier(domain=CLASSES, random_state=0, **settings)
    selector = eq.FeatureSelector(model, threshold="deviations:1")
    certificate = selector.plan(300, 6)
    before = eq.lab.solution_path(
        X, labels, [0.02], domain=CLASSES, penalty="elastic-net:0.3", intercept=INTERCEPT_SHARE
    ).weights[0, 0]
    assert 0 < (before == 0).sum() < 6
    expected = selector.expected_flips(before)
    flipped = np.zeros(6)
    for seed in range(runs):
        fitted = eq.FeatureSelector(clone(model).set_params(random_state=seed), "deviations:1").fit(X, labels)
        assert fitted.certificate_.noise_scale == certificate.noise_scale
        flipped += fitted.get_support() != (before != 0)
    low, high = binom.ppf(FALSE_ALARM / 2, runs, expected), binom.isf(FALSE_ALARM / 2, runs, expected)
    assert ((low <= flipped) & (flipped <= high)).all(), (flipped, runs * expected)


ENDS = {
    "spherical": {"mechanism": "output", "delta": 0.0},
    "gaussian": {"mechanism": "gaussian"},
    "masked columns": {"mechanism": "output", "dropout": 0.5, "l1_ratio": 0.2},
    "secret draws": {"mechanism": "output", "order": "replacement"},
}


@at_both_powers
@pytest.mark.parametrize("name", sorted(ENDS))
def test_selections_of_a_descent_flip_as_often_as_the_plan_says(table, name, runs):
    X, labels, _ = (part[:400] for part in table)
    asked = {"epsilon": 8.0, "delta": 1e-5, "alpha": 0.1, "l1_ratio": 0.6, "step": 0.3, "passes": 5} | ENDS[name]
    model = eq.SGDClassifier(domain=CLASSES, random_state=0, **asked)
    selector = eq.FeatureSelector(model, threshold="deviations:1")
    certificate = selector.plan(400, 6)
    assert certificate.kind == "sgd"
    kept = 1 - asked.get("dropout", 0.0)
    assert WeightNoise.of(certificate).scale == pytest.approx(kept * certificate.noise_scale, rel=1e-15)
    # With next to no noise and the same coins a descent shows where it ends; exact zeros come from the L1 norm.
    still = clone(model).set_params(epsilon=1e12)
    expected, flipped = np.zeros(6), np.zeros(6)
    for seed in range(runs):
        if seed == 0 or name == "secret draws":
            end = still.set_params(random_state=seed).fit(X, labels).coef_[0]
            before = np.where(np.abs(end) < 1e-6, 0.0, end)
            flips = selector.expected_flips(before)
        fitted = eq.FeatureSelector(clone(model).set_params(random_state=seed), "deviations:1").fit(X, labels)
        flipped += fitted.get_support() != (before != 0)
        expected += flips
    assert 0 < (before == 0).sum() < 6
    # Given the ends, flips of one column are independent: Hoeffding's bound for each of six columns.
    allowed = math.sqrt(runs / 2 * math.log(2 / FALSE_ALARM))
    assert (np.abs(flipped - expected) <= allowed).all(), (flipped, expected)


def test_a_plan_says_before_training_how_reliable_a_selection_can_be():
    few, many = (eq.FeatureSelector(domain=CLASSES, alpha=0.01) for _ in range(2))
    few.plan(n_samples=1000, n_features=3)
    many.plan(n_samples=100_000, n_features=3)
    weights = [0.0, 0.5, -2.0]
    assert many.expected_flips(weights)[1] < few.expected_flips(weights)[1]
    # The rate of wrong selections is the same: the threshold follows the noise.
    assert few.expected_flips(weights)[0] == pytest.approx(0.05 / 3, rel=1e-6)
    assert many.expected_flips(weights)[0] == pytest.approx(0.05 / 3, rel=1e-6)
    with pytest.raises(InvalidParameter, match="call plan"):
        eq.FeatureSelector(domain=CLASSES).expected_flips(weights)
    with pytest.raises(InvalidParameter, match=r"shape \(3,\)"):
        few.expected_flips([1.0])
    for wrong in ("abc", [0j] * 3, [None] * 3, [[0.0], [0.0, 1.0]], [math.nan] * 3):
        with pytest.raises(InvalidParameter, match="array of real numbers"):
            few.expected_flips(wrong)
    assert few.expected_flips([1e300] * 3).tolist() == [0.0] * 3


def test_the_table_of_the_page_is_computed():
    page = (Path(__file__).parents[2] / "docs" / "feature-selection.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([\w ]+, delta [\d.e-]+)? ?\| ([\d,]+) \|" + r" ([\d.e-]+) \|" * 5 + "$", page, re.MULTILINE
    )
    assert len(rows) == 9
    assert "selected with probability 0.0016" in " ".join(page.split())
    laws = {"spherical Laplace": "spherical-laplace", "independent Laplace": "laplace", "Gaussian": "gaussian"}
    kind = ""
    for named, count, *printed in rows:
        kind = named or kind
        law, delta = kind.split(", delta ")
        model = eq.ElasticNetClassifier(
            delta=float(delta), domain=CLASSES, alpha=0.01, l1_ratio=0.15, mechanism=laws[law]
        )
        selector = eq.FeatureSelector(model, "family-wise:0.05")
        noise = WeightNoise.of(selector.plan(int(count.replace(",", "")), 32))
        zero, *missed = selector.expected_flips([0.0, 0.5, 1.0, 2.0] + [0.0] * 28)[:4]
        assert f"{zero:.2g}" == "0.0016"
        for number, text in zip((noise.deviation, noise.quantile(0.05 / 64), *missed), printed, strict=True):
            # As many digits as are printed.
            digits = len(re.sub(r"e.*|\.|^0+", "", text.replace("0.", "", 1) if text.startswith("0.") else text))
            assert float(f"{number:.{max(digits, 1)}g}") == float(text), (kind, count, text, number)


def test_the_explanation_says_what_is_free_and_what_is_another_spend():
    selector = eq.FeatureSelector(domain=CLASSES, threshold="deviations:3")
    selector.plan(n_samples=1000, n_features=3)
    words = " ".join(selector.explain().split())
    for said in (
        "3 standard deviations of the noise",
        "is free",
        "one spend of epsilon = 1, delta = 0",
        "is another spend with a certificate of its own",
        "Claim (proved)",
    ):
        assert said in words


@pytest.mark.usefixtures("plain_page")
def test_the_certificate_itself_records_the_rule_and_says_what_is_another_spend(table, tmp_path):
    X, labels, _ = table
    selector = eq.FeatureSelector(domain=CLASSES, threshold="deviations:3")
    planned = selector.plan(*X.shape)
    certificate = selector.fit(X, labels).certificate_
    assert replace(certificate, release=None) == planned
    assert (certificate.claim.kind, certificate.claim.rule) == ("post-processing", "deviations:3.0")
    read = eq.Certificate.from_json(certificate.to_json())
    assert read == certificate
    assert read.verify() == ()
    said = [line for _, lines in Notes.of(read).sections for line in lines if "another spend" in line]
    assert len(said) == 1
    assert "deviations:3.0" in said[0]
    assert said[0].startswith("This fit is one spend")
    assert "is free" in said[0]
    assert said[0] in read.explain()
    # A model that stands for itself says nothing of the kind, and pays as much for the same noise.
    alone = eq.ElasticNetClassifier(domain=CLASSES)
    plain = alone.plan(*X.shape)
    assert "another spend" not in plain.explain()
    assert (plain.noise_scale, plain.epsilon) == (certificate.noise_scale, certificate.epsilon)
    assert plain.digest != certificate.digest
    # A rule that is changed, or taken out again, shows.
    for claim in (replace(read.claim, rule="deviations:1.0"), read.claim.of[0]):
        altered = replace(read, claim=claim)
        assert altered.verify() == ("digest: a recorded field was changed after the certificate was made",)
    # The released model keeps the certificate where it goes; whoever trains a copy of it selects nothing.
    eq.save(selector.estimator_, tmp_path / "model")
    assert eq.load(tmp_path / "model").certificate_ == certificate
    assert clone(selector.estimator_).plan(*X.shape) == plain


@pytest.mark.parametrize(
    ("threshold", "recorded"),
    [(0.25, "fixed:0.25"), ("family-wise:5e-2", "family-wise:0.05"), ("fixed:1", "fixed:1.0")],
)
def test_a_rule_is_recorded_in_one_spelling(threshold, recorded):
    certificate = eq.FeatureSelector(domain=CLASSES, threshold=threshold).plan(n_samples=1000, n_features=3)
    assert certificate.claim.rule == recorded
    assert asked_for(certificate).selection == recorded


def test_a_threshold_is_fixed_by_the_plan(table):
    X, labels, _ = table
    selector = eq.FeatureSelector(domain=CLASSES, threshold=0.25)
    selector.plan(*X.shape)
    flips = selector.expected_flips(np.zeros(6))
    selector.set_params(threshold=0.1)
    np.testing.assert_array_equal(selector.expected_flips(np.zeros(6)), flips)
    with pytest.raises(PlanMismatch, match="set since then"):
        selector.fit(X, labels)


def test_a_pipeline_trains_on_the_selected_columns(table):
    X, labels, _ = table
    selector = eq.FeatureSelector(epsilon=2.0, domain=CLASSES, l1_ratio=0.1, random_state=0)
    model = eq.LogisticRegression(epsilon=2.0, domain=CLASSES, random_state=1)
    pipeline = make_pipeline(selector, model).fit(X, labels)
    assert pipeline[-1].n_features_in_ == pipeline[0].get_support().sum() < 6
    assert pipeline.score(X, labels) > 0.85
    copy = clone(pipeline)
    assert not hasattr(copy[0], "certificate_")
    with pytest.raises(NotFittedError):
        copy[0].get_support()


@pytest.mark.parametrize("form", [pd.DataFrame, sparse.csr_array, np.float32])
def test_tables_of_every_form(table, form):
    X, labels, _ = table
    named = pd.DataFrame(X, columns=list("abcdef")) if form is pd.DataFrame else form(X)
    selector = eq.FeatureSelector(epsilon=3.0, domain=CLASSES, l1_ratio=0.1, random_state=0).fit(named, labels)
    chosen = selector.transform(named)
    assert chosen.shape == (6000, selector.get_support().sum())
    if form is pd.DataFrame:
        assert list(selector.get_feature_names_out()) == [
            name for name, kept in zip("abcdef", selector.get_support(), strict=True) if kept
        ]


def test_non_finite_values_do_not_raise(table):
    X, labels, _ = table
    holes = X.copy()
    holes[::7, 0], holes[::11, 1] = np.nan, np.inf
    selector = eq.FeatureSelector(epsilon=3.0, domain=CLASSES, random_state=0).fit(holes, labels)
    assert selector.transform(holes).shape[0] == 6000


def test_nothing_but_the_noisy_weights_depends_on_rows(table):
    X, labels, _ = table

    def remembered(rows, targets):
        fitted = eq.FeatureSelector(domain=CLASSES, random_state=0).fit(rows, targets)
        model = vars(fitted.estimator_)
        assert {name for name in model if name.endswith("_")} == {
            "certificate_",
            "classes_",
            "coef_",
            "intercept_",
            "n_features_in_",
        }
        for name in ("coef_", "intercept_"):
            model.pop(name)
        # When a release was made, and its name, differ; nothing else of the certificate does.
        fitted.certificate_ = fitted.estimator_.certificate_ = replace(fitted.certificate_, release=None)
        return pickle.dumps(fitted)

    assert remembered(X, labels) == remembered(X[::-1] ** 2, 1 - labels)


def test_the_fit_is_a_spend_and_a_later_step_another(table, tmp_path):
    X, labels, _ = table
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    eq.Ledger(ledger).create(eq.Budget(1.5))
    selector = eq.FeatureSelector(epsilon=1.0, domain=CLASSES, l1_ratio=0.1, ledger=ledger)
    with pytest.raises(LedgerRefused, match="call plan"):
        selector.fit(X, labels)
    selector.plan(*X.shape)
    selector.fit(X, labels)
    assert eq.Ledger(ledger).balance().epsilon_left == 0.5
    later = eq.LogisticRegression(epsilon=1.0, domain=CLASSES, ledger=ledger)
    chosen = X[:, :2]
    later.plan(*chosen.shape)
    with pytest.raises(Overdraft):
        later.fit(chosen, labels)


def test_a_fit_keeps_to_its_plan(table):
    X, labels, _ = table
    selector = eq.FeatureSelector(domain=CLASSES, random_state=0)
    selector.plan(n_samples=6000, n_features=5)
    with pytest.raises(PlanMismatch):
        selector.fit(X, labels)
    selector.plan(n_samples=6000, n_features=6)
    with pytest.raises(PlanMismatch, match="set since then"):
        selector.set_params(epsilon=2.0).fit(X, labels)
    assert not hasattr(selector, "certificate_")


def test_noise_elsewhere_is_refused_before_anything_is_spent(table, tmp_path):
    X, labels, _ = table
    ledger = f"sqlite:///{tmp_path}/ledger.db#people"
    eq.Ledger(ledger).create(eq.Budget(1.0))
    model = eq.LogisticRegression(domain=CLASSES, mechanism="objective", ledger=ledger)
    for act in (lambda each: each.fit(X, labels), lambda each: each.plan(6000, 6)):
        with pytest.raises(InvalidParameter, match='mechanism="output"'):
            act(eq.FeatureSelector(model))
    assert eq.Ledger(ledger).balance().epsilon_left == 1.0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"domain": None}, "domain=None"),
        ({"estimator": PlainElasticNet()}, "private model of this library"),
        ({"estimator": eq.Ridge(domain=LABELS), "epsilon": 2.0}, "one place for the budget"),
        ({"domain": CLASSES, "threshold": "three deviations"}, "family-wise:0.05"),
        ({"domain": CLASSES, "threshold": "deviations:many"}, "deviations:C"),
        ({"domain": CLASSES, "threshold": "family-wise:1.5"}, "below 1"),
        ({"domain": CLASSES, "threshold": 0.0}, "threshold"),
        ({"domain": CLASSES, "threshold": None}, "threshold"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_remedy(wrong, words):
    with pytest.raises(InvalidParameter, match=words):
        eq.FeatureSelector(**wrong).plan(n_samples=100, n_features=2)


def test_a_missing_domain_comes_with_the_line_to_write(table):
    X, labels, _ = table
    with pytest.raises(DomainMissing, match="classes="):
        eq.FeatureSelector().fit(X, labels)


def test_a_schema_is_refused_and_its_encoder_offered():
    schema = eq.Schema(None, (NumberColumn("age", (20, 60)),), Target("ill", classes=(0, 1)), row_norm=2.0)
    with pytest.raises(InvalidParameter, match="SchemaEncoder"):
        eq.FeatureSelector(domain=schema).plan()


def test_the_path_is_scikit_learns_and_says_that_it_is_not_private(table):
    X, _, target = table
    alphas = [0.3, 0.1, 0.03, 0.01]
    path = eq.lab.solution_path(X, target, alphas[::-1], domain=LABELS, loss="squared", penalty="elastic-net:0.5")
    assert path.alphas == tuple(alphas)
    assert "not private" in str(path)
    assert "not private" in repr(path)
    for place, alpha in enumerate(alphas):
        plain = PlainElasticNet(alpha=alpha / 2, l1_ratio=0.5, fit_intercept=False, tol=1e-10).fit(X, target)
        np.testing.assert_allclose(path.weights[place, 0], plain.coef_, atol=1e-6)
        np.testing.assert_array_equal(path.support[place], plain.coef_ != 0)
    assert path.training == tuple(sorted(path.training, reverse=True))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"alphas": []}, "at least one alpha"),
        ({"alphas": 0.1}, "several alphas"),
        ({"alphas": np.array(0.1)}, "several alphas"),
        ({"alphas": None}, "several alphas"),
        ({"alphas": "abc"}, "a finite alpha"),
        ({"alphas": [[0.1]]}, "a finite alpha"),
        ({"domain": None}, "nothing is ever inferred"),
        ({"domain": 1.0}, "a Domain"),
        ({"loss": 3}, "a loss by its name"),
        ({"penalty": None}, "a penalty by its name"),
        ({"intercept": "half"}, "a finite intercept"),
    ],
)
def test_what_has_no_path_is_refused_with_a_remedy(table, wrong, words):
    X, _, target = table
    asked = {"alphas": [0.1], "domain": LABELS, "loss": "squared"} | wrong
    with pytest.raises(InvalidParameter, match=words):
        eq.lab.solution_path(X, target, **asked)


def test_a_path_has_a_constant_column_and_several_classes(table):
    X, labels, _ = table
    classes = np.where(X[:, 4] > 0.2, 2, labels)
    path = eq.lab.solution_path(
        X, classes, [0.1, 0.001], domain=eq.Domain(1.0, classes="observed"), loss="multinomial:3", intercept=0.5
    )
    assert path.weights.shape == (2, 3, 6)
    assert path.constants.shape == (2, 3)
    assert np.abs(path.constants[1]).max() > 0
