"""eq.train_and_evaluate: a training on some rows, exact counts of the others but for noise, one spend, two folders."""

import copy
import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from browser import Outline
from equipoise.artifact.card import card_of
from equipoise.artifact.findings import inspect
from equipoise.artifact.page import Shown, record_of
from equipoise.certify.folder import MANIFEST, MODEL, manifest_of
from equipoise.data.encoded import EncodedTable
from equipoise.data.frames import FrameTable
from equipoise.errors import (
    InvalidData,
    InvalidParameter,
    LedgerRefused,
    NoTheoremApplies,
    Overdraft,
    PrivateFailure,
    ReleaseUnreadable,
)
from equipoise.evaluation.held_out import plan_held_out
from equipoise.ledger.currencies import currency_named
from equipoise.ledger.prices import cost
from equipoise.ledger.rates import ConcentratedRate, Rate, RenyiRate
from equipoise.planning.held_out import known_within
from equipoise.planning.risk import risk
from equipoise.release.split import split
from equipoise.report.release_page import release_page

pytestmark = pytest.mark.usefixtures("plain_page")

# So large an epsilon leaves the counts as they are, but for a chance of 1e-11 a cell.
NO_NOISE = 60.0

DOMAIN = eq.Domain(1.0, classes=(0, 1))
ROWS = np.random.default_rng(0).uniform(-0.5, 0.5, (900, 3))
LABELS = (ROWS[:, 0] + np.random.default_rng(1).normal(0, 0.2, 900) > 0).astype(int)
FOUR = np.array(["a", "b", "c", "d"])[np.digitize(ROWS[:, 0], (-0.25, 0.0, 0.25))]
PAY = 2000 + 900 * ROWS[:, 0]

SCHEMA = """
schema_version = 1
n = {n}
vouched_by = "A. Officer"
vouched_on = 2026-11-16

[target]
name = "ill"
classes = ["no", "yes"]

[columns.a]
kind = "number"
{a}

[columns.sex]
kind = "category"
levels = ["f", "m"]
unknown = "f"
"""


def schema(n: int = 900, a: str = "bounds = [-0.5, 0.5]") -> eq.Schema:
    return eq.Schema.from_text(SCHEMA.format(n=n, a=a))


def frame() -> pd.DataFrame:
    ill = np.where(LABELS == 1, "yes", "no")
    return pd.DataFrame({"a": ROWS[:, 0], "sex": np.where(ROWS[:, 1] > 0, "f", "m"), "ill": ill})


