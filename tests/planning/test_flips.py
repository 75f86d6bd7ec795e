"""F2 and F3: flips against closed forms, quadrature and drawn noise; thresholds against their rates."""

import math
import re
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import k0e, k1e, ndtr
from scipy.stats import binom

import equipoise as eq
from equipoise.certify.laws import members
from equipoise.data.schema import NumberColumn, Target
from equipoise.errors import InvalidParameter
from equipoise.estimators import models
from equipoise.noise import SeededSource
from equipoise.planning.flips import Deviations, FamilyWise, Fixed, WeightNoise, flip_probabilities
from equipoise.planning.laws import KnownLaw, known
from equipoise.solve.losses import arrays_of
from equipoise.vocabulary import losses

# The probability that a test of drawn noise fails although the formula is right, for each comparison.
FALSE_ALARM = 1e-7

LAWS = ("gaussian", "laplace", "spherical-laplace")

noises = st.builds(
    WeightNoise,
    st.sampled_from(LAWS),
    st.floats(1e-6, 1e6),
    st.integers(1, 3000),
)


def seeds_lemma_16(weight, threshold, scale):
    """Return what [000] prints, with its scale for the fraction of constants: one formula for every weight."""
    return math.exp(-abs(threshold - abs(weight)) / scale)


def test_lemma_16_of_the_seed_is_wrong_for_weights_that_are_not_zero():
    noise = WeightNoise("laplace", 0.7, 1)
    flips = flip_probabilities([0.0, 0.4], 1.0, noise)
    assert flips[0] == pytest.approx(seeds_lemma_16(0.0, 1.0, 0.7), rel=1e-12)
    assert flips[1] == pytest.approx(0.720, abs=5e-4)
    assert seeds_lemma_16(0.4, 1.0, 0.7) == pytest.approx(0.424, abs=5e-4)
    # Beyond the threshold it is too large by a factor of at least two.
    assert flip_probabilities(3.0, 1.0, noise) < seeds_lemma_16(3.0, 1.0, 0.7) / 2


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.3])
def test_the_bound_that_the_seed_draws_from_its_lemma_is_exceeded(weight):
    # At the smallest n that it allows, sqrt(n) = L sqrt(kappa)/(epsilon lambda gamma), the noise of its Algorithm 2,
    # whose sensitivity is sqrt(2 beta/(lambda gamma)) with beta = 2 L^2 kappa/(n lambda gamma), has scale 2.
    slope, kappa, epsilon, strength = 1.5, 2.0, 0.5, 0.01
    n_samples = (slope / (epsilon * strength)) ** 2 * kappa
    beta = 2 * slope**2 * kappa / (n_samples * strength)
    noise = WeightNoise("laplace", math.sqrt(2 * beta / strength) / epsilon, 1)
    assert noise.scale == pytest.approx(2.0, rel=1e-12)
    assert flip_probabilities(weight, 3.0, noise) > math.exp(-2 * abs(3.0 - weight))


def test_the_laplace_law_has_the_catalogues_closed_forms():
    noise, threshold = WeightNoise("laplace", 0.3, 4), 0.5
    for weight in (-2.0, 0.7, 0.50001):
        size = abs(weight)
        expected = (math.exp(-(size - threshold) / 0.3) - math.exp(-(size + threshold) / 0.3)) / 2
        assert flip_probabilities(weight, threshold, noise) == pytest.approx(expected, rel=1e-12)
    for weight in (-0.5, 0.2, 1e-9):
        size = abs(weight)
        expected = 1 - math.exp(-(threshold - size) / 0.3) / 2 - math.exp(-(threshold + size) / 0.3) / 2
        assert flip_probabilities(weight, threshold, noise) == pytest.approx(expected, rel=1e-12)


@cache
def odd_tail(dimension, place, digits=50):
    """Return the spherical tail at an odd dimension, where Bessel's density is a polynomial times ``e^(-z)``."""
    with mpmath.workdps(digits):
        order, factorial = (dimension - 1) // 2, mpmath.factorial
        below = above = partial = mpmath.mpf(0)
        for power in range(order + 1):
            # The integral of x^j e^(-x) beyond z is j! e^(-z) sum_(i <= j) z^i/i!.
            partial += mpmath.mpf(place) ** power / factorial(power)
            rest = order - power
            weight = factorial(order + rest) / (factorial(rest) * mpmath.mpf(2) ** rest)
            below, above = below + weight, above + weight * partial
        return above / below / 2 * mpmath.exp(-mpmath.mpf(place))


