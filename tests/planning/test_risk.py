"""Risk statements against naive arithmetic, exact enumeration of small populations, and drawn noise."""

import dataclasses
import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import integrate, special, stats

import equipoise as eq
from contracts.falsifier import minimiser
from equipoise.certify import laws
from equipoise.certify.certificate import Certificate
from equipoise.errors import InvalidParameter
from equipoise.noise import SeededSource
from equipoise.planning.issue import issue as issue_request
from equipoise.planning.laws import KnownLaw, known
from equipoise.planning.notes import Notes
from equipoise.planning.penalties import known as known_penalty
from equipoise.planning.request import Request
from equipoise.planning.risk import (
    NORM_MARGIN,
    RiskReport,
    largest_loss,
    output_claim,
    risk,
    stability_gain,
    total_variation,
)
from equipoise.solve.losses import arrays_of
from equipoise.vocabulary import losses
from equipoise.vocabulary.constants import setting

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
LABELS = eq.Domain(row_norm=2.0, labels=(-1.0, 3.0))
LAWS = ("spherical-laplace", "laplace", "gaussian")

# A test on drawn noise alarms falsely with at most this probability.
FALSE_ALARM = 1e-7


def issue(loss: str = "logistic", domain: eq.Domain = CLASSES, **changes: object) -> Certificate:
    fields: dict[str, object] = {
        "loss": loss,
        "penalty": "l2",
        "alpha": 0.05,
        "domain": domain,
        "intercept": 0.0,
        "n_samples": 500,
        "n_features": 6,
        "budget": eq.Budget(1.0),
    }
    return issue_request(Request(**{**fields, **changes}))


def mean_norm(law: str, scale: float, dimension: int) -> float:
    """Return the mean length of noise as statements on risk use it."""
    return known(law).mean_norm(scale, dimension) * (1 + NORM_MARGIN)


def norm_quantile(law: str, scale: float, dimension: int, failure: float) -> float:
    """Return the length of noise that is seldom exceeded as statements on risk use it."""
    return known(law).norm_quantile(scale, dimension, failure) * (1 + NORM_MARGIN)


CERTIFICATES = {
    "logistic-spherical": issue(mechanism="spherical-laplace"),
    "logistic-laplace": issue(mechanism="laplace", intercept=0.5, budget=eq.Budget(0.3)),
    "logistic-gaussian": issue(mechanism="gaussian", budget=eq.Budget(0.7, 1e-6), n_features=40),
    "squared-spherical": issue("squared", LABELS, mechanism="spherical-laplace"),
    "squared-bound": issue(
        "squared", dataclasses.replace(LABELS, radius=0.4), mechanism="gaussian", budget=eq.Budget(2.0, 1e-5)
    ),
}
every_certificate = pytest.mark.parametrize("certificate", CERTIFICATES.values(), ids=CERTIFICATES)


def spherical_variation(shift: float, d: int) -> float:
    """Return the total variation of spherical Laplace noise of scale 1 and its shift: P(|x_1| <= shift/2).

    Of two shifted densities that fall with the distance, each is the larger on its side of the plane in the middle. The
    length of x is Gamma(d), and its direction's first coordinate has a squared length of Beta(1/2, (d - 1)/2).
    """
    if d == 1:
        return -math.expm1(-shift / 2)

    def density(length: float) -> float:
        share = min(1.0, (shift / 2 / length) ** 2)
        return stats.gamma.pdf(length, d) * special.betainc(0.5, (d - 1) / 2, share)

    inner, _ = integrate.quad(density, 0, shift / 2, epsabs=0, epsrel=1e-12)
    outer, _ = integrate.quad(density, shift / 2, shift / 2 + 60 + 4 * d, epsabs=0, epsrel=1e-12, limit=500)
    return inner + outer


