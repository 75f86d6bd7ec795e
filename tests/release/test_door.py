"""Nothing that depends on rows leaves except through the door: hostile values, escapes, and the order of things."""

import dataclasses
import functools
import getpass
import io
import pickle
import socket
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import equipoise as eq
from equipoise.certify import claims
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.data.rows import Rows, centred_targets, class_codes
from equipoise.data.tables import feature_table, target_column
from equipoise.data.unread import Unread
from equipoise.errors import PlanMismatch, PrivateFailure
from equipoise.noise import noise_source
from equipoise.planning import kinds
from equipoise.planning.issue import issue
from equipoise.planning.request import Bounds, Request
from equipoise.planning.search import Candidate, Parameter, SearchRequest, issue_search, run_budget
from equipoise.planning.simplex import SimplexRequest, issue_simplex
from equipoise.release import carriers, release
from hunting import hunted

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
LABELS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
THREE = eq.Domain(row_norm=1.0, classes=(0, 1, 2))
# Every way through the door: where the noise enters, and what carries out the loss.
MODELS = {
    "logistic": (eq.LogisticRegression, {"domain": CLASSES}),
    "logistic output": (eq.LogisticRegression, {"domain": CLASSES, "mechanism": "output"}),
    "logistic objective": (eq.LogisticRegression, {"domain": CLASSES, "mechanism": "objective"}),
    "logistic gradient": (eq.LogisticRegression, {"domain": CLASSES, "mechanism": "noisy-gradient", "delta": 1e-3}),
    "logistic batches": (eq.LogisticRegression, {"domain": CLASSES, "mechanism": "noisy-gradient:2", "delta": 1e-3}),
    "multinomial objective": (eq.LogisticRegression, {"domain": THREE, "mechanism": "objective"}),
    "multinomial gradient": (eq.LogisticRegression, {"domain": THREE, "mechanism": "noisy-gradient", "delta": 1e-3}),
    "hinge": (eq.LinearSVC, {"domain": CLASSES, "loss": "hinge", "alpha": 0.1}),
    "squared": (eq.Ridge, {"domain": LABELS}),
    "squared output": (eq.Ridge, {"domain": LABELS, "mechanism": "output"}),
    "squared objective": (eq.Ridge, {"domain": LABELS, "mechanism": "objective"}),
    "squared gradient": (eq.Ridge, {"domain": LABELS, "mechanism": "noisy-gradient", "delta": 1e-3}),
    "squared sums": (eq.Ridge, {"domain": LABELS, "mechanism": "sufficient-statistics"}),
    "squared coefficients": (eq.Ridge, {"domain": LABELS, "mechanism": "functional"}),
    "sgd": (eq.SGDClassifier, {"domain": CLASSES, "batch_size": 2}),
    "sgd drawn": (eq.SGDClassifier, {"domain": CLASSES, "batch_size": 1, "order": "replacement", "delta": 1e-3}),
    "sgd squared": (eq.SGDRegressor, {"domain": LABELS, "batch_size": 2, "dropout": 0.5, "average": "uniform"}),
    "noisy sgd": (eq.NoisySGDRegressor, {"domain": LABELS, "batch_size": 2, "loss": "huber"}),
    "phased": (eq.PhasedClassifier, {"domain": CLASSES}),
    "phased corners": (eq.PhasedRegressor, {"domain": LABELS, "loss": "absolute", "step": 0.1}),
    "dropout": (eq.DropoutRegressor, {"domain": LABELS, "delta": 1e-3}),
    "dropout masks": (eq.DropoutClassifier, {"domain": CLASSES, "delta": 1e-3}),
}

# What another algorithm is described by: least squares, two bags by public coins, a budget.
METHOD = (
    eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", 0.1), LABELS),
    eq.Recipe(1e-6, method="bootstrap:2/6"),
    eq.Budget(1.0),
)

hostile_floats = st.floats(width=64, allow_nan=True, allow_infinity=True) | st.sampled_from(
    [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, -0.0]
)