def agrees(found, expected):
    """Tell whether a probability is as exact as docs/proofs/F2.md states: it is the exponential of a double."""
    with mpmath.workdps(50):
        return abs(mpmath.mpf(float(found)) / expected - 1) < 1e-15 * (5 + abs(mpmath.log(expected)) / 2)


@pytest.mark.parametrize("dimension", [1, 3, 5, 11, 101, 401])
def test_the_spherical_tail_has_closed_forms_in_odd_dimensions(dimension):
    noise = WeightNoise("spherical-laplace", 2.0, dimension)
    if dimension == 5:
        assert odd_tail(5, 1.5) == pytest.approx(math.exp(-1.5) * (1.5**2 + 5 * 1.5 + 8) / 16)
    for place in (0.0, 1e-6, 0.1, 1.0, 5.0, 30.0, 100.0, 300.0, 700.0):
        assert agrees(noise.tail(2.0 * place), odd_tail(dimension, place)), place


@pytest.mark.parametrize("dimension", [3, 101, 401])
@pytest.mark.parametrize("width", [1e-30, 1e-9, 1e-3, 0.7, 2.5, 40.0])
def test_tiny_intervals_of_the_spherical_law_do_not_cancel(dimension, width):
    noise = WeightNoise("spherical-laplace", 1.0, dimension)
    for place in (0.0, 1e-3, 1.0, 20.0, 100.0):
        with mpmath.workdps(90):
            far = mpmath.mpf(place) + mpmath.mpf(width)
            expected = odd_tail(dimension, place, 90) - odd_tail(dimension, far, 90)
        assert agrees(noise.between(place, width), expected), place


@pytest.mark.parametrize("width", [1e-30, 1e-9, 1e-3, 0.7, 1.0, 1.0001, 2.5, 40.0])
def test_tiny_intervals_of_the_other_laws_do_not_cancel(width):
    for place in (0.0, 1e-3, 1.0, 5.0, 12.0):
        with mpmath.workdps(120):
            near, far = mpmath.mpf(place), mpmath.mpf(place) + mpmath.mpf(width)
            normal = (mpmath.erfc(near / mpmath.sqrt(2)) - mpmath.erfc(far / mpmath.sqrt(2))) / 2
            laplace = (mpmath.exp(-near) - mpmath.exp(-far)) / 2
        assert agrees(WeightNoise("gaussian", 1.0, 1).between(place, width), normal), place
        assert agrees(WeightNoise("laplace", 1.0, 1).between(place, width), laplace), place


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dimension", [1, 2, 30])
def test_a_tiny_threshold_keeps_its_digits(law, dimension):
    noise, limit = WeightNoise(law, 1.0, dimension), 1e-25
    weights = np.array([1e-26, 1e-25, 3e-25, 1e-9, 0.5])
    # So narrow a gap holds 2 T times the density, whose slope is at most its value at 0 over the scale.
    step = 1e-3
    density = noise.between(np.maximum(weights - step / 2, 0.0), step) / step
    np.testing.assert_allclose(flip_probabilities(weights, limit, noise), 2 * limit * density, rtol=2 * step)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dimension", [1, 2, 400, 10**9])
def test_weights_of_every_size_have_a_probability_without_warnings(law, dimension):
    noise = WeightNoise(law, 1e-3, dimension)
    flips = flip_probabilities([0.0, 5e-324, 1e200, -1e300, 1.7e308], noise.deviation, noise)
    assert flips[0] + flips[1] == pytest.approx(1, abs=1e-12)
    assert flips[2:].tolist() == [0.0, 0.0, 0.0]


def bessel(order, at):
    """Return K of a whole order, by the recurrence from 0 and 1, which is stable upwards; SciPy starts it."""
    below, here = (mpmath.mpf(float(start(float(at)))) * mpmath.exp(-at) for start in (k0e, k1e))
    for step in range(1, order):
        below, here = here, below + 2 * step / at * here
    return here


