"""Currencies: limits, prices of every kind of claim, defaults, and the numbers that filters save."""

import itertools
import math
from bisect import bisect_left
from decimal import ROUND_UP, Context, Decimal, FloatOperation, Inexact, localcontext
from functools import cache, reduce
from operator import add

import mpmath
import pytest

import equipoise as eq
import sample_releases
from equipoise.certify.claims.choice import Choice
from equipoise.certify.claims.compositions import Disjoint, PostProcessing, Sequence
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.certify.curves import GaussianCurve, PureCurve, SumCurve
from equipoise.certify.sampled import divergence_of_a_step
from equipoise.certify.spherical import SphericalCurve
from equipoise.errors import InvalidParameter, LedgerRefused, UnknownName
from equipoise.ledger.currencies import CURRENCIES, Amount, currency_named, default_for
from equipoise.ledger.currencies.base import LAST_PLACE, NOTHING, rounded, spent_on_order
from equipoise.ledger.prices import cost as cost_of
from equipoise.ledger.rates import MARGIN, ConcentratedRate, Cost, Rate, RenyiRate, pure_mu
from equipoise.planning.laws.gaussian import largest_mu
from equipoise.vocabulary.facts import Budget
from stored_certificates import STORED

NAMES = ("basic", "gaussian", "zcdp", "renyi:8", "renyi:2.5")
FILTERS = NAMES[1:]
RATES = (Rate(), ConcentratedRate(), RenyiRate(1.25), RenyiRate(8.0), RenyiRate(200.0))
TOTAL = Budget(3.0, 1e-6)


def charged(name: str, costs: list[Cost], delta: float) -> float:
    """Return the epsilon that a currency charges for costs in it."""
    currency = currency_named(name)
    return currency.worth(reduce(add, map(currency._rounded, costs), NOTHING), Budget(1.0, delta)).epsilon


def smallest_default(history: list, delta: float) -> float:
    """Return the smallest epsilon, to a hundredth part, whose ledger in the default currency admits a history."""

    def admits(step: int) -> bool:
        budget = Budget(0.1 * 1.01**step, delta)
        currency = default_for(budget)
        prices = {claim: currency.price(claim) for claim in set(history)}
        return reduce(add, (prices[claim] for claim in history)).within(currency.limit(budget))

    return 0.1 * 1.01 ** bisect_left(range(400), True, key=admits)


def test_there_are_four_and_their_names_are_written_and_read():
    assert sorted(CURRENCIES) == ["basic", "gaussian", "renyi", "zcdp"]
    assert [currency_named(name).name for name in NAMES] == list(NAMES)
    assert currency_named("renyi:8.0").name == "renyi:8"
    assert {currency.proof for currency in CURRENCIES.values()} == {"N5"}
    for name in ("renyi", "euro", "basic:3", "renyi:many"):
        with pytest.raises(UnknownName):
            currency_named(name)
    for order in ("1", "0.5", "nan", "inf", "-3"):
        with pytest.raises(InvalidParameter, match="order"):
            currency_named(f"renyi:{order}")


@pytest.mark.parametrize("name", FILTERS)
def test_a_limit_asks_for_a_delta_and_halves_it(name):
    currency = currency_named(name)
    with pytest.raises(InvalidParameter, match="delta"):
        currency.limit(Budget(3.0))
    limit = currency.limit(Budget(20.0, 1e-6))
    assert limit.amount > 0
    assert limit.delta == Decimal("5.00000001E-7")
    # Half of every delta of releases that add up to the whole fits, whatever the last digits are.
    assert sum((rounded(1e-6 / 70 / 2 * (1 + 1e-12), True) for _ in range(70)), Decimal(0)) <= limit.delta
    assert currency.worth(NOTHING, TOTAL).epsilon == 0
    for larger in (Budget(25.0, 1e-6), Budget(20.0, 1e-5)):
        assert currency.limit(larger).amount > limit.amount
    assert currency.limit(Budget(1e9, 1e-6)) == currency.limit(Budget(1000.0, 1e-6))


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("budget", [Budget(20.0, 1e-6), Budget(50.0, 1e-9), Budget(12.0, 1e-3)])
def test_a_limit_keeps_the_budget_and_is_worth_it(name, budget):
    currency = currency_named(name)
    limit = currency.limit(budget)
    assert currency.worth(limit, budget).epsilon == pytest.approx(budget.epsilon, rel=1e-6)
    # By hand, in many digits: the divergence of some order, or the Gaussian curve, at the rest of delta.
    with mpmath.workdps(40):
        amount, epsilon, rest = mpmath.mpf(str(limit.amount)), budget.epsilon, mpmath.mpf(budget.delta) / 2
        if name == "gaussian":
            mu = mpmath.sqrt(amount)
            found = mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
            assert found <= rest
            return
        orders = [float(name.partition(":")[2])] if name != "zcdp" else [1 + 0.01 * 1.1**step for step in range(250)]
        least = min(
            mpmath.exp((order - 1) * ((order if name == "zcdp" else 1) * amount - epsilon))
            * mpmath.mpf(1 - 1 / mpmath.mpf(order)) ** (order - 1)
            / order
            for order in orders
        )
        assert least <= rest * (1 if name != "zcdp" else 1.01)


