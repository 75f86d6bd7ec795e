"""Plans at extreme public parameters: a certificate that verifies, or a refusal with a remedy, never anything else."""

from dataclasses import replace
from itertools import pairwise

import pytest

import equipoise as eq
from equipoise.certify import sampled
from equipoise.certify.sampled import divergence_of_a_step
from equipoise.errors import BudgetImpossible
from equipoise.planning.issue import issue
from equipoise.planning.laws.gaussian import largest_mu
from equipoise.planning.request import Request
from equipoise.planning.sampling import LEAST_COMPOSED, ORDERS, divergence, renyi_multiplier
from equipoise.vocabulary.facts import Recipe
from extremes import Cell, cells, escape

USUAL = (("row_norm", 1.0), ("labels", (-1.0, 1.0)))
# What the search found, each of them once an error of Python's own, a warning, or a claim that does not hold.
FOUND = {
    "no ridge of the grid": Cell("elastic-net", (), USUAL, (1000, 10**15)),
    "no ridge of the grid, for a bridge": Cell("bridge-regressor", (), USUAL, (1000, 10**15)),
    "squares of long weights": Cell("huber", (), (("row_norm", 1e-90), ("labels", (-1e100, 1e-100))), (1000, 5)),
    "squares of short weights": Cell(
        "huber", (), (("row_norm", 1.0), ("labels", (-1e-90, 1e-90)), ("radius", 1e90)), (2, 50)
    ),
    "squares of noise": Cell("ridge", (), (("row_norm", 1e-100), ("labels", (-1e90, 1e90))), (1000, 5)),
    "squares of a radius": Cell(
        "elastic-net", (("alpha", 0.3),), (("row_norm", 1e-100), ("labels", (-1e100, 1e-100))), (1000, 5)
    ),
    "a scale that cannot be drawn": Cell("ridge", (), (("row_norm", 1e-50), ("labels", (1e99, 1e100))), (1000, 5)),
    "a square of what is kept": Cell("dropout-classifier", (("keep_probability", 1e-300),), USUAL, (1000, 5)),
    "an order for so small an epsilon": Cell("noisy-sgd-classifier", (("epsilon", 1e-100),), USUAL, (1000, 5)),
    "a risk of long steps": Cell(
        "noisy-sgd-regressor",
        (("loss", "absolute"), ("step", 1e90)),
        (("row_norm", 1e-100), ("labels", (-1e90, 1e90))),
        (1000, 5),
    ),
}


@pytest.mark.parametrize("found", FOUND)
def test_what_the_search_found_ends_as_it_should(found):
    assert escape(FOUND[found]) == ""


@pytest.mark.parametrize("seed", range(4))
def test_no_extreme_parameter_escapes(seed):
    assert [(cell, found) for cell in cells(76, seed) if (found := escape(cell))] == []


@pytest.mark.statistics
@pytest.mark.parametrize("seed", range(100, 116))
def test_no_extreme_parameter_escapes_in_a_long_search(seed):
    assert [(cell, found) for cell in cells(500, seed) if (found := escape(cell))] == []


def test_noisy_sgd_at_a_small_epsilon_is_planned_by_composition():
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    certificate = eq.NoisySGDClassifier(epsilon=1e-3, delta=1e-6, domain=domain).plan(5000, 6)
    assert certificate.verify() == ()


def test_too_many_steps_at_a_small_epsilon_are_refused_with_a_remedy():
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    with pytest.raises(BudgetImpossible, match="fewer passes"):
        eq.NoisySGDClassifier(epsilon=1e-5, delta=1e-6, domain=domain, passes=1e6, batch_size=1).plan(5000, 6)


def test_renyi_divergences_say_that_no_order_comes_down_to_delta():
    assert renyi_multiplier(1e-5, 1e-6, 0.01, 100) == float("inf")


@pytest.mark.parametrize("delta", [1e-15, 1e-18, 1e-50, 1e-140])
@pytest.mark.parametrize("n_samples", [1000, 10**9])
def test_the_smallest_deltas_are_planned_by_divergences_without_a_composition(n_samples, delta, monkeypatch):
    def composed(*given):
        raise AssertionError

    # Nothing is composed below 2e-16; at 1e-15 it is.
    monkeypatch.setattr(sampled, "composed", composed)
    model = eq.NoisySGDClassifier(delta=delta, domain=eq.Domain(row_norm=1.0, classes=(0, 1)))
    if delta > LEAST_COMPOSED:
        with pytest.raises(AssertionError):
            model.plan(n_samples, 6)
        return
    certificate = model.plan(n_samples, 6)
    assert certificate.claim.order > 1
    assert certificate.verify() == ()
    assert certificate.curve().delta(1.0) <= delta


