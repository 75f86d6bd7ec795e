"""Descents by persons (N1, part (vii)): how far all rows of a person move them, secret places, audits, forgeries."""

import dataclasses
import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import equipoise as eq
from auditing import FEW_RUNS, FifthOfTheNoise, HalvedNoise
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.descents import StochasticDescent
from equipoise.certify.theorems.smooth_descent import CurvedDescent
from equipoise.cli import worst_cases
from equipoise.cli.worst_cases import measure, worst_case
from equipoise.data.persons import person_rows
from equipoise.errors import InvalidParameter
from equipoise.estimators.base import PrivateLinearModel
from equipoise.noise import SeededSource
from equipoise.noise.grid import GridNoise
from equipoise.noise.source import ExactSource
from equipoise.release import release
from observing import differences, observed
from person_tables import one_more_person

Array = NDArray[np.float64]

# This file has a false-alarm rate of its own, beside the suite's, shared by its twelve audits.
FAILURE = 1e-5 / 12

MANY = (1, 2, 1000)
CLASSES = {"classes": (0, 1)}
LABELS = {"labels": (-1.0, 1.0)}


def domain(rows: int = 1000, **facts: object) -> eq.Domain:
    return eq.Domain(1.0, **(facts or CLASSES), rows_a_person=rows)


class Placed(SeededSource):
    """A source whose secret places are known: a person's slot is their place. Every claim holds for every places."""

    def permutation(self, count: int) -> NDArray[np.int64]:
        return np.arange(count)


def ended(model: PrivateLinearModel, X: Array, y: Array, ids: object, n_persons: int, source: SeededSource) -> Array:
    """Return the weights of a release from a given source."""
    certificate = model.plan(n_persons, X.shape[1])
    rows = person_rows(X, y, ids, (n_persons, X.shape[1]), certificate.claim.problem.domain.rows_a_person)
    return release(certificate, rows.features, rows.target, source, persons=rows.persons).weights[0]


# --- witnesses and searches -------------------------------------------------------------------------------------------

# Short steps keep smooth losses straight, and rows of zeros move nothing: the bounds are attained, next to no noise.
STRAIGHT = {"epsilon": 1e9, "fit_intercept": False, "random_state": 0, "step": 1e-4, "radius": 1e-3}
WITNESSES: dict[str, tuple[type[PrivateLinearModel], dict[str, object]]] = {
    "smooth": (eq.SGDClassifier, {"alpha": 0.0, "passes": 3, "batch_size": 2}),
    "fresh orders": (eq.SGDClassifier, {"alpha": 0.0, "passes": 3, "batch_size": 2, "order": "fresh"}),
    "a ridge": (eq.SGDClassifier, {"alpha": 1.0, "passes": 1, "batch_size": 4}),
    "averages": (eq.SGDRegressor, {"alpha": 0.0, "loss": "huber", "passes": 1, "batch_size": 4, "average": "uniform"}),
    "corners": (eq.SGDClassifier, {"alpha": 0.0, "loss": "hinge", "passes": 1, "batch_size": 4}),
    "clipped": (eq.SGDClassifier, {"alpha": 0.0, "passes": 2, "batch_size": 1, "clip": 0.2}),
    "phases": (eq.PhasedClassifier, {}),
    "phases with corners": (eq.PhasedClassifier, {"loss": "hinge"}),
}


@pytest.mark.parametrize("rows", MANY)
@pytest.mark.parametrize("name", WITNESSES)
def test_a_person_moves_a_descent_as_far_as_one_row_may_however_many_rows_they_have(name, rows):
    model, given = WITNESSES[name]
    facts = domain(**LABELS) if model is eq.SGDRegressor else domain()
    persons = np.concatenate([np.zeros(rows, dtype=int), np.arange(1, 4)])
    X = np.where(persons[:, None] == 0, 1.0, 0.0)
    y = np.where(persons == 0, 1, 0)
    fitted = model(domain=facts, **STRAIGHT, **given)
    ends = [ended(fitted, sign * X, y, persons, 4, Placed(0)) for sign in (1, -1)]
    most = fitted.plan(4, 1).sensitivity
    assert 0.9 * most <= float(np.linalg.norm(ends[0] - ends[1])) <= most


