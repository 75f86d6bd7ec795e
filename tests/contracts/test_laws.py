"""The contract of every law of noise: what is drawn is what it claims, and hides what it claims to hide.

A law is three classes, paired by type: its curve in `certify`, its sampler in `noise`, and what planning knows of it.
Tests that draw use seeded generators; the exact samplers are tested apart, in tests/noise. Every statistical statement
names the probability with which a true claim would fail it on fresh draws.
"""

import inspect
import itertools
import math
import re
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from numpy.typing import NDArray

from equipoise.certify import laws
from equipoise.certify.claims.base import LARGEST_SCALE, SMALLEST_SCALE
from equipoise.certify.curves import Curve, PureCurve
from equipoise.certify.laws import Law
from equipoise.certify.laws.laplace import Laplace
from equipoise.errors import UnknownName
from equipoise.noise import SeededSource, samplers
from equipoise.noise.samplers import Sampler, sampler_of
from equipoise.noise.samplers.laplace import LaplaceSampler
from equipoise.planning import laws as planned_laws
from equipoise.planning.laws import KnownLaw, calibrations, known, quietest
from equipoise.planning.laws.laplace import KnownLaplace
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.facts import Budget

Array = NDArray[np.float64]

REPOSITORY = Path(__file__).parents[2]
IDS = sorted(laws.members())


@dataclass(frozen=True)
class Whole:
    """A law with its sampler and with what planning knows of it."""

    law: Law
    sampler: Sampler
    known: KnownLaw


def whole(name: str) -> Whole:
    return Whole(laws.named(name), sampler_of(name), known(name))


every_law = pytest.mark.parametrize("noise", [whole(name) for name in IDS], ids=IDS)

SENSITIVITIES = (1e-9, 1e-3, 1.0, 7.3, 1e6)
DIMENSIONS = (1, 2, 16, 1000)
EPSILONS = (1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0)
DELTAS = (0.0, 1e-12, 1e-6, 1e-3, 0.1)

# Five standard errors: a false alarm has probability 6e-7 where the mean of the draws is normal, as it nearly is for
# the tens of thousands of draws used here.
STANDARD_ERRORS = 5.0


def budgets() -> list[Budget]:
    return [Budget(epsilon, delta) for epsilon in EPSILONS for delta in DELTAS]


def draws(noise: Whole, centre: Array, scale: float, count: int, seed: int) -> Array:
    generator = np.random.default_rng(seed)
    return np.array([noise.sampler.seeded(centre, scale, generator) for _ in range(count)])


def log_densities(noise: Whole, drawn: Array, scale: float) -> Array:
    return np.array([noise.sampler.log_density(vector, scale) for vector in drawn])


def directions(dimension: int) -> dict[str, Array]:
    """Return unit vectors along an axis and along the diagonal, where L1 and L2 norms differ most."""
    axis = np.zeros(dimension)
    axis[0] = 1.0
    return {"axis": axis, "diagonal": np.full(dimension, 1 / math.sqrt(dimension))}


# --- calibration ------------------------------------------------------------------------------------------------------


@every_law
def test_calibration_lands_on_the_private_side_and_is_not_wasteful(noise):
    met = 0
    for sensitivity, dimension, budget in itertools.product(SENSITIVITIES, DIMENSIONS, budgets()):
        scale = noise.known.scale_for(sensitivity, dimension, budget)
        if scale is None:
            continue
        met += 1
        where = f"sensitivity {sensitivity}, dimension {dimension}, {budget}"
        assert 0 < scale < math.inf, where
        curve = noise.law.curve(sensitivity, dimension, scale)
        assert curve.delta(budget.epsilon) <= budget.delta, where
        if budget.delta == 0.0 or not isinstance(curve, PureCurve):
            # A law whose curve is pure ignores delta; only for delta = 0 is its calibration required to be tight.
            assert noise.law.curve(sensitivity, dimension, 0.99 * scale).delta(budget.epsilon) > budget.delta, where
    assert met >= len(EPSILONS) * len(DIMENSIONS) * len(SENSITIVITIES)