def dealt(share: float = 0.2, n_samples: int = 900, public_seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rows = round(share * n_samples)
    held, (others,) = split(n_samples, rows, [n_samples - rows], public_seed)
    return held, others


# What each part reads

MODELS = {
    "two classes": (lambda: eq.LogisticRegression(NO_NOISE, domain=DOMAIN, random_state=0), LABELS),
    "several classes": (
        lambda: eq.LogisticRegression(NO_NOISE, domain=eq.Domain(1.0, classes=("a", "b", "c", "d")), random_state=0),
        FOUR,
    ),
    "numbers": (lambda: eq.Ridge(NO_NOISE, domain=eq.Domain(1.0, labels=(1000.0, 3000.0)), random_state=0), PAY),
    "phases": (lambda: eq.PhasedClassifier(NO_NOISE, 1e-6, DOMAIN, random_state=0), LABELS),
    "another seed": (lambda: eq.LinearSVC(NO_NOISE, domain=DOMAIN, random_state=0, public_seed=7), LABELS),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_model_is_that_of_its_rows_and_the_others_are_counted_by_it(name):
    make, target = MODELS[name]
    model, alone = make(), make()
    found = eq.train_and_evaluate(model, ROWS, target)
    held, others = dealt(public_seed=model.public_seed)
    np.testing.assert_array_equal(model.coef_, alone.fit(ROWS[others], target[others]).coef_)
    usual = eq.evaluate(alone, ROWS[held], target[held], epsilon=NO_NOISE, random_state=0)
    assert found.counts.counts.tolist() == usual.counts.counts.tolist()
    assert found.claim.cells == usual.claim.cells
    assert found.certificate == model.certificate_
    assert found.certificate.verify() == ()
    assert found.certificate.n_samples == 900


BLANK = "bounds = []"


@pytest.mark.parametrize("bounds", ["declared", "paid for"])
def test_raw_columns_are_encoded_by_bounds_that_held_out_rows_had_no_part_in(bounds):
    held, others = dealt()
    ours, theirs = (
        schema(n) if bounds == "declared" else schema(n, BLANK).with_private_bounds(20.0) for n in (900, 720)
    )
    model, alone = (eq.LogisticRegression(NO_NOISE, domain=each, random_state=0) for each in (ours, theirs))
    found = eq.train_and_evaluate(model, frame(), by="sex")
    alone.fit(frame().iloc[others])
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    assert [column.bounds for column in model.schema_.columns[:1]] == [alone.schema_.columns[0].bounds]
    rows = frame().iloc[held]
    usual = eq.evaluate(alone, rows, epsilon=NO_NOISE, by="sex", random_state=0)
    assert found.counts.counts.tolist() == usual.counts.counts.tolist()
    assert found.certificate.verify() == ()
    other = frame()
    other.loc[held, "a"] = 1e6
    again = eq.LogisticRegression(NO_NOISE, domain=ours, random_state=0)
    eq.train_and_evaluate(again, other, by="sex")
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.schema_ == model.schema_


def test_a_regressions_range_may_be_paid_for_too():
    text = SCHEMA.format(n=900, a=BLANK).replace('classes = ["no", "yes"]', "bounds = []").replace('"ill"', '"pay"')
    model = eq.Ridge(NO_NOISE, domain=eq.Schema.from_text(text).with_private_bounds(20.0), random_state=0)
    found = eq.train_and_evaluate(model, frame().drop(columns="ill").assign(pay=PAY))
    assert found.claim.cells.range == pytest.approx(model.schema_.target.bounds)
    assert found.certificate.verify() == ()


@pytest.mark.parametrize("rows", [900, 850, 0])
def test_rows_at_places_are_those_of_the_whole_table_and_those_that_lack_are_the_last(rows):
    for places in dealt():
        whole, part = (EncodedTable(schema(), FrameTable(frame().head(rows)), 900) for _ in range(2))
        some = part.at(places)
        np.testing.assert_array_equal(some.features.read(), whole.features.read()[places])
        np.testing.assert_array_equal(some.target.read(), whole.target.read()[places])


# One spend


def test_the_ledger_admits_both_once_at_the_cost_of_the_larger(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path))
    book = eq.Ledger("trial")
    book.create(eq.Budget(1.5), "basic")
    model = eq.LogisticRegression(1.0, domain=DOMAIN, ledger="trial")
    found = eq.train_and_evaluate(model, ROWS, LABELS, n_samples=900)
    assert book.balance().epsilon_left == pytest.approx(0.5)
    (paid,) = book.releases()
    assert (paid.outcome, paid.release) == ("released", found.claim.release)
    assert book.claimed(found.certificate) == book.claimed(model.certificate_) == ()
    assert book.verify() == ()
    with pytest.raises(Overdraft):
        eq.train_and_evaluate(eq.LogisticRegression(1.0, domain=DOMAIN, ledger="trial"), ROWS, LABELS, n_samples=900)
    with pytest.raises(LedgerRefused, match="n_samples"):
        eq.train_and_evaluate(eq.LogisticRegression(0.1, domain=DOMAIN, ledger="trial"), ROWS, LABELS)


@pytest.mark.parametrize(
    ("epsilon", "delta", "mechanism"), [(1.0, 0.0, "laplace"), (1.0, 1e-5, "gaussian"), (0.1, 0.01, "objective")]
)
def test_a_pair_costs_what_its_dearer_part_does_in_every_currency(epsilon, delta, mechanism):
    model = eq.LogisticRegression(epsilon, delta, DOMAIN, mechanism=mechanism)
    pair = plan_held_out(model, 0.2, "", 1000, 3).claim
    for rate in (Rate(), ConcentratedRate(), RenyiRate(2.0), RenyiRate(32.0)):
        parts = [cost(part, rate) for part in pair.of]
        assert cost(pair, rate).amount == max(part.amount for part in parts) > 0
        assert cost(pair, rate).delta == max(part.delta for part in parts)
    assert currency_named("basic").price(pair) == currency_named("basic").price_of_budget(eq.Budget(epsilon, delta))


# A training that spends its delta, and counts in a book that is not kept in sums: pure noise would cost it many times.
DESCENT = {"epsilon": 1.0, "delta": 1e-6, "domain": DOMAIN, "passes": 2}


@pytest.mark.parametrize(("currency", "most"), [("zcdp", 1.1), ("gaussian", 1.1), (None, 1.7)])
def test_counts_of_held_out_rows_are_not_what_a_book_of_curves_is_spent_on(currency, most):
    # A stranger found that an account of (3, 1e-5) admitted ten of these trainings, and two with held-out rows.
    with eq.account(epsilon=3.0, delta=1e-5, currency=currency) as account:
        plan = plan_held_out(eq.NoisySGDClassifier(**DESCENT), 0.2, "", 5000, 3)
        price = currency_named(account._allowance.currency).price
        assert price(plan.claim).amount <= most * float(price(plan.claim.of[1]).amount)
        assert (plan.claim.of[0].law, plan.verify()) == ("gaussian", ())
        assert account._allowance.limit.amount > 6 * price(plan.claim).amount
    assert "laplace noise would be quieter" in plan.explain()


def test_counts_have_the_quietest_noise_where_it_costs_no_more():
    model = eq.NoisySGDClassifier(**DESCENT)

    def law(n_samples: int = 5000, each: object = model) -> str:
        return plan_held_out(each, 0.2, "", n_samples, 3).claim.of[0].law

    assert law() == "laplace"
    with eq.account(epsilon=3.0, delta=1e-5, currency="basic"):
        assert law() == "laplace"
    with eq.account(epsilon=3.0, delta=1e-5, currency="zcdp"):
        # With louder noise nothing could be told of so few.
        assert (law(), law(160)) == ("gaussian", "laplace")
        assert law(5000, eq.LogisticRegression(1.0, domain=DOMAIN)) == "laplace"
        assert law(5000, eq.LogisticRegression(1.0, 1e-6, DOMAIN, mechanism="laplace")) == "laplace"


@pytest.mark.parametrize("book", ["account", "ledger"])
def test_counts_have_louder_noise_where_only_the_pair_with_it_fits_what_is_left(tmp_path, monkeypatch, book):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path))
    currency = "renyi:10"
    eq.Ledger("trial").create(eq.Budget(2.8, 1e-5), currency)
    tilted = {"epsilon": 1.0, "delta": 1e-6, "domain": DOMAIN, "mechanism": "objective"}
    rows, labels, laws = np.tile(ROWS, (5, 1)), np.tile(LABELS, 5), []
    with eq.account(10.0, 1e-4) if book == "ledger" else eq.account(2.8, 1e-5, currency=currency):
        for _ in range(2):
            model = eq.LogisticRegression(**tilted, ledger="trial" if book == "ledger" else None)
            laws.append(eq.train_and_evaluate(model, rows, labels, n_samples=4500).claim.noise.law)
        # Gaussian noise makes the pair cheaper, not by half: 0.70 in place of 0.97, of 1.80 in all.
        assert laws == ["laplace", "gaussian"]
        # What fits neither way keeps the quieter noise, and is refused.
        assert plan_held_out(model, n_samples=4500, n_features=3).claim.of[0].law == "laplace"
        with pytest.raises(Overdraft):
            eq.train_and_evaluate(model, rows, labels, n_samples=4500)