def naive(certificate: Certificate, th: float, cut: float | None, G: float) -> Iterator[tuple[str, float | None]]:
    """Yield every statement's number again, from the facts and the noise scale, in the notation of the pages."""
    claim = certificate.claim
    problem, domain, law = claim.problem, claim.problem.domain, claim.noise.law
    n, d, eps, delta = claim.n_samples, claim.noise.dimension, claim.budget.epsilon, claim.budget.delta
    mu, tau, Delta, scale = claim.alpha, claim.tolerance, claim.sensitivity, claim.noise.scale
    B = math.sqrt(domain.row_norm**2 + problem.intercept**2)
    R = claim.constants.radius + tau / mu
    if problem.loss.name == "logistic":
        Y, rho, L, beta = 1.0, B / (1 + math.exp(-B * R)), B, B**2 / 4
        M, bounded = math.log1p(math.exp(B * R)), 1.0
    else:
        low, high = domain.labels
        Y = (high - low) / 2
        rho, L, beta = 2 * B * (B * R + Y), math.inf, 2 * B**2
        M, bounded = (B * R + Y) ** 2, (2 * Y) ** 2
    M = min(M, math.inf if cut is None else cut)
    bounded = bounded if cut is None else cut
    if law == "gaussian":
        mean, v = stats.chi.mean(d) * scale, scale**2
        q = {share: stats.chi.isf(share, d) * scale for share in (th, th / 2)}
    elif law == "laplace":
        mean, v = math.sqrt(2 * d) * scale, 2 * scale**2
        q = {
            share: scale * min(stats.gamma.isf(share, d), math.sqrt(2 * d + math.sqrt(20 * d * (1 / share - 1))))
            for share in (th, th / 2)
        }
    else:
        mean, v = d * scale, (d + 1) * scale**2
        q = {share: stats.gamma.isf(share, d) * scale for share in (th, th / 2)}
    gam = rho * Delta
    gap = gam + tau**2 / mu
    root = math.sqrt(math.log(1 / th) / (2 * n))
    tv = (math.exp(eps) - 1 + 2 * delta) / (math.exp(eps) + 1)
    whole, curvature = rho + mu * R, beta + mu
    if domain.radius is not None and claim.constants.radius == domain.radius:
        curvature = math.inf
    best = L
    if math.isinf(L) and domain.radius is not None:
        best = 2 * B * (B * domain.radius + Y)
    K = 1 + mean / Delta
    yield "J1.mean", gam
    yield "J1.tail", min(M, gam + (2 * n * gam + M) * root)
    yield "J1.released.mean", L * Delta
    released = math.inf if cut is None else L * Delta + (2 * n * L * Delta + cut) * root
    yield "J1.released.tail", min(cut, released) if math.isfinite(released) else None
    yield "J3.signed", 2 * bounded * tv
    yield "J3.bounded", bounded * tv
    variation = {
        "gaussian": 2 * stats.norm.cdf(Delta / scale / 2) - 1,
        "spherical-laplace": spherical_variation(Delta / scale, d),
        "laplace": math.tanh(eps / 2),
    }
    yield "J3.curve", bounded * variation[law]
    yield "002-Prop10", bounded * (math.exp(eps) - 1)
    yield "J4.solver.mean", gap
    yield "J4.solver.tail", gap / th
    yield "J4.strong.mean", gap + whole * mean
    yield "J4.strong.tail", 2 * gap / th + whole * q[th / 2]
    yield "J4.convex.mean", mu * G**2 / 2 + gap + L * mean
    yield "J4.convex.tail", mu * G**2 / 2 + 2 * gap / th + L * q[th / 2]
    yield "J4.linear.mean", mu * G**2 / 2 + gap + beta * v / 2
    yield "J4.smooth.tail", mu * G**2 / 2 + 2 * gap / th + rho * q[th / 2] + beta * q[th / 2] ** 2 / 2
    yield "J4.alpha", 2 * best / G * math.sqrt(K / n)
    yield "J4.best", 2 * best * G * math.sqrt(K / n)
    yield "J4.training", curvature / 2 * (q[th] + tau / mu) ** 2
    yield "002-Thm18", 4 * whole**2 * d * math.log(d / th) / (mu * n * eps)
    yield "002-Thm19", 4 * whole**2 / (th * mu * n)
    yield "002-Thm20", 4 * whole**2 / (mu * n) * (2 / th + 4 * d * math.log(2 * d / th) / eps)
    yield "002-Thm21", None
    yield "002-Lemma22", curvature * (4 * d * math.log(d / th) * whole / (mu * n * eps)) ** 2
    yield "J5.norm", L * mean
    yield "J5.linear", L * math.sqrt(v)
    yield "J5.smooth", rho * math.sqrt(v) + beta * v / 2
    yield "000-Lemma11", None
    J6 = mu * Notes.of(certificate).comparator_norm ** 2 / 2 + beta * v / 2 + tau**2 / (2 * mu)
    yield "J6", J6


