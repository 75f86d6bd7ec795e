"""Searches and selectors as released folders: saved, opened, checked and found altered like any other release."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge as PlainRidge

import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.certify.folder import CERTIFICATE, MANIFEST, MODEL, PAGE, REPORT, SCHEMA
from equipoise.data.schema import CategoryColumn, NumberColumn, Target
from equipoise.errors import InvalidParameter, ReleaseUnreadable, UnknownName
from released_folders import changed, every_changed_byte_is_noticed, found, same_predictions

NUMBERS = eq.Domain(1.0, labels=(0.0, 10.0))
TWO = eq.Domain(1.0, classes=("no", "yes"))
THREE = eq.Domain(1.0, classes=("a", "b", "c"))
COLUMNS = ["age", "dose", "height"]
GRID = {"alpha": [0.05, 5.0]}
SCHEMA_OF_ROWS = eq.Schema(
    600,
    (NumberColumn("age", (-1, 1), indicator=True), CategoryColumn("job", ("none", "nurse"), unknown="none")),
    Target("dose", bounds=(0, 10)),
    vouched_by="A. Officer",
    vouched_on="2026-11-16",
)

pytestmark = pytest.mark.usefixtures("plain_page")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(0).uniform(-0.5, 0.5, size=(600, 3)), columns=COLUMNS)


def target_for(domain: eq.Domain, rows: pd.DataFrame) -> np.ndarray:
    score = 5 + 6 * rows["age"].to_numpy()
    if domain.classes is None:
        return score
    return np.array(domain.classes)[np.digitize(score, np.linspace(3, 7, len(domain.classes) + 1)[1:-1])]


def ones(seed: int = 0) -> pd.DataFrame:
    return pd.DataFrame(
        (np.random.default_rng(seed).random((4000, 3)) < [0.7, 0.3, 0.6]).astype(float), columns=COLUMNS
    )


def searched(estimator, grid=None, **parameters) -> eq.PrivateGridSearch:
    return eq.PrivateGridSearch(estimator, grid or GRID, **{"epsilon": 20.0, "random_state": 0, **parameters})


SEARCHES = {
    "chunks": lambda: searched(eq.Ridge(domain=NUMBERS)),
    "random stopping": lambda: searched(eq.Ridge(domain=NUMBERS), method="random-stopping"),
    "random stopping with delta": lambda: searched(eq.Ridge(domain=NUMBERS), method="random-stopping", delta=1e-5),
    "two classes": lambda: searched(eq.LogisticRegression(domain=TWO)),
    "three classes": lambda: searched(eq.LogisticRegression(domain=THREE), method="random-stopping"),
    "other settings": lambda: searched(eq.LinearSVC(domain=TWO), {"loss": ["smooth-hinge", "smooth-hinge:0.2"]}),
    "a descent": lambda: searched(eq.SGDRegressor(domain=NUMBERS, alpha=0.1), {"passes": [1, 3]}),
    "domains": lambda: searched(eq.Ridge(), {"domain": [NUMBERS, eq.Domain(0.01, labels=(0.0, 10.0))]}),
}


def saved(model, place: Path) -> Path:
    """Save an estimator, check that nothing is wrong with the folder, and that it is written again byte by byte."""
    folder = place / "release"
    eq.save(model, folder)
    findings = inspect(folder)
    assert findings.faults == findings.withdrawn == ()
    assert findings.verdict == (0, "consistent; origin unproved")
    assert findings.certificate == model.certificate_
    eq.save(eq.load(folder), place / "again")
    for path in folder.iterdir():
        assert path.read_bytes() == (place / "again" / path.name).read_bytes(), path.name
    return folder


# --- searches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_is_saved_as_the_model_it_found_with_the_certificate_of_the_whole_search(name, table, tmp_path):
    search = SEARCHES[name]()
    domain = search.estimator.domain or NUMBERS
    search.fit(table, target_for(domain, table))
    loaded = eq.load(saved(search, tmp_path))
    assert type(loaded) is type(search.estimator)
    assert loaded.certificate_ == search.certificate_
    assert (loaded.certificate_.epsilon, loaded.certificate_.delta) == (20.0, search.delta)
    assert loaded.certificate_.theorem == {"chunks": "E5", "random-stopping": "E6"}[search.method]
    assert loaded.certificate_.released is not None
    for parameter, value in search.best_params_.items():
        assert getattr(loaded, parameter) == value
    assert list(loaded.feature_names_in_) == COLUMNS
    same_predictions(search, loaded, table)


def test_a_search_over_a_schema_opens_for_raw_rows(tmp_path):
    generator = np.random.default_rng(2)
    rows = pd.DataFrame(
        {"age": generator.uniform(-1, 1, 600), "job": generator.choice(["none", "nurse", "pilot"], 600)}
    )
    rows.loc[::9, "age"] = np.nan
    rows["dose"] = 5 + 3 * rows["age"].fillna(0.0)
    search = searched(eq.Ridge(domain=SCHEMA_OF_ROWS)).fit(rows)
    folder = saved(search, tmp_path)
    assert {path.name for path in folder.iterdir()} == {MODEL, CERTIFICATE, SCHEMA, PAGE, REPORT, MANIFEST}
    loaded = eq.load(folder)
    assert list(loaded.feature_names_in_) == ["age", "job"]
    assert loaded.schema_ == SCHEMA_OF_ROWS
    np.testing.assert_array_equal(loaded.predict(rows), search.predict(rows))


def test_nothing_of_the_search_but_its_model_is_in_the_folder(table, tmp_path):
    search = SEARCHES["chunks"]().fit(table, target_for(NUMBERS, table))
    record = json.loads((saved(search, tmp_path) / MODEL).read_text())
    assert record["model"]["name"] == "ridge"
    assert record["coefficients"] == [search.coef_.tolist()]
    assert record["intercepts"] == [search.intercept_]
    assert record["estimator"] is None
    assert record["selected"] == []


# --- selections by weights --------------------------------------------------------------------------------------------


SELECTORS = {
    "two classes": lambda: eq.FeatureSelector(domain=TWO, epsilon=30.0, alpha=0.01, l1_ratio=0.1, random_state=0),
    "three classes": lambda: eq.FeatureSelector(domain=THREE, epsilon=30.0, alpha=0.01, random_state=0),
    "numbers": lambda: eq.FeatureSelector(domain=NUMBERS, epsilon=30.0, alpha=0.01, threshold=3.0, random_state=0),
    "a model of one's own": lambda: eq.FeatureSelector(
        eq.SGDClassifier(domain=TWO, epsilon=30.0, alpha=0.1, dropout=0.25, random_state=0), "deviations:2"
    ),
}


def selected(name: str, table: pd.DataFrame) -> eq.FeatureSelector:
    selector = SELECTORS[name]()
    domain = selector.domain if selector.estimator is None else selector.estimator.domain
    return selector.fit(table, target_for(domain, table))


@pytest.mark.parametrize("name", SELECTORS)
def test_a_feature_selection_opens_as_itself_and_transforms_the_same_columns(name, table, tmp_path):
    selector = selected(name, table)
    loaded = eq.load(saved(selector, tmp_path))
    assert type(loaded) is eq.FeatureSelector
    assert loaded.certificate_ == selector.certificate_ == loaded.estimator_.certificate_
    assert loaded.threshold_ == selector.threshold_
    assert 0 < selector.get_support().sum() < 3
    np.testing.assert_array_equal(loaded.get_support(), selector.get_support())
    pd.testing.assert_frame_equal(
        loaded.set_output(transform="pandas").transform(table),
        selector.set_output(transform="pandas").transform(table),
    )
    assert loaded.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()
    assert type(loaded.estimator_) is type(selector.estimator_)
    same_predictions(loaded.estimator_, selector.estimator_, table)
    weights = np.zeros_like(np.atleast_2d(selector.estimator_.coef_))
    np.testing.assert_array_equal(loaded.expected_flips(weights), selector.expected_flips(weights))
    assert loaded.explain() == selector.explain()


@pytest.mark.parametrize("name", SELECTORS)
def test_an_opened_feature_selection_plans_what_was_planned(name, table, tmp_path):
    selector = selected(name, table)
    planned = eq.load(saved(selector, tmp_path)).plan(600, 3)
    assert planned.claim == selector.certificate_.claim


def test_the_trained_model_of_a_selection_is_a_release_of_its_own(table, tmp_path):
    selector = selected("two classes", table)
    loaded = eq.load(saved(selector.estimator_, tmp_path))
    assert type(loaded) is eq.ElasticNetClassifier
    assert loaded.certificate_ == selector.certificate_
    same_predictions(loaded, selector.estimator_, table)


# --- selections by coins ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("passed", [True, False])
def test_a_simplex_selection_opens_as_itself_and_transforms_the_same_column(passed, tmp_path):
    rows = ones()
    if not passed:
        rows["height"] = 0.0
    selector = eq.SimplexSelector(epsilon=1.0, delta=1e-6, test_share=0.25, random_state=0).fit(rows)
    assert selector.refused_ is not passed
    loaded = eq.load(saved(selector, tmp_path))
    assert type(loaded) is eq.SimplexSelector
    assert loaded.certificate_ == selector.certificate_
    assert loaded.certificate_.released is passed
    assert (loaded.column_, loaded.refused_) == (selector.column_, selector.refused_)
    assert (loaded.epsilon, loaded.delta, loaded.test_share) == (1.0, 1e-6, 0.25)
    np.testing.assert_array_equal(loaded.get_support(), selector.get_support())
    assert loaded.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()
    assert loaded.n_features_in_ == 3
    np.testing.assert_array_equal(loaded.transform(rows), selector.transform(rows))


def test_a_simplex_selection_from_plain_rows_keeps_no_names(tmp_path):
    rows = ones().to_numpy()
    selector = eq.SimplexSelector(random_state=0).fit(sparse.csr_array(rows))
    loaded = eq.load(saved(selector, tmp_path))
    assert not hasattr(loaded, "feature_names_in_")
    np.testing.assert_array_equal(loaded.transform(rows), rows[:, [1]])


def test_the_folder_of_a_simplex_selection_holds_a_place_and_no_weights(tmp_path):
    folder = saved(eq.SimplexSelector(random_state=0).fit(ones()), tmp_path)
    record = json.loads((folder / MODEL).read_text())
    assert record["model"]["name"] == "simplex-selector"
    assert record["selected"] == [1]
    assert record["coefficients"] == record["intercepts"] == record["classes"] == []
    assert {path.name for path in folder.iterdir()} == {MODEL, CERTIFICATE, PAGE, REPORT, MANIFEST}


# --- what is altered --------------------------------------------------------------------------------------------------


@pytest.fixture
def release(kind, table, tmp_path) -> Path:
    """Return the folder of a search or a selection."""
    if kind == "simplex selection":
        return saved(eq.SimplexSelector(random_state=0).fit(ones()), tmp_path)
    if kind == "feature selection":
        return saved(selected("two classes", table), tmp_path)
    return saved(SEARCHES["chunks"]().fit(table, target_for(NUMBERS, table)), tmp_path)


KINDS = ("search", "feature selection", "simplex selection")


@pytest.mark.parametrize("file", [MODEL, CERTIFICATE, REPORT, MANIFEST])
@pytest.mark.parametrize("kind", KINDS)
def test_any_changed_byte_of_a_search_or_a_selection_is_noticed(file, release):
    every_changed_byte_is_noticed(release, file)


def named(name: str) -> dict:
    return {"name": name, "settings": []}


FORGED = {
    "a search for another certificate": ("search", {"certificate": "0" * 64}),
    "a search with weights of another shape": ("search", {"coefficients": [[1.0]]}),
    "a search without weights": ("search", {"coefficients": [], "intercepts": []}),
    "a search with classes": ("search", {"classes": ["a", "b"]}),
    "a selection for another certificate": ("feature selection", {"certificate": "0" * 64}),
    "a selection with weights of another shape": ("feature selection", {"coefficients": [[1.0]]}),
    "a selection with other classes": ("feature selection", {"classes": ["yes", "no"]}),
    "coins for another certificate": ("simplex selection", {"certificate": "0" * 64}),
    "coins that chose no column": ("simplex selection", {"selected": []}),
    "coins that chose two columns": ("simplex selection", {"selected": [0, 1]}),
    "coins that chose a column beyond the last": ("simplex selection", {"selected": [3]}),
    "coins that chose a column before the first": ("simplex selection", {"selected": [-1]}),
    "coins that chose a word": ("simplex selection", {"selected": ["dose"]}),
    "coins that chose a half": ("simplex selection", {"selected": [0.5]}),
    "coins that released weights": ("simplex selection", {"coefficients": [[1.0, 2.0, 3.0]], "intercepts": [0.0]}),
}


@pytest.mark.parametrize(("kind", "fields"), FORGED.values(), ids=FORGED)
def test_a_model_of_a_search_or_a_selection_that_does_not_belong_to_it_is_found_under_a_fresh_manifest(release, fields):
    changed(release, MODEL, **fields)
    found(release)


# Names of estimators, at which opening looks.
NAMED = {
    "a search itself": ("search", {"model": named("grid-search")}),
    "a model of another task": ("search", {"model": named("logistic")}),
    "a selection without its model": ("feature selection", {"estimator": None}),
    "a selection with a model of another task": ("feature selection", {"estimator": named("ridge")}),
    "a selection by a selector": ("feature selection", {"estimator": named("simplex-selector")}),
    "a selection by a program": ("feature selection", {"estimator": named("os.system")}),
    "coins as a model": ("simplex selection", {"model": named("ridge")}),
    "coins as a selection by weights": ("simplex selection", {"model": named("feature-selector")}),
    "weights as coins": ("feature selection", {"model": named("simplex-selector")}),
    "weights as coins, with a place": ("feature selection", {"model": named("simplex-selector"), "selected": [0]}),
    "a model as a selection": ("search", {"model": named("feature-selector"), "estimator": named("ridge")}),
}


@pytest.mark.parametrize(("kind", "fields"), {**FORGED, **NAMED}.values(), ids={**FORGED, **NAMED})
def test_a_model_of_a_search_or_a_selection_that_does_not_belong_to_it_is_refused_under_a_fresh_manifest(
    release, fields
):
    changed(release, MODEL, **fields)
    with pytest.raises((ReleaseUnreadable, UnknownName, InvalidParameter)):
        eq.load(release)


# --- what is not saved ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "unfitted",
    [SEARCHES["chunks"](), SELECTORS["two classes"](), eq.SimplexSelector()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_what_is_not_fitted_is_not_saved(unfitted, tmp_path):
    with pytest.raises(NotFittedError):
        eq.save(unfitted, tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_of_this_library_is_not_saved(tmp_path):
    class Own(eq.Ridge):
        """A model that no file of the library defines."""

    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 2))
    fitted = Own(domain=NUMBERS, alpha=0.1, random_state=0).fit(rows, 10 * np.abs(rows[:, 0]))
    for stranger in (PlainRidge().fit(rows, rows[:, 0]), fitted):
        with pytest.raises(InvalidParameter):
            eq.save(stranger, tmp_path / "release")
    assert list(tmp_path.iterdir()) == []
