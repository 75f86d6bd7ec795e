"""The argument: from a request to a bound, a mechanism, a noise scale and a curve, before any row is read."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from equipoise.proof.mechanisms import Calibration, calibrations, named, quietest
from equipoise.proof.public_alpha import WEIGHT_GUESS, excess_risk, guessed_norm, planned_setting, public_alpha
from equipoise.proof.request import Request
from equipoise.proof.theorems import bounds, smallest
from equipoise.vocabulary.facts import Adjacency, Bound, Constants

Grade = Literal["proved", "conditional"]

ROWS_AS_GIVEN = "covers the rows as given: preprocessing, selection and scores that looked at the data are not covered"
DOUBLE_PRECISION = "the noise comes from NumPy's generator in double precision, which Mironov's attack can undo"
SEEDED = "seeded: for experiments, not for release"
NOT_RECORDED = "not recorded: no ledger keeps this spend"
RUNNING_TIME = "the running time of a fit is not covered"


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of the privacy curve."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class Argument:
    """Everything that follows from a request. `verify` derives it again and compares field by field."""

    adjacency: str
    grade: Grade
    assumptions: tuple[str, ...]
    alpha: float
    weight_guess: float
    comparator_norm: float
    excess_risk: float
    constants: Constants
    tolerance: float
    bounds: tuple[Bound, ...]
    theorem: str
    sensitivity: float
    dimension: int
    candidates: tuple[Calibration, ...]
    mechanism: str
    noise_scale: float
    noise_deviation: float
    curve: tuple[CurvePoint, ...]
    caveats: tuple[str, ...]


@lru_cache(maxsize=1024)
def derive(request: Request) -> Argument:
    """Walk the first half of the house: constants, theorems, mechanism, curve.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget, Domain
    >>> argument = derive(Request("logistic", "l2", 0.1, Domain(1.0, classes=(0, 1)), 0.0, 1000, 3, Budget(1.0)))
    >>> argument.theorem, argument.mechanism, argument.grade
    ('A2+A4', 'spherical-laplace', 'proved')
    """
    alpha = public_alpha(request) if isinstance(request.alpha, str) else request.alpha
    problem = request.problem(alpha)
    situation = planned_setting(problem, request.n_samples, request.n_features, request.budget.epsilon)
    dimension = problem.dimension(request.n_features)
    sensitivity = smallest(situation).sensitivity
    chosen = quietest(sensitivity, dimension, request.budget, request.mechanism)
    mechanism = named(chosen.mechanism)
    curve = mechanism.curve(sensitivity, dimension, chosen.scale)
    epsilon = request.budget.epsilon
    assumptions = _assumptions(request)
    norm = guessed_norm(problem)
    return Argument(
        adjacency=Adjacency.REPLACE_ONE.value,
        grade="conditional" if assumptions else "proved",
        assumptions=assumptions,
        alpha=alpha,
        weight_guess=WEIGHT_GUESS,
        comparator_norm=norm,
        excess_risk=excess_risk(situation, chosen, norm),
        constants=situation.constants,
        tolerance=situation.recipe.tolerance,
        bounds=bounds(situation),
        theorem=smallest(situation).theorem,
        sensitivity=sensitivity,
        dimension=dimension,
        candidates=calibrations(sensitivity, dimension, request.budget, request.mechanism),
        mechanism=chosen.mechanism,
        noise_scale=chosen.scale,
        noise_deviation=chosen.deviation,
        curve=tuple(CurvePoint(level, curve.delta(level)) for level in (epsilon / 2, epsilon, 2 * epsilon)),
        caveats=_caveats(request, DOUBLE_PRECISION if request.seeded else mechanism.rounding(dimension)),
    )


def _assumptions(request: Request) -> tuple[str, ...]:
    found = []
    if request.domain.classes == "observed" or request.observed_classes:
        found.append('the label set found in the data is public (classes="observed")')
    if request.seeded:
        found.append("the seed of the noise is secret and random, and its double-precision noise is as good as exact")
    return tuple(found)


def _caveats(request: Request, rounding: str) -> tuple[str, ...]:
    found = [ROWS_AS_GIVEN, rounding, RUNNING_TIME]
    if request.seeded:
        found.append(SEEDED)
    if request.ledger is None:
        found.append(NOT_RECORDED)
    return tuple(found)
