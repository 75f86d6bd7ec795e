"""What plans assume of classes: rarer ones ask for a stronger ridge, weights count, and no claim rests on either."""

import dataclasses
import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import equipoise as eq
from equipoise.data.schema import Schema
from equipoise.errors import EquipoiseError, InvalidParameter
from equipoise.planning.classes import LEAST_TOLD, classes_of
from equipoise.planning.reference import mean_curvature, of_problem
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Domain, Problem
from sample_schemas import EXAMPLE


def domain(*shares: float, **facts: object) -> Domain:
    return Domain(1.0, classes=tuple(range(max(2, len(shares)))), prevalence=shares or None, **facts)


def ridge(declared: Domain, mechanism: str = "objective", **given: object) -> float:
    model = eq.LogisticRegression(1.0, domain=declared, mechanism=mechanism, **given)
    return float(model.plan(4000, 20).alpha)


def curvature(declared: Domain, loss: str = "logistic") -> float:
    found = of_problem(Problem(losses.named(loss), penalties.named("l2", 0.1), declared), 10)
    return math.fsum(count * each for count, each in zip(found.counts, found.curvatures, strict=True))


def test_the_rarer_a_class_the_stronger_the_public_ridge():
    even, some, few, fewer = (ridge(domain(1 - share, share)) for share in (0.5, 0.2, 0.06, 0.01))
    assert even < some < few < fewer
    assert few > 3 * even
    # Which class is the rare one changes nothing.
    assert ridge(domain(0.06, 0.94)) == few


def test_without_a_declared_prevalence_classes_are_taken_to_be_as_common():
    assert ridge(domain()) == ridge(domain(0.5, 0.5)) < ridge(domain(0.7, 0.3))
    assert classes_of(Domain(1.0, labels=(0.0, 1.0))) is None


@pytest.mark.parametrize("share", [0.5, 0.2, 0.03])
def test_the_curvature_is_that_at_predictions_of_which_so_many_are_positive(share):
    deviation, draws = 1.2, np.random.default_rng(3).normal(size=400_000)
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if np.mean(1 / (1 + np.exp(-middle - deviation * draws))) > share else (middle, high)
    chances = 1 / (1 + np.exp(-low - deviation * draws))
    found = mean_curvature(losses.named("logistic"), 1.0, deviation, share)
    assert found == pytest.approx(float(np.mean(chances * (1 - chances))), rel=0.02)


def test_shares_of_several_classes_and_the_least_that_predictions_tell():
    assert classes_of(domain(1.0, 1.0, 1.0)).told == pytest.approx(1.0)
    assert classes_of(domain(0.8, 0.1, 0.1)).told == pytest.approx((1 - 0.66) / (2 / 3))
    assert classes_of(domain(0.999, 0.001)).told == LEAST_TOLD


def test_weights_take_from_the_curvature_what_they_take_from_the_rows():
    evened = domain(0.9, 0.1, class_weights=(1 / 9, 1.0))
    # Of every row 0.2 is left on average, and the two classes count alike.
    assert curvature(evened) == pytest.approx(0.2 * curvature(domain(0.5, 0.5)), rel=1e-9)
    # Weights without a prevalence are taken for what evens the classes out.
    assert curvature(Domain(1.0, classes=(0, 1), class_weights=(1 / 9, 1.0))) == pytest.approx(curvature(evened))


def test_balanced_weights_follow_from_a_declared_prevalence_and_from_nothing_else():
    declared = domain(0.8, 0.2)
    by_name = eq.LogisticRegression(1.0, domain=declared, class_weight="balanced").plan(500, 3)
    by_number = eq.LogisticRegression(1.0, domain=declared, class_weight={0: 1.25, 1: 5.0}).plan(500, 3)
    assert by_name.claim == by_number.claim
    assert by_name.claim.problem.domain.class_weights == (0.25, 1.0)
    with pytest.raises(InvalidParameter, match="declare the prevalence"):
        eq.LogisticRegression(1.0, domain=domain(), class_weight="balanced").plan(500, 3)


@pytest.mark.parametrize("shares", [(0.5,), (0.5, 0.3, 0.2), (0.0, 1.0), (-0.1, 1.1), (0.5, math.nan), "half", 0.5])
def test_what_is_no_share_for_each_class_is_refused(shares):
    with pytest.raises(InvalidParameter):
        Domain(1.0, classes=(0, 1), prevalence=shares)
    with pytest.raises(InvalidParameter, match="share"):
        Domain(1.0, labels=(0.0, 1.0), prevalence=(0.5, 0.5))


def test_no_claim_rests_on_a_prevalence_and_certificates_keep_it():
    plan = eq.LogisticRegression(1.0, 1e-6, domain(0.94, 0.06)).plan(2000, 5)
    assert plan.verify() == ()
    again = eq.Certificate.from_json(plan.to_json())
    assert again.claim.problem.domain.prevalence == (0.94, 0.06)
    assert "declared prevalence 0.94, 0.06" in plan.explain()
    # The same numbers with another prevalence are as private.
    problem = dataclasses.replace(plan.claim.problem, domain=domain(0.5, 0.5))
    assert dataclasses.replace(plan.claim, problem=problem).check() == ()


def test_a_schema_declares_a_prevalence_as_a_list_or_a_table():
    plain = Schema.from_text(EXAMPLE)
    assert "prevalence" not in plain.to_toml()
    told = dataclasses.replace(plain, target=dataclasses.replace(plain.target, prevalence=(3.0, 1.0)))
    text = told.to_toml()
    assert "prevalence = [3, 1]\n" in text
    assert Schema.from_text(text) == told
    assert told.domain.prevalence == (0.75, 0.25)
    assert plain.domain.prevalence is None
    for fault in ("[1]", "[1, 0]", '"known"', "[1, inf]"):
        with pytest.raises(EquipoiseError, match=r"target\.prevalence"):
            Schema.from_text(text.replace("[3, 1]", fault))


def test_a_declared_prevalence_ranks_rare_positives_better():
    generator = np.random.default_rng(5)
    X = generator.normal(size=(6000, 30)) / np.sqrt(45)
    odds = 1.5 * np.sqrt(45 / 30) * X @ np.ones(30) - 3.5
    y = (generator.random(6000) < 1 / (1 + np.exp(-odds))).astype(int)
    assert 0.04 < y.mean() < 0.08

    def areas(*shares: float) -> np.ndarray:
        settings = [{"domain": domain(*shares), "random_state": seed} for seed in range(12)]
        models = [eq.LogisticRegression(0.3, **each).fit(X, y) for each in settings]
        return np.array([roc_auc_score(y, model.decision_function(X)) for model in models])

    # The same noise, seed by seed: three standard errors, a false alarm in a thousand.
    ahead = areas(0.94, 0.06) - areas(0.5, 0.5)
    assert ahead.mean() > 3 * ahead.std(ddof=1) / np.sqrt(len(ahead))


def test_a_plan_says_that_a_class_is_hardly_there():
    """A share of which the table may not have one row is a plan for next to nothing, and a typing error more often."""

    def told(*shares: float) -> bool:
        caveats = eq.LogisticRegression(1.0, domain=domain(*shares)).plan(1000, 10).caveats
        return any(line.startswith("hardly there: by the declared prevalence 1000 rows have") for line in caveats)

    assert told(1e-12, 1 - 1e-12)
    assert told(0.0009, 0.9991)
    assert not told(0.001, 0.999)
    assert not told()
