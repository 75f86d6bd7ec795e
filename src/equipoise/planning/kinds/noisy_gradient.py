"""Noisy gradient descent: noise in every gradient, and everything after it is free."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from equipoise.certify.claims import LARGEST_SCALE, SMALLEST_SCALE, Noise, Trained
from equipoise.certify.claims.noisy_gradient import Descent, NoisyGradient, clipped_descent
from equipoise.certify.curves import LATTICE_DELTA
from equipoise.errors import BudgetImpossible, InvalidParameter
from equipoise.planning import reference
from equipoise.planning.accounting import accounted
from equipoise.planning.kinds.base import (
    EXACT_STEPS,
    FEW_ROWS,
    REACH,
    WEAK,
    Extreme,
    Plan,
    Planner,
    require,
    require_delta,
)
from equipoise.planning.laws import Calibration
from equipoise.planning.laws.gaussian import largest_mu, settled_scale
from equipoise.planning.losses import known as known_loss
from equipoise.planning.reference import RESOLUTION, WIDE, Reference, common, descents, of_problem
from equipoise.planning.request import Request
from equipoise.planning.words import Section, number
from equipoise.planning.work import NUMBERS_A_DRAW, require_passes, require_work, work_of
from equipoise.vocabulary.constants import constants
from equipoise.vocabulary.facts import Bound, Budget, Problem

# What is considered: how many steps, how much momentum, and step lengths in half octaves of one over the smoothness, up
# to 0.7 of where steps would no longer shrink an error.
MARKS = (2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 200)
MOMENTA = (0.0, 0.9, 0.95)
LENGTHS = tuple(2.0 ** (half / 2) for half in range(-26, 2))

# Steps take time: the fewest are taken whose modelled cost is the least, but for this share of it and what the model
# cannot tell. Small tables deceive the model: where all steps together meet no more numbers than a moment takes, the
# least cost counts alone (docs/mechanisms.md).
SLACK = 0.01
MOMENT = 2e7

# Several classes of wide rows, of which the model loses more than this share of what there is to win: slopes are
# clipped at this part of an untrained model's, so that rows that are nearly right pull as hard as those that are wrong,
# and so many times the steps are taken, because weights that satisfy them are longer. Narrow tables, on whose classes,
# which overlap, it costs accuracy, have a steeper way instead (docs/mechanisms.md#clipped-slopes).
NOISY, SHARP, LONGER = 0.02, 0.25, 2

# The longest number of rows whose batches an audit considers; larger batches are refused as larger than the table.
LONGEST_NUMBER = 4

# With mini-batches, every row is seen about this often.
PASSES = 20


class NoisyGradientPlanner(Planner[NoisyGradient]):
    """Noise in every gradient of a descent with momentum (C5), or of one with mini-batches (C3).

    Each gradient is a sum of rows' gradients, every one clipped, so that one row moves it by at most 2 clip B / n. The
    steps, their projection to a ball, momentum and averages only process what was released.
    """

    claim: ClassVar[type[Trained]] = NoisyGradient
    words: ClassVar[str] = "noise in every gradient"
    place: ClassVar[str] = "coordinate of a gradient"
    changes: ClassVar[str] = "a gradient changes by at most (L2)"

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan: all rows in every step, or batches of the size after the colon."""
        batch = 0 if parameter is None else _batch(parameter, request.n_samples)
        problem, clip = _problem(request, 1.0)
        hypotheses = tuple(clipped_descent(problem, clip))
        require(hypotheses, "noisy gradient descent")
        require_delta(request.budget, "noisy gradient descent", "pass delta > 0, or mechanism='objective'")
        # Clipped at its typical slope, a loss is as curved as its clipped form.
        imagined = of_problem(replace(problem, loss=known_loss(problem.loss).clipped(clip)), request.n_features)
        radius = problem.domain.radius or REACH * imagined.norm * math.sqrt(problem.loss.free_outputs)
        facts = constants(problem, radius)
        mu = largest_mu(request.budget.epsilon, request.budget.delta - LONGER * max(MARKS) * LATTICE_DELTA)
        if mu == 0:
            small = f"delta={request.budget.delta:g}"
            raise BudgetImpossible("noisy gradient descent with a delta that can be met", small, "pass delta=1e-12")
        full = 2 * clip * facts.row_norm / request.n_samples / mu
        at_once = MOMENT / work_of(1, request.rows, request.n_features, problem.loss.outputs)
        descent, share, short = _descent(imagined, problem.penalty.alpha, full, facts.smoothness, at_once)
        if request.filled:
            # Kinds are compared where the share is known, which it is not.
            descent, *_ = _descent(common(imagined), problem.penalty.alpha, full, facts.smoothness, at_once)
        # A ridge that was given is taken as it stands, beside slopes of the usual size.
        wide = problem.loss.outputs > 1 and request.n_features >= WIDE and isinstance(request.alpha, str)
        sharp = SHARP if wide and share > NOISY else 1.0
        if sharp < 1:
            # Slopes, their curvature, their noise and the ridge shrink by the same part, and steps grow by it.
            problem, clip = _problem(request, sharp)
            descent = replace(descent, steps=LONGER * descent.steps, step=descent.step / sharp)
        if batch:
            steps = math.ceil(PASSES * request.n_samples / batch)
            # As far in all as with every row in every step, if steps of that length still shrink an error.
            longest = (1 + descent.momentum) / (sharp * facts.smoothness + problem.penalty.alpha)
            length = min(descent.step * descent.steps / steps, longest)
            descent = replace(descent, steps=steps, step=length)
        passes = descent.steps * (batch or request.n_samples) / request.n_samples
        remedy = "train on fewer rows, or on batches of them"
        require_passes(passes, request.rows, request.n_features, problem.loss.outputs, remedy)
        draws = descent.steps * problem.dimension(request.n_features)
        require_work(NUMBERS_A_DRAW * draws, f"{draws:,} exact draws of noise", "use mechanism='objective'")
        open_claim = NoisyGradient(
            budget=request.budget,
            n_samples=request.n_samples,
            problem=problem,
            n_features=request.n_features,
            noise=Noise("gaussian", 1.0, problem.dimension(request.n_features)),
            sensitivity=1.0,
            theorem="C3" if batch else "C5",
            clip=clip,
            radius=radius,
            steps=descent.steps,
            procedure=Descent(descent.step, descent.momentum, descent.average),
            batch=batch,
        )
        sensitivity = open_claim.movement()
        if batch:
            choices = accounted(request.budget, request.n_samples, descent.steps, batch, sensitivity)
            order, scales = choices[0].order, [(choice.words, sensitivity * choice.multiplier) for choice in choices]
        else:
            order, scales = 0.0, [("gaussian", settled_scale(sensitivity, mu, descent.steps, request.budget))]
        scale = scales[0][1]
        if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
            raise BudgetImpossible("noisy gradient descent", f"noise of scale {scale:g}", "change epsilon or the units")
        noise = replace(open_claim.noise, scale=scale)
        claim = replace(open_claim, sensitivity=sensitivity, noise=noise, order=order)
        yield Plan(
            claim=claim,
            share=share,
            bounds=(Bound(claim.theorem, True, sensitivity, hypotheses),),
            candidates=tuple(Calibration(words, deviation, deviation) for words, deviation in scales),
            clip=clip,
            noise=share - short,
        )

    def extreme(self, budget: Budget, n_features: int, parameter: str) -> Extreme:
        """Return a table of one row more than a batch."""
        counts = parameter.isdecimal() and len(parameter) <= LONGEST_NUMBER
        return Extreme(WEAK, max(FEW_ROWS, int(parameter) + 1) if counts else FEW_ROWS)

    def work(self, claim: NoisyGradient, parts: Sequence[float]) -> float:
        """Return what all steps meet, and their draws of noise cost."""
        rows = (claim.batch or claim.n_samples) * (claim.problem.domain.rows_a_person or 1)
        draws = claim.steps * claim.noise.dimension
        return work_of(claim.steps, rows, claim.n_features, claim.problem.loss.outputs) + NUMBERS_A_DRAW * draws

    def rounding(self, claim: NoisyGradient) -> str:
        """Say that the noise of every step is exact."""
        return EXACT_STEPS

    def how(self, claim: NoisyGradient, bounds: tuple[Bound, ...]) -> Section:
        """Say what one row changes, and how the descent goes."""
        most = number(claim.sensitivity)
        title = f"What does one {claim.unit} change? Every gradient, by at most {most} (L2), by {claim.theorem}."
        rows = f"{claim.batch} {claim.unit}s drawn in secret" if claim.batch else f"all {claim.unit}s"
        shown = "the last weights are" if claim.procedure.average == "last" else "the mean of all weights is"
        return title, (
            f"No row's slope counts for more than {number(claim.clip)}: steeper ones are clipped (B7).",
            f"{claim.steps} steps of length {number(claim.procedure.step)} with momentum "
            f"{number(claim.procedure.momentum)}, each on the noisy gradient of {rows}; {shown} released.",
        )

    def ball(self, claim: NoisyGradient) -> str:
        """Say in which ball the weights are kept."""
        return f"weights are kept in a ball of radius {number(claim.radius)}"

    def entered(self, claim: NoisyGradient) -> str:
        """Say what the noise entered."""
        return f"each coordinate of every one of {claim.steps:,} gradients"


