"""A target's mean alone: when it is taken, what its claim says, and that it is better than columns drowned in noise."""

from dataclasses import replace

import numpy as np
import pytest

import equipoise as eq
from equipoise.errors import ReleaseUnreadable
from equipoise.planning.mean_alone import HEIGHT, MOST_LOST, SAID, cost, is_mean_alone, reduced
from equipoise.planning.menu import choose
from equipoise.planning.reference import of_problem
from equipoise.planning.request import Request
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Budget, Domain, Problem

DOMAIN = Domain(1.0, labels=(-1.0, 1.0))
DROWNED = Request("squared", "l2", "public", DOMAIN, 0.5, 400, 20, Budget(0.1), "auto")


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("loss", ["squared", "huber:0.5"])
@pytest.mark.parametrize(("rows", "epsilon"), [(400, 0.1), (300, 0.3), (1_000, 0.3), (400, 3.0), (30_000, 0.1)])
def test_the_mean_alone_is_taken_where_every_plan_of_columns_loses_more_than_the_limit(rows, epsilon, loss, delta):
    asked = replace(DROWNED, loss=loss, n_samples=rows, budget=Budget(epsilon, delta))
    taken, menu = choose(asked)
    of_columns = min(line.cost for line in menu if line.theorem and line.projection != 1)
    assert is_mean_alone(taken.claim) == (of_columns > MOST_LOST)
    assert taken.claim.check() == ()
    assert sum(line.verdict.startswith("taken") for line in menu) == 1


def test_both_happen():
    """The test above would pass if one of them never did."""
    assert is_mean_alone(choose(DROWNED)[0].claim)
    assert not is_mean_alone(choose(replace(DROWNED, n_samples=30_000))[0].claim)


@pytest.mark.parametrize(
    "other",
    [
        {"loss": "logistic", "domain": Domain(1.0, classes=(0, 1))},
        {"intercept": 0.0},
        {"alpha": 0.1},
        {"domain": replace(DOMAIN, radius=1.0)},
        {"mechanism": "objective"},
        {"mechanism": "output"},
    ],
)
def test_what_was_asked_for_otherwise_stays(other):
    """Classes have no mean, a model through 0 has none to tell, and a ridge, a ball or a kind that was given stays."""
    assert not is_mean_alone(choose(replace(DROWNED, **other))[0].claim)


@pytest.mark.parametrize("tilt", [0.01, 0.3])
@pytest.mark.parametrize("alpha", [0.05, 1.0])
def test_noise_in_the_direction_costs_most_where_its_curvature_is_the_ridge(tilt, alpha):
    """How much rows have of a random direction nobody knows, so that the cost has the most there can be."""
    mean = reduced(DROWNED)
    assert mean is not None
    problem = Problem(losses.named("squared"), penalties.named("l2", alpha), DOMAIN, mean.intercept)
    imagined = of_problem(problem, 1)
    stakes = sum(np.multiply(imagined.counts, imagined.curvatures)) * imagined.weight**2
    constant = 2.0 * HEIGHT**2
    short = alpha / (constant + alpha)
    told = 1 + short**2 + constant * (tilt / (constant + alpha)) ** 2 / stakes
    curvatures = np.append(np.geomspace(1e-6, 1e6, 200), alpha)
    of_direction = curvatures * (tilt / (curvatures + alpha)) ** 2 / stakes
    assert cost(problem, alpha, tilt, 0.0) == pytest.approx(told + of_direction.max(), rel=1e-9)


def table(rows, seed):
    """Return rows of 20 columns that tell little of a target whose mean is far from the middle of its bounds."""
    generator = np.random.default_rng(seed)
    X = generator.uniform(-1, 1, size=(rows, 20)) / np.sqrt(20)
    y = np.clip(0.6 + X[:, 0] + generator.normal(0, 0.15, rows), -1, 1)
    return X, y


def model(seed, **more):
    settings = {"epsilon": 0.1, "domain": DOMAIN, "random_state": seed, "public_seed": seed}
    return eq.Ridge(**(settings | more))


