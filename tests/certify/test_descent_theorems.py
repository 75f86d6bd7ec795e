"""Bounds on descents: witnesses that reach them, brute force over a row's places, and tables that never exceed them."""

import itertools
import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import equipoise as eq
from equipoise.certify import theorems
from equipoise.certify.theorems.descent import computed
from equipoise.certify.theorems.random_hits import LEFT_OUT
from equipoise.data.rows import row_source
from equipoise.errors import InvalidParameter
from equipoise.planning import stability
from equipoise.planning.rules import settled
from equipoise.solve.descents.stochastic import Run, run_passes
from equipoise.solve.losses import arrays_of
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.constants import masked
from equipoise.vocabulary.constants import setting as setting_of
from equipoise.vocabulary.facts import Domain, Problem, Recipe, Setting

# A Huber loss whose residuals never come below its cap is straight: every row pulls with the cap, whatever the weights.
CAP, FAR = 0.5, 1e4
STRAIGHT = Problem(losses.named(f"huber:{CAP}"), penalties.named("none", 0.0), Domain(1.0, labels=(-FAR, FAR)))


def setting(problem: Problem, recipe: Recipe, n_samples: int, n_features: int) -> Setting:
    """Return what a theorem sees, step="decay" as numbers."""
    return setting_of(problem, settled(problem, recipe), n_samples, n_features)


def with_ridge(alpha: float) -> Problem:
    return replace(STRAIGHT, penalty=penalties.named("l2", alpha)) if alpha > 0 else STRAIGHT


def bound(name: str, problem: Problem, recipe: Recipe, n_samples: int) -> float:
    """Return what a theorem says about real numbers."""
    return theorems.members()[name]().bound(setting(problem, recipe, n_samples, 1)).sensitivity


def run_of(problem: Problem, recipe: Recipe, n_samples: int) -> Run:
    recipe = setting(problem, recipe, n_samples, 1).recipe
    return Run(
        batch=recipe.batch_size,
        steps=recipe.steps(n_samples),
        step=recipe.length,
        decay=recipe.decay,
        average=recipe.average,
        radius=problem.domain.radius or math.inf,
        clip=math.inf if recipe.clip is None else recipe.clip,
        ridge=problem.penalty.smoothness(),
        l1=problem.penalty.corner,
        short=problem.domain.row_norm * math.sqrt(1 - recipe.dropout) if recipe.dropout else math.inf,
    )


def moved(problem: Problem, recipe: Recipe, n_samples: int, row: int, orders, **coins) -> float:
    """Return how far one weight moves when a row of 1s changes the sign of its far target."""
    ends = []
    for sign in (1.0, -1.0):
        targets = np.full(n_samples, FAR)
        targets[row] *= sign
        rows = row_source(np.ones((n_samples, 1)), problem.domain, problem.intercept)
        ends.append(run_passes(rows, targets, problem.loss, run_of(problem, recipe, n_samples), orders, **coins))
    return float(np.linalg.norm(ends[0] - ends[1]))


# --- witnesses: straight losses reach the bounds that say so ----------------------------------------------------------


@pytest.mark.parametrize("order", ["permutation", "fresh"])
@pytest.mark.parametrize(("n_samples", "batch", "passes"), [(10, 1, 3), (10, 3, 2.5), (10, 10, 7), (7, 2, 0.4)])
def test_b1_is_reached_by_a_straight_loss(n_samples, batch, passes, order, witness):
    recipe = Recipe(passes=passes, batch_size=batch, step=0.3, order=order)
    observed = moved(STRAIGHT, recipe, n_samples, 0, [np.arange(n_samples)] * 8)
    words = f"{n_samples} rows, batch {batch}, {passes} passes"
    witness("B1", bound("B1", STRAIGHT, recipe, n_samples), observed, words)
    assert observed == pytest.approx(bound("B1", STRAIGHT, recipe, n_samples), rel=1e-9)
    hits = math.ceil(recipe.steps(n_samples) / math.ceil(n_samples / batch))
    assert observed == pytest.approx(hits * 0.3 * 2 * CAP / batch, rel=1e-9)


def test_b1_is_reached_with_steps_that_decay_faster_than_the_ridge_allows():
    problem, recipe = with_ridge(1e-9), Recipe(passes=3, step=0.5, decay=0.8)
    observed = moved(problem, recipe, 8, 0, [np.arange(8)] * 3)
    assert observed == pytest.approx(bound("B1", problem, recipe, 8), rel=1e-6)
    assert theorems.members()["B4"]().bound(setting(problem, recipe, 8, 1)).value is None


