"""PrivateGridSearch: one spend, one model, nothing else; planted faults are caught."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import equipoise as eq
from equipoise.certify.claims.choice import LEVELS
from equipoise.data.schema import NumberColumn, Target
from equipoise.data.tables import feature_table, target_column
from equipoise.lab.auditing import lower_bound
from equipoise.noise import ExactSource, NoiseSource, SeededSource
from equipoise.release import carriers, release
from equipoise.release.carriers import choice, compositions
from equipoise.release.carriers.base import TrainedCarrier
from equipoise.release.carriers.choice import score
from equipoise.release.job import Carried, Job
from equipoise.release.split import split

CLASSES = eq.Domain(1.0, classes=(0, 1))
THREE = eq.Domain(1.0, classes=("a", "b", "c"))
NUMBERS = eq.Domain(1.0, labels=(0.0, 10.0))
METHODS = ("chunks", "random-stopping")


def wide(high: float, **facts: object) -> eq.Domain:
    return eq.Domain(1.0, labels=(0.0, 10.0), bounds=(0.0, high), **facts)


# Each audit here may be wrong with this probability; they do not draw on the suite's shared rate.
FAILURE = 1e-6


def searched(method="chunks", estimator=None, grid=None, **parameters):
    estimator = eq.Ridge(domain=NUMBERS) if estimator is None else estimator
    grid = {"alpha": [0.05, 5.0]} if grid is None else grid
    return eq.PrivateGridSearch(estimator, grid, method=method, **{"random_state": 0, **parameters})


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(0)
    X = generator.uniform(-0.6, 0.6, size=(600, 2))
    return X, 5 + 6 * X[:, 0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_a_search_finds_the_better_candidate_when_epsilon_is_large(table, method, delta):
    X, y = table
    extra = {} if method == "chunks" else {"shape": 1}
    model = searched(method, epsilon=200.0, delta=delta, grid={"alpha": [0.01, 100.0]}, **extra).fit(X, y)
    assert model.best_params_ == {"alpha": 0.01}
    assert model.score(X, y) > 0.8
    assert model.certificate_.verify() == ()
    assert model.certificate_.theorem == {"chunks": "E5", "random-stopping": "E6"}[method]
    assert model.certificate_.released == 0
    assert model.certificate_.alpha == 0.01


@pytest.mark.parametrize("method", METHODS)
def test_classifiers_of_two_and_three_classes(table, method):
    X, _ = table
    for domain, y in (
        (CLASSES, (X[:, 0] > 0).astype(int)),
        (THREE, np.array(["a", "b", "c"])[1 + np.sign(X[:, 0]).astype(int)]),
    ):
        estimator = eq.LogisticRegression(domain=domain)
        model = searched(method, estimator, {"alpha": [0.01, 1.0], "fit_intercept": [True, False]}, epsilon=100.0)
        model.fit(X, y)
        assert model.score(X, y) > 0.8
        assert model.predict_proba(X).shape == (600, len(domain.classes))
        np.testing.assert_array_equal(model.classes_, domain.classes)
        assert len(model.decision_function(X)) == 600
    assert is_classifier(model)
    assert is_regressor(searched())
    assert not hasattr(searched(), "predict_proba")


def test_a_search_predicts_what_its_model_predicts(table):
    X, y = table
    model = searched(epsilon=50.0).fit(X, y)
    expected = np.clip(X @ model.coef_ + model.intercept_, 0.0, 10.0)
    np.testing.assert_allclose(model.predict(X), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))  # noqa: S301
    np.testing.assert_allclose(model.to_sklearn().predict(X), X @ model.coef_ + model.intercept_)


def test_clone_parameters_frames_pipelines_and_sparse_rows(table):
    X, y = table
    model = searched(epsilon=50.0)
    assert clone(model).get_params()["estimator__alpha"] == "public"
    frame = pd.DataFrame(X, columns=["age", "dose"])
    fitted = clone(model).fit(frame, y)
    assert list(fitted.feature_names_in_) == ["age", "dose"]
    np.testing.assert_array_equal(fitted.coef_, clone(model).fit(X, y).coef_)
    with pytest.raises(eq.errors.InvalidData, match="column names"):
        fitted.predict(frame.rename(columns={"dose": "height"}))
    np.testing.assert_allclose(clone(model).fit(sparse.coo_matrix(X), y).coef_, fitted.coef_, rtol=1e-6)
    pipeline = make_pipeline(FunctionTransformer(lambda rows: rows), clone(model)).fit(X, y)
    assert pipeline.predict(X).shape == (600,)


@pytest.mark.parametrize("method", METHODS)
def test_a_fitted_search_holds_the_noisy_weights_and_nothing_else_about_rows(method):
    generator = np.random.default_rng(0)
    states = []
    for scale in (0.01, 100.0):
        X = generator.normal(scale=scale, size=(60, 2))
        model = searched(method).fit(X, generator.uniform(0, 10, 60))
        state = dict(model.__dict__)
        assert state.pop("coef_").shape == (2,)
        assert isinstance(state.pop("intercept_"), float)
        assert state.pop("best_params_") in [{"alpha": 0.05}, {"alpha": 5.0}]
        certificate = state.pop("certificate_")
        state["plan"] = certificate.planned_digest
        estimator = state.pop("estimator")
        assert not [name for name in vars(estimator) if name.endswith("_")]
        states.append(state)
    assert states[0] == states[1]
    assert set(states[0]) <= {*searched().get_params(deep=False), "n_features_in_", "plan"}
    for name in ("best_score_", "cv_results_", "best_estimator_", "best_index_", "refit_time_"):
        assert not hasattr(model, name)


@pytest.mark.parametrize("method", METHODS)
def test_the_pickle_holds_no_row(method):
    marked = np.float64(0.123456789123)
    model = searched(method).fit(np.full((30, 2), marked), np.full(30, marked))
    pickled = pickle.dumps(model)
    assert marked.tobytes() not in pickled
    assert repr(float(marked)).encode() not in pickled


@pytest.mark.parametrize("method", METHODS)
def test_values_never_raise(method):
    X = np.array([[np.nan, np.inf], [1e308, -1e308], [0.0, 0.0]] * 20)
    y = np.array([np.nan, np.inf, -1e308] * 20)
    model = searched(method).fit(X, y)
    assert np.isfinite(model.coef_).all()
    labels = np.array(["x", None, 3.5] * 20, dtype=object)
    searched(method, eq.LogisticRegression(domain=CLASSES)).fit(X, labels)


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda: searched(estimator=eq.Ridge(domain=NUMBERS, epsilon=2.0)), "epsilon=2.0"),
        (lambda: searched(estimator=eq.Ridge(domain=NUMBERS, ledger="trial")), "ledger='trial'"),
        (lambda: searched(estimator=eq.Ridge(domain=NUMBERS, random_state=1)), "random_state=1"),
        (lambda: searched(estimator=LinearRegression()), "LinearRegression"),
        (lambda: searched(grid={"epsilon": [1.0, 2.0]}), "epsilon in the grid"),
        (lambda: searched(grid={"gamma": [1.0, 2.0]}), "gamma in the grid"),
        (lambda: searched(grid={"alpha": 3.0}), "grid"),
        (lambda: searched(grid={"alpha": [3.0]}), "two candidates"),
        (lambda: searched(grid={"alpha": list(range(1, 100))}), "search over fewer candidates"),
        (lambda: searched(grid={"domain": [NUMBERS, eq.Domain(1.0, labels=(0.0, 9.0))]}), "another in candidate 1"),
        (lambda: searched(grid={"domain": [wide(20), wide(10)]}), "scaled alike"),
        (lambda: searched("random-stopping", grid={"domain": [wide(20), wide(10)]}), "scaled alike"),
        (lambda: searched(grid={"domain": [wide(20), NUMBERS]}), "scaled alike"),
        (lambda: searched(grid={"domain": [wide(20), wide(20, fill=0.5)]}), "another fill"),
        (lambda: searched(shape=1), "random-stopping"),
        (lambda: searched(mean_runs=3.0), "random-stopping"),
        (lambda: searched(method="both"), "both"),
        (lambda: searched(validation_share=1.0), "validation_share"),
        (lambda: searched(score_bound=-1.0), "score_bound"),
        (lambda: searched(estimator=eq.LogisticRegression(domain=CLASSES), score_bound=2.0), "score_bound=1"),
        (lambda: searched(estimator=eq.LogisticRegression(domain=eq.Domain(1.0, classes="observed"))), "observed"),
        (lambda: searched(estimator=eq.Ridge()), "nothing is ever inferred"),
        (
            lambda: searched("random-stopping", eq.Ridge(domain=NUMBERS, mechanism="functional"), delta=1e-6),
            "Gaussian noise",
        ),
    ],
)
def test_what_cannot_be_certified_is_refused_before_a_row_is_read(make, found):
    model = make()
    with pytest.raises(eq.errors.InvalidParameter) as caught:
        model.fit(np.zeros((50, 2)), np.zeros(50))
    assert found in str(caught.value)
    assert not hasattr(model, "n_features_in_")


def test_a_domain_can_be_searched_over(table):
    X, y = table
    domains = [eq.Domain(norm, labels=(0.0, 10.0)) for norm in (1.0, 0.001)]
    model = searched(estimator=eq.Ridge(), grid={"domain": domains}, epsilon=200.0).fit(X, y)
    assert model.best_params_ == {"domain": domains[0]}
    assert "row_norm=0.001" in str(model.certificate_)


@pytest.mark.parametrize(
    "facts",
    [
        {"row_norm": 0.2},
        {"row_sum": 0.2},
        {"radius": 0.3},
        {"fill": 0.4},
        {"bounds": (-2.0, 2.0), "row_norm": 0.2},
        {"bounds": (-2.0, 2.0), "row_sum": 0.2},
    ],
    ids=str,
)
def test_every_candidate_is_trained_and_scored_by_the_domain_that_its_claim_names(table, monkeypatch, facts):
    X, y = table
    X = np.where(np.arange(len(X))[:, None] % 7 == 0, np.nan, X)
    bounds = facts.get("bounds")
    first = eq.Domain(1.0, labels=(0.0, 10.0), bounds=bounds)
    second = eq.Domain(**{"row_norm": 1.0, "labels": (0.0, 10.0), **facts})
    trained, scored = [], []
    chosen = choice.score

    def noted(candidate, job, bound):
        trained.append(candidate.weights)
        scored.append(chosen(candidate, job, bound))
        return scored[-1]

    monkeypatch.setattr(choice, "score", noted)
    for domains in ([first, second], [second, second], [first, first]):
        ridge = eq.Ridge(alpha=0.05, mechanism="output")
        searched(estimator=ridge, grid={"domain": domains}, epsilon=200.0).fit(X, y)
    # The same rows, the same noise: the second one is what it is beside a candidate of its own domain, and only there.
    np.testing.assert_array_equal(trained[1], trained[3])
    assert scored[1] == scored[3]
    assert np.abs(trained[1] - trained[5]).max() > 1e-3


def test_one_spend_is_recorded_before_a_row_is_read(tmp_path, table, monkeypatch):
    X, y = table
    reference = f"sqlite:///{tmp_path}/ledger.db#trial"
    ledger = eq.Ledger(reference)
    ledger.create(eq.Budget(2.0))
    model = searched(random_state=None, ledger=reference)
    with pytest.raises(eq.errors.LedgerRefused, match="plan"):
        model.fit(X, y)
    plan = model.plan(600, 2)
    with pytest.raises(eq.errors.PlanMismatch):
        model.fit(X[:-1], y[:-1])
    assert len(ledger.history()) == 1
    model.fit(X, y)
    assert model.certificate_.planned_digest == plan.digest
    assert [paid.entry.certificate for paid in ledger.releases()] == [plan.digest]
    assert "not recorded" not in str(model.certificate_)
    # A failure after the spend: the text is constant, nothing is kept of it, and the spend stays.
    monkeypatch.setattr(TrainedCarrier, "carry_out", lambda *_: 1 / 0)
    with pytest.raises(eq.errors.PrivateFailure) as caught:
        _planned(clone(model)).fit(X, y)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert [paid.outcome for paid in ledger.releases()] == ["released", "failed"]
    with pytest.raises(eq.errors.Overdraft):
        _planned(clone(model)).fit(X, y)
    with pytest.raises(eq.errors.LedgerRefused):
        _planned(clone(model).set_params(random_state=0, epsilon=0.1)).fit(X, y)


def _planned(model):
    model.plan(600, 2)
    return model


def test_every_clone_of_a_plain_grid_search_spends(tmp_path):
    reference = f"sqlite:///{tmp_path}/ledger.db#trial"
    ledger = eq.Ledger(reference)
    ledger.create(eq.Budget(10.0))
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"age": generator.uniform(0, 100, 90)})
    dose = generator.uniform(0, 400, 90)
    # A ledger needs a declared number of rows: that of a fold.
    vouched = {"vouched_by": "A. Officer", "vouched_on": "2026-11-16"}
    schema = eq.Schema(60, (NumberColumn("age", (0, 100)),), Target("dose", bounds=(0, 400)), **vouched)
    ridge = eq.Ridge(epsilon=1.0, domain=schema, ledger=reference)
    plain = GridSearchCV(ridge, {"alpha": [0.1, 1.0, 10.0]}, cv=KFold(3), refit=False, error_score="raise")
    plain.fit(frame, dose)
    spends = [entry for entry in ledger.history() if entry.kind == "spend"]
    assert len(spends) == 9
    assert float(ledger.balance().epsilon_left) == 1.0
    # One search of the same three candidates is one spend.
    whole = eq.Schema(90, (NumberColumn("age", (0, 100)),), Target("dose", bounds=(0, 400)), **vouched)
    grid = {"alpha": [0.1, 1.0, 10.0]}
    model = eq.PrivateGridSearch(eq.Ridge(domain=whole), grid, epsilon=1.0, ledger=reference).fit(frame, dose)
    assert len(ledger.releases()) == 10
    assert float(ledger.balance().epsilon_left) == 0.0
    assert model.predict(frame).shape == (90,)


@pytest.mark.parametrize(("n", "validation", "chunks"), [(10, 4, 3), (101, 1, 4), (1000, 200, 1)])
def test_no_row_is_in_two_parts_of_a_split(n, validation, chunks):
    sizes = [(n - validation) // chunks] * chunks
    choosing, training = split(n, validation, sizes, public_seed=3)
    assert sorted(np.concatenate([choosing, *training])) == list(range(n))
    assert len(choosing) == validation
    assert len({len(part) for part in training}) == 1
    assert not np.array_equal(choosing, split(n, validation, sizes, public_seed=4)[0]) or n == 101


def test_parts_get_as_many_rows_as_their_claims_say():
    # A claim about 898 rows must not be carried out on 450.
    choosing, training = split(1000, 100, [898, 2], public_seed=0)
    assert [len(part) for part in (choosing, *training)] == [100, 898, 2]
    assert len({*choosing, *training[0], *training[1]}) == 1000
    with pytest.raises(eq.errors.PrivateFailure):
        split(1000, 100, [898, 3], public_seed=0)


def test_every_candidate_sees_its_own_rows_only(table, monkeypatch):
    X, y = np.arange(600.0)[:, None] / 600, np.zeros(600)
    seen = []
    carry_out = carriers.carry_out

    def noted(claim, job):
        seen.append((claim.kind, set(np.round(600 * job.table.read()[:, 0]).astype(int))))
        return carry_out(claim, job)

    search = searched(grid={"alpha": [0.1, 1.0, 10.0]})
    search.plan(600, 1)
    monkeypatch.setattr(carriers, "carry_out", noted)
    model = search.fit(X, y)
    (whole, _), *trained, (last, choosing) = seen
    assert whole == "disjoint"
    assert last == "choice"
    *trainings, choice = model.certificate_.claim.of
    assert [len(rows) for _, rows in trained] == [part.n_samples for part in trainings] == [160] * 3
    trained_on = set.union(*(rows for _, rows in trained))
    assert len(trained_on) == 480
    assert choosing == set(split(600, choice.n_samples, [160] * 3, 0)[0].tolist())
    assert not trained_on & choosing


def test_one_row_moves_a_score_by_one_part_at_most_and_scores_are_whole(table):
    X, y = table
    certificate = searched(score_bound=0.3).fit(X, y).certificate_
    claim, bound = certificate.claim.of[0], certificate.claim.main.procedure.bound
    assert bound == 0.3
    generator = np.random.default_rng(1)

    def scored(rows, targets, weights):
        job = Job(certificate.terms, feature_table(rows), target_column(targets, 40), (), SeededSource(0))
        return score(Carried(claim, weights, job), job, bound)

    for _ in range(50):
        weights = generator.normal(scale=20, size=(1, 3))
        rows, targets = generator.normal(scale=3, size=(40, 2)), generator.uniform(-5, 15, 40)
        before = scored(rows, targets, weights)
        place = generator.integers(40)
        rows[place], targets[place] = generator.normal(scale=3, size=2), generator.choice([np.nan, -1e9, 1e9, 4.0])
        after = scored(rows, targets, weights)
        assert before == int(before)
        assert abs(before - after) <= LEVELS


class LaplaceOnly(NoiseSource):
    """A source that leaves the choice to the base class."""

    def __init__(self, seed):
        self._source = SeededSource(seed)

    seeded = True

    def add(self, law, weights, scale):
        assert law == "laplace"
        return self._source.add(law, weights, scale)

    subset = quantile = add


@pytest.mark.parametrize("source", [SeededSource(0), ExactSource(), LaplaceOnly(0)], ids=lambda s: type(s).__name__)
def test_a_choice_has_the_law_of_the_exponential_mechanism(source):
    scores, scale, draws = np.array([-3.0, -1.0, -2.0]) * LEVELS, 2.0 * LEVELS, 3000
    expected = np.exp(scores / scale) / np.exp(scores / scale).sum()
    found = np.bincount([source.choose(scores, scale) for _ in range(draws)], minlength=3) / draws
    # Hoeffding, three shares: a false alarm in 1e-6 of all runs.
    assert np.abs(found - expected).max() < np.sqrt(np.log(6 / 1e-6) / (2 * draws))


class HastyChoice(SeededSource):
    """A fault: a tenth of the noise that the choice needs."""

    def choose(self, scores, scale):
        return super().choose(scores, scale / 10)


def sizes_of(certificate):
    """Return how many rows train each candidate."""
    return [part.n_samples for part in certificate.claim.of[:-1]]


def choices(source_type, runs):
    """Return which candidate was chosen, in runs on two tables that differ in one row of the validation part."""
    search = eq.PrivateGridSearch(
        eq.Ridge(domain=eq.Domain(1.0, labels=(-1.0, 1.0)), fit_intercept=False),
        {"alpha": [0.05, 1e4]},
        random_state=0,
        validation_share=0.01,
    )
    certificate = search.plan(4000, 1)
    validation, _ = split(4000, certificate.claim.main.n_samples, sizes_of(certificate), 0)
    found = []
    for target in (1.0, 0.0):
        # The first candidate learns y = x; the second says 0. All validation rows but one are indifferent.
        X, y = np.ones((4000, 1)), np.ones(4000)
        X[validation], y[validation] = 0.0, 0.0
        X[validation[0]], y[validation[0]] = 1.0, target
        rows = feature_table(X), target_column(y, 4000)
        seeds = range(runs) if target else range(runs, 2 * runs)
        results = (release(certificate, *rows, source_type(seed)) for seed in seeds)
        found.append(np.array([float(result.certificate.released) for result in results]))
    return found


def test_an_audit_of_the_choice_finds_no_fault_and_notices_a_tenth_of_the_noise():
    honest = lower_bound(*choices(SeededSource, 300), 0.0, [0.5], FAILURE, claimed=1.0)
    assert not honest.refuted
    hasty = lower_bound(*choices(HastyChoice, 300), 0.0, [0.5], FAILURE, claimed=1.0)
    assert hasty.refuted


def weights_of_the_best(runs):
    """Return released weights, in runs on two tables that differ in one row of the first chunk."""
    search = eq.PrivateGridSearch(
        eq.Ridge(domain=eq.Domain(1.0, labels=(-1.0, 1.0)), fit_intercept=False, mechanism="laplace"),
        {"alpha": [4.0, 4.0 + 1e-9, 4.0 + 2e-9, 4.0 + 3e-9]},
        random_state=0,
        validation_share=0.8,
    )
    n = 400
    certificate = search.plan(n, 1)
    validation, chunks = split(n, certificate.claim.main.n_samples, sizes_of(certificate), 0)
    found = []
    for sign in (1.0, -1.0):
        # The larger the weight, the better the score; one row of the first chunk pulls it up or down.
        X, y = np.zeros((n, 1)), np.zeros(n)
        X[validation], y[validation] = 1.0, 1.0
        X[chunks[0][0]], y[chunks[0][0]] = 1.0, sign
        rows = feature_table(X), target_column(y, n)
        seeds = range(runs) if sign > 0 else range(runs, 2 * runs)
        results = (release(certificate, *rows, SeededSource(seed)) for seed in seeds)
        found.append(np.array([result.weights[0, 0] for result in results]))
    scale = certificate.claim.of[0].noise.scale
    return [weights / scale for weights in found]


# Without draws, every part's rows are looked at in `test_every_candidate_sees_its_own_rows_only`.
@pytest.mark.statistics
def test_an_audit_of_the_weights_finds_no_fault_and_notices_chunks_that_overlap(monkeypatch):
    thresholds = [0.0]
    assert not lower_bound(*weights_of_the_best(450), 0.0, thresholds, FAILURE, claimed=1.0).refuted

    def overlapping(n_samples, validation_rows, sizes, public_seed):
        validation, parts = split(n_samples, validation_rows, sizes, public_seed)
        return validation, parts[:1] * len(sizes)

    monkeypatch.setattr(compositions, "split", overlapping)
    assert lower_bound(*weights_of_the_best(450), 0.0, thresholds, FAILURE, claimed=1.0).refuted