@every_law
@pytest.mark.parametrize("count", [200, pytest.param(1500, marks=pytest.mark.statistics)])
def test_random_calibrations_land_on_the_private_side(noise, count):
    # The grid above holds round numbers; rounding errors live between them.
    generator = np.random.default_rng(7)
    misses = []
    for _ in range(count):
        sensitivity, epsilon = 10.0 ** generator.uniform([-8, -4], [8, 2.5])
        budget = Budget(epsilon, 10.0 ** generator.uniform(-14, -0.5))
        dimension = int(generator.integers(1, 300))
        scale = noise.known.scale_for(sensitivity, dimension, budget)
        claimed = noise.law.curve(sensitivity, dimension, scale).delta(budget.epsilon)
        if claimed > budget.delta:
            misses.append((sensitivity, dimension, budget, claimed / budget.delta - 1))
    assert not misses, f"{len(misses)} of {count} spend more than their budget, such as {misses[0]}"


@every_law
def test_scale_is_monotone(noise):
    def scale(sensitivity: float, dimension: int, epsilon: float, delta: float) -> float:
        found = noise.known.scale_for(sensitivity, dimension, Budget(epsilon, delta))
        assert found is not None
        return found

    for dimension, epsilon, delta in itertools.product(DIMENSIONS, EPSILONS, DELTAS[1:]):
        by_sensitivity = [scale(value, dimension, epsilon, delta) for value in SENSITIVITIES]
        assert by_sensitivity == sorted(by_sensitivity)
        # Noise is proportional to what it hides: there is no other unit in the problem.
        assert by_sensitivity[-1] / by_sensitivity[0] == pytest.approx(SENSITIVITIES[-1] / SENSITIVITIES[0], rel=1e-12)
    for dimension, delta in itertools.product(DIMENSIONS, DELTAS[1:]):
        by_epsilon = [scale(1.0, dimension, epsilon, delta) for epsilon in EPSILONS]
        assert all(more < less for less, more in itertools.pairwise(by_epsilon))
    for dimension, epsilon in itertools.product(DIMENSIONS, EPSILONS):
        by_delta = [scale(1.0, dimension, epsilon, delta) for delta in DELTAS[1:]]
        assert all(more <= less for less, more in itertools.pairwise(by_delta))
    for epsilon, delta in itertools.product(EPSILONS, DELTAS[1:]):
        # The root of the mean squared length: the scale and the deviation of the spherical law may fall.
        by_dimension = [
            math.sqrt(size) * noise.known.deviation(scale(1.0, size, epsilon, delta), size) for size in DIMENSIONS
        ]
        assert by_dimension == sorted(by_dimension)


@every_law
def test_a_budget_it_cannot_meet_gives_none_and_has_a_stated_requirement(noise):
    assert noise.known.requirement.strip()
    assert noise.known.rounding(3).strip()
    pure = noise.known.scale_for(1.0, 3, Budget(1.0))
    # A law whose requirement speaks of delta cannot be pure, and the others must be, if anything is known of them.
    if type(noise.known) is not KnownLaw:
        assert (pure is None) == ("delta > 0" in noise.known.requirement)


@every_law
def test_it_scales_with_what_it_hides(noise):
    # A check may meet any scale, the largest and the smallest that can be drawn included.
    for dimension, scale in itertools.product(DIMENSIONS, (SMALLEST_SCALE, 1e-3, 1.0, 1e3, LARGEST_SCALE)):
        deltas = [noise.law.curve(share * scale, dimension, scale).delta(1.0) for share in (0.1, 0.5, 2.0, 10.0)]
        assert deltas == sorted(deltas)
        assert 0 <= deltas[0] < deltas[-1] <= 1
        unit = [noise.law.curve(share, dimension, 1.0).delta(1.0) for share in (0.1, 0.5, 2.0, 10.0)]
        assert deltas == pytest.approx(unit, rel=1e-9, abs=1e-150)


@every_law
def test_its_curve_falls_with_epsilon(noise):
    for dimension, share in itertools.product(DIMENSIONS, (0.1, 1.0, 10.0)):
        curve = noise.law.curve(share, dimension, 1.0)
        deltas = [curve.delta(epsilon) for epsilon in (0.0, *EPSILONS)]
        assert all(0 <= later <= earlier * (1 + 1e-12) <= 1 + 1e-12 for earlier, later in itertools.pairwise(deltas))
        assert deltas[0] > 0


@every_law
def test_without_a_file_in_planning_it_is_calibrated_by_search_on_the_private_side(noise):
    searched = KnownLaw(noise.law)
    for dimension, budget in itertools.product((1, 16), (Budget(1.0), Budget(0.1, 1e-6), Budget(5.0, 1e-3))):
        scale = searched.scale_for(0.7, dimension, budget)
        if scale is None:
            assert noise.known.scale_for(0.7, dimension, budget) is None
            continue
        assert noise.law.curve(0.7, dimension, scale).delta(budget.epsilon) <= budget.delta
        assert noise.law.curve(0.7, dimension, 0.99 * scale).delta(budget.epsilon) > budget.delta
        assert scale <= noise.known.scale_for(0.7, dimension, budget) * (1 + 1e-6)