@every_certificate
@pytest.mark.parametrize(("confidence", "cut", "radius"), [(0.95, None, None), (0.5, 0.8, 0.3)])
def test_every_number_against_naive_arithmetic(certificate, confidence, cut, radius):
    report = risk(certificate, confidence=confidence, loss_bound=cut, radius=radius)
    declared = certificate.claim.problem.domain.radius
    expected_radius = radius or declared or Notes.of(certificate).comparator_norm
    assert report.radius == expected_radius
    expected = dict(naive(certificate, 1 - confidence, cut, expected_radius))
    assert [statement.id for statement in report.statements] == list(expected)
    for name, value in expected.items():
        holds = value is not None and math.isfinite(value)
        assert report[name].holds is holds, name
        assert bool(report[name].remedy) is not holds, name
        if holds:
            assert report[name].value == pytest.approx(value, rel=5 * NORM_MARGIN), name
        else:
            assert report[name].value is None, name


def test_a_small_loss_bound_makes_the_tail_of_j1_informative():
    certificate = issue(n_samples=100_000, alpha=1.0)
    report = risk(certificate, loss_bound=1.0)
    gam = certificate.claim.constants.row_norm * certificate.sensitivity
    expected = gam + (2e5 * gam + 1) * math.sqrt(math.log(20) / 2e5)
    assert report["J1.released.tail"].value == pytest.approx(expected, rel=1e-6)
    assert report["J1.tail"].value < report["J1.released.tail"].value < 0.02


# What the public facts allow: no loss is larger than the M of J1.


@pytest.mark.parametrize("name", sorted(losses.members()))
def test_no_prediction_exceeds_the_largest_loss(name):
    loss = losses.named(name)
    random = np.random.default_rng(1)
    for reach, bound in ((0.3, 1.0), (2.0, 1.0), (40.0, 1.0)):
        largest = largest_loss(loss, reach, bound)
        if loss.outputs > 1:
            predictions = random.normal(size=(4000, loss.outputs))
            predictions *= reach / np.linalg.norm(predictions, axis=1, keepdims=True)
            targets = random.integers(loss.outputs, size=4000).astype(float)
        else:
            predictions = random.uniform(-reach, reach, 4000)
            predictions[:4] = reach, reach, -reach, -reach
            targets = random.uniform(-bound, bound, 4000)
            if loss.task == "classification":
                targets = np.sign(targets)
            targets[:4] = bound, -bound, bound, -bound
        values = arrays_of(loss).value(predictions, targets)
        assert values.min() >= 0
        assert values.max() <= largest * (1 + 1e-12)
        assert loss.outputs > 1 or values.max() == pytest.approx(largest)
    assert largest_loss(loss, math.inf, 1.0) == math.inf


def test_reference_values_of_the_largest_loss():
    assert largest_loss(losses.named("logistic"), 3.0, 1.0) == pytest.approx(math.log1p(math.exp(3.0)))
    assert largest_loss(losses.named("squared"), 2.0, 5.0) == pytest.approx(49.0)


# J1: stability by brute force, with the house's own solver.