def test_an_amount_is_exact_and_its_text_reads_back():
    cost = Amount(rounded(1 / 3, True), rounded(2.0**-500, True))
    assert Decimal(str(cost.amount)) == cost.amount >= Decimal(1 / 3)
    assert cost.delta == LAST_PLACE
    assert len(cost.amount.as_tuple().digits) <= 30
    assert rounded(1 / 3, False) <= Decimal(1 / 3)
    total = reduce(add, [cost] * 1000)
    assert total.amount == cost.amount * 1000
    assert (total - cost).within(total)
    assert not total.within(total - cost)


@pytest.mark.parametrize("order", [1.25, 2.0, 8.0, 40.0, 3000.0])
@pytest.mark.parametrize("epsilon", [1e-12, 1e-3, 0.1, 1.0, 20.0, 650.0])
def test_pure_releases_cost_what_randomised_response_does(epsilon, order):
    with mpmath.workdps(1000):
        true = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon))
        other = 1 - true
        exact = mpmath.log(true**order * other ** (1 - order) + other**order * true ** (1 - order)) / (order - 1)
        assert exact <= RenyiRate(order).pure(epsilon) * MARGIN
        assert RenyiRate(order).pure(epsilon) <= min(
            1.01 * exact + mpmath.log(2) / (order - 1) * (order * epsilon > 700), epsilon
        )
        # zCDP: no order has a divergence above order times rho, and rho is met as the order falls to 1.
        assert exact <= order * ConcentratedRate().pure(epsilon) * MARGIN
        # The Gaussian's error at the middle is at most that of randomised response, and hardly less.
        mu = mpmath.mpf(pure_mu(epsilon) * math.sqrt(MARGIN))
        assert mpmath.ncdf(-mu / 2) <= other
    assert pure_mu(epsilon) <= math.sqrt(math.pi / 2) * epsilon * (1 + 1e-12)


@pytest.mark.parametrize("name", ["gaussian", "zcdp", "renyi:1.25", "renyi:8", "renyi:4000"])
@pytest.mark.parametrize(
    "parts", [(1e-9, 1e-9), (5e-4, 6e-4), (0.01, 2.0), (0.3,) * 7, (1.0, 1.0), (30.0, 0.1), (90.0, 400.0)]
)
def test_releases_cost_together_no_more_than_one_of_their_sum(name, parts):
    """By the exact cost of each part; the planted price, that of the parts' mean, is too low."""
    currency, deltas = currency_named(name), Decimal("1e-9") * len(parts)
    total = Amount(sum(map(Decimal, parts), Decimal(0)), deltas)
    known = currency.price_of_sum(total, currency_named("basic"))
    exact = sum(currency.rate().pure(part) for part in parts)
    assert exact <= known.amount
    assert deltas <= known.delta <= deltas * (1 + Decimal("1e-9"))
    mean = Amount(total.amount / len(parts), deltas)
    assert currency.price_of_sum(mean, currency_named("basic")).amount < exact * (1 + 1e-6)


def test_a_sum_is_priced_from_basic_or_in_its_own_currency_and_nowhere_else():
    known = Amount(Decimal("0.01"), Decimal("1e-9"))
    assert currency_named("zcdp").price_of_sum(known, currency_named("zcdp")) == known
    assert currency_named("gaussian").price_of_sum(NOTHING, currency_named("zcdp")) == NOTHING
    assert currency_named("gaussian").price_of_sum(Amount(Decimal(0), Decimal("1e-9")), currency_named("basic")).delta
    for name in ("basic", "gaussian", "renyi:8"):
        with pytest.raises(LedgerRefused, match="leave it in zcdp"):
            currency_named(name).price_of_sum(known, currency_named("zcdp"))