@pytest.mark.parametrize("dimension", [2, 10, 100, 400])
@pytest.mark.parametrize("place", [0.5, 20.0])
def test_the_spherical_tail_is_the_integral_of_bessels_density(dimension, place):
    points, weights = np.polynomial.legendre.leggauss(50)
    order, total = dimension // 2, 0.0
    with mpmath.workdps(30):
        constant = mpmath.gamma(order + 0.5) * mpmath.mpf(2) ** order * mpmath.sqrt(mpmath.pi)
        # Each piece is as long as its distance from 0, where Bessel's function has its only corner.
        low, end = place, place + 12 * math.sqrt(dimension + 1) + 45
        while low < end:
            places = low + low * (points + 1) / 2
            density = [float(at**order * bessel(order, at) / constant) for at in map(mpmath.mpf, places)]
            total, low = total + low / 2 * float(weights @ density), 2 * low
    # The reference is summed in doubles.
    assert float(WeightNoise("spherical-laplace", 1.0, dimension).tail(place)) == pytest.approx(total, rel=1e-13)


def test_the_spherical_law_becomes_gaussian():
    for dimension in (10**4, 10**8):
        noise = WeightNoise("spherical-laplace", 1.0, dimension)
        multiples = np.array([0.0, 1.0, 3.0])
        np.testing.assert_allclose(noise.tail(multiples * noise.deviation), ndtr(-multiples), rtol=60 / dimension)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dimension", [1, 2, 7, 200])
def test_the_variance_of_the_tail_is_that_of_the_mechanism(law, dimension):
    noise = WeightNoise(law, 0.8, dimension)
    deviation = known(law).deviation(0.8, dimension)
    places = np.linspace(0, 60 * deviation, 20_001)
    # E k^2 is the integral of 4 x P[k > x].
    variance = np.trapezoid(4 * places * noise.tail(places), places)
    assert variance == pytest.approx(deviation**2, rel=1e-4)
    assert noise.deviation == deviation


def test_every_law_of_noise_on_the_output_has_a_marginal():
    assert set(LAWS) == set(members())
    for law in LAWS:
        assert 0 < float(WeightNoise(law, 1.0, 3).tail(1.0)) < 0.5


def test_a_law_without_a_marginal_is_refused_with_the_remedy():
    unknown = KnownLaw(members()["gaussian"]())
    for asked in (lambda: unknown.upper(np.ones(1), 1), lambda: unknown.between(np.ones(1), np.ones(1), 1)):
        with pytest.raises(InvalidParameter, match='pass "gaussian" or "spherical-laplace"'):
            asked()


@pytest.mark.parametrize("law", LAWS)
def test_drawn_noise_flips_as_often_as_computed(law):
    weights, threshold, runs, scale = np.array([0.0, 0.3, 0.9, 1.1, 2.5, 0.0]), 1.0, 4000, 0.4
    source = SeededSource(7)
    released = np.array([source.add(law, weights, scale) for _ in range(runs)])
    flipped = ((np.abs(released) > threshold) != (weights != 0)).sum(axis=0)
    expected = flip_probabilities(weights, threshold, WeightNoise(law, scale, len(weights)))
    low, high = binom.ppf(FALSE_ALARM / 2, runs, expected), binom.isf(FALSE_ALARM / 2, runs, expected)
    assert ((low <= flipped) & (flipped <= high)).all(), (flipped, expected)


@given(noises, st.floats(0.01, 50.0), st.floats(0.0, 100.0), st.floats(1.0, 2.0))
def test_flips_are_probabilities_that_shrink_as_weights_grow(noise, threshold, weight, factor):
    limit = threshold * noise.scale
    sizes = noise.scale * weight * np.array([1.0, -1.0, factor])
    first, mirrored, larger = flip_probabilities(sizes, limit, noise)
    assert 0 <= first <= 1
    assert first == mirrored
    if weight > 0:
        assert larger <= first + 1e-12


@given(noises, st.floats(0.01, 20.0))
def test_a_tiny_weight_is_missed_where_none_would_be_selected(noise, threshold):
    limit = threshold * noise.scale
    none, tiny = flip_probabilities([0.0, 1e-12 * noise.scale], limit, noise)
    assert none + tiny == pytest.approx(1, abs=1e-9)