@pytest.mark.parametrize("radius", [0.2, 1.5])
def test_the_ball_is_reached_by_a_single_row_whose_steps_leave_it(radius, witness):
    problem = replace(STRAIGHT, domain=replace(STRAIGHT.domain, radius=radius))
    recipe = Recipe(passes=8, step=1.0)
    observed = moved(problem, recipe, 1, 0, [np.arange(1)] * 8)
    witness("ball.descent", bound("ball.descent", problem, recipe, 1), observed, f"one row, radius {radius}")
    assert observed == pytest.approx(bound("ball.descent", problem, recipe, 1), rel=1e-6)


@pytest.mark.parametrize(
    ("average", "passes", "hits"), [("uniform", 4, 2.5), ("suffix", 4, 3.5), ("uniform", 3.5, 2.2857), ("last", 4, 4)]
)
def test_b2_is_reached_by_a_row_that_comes_first(average, passes, hits, witness):
    # docs/proofs/B2.md: (k + 1)/2 for the mean of 4 passes over 50 rows.
    recipe = Recipe(passes=passes, step=0.2, average=average)
    observed = moved(STRAIGHT, recipe, 50, 0, [np.arange(50)] * 4)
    assert observed / (0.2 * 2 * CAP) == pytest.approx(hits, rel=1e-4)
    witness("B2", bound("B1", STRAIGHT, recipe, 50), observed, f"{average} of {passes} passes over 50 rows")
    assert observed == pytest.approx(bound("B1", STRAIGHT, recipe, 50), rel=1e-9)


def test_the_suffix_of_one_step_is_that_step():
    recipe = Recipe(passes=1, batch_size=5, step=0.2, average="suffix")
    assert bound("B1", STRAIGHT, recipe, 5) == pytest.approx(0.2 * 2 * CAP / 5)
    assert moved(STRAIGHT, recipe, 5, 0, [np.arange(5)]) == pytest.approx(0.2 * 2 * CAP / 5)


@pytest.mark.parametrize(("n_samples", "batch", "passes"), [(10, 1, 3), (12, 3, 2.5), (5, 1, 1.2), (6, 6, 40)])
@pytest.mark.parametrize("alpha", [0.02, 0.4])
def test_b3_is_reached_by_a_row_that_the_last_step_meets(n_samples, batch, passes, alpha, witness):
    problem, recipe = with_ridge(alpha), Recipe(passes=passes, batch_size=batch, step=0.5)
    batches = math.ceil(n_samples / batch)
    rest = recipe.steps(n_samples) - (math.ceil(recipe.steps(n_samples) / batches) - 1) * batches
    observed = moved(problem, recipe, n_samples, (rest - 1) * batch, [np.arange(n_samples)] * 41)
    words = f"{n_samples} rows, ridge {alpha}, {passes} passes"
    witness("B3", bound("B3", problem, recipe, n_samples), observed, words)
    assert observed == pytest.approx(bound("B3", problem, recipe, n_samples), rel=1e-9)


def test_b3_for_fresh_orders_is_reached_and_the_form_for_one_order_is_exceeded():
    # docs/proofs/B3.md: five rows, six steps; last in the first pass, first in the second.
    problem = with_ridge(1.0)
    recipe = Recipe(passes=1.2, step=0.5, order="fresh")
    observed = moved(problem, recipe, 5, 4, [np.arange(5), np.array([4, 0, 1, 2, 3])])
    assert observed / (0.5 * 2 * CAP) == pytest.approx(1.5, rel=1e-9)
    assert observed == pytest.approx(bound("B3", problem, recipe, 5), rel=1e-9)
    one_order = bound("B3", problem, replace(recipe, order="permutation"), 5)
    assert one_order / (0.5 * 2 * CAP) == pytest.approx(1.031, rel=1e-3)


def test_b3_holds_for_averages_of_fresh_orders_on_the_way():
    problem, recipe = with_ridge(0.5), Recipe(passes=2, step=0.9, order="fresh", average="suffix")
    claimed = bound("B3", problem, recipe, 4)
    for first, second in itertools.product(range(4), repeat=2):
        orders = [np.roll(np.arange(4), first), np.roll(np.arange(4), second)]
        assert moved(problem, recipe, 4, 0, orders) <= claimed


@pytest.mark.parametrize("steepness", [1, 2, 6, 20])
@pytest.mark.parametrize("passes", [1, 3])
def test_b4_is_reached_once_steps_decay(steepness, passes, witness):
    # docs/proofs/B4.md: ratio 1.000 for beta/mu in {1, 2, 6, 20}; the row is last, where the steps decay already.
    problem, recipe = with_ridge(1 / steepness), Recipe(passes=passes, step="decay")
    observed = moved(problem, recipe, 30, 29, [np.arange(30)] * passes)
    witness("B4", bound("B4", problem, recipe, 30), observed, f"beta/mu {steepness}, {passes} passes over 30 rows")
    assert observed == pytest.approx(bound("B4", problem, recipe, 30), rel=1e-9)
    assert observed == pytest.approx(2 * CAP * steepness / 30, rel=1e-9)


