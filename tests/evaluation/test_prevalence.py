"""eq.private_prevalence: exact counts by class but for the noise, what follows from them, refusals before the spend."""

import numpy as np
import pandas as pd
import pytest

import equipoise as eq
from equipoise.errors import (
    InvalidData,
    InvalidParameter,
    LedgerRefused,
    NoTheoremApplies,
    Overdraft,
    PrivateFailure,
    ReleaseUnreadable,
    SchemaInvalid,
)
from equipoise.evaluation.prevalence import Prevalence
from equipoise.planning.laws import deviation_of
from equipoise.planning.prevalence import LOUDEST
from equipoise.release.carriers import evaluation as carrier

# So large an epsilon leaves the counts as they are, but for a chance of 1e-11 a cell.
NO_NOISE = 60.0

DOMAIN = eq.Domain(1.0, classes=("no", "yes"))
SEVERAL = eq.Domain(1.0, classes=("a", "b", "c", "d"))
LABELS = np.array(["no"] * 940 + ["yes"] * 60, dtype=object)

SCHEMA = """
schema_version = 1
n = 1000
vouched_by = "A. Officer"
vouched_on = 2026-11-16

[target]
name = "ill"
classes = ["no", "yes"]

[columns.a]
kind = "number"
bounds = [-0.5, 0.5]
"""


def frame() -> pd.DataFrame:
    return pd.DataFrame({"a": np.linspace(-0.5, 0.5, 1000), "ill": LABELS})


# What is counted


def test_every_row_counts_for_its_class_and_an_unknown_label_for_the_first():
    labels = ["a"] * 500 + ["b"] * 300 + ["c"] * 150 + ["nobody knows", None, float("nan")] + ["d"] * 47
    found = eq.private_prevalence(np.array(labels, dtype=object), SEVERAL, epsilon=NO_NOISE)
    assert found.counts == (503, 300, 150, 47)
    assert found.classes == SEVERAL.classes
    assert found.shares == (0.503, 0.3, 0.15, 0.047)
    assert found.domain.prevalence == found.shares
    assert found.certificate.verify() == ()


@pytest.mark.parametrize("domain", [DOMAIN, SEVERAL])
def test_one_replaced_row_moves_two_counts_by_one_whatever_it_is(domain):
    # The bound of N4 that the noise is scaled by: 2 in L1, reached, and never more.
    draw = np.random.default_rng(0)
    values = [*domain.classes, "nobody knows", None]
    labels = np.array([values[place] for place in draw.integers(0, len(values), 300)], dtype=object)
    whole = np.array(eq.private_prevalence(labels, domain, epsilon=NO_NOISE).claim.released)
    moved = []
    for value in values:
        neighbour = labels.copy()
        neighbour[0] = value
        counts = np.array(eq.private_prevalence(neighbour, domain, epsilon=NO_NOISE).claim.released)
        moved.append(np.abs(counts - whole).sum())
    assert max(moved) == 2
    assert set(moved) <= {0, 2}


def test_the_noise_on_counts_has_the_scale_that_the_certificate_says():
    runs = [eq.private_prevalence(LABELS, DOMAIN, epsilon=0.5, random_state=seed).counts for seed in range(200)]
    planned = eq.private_prevalence(LABELS, DOMAIN, epsilon=0.5, random_state=0).claim
    spread = np.std(np.array(runs) - (940, 60), axis=0)
    # The sample deviation of 200 Laplace numbers is within a third of theirs but once in 10^4.
    assert planned.law == "laplace"
    assert spread == pytest.approx(deviation_of(planned.noise), rel=1 / 3)


def test_a_count_that_drowns_is_as_common_as_the_noise_is_large():
    nobody = np.array(["no"] * 1000, dtype=object)
    for seed in range(20):
        found = eq.private_prevalence(nobody, DOMAIN, epsilon=0.2, random_state=seed)
        assert found.deviation * 0.9 < found.shares[1] < 10 * found.deviation
        assert sum(found.shares) == pytest.approx(1, abs=2e-4)


def test_a_schema_counts_the_target_column_and_then_declares_it():
    schema = eq.Schema.from_text(SCHEMA)
    found = eq.private_prevalence(frame(), schema, epsilon=NO_NOISE)
    assert found.counts == (940, 60)
    assert "prevalence = [0.94, 0.06]" in found.domain.to_toml()
    assert found.certificate.terms.schema == schema.digest
    assert found.domain.domain.prevalence == pytest.approx((0.94, 0.06))


@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
@pytest.mark.parametrize("paid", [None, 0.2])
def test_bounds_that_are_blank_or_paid_for_later_have_no_part_in_what_is_counted(tmp_path, form, paid):
    blank = eq.Schema.from_text(SCHEMA.replace("bounds = [-0.5, 0.5]", "bounds = []"))
    schema = blank if paid is None else blank.with_private_bounds(paid)
    table = frame()
    table.loc[3, "a"] = np.nan
    if form != "frame":
        path = tmp_path / f"people.{form}"
        table.to_csv(path, index=False) if form == "csv" else table.to_parquet(path)
        table = eq.open_table(path)
    with eq.account(epsilon=NO_NOISE, currency="basic"):
        found = eq.private_prevalence(table, schema, epsilon=NO_NOISE)
    assert found.counts == (940, 60)
    assert found.certificate.terms.schema == schema.digest
    assert found.domain.private_bounds == paid
    assert found.domain.unbounded == ("a",)


