"""All rows of a person are replaced (N1): how far a release moves, audits, forgeries, and what nobody may see."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse

import equipoise as eq
from auditing import FEW_RUNS, FifthOfTheNoise
from equipoise.certify import claims, theorems
from equipoise.certify.certificate import Certificate
from equipoise.certify.theorems.base import Theorem
from equipoise.cli.worst_cases import measure, worst_case
from equipoise.data.persons import person_rows
from equipoise.data.slots import Slots
from equipoise.errors import InvalidData, InvalidParameter, LedgerRefused, NoTheoremApplies, PlanMismatch
from equipoise.ledger import Ledger
from equipoise.noise import SeededSource
from equipoise.release import release
from observing import differences, observed
from person_tables import one_more_person

Array = NDArray[np.float64]

# This file has a false-alarm rate of its own, beside the suite's, shared by its twelve audits.
FAILURE = 1e-5 / 12

MANY = (1, 2, 1000)
LINEAR = {"fit_intercept": False, "random_state": 0, "epsilon": 1e9}


def domain(rows: int = 1000, **facts: object) -> eq.Domain:
    return eq.Domain(1.0, **({"classes": (0, 1)} | facts), rows_a_person=rows)


def spread(rows: int, others: int, columns: int, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    """Return rows of persons who have different numbers of them, in no order, and whose they are."""
    coins = np.random.default_rng(seed)
    persons = np.concatenate([np.zeros(rows, dtype=int), coins.integers(1, others + 1, size=3 * others)])
    coins.shuffle(persons)
    return coins.uniform(-0.5, 0.5, size=(len(persons), columns)), persons


# --- witnesses: as far as the theorem allows --------------------------------------------------------------------------


@pytest.mark.parametrize("rows", MANY)
@pytest.mark.parametrize("model", [eq.LinearSVC, eq.HuberRegressor], ids=["corners", "smooth"])
def test_a_person_moves_a_minimiser_as_far_as_one_row_may_however_many_rows_they_have(model, rows, witness):
    # A strong ridge keeps predictions where the loss is a straight line: the bound is attained.
    facts = {"classes": (0, 1)} if model is eq.LinearSVC else {"classes": None, "labels": (-1.0, 1.0)}
    persons = np.concatenate([np.zeros(rows, dtype=int), np.arange(1, 4)])
    X, ends = np.where(persons[:, None] == 0, 1.0, 0.0), []
    for sign in (1, -1):
        fitted = model(domain=domain(**facts), alpha=50.0, mechanism="output", **LINEAR)
        certificate = fitted.plan(4, 1)
        ends.append(fitted.fit(sign * X, np.where(persons == 0, 1, 0), groups=persons).coef_)
    moved = float(np.linalg.norm(ends[0] - ends[1]))
    witness("N1", certificate.sensitivity, moved, f"{model.__name__}, {rows} rows of a person")
    assert 0.95 * certificate.sensitivity <= moved <= certificate.sensitivity


@pytest.mark.parametrize("mechanism", ["output", "objective", "noisy-gradient", "noisy-gradient:40"])
def test_a_person_counts_by_the_mean_of_their_rows(mechanism):
    # Every row twice, or a person's rows in another order among the others': the same model, but for where a solver
    # stops, which is within tau / alpha, and for the last digits.
    X, persons = spread(30, 50, 3)
    y = (X[:, 0] > 0).astype(int)
    order = np.random.default_rng(1).permutation(len(X))

    def trained(X: Array, y: Array, persons: Array) -> Array:
        model = eq.LogisticRegression(50.0, 1e-5, domain(), 0.05, mechanism, random_state=3)
        model.plan(51, 3)
        return model.fit(X, y, groups=persons).coef_

    claim = eq.LogisticRegression(50.0, 1e-5, domain(), 0.05, mechanism).plan(51, 3).claim
    apart = 2 * getattr(claim, "tolerance", 0.0) / 0.05 + 1e-9
    first = trained(X, y, persons)
    assert trained(np.repeat(X, 2, axis=0), np.repeat(y, 2), np.repeat(persons, 2)) == pytest.approx(first, abs=apart)
    # Batches are drawn among slots, which are numbered as ids appear.
    if ":" not in mechanism:
        assert trained(X[order], y[order], persons[order]) == pytest.approx(first, abs=apart)
    assert abs(trained(X[:51], y[:51], np.arange(51)) - first).max() > 1000 * apart


def test_the_minimiser_over_persons_is_the_weighted_one():
    from sklearn.linear_model import Ridge

    X, persons = spread(40, 20, 2)
    y = np.clip(X @ [1.0, -0.5], -1, 1)
    model = eq.Ridge(1e9, 0.0, domain(classes=None, labels=(-1.0, 1.0)), 0.1, "output", False, 0)
    model.plan(25, 2)  # four slots are empty: they count in the mean
    found = model.fit(X, y, groups=persons).coef_
    shares = 1 / np.bincount(persons)[persons]
    expected = Ridge(alpha=0.05 * 25, fit_intercept=False).fit(X, y, sample_weight=shares).coef_
    assert found == pytest.approx(expected, abs=1e-5)


def test_a_replacement_that_joins_another_persons_id_is_outside_the_promise():
    # N1's counterexample: it empties one slot and turns another person's mean round, three times half of the bound.
    rows = 1000
    X = np.array([[1.0], [1.0], *[[-1.0]] * rows])
    y, fits = np.ones(len(X)), []
    for ids in (["a", "b"] + [None] * rows, [None, "b"] + ["b"] * rows):
        facts = domain(rows + 1, classes=None, labels=(-1.0, 1.0))
        model = eq.HuberRegressor(domain=facts, alpha=50.0, mechanism="output", **LINEAR)
        sensitivity = model.plan(2, 1).sensitivity
        fits.append(model.fit(X, y, groups=ids).coef_)
    assert 1.4 * sensitivity <= float(np.linalg.norm(fits[0] - fits[1])) <= 1.5 * sensitivity


@pytest.mark.parametrize("mechanism", ["output", "objective"])
def test_a_search_finds_no_person_who_moves_a_minimiser_further(mechanism):
    # Random persons against random persons and nobody, over losses and ridges; the noise is next to none.
    coins, worst = np.random.default_rng(7), 0.0
    for alpha, rows in itertools.product((0.05, 1.0, 30.0), MANY):
        for _ in range(4):
            common = coins.normal(size=(6, 2))
            ends = []
            for side in range(2):
                X, y, persons = one_more_person(coins, common, rows, may_be_nobody=side == 1)
                model = eq.LogisticRegression(1e9, 0.0, domain(), alpha, mechanism, False, 0)
                model.plan(7, 2)
                ends.append(model.fit(X, y, groups=persons).coef_)
            bound = eq.LogisticRegression(1e9, 0.0, domain(), alpha, "output", False).plan(7, 2).sensitivity
            worst = max(worst, float(np.linalg.norm(ends[0] - ends[1])) / bound)
    assert 0.4 < worst <= 1.0


# --- audits -----------------------------------------------------------------------------------------------------------

AUDITED = [("output", 0.0), ("objective", 0.0), ("objective:1", 0.1), ("noisy-gradient", 0.1)]


@pytest.mark.parametrize(("mechanism", "delta"), AUDITED)
@pytest.mark.parametrize("rows", MANY)
def test_a_release_on_persons_stays_below_its_claim(mechanism, delta, rows):
    case = worst_case("logistic", mechanism, delta=delta, rows_a_person=rows)
    assert case.certificate.adjacency == "replace-one-person"
    assert not measure(case, FEW_RUNS, failure=FAILURE).refuted


@pytest.mark.parametrize(("mechanism", "delta"), AUDITED)
def test_an_audit_of_persons_catches_a_fifth_of_the_noise(monkeypatch, mechanism, delta):
    from equipoise.cli import worst_cases

    monkeypatch.setattr(worst_cases, "SeededSource", FifthOfTheNoise)
    assert measure(worst_case("logistic", mechanism, delta=delta, rows_a_person=2), FEW_RUNS).refuted


def test_an_audit_of_persons_catches_a_sum_over_rows(monkeypatch):
    # A fault: a person's rows each count as a person does, so that a thousand of them move a thousand times as far.
    from equipoise.release.carriers import base

    monkeypatch.setattr(base, "shares_of", lambda persons, n_persons: np.ones(len(persons)))
    assert measure(worst_case("logistic", "output", rows_a_person=1000), FEW_RUNS).refuted


# --- claims -----------------------------------------------------------------------------------------------------------


def planned(mechanism: str = "output", delta: float = 1e-6, **facts: object) -> Certificate:
    return eq.LogisticRegression(1.0, delta, domain(100, **facts), 0.05, mechanism).plan(1000, 40)


def forged(certificate: Certificate, **claim: object) -> tuple[str, ...]:
    """Return the faults of a certificate, sealed anew, whose claim was altered."""
    return Certificate.seal(certificate.terms, dataclasses.replace(certificate.claim, **claim), {}).verify()


def test_a_claim_about_persons_holds_and_says_so():
    for mechanism in ("output", "objective", "noisy-gradient", "noisy-gradient:50"):
        certificate = planned(mechanism)
        assert certificate.verify() == ()
        assert certificate.adjacency == "replace-one-person"
        assert "all rows of one person are replaced" in certificate.explain()
        assert "one row" not in certificate.explain()
        assert ("theorem", "N1") in certificate.rests_on()
        assert Certificate.from_json(certificate.to_json()) == certificate
    rows = eq.LogisticRegression(1.0, 1e-6, eq.Domain(1.0, classes=(0, 1)), 0.05, "output").plan(1000, 40)
    assert rows.adjacency == "replace-one"
    assert ("theorem", "N1") not in rows.rests_on()


def test_the_unit_of_a_claim_cannot_be_altered():
    certificate = planned("objective")
    about_rows = dataclasses.replace(certificate.terms, adjacency="replace-one")
    assert Certificate.seal(about_rows, certificate.claim, {}).verify()
    rows = eq.LogisticRegression(1.0, 1e-6, eq.Domain(1.0, classes=(0, 1)), 0.05, "objective").plan(1000, 40)
    about_persons = dataclasses.replace(rows.terms, adjacency="replace-one-person")
    assert Certificate.seal(about_persons, rows.claim, {}).verify()
    # What was planned for rows does not follow for persons under any theorem on rows.
    problem = dataclasses.replace(rows.claim.problem, domain=domain(100))
    for theorem in ("E3a", "E3b", "E3c"):
        forgery = dataclasses.replace(rows.claim, problem=problem, theorem=f"{theorem}+E4")
        assert any("proved for a person" in fault for fault in Certificate.seal(about_persons, forgery, {}).verify())


def test_smaller_noise_or_a_smaller_sensitivity_is_caught():
    for mechanism in ("output", "objective", "noisy-gradient"):
        certificate = planned(mechanism)
        noise = certificate.claim.noise
        assert forged(certificate, noise=dataclasses.replace(noise, scale=noise.scale * 0.99))
        if certificate.sensitivity is not None:
            assert forged(certificate, sensitivity=certificate.sensitivity * 0.99)
    # More rows than double precision can bear, over all persons.
    tight = planned("objective")
    more = dataclasses.replace(tight.claim.problem, domain=domain(10**13))
    assert forged(tight, problem=more)


def test_what_is_not_proved_for_persons_fails_the_check_by_default():
    class Newcomer(Theorem):
        id = "newcomer"

        def hypotheses(self, setting):
            return iter(())

        def sensitivity(self, setting):
            return 0.0

    setting = planned().claim.setting()
    assert Newcomer().bound(setting).value is None
    assert all("person" in hypothesis.claim for hypothesis in Newcomer().bound(setting).missing)
    proved = {name for name, theorem in theorems.members().items() if "person" in theorem.units}
    descents = {"B1", "B3", "B4", "B5", "B6", "C1", "C1.random", "ball.descent"}
    assert proved == {"A1", "A2", "ball"} | descents
    kinds = {name for name, claim in claims.members().items() if "person" in claim.units}
    descending = {"sgd", "noisy-sgd", "phased"}
    assert kinds == {"output", "objective", "noisy-gradient", "sequence", "post-processing"} | descending


def test_disjoint_parts_and_mixed_units_fail_the_check():
    from equipoise.certify.claims.compositions import Disjoint, PostProcessing, Sequence

    one, budget = planned("output").claim, eq.Budget(2.0, 1e-5)
    rows = eq.LogisticRegression(1.0, 1e-6, eq.Domain(1.0, classes=(0, 1)), 0.05, "output").plan(1000, 40).claim
    assert Sequence(budget, 1000, (one, one)).check() == ()
    assert PostProcessing(one.budget, 1000, (one,), "a rule").check() == ()
    assert Sequence(budget, 1000, (rows, one)).check()
    assert Sequence(budget, 1000, (one, rows)).check()
    halves = dataclasses.replace(one, n_samples=500)
    assert any("disjoint" in fault for fault in Disjoint(one.budget, 1000, (halves, halves)).check())


def test_rounding_is_counted_for_all_rows_of_all_persons():
    few, many = (
        eq.LogisticRegression(1.0, 1e-6, domain(rows), 1e-3, "noisy-gradient").plan(10**5, 3) for rows in (1, 1000)
    )
    assert many.sensitivity > few.sensitivity
    assert forged(many, sensitivity=few.sensitivity)
    assert many.claim.setting().rows == 10**8


# --- refusals, before the spend ---------------------------------------------------------------------------------------

REFUSED = {
    "sums": eq.Ridge(1.0, 1e-6, domain(classes=None, labels=(-1.0, 1.0)), mechanism="sufficient-statistics"),
    "functional": eq.Ridge(1.0, 0.0, domain(classes=None, labels=(-1.0, 1.0)), mechanism="functional"),
    "dropout": eq.DropoutClassifier(1.0, 1e-6, domain(), radius=1.0),
    "search": eq.PrivateGridSearch(eq.LogisticRegression(domain=domain()), {"alpha": [0.1, 1.0]}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_kind_without_a_proof_is_refused_with_a_remedy(name):
    with pytest.raises(NoTheoremApplies) as refusal:
        REFUSED[name].plan(1000, 3)
    assert "person" in refusal.value.asked
    assert refusal.value.remedy


def test_selections_of_a_column_and_methods_of_ones_own_are_refused():
    X, persons = spread(3, 10, 2)
    with pytest.raises(NoTheoremApplies, match="person"):
        eq.SimplexSelector(random_state=0).fit(X > 0, groups=persons)
    with pytest.raises(NoTheoremApplies, match="person"):
        REFUSED["search"].fit(X, X[:, 0] > 0, groups=persons)
    problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", 0.5), domain())
    recipe = eq.Recipe(tolerance=1e-6, method="bagging:10")
    with pytest.raises(NoTheoremApplies, match="person"):
        eq.release_method(lambda rows, y: rows[0], X, X[:, 0] > 0, problem, recipe, eq.Budget(1.0))


def test_private_bounds_are_refused_for_persons():
    text = (
        'schema_version = 1\nn = 10\nvouched_by = "A"\nvouched_on = 2026-11-16\n[target]\nname = "ill"\n'
        'classes = ["no", "yes"]\n[columns.age]\nkind = "number"\nbounds = []\n[person]\ncolumn = "id"\n'
    )
    with pytest.raises(InvalidParameter, match="private bounds"):
        eq.Schema.from_text(text).with_private_bounds(0.1)


def test_the_number_of_persons_is_declared_and_ids_are_passed_where_they_must_be():
    X, persons = spread(3, 10, 2)
    y = (X[:, 0] > 0).astype(int)
    model = eq.LogisticRegression(1.0, 0.0, domain(), 0.1, "output", random_state=0)
    with pytest.raises(InvalidParameter, match="declared number of persons"):
        model.fit(X, y, groups=persons)
    model.plan(11, 2)
    with pytest.raises(InvalidData, match="groups=ids"):
        model.fit(X, y)
    for groups in (persons[:-1], np.stack([persons, persons]), "abc"):
        with pytest.raises(InvalidData) as refusal:
            model.fit(X, y, groups=groups)
        assert str(len(X)) not in str(refusal.value)
    with pytest.raises(InvalidParameter, match="rows_a_person"):
        eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1))).fit(X, y, groups=persons)
    certificate, rows = model.plan(11, 2), person_rows(X, y, persons, (11, 2), 1000)
    with pytest.raises(PlanMismatch, match="without persons"):
        release(certificate, rows.features, rows.target, SeededSource(0))


def test_a_ledger_adds_up_spends_about_one_kind_of_neighbours(tmp_path):
    X, persons = spread(3, 10, 2)
    y = (X[:, 0] > 0).astype(int)

    def spent(facts: eq.Domain, dataset: str) -> None:
        url = f"sqlite:///{tmp_path}/ledger.db#{dataset}"
        model = eq.LogisticRegression(0.5, 0.0, facts, 0.1, "output", ledger=url)
        model.plan(11 if facts.rows_a_person else len(X), 2)
        model.fit(X, y, groups=persons if facts.rows_a_person else None)

    rows = eq.Domain(1.0, classes=(0, 1))
    for dataset, first, second in (("a", rows, domain()), ("b", domain(), rows)):
        ledger = Ledger(f"sqlite:///{tmp_path}/ledger.db#{dataset}")
        ledger.create(eq.Budget(3.0))
        spent(first, dataset)
        spent(first, dataset)
        with pytest.raises(LedgerRefused, match="neighbours"):
            spent(second, dataset)
        assert len(ledger.releases()) == 2
        assert ledger.verify() == ()


@pytest.mark.parametrize("rows", [[], (), np.empty((0, 2))], ids=["list", "tuple", "array"])
def test_nobody_is_told_that_there_are_no_rows(rows):
    model = eq.LogisticRegression(1.0, 0.0, domain(), 0.1, "output", random_state=0)
    model.plan(11, 2)
    some = observed(lambda: model.fit([[0.1, 0.2]], [1], groups=["ann"]))
    none = observed(lambda: model.fit(rows, [], groups=[]))
    assert some.ending == "answer"
    assert not differences(some, none)


def test_nobody_is_told_that_the_only_row_is_none():
    model = eq.LogisticRegression(1.0, 0.0, domain(), 0.1, "output", random_state=0)
    model.plan(11, 2)
    fits = [observed(lambda row=row: model.fit([row], [1], groups=["ann"])) for row in ([0.1, 0.2], None)]
    assert not differences(*fits)


# --- ids --------------------------------------------------------------------------------------------------------------


def test_an_id_is_a_text_by_a_public_rule():
    assert Slots(9, 9).of([7, 7.0, "7", " 7 ", b"7", np.int8(7)])[1].tolist() == [0] * 6
    assert Slots(9, 9).of(["a", None, float("nan"), "", "NA", pd.NA, "A"])[0].tolist() == [0, 6]
    # Beyond the last digit of a double ids stay different.
    large = [2**53, 2**53 + 1]
    for ids in (large, np.array(large), pd.Series(large), pd.Series(large, dtype="Int64").to_frame("id")):
        rows = person_rows(np.zeros((2, 1)), [0, 1], ids, (5, 1), 5)
        assert rows.persons.read().tolist() == [0, 1]


def test_ids_that_are_computed_later_are_refused_and_not_computed():
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_pandas(pd.DataFrame({"id": [1, 2]}), npartitions=1)
    later = frame.map_partitions(lambda part: 1 / 0, meta=frame._meta)
    for groups in (later, later["id"]):
        model = eq.LogisticRegression(1.0, domain=domain())
        model.plan(4, 1)
        with pytest.raises(InvalidData, match=r"Dask|computed later"):
            model.fit([[0.1], [0.2]], [0, 1], groups=groups)


def test_what_is_kept_of_a_person_depends_on_their_rows_alone_and_surplus_ids_are_left_out():
    ids = ["a", "b", "a", "c", "a", "b", "d"]
    places, persons = Slots(3, 2).of(ids)
    assert places.tolist() == [0, 1, 2, 3, 5]
    assert persons.tolist() == [0, 1, 0, 2, 1]
    slots = Slots(3, 2)
    pieces = [slots.of(ids[:4]), slots.of(ids[4:])]
    assert np.concatenate([piece[1] for piece in pieces]).tolist() == persons.tolist()


CONTAINERS = {
    "list": list,
    "array of objects": lambda ids: np.array(ids, dtype=object),
    "pandas": lambda ids: pd.Series(ids, dtype=object),
    "strings": lambda ids: pd.Series([None if entry is None else str(entry) for entry in ids], dtype="string"),
}
# Neighbours in person terms: the same but for one person, who has other rows, more, fewer, or none.
ORDINARY = ["a", "b", "a", "c", "b", "a"]
NEIGHBOURS = {
    "one row": (["a", "b", "a", "x", "b", "a"], slice(None)),
    "no row": (["a", "b", "a", None, "b", "a"], slice(None)),
    "fewer rows in the table": (["b", "c", "b"], [1, 3, 4]),
    "more": (["a", "b", "a", "c", "b", "a", *["c"] * 50], [*range(6), *[3] * 50]),
    "an odd id": (["a", "b", "a", (1, 2), "b", "a"], slice(None)),
    "a text that is no number": (["a", "b", "a", "1e999", "b", "a"], slice(None)),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("neighbour", NEIGHBOURS)
@pytest.mark.parametrize("mechanism", ["output", "objective", "noisy-gradient", "noisy-gradient:2"])
def test_neighbours_look_alike(container, neighbour, mechanism):
    coins = np.random.default_rng(0)
    X, y = coins.uniform(-1, 1, size=(6, 2)), np.array([0, 1, 0, 1, 1, 0])

    def seen(ids: list, places: object, worst: bool) -> object:
        model = eq.LogisticRegression(1.0, 1e-3, domain(20), 0.1, mechanism, random_state=0)
        model.plan(4, 2)
        rows, targets = X[places].copy(), y[places].copy()
        if worst:
            rows[[entry not in ("a", "b") for entry in ids]] = np.nan
        return observed(lambda: model.fit(rows, targets, groups=CONTAINERS[container](ids)))

    ids, places = NEIGHBOURS[neighbour]
    assert not differences(seen(ORDINARY, slice(None), False), seen(ids, places, True))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("mechanism", ["corners", "output", "objective", "noisy-gradient", "noisy-gradient:2"])
def test_a_table_with_one_row_and_one_with_none_look_alike(mechanism, kind):
    X = np.array([[0.5, np.inf]])
    if kind == "sparse":
        X = sparse.csr_array(X)
    chosen, name = (eq.LinearSVC, "output") if mechanism == "corners" else (eq.LogisticRegression, mechanism)

    def seen(ids: list[str | None]) -> object:
        model = chosen(1.0, 1e-3, domain(20), 0.5, name, random_state=0)
        model.plan(4, 2)
        found = observed(lambda: model.fit(X, [1], groups=ids))
        assert np.isfinite(model.coef_).all()
        return found

    assert not differences(seen(["a"]), seen([None]))


def test_a_fitted_model_knows_nothing_of_ids_and_counts():
    import pickle

    X, persons = spread(37, 10, 2)
    model = eq.LogisticRegression(1.0, 0.0, domain(), 0.1, "output", random_state=0)
    model.plan(123, 2)
    ids = [f"patient {number}" for number in persons]
    model.fit(X, (X[:, 0] > 0).astype(int), groups=ids)
    kept = pickle.dumps(model)
    assert b"patient" not in kept
    held = json.dumps([repr(value) for value in vars(model).values()])
    for private in (len(X), 37, len(set(persons))):
        assert f" {private}," not in held
        assert f"={private}," not in held
    assert math.isfinite(model.coef_[0, 0])