def weights_of(certificate: Certificate, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    situation = setting(certificate.claim.problem, eq.Recipe(), certificate.n_samples, certificate.n_features)
    return minimiser(situation, X, y)


def loss_at(certificate: Certificate, weights: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return arrays_of(certificate.claim.problem.loss).value(X @ weights, y)


@pytest.mark.parametrize(
    ("certificate", "reached"),
    [
        (issue(alpha=2.0, n_samples=4, n_features=2), 0.6),
        (issue(alpha=0.1, n_samples=4, n_features=2), 0.1),
        (issue("squared", eq.Domain(1.0, labels=(-1.0, 1.0)), alpha=40.0, n_samples=4, n_features=2), 0.6),
        (issue("squared", eq.Domain(1.0, labels=(-1.0, 1.0)), alpha=1.0, n_samples=4, n_features=2), 0.1),
    ],
    ids=["logistic-strong", "logistic-weak", "squared-strong", "squared-weak"],
)
def test_j1_no_replaced_row_changes_a_loss_by_more_than_gam(certificate, reached):
    gam = risk(certificate)["J1.mean"].value
    angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    tests = np.vstack([circle, circle]), np.repeat([1.0, -1.0], len(circle))
    random = np.random.default_rng(0)
    worst = 0.0
    for kind in range(2):
        others = np.zeros((3, 2)) if kind == 0 else random.normal(size=(3, 2)) * 0.3
        labels = np.array([1.0, -1.0, 1.0])
        fits = [
            weights_of(certificate, np.vstack([row, others]), np.append(label, labels))
            for row, label in zip(*tests, strict=True)
        ]
        values = np.array([loss_at(certificate, fit, *tests) for fit in fits])
        worst = max(worst, float((values.max(axis=0) - values.min(axis=0)).max()))
    assert reached * gam < worst <= gam


# J1, J4 and J5 on a population of three rows: every training table is enumerated, so the means are exact.

ROWS = np.array([[1.0, 0.0], [-0.6, 0.8], [0.2, -0.5]])
CODES = np.array([1.0, -1.0, -1.0])
SHARES = np.array([0.5, 0.3, 0.2])
SMALL = {
    "logistic": issue(alpha=0.3, n_samples=5, n_features=2, budget=eq.Budget(20.0)),
    "squared": issue(
        "squared", eq.Domain(1.0, labels=(-1.0, 1.0)), alpha=3.0, n_samples=5, n_features=2, budget=eq.Budget(20.0)
    ),
}


def tables(certificate: Certificate) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """Yield the probability, the share of each row and the weights of every table of n independent rows."""
    n = certificate.n_samples
    for counts in itertools.product(range(n + 1), repeat=3):
        if sum(counts) == n:
            probability = stats.multinomial.pmf(counts, n, SHARES)
            fit = weights_of(certificate, np.repeat(ROWS, counts, axis=0), np.repeat(CODES, counts))
            yield probability, np.array(counts) / n, fit


@pytest.mark.parametrize("certificate", SMALL.values(), ids=SMALL)
def test_j1_and_j4_hold_on_an_enumerated_population(certificate):
    found = list(tables(certificate))
    probabilities = np.array([probability for probability, _, _ in found])
    assert probabilities.sum() == pytest.approx(1.0)
    losses_of = np.array([loss_at(certificate, fit, ROWS, CODES) for _, _, fit in found])
    training = np.array([shares @ values for (_, shares, _), values in zip(found, losses_of, strict=True)])
    population = losses_of @ SHARES
    penalties = np.array([certificate.alpha / 2 * fit @ fit for _, _, fit in found])
    for confidence in (0.5, 0.9):
        report = risk(certificate, confidence=confidence)
        assert 0 < probabilities @ (population - training) <= report["J1.mean"].value
        assert probabilities[population - training > report["J1.tail"].value].sum() <= 1 - confidence
        # The best weights for the population are those of a table in which rows have their population shares.
        ten = issue(
            certificate.claim.problem.loss.name,
            certificate.claim.problem.domain,
            alpha=certificate.alpha,
            n_samples=10,
            n_features=2,
        )
        best = weights_of(ten, np.repeat(ROWS, [5, 3, 2], axis=0), np.repeat(CODES, [5, 3, 2]))
        lowest = loss_at(certificate, best, ROWS, CODES) @ SHARES + certificate.alpha / 2 * best @ best
        excess = population + penalties - lowest
        assert excess.min() >= -1e-9
        assert probabilities @ excess <= report["J4.solver.mean"].value
        assert probabilities[excess > report["J4.solver.tail"].value].sum() <= 1 - confidence


@pytest.mark.parametrize("draws", [800, pytest.param(4000, marks=pytest.mark.statistics)])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", SMALL)
def test_j4_and_j5_hold_for_drawn_noise(name, law, draws):
    plain = SMALL[name]
    budget = eq.Budget(20.0, 1e-6 if law == "gaussian" else 0.0)
    certificate = issue(
        name, plain.claim.problem.domain, alpha=plain.alpha, n_samples=5, n_features=2, budget=budget, mechanism=law
    )
    confidence = 0.8
    report = risk(certificate, confidence=confidence)
    source, scale = SeededSource(7), certificate.noise_scale
    noise = np.array([source.add(law, np.zeros(2), scale) for _ in range(draws)])
    ball = certificate.claim.constants.radius + certificate.claim.tolerance / certificate.alpha
    directions = np.linspace(0, 2 * np.pi, 60)
    comparators = report.radius * np.column_stack([np.cos(directions), np.sin(directions)])
    found = list(tables(certificate))
    lowest = min(loss_at(certificate, u, ROWS, CODES) @ SHARES for u in comparators)
    weights = np.array([probability for probability, _, _ in found])
    errors, populations, strong, training = [], [], [], []
    for _, shares, fit in found:
        released = fit + noise
        projected = released * np.minimum(1, ball / np.linalg.norm(released, axis=1))[:, None]
        clean = loss_at(certificate, fit, ROWS, CODES)
        noisy = np.array([loss_at(certificate, point, ROWS, CODES) for point in released])
        cut = np.array([loss_at(certificate, point, ROWS, CODES) for point in projected])
        errors.append(np.abs((noisy - clean) @ SHARES))
        populations.append(noisy @ SHARES - lowest)
        penalty = certificate.alpha / 2
        strong.append(cut @ SHARES + penalty * (projected**2).sum(axis=1))
        training.append((noisy @ shares + penalty * (released**2).sum(axis=1)) - (clean @ shares + penalty * fit @ fit))

    def mean_at_least(samples: list[np.ndarray]) -> float:
        """Return a lower confidence bound on the mean over tables and noise; the same draws serve every table."""
        mixed = weights @ np.array(samples)
        return float(mixed.mean() - stats.norm.isf(FALSE_ALARM) * mixed.std() / math.sqrt(draws))

    ceilings = [report[key].value for key in ("J5.norm", "J5.linear", "J5.smooth") if report[key].holds]
    assert mean_at_least(errors) <= min(ceilings)
    ceilings = [report[key].value for key in ("J4.convex.mean", "J4.linear.mean") if report[key].holds]
    assert mean_at_least(populations) <= min(ceilings)
    ten = issue(name, certificate.claim.problem.domain, alpha=certificate.alpha, n_samples=10, n_features=2)
    best = weights_of(ten, np.repeat(ROWS, [5, 3, 2], axis=0), np.repeat(CODES, [5, 3, 2]))
    minimum = loss_at(certificate, best, ROWS, CODES) @ SHARES + certificate.alpha / 2 * best @ best
    assert mean_at_least(strong) - minimum <= report["J4.strong.mean"].value
    for samples, key in ((populations, "J4.convex.tail"), (populations, "J4.smooth.tail"), (strong, "J4.strong.tail")):
        if report[key].holds:
            level = report[key].value + (minimum if key == "J4.strong.tail" else 0)
            assert weights @ (np.array(samples) > level).mean(axis=1) <= 1 - confidence
    exceed = np.array(training) > report["J4.training"].value
    allowed = stats.binom.isf(FALSE_ALARM / len(found), draws, 1 - confidence)
    assert exceed.sum(axis=1).max() <= allowed


# J3: total variation.


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.3])
def test_j3_is_attained_by_randomised_response_that_sometimes_tells_the_truth(epsilon, delta, witness):
    truth = delta + (1 - delta) / (1 + math.exp(-epsilon))
    lie = (1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))
    # It is (epsilon, delta)-private...
    assert truth + lie == pytest.approx(1.0)
    assert truth <= math.exp(epsilon) * lie + delta + 1e-12
    # ... and the mean of a loss that is +1 on one answer and -1 on the other differs by twice the total variation.
    bound = 2 * total_variation(epsilon, delta)
    witness("J3", bound, 2 * (truth - lie), f"delta = {delta:g}: change of a mean", over=("epsilon", epsilon))
    assert 2 * (truth - lie) == pytest.approx(2 * total_variation(epsilon, delta), rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_j3_the_curve_of_a_release_bounds_its_total_variation(law):
    # One weight: the total variation of a shift by the whole sensitivity is known for each law.
    budget = eq.Budget(1.3, 1e-6 if law == "gaussian" else 0.0)
    certificate = issue(n_features=1, budget=budget, mechanism=law)
    shift, scale = certificate.sensitivity, certificate.noise_scale
    exact = 2 * stats.norm.cdf(shift / scale / 2) - 1 if law == "gaussian" else -math.expm1(-shift / scale / 2)
    value = risk(certificate)["J3.curve"].value
    assert exact <= value * (1 + 1e-12)
    assert law == "laplace" or value == pytest.approx(exact, rel=1e-9)


def test_j3_reference_values():
    assert round(2 * total_variation(1.0, 0.0), 2) == 0.92
    report = risk(issue())
    assert round(report["J3.signed"].value, 2) == 0.92
    assert round(report["002-Prop10"].value, 2) == 1.72
    assert total_variation(1.0, 0.999) <= 1.0


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 3.0, 10.0, 1e9])
def test_j3_is_below_proposition_10_and_below_the_loss_itself(epsilon):
    report = risk(issue(budget=eq.Budget(epsilon)), loss_bound=3.0)
    assert report["J3.curve"].value <= report["J3.bounded"].value * (1 + 1e-9)
    assert report["J3.bounded"].value <= 3.0
    if report["002-Prop10"].holds:
        assert report["J3.signed"].value < report["002-Prop10"].value
    else:
        assert epsilon > 700