def test_a_ledger_that_counts_curves_has_counts_that_cost_what_the_training_does(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path))
    for name, currency in (("curves", "zcdp"), ("sums", "basic")):
        eq.Ledger(name).create(eq.Budget(3.0, 1e-5), currency)
    labels = np.tile(LABELS, 5)
    rows, found = np.tile(ROWS, (5, 1)), {}
    for name in ("curves", "sums"):
        model = eq.NoisySGDClassifier(**DESCENT, ledger=name)
        found[name] = eq.train_and_evaluate(model, rows, labels, n_samples=4500)
        assert found[name].certificate.verify() == ()
        assert found[name].accuracy.told
    assert [each.counts.law for each in found.values()] == ["gaussian", "laplace"]


def test_a_refusal_names_the_counts_where_they_are_the_dear_part(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUIPOISE_HOME", str(tmp_path))
    eq.Ledger("held").create(eq.Budget(0.6, 1e-6), "basic")
    plan = plan_held_out(eq.NoisySGDClassifier(**DESCENT), 0.2, "", 5000, 3)
    with pytest.raises(Overdraft) as refused:
        eq.Ledger("held").would_admit(plan)
    assert "hold nothing out" not in str(refused.value)
    eq.Ledger("curves").create(eq.Budget(1.0, 1e-6), "zcdp")
    words = r"to do: hold nothing out: counts of held-out rows.* the training alone 0\.0"
    with pytest.raises(Overdraft, match=words):
        eq.Ledger("curves").would_admit(plan)
    with eq.account(epsilon=1.0, delta=1e-6, currency="zcdp") as account, pytest.raises(Overdraft, match=words):
        account._book.admit(plan)


def test_an_account_counts_both_once():
    with eq.account(epsilon=1.0) as account:
        eq.train_and_evaluate(eq.LogisticRegression(1.0, domain=DOMAIN), ROWS, LABELS)
        assert account.left.epsilon == 0.0
        with pytest.raises(Overdraft):
            eq.train_and_evaluate(eq.LogisticRegression(0.5, domain=DOMAIN), ROWS, LABELS)


# Two folders


@pytest.fixture(scope="module")
def pair() -> tuple[eq.LogisticRegression, eq.Evaluation]:
    model = eq.LogisticRegression(2.0, domain=schema())
    return model, eq.train_and_evaluate(model, frame())


def test_both_folders_verify_alone_and_name_each_other(pair, tmp_path):
    model, found = pair
    eq.save(model, tmp_path / "release")
    found.save(tmp_path / "evaluation")
    assert inspect(tmp_path / "release").faults == inspect(tmp_path / "evaluation").faults == ()
    texts = [(tmp_path / name / "certificate.json").read_text() for name in ("release", "evaluation")]
    assert texts[0] == texts[1], "one certificate, wherever it lies"
    opened, evaluation = eq.load(tmp_path / "release"), eq.Evaluation.load(tmp_path / "evaluation")
    np.testing.assert_array_equal(opened.coef_, model.coef_)
    assert evaluation.claim.release == opened.certificate_.release.id
    assert evaluation.accuracy == found.accuracy
    lines = "\n".join(inspect(tmp_path / "evaluation").lines())
    assert "part: evaluation, 180 rows" in lines
    assert f"part: {model.certificate_.kind}, 720 rows" in lines


def test_the_card_speaks_of_the_rows_that_trained(pair, tmp_path):
    eq.save(pair[0], tmp_path / "release")
    card = card_of(tmp_path / "release")
    assert (card["training"]["n"], card["disclosure"]["records"]) == (720, 720)


def test_the_page_speaks_of_the_rows_that_trained(pair):
    certificate = pair[0].certificate_
    record = record_of(certificate, Shown(pair[0].coef_, pair[0].intercept_))
    assert (record.counted, record.held_out) == ("720 rows", 180)
    text = Outline(release_page(record)).text
    assert "from 720 rows that stay private" in text
    assert "180 further rows were held out to evaluate it" in text
    assert "from 900 rows" not in text


@pytest.mark.parametrize(
    "change",
    [
        lambda model: setattr(model, "intercept_", model.intercept_ + 0.25),
        lambda model: setattr(model, "coef_", 2 * model.coef_),
        lambda model: model.set_params(alpha=0.75),
        lambda model: model.set_params(domain=replace(model.domain, vouched_by="B. Officer")),
    ],
)
def test_a_pair_that_was_changed_is_not_saved(pair, tmp_path, change):
    model = copy.copy(pair[0])
    change(model)
    with pytest.raises(InvalidParameter, match="as it was released") as refused:
        eq.save(model, tmp_path / "release")
    assert "as it was fitted" in refused.value.remedy
    assert not list(tmp_path.iterdir()), "nothing was written"


def test_the_whole_argument_says_which_rows_did_what(pair):
    said = pair[0].certificate_.explain()
    assert "of 900 places, counted before anything is left out, 180 are held out by a public permutation" in said
    assert "both together cost what the dearer one does (N3)" in said


def altered(folder, change) -> tuple[str, ...]:
    """Return what a check says of a folder whose model was changed, manifest included."""
    record = json.loads((folder / MODEL).read_text())
    change(record)
    (folder / MODEL).write_text(json.dumps(record, indent=1) + "\n")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / MANIFEST).write_text(manifest_of(files))
    return inspect(folder).faults