@pytest.mark.parametrize("average", ["uniform", "suffix"])
def test_b4_holds_for_averages_wherever_the_row_stands(average):
    problem, recipe = with_ridge(0.5), Recipe(passes=3, batch_size=2, step="decay", average=average)
    claimed = bound("B4", problem, recipe, 12)
    reached = max(moved(problem, recipe, 12, row, [np.arange(12)] * 3) for row in range(12))
    assert 0.4 * claimed < reached <= claimed


def test_decay_above_the_ridge_breaks_b4s_formula():
    # docs/proofs/B4.md, hypotheses: with decay > mu the statement is false, and the theorem does not offer it.
    problem, recipe = with_ridge(0.1), Recipe(passes=1, step=0.5, decay=1.0)
    observed = moved(problem, recipe, 30, 1, [np.arange(30)])
    assert observed > 1.5 * 2 * CAP / (1.0 * 30)
    assert theorems.members()["B4"]().bound(setting(problem, recipe, 30, 1)).value is None
    assert observed <= stability.smallest(setting(problem, recipe, 30, 1)).sensitivity


# --- random meetings --------------------------------------------------------------------------------------------------


def random_setting(batch: int = 1, alpha: float = 0.0, n_samples: int = 20, **more) -> Setting:
    recipe = Recipe(passes=3, batch_size=batch, step=0.3, order="replacement")
    return setting(with_ridge(alpha), replace(recipe, **more), n_samples, 1)


@pytest.mark.parametrize("batch", [1, 4])
def test_b5_is_reached_for_every_number_of_draws(batch, witness):
    situation = random_setting(batch)
    theorem, coins = theorems.members()["B5"](), np.random.default_rng(0)
    seen = set()
    for _ in range(40):
        drawn = [coins.integers(20, size=math.ceil(20 / batch) * batch) for _ in range(3)]
        hits = int(sum((order == 0).sum() for order in drawn))
        observed = moved(situation.problem, situation.recipe, 20, 0, drawn)
        assert observed == pytest.approx(hits * 0.3 * 2 * CAP / batch, abs=1e-9)
        assert observed <= theorem.distance(situation, hits) * (1 + 1e-9) + 1e-12
        if hits not in seen:
            witness("B5", theorem.distance(situation, hits), observed, f"batch {batch}", over=("meetings", hits))
        seen.add(hits)
    assert len(seen) > 4


