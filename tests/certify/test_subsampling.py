"""The curve of noisy mini-batch gradients never falls below the true delta, and wastes about a percent."""

import functools
import itertools
import math

import mpmath
import numpy as np
import pytest
import scipy.fft
import scipy.optimize
import scipy.special
from scipy.stats import norm

from equipoise.certify import sampled
from equipoise.certify.curves import GaussianCurve
from equipoise.certify.sampled import MOST_STEPS, SMALLEST_MULTIPLIER, SampledGaussianCurve
from equipoise.errors import BudgetImpossible, InvalidParameter
from equipoise.planning import loss_distribution
from equipoise.planning.laws.gaussian import largest_mu
from equipoise.planning.loss_distribution import TILTS, delta_of_losses, estimated_delta, profile, tilt_for
from equipoise.planning.sampling import smallest_multiplier
from inverted_losses import inverted_delta

exact = mpmath.MPContext()
exact.prec = 200

# Cases that repeat a path with other numbers, at a second or so each.
more = functools.partial(pytest.param, marks=pytest.mark.statistics)

LOSSES = np.concatenate([-np.geomspace(1e-4, 3.0, 12)[::-1], [0.0], np.geomspace(1e-4, 3.0, 12)])


# --- one step, by quadrature ------------------------------------------------------------------------------------------


def divergence(first, second, loss: float, grid) -> float:
    """Return the integral of (first - exp(loss) second)_+ over the grid."""
    return float(np.trapezoid(np.maximum(0.0, first - math.exp(loss) * second), grid))


def batch_densities(rows, size: int, deviation: float, grid):
    """Return the density of the noisy mean of a uniformly drawn batch: the definition, every batch in turn."""
    means = [np.mean(batch) for batch in itertools.combinations(rows, size)]
    return np.mean([norm.pdf(grid, mean, deviation) for mean in means], axis=0)


def neighbours():
    """Yield pairs of tables of one column in [-1/2, 1/2] that differ in the last row; the first is the worst."""
    random = np.random.default_rng(3)
    yield [-0.5] * 4 + [0.5], [-0.5] * 5
    yield [-0.5, -0.5, 0.5, 0.5, 0.5], [-0.5, -0.5, 0.5, 0.5, -0.5]
    yield [0.0] * 4 + [0.5], [0.0] * 4 + [-0.5]
    for _ in range(6):
        common = random.uniform(-0.5, 0.5, 4).tolist()
        yield [*common, random.uniform(-0.5, 0.5)], [*common, random.choice([-0.5, 0.5])]


@functools.cache
def true_divergences(multiplier: float, size: int):
    """Return the largest divergence over both directions of all pairs, for every loss."""
    sensitivity = 1 / size  # rows are at most 1 apart
    deviation = multiplier * sensitivity
    grid = np.linspace(-1.0 - 12 * deviation, 1.0 + 12 * deviation, 60_001)
    found = []
    for one, other in neighbours():
        first, second = (batch_densities(rows, size, deviation, grid) for rows in (one, other))
        found += [
            [divergence(*pair, loss, grid) for loss in LOSSES.tolist()] for pair in ((first, second), (second, first))
        ]
    return np.max(found, axis=0)


def shortfall(claimed_multiplier: float, multiplier: float, size: int) -> float:
    """Return by how much the claimed profile falls below the true one, relative; over both directions of all pairs."""
    claimed = profile(LOSSES, claimed_multiplier, size / 5)
    return float(np.max((true_divergences(multiplier, size) - claimed) / claimed))


@pytest.mark.parametrize("multiplier", [0.4, 1.0, 4.0])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_one_step_covers_every_pair_of_tables_in_both_directions(multiplier, size):
    # The trapezoidal rule is good to some 1e-8 here.
    assert shortfall(multiplier, multiplier, size) <= 1e-6


@pytest.mark.parametrize("multiplier", [0.4, 1.0, 4.0])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_quadrature_catches_half_the_sensitivity(multiplier, size):
    # Planted fault: noise counted in units of L/b, as for adding or removing a row, where replacing one moves 2L/b.
    assert shortfall(2 * multiplier, multiplier, size) > 0.1


