"""Noisy gradients of wide rows of several classes: a smaller clip, longer steps and more of them."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.planning.kinds.noisy_gradient import LONGER, SHARP
from equipoise.planning.reference import WIDE


def planned(n_features: int, classes: int = 10, epsilon: float = 3.0, alpha: float | str = "public", n: int = 60_000):
    model = eq.LogisticRegression(
        epsilon=epsilon,
        delta=1e-5,
        alpha=alpha,
        domain=eq.Domain(row_norm=1.0, classes=tuple(range(classes))),
        mechanism="noisy-gradient",
        fit_intercept=False,
    )
    plan = model.plan(n_samples=n, n_features=n_features)
    assert plan.verify() == ()
    return plan.claim


def untrained(classes: int) -> float:
    """The length of every slope at prediction 0."""
    return float(np.linalg.norm(np.eye(classes)[0] - 1 / classes))


@pytest.mark.parametrize("classes", [3, 10, 18])
def test_slopes_of_wide_rows_of_several_classes_are_clipped_at_a_part_of_an_untrained_models(classes):
    assert planned(WIDE, classes, n=3_000).clip == pytest.approx(SHARP * untrained(classes))


@pytest.mark.parametrize(
    "other",
    [
        {"n_features": WIDE - 1, "n": 3_000},
        {"n_features": WIDE, "n": 400_000},
        {"n_features": WIDE, "n": 3_000, "alpha": 0.01},
    ],
    ids=["narrow rows", "hardly any noise", "a ridge of one's own"],
)
def test_all_others_are_clipped_as_they_were(other):
    assert planned(**other).clip == pytest.approx(untrained(10))


def test_two_classes_are_clipped_as_they_were():
    assert planned(1500, 2, n=1_000).clip == 0.5


def test_noise_and_ridge_shrink_by_that_part_and_steps_grow_by_it(monkeypatch):
    sharp = planned(1500, n=59_999)
    monkeypatch.setattr("equipoise.planning.kinds.noisy_gradient.NOISY", 1.0)
    usual = planned(1500, n=60_001)
    assert sharp.steps == LONGER * usual.steps
    assert sharp.procedure.step == pytest.approx(usual.procedure.step / SHARP, rel=1e-3)
    assert sharp.problem.penalty.alpha == pytest.approx(SHARP * usual.problem.penalty.alpha, rel=1e-3)
    # More steps need more noise each, and one row moves a gradient less.
    assert sharp.scale == pytest.approx(SHARP * LONGER**0.5 * usual.scale, rel=1e-3)
