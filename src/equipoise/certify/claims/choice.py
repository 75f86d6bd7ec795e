"""One of several trained candidates, chosen by rows of nobody (E5), or the best of a random number of runs (E6)."""

import math
from typing import Literal

from ...vocabulary.facts import Budget, Conditions, Record
from ...vocabulary.records import Of
from ..curves import Curve, PureCurve
from .base import Claim, Moved, holds
from .compositions import Composition

# A row's score is a whole number of such parts of the score bound, so that sums of scores are exact.
LEVELS, MOST_VALIDATION_ROWS = 2**20, 2**33

# What the law of the drawn number of runs may differ from its formula costs far less epsilon than this.
DRAW_EPSILON = 1e-10


class Scoring(Record):
    """How rows score a candidate: losses are cut at this bound, on which no inequality depends."""

    bound: float


class Choice(Claim):
    """The place of one of `candidates`, by the exponential mechanism on sums of scores of `n_samples` rows (E5).

    A replaced row moves a sum by at most `LEVELS`; `scale` is that of the noise, `released` the place.
    """

    kind = "choice"
    theorem = "E5"
    law = "exponential"

    candidates: int
    scale: float
    procedure: Scoring
    released: int | None = None

    def curve(self) -> Curve:
        """Return the pure curve: twice the largest change over the scale."""
        return PureCurve(2 * LEVELS / self.scale)

    def conditions(self) -> Conditions:
        """Yield that scores add up exactly, that noise is within the budget, and that the place is a candidate's."""
        yield holds("rows score, exactly", 1 <= self.n_samples <= MOST_VALIDATION_ROWS and self.candidates >= 2)
        yield holds("scores have a bound above 0", self.procedure.bound > 0)
        yield holds("what was chosen is a candidate", self.released is None or 0 <= self.released < self.candidates)
        yield self.meets()


class ChosenCurve(Curve):
    """The curve of the best of a random number of runs, each with the divergences ``a mu^2/2`` of a Gaussian (E6).

    At one order of the divergence: ``exp((a-1)(D - epsilon)) (1 - 1/a)^(a-1) / a`` (Canonne et al.).
    """

    mu: float
    shape: int
    gamma: float
    order: float

    def spent(self, order: float) -> float:
        """Return the divergence of an order, but for the logarithm of the mean number of runs."""
        rate, logarithm = self.mu**2 / 2, -math.log(self.gamma)
        # (1 - 1/b) b mu^2/2 + ln(1/gamma)/b, at its smallest over orders b >= 1.
        other = math.sqrt(2 * logarithm) * self.mu - rate if self.mu**2 < 2 * logarithm else logarithm
        return rate * order + (1 + self.shape) * other

    def at(self, epsilon: float) -> float:
        """Return the delta of this order, rounded up."""
        spent, above = self.spent(self.order), self.order - 1
        value = above * (spent - epsilon + math.log(above / self.order)) - math.log(self.order)
        # Terms may cancel: each is good to a few units in its last place.
        value += math.log(mean_of(self.shape, self.gamma)) + 1e-14 * above * (spent + epsilon + 1)
        return math.exp(value) * (1 + 1e-9) if value < 0 else 1.0


def mean_of(shape: int, gamma: float) -> float:
    """Return the mean number of runs: ``1/gamma``, or ``(1/gamma - 1)/ln(1/gamma)`` for shape 0.

    Examples
    --------
    >>> mean_of(1, 0.5), round(mean_of(0, 0.5), 4)
    (2.0, 1.4427)
    """
    return 1 / gamma if shape == 1 else (1 / gamma - 1) / -math.log(gamma)


class Stopping(Composition):
    """The best of a secret number of runs, each of which draws a candidate, trains and scores it (E6).

    All runs have the same `n_samples - validation_rows` rows. The number is geometric (`shape` 1) or logarithmic (0)
    with parameter `gamma`. With delta = 0 a run is pure with `run`; with delta > 0 it has the divergences of Gaussian
    noise of parameter `mu`, accounted for at an `order`. `scale` is that of the noise on sums of scores.
    """

    kind = "stopping"
    theorem = "E6"

    validation_rows: int
    run: Budget
    shape: Literal[0, 1]
    gamma: float
    scale: float
    procedure: Scoring
    mu: float = 0.0
    order: float = 0.0
    released: int | None = None

    # The choice among all runs stands for itself.
    main = Claim.main
    draws = Of[str]("law")

    @property
    def trained(self) -> Claim:
        """The training of the candidate that was released; in a plan, of the first."""
        return self.chosen(self.released).trained

    @property
    def law(self) -> str:  # type: ignore[override] # read-only, as all of a record
        """The law of the noise on scores."""
        return "laplace" if self.budget.delta == 0 else "gaussian"

    def curve(self) -> Curve:
        """Return ``2 + shape`` times a pure run, or the curve by divergences."""
        if self.budget.delta == 0:
            return PureCurve(((2 + self.shape) * self.run.epsilon + DRAW_EPSILON) * (1 + 4e-15))
        return ChosenCurve(self.mu, self.shape, self.gamma, self.order)

    def conditions(self) -> Conditions:
        """Yield those of every training, that scores are as private as trainings, and the price of choosing."""
        left = self.n_samples - self.validation_rows
        yield holds("the number of runs has a law", 0 < self.gamma < 1 and len(self.of) >= 2)
        yield holds("scores have a bound above 0", self.procedure.bound > 0)
        yield holds("rows score, exactly", 1 <= self.validation_rows <= MOST_VALIDATION_ROWS and left >= 1)
        for part in self.of:
            yield from part.conditions()
            runs = part.n_samples == left and part.budget == self.run and self.run.delta <= self.budget.delta
            yield holds(f"a training has the {left} rows and the budget of a run, pure where all is", runs)
            if self.budget.delta > 0:
                yield holds("a training adds Gaussian noise to its weights", is_gaussian(part, self.mu))
        level = self.mu if self.budget.delta > 0 else self.run.epsilon
        # Scores are whole numbers: there is no margin in which two machines could differ.
        yield holds("scores are as private as trainings", 0 < LEVELS <= level * self.scale * (1 - 4e-16))
        yield holds("a divergence has an order above 1", self.budget.delta == 0 or self.order > 1)
        yield holds("what was chosen is a candidate", self.released is None or 0 <= self.released < len(self.of))
        yield self.meets()


def is_gaussian(run: Claim, mu: float) -> bool:
    """Return whether weights carry Gaussian noise once, of at most this parameter (E6, hypothesis 4)."""
    return isinstance(run, Moved) and run.on_weights and run.law == "gaussian" and run.sensitivity <= mu * run.scale
