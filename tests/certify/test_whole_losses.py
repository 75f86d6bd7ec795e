"""Losses composed in whole numbers: nothing that is done to them makes a hockey-stick divergence smaller (C3)."""

import random
from collections import Counter
from fractions import Fraction

import mpmath
import pytest

from equipoise.certify import sampled
from equipoise.certify.curves import GaussianCurve
from equipoise.certify.sampled import UNIT, Losses, SampledGaussianCurve, coarser, composed, one_step, product
from equipoise.planning.loss_distribution import estimated_delta

exact = mpmath.MPContext()
exact.prec = 300

EPSILONS = [-3.0, -0.7, -0.1, -1e-3, 0.0, 1e-4, 0.02, 0.3, 1.0, 2.5]


def hockey_stick(masses, infinite, interval, epsilon):
    """Return the divergence of masses in 300 bits, by definition and in units."""
    parts = (
        mass * (1 - exact.exp(exact.mpf(epsilon) - dot * exact.mpf(interval)))
        for dot, mass in masses.items()
        if dot * exact.mpf(interval) > epsilon
    )
    return exact.fsum(parts) + infinite


def some_masses(seed, count=60, most=10**30):
    """Return masses of very different sizes at losses on both sides of 0."""
    coins = random.Random(seed)  # noqa: S311
    dots = coins.sample(range(-150, 150), count)
    return Counter({dot: coins.randrange(most) >> coins.randrange(90) for dot in dots})


def convolved(first, second):
    """Return sums of products, exactly, in units."""
    found = Counter()
    for one, mass in first.items():
        for other, second_mass in second.items():
            found[one + other] += Fraction(mass * second_mass, UNIT)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_product_is_every_sum_rounded_up_by_a_unit_at_most(seed):
    first, second = some_masses(seed), some_masses(seed + 100, 9, 10 ** (6 * seed + 1))
    found, truth = product(first, second), convolved(first, second)
    assert all(truth[dot] <= mass <= truth[dot] + 1 for dot, mass in found.items())
    assert set(truth) <= set(found)


def test_a_product_of_masses_far_above_one_runs_into_no_neighbour():
    first = Counter({dot: 10**60 + dot for dot in range(5)})
    assert all(truth <= product(first, first)[dot] <= truth + 1 for dot, truth in convolved(first, first).items())


def covers(before, after, interval, coarse):
    """Return whether no divergence of the masses after is smaller."""
    return all(
        hockey_stick(after, 0, coarse, epsilon) >= hockey_stick(before, 0, interval, epsilon) for epsilon in EPSILONS
    )