def test_other_weights_than_those_that_were_evaluated_are_noticed(pair, tmp_path):
    eq.save(pair[0], tmp_path / "release")
    assert altered(tmp_path / "release", lambda record: None) == ()
    faults = altered(tmp_path / "release", lambda record: record["intercepts"].__setitem__(0, 0.25))
    assert faults == ("certificate.json: an evaluation of another release, or of other weights",)
    # What is left out of the digest is the certificate's own, where it belongs, and nowhere else.
    digest = pair[0].certificate_.digest
    faults = altered(tmp_path / "release", lambda record: record["model"].__setitem__("name", f"logistic{digest}"))
    assert "certificate.json: an evaluation of another release, or of other weights" in faults


def test_an_evaluation_under_another_releases_name_and_a_plan_are_noticed(pair, tmp_path):
    certificate = pair[1].certificate
    other = replace(certificate, release=replace(certificate.release, id="cd" * 16))
    replace(pair[1], certificate=other).save(tmp_path / "other")
    assert inspect(tmp_path / "other").faults == (
        "certificate.json: an evaluation of another release, or of other weights",
    )
    plan = plan_held_out(eq.LogisticRegression(2.0, domain=schema()))
    replace(pair[1], certificate=plan).save(tmp_path / "plan")
    for read in (inspect, eq.Evaluation.load):
        with pytest.raises(ReleaseUnreadable, match="no evaluation that was carried out"):
            read(tmp_path / "plan")