@given(noises, st.floats(1e-12, 0.49))
def test_quantiles_invert_the_tail_and_err_on_the_side_of_the_rate(noise, probability):
    distance = noise.quantile(probability)
    assert noise.tail(distance) <= probability
    assert noise.tail(distance) == pytest.approx(probability, rel=1e-9)


def test_thresholds_in_deviations_have_the_catalogues_rates():
    def wrong(law, dimension):
        noise = WeightNoise(law, 1.7, dimension)
        return float(flip_probabilities(0.0, Deviations(3.0).place(noise, dimension), noise))

    assert wrong("laplace", 9) == pytest.approx(math.exp(-math.sqrt(2) * 3), rel=1e-12)
    assert wrong("laplace", 9) == pytest.approx(0.0144, abs=5e-5)
    assert wrong("gaussian", 9) == pytest.approx(0.0027, abs=5e-5)
    spherical = [wrong("spherical-laplace", dimension) for dimension in (1, 2, 5, 20, 100, 1000)]
    assert spherical == sorted(spherical, reverse=True)
    assert wrong("gaussian", 1) < spherical[-1]
    assert spherical[0] == pytest.approx(wrong("laplace", 1), rel=1e-9)


def test_the_laws_change_places_near_1_68_and_only_there():
    # docs/proofs/F3.md, with its numbers.
    multiples = np.arange(1, 2001) * 0.005
    laplace, gaussian = np.exp(-math.sqrt(2) * multiples), 2 * ndtr(-multiples)
    dimensions = [*range(1, 33), 50, 100, 200, 500, 1000, 10**4, 10**6]
    rates = np.array(
        [2 * WeightNoise("spherical-laplace", 1.0, d).tail(multiples * math.sqrt(d + 1)) for d in dimensions]
    )
    rounding = 1e-14
    outside = np.maximum(np.minimum(laplace, gaussian) - rates, rates - np.maximum(laplace, gaussian))
    high, low = multiples > 1.735 - 1e-9, multiples < 1.655 + 1e-9
    assert outside[:, high | low].max() <= rounding
    assert (np.diff(rates[:, high], axis=0) <= rounding).all()
    assert (np.diff(rates[:, low], axis=0) >= -rounding).all()
    # In the gap the spherical law can lie outside, by as much as stated.
    assert 0.00034 < outside.max() < 0.00035
    place = np.abs(multiples - 1.68).argmin()
    found = rates[dimensions.index(15), place], laplace[place], gaussian[place]
    assert [round(float(rate), 5) for rate in found] == [0.09259, 0.09293, 0.09296]


def test_the_table_of_thresholds_is_computed():
    laws = {"independent Laplace": "laplace", "spherical": "spherical-laplace", "Gaussian": "gaussian"}
    page = (Path(__file__).parents[2] / "docs" / "proofs" / "F3.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w ]+) \| (\d+|any) \| (0\.\d+) \| (\d\.\d+) \|$", page, flags=re.MULTILINE)
    assert len(rows) == 7
    for name, dimension, rate, threshold in rows:
        noise = WeightNoise(laws[name], 1.3, 32 if dimension == "any" else int(dimension))
        assert f"{float(flip_probabilities(0.0, Deviations(3.0).place(noise, 32), noise)):.4f}" == rate
        assert f"{FamilyWise(0.05).place(noise, 32) / noise.deviation:.3f}" == threshold


@given(noises, st.floats(1e-6, 0.9), st.integers(1, 10_000))
def test_a_family_wise_threshold_spends_its_rate_and_no_more(noise, rate, count):
    threshold = FamilyWise(rate).place(noise, count)
    assert 2 * count * noise.tail(threshold) <= rate * (1 + 1e-12)
    assert 2 * count * noise.tail(threshold) >= rate * (1 - 1e-6)


