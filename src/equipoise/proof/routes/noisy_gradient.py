"""Noisy gradient descent: noise in every gradient, and everything after it is free."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from equipoise.certify.claims import Noise
from equipoise.certify.claims.noisy_gradient import Descent as Use
from equipoise.certify.claims.noisy_gradient import NoisyGradient as Claim
from equipoise.errors import BudgetImpossible, InvalidParameter, NoTheoremApplies
from equipoise.proof.curves import LATTICE_DELTA, Curve, GaussianCurve, largest_mu
from equipoise.proof.mechanisms import LARGEST_SCALE, SMALLEST_SCALE, Calibration
from equipoise.proof.reference import Descent, Reference, descent_shares, of_problem
from equipoise.proof.request import Request
from equipoise.proof.routes.base import REACH, Plan, Procedure, Route
from equipoise.proof.subsampling import SampledGaussianCurve, smallest_multiplier
from equipoise.vocabulary.constants import constants, rounding_unit
from equipoise.vocabulary.facts import Bound, Budget, Hypothesis, Problem

# What is considered: how many steps, how much momentum, and step lengths in half octaves of one over the smoothness, up
# to half of where steps would no longer shrink an error.
MARKS = (10, 20, 50, 100, 200)
MOMENTA = (0.0, 0.9)
LENGTHS = np.exp2(np.arange(-26, 1) / 2)

# With mini-batches, every row is seen about this often.
PASSES = 20

ROUNDING_MARGIN = 1e-9


@dataclass(frozen=True, slots=True)
class PricedCurve(Curve):
    """The curve of many Gaussian releases, with the lattice's price for each of them on top (C5, C3, D3)."""

    curve: Curve
    releases: int

    def delta(self, epsilon: float) -> float:
        """Return the curve's delta and the price."""
        return min(1.0, self.curve.delta(epsilon) + self.releases * LATTICE_DELTA)