def test_j3_of_a_gaussian_release_is_far_below_what_epsilon_and_delta_alone_say():
    report = risk(issue(n_features=40, budget=eq.Budget(1.0, 1e-5), mechanism="gaussian"))
    assert report["J3.curve"].value < 0.25 * report["J3.bounded"].value


# J4 and J5: lengths of noise vectors.


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dimension", [1, 3, 32, 200])
def test_lengths_of_drawn_noise(law, dimension):
    source, draws = SeededSource(dimension), 20_000
    noise = np.array([source.add(law, np.zeros(dimension), 1.5) for _ in range(draws)])
    lengths = np.linalg.norm(noise, axis=1)
    blur = stats.norm.isf(FALSE_ALARM) * lengths.std() / math.sqrt(draws)
    claimed = mean_norm(law, 1.5, dimension)
    assert lengths.mean() - blur <= claimed
    if law != "laplace" or dimension == 1:
        assert claimed <= lengths.mean() + blur
    else:
        assert claimed <= 1.13 * (lengths.mean() + blur)
    for failure in (0.5, 0.05, 0.001):
        exceeded = int((lengths > norm_quantile(law, 1.5, dimension, failure)).sum())
        assert exceeded <= stats.binom.isf(FALSE_ALARM, draws, failure)
        if law != "laplace":
            assert exceeded >= stats.binom.ppf(FALSE_ALARM, draws, failure)


