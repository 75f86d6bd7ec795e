"""Intervals of a regression's errors hold those of the rows themselves, wherever in their bins residuals lie."""

import numpy as np
import pytest

from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.regression import Regression

EDGES, PREDICTIONS, RANGE = (-0.8, -0.2, 0.0, 0.2, 0.8), (1.0, 2.0), (0.0, 3.0)


def counted(predicted, target):
    """Return the counts of rows without noise to speak of, and the figures of the rows themselves."""
    residuals = target - predicted
    places = np.searchsorted(PREDICTIONS, predicted), np.searchsorted(EDGES, residuals)
    table = np.zeros((1, len(PREDICTIONS) + 1, len(EDGES) + 1), dtype=np.int64)
    np.add.at(table[0], places, 1)
    figures = Regression(NoisyCounts(EDGES, table, "laplace", 0.01, len(target), PREDICTIONS, RANGE))
    truth = {
        "mean_absolute_error": np.mean(np.abs(residuals)),
        "mean_squared_error": np.mean(residuals**2),
        "mean_residual": np.mean(residuals),
        "r2": 1 - np.mean(residuals**2) / np.var(target),
    }
    return figures, truth


@pytest.mark.parametrize("where", ["near", "far", "spread"])
def test_errors_of_rows_anywhere_in_their_bins_lie_in_the_intervals(where):
    draw = np.random.default_rng(3)
    predicted = draw.uniform(0.3, 2.7, 20_000)
    sizes = {"near": 0.21, "far": 0.79, "spread": draw.uniform(0.0, 0.9, 20_000)}[where]
    target = np.clip(predicted + sizes * draw.choice([-1.0, 1.0], 20_000), *RANGE)
    figures, truth = counted(predicted, target)
    for name, value in truth.items():
        figure = getattr(figures, name)
        assert figure.low <= value <= figure.high, name
        assert figure.bins > 0, name
    # Planted fault: middles alone would be far off.
    middle = np.sum(np.abs(figures.residuals) * figures.counts.counts[0].sum(axis=0)) / 20_000
    if where != "spread":
        assert abs(middle - truth["mean_absolute_error"]) > 10 * figures.mean_absolute_error.sampling


def test_a_wide_bin_is_said_to_be_the_reason():
    draw = np.random.default_rng(4)
    predicted = draw.uniform(0.3, 2.7, 20_000)
    figures, _ = counted(predicted, np.clip(predicted + draw.normal(0.0, 0.5, 20_000), *RANGE))
    assert "bins as wide as these" in str(figures.r2)
