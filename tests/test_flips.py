"""F2 and F3: flips against closed forms, quadrature and drawn noise; thresholds against their rates."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import gammaln, kve, ndtr
from scipy.stats import binom

import equipoise as eq
from equipoise.errors import InvalidParameter
from equipoise.proof.flips import LAWS, Deviations, FamilyWise, Fixed, WeightNoise, flip_probabilities
from equipoise.proof.mechanisms import members, named
from equipoise.proof.noise import SeededSource
from equipoise.vocabulary import losses

# The probability that a test of drawn noise fails although the formula is right, for each comparison.
FALSE_ALARM = 1e-7

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


def test_the_bound_that_the_seed_draws_from_its_lemma_is_wrong():
    # At the smallest sqrt(n) that it allows, its own exponent is |T - |w||/2, and not twice that.
    assert seeds_lemma_16(0.0, 1.0, scale=2.0) == pytest.approx(math.exp(-0.5))
    assert seeds_lemma_16(0.0, 1.0, scale=2.0) > math.exp(-2.0)


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


def test_the_spherical_tail_has_closed_forms_in_odd_dimensions():
    places = np.array([0.0, 1e-6, 0.1, 1.0, 5.0, 50.0, 300.0, 700.0])
    forms = {1: 0.5 + 0 * places, 3: (places + 2) / 4, 5: (places**2 + 5 * places + 8) / 16}
    for dimension, factor in forms.items():
        found = WeightNoise("spherical-laplace", 2.0, dimension).tail(2.0 * places)
        np.testing.assert_allclose(found, np.exp(-places) * factor, rtol=1e-12)


@pytest.mark.parametrize("dimension", [2, 10, 101])
@pytest.mark.parametrize("place", [0.5, 3.0, 20.0])
def test_the_spherical_tail_is_the_integral_of_bessels_density(dimension, place):
    constant = gammaln((dimension + 1) / 2) + dimension / 2 * math.log(2) + math.log(math.pi) / 2

    def density(at):
        return math.exp(dimension / 2 * math.log(at) + math.log(kve(dimension / 2, at)) - at - constant)

    ends = np.linspace(place, place + 10 * math.sqrt(dimension + 1) + 60, 30)
    expected = sum(quad(density, *piece, epsabs=0, epsrel=1e-11)[0] for piece in itertools.pairwise(ends))
    found = WeightNoise("spherical-laplace", 1.0, dimension).tail(place)
    assert found == pytest.approx(expected, rel=1e-10)


def test_the_spherical_law_becomes_gaussian():
    for dimension in (10**4, 10**8):
        noise = WeightNoise("spherical-laplace", 1.0, dimension)
        multiples = np.array([0.0, 1.0, 3.0])
        np.testing.assert_allclose(noise.tail(multiples * noise.deviation), ndtr(-multiples), rtol=60 / dimension)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dimension", [1, 2, 7, 200])
def test_the_variance_of_the_tail_is_that_of_the_mechanism(law, dimension):
    noise = WeightNoise(law, 0.8, dimension)
    deviation = named(law).deviation(0.8, dimension)
    places = np.linspace(0, 60 * deviation, 20_001)
    # E k^2 is the integral of 4 x P[k > x].
    variance = np.trapezoid(4 * places * noise.tail(places), places)
    assert variance == pytest.approx(deviation**2, rel=1e-4)
    assert noise.deviation == deviation


def test_every_law_of_noise_on_the_output_has_a_marginal():
    assert set(LAWS) == set(members())


@pytest.mark.parametrize("law", LAWS)
def test_drawn_noise_flips_as_often_as_computed(law):
    weights, threshold, runs, scale = np.array([0.0, 0.3, 0.9, 1.1, 2.5, 0.0]), 1.0, 4000, 0.4
    source, mechanism = SeededSource(7), named(law)
    released = np.array([mechanism.release(weights, scale, source) for _ in range(runs)])
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
    loss, mechanism, source = losses.named("multinomial:3"), named(certificate.mechanism), SeededSource(3)
    runs, dimension, place = 4000, certificate.argument.dimension, 1.5 * noise.deviation
    drawn = [
        loss.full(mechanism.release(np.zeros(dimension), certificate.noise_scale, source).reshape(2, -1))
        for _ in range(runs)
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


def test_noise_elsewhere_than_on_the_output_is_refused_with_the_remedy():
    model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), mechanism="objective")
    with pytest.raises(InvalidParameter, match='mechanism="output"'):
        WeightNoise.of(model.plan(n_samples=1000, n_features=3))
