"""Lower ends of sums of absolute differences: where they are tested, and with what chance they are wrong."""

import numpy as np
import pytest
from scipy.stats import norm

from equipoise.evaluation.absolute_sums import AbsoluteSums, Errors
from equipoise.evaluation.calibration import calibration_error
from equipoise.evaluation.histogram import NoisyCounts


def sums(seen, deviations):
    """Differences with normal errors of these deviations, over a public number of rows."""
    of_each = np.broadcast_to(np.asarray(deviations, dtype=float), seen.shape)
    none = np.zeros_like(of_each)
    return AbsoluteSums(seen, Errors(none, of_each**2, none, none, 0.0, none), np.full(len(seen), 1e9))


@pytest.mark.parametrize("true", [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 6.0])
def test_one_difference_is_missed_from_below_and_above_as_often_as_it_may_be(true):
    # As many quantiles of a normal number stand for worlds; an upper end is what was seen and 1.96 deviations.
    seen = true + norm.ppf((np.arange(4000) + 0.5) / 4000)[:, None]
    below = np.mean(sums(seen, 1.0).too_small(np.full(4000, true)))
    above = np.mean(np.abs(seen[:, 0]) + norm.ppf(0.975) < true)
    # The upper end's chance is overstated by a normal tail, at most as a half of all; moments leave 0.002 open.
    assert below + above <= 0.052
    assert below >= 0.023


def test_the_lower_end_is_the_least_sum_that_is_not_too_small():
    seen = np.random.default_rng(0).normal(1.0, 2.0, (200, 4))
    tests = sums(seen, [1.0, 1.0, 0.5, 2.0])
    low = tests.low()
    above = low > 0.0
    assert np.sum(above) > 50
    assert not np.any(tests.too_small(low + 1e-6))
    assert np.all(tests.too_small(np.maximum(low - 1e-6, 0.0))[above])


def test_of_all_differences_of_one_sum_a_corner_shows_the_most():
    coins = np.random.default_rng(1)
    deviations, total, worlds = np.array([2.0, 1.0, 1.0, 0.5]), 3.0, 20_000
    errors = deviations * coins.normal(size=(worlds, 4))

    def shown(true, least):
        return np.mean(np.sum(np.abs(true + errors), axis=1) >= least)

    for least in (6.0, 7.0, 8.0):
        corners = max(shown(total * corner, least) for corner in np.eye(4))
        # The same errors for all: what is left is a standard error of a difference of two such shares.
        assert all(shown(total * part, least) <= corners + 0.01 for part in coins.dirichlet(np.full(4, 0.5), 100))
        assert shown(np.full(4, total / 4), least) < corners - 0.01


@pytest.mark.parametrize("scale", [1e-9, 0.01, 0.04, 0.1, 1.0])
def test_a_calibration_error_is_what_it_is_where_noise_is_next_to_nothing(scale):
    # Scores are a tenth too low in four of ten bins, and no rows lie in the others. While fourth powers of no errors
    # were divided by their squares, the value fell to the lower end.
    rows = np.zeros((2, 10), dtype=np.int64)
    rows[:, 3:7] = [[1100, 900, 700, 500], [900, 1100, 1300, 1500]]
    counts = NoisyCounts(tuple(np.linspace(0.1, 0.9, 9)), rows[None], "laplace", scale, 8000)
    found = calibration_error(counts, np.linspace(0.0, 1.0, 11), [0])
    assert found.low < found.value == pytest.approx(0.1, abs=0.002)
    assert found.value < found.high
