"""Searches that stop at random (E6), audited as whole releases on a training row that is turned round."""

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

import equipoise as eq
from auditing import FEW_RUNS, HalvedNoise, audit
from equipoise.data.tables import feature_table, target_column
from equipoise.noise import SeededSource
from equipoise.planning.request import Request
from equipoise.planning.search import Candidate, Parameter, SearchRequest, issue_search, run_budget
from equipoise.release import release
from equipoise.release.split import split

Array = NDArray[np.float64]

# This file has a false-alarm rate of its own, beside the suite's, shared by its two audits.
FAILURE = 1e-5 / 2

CLASSES = eq.Domain(1.0, classes=(0, 1))
ROWS, VALIDATION, MEAN_RUNS = 8, 4, 3.0
BUDGETS = {"pure": eq.Budget(1.0), "approximate": eq.Budget(1.0, 0.1)}
# The fast lane has the pure one.
every_budget = pytest.mark.parametrize("privacy", ["pure", pytest.param("approximate", marks=pytest.mark.statistics)])


class ThirtiethOfTheNoise(HalvedNoise):
    """A fault that shows through the price of many runs and of their scores, which one training row does not use up."""

    fraction = 1 / 30


def planned(budget: eq.Budget):
    run = run_budget("random-stopping", budget, 0, MEAN_RUNS)
    mechanism = "gaussian" if budget.delta else "output"
    asked = Request("logistic", "l2", 0.5, CLASSES, 0.0, ROWS - VALIDATION, 1, run, mechanism, seeded=True)
    candidates = tuple(
        Candidate((Parameter("alpha", alpha),), dataclasses.replace(asked, alpha=alpha)) for alpha in (0.5, 1.0)
    )
    facts = {"shape": 0, "mean_runs": MEAN_RUNS, "seeded": True}
    return issue_search(SearchRequest("random-stopping", candidates, ROWS, 1, budget, VALIDATION, 1.0, **facts))


def observed(privacy: str, source: type[SeededSource], runs: int) -> float:
    """Return the audit's lower bound on epsilon; its thresholds come from pilot runs that are not counted."""
    certificate = planned(BUDGETS[privacy])
    _, (training,) = split(ROWS, VALIDATION, [ROWS - VALIDATION], 0)
    X = np.zeros((ROWS, 1))
    X[training[0]] = 1.0
    target = target_column(np.ones(ROWS, dtype=int), ROWS)
    sides = [feature_table(X), feature_table(-X)]

    def released(seeds: range) -> tuple[Array, Array]:
        found = [
            [
                release(certificate, side, target, source(2 * seed + place)).weights[0, 0]
                for place, side in enumerate(sides)
            ]
            for seed in seeds
        ]
        first, second = np.array(found).T
        return first, second

    pilots = np.concatenate(released(range(2**41, 2**41 + runs // 5)))
    thresholds = np.quantile(pilots, (0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95))
    return audit(*released(range(runs)), BUDGETS[privacy].delta, thresholds, FAILURE).epsilon


@every_budget
@pytest.mark.parametrize("runs", [FEW_RUNS, pytest.param(2000, marks=pytest.mark.statistics)])
def test_a_whole_search_stays_below_its_claim(privacy, runs):
    assert observed(privacy, SeededSource, runs) <= 1.0


@every_budget
def test_a_thirtieth_of_the_noise_is_caught(privacy):
    assert observed(privacy, ThirtiethOfTheNoise, FEW_RUNS) > 1.0
