"""Steps by the reference problem: the closed form against a descent, and a rule that knows public facts alone."""

import dataclasses
import math
from typing import get_args

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

import equipoise as eq
from equipoise.errors import InvalidParameter
from equipoise.ledger import Ledger
from equipoise.planning import accounting, reference
from equipoise.planning.issue import forget
from equipoise.planning.kinds import noisy_sgd
from equipoise.planning.losses import known as known_loss
from equipoise.planning.modelled_descents import begun, cheapest_length, modelled_costs, public_lengths
from equipoise.planning.public_alpha import STEPS_AN_OCTAVE
from equipoise.planning.reference import averaged_descent, mean_curvature
from equipoise.solve.descents.stochastic import Run
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Averaging

Array = NDArray[np.float64]

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
NUMBERS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
AVERAGES: tuple[Averaging, ...] = get_args(Averaging)
NOISY, PHASED, SGD = eq.NoisySGDClassifier, eq.PhasedClassifier, eq.SGDClassifier

# --- the closed form --------------------------------------------------------------------------------------------------


def mean_weights(curvatures: Array, best: float, alpha: float, length: float, run: Run, noise: Array) -> Array:
    """Descend on the quadratic with this noise in the gradient of every step, and return the average of the run."""
    weights, kept = np.zeros_like(curvatures), []
    for step in range(1, run.steps + 1):
        weights = weights - length * (curvatures * (weights - best) + alpha * weights + noise[step - 1])
        if step >= run.averaged_from:
            kept.append(weights)
    return np.mean(kept, axis=0)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("steps", [1, 2, 3, 10, 25])
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_the_closed_form_is_what_a_descent_on_the_quadratic_leaves(alpha, steps, average):
    imagined = reference.reference(losses.named("logistic"), 1.3, 1.0, 9)
    curvatures, best = np.array(imagined.curvatures), imagined.weight
    lengths = np.array([0.05, 0.3, 1.0, 1.7]) / (curvatures.max() + alpha)
    short, left = averaged_descent(imagined, alpha, lengths, steps, begun(average, steps))
    run = Run(batch=1, steps=steps, step=1.0, average=average)
    for place, length in enumerate(lengths):
        clean = mean_weights(curvatures, best, alpha, length, run, np.zeros(steps))
        # Directions do not mix: an impulse in all of them answers for each.
        answers = [mean_weights(curvatures, best, alpha, length, run, impulse) - clean for impulse in np.eye(steps)]
        np.testing.assert_allclose(short[place], 1 - clean / best, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(left[place], np.square(answers).sum(axis=0), rtol=1e-6)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("steps", [1, 7, 10**9])
def test_steps_that_hardly_move_leave_what_their_sums_of_squares_say(average, steps):
    """So slow a descent adds the noise up: the mean over k weights of up to T draws each, of which no digit is lost."""
    imagined = reference.reference(losses.named("squared"), 1.0, 1.0, 1)
    length = 1e-6 / steps / imagined.curvatures[0]
    _, left = averaged_descent(imagined, 0.0, np.array([length]), steps, begun(average, steps))
    early = begun(average, steps)
    late = steps - early
    expected = length**2 * (early + (late + 1) * (2 * late + 1) / (6 * late))
    assert left[0, 0] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("average", AVERAGES)
def test_a_step_that_overshoots_costs_infinitely_much_and_is_never_the_cheapest(average):
    imagined = reference.reference(losses.named("squared"), 1.0, 1.0, 5)
    lengths = np.array([2.0, 0.5]) / max(imagined.curvatures)
    costs = modelled_costs(imagined, 0.0, lengths, 50, average, 1e-6)
    assert costs[0] == math.inf
    assert cheapest_length(lengths, costs) == (costs[1], lengths[1])


def test_the_longest_step_shrinks_errors_where_all_rows_lie_along_one_direction_and_curve_twice_as_much():
    for loss, columns in (("logistic", 108), ("squared", 1), ("hinge", 20)):
        imagined = reference.reference(losses.named(loss), 1.0, 1.0, columns)
        steepest = 2 * float(np.dot(imagined.counts, imagined.curvatures))
        assert abs(1 - public_lengths(imagined, 0.0)[0] * steepest) < 1


# --- the rule ---------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def quick_accounting(monkeypatch):
    """Account by Renyi divergences alone: which step is taken depends on the noise, not on who accounted for it."""
    monkeypatch.setattr(accounting, "MOST_STEPS", 0)
    forget()
    yield
    forget()


# An estimator, and a step of its own that it takes as it stands.
FAMILIES = {"noisy": (NOISY, 3.7), "phased": (PHASED, 0.37), "sgd": (SGD, 0.037)}
every_family = pytest.mark.parametrize("family", FAMILIES)


def made(family: str, **changes: object) -> eq.SGDClassifier:
    given = {"epsilon": 1.0, "delta": 1e-6, "domain": CLASSES, "random_state": 0}
    return FAMILIES[family][0](**given | changes)


@every_family
def test_rows_have_no_say_in_the_step(family):
    generator, found = np.random.default_rng(0), []
    for scale in (0.0, 1.0, 1e6):
        rows = scale * generator.normal(size=(64, 3))
        certificate = made(family).fit(rows, generator.integers(2, size=64)).certificate_
        found.append(dataclasses.replace(certificate, release=None))
    assert found[0] == found[1] == found[2] == made(family).plan(64, 3)


@every_family
def test_a_step_that_is_a_number_is_taken_as_it_stands(family):
    step = FAMILIES[family][1]
    assert made(family, step=step).plan(500, 4).claim.recipe.step == step != made(family).plan(500, 4).claim.recipe.step


def test_what_was_left_open_is_recorded_and_what_was_asked_for_stays():
    certificate = made("noisy").plan(3000, 10)
    recipe = certificate.claim.recipe
    assert certificate.verify() == ()
    assert recipe.batch_size in {2**power for power in range(4, 12)}
    assert recipe.average in AVERAGES
    assert f"{recipe.batch_size}" in certificate.explain()
    for average in AVERAGES:
        asked = made("noisy", batch_size=48, average=average).plan(3000, 10).claim.recipe
        assert (asked.batch_size, asked.average) == (48, average)


def test_the_batch_is_the_largest_that_costs_about_as_little(monkeypatch):
    def plan_of(**changes):
        return made("noisy", **changes).plan(3000, 10).claim.recipe

    chosen = plan_of()
    monkeypatch.setattr(noisy_sgd, "NEARLY", math.inf)
    forget()
    largest = plan_of()
    assert largest.batch_size == 2048 > chosen.batch_size
    monkeypatch.setattr(noisy_sgd, "NEARLY", 0.0)
    forget()
    assert plan_of().batch_size <= chosen.batch_size


@every_family
@pytest.mark.parametrize("factor", [2.0**-10, 2.0**7])
def test_a_step_has_the_unit_of_one_over_squared_rows(family, factor):
    plain, scaled = (
        made(family, domain=eq.Domain(row_norm=norm, classes=(0, 1))).plan(500, 4).claim.recipe
        for norm in (1.0, factor)
    )
    assert scaled.step * factor**2 == pytest.approx(plain.step, rel=1e-6)
    assert (scaled.batch_size, scaled.average) == (plain.batch_size, plain.average)


# Divergences cannot show an epsilon so small.
SMALL = [(1e-3, count, passes, False) for count, passes in ((1, 20), (2, 20))]
LARGE = [(100.0, count, passes, True) for count, passes in ((1, 20), (2, 20), (10**9, 1))]
SLOW = pytest.param(1e-3, 10**9, 1, False, marks=pytest.mark.statistics)


@pytest.mark.parametrize(("epsilon", "n_samples", "passes", "quick"), [*SMALL, *LARGE, SLOW])
def test_extreme_requests_have_a_step_that_verifies(epsilon, n_samples, passes, quick, monkeypatch):
    if not quick:
        monkeypatch.undo()
    delta = min(1e-6, n_samples**-2.0 / 10)
    certificate = made("noisy", epsilon=epsilon, delta=delta, passes=passes).plan(n_samples, 3)
    recipe = certificate.claim.recipe
    assert certificate.verify() == ()
    assert 0 < recipe.step < math.inf
    assert 1 <= recipe.batch_size <= n_samples


@pytest.mark.parametrize("epsilon", [1e-3, 100.0])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_phases_of_extreme_requests_have_a_step_that_verifies(epsilon, loss):
    for n_samples in (2, 10**5):
        # Two rows drown a hinge whatever the step, and no rule picks one.
        given = {"step": 0.1} if loss == "hinge" and n_samples == 2 else {}
        certificate = made("phased", epsilon=epsilon, loss=loss, **given).plan(n_samples, 3)
        assert certificate.verify() == ()
        assert 0 < certificate.claim.recipe.step < math.inf
    with pytest.raises(InvalidParameter, match="two rows"):
        made("phased", epsilon=epsilon, loss=loss).plan(1, 3)


# --- corners ----------------------------------------------------------------------------------------------------------

# The shape of Adult, where the hinge itself predicts one class.
ADULT = (32_561, 108)
CORNERS = {"sgd": eq.SGDClassifier, "svm": eq.LinearSVC}


@pytest.mark.parametrize("family", CORNERS)
def test_a_corner_that_would_drown_is_refused_before_the_spend_with_its_remedies(tmp_path, family):
    given, ledger = {"epsilon": 1.0, "domain": CLASSES}, f"sqlite:///{tmp_path}/ledger.db#rows"
    Ledger(ledger).create(eq.Budget(5.0), "basic")
    rows, targets = np.zeros(ADULT), np.arange(ADULT[0]) % 2
    calls = (
        lambda: CORNERS[family](loss="hinge", ledger=ledger, **given).plan(*ADULT),
        lambda: CORNERS[family](loss="hinge", **given).fit(rows, targets),
    )
    for call in calls:
        with pytest.raises(InvalidParameter, match="what there is to win, by the reference problem") as refused:
            call()
        assert 'loss="smooth-hinge"' in refused.value.remedy
    assert Ledger(ledger).releases() == ()
    # Both remedies are ones: the smooth loss, and a number that is nobody's rule.
    asked = {"sgd": {"step": 0.1}, "svm": {"alpha": 10.0}}[family]
    for remedy in ({"loss": "smooth-hinge"}, {"loss": "hinge", **asked}):
        assert CORNERS[family](**given, **remedy).plan(*ADULT).verify() == ()


@pytest.mark.parametrize("family", ["noisy", "phased", "sgd"])
@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_a_corner_that_drowns_with_or_without_rounding_off_is_refused_by_every_descent(family, loss):
    asked = {"family": family, "loss": loss, "epsilon": 0.1, "domain": CLASSES if loss == "hinge" else NUMBERS}
    with pytest.raises(InvalidParameter, match="what there is to win, by the reference problem") as refused:
        corner(**asked).plan(100, 20)
    # Rounding off would be no remedy.
    assert "without its corner" in str(refused.value)
    assert "smooth-hinge" not in refused.value.remedy
    assert "pass a step" in refused.value.remedy
    assert corner(**asked, step=0.01).plan(100, 20).verify() == ()


@pytest.mark.parametrize("mechanism", ["auto", "output", "spherical-laplace"])
@pytest.mark.parametrize(("facts", "remedy"), [((50, 20), "a larger epsilon"), ((3000, 20), "smooth-hinge")])
def test_a_corner_that_would_drown_is_refused_by_minimisers_with_what_helps(mechanism, facts, remedy):
    model = eq.LinearSVC(loss="hinge", epsilon=0.1, domain=CLASSES, mechanism=mechanism)
    with pytest.raises(InvalidParameter, match="what there is to win, by the reference problem") as refused:
        model.plan(*facts)
    assert remedy in refused.value.remedy
    assert ("without its corner" in str(refused.value)) is ("larger" in remedy)
    assert model.set_params(alpha=0.1).plan(*facts).verify() == ()


@pytest.mark.parametrize("family", ["minimiser", "sgd"])
def test_a_corner_that_is_hardly_rounded_off_is_refused_as_one_where_a_wider_one_helps(family):
    def model(loss, epsilon=1.0, **asked):
        if family == "sgd":
            return corner(family, loss, epsilon=epsilon, domain=CLASSES, **asked)
        return eq.LinearSVC(loss=loss, epsilon=epsilon, domain=CLASSES, **asked)

    with pytest.raises(InvalidParameter, match=r"smooth-hinge:1e-09 loss keeps half") as refused:
        model("smooth-hinge:1e-9").plan(1000, 20)
    assert 'loss="smooth-hinge"' in refused.value.remedy
    assert model("smooth-hinge").plan(1000, 20).verify() == ()
    # Where no width helps, and where the ridge or the step is a number, it is taken as it stands.
    assert model("smooth-hinge:0.01", epsilon=0.01).plan(100, 20).verify() == ()
    number = {"step": 1e-9} if family == "sgd" else {"alpha": 590.0}
    assert model("smooth-hinge:1e-9", **number).plan(1000, 20).verify() == ()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_corner_that_is_hardly_rounded_off_has_the_ridge_of_a_corner(delta):
    def alpha(loss):
        model = eq.LinearSVC(loss=loss, epsilon=1.0, delta=delta, domain=CLASSES, mechanism="output")
        return model.plan(1000, 20).claim.alpha

    # To a step of the grid of ridges.
    for width in (0.01, 0.001):
        assert abs(math.log2(alpha(f"smooth-hinge:{width}") / alpha("hinge"))) <= 1 / STEPS_AN_OCTAVE


@pytest.mark.parametrize("width", [1e-9, 1e-3, 0.1, 0.5])
@pytest.mark.parametrize("deviation", [0.01, 0.3, 5.0])
def test_what_noise_adds_to_a_rounded_corner_is_below_both_of_its_bounds(width, deviation):
    """The mean over normal noise at the worst of many predictions, by a sum over its quantiles."""
    loss, known = losses.named(f"smooth-hinge:{width}"), known_loss(losses.named(f"smooth-hinge:{width}"))
    shares = (np.arange(2_000) + 0.5) / 2_000
    moves = deviation * scipy.stats.norm.ppf(shares)
    rises = [
        np.mean([loss.value(place + move, 1.0) for move in moves]) - loss.value(place, 1.0)
        for place in 1 + max(width, deviation) * np.linspace(-1.5, 1.5, 13)
    ]
    bound = known.noise_cost(deviation, rotation_invariant=True)
    assert max(rises) <= bound
    assert bound == min(deviation**2 / (4 * width), deviation)


def test_the_rarer_a_class_is_the_more_of_a_hinge_is_drowned():
    def planned(family, rows, epsilon, rarer):
        domain = eq.Domain(1.0, classes=(0, 1), prevalence=(1 - rarer, rarer))
        try:
            corner(family, "hinge", epsilon=epsilon, domain=domain).plan(rows, 20)
        except InvalidParameter:
            return False
        return True

    rates = (0.3, 0.1, 0.01, 0.001, 1e-4)
    assert [planned("noisy", 100_000, 1.0, rate) for rate in rates] == [True, True, True, False, False]
    assert [planned("sgd", 10**6, 50.0, rate) for rate in rates] == [True, True, True, False, False]
    # More rows and a larger epsilon are the remedy that they are told to be.
    assert planned("noisy", 10**6, 5.0, 0.001)
    # The logistic loss, whose curvature says by itself how rare a class is, is as curved to a factor.
    for loss in ("hinge", "smooth-hinge"):
        for rate in rates[1:]:
            found, wanted = (mean_curvature(losses.named(name), 1.0, 3.0, rate) for name in (loss, "logistic"))
            assert wanted / 1.5 < found < 1.5 * wanted


@pytest.mark.parametrize(("family", "facts"), [("sgd", (10**9, 10, 1000.0, 0.3)), ("noisy", (10**6, 10, 100.0, 1.0))])
def test_what_a_ridge_that_is_a_number_costs_itself_is_no_reason_to_refuse_a_corner(family, facts):
    n_samples, columns, epsilon, alpha = facts
    asked = {"family": family, "loss": "hinge", "domain": CLASSES, "alpha": alpha}
    certificate = corner(**asked, epsilon=epsilon).plan(n_samples, columns)
    assert certificate.verify() == ()
    # Noise is still a reason, with the same ridge.
    with pytest.raises(InvalidParameter, match="keeps half of what there is to win"):
        corner(**asked, epsilon=0.01).plan(100, columns)


def corner(family: str, loss: str, **given):
    sides = {
        "noisy": (eq.NoisySGDClassifier, eq.NoisySGDRegressor),
        "phased": (eq.PhasedClassifier, eq.PhasedRegressor),
        "sgd": (eq.SGDClassifier, eq.SGDRegressor),
    }
    delta = {"delta": 1e-6} if family == "noisy" else {}
    return sides[family][loss == "absolute"](loss=loss, **delta, **given)
