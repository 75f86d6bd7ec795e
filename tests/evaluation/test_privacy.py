"""N4: two counts move by 1 each, the noise has the law that the claim names, and audits catch planted faults."""

import functools
import math
from dataclasses import replace

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, norm

import equipoise as eq
from equipoise.certify.certificate import Terms
from equipoise.certify.claims import Noise
from equipoise.certify.claims.evaluation import Cells, Evaluation
from equipoise.lab.auditing import lower_bound
from equipoise.noise import COINS, ExactSource, SeededSource
from equipoise.planning.evaluation import EvaluationRequest, issue_evaluation, noise_on_counts
from equipoise.release.carriers import evaluation as carrier
from equipoise.release.carriers.evaluation import counted, counted_by_target, counted_by_true_share, dealt, share_bins

# Of this file: five audits that may not fail, and five tests of a law.
FAILURE = 1e-6

TWO = Cells((0.2, 0.5, 0.8), ("no", "yes"))
FIVE = Cells((0.4, 0.7), (0, 1, 2, 3, 4))
APART = replace(TWO, groups=("f", "m", "x"), by="sex")
SHARES = Cells((0.7,), (0, 1, 2), true_shares=(0.2, 0.5))
PAY = Cells((-1.0, 0.0, 1.0), predictions=(2.0, 4.0), range=(0.0, 6.0))
DEALT = replace(PAY, targets=(0.0, 1.0, 3.0, 6.0))
NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


# How far one row moves the counts


@pytest.mark.parametrize("cells", [TWO, FIVE, APART, PAY], ids=["two classes", "five classes", "groups", "numbers"])
@given(data=st.data())
def test_whatever_a_row_is_replaced_by_two_counts_move_by_one_or_none(cells, data):
    outputs, classes = (5, 5) if cells is FIVE else (1, 2)
    truth = st.integers(0, classes - 1) if cells.labels else NUMBERS
    row = st.tuples(st.lists(NUMBERS, min_size=outputs, max_size=outputs), truth, st.integers(0, cells.shape[0] - 1))
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    other = [data.draw(row), *rows[1:]]
    with np.errstate(all="ignore"):
        first, second = (
            counted(cells, np.array(scores), np.array(truth, dtype=float), np.array(groups))
            for scores, truth, groups in (zip(*table, strict=True) for table in (rows, other))
        )
    assert first.sum() == second.sum() == len(rows)
    assert len(first) == math.prod(cells.shape)
    assert sorted((first - second)[first != second].tolist()) in ([], [-1, 1])


@given(data=st.data())
def test_whatever_a_row_is_replaced_by_two_further_counts_move_by_one_or_none(data):
    row = st.tuples(st.lists(NUMBERS, min_size=3, max_size=3), st.integers(0, 2))
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    other = [data.draw(row), *rows[1:]]
    with np.errstate(all="ignore"):
        first, second = (
            counted_by_true_share(SHARES, np.array(scores), np.array(truth, dtype=float))
            for scores, truth in (zip(*table, strict=True) for table in (rows, other))
        )
    assert first.sum() == second.sum() == len(rows)
    assert len(first) == 3
    assert sorted((first - second)[first != second].tolist()) in ([], [-1, 1])


@given(data=st.data())
def test_whatever_a_row_is_replaced_by_two_counts_of_the_target_move_by_one_or_none(data):
    row = st.tuples(NUMBERS, st.integers(0, COINS - 1))
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    # Coins belong to places: the replaced row has the coin that the other one had.
    other = [(data.draw(NUMBERS), rows[0][1]), *rows[1:]]
    first, second = (
        counted_by_target(DEALT, np.array(truth), np.array(coins))
        for truth, coins in (zip(*table, strict=True) for table in (rows, other))
    )
    assert first.sum() == second.sum() == len(rows)
    assert len(first) == 5
    assert sorted((first - second)[first != second].tolist()) in ([], [-1, 1])


