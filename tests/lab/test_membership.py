"""Membership inference as a tool: members of an overfitted model are found, a constant tells nothing, ceilings hold."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import equipoise as eq
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.lab import Bootstrap, Ceiling, attack_curve, membership
from equipoise.lab.attack_finding import LOW_RATE
from equipoise.lab.membership_attack import LogitConfidence, OwnLoss, Residual, _halves, likelihood_ratios

FAST = Bootstrap(replicates=80)


def pool(rows: int, seed: int = 0, width: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Return made-up rows of norm 1 at most, and two classes that overlap."""
    stream = np.random.default_rng(seed)
    X = stream.normal(size=(rows, width))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    return X, (3 * X[:, 0] + stream.normal(size=rows) > 0).astype(int)


class Memory:
    """A model that says of every row whether it was trained on it, but for lies at a given rate."""

    def __init__(self, X, lies: float = 0.0, seed: int = 0) -> None:
        self.seen, self.lies, self.stream = set(X[:, 0].tolist()), lies, np.random.default_rng(seed)

    def predict(self, X):
        known = np.array([value in self.seen for value in X[:, 0].tolist()])
        return (known ^ (self.stream.random(len(X)) < self.lies)).astype(float)


def remember(lies: float):
    return lambda X, y, seed: Memory(X, lies, seed)


# --- planted answers --------------------------------------------------------------------------------------------------


def test_a_memoriser_is_found_out_and_breaks_every_ceiling():
    X, _ = pool(600)
    found = membership(remember(0.0), X, np.ones(600), shadows=8, ceiling=Ceiling(1.0), bootstrap=FAST)
    for curve in found.attacks.values():
        assert curve.auc.value == 1
        assert curve.auc.low > 0.99
        assert curve.advantage.low > 0.99
        assert curve.tpr_at_low_fpr.low > 0.99
    assert set(found.above_ceiling) == set(found.attacks)
    assert all(set(figures) == {"auc", "tpr_at_low_fpr", "advantage"} for figures in found.above_ceiling.values())
    assert "above the ceiling" in str(found)


def test_randomised_memory_leaks_what_its_lies_leave():
    """Each answer lies at rate 1/(1+e^3): rates are e^3 apart, above the ceiling at 1 and below that at 6."""
    X, _ = pool(200)
    lies = 1 / (1 + math.exp(3))
    found = membership(remember(lies), X, np.ones(200), shadows=16, bootstrap=FAST, ceiling=Ceiling(1.0))
    assert 1 - 2 * lies in found.likelihood_ratio.advantage
    assert 1 - lies in found.loss_threshold.auc
    assert found.above_ceiling
    # One row replaced changes two answers, so this trainer's true epsilon is 6: under that ceiling it stays.
    private = membership(remember(lies), X, np.ones(200), shadows=16, bootstrap=FAST, ceiling=Ceiling(6.0))
    assert not private.above_ceiling


def test_an_overfitted_tree_is_attacked_better_by_likelihood_ratios_than_by_its_loss():
    X, y = pool(300, width=12)
    found = membership(lambda X, y, seed: DecisionTreeClassifier(random_state=seed).fit(X, y), X, y, bootstrap=FAST)
    assert found.loss_threshold.auc.low > 0.55
    assert found.likelihood_ratio.auc.value > found.loss_threshold.auc.value + 0.02
    assert found.verdict == "no privacy was stated"


def test_an_overfitted_regression_is_attacked_by_its_residuals():
    X, _ = pool(80, width=20)
    y = X[:, 0] + np.random.default_rng(1).normal(size=80)
    found = membership(lambda X, y, seed: LinearRegression().fit(X, y), X, y, shadows=64, bootstrap=FAST)
    for curve in found.attacks.values():
        assert curve.auc.low > 0.6
    assert found.likelihood_ratio.auc.value > 0.75


class Constant:
    def predict(self, X):
        return np.full(len(X), 0.3)


