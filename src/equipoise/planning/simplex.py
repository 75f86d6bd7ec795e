"""G5: which of p columns of zeros and ones has the fewest ones, chosen by dropout coins alone.

Every one is kept with probability 1/2, and the column with the fewest kept ones is released. The coins are the noise:
a column with nu ones is blurred by about sqrt(nu)/2. That is private only where every column has enough ones, which is
tested first (propose-test-release, G4). After Algorithm 2 of [003], with the threshold that its claim needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from equipoise.certify.certificate import Certificate, Terms
from equipoise.certify.claims.simplex import MOST_ONES, Simplex, column_delta
from equipoise.errors import BudgetImpossible, InvalidParameter
from equipoise.planning.issue import checked
from equipoise.planning.notes import Notes, caveats_of
from equipoise.vocabulary.facts import Budget
from equipoise.vocabulary.numbers import plain, require_count, require_number

# The parts of epsilon that may pay for the test when public facts pick one.
SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


@lru_cache(maxsize=1024)
def smallest_columns(p: int, epsilon: float, delta: float) -> int:
    """Return how many ones every one of p columns must have for ``p column_delta(nu, epsilon) <= delta``.

    Examples
    --------
    >>> smallest_columns(100, 1.0, 1e-6), smallest_columns(10, 0.5, 1e-6), smallest_columns(1000, 2.0, 1e-6)
    (221, 697, 73)
    """
    count = require_count("p", p, "pass the number of columns")
    budget = Budget(epsilon, require_number("delta", plain(delta), above=0.0, remedy="pass delta=1e-6"))

    def enough(ones: int) -> bool:
        return count * column_delta(ones, budget.epsilon) * (1 + 1e-15) <= budget.delta

    high = 1
    while not enough(high):
        high *= 2
        if high > MOST_ONES:
            raise BudgetImpossible(
                f"at most {MOST_ONES:g} ones a column", f"epsilon={epsilon:g}, delta={delta:g}", "raise epsilon"
            )
    low = high // 2
    # delta falls with the number of ones: a further fair coin on both sides is post-processing (G5).
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class SimplexRequest:
    """The public inputs from which a selection's certificate follows; `share` is the part of epsilon for the test."""

    n_samples: int
    n_features: int
    budget: Budget
    share: float | Literal["public"] = "public"
    seeded: bool = False
    ledger: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be asked."""
        rows = require_count("n_samples", self.n_samples, "pass the public number of rows")
        columns = require_count("n_features", self.n_features, "pass the number of columns")
        object.__setattr__(self, "n_samples", rows)
        object.__setattr__(self, "n_features", columns)
        if self.budget.delta == 0:
            raise BudgetImpossible(
                "pure privacy for a choice by dropout coins",
                "delta=0, and coins show a change of one count with a small chance",
                "pass delta > 0, for example 1e-6",
            )
        share = plain(self.share)
        if share != "public":
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
                asked = 'test_share between 0 and 1, or "public"'
                raise InvalidParameter(asked, f"test_share={share!r}", "pass test_share=0.2")
            object.__setattr__(self, "share", float(share))


@lru_cache(maxsize=256)
def issue_simplex(request: SimplexRequest) -> Certificate:
    """Return the certificate with the lowest threshold over splits of the budget, or the split that was asked for.

    Examples
    --------
    >>> certificate = issue_simplex(SimplexRequest(5000, 100, Budget(1.0, 1e-6)))
    >>> certificate.claim.ones, certificate.verify()
    (301, ())
    """
    shares = SHARES if isinstance(request.share, str) else (request.share,)
    claim = min((_split(request, share) for share in shares), key=lambda split: split.threshold())
    if claim.threshold() >= request.n_samples - 1:
        raise InvalidParameter(
            "columns with enough ones for coins to hide a row",
            f"n_samples={request.n_samples} and n_features={request.n_features}, where every column needs more than "
            f"{claim.threshold():.0f} ones",
            f"train on more than {math.ceil(claim.threshold()) + 1:,} rows, or raise epsilon",
        )
    checked(claim)
    terms = Terms(request.n_samples, request.n_features, seeded=request.seeded, ledger=request.ledger)
    return Certificate.seal(terms, claim, _notes(claim, terms).plain())


def _notes(claim: Simplex, terms: Terms) -> Notes:
    noisy = claim.noisy()
    steps = (
        f"- ({claim.test.epsilon:.6g}, {claim.test.delta:.6g}) pays for the test: the fewest ones of a column, any one "
        f"row left out, plus Laplace noise of scale {noisy.scale:.6g}, must exceed {claim.threshold():.6g} (G4)",
        f"- ({claim.coins.epsilon:.6g}, {claim.coins.delta:.6g}) pays for the choice: every one is kept with "
        f"probability 1/2, which hides a row where every column has {claim.ones} ones or more (G5)",
    )
    released = f"Released: which of {claim.n_features} columns coins left the fewest ones, if a test passed."
    return Notes(claim=(released,), sections=(("How", steps),), caveats=caveats_of(terms, claim))


def _split(request: SimplexRequest, share: float) -> Simplex:
    budget = request.budget
    test = Budget(share * budget.epsilon, budget.delta)
    coins = Budget(math.nextafter(budget.epsilon - test.epsilon, 0.0), budget.delta)
    ones = smallest_columns(request.n_features, coins.epsilon, coins.delta)
    return Simplex(budget, request.n_samples, request.n_features, test, coins, ones)
