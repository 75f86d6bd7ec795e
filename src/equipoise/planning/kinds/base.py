"""What every planner of a kind says about itself: what it claims, and a plan worked out from public facts."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from equipoise.certify.claims import Claim, Noise, Trained
from equipoise.certify.curves import LATTICE_DELTA
from equipoise.errors import BudgetImpossible, InvalidParameter, NoTheoremApplies
from equipoise.planning.laws import Calibration, deviation_of, known
from equipoise.planning.request import Request
from equipoise.planning.words import Section
from equipoise.planning.work import work_in
from equipoise.vocabulary.facts import Bound, Budget, Hypothesis

Made = TypeVar("Made", bound=Trained)

# The ball in which weights are kept reaches this many times as far as the reference weights: far enough that it hardly
# ever binds, near enough that rounding stays small.
REACH = 8.0


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to spend the budget: a claim, what was considered on the way, and its modelled cost.

    `share` is the modelled cost and `noise` the part of it that noise costs (reference.py), `excess_risk` a certified
    bound where there is one (J6), `clip` the largest size of a row's slope where slopes were clipped.
    """

    claim: Trained
    share: float
    bounds: tuple[Bound, ...]
    candidates: tuple[Calibration, ...]
    excess_risk: float = math.inf
    clip: float | None = None
    noise: float = 0.0


@dataclass(frozen=True, slots=True)
class Extreme:
    """The ridge and the number of rows at which one row moves what is released almost as far as is claimed."""

    alpha: float
    n_samples: int


# How noise that enters in every step is drawn.
EXACT_STEPS = "the Gaussian noise of every step is drawn exactly, and the sum rounded to a public grid (D7)"

# One row that is turned round, and rows of zeros, which a model without intercept ignores.
FEW_ROWS = 4
# A strong ridge keeps the loss from adding curvature, so that the bounds are nearly attained (A2).
STRONG = 40.0
# A weak one keeps the noise of steps and of sums in the weights.
WEAK = 0.01


def require_delta(budget: Budget, work: str, remedy: str) -> None:
    """Refuse a budget whose delta is 0, or so small that what exact noise leaves of it is nothing (D3)."""
    if budget.delta == 0:
        raise BudgetImpossible(f"{work} with pure privacy", "delta=0", remedy)
    if budget.delta <= LATTICE_DELTA:
        raise BudgetImpossible(f"{work} with a delta that can be met", f"delta={budget.delta:g}", "pass delta=1e-12")


class Words:
    """What is said of one kind of claim: where noise enters, and what one row changes, as a page heads its column."""

    claim: ClassVar[type[Claim]]
    words: ClassVar[str]
    changes: ClassVar[str] = "weights move by at most (L2)"

    def caveats(self, claim: Any) -> Iterator[str]:
        """Yield what to keep in mind about a claim of this kind, besides what its certificate says by itself."""
        return iter(())

    def work(self, claim: Any, parts: Sequence[float]) -> float:
        """Return how many numbers of the table are met on the worst rows, given what each part meets (N10)."""
        return math.fsum(parts)


class Planner(Words, ABC, Generic[Made]):
    """Plans one kind of release, and says in words what its claims mean.

    It is asked for by the claim's kind, and some take a number after a colon. `plans` yields one plan, or several that
    the automatic choice may prefer to each other; it raises an error with a remedy when it cannot serve the request.
    """

    # What carries the noise.
    place: ClassVar[str] = "weight"
    # Whether the weights come from a solver; kinds that follow a recipe are asked for by estimators of their own.
    minimises: ClassVar[bool] = True
    # Whether released weights are weights before noise and noise of one known law.
    at_the_end: ClassVar[bool] = False
    # Whether it is taken of equals, being the fastest.
    preferred: ClassVar[bool] = False

    @abstractmethod
    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield plans, the one that is taken when nothing else is considered first."""

    @abstractmethod
    def how(self, claim: Made, bounds: tuple[Bound, ...]) -> Section:
        """Say what one row changes, and why no more."""

    def work(self, claim: Made, parts: Sequence[float]) -> float:
        """Return what as many passes meet as the claim records, or as its recipe makes; elsewhere there is one."""
        passes: float | None = getattr(claim, "passes", None) or getattr(getattr(claim, "recipe", None), "passes", None)
        return work_in(claim.setting(), max(1.0, passes or 1.0))

    def ball(self, claim: Made) -> str:
        """Say in which ball the weights are."""
        declared = claim.problem.domain.radius
        constraint = f" (constraint {declared:.6g})" if declared is not None else ""
        return f"every minimiser has norm at most R = {claim.constants.radius:.6g}{constraint}"

    def noise_of_a_weight(self, claim: Made) -> Noise | None:
        """Return the noise that free weights carry, where it has one law that public facts tell; None elsewhere."""
        return None

    def deviation_of_a_weight(self, claim: Made) -> float | None:
        """Return the standard deviation of a weight's noise, in the root mean square over all; None if unknown."""
        noise = self.noise_of_a_weight(claim)
        return None if noise is None else free_share(claim) * deviation_of(noise)

    def noise_words(self, claim: Made, deviation: float | None) -> str:
        """Say how much noise a released weight carries."""
        return (
            f"Noise of standard deviation {deviation_of(claim.noise):.4g} entered {self.entered(claim)}. How much of "
            "it a weight carries depends on the private rows, so no figure for one weight is known and no band drawn."
        )

    def entered(self, claim: Made) -> str:
        """Say what the noise entered, for kinds whose weights carry an unknown part of it."""
        return "what was computed from the rows"

    def extreme(self, budget: Budget, n_features: int, parameter: str) -> Extreme:
        """Return where the claim is nearly attained; `parameter` is what follows the colon after the kind's name."""
        return Extreme(STRONG, FEW_ROWS)

    def caveats(self, claim: Made) -> Iterator[str]:
        """Yield how finite precision was priced."""
        yield self.rounding(claim)

    def rounding(self, claim: Made) -> str:
        """Say in one sentence how finite precision was priced: as the law's sampler does, unless noise enters often."""
        return known(claim.law).rounding(claim.noise.dimension)

    def no_parameter(self, parameter: float | None) -> None:
        """Refuse a parameter."""
        kind = self.claim.kind
        if parameter is not None:
            raise InvalidParameter(
                f"mechanism={kind!r} without a number", f"{kind}:{parameter:g}", f"write mechanism={kind!r}"
            )


def exact_band(deviation: float | None) -> str:
    """Say that noise of one law was added to every weight."""
    return (
        f"Each released weight carries noise of standard deviation {deviation or 0.0:.4g}, exactly, whatever the rows "
        "are. The shaded band reaches two deviations to either side of zero: a weight within it cannot be told "
        "from noise."
    )


def free_share(claim: Trained) -> float:
    """Return what a weight has of the noise in one free coordinate: 1, and ``sqrt((K - 1)/K)`` for K tied classes."""
    loss = claim.problem.loss
    return math.sqrt(loss.free_outputs / loss.outputs)


def require(hypotheses: tuple[Hypothesis, ...], what: str) -> None:
    """Refuse a plan some of whose conditions fail, with what to do about each."""
    if missing := [hypothesis for hypothesis in hypotheses if not hypothesis.holds]:
        remedies = "; ".join(hypothesis.remedy for hypothesis in missing)
        raise NoTheoremApplies(what, "hypotheses that do not hold", remedies)