@pytest.mark.parametrize("shadows", [8, 64])
def test_a_constant_model_tells_nothing(shadows):
    X, y = pool(101)
    found = membership(lambda X, y, seed: Constant(), X, y, shadows=shadows, bootstrap=FAST)
    assert found.trained_on == 50
    for name in ("likelihood_ratio", "likelihood_ratio_offline"):
        curve = getattr(found, name)
        assert (curve.auc.value, curve.advantage.value) == (0.5, 0.0)
        assert curve.tpr_at_low_fpr.value == pytest.approx(LOW_RATE)
        assert curve.false_positive_rate.tolist() == curve.true_positive_rate.tolist() == [0, 1]
    # The loss differs from row to row, but not with membership.
    assert 0.5 in found.loss_threshold.auc
    assert 0.0 in found.loss_threshold.advantage


def test_a_private_model_stays_below_its_ceiling():
    X, y = pool(300)

    def train(X, y, seed):
        domain = eq.Domain(row_norm=1.0, classes=(0, 1))
        return eq.LogisticRegression(epsilon=1.0, domain=domain, random_state=seed).fit(X, y)

    found = eq.lab.membership(train, X, y, ceiling=eq.lab.Ceiling(1.0), bootstrap=FAST)
    assert not found.above_ceiling
    assert found.verdict == "no attack lies above the ceiling"
    for curve in found.attacks.values():
        assert curve.auc.high < found.ceiling.auc
        assert curve.advantage.high < found.ceiling.advantage
    assert "ceiling at epsilon = 1, delta = 0 (one row replaced)" in found.explain()


# --- the ceiling ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_one_epsilon_is_the_ceiling_under_replace_one_and_it_is_attained(epsilon):
    """Over all halves of a small pool: randomised response on whether one row is in is epsilon-private, and attains."""
    honest = math.exp(epsilon) / (1 + math.exp(epsilon))
    halves = list(itertools.combinations(range(6), 3))
    says_in = {half: honest if 0 in half else 1 - honest for half in halves}
    neighbours = [(a, b) for a in halves for b in halves if len(set(a) & set(b)) == 2]
    assert max(says_in[a] / says_in[b] for a, b in neighbours) == pytest.approx(math.exp(epsilon))
    tpr, fpr = (np.mean([says_in[half] for half in halves if (0 in half) is inside]) for inside in (True, False))
    ceiling = Ceiling(epsilon)
    assert tpr == pytest.approx(float(ceiling.at(fpr)))
    assert tpr - fpr == pytest.approx(ceiling.advantage)


@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_ceiling_is_the_curve_of_both_inequalities(epsilon, delta):
    ceiling, rates = Ceiling(epsilon, delta), np.linspace(0, 1, 2001)
    heights = ceiling.at(rates)
    factor = math.exp(epsilon)
    assert (heights <= factor * rates + delta + 1e-12).all()
    assert (1 - rates <= factor * (1 - heights) + delta + 1e-12).all()
    higher = np.minimum(heights + 1e-6, 1)
    broken = (higher > factor * rates + delta + 1e-12) | (1 - rates > factor * (1 - higher) + delta + 1e-12)
    assert (broken | (heights == 1)).all()
    assert np.trapezoid(heights, rates) == pytest.approx(ceiling.auc, abs=1e-5)
    assert np.max(heights - rates) == pytest.approx(ceiling.advantage, abs=1e-3)


def test_adding_or_removing_is_a_group_of_two():
    ceiling = Ceiling.add_or_remove(0.5, 1e-3)
    assert (ceiling.epsilon, ceiling.delta) == pytest.approx((1.0, 1e-3 * (1 + math.exp(0.5))))
    with pytest.raises(InvalidParameter, match="epsilon"):
        Ceiling(-1.0)


# --- the protocol -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [40, 41])
def test_models_see_halves_of_one_size_and_shadows_come_in_disjoint_pairs(rows):
    halves = _halves(np.random.default_rng(0), rows, 10, 5)
    assert [len(half) for half in halves] == [20] * 15
    assert all(len(set(half.tolist())) == 20 for half in halves)
    for first, second in zip(halves[:10:2], halves[1:10:2], strict=True):
        assert not set(first.tolist()) & set(second.tolist())
    assert any(half.tolist() != sorted(half.tolist()) for half in halves)