def _batch(parameter: float, n_samples: int) -> int:
    if not 1 <= parameter <= n_samples or parameter != int(parameter):
        raise InvalidParameter(
            f"a whole batch size from 1 to n = {n_samples}",
            f"noisy-gradient:{parameter:g}",
            "write noisy-gradient:256, or noisy-gradient for all rows in every step",
        )
    # A batch of all rows is no sample.
    return 0 if parameter == n_samples else int(parameter)


def _problem(request: Request, sharp: float) -> tuple[Problem, float]:
    """Return the problem, with a ridge worth one row unless alpha was given, and the clip: this part of a slope."""
    problem = request.problem(1.0)
    if isinstance(request.alpha, str):
        one_row = constants(problem, 1.0).smoothness / request.n_samples
        alpha = sharp * one_row if math.isfinite(one_row) else 1.0
    else:
        alpha = request.alpha
    return request.problem(alpha), sharp * known_loss(problem.loss).typical_slope(problem.domain.label_bound)


def _descent(
    imagined: Reference, alpha: float, noise: float, smoothness: float, at_once: float
) -> tuple[reference.Descent, float, float]:
    """Return a descent of small modelled cost and few steps, when one release of the gradient has this noise.

    The last number is what it would cost without noise.
    """
    import numpy as np

    cheapest: dict[int, tuple[float, reference.Descent, float]] = {}
    for momentum in MOMENTA:
        lengths = tuple(length * (1 + momentum) / (smoothness + alpha) for length in LENGTHS)
        found = descents(imagined, alpha, lengths, momentum, MARKS)
        steps = np.array([way.steps for way in found.ways])
        # What leaves the doubles has an infinite cost.
        with np.errstate(all="ignore"):
            costs = imagined.shares(found.shrinkage, found.variance * (steps * noise * noise)[:, None])
        for mark in MARKS:
            among = np.flatnonzero(steps == mark)
            place = among[np.argmin(costs[among])]
            if mark not in cheapest or costs[place] < cheapest[mark][0]:
                short = imagined.share(found.shrinkage[place].tolist(), 0.0)
                cheapest[mark] = float(costs[place]), found.ways[place], short
    least = min(cost for cost, _, _ in cheapest.values())
    enough = min(mark for mark, (cost, _, _) in cheapest.items() if cost <= least * (1 + SLACK) + RESOLUTION)
    share, descent, short = min(
        (entry for mark, entry in cheapest.items() if mark == enough or mark <= at_once), key=lambda entry: entry[0]
    )
    return descent, share, short