@pytest.mark.parametrize("delta", [1.9e-16, 1e-100])
def test_batches_of_the_noisy_gradient_are_accounted_for_as_those_of_noisy_sgd(delta):
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    certificate = eq.LogisticRegression(delta=delta, mechanism="noisy-gradient:256", domain=domain).plan(36_000, 100)
    claim = certificate.claim
    assert claim.order > 1
    assert certificate.verify() == ()
    # Twenty times less than where a row is taken to be in every batch.
    assert claim.scale / claim.sensitivity < largest_multiplier(delta, claim.steps) / 20
    # The order is part of the claim: without it nothing is known of so small a delta, and one of 1 bounds nothing.
    for order in (0.0, 1.0):
        assert not all(hypothesis.holds for hypothesis in replace(claim, order=order).conditions())


def largest_multiplier(delta: float, steps: int) -> float:
    return steps**0.5 / largest_mu(1.0, delta)


def test_a_delta_that_no_batch_can_meet_is_refused_in_the_words_of_noisy_sgd():
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    with pytest.raises(BudgetImpossible, match=r"found: delta=1e-148; to do: pass delta=1e-12"):
        eq.LogisticRegression(delta=1e-148, mechanism="noisy-gradient:256", domain=domain).plan(36_000, 100)


def test_a_delta_that_no_step_can_meet_is_refused_whatever_is_left_of_it():
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    for delta in (1e-150, 4e-151, 1e-300):
        with pytest.raises(BudgetImpossible, match="pass delta=1e-12"):
            eq.NoisySGDClassifier(delta=delta, domain=domain).plan(1000, 6)


@pytest.mark.parametrize("multiplier", [1 / 16, 0.75, 1.0, 30.0, 1e6, 1e100])
@pytest.mark.parametrize("share", [1e-20, 1e-9, 0.01, 1.0])
def test_no_order_overflows(multiplier, share):
    found = [divergence(multiplier, share, order) for order in ORDERS]
    assert all(0 <= each < float("inf") for each in found)
    # Divergences grow with the order, up to the last digits that are added for safety.
    assert all(one <= other * (1 + 1e-6) + 1e-12 for one, other in pairwise(found))
    checked = divergence_of_a_step(multiplier, share, ORDERS[-1])
    assert checked == pytest.approx(found[-1], rel=1e-9)


@pytest.mark.parametrize("kind", ["sgd", "phased"])
def test_clips_of_several_classes_are_refused_in_the_plan_where_noise_comes_at_the_end(kind):
    domain, recipe = eq.Domain(row_norm=1.0, classes=(0, 1, 2), radius=1.0), Recipe(passes=1.0, step=0.1, clip=1.0)
    mechanism = "auto" if kind == "sgd" else kind
    asked = Request(
        "multinomial:3", "none", 0.0, domain, 0.0, 100, 2, eq.Budget(1.0, 1e-6), mechanism=mechanism, recipe=recipe
    )
    with pytest.raises(eq.errors.NoTheoremApplies, match="leave clip out"):
        issue(asked)
    assert issue(replace(asked, mechanism=mechanism, recipe=replace(recipe, clip=None))).verify() == ()


@pytest.mark.parametrize("model", [eq.NoisySGDClassifier, eq.LogisticRegression])
def test_a_delta_below_what_exact_noise_leaves_is_refused_by_its_own_number(model):
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    mechanism = {} if model is eq.NoisySGDClassifier else {"mechanism": "noisy-gradient"}
    with pytest.raises(BudgetImpossible, match="found: delta=1e-300; to do: pass delta=1e-12"):
        model(delta=1e-300, domain=domain, **mechanism).plan(1000, 10)
    with pytest.raises(BudgetImpossible, match="pure privacy; found: delta=0;"):
        model(delta=0.0, domain=domain, **mechanism).plan(1000, 10)