def test_predictions_are_near_the_mean_where_those_of_all_columns_are_not():
    X, y = table(400, 0)
    errors = {}
    for mechanism in ("auto", "objective"):
        fitted = [model(seed, mechanism=mechanism).fit(X, y) for seed in range(12)]
        errors[mechanism] = np.mean([np.sqrt(np.mean((found.predict(X) - y.mean()) ** 2)) for found in fitted])
    assert errors["auto"] < 0.25
    assert errors["auto"] < errors["objective"] / 2


def test_a_plan_says_what_is_told_and_why():
    said = " ".join(str(model(0).plan(400, 20)).split())
    assert "the mean of the target, since columns would cost more than they tell (P1)" in said
    assert "taken: the mean alone, for columns would cost more than they tell" in said
    assert "1 direction " in said
    assert SAID in model(0).plan(400, 20).caveats
    assert SAID not in model(0).plan(30_000, 20).caveats


def test_a_release_is_saved_opened_and_checked_like_any_other(tmp_path):
    X, y = table(400, 1)
    released = model(3).fit(X, y)
    folder = tmp_path / "mean"
    eq.save(released, folder)
    again = eq.load(folder)
    assert np.array_equal(again.predict(X), released.predict(X))
    assert again.certificate_.verify() == ()
    assert "what is shown of columns here is chance" in (folder / "report.html").read_text()
    plain = again.to_sklearn()
    assert plain.predict(X) == pytest.approx(released.predict(X), abs=1e-12)


@pytest.mark.parametrize("intercept", [0.0, 1.0, 3.0])
def test_a_constant_column_other_than_the_rules_is_not_recognised(intercept):
    """A model of all columns has the short one and the mean alone the long one; nothing else is opened."""
    known = (400, 20), "squared", "l2"
    model(0)._recognise(*known, 2.0)
    model(0)._recognise(*known, 0.5)
    with pytest.raises(ReleaseUnreadable, match="another certificate"):
        model(0)._recognise(*known, intercept)


def test_one_direction_of_0_2_0_is_no_mean_alone_and_its_folder_opens():
    """That version reduced regressions to one direction at times, beside the constant column of all columns."""
    claim = choose(DROWNED)[0].claim
    older = replace(claim, problem=replace(claim.problem, intercept=0.5))
    assert is_mean_alone(claim)
    assert not is_mean_alone(older)
    model(0)._recognise((400, 20), "squared", "l2", older.problem.intercept)


@pytest.mark.parametrize(("columns", "mean"), [(1, False), (5, False), (6, True)])
def test_of_few_columns_a_direction_says_too_much_to_be_the_mean_alone(columns, mean):
    found = choose(replace(DROWNED, n_features=columns, n_samples=20))[0]
    assert is_mean_alone(found.claim) == mean


def test_bounds_are_told_of_the_columns_and_not_of_the_direction():
    """The norm that bounds give is below the longest row of all columns: nothing is wasted."""
    bounded = eq.Domain(bounds=[(-1, 1)] * 8, labels=(0.0, 100.0))
    found = model(0, domain=bounded).plan(300, 8)
    said = str(found)
    assert is_mean_alone(found.claim.trained)
    assert "rows: 8 columns, scaled to [-1, 1] by their declared bounds" in said
    assert "reduced to 1 and clipped again" in said
    assert not any("wasteful" in caveat for caveat in found.caveats)


def test_searches_and_held_out_pairs_say_it_too():
    candidates = eq.PrivateGridSearch(
        eq.Ridge(domain=DOMAIN, mechanism="auto"), {"fit_intercept": [True, False]}, epsilon=0.2, random_state=0
    )
    said = candidates.plan(800, 20).caveats
    assert f"by some candidates {SAID}" in said


@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_an_additive_regressor_bends_nothing_where_nothing_but_the_mean_is_told(epsilon):
    text = 'schema_version = 1\nn = 400\nvouched_by = "a test"\nvouched_on = 2026-01-01\n\n[target]\nname = "y"\n'
    text += "bounds = [-1, 1]\n\n" + "\n".join(f'[columns.x{i}]\nkind = "number"\nbounds = [-1, 1]\n' for i in range(9))
    found = eq.AdditiveRegressor(epsilon, domain=eq.Schema.from_text(text), pairs="public").plan()
    if is_mean_alone(found.claim.trained):
        assert found.n_features == 9
    assert is_mean_alone(found.claim.trained) == (epsilon < 1)