@pytest.mark.parametrize("rows", MANY)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_person_moves_a_noisy_batch_as_far_as_one_row_may(rows, loss, stream):
    # One step on all persons, from a source whose noise is none: what the noise of a step has to hide.
    class Silent(Placed):
        seeded = stream

        def add(self, law, weights, scale):
            return weights

        def noise(self, law, count, scale):
            # As fine a grid as doubles have.
            return GridNoise.of_doubles(np.zeros(count), 2.0**-20)

    persons = np.concatenate([np.zeros(rows, dtype=int), np.arange(1, 4)])
    X = np.where(persons[:, None] == 0, 1.0, 0.0)
    y = np.where(persons == 0, 1, 0)
    model = eq.NoisySGDClassifier(
        1.0, 0.1, domain(), loss=loss, passes=1, batch_size=4, step=1e-3, radius=1.0, clip=None, fit_intercept=False
    )
    model.random_state = 0 if stream else None
    ends = [ended(model, sign * X, y, persons, 4, Silent(0)) for sign in (1, -1)]
    moved, claim = float(np.linalg.norm(ends[0] - ends[1])) / 1e-3, model.plan(4, 1).claim
    # The slope of a logistic loss is a half at weights of 0, and nearly 1 somewhere in the ball.
    assert (0.9 if loss == "hinge" else 0.5) * claim.sensitivity <= moved <= claim.sensitivity


def test_a_search_finds_no_person_who_moves_a_descent_further():
    # Random persons against random persons and nobody, over losses, batches, ridges and orders, at known places.
    coins, worst = np.random.default_rng(7), 0.0
    recipes = itertools.product(("logistic", "hinge"), (0.0, 1.0), (1, 3), ("permutation", "fresh"), MANY)
    for loss, alpha, batch, order, rows in recipes:
        model = eq.SGDClassifier(
            1e9, 0.0, domain(), alpha, loss=loss, passes=2, batch_size=batch, step=0.4, order=order, radius=1.0,
            fit_intercept=False, random_state=0,
        )  # fmt: skip
        most = model.plan(7, 2).sensitivity
        for _ in range(2):
            common, place = coins.normal(size=(6, 2)), int(coins.integers(7))
            ends = []
            for side in range(2):
                X, y, persons = one_more_person(coins, common, rows, may_be_nobody=side == 1)
                source = Placed(0)
                source.permutation = lambda count, place=place: np.roll(np.arange(count), place)
                ends.append(ended(model, X, y, persons, 7, source))
            worst = max(worst, float(np.linalg.norm(ends[0] - ends[1])) / most)
    assert 0.3 < worst <= 1.0


# --- secret places ----------------------------------------------------------------------------------------------------


def test_places_are_uniform():
    # 24 orders of 4, 12,000 times: chi-square with 23 degrees of freedom exceeds 77 with probability 1e-7.
    source = SeededSource(3)
    found = [tuple(source.permutation(4)) for _ in range(12_000)]
    counts = np.array([found.count(order) for order in itertools.permutations(range(4))])
    assert np.square(counts - 500).sum() / 500 < 77
    assert sorted(ExactSource().permutation(1000)) == list(range(1000))
    assert ExactSource().permutation(1).tolist() == [0]

    class Colliding(SeededSource):
        def integers(self, bound, out):
            super().integers(3, out)

    # Equal keys are drawn again: keys that often are equal give every order as often.
    source = Colliding(0)
    found = [tuple(source.permutation(3)) for _ in range(6000)]
    counts = np.array([found.count(order) for order in itertools.permutations(range(3))])
    assert np.square(counts - 1000).sum() / 1000 < 45