@every_law
def test_the_proofs_it_cites_are_written(noise):
    # A law's file begins with the pages that prove it: "D1 and D6: noise with ...".
    cited = re.findall(r"\b[A-Z]\d+\b", inspect.getdoc(inspect.getmodule(type(noise.law))).partition(":")[0])
    assert cited
    for page in cited:
        text = (REPOSITORY / "docs" / "proofs" / f"{page}.md").read_text(encoding="utf-8")
        assert "proof" in text.lower()
        assert len(text) >= 600


@every_law
def test_it_says_what_it_is(noise):
    assert noise.law.id == laws.named(noise.law.id).id
    assert type(noise.law).__doc__.strip()
    assert isinstance(noise.law.rotation_invariant, bool)


def test_every_law_has_a_sampler_of_its_own_and_nothing_is_known_of_others():
    assert set(samplers.members()) == set(laws.members().values())
    assert set(discover(planned_laws.__name__, KnownLaw, key="of")) <= set(laws.members().values())
    for name in IDS:
        assert known(name).law.id == name


def test_a_law_without_a_sampler_is_told_which_file_to_write(monkeypatch):
    class Lonely(Laplace):
        """A law that nobody draws from."""

        id: ClassVar[str] = "all-alone"

    monkeypatch.setitem(laws.members(), Lonely.id, Lonely)
    with pytest.raises(
        UnknownName, match=r"sampler of the law 'all-alone'.*src/equipoise/noise/samplers/all_alone\.py"
    ):
        sampler_of("all-alone")


def test_only_the_rounding_of_the_spherical_law_refuses_a_tiny_epsilon():
    spherical = known("spherical-laplace")
    price = 1000 * 2.0**-56  # docs/proofs/D1.md: d 2^-56
    assert spherical.scale_for(1.0, 1000, Budget(price)) is None
    assert spherical.scale_for(1.0, 1000, Budget(2 * price)) == pytest.approx(1 / price, rel=1e-12)


# --- the law of the noise ---------------------------------------------------------------------------------------------


@every_law
@pytest.mark.parametrize("dimension", [1, 2, 16])
def test_deviation_is_that_of_the_draws(noise, dimension):
    # Coordinates of one draw may depend on each other, so the mean square of a draw is the unit: 20,000 of them.
    scale = 0.7
    drawn = draws(noise, np.zeros(dimension), scale, 20_000, seed=dimension)
    squares = (drawn**2).mean(axis=1)
    error = squares.std() / math.sqrt(len(squares))
    deviation = noise.known.deviation(scale, dimension)
    if type(noise.known) is KnownLaw:
        assert deviation == math.inf  # unknown, so that no plan prefers the law
    else:
        assert abs(squares.mean() - deviation**2) <= STANDARD_ERRORS * error
    assert error < 0.05 * squares.mean()  # enough draws to see a deviation that is wrong by 15 %
    assert abs(drawn.mean()) <= STANDARD_ERRORS * drawn.mean(axis=1).std() / math.sqrt(len(drawn))


@every_law
@pytest.mark.parametrize("dimension", [1, 2, 16])
def test_lengths_are_no_longer_than_is_known(noise, dimension):
    scale = 0.7
    lengths = np.linalg.norm(draws(noise, np.zeros(dimension), scale, 20_000, seed=400 + dimension), axis=1)
    error = lengths.std() / math.sqrt(len(lengths))
    mean = noise.known.mean_norm(scale, dimension)
    assert lengths.mean() <= mean + STANDARD_ERRORS * error
    for failure in (0.5, 0.1, 0.01):
        # The number of longer ones is binomial at most: beyond this quantile with probability 1e-6.
        beyond = int((lengths > noise.known.norm_quantile(scale, dimension, failure)).sum())
        assert beyond <= scipy.stats.binom.ppf(1 - FALSE_ALARM, len(lengths), failure)