@given(st.lists(st.floats(-50.0, 90.0), min_size=2, max_size=9, unique=True), st.floats(-60.0, 100.0))
def test_coins_keep_a_target_and_its_square_in_the_mean(knots, target):
    knots = sorted(round(knot, 2) for knot in knots)
    if min(np.diff(knots)) < 0.01:
        return
    first, chances = dealt(tuple(knots), np.array([target]))
    assert np.all(chances >= -1e-12)
    ends = np.array([knots[0], *knots, knots[-1]])
    means, squares = 0.5 * (ends[:-1] + ends[1:]), ends[:-1] * ends[1:]
    places, kept = first[0] + np.arange(3), np.clip(target, knots[0], knots[-1])
    assert chances[0] @ means[places] == pytest.approx(kept, abs=1e-8)
    assert chances[0] @ squares[places] == pytest.approx(kept**2, abs=1e-5)


@pytest.mark.parametrize("source", [ExactSource(), SeededSource(3)], ids=["exact", "seeded"])
def test_coins_deal_targets_with_the_chances_that_are_said(source):
    size = 4000
    first, chances = dealt(DEALT.targets, np.array([2.0]))
    expected = np.zeros(5)
    expected[first[0] + np.arange(3)] = size * chances[0]
    found = counted_by_target(DEALT, np.full(size, 2.0), source.coins(size))
    reached = expected > 0
    assert found[~reached].sum() == 0
    assert chisquare(found[reached], expected[reached]).pvalue > FAILURE


# The law of the noise


@pytest.mark.parametrize("source", [ExactSource(), SeededSource(3)], ids=["exact", "seeded"])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_noise_on_counts_has_the_law_that_figures_rest_on(law, source):
    scale, size, reach = 1.5, 4000, 5
    noise = source.add_whole(law, np.full(size, 7), scale) - 7
    assert noise.dtype == np.int64
    places = np.arange(-reach, reach + 1)
    if law == "laplace":
        kept = math.exp(-1 / scale)
        masses = (1 - kept) / (1 + kept) * kept ** np.abs(places)
    else:
        masses = norm.cdf((places + 0.5) / scale) - norm.cdf((places - 0.5) / scale)
    found = [*((noise == place).sum() for place in places), (np.abs(noise) > reach).sum()]
    assert chisquare(found, size * np.array([*masses, 1 - masses.sum()])).pvalue > FAILURE


def test_opendp_itself_says_what_a_replaced_row_costs():
    dp.enable_features("contrib")
    noise = noise_on_counts(eq.Budget(0.5))
    space = dp.vector_domain(dp.atom_domain(T="i64"), size=8), dp.l1_distance(T="i64")
    assert dp.m.make_laplace(*space, scale=noise.scale).map(2) <= 0.5


# The claim


