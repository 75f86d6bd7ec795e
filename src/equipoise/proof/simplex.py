"""G5: which of p columns of zeros and ones has the fewest ones, chosen by dropout coins alone.

Every one is kept with probability 1/2, and the column with the fewest kept ones is released. The coins are the noise:
a column with nu ones is blurred by about sqrt(nu)/2. That is private only where every column has enough ones, which is
tested first (propose-test-release, G4). After Algorithm 2 of [003], with the threshold that its claim needs.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import mpmath

from equipoise.errors import BudgetImpossible, CertificateUnreadable, EquipoiseError, InvalidParameter
from equipoise.proof.argument import NOT_RECORDED, ROWS_AS_GIVEN, RUNNING_TIME, SEEDED, CurvePoint, Grade
from equipoise.proof.certificate import SCHEMA_VERSION, _differences
from equipoise.proof.claim import Claim
from equipoise.proof.curves import Curve
from equipoise.proof.document import build, to_plain
from equipoise.proof.mechanisms.propose_test_release import AfterTest, NoisyStatistic
from equipoise.proof.wording import listed, number
from equipoise.vocabulary.facts import Adjacency, Budget
from equipoise.vocabulary.numbers import plain, require_count, require_number

# The parts of epsilon that may pay for the test when public facts pick one.
SHARES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)

# More ones than this are never needed to be counted: a smaller epsilon is refused.
MOST_ONES = 10**7

_BITS = 160

_EXACT_COINS = "the coins come from a cryptographic stream; the noise of the test is sampled exactly by OpenDP"
_SEEDED_COINS = "the coins and the noise of the test come from NumPy's generator"

# Beyond this epsilon delta is claimed as it is there, which is more.
LARGEST_EXPONENT = 700.0


@lru_cache(maxsize=4096)
def column_delta(ones: int, epsilon: float) -> float:
    """Return ``max_t F_nu(t) - e^epsilon F_{nu+1}(t - 1)`` for nu = `ones` and fair binomial laws, rounded up (G5).

    The difference grows while ``e^epsilon (nu + 1) t <= 2 (nu - t + 1) (nu - t + 2)`` and falls from there on, so that
    its place is known. Of the sum ``S`` below that place only a part is added up; what is left out would lower delta.

    Examples
    --------
    >>> float(f"{column_delta(221, 1.0):.3g}"), column_delta(0, 1.0)
    (9.52e-09, 1.0)
    """
    arithmetic = mpmath.MPContext()
    arithmetic.prec = _BITS
    growth = arithmetic.exp(arithmetic.mpf(min(epsilon, LARGEST_EXPONENT))) * (1 - arithmetic.ldexp(1, 8 - _BITS))
    place = _turning(ones, float(growth))
    # Terms C(nu, i) over C(nu, place), from the place downwards.
    term, total = arithmetic.mpf(1), arithmetic.mpf(0)
    least = arithmetic.ldexp(1, -_BITS)
    below = arithmetic.mpf(place) / (ones - place + 1)
    for i in range(place, -1, -1):
        total += term
        term *= arithmetic.mpf(i) / (ones - i + 1)
        if term < least:
            break
    logarithm = (
        arithmetic.loggamma(ones + 1) - arithmetic.loggamma(place + 1) - arithmetic.loggamma(ones - place + 1)
    ) - (ones + 1) * arithmetic.ln2
    difference = 2 * total - growth * (2 * total - 2 - below)
    value = arithmetic.exp(logarithm) * difference
    return min(1.0, max(0.0, float(value)) * (1 + 1e-12))


def _turning(ones: int, growth: float) -> int:
    """Return the last t at which the difference has grown; at a tie, which rounding may miss, both are equal."""
    low, high = 0, ones + 1
    while low < high:
        middle = (low + high + 1) // 2
        if growth * (ones + 1) * middle <= 2 * (ones - middle + 1) * (ones - middle + 2):
            low = middle
        else:
            high = middle - 1
    return min(low, ones)


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
class CountCurve(Curve):
    """The curve of the coins where every column has at least so many ones: ``p column_delta`` (G5)."""

    columns: int
    ones: int

    def delta(self, epsilon: float) -> float:
        """Return the sum over the columns."""
        return min(1.0, self.columns * column_delta(self.ones, epsilon) * (1 + 1e-15))


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


@dataclass(frozen=True, slots=True)
class SimplexArgument:
    """Everything that follows from a request: the split, the ones that are proposed, and the noise of the test."""

    adjacency: str
    grade: Grade
    assumptions: tuple[str, ...]
    theorem: str
    test: Budget
    coins: Budget
    ones: int
    noise_scale: float
    threshold: float
    curve: tuple[CurvePoint, ...]
    caveats: tuple[str, ...]


@lru_cache(maxsize=256)
def derive_simplex(request: SimplexRequest) -> SimplexArgument:
    """Return the split with the lowest threshold, or the one that was asked for, and what follows."""
    shares = SHARES if isinstance(request.share, str) else (request.share,)
    test, coins, ones = min((_split(request, share) for share in shares), key=lambda split: _threshold(*split))
    threshold = _threshold(test, coins, ones)
    if threshold >= request.n_samples - 1:
        raise InvalidParameter(
            "columns with enough ones for coins to hide a row",
            f"n_samples={request.n_samples} and n_features={request.n_features}, where every column needs more than "
            f"{threshold:.0f} ones",
            f"train on more than {math.ceil(threshold) + 1:,} rows, or raise epsilon",
        )
    curve = AfterTest(CountCurve(request.n_features, ones), test)
    epsilon = request.budget.epsilon
    assumed = ("the seed of the coins is secret and random",) if request.seeded else ()
    caveats = (
        ROWS_AS_GIVEN,
        _SEEDED_COINS if request.seeded else _EXACT_COINS,
        RUNNING_TIME,
        *((SEEDED,) if request.seeded else ()),
        *((NOT_RECORDED,) if request.ledger is None else ()),
    )
    return SimplexArgument(
        adjacency=Adjacency.REPLACE_ONE.value,
        grade="conditional" if assumed else "proved",
        assumptions=assumed,
        theorem="G5",
        test=test,
        coins=coins,
        ones=ones,
        noise_scale=NoisyStatistic(1.0, test).scale,
        threshold=threshold,
        curve=tuple(CurvePoint(level, curve.delta(level)) for level in (epsilon / 2, epsilon, 2 * epsilon)),
        caveats=caveats,
    )


def _split(request: SimplexRequest, share: float) -> tuple[Budget, Budget, int]:
    budget = request.budget
    test = Budget(share * budget.epsilon, budget.delta)
    coins = Budget(math.nextafter(budget.epsilon - test.epsilon, 0.0), budget.delta)
    return test, coins, smallest_columns(request.n_features, coins.epsilon, coins.delta)


def _threshold(test: Budget, coins: Budget, ones: int) -> float:
    return ones + NoisyStatistic(1.0, test).margin


@dataclass(frozen=True, slots=True)
class SimplexCertificate(Claim):
    """An immutable claim about a selection: the test, and the column that coins chose if it passed.

    `passed` is None in a plan.

    Examples
    --------
    >>> certificate = SimplexCertificate.issue(SimplexRequest(5000, 100, Budget(1.0, 1e-6)))
    >>> certificate.argument.ones, certificate.verify()
    (301, ())
    >>> SimplexCertificate.from_json(certificate.to_json()) == certificate
    True
    """

    schema_version: int
    request: SimplexRequest
    argument: SimplexArgument
    digest: str
    passed: bool | None = None

    @classmethod
    def issue(cls, request: SimplexRequest) -> SimplexCertificate:
        """Derive the argument for a request and seal both."""
        argument = derive_simplex(request)
        return cls(SCHEMA_VERSION, request, argument, _digest(SCHEMA_VERSION, request, argument, None))

    def with_outcome(self, passed: bool) -> SimplexCertificate:
        """Return the certificate with the outcome of the test, sealed again."""
        digest = _digest(self.schema_version, self.request, self.argument, passed)
        return replace(self, digest=digest, passed=passed)

    @property
    def planned_digest(self) -> str:
        """The digest of the plan, under which a ledger records the spend before a row is read."""
        return _digest(self.schema_version, self.request, self.argument, None)

    def verify(self) -> tuple[str, ...]:
        """Derive everything again from the request and return one line for each field that does not follow."""
        try:
            expected = derive_simplex(self.request)
        except EquipoiseError as error:
            return (f"request: no certificate follows from it ({error})",)
        found = _differences("argument", to_plain(self.argument), to_plain(expected))
        if self.digest != _digest(self.schema_version, self.request, self.argument, self.passed):
            found.append("digest: a recorded field was changed after the certificate was made")
        return tuple(found)

    def to_json(self) -> str:
        """Return the certificate as JSON text."""
        return json.dumps(to_plain(self), indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> SimplexCertificate:
        """Read a selection's certificate; refuse a truncated, malformed or newer one."""
        try:
            record = json.loads(text)
        except (ValueError, RecursionError, TypeError) as error:
            found = f"text that does not parse ({error})"
            raise CertificateUnreadable("a certificate in JSON", found, "ask for the whole file again") from None
        version = record.get("schema_version") if isinstance(record, dict) else None
        if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
            asked = f"a selection's certificate of schema version {SCHEMA_VERSION} or older"
            raise CertificateUnreadable(asked, f"schema_version={version!r:.80}", "pass what to_json wrote")
        return build(cls, record, "certificate")

    def explain(self) -> str:
        """Return the whole argument in plain words, with every number."""
        request, argument = self.request, self.argument
        budget = f"({number(request.budget.epsilon)}, {number(request.budget.delta)})"
        outcome = {None: "a plan", True: "passed", False: "refused: the first column stands in"}[self.passed]
        claim = (
            f"Claim ({argument.grade}): {budget}-approximate differential privacy\n"
            f"  Neighbours: {argument.adjacency}; n = {request.n_samples} is public and one row is replaced.\n"
            f"  Released: which of {request.n_features} columns coins left the fewest ones, if a test passed:\n"
            f"  {outcome}."
        )
        steps = (
            f"({number(argument.test.epsilon)}, {number(argument.test.delta)}) pays for the test: the fewest ones of a "
            f"column, any one row left out, plus Laplace noise of scale {number(argument.noise_scale)}, must exceed "
            f"{number(argument.threshold)} (G4)",
            f"({number(argument.coins.epsilon)}, {number(argument.coins.delta)}) pays for the choice: every one is "
            f"kept with probability 1/2, which hides a row where every column has {argument.ones} ones or more (G5)",
        )
        points = tuple(f"delta({number(point.epsilon)}) = {number(point.delta)}" for point in argument.curve)
        sections = (
            claim,
            listed("How", steps),
            listed("Curve", points),
            listed("Assumptions that make it conditional", argument.assumptions),
            listed("What to keep in mind", argument.caveats),
        )
        return "\n\n".join(section for section in sections if section) + "\n"

    def __str__(self) -> str:
        """Return the explanation."""
        return self.explain()


def _digest(version: int, request: SimplexRequest, argument: SimplexArgument, passed: bool | None) -> str:
    record = [version, to_plain(request, keep_defaults=False), to_plain(argument, keep_defaults=False)]
    record += [] if passed is None else [passed]
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
