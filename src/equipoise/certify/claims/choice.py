"""One of several trained candidates, chosen by rows of nobody (E5), or the best of a random number of runs (E6)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from ...vocabulary.facts import Budget, Hypothesis
from ..curves import Curve, PureCurve
from .base import Claim, Moved, at_most, holds
from .compositions import Composition

# A row's score is a whole number of such parts of the score bound, so that sums of scores are exact.
LEVELS = 2**20
MOST_VALIDATION_ROWS = 2**33

GRID = "the candidates, the split and the score bound are taken to have been chosen without a look at the rows"

# What the law of the drawn number of runs may differ from its formula costs far less epsilon than this.
DRAW_EPSILON = 1e-10


@dataclass(frozen=True, slots=True)
class Scoring:
    """How rows score a candidate: losses are cut at this bound, on which no inequality depends."""

    bound: float


@dataclass(frozen=True, slots=True)
class Choice(Claim):
    """The place of one of `candidates`, by the exponential mechanism on sums of scores of `n_samples` rows (E5).

    A replaced row moves a sum by at most `LEVELS`; `scale` is that of the noise, `released` the place.
    """

    kind: ClassVar[str] = "choice"
    theorem: ClassVar[str] = "E5"
    law: ClassVar[str] = "exponential"

    candidates: int
    scale: float
    procedure: Scoring
    released: int | None = None

    def caveats(self) -> Iterator[str]:
        """Yield that the grid is public."""
        yield GRID

    def curve(self) -> Curve:
        """Return the pure curve: twice the largest change over the scale."""
        return PureCurve(2 * LEVELS / self.scale)

    def conditions(self) -> Iterator[Hypothesis]:
        """Yield that scores add up exactly, that noise is within the budget, and that the place is a candidate's."""
        yield holds(
            "rows score candidates, exactly", 1 <= self.n_samples <= MOST_VALIDATION_ROWS and self.candidates >= 2
        )
        yield holds("what was chosen is a candidate", self.released is None or 0 <= self.released < self.candidates)
        yield self.meets()


@dataclass(frozen=True, slots=True)
class ChosenCurve(Curve):
    """The curve of the best of a random number of runs, each with the divergences ``a mu^2/2`` of a Gaussian (E6).

    At one order of the divergence: ``exp((a-1)(D - epsilon)) (1 - 1/a)^(a-1) / a`` (Canonne et al.).
    """

    mu: float
    shape: int
    gamma: float
    order: float

    def delta(self, epsilon: float) -> float:
        """Return the delta of this order, rounded up."""
        rate, logarithm, above = self.mu**2 / 2, -math.log(self.gamma), self.order - 1
        # (1 - 1/b) b mu^2/2 + ln(1/gamma)/b, at its smallest over orders b >= 1.
        other = math.sqrt(2 * logarithm) * self.mu - rate if self.mu**2 < 2 * logarithm else logarithm
        fixed = (1 + self.shape) * other
        mean = math.log(mean_of(self.shape, self.gamma))
        value = (
            above * (rate * self.order + fixed - epsilon + math.log(above / self.order)) + mean - math.log(self.order)
        )
        # Terms may cancel: each is good to a few units in its last place.
        value += 1e-14 * above * (rate * self.order + fixed + epsilon + 1)
        return math.exp(value) * (1 + 1e-9) if value < 0 else 1.0


def mean_of(shape: int, gamma: float) -> float:
    """Return the mean number of runs: ``1/gamma``, or ``(1/gamma - 1)/ln(1/gamma)`` for shape 0.

    Examples
    --------
    >>> mean_of(1, 0.5), round(mean_of(0, 0.5), 4)
    (2.0, 1.4427)
    """
    return 1 / gamma if shape == 1 else (1 / gamma - 1) / -math.log(gamma)


@dataclass(frozen=True, slots=True)
class Stopping(Composition):
    """The best of a secret number of runs, each of which draws a candidate, trains and scores it (E6).

    All runs have the same `n_samples - validation_rows` rows. The number is geometric (`shape` 1) or logarithmic (0)
    with parameter `gamma`. With delta = 0 a run is pure with `run`; with delta > 0 it has the divergences of Gaussian
    noise of parameter `mu`, accounted for at an `order`. `scale` is that of the noise on sums of scores.
    """

    kind: ClassVar[str] = "stopping"
    theorem: ClassVar[str] = "E6"

    validation_rows: int
    run: Budget
    shape: Literal[0, 1]
    gamma: float
    scale: float
    procedure: Scoring
    mu: float = 0.0
    order: float = 0.0
    released: int | None = None

    @property
    def main(self) -> Claim:
        """The choice among all runs."""
        return self

    @property
    def trained(self) -> Claim:
        """The training of the candidate that was released; in a plan, of the first."""
        return self.of[self.released or 0].trained

    @property
    def law(self) -> str:
        """The law of the noise on scores."""
        return "laplace" if self.budget.delta == 0 else "gaussian"

    def caveats(self) -> Iterator[str]:
        """Yield that the grid is public."""
        yield GRID

    def curve(self) -> Curve:
        """Return ``2 + shape`` times a pure run, or the curve by divergences."""
        if self.budget.delta == 0:
            return PureCurve(((2 + self.shape) * self.run.epsilon + DRAW_EPSILON) * (1 + 4e-15))
        return ChosenCurve(self.mu, self.shape, self.gamma, self.order)

    def conditions(self) -> Iterator[Hypothesis]:
        """Yield those of every training, that scores are as private as trainings, and the price of choosing."""
        yield holds("the number of runs has a law", 0 < self.gamma < 1 and len(self.of) >= 2)
        left = self.n_samples - self.validation_rows
        counted = 1 <= self.validation_rows <= MOST_VALIDATION_ROWS and left >= 1
        yield holds("rows score candidates, exactly", counted)
        for part in self.of:
            yield from part.conditions()
            yield holds(
                f"a training has the {left} rows and the budget of a run",
                part.n_samples <= left and part.budget == self.run,
            )
            if self.budget.delta > 0:
                yield holds("a training adds Gaussian noise to its weights", is_gaussian(part, self.mu))
        if self.budget.delta > 0:
            yield at_most("scores are as private as trainings", LEVELS / self.scale, self.mu)
            yield holds("a divergence has an order above 1", self.order > 1)
        else:
            yield at_most("scores are as private as trainings", LEVELS / self.scale, self.run.epsilon)
        chosen = self.released is None or 0 <= self.released < len(self.of)
        yield holds("what was chosen is a candidate", chosen)
        yield self.meets()


def is_gaussian(part: Claim, mu: float) -> bool:
    """Return whether weights carry Gaussian noise once, of at most this parameter (E6, hypothesis 4)."""
    if not isinstance(part, Moved) or not part.on_weights or part.law != "gaussian":
        return False
    return part.sensitivity / part.scale <= mu * (1 + 1e-12)
