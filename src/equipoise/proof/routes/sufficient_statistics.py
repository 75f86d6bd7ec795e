"""Noisy sufficient statistics for least squares: release the sums that the solution needs, solve for free."""

import math
from collections.abc import Iterator
from typing import ClassVar

from equipoise.certify.claims import Noise
from equipoise.certify.claims.sums import Products, Solution
from equipoise.errors import NoTheoremApplies
from equipoise.proof.mechanisms import calibrations, named, quietest
from equipoise.proof.reference import of_problem, ridge_share
from equipoise.proof.request import Request
from equipoise.proof.routes.base import REACH, Plan, Procedure, Route
from equipoise.proof.theorems.approximate import ROUNDING_MARGIN
from equipoise.vocabulary.constants import constants, rounding_unit
from equipoise.vocabulary.facts import Bound, Hypothesis, Problem

# Beyond this many sums their noise drowns everything, and drawing it takes longer than any fit.
MOST_SUMS = 200_000


class SufficientStatistics(Route):
    """Noise on the sums ``sum x x'`` and ``sum y x`` at once, then least squares with an adaptive ridge (SSP).

    After Wang 2018 (AdaSSP), for one row replaced. The ridge is what brings the noisy matrix's smallest eigenvalue up
    to the size of its noise; being computed from what was released, it costs nothing.
    """

    id: ClassVar[str] = "sufficient-statistics"
    words: ClassVar[str] = "noise on sums of products"

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan."""
        self.no_parameter(parameter)
        problem, hypotheses, columns = least_squares(request)
        norm, bound = problem.row_norm, problem.domain.label_bound
        weight = norm / bound
        sums = columns * (columns + 1) // 2 + columns
        rounding = rounding_unit(request.n_samples, sums) * request.n_samples * norm * math.hypot(norm, weight * bound)
        sensitivity = (joint_sensitivity(norm, bound, weight) + 2 * rounding) * (1 + ROUNDING_MARGIN)
        chosen = quietest(sensitivity, sums, request.budget, "auto")
        law = named(chosen.mechanism)
        ridge = math.sqrt(2 * columns) * chosen.deviation / request.n_samples
        imagined = of_problem(problem, request.n_features)
        # The gradient 2 (G w - m)/n feels the noise of m, and that of G through the weights.
        tilt = 2 * chosen.deviation * math.hypot(1 / weight, imagined.norm / math.sqrt(2)) / request.n_samples
        yield Plan(
            route=self.id,
            loss=problem.loss.name,
            alpha=problem.penalty.alpha,
            constants=constants(problem),
            tolerance=0.0,
            bounds=(Bound("SSP", True, sensitivity, hypotheses),),
            theorem="SSP",
            sensitivity=sensitivity,
            dimension=sums,
            candidates=calibrations(sensitivity, sums, request.budget, "auto"),
            mechanism=chosen.mechanism,
            noise_scale=chosen.scale,
            noise_deviation=chosen.deviation,
            curve=law.curve(sensitivity, sums, chosen.scale),
            rounding=law.rounding(sums),
            excess_risk=math.inf,
            share=ridge_share(imagined, 2 * ridge, tilt, 0.0),
            procedure=Procedure(reach=reach_of(problem, imagined.norm), moment_weight=weight, ridge=ridge),
            claim=Products(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise(chosen.mechanism, chosen.scale, sums),
                sensitivity=sensitivity,
                theorem="SSP",
                procedure=Solution(ridge, reach_of(problem, imagined.norm)),
                moment_weight=weight,
            ),
        )


def joint_sensitivity(row_norm: float, label_bound: float, weight: float) -> float:
    """Return the largest change of ``(x x', weight * y x)`` in L2 when one row is replaced (SSP, attained).

    ``sqrt(2 B^4 (1 - c^2) + 2 t^2 B^2 Y^2 (1 + c))`` with ``c = min(1, t^2 Y^2 / (2 B^2))``.

    Examples
    --------
    >>> round(joint_sensitivity(1.0, 1.0, 1.0), 6)
    2.12132
    """
    ratio = (weight * label_bound / row_norm) ** 2
    cosine = min(1.0, ratio / 2)
    return row_norm**2 * math.sqrt(2 * (1 - cosine**2) + 2 * ratio * (1 + cosine)) * (1 + 1e-14)


def least_squares(request: Request) -> tuple[Problem, tuple[Hypothesis, ...], int]:
    """Return the problem, the conditions of methods that release sums of products, and the number of columns."""
    problem = request.problem(1.0)
    columns = request.n_features + (1 if problem.intercept > 0 else 0)
    hypotheses = (
        Hypothesis("the loss is the squared one", problem.loss.id == "squared", "use Ridge, or mechanism='objective'"),
        Hypothesis("the penalty is a ridge", problem.penalty.id == "l2", "use an L2 penalty, or mechanism='output'"),
        Hypothesis(
            f"there are at most {MOST_SUMS:,} sums of products",
            columns * (columns + 3) // 2 <= MOST_SUMS,
            "use fewer columns, or mechanism='objective'",
        ),
    )
    if missing := [hypothesis for hypothesis in hypotheses if not hypothesis.holds]:
        remedies = "; ".join(hypothesis.remedy for hypothesis in missing)
        raise NoTheoremApplies("a release of sums of products", "hypotheses that do not hold", remedies)
    # A ridge worth one row, unless alpha was given.
    alpha = constants(problem, 1.0).smoothness / request.n_samples if isinstance(request.alpha, str) else request.alpha
    return request.problem(alpha), hypotheses, columns


def reach_of(problem: Problem, norm: float) -> float:
    """Return the radius of the ball that solutions are projected to."""
    return problem.domain.radius or REACH * norm
