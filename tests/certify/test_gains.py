"""What an attacker gains (N7): mechanisms that attain the bounds, and curves that say something at every epsilon."""

import itertools
import json
import math
from fractions import Fraction
from statistics import NormalDist

import pytest

import equipoise as eq
from equipoise.certify.curves import Curve, GaussianCurve, PointCurve, PureCurve, SumCurve, WholeCurve
from equipoise.certify.gains import RATES, gains_of, true_positive_rate
from equipoise.certify.withdrawn import Withdrawal
from equipoise.vocabulary.facts import Budget
from equipoise.wording import gains_in_words, percent
from program import run_program
from stored_certificates import STORED

NORMAL = NormalDist()
BUDGETS = [(0.1, 0.0), (1.0, 0.0), (1.0, 0.05), (3.0, 1e-3), (30.0, 0.2)]
RATES_OF_ALL_SIZES = (1e-6, *RATES, 0.3, 0.5, 0.9, 0.999)


def leaky_response(epsilon: float, delta: float) -> list[tuple[float, float]]:
    """Return the outcomes of a bit told truthfully with chance delta, otherwise by randomised response.

    Each outcome has its chances if the bit is 1, and if it is 0.
    """
    truth, lie = (1 - delta) / (1 + math.exp(-epsilon)), (1 - delta) / (1 + math.exp(epsilon))
    return [(delta, 0.0), (0.0, delta), (truth, lie), (lie, truth)]


def power(outcomes: list[tuple[float, float]], false: float) -> float:
    """Return the true positive rate of the most powerful test: outcomes by their ratio until the level is used up."""
    true = 0.0
    for one, zero in sorted(outcomes, key=lambda pair: -math.inf if pair[1] == 0 else -pair[0] / pair[1]):
        share = 1.0 if zero <= false else false / zero
        true, false = true + share * one, false - share * zero
    return true


def divergence(outcomes: list[tuple[float, float]], epsilon: float) -> float:
    """Return the true delta at an epsilon."""
    return math.fsum(max(0.0, one - math.exp(epsilon) * zero) for one, zero in outcomes)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_randomised_response_attains_every_bound_of_a_point(epsilon, delta, witness):
    outcomes, point = leaky_response(epsilon, delta), PointCurve(Budget(epsilon, delta))
    whole, found = WholeCurve(point, epsilon), gains_of(point, epsilon)
    for rate in RATES_OF_ALL_SIZES:
        attained = power(outcomes, rate)
        # Not below what is attained, and not above but for rounding.
        assert attained * (1 - 1e-13) <= true_positive_rate(point, epsilon, rate) <= attained * (1 + 1e-11)
        words = f"({epsilon:g}, {delta:g}): true positives"
        witness("N7", true_positive_rate(point, epsilon, rate), attained, words, over=("false positives", rate))
    for place in (0.0, epsilon / 3, epsilon * 0.9, epsilon):
        attained = divergence(outcomes, place)
        assert attained * (1 - 1e-13) - 1e-15 <= whole.delta(place) <= attained * (1 + 1e-11) + 1e-15
    advantage = sum(abs(one - zero) for one, zero in outcomes) / 2
    assert found.advantage == pytest.approx(advantage, rel=1e-11)
    assert found.guess == pytest.approx((1 + advantage) / 2, rel=1e-11)
    assert found.advantage >= advantage * (1 - 1e-13)


@pytest.mark.parametrize(("mu", "epsilon"), [(0.268, 1.0), (0.01, 0.03), (2.0, 9.0)])
def test_a_gaussian_release_is_told_as_the_most_powerful_test_tells_it(mu, epsilon):
    found = gains_of(GaussianCurve(mu), epsilon)
    assert mu <= found.mu <= mu * (1 + 2e-15)
    for rate, bound in found.true_positive_rates:
        attained = NORMAL.cdf(NORMAL.inv_cdf(rate) + mu)
        assert attained <= bound <= attained * 1.005
    assert found.advantage == pytest.approx(2 * NORMAL.cdf(mu / 2) - 1, rel=1e-9)


class Faulty(Curve):
    """A point without its delta, as if the release were pure: one of the planted faults."""

    level: float

    def at(self, epsilon):
        return PureCurve(self.level).delta(epsilon)


def test_a_bound_that_forgets_delta_falls_below_the_witness():
    outcomes = leaky_response(1.0, 0.05)
    assert gains_of(Faulty(1.0), 1.0).advantage < sum(abs(one - zero) for one, zero in outcomes) / 2
    assert true_positive_rate(Faulty(1.0), 1.0, 0.01) < power(outcomes, 0.01)


