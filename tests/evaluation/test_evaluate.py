"""eq.evaluate: exact counts but for the noise, refusals before the spend, recorded spends, a folder of its own."""

import doctest
import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy

import equipoise as eq
from equipoise.artifact.findings import inspect
from equipoise.cli.evaluate import lines_of
from equipoise.errors import (
    EquipoiseError,
    InvalidData,
    InvalidParameter,
    LedgerRefused,
    NoTheoremApplies,
    Overdraft,
    PrivateFailure,
    ReleaseUnreadable,
)
from equipoise.release.carriers import evaluation as carrier

pytestmark = pytest.mark.usefixtures("plain_page")

# So large an epsilon leaves the counts as they are, but for a chance of 1e-11 a cell.
NO_NOISE = 60.0

DOMAIN = eq.Domain(1.0, classes=(0, 1))
ROWS = np.random.default_rng(0).uniform(-0.5, 0.5, (900, 3))
LABELS = (ROWS[:, 0] + 0.4 * ROWS[:, 1] * ROWS[:, 2] + np.random.default_rng(1).normal(0, 0.2, 900) > 0).astype(int)
TRAINED, HELD = slice(0, 600), slice(600, 900)

SCHEMA = """
schema_version = 1
n = 600
vouched_by = "A. Officer"
vouched_on = 2026-11-16

[target]
name = "ill"
classes = ["no", "yes"]

[columns.a]
kind = "number"
bounds = [-0.5, 0.5]

[columns.b]
kind = "number"
bounds = [-0.5, 0.5]
"""


def frame(rows: slice) -> pd.DataFrame:
    return pd.DataFrame({"a": ROWS[rows, 0], "b": ROWS[rows, 1], "ill": np.where(LABELS[rows] == 1, "yes", "no")})


@pytest.fixture(scope="module")
def model() -> eq.LogisticRegression:
    return eq.LogisticRegression(domain=DOMAIN).fit(ROWS[TRAINED], LABELS[TRAINED])


@pytest.fixture(scope="module")
def with_schema() -> eq.LogisticRegression:
    return eq.LogisticRegression(domain=eq.Schema.from_text(SCHEMA)).fit(frame(TRAINED))


# What is counted


def fitted(kind: str) -> tuple[eq.LogisticRegression, np.ndarray]:
    """Return a model and the labels of all rows."""
    four = np.array(["a", "b", "c", "d"])[np.digitize(ROWS[:, 0], (-0.25, 0.0, 0.25))]
    made, labels = {
        "logistic": (eq.LogisticRegression(domain=DOMAIN, random_state=0), LABELS),
        "support vectors": (eq.LinearSVC(3.0, domain=DOMAIN, random_state=0), LABELS),
        "few directions": (eq.LogisticRegression(0.05, 0.0, DOMAIN, mechanism="objective", random_state=0), LABELS),
        "no intercept": (eq.LogisticRegression(domain=DOMAIN, fit_intercept=False, random_state=0), LABELS),
        "four classes": (
            eq.LogisticRegression(9.0, domain=eq.Domain(1.0, classes=("a", "b", "c", "d")), random_state=0),
            four,
        ),
        "truth values": (
            eq.LogisticRegression(domain=eq.Domain(1.0, classes=(False, True)), random_state=0),
            LABELS == 1,
        ),
    }[kind]
    return made.fit(ROWS[TRAINED], labels[TRAINED]), labels[HELD]


KINDS = ["logistic", "support vectors", "few directions", "no intercept", "four classes", "truth values"]


@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_the_counts_are_those_of_the_models_own_predictions(kind):
    made, labels = fitted(kind)
    found = eq.evaluate(made, ROWS[HELD], labels, epsilon=NO_NOISE, random_state=0)
    assert found.counts.counts.sum() == 300
    assert found.accuracy.value == pytest.approx(made.score(ROWS[HELD], labels), abs=1e-6)
    for place, label in enumerate(made.classes_.tolist()):
        assert found.counts.counts[0, place].sum() == (labels == label).sum()
    assert found.claim.cells.labels == tuple(made.classes_.tolist())
    assert found.certificate.verify() == ()