@pytest.mark.parametrize("dimension", [1, 2, 50, 10_000, 10_001, 1_000_000])
def test_quantiles_are_on_the_safe_side(dimension):
    for failure in (0.9, 0.05, 1e-9):
        radius = norm_quantile("spherical-laplace", 1.0, dimension, failure)
        assert stats.gamma.sf(radius, dimension) <= failure
        assert radius <= dimension * math.log(dimension / failure) * (1 + 1e-6) or failure > 0.5
        assert stats.chi.sf(norm_quantile("gaussian", 1.0, dimension, failure), dimension) <= failure
        assert norm_quantile("laplace", 1.0, dimension, failure) <= radius
    chi = mean_norm("gaussian", 1.0, dimension)
    assert math.sqrt(dimension - 0.5) * (1 - 1e-3 / dimension) <= chi <= math.sqrt(dimension) * (1 + 1e-8)


def test_j5_reference_values():
    # J5: 32 independent Laplace variables have a mean length of 7.85; the bound is 8, the paper's 32.
    random = np.random.default_rng(3)
    lengths = np.linalg.norm(random.laplace(size=(200_000, 32)), axis=1)
    assert lengths.mean() == pytest.approx(7.85, abs=0.02)
    assert mean_norm("laplace", 1.0, 32) == pytest.approx(8.0)
    assert mean_norm("spherical-laplace", 1.0, 32) == pytest.approx(32.0)
    # Of a law that planning knows nothing about, neither is known.
    unknown = KnownLaw(laws.named("gaussian"))
    assert unknown.mean_norm(1.0, 32) == math.inf
    assert unknown.norm_quantile(1.0, 32, 0.1) == math.inf


