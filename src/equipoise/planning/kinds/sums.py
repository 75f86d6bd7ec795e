"""Least squares from noisy sums: release the sums that the solution needs, solve for free."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from equipoise.certify.claims import LARGEST_SCALE, SMALLEST_SCALE, Noise, Trained
from equipoise.certify.claims.sums import Functional, NoisySums, Products, Solution, least_squares, sums_of
from equipoise.certify.theorems.base import ROUNDING_MARGIN
from equipoise.errors import BudgetImpossible
from equipoise.planning.kinds.base import FEW_ROWS, REACH, WEAK, Extreme, Plan, Planner, require
from equipoise.planning.laws import Calibration, calibrations, deviation_of, quietest
from equipoise.planning.reference import of_problem, ridge_share
from equipoise.planning.request import Request
from equipoise.planning.words import Section, number
from equipoise.planning.work import work_in
from equipoise.vocabulary.constants import constants, rounding_unit
from equipoise.vocabulary.facts import Bound, Budget, Hypothesis, Problem


class ProductsPlanner(Planner[Products]):
    """Noise on the sums ``sum x x'`` and ``sum y x`` at once, then least squares with an adaptive ridge (SSP).

    After Wang 2018 (AdaSSP), for one row replaced. The ridge is what brings the noisy matrix's smallest eigenvalue up
    to the size of its noise; being computed from what was released, it costs nothing.
    """

    claim: ClassVar[type[Trained]] = Products
    words: ClassVar[str] = "noise on sums of products"
    place: ClassVar[str] = "sum"
    changes: ClassVar[str] = "sums change by at most (L2)"

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan."""
        self.no_parameter(parameter)
        problem, hypotheses = _least_squares(request)
        weight = problem.row_norm / problem.domain.label_bound
        imagined, columns = of_problem(problem, request.n_features), problem.dimension(request.n_features)
        reach = problem.domain.radius or REACH * imagined.norm
        open_claim = Products(
            budget=request.budget,
            n_samples=request.n_samples,
            problem=problem,
            n_features=request.n_features,
            noise=Noise("gaussian", 1.0, sums_of(problem, request.n_features)),
            sensitivity=1.0,
            theorem="SSP",
            procedure=Solution(0.0, reach),
            moment_weight=weight,
        )
        sensitivity, count = moved(open_claim), open_claim.noise.dimension
        chosen = quietest(sensitivity, count, request.budget, "auto")
        ridge = math.sqrt(2 * columns) * chosen.deviation / request.n_samples
        # The gradient 2 (G w - m)/n feels the noise of m, and that of G through the weights.
        tilt = 2 * chosen.deviation * math.hypot(1 / weight, imagined.norm / math.sqrt(2)) / request.n_samples
        yield Plan(
            claim=replace(
                open_claim,
                noise=Noise(chosen.law, chosen.scale, count),
                sensitivity=sensitivity,
                procedure=Solution(ridge, reach),
            ),
            share=ridge_share(imagined, 2 * ridge, tilt, 0.0),
            noise=ridge_share(imagined, 2 * ridge, tilt, 0.0) - ridge_share(imagined, 2 * ridge, 0.0, 0.0),
            bounds=(Bound("SSP", True, sensitivity, hypotheses),),
            candidates=calibrations(sensitivity, count, request.budget, "auto"),
        )

    def extreme(self, budget: Budget, n_features: int, parameter: str) -> Extreme:
        """Return a ridge that leaves the noise of the sums in the weights."""
        return Extreme(WEAK, FEW_ROWS)

    def work(self, claim: Products, parts: Sequence[float]) -> float:
        """Return what sums of products of columns meet."""
        return _work(claim)

    def how(self, claim: Products, bounds: tuple[Bound, ...]) -> Section:
        """Say what one row changes, and what the sums are used for."""
        weighted = f"Sums with the target are multiplied by {number(claim.moment_weight)} beside the others."
        return _how(claim, "L2", (weighted,))

    def entered(self, claim: Products) -> str:
        """Say what the noise entered."""
        return f"each of {claim.noise.dimension:,} sums of products of columns"