class NoisyGradient(Route):
    """Noise in every gradient of a descent with momentum (C5), or of one with mini-batches (C3).

    Each gradient is a sum of rows' gradients, every one clipped, so that one row moves it by at most 2 clip B / n. The
    steps, their projection to a ball, momentum and averages only process what was released.
    """

    id: ClassVar[str] = "noisy-gradient"
    words: ClassVar[str] = "noise in every gradient"

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan: all rows in every step, or batches of the size after the colon."""
        if request.budget.delta <= LATTICE_DELTA:
            raise BudgetImpossible(
                "noisy gradient descent with pure privacy", "delta=0", "pass delta > 0, or mechanism='objective'"
            )
        batch = 0 if parameter is None else _batch(parameter, request.n_samples)
        problem, clip = _problem(request)
        hypotheses = _hypotheses(problem, clip)
        if missing := [hypothesis for hypothesis in hypotheses if not hypothesis.holds]:
            remedies = "; ".join(hypothesis.remedy for hypothesis in missing)
            raise NoTheoremApplies("noisy gradient descent", "hypotheses that do not hold", remedies)
        # Clipped at its typical slope, a loss is as curved as its clipped form.
        imagined = of_problem(replace(problem, loss=problem.loss.clipped(clip)), request.n_features)
        radius = problem.domain.radius or REACH * imagined.norm * math.sqrt(problem.loss.free_outputs)
        facts = constants(problem, radius)
        dimension = problem.dimension(request.n_features)
        rows = batch or request.n_samples
        # Several outputs round twice as much: the softmax, the slopes' lengths, the map to free coordinates (C5).
        times = 1 if problem.loss.outputs == 1 else 2
        rounding = times * rounding_unit(rows, dimension) * (clip * facts.row_norm + facts.smoothness * radius)
        sensitivity = (2 * clip * facts.row_norm / rows + 2 * rounding) * (1 + ROUNDING_MARGIN)
        mu = largest_mu(request.budget.epsilon, request.budget.delta - max(MARKS) * LATTICE_DELTA)
        if mu == 0:
            raise BudgetImpossible("noisy gradient descent", "a delta too small for this epsilon", "raise delta")
        full = 2 * clip * facts.row_norm / request.n_samples / mu
        descent, share = _descent(imagined, problem.penalty.alpha, full, facts.smoothness)
        curve: Curve
        if batch:
            steps = math.ceil(PASSES * request.n_samples / batch)
            # As far in all as with every row in every step, if steps of that length still shrink an error.
            longest = (1 + descent.momentum) / (facts.smoothness + problem.penalty.alpha)
            length = min(descent.step * descent.steps / steps, longest)
            descent = Descent(steps, length, descent.momentum, descent.average)
            chance = batch / request.n_samples
            left = request.budget.delta - steps * LATTICE_DELTA
            multiplier = smallest_multiplier(request.budget.epsilon, left, chance, steps)
            scale = sensitivity * multiplier
            curve = PricedCurve(SampledGaussianCurve(multiplier, chance, steps), steps)
        else:
            scale, curve = _settled(sensitivity, mu, descent.steps, request.budget)
        if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
            raise BudgetImpossible("noisy gradient descent", f"noise of scale {scale:g}", "change epsilon or the units")
        theorem = "C3" if batch else "C5"
        yield Plan(
            route=self.id,
            loss=problem.loss.name,
            alpha=problem.penalty.alpha,
            constants=facts,
            tolerance=0.0,
            bounds=(Bound(theorem, True, sensitivity, hypotheses),),
            theorem=theorem,
            sensitivity=sensitivity,
            dimension=dimension,
            candidates=(Calibration("gaussian", scale, scale),),
            mechanism="gaussian",
            noise_scale=scale,
            noise_deviation=scale,
            curve=curve,
            rounding="the Gaussian noise of every step is sampled exactly by OpenDP; 2^-500 of delta a step pays (D3)",
            excess_risk=math.inf,
            share=share,
            procedure=Procedure(
                clip=clip,
                reach=radius,
                steps=descent.steps,
                step=descent.step,
                momentum=descent.momentum,
                average=descent.average,
                batch=batch,
            ),
            claim=Claim(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise("gaussian", scale, dimension),
                sensitivity=sensitivity,
                theorem=theorem,
                clip=clip,
                radius=radius,
                steps=descent.steps,
                procedure=Use(descent.step, descent.momentum, descent.average),
                batch=batch,
            ),
        )


def _batch(parameter: float, n_samples: int) -> int:
    if not 1 <= parameter <= n_samples or parameter != int(parameter):
        raise InvalidParameter(
            f"a whole batch size from 1 to n = {n_samples}",
            f"noisy-gradient:{parameter:g}",
            "write noisy-gradient:256, or noisy-gradient for all rows in every step",
        )
    # A batch of all rows is no sample.
    return 0 if parameter == n_samples else int(parameter)


def _problem(request: Request) -> tuple[Problem, float]:
    """Return the problem, with a ridge worth one row unless alpha was given, and the clip."""
    problem = request.problem(1.0)
    if isinstance(request.alpha, str):
        one_row = constants(problem, 1.0).smoothness / request.n_samples
        alpha = one_row if math.isfinite(one_row) else 1.0
    else:
        alpha = request.alpha
    return request.problem(alpha), problem.loss.typical_slope(problem.domain.label_bound)


def _hypotheses(problem: Problem, clip: float) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis(
            "every row's slope is clipped at a public size (C5, B7)",
            0 < clip < math.inf,
            "use a loss with a slope at prediction 0",
        ),
        Hypothesis("the penalty is a ridge", problem.penalty.id == "l2", "use an L2 penalty, or mechanism='output'"),
        Hypothesis(
            "the loss is smooth, so that rounding moves its slopes a little only (C5)",
            math.isfinite(problem.loss.curvature_bound()),
            "use a smooth loss, such as smooth-hinge, or mechanism='output'",
        ),
    )


def _descent(imagined: Reference, alpha: float, noise: float, smoothness: float) -> tuple[Descent, float]:
    """Return the descent with the smallest modelled cost, when one release of the gradient has this noise."""
    best: tuple[float, Descent] | None = None
    for momentum in MOMENTA:
        lengths = LENGTHS * (1 + momentum) / (smoothness + alpha)
        for descent, (shrinkage, variance) in descent_shares(imagined, alpha, lengths, momentum, MARKS).items():
            cost = imagined.share(shrinkage, variance * descent.steps * noise * noise)
            if best is None or cost < best[0]:
                best = cost, descent
    assert best is not None  # noqa: S101 - the grid is not empty
    return best[1], best[0]


def _settled(sensitivity: float, mu: float, steps: int, budget: Budget) -> tuple[float, Curve]:
    """Return the noise of one step, raised until the curve of this very scale meets the budget."""
    scale, growth = math.sqrt(steps) * sensitivity / mu, 1e-15
    while True:
        curve = PricedCurve(GaussianCurve(math.sqrt(steps) * sensitivity / scale), steps)
        if curve.delta(budget.epsilon) <= budget.delta:
            return scale, curve
        scale, growth = scale * (1 + growth), 2 * growth