@pytest.mark.parametrize("multiplier", [0.4, 1.0, 4.0])
def test_one_step_is_attained_by_a_row_opposite_to_all_others(multiplier):
    deviation = multiplier / 2
    grid = np.linspace(-1.0 - 12 * deviation, 1.0 + 12 * deviation, 200_001)
    one, other = next(neighbours())
    first, second = (batch_densities(rows, 2, deviation, grid) for rows in (one, other))
    for loss in LOSSES[LOSSES >= 0].tolist():
        bound = float(profile(np.array([loss]), multiplier, 2 / 5)[0])
        assert divergence(first, second, loss, grid) == pytest.approx(bound, rel=1e-5, abs=1e-12)


def true_profile(loss, multiplier, share):
    """Return the formula of the class in extended precision, naively."""
    loss, multiplier, share = map(exact.mpf, (loss, multiplier, share))
    exponent = exact.log(1 + (exact.exp(abs(loss)) - 1) / share)
    point = exponent * multiplier - 1 / (2 * multiplier)
    near = exact.erfc(point / exact.sqrt(2)) / 2
    far = exact.erfc((point + 1 / multiplier) / exact.sqrt(2)) / 2
    positive = share * (near - exact.exp(exponent) * far)
    return positive if loss >= 0 else 1 - exact.exp(loss) + exact.exp(loss) * positive


@pytest.mark.parametrize("multiplier", [1 / 16, 0.5, 1.0, 5.0, 100.0])
@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.2, 0.999])
def test_profile_is_rounded_up_and_keeps_its_digits(multiplier, share):
    interval, lowest, highest = loss_distribution._grid(multiplier, share, 1000)
    dots = np.unique(np.linspace(lowest, highest, 101).astype(int)).astype(float)
    near = np.arange(-5.0, 6.0)
    losses = interval * np.concatenate([dots, near])
    for loss, value in zip(losses.tolist(), profile(losses, multiplier, share).tolist(), strict=True):
        truth = true_profile(loss, multiplier, share)
        assert truth <= value <= truth * (1 + exact.mpf(1e-12) * (1 + multiplier)) + exact.mpf(1e-300), loss


@pytest.mark.parametrize("multiplier", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("share", [1e-3, 0.2, 0.9])
def test_profile_is_that_of_a_pair(multiplier, share):
    # Convex and falling in exp(loss), 1 at 0 and above 1 - exp(loss): then a pair of laws with this profile exists.
    ratios = [exact.mpf(number) / 40 for number in range(1, 121)]
    values = [true_profile(exact.log(ratio), multiplier, share) for ratio in ratios]
    slopes = [high - low for low, high in itertools.pairwise([exact.mpf(1), *values])]
    assert all(slope <= 0 for slope in slopes)
    assert all(low <= high + exact.mpf(1e-50) for low, high in itertools.pairwise(slopes))
    assert all(value >= 1 - ratio - exact.mpf(1e-50) for ratio, value in zip(ratios, values, strict=True))


# --- composition ------------------------------------------------------------------------------------------------------


def dp_accounting_step(multiplier, share, steps):
    """Return dp-accounting's own distribution of one step's loss, which joins the same dots."""
    from dp_accounting.pld import pld_pmf

    interval, lowest, highest = loss_distribution._grid(multiplier, share, steps)
    dots = np.arange(lowest, highest + 1)
    values = profile(dots * interval, multiplier, share)
    return pld_pmf.create_pmf_pessimistic_connect_dots(interval, dots, values).to_dense_pmf()


@pytest.mark.parametrize("steps", [1, 2, 5, 12])
@pytest.mark.parametrize("tilt", [0.0, 0.5, 4.0])
def test_steps_compose_as_dp_accounting_composes_single_steps_one_after_the_other(steps, tilt):
    together = single = dp_accounting_step(0.8, 0.05, steps)
    for _ in range(steps - 1):
        together = together.compose(single, tail_mass_truncation=0)
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0, 4.0):
        expected = together.get_delta_for_epsilon(epsilon)
        assert delta_of_losses(0.8, 0.05, steps, tilt, epsilon) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("steps", [1, 7, 10_000])