class FunctionalPlanner(Planner[Functional]):
    """Zhang et al. 2012 with the sensitivity corrected: noise on the coefficients of ``w_j`` and ``w_j w_l`` (E7).

    Coordinate noise calibrated to an L1 sensitivity that grows with the number of columns: a baseline.
    """

    claim: ClassVar[type[Trained]] = Functional
    words: ClassVar[str] = "noise on the objective's coefficients"
    place: ClassVar[str] = "coefficient"
    changes: ClassVar[str] = "coefficients change by at most (L1)"

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan."""
        self.no_parameter(parameter)
        problem, hypotheses = _least_squares(request)
        imagined = of_problem(problem, request.n_features)
        reach = problem.domain.radius or REACH * imagined.norm
        open_claim = Functional(
            budget=request.budget,
            n_samples=request.n_samples,
            problem=problem,
            n_features=request.n_features,
            noise=Noise("laplace", 1.0, sums_of(problem, request.n_features)),
            sensitivity=1.0,
            theorem="E7",
            procedure=Solution(0.0, reach),
        )
        sensitivity = moved(open_claim)
        scale = math.nextafter(sensitivity / request.budget.epsilon * (1 + 1e-15), math.inf)
        if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
            raise BudgetImpossible(
                "the functional mechanism", f"noise of scale {scale:g}", "change the units or epsilon"
            )
        noise = replace(open_claim.noise, scale=scale)
        deviation = deviation_of(noise)
        # Diagonal coefficients carry the noise once, cross coefficients half of it, the linear ones once.
        tilt = deviation * math.hypot(1.0, imagined.norm) / request.n_samples
        ridge = 4 * deviation / request.n_samples
        yield Plan(
            claim=replace(open_claim, noise=noise, sensitivity=sensitivity, procedure=Solution(ridge, reach)),
            share=ridge_share(imagined, 2 * ridge, tilt, 0.0),
            noise=ridge_share(imagined, 2 * ridge, tilt, 0.0) - ridge_share(imagined, 2 * ridge, 0.0, 0.0),
            bounds=(Bound("E7", True, sensitivity, hypotheses),),
            candidates=(Calibration("laplace", scale, deviation),),
        )

    def extreme(self, budget: Budget, n_features: int, parameter: str) -> Extreme:
        """Return a ridge that leaves the noise of the sums in the weights."""
        return Extreme(WEAK, FEW_ROWS)

    def work(self, claim: Functional, parts: Sequence[float]) -> float:
        """Return what sums of products of columns meet."""
        return _work(claim)

    def how(self, claim: Functional, bounds: tuple[Bound, ...]) -> Section:
        """Say what one row changes, and what the coefficients are used for."""
        return _how(claim, "L1", ())

    def entered(self, claim: Functional) -> str:
        """Say what the noise entered."""
        return f"each of {claim.noise.dimension:,} coefficients of the objective"


def moved(claim: NoisySums) -> float:
    """Return how far one row moves the sums of a claim, rounding included."""
    unit = rounding_unit(claim.n_samples, claim.noise.dimension) * claim.n_samples
    return claim.movement(unit) * (1 + ROUNDING_MARGIN)


def _work(claim: NoisySums) -> float:
    """Return as many passes' work as there are sums a column: every column meets the others."""
    return work_in(claim.setting(), claim.noise.dimension / claim.n_features)


def _how(claim: NoisySums, norm: str, lines: tuple[str, ...]) -> Section:
    title = (
        f"What does one row change? Sums of products of columns, by at most {number(claim.sensitivity)} ({norm}), "
        f"by {claim.theorem}."
    )
    solved = f"Their noise is met by a ridge of {number(claim.procedure.ridge)}, computed from what was released."
    return title, (*lines, solved)


def _least_squares(request: Request) -> tuple[Problem, tuple[Hypothesis, ...]]:
    """Return the problem, with a ridge worth one row unless alpha was given, and the conditions of such methods."""
    problem = request.problem(1.0)
    hypotheses = tuple(least_squares(problem, request.n_features))
    require(hypotheses, "a release of sums of products")
    alpha = constants(problem, 1.0).smoothness / request.n_samples if isinstance(request.alpha, str) else request.alpha
    return request.problem(alpha), hypotheses