@every_law
@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("count", [300, pytest.param(1500, marks=pytest.mark.statistics)])
def test_exact_and_seeded_draws_have_one_law(noise, dimension, count):
    # Fresh entropy: each comparison of two samples (Kolmogorov and Smirnov) fails with probability 1e-6 by bad luck.
    # Tests of single laws, in tests/noise, see more.
    scale, centre = 2.5, 10.0 * (1.0 + np.arange(dimension))
    seeded = draws(noise, centre, scale, 20 * count, seed=500 + dimension) - centre
    exact = np.array([noise.sampler.exact(centre, scale) for _ in range(count)]) - centre
    for unit in directions(dimension).values():
        assert scipy.stats.ks_2samp(exact @ unit, seeded @ unit).pvalue > FALSE_ALARM
    lengths = [np.linalg.norm(sample, axis=1) for sample in (exact, seeded)]
    assert scipy.stats.ks_2samp(*lengths).pvalue > FALSE_ALARM
    # The same comparison sees noise that is 60 % too small: in 400 trials the p-value was at most 1e-19.
    assert scipy.stats.ks_2samp(0.4 * lengths[0], lengths[1]).pvalue <= FALSE_ALARM


@every_law
def test_a_source_draws_from_the_sampler_of_the_law_that_is_named(noise):
    weights, scale = np.array([1.0, -2.0, 3.0]), 0.7
    drawn = SeededSource(3).add(noise.law.id, weights, scale)
    np.testing.assert_array_equal(drawn, noise.sampler.seeded(weights, scale, np.random.default_rng(3)))


@every_law
@pytest.mark.parametrize("dimension", [1, 2, 16])
@pytest.mark.parametrize("direction", ["axis", "diagonal"])
def test_importance_weights_between_shifted_draws_and_the_density_average_to_one(noise, dimension, direction):
    # Draws around v weighted by p(x) / p(x - v) have mean 1 if and only if they are draws of p around v.
    scale = 0.7
    shift = 0.5 * scale * directions(dimension)[direction]
    released = draws(noise, shift, scale, 20_000, seed=100 + dimension)
    weights = np.exp(log_densities(noise, released, scale) - log_densities(noise, released - shift, scale))
    error = weights.std() / math.sqrt(len(weights))
    assert 0 < error < 0.02
    assert abs(weights.mean() - 1) <= STANDARD_ERRORS * error


@every_law
@pytest.mark.parametrize("dimension", [1, 2, 16])
@pytest.mark.parametrize("scale", [0.7, pytest.param(30.0, marks=pytest.mark.statistics)])
def test_log_density_is_normalised(noise, dimension, scale):
    # The constant cancels in the test above. Here draws of p are weighted by q / p for a normal law q of nearly the
    # same width, whose constant SciPy knows: the mean is 1 if and only if p is normalised and what is drawn.
    drawn = draws(noise, np.zeros(dimension), scale, 20_000, seed=200 + dimension)
    width = 0.9 * min(noise.known.deviation(scale, dimension), 1.05 * float(drawn.std()))
    reference = scipy.stats.norm.logpdf(drawn, scale=width).sum(axis=1)
    weights = np.exp(reference - log_densities(noise, drawn, scale))
    error = weights.std() / math.sqrt(len(weights))
    assert 0 < error < 0.05
    assert abs(weights.mean() - 1) <= STANDARD_ERRORS * error


@every_law
def test_log_density_integrates_to_one_in_one_and_two_dimensions(noise):
    # By quadrature, no draws; beyond 60 scales the heaviest of the laws keeps 60 e^-60 of its mass.
    scale = 1.3

    def density(*point: float) -> float:
        return math.exp(noise.sampler.log_density(np.array(point), scale))

    half = scipy.integrate.quad(density, 0.0, 60 * scale, epsabs=1e-12, epsrel=1e-12, limit=200)[0]
    assert 2 * half == pytest.approx(1.0, abs=1e-9)
    # Every law here is even in each coordinate and in their exchange: an eighth of the plane, in polar coordinates.
    wedge = scipy.integrate.dblquad(
        lambda radius, angle: radius * density(radius * math.cos(angle), radius * math.sin(angle)),
        0.0,
        math.pi / 4,
        0.0,
        60 * scale,
        epsabs=1e-9,
        epsrel=1e-9,
    )[0]
    assert 8 * wedge == pytest.approx(1.0, abs=1e-6)


# --- the claim, by Monte Carlo ----------------------------------------------------------------------------------------

MONTE_CARLO_DRAWS = 10_000
# The probability that the check below contradicts a true claim on fresh draws, all comparisons of one call together.
FALSE_ALARM = 1e-6


@dataclass(frozen=True)
class Contradiction:
    """An estimate of the hockey-stick divergence that a claimed curve cannot produce."""

    epsilon: float
    estimated: float
    claimed: float


