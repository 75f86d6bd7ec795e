"""The samplers: the laws they draw from, the grid that hides their rounding, and where their randomness comes from.

The exact source draws fresh entropy, so its tests are random. Each comparison with a law raises a false alarm with
probability 1e-6, and there are fewer than a hundred of them in each lane: at most one run in ten thousand fails by bad
luck.
"""

import math
import random
import secrets
from fractions import Fraction
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray

from equipoise.certify import laws
from equipoise.errors import InvalidParameter, UnknownName
from equipoise.noise import ExactSource, NoiseSource, SeededSource, exact, noise_source, samplers
from equipoise.noise.exact import software
from equipoise.noise.grid import GRID_BITS
from equipoise.noise.samplers import sampler_of

Array = NDArray[np.float64]

FALSE_ALARM = 1e-6

LAWS = ("laplace", "gaussian", "spherical-laplace")
CUMULATIVE = {"laplace": scipy.stats.laplace.cdf, "gaussian": scipy.stats.norm.cdf}

every_source = pytest.mark.parametrize("source", [ExactSource(), SeededSource(17)], ids=["exact", "seeded"])


def follows(sample: Array, cumulative) -> bool:
    """Return False with probability at most `FALSE_ALARM` if the sample follows the law (Kolmogorov and Smirnov)."""
    return scipy.stats.kstest(sample, cumulative).pvalue > FALSE_ALARM


def total_is_plausible(total: float, law) -> bool:
    """Return False with probability at most `FALSE_ALARM` if the total follows its exact law, at either end."""
    return min(law.cdf(total), law.sf(total)) > FALSE_ALARM / 2


def direction_law(dimension: int):
    """Return the law of one coordinate of a uniform unit vector: ``(1 + u) / 2 ~ Beta((d - 1)/2, (d - 1)/2)``."""
    shape = (dimension - 1) / 2
    return scipy.stats.beta(shape, shape, loc=-1.0, scale=2.0).cdf


def spherical_noise(source: NoiseSource, weights: Array, scale: float, count: int) -> Array:
    return np.array([source.add("spherical-laplace", weights, scale) - weights for _ in range(count)])


# --- the laws ---------------------------------------------------------------------------------------------------------


# In eight dimensions the total shows a scale that is wrong by 9 % with
# the few, and by 5 % with the many.
draws_of_both_lanes = pytest.mark.parametrize("count", [400, pytest.param(1500, marks=pytest.mark.statistics)])


@every_source
@draws_of_both_lanes
@pytest.mark.parametrize("dimension", [1, 2, 5, 8])
def test_spherical_laplace_has_a_gamma_radius_and_a_uniform_direction(source, dimension, count):
    # Odd and even dimensions take different paths to the same law (D1). Weights other than 0 test the sum as well.
    scale = 2.5
    weights = 100.0 * (1.0 + np.arange(dimension))
    draws = spherical_noise(source, weights, scale, count)
    radius = np.linalg.norm(draws, axis=1)
    assert follows(radius / scale, scipy.stats.gamma(dimension).cdf)
    # The sum of all radii is again a Gamma variable.
    assert total_is_plausible(radius.sum() / scale, scipy.stats.gamma(dimension * len(radius)))
    units = draws / radius[:, None]
    if dimension == 1:
        positive = int((units[:, 0] > 0).sum())
        assert scipy.stats.binomtest(positive, len(units)).pvalue > FALSE_ALARM
        return
    for coordinate in (units[:, 0], units[:, -1], units.sum(axis=1) / math.sqrt(dimension)):
        assert follows(coordinate, direction_law(dimension))
    # A long draw is as likely in every direction.
    assert scipy.stats.spearmanr(radius, np.abs(units[:, 0])).pvalue > FALSE_ALARM
    assert scipy.stats.spearmanr(units[:, 0], units[:, 1]).pvalue > FALSE_ALARM


@draws_of_both_lanes
def test_the_comparison_has_the_power_to_see_a_wrong_dimension_and_a_wrong_scale(count):
    # The same tests of draws in six dimensions against the laws of five and three, and with 15 % too little noise.
    draws = spherical_noise(SeededSource(3), np.zeros(6), 1.0, count)
    assert not follows(np.linalg.norm(draws, axis=1), scipy.stats.gamma(5).cdf)
    assert not follows(0.85 * np.linalg.norm(draws, axis=1), scipy.stats.gamma(6).cdf)
    units = draws / np.linalg.norm(draws, axis=1, keepdims=True)
    assert not follows(units[:, 0], direction_law(3))


