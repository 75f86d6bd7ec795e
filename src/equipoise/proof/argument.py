"""The argument: from a request to a bound, a mechanism, a noise scale and a curve, before any row is read."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from equipoise.proof.curves import AfterPure
from equipoise.proof.mechanisms import Calibration
from equipoise.proof.public_alpha import WEIGHT_GUESS, guessed_norm
from equipoise.proof.request import Request
from equipoise.proof.routes import PLAIN, Choice, Procedure, choose
from equipoise.vocabulary.facts import Adjacency, Bound, Constants, Recipe

Grade = Literal["proved", "conditional"]

ROWS_AS_GIVEN = "covers the rows as given: preprocessing, selection and scores that looked at the data are not covered"
DOUBLE_PRECISION = "the noise comes from NumPy's generator in double precision, which Mironov's attack can undo"
SEEDED = "seeded: for experiments, not for release"
NOT_RECORDED = "not recorded: no ledger keeps this spend"
SCORES = "scores and choices that looked at the data are not covered"
SELECTION = (
    "this fit is one spend; selecting the columns whose released weight is beyond the public threshold {rule} is free "
    "(F3); a private step trained on them afterwards reads the same rows again: another spend, not covered here"
)
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
    sensitivity: float | None
    dimension: int
    candidates: tuple[Calibration, ...]
    mechanism: str
    noise_scale: float
    noise_deviation: float
    curve: tuple[CurvePoint, ...]
    caveats: tuple[str, ...]
    route: str = "output"
    loss: str = ""
    procedure: Procedure = PLAIN
    cost: float = 0.0
    menu: tuple[Choice, ...] = ()
    bounds_scale: float = 0.0
    recipe: Recipe | None = None


# What a request records, but no plan depends on: repeated runs need not be planned anew.
_NO_SAY: Any = {"public_seed": 0, "seeded": False, "ledger": None, "schema": "", "vouched": "", "selection": ""}

_chosen = lru_cache(maxsize=1024)(choose)


def forget() -> None:
    """Forget every argument that was derived: for tests that change what follows."""
    derive.cache_clear()
    _chosen.cache_clear()


@lru_cache(maxsize=1024)
def derive(request: Request) -> Argument:
    """Walk the first half of the house: constants, theorems, route, noise, curve.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget, Domain
    >>> argument = derive(Request("logistic", "l2", 0.1, Domain(1.0, classes=(0, 1)), 0.0, 1000, 3, Budget(1.0)))
    >>> argument.theorem, argument.mechanism, argument.grade
    ('A2+A4', 'spherical-laplace', 'proved')
    """
    plan, menu = _chosen(replace(request.for_the_model(), **_NO_SAY))
    epsilon = request.budget.epsilon
    curve = plan.curve if request.private_bounds is None else AfterPure(plan.curve, request.private_bounds.epsilon)
    assumptions = _assumptions(request, plan.assumptions)
    return Argument(
        adjacency=Adjacency.REPLACE_ONE.value,
        grade="conditional" if assumptions else "proved",
        assumptions=assumptions,
        alpha=plan.alpha,
        weight_guess=WEIGHT_GUESS,
        comparator_norm=guessed_norm(request.problem(plan.alpha)),
        excess_risk=plan.excess_risk,
        constants=plan.constants,
        tolerance=plan.tolerance,
        bounds=plan.bounds,
        theorem=plan.theorem,
        sensitivity=plan.sensitivity,
        dimension=plan.dimension,
        candidates=plan.candidates,
        mechanism=plan.mechanism,
        noise_scale=plan.noise_scale,
        noise_deviation=plan.noise_deviation,
        curve=tuple(CurvePoint(level, curve.delta(level)) for level in (epsilon / 2, epsilon, 2 * epsilon)),
        caveats=_caveats(request, DOUBLE_PRECISION if request.seeded else plan.rounding),
        route=plan.route,
        loss="" if plan.loss == request.loss else plan.loss,
        procedure=plan.procedure,
        # Certificates that asked for noise on the output before there was a menu carry no cost.
        cost=0.0 if plan.route == "output" and not menu else plan.share,
        menu=menu,
        bounds_scale=0.0 if request.private_bounds is None else request.private_bounds.scale,
        recipe=plan.recipe,
    )


def _assumptions(request: Request, planned: tuple[str, ...]) -> tuple[str, ...]:
    found = list(planned)
    if request.domain.classes == "observed" or request.observed_classes:
        found.append('the label set found in the data is public (classes="observed")')
    if request.seeded:
        found.append("the seed of the noise is secret and random, and its double-precision noise is as good as exact")
    return tuple(found)


def _caveats(request: Request, rounding: str) -> tuple[str, ...]:
    found = [_covered(request), rounding, RUNNING_TIME]
    if request.selection:
        found.append(SELECTION.format(rule=request.selection))
    if request.seeded:
        found.append(SEEDED)
    if request.ledger is None:
        found.append(NOT_RECORDED)
    return tuple(found)


def _covered(request: Request) -> str:
    if not request.schema:
        return ROWS_AS_GIVEN
    return (
        f"covers raw rows as the schema {request.schema[:16]} encodes them, whose facts {request.vouched} vouches for; "
        f"{SCORES}"
    )