def test_a_table_that_is_never_held_whole_is_refused_before_the_spend(tmp_path):
    blank = eq.Schema.from_text(SCHEMA.replace("bounds = [-0.5, 0.5]", "bounds = []"))
    frame().to_csv(tmp_path / "people.csv", index=False)
    streamed = eq.open_table(tmp_path / "people.csv", engine="stream")
    with eq.account(epsilon=1.0, currency="basic") as account:
        for schema in (blank, blank.with_private_bounds(0.2), eq.Schema.from_text(SCHEMA)):
            with pytest.raises(InvalidParameter, match='engine="memory"'):
                eq.private_prevalence(streamed, schema, epsilon=0.5)
    assert account.releases == ()


# What follows


def test_a_model_planned_for_a_bought_prevalence_is_the_one_of_a_declared_one():
    found = eq.private_prevalence(LABELS, DOMAIN, epsilon=NO_NOISE)
    declared = eq.LogisticRegression(0.3, domain=eq.Domain(1.0, classes=("no", "yes"), prevalence=(0.94, 0.06)))
    bought, even = eq.LogisticRegression(0.3, domain=found.domain), eq.LogisticRegression(0.3, domain=DOMAIN)
    assert bought.plan(1000, 5).claim == declared.plan(1000, 5).claim
    assert bought.plan(1000, 5).claim.alpha > even.plan(1000, 5).claim.alpha


def test_the_ledger_has_two_spends_and_an_overdraft_reads_nothing(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'ledger.db'}#people"
    eq.Ledger(url).create(eq.Budget(1.0), currency="basic")
    found = eq.private_prevalence(LABELS, DOMAIN, epsilon=0.1, ledger=url, n_samples=1000)
    domain = found.domain
    X = np.linspace(-0.5, 0.5, 1000)[:, None]
    model = eq.LogisticRegression(0.9, domain=domain, ledger=url)
    model.plan(1000, 1)
    model.fit(X, LABELS)
    assert float(eq.Ledger(url).balance().epsilon_left) == pytest.approx(0.0, abs=1e-12)
    read = []
    monkeypatch.setattr(carrier, "class_positions", lambda *given: read.append(given))
    with pytest.raises(Overdraft):
        eq.private_prevalence(LABELS, DOMAIN, epsilon=0.1, ledger=url, n_samples=1000)
    assert not read


def test_an_account_counts_it():
    with eq.account(epsilon=0.25, currency="basic") as account:
        eq.private_prevalence(LABELS, DOMAIN, epsilon=0.1)
        eq.private_prevalence(LABELS, DOMAIN, epsilon=0.1)
        with pytest.raises(Overdraft):
            eq.private_prevalence(LABELS, DOMAIN, epsilon=0.1)
    assert [release.kind for release in account.releases] == ["evaluation", "evaluation"]


# What is refused, before anything is spent


@pytest.mark.parametrize(
    ("domain", "error", "words"),
    [
        (eq.Domain(1.0, labels=(0.0, 1.0)), InvalidParameter, "a range of numbers"),
        (eq.Domain(1.0, classes="observed"), InvalidParameter, "private labels"),
        (eq.Domain(1.0, classes=("no", "yes"), rows_a_person=3), NoTheoremApplies, "person"),
        ("no,yes", InvalidParameter, "pass a Domain"),
    ],
)
def test_classes_must_be_declared_and_rows_be_persons(domain, error, words):
    with pytest.raises(error, match=words):
        eq.private_prevalence(LABELS, domain, epsilon=0.5)


def test_noise_that_would_drown_every_share_is_refused_with_what_is_enough():
    with pytest.raises(InvalidParameter, match=r"at least epsilon 0\.06") as refused:
        eq.private_prevalence(LABELS, DOMAIN, epsilon=0.05)
    assert "1000" in str(refused.value)
    enough = eq.private_prevalence(LABELS, DOMAIN, epsilon=0.06)
    assert enough.deviation <= LOUDEST


def test_a_ledger_wants_a_declared_number_of_rows(tmp_path):
    with pytest.raises(LedgerRefused, match="n_samples"):
        eq.private_prevalence(LABELS, DOMAIN, epsilon=0.5, ledger=f"sqlite:///{tmp_path / 'ledger.db'}#people")


def test_other_numbers_of_rows_and_other_types_are_refused():
    with pytest.raises(InvalidData, match="declared 999 rows"):
        eq.private_prevalence(LABELS, DOMAIN, epsilon=0.5, n_samples=999)
    with pytest.raises(InvalidData, match="no class but the first"):
        eq.private_prevalence(np.zeros(1000), DOMAIN, epsilon=0.5)
    with pytest.raises(InvalidData, match="1d"):
        eq.private_prevalence(np.zeros((1000, 2)), DOMAIN, epsilon=0.5)
    incomplete = eq.Schema.from_text(SCHEMA.replace("A. Officer", ""))
    with pytest.raises(SchemaInvalid, match="vouched_by"):
        eq.private_prevalence(frame(), incomplete, epsilon=0.5)


def test_a_certificate_of_something_else_has_no_shares():
    model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), random_state=0)
    with pytest.raises(ReleaseUnreadable, match="counts by class"):
        _ = Prevalence(model.plan(1000, 3), DOMAIN).shares


def test_a_failure_among_rows_says_nothing_of_them(monkeypatch):
    def broken(*_: object) -> None:
        raise ValueError("a private value")

    monkeypatch.setattr(carrier, "class_positions", broken)
    with pytest.raises(PrivateFailure) as failed:
        eq.private_prevalence(LABELS, DOMAIN, epsilon=0.5)
    assert "private value" not in str(failed.value)