def relative_entropy(observed: float, claimed: float) -> float:
    """Return the Kullback-Leibler divergence of two coins, infinite where the claim excludes what was observed."""
    total = 0.0
    for one, other in ((observed, claimed), (1 - observed, 1 - claimed)):
        if one > 0:
            total += one * math.log(one / other) if other > 0 else math.inf
    return total


def contradiction(
    noise: Whole, curve: Curve, shift: Array, scale: float, epsilons: tuple[float, ...], seed: int
) -> Contradiction | None:
    """Return where draws contradict a claimed curve for this shift, or None.

    ``delta(epsilon) = E max(0, 1 - exp(epsilon - L))``, L the log ratio of the densities without and with the shift.
    The mean of N terms in [0, 1] reaches x > delta with probability at most ``exp(-N KL(x || delta))`` (Hoeffding), so
    a true claim is contradicted with probability at most `FALSE_ALARM` over both directions and all epsilons.
    """
    drawn = draws(noise, np.zeros(len(shift)), scale, MONTE_CARLO_DRAWS, seed)
    here = log_densities(noise, drawn, scale)
    evidence = math.log(2 * len(epsilons) / FALSE_ALARM)
    for signed in (shift, -shift):
        losses = here - log_densities(noise, drawn + signed, scale)
        for epsilon in epsilons:
            # Two log densities round to about 1e-13 here; the divergence only shrinks with epsilon.
            estimated = float(np.maximum(0.0, -np.expm1(np.minimum(0.0, epsilon + 1e-9 - losses))).mean())
            claimed = min(1.0, curve.delta(epsilon))
            if estimated > claimed and MONTE_CARLO_DRAWS * relative_entropy(estimated, claimed) > evidence:
                return Contradiction(epsilon, estimated, claimed)
    return None


def contradictions(noise: Whole, dimension: int, budget: Budget, sensitivity: float) -> dict[str, object]:
    """Return what `contradiction` finds along each direction, for the law's own scale and curve."""
    scale = noise.known.scale_for(sensitivity, dimension, budget)
    curve = noise.law.curve(sensitivity, dimension, scale)
    epsilons = tuple(share * budget.epsilon for share in (0.0, 0.1, 0.5, 0.9, 1.0, 1.5))
    return {
        name: contradiction(noise, curve, sensitivity * unit, scale, epsilons, seed=300 + dimension)
        for name, unit in directions(dimension).items()
    }


def payable(noise: Whole, epsilon: float) -> Budget:
    return Budget(epsilon, 1e-5 if noise.known.scale_for(1.0, 1, Budget(epsilon)) is None else 0.0)


@every_law
@pytest.mark.parametrize("dimension", [1, 2, 16])
@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), [(1.0, 1.0), pytest.param(4.0, 0.02, marks=pytest.mark.statistics)]
)
def test_divergence_by_monte_carlo_stays_under_the_claimed_curve(noise, dimension, epsilon, sensitivity):
    found = contradictions(noise, dimension, payable(noise, epsilon), sensitivity)
    assert found == {"axis": None, "diagonal": None}


class UnscaledLaplace(Laplace):
    """Independent Laplace noise at the L2 sensitivity, as [000] prints it: not private beyond one dimension (D2)."""

    id: ClassVar[str] = "unscaled-laplace"

    def curve(self, sensitivity: float, dimension: int, scale: float) -> Curve:
        return PureCurve(sensitivity / scale)


class KnownUnscaled(KnownLaplace):
    def scale_for(self, sensitivity: float, dimension: int, budget: Budget) -> float:
        return sensitivity / budget.epsilon


def test_laplace_noise_without_the_root_of_the_dimension_is_caught():
    false = Whole(UnscaledLaplace(), LaplaceSampler(), KnownUnscaled(UnscaledLaplace()))
    # In one dimension it is right.
    assert contradictions(false, 1, Budget(1.0), 1.0) == {"axis": None, "diagonal": None}
    found = contradictions(false, 16, Budget(1.0), 1.0)
    assert found["diagonal"] is not None
    assert found["axis"] is None  # which is why the check must look along the diagonal


@every_law
@pytest.mark.parametrize("dimension", [1, 16])
def test_halved_noise_is_caught(noise, dimension):
    class Halved(type(noise.sampler)):
        def seeded(self, weights, scale, generator):
            return super().seeded(weights, scale / 2, generator)

        def log_density(self, noise, scale):
            return super().log_density(noise, scale / 2)

    halved = replace(noise, sampler=Halved())
    found = contradictions(halved, dimension, payable(halved, 1.0), 1.0)
    assert any(result is not None for result in found.values())