def test_j5_the_papers_formula_is_no_upper_bound_for_private_laplace_noise():
    certificate = CERTIFICATES["logistic-laplace"]
    d, scale = certificate.claim.noise.dimension, certificate.noise_scale
    assert scale == pytest.approx(math.sqrt(d) * certificate.sensitivity / certificate.epsilon)
    random = np.random.default_rng(4)
    lengths = np.linalg.norm(random.laplace(scale=scale, size=(100_000, d)), axis=1)
    assert lengths.mean() > 1.15 * d * certificate.sensitivity / certificate.epsilon


# J4: the alpha that makes the mean bound smallest, and the catalogue's form.


def test_j4_alpha_is_the_minimum_of_the_bound_it_minimises():
    n, d, G = 10_000, 20, 2.0

    def bound(alpha: float) -> float:
        sensitivity = 2 / (alpha * n)
        return alpha * G**2 / 2 + sensitivity + d * sensitivity / 1.0

    report = risk(issue(n_samples=n, n_features=d, mechanism="spherical-laplace"), radius=G)
    alpha, best = report["J4.alpha"].value, report["J4.best"].value
    assert alpha == pytest.approx(2 / G * math.sqrt((1 + d) / n), rel=1e-6)
    assert bound(alpha) == pytest.approx(best, rel=1e-6)
    assert best <= min(bound(alpha * factor) for factor in (0.5, 0.9, 1.1, 2.0))
    # At that alpha the certified bound is no larger, up to the solver's slack: A2 is at least as sharp as A1.
    planned = risk(issue(n_samples=n, n_features=d, mechanism="spherical-laplace", alpha=alpha), radius=G)
    assert planned["J4.convex.mean"].value <= best * 1.002


def test_j4_catalogue_form_of_the_strongly_convex_bound():
    certificate = issue(n_samples=2000, n_features=10, mechanism="spherical-laplace", alpha=1e-3)
    report = risk(certificate, confidence=0.9)
    claim = output_claim(certificate)
    rho = claim.constants.row_norm
    whole = rho + known_penalty(claim.problem.penalty).slope_bound(claim.constants.radius)
    q = stats.gamma.isf(0.05, 10)
    catalogue = 2 * whole**2 / (1e-3 * 2000) * (2 / 0.1 + q)
    assert report["J4.strong.tail"].value <= catalogue * 1.002
    assert report["J4.solver.tail"].value < report["002-Thm19"].value / 2 * 1.002
    assert report["J4.strong.tail"].value < report["002-Thm20"].value / 2
    assert report["J4.training"].value < report["002-Lemma22"].value / 2


# Corollary 13 of [000].


@pytest.mark.parametrize("law", LAWS)
def test_at_fixed_noise_epsilon_follows_the_sensitivity(law):
    budget = eq.Budget(1.0, 1e-6 if law == "gaussian" else 0.0)
    first, second = (issue(alpha=alpha, budget=budget, mechanism=law) for alpha in (1.0, 2.0))
    gain = stability_gain(first, second)
    ratio = second.sensitivity / first.sensitivity
    assert gain.sensitivity_ratio == pytest.approx(ratio)
    assert gain.published_ratio > math.sqrt(ratio) * 0.9
    if law == "gaussian":
        mu = second.sensitivity / first.noise_scale
        e = gain.epsilon
        delta = stats.norm.cdf(mu / 2 - e / mu) - math.exp(e) * stats.norm.cdf(-mu / 2 - e / mu)
        assert delta == pytest.approx(1e-6, rel=1e-6)
        assert e < ratio
    else:
        assert gain.epsilon == pytest.approx(ratio, rel=1e-9)
        assert gain.delta == 0
    same = stability_gain(first, first)
    assert same.epsilon == pytest.approx(1.0, rel=1e-9)
    assert same.published_ratio == 1.0
    back = stability_gain(second, first)
    assert back.epsilon > 1.0


def test_a_gain_needs_models_of_one_size():
    with pytest.raises(InvalidParameter, match="same size"):
        stability_gain(issue(), issue(n_features=7))


def test_noise_that_hides_everything_leaves_epsilon_zero():
    # With the noise of 10 rows, what 10^7 rows can move is below the first certificate's delta.
    few = issue(n_samples=10, alpha=1.0, budget=eq.Budget(0.1, 1e-3), mechanism="gaussian")
    many = issue(n_samples=10**7, alpha=1.0, budget=eq.Budget(0.1, 1e-3), mechanism="gaussian")
    assert stability_gain(few, many).epsilon == 0.0