@pytest.mark.parametrize("model", [eq.SGDRegressor, eq.PhasedRegressor])
def test_a_new_id_that_shifts_all_slots_is_covered_by_secret_places_and_by_no_public_order(model):
    # The first person leaves and a new one comes last: all slots shift by one. Places that follow the persons keep the
    # distance below the claim (the coupling of N1, part (vii)), places that follow the slots do not.
    n_persons, coins = 60, np.random.default_rng(0)
    given = {} if model is eq.PhasedRegressor else {"alpha": 0.0, "passes": 1, "batch_size": 1}
    facts = domain(3, **LABELS)
    fitted = model(1e9, 0.0, facts, fit_intercept=False, random_state=0, loss="huber", step=0.5, radius=3.0, **given)
    most = fitted.plan(n_persons, 1).sensitivity
    X, coupled, public = np.ones((n_persons, 1)), 0.0, 0.0
    for _ in range(12):
        places, y = coins.permutation(n_persons), coins.choice([-1.0, 1.0], size=n_persons)
        ids = np.arange(n_persons)
        after = np.append(y[1:], -y[0]), np.append(ids[1:], n_persons)

        def end(y: Array, ids: Array, places: Array) -> Array:
            source = Placed(0)
            source.permutation = lambda count: places
            return ended(fitted, X, y, ids, n_persons, source)

        before = end(y, ids, places)
        coupled = max(coupled, float(np.linalg.norm(before - end(*after, np.roll(places, -1)))) / most)
        public = max(public, float(np.linalg.norm(before - end(*after, places))) / most)
    assert coupled <= 1.0 < 1.3 < public


def test_the_law_over_all_places_does_not_depend_on_how_slots_are_numbered():
    # All 24 places: the weights that come of them are the same set, whatever order the ids appear in.
    X, y = np.array([[0.9], [0.5], [-0.3], [0.1], [0.7]]), np.array([1, 0, 1, 1, 0])
    ids = np.array(["a", "b", "a", "c", "b"])
    model = eq.SGDClassifier(
        1e12, 0.0, domain(3), 1.0, fit_intercept=False, passes=2, batch_size=3, step=0.9, random_state=0
    )

    def ends(order: list[int]) -> list[float]:
        found = []
        for places in itertools.permutations(range(4)):
            source = Placed(0)
            source.permutation = lambda count, places=places: np.array(places)
            found.append(float(ended(model, X[order], y[order], ids[order], 4, source)[0]))
        return sorted(found)

    first = ends([0, 1, 2, 3, 4])
    assert ends([3, 4, 1, 0, 2]) == pytest.approx(first, abs=1e-9)
    assert first[-1] - first[0] > 1e-3


# --- audits -----------------------------------------------------------------------------------------------------------

AUDITED = [("sgd-classifier", 0.0), ("noisy-sgd-classifier", 0.1), ("phased-classifier", 0.0)]


@pytest.mark.parametrize(("model", "delta"), AUDITED)
@pytest.mark.parametrize("rows", [*(pytest.param(rows, marks=pytest.mark.statistics) for rows in (1, 2)), 1000])
def test_a_descent_by_persons_stays_below_its_claim(monkeypatch, model, delta, rows):
    # At known places: what holds for every places holds for secret ones, and is harder.
    monkeypatch.setattr(worst_cases, "SeededSource", Placed)
    case = worst_case(model, delta=delta, rows_a_person=rows)
    assert case.certificate.adjacency == "replace-one-person"
    assert not measure(case, FEW_RUNS, failure=FAILURE).refuted


@pytest.mark.parametrize(("model", "delta"), AUDITED)
def test_an_audit_of_descents_by_persons_catches_a_fifth_of_the_noise(monkeypatch, model, delta):
    monkeypatch.setattr(worst_cases, "SeededSource", type("Faulty", (FifthOfTheNoise, Placed), {}))
    assert measure(worst_case(model, delta=delta, rows_a_person=2), FEW_RUNS).refuted


