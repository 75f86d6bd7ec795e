"""The functional mechanism for least squares: Laplace noise on every coefficient of the objective."""

import math
from collections.abc import Iterator
from typing import ClassVar

from equipoise.certify.claims import Noise
from equipoise.certify.claims.sums import Functional as Claim
from equipoise.certify.claims.sums import Solution
from equipoise.errors import BudgetImpossible
from equipoise.proof.curves import PureCurve
from equipoise.proof.mechanisms import LARGEST_SCALE, SMALLEST_SCALE, Calibration, named
from equipoise.proof.reference import of_problem, ridge_share
from equipoise.proof.request import Request
from equipoise.proof.routes.base import Plan, Procedure, Route
from equipoise.proof.routes.sufficient_statistics import least_squares, reach_of
from equipoise.proof.theorems.approximate import ROUNDING_MARGIN
from equipoise.vocabulary.constants import constants, rounding_unit
from equipoise.vocabulary.facts import Bound


class Functional(Route):
    """Zhang et al. 2012 with the sensitivity corrected: noise on the coefficients of ``w_j`` and ``w_j w_l`` (E7).

    Coordinate noise calibrated to an L1 sensitivity that grows with the number of columns: a baseline.
    """

    id: ClassVar[str] = "functional"
    words: ClassVar[str] = "noise on the objective's coefficients"

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan."""
        self.no_parameter(parameter)
        problem, hypotheses, columns = least_squares(request)
        sums = columns * (columns + 1) // 2 + columns
        exact = coefficient_sensitivity(problem.row_norm, problem.domain.label_bound, columns)
        rounding = rounding_unit(request.n_samples, sums) * request.n_samples * exact
        sensitivity = (exact + 2 * rounding) * (1 + ROUNDING_MARGIN)
        scale = math.nextafter(sensitivity / request.budget.epsilon * (1 + 1e-15), math.inf)
        if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
            raise BudgetImpossible(
                "the functional mechanism", f"noise of scale {scale:g}", "change the units or epsilon"
            )
        deviation = math.sqrt(2) * scale
        imagined = of_problem(problem, request.n_features)
        # Diagonal coefficients carry the noise once, cross coefficients half of it, the linear ones once.
        tilt = deviation * math.hypot(1.0, imagined.norm) / request.n_samples
        ridge = 4 * deviation / request.n_samples
        yield Plan(
            route=self.id,
            loss=problem.loss.name,
            alpha=problem.penalty.alpha,
            constants=constants(problem),
            tolerance=0.0,
            bounds=(Bound("E7", True, sensitivity, hypotheses),),
            theorem="E7",
            sensitivity=None,
            dimension=sums,
            candidates=(Calibration("laplace", scale, deviation),),
            mechanism="laplace",
            noise_scale=scale,
            noise_deviation=deviation,
            curve=PureCurve(sensitivity / scale),
            rounding=named("laplace").rounding(sums),
            excess_risk=math.inf,
            share=ridge_share(imagined, 2 * ridge, tilt, 0.0),
            procedure=Procedure(reach=reach_of(problem, imagined.norm), ridge=ridge),
            claim=Claim(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise("laplace", scale, sums),
                sensitivity=sensitivity,
                theorem="E7",
                procedure=Solution(ridge, reach_of(problem, imagined.norm)),
            ),
        )


def coefficient_sensitivity(row_norm: float, label_bound: float, columns: int) -> float:
    """Return ``2 (2 Y s + s^2)``, ``s = sqrt(d) B``: the L1 change of all coefficients when one row is replaced (E7).

    Examples
    --------
    >>> round(coefficient_sensitivity(1.0, 1.0, 14), 2)
    42.97
    """
    length = math.sqrt(columns) * row_norm
    return 2 * (2 * label_bound * length + length**2) * (1 + 1e-14)