# Monotonicity.

OURS = [name for name, _ in naive(CERTIFICATES["logistic-spherical"], 0.05, 1.0, 1.0) if not name.startswith("00")]


def decreasing(reports: list[RiskReport], names: list[str]) -> None:
    for name in names:
        values = [report[name].value for report in reports]
        if None not in values:
            assert values == sorted(values, reverse=True), name
            assert values[-1] < values[0], name


@pytest.mark.parametrize(("loss", "domain"), [("logistic", CLASSES), ("squared", LABELS)])
def test_more_rows_make_every_bound_smaller(loss, domain):
    reports = [risk(issue(loss, domain, n_samples=n), loss_bound=1e-3) for n in (10**2, 10**3, 10**4, 10**5)]
    decreasing(reports, [name for name in OURS if not name.startswith(("J3", "J1.tail", "J1.released.tail"))])
    reports = [risk(issue(loss, domain, n_samples=n, alpha=3.0)) for n in (10**3, 10**4, 10**5, 10**6)]
    decreasing(reports, ["J1.tail"])


def test_a_larger_epsilon_makes_every_bound_on_noise_smaller():
    noisy = [name for name in OURS if name.startswith(("J4", "J5", "J6")) and "solver" not in name]
    decreasing([risk(issue(budget=eq.Budget(epsilon))) for epsilon in (0.1, 0.5, 1.0, 5.0)], noisy)
    decreasing([risk(issue(), confidence=level) for level in (0.99, 0.9, 0.5)], ["J4.strong.tail", "J4.training"])


# Words and refusals.


@every_certificate
def test_the_table_is_readable(certificate):
    for report in (risk(certificate), risk(certificate, loss_bound=1e-5, confidence=0.999)):
        text = str(report)
        assert max(map(len, text.splitlines())) < 110
        assert "measured" not in text
        assert "certified bound" in text.lower()
        for statement in report.statements:
            assert statement.id in text
            assert statement.quantity in text
            assert statement.where.startswith(("docs/proofs/J", "[00"))
            assert statement.meaning
            assert "{" not in statement.quantity + statement.meaning
            if not statement.holds:
                assert statement.remedy
        numbers = dict(report.numbers)
        assert numbers["Delta with solver slack"] == certificate.sensitivity
        assert numbers["epsilon"] == certificate.epsilon


def test_a_declared_radius_is_the_default_comparator_and_makes_lemma_22_fail_where_it_binds():
    certificate = CERTIFICATES["squared-bound"]
    report = risk(certificate)
    assert report.radius == 0.4
    assert not report["J4.training"].holds
    assert report["J4.best"].holds
    loose = issue("squared", dataclasses.replace(LABELS, radius=1e6))
    assert risk(loose)["J4.training"].holds


def test_losses_without_a_lipschitz_constant_say_so():
    report = risk(CERTIFICATES["squared-spherical"], loss_bound=2.0)
    for name in ("J1.released.mean", "J1.released.tail", "J4.convex.mean", "J4.convex.tail", "J5.norm", "J4.best"):
        assert not report[name].holds
        assert report[name].value is None
        assert "Lipschitz" in report[name].remedy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"confidence": 0.0}, "confidence"),
        ({"confidence": 1.0}, "confidence"),
        ({"confidence": -0.5}, "confidence"),
        ({"confidence": math.nan}, "confidence"),
        ({"confidence": 1e-40}, "confidence"),
        ({"confidence": "high"}, "confidence"),
        ({"loss_bound": 0.0}, "loss_bound"),
        ({"loss_bound": math.inf}, "loss_bound"),
        ({"loss_bound": True}, "loss_bound"),
        ({"radius": -1.0}, "radius"),
        ({"radius": math.nan}, "radius"),
        ({"radius": 0.5}, "radius"),
    ],
)
def test_bad_input_is_refused(arguments, words):
    with pytest.raises(InvalidParameter, match=words):
        risk(CERTIFICATES["squared-bound"], **arguments)


def test_an_unknown_statement_is_refused():
    with pytest.raises(InvalidParameter, match=r"J1\.mean"):
        _ = risk(issue())["J2"]


def test_risk_is_a_public_name():
    assert eq.risk is risk
