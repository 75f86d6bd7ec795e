"""No strategy exceeds a filter's total, by exact enumeration; wrong filters are exceeded (N5)."""

import math
from functools import cache
from itertools import pairwise

import pytest

from adaptive_adversary import (
    ExactCurve,
    Law,
    composed,
    discrete_gaussian,
    divergence,
    geometric,
    largest_count,
    reached,
    response,
)
from equipoise.ledger.currencies import Amount, Currency, currency_named
from equipoise.ledger.currencies.base import NOTHING, spent_on_order
from equipoise.vocabulary.facts import Budget

NAMES = ("basic", "gaussian", "zcdp", "renyi:3", "renyi:12")


def levels(law: Law) -> Budget:
    """Return an epsilon and a delta that a law keeps: its largest loss, leaving out outcomes rarer than 1e-4."""
    losses = sorted(abs(math.log(here / there)) for here, there in law if min(here, there) > 1e-4)
    return Budget(losses[-1] * (1 + 1e-12), ExactCurve(law).at(losses[-1]))


def priced(currency: Currency, law: Law, part: float = 1.0) -> Amount:
    """Return what a currency charges for a law of which the curve is known, or a part of that."""
    budget = levels(law)
    if currency.id == "basic":
        amount = currency.price_of_budget(budget)
    else:
        amount = currency._rounded(currency.rate().of(ExactCurve(law), budget))
    return Amount(amount.amount * int(part * 1000) / 1000, amount.delta)


def filtered(currency: Currency, budget: Budget, menu: tuple[Law, ...], part: float = 1.0):
    """Return whether a currency admits a release after others."""
    limit, prices = currency.limit(budget), [priced(currency, law, part) for law in menu]

    @cache
    def spent(history: tuple[int, ...]) -> Amount:
        return sum((prices[place] for place in history), NOTHING)

    return lambda history, place: (spent(history) + prices[place]).within(limit)


MENUS = {
    "randomised response": (response(0.1), response(0.3)),
    "geometric noise": (geometric(0.05, 2), geometric(0.25, 1)),
    "the largest noisy count": (largest_count(0.15, (2, 1, 1), (1, 2, 1)), response(0.2)),
    "Gaussian noise on whole numbers": (discrete_gaussian(0.3), response(0.25)),
    "one that may tell all": (response(0.1, 0.002), response(0.3)),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("menu", MENUS)
def test_no_strategy_exceeds_the_total_of_a_filter(name, menu):
    currency, laws = currency_named(name), MENUS[menu]
    found = []
    for budget in (Budget(0.5, 0.05), Budget(1.0, 0.1)):
        if name != "renyi:3" or budget.epsilon == 1.0:
            found.append(reached(laws, filtered(currency, budget, laws), budget.epsilon, most=6) / budget.delta)
    assert max(found) <= 1
    # A strategy that reaches nothing would tell nothing about a filter; sums reach nothing by pure releases.
    assert max(found) > 0 or name == "basic"


# A filter that charges too little, by how much, and a budget for which that is enough to be found out.
TOO_CHEAP = {
    "basic": (0.6, 1.0),
    "gaussian": (0.3, 1.0),
    "zcdp": (0.3, 1.0),
    "renyi:3": (0.2, 2.0),
    "renyi:12": (0.3, 1.0),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_filter_that_charges_too_little_is_exceeded(name):
    part, epsilon = TOO_CHEAP[name]
    laws, budget = (response(0.25), response(0.6)), Budget(epsilon, 0.04)
    assert reached(laws, filtered(currency_named(name), budget, laws), epsilon, 10) <= budget.delta
    assert reached(laws, filtered(currency_named(name), budget, laws, part), epsilon, 10) > 1.02 * budget.delta


def test_composition_of_fixed_budgets_is_exceeded_when_they_are_chosen_along_the_way():
    epsilon, delta = 1.0, 0.05
    # After a good answer a second one uses up all that is left; after a bad one only telling all helps.
    told = math.log((math.exp(0.5) + delta / 0.6225) / (1 - delta / 0.6225))
    laws = (response(0.5), response(told), response(1e-9, delta * (1 - 1e-9)))

    def admitted(history: tuple[int, ...], place: int) -> bool:
        return composed([laws[each] for each in (*history, place)], epsilon) <= delta

    assert all(composed([laws[0], law], epsilon) <= delta for law in laws[1:])
    assert reached(laws, admitted, epsilon) > 1.3 * delta
    # The basic filter admits the same releases one by one, and is not exceeded.
    basic = filtered(currency_named("basic"), Budget(epsilon, delta), laws)
    assert reached(laws, basic, epsilon) <= delta * (1 + 1e-9)


def leak(chance: float, ratio: float) -> Law:
    """Return an outcome that is `ratio` times as likely on the table as on its neighbour, and all others."""
    return ((chance, chance / ratio), (1 - chance, 1 - chance / ratio))


def tuned(order: float, epsilon: float, amount: float) -> Law:
    """Return the leak of this divergence for which the conversion to delta at epsilon loses nothing."""
    ratio, low, high = order / (order - 1) * math.exp(epsilon), 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if divergence(leak(middle, ratio), order) <= amount else (low, middle)
    assert 0 < low < 0.5
    return leak(low, ratio)


def test_an_order_that_is_chosen_afterwards_is_exceeded_and_each_one_by_itself_is_not():
    epsilon, delta, first, orders = 4.0, 1e-3, 0.15, (3.0, 12.0)
    limits = {order: epsilon - spent_on_order(order, delta) for order in orders}
    left = {order: limits[order] - divergence(response(first), order) for order in orders}
    # After a good answer the larger order is the better one to have been chosen, after a bad one the smaller.
    laws = (
        response(first),
        tuned(12.0, epsilon - first, left[12.0] * (1 - 1e-12)),
        tuned(3.0, epsilon + first, left[3.0] * (1 - 1e-12)),
    )

    def fits(order: float, history: tuple[int, ...], place: int) -> bool:
        return math.fsum(divergence(laws[each], order) for each in (*history, place)) <= limits[order]

    def any_order(history: tuple[int, ...], place: int) -> bool:
        return any(fits(order, history, place) for order in orders)

    assert reached(laws, any_order, epsilon) > 1.2 * delta
    alone = {order: reached(laws, lambda *state, order=order: fits(order, *state), epsilon) for order in orders}
    assert max(alone.values()) <= delta
    # The conversion is attained: with the larger order nearly all of delta is.
    assert alone[12.0] > 0.9 * delta


def test_the_adversary_finds_what_is_known_of_fixed_releases():
    laws = (response(0.3),)
    three = reached(laws, lambda history, place: len(history) < 3, 0.5)
    assert three == pytest.approx(composed(laws * 3, 0.5), rel=1e-9)
    assert reached(laws, lambda history, place: False, 0.5) == 0
    more = [reached(laws, lambda history, place, most=most: len(history) < most, 0.5) for most in range(5)]
    assert all(fewer <= longer for fewer, longer in pairwise(more))