def test_raw_rows_are_encoded_as_in_training(with_schema):
    found = eq.evaluate(with_schema, frame(HELD), epsilon=NO_NOISE, random_state=0)
    apart = eq.evaluate(with_schema, frame(HELD)[["a", "b"]], frame(HELD)["ill"], epsilon=NO_NOISE, random_state=0)
    assert found.counts.counts.tolist() == apart.counts.counts.tolist()
    assert found.accuracy.value == pytest.approx(
        np.mean(with_schema.predict(frame(HELD)[["a", "b"]]) == frame(HELD)["ill"]), abs=1e-6
    )
    assert found.certificate.terms.schema == with_schema.certificate_.terms.schema


NUMBERS = SCHEMA.replace('name = "ill"', 'name = "pay"').replace('classes = ["no", "yes"]', "bounds = [1000, 3000]")


@pytest.mark.parametrize("encoded", [False, True], ids=["a domain", "a schema"])
def test_a_regression_is_counted_by_prediction_and_residual_in_units_of_its_target(encoded):
    pay = 2000 + 900 * ROWS[:, 0] + np.random.default_rng(2).normal(0, 300, 900)
    pay[650], pay[651], pay[652] = np.nan, 1e9, -np.inf
    # What is no number lies in the middle, and everything inside the declared range.
    true = np.clip(np.where(np.isfinite(pay), pay, 2000.0), 1000.0, 3000.0)
    if encoded:
        rows = pd.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1]})
        model = eq.Ridge(8.0, domain=eq.Schema.from_text(NUMBERS), random_state=0).fit(rows.assign(pay=pay)[TRAINED])
        given = rows[HELD].assign(pay=pay[HELD]), None
        predicted = model.predict(rows[HELD])
    else:
        model = eq.Ridge(8.0, domain=eq.Domain(1.0, labels=(1000.0, 3000.0)), random_state=0)
        given = ROWS[HELD], pay[HELD]
        predicted = model.fit(ROWS[TRAINED], pay[TRAINED]).predict(ROWS[HELD])
    found = eq.evaluate(model, *given, epsilon=NO_NOISE, random_state=0).counts
    residuals = (-np.inf, *found.edges, np.inf)
    ends = (-np.inf, *found.predictions, np.inf)
    for first in range(len(ends) - 1):
        for second in range(len(residuals) - 1):
            held = (ends[first] < predicted) & (predicted <= ends[first + 1])
            held &= (residuals[second] < true[HELD] - predicted) & (true[HELD] - predicted <= residuals[second + 1])
            assert found.counts[0, first, second] == held.sum()
    assert found.range == pytest.approx((1000.0, 3000.0))
    assert found.counts.sum() == 300
    assert 0.0 in found.edges
    assert all(1000 < edge < 3000 for edge in found.predictions)


LEVELS = {"other": ("f", "m", "sex other"), "unknown": ("f", "m", "x")}


@pytest.mark.parametrize("rule", LEVELS)
def test_rows_are_counted_by_the_levels_of_a_column(rule):
    told = np.array(["f", "m", "x", "?"])[np.random.default_rng(3).integers(0, 4, 900)]
    levels = 'levels = ["f", "m"]\nother = true' if rule == "other" else 'levels = ["f", "m", "x"]\nunknown = "m"'
    schema = eq.Schema.from_text(f'{SCHEMA}\n[columns.sex]\nkind = "category"\n{levels}\n')
    rows = pd.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1], "ill": np.where(LABELS == 1, "yes", "no"), "sex": told})
    model = eq.LogisticRegression(4.0, domain=schema, random_state=0).fit(rows[TRAINED])
    found = eq.evaluate(model, rows[HELD], epsilon=NO_NOISE, by="sex", random_state=0)
    own = (
        np.where(np.isin(told, ("f", "m")), told, "sex other") if rule == "other" else np.where(told == "?", "m", told)
    )
    assert (found.claim.cells.groups, found.claim.cells.by) == (LEVELS[rule], "sex")
    for place, level in enumerate(LEVELS[rule]):
        for second, label in enumerate(("no", "yes")):
            held = (own[HELD] == level) & (rows["ill"][HELD] == label)
            assert found.counts.counts[place, second].sum() == held.sum()
    assert found.accuracy.value == pytest.approx(
        np.mean(model.predict(rows[HELD].drop(columns="ill")) == rows["ill"][HELD]), abs=1e-6
    )
    assert found.figures([1]).accuracy.value == pytest.approx(
        np.mean((model.predict(rows[HELD].drop(columns="ill")) == rows["ill"][HELD])[own[HELD] == "m"]), abs=1e-6
    )
    lines = "\n".join(lines_of(found))
    assert "  sex f: accuracy " in lines
    assert f"\n  {'sex other' if rule == 'other' else 'sex x'}: accuracy " in lines
    for groups in (["f"], [7], [-1], [], "f", 1):
        with pytest.raises(InvalidParameter, match="choose from 0 for 'f', 1 for 'm'"):
            found.figures(groups)
    with pytest.raises(InvalidParameter, match="choose from sex"):
        eq.evaluate(model, rows[HELD], epsilon=1.0, by="a")