@every_source
@pytest.mark.parametrize("count", [4000, pytest.param(10_000, marks=pytest.mark.statistics)])
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.03, 2.5])
def test_coordinate_laws_are_what_their_names_say(source, law, scale, count):
    weights = np.linspace(-1.0, 1.0, count)
    drawn = (source.add(law, weights, scale) - weights) / scale
    assert follows(drawn, CUMULATIVE[law])
    # The exact law of a total of 10,000 shows a scale that is wrong by 5 % (Gaussian) or 6 % (Laplace), of 4,000 by 8 %
    # or 10 %.
    if law == "gaussian":
        assert total_is_plausible(float((drawn**2).sum()), scipy.stats.chi2(len(drawn)))
    else:
        assert total_is_plausible(float(np.abs(drawn).sum()), scipy.stats.gamma(len(drawn)))
    # Coordinates are independent: neighbours in the vector do not follow each other.
    assert scipy.stats.spearmanr(drawn[:-1], drawn[1:]).pvalue > FALSE_ALARM
    assert scipy.stats.spearmanr(np.abs(drawn[:-1]), np.abs(drawn[1:])).pvalue > FALSE_ALARM


@pytest.mark.parametrize("count", [100, pytest.param(300, marks=pytest.mark.statistics)])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e300])
def test_huge_and_tiny_scales_keep_the_law(law, scale, count):
    source = ExactSource()
    if law == "spherical-laplace":
        draws = spherical_noise(source, np.zeros(2), scale, count)
        # Scaled before the norm, which would overflow or underflow at these scales.
        assert follows(np.linalg.norm(draws / scale, axis=1), scipy.stats.gamma(2).cdf)
    else:
        assert follows(source.add(law, np.zeros(20 * count), scale) / scale, CUMULATIVE[law])


@every_source
@pytest.mark.parametrize("law", LAWS)
def test_weights_of_very_different_size_each_get_their_noise(source, law):
    weights = np.array([1e12, -1e6, 1.0, 1e-9, 0.0, -1e-300, 5e-324])
    first, second = (source.add(law, weights, 1.0) for _ in range(2))
    # A radius beyond 100 has probability below 1e-30 in seven dimensions, and a coordinate beyond 100 below 1e-42.
    assert np.abs(first - weights).max() < 100
    # Doubles near 1e12 are 1e-4 apart, so two noises coincide there with probability below 1e-4; elsewhere below 1e-9.
    assert (first[1:] != second[1:]).all()
    assert ((first - weights)[1:] != 0).all()


# --- the grid ---------------------------------------------------------------------------------------------------------


def grid_of(scale: float) -> Fraction:
    """Return the public grid: 2^-40 of the largest power of two that is at most the scale."""
    exponent = math.frexp(scale)[1] - 1
    return Fraction(2) ** (exponent - GRID_BITS)


@pytest.mark.parametrize("scale", [1e-300, 3e-7, 0.5, 1.0, 1.5, math.nextafter(2.0, 0.0), 2.0, 1e9, 1e300])
@pytest.mark.parametrize("size", [0.0, 1.0, 1 / 3, -12345.678])
@pytest.mark.parametrize("law", LAWS)
def test_sums_lie_on_a_grid_that_depends_on_the_scale_alone(law, scale, size):
    grid = grid_of(scale)
    assert scale * 2.0**-41 <= float(grid) <= scale * 2.0**-40
    weights = np.full(8, size * scale)
    steps = [Fraction(entry) / grid for entry in ExactSource().add(law, weights, scale).tolist()]
    assert all(step.denominator == 1 for step in steps)
    # The grid is not coarser than stated: 24 steps are all even with probability 2^-24 by chance. Sums much larger than
    # the scale are left out, since doubles of their size are coarser than the grid.
    if abs(size) <= 1:
        for _ in range(2):
            more = ExactSource().add(law, weights, scale).tolist()
            steps += [Fraction(entry) / grid for entry in more]
        assert any(step.numerator % 2 for step in steps)


# --- where the randomness comes from ----------------------------------------------------------------------------------


@pytest.mark.parametrize("law", LAWS)
def test_seeded_source_is_repeatable_and_says_so(law):
    weights = np.arange(4.0)
    one, other, third = SeededSource(5), SeededSource(5), SeededSource(6)
    first = one.add(law, weights, 1.0)
    assert one.seeded
    assert first.tolist() == other.add(law, weights, 1.0).tolist()
    assert first.tolist() != third.add(law, weights, 1.0).tolist()
    assert first.tolist() != one.add(law, weights, 1.0).tolist()  # it moves on within one run


