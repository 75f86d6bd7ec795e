"""Nets are measured honestly: gradients of their loss, the same coins on both tables, no replacement without effect."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

import equipoise as eq
from equipoise.lab import small_net
from equipoise.lab.net_movement import METHODS, generated, measured, median, replacements
from equipoise.lab.small_net import BATCH, HIDDEN, NETS, Change, Net, Table, gradient, parts, trained

# The probability with which a statement below that were false would pass.
FALSE_ALARM = 1e-6
COLUMNS = 3
SIZE = sum(math.prod(shape) for shape in small_net.shapes(COLUMNS))


def coins_of(net: Net, stream: np.random.Generator, batch: int) -> np.ndarray:
    return net.at(stream.random((3, batch, HIDDEN)))


def loss(method: str, flat: np.ndarray, rows: np.ndarray, signs: np.ndarray, coins: np.ndarray) -> float:
    """Return the mean logistic loss of one run, written out row by row from the words of the module."""
    weights = parts(flat, rows.shape[1])

    def layer(inputs: np.ndarray, matrix: np.ndarray, bias: np.ndarray) -> np.ndarray:
        sums = np.array([[row @ unit for unit in matrix.T] for row in inputs])
        if method == "batch-norm":
            sums = (sums - np.mean(sums, axis=0)) / np.sqrt(np.var(sums, axis=0) + small_net.VARIANCE_FLOOR)
        return np.tanh(sums + bias)

    first = layer(rows, weights.inner, weights.inner_bias)
    if method == "dropout-net":
        first = coins[0] * first
    second = layer(first, weights.middle, weights.middle_bias)
    mixed = {"dropout-net": coins[2] * second, "swapout": coins[1] * first + coins[2] * second}.get(method, second)
    margins = mixed @ weights.outer[:, 0] + weights.outer_bias[0, 0]
    return float(np.mean([math.log1p(math.exp(-sign * margin)) for sign, margin in zip(signs, margins, strict=True)]))


def changed(places: list[int], table: Table, seeds: int) -> Change:
    """Return for each seed the replacement of each place by itself."""
    index = np.tile(places, (seeds, 1))
    return Change(index, table.rows[index], table.signs[index])


# --- gradients --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_gradients_are_those_of_the_loss(method):
    stream = np.random.default_rng(0)
    rows, signs = stream.normal(size=(7, COLUMNS)), stream.choice([-1.0, 1.0], size=7)
    flat = stream.normal(size=SIZE)
    coins = coins_of(NETS[method], stream, 7)
    found = gradient(NETS[method], flat, rows, signs, coins)
    # Central differences err by about the third derivative times width^2, and by rounding of 1e-16 / width.
    width = 1e-5
    for place in range(SIZE):
        sides = [loss(method, flat + side * width * np.eye(SIZE)[place], rows, signs, coins) for side in (1, -1)]
        assert found[place] == pytest.approx((sides[0] - sides[1]) / (2 * width), abs=1e-8), place


def test_gradients_of_many_runs_are_those_of_each():
    stream = np.random.default_rng(1)
    rows, signs = stream.normal(size=(2, 4, 7, COLUMNS)), stream.choice([-1.0, 1.0], size=(2, 4, 7))
    flat = stream.normal(size=(2, 4, SIZE))
    for net in NETS.values():
        coins = net.at(stream.random((2, 1, 3, 7, HIDDEN)))
        together = gradient(net, flat, rows, signs, coins)
        for seed, run in itertools.product(range(2), range(4)):
            alone = gradient(net, flat[seed, run], rows[seed, run], signs[seed, run], coins[seed, 0])
            np.testing.assert_allclose(together[seed, run], alone, rtol=1e-12, atol=1e-15)


def test_coins_are_tossed_where_the_method_says_and_have_mean_one():
    uniform = np.random.default_rng(2).random((3, 1000, HIDDEN))
    tossed = {"dropout-net": {0, 2}, "swapout": {1, 2}}
    # A mean of N coins of 0 or 2 leaves 1 by more than t with probability at most 2 exp(-N t^2 / 2) (Hoeffding).
    slack = math.sqrt(2 * math.log(2 * 4 / FALSE_ALARM) / (1000 * HIDDEN))
    for method, net in NETS.items():
        coins = net.at(uniform)
        for place in range(3):
            if place in tossed.get(method, set()):
                assert set(np.unique(coins[place])) == {0.0, 2.0}
                assert abs(coins[place].mean() - 1) < slack
            else:
                expected = 0.0 if place == 1 and method != "swapout" else 1.0
                assert (coins[place] == expected).all()


def test_plain_nets_keep_the_architecture():
    assert NETS["swapout"].plain() == Net(coins=(1.0, 1.0, 1.0)) != NETS["plain"]
    assert all(NETS[method].plain() == NETS["plain"] for method in METHODS if method != "swapout")


# --- training ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_training_is_this_loop(method):
    """One run, written as a plain loop, with the streams of the seed."""
    table, net, seed, passes = generated(), NETS[method], 5, 2
    start, ends = trained(net, table, changed([0], table, 1), range(seed, seed + 1), passes)
    orders, tosses = (np.random.default_rng((seed, use)) for use in (1, 2))
    weights = []
    for place, shape in enumerate(small_net.shapes(COLUMNS)):
        weights.append(np.zeros(shape) if place % 2 else orders.normal(size=shape) / math.sqrt(shape[0]))
    point = np.concatenate([one.ravel() for one in weights])
    np.testing.assert_array_equal(start[0], point)
    centre, mean, turn = point.copy(), point.copy(), 0
    for _ in range(passes):
        order = orders.permutation(len(table.rows))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            coins = coins_of(net, tosses, len(batch))
            shake = tosses.normal(size=SIZE)
            slopes = gradient(net, point, table.rows[batch], table.signs[batch], coins)
            if method != "entropy-sgd":
                point = mean = point - 0.5 * slopes
                continue
            point = point - 0.5 * (slopes - 0.1 * (centre - point)) + math.sqrt(0.5) * 1e-3 * shake
            mean = 0.75 * mean + 0.25 * point
            turn += 1
            if turn == 5:
                point, centre, turn = mean.copy(), mean.copy(), 0
    np.testing.assert_allclose(ends[0, 0], mean, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_both_tables_are_trained_by_the_same_coins(method):
    table = generated()
    start, ends = trained(NETS[method], table, changed([0, 9, 63], table, 3), range(3), 3)
    assert (ends == ends[:, :1]).all()
    # The seeds themselves differ, so that there are coins to share.
    assert len(np.unique(start[:, 0])) == 3
    assert len(np.unique(ends[:, 0, 0])) == 3


def test_seeds_do_not_depend_on_their_neighbours():
    table = generated()
    few = replacements(table, np.array([[4, 7]]))
    many = replacements(table, np.array([[4, 7], [1, 2], [3, 5]]))
    alone = measured(NETS["dropout-net"], table, few, range(6, 7), 2)
    among = measured(NETS["dropout-net"], table, many, range(6, 9), 2)
    for one, other in zip(alone, among, strict=True):
        assert one[0] == pytest.approx(other[0], rel=1e-9)


def test_every_replacement_moves_the_plain_net():
    table = generated()
    places = np.arange(64)[None]
    change = replacements(table, places)
    assert (change.signs == -table.signs[change.places]).all()
    # The first half keeps the row, the second brings another row of the table.
    assert (change.rows[0, :64] == table.rows).all()
    assert (change.rows[0, 64:] != table.rows).any(axis=1).all()
    for net in (NETS["plain"], NETS["swapout"].plain()):
        for passes in (1, 20):
            _, ends = trained(net, table, change, range(1), passes)
            moved = np.linalg.norm(ends[0, 1:] - ends[0, 0], axis=1)
            assert moved.shape == (128,)
            # Rounding moves a net by some 1e-14.
            assert moved.min() > 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_nets_learn(method):
    table, net = generated(), NETS[method]
    found = eq.lab.net_stability(method, replaced=1)
    # So many of 64 balanced labels are guessed with probability at most 1e-6.
    guessed = binom.isf(FALSE_ALARM, 64, 0.5) / 64
    assert found.net.accuracy.low > guessed
    assert found.plain.accuracy.low > guessed
    # They learn the boundary, and do not only remember: rows that they have not seen, more often right than the more
    # frequent label, which weights that know nothing of these rows beat so clearly with probability at most 1e-6.
    rows = np.random.default_rng(99).uniform(-1.0, 1.0, (2000, COLUMNS))
    seen, fresh = (known[:, 0] + known[:, 1] ** 2 for known in (table.rows, rows))
    signs = np.where(fresh > np.median(seen), 1.0, -1.0)
    share = max(np.mean(signs > 0), np.mean(signs < 0))
    _, ends = trained(net, table, changed([0], table, 1), range(1), 20)
    margin = small_net.forward(net, parts(ends[0, 0], COLUMNS), rows, np.array(net.coins)[:, None, None]).margin[:, 0]
    assert np.sum(np.sign(margin) == signs) > binom.isf(FALSE_ALARM, 2000, share)


# --- figures ----------------------------------------------------------------------------------------------------------


def test_a_first_pass_moves_a_normalised_net_further():
    """B8: a replaced row changes how its batch is normalised, so that it moves a step by more than its own gradient.

    Were the median ratio at most 1, its interval would lie above 1 with probability at most 1e-6; were the medians of
    the distances in the other order, their intervals would be separated with probability at most 2e-6.
    """
    found = eq.lab.net_stability("batch-norm", seeds=100, passes=1, confidence=1 - FALSE_ALARM)
    assert found.confidence == 1 - FALSE_ALARM
    assert found.ratio.low > 1
    assert found.net.apart.low > found.plain.apart.high


def test_long_training_narrows_the_gap():
    """The finding holds for its number of passes alone: the ratio is smaller after 80 passes than after the first.

    Were the median ratios in the other order, the intervals would be separated with probability at most 2e-6. That the
    plain net ends up moving further is seen at 95 %, and not at this level: it is not asserted.
    """
    early, late = (
        eq.lab.net_stability(
            "batch-norm", seeds=60, passes=passes, replaced=2, first_seed=1000, confidence=1 - FALSE_ALARM
        ).ratio
        for passes in (1, 80)
    )
    assert early.low > late.high


def test_intervals_hold_the_median_as_often_as_they_say():
    stream = np.random.default_rng(4)
    trials, confidence = 4000, 0.95
    for count in (6, 20, 41):
        # A skewed law, whose median is log 2.
        found = [median(draw, confidence) for draw in stream.exponential(size=(trials, count))]
        held = sum(math.log(2) in one for one in found)
        assert held >= binom.ppf(FALSE_ALARM, trials, confidence)
        assert all(one.low <= one.value <= one.high for one in found)
    # Ends are as close as the confidence allows: one rank further in would miss too often.
    inner = [(draw[6], draw[-7]) for draw in np.sort(stream.exponential(size=(trials, 20)), axis=1)]
    assert sum(low <= math.log(2) <= high for low, high in inner) < binom.ppf(1 - FALSE_ALARM, trials, confidence)


def test_a_plain_net_is_its_own_measure():
    found = eq.lab.net_stability("plain", seeds=6, passes=1)
    assert found.net == found.plain
    assert found.ratio == eq.lab.Estimate.exact(1.0)


def test_the_distance_is_the_worst_of_the_records():
    table = generated()
    change = replacements(table, np.array([[3, 8, 20], [5, 6, 7]]))
    runs = measured(NETS["plain"], table, change, range(2), 2)
    start, ends = trained(NETS["plain"], table, change, range(2), 2)
    for seed in range(2):
        distances = [np.linalg.norm(end - ends[seed, 0]) for end in ends[seed, 1:]]
        assert runs.apart[seed] == pytest.approx(max(distances))
        assert len(distances) == 6
        assert runs.travelled[seed] == pytest.approx(np.linalg.norm(ends[seed, 0] - start[seed]))


def test_the_finding_is_readable_and_marked():
    found = eq.lab.net_stability("swapout", seeds=6, passes=1, replaced=2)
    words = str(found)
    assert found.mark in words
    assert found.mark.startswith("measured: ")
    assert found.mark.endswith("no bound")
    for figure in (found.net.apart, found.net.travelled, found.plain.apart, found.plain.travelled, found.ratio):
        assert str(figure) in words
    assert "confidence 0.95" in words
    assert "6 seeds" in words
    assert "2 replaced records" in words
    with pytest.raises(AttributeError):
        found.method = "plain"


# --- a user's own table -----------------------------------------------------------------------------------------------


def test_users_bring_their_own_table():
    stream = np.random.default_rng(5)
    rows = stream.normal(size=(37, 2))
    labels = np.where(rows[:, 0] > 0, "yes", "no")
    found = eq.lab.net_stability("batch-norm", rows, labels, seeds=6, passes=2, replaced=3, first_seed=11)
    assert (found.rows, found.columns, found.hidden) == (37, 2, HIDDEN)
    assert (found.seeds, found.passes, found.replaced) == (6, 2, 3)
    again = eq.lab.net_stability(
        "batch-norm", rows.tolist(), labels == "yes", seeds=6, passes=2, replaced=3, first_seed=11
    )
    assert found == again
    other = eq.lab.net_stability("batch-norm", rows, labels, seeds=6, passes=2, replaced=3, first_seed=12)
    assert other.net.apart != found.net.apart
    # One column, and fewer rows than a batch.
    assert eq.lab.net_stability("plain", rows[:5, :1], [0, 1, 0, 1, 1], seeds=6, passes=2, replaced=5).net.apart.low > 0


TABLE = generated()


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        ({"method": "nets"}, "a method: one of plain"),
        ({"method": None}, "a method: one of plain"),
        ({"method": ["plain"]}, "a method: one of plain"),
        ({"seeds": 0}, "seeds, a whole number >= 1"),
        ({"seeds": 2.5}, "seeds, a whole number >= 1"),
        ({"seeds": 5}, "at least 6 seeds for a confidence of 0.95"),
        ({"seeds": 20, "confidence": 1 - 1e-6}, "at least 21 seeds"),
        ({"passes": 0}, "passes, a whole number >= 1"),
        ({"replaced": 0}, "replaced, a whole number >= 1"),
        ({"replaced": 65}, "at most 64 replaced records"),
        ({"confidence": 95}, "a confidence above 0 and below 1"),
        ({"confidence": "high"}, "a confidence above 0 and below 1"),
        ({"first_seed": -1}, "a first seed"),
        ({"X": TABLE.rows}, "rows and labels together"),
        ({"y": TABLE.signs}, "rows and labels together"),
        ({"X": np.empty((0, 3)), "y": []}, "a table of numbers with rows"),
        ({"X": np.empty((4, 0)), "y": [0, 1, 0, 1]}, "a table of numbers with rows"),
        ({"X": [], "y": []}, "a table of numbers with rows"),
        ({"X": TABLE.rows[:, 0], "y": TABLE.signs}, "a table of numbers with rows"),
        ({"X": TABLE.rows, "y": TABLE.signs[:-1]}, "a label for each row"),
        ({"X": TABLE.rows, "y": TABLE.signs[:, None]}, "a label for each row"),
        ({"X": [[1.0], [2.0, 3.0]], "y": [0, 1]}, "a table of numbers"),
        ({"X": [["1.0"], ["2.0"]], "y": [0, 1]}, "a table of numbers"),
        ({"X": [[1j], [2.0]], "y": [0, 1]}, "a table of numbers"),
        ({"X": [[1.0], [2.0]], "y": [None, 1]}, "a table of numbers"),
        ({"X": [[1.0], [math.nan]], "y": [0, 1]}, "finite numbers"),
        ({"X": [[1.0], [1e7]], "y": [0, 1]}, "finite numbers of at most 1e+06"),
        ({"X": [[1.0], [2.0]], "y": [1, 1]}, "labels of two kinds"),
        ({"X": [[1.0], [2.0], [3.0]], "y": [0, 1, 2]}, "labels of two kinds"),
        ({"X": [[1.0], [2.0]], "y": [0.0, math.nan]}, "labels of two kinds"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(changes, asked):
    with pytest.raises(eq.errors.InvalidParameter) as refusal:
        eq.lab.net_stability(**{"method": "plain", **changes})
    assert asked in refusal.value.asked
    assert refusal.value.remedy


def test_the_remedy_works():
    rows, labels = TABLE.rows[:5], [0, 1, 0, 1, 1]
    with pytest.raises(eq.errors.InvalidParameter, match="pass replaced=5"):
        eq.lab.net_stability("plain", rows, labels, seeds=6, passes=1)
    eq.lab.net_stability("plain", rows, labels, seeds=6, passes=1, replaced=5)
    with pytest.raises(eq.errors.InvalidParameter, match="pass seeds=31"):
        eq.lab.net_stability("plain", confidence=1 - 1e-9)
    eq.lab.net_stability("plain", confidence=1 - 1e-9, seeds=31, passes=1)
