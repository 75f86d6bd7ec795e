"""Propose-test-release (G4): margins, both totals by quadrature on the worst pair, planted faults, both samplers."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

import equipoise as eq
from equipoise.certify.curves import GaussianCurve, PureCurve
from equipoise.certify.laws import members
from equipoise.certify.statistic import NoisyStatistic
from equipoise.errors import InvalidParameter
from equipoise.noise import ExactSource, SeededSource
from equipoise.release.carriers import dropout
from equipoise.release.job import Job, Task
from equipoise.vocabulary.facts import Budget

# One statistical test that may fail by chance, with a budget of its own.
FAILURE = 1e-6

STATISTIC, WEIGHTS = Budget(0.5, 1e-3), Budget(0.7, 0.0)
ALPHA, SENSITIVITY = 0.05, 0.02


def laplace_stick(shift, level):
    """Return the hockey-stick divergence of Laplace noise of scale 1 under a shift, at any level of either sign."""
    if level >= shift:
        return 0.0
    if level <= -shift:
        return -math.expm1(level)
    return -math.expm1((level - shift) / 2)


def density(value, centre, scale):
    return math.exp(-abs(value - centre) / scale) / (2 * scale)


def tail(value, centre, scale):
    """Return the chance of Laplace noise around the centre to exceed the value."""
    gap = (value - centre) / scale
    return math.exp(-gap) / 2 if gap > 0 else 1 - math.exp(gap) / 2


def lower_bound_delta(first, second, margin, scale, epsilon):
    """Return the exact delta of "release v, then f with noise 1/(alpha + v)" where f moves as far as the data allow."""
    moved = 1 / (ALPHA + max(first, second))

    def stick(mass, other, low):
        if mass == 0:
            return 0.0
        shift = moved * (ALPHA + low) * WEIGHTS.epsilon
        return mass * laplace_stick(shift, epsilon - math.log(mass / other)) if other > 0 else mass

    def integrand(low):
        masses = (density(low + margin, centre, scale) for centre in (first, second))
        return stick(*masses, low)

    atom = stick(1 - tail(margin, first, scale), 1 - tail(margin, second, scale), 0.0)
    ends = sorted({0.0, *(max(0.0, centre - margin) for centre in (first, second)), max(first, second), 40 * scale + 1})
    return atom + sum(quad(integrand, a, b, limit=200)[0] for a, b in pairwise(ends))


def delta_of_the_test(first, second, proposed, margin, scale, epsilon):
    """Return the exact delta of "refuse, or release f with noise 1/(alpha + proposed)", f moving as the data allow."""
    passes = [tail(proposed + margin, centre, scale) for centre in (first, second)]
    moved = 1 / (ALPHA + max(first, second))
    shift = moved * (ALPHA + proposed) * WEIGHTS.epsilon
    through = passes[0] * laplace_stick(shift, epsilon - math.log(passes[0] / passes[1]))
    return through + max(0.0, (1 - passes[0]) - math.exp(epsilon) * (1 - passes[1]))


PAIRS = [(centre, centre + sign * SENSITIVITY) for centre in (0.03, 0.1, 0.3, 0.35, 1.0) for sign in (-1, 1)]


def test_the_margin_is_exceeded_with_a_chance_of_delta():
    for epsilon, delta in ((0.1, 1e-9), (1.0, 1e-6), (3.0, 0.2)):
        noisy = NoisyStatistic(2.5, Budget(epsilon, delta))
        chance = math.exp(-noisy.margin / noisy.scale) / 2
        assert delta * (1 - 1e-9) < chance <= delta
        assert noisy.sensitivity / noisy.scale <= epsilon
    assert NoisyStatistic(1.0, Budget(1.0, 0.7)).margin == 0.0
    assert NoisyStatistic(1.0, Budget(1.0, 0.7), error=0.25).margin >= 0.25


@pytest.mark.parametrize("pair", PAIRS)
def test_a_lower_bound_costs_both_epsilons_and_both_deltas(pair):
    noisy = NoisyStatistic(SENSITIVITY, STATISTIC)
    claimed = noisy.after_lower_bound(PureCurve(WEIGHTS.epsilon)).delta(1.2)
    found = lower_bound_delta(*pair, noisy.margin, noisy.scale, STATISTIC.epsilon + WEIGHTS.epsilon)
    assert claimed == pytest.approx(STATISTIC.delta)
    assert found <= claimed


def test_a_lower_bound_without_its_margin_is_caught():
    noisy = NoisyStatistic(SENSITIVITY, STATISTIC)
    total = STATISTIC.epsilon + WEIGHTS.epsilon
    assert max(lower_bound_delta(*pair, 0.0, noisy.scale, total) for pair in PAIRS) > 5 * STATISTIC.delta
    # A margin that is right comes within an order of magnitude of its claim: the bound is no idle one.
    assert max(lower_bound_delta(*pair, noisy.margin, noisy.scale, total) for pair in PAIRS) > 0.01 * STATISTIC.delta


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("proposed", [0.05, 0.2, 0.34])
def test_a_test_costs_both_epsilons_and_the_larger_delta(pair, proposed):
    noisy = NoisyStatistic(SENSITIVITY, STATISTIC)
    found = delta_of_the_test(*pair, proposed, noisy.margin, noisy.scale, STATISTIC.epsilon + WEIGHTS.epsilon)
    claimed = noisy.after_test(PureCurve(WEIGHTS.epsilon)).delta(1.2)
    assert claimed == pytest.approx(STATISTIC.delta)
    assert found <= claimed


def test_a_test_without_its_margin_is_caught():
    noisy = NoisyStatistic(SENSITIVITY, STATISTIC)
    found = delta_of_the_test(0.05, 0.03, 0.15, 0.0, noisy.scale, STATISTIC.epsilon + WEIGHTS.epsilon)
    assert found > STATISTIC.delta


def test_the_curves_claim_nothing_below_the_statistics_epsilon():
    noisy = NoisyStatistic(SENSITIVITY, STATISTIC)
    added, larger = noisy.after_lower_bound(GaussianCurve(0.5)), noisy.after_test(GaussianCurve(0.5))
    for curve in (added, larger):
        assert curve.delta(0.4) >= 1.0
        assert 1.0 > curve.delta(0.6) > curve.delta(1.0) > curve.delta(2.0) >= STATISTIC.delta
    assert added.delta(1.0) > larger.delta(1.0)


def task_of(source, proposal: float | None = None, statistic: Budget = STATISTIC) -> Task:
    """Return the training of a dropout model without rows, whose curvature a test sets."""
    model = eq.DropoutRegressor(
        delta=1e-6, domain=eq.Domain(1.0, labels=(-1.0, 1.0), radius=1.0), alpha=0.1, proposal=proposal
    )
    plan = model.plan(n_samples=10**6, n_features=3)
    claim = replace(plan.claim, statistic=statistic)
    return Task(claim, None, None, Job(plan.terms, None, None, (), source))


@pytest.mark.parametrize(("source", "runs"), [(SeededSource(3), 20_000), (ExactSource(), 2_000)])
def test_the_drawn_lower_bound_exceeds_the_statistic_as_seldom_as_it_says(source, runs, monkeypatch):
    task = task_of(source, statistic=Budget(0.5, 0.05))
    truth = task.claim.most() / 2
    assert 20 * task.claim.noisy().margin < truth
    monkeypatch.setattr(dropout, "curvature", lambda task: truth)
    monkeypatch.setattr(dropout, "settled", lambda claim, curvature: curvature)
    exceeded = sum(dropout.release_curvature(task) > truth for _ in range(runs))
    assert binom.sf(exceeded - 1, runs, 0.05) > FAILURE / 2
    # And it is no lower than it has to be.
    assert binom.cdf(exceeded, runs, 0.05) > FAILURE / 2


class Still(SeededSource):
    """A source whose noise is 0."""

    def add(self, law, weights, scale):
        return weights


def test_a_lower_bound_stays_between_0_and_the_most(monkeypatch):
    task = task_of(Still(0))
    margin, most = task.claim.noisy().margin, task.claim.most()
    for found, low in (
        (-math.inf, 0.0),
        (-5.0, 0.0),
        (margin, 0.0),
        (most / 2, most / 2 - margin),
        (most + margin, most),
        (1e9, most),
    ):
        monkeypatch.setattr(dropout, "curvature", lambda task, found=found: found)
        released = dropout.release_curvature(task)
        assert (released.low, released.passed) == (pytest.approx(low, rel=1e-15), True)
        assert 0 <= released.low <= most
        assert released.sensitivity == task.claim.distance(released.low)


def test_a_proposal_is_confirmed_beyond_its_margin_and_not_at_it(monkeypatch):
    task = task_of(Still(0), proposal=0.1)
    limit = 0.1 + task.claim.noisy().margin
    for found, passed in ((limit, False), (math.nextafter(limit, 1.0), True), (-1.0, False), (math.nan, False)):
        monkeypatch.setattr(dropout, "curvature", lambda task, found=found: found)
        released = dropout.release_curvature(task)
        assert (released.low, released.passed) == (0.1, passed)
        assert (released.sensitivity, released.noise_scale) == (0.0, 0.0) or passed


def test_it_is_no_member_of_the_laws_of_noise():
    assert {"propose-test-release", "noisy-statistic"}.isdisjoint(members())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ((0.0, Budget(1.0, 0.1)), "sensitivity"),
        ((1.0, Budget(1.0)), "margin holds"),
        ((1.0, Budget(1.0, 0.1), -1.0), "error"),
        ((np.inf, Budget(1.0, 0.1)), "sensitivity"),
    ],
)
def test_what_has_no_noise_or_no_margin_is_refused(wrong, words):
    with pytest.raises(InvalidParameter, match=words):
        NoisyStatistic(*wrong)
