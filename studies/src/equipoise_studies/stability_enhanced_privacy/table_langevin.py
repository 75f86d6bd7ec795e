"""Stochastic gradient Langevin dynamics: what its noise accounts for, and audits of chains that were run.

``w <- w - eta g + sqrt(2 eta / beta) xi`` is a step with noise ``sqrt(2 / (beta eta))`` in the mean gradient g of b
secret rows, so that C3 accounts for T of them (docs/proofs/C3.md). Epsilon follows from (eta, beta, b, T, n);
nothing is calibrated to a budget.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.sampled import SampledGaussianCurve
from equipoise.data.rows import row_source
from equipoise.lab.auditing import Finding, lower_bound
from equipoise.noise import SeededSource
from equipoise.solve.descents.stochastic import Run, run_noisy
from equipoise.vocabulary.constants import constants
from equipoise.vocabulary.facts import Problem
from equipoise_studies.stability_enhanced_privacy.table_witnesses import FAR, N_ROWS

Array = NDArray[np.float64]

# Epsilon is stated at this delta, and rounded up to a multiple of this.
DELTA, PRECISION = 1e-6, 1e-3
# Chains on each of the two tables. More of them show more, and take longer.
CHAINS = 3000
# Where the audit looks, in standard deviations from the middle between the two laws: fixed before any chain is run.
PLACES = (-1.5, -1.0, 1.0, 1.5)


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain in public numbers: the step eta, the inverse temperature beta, the steps T and the rows b of a step."""

    eta: float
    beta: float
    steps: int
    batch: int
    n_samples: int = N_ROWS

    @property
    def deviation(self) -> float:
        """The noise in the mean gradient, ``sqrt(2 / (beta eta))``."""
        return math.sqrt(2 / (self.beta * self.eta))

    def multiplier(self, problem: Problem) -> float:
        """Return ``z = sqrt(2 eta / beta) b / (eta Gam)``: the noise over how far one row moves the mean gradient."""
        return self.deviation * self.batch / constants(problem).gradient_diameter

    def epsilon(self, problem: Problem) -> float:
        """Return the smallest multiple of 0.001 at which C3 accounts for no more than delta = 1e-6.

        Examples
        --------
        >>> from equipoise.vocabulary import losses, penalties
        >>> from equipoise.vocabulary.facts import Domain
        >>> straight = Problem(losses.named("huber:1"), penalties.named("none", 0.0), Domain(1.0, labels=(-9.0, 9.0)))
        >>> Chain(eta=0.1, beta=200.0, steps=25, batch=20).epsilon(straight)
        1.601
        """
        curve = SampledGaussianCurve(self.multiplier(problem), self.batch / self.n_samples, self.steps)
        low, high = 0, 1
        while curve.delta(high * PRECISION) > DELTA:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if curve.delta(middle * PRECISION) <= DELTA else (middle, high)
        return round(high * PRECISION, 3)

    def last_weights(self, problem: Problem, rows: Array, chains: int, seed: int) -> Array:
        """Return the last weight of so many chains on one table, by the loop of noisy SGD and fresh coins for each."""
        source, coins = row_source(rows, problem.domain, problem.intercept), SeededSource(seed)
        run = Run(self.batch, self.steps, self.eta, ridge=problem.penalty.smoothness())
        targets = np.full(self.n_samples, FAR)
        ends = [
            run_noisy(
                source, targets, problem.loss, run,
                lambda out: coins.integers(self.n_samples, out),
                lambda count: coins.noise("gaussian", count, self.deviation),
            )[0]
            for _ in range(chains)
        ]  # fmt: skip
        return np.array(ends)

    def audit(self, problem: Problem, chains: int = CHAINS, seed: int = 0) -> Finding:
        """Measure a lower bound on epsilon from the last weights on equal rows, and on a table where one turns round.

        Without a ridge and with a loss that is straight, the last weight is the sum of all noisy gradients.
        """
        rows = np.ones((self.n_samples, 1))
        turned = rows.copy()
        turned[0] *= -1
        here, there = (
            self.last_weights(problem, table, chains, 2 * seed + side) for side, table in enumerate((rows, turned))
        )
        # A step that meets the row moves by 2 eta / b less; it is met in the share b / n of all steps.
        middle = self.eta * self.steps * (1 - 1 / self.n_samples)
        width = self.eta * self.deviation * math.sqrt(self.steps)
        return lower_bound(here, there, DELTA, middle + width * np.array(PLACES), claimed=self.epsilon(problem))