@pytest.mark.parametrize("multiplier", [0.5, 3.0, 150.0])
def test_all_rows_in_every_batch_are_the_gaussian_curve(multiplier, steps):
    curve = SampledGaussianCurve(multiplier, 1.0, steps)
    for epsilon in (0.0, 0.1, 1.0, 10.0):
        expected = GaussianCurve(math.sqrt(steps) / multiplier).delta(epsilon)
        assert curve.delta(epsilon) == pytest.approx(expected, rel=1e-12)
        # The grid itself, which the class need not ask at a share of 1, agrees as well.
        nearly = delta_of_losses(multiplier, 1 - 1e-9, steps, 0.0, epsilon)
        assert expected * (1 - 1e-6) - 1e-12 <= nearly <= expected * 1.01 + 1e-11


def attained(multiplier, share, steps, epsilon):
    """Return dp-accounting's delta of three pairs of tables: the odd row in one, in the other, and in each half."""
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    interval = loss_distribution._grid(multiplier, share, steps)[0]
    pair = privacy_loss_distribution.from_gaussian_mechanism(
        multiplier, sampling_prob=share, value_discretization_interval=interval
    )
    one, other = pair._pmf_remove.to_dense_pmf(), pair._pmf_add.to_dense_pmf()
    half = pld_pmf.compose_pmfs(one.self_compose(steps // 2), other.self_compose(steps - steps // 2))
    return [pmf.get_delta_for_epsilon(epsilon) for pmf in (one.self_compose(steps), other.self_compose(steps), half)]


@pytest.mark.parametrize(
    ("multiplier", "share", "steps", "epsilon"),
    [
        (0.92, 0.01, 100, 1.0),
        more(0.85, 1e-3, 10_000, 1.0),
        (4.6, 0.1, 100, 1.0),
        (0.92, 0.01, 1000, 3.0),
        (21, 0.5, 100, 1),
    ],
)
def test_curve_covers_real_tables_and_is_close_to_them(multiplier, share, steps, epsilon):
    # All rows at -L but one, at L in one table and at -L in the other: exactly Poisson sampling's two directions.
    truth = max(attained(multiplier, share, steps, epsilon))
    assert truth <= SampledGaussianCurve(multiplier, share, steps).delta(epsilon)
    # Covering both directions at once costs less than a tenth of the noise.
    assert SampledGaussianCurve(1.1 * multiplier, share, steps).delta(epsilon) <= truth


CASES = [
    more(4.6, 1e-3, 1_000_000, 1.0),
    (0.85, 1e-3, 10_000, 1.0),
    more(0.55, 1e-4, 10_000, 1.0),
    (0.5, 0.3, 20, 4.0),
]


@pytest.mark.parametrize(("multiplier", "share", "steps", "epsilon"), CASES)
def test_a_finer_grid_changes_delta_by_less_than_a_percent(monkeypatch, multiplier, share, steps, epsilon):
    tilt = tilt_for(multiplier, share, steps, epsilon)
    usual = delta_of_losses(multiplier, share, steps, tilt, epsilon)
    monkeypatch.setattr(loss_distribution, "FINENESS", 4 * loss_distribution.FINENESS)
    monkeypatch.setattr(loss_distribution, "MOST_DOTS", 4 * loss_distribution.MOST_DOTS)
    for cached in (loss_distribution.one_step, loss_distribution.composed):
        monkeypatch.setattr(loss_distribution, cached.__name__, cached.__wrapped__)
    finer = delta_of_losses(multiplier, share, steps, tilt, epsilon)
    assert finer <= usual * (1 + 1e-4) + 1e-11
    assert usual <= finer * 1.01


def extended_delta(masses, first: int, interval: float, steps: int, epsilon: float, tilt: float) -> float:
    """Return delta of the composed masses in extended precision, without what counts as infinite loss."""
    from dp_accounting.pld import common

    long = np.longdouble
    step_losses = (np.arange(len(masses)) + first).astype(long) * long(interval)
    weights = masses * np.exp(long(tilt) * step_losses)
    total = weights.sum()
    weights = weights / total
    low, high = common.compute_self_convolve_bounds(weights.astype(float), steps, 1e-15)
    length = scipy.fft.next_fast_len(max(high - low + 1, len(masses)))
    power, factor, left = long(1), scipy.fft.rfft(weights, length), steps
    while left:
        power, factor, left = power * factor if left % 2 else power, factor * factor, left // 2
    together = np.roll(scipy.fft.irfft(power, length), -low)[: high - low + 1]
    losses = (np.arange(len(together)) + low + steps * first).astype(long) * long(interval)
    beyond = np.maximum(losses - long(epsilon), 0)
    counted = (-np.expm1(-beyond) * np.exp(-long(tilt) * beyond)) @ together
    return float(counted * np.exp(steps * np.log(total) - long(tilt) * long(epsilon)))


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 2e-19, reason="no extended precision on this machine")
@pytest.mark.parametrize(
    ("multiplier", "share", "steps"),
    [
        more(4.6, 1e-3, 20_000),
        (10.2, 0.23, 2449),
        more(3.0, 0.35, 4000),
        (1.0, 0.5, 100),
        more(4.6, 1e-3, 1_000_000),
    ],
)
def test_rounding_is_paid_for(multiplier, share, steps):
    # The same grid, but dots and masses in 200 bits and the convolution in 64.
    interval, first, last = loss_distribution._grid(multiplier, share, steps)
    dots = [true_profile(exact.mpf(interval) * number, multiplier, share) for number in range(first, last + 1)]
    ratios = [exact.exp(exact.mpf(interval) * number) for number in range(first, last + 1)]
    heights, places = [exact.mpf(1), *dots], [exact.mpf(0), *ratios]
    slopes = [
        (high - low) / (right - left)
        for (low, high), (left, right) in zip(itertools.pairwise(heights), itertools.pairwise(places), strict=True)
    ]
    bends = [right - left for left, right in itertools.pairwise([*slopes, exact.mpf(0)])]
    # From text, because a float would lose digits.
    masses = np.array([np.longdouble(exact.nstr(p * b, 25)) for p, b in zip(ratios, bends, strict=True)])
    width = interval * loss_distribution.FINENESS * math.sqrt(steps)
    for epsilon in np.linspace(0.0, 8 * width, 9).tolist():
        tilt = tilt_for(multiplier, share, steps, epsilon)
        truth = extended_delta(masses, first, interval, steps, epsilon, tilt)
        simple = GaussianCurve(math.sqrt(steps) / multiplier).delta(epsilon)
        assert min(truth, simple) <= estimated_delta(multiplier, share, steps, epsilon) <= truth * (1 + 1e-4) + 4e-15, (
            epsilon
        )
        assert delta_of_losses(multiplier, share, steps, tilt, epsilon) >= truth


@pytest.mark.parametrize(
    ("multiplier", "share", "steps", "delta"),
    # Few draws, many draws, and all rows in every step.
    [(0.66, 1e-4, 10**4, 1e-9), (7.3, 1e-4, 10**8, 1e-13), (30.0, 1.0, 20, 1e-12)],
)
def test_the_inverted_transform_is_the_same_on_every_line(multiplier, share, steps, delta):
    found = inverted_delta(multiplier, share, steps, 1.0)
    assert delta / 100 < found < 100 * delta
    assert inverted_delta(multiplier, share, steps, 1.0, beside=0.9) == pytest.approx(found, rel=1e-6)
    if share == 1.0:
        assert found == pytest.approx(GaussianCurve(math.sqrt(steps) / multiplier).delta(1.0), rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "share", "steps"),
    [
        (1.0, 1e-11, 1e-3, 10**5),
        (0.5, 1e-13, 1e-2, 10**5),
        (1.0, 1e-13, 1e-4, 10**4),
        more(1.0, 1e-13, 1e-3, 10**6),
        more(3.0, 1e-13, 1e-3, 10**7),
        more(1.0, 1e-12, 1e-4, 10**8),
    ],
)
def test_small_deltas_keep_their_digits_however_many_steps_there_are(epsilon, delta, share, steps):
    # N11: an absolute error of steps 2^-49 would be far above these deltas.
    multiplier = smallest_multiplier(epsilon, delta, share, steps)
    exact_multiplier = scipy.optimize.brentq(
        lambda z: math.log(inverted_delta(z, share, steps, epsilon) / delta), 0.97 * multiplier, 1.01 * multiplier
    )
    assert exact_multiplier * 0.999 <= multiplier <= 1.02 * exact_multiplier


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 1.5])
def test_a_delta_is_the_same_by_every_tilt_that_suits_it(epsilon):
    run = 4.6, 1e-3, 10**6
    best = tilt_for(*run, epsilon)
    chosen = delta_of_losses(*run, best, epsilon)
    near = [tilt for tilt in TILTS if best / 2 <= tilt <= best * 2]
    assert len(near) >= 4
    assert all(delta_of_losses(*run, tilt, epsilon) == pytest.approx(chosen, rel=1e-4) for tilt in near)
    # None at all is what small deltas drown in.
    assert delta_of_losses(*run, 0.0, epsilon) >= chosen