@pytest.mark.statistics
@pytest.mark.parametrize(("model", "delta"), AUDITED)
@pytest.mark.parametrize("faults", [(), (HalvedNoise,)], ids=["honest", "halved"])
def test_an_audit_of_descents_by_persons_catches_half_of_the_noise(monkeypatch, model, delta, faults):
    # Secret places too: a person is met wherever they are placed, but for those that no phase meets.
    places = SeededSource if model == "sgd-classifier" else Placed
    monkeypatch.setattr(worst_cases, "SeededSource", type("Mixed", (*faults, places), {}))
    finding = measure(worst_case(model, delta=delta, rows_a_person=2), 2_000, failure=FAILURE)
    assert finding.refuted is bool(faults)


def test_an_audit_of_descents_by_persons_catches_a_sum_over_rows(monkeypatch):
    # A fault: a person's rows each count as a person does.
    from equipoise.release.carriers import base

    monkeypatch.setattr(base, "shares_of", lambda persons, n_persons: np.ones(len(persons)))
    assert measure(worst_case("sgd-classifier", rows_a_person=1000), FEW_RUNS).refuted


# --- claims -----------------------------------------------------------------------------------------------------------

PLANNED: dict[str, PrivateLinearModel] = {
    "sgd": eq.SGDClassifier(1.0, 1e-6, domain(100)),
    "drawn": eq.SGDClassifier(1.0, 1e-6, domain(100), order="replacement"),
    "masks and skips": eq.SGDClassifier(1.0, 1e-6, domain(100), skip=0.3, dropout=0.2),
    "fresh": eq.SGDRegressor(1.0, 0.0, domain(100, **LABELS), loss="absolute", step=0.01, order="fresh"),
    "noisy sgd": eq.NoisySGDClassifier(1.0, 1e-6, domain(100)),
    "phases": eq.PhasedClassifier(1.0, 1e-6, domain(100)),
    "phases with corners": eq.PhasedClassifier(1.0, 1e-6, domain(100), loss="hinge", step=0.1),
}
every_plan = pytest.mark.parametrize("name", PLANNED)


@every_plan
def test_a_claim_about_descents_of_persons_holds_and_says_so(name):
    certificate = PLANNED[name].plan(1000, 5)
    assert certificate.verify() == ()
    assert certificate.adjacency == "replace-one-person"
    text = certificate.explain()
    assert "all rows of one person are replaced" in text
    assert "row(s)" not in text
    assert "one row change" not in text
    assert "public order" not in text
    assert ("theorem", "N1") in certificate.rests_on()
    assert Certificate.from_json(certificate.to_json()) == certificate


@every_plan
def test_a_theorem_or_a_kind_that_did_not_say_so_fails_the_check(name, monkeypatch):
    certificate = PLANNED[name].plan(1000, 5)
    kind = type(certificate.claim)
    monkeypatch.setattr(kind, "units", ("row",))
    assert any("proved for a person" in fault for fault in certificate.verify())


def test_a_certificate_about_persons_on_a_theorem_about_rows_fails_the_check(monkeypatch):
    certificate = PLANNED["sgd"].plan(1000, 5)
    assert certificate.claim.theorem == "B3"
    monkeypatch.setattr(CurvedDescent, "units", ("row",))
    assert any("proved for a person" in fault for fault in certificate.verify())
    # What was planned for rows, under another adjacency, or with the unit of persons in its facts alone.
    rows = eq.SGDClassifier(1.0, 1e-6, eq.Domain(1.0, classes=(0, 1))).plan(1000, 5)
    about_persons = dataclasses.replace(rows.terms, adjacency="replace-one-person")
    assert Certificate.seal(about_persons, rows.claim, {}).verify()
    claim = dataclasses.replace(rows.claim, problem=certificate.claim.problem)
    assert isinstance(claim, StochasticDescent)
    assert Certificate.seal(rows.terms, claim, {}).verify()


def altered(name: str, **changes: object) -> PrivateLinearModel:
    """Return a model of the list with other parameters, those that it has."""
    model = PLANNED[name]
    given = model.get_params()
    return type(model)(**{**given, **{parameter: value for parameter, value in changes.items() if parameter in given}})