PLACED = {
    "yes-no": ('kind = "yes-no"', ("no", "yes", "?"), ("no", "yes", "by other")),
    "yes-no, unknown as no": ('kind = "yes-no"\nunknown = "no"', ("no", "yes", "?"), ("no", "yes")),
    "ordered": (
        'kind = "ordered"\nlevels = ["low", "middle", "high", "top"]\npositions = [0, 1, 5, 6]',
        ("low", "middle", "high", "top", "?"),
        ("low", "middle", "high", "top", "by other"),
    ),
}


@pytest.mark.parametrize("norm", ["", "row_norm = 0.6\n"])
@pytest.mark.parametrize("kind", PLACED)
def test_rows_are_counted_by_answers_and_by_levels_in_order(kind, norm):
    lines, values, groups = PLACED[kind]
    told = np.array(values, dtype=object)[np.random.default_rng(4).integers(0, len(values), 900)]
    # A column of levels tells by what a long row was divided.
    more = '\n[columns.sex]\nkind = "category"\nlevels = ["f", "m"]\nunknown = "m"\n'
    text = SCHEMA.replace("schema_version = 1\n", f"schema_version = 1\n{norm}")
    schema = eq.Schema.from_text(f"{text}\n[columns.by]\n{lines}\n{more}")
    assert schema.row_norm == (0.6 if norm else None)
    rows = pd.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1], "ill": np.where(LABELS == 1, "yes", "no"), "by": told})
    rows["sex"] = np.array(["f", "m"])[np.random.default_rng(5).integers(0, 2, 900)]
    model = eq.LogisticRegression(4.0, domain=schema, random_state=0).fit(rows[TRAINED])
    found = eq.evaluate(model, rows[HELD], epsilon=NO_NOISE, by="by", random_state=0)
    assert found.claim.cells.groups == groups
    own = np.where(told == "?", groups[-1] if groups[-1] == "by other" else "no", told)[HELD]
    counted = [table.sum() for table in found.counts.counts]
    assert counted == [np.sum(own == group) for group in groups]


def test_a_column_that_tells_no_groups_is_refused_with_the_reason():
    levels = '"low", "middle", "high", "top"'
    text = SCHEMA.replace("schema_version = 1\n", "schema_version = 1\nrow_norm = 0.6\n")
    schema = eq.Schema.from_text(f'{text}\n[columns.stage]\nkind = "ordered"\nlevels = [{levels}]\n')
    rows = pd.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1], "ill": np.where(LABELS == 1, "yes", "no"), "stage": "low"})
    model = eq.LogisticRegression(4.0, domain=schema, random_state=0).fit(rows[TRAINED])
    for by, why in (
        ("stage", "of kind ordered, whose levels are told by numbers, which row_norm shortens"),
        ("a", "of kind number, which has no levels"),
        ("nothing", "no column 'nothing'"),
    ):
        with pytest.raises(InvalidParameter, match=why):
            eq.evaluate(model, rows[HELD], epsilon=1.0, by=by)