def rows_of(matrix: np.ndarray, domain: eq.Domain, intercept: float = 0.0) -> np.ndarray:
    with np.errstate(all="ignore"):
        rows = Rows(matrix, domain, intercept)
        return np.vstack([block.copy() for block, _ in rows.blocks()])


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=hostile_floats),
    st.floats(-2, 2),
)
def test_every_row_lands_in_the_domain_whatever_it_holds(matrix, fill):
    domain = eq.Domain(row_norm=0.75, classes=(0, 1), fill=fill)
    mapped = rows_of(matrix, domain)
    assert np.isfinite(mapped).all()
    assert (np.linalg.norm(mapped, axis=1) <= 0.75 * (1 + 1e-12)).all()


@settings(derandomize=True, deadline=None, max_examples=100)
@given(arrays.arrays(np.float64, (4, 3), elements=hostile_floats))
def test_a_row_is_mapped_by_itself_alone(matrix):
    together = rows_of(matrix, CLASSES)
    alone = np.vstack([rows_of(row[None, :], CLASSES) for row in matrix])
    np.testing.assert_array_equal(together, alone)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(arrays.arrays(np.float64, (6, 3), elements=hostile_floats), st.integers(1, 3))
def test_views_multiply_like_the_rows_they_stand_for(matrix, outputs):
    generator = np.random.default_rng(0)
    weights, slopes = generator.normal(size=(4, outputs)), generator.normal(size=(outputs, 6))
    with np.errstate(all="ignore"):
        rows = Rows(matrix, CLASSES, 0.5)
        dense = rows_of(matrix, CLASSES, 0.5)
        for view, where in rows.views():
            np.testing.assert_allclose(view @ weights, dense[where] @ weights, atol=1e-13)
            np.testing.assert_allclose(slopes[:, where] @ view, slopes[:, where] @ dense[where], atol=1e-13)
            np.testing.assert_allclose(view @ weights[:, 0], dense[where] @ weights[:, 0], atol=1e-13)


@pytest.mark.parametrize("kind", [np.float32, np.int16])
def test_views_are_the_same_whether_numbers_are_converted_once_or_in_every_pass(kind, monkeypatch):
    monkeypatch.setattr("equipoise.data.rows.rows_of_a_view", lambda columns: 7)
    generator = np.random.default_rng(0)
    matrix = (3 * generator.normal(size=(30, 3))).astype(kind)
    if kind is np.float32:
        matrix[9, 1], matrix[20, 0] = np.nan, 3e38
    weights, seen = generator.normal(size=(4, 2)), []
    for kept in (0, matrix.size):
        monkeypatch.setattr("equipoise.data.rows.KEPT_DOUBLES", kept)
        rows = Rows(matrix, CLASSES, 0.5)
        # Twice: the second pass finds what the first one converted.
        passes = [[view @ weights for view, _ in rows.views()] for _ in range(2)]
        np.testing.assert_array_equal(*map(np.vstack, passes))
        seen.append(np.vstack(passes[0]))
    np.testing.assert_array_equal(*seen)
    np.testing.assert_allclose(seen[0], rows_of(matrix, CLASSES, 0.5) @ weights, atol=1e-13)


def test_rows_inside_the_domain_are_not_touched_and_long_ones_keep_their_direction():
    matrix = np.array([[0.3, 0.4], [3.0, 4.0], [1e300, 1e300]])
    np.testing.assert_allclose(rows_of(matrix, CLASSES), [[0.3, 0.4], [0.6, 0.8], [0.5**0.5, 0.5**0.5]], rtol=1e-15)


def test_blocks_are_joined_without_a_seam(monkeypatch):
    monkeypatch.setattr("equipoise.data.rows.BLOCK_ROWS", 7)
    matrix = np.random.default_rng(0).normal(size=(30, 3))
    matrix[9, 1] = np.nan
    norms = np.linalg.norm(np.nan_to_num(matrix), axis=1, keepdims=True)
    np.testing.assert_allclose(rows_of(matrix, CLASSES), np.nan_to_num(matrix) / np.maximum(1, norms), rtol=1e-14)