@every_plan
def test_rounding_and_work_are_counted_for_all_rows_of_a_batch(name, monkeypatch):
    # Corners take so much work that fewer rows are within the limit.
    most = 1000 if name == "phases with corners" else 2000
    few, many = (
        altered(name, domain=dataclasses.replace(PLANNED[name].domain, rows_a_person=rows)).plan(1000, 5)
        for rows in (1, most)
    )
    if name == "phases with corners":
        # Its tolerance pays for rounding; sums over more rows need no other here.
        assert many.sensitivity >= few.sensitivity
    else:
        assert many.sensitivity > few.sensitivity
    if not hasattr(many.claim, "phases"):
        forged = dataclasses.replace(many.claim, sensitivity=few.sensitivity)
        assert Certificate.seal(many.terms, forged, {}).verify()
    monkeypatch.setenv("EQUIPOISE_WORK_LIMIT", "1e6")
    with pytest.raises(InvalidParameter, match="rows_a_person"):
        altered(name, passes=100).plan(1000, 5)


# --- what nobody may see ----------------------------------------------------------------------------------------------

ORDINARY = ["a", "b", "a", "c", "b", "a"]
NEIGHBOURS = {
    "one row": (["a", "b", "a", "x", "b", "a"], slice(None)),
    "no row": (["a", "b", "a", None, "b", "a"], slice(None)),
    "more": (["a", "b", "a", "c", "b", "a", *["c"] * 50], [*range(6), *[3] * 50]),
}


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
@every_plan
def test_neighbours_look_alike(neighbour, name):
    coins = np.random.default_rng(0)
    X, y = coins.uniform(-1, 1, size=(6, 2)), np.array([0, 1, 0, 1, 1, 0])

    def seen(ids: list, places: object, worst: bool) -> object:
        model = altered(name, random_state=0, epsilon=3.0, delta=1e-3, batch_size=2)
        model.plan(4, 2)
        rows, targets = X[places].copy(), y[places].copy()
        if worst:
            rows[[entry not in ("a", "b") for entry in ids]] = np.nan
        return observed(lambda: model.fit(rows, targets, groups=ids))

    ids, places = NEIGHBOURS[neighbour]
    first = seen(ORDINARY, slice(None), False)
    assert first.ending == "answer"
    assert not differences(first, seen(ids, places, True))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@every_plan
def test_a_table_with_one_row_and_one_with_none_look_alike(name, kind):
    X = np.array([[0.5, np.inf]])
    X = sparse.csr_array(X) if kind == "sparse" else X

    def seen(ids: list[str | None]) -> object:
        model = altered(name, random_state=0, epsilon=3.0, delta=1e-3, batch_size=2)
        model.plan(4, 2)
        found = observed(lambda: model.fit(X, [1], groups=ids))
        assert np.isfinite(model.coef_).all()
        return found

    assert not differences(seen(["a"]), seen([None]))


def test_a_schema_with_a_person_serves_descents(tmp_path):
    text = (
        'schema_version = 1\nn = 30\nvouched_by = "A"\nvouched_on = 2026-11-16\n[target]\nname = "ill"\n'
        'classes = ["no", "yes"]\n[columns.age]\nkind = "number"\nbounds = [0, 100]\n[person]\ncolumn = "id"\n'
        "rows_at_most = 4\n"
    )
    lines = ["id,age,ill", *(f"p{row % 25},{row},{'yes' if row > 100 else 'no'}" for row in range(200))]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    for model in (eq.SGDClassifier, eq.NoisySGDClassifier, eq.PhasedClassifier):
        given = {} if model is eq.PhasedClassifier else {"batch_size": 8}
        fitted = model(5.0, 1e-4, eq.Schema.from_text(text), random_state=0, **given).fit(eq.open_table(path))
        assert fitted.certificate_.adjacency == "replace-one-person"
        assert fitted.certificate_.n_samples == 30
        assert fitted.certificate_.verify() == ()