@pytest.mark.parametrize("rule", ['kind = "category"\nother = true', 'kind = "ordered"\npositions = [0, 1, 3]'])
def test_a_level_that_is_named_as_all_others_are_tells_no_groups(rule):
    schema = eq.Schema.from_text(f'{SCHEMA}\n[columns.by]\n{rule}\nlevels = ["f", "by other", "m"]\n')
    rows = pd.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1], "ill": np.where(LABELS == 1, "yes", "no"), "by": "f"})
    model = eq.LogisticRegression(4.0, domain=schema, random_state=0).fit(rows[TRAINED])
    with pytest.raises(InvalidParameter, match="one of whose levels is called 'by other', as all values that are no"):
        eq.evaluate(model, rows[HELD], epsilon=1.0, by="by")


@pytest.mark.parametrize(
    "given",
    [ROWS[HELD].tolist(), scipy.sparse.csr_array(ROWS[HELD]), pd.DataFrame(ROWS[HELD])],
    ids=["lists", "sparse rows", "a frame"],
)
def test_whatever_holds_the_rows_the_counts_are_the_same(given, model):
    usual = eq.evaluate(model, ROWS[HELD], LABELS[HELD], epsilon=NO_NOISE, random_state=0)
    found = eq.evaluate(model, given, LABELS[HELD].tolist(), epsilon=NO_NOISE, random_state=0)
    assert found.counts.counts.tolist() == usual.counts.counts.tolist()


def test_values_never_raise_and_every_row_is_counted(model):
    rows, labels = ROWS[HELD].copy(), LABELS[HELD].astype(float)
    rows[0], rows[1], rows[2, 0], labels[3], labels[4] = np.nan, np.inf, -1e300, np.nan, 7.0
    found = eq.evaluate(model, rows, labels, epsilon=NO_NOISE, random_state=0)
    assert found.counts.counts.sum() == 300
    assert found.counts.counts[0, 1].sum() == (labels == 1).sum(), "an unknown label counts as the first class"


def test_a_decision_changes_at_an_edge_and_a_score_on_it_lies_below(model):
    made = eq.LogisticRegression(domain=DOMAIN, random_state=0).fit(ROWS[TRAINED], LABELS[TRAINED])
    made.coef_, made.intercept_ = np.zeros_like(made.coef_), np.zeros(1)
    found = eq.evaluate(made, ROWS[HELD], LABELS[HELD], epsilon=NO_NOISE, random_state=0)
    assert found.accuracy.value == pytest.approx(np.mean(LABELS[HELD] == 0), abs=1e-6)
    assert made.score(ROWS[HELD], LABELS[HELD]) == np.mean(LABELS[HELD] == 0)
    assert 0.5 in found.counts.edges


def test_nothing_but_the_counts_depends_on_rows(model):
    first, second = (
        eq.evaluate(model, rows, labels, epsilon=1.0, random_state=0)
        for rows, labels in ((ROWS[HELD], LABELS[HELD]), (np.zeros((300, 3)), np.zeros(300, dtype=int)))
    )
    assert first.certificate.planned_digest == second.certificate.planned_digest
    assert first.certificate.digest != second.certificate.digest
    assert type(first).__slots__ == ("certificate", "schema")


# Refusals, before anything is spent


@pytest.fixture(scope="module")
def of_persons() -> eq.LogisticRegression:
    made = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1), rows_a_person=3), random_state=0)
    made.plan(200, 3)
    return made.fit(ROWS[TRAINED], LABELS[TRAINED], groups=np.arange(600) % 200)