def test_bounds_on_risk_are_those_of_the_rows_that_trained():
    model = eq.LogisticRegression(1.0, domain=DOMAIN, mechanism="output")
    together, alone = risk(plan_held_out(model, 0.2, "", 1000, 3)), risk(model.plan(800, 3))
    assert together["J1.mean"].value == alone["J1.mean"].value


# Refusals, before anything is spent

PERSONS = eq.Domain(1.0, classes=(0, 1), rows_a_person=3)
REFUSED = {
    "persons": (eq.LogisticRegression(domain=PERSONS), {}, NoTheoremApplies, "leave persons out"),
    "observed classes": (
        eq.LogisticRegression(domain=eq.Domain(1.0, classes="observed")),
        {},
        InvalidParameter,
        "declare them",
    ),
    "no share": (eq.LogisticRegression(domain=DOMAIN), {"holdout": 0.0}, InvalidParameter, "pass 0.2"),
    "all rows": (eq.LogisticRegression(domain=DOMAIN), {"holdout": 1.0}, InvalidParameter, "pass 0.2"),
    "less than a row": (eq.LogisticRegression(domain=DOMAIN), {"holdout": 0.0001}, InvalidParameter, "pass 0.2"),
    "rows that tell nothing": (
        eq.LogisticRegression(domain=DOMAIN),
        {"holdout": 0.01},
        InvalidParameter,
        r"hold out 47 rows or more, a share of 0\.053",
    ),
    "a column of no schema": (eq.LogisticRegression(domain=DOMAIN), {"by": "sex"}, InvalidParameter, "schema"),
    "another number of rows": (eq.LogisticRegression(domain=DOMAIN), {"n_samples": 5}, InvalidData, "n_samples"),
    "a range that no figure follows from": (
        eq.Ridge(domain=eq.Domain(1.0, labels=(0.0, 1e70))),
        {},
        InvalidParameter,
        "scale the target",
    ),
    "a search": (
        eq.PrivateGridSearch(eq.LogisticRegression(domain=DOMAIN), {"alpha": [0.1, 1.0]}),
        {},
        InvalidParameter,
        "pass a classifier or regressor",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_proof_or_no_sense_is_refused_before_the_spend(name, monkeypatch):
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    model, settings, error, remedy = REFUSED[name]
    before = dict(vars(model))
    with pytest.raises(error, match=remedy):
        eq.train_and_evaluate(model, ROWS, LABELS, **settings)
    assert vars(model) == before


def test_the_plan_says_what_held_out_rows_will_tell_and_as_many_as_it_asks_for_are_enough():
    model = eq.LogisticRegression(domain=DOMAIN)

    def said(share: float) -> str:
        return plan_held_out(model, share, "", 900, 3).explain()

    assert "rows tell nothing at this budget: accuracy could be anything" in said(0.01)
    assert "accuracy will be known to within about 0.31, and most figures cannot be told" in said(0.04)
    assert "accuracy will be known to within about 0.09\n" in said(0.2)
    # A group has fewer rows, and its own cells: the plan names that price before it is paid.
    by_sex = plan_held_out(eq.LogisticRegression(epsilon=2.0, domain=schema(900)), 0.5, "sex")
    together, apart = re.search(r"about (0\.\d+); of each of 2 levels of sex.* (0\.\d+)\n", by_sex.explain()).groups()
    assert math.sqrt(2) * float(together) <= float(apart) * 1.05
    numbers = eq.Ridge(domain=eq.Domain(1.0, labels=(0.0, 1.0)))
    assert "the mean absolute error, of the target's range," in plan_held_out(numbers, 0.2, "", 900, 3).explain()
    # What the refusal asks for: a quarter to either side.
    counts = plan_held_out(model, 47 / 900, "", 900, 3).claim.of[0]
    assert known_within(counts) <= 0.25 < known_within(replace(counts, n_samples=46))


def test_a_table_that_is_never_held_is_refused_before_the_spend(tmp_path, monkeypatch):
    monkeypatch.setattr("equipoise.release.door._admit", lambda *_: pytest.fail("the spend was recorded"))
    frame().to_csv(tmp_path / "rows.csv", index=False)
    table = eq.open_table(tmp_path / "rows.csv", engine="stream")
    for each in (schema(), schema(900, BLANK).with_private_bounds(0.5)):
        with pytest.raises(InvalidParameter, match='engine="memory"'):
            eq.train_and_evaluate(eq.LogisticRegression(domain=each), table)


def test_values_never_raise_and_a_failure_says_nothing(monkeypatch):
    rows, labels = ROWS.copy(), LABELS.astype(float)
    rows[::7], labels[::5] = np.nan, 9.0
    found = eq.train_and_evaluate(eq.LogisticRegression(NO_NOISE, domain=DOMAIN, random_state=0), rows, labels)
    assert found.counts.counts.sum() == 180
    monkeypatch.setattr(
        "equipoise.release.carriers.evaluation.class_positions", lambda *_: (_ for _ in ()).throw(ValueError("row 3"))
    )
    model = eq.LogisticRegression(domain=DOMAIN, random_state=0)
    with pytest.raises(PrivateFailure) as caught:
        eq.train_and_evaluate(model, ROWS, LABELS)
    assert "row 3" not in str(caught.value)
    assert not hasattr(model, "coef_")


def test_nothing_that_is_planned_depends_on_rows():
    first, second = (
        eq.train_and_evaluate(eq.LogisticRegression(domain=DOMAIN, random_state=0), rows, labels).certificate
        for rows, labels in ((ROWS, LABELS), (np.zeros((900, 3)), np.zeros(900, dtype=int)))
    )
    assert first.planned_digest == second.planned_digest
    assert first.digest != second.digest


def test_a_share_in_percent_is_answered_with_the_share():
    with pytest.raises(InvalidParameter, match=r"20 % is 0\.2"):
        eq.train_and_evaluate(MODELS["two classes"][0](), ROWS, MODELS["two classes"][1], holdout=20)