def test_known_figures_for_pure_releases():
    assert pure_mu(1.0) == pytest.approx(2 * 0.6160, rel=1e-3)
    assert ConcentratedRate().pure(1.0) == pytest.approx(math.tanh(0.5))
    assert Rate().pure(1000.0) == pytest.approx(8000.0)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_a_curve_gives_nearly_the_exact_cost_and_never_less(epsilon):
    laplace = SphericalCurve(epsilon * (1 - 1e-9), 1)
    for order in (1.5, 8.0, 40.0):
        near, far = order / (2 * order - 1), (order - 1) / (2 * order - 1)
        exact = math.log(near * math.exp((order - 1) * epsilon) + far * math.exp(-order * epsilon)) / (order - 1)
        found = RenyiRate(order).of(laplace, Budget(epsilon)).amount
        assert exact * (1 - 1e-6) <= found <= 1.02 * exact
    # A Gaussian that is not known as one: up to half of delta, its own mu serves.
    mu, budget = largest_mu(epsilon, 1e-6), Budget(epsilon, 1e-6)
    hidden = SumCurve(((1.0, GaussianCurve(mu), 0.0),))
    for rate, exact in ((Rate(), mu * mu), (ConcentratedRate(), mu * mu / 2), (RenyiRate(8.0), 4 * mu * mu)):
        cost = rate.of(hidden, budget)
        assert 0.98 * exact <= cost.amount <= 1.03 * exact
        assert cost.delta == 5e-7
        assert rate.of(GaussianCurve(mu), budget).amount == pytest.approx(exact, rel=1e-8)
    # What asks for more somewhere costs more: a planted hole of the same point.
    worse = SumCurve(((1.0, GaussianCurve(mu), 0.0),), 2e-3 * epsilon)
    assert Rate().of(worse, Budget(epsilon, 1e-6 + 2e-3 * epsilon)).delta > 1e-4 * epsilon


@cache
def claims() -> dict:
    """Return a claim of every kind that ships, from the frozen certificates."""
    stored = (eq.Certificate.from_json(path.read_text()).claim for path in STORED)
    return {claim.kind: claim for whole in stored for claim in whole.nodes()}


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_has_a_price_that_is_no_higher_than_that_of_its_budget(name):
    currency = currency_named(name)
    assert len(claims()) >= 15
    for kind, claim in claims().items():
        price, simple = currency.price(claim), currency.price_of_budget(claim.budget)
        assert price.amount > 0, kind
        # But for the last digits.
        assert price.amount <= simple.amount * Decimal("1.00001"), kind
        assert price.delta <= simple.delta + Decimal("1e-100"), kind


def test_compositions_add_up_and_disjoint_parts_cost_the_dearest():
    parts = [claim for claim in claims().values() if isinstance(claim, Choice | PrivateBounds)][:2]
    for rate in RATES:
        costs = [cost_of(part, rate) for part in parts]
        sequence = Sequence(Budget(9.0), 10, tuple(parts))
        assert cost_of(sequence, rate).amount == pytest.approx(sum(cost.amount for cost in costs))
        assert cost_of(Disjoint(Budget(9.0), 10, tuple(parts)), rate).amount == max(cost.amount for cost in costs)
        assert cost_of(PostProcessing(Budget(9.0), 10, (parts[0],), "rule"), rate) == costs[0]


def test_bounds_of_many_columns_are_many_small_releases():
    stored = (eq.Certificate.from_json(path.read_text()).claim for path in STORED)
    every = (claim for whole in stored for claim in whole.nodes())
    bounds = next(claim for claim in every if isinstance(claim, PrivateBounds) and len(claim.columns) > 1)
    level = bounds.curve().level
    assert (
        ConcentratedRate().of(PureCurve(level), bounds.budget).amount > 1.5 * cost_of(bounds, ConcentratedRate()).amount
    )


def test_numbers_that_mean_nothing_are_refused_with_a_remedy():
    claim = Choice(Budget(1.0), 10, 3, 1e-320, None)
    for name in FILTERS:
        with pytest.raises(LedgerRefused, match="basic"):
            currency_named(name).price(claim)