REFUSED = {
    "persons' ids": (lambda model: eq.evaluate(model, ROWS, LABELS, epsilon=1.0, groups=LABELS), NoTheoremApplies),
    "other columns": (lambda model: eq.evaluate(model, ROWS[:, :2], LABELS, epsilon=1.0), InvalidData),
    "no target": (lambda model: eq.evaluate(model, ROWS, epsilon=1.0), InvalidData),
    "a target of text": (lambda model: eq.evaluate(model, ROWS, LABELS.astype(str), epsilon=1.0), InvalidData),
    "too few targets": (lambda model: eq.evaluate(model, ROWS, LABELS[1:], epsilon=1.0), InvalidData),
    "another number": (lambda model: eq.evaluate(model, ROWS, LABELS, epsilon=1.0, n_samples=899), InvalidData),
    "no epsilon": (lambda model: eq.evaluate(model, ROWS, LABELS, epsilon=0.0), EquipoiseError),
    "groups of no schema": (lambda model: eq.evaluate(model, ROWS, LABELS, epsilon=1.0, by="sex"), InvalidParameter),
    "no model": (lambda _: eq.evaluate(object(), ROWS, LABELS, epsilon=1.0), InvalidParameter),
    "no folder": (lambda _: eq.evaluate("nowhere", ROWS, LABELS, epsilon=1.0), ReleaseUnreadable),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_evaluated_is_refused_before_the_spend(case, model, monkeypatch):
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    call, error = REFUSED[case]
    with pytest.raises(error):
        call(model)


def test_a_refusal_names_what_to_do(model):
    with pytest.raises(InvalidData, match="to do: pass y"):
        eq.evaluate(model, ROWS[HELD], epsilon=1.0)
    for look, words in ((0.999999, "what look leaves of 1.*look=0.1"), (1 - 1e-13, "look=0.1"), (1e-12, "look=0.1")):
        with pytest.raises(InvalidParameter, match=words):
            eq.evaluate(model, ROWS[HELD], LABELS[HELD], epsilon=1.0, look=look)


def test_classes_that_were_found_in_rows_make_an_evaluation_conditional_too():
    domain = eq.Domain(1.0, classes="observed")
    made = eq.LogisticRegression(domain=domain).fit(ROWS[TRAINED], LABELS[TRAINED])
    found = eq.evaluate(made, ROWS[HELD], LABELS[HELD], epsilon=1.0).certificate
    assert (found.grade, found.assumptions) == ("conditional", made.certificate_.assumptions)


def test_a_seeded_model_is_evaluated_for_experiments_only(monkeypatch):
    made, labels = fitted("logistic")
    assert eq.evaluate(made, ROWS[HELD], labels, epsilon=1.0, random_state=0).certificate.grade == "conditional"
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    with pytest.raises(InvalidParameter, match="a seeded model"):
        eq.evaluate(made, ROWS[HELD], labels, epsilon=1.0)


def test_a_model_of_persons_is_not_evaluated_row_by_row(of_persons, monkeypatch):
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    with pytest.raises(NoTheoremApplies):
        eq.evaluate(of_persons, ROWS, LABELS, epsilon=1.0)


def test_a_table_that_is_never_held_is_refused_before_the_spend(with_schema, tmp_path, monkeypatch):
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    frame(HELD).to_csv(tmp_path / "held.csv", index=False)
    streamed = eq.open_table(tmp_path / "held.csv", engine="stream")
    with pytest.raises(InvalidParameter, match="memory"):
        eq.evaluate(with_schema, streamed, epsilon=1.0, n_samples=300)


# Spends


@pytest.fixture
def ledger(tmp_path, monkeypatch) -> str:
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path / "home"))
    eq.Ledger("held").create(eq.Budget(1.0), "basic")
    return "held"


def test_a_ledger_admits_the_spend_and_refuses_the_overdraft(model, ledger):
    with pytest.raises(LedgerRefused, match="declared number of rows"):
        eq.evaluate(model, ROWS[HELD], LABELS[HELD], epsilon=0.75, ledger=ledger)
    found = eq.evaluate(model, ROWS[HELD], LABELS[HELD], epsilon=0.75, ledger=ledger, n_samples=300)
    assert str(eq.Ledger(ledger).balance().epsilon_left) == "0.25"
    assert found.certificate.terms.ledger == "held"
    assert found.certificate.release.entry is not None
    with pytest.raises(Overdraft):
        eq.evaluate(model, ROWS[HELD], LABELS[HELD], epsilon=0.5, ledger=ledger, n_samples=300)
    with pytest.raises(LedgerRefused, match="seeded"):
        eq.evaluate(model, ROWS[HELD], LABELS[HELD], epsilon=0.1, ledger=ledger, n_samples=300, random_state=0)