def test_targets_are_mapped_and_never_raise():
    np.testing.assert_array_equal(class_codes(np.array([0, 1, 7, -3]), (0, 1)), [-1, 1, -1, -1])
    np.testing.assert_array_equal(
        class_codes(np.array(["a", None, "b", object()], dtype=object), ("a", "b")), [-1, -1, 1, -1]
    )
    np.testing.assert_array_equal(class_codes(np.array([0.0, np.nan, 1.0]), (0, 1)), [-1, -1, 1])
    with np.errstate(all="ignore"):
        codes = centred_targets(np.array([np.nan, np.inf, -np.inf, 1e308, -7.0, 0.5]), LABELS)
    np.testing.assert_array_equal(codes, [0, 0, 0, 1, -1, 0.5])


class Hostile:
    """A label whose comparison raises."""

    def __eq__(self, other):
        raise RuntimeError("row 3 holds a secret")

    __hash__ = None


def test_every_kind_is_tested_at_the_door():
    planned = {model(**parameters).plan(50, 3).kind for model, parameters in MODELS.values()}
    planned.add(eq.plan_method(*METHOD, 50, 3).kind)
    assert planned == set(kinds.named())
    composed = {node.kind for way in WAYS.values() for node in way.plan(1.0).claim.nodes()}
    # Claims of this kind are checked for ever, and no new ones are made.
    recorded = {"private-bounds"}
    assert recorded < set(claims.members())
    # Of released models, and of rows that are held out from one: tests/evaluation takes them through the door.
    evaluated = {"evaluation", "held-out", "looked"}
    carried = {claim.kind for claim in carriers.members()}
    assert planned | composed | evaluated == set(claims.members()) - recorded == carried


@pytest.mark.parametrize("name", MODELS)
@hunted(
    20,
    60,
    # As many rows and columns as other tests have, so that a model is planned once for all of them.
    X=arrays.arrays(np.float64, (4, 4), elements=hostile_floats),
    y=arrays.arrays(np.float64, (4,), elements=hostile_floats),
)
def test_no_value_raises_warns_or_prints(name, X, y):
    model, parameters = MODELS[name]
    output = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(output), redirect_stderr(output):
        warnings.simplefilter("error")
        fitted = model(epsilon=1.0, **parameters, random_state=0).fit(X, y)
        assert np.isfinite(fitted.predict(X)).all()
    assert output.getvalue() == ""
    assert np.isfinite(fitted.coef_).all()


def test_hostile_labels_and_one_class_are_fitted():
    X = np.eye(4)
    labels = np.array([Hostile(), 1, 0, None], dtype=object)
    eq.LogisticRegression(domain=CLASSES, random_state=0).fit(X, labels)
    eq.LogisticRegression(domain=CLASSES, random_state=0).fit(X, np.ones(4, dtype=int))
    eq.LogisticRegression(domain=CLASSES, random_state=0).fit(X, ["no", "such", "label", ""])


def test_missing_values_of_frames_become_the_fill():
    frame = pd.DataFrame({"a": [0.1, None, 0.3], "b": pd.array([1, None, 0], dtype="Int64")})
    fitted = eq.Ridge(domain=eq.Domain(1.0, labels=(0, 1)), random_state=0).fit(frame, [0.0, 1.0, 0.5])
    filled = eq.Ridge(domain=eq.Domain(1.0, labels=(0, 1)), random_state=0).fit(frame.fillna(0), [0.0, 1.0, 0.5])
    np.testing.assert_array_equal(fitted.coef_, filled.coef_)


DESCENDING = {
    "sgd": functools.partial(eq.SGDRegressor, batch_size=1),
    "noisy-sgd": functools.partial(eq.NoisySGDRegressor, batch_size=1),
    "phased": eq.PhasedRegressor,
    "dropout": eq.DropoutRegressor,
}

