"""Figures of a histogram without noise to speak of are those of its rows, and every kind of figure can be asked for."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss, r2_score, roc_auc_score

from equipoise.certify.claims.evaluation import Cells
from equipoise.errors import InvalidParameter
from equipoise.evaluation.figure import Figure
from equipoise.evaluation.figures import figures_of
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.population_interval import PopulationInterval
from equipoise.evaluation.prediction_sets import prediction_sets
from equipoise.evaluation.ranking import on_its_side, pairs
from equipoise.evaluation.regression import Regression
from equipoise.evaluation.several_classes import SeveralClasses
from equipoise.evaluation.two_classes import TwoClasses
from equipoise.release.carriers.evaluation import counted, counted_by_true_share
from noisy_worlds import Cell, two_classes

POPULATION = two_classes(Cell(5000, 10.0, 0.3))
EDGES = POPULATION.template.edges
BINS, CUT = len(EDGES) + 1, EDGES.index(0.5)
MIDDLES = 0.5 * (np.array([0.0, *EDGES]) + np.array([*EDGES, 1.0]))
SILENT = 0.01


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(2).multinomial(5000, POPULATION.chances.ravel()).reshape(2, BINS)


def test_without_noise_values_are_those_of_the_rows(table):
    figures = TwoClasses(NoisyCounts(EDGES, table[None], "laplace", SILENT, 5000))
    labels = np.repeat([0, 1], table.sum(axis=1))
    scores = np.concatenate([np.repeat(MIDDLES, row) for row in table])
    predicted = scores > 0.5
    assert figures.auc.value == pytest.approx(roc_auc_score(labels, scores))
    assert figures.accuracy.value == pytest.approx(np.mean(predicted == labels))
    assert figures.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(labels, predicted))
    assert figures.brier.value == pytest.approx(brier_score_loss(labels, scores))
    assert figures.log_loss.value == pytest.approx(log_loss(labels, scores))
    assert figures.recall.value[CUT] == pytest.approx(np.mean(predicted[labels == 1]))
    assert figures.precision.value[CUT] == pytest.approx(np.mean(labels[predicted]))
    assert figures.accuracies.value[CUT] == pytest.approx(np.mean(predicted == labels))
    lower = np.searchsorted(EDGES, scores) > 2
    assert figures.accuracies.value[2] == pytest.approx(np.mean(lower == labels))
    assert figures.balanced_accuracies.value[2] == pytest.approx(balanced_accuracy_score(labels, lower))
    assert sum(figure.value for row in figures.confusion for figure in row) == pytest.approx(1.0)
    for figure in (
        figures.auc,
        figures.accuracy,
        figures.brier,
        figures.calibration_error,
        *figures.calibration.figures,
    ):
        assert figure.low <= figure.value <= figure.high


def test_an_interval_without_noise_is_clopper_and_pearsons(table):
    from scipy.stats import beta

    figures = TwoClasses(NoisyCounts(EDGES, table[None], "laplace", SILENT, 5000))
    right = round(figures.accuracy.value * 5000)
    exact = beta.ppf(0.025, right, 5001 - right), beta.ppf(0.975, right + 1, 5000 - right)
    assert (figures.accuracy.low, figures.accuracy.high) == pytest.approx(exact, abs=0.03 * (exact[1] - exact[0]))


def test_a_group_is_seen_by_itself(table):
    empty = np.zeros_like(table)
    both = TwoClasses(NoisyCounts(EDGES, np.stack([table, empty]), "laplace", SILENT, 5000), groups=[0])
    alone = TwoClasses(NoisyCounts(EDGES, table[None], "laplace", SILENT, 5000))
    assert both.auc.value == pytest.approx(alone.auc.value)
    assert both.brier.value == pytest.approx(alone.brier.value)


def test_rows_that_all_have_one_influence_have_no_deviation_below_nothing():
    # By a difference of squares rounding makes the variance of one of these thresholds negative.
    edges = (0.0026, 0.0735, 0.5, 0.96, 0.9987)
    counts = NoisyCounts(edges, np.array([[[0, 12, 19, 1, 2, -1], [0, 0, 3, 18, 23, -4]]]), "laplace", 1.0, 75)
    figures = pairs(counts, [on_its_side(6, place) for place in range(1, 6)], [0])
    assert all(math.isfinite(figure.sampling) for figure in figures)


def test_balanced_accuracy_is_told_at_a_threshold_that_all_rows_seen_lie_above():
    # Every pair that was seen has the kernel of a half: rounding left a variance below none, whose root was no number.
    table = np.array([[[0, 2280, 2333, 291, -3, -2], [-10, 47, 740, 836, 28, 1]]])
    found = TwoClasses(NoisyCounts((0.1, 0.2, 0.5, 0.7, 0.9), table, "laplace", 4.0, 6512)).balanced_accuracies[0]
    assert found.told
    assert found.low < 0.5 < found.high
    assert 0 <= found.sampling < 1e-6


def test_where_noise_drowns_the_answer_it_says_what_it_takes(table):
    drowned = TwoClasses(NoisyCounts(EDGES, table[None], "laplace", 800.0, 5000)).accuracy
    assert not drowned.told
    assert str(drowned) == "cannot be told at this budget; it takes about 9 times the epsilon"


def test_several_classes_average_their_recalls():
    rows = np.array([[[300, 20, 10], [30, 240, 30], [5, 15, 350]]])
    figures = SeveralClasses(NoisyCounts((), rows, "laplace", SILENT, 1000))
    assert figures.balanced_accuracy.value == pytest.approx(np.mean([300 / 330, 240 / 300, 350 / 370]))
    assert figures.precision.value == pytest.approx([300 / 335, 240 / 275, 350 / 390])
    assert figures.balanced_accuracy.low < figures.balanced_accuracy.value < figures.balanced_accuracy.high


@pytest.fixture(scope="module")
def shares_of_four():
    """Shares of four classes and true classes of 4,000 rows, and figures of their counts without noise to speak of."""
    coins = np.random.default_rng(5)
    margins = coins.normal(0.0, 2.0, (4000, 4))
    found = softmax(margins, axis=1)
    truth = np.array([coins.choice(4, p=row) for row in softmax(0.8 * margins, axis=1)])
    cells = Cells((0.4, 0.5, 0.6, 0.7, 0.8, 0.9), (0, 1, 2, 3), true_shares=tuple(expit(np.linspace(-9.0, 6.0, 120))))
    alone = np.zeros(4000, dtype=np.int64)
    main = counted(cells, margins, truth.astype(float), alone).reshape(cells.shape)
    own = counted_by_true_share(cells, margins, truth).reshape(1, 1, -1)
    further = NoisyCounts(cells.true_shares, own, "laplace", SILENT, 4000)
    counts = NoisyCounts(cells.edges, main, "laplace", SILENT, 4000)
    return found, truth, SeveralClasses(counts, true_shares=further)


def test_several_classes_have_the_log_loss_of_their_rows(shares_of_four):
    found, truth, figures = shares_of_four
    exact = log_loss(truth, found)
    assert figures.log_loss.value == pytest.approx(exact, abs=0.002)
    assert figures.log_loss.low < exact - figures.log_loss.bins < exact + figures.log_loss.bins < figures.log_loss.high


def test_the_brier_score_of_several_classes_is_between_what_its_bins_leave_open(shares_of_four):
    found, truth, figures = shares_of_four
    exact = np.mean(np.sum((found - np.eye(4)[truth]) ** 2, axis=1))
    assert figures.brier.low < exact < figures.brier.high
    assert figures.brier.high - figures.brier.low < 0.35


def test_the_calibration_of_the_predicted_class_is_that_of_its_rows(shares_of_four):
    found, truth, figures = shares_of_four
    right, largest = found.argmax(axis=1) == truth, found.max(axis=1)
    assert figures.calibration_in_the_large.low < np.mean(right - largest) < figures.calibration_in_the_large.high
    bins = np.searchsorted([0.4, 0.5, 0.6, 0.7, 0.8, 0.9], largest)
    exact = np.sum(np.abs(np.bincount(bins, right - largest))) / 4000
    assert figures.calibration_error.low < exact < figures.calibration_error.high
    assert 0.03 < figures.calibration_error.bins < 0.075


def test_a_class_against_the_rest_is_exact_from_a_half_on(shares_of_four):
    found, truth, figures = shares_of_four
    curves = figures.against_the_rest(2)
    assert curves.recall.places == (0.5, 0.6, 0.7, 0.8, 0.9)
    for place, threshold in enumerate(curves.recall.places):
        said, own = found[:, 2] > threshold, truth == 2
        assert curves.recall.value[place] == pytest.approx(np.mean(said[own]), abs=1e-6)
        assert curves.false_positive_rate.value[place] == pytest.approx(np.mean(said[~own]), abs=1e-6)
        assert curves.precision.value[place] == pytest.approx(np.mean(own[said]), abs=1e-6)


def test_groups_and_older_evaluations_have_no_log_loss(shares_of_four):
    figures = shares_of_four[2]
    assert figures_of(figures.counts, [0], figures.true_shares).log_loss is None
    assert figures_of(figures.counts).brier is None


def test_without_noise_figures_of_a_regression_are_those_of_the_middles_of_bins():
    rows = np.random.default_rng(4).multinomial(3000, np.outer([0.3, 0.4, 0.3], [0.02, 0.1, 0.76, 0.1, 0.02]).ravel())
    counts = NoisyCounts((-1.5, -0.5, 0.5, 1.5), rows.reshape(1, 3, 5), "laplace", SILENT, 3000, (2.0, 4.0), (0.0, 6.0))
    figures = Regression(counts)
    predictions, residuals = np.repeat(figures.predictions, 5), np.tile(figures.residuals, 3)
    target = np.repeat(predictions + residuals, rows)
    assert figures.r2.value == pytest.approx(r2_score(target, np.repeat(predictions, rows)))
    assert figures.mean_squared_error.value == pytest.approx(np.sum(rows * residuals**2) / 3000)
    assert figures.r2.low < figures.r2.value < figures.r2.high
    median = figures.residual_quantile(0.5)
    assert (median.low, median.high) == (-0.5, 0.5)
    assert figures.prediction_intervals(0.7) == (-0.5, 0.5)
    assert len(figures.calibration) == 3


def test_a_loss_whose_interval_is_as_long_as_what_guessing_costs_is_not_told():
    found = Figure(0.6, 0.0, 1.05, sampling=0.01, noise=0.3, greatest=20.0)
    assert found.told
    drowned = replace(found, guessing=1.0)
    assert not drowned.told
    assert "times the epsilon" in str(drowned)
    assert replace(found, high=0.9, guessing=1.0).told


def test_a_loss_that_guessing_cannot_be_told_from_is_not_told():
    # Half of the rows in either class, scores without meaning, few rows: the interval is longer than a guess is worth.
    counts = NoisyCounts(tuple(np.linspace(0.02, 0.98, 9)), np.full((1, 2, 10), 3), "laplace", 3.0, 60)
    figures = TwoClasses(counts)
    for figure, guess in ((figures.log_loss, math.log(2.0)), (figures.brier, 0.25)):
        assert figure.guessing == guess
        assert figure.low < guess < figure.high
        assert not figure.told
    # By its range, which reaches to the loss of a score near 0, it would have been told.
    log_loss = figures.log_loss
    assert log_loss.high - log_loss.low > log_loss.guessing
    assert replace(log_loss, guessing=math.inf).told or log_loss.greatest < 2 * log_loss.guessing
    many = TwoClasses(replace(counts, counts=1000 * counts.counts, n_samples=60_000))
    assert many.log_loss.told
    assert many.brier.told


@pytest.mark.parametrize("places", ["anywhere", "the best", "the worst"])
@pytest.mark.parametrize("seed", range(5))
def test_intervals_hold_figures_of_scores_wherever_in_their_bins_they_lie(places, seed):
    coins = np.random.default_rng(seed)
    edges = (0.0, *np.sort(coins.uniform(0.01, 0.99, 5)), 1.0)
    labels = (coins.random(3000) < 0.3).astype(int)
    place = np.minimum(coins.binomial(6, 0.3 + 0.3 * labels), 5)
    within = {"anywhere": coins.random(3000), "the best": 0.98 * labels + 0.01, "the worst": 0.99 - 0.98 * labels}
    scores = np.array(edges)[place] + np.diff(edges)[place] * within[places]
    counts = np.array([[np.bincount(place[labels == true], minlength=6) for true in (0, 1)]])
    figures = TwoClasses(NoisyCounts(edges[1:-1], counts, "laplace", SILENT, 3000))
    # What a row costs has no bound: log loss is told with none counted as more than the middle of an outermost bin.
    least = np.where(labels == 1, 0.5 * edges[1], 0.5 * (1.0 - edges[-2]))
    costs = -np.log(np.maximum(np.where(labels == 1, scores, 1.0 - scores), least))
    pairs = (
        (figures.auc, roc_auc_score(labels, scores)),
        (figures.brier, brier_score_loss(labels, scores)),
        (figures.log_loss, np.mean(costs)),
        (figures.calibration_in_the_large, np.mean(labels - scores)),
        (figures.calibration_error, np.sum(np.abs(np.bincount(place, labels - scores))) / 3000),
    )
    for figure, exact in pairs:
        assert figure.low < exact < figure.high
    if places != "anywhere":
        # All of what is hidden can happen: the binned area's interval, which counts none of it, is far off.
        assert abs(pairs[0][1] - figures.auc.value) == pytest.approx(figures.auc.bins, rel=0.05)
        assert not figures.binned_auc.low - 0.03 < pairs[0][1] < figures.binned_auc.high + 0.03


@pytest.mark.parametrize("group", [0, 1])
def test_calibration_of_a_group_holds_the_exact_share_less_the_mean_score(group):
    # A stranger found Adult's women told from -.05 to -.014, where the exact number was .018: by six bins, and middles.
    coins = np.random.default_rng(group)
    edges = np.array([0.0, 0.018, 0.5, 0.98, 1.0])
    scores = np.clip(coins.beta(0.7, 2.5, 6000), 0.001, 0.999)
    labels, of_group = (coins.random(6000) < np.clip(scores + 0.02, 0, 1)).astype(int), coins.integers(0, 2, 6000)
    place = np.searchsorted(edges[1:-1], scores)
    counts = np.zeros((2, 2, 4), dtype=np.int64)
    np.add.at(counts, (of_group, labels, place), 1)
    figures = TwoClasses(NoisyCounts(tuple(edges[1:-1]), counts, "laplace", 2.0, 6000), groups=[group])
    exact = np.mean((labels - scores)[of_group == group])
    assert figures.calibration_in_the_large.low < exact < figures.calibration_in_the_large.high
    # What middles alone would have told is far from it.
    middles = 0.5 * (edges[:-1] + edges[1:])
    assert abs(np.mean((labels - middles[place])[of_group == group]) - exact) > 0.03
    assert figures.calibration.ends == tuple(edges)


def test_an_area_that_bins_could_take_to_a_guess_is_not_told():
    # Scores of all rows but few lie in one bin: an interval that is short, and a figure that tells nothing.
    few = TwoClasses(
        NoisyCounts((0.1, 0.5, 0.9), np.array([[[400, 4600, 0, 0], [0, 4400, 600, 0]]]), "laplace", 1.0, 10_000)
    )
    assert 0.5 < few.binned_auc.low < few.binned_auc.high < 0.65
    assert few.auc.low < 0.5
    assert not few.auc.told
    assert str(few.auc).startswith("cannot be told from bins as wide as these")
    assert few.accuracy.told
    spread = TwoClasses(
        NoisyCounts(
            (0.1, 0.5, 0.9), np.array([[[2400, 1600, 600, 400], [400, 600, 1600, 2400]]]), "laplace", 1.0, 10_000
        )
    )
    # Half of the chance that a pair shares a bin: 0.48 0.08 + 0.32 0.12, either twice.
    assert spread.auc.told
    assert "bins 0.077" in str(spread.auc)


def test_whatever_cannot_be_told_says_about_what_it_takes():
    stream = np.random.default_rng(0)
    for _ in range(2000):
        spread = stream.exponential(0.3, 3) * stream.integers(0, 2, 3)
        low, high = np.sort(stream.uniform(0.0, 1.0, 2))
        figure = Figure(0.5 * (low + high), low, high, *spread[:2], bins=spread[2])
        told = re.search(r"cannot be told .* it takes (about (\d|10)|more than 10) times ", figure.verdict)
        assert figure.told != bool(told)
        found = PopulationInterval(0.0, 0.0, 3 * low - 3, 3 * high, 0.0, 0.0, 0.0, *(spread + 0.01), reach=1.5)
        assert found.told != bool(re.search(r"cannot be told .* it takes about \d+\.\d times", found.verdict))


@pytest.mark.parametrize("chance", [2, 0.0, 1.0, -0.5, np.nan, "a", None])
def test_what_is_no_share_is_refused(chance):
    table = np.array([[[303, 2520, 290], [710, 2450, 695], [320, 2390, 322]]])
    numbers = Regression(NoisyCounts((-0.5, 0.5), table, "laplace", 4.0, 10_000, (1.0, 2.0), (0.0, 3.0)))
    two = NoisyCounts((0.5,), np.array([[[5120, 211], [205, 4464]]]), "laplace", 4.0, 10_000)
    asked = (numbers.residual_quantile, numbers.prediction_intervals, lambda share: prediction_sets(two, share))
    for each in asked:
        with pytest.raises(InvalidParameter, match="between 0 and 1"):
            each(chance)


def test_an_r2_at_its_least_says_that_it_stands_for_all_below():
    table = np.zeros((1, 2, 4), dtype=np.int64)
    table[0, 0, 3] = 10_000
    figure = Regression(NoisyCounts((-0.5, 0.0, 0.5), table, "laplace", 1.0, 10_000, (0.5,), (0.0, 1.0))).r2
    assert figure.low == figure.least == -1.0
    assert figure.words == "what is below -1 reads -1"
    assert "at most" in figure.known