def test_the_same_seed_gives_the_same_finding_and_another_seed_another():
    X, y = pool(60)
    seeds: list[int] = []

    def train(X, y, seed):
        seeds.append(seed)
        return LogisticRegression().fit(X, y)

    first, again, other = (membership(train, X, y, shadows=8, bootstrap=FAST, seed=seed) for seed in (3, 3, 4))
    assert str(first) == str(again) != str(other)
    assert seeds[:24] == seeds[24:48] != seeds[48:]
    assert len(set(seeds[:24])) == 24


def test_frames_stay_frames_and_give_the_same_answer():
    X, y = pool(60)
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(8)]).set_index(np.arange(60) // 3)
    found = membership(lambda X, y, seed: LogisticRegression().fit(X, y), X, y, shadows=8, bootstrap=FAST)
    framed = membership(lambda X, y, seed: LogisticRegression().fit(X, y), frame, y, shadows=8, bootstrap=FAST)
    assert str(framed) == str(found)


def test_a_loss_of_ones_own_replaces_the_default():
    X, _ = pool(60)
    y = X[:, 0] + np.random.default_rng(1).normal(size=60)
    train = lambda X, y, seed: LinearRegression().fit(X, y)  # noqa: E731
    squared = lambda model, X, y: (model.predict(X) - y) ** 2  # noqa: E731
    found = membership(train, X, y, shadows=8, bootstrap=FAST)
    own = membership(train, X, y, shadows=8, bootstrap=FAST, loss=squared)
    assert own.loss_threshold.auc == found.loss_threshold.auc
    assert own.likelihood_ratio.auc != found.likelihood_ratio.auc


def test_what_is_read_from_a_model_is_the_logit_the_margin_or_the_label():
    X, y = pool(200)
    names = np.array(["no", "yes"])[y]
    model = LogisticRegression().fit(X, names)
    sign = np.where(y == 1, 1, -1)
    logits = LogitConfidence().read(model, X, names)
    assert logits == pytest.approx(sign * model.decision_function(X), rel=1e-6)
    margins = LogitConfidence().read(LinearSVC().fit(X, names), X, names)
    assert ((margins > 0) == (LinearSVC().fit(X, names).predict(X) == names)).all()
    three = LogisticRegression().fit(X, y + (X[:, 1] > 0.3))
    truth = y + (X[:, 1] > 0.3)
    own = three.predict_proba(X)[np.arange(200), truth]
    assert LogitConfidence().read(three, X, truth) == pytest.approx(np.log(own / (1 - own)))

    class Labels:
        classes_ = ("no", "yes")

        def predict(self, X):
            return np.repeat("no", len(X))

    assert LogitConfidence().read(Labels(), X, names).tolist() == (names == "no").tolist()
    # A class that one half lacks: its model gives it no probability, and the number stays finite.
    assert np.isfinite(LogitConfidence().read(model, X, np.where(y == 1, "yes", "maybe"))).all()


@pytest.mark.parametrize("shadows", [10, 64])
def test_likelihood_ratios_are_those_of_gaussians_fitted_row_by_row(shadows):
    stream = np.random.default_rng(shadows)
    inside = np.array([stream.permutation(shadows) < shadows // 2 for _ in range(5)]).T
    read, attacked = stream.normal(inside * 1.5, 1 + inside), stream.normal(size=(3, 5))
    online, offline = likelihood_ratios(read, inside, attacked, Residual())
    spreads = {
        side: np.array([read[inside[:, row] == side, row].std(ddof=1) for row in range(5)]) for side in (True, False)
    }
    if shadows < 64:
        spreads = {side: np.full(5, math.sqrt(np.mean(spread**2))) for side, spread in spreads.items()}
    for row in range(5):
        fits = {
            side: scipy.stats.norm(read[inside[:, row] == side, row].mean(), spreads[side][row])
            for side in (True, False)
        }
        assert online[:, row] == pytest.approx(
            fits[True].logpdf(attacked[:, row]) - fits[False].logpdf(attacked[:, row])
        )
        out = fits[False].mean()
        assert offline[:, row] == pytest.approx(np.sign(out) * (out - attacked[:, row]) / spreads[False][row])


# --- the numbers keep their promise -----------------------------------------------------------------------------------


def test_the_area_and_the_curve_are_those_of_a_reference():
    stream = np.random.default_rng(0)
    members = stream.random((4, 300)) < 0.5
    scores = np.round(stream.normal(members), 1)
    curve = attack_curve(scores, members, FAST)
    assert curve.auc.value == pytest.approx(roc_auc_score(members.ravel(), scores.ravel()))
    assert np.trapezoid(curve.true_positive_rate, curve.false_positive_rate) == pytest.approx(curve.auc.value)
    assert (np.diff(curve.false_positive_rate) >= 0).all()
    assert (np.diff(curve.true_positive_rate) >= 0).all()


def test_the_low_rate_lies_on_the_line_between_corners():
    others = np.arange(500.0)
    scores = np.concatenate([others, np.full(250, 498.5), np.full(250, -1.0)])
    members = np.arange(1000) >= 500
    curve = attack_curve(np.array([scores, scores]), np.array([members, members]), FAST)
    # Two in a thousand others lie above the first half of the members: half way there, nothing but the line.
    assert curve.tpr_at_low_fpr.value == pytest.approx(0.0)
    assert curve.tpr_at_low_fpr.low == 0
    assert curve.tpr_at_low_fpr.high > 0.5


def clustered(stream: np.random.Generator, targets: int, rows: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Return scores that hang together by row and by model, and who is a member."""
    members = np.array([stream.permutation(rows) < rows // 2 for _ in range(targets)])
    effects = stream.normal(size=rows), stream.normal(size=(targets, 1))
    return shift * members + effects[0] + 0.5 * effects[1] + stream.normal(size=members.shape), members


def test_intervals_hold_the_truth_although_scores_hang_together():
    stream, runs, shift = np.random.default_rng(2), 60, 1.0
    # The difference of two scores is normal, with the variances of both rows, both models and both errors.
    truth = scipy.stats.norm.cdf(shift / math.sqrt(2 * (1 + 0.25 + 1)))
    gap = 2 * scipy.stats.norm.cdf(shift / 2 / math.sqrt(1 + 0.25 + 1)) - 1
    missed = np.zeros(2)
    for _ in range(runs):
        scores, members = clustered(stream, 8, 60, shift)
        curve = attack_curve(scores, members, Bootstrap(replicates=80, confidence=0.9))
        missed += [truth not in curve.auc, curve.advantage.low > gap]
        assert curve.auc.high - curve.auc.low < 0.25
    # On fresh draws a true promise fails this with probability 1e-6.
    assert (missed <= scipy.stats.binom.isf(1e-6, runs, 0.1)).all()


def test_intervals_know_that_some_models_leak_and_others_do_not():
    """As if all scores were independent, the interval would miss the truth in half of the runs."""
    stream, runs, missed = np.random.default_rng(3), 60, 0
    truth = 0.5 * 0.5 + 0.5 * scipy.stats.norm.cdf(2 / math.sqrt(2))
    for _ in range(runs):
        members = np.array([stream.permutation(200) < 100 for _ in range(16)])
        leaks = 2.0 * (stream.random((16, 1)) < 0.5)
        curve = attack_curve(stream.normal(leaks * members), members, Bootstrap(replicates=80, confidence=0.9))
        missed += truth not in curve.auc
    assert missed <= scipy.stats.binom.isf(1e-6, runs, 0.1)


@pytest.mark.parametrize("runs", [15, pytest.param(40, marks=pytest.mark.statistics)])
def test_the_rate_at_few_false_positives_is_in_its_interval(runs):
    stream = np.random.default_rng(4)
    truth = scipy.stats.norm.sf(scipy.stats.norm.isf(LOW_RATE) - 2)
    missed = 0
    for _ in range(runs):
        members = np.array([stream.permutation(5000) < 2500 for _ in range(2)])
        curve = attack_curve(stream.normal(2.0 * members), members, Bootstrap(replicates=80, confidence=0.9))
        missed += truth not in curve.tpr_at_low_fpr
        assert curve.tpr_at_low_fpr.high < 0.5
    assert missed <= scipy.stats.binom.isf(1e-6, runs, 0.1)


def test_noise_has_no_advantage():
    stream = np.random.default_rng(6)
    found = []
    for _ in range(40):
        members = np.array([stream.permutation(40) < 20 for _ in range(4)])
        found.append(attack_curve(stream.normal(size=members.shape), members, FAST).advantage.value)
    # The best threshold in hindsight would show about 0.1 here; the mean of honest ones is 0 but for its error.
    assert abs(np.mean(found)) < 4.9 * np.std(found) / math.sqrt(40)
    assert abs(np.mean(found)) < 0.06


# --- what a user reads ------------------------------------------------------------------------------------------------

X20, Y20 = pool(40)


def logistic(X, y, seed):
    return LogisticRegression().fit(X, y)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"train": 3}, InvalidParameter, "train=lambda X, y, seed"),
        ({"train": lambda X, y: None}, InvalidParameter, "a trainer that fits.*TypeError"),
        ({"train": lambda X, y, seed: LogisticRegression()}, InvalidParameter, "not fitted|object without predict"),
        ({"train": lambda X, y, seed: object()}, InvalidParameter, "object without predict"),
        ({"X": X20[:10], "y": Y20[:10]}, InvalidData, "a pool of 20 rows"),
        ({"y": Y20[:-1]}, InvalidData, r"shape \(39,\) for 40 rows"),
        ({"shadows": 7}, InvalidParameter, "an even number of 8 shadow models"),
        ({"shadows": 9}, InvalidParameter, "an even number"),
        ({"targets": 1}, InvalidParameter, "2 targets or more"),
        ({"seed": -1}, InvalidParameter, "a seed"),
        ({"loss": lambda model, X, y: 0.3}, InvalidData, "a loss for every row, not their mean"),
        ({"loss": lambda model, X, y: np.full(40, np.inf)}, InvalidData, "losses as finite numbers"),
        ({"train": lambda X, y, seed: LogisticRegression().fit(X, y + 5)}, InvalidData, "knows the labels of y"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(change, error, words):
    asked = {"train": logistic, "X": X20, "y": Y20, "shadows": 8, "targets": 2, "bootstrap": FAST} | change
    with pytest.raises(error, match=words) as caught:
        membership(**asked)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("scores", "members", "words"),
    [
        (np.zeros((1, 40)), np.arange(40)[None] < 20, "two or more models"),
        (np.full((2, 4), np.nan), [[True, False, True, False]] * 2, "finite scores"),
        (np.zeros((2, 4)), np.ones((2, 4), bool), "only one kind"),
    ],
)
def test_scores_that_have_no_curve_are_refused(scores, members, words):
    with pytest.raises(InvalidData, match=words):
        attack_curve(scores, members)


def test_an_error_of_the_library_passes_through_a_trainer():
    with pytest.raises(eq.errors.DomainMissing):
        membership(lambda X, y, seed: eq.LogisticRegression(epsilon=1.0).fit(X, y), X20, Y20, shadows=8)


def test_the_finding_speaks_in_words():
    found = membership(logistic, X20, Y20, shadows=8, targets=4, bootstrap=FAST, ceiling=Ceiling(2.0, 1e-3))
    assert str(found).startswith("measured: loss threshold: AUC ")
    text = found.explain()
    assert "4 models attacked with 8 shadow models, each trained on 20 of 40 rows" in text
    assert "rests on about 0.08 false positives" in text
    assert "epsilon = 2, delta = 0.001 (one row replaced)" in text
    assert "AUC" in str(found.loss_threshold)
    assert OwnLoss(lambda model, X, y: np.zeros(len(y))).direction(np.zeros(2)).tolist() == [1, 1]


def test_the_laboratory_opens_one_room_at_a_time():
    assert set(dir(eq.lab)) == set(eq.lab.__all__)
    assert all(getattr(eq.lab, name).__doc__ for name in eq.lab.__all__)
    with pytest.raises(AttributeError, match="public names"):
        _ = eq.lab.no_such_name