# What each kind does with rows first.
FIRST_STEPS = {
    "output": "equipoise.solve.solvers.named",
    "objective": "equipoise.solve.solvers.named",
    "noisy-gradient": "equipoise.solve.objective.Objective.clipped_gradient",
    "sufficient-statistics": "equipoise.release.job.products",
    "functional": "equipoise.release.job.products",
    "sgd": "equipoise.release.carriers.sgd.run_passes",
    "noisy-sgd": "equipoise.release.carriers.noisy_sgd.run_noisy",
    "phased": "equipoise.release.carriers.phased.run_passes",
    "dropout": "equipoise.release.carriers.dropout.curvature",
}


@settings(derandomize=True, deadline=None, max_examples=60)
@given(data=st.data())
def test_no_value_raises_warns_or_prints_in_a_training_of_the_callers(data):
    X = data.draw(arrays.arrays(np.float64, (6, 2), elements=hostile_floats))
    y = data.draw(arrays.arrays(np.float64, (6,), elements=hostile_floats))
    output = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(output), redirect_stderr(output):
        warnings.simplefilter("error")
        released = eq.release_method(lambda rows, targets: targets @ rows / 6, X, y, *METHOD, random_state=0)
    assert output.getvalue() == ""
    assert np.isfinite(released.weights).all()


every_failure = pytest.mark.parametrize(
    "failure", [ValueError("row 12 is 3.25"), MemoryError("12 rows"), np.linalg.LinAlgError("12")]
)


def assert_nothing_is_told(error: PrivateFailure) -> None:
    assert "12" not in str(error)
    # One text for all failures, and no way back to the one that it stands for.
    assert str(error) == str(PrivateFailure())
    assert error.__cause__ is None
    assert error.__context__ is None


@every_failure
# What the caller's own training raises is looked at in test_other_methods.py: there is no estimator.
@pytest.mark.parametrize("kind", sorted(set(kinds.named()) - {"method"}))
def test_a_failure_after_rows_were_read_tells_nothing(kind, failure, monkeypatch):
    def fail(*arguments, **named):
        raise failure

    monkeypatch.setattr(FIRST_STEPS[kind], fail)
    common = {"domain": LABELS, "delta": 1e-3, "random_state": 0}
    model = eq.Ridge(mechanism=kind, **common) if kinds.named()[kind].minimises else DESCENDING[kind](**common)
    with pytest.raises(PrivateFailure) as caught:
        model.fit(np.eye(3), [0, 1, 0])
    assert_nothing_is_told(caught.value)
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "n_features_in_")


def test_a_failed_refit_keeps_the_earlier_release(monkeypatch):
    model = eq.LogisticRegression(domain=CLASSES, random_state=0).fit(np.eye(3), [0, 1, 0])
    before = {**model.__dict__}
    with pytest.raises(eq.errors.EquipoiseError):
        model.fit(np.zeros((0, 5)), [])
    assert model.__dict__ == before


@pytest.mark.parametrize("name", MODELS)
def test_the_same_request_gives_the_same_object_but_for_the_noisy_weights(name):
    """Two tables, one shape: everything a fitted object holds must agree, except the noisy coefficients."""
    model_type, parameters = MODELS[name]
    generator = np.random.default_rng(0)
    states = []
    for scale in (0.01, 100.0):
        X = generator.normal(scale=scale, size=(50, 3))
        model = model_type(**parameters).fit(X, generator.integers(0, 2, 50))
        state = dict(model.__dict__)
        outputs = 3 if parameters["domain"] is THREE else 1
        assert np.atleast_2d(state.pop("coef_")).shape == (outputs, 3)
        assert np.size(state.pop("intercept_")) == outputs
        classes = parameters["domain"].classes
        assert classes is None or state.pop("classes_").tolist() == list(classes)
        # A curvature that was released is a function of rows, through noise; the plan is not.
        state["certificate_"] = state["certificate_"].planned_digest
        states.append(state)
    assert states[0] == states[1]
    # What predictions need besides weights is public: the domain, the shape, how many directions, the public seed.
    assert set(states[0]) <= {*model_type().get_params(), "certificate_", "n_features_in_", "_facts"}