@pytest.mark.parametrize(
    ("releases", "each", "delta", "most", "exact"),
    [
        (20, Budget(0.15, 5e-8), 1e-6, 0.75, 0.63),
        (50, Budget(0.1, 1e-8), 5e-7, 0.80, 0.65),
        (10, Budget(0.3, 1e-7), 1e-6, 1.06, 0.91),
    ],
)
def test_many_gaussian_releases_are_charged_little_more_than_they_cost(releases, each, delta, most, exact):
    curve = GaussianCurve(largest_mu(each.epsilon, each.delta))
    for name in ("gaussian", "zcdp"):
        costs = [currency_named(name).rate().of(curve, each)] * releases
        assert exact - 0.005 < charged(name, costs, delta) <= most
    plan = eq.LogisticRegression(
        epsilon=each.epsilon, delta=each.delta, domain=sample_releases.TWO, alpha=0.1, mechanism="gaussian"
    ).plan(5000, 4)
    assert smallest_default([plan.claim] * releases, delta) <= most
    # Sums would charge this much.
    assert releases * each.epsilon > 2.99


def test_a_mixed_history_is_charged_little_more_than_by_the_best_order_found_afterwards():
    two, small = sample_releases.TWO, sample_releases.RANGE
    pure = eq.Ridge(epsilon=0.1, domain=small, alpha=0.1, mechanism="functional").plan(5000, 4).claim
    gaussian = (
        eq.LogisticRegression(epsilon=0.2, delta=1e-8, domain=two, alpha=0.1, mechanism="gaussian").plan(5000, 4).claim
    )
    steps = eq.NoisySGDClassifier(epsilon=0.3, delta=1e-8, domain=two).plan(5000, 4).claim
    chosen = (
        eq.PrivateGridSearch(eq.Ridge(domain=small, mechanism="output"), sample_releases.ALPHAS, epsilon=0.1)
        .plan(5000, 4)
        .claim
    )
    delta, counts = 1e-6, {pure: 8, gaussian: 6, steps: 5, chosen: 6}
    history = [claim for claim, times in counts.items() for _ in range(times)]
    run = steps.scale / steps.sensitivity, steps.recipe.batch_size / steps.n_samples, steps.recipe.steps(5000)

    def afterwards(order: float) -> float:
        respond = math.log(math.cosh((order - 0.5) * 0.1) / math.cosh(0.05)) / (order - 1)
        noisy = order * (gaussian.sensitivity / gaussian.scale) ** 2 / 2
        sampled = run[2] * divergence_of_a_step(run[0], run[1], order)
        return 14 * respond + 6 * noisy + 5 * sampled + spent_on_order(order, delta)

    best = min(afterwards(order) for order in (4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0))
    assert smallest_default(history, delta) <= 1.25 * best
    assert sum(claim.budget.epsilon for claim in history) > 1.5 * best


def test_the_default_is_basic_without_delta_and_admits_two_thirds_of_what_sums_would():
    assert default_for(Budget(3.0)).name == "basic"
    assert default_for(Budget(1e-9, 1e-12)).name == "basic"
    for epsilon, delta in itertools.product((0.05, 0.75, 3.0, 20.0, 500.0), (1e-10, 1e-6, 0.3)):
        budget = Budget(epsilon, delta)
        currency = default_for(budget)
        limit = currency.limit(budget)
        assert currency == default_for(budget) == currency_named(currency.name)
        for pieces in (1, 3, 40):
            piece = Budget(epsilon * 0.6666 / pieces, delta / 2 / pieces)
            assert reduce(add, [currency.price_of_budget(piece)] * pieces).within(limit)


@pytest.mark.parametrize("name", NAMES)
def test_the_callers_decimal_context_changes_no_limit_price_or_sum(name):
    """A few digits, rounded up, and numbers of floats as errors: what a program may have set for its own sums."""
    currency, plan = currency_named(name), sample_releases.release("objective").claim

    def told() -> list[object]:
        limit, price = currency.limit(Budget(30.0, 1.23456789012e-6)), currency.price(plan)
        worth = currency.worth(price, Budget(30.0, 1e-6))
        return [limit, price, currency.price_of_budget(Budget(0.123456789, 1e-7)), limit - price, worth]

    expected = told()
    for context in (Context(prec=6, rounding=ROUND_UP), Context(prec=3, traps=[Inexact, FloatOperation])):
        with localcontext(context):
            assert told() == expected