# --- reference values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("delta", "deviation"), [(1e-5, 3.7306), (1e-6, 4.2247)])
def test_gaussian_reference_values(delta, deviation):
    assert round(known("gaussian").scale_for(1.0, 1, Budget(1.0, delta)), 4) == deviation


def test_gaussian_calibration_agrees_with_dp_accounting():
    # An implementation apart from ours, in log space; it stops at 1e-12 absolute, 1e-9 of the smallest sigma here.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import dp_accounting

    gaussian = known("gaussian")
    for epsilon in np.geomspace(1e-3, 1e3, 25):
        for delta in (1e-15, 1e-10, 1e-6, 1e-5, 1e-3, 0.05, 0.5):
            expected = dp_accounting.get_sigma_gaussian(float(epsilon), delta)
            found = gaussian.scale_for(1.0, 1, Budget(float(epsilon), delta))
            assert found == pytest.approx(expected, rel=1e-6), (epsilon, delta)


@pytest.mark.parametrize(
    ("delta", "crossovers"),
    [(1e-5, (8, 11, 12, 14, 18, 23)), (1e-6, (12, 15, 16, 18, 23, 28))],  # D4
)
def test_pure_spherical_noise_gives_way_to_gaussian_where_the_catalogue_says(delta, crossovers):
    spherical, gaussian = known("spherical-laplace"), known("gaussian")
    for epsilon, crossover in zip((0.1, 0.5, 1.0, 2.0, 5.0, 10.0), crossovers, strict=True):
        normal = gaussian.scale_for(0.3, 1, Budget(epsilon, delta))
        pure = [spherical.deviation(spherical.scale_for(0.3, size, Budget(epsilon)), size) for size in range(1, 41)]
        assert [deviation < normal for deviation in pure] == [True] * crossover + [False] * (40 - crossover)


@pytest.fixture
def three_laws(monkeypatch):
    """Leave the choice to the three laws of the catalogue, whichever others there are."""
    three = {name: laws.members()[name] for name in ("gaussian", "laplace", "spherical-laplace")}
    monkeypatch.setattr(laws, "members", lambda: three)


@pytest.mark.usefixtures("three_laws")
@pytest.mark.parametrize("delta", [1e-6, pytest.param(1e-5, marks=pytest.mark.statistics)])
@pytest.mark.parametrize(
    "epsilon", [0.1, 1.0, 10.0, *(pytest.param(more, marks=pytest.mark.statistics) for more in (0.5, 2.0, 5.0))]
)
def test_spherical_noise_never_gives_way_once_its_own_curve_is_used(epsilon, delta):
    # D6. With one weight it beats even the coordinate law, whose calibration ignores delta, but by less than a
    # thousandth: the exact sampler is preferred.
    budget = Budget(epsilon, delta)
    assert {quietest(0.3, dimension, budget).law for dimension in (*range(2, 41), 109, 785)} == {"spherical-laplace"}
    assert quietest(0.3, 1, budget).law == "laplace"
    spherical, coordinate = (calibrations(0.3, 1, budget, law)[0].deviation for law in ("spherical-laplace", "laplace"))
    assert spherical < coordinate < spherical * 1.001


@pytest.mark.usefixtures("three_laws")
def test_with_one_weight_and_pure_privacy_the_exact_sampler_is_preferred():
    # The two laws coincide then; their scales differ by the price of rounding alone.
    assert quietest(0.3, 1, Budget(1.0)).law == "laplace"


def test_calibrations_are_the_requested_ones_quietest_first():
    budget = Budget(1.0, 1e-5)
    for dimension in (1, 5, 50):
        choices = calibrations(1.0, dimension, budget)
        assert {choice.law for choice in choices} == {
            name for name in IDS if known(name).scale_for(1.0, dimension, budget) is not None
        }
        assert {"gaussian", "laplace", "spherical-laplace"} <= {choice.law for choice in choices}
        for earlier, later in itertools.pairwise(choices):
            alike = math.isclose(later.deviation, earlier.deviation, rel_tol=1e-3)
            assert later.deviation > earlier.deviation or (alike and later.law > earlier.law)
        for choice in choices:
            law = known(choice.law)
            assert choice.deviation == law.deviation(choice.scale, dimension)
            assert choice.scale == law.scale_for(1.0, dimension, budget)
            assert calibrations(1.0, dimension, budget, choice.law) == (choice,)