@pytest.mark.parametrize("interval", [1e-9, 0.003, 0.02, 1.5])
def test_coarser_losses_cover_finer_ones_and_keep_their_mass(interval):
    masses = some_masses(7)
    found = coarser(masses, interval)
    assert sum(found.values()) == masses.total()
    assert covers(masses, found, interval, 2 * interval)
    if interval > 1e-3:
        # Half of each to either side, which keeps the mean of the loss and not the other law's mass, is caught.
        halves = Counter()
        for dot, mass in masses.items():
            halves[dot // 2] += mass - mass // 2
            halves[dot // 2 + dot % 2] += mass // 2
        assert not covers(masses, halves, interval, 2 * interval)


def true_profile(loss, multiplier, share):
    """Return the formula of the class, naively, in 300 bits."""
    multiplier, share = exact.mpf(multiplier), exact.mpf(share)
    exponent = exact.log(1 + (exact.exp(abs(loss)) - 1) / share)
    near, far = exact.ncdf(1 / (2 * multiplier) - exponent * multiplier), -1 / (2 * multiplier) - exponent * multiplier
    positive = share * (near - exact.exp(exponent) * exact.ncdf(far))
    return positive if loss >= 0 else 1 - exact.exp(loss) + exact.exp(loss) * positive


@pytest.mark.parametrize(("multiplier", "share"), [(0.0625, 1e-4), (0.8, 0.05), (4.6, 1e-3), (1000.0, 0.9)])
def test_the_dots_of_a_step_join_to_a_profile_nowhere_below_the_steps(monkeypatch, multiplier, share):
    monkeypatch.setattr(sampled, "DOTS", 40)
    monkeypatch.setattr(sampled, "FINENESS", 10)
    step = one_step(multiplier, share, 1000)
    ends = min(step.masses), max(step.masses)
    places = [
        *sorted(step.masses)[::7],
        *(ends[0] + (ends[1] - ends[0]) * k / 37 for k in range(38)),
        0,
        0.5,
        -0.3,
        1.7,
    ]
    for place in places:
        loss = exact.mpf(place) * exact.mpf(step.interval)
        found = hockey_stick(step.masses, step.infinite, step.interval, loss) / UNIT
        assert found >= true_profile(loss, multiplier, share), place
    # Two dots further apart are joined further above, and no mass is made of rounding.
    assert 1 <= Fraction(sum(step.masses.values()) + step.infinite, UNIT) <= 1 + Fraction(1, 10**13)


def small_step(monkeypatch, multiplier=0.9, share=0.05):
    """Return a step of few dots on several grids."""
    monkeypatch.setattr(sampled, "DOTS", 24)
    monkeypatch.setattr(sampled, "FINENESS", 8)
    return one_step(multiplier, share, 10)


def sums_are_covered(first, second, part):
    """Return whether the sums of two losses have no smaller divergence than all pairs, by definition."""
    found = first.then(second, part)
    truth = convolved(first.masses, second.masses)
    total = sum(first.masses.values()) + first.infinite
    infinite = Fraction(total * second.infinite + first.infinite * sum(second.masses.values()), UNIT)
    truth = {dot: exact.mpf(mass.numerator) / mass.denominator for dot, mass in truth.items()}
    infinite = exact.mpf(infinite.numerator) / infinite.denominator
    return all(
        hockey_stick(found.masses, found.infinite, found.interval, epsilon)
        >= hockey_stick(truth, infinite, first.interval, epsilon)
        for epsilon in EPSILONS
    )


@pytest.mark.parametrize("part", [1e-9, 1.0, 1e6])
def test_sums_of_losses_on_all_grids_are_covered_whatever_is_left_out(monkeypatch, part):
    step = small_step(monkeypatch)
    assert sum(map(bool, step.grids())) >= 3
    assert sums_are_covered(step, step, part)
    twice = step.then(step, part)
    assert sums_are_covered(twice, step, part)


@pytest.mark.parametrize("fault", ["rounded down", "forgotten charge", "an error of 1e-12", "split downwards"])
def test_a_faulty_transform_is_caught(monkeypatch, fault):
    step = small_step(monkeypatch)
    if fault == "split downwards":
        monkeypatch.setattr(sampled, "coarser", lambda masses, _: Counter({dot // 2: masses[dot] for dot in masses}))
    elif fault == "forgotten charge":
        step = Losses(step.interval, step.masses, 0)
        honest = step.then
        step.__dict__["then"] = lambda other, part: Losses(step.interval, honest(other, part).masses, 0)
    else:
        # On one grid, where no joining of dots is in the way.
        monkeypatch.setattr(sampled, "DOTS", 10**4)
        lost = (lambda mass: max(mass - 2, 0)) if fault == "rounded down" else (lambda mass: mass - mass // 10**12)
        monkeypatch.setattr(
            sampled, "product", lambda *both: Counter({dot: lost(mass) for dot, mass in product(*both).items()})
        )
    assert not sums_are_covered(step, step, 1e6 if fault == "forgotten charge" else 0.0)


@pytest.mark.parametrize(
    ("multiplier", "share", "steps", "epsilon"),
    [
        (5.22, 0.064, 320, 1.0),
        (0.5, 0.3, 20, 4.0),
        (0.1374, 0.003, 4, 30.0),
        (21.0, 0.5, 100, 1.0),
        (0.8, 0.05, 1, 0.5),
    ],
)
def test_the_curve_agrees_with_fourier_transforms(multiplier, share, steps, epsilon):
    estimated = estimated_delta(multiplier, share, steps, epsilon)
    assert 0.997 * estimated <= SampledGaussianCurve(multiplier, share, steps).delta(epsilon) <= 1.0005 * estimated


def test_nearly_all_rows_in_every_batch_are_nearly_the_gaussian_curve():
    for epsilon in (0.0, 0.5, 2.0):
        truth = GaussianCurve(7**0.5 / 3).delta(epsilon)
        assert truth * (1 - 1e-6) <= composed(3.0, 1 - 1e-9, 7).delta(epsilon) <= truth * 1.002
