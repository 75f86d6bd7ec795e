"""The tighter figure for budgets that were fixed in advance. It is shown, and admits nothing (docs/ledger.md)."""

import math
from collections.abc import Iterable

from equipoise.vocabulary.facts import Budget

# The sums below are good to a few units in the last place for each term.
ROUNDED_UP = 1 + 1e-9


def composed(spends: Iterable[tuple[float, float]], extra_delta: float) -> tuple[float, float]:
    """Return (epsilon, delta) of all spends (e, d) together, if their amounts were fixed before the first of them.

    ``epsilon = min(sum e, sum e tanh(e/2) + sqrt(2 log(1/extra_delta) sum e^2))`` at ``delta = extra_delta + sum d``
    (Kairouz, Oh and Viswanath, The Composition Theorem for Differential Privacy, ICML 2015, Theorem 3.5); where the
    first is the smaller, the extra delta is not needed.

    Examples
    --------
    >>> epsilon, delta = composed([(0.1, 0.0)] * 100, 1e-6)
    >>> round(epsilon, 3), round(delta, 9)
    (5.756, 1e-06)
    """
    epsilons, deltas = zip((0.0, 0.0), *spends, strict=True)
    basic, delta, extra = math.fsum(epsilons), math.fsum(deltas), Budget(1.0, extra_delta).delta
    mean = math.fsum(epsilon * math.tanh(epsilon / 2) for epsilon in epsilons)
    # Without an extra delta there is no second figure.
    spread = math.hypot(*epsilons) * math.sqrt(-2 * math.log(extra)) if extra > 0 else math.inf
    if basic <= mean + spread:
        return basic * ROUNDED_UP, delta * ROUNDED_UP
    return (mean + spread) * ROUNDED_UP, (delta + extra) * ROUNDED_UP