def test_below_a_price_the_curve_covers_what_was_paid_for_and_what_followed():
    # A bit by randomised response, then Gaussian noise: the pair's exact delta, for a negative epsilon by symmetry.
    price, mu, claimed = 0.4, 0.3, 1.5
    truth, gaussian = 1 / (1 + math.exp(-price)), GaussianCurve(mu)

    def exact(epsilon):
        return (
            gaussian.delta(epsilon)
            if epsilon >= 0
            else -math.expm1(epsilon) + math.exp(epsilon) * gaussian.delta(-epsilon)
        )

    curve = SumCurve(((1.0, gaussian, price),))
    whole = WholeCurve(curve, claimed)
    assert curve.delta(price / 2) == 1.0
    for step in range(60):
        epsilon = step / 40
        true = truth * exact(epsilon - price) + (1 - truth) * exact(epsilon + price)
        assert true <= whole.delta(epsilon) <= curve.delta(epsilon)
        assert whole.delta(epsilon) < 0.4


# One of every kind; long compositions take seconds.
ONE_OF_EACH = [path for path in STORED if path.stem.endswith(("ordinary", "approximate", "divergence", "directions"))]


@pytest.mark.parametrize("path", ONE_OF_EACH, ids=lambda path: path.stem)
def test_every_kind_says_something_at_epsilon_0_and_no_more_than_its_budget_implies(path):
    certificate = eq.Certificate.from_json(path.read_text())
    epsilon, delta = certificate.epsilon, certificate.delta
    implied = math.tanh(epsilon / 2) + 2 * delta * math.exp(-epsilon) / (1 + math.exp(-epsilon))
    curve, found = certificate.curve(), certificate.gains()
    assert curve.delta(0.0) == found.advantage <= min(1.0, implied * (1 + 1e-11))
    values = [curve.delta(epsilon * step / 8) for step in range(9)]
    assert all(high <= low * (1 + 1e-9) for low, high in itertools.pairwise(values))
    # Better than blind, worse for the attacker with fewer false positives, and never above e^epsilon times as many.
    for rate, bound in found.true_positive_rates:
        assert rate <= bound <= min(1.0, rate / math.exp(-epsilon) + delta) * (1 + 1e-11)
        assert bound <= min(1.0, rate + found.advantage) * (1 + 1e-9)


def test_pure_1_is_at_most_at_the_hyperbolic_tangent_of_a_half():
    model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), mechanism="objective")
    certificate = model.plan(n_samples=1000, n_features=5)
    assert certificate.claim.curve().delta(0.0) == 1.0
    assert 0.4 < certificate.curve().delta(0.0) <= math.tanh(0.5)


def test_shares_are_rounded_up_in_words():
    assert percent(0.73105857) == "73.2 %"
    assert percent(0.5) == "50 %"
    assert percent(0.0027182) == "0.272 %"
    assert percent(1.0) == "100 %"
    text = "\n".join(gains_in_words("person", 0.6, ((0.01, 0.0271),), 0.2, 0.5))
    for said in ("two candidate persons", "at most 60 % of cases", "at most 2.71 %", "at most 20 %", "mu = 0.5 apart"):
        assert said in text


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1.0, 2.0, 5.0, 8.0])
def test_mu_is_rounded_up_as_a_number_and_in_words(epsilon):
    model = eq.LogisticRegression(epsilon, 1e-6, eq.Domain(1.0, classes=(0, 1)), mechanism="gaussian")
    plan = model.plan(5000, 6)
    found = plan.gains()
    assert Fraction(found.mu) >= Fraction(plan.sensitivity) / Fraction(plan.noise_scale)
    (line,) = (line for line in plan.explain().splitlines() if "means are mu = " in line)
    said = line.partition("mu = ")[2].partition(" ")[0]
    assert Fraction(found.mu) <= Fraction(said) <= Fraction(found.mu) * Fraction("1.001")


def test_a_claim_that_was_withdrawn_says_nothing_of_gains(monkeypatch):
    domain = eq.Domain(1.0, classes=(0, 1))
    plan = eq.LogisticRegression(domain=domain, alpha=0.1, mechanism="output").plan(n_samples=1000, n_features=3)
    false = Withdrawal("2027-01-01", "theorem", plan.theorem.split("+")[0], "wrong")
    monkeypatch.setattr("equipoise.certify.withdrawn.WITHDRAWN", (false,))
    assert "What an attacker gains" not in plan.explain()


def test_a_claim_that_does_not_hold_says_nothing_of_gains(tmp_path):
    domain = eq.Domain(1.0, classes=(0, 1))
    plan = eq.LogisticRegression(domain=domain, alpha=0.1, mechanism="output").plan(n_samples=1000, n_features=3)
    assert "What an attacker gains" in plan.explain()
    forged = plan.to_json().replace(f'"scale": {plan.noise_scale!r}', f'"scale": {plan.noise_scale / 2!r}')
    assert forged != plan.to_json()
    assert "What an attacker gains" not in eq.Certificate.from_json(forged).explain()
    for name, text, told in (("plan", plan.to_json(), True), ("forged", forged, False)):
        (tmp_path / f"{name}.json").write_text(text)
        printed = json.loads(run_program("explain", f"{name}.json", "--json", folder=tmp_path).stdout)
        assert ("gains" in printed["notes"]) == told
        # What is printed is still a certificate.
        assert eq.Certificate.from_json(json.dumps(printed)).digest == plan.digest
        if told:
            assert printed["notes"]["gains"]["guess"] == plan.gains().guess