def test_the_grid_is_bounded_whatever_is_asked():
    for multiplier in (1 / 16, 0.3, 1.0, 30.0, 1e4):
        for share in (1e-9, 1e-4, 0.5, 1 - 1e-9):
            for steps in (1, 1000, MOST_STEPS):
                interval, lowest, highest = loss_distribution._grid(multiplier, share, steps)
                assert interval > 0
                assert lowest < 0 < highest
                assert highest - lowest <= loss_distribution.MOST_DOTS + 4


# --- the curve as a whole ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [12, more(40)])
def test_curve_falls_with_noise_and_rises_with_steps_and_share(points):
    def deltas(multipliers=(0.9,), shares=(0.02,), all_steps=(200,)):
        return [
            SampledGaussianCurve(*numbers).delta(1.0) for numbers in itertools.product(multipliers, shares, all_steps)
        ]

    falling = deltas(multipliers=np.geomspace(0.03, 50.0, points).tolist())
    # Infinite losses are never quite 0.
    assert all(high <= low * 1.001 + 1e-16 for low, high in itertools.pairwise(falling))
    assert falling[-1] < 1e-9 * falling[0]
    rising = deltas(shares=[*np.geomspace(1e-5, 0.9, 3 * points // 4).tolist(), 1.0])
    assert all(high >= low / 1.001 - 1e-13 for low, high in itertools.pairwise(rising))
    rising = deltas(all_steps=[1, 2, 3, 5, 10, 30, 100, 1000, 10_000])
    assert all(high >= low / 1.001 - 1e-13 for low, high in itertools.pairwise(rising))


def test_curve_falls_with_epsilon_within_zero_and_one():
    for curve in (SampledGaussianCurve(0.05, 0.1, 10), SampledGaussianCurve(0.9, 0.02, 200)):
        values = [curve.delta(epsilon) for epsilon in (0.0, *np.geomspace(1e-6, 100.0, 50).tolist())]
        assert all(0 < value <= 1 for value in values)
        # But for rounding of the Fourier transform.
        assert all(high <= low + 1e-13 for low, high in itertools.pairwise(values))


def test_sampling_never_costs_privacy_and_an_undrawn_row_is_safe():
    for multiplier, share, steps in itertools.product((1e-3, 0.07, 0.5, 3.0, 1e300), (1e-4, 0.1, 0.9), (1, 30)):
        for epsilon in (0.0, 1.0, 5.0):
            delta = SampledGaussianCurve(multiplier, share, steps).delta(epsilon)
            assert delta <= GaussianCurve(math.sqrt(steps) / multiplier).delta(epsilon) * (1 + 1e-12)
            assert delta <= (1 - (1 - share) ** steps) * (1 + 1e-9)


# --- calibration ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta", "lowest", "highest"), [(1.0, 1e-6, 4.626, 4.63), more(0.5, 1e-8, 10.263, 10.28)]
)
def test_reference_values_for_a_million_steps_of_one_row(epsilon, delta, lowest, highest):
    # L4, n = 1000: the exact multipliers are 4.6260 and 10.263.
    assert lowest <= smallest_multiplier(epsilon, delta, 1 / 1000, 1_000_000) <= highest


@pytest.mark.parametrize(
    ("epsilon", "delta", "share", "steps"),
    [
        (1.0, 1e-5, 0.01, 100),
        (1.0, 1e-6, 1e-3, 10_000),
        more(0.1, 1e-6, 1e-4, 10_000),
        more(8.0, 1e-6, 1e-4, 10_000),
        (0.0, 1e-3, 1e-3, 100),
        (1.0, 1e-6, 0.5, 10_000),
        (1.0, 1e-6, 1.0, 100),
        (1.0, 1e-100, 0.1, 100),
        (1.0, 1e-6, 1e-3, 10**9),
    ],
)
def test_smallest_multiplier_is_the_private_end(epsilon, delta, share, steps):
    multiplier = smallest_multiplier(epsilon, delta, share, steps)
    assert SampledGaussianCurve(multiplier, share, steps).delta(epsilon) <= delta
    assert SampledGaussianCurve(0.998 * multiplier, share, steps).delta(epsilon) > delta
    assert multiplier <= math.sqrt(steps) / largest_mu(epsilon, delta) * 1.001


def test_smallest_multiplier_stops_where_no_noise_is_needed():
    # The row is drawn with probability 0.001 at most, and delta allows that.
    multiplier = smallest_multiplier(1.0, 0.01, 1e-4, 10)
    assert multiplier == pytest.approx(SMALLEST_MULTIPLIER)
    assert SampledGaussianCurve(multiplier, 1e-4, 10).delta(1.0) <= 0.01


def test_no_run_of_noisy_gradients_is_refused():
    for multiplier, share, steps in [
        (0.0, 0.1, 1),
        (math.nan, 0.1, 1),
        (math.inf, 0.1, 1),
        (1.0, 0.0, 1),
        (1.0, 1.1, 1),
        (1.0, math.nan, 1),
        (1.0, 0.1, 0),
        (1.0, 0.1, 1.0),
        (1.0, 0.1, True),
    ]:
        with pytest.raises(InvalidParameter, match="whole number of steps"):
            SampledGaussianCurve(multiplier, share, steps)
    with pytest.raises(InvalidParameter, match="epsilon"):
        SampledGaussianCurve(1.0, 0.1, 1).delta(-0.1)
    for epsilon, delta in [(-1.0, 0.1), (math.nan, 0.1), (math.inf, 0.1), (1.0, 0.0), (1.0, 1.0)]:
        with pytest.raises(InvalidParameter, match="delta in"):
            smallest_multiplier(epsilon, delta, 0.1, 1)
    with pytest.raises(InvalidParameter, match="whole number of steps"):
        smallest_multiplier(1.0, 0.1, 0.1, 0)
    with pytest.raises(BudgetImpossible):
        smallest_multiplier(1.0, 1e-200, 0.1, 10)


@pytest.mark.parametrize("sensitivity", [1.0, 0.03, 1 / 700, 4.7e-5])
def test_a_plan_composes_once_and_its_check_not_again(sensitivity, monkeypatch):
    """Whatever the last digits of the scale: the check's own multiplier is what the search composed."""
    composed_for = []

    def counted(noise_multiplier, share, steps, plain=sampled.composed):
        composed_for.append(noise_multiplier)
        return plain(noise_multiplier, share, steps)

    monkeypatch.setattr(sampled, "composed", counted)
    multiplier = smallest_multiplier.__wrapped__(1.0, 1e-6, 0.02, 30, sensitivity)
    scale = sensitivity * multiplier
    assert SampledGaussianCurve(scale / sensitivity, 0.02, 30).delta(1.0) <= 1e-6
    assert len(composed_for) == 2
    assert len(set(composed_for)) == 1
