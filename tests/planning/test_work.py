"""The public limit on work: what is refused, what is eased, and how the limit is set."""

import pytest

import equipoise as eq
from equipoise.errors import InvalidParameter
from equipoise.planning.issue import forget
from equipoise.planning.kinds import work_of_all
from equipoise.planning.work import LIMIT, NUMBERS_A_DRAW, VARIABLE, limit, work_of

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
NUMBERS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))

# Each took 2e9 to 2e12 passes on some rows, and 0.2 s on their neighbours.
ENDLESS = {
    "narrow": lambda: eq.LinearSVC(loss="smooth-hinge:1e-07", alpha=0.01, mechanism="output", domain=CLASSES),
    "cap": lambda: eq.HuberRegressor(cap=1e-5, alpha=1e-9, mechanism="output", domain=NUMBERS),
}


@pytest.fixture(autouse=True)
def forgotten():
    """Plans are remembered, limits are not part of them."""
    forget()
    yield
    forget()


@pytest.mark.parametrize("name", ENDLESS)
def test_a_plan_that_would_not_end_within_the_limit_is_refused_with_the_remedy(name):
    with pytest.raises(InvalidParameter, match="passes over 100 rows of 401 columns, on the worst rows") as refused:
        ENDLESS[name]().plan(100, 401)
    assert VARIABLE in refused.value.remedy


@pytest.mark.parametrize("alpha", [1e-3, 1e-6, 1e-9])
def test_what_is_not_refused_says_how_many_passes_it_may_take(alpha):
    model = eq.ElasticNetClassifier(alpha=alpha, l1_ratio=0.5, domain=CLASSES)
    certificate = model.plan(1000, 10)
    assert work_of(certificate.claim.passes, 1000, 10) <= LIMIT
    assert f"at most {certificate.claim.passes:,} passes" in certificate.explain()


def test_corners_on_many_rows_are_refused_with_a_smooth_loss_as_the_remedy():
    with pytest.raises(InvalidParameter, match="smooth-hinge"):
        eq.LinearSVC(domain=CLASSES, loss="hinge").plan(400_000, 54)
    assert eq.LinearSVC(domain=CLASSES, loss="smooth-hinge").plan(400_000, 54).claim.passes


def test_the_limit_is_set_by_the_environment(monkeypatch):
    model = eq.LogisticRegression(alpha=1e-3, mechanism="output", domain=CLASSES)
    passes = model.plan(1000, 5).claim.passes
    forget()
    monkeypatch.setenv(VARIABLE, "1e6")
    assert limit() == 1e6
    with pytest.raises(InvalidParameter, match="within 1e\\+06 numbers met"):
        model.plan(1000, 5)
    forget()
    monkeypatch.setenv(VARIABLE, str(2 * work_of(passes, 1000, 5)))
    assert model.plan(1000, 5).claim.passes == passes