def test_several_classes_carry_the_noise_of_one_fewer():
    model = eq.ElasticNetClassifier(domain=eq.Domain(1.0, classes=("a", "b", "c")))
    certificate = model.plan(n_samples=5000, n_features=3)
    noise = WeightNoise.of(certificate)
    assert noise.share == pytest.approx(math.sqrt(2 / 3))
    loss, drawn_noise, source = losses.named("multinomial:3"), certificate.claim.noise, SeededSource(3)
    runs, place = 4000, 1.5 * noise.deviation
    zeros = np.zeros(drawn_noise.dimension)
    drawn = [
        arrays_of(loss).full(source.add(drawn_noise.law, zeros, drawn_noise.scale).reshape(2, -1)) for _ in range(runs)
    ]
    beyond = (np.array(drawn) > place).sum(axis=0)
    expected = float(noise.tail(place))
    assert binom.ppf(FALSE_ALARM / 2, runs, expected) <= beyond.min()
    assert beyond.max() <= binom.isf(FALSE_ALARM / 2, runs, expected)
    with pytest.raises(InvalidParameter, match="tied"):
        WeightNoise("laplace", 1.0, 8, share=0.5)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: WeightNoise("uniform", 1.0, 1),
        lambda: WeightNoise("laplace", 0.0, 1),
        lambda: WeightNoise("laplace", 1.0, 0),
        lambda: WeightNoise("laplace", "1", 1),
        lambda: flip_probabilities("abc", 1.0, WeightNoise("laplace", 1.0, 1)),
        lambda: flip_probabilities([0j], 1.0, WeightNoise("laplace", 1.0, 1)),
        lambda: flip_probabilities([None], 1.0, WeightNoise("laplace", 1.0, 1)),
        lambda: flip_probabilities([[0.0], [0.0, 1.0]], 1.0, WeightNoise("laplace", 1.0, 1)),
        lambda: flip_probabilities([True], 1.0, WeightNoise("laplace", 1.0, 1)),
        lambda: flip_probabilities([math.nan], 1.0, WeightNoise("laplace", 1.0, 1)),
        lambda: flip_probabilities([1.0], 0.0, WeightNoise("laplace", 1.0, 1)),
        lambda: WeightNoise("gaussian", 1.0, 1).quantile(0.5),
        lambda: Deviations(0.0),
        lambda: FamilyWise(1.0),
        lambda: Fixed(-1.0),
    ],
)
def test_what_has_no_probability_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        wrong()


CLASSES, LABELS = eq.Domain(1.0, classes=(0, 1)), eq.Domain(1.0, labels=(0.0, 1.0))


def planned(name, **asked):
    kind = models()[name]
    # A search for alpha by public facts would be most of the time.
    asked = {**({"alpha": 0.05} if "alpha" in kind().get_params() else {}), **asked}
    for domain in (CLASSES, LABELS):
        try:
            return kind(delta=1e-6, domain=domain, **asked).plan(n_samples=1000, n_features=3)
        except InvalidParameter as refusal:
            if "a domain with" not in str(refusal):
                raise
    raise AssertionError


@pytest.mark.parametrize("name", sorted(models()))
def test_noise_on_the_weights_has_a_law_and_every_other_refusal_has_a_remedy_that_works(name):
    certificate = planned(name)
    if certificate.kind in ("output", "sgd"):
        assert WeightNoise.of(certificate).scale == certificate.noise_scale
        return
    with pytest.raises(InvalidParameter) as refused:
        WeightNoise.of(certificate)
    remedy = refused.value.remedy
    if 'mechanism="output"' in remedy:
        assert WeightNoise.of(planned(name, mechanism="output")).scale > 0
    else:
        offered = re.findall(r"\b[A-Z]\w+", remedy)
        assert len(offered) == 4
        for kind in offered:
            domain = CLASSES if "Classifier" in kind else LABELS
            assert WeightNoise.of(getattr(eq, kind)(domain=domain).plan(1000, 3)).scale > 0


@pytest.mark.parametrize("mechanism", ["objective", "noisy-gradient", "sufficient-statistics", "functional"])
def test_noise_elsewhere_than_on_the_weights_is_refused_with_the_remedy(mechanism):
    name = "logistic" if mechanism in ("objective", "noisy-gradient") else "ridge"
    with pytest.raises(InvalidParameter, match='mechanism="output"'):
        WeightNoise.of(planned(name, mechanism=mechanism))


def test_private_bounds_are_refused_in_words_of_their_own():
    schema = eq.Schema(
        2000, (NumberColumn("age", None),), Target("ill", classes=(0, 1)), vouched_by="a test", vouched_on="2026-01-01"
    )
    model = eq.LogisticRegression(domain=schema.with_private_bounds(0.1), mechanism="output")
    certificate = model.plan()
    with pytest.raises(InvalidParameter, match="the encoding depends on rows"):
        WeightNoise.of(certificate)