def test_the_bound_for_draws_of_one_row_a_step_fails_for_batches_with_a_ridge():
    # docs/proofs/B5.md: all of a batch may be the one row, so (1 - q^N)/(1 - q) is no bound for b > 1.
    situation = random_setting(batch=4, alpha=1.0)
    drawn = [np.ones(20, dtype=np.int64) for _ in range(3)]
    drawn[2][-4:] = 0
    observed = moved(situation.problem, situation.recipe, 20, 0, drawn)
    q = 1 - 0.3
    assert observed > 1.2 * 0.3 * 2 * CAP / 4 * (1 - q**4) / (1 - q)
    assert observed <= theorems.members()["B5"]().distance(situation, 4) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "situation", "trials", "chance"),
    [
        ("B5", random_setting(), 60, 1 / 20),
        ("B5", random_setting(4), 60, 1 / 20),
        ("B6", random_setting(order="permutation", skip=0.4, passes=9), 9, 0.6),
        ("B5", random_setting(n_samples=10**6, passes=2), 2 * 10**6, 1e-6),
        ("B5", random_setting(n_samples=10, passes=20000), 200_000, 1 / 10),
    ],
)
def test_the_law_of_meetings_is_binomial_and_rounded_up(name, situation, trials, chance):
    theorem = theorems.members()[name]()
    law = theorem.bound(situation).law
    hits = np.arange(trials + 1)
    distances = np.array([theorem.distance(situation, int(number)) for number in hits[:: max(1, trials // 50)]])
    assert (np.diff(distances) >= 0).all()
    assert 1 <= sum(entry.probability for entry in law) <= 1 + 1e-6
    assert len(law) <= 257
    push = situation.recipe.length * 2 * CAP / situation.recipe.batch_size
    for entry in law[:: max(1, len(law) // 40)]:
        # Every tail of the stated law is at least as likely as that of the true one.
        stated = sum(other.probability for other in law if other.value >= entry.value * (1 - 1e-12))
        true = scipy.stats.binom.sf(math.ceil(entry.value / push - 1e-6) - 1, trials, chance)
        assert stated + LEFT_OUT >= true * (1 - 1e-7)
    mean = sum(entry.probability * entry.value for entry in law)
    assert mean == pytest.approx(trials * chance * push, rel=0.02)


def test_chances_of_many_trials_are_never_too_small_and_hardly_too_large():
    # docs/proofs/B5.md, the law's arithmetic: log-gamma functions of 10^8 lose seven digits.
    situation = random_setting(n_samples=10**8, passes=3)
    law = theorems.members()["B5"]().bound(situation).law
    push, count = situation.recipe.length * 2 * CAP, 3 * 10**8
    with mpmath.workdps(60):
        chance = mpmath.mpf(1) / 10**8
        for entry in law[1:]:
            hits = round(entry.value / push)
            exact = mpmath.binomial(count, hits) * chance**hits * (1 - chance) ** (count - hits)
            assert 1 <= entry.probability / exact <= 1 + 3e-8


def test_skipped_updates_are_paid_for_by_meetings_that_take_place():
    recipe = Recipe(passes=5, step=0.3, skip=0.5)
    situation = setting(STRAIGHT, recipe, 6, 1)
    coins = np.random.default_rng(1)
    for _ in range(20):
        skips = [coins.random(6) < 0.5 for _ in range(5)]
        hits = sum(not coin[2] for coin in skips)
        observed = moved(STRAIGHT, recipe, 6, 2, [np.arange(6)] * 5, skips=skips)
        assert observed == pytest.approx(hits * 0.3 * 2 * CAP, abs=1e-9)
        assert observed <= theorems.members()["B6"]().distance(situation, hits) + 1e-9


def test_a_ridge_is_given_no_credit_where_steps_are_skipped():
    recipe = Recipe(passes=5, step=0.3, skip=0.5)
    situation = setting(with_ridge(1.0), recipe, 6, 1)
    assert {found.theorem for found in stability.answers(situation) if found.value is not None} & {"B3", "B4"} == set()
    # All updates but those of the row are skipped: nothing shrinks.
    skips = [np.arange(6) != 2 for _ in range(5)]
    observed = moved(with_ridge(1.0), recipe, 6, 2, [np.arange(6)] * 5, skips=skips)
    assert observed <= theorems.members()["B6"]().distance(situation, 5)


# --- corners: the recursion against every place of the row ------------------------------------------------------------


def corners(slope: float, diameter: float, alpha: float, recipe: Recipe, n_samples: int, loss: str) -> Setting:
    """Return a setting with given constants, and a radius so small that rounding is left out."""
    domain = Domain(1.0, classes=(0, 1)) if loss == "hinge" else Domain(1.0, labels=(-1.0, 1.0))
    penalty = penalties.named("l2", alpha) if alpha > 0 else penalties.named("none", 0.0)
    situation = setting(Problem(losses.named(loss), penalty, domain), recipe, n_samples, 1)
    facts = replace(situation.constants, lipschitz=slope, gradient_diameter=diameter, radius=1e-200)
    return replace(situation, constants=facts)


def followed(situation: Setting, hits: set[int]) -> np.ndarray:
    """Return the distances after every step when these steps meet the row, as docs/proofs/C1.md has them."""
    facts, recipe = situation.constants, situation.recipe
    batch, found, distance = recipe.batch_size, [], 0.0
    spread = facts.lipschitz * (1 if situation.problem.loss.id == "hinge" else 2)
    for t in range(1, recipe.steps(situation.n_samples) + 1):
        eta = recipe.length if recipe.decay == 0 else min(recipe.length, 1 / (recipe.decay * t))
        q = 1 - eta * facts.strong_convexity
        push = facts.gradient_diameter * eta / batch
        if distance == 0:
            distance = push if t in hits else 0.0
        else:
            common = math.hypot(q * distance, spread * eta)
            apart = (1 - 1 / batch) * common + (q * distance + 2 * facts.lipschitz * eta) / batch
            distance = min(apart, common + push) if t in hits else common
        found.append(distance)
    return np.array(found)


def places(situation: Setting) -> list[set[int]]:
    """Return the steps that meet the row, for every choice of places that the order allows."""
    recipe, n_samples = situation.recipe, situation.n_samples
    batches, steps = recipe.batches(n_samples), recipe.steps(n_samples)
    count = math.ceil(steps / batches)
    if recipe.order == "permutation":
        choices = [(place,) * count for place in range(1, batches + 1)]
    else:
        choices = list(itertools.product(range(1, batches + 1), repeat=count))
    return [{number * batches + place for number, place in enumerate(choice)} for choice in choices]


def largest(situation: Setting) -> float:
    """Return the largest distance, or mean of distances, over all places."""
    steps = situation.recipe.steps(situation.n_samples)
    first = {"last": steps - 1, "uniform": 0, "suffix": min(steps - 1, math.ceil(steps / 2))}
    begin = first[situation.recipe.average]
    return max(float(followed(situation, hits)[begin:].mean()) for hits in places(situation))


@settings(max_examples=150, deadline=None)
@given(
    batches=st.integers(1, 4),
    batch=st.sampled_from([1, 2, 5]),
    passes=st.integers(1, 12),
    fraction=st.floats(0, 1),
    diameter=st.floats(0.1, 2),
    loss=st.sampled_from(["hinge", "absolute"]),
    order=st.sampled_from(["permutation", "fresh"]),
    average=st.sampled_from(["last", "uniform", "suffix"]),
)
def test_no_place_of_the_row_exceeds_the_recursion(batches, batch, passes, fraction, diameter, loss, order, average):
    steps = min(passes, 3 * batches)
    recipe = Recipe(passes=steps / batches, batch_size=batch, step=0.7, order=order, average=average)
    alpha = round(fraction, 3) / 0.7
    situation = corners(1.0, diameter, alpha, recipe, batches * batch, loss)
    claimed = theorems.members()["C1"]().sensitivity(situation)
    reached = largest(situation)
    assert reached <= claimed * (1 + 1e-9)
    if average == "last" and order == "permutation":
        # docs/proofs/C1.md: one order's claim is the largest over its places.
        assert reached == pytest.approx(claimed, rel=1e-9)


def test_a_partial_pass_does_not_bring_two_meetings_closer():
    # q = .95, a = step = 1, m = 5, T = 8: the places are m steps apart, wherever the last pass ends.
    recipe = Recipe(passes=8 / 5, step=1.0)
    situation = corners(1.0, 1.0, 0.05, recipe, 5, "hinge")
    assert theorems.members()["C1"]().sensitivity(situation) == pytest.approx(largest(situation), rel=1e-9)


@pytest.mark.parametrize("order", ["permutation", "fresh"])
@pytest.mark.parametrize("average", ["last", "uniform", "suffix"])
def test_steps_that_decay_stay_below_the_recursion(order, average):
    recipe = Recipe(passes=2.5, batch_size=2, step=0.7, decay=0.5, order=order, average=average)
    for diameter, loss in itertools.product((0.3, 1.4, 2.0), ("hinge", "absolute")):
        situation = corners(1.0, diameter, 0.0, recipe, 8, loss)
        assert largest(situation) <= theorems.members()["C1"]().sensitivity(situation) * (1 + 1e-9)


@pytest.mark.parametrize("batch", [1, 2, 5])
@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_random_meetings_stay_below_their_distance(batch, loss):
    recipe = Recipe(passes=8, batch_size=batch, step=0.7, skip=0.3)
    situation = corners(1.0, 1.1, 0.0, recipe, batch, loss)
    theorem = theorems.members()["C1.random"]()
    for count in range(1, 9):
        for hits in itertools.combinations(range(1, 9), count):
            assert followed(situation, set(hits))[-1] <= theorem.distance(situation, count) * (1 + 1e-9)
    assert theorem.distance(situation, 0) == 0


ABSOLUTE = Problem(losses.named("absolute"), penalties.named("none", 0.0), Domain(1.0, labels=(-1.0, 1.0)))
HINGE = Problem(losses.named("hinge"), penalties.named("none", 0.0), Domain(1.0, classes=(0, 1)))


@pytest.mark.parametrize(
    ("problem", "batch", "passes", "values"),
    [
        (ABSOLUTE, 1, 100, {"C1": 348.5, "C1.closed": 397.0, "001-Lem3.1": 596, "001-Table1": 600}),
        (ABSOLUTE, 100, 10_000, {"C1": 349.6, "C1.closed": 400, "001-Lem3.1": 600, "001-Table1": 800}),
        (HINGE, 1, 100, {"C1": 259.4, "C1.closed": 297.5, "001-Lem3.1": 596, "001-Table1": 600}),
    ],
)
def test_the_reference_values_of_the_recursion(problem, batch, passes, values):
    # Issue 7 and the table of docs/proofs/C1.md: eta = L = 1, n = 100.
    answers = eq.bounds(problem, Recipe(passes=passes, batch_size=batch, step=1.0), 100, 1)
    found = {answer.theorem: answer.sensitivity for answer in answers if answer.theorem in values}
    assert found.keys() == values.keys()
    for theorem, value in values.items():
        assert found[theorem] == pytest.approx(value, rel=2e-3 if theorem != "C1" else 2e-4), theorem
    fresh = eq.bounds(problem, Recipe(passes=passes, batch_size=batch, step=1.0, order="fresh"), 100, 1)
    assert next(answer.sensitivity for answer in fresh if answer.theorem == "C1") >= found["C1"]


def test_every_published_bound_is_above_the_recursion():
    for problem, batch, passes in itertools.product((ABSOLUTE, HINGE), (1, 30), (1, 3, 20)):
        answers = eq.bounds(problem, Recipe(passes=passes, batch_size=batch, step=0.1), 30, 2)
        found = {answer.theorem: answer.value for answer in answers if answer.value is not None}
        assert found["C1"] <= min(found["C1.closed"], found["001-Lem3.1"], found["001-Table1"]) * (1 + 1e-9)


def test_the_fractional_number_of_passes_is_listed_and_never_chosen():
    recipe = Recipe(passes=2.5, step=0.3)
    answers = {answer.theorem: answer for answer in eq.bounds(STRAIGHT, recipe, 10, 1)}
    paper = answers["004-k"]
    assert not paper.certifies
    assert moved(STRAIGHT, recipe, 10, 0, [np.arange(10)] * 3) > paper.sensitivity
    assert stability.smallest(setting(STRAIGHT, recipe, 10, 1)).theorem == "B1"


# --- real loops on random neighbours ----------------------------------------------------------------------------------

LOSSES = ("logistic", "smooth-hinge", "squared", "huber:0.3", "hinge", "absolute")


@st.composite
def descents(draw):
    """Return a problem, a recipe that some theorem serves, and the shape of a table."""
    loss = losses.named(draw(st.sampled_from(LOSSES)))
    radius = draw(st.sampled_from([None, 0.4, 3.0]))
    classifies = loss.task == "classification"
    domain = Domain(1.5, classes=(0, 1) if classifies else None, labels=None if classifies else (-1, 1), radius=radius)
    alpha = draw(st.sampled_from([0.0, 0.01, 0.3]))
    penalty = draw(st.sampled_from(["l2", "elastic-net:0.3"])) if alpha > 0 else "none"
    problem = Problem(loss, penalties.named(penalty, alpha), domain, draw(st.sampled_from([0.0, 0.5])))
    n_samples = draw(st.integers(2, 9))
    recipe = Recipe(
        passes=draw(st.sampled_from([0.4, 1.0, 2.5, 6.0])),
        batch_size=draw(st.integers(1, n_samples)),
        step=0.1,
        order=draw(st.sampled_from(["permutation", "fresh"])),
        average=draw(st.sampled_from(["last", "uniform", "suffix"])),
        clip=draw(st.sampled_from([None, 0.2, 1.0])),
        dropout=draw(st.sampled_from([0.0, 0.5])),
    )
    seen = masked(problem, recipe)
    ridge, smoothness = seen.penalty.smoothness(), loss.curvature_bound() * seen.row_norm**2
    limit = 2 / (smoothness * (1 + 1e-8) + ridge) if math.isfinite(smoothness) else min(2.0, 1 / max(ridge, 0.1))
    kind = draw(st.sampled_from(["short", "long", "decay"]))
    if kind == "decay" and ridge > 0 and math.isfinite(smoothness):
        recipe = replace(recipe, step="decay")
    else:
        recipe = replace(recipe, step=limit * draw(st.sampled_from([0.05, 0.4] if kind == "short" else [0.7, 1.0])))
    return problem, recipe, n_samples, draw(st.integers(1, 3)), draw(st.booleans()), draw(st.integers(0, 10**6))


def neighbours(problem: Problem, n_samples: int, n_features: int, coins):
    """Return two tables that differ in one row, mostly of long rows, and in its target."""
    long = coins.normal(size=(n_samples + 1, n_features))
    long *= problem.domain.row_norm / np.linalg.norm(long, axis=1, keepdims=True)
    long *= coins.choice([0.3, 1.0, 1.0], size=(n_samples + 1, 1))
    targets = coins.choice([-1.0, 1.0], size=n_samples + 1)
    row = int(coins.integers(n_samples))
    if coins.random() < 0.5:
        long[-1], targets[-1] = -long[row], targets[row]
    other, labels = long[:-1].copy(), targets[:-1].copy()
    other[row], labels[row] = long[-1], targets[-1]
    return (long[:-1], targets[:-1]), (other, labels), row


def ends(problem: Problem, run: Run, tables, as_sparse: bool, orders, **coins):
    for table, targets in tables:
        matrix = sparse.csr_array(table * (np.abs(table) > 0.1)) if as_sparse else table
        yield run_passes(
            row_source(matrix, problem.domain, problem.intercept), targets, problem.loss, run, orders, **coins
        )


@settings(max_examples=250, deadline=None)
@given(descents())
def test_no_pair_of_tables_moves_further_than_the_smallest_bound(descent):
    problem, recipe, n_samples, n_features, as_sparse, seed = descent
    situation = setting(problem, recipe, n_samples, n_features)
    certified = [answer for answer in stability.answers(situation) if answer.certifies and answer.value is not None]
    if not certified:
        # The squared loss has no largest slope: without a clip, a radius or steps that are surely steady, none applies.
        assert problem.loss.id == "squared"
        assert "declare a weight radius" in stability.refusal(stability.answers(situation)).remedy
        return
    coins = np.random.default_rng(seed)
    first, second, _ = neighbours(problem, n_samples, n_features, coins)
    fixed, count = coins.permutation(n_samples), math.ceil(recipe.passes)
    orders = [fixed if recipe.order == "permutation" else coins.permutation(n_samples) for _ in range(count)]
    batches = situation.recipe.batches(n_samples)
    masks = [coins.random((batches, n_features)) >= recipe.dropout for _ in orders] if recipe.dropout else None
    run = run_of(problem, situation.recipe, n_samples)
    one, other = ends(problem, run, (first, second), as_sparse, orders, masks=masks)
    for answer in certified:
        assert np.linalg.norm(one - other) <= answer.sensitivity, answer.theorem


@settings(max_examples=120, deadline=None)
@given(descents(), st.sampled_from([0.0, 0.4]))
def test_no_pair_of_tables_moves_further_than_its_meetings_allow(descent, skip):
    problem, recipe, n_samples, n_features, as_sparse, seed = descent
    coins = np.random.default_rng(seed)
    recipe = replace(recipe, dropout=0.0, skip=skip, order=recipe.order if skip else "replacement")
    situation = setting(problem, recipe, n_samples, n_features)
    first, second, row = neighbours(problem, n_samples, n_features, coins)
    batch, batches, steps = recipe.batch_size, recipe.batches(n_samples), situation.recipe.steps(n_samples)
    count = math.ceil(recipe.passes)
    if skip:
        fixed = coins.permutation(n_samples)
        orders = [fixed if recipe.order == "permutation" else coins.permutation(n_samples) for _ in range(count)]
        skips = [coins.random(batches) < skip for _ in orders]
    else:
        orders, skips = [coins.integers(n_samples, size=batches * batch) for _ in range(count)], None
    met = [
        int((order[place * batch : (place + 1) * batch] == row).sum()) * (skips is None or not skips[number][place])
        for number, order in enumerate(orders)
        for place in range(batches)
    ][:steps]
    one, other = ends(
        problem, run_of(problem, situation.recipe, n_samples), (first, second), as_sparse, orders, skips=skips
    )
    distance = np.linalg.norm(one - other)
    for name in ("B5", "B6", "C1.random"):
        theorem = theorems.members()[name]()
        if theorem.bound(situation).value is not None:
            exact = eq.Bound(name, True, theorem.distance(situation, sum(met)), ())
            assert distance <= computed(exact, situation).sensitivity, name
            if sum(met) == 0:
                assert distance == 0


@pytest.mark.parametrize("problem", [HINGE, ABSOLUTE], ids=["hinge", "absolute"])
@pytest.mark.parametrize("batch", [1, 3])
def test_corners_that_rows_sit_at_stay_below_the_recursion(problem, batch):
    # Rows along the axes, whose predictions come to the corner again and again.
    coins = np.random.default_rng(3)
    recipe = Recipe(passes=5, batch_size=batch, step=0.5)
    claimed = eq.bounds(problem, recipe, 12, 3)
    reached = 0.0
    for _ in range(60):
        table = np.eye(3)[coins.integers(3, size=12)] * coins.choice([-1.0, 1.0], size=(12, 1))
        targets = coins.choice([-1.0, 1.0] if problem is HINGE else [-0.5, 0.0, 0.5], size=12)
        other = table.copy()
        other[0] *= -1
        order = [coins.permutation(12)] * 5
        one, two = ends(problem, run_of(problem, recipe, 12), ((table, targets), (other, targets)), False, order)
        reached = max(reached, float(np.linalg.norm(one - two)))
    value = next(answer.sensitivity for answer in claimed if answer.theorem == "C1")
    assert 0.09 * value < reached <= value


# --- what has no theorem ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "expansion"), [(0.1, 1.022), (0.5, 1.144), (1.0, 1.414)])
def test_a_mask_on_the_gradient_expands_at_every_step_and_a_mask_on_the_row_does_not(step, expansion):
    # docs/proofs/B6.md: the loss (w1 + w2)^2 / 2, whose limit is step <= 1.
    hessian, mask = np.ones((2, 2)), np.diag([1.0, 0.0])
    assert np.linalg.norm(np.eye(2) - step * mask @ hessian, 2) == pytest.approx(expansion, abs=5e-4)
    assert np.linalg.norm(np.eye(2) - step * mask @ hessian @ mask, 2) <= 1


@pytest.mark.parametrize("wrong", ["gradient", True, None, [0.5], float("nan"), -0.1, 1.0])
def test_masks_on_the_gradient_cannot_be_asked_for(wrong):
    with pytest.raises(InvalidParameter, match="dropout") as refused:
        Recipe(passes=1, step=0.1, dropout=wrong)
    assert "share" in refused.value.remedy


def shortened(slope: np.ndarray, cap: float) -> np.ndarray:
    return slope * min(1.0, cap / float(np.linalg.norm(slope)))


def test_clipped_gradients_of_several_outputs_expand():
    # docs/proofs/B7.md: a quadratic, step 1 of at most 2; and the multinomial loss, steps of at most 4.
    hessian, one, other = np.diag([1.0, 0.05]), np.array([0.8, 12.0]), np.array([0.806, 12.008])
    after = [point - shortened(hessian @ point, 1.0) for point in (one, other)]
    assert np.linalg.norm(after[0] - after[1]) / np.linalg.norm(one - other) == pytest.approx(1.136, abs=5e-4)
    here = np.log([0.1, 0.6, 0.3])
    there = here + np.array([-0.05, 0.03, 0.02])
    loss = arrays_of(losses.named("multinomial:3"))
    for step, expansion in ((1.0, 1.0039), (2.0, 1.009), (4.0, 1.025)):
        moved_to = [
            point - step * shortened(loss.slope(point[None, :], np.zeros(1))[0], 1.0) for point in (here, there)
        ]
        assert np.linalg.norm(moved_to[0] - moved_to[1]) / np.linalg.norm(here - there) == pytest.approx(
            expansion, abs=5e-4
        )


def test_clipped_gradients_of_several_outputs_are_refused():
    problem = Problem(losses.named("multinomial:3"), penalties.named("l2", 0.1), Domain(1.0, classes=(0, 1, 2)))
    answers = eq.bounds(problem, Recipe(passes=2, step=0.1, clip=0.5), 20, 2)
    for answer in answers:
        assert answer.value is None
        (clipped,) = (missing for missing in answer.missing if "leave clip out" in missing.remedy)
        assert "gradients are clipped for one prediction a row only" in clipped.claim


def test_clipping_replaces_no_limit_on_the_step():
    # docs/proofs/B7.md: below the cap nothing is clipped, and a step of 1.2 times the limit expands by 1.4.
    domain = Domain(1.0, labels=(-1.0, 1.0))
    problem = Problem(losses.named("squared"), penalties.named("none", 0.0), domain)
    recipe = Recipe(passes=1, step=1.2, clip=0.5)
    starts, rows = (np.array([0.01]), np.array([0.02])), row_source(np.ones((1, 1)), domain, 0.0)
    after = [
        run_passes(rows, np.zeros(1), problem.loss, run_of(problem, recipe, 1), [np.arange(1)], start=start)
        for start in starts
    ]
    assert abs(after[0] - after[1])[0] / 0.01 == pytest.approx(1.4)
    steady = {answer.theorem: answer for answer in eq.bounds(problem, recipe, 5, 1)}["B1"]
    assert any("pass a step of at most" in missing.remedy for missing in steady.missing)


def test_an_l1_norm_is_met_by_a_threshold_and_its_subgradient_would_expand():
    near, strength, step = 0.01, 1.0, 0.1
    assert abs((near - step * strength) - (-near + step * strength)) > 2 * near
    problem = Problem(losses.named("squared"), penalties.named("elastic-net:0.5", 1.0), Domain(1.0, labels=(-1.0, 1.0)))
    run = run_of(problem, Recipe(passes=1, step=step), 1)
    assert (run.ridge, run.l1) == (0.5, 0.5)
    rows = row_source(np.zeros((1, 1)), problem.domain, 0.0)
    for start in (near, -near):
        assert run_passes(rows, np.zeros(1), problem.loss, run, [np.arange(1)], start=np.array([start]))[0] == 0
    corner = Problem(losses.named("squared"), penalties.named("bridge:1.5", 0.1), Domain(1.0, labels=(-1.0, 1.0)))
    for answer in eq.bounds(corner, Recipe(passes=1, step=0.1), 5, 1):
        assert any("use penalty l2 or elastic-net" in missing.remedy for missing in answer.missing)