@pytest.mark.parametrize("text", ["", "much", "nan", "-1", "0"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(InvalidParameter, match=VARIABLE):
        limit()


def test_ordinary_plans_of_a_million_rows_are_within_the_limit():
    for model in (eq.LogisticRegression(domain=CLASSES), eq.Ridge(domain=NUMBERS), eq.HuberRegressor(domain=NUMBERS)):
        assert model.plan(1_000_000, 100).verify() == ()


@pytest.mark.parametrize("kind", [eq.SGDClassifier, eq.NoisySGDClassifier])
def test_descents_of_too_many_passes_are_refused_before_anything_is_accounted_for(kind):
    with pytest.raises(InvalidParameter, match="passes over 100,000 rows of 50 columns"):
        kind(delta=1e-6, passes=10**6, domain=CLASSES).plan(100_000, 50)


def test_noisy_gradients_of_too_many_rows_are_refused():
    model = eq.LogisticRegression(delta=1e-6, mechanism="noisy-gradient", domain=CLASSES)
    with pytest.raises(InvalidParameter, match="batches"):
        model.plan(10**12, 50)


def weak(alphas, **settings):
    return eq.PrivateGridSearch(
        eq.LogisticRegression(domain=CLASSES, mechanism="output"), {"alpha": alphas}, **settings
    )


def test_a_search_is_the_work_of_all_its_candidates():
    """Each is affordable by itself, and the limit was once compared with each."""
    alphas = [3e-6 * 1.1**place for place in range(12)]
    alone = weak(alphas[:2]).plan(2 * 10**5, 100)
    assert work_of_all(alone.claim) == sum(map(work_of_all, alone.claim.of)) <= LIMIT
    with pytest.raises(InvalidParameter, match="12 trainings, on the worst rows") as refused:
        weak(alphas).plan(12 * 10**5, 100)
    assert "fewer candidates" in refused.value.remedy
    # The remedy helps.
    assert weak(alphas[:2]).plan(2 * 10**5, 100).verify() == ()
    assert weak([1e3 * alpha for alpha in alphas]).plan(12 * 10**5, 100).verify() == ()


def test_a_random_number_of_runs_counts_by_its_mean():
    settings = {"method": "random-stopping", "mean_runs": 4.0}
    within = weak([1e-3, 2e-3], **settings).plan(10**5, 100).claim
    dearest = max(map(work_of_all, within.of))
    assert work_of_all(within) == pytest.approx(4 * dearest)
    with pytest.raises(InvalidParameter, match="2 trainings, on the worst rows") as refused:
        weak([1e-3, 2e-3], **settings | {"mean_runs": 4 * LIMIT / dearest}).plan(10**5, 100)
    assert "mean_runs" in refused.value.remedy


def test_phases_add_up(monkeypatch):
    model = eq.PhasedRegressor(loss="absolute", delta=1e-3, step=0.1, domain=NUMBERS)
    claim = model.plan(1000, 5).claim
    phases = [work_of(phase.passes, phase.rows, 5) for phase in claim.phases]
    assert work_of_all(claim) == pytest.approx(sum(phases))
    monkeypatch.setenv(VARIABLE, str((max(phases) + sum(phases)) / 2))
    with pytest.raises(InvalidParameter, match="all parts of a training"):
        model.plan(1000, 5)


@pytest.mark.parametrize("mechanism", ["output", "objective", "noisy-gradient", "noisy-gradient:10"])
def test_persons_are_work_as_if_each_had_all_rows_that_one_may_have(mechanism):
    persons = eq.Domain(row_norm=1.0, classes=(0, 1), rows_a_person=50)
    claim = eq.LogisticRegression(1.0, 1e-6, persons, 0.05, mechanism).plan(1000, 10).claim
    met = 10 if mechanism.endswith(":10") else 1000
    draws = NUMBERS_A_DRAW * claim.steps * 11 if "gradient" in mechanism else 0
    assert work_of_all(claim) == work_of(getattr(claim, "passes", None) or claim.steps, 50 * met, 10) + draws


def test_every_class_is_work():
    """A pass of K classes takes as long as (K + 2)/3 passes of one, or less: benchmarks/work.py."""
    several = eq.Domain(row_norm=1.0, classes=tuple(range(50)))
    model = eq.LogisticRegression(alpha=1e-4, mechanism="output", domain=several)
    claim = model.plan(10_000, 50).claim
    assert work_of_all(claim) == work_of(claim.passes, 10_000, 50, outputs=50) > 16 * work_of(claim.passes, 10_000, 50)
    with pytest.raises(InvalidParameter, match="passes over 1,000,000 rows of 50 columns for 50 classes"):
        model.plan(1_000_000, 50)


def test_draws_of_exact_noise_are_work(monkeypatch):
    """Each takes as long as a pass over five hundred numbers, whatever the rows are."""
    monkeypatch.setenv(VARIABLE, "2e9")
    model = eq.LogisticRegression(1.0, 1e-6, CLASSES, mechanism="noisy-gradient")
    assert model.plan(10_000, 1000).verify() == ()
    with pytest.raises(InvalidParameter, match="exact draws of noise") as refused:
        model.plan(10, 4 * 10**6)
    assert "mechanism='objective'" in refused.value.remedy


def test_a_later_limit_binds_plans_that_were_made_before(monkeypatch):
    model = eq.LogisticRegression(mechanism="output", domain=CLASSES)
    search = weak([1e-2, 1e-1])
    model.plan(1000, 5)
    search.plan(1000, 5)
    monkeypatch.setenv(VARIABLE, "1e6")
    for planned in (model, search):
        with pytest.raises(InvalidParameter, match="within 1e\\+06 numbers met"):
            planned.plan(1000, 5)
    monkeypatch.delenv(VARIABLE)
    assert model.plan(1000, 5).verify() == search.plan(1000, 5).verify() == ()


def test_plans_for_classes_that_python_holds_equal_are_not_mixed_up():
    kinds = ((False, True), (0, 1), (0.0, 1.0))
    plans = [eq.LogisticRegression(1.0, domain=eq.Domain(1.0, classes=classes)).plan(1000, 3) for classes in kinds]
    assert [repr(plan.claim.trained.problem.domain.classes) for plan in plans] == [repr(classes) for classes in kinds]
    assert len({plan.digest for plan in plans}) == 3
