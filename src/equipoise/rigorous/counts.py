"""Choices, bounds of columns, counts in cells and coins, in balls (E5, E6, N4, N6, Q1, G5)."""

from flint import arb

from . import curves
from .balls import at_most, certain, largest, number
from .budgets import within_budget
from .kinds import Answer, Record

# A row's score is a whole number of such parts (E5), and what the drawn number of runs may cost (E6).
LEVELS, DRAWN = 2**20, arb(10) ** -10


def choice(claim: Record) -> Answer:
    """Return the exponential mechanism's curve: twice the largest change over the scale (E5)."""
    return Answer((), curves.Pure(2 * LEVELS / number(claim["scale"])))


def private_bounds(claim: Record) -> Answer:
    """Return the curve of two quantiles a column, each for 2 over the scale (Q1)."""
    return Answer((), curves.Pure(4 * len(claim["columns"]) / number(claim["scale"])))


def chosen_bounds(claim: Record) -> Answer:
    """Return the curve of one interval a column, each for 2 over the scale (N6)."""
    return Answer((), curves.Pure(2 * len(claim["columns"]) / number(claim["scale"])))


def evaluation(claim: Record) -> Answer:
    """Return the curve of noise on two counts that move by 1 each, and two further ones (N4)."""
    law, scale, more = claim["noise"]["law"], number(claim["noise"]["scale"]), claim.get("further_noise")
    moved = 1 + (scale / number(more["scale"]) if more else 0)
    if law == "laplace":
        # Both coordinates move by 1: the L1 distance is 2, without a root.
        return Answer((), curves.Pure(2 * moved / scale))
    return Answer((), curves.law_of(law, arb(2).sqrt() * moved, 2, scale))


class Chosen(curves.Curve):
    """The best of a random number of runs with divergences ``a mu^2/2``, at one order (E6)."""

    def __init__(self, claim: Record) -> None:
        """Take the numbers of a stopping claim."""
        self.mu, self.gamma, self.order = (number(claim[name]) for name in ("mu", "gamma", "order"))
        self.shape = int(claim["shape"])

    def delta(self, epsilon: arb) -> arb:
        """Return ``exp((a-1)(D - epsilon)) (1 - 1/a)^(a-1) / a`` with the divergence D of the choice."""
        rate, runs = self.mu**2 / 2, -self.gamma.log()
        other = (2 * runs).sqrt() * self.mu - rate if certain(self.mu**2, 2 * runs) else runs
        mean = 1 / self.gamma if self.shape == 1 else (1 / self.gamma - 1) / runs
        above = self.order - 1
        spent = rate * self.order + (1 + self.shape) * other + mean.log() / above
        return (above * (spent - epsilon + (above / self.order).log())).exp() / self.order


def stopping(claim: Record) -> Answer:
    """Return the inequality on scores' noise and the curve of the best of a secret number of runs (E6)."""
    pure, run = claim["budget"].get("delta", 0.0) == 0, claim["run"]
    level = number(run["epsilon"] if pure else claim["mu"])
    findings = [at_most("scores are as private as trainings (E6)", arb(LEVELS), level * number(claim["scale"]))]
    if pure:
        return Answer(tuple(findings), curves.Pure((2 + claim["shape"]) * level + DRAWN))
    for part in claim["of"]:
        moved = number(part["sensitivity"]) / number(part["noise"]["scale"])
        findings.append(at_most("a training's noise has the parameter mu (E6)", moved, level))
    return Answer(tuple(findings), Chosen(claim))


class Coins(curves.Curve):
    """The coins that choose a column: ``p max_t (F_nu(t) - e^epsilon F_{nu+1}(t - 1))`` (G5)."""

    def __init__(self, columns: int, ones: int) -> None:
        """Take the number of columns, and of ones that each has at least."""
        self.columns, self.ones = columns, ones

    def delta(self, epsilon: arb) -> arb:
        """Return the sum over the columns."""
        ones, growth = self.ones, epsilon.exp()
        low, high = 0, ones
        # The last t at which the difference has grown.
        while low < high:
            middle = (low + high + 1) // 2
            rises = certain(growth * ((ones + 1) * middle), arb(2 * (ones - middle + 1) * (ones - middle + 2)))
            low, high = (middle, high) if rises else (low, middle - 1)
        place, term, total = low, arb(1), arb(0)
        for below in range(low, -1, -1):
            total += term
            term *= arb(below) / (ones - below + 1)
            if term < arb(2) ** -200:
                # What is left falls at least as fast as a geometric series of this quotient.
                quotient = arb(below) / (ones - below + 1)
                total += (term / (1 - quotient)).union(arb(0))
                break
        logarithm = arb(ones + 1).lgamma() - arb(place + 1).lgamma() - arb(ones - place + 1).lgamma()
        last = arb(place) / (ones - place + 1)
        difference = 2 * total - growth * (2 * total - 2 - last)
        return self.columns * largest((logarithm - (ones + 1) * arb(2).log()).exp() * difference, arb(0))


def simplex(claim: Record) -> Answer:
    """Return that coins hide a row where columns have enough ones (G5), what is spent, and the curve (G4)."""
    coins, test = claim["coins"], claim["test"]
    curve = Coins(claim["n_features"], claim["ones"])
    hidden = at_most("coins hide a row (G5)", curve.delta(number(coins["epsilon"])), number(coins.get("delta", 0.0)))
    tested = curves.Sum([(1, curve, number(test["epsilon"]))])
    # Of the deltas the larger one counts (G4).
    larger = {"epsilon": coins["epsilon"], "delta": max(coins.get("delta", 0.0), test.get("delta", 0.0))}
    shares = [{"epsilon": test["epsilon"]}, larger]
    spent = within_budget("test and coins are within the budget", shares, claim["budget"])
    return Answer((hidden, spent), curves.Largest([tested], number(test.get("delta", 0.0))))