@pytest.mark.parametrize("law", LAWS)
def test_exact_draws_differ_and_cannot_be_repeated(law):
    # Four coordinates on a lattice of 2^-40 or finer coincide with probability below 2^-100.
    weights = np.arange(4.0)
    source = ExactSource()
    assert not source.seeded
    draws = [one.add(law, weights, 1.0).tolist() for one in (source, source, ExactSource())]
    assert draws[0] != draws[1]
    assert draws[1] != draws[2]
    assert draws[0] != draws[2]


@every_source
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dimension", [1, 2, 3, 30])
def test_shape_and_argument_are_kept(source, law, dimension):
    weights = np.linspace(-1.0, 1.0, dimension)
    before = weights.copy()
    released = source.add(law, weights, 0.1)
    assert released.shape == (dimension,)
    assert released.dtype == np.float64
    assert weights.tolist() == before.tolist()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("count", [5, 2000])
def test_every_bit_comes_from_the_operating_system(monkeypatch, law, count):
    # With the operating system's bytes repeated the draw is repeated: nothing else feeds it.
    drawn = []
    for _ in range(2):
        coins = random.Random(8)  # noqa: S311 - in the operating system's place, and told
        monkeypatch.setattr(secrets, "token_bytes", coins.randbytes)
        monkeypatch.setattr(secrets, "randbits", coins.getrandbits)
        drawn.append(ExactSource().add(law, np.zeros(count), 1.0).tolist())
    assert drawn[0] == drawn[1]


# --- which sampler, and of which software -----------------------------------------------------------------------------


def test_every_law_has_a_sampler_of_its_own():
    assert set(LAWS) == set(laws.members())
    assert set(samplers.members()) == set(laws.members().values())
    for name, law in laws.members().items():
        assert type(sampler_of(name)) is samplers.members()[law]


@every_source
def test_a_law_that_nobody_knows_or_nobody_draws_is_refused(source, monkeypatch):
    with pytest.raises(UnknownName, match="a known law"):
        source.add("cauchy", np.zeros(2), 1.0)
    monkeypatch.setattr(samplers, "members", dict)
    with pytest.raises(UnknownName, match=r"to do: write src/equipoise/noise/samplers/spherical_laplace\.py"):
        source.add("spherical-laplace", np.zeros(2), 1.0)


@pytest.mark.parametrize("law", LAWS)
def test_a_density_is_that_of_the_draws(law):
    # The mean of the log density over draws is minus the entropy: the scale, the dimension and the constant are in it.
    scale, dimension, count = 1.7, 3, 4000
    source, sampler = SeededSource(2), sampler_of(law)
    found = np.array([sampler.log_density(source.add(law, np.zeros(dimension), scale), scale) for _ in range(count)])
    entropy = {
        "laplace": dimension * (1 + math.log(2 * scale)),
        "gaussian": dimension / 2 * (1 + math.log(2 * math.pi * scale**2)),
        # The mean of the radius is d scale, and the volume of the sphere is 4 pi.
        "spherical-laplace": dimension + math.log(4 * math.pi) + math.lgamma(dimension) + dimension * math.log(scale),
    }[law]
    allowed = scipy.stats.norm.isf(FALSE_ALARM / 2) * found.std() / math.sqrt(count)
    assert abs(found.mean() + entropy) < allowed


def test_the_software_that_is_named_is_what_noise_comes_from():
    assert [name for name, _ in software(seeded=True)] == ["numpy"]
    assert dict(software(seeded=True))["numpy"] == np.__version__
    assert [name for name, _ in software(seeded=False)] == ["cryptography", "numba", "opendp"]


def test_software_that_is_not_installed_is_not_named(monkeypatch):
    def version(name: str) -> str:
        if name == "numba":
            raise PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(exact, "version", version)
    assert [name for name, _ in software.__wrapped__(seeded=False)] == ["cryptography", "opendp"]


@pytest.mark.parametrize("wrong", [-1, 1.5, "7", True, [1]])
def test_a_seed_that_is_no_whole_number_is_refused(wrong):
    with pytest.raises(InvalidParameter, match="random_state"):
        noise_source(wrong)
    assert noise_source(np.int64(3)).seeded
    assert not noise_source(None).seeded
