"""Intervals for coefficients hold what training ended at before the noise, with the chance that they state."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import equipoise as eq
from equipoise.certify.claims import Noise
from equipoise.data.schema import NumberColumn, Target
from equipoise.errors import InvalidParameter
from equipoise.noise import SeededSource
from equipoise.planning.laws import known

ROWS, LABELS = np.random.default_rng(0).uniform(-0.5, 0.5, (400, 3)), np.random.default_rng(1).integers(0, 2, 400)
DOMAIN = eq.Domain(1.0, classes=(0, 1))
# A share of so many draws is outside these bounds with a chance below 1e-6.
DRAWS, FITS, LEVEL = 4000, 300, 0.9
LEAST, MOST = binom.ppf([5e-7, 1 - 5e-7], DRAWS, LEVEL) / DRAWS


def trained(law: str, seed: int = 0, **settings) -> eq.LogisticRegression:
    return eq.LogisticRegression(
        1.0, settings.pop("delta", 0.0), domain=DOMAIN, mechanism=law, random_state=seed, **settings
    ).fit(ROWS, LABELS)


@pytest.mark.parametrize(("law", "delta"), [("laplace", 0.0), ("spherical-laplace", 0.0), ("gaussian", 1e-5)])
def test_the_reach_is_the_quantile_of_the_noise_that_is_drawn(law, delta):
    model = trained(law, delta=delta)
    found, noise = model.coefficient_intervals(LEVEL), model.certificate_.claim.trained.noise
    assert noise.law == law
    reach = (found.high - model.coef_)[0]
    source = SeededSource(5)
    drawn = np.array([source.add(law, np.zeros(noise.dimension), noise.scale)[:3] for _ in range(DRAWS)])
    assert np.all(np.mean(np.abs(drawn) <= reach, axis=0) >= LEAST)
    assert np.all(np.mean(np.abs(drawn) <= reach, axis=0) <= MOST)
    # Intervals that ignore a third of the noise are noticed.
    assert np.all(np.mean(np.abs(drawn) <= reach / 1.5, axis=0) < LEAST)


def test_released_coefficients_lie_around_those_without_noise_as_often_as_stated():
    # The minimiser is the same in every fit; the budget of one of them is so large that its noise is next to nothing.
    alpha = 0.1
    exact = eq.LogisticRegression(1e6, domain=DOMAIN, mechanism="output", alpha=alpha, random_state=0)
    exact = exact.fit(ROWS, LABELS)
    held = []
    for seed in range(FITS):
        found = trained("output", seed, alpha=alpha).coefficient_intervals(LEVEL)
        inside = [
            (found.low <= exact.coef_) & (exact.coef_ <= found.high),
            [(found.intercept_low <= exact.intercept_) & (exact.intercept_ <= found.intercept_high)],
        ]
        held.append(np.concatenate(inside, axis=1)[0])
    least, most = binom.ppf([5e-7, 1 - 5e-7], FITS, LEVEL) / FITS
    assert np.all((least <= np.mean(held, axis=0)) & (np.mean(held, axis=0) <= most))


def test_a_row_of_several_classes_has_its_share_of_the_noise():
    labels = np.random.default_rng(2).integers(0, 3, 400)
    model = eq.LogisticRegression(1.0, domain=eq.Domain(1.0, classes=(0, 1, 2)), mechanism="output", random_state=0)
    model = model.fit(ROWS, labels)
    noise: Noise = model.certificate_.claim.trained.noise
    reach = model.coefficient_intervals(LEVEL).high - model.coef_
    assert reach.shape == (3, 3)
    basis = np.array([[1, -1, 0], [1, 1, -2]]) / np.sqrt([[2], [6]])
    source = SeededSource(6)
    drawn = [
        basis.T @ source.add(noise.law, np.zeros(noise.dimension), noise.scale).reshape(2, -1) for _ in range(DRAWS)
    ]
    share = np.mean(np.abs(np.array(drawn)[:, :, :3]) <= reach, axis=0)
    assert np.all((share >= LEAST) & (share <= MOST))


@pytest.mark.parametrize("bounds", [(0.0, 100.0), None])
def test_a_schemas_model_has_them_in_the_units_of_its_coefficients_and_paid_bounds_change_nothing(bounds):
    schema = eq.Schema(
        400,
        (NumberColumn("age", bounds),),
        Target("dose", bounds=(0.0, 10.0)),
        vouched_by="A. Officer",
        vouched_on="2026-11-16",
    )
    if bounds is None:
        schema = schema.with_private_bounds(1.0)
    frame = pd.DataFrame({"age": 100 * (ROWS[:, 0] + 0.5)})
    model = eq.Ridge(2.0, domain=schema, mechanism="output", random_state=0).fit(frame, 10 * (ROWS[:, 0] + 0.5))
    found, noise = model.coefficient_intervals(), model.certificate_.claim.trained.noise
    reach = noise.scale * known(noise.law).quantile(0.025, noise.dimension)
    assert found.low.shape == model.coef_.shape
    assert found.high - model.coef_ == pytest.approx(reach)
    assert float(found.intercept_high - model.intercept_) == pytest.approx(
        reach * model.certificate_.claim.trained.problem.intercept
    )


def test_rows_that_are_held_out_change_nothing():
    model = eq.LogisticRegression(4.0, domain=DOMAIN, mechanism="output", random_state=0)
    eq.train_and_evaluate(model, ROWS, LABELS, holdout=0.5)
    found, noise = model.coefficient_intervals(LEVEL), model.certificate_.claim.trained.noise
    reach = noise.scale * known(noise.law).quantile(0.5 * (1 - LEVEL), noise.dimension)
    assert found.high - model.coef_ == pytest.approx(np.full((1, 3), reach))
    inside = eq.LogisticRegression(4.0, domain=DOMAIN, mechanism="objective", random_state=0)
    eq.train_and_evaluate(inside, ROWS, LABELS, holdout=0.5)
    with pytest.raises(InvalidParameter, match="one of kind 'objective'"):
        inside.coefficient_intervals()


@pytest.mark.parametrize("mechanism", ["objective", "noisy-gradient"])
def test_noise_inside_the_training_is_refused(mechanism):
    model = trained(mechanism, delta=1e-5)
    with pytest.raises(InvalidParameter, match='mechanism="output"'):
        model.coefficient_intervals()


@pytest.mark.parametrize("level", [0.0, 1.0, math.nan, -1.0])
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises(InvalidParameter, match="between 0 and 1"):
        trained("output").coefficient_intervals(level)