@pytest.mark.parametrize("name", MODELS)
def test_the_pickle_holds_no_row_and_nothing_private_but_the_noisy_weights(name):
    model_type, parameters = MODELS[name]
    marked = np.float64(0.123456789123)
    X = np.full((50, 3), marked)
    model = model_type(**parameters).fit(X, np.full(50, 1))
    pickled = pickle.dumps(model)
    assert marked.tobytes() not in pickled
    assert repr(float(marked)).encode() not in pickled
    shapes = [entry.shape for entry in _arrays(model)]
    assert max(int(np.prod(shape)) for shape in shapes) <= (9 if parameters["domain"] is THREE else 3)


def _arrays(value, seen=None):
    """Yield every array that is reachable from an object's attributes."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        yield value
    children = []
    if isinstance(value, dict):
        children = [*value.values(), *value]
    elif isinstance(value, list | tuple | set | frozenset):
        children = list(value)
    elif not isinstance(value, type):
        # A fitted estimator is a dataclass with more than its fields, and records with slots have no dictionary.
        named = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
        children = [*(getattr(value, field.name) for field in named), *getattr(value, "__dict__", {}).values()]
    for child in children:
        yield from _arrays(child, seen)


@pytest.mark.parametrize("name", MODELS)
def test_exact_noise_differs_between_runs_and_seeded_noise_does_not(name):
    model, parameters = MODELS[name]
    X, y = np.eye(4), [0, 1, 0, 1]
    fresh = [model(**parameters).fit(X, y) for _ in range(2)]
    seeded = [model(**parameters, random_state=5).fit(X, y) for _ in range(2)]
    assert not np.array_equal(*(fitted.coef_ for fitted in fresh))
    np.testing.assert_array_equal(*(fitted.coef_ for fitted in seeded))
    for fitted in (*fresh, *seeded):
        stamped = "seeded: for experiments, not for release" in fitted.certificate_.caveats
        assert stamped is (fitted.random_state is not None)
        assert fitted.certificate_.grade == ("conditional" if stamped else "proved")


@pytest.mark.parametrize("name", MODELS)
def test_the_public_seed_does_not_touch_the_noise(name):
    # Rows that are all alike leave public coins (orders, masks, deals) nothing to change but the noise.
    model, parameters = MODELS[name]
    X, y = np.zeros((4, 4)), [1, 1, 1, 1]
    fitted = [model(**parameters, random_state=5, public_seed=seed).fit(X, y) for seed in (0, 1)]
    if fitted[0]._facts.directions is None:
        np.testing.assert_array_equal(*(found.coef_ for found in fitted))
        return
    # Public coins also draw the few directions that a plan may reduce rows to (P1): along them the noise is the same.
    along = [np.linalg.lstsq(found._facts.directions, found.coef_.T, rcond=None)[0] for found in fitted]
    np.testing.assert_allclose(*along, rtol=1e-9)


def test_a_text_target_of_a_regression_is_refused_by_its_type():
    for target in (np.array(["0.5"] * 3 + ["abc"]), np.array([0.5, 0.5, 0.5, None]), pd.Series(["0.5"] * 4)):
        with pytest.raises(eq.errors.InvalidData, match="numeric target"):
            eq.Ridge(domain=LABELS, random_state=0).fit(np.eye(4), target)


# --- every way through the door, searches, selections and bounds included ---------------------------------------------


ROWS = np.random.default_rng(3).random((40, 2)) / 2
# A selection by coins needs many ones in every column.
ONES = np.ones((1500, 3))
# Bounds of columns are found on many rows only.
MANY = np.random.default_rng(4).random((1500, 2)) / 2


@dataclasses.dataclass(frozen=True)
class Way:
    """A plan for a budget, and the table that it is carried out on; a selection over the simplex has no target."""

    planned: Callable[..., Certificate]
    table: np.ndarray = dataclasses.field(default_factory=lambda: ROWS)
    aimed: bool = True

    def plan(self, epsilon: float, **said: object) -> Certificate:
        return self.planned(self.table.shape, eq.Budget(epsilon, 1e-3), **said)

    def carried_out(
        self,
        certificate: Certificate,
        ledger: str | None = None,
        seed: int | None = None,
        read: Callable = lambda: None,
    ):
        """Return the release; `read` is called whenever anything of the table is read."""

        def told(values):
            def fetch(*_):
                read()
                return values

            return fetch

        table = Unread(self.table.shape, True, told(self.table))
        labels = np.arange(len(self.table)) % 2
        target = Unread((len(self.table),), True, told(labels)) if self.aimed else None
        blank = next((node for node in certificate.claim.nodes() if node.kind == "chosen-bounds"), None)
        unbounded = None if blank is None else Blank(told(self.table[:, 0]), lambda: (table, target))
        return release(certificate, table, target, noise_source(seed), ledger, unbounded=unbounded)


class Blank:
    """A table whose columns have no bounds yet."""

    def __init__(self, numbers, encoded):
        self._numbers, self._encoded = numbers, encoded

    def counts(self, columns, cells):
        return [cells.counts(self._numbers()) for _ in columns]

    def with_bounds(self, bounds):
        self.features, self.target = self._encoded()
        return self


def asked_for(shape, budget, **said) -> Request:
    return Request("logistic", "l2", 0.1, CLASSES, 0.0, *shape, budget, **said)


def a_search(method):
    def planned(shape, budget, **said):
        shape_of_runs, runs = (0, 6.0) if method == "random-stopping" else (0, 0.0)
        mechanism = "gaussian" if method == "random-stopping" else "output"
        run = run_budget(method, budget, shape_of_runs, runs)
        rows = 30 if method == "random-stopping" else 15
        asked = [
            dataclasses.replace(asked_for((rows, shape[1]), run, mechanism=mechanism, **said), alpha=alpha)
            for alpha in (0.5, 1.0)
        ]
        candidates = tuple(Candidate((Parameter("alpha", request.alpha),), request) for request in asked)
        return issue_search(
            SearchRequest(method, candidates, *shape, budget, 10, 1.0, shape=shape_of_runs, mean_runs=runs, **said)
        )

    return planned


WAYS = {
    "weights": Way(lambda shape, budget, **said: issue(asked_for(shape, budget, **said))),
    "columns selected": Way(
        lambda shape, budget, **said: issue(asked_for(shape, budget, selection="deviations:3", **said))
    ),
    "bounds first": Way(
        lambda shape, budget, **said: issue(
            asked_for(shape, budget, private_bounds=Bounds(("age",), budget.epsilon / 5), **said)
        ),
        MANY,
    ),
    "chunks": Way(a_search("chunks")),
    "random stopping": Way(a_search("random-stopping")),
    "simplex": Way(
        lambda shape, budget, **said: issue_simplex(SimplexRequest(*shape, budget, **said)), ONES, aimed=False
    ),
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@every_way
def test_another_table_than_planned_is_refused_by_the_door_itself(way):
    certificate = way.plan(1.0, seeded=True)
    reads = []
    for other in (way.table[:-1], way.table[:, :-1], np.vstack([way.table, way.table[:1]])):
        with pytest.raises(PlanMismatch):
            dataclasses.replace(way, table=other).carried_out(certificate, seed=0, read=lambda: reads.append(1))
    assert reads == []


@every_way
def test_the_door_refuses_a_noise_source_that_was_not_planned(way):
    reads = []
    for seeded, seed in ((False, 0), (True, None)):
        with pytest.raises(eq.errors.InvalidParameter, match="random_state"):
            way.carried_out(way.plan(1.0, seeded=seeded), seed=seed, read=lambda: reads.append(1))
    assert reads == []


def test_bounds_that_were_not_paid_for_are_refused_and_so_is_a_plan_that_pays_for_none():
    blank = Blank(lambda: pytest.fail("read"), lambda: pytest.fail("read"))
    for name, unbounded in (("bounds first", None), ("weights", blank), ("chunks", blank)):
        rows = WAYS[name].table
        table, target = feature_table(rows), target_column(np.arange(len(rows)) % 2, len(rows))
        with pytest.raises(eq.errors.InvalidParameter, match="schema"):
            release(WAYS[name].plan(1.0), table, target, noise_source(None), unbounded=unbounded)


def test_a_plan_of_bounds_by_quantiles_is_checked_and_no_longer_carried_out():
    way = WAYS["bounds first"]
    plan = way.plan(1.0)
    bounds, model = plan.claim.of
    older = PrivateBounds(bounds.budget, bounds.n_samples, bounds.columns, 2 * bounds.scale)
    plan = Certificate.seal(plan.terms, dataclasses.replace(plan.claim, of=(older, model)), {})
    assert plan.verify() == ()
    with pytest.raises(eq.errors.InvalidParameter, match="no longer carried out"):
        release(
            plan,
            feature_table(way.table),
            target_column(np.arange(len(way.table)) % 2, len(way.table)),
            noise_source(None),
            unbounded=Blank(lambda: pytest.fail("read"), lambda: pytest.fail("read")),
        )


@every_way
def test_nothing_is_read_before_the_ledger_admits(way, tmp_path):
    reference = f"sqlite:///{tmp_path}/ledger.db"
    eq.Ledger(reference).create(eq.Budget(1.0, 0.5), "basic")
    certificate = way.plan(0.75, ledger="default")
    balances = []

    def read():
        balances.append(str(eq.Ledger(reference).balance().epsilon_left))

    released = way.carried_out(certificate, reference, read=read)
    # One spend, whatever it is composed of, and it was recorded when the first value was asked for.
    assert set(balances) == {"0.25"}
    (paid,) = eq.Ledger(reference).releases()
    assert paid.entry.certificate == certificate.digest == released.certificate.planned_digest
    assert (paid.release, paid.outcome) == (released.certificate.release.id, "released")
    assert released.certificate.release.entry == f"{paid.entry.number}:{paid.entry.digest}"
    assert eq.Ledger(reference).claimed(released.certificate) == ()
    balances.clear()
    with pytest.raises(eq.errors.Overdraft):
        way.carried_out(certificate, reference, read=read)
    assert balances == []


@every_way
def test_a_ledger_that_was_not_planned_is_refused(way, tmp_path):
    """Planned with one and called without one, or with another: the copy of the door for the simplex let it through."""
    reference = f"sqlite:///{tmp_path}/ledger.db"
    for dataset in ("default", "other"):
        eq.Ledger(f"{reference}#{dataset}").create(eq.Budget(10.0, 0.5), "basic")
    plain, bound = way.plan(1.0), way.plan(1.0, ledger="default")
    reads = []
    for certificate, ledger in ((plain, reference), (bound, None), (bound, f"{reference}#other")):
        with pytest.raises(eq.errors.InvalidParameter, match="ledger of the plan"):
            way.carried_out(certificate, ledger, read=lambda: reads.append(1))
    assert reads == []
    for dataset in ("default", "other"):
        assert len(eq.Ledger(f"{reference}#{dataset}").history()) == 1


@every_failure
@every_way
def test_rows_that_cannot_be_read_tell_nothing(way, failure):
    def fail():
        raise failure

    with pytest.raises(PrivateFailure) as caught:
        way.carried_out(way.plan(1.0), read=fail)
    assert_nothing_is_told(caught.value)


# What each composition, search and selection does first with what was read.
FIRST_LOOKS = {
    "columns selected": "equipoise.solve.solvers.named",
    "bounds first": "equipoise.release.carriers.chosen_bounds.chosen",
    "chunks": "equipoise.release.carriers.choice.score",
    "random stopping": "equipoise.release.carriers.choice.score",
    "simplex": "equipoise.release.carriers.simplex.ones_of",
}


@every_failure
@pytest.mark.parametrize("name", FIRST_LOOKS)
def test_a_failure_of_a_search_or_a_selection_tells_nothing(name, failure, monkeypatch):
    def fail(*arguments, **named):
        raise failure

    monkeypatch.setattr(FIRST_LOOKS[name], fail)
    with pytest.raises(PrivateFailure) as caught:
        WAYS[name].carried_out(WAYS[name].plan(1.0))
    assert_nothing_is_told(caught.value)


@every_way
@hunted(10, 60, fill=hostile_floats, seed=st.integers(0, 2**20))
def test_no_value_raises_warns_or_prints_whatever_is_released(way, fill, seed):
    hostile = np.where(np.random.default_rng(seed).random(way.table.shape) < 0.5, fill, way.table)
    output = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(output), redirect_stderr(output):
        warnings.simplefilter("error")
        released = dataclasses.replace(way, table=hostile).carried_out(way.plan(1.0, seeded=True), seed=0)
    assert output.getvalue() == ""
    assert np.isfinite(released.weights).all()
    assert released.certificate.verify() == ()


# --- what a release says about itself ---------------------------------------------------------------------------------


@every_way
def test_a_release_records_a_random_id_its_time_and_the_software_with_versions(way):
    certificate = way.plan(1.0)
    assert certificate.release is None
    before = datetime.now(UTC).replace(microsecond=0)
    made = [way.carried_out(certificate).certificate.release for _ in range(2)]
    after = datetime.now(UTC)
    # Random, so that two releases of one plan differ and nothing can be read from it.
    assert len({entry.id for entry in made}) == 2
    assert {len(bytes.fromhex(entry.id)) for entry in made} == {16}
    for entry in made:
        moment = datetime.fromisoformat(entry.made)
        assert moment.utcoffset() == timedelta(0)
        assert before <= moment <= after
        names = ("equipoise", "cryptography", "numba", "opendp")
        assert entry.software == tuple((name, version(name)) for name in names)


def test_the_time_of_a_release_does_not_tell_how_long_it_took(monkeypatch):
    moments = iter(["2026-11-17T10:00:00+00:00"])
    monkeypatch.setattr("equipoise.release.door._now", lambda: next(moments))
    certificate = WAYS["weights"].plan(1.0)
    # The clock is asked once, before a row is read.
    assert WAYS["weights"].carried_out(certificate).certificate.release.made == "2026-11-17T10:00:00+00:00"


def test_a_seeded_release_names_the_generator_that_its_noise_came_from():
    released = WAYS["weights"].carried_out(WAYS["weights"].plan(1.0, seeded=True), seed=0)
    assert [name for name, _ in released.certificate.release.software] == ["equipoise", "numpy"]


@every_way
def test_a_release_names_neither_its_user_nor_its_machine(way):
    certificate = way.carried_out(way.plan(1.0)).certificate
    assert {field.name for field in dataclasses.fields(certificate.release)} == {"id", "made", "software", "entry"}
    recorded = [certificate.release.made, certificate.release.entry, *dict(certificate.release.software).values()]
    told = " ".join([*map(str, recorded), *dict(certificate.release.software)])
    for name in (getpass.getuser(), socket.gethostname()):
        assert name not in told


def test_no_name_of_a_user_or_a_machine_reaches_a_certificate(monkeypatch):
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME", "HOSTNAME", "COMPUTERNAME"):
        monkeypatch.setenv(variable, "somebody-of-the-ward")
    monkeypatch.setattr("socket.gethostname", lambda: "machine-of-the-ward")
    monkeypatch.setattr("platform.node", lambda: "machine-of-the-ward")
    for way in WAYS.values():
        assert "of-the-ward" not in way.carried_out(way.plan(1.0)).certificate.to_json()


@every_way
def test_id_time_and_software_lie_outside_of_the_digest(way):
    certificate = way.carried_out(way.plan(1.0)).certificate
    for release_of_another in (
        None,
        dataclasses.replace(certificate.release, id="0" * 32, made="2001-01-01T00:00:00+00:00", software=()),
    ):
        other = dataclasses.replace(certificate, release=release_of_another)
        assert other.verify() == ()
        assert (other.digest, other.planned_digest) == (certificate.digest, certificate.planned_digest)
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.release == certificate.release
