"""The search of a grid finds what trying every step finds."""

import math

import pytest

from equipoise.certify.curves import SumCurve
from equipoise.certify.spherical import SphericalCurve
from equipoise.planning import grids
from equipoise.planning.kinds import objective
from equipoise.planning.public_alpha import public_alpha
from equipoise.planning.request import Request
from equipoise.planning.tilts import _where_nothing_is_left
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Budget, Domain

CLASSES, NUMBERS = Domain(1.0, classes=(0, 1)), Domain(50.0, labels=(0.0, 1000.0))


def every_step(steps, cost, stride):
    return min(steps, key=cost)


@pytest.mark.parametrize(
    ("loss", "penalty", "domain"),
    [("logistic", "l2", CLASSES), ("hinge", "l2", CLASSES), ("squared", "elastic-net:0.5", NUMBERS)],
)
@pytest.mark.parametrize(("n_samples", "budget"), [(10, Budget(0.01)), (100_000, Budget(5.0, 1e-5))])
def test_the_alpha_that_is_found_is_the_best_of_the_whole_grid(loss, penalty, domain, n_samples, budget, monkeypatch):
    request = Request(loss, penalty, "public", domain, 0.2, n_samples, 30, budget)

    def found():
        public_alpha.cache_clear()
        smooth = penalty == "l2" and loss != "hinge"
        return public_alpha(request), smooth and objective._public_choice(request, losses.named(loss), objective._share)

    quick = found()
    for module in ("equipoise.planning.public_alpha", "equipoise.planning.kinds.objective"):
        monkeypatch.setattr(f"{module}.cheapest", every_step)
    assert found() == quick


def test_where_no_step_of_the_first_round_is_welcome_every_step_is_tried():
    assert grids.cheapest(range(100), lambda step: (step != 42, float(-step)), stride=10) == 42
    assert grids.cheapest(range(100), lambda step: (False, 1.0 if step == 42 else math.inf), stride=10) == 42


@pytest.mark.parametrize("epsilon", [0.2, 0.94, 0.95, 0.9500001, 0.96, 1.5])
def test_a_sum_is_nothing_exactly_where_the_levels_of_its_parts_say_so(epsilon):
    curve = SumCurve(((1.0, SphericalCurve(0.75, 10), 0.2), (2.0, SphericalCurve(0.5, 10), 0.0)))
    assert (curve.delta(epsilon) == 0) == (_where_nothing_is_left(curve).delta(epsilon) == 0)