def test_an_account_counts_it_too(model):
    with eq.account(epsilon=1.0) as account:
        eq.evaluate(model, ROWS[HELD], LABELS[HELD], epsilon=0.75)
        assert account.spent.epsilon == 0.75
        with pytest.raises(Overdraft):
            eq.evaluate(model, ROWS[HELD], LABELS[HELD], epsilon=0.75)


def test_what_fails_after_the_spend_says_nothing(model, ledger, monkeypatch):
    def failing(*_):
        raise ValueError("the first row is ill")

    monkeypatch.setattr(carrier, "counted", failing)
    with pytest.raises(PrivateFailure) as caught:
        eq.evaluate(model, ROWS[HELD], LABELS[HELD], epsilon=0.75, ledger=ledger, n_samples=300)
    assert "ill" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert str(eq.Ledger(ledger).balance().epsilon_left) == "0.25"


# The folder


def test_a_release_is_named_by_its_id_and_its_bytes(with_schema, tmp_path):
    eq.save(with_schema, tmp_path / "release")
    by_folder = eq.evaluate(tmp_path / "release", frame(HELD), epsilon=1.0)
    by_model = eq.evaluate(with_schema, frame(HELD), epsilon=1.0)
    digest = hashlib.sha256((tmp_path / "release" / "model.json").read_bytes()).hexdigest()
    for found in (by_folder, by_model):
        assert (found.claim.model, found.claim.release) == (digest, with_schema.certificate_.release.id)


def test_a_folder_is_read_back_and_holds_what_was_released_alone(with_schema, tmp_path):
    found = eq.evaluate(with_schema, frame(HELD), epsilon=1.0, random_state=0)
    found.save(tmp_path / "evaluation")
    assert sorted(path.name for path in (tmp_path / "evaluation").iterdir()) == [
        "MANIFEST.sha256",
        "certificate.json",
        "page.json",
        "report.html",
        "schema.toml",
    ]
    again = eq.Evaluation.load(tmp_path / "evaluation")
    assert again.certificate == found.certificate
    assert again.counts.counts.tolist() == found.counts.counts.tolist()
    assert inspect(tmp_path / "evaluation").verdict[0] == 0


def change_a_count(folder: Path) -> None:
    record = json.loads((folder / "certificate.json").read_text())
    record["claim"]["released"][0] += 1
    (folder / "certificate.json").write_text(json.dumps(record))


ALTERED = {
    "a count": change_a_count,
    "no manifest": lambda folder: (folder / "MANIFEST.sha256").unlink(),
    "no page": lambda folder: (folder / "report.html").unlink(),
    "no schema": lambda folder: (folder / "schema.toml").unlink(),
    "a model beside it": lambda folder: (folder / "model.json").write_text("{}"),
}


@pytest.mark.parametrize("fault", ALTERED)
def test_an_altered_folder_is_refused(fault, with_schema, tmp_path):
    eq.evaluate(with_schema, frame(HELD), epsilon=1.0, random_state=0).save(tmp_path / "evaluation")
    ALTERED[fault](tmp_path / "evaluation")
    with pytest.raises(ReleaseUnreadable):
        eq.Evaluation.load(tmp_path / "evaluation")


def test_a_release_is_no_evaluation_and_an_evaluation_no_release(with_schema, tmp_path):
    eq.evaluate(with_schema, frame(HELD), epsilon=1.0, random_state=0).save(tmp_path / "evaluation")
    eq.save(with_schema, tmp_path / "release")
    with pytest.raises(ReleaseUnreadable, match=r"Evaluation\.load"):
        eq.load(tmp_path / "evaluation")
    with pytest.raises(ReleaseUnreadable, match="evaluate"):
        eq.Evaluation.load(tmp_path / "release")
    # A model's certificate without its model is not taken for an evaluation either.
    (tmp_path / "release" / "model.json").unlink()
    with pytest.raises(ReleaseUnreadable, match="no evaluation"):
        inspect(tmp_path / "release")


def test_the_page_runs_as_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "evaluation.md"
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 5
    assert found.failed == 0
