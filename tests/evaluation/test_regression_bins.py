"""Intervals of a regression's errors hold those of the rows themselves, wherever in their bins residuals lie."""

from dataclasses import replace

import numpy as np
import pytest

from equipoise.certify.claims.evaluation import Cells
from equipoise.evaluation.figures import figures_of
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.regression import Regression
from equipoise.noise import SeededSource
from equipoise.release.carriers.evaluation import counted as counting
from equipoise.release.carriers.evaluation import counted_by_target

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


# Residuals beyond 2 leave the range from most predictions.
WIDE = (-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5)


def test_every_row_lies_in_a_cell_that_rows_can_lie_in():
    draw = np.random.default_rng(5)
    # Numbers on the ends of the range and on edges are among them.
    numbers = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
    predicted = np.r_[np.repeat(numbers, 7), draw.uniform(*RANGE, 5000)]
    target = np.r_[np.tile(numbers, 7), draw.uniform(*RANGE, 5000)]
    cells = Cells(WIDE, predictions=PREDICTIONS, range=RANGE)
    table = counting(cells, predicted[:, None], target, np.zeros(len(target), dtype=np.int64)).reshape(cells.shape)
    possible = NoisyCounts(WIDE, table, "laplace", 4.0, len(target), PREDICTIONS, RANGE).possible
    assert not possible.all()
    assert table[~possible].sum() == 0


def test_what_is_counted_where_no_row_can_lie_moves_no_figure():
    table = np.full((1, 3, 8), 500)
    counts = NoisyCounts(WIDE, table, "laplace", 4.0, 500 * 18, PREDICTIONS, RANGE)
    assert counts.possible.sum() == 18
    other = replace(counts, counts=np.where(counts.possible, table, -(10**6)))
    for name in ("r2", "mean_squared_error", "mean_residual"):
        assert getattr(Regression(counts), name) == getattr(Regression(other), name), name
    assert Regression(counts).residual_quantile(0.9) == Regression(other).residual_quantile(0.9)
    assert Regression(counts).prediction_intervals(0.5) == Regression(other).prediction_intervals(0.5)


# R2 from targets that are dealt to cells


def dealt(predicted, target, scale=0.01, knots=(0.0, 0.75, 1.5, 2.25, 3.0), seed=0):
    """Return the figures of rows that were counted twice, with noise of this scale."""
    cells, source = Cells(FINE, predictions=PREDICTIONS, range=RANGE, targets=knots), SeededSource(seed)
    tables = []
    for counts, loud in (
        (counting(cells, predicted[:, None], target, np.zeros(len(target), dtype=np.int64)), scale),
        (counted_by_target(cells, target, source.coins(len(target))), 8 * scale),
    ):
        tables.append(source.add_whole("laplace", counts, loud))
    first = NoisyCounts(FINE, tables[0].reshape(cells.shape), "laplace", scale, len(target), PREDICTIONS, RANGE)
    return Regression(first, targets=NoisyCounts(knots, tables[1].reshape(1, 1, -1), "laplace", 8 * scale, len(target)))


FINE = tuple(np.round(np.linspace(-2.9, 2.9, 59), 9).tolist())


@pytest.mark.parametrize("where", ["near", "far", "spread"])
def test_r2_of_rows_anywhere_in_their_bins_lies_in_an_interval_that_targets_make_short(where):
    draw = np.random.default_rng(6)
    predicted = draw.uniform(0.3, 2.7, 20_000)
    sizes = {"near": 0.301, "far": 0.399, "spread": draw.uniform(0.0, 0.9, 20_000)}[where]
    target = np.clip(predicted + sizes * draw.choice([-1.0, 1.0], 20_000), *RANGE)
    figures, truth = dealt(predicted, target), 1 - np.mean((target - predicted) ** 2) / np.var(target)
    found, alone = figures.r2, Regression(figures.counts).r2
    assert found.low <= truth <= found.high
    assert found.bins > 0
    assert found.high - found.low < 0.25 * (alone.high - alone.low)
    # Without noise to speak of it is bins of residuals that are left, and coins and sampling.
    middles = 1 - np.sum(figures.residuals**2 * figures.counts.counts[0].sum(axis=0)) / 20_000 / np.var(target)
    assert found.value == pytest.approx(middles, abs=5 * found.sampling)


def test_r2_has_the_noise_of_both_tables():
    draw = np.random.default_rng(7)
    predicted = draw.uniform(0.3, 2.7, 4000)
    target = np.clip(predicted + draw.normal(0.0, 0.3, 4000), *RANGE)
    truth = 1 - np.mean((target - predicted) ** 2) / np.var(target)
    found = [dealt(predicted, target, 4.0, seed=seed).r2 for seed in range(40)]
    scatter, said = np.std([each.value for each in found], ddof=1), np.mean([each.noise for each in found])
    # A deviation of 40 values has a standard error of a ninth of it, and more where tails are long.
    assert 0.5 * said < scatter < 2.0 * said
    assert np.mean([each.low <= truth <= each.high for each in found]) >= 0.8


def test_groups_and_older_evaluations_have_r2_by_bins():
    draw = np.random.default_rng(8)
    predicted = draw.uniform(0.3, 2.7, 4000)
    figures = dealt(predicted, np.clip(predicted + draw.normal(0.0, 0.3, 4000), *RANGE))
    apart, alone = figures_of(figures.counts, [0], figures.targets), Regression(figures.counts)
    assert apart.targets is None
    assert apart.r2 == alone.r2 != figures.r2