def claimed(budget: eq.Budget, cells: Cells = TWO) -> Evaluation:
    return issue_evaluation(EvaluationRequest(Terms(50, 3), budget, "id", "digest", cells)).claim


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.3, 1.0, 5.0])
def test_a_neighbouring_pair_attains_the_bound(epsilon, witness):
    claim = claimed(eq.Budget(epsilon))
    scores, labels = np.array([[3.0], [-3.0]]), np.array([1.0, 0.0])
    first, second = (counted(TWO, scores, chosen, np.zeros(2, dtype=int)) for chosen in (labels, np.array([0.0, 0.0])))
    # Where the entered cell has few and the left one many, every unit of distance tells.
    seen = np.where(first > second, first, np.where(first < second, first, 0))
    loss = (np.abs(seen - second).sum() - np.abs(seen - first).sum()) / claim.scale
    witness("N4", epsilon, loss, f"epsilon of the counts at {epsilon}")
    assert 0.999999 * epsilon <= loss <= epsilon
    assert claim.curve().delta(epsilon) == 0.0
    assert claim.curve().delta(0.999 * loss) > 0.0


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_a_pair_attains_the_bound_where_rows_are_counted_by_the_true_share_too(epsilon):
    claim, rows = claimed(eq.Budget(epsilon), SHARES), np.log([[0.6, 0.3, 0.1], [0.6, 0.3, 0.1]])
    loss = 0.0
    for scale, count in (
        (claim.scale, lambda truth: counted(SHARES, rows, truth, np.zeros(2, dtype=int))),
        (claim.further_noise.scale, lambda truth: counted_by_true_share(SHARES, rows, truth)),
    ):
        first, second = count(np.array([0.0, 1.0])), count(np.array([2.0, 1.0]))
        # Seen is the first table's count in every bin: each unit that the second lies off tells.
        loss += np.abs(first - second).sum() / scale
    assert 0.999999 * epsilon <= loss <= epsilon
    assert claim.curve().delta(epsilon) == 0.0
    assert claim.curve().delta(0.999 * loss) > 0.0


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_a_pair_attains_the_bound_where_targets_are_dealt_too(epsilon, witness):
    claim, predicted, coins = claimed(eq.Budget(epsilon), DEALT), np.array([[3.0], [3.0]]), np.array([5, COINS // 2])
    loss = 0.0
    for scale, count in (
        (claim.scale, lambda truth: counted(DEALT, predicted, truth, np.zeros(2, dtype=int))),
        (claim.further_noise.scale, lambda truth: counted_by_target(DEALT, truth, coins)),
    ):
        # The ends of the range are dealt without a doubt.
        first, second = count(np.array([0.0, 3.0])), count(np.array([6.0, 3.0]))
        loss += np.abs(first - second).sum() / scale
    witness("N4", epsilon, loss, f"epsilon of the counts of a regression at {epsilon}")
    assert 0.999999 * epsilon <= loss <= epsilon
    assert claim.curve().delta(epsilon) == 0.0
    assert claim.curve().delta(0.999 * loss) > 0.0


def test_noise_on_further_counts_is_paid_for_out_of_the_same_budget():
    alone, with_more = claimed(eq.Budget(1.0), replace(SHARES, true_shares=())), claimed(eq.Budget(1.0), SHARES)
    assert alone.further_noise is None
    assert with_more.scale == pytest.approx(alone.scale * 9 / 8)
    assert with_more.further_noise.scale == 8 * with_more.scale
    gaussian = claimed(eq.Budget(0.01, 0.01), SHARES)
    assert gaussian.law == gaussian.further_noise.law == "gaussian"
    # The exact L2 distance of both is below the one that is claimed.
    assert gaussian.curve().mu >= math.sqrt(2 * (1 + 1 / 64)) / gaussian.scale


def test_gaussian_noise_is_taken_where_it_is_quieter_and_laplace_otherwise():
    assert claimed(eq.Budget(0.5, 1e-6)) == claimed(eq.Budget(0.5)), (
        "no delta is spent that Laplace noise does not need"
    )
    assert claimed(eq.Budget(0.5)).law == "laplace"
    wide = claimed(eq.Budget(0.01, 0.01))
    assert wide.law == "gaussian"
    assert wide.curve().mu == pytest.approx(math.sqrt(2) / wide.scale)


FAULTY = {
    "halved noise": lambda claim: replace(claim, noise=replace(claim.noise, scale=claim.scale / 2)),
    "noise of another law": lambda claim: replace(claim, noise=replace(claim.noise, law="spherical-laplace")),
    "a cell without noise": lambda claim: replace(claim, noise=replace(claim.noise, dimension=7)),
    "edges that do not ascend": lambda claim: replace(claim, cells=replace(TWO, edges=(0.2, 0.2, 0.8))),
    "an edge that is no number": lambda claim: replace(claim, cells=replace(TWO, edges=(0.2, math.nan, 0.8))),
    "a class twice": lambda claim: replace(claim, cells=replace(TWO, labels=("no", "no"))),
    "a count too few": lambda claim: replace(claim, released=(1,) * 7),
    "one class": lambda claim: replace(claim, cells=Cells((0.5,) * 0, ("no",)), noise=Noise("laplace", 9.0, 1)),
    "more cells than are read": lambda claim: replace(
        claim, cells=Cells((), tuple(range(400))), noise=Noise("laplace", 9.0, 160_000)
    ),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_claim_with_a_fault_does_not_follow(fault):
    claim = claimed(eq.Budget(1.0))
    assert claim.check() == ()
    assert FAULTY[fault](claim).check()


def with_further(claim, **changes):
    return replace(claim, further_noise=replace(claim.further_noise, **changes))


FAULTY_FURTHER = {
    "halved noise": lambda claim: with_further(claim, scale=claim.further_noise.scale / 2),
    "noise of another law": lambda claim: with_further(claim, law="gaussian"),
    "a bin without noise": lambda claim: with_further(claim, dimension=2),
    "no noise at all": lambda claim: replace(claim, further_noise=None),
    "noise that takes off what others cost": lambda claim: with_further(claim, scale=-claim.further_noise.scale),
    "noise of scale 0": lambda claim: with_further(claim, scale=0.0),
    "edges that do not ascend": lambda claim: replace(claim, cells=replace(SHARES, true_shares=(0.5, 0.5))),
    "counts without the further ones": lambda claim: replace(claim, released=(1,) * 18),
}


@pytest.mark.parametrize("fault", FAULTY_FURTHER)
def test_a_claim_with_a_fault_in_its_further_counts_does_not_follow(fault):
    claim = claimed(eq.Budget(1.0), SHARES)
    assert claim.check() == replace(claim, released=(1,) * 21).check() == ()
    assert FAULTY_FURTHER[fault](claim).check()


FAULTY_TARGETS = {
    "halved noise": lambda claim: with_further(claim, scale=claim.further_noise.scale / 2),
    "a cell without noise": lambda claim: with_further(claim, dimension=4),
    "no noise at all": lambda claim: replace(claim, further_noise=None),
    "knots that do not ascend": lambda claim: replace(claim, cells=replace(DEALT, targets=(0.0, 3.0, 3.0, 6.0))),
    "a knot that is no number": lambda claim: replace(claim, cells=replace(DEALT, targets=(0.0, 3.0, math.nan, 6.0))),
    "shares of classes as well": lambda claim: replace(claim, cells=replace(DEALT, true_shares=(0.1, 0.2, 0.3, 0.4))),
    "targets of classes": lambda claim: replace(claim, cells=replace(TWO, edges=(0.5,) * 0, targets=DEALT.targets)),
    "counts without the further ones": lambda claim: replace(claim, released=(1,) * 12),
}


@pytest.mark.parametrize("fault", FAULTY_TARGETS)
def test_a_claim_with_a_fault_in_its_counts_of_targets_does_not_follow(fault):
    claim = claimed(eq.Budget(1.0), DEALT)
    assert claim.check() == replace(claim, released=(1,) * 17).check() == ()
    assert FAULTY_TARGETS[fault](claim).check()


# Audits from end to end


class HalvedNoise(SeededSource):
    """A fault: half of the noise that was calibrated."""

    def add_whole(self, law, counts, scale):
        return super().add_whole(law, counts, scale / 2)


def in_two_cells(cells, scores, labels, groups):
    """Count with a fault: every row in its cell, and in the one of its class that comes next."""
    _, classes, outputs = cells.shape
    once = counted(cells, scores, labels, groups).reshape(classes, outputs)
    return (once + np.roll(once, 2, axis=1)).ravel()


@functools.cache
def model() -> eq.LogisticRegression:
    rows = np.linspace(-1, 1, 400)[:, None]
    return eq.LogisticRegression(4.0, 0.0, eq.Domain(1.0, classes=(0, 1)), random_state=0).fit(
        rows, (rows[:, 0] > 0).astype(int)
    )


def releases(label: int, seed: int, offsets: tuple[int, ...], runs: int) -> np.ndarray:
    """Return how much speaks for a first row of the second class, over many evaluations of three rows.

    Looked at are the bin in which all three lie, and others so far from it.
    """
    rows, labels, found = np.full((3, 1), 0.9), np.array([label, 0, 0]), []
    margins = model().decision_function(rows)[:, None]
    place = int(counted(cells_of_three(), margins, labels * 0.0, labels * 0).argmax())
    for run in range(runs):
        counts = eq.evaluate(model(), rows, labels, epsilon=2.0, random_state=seed + run).counts.counts[0]
        looked = counts[:, [(place + offset) % counts.shape[1] for offset in offsets]]
        # One row of the second class and two of the first, or none and three: more tells nothing more.
        found.append(np.sum(np.clip(2 * looked[1] - 1, -1, 1) - np.clip(2 * looked[0] - 5, -1, 1)))
    return np.array(found, dtype=float)


@functools.cache
def cells_of_three() -> Cells:
    return eq.evaluate(model(), np.zeros((3, 1)), np.zeros(3, dtype=int), epsilon=2.0, random_state=0).claim.cells


def audited(monkeypatch, source=SeededSource, count=counted, offsets=(0,), runs=400) -> float:
    """Return the epsilon that is measured at least, where 2 is claimed."""
    cells_of_three()
    monkeypatch.setattr("equipoise.evaluation.evaluate.noise_source", source)
    monkeypatch.setattr(carrier, "counted", count)
    first, second = (releases(label, seed, offsets, runs) for label, seed in ((1, 10**6), (0, 2 * 10**6)))
    return lower_bound(first, second, 0.0, np.arange(-3.5, 4.0), FAILURE).epsilon


def test_an_audit_does_not_refute_an_evaluation(monkeypatch):
    assert audited(monkeypatch) <= 2.0


def test_an_audit_catches_halved_noise(monkeypatch):
    assert audited(monkeypatch, source=HalvedNoise) > 2.0


def test_an_audit_catches_a_row_in_two_cells(monkeypatch):
    assert audited(monkeypatch, count=in_two_cells, offsets=(0, 2), runs=1200) > 2.0


@functools.cache
def model_of_three() -> eq.LogisticRegression:
    rows = np.linspace(-1, 1, 900)[:, None]
    labels = np.digitize(rows[:, 0], (-0.3, 0.3))
    return eq.LogisticRegression(8.0, 0.0, eq.Domain(1.0, classes=(0, 1, 2)), random_state=0).fit(rows, labels)


class QuietFurtherCounts(SeededSource):
    """A fault: the noise of further counts, which is the loudest, is forgotten."""

    def add_whole(self, law, counts, scale):
        return counts if scale > 30.0 else super().add_whole(law, counts, scale)


def further_evidence(truth: int, seed: int, runs: int) -> np.ndarray:
    """Return how much the bins of the true class's share speak for a row of class 2 rather than of class 0."""
    rows, found = np.array([[0.9]]), []
    for run in range(runs):
        claim = eq.evaluate(model_of_three(), rows, np.array([truth]), epsilon=0.5, random_state=seed + run).claim
        low, _, high = share_bins(claim.cells, model_of_three().decision_function(rows))[0]
        bins = claim.released[math.prod(claim.cells.shape) :]
        found.append(np.clip(2 * bins[high] - 1, -1, 1) - np.clip(2 * bins[low] - 1, -1, 1))
    return np.array(found, dtype=float)


@pytest.mark.parametrize(("source", "caught"), [(SeededSource, False), (QuietFurtherCounts, True)])
def test_an_audit_catches_further_counts_without_noise(monkeypatch, source, caught):
    monkeypatch.setattr("equipoise.evaluation.evaluate.noise_source", source)
    first, second = (further_evidence(truth, seed, 80) for truth, seed in ((2, 10**6), (0, 2 * 10**6)))
    assert (lower_bound(first, second, 0.0, np.arange(-1.5, 2.0), FAILURE).epsilon > 0.5) is caught


@functools.cache
def model_of_numbers() -> eq.Ridge:
    rows = np.linspace(-1, 1, 400)[:, None]
    return eq.Ridge(4.0, 0.0, eq.Domain(1.0, labels=(-1.0, 1.0)), random_state=0).fit(rows, rows[:, 0])


def evidence_of_targets(target: float, seed: int, runs: int) -> np.ndarray:
    """Return how much the outer cells of the target speak for a row at the upper end rather than at the lower."""
    found = []
    for run in range(runs):
        rows = np.array([[0.3]]), np.array([target])
        claim = eq.evaluate(model_of_numbers(), *rows, epsilon=0.5, random_state=seed + run).claim
        cells = claim.released[math.prod(claim.cells.shape) :]
        found.append(np.clip(2 * cells[-1] - 1, -1, 1) - np.clip(2 * cells[0] - 1, -1, 1))
    return np.array(found, dtype=float)


@pytest.mark.parametrize(("source", "caught"), [(SeededSource, False), (QuietFurtherCounts, True)])
def test_an_audit_catches_counts_of_targets_without_noise(monkeypatch, source, caught):
    monkeypatch.setattr("equipoise.evaluation.evaluate.noise_source", source)
    first, second = (evidence_of_targets(target, seed, 80) for target, seed in ((1.0, 10**6), (-1.0, 2 * 10**6)))
    assert (lower_bound(first, second, 0.0, np.arange(-1.5, 2.0), FAILURE).epsilon > 0.5) is caught
