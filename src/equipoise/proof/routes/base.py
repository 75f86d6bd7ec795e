"""What every route says about itself: where noise enters, and a plan worked out from public facts."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.errors import InvalidParameter
from equipoise.proof.curves import Curve
from equipoise.proof.dropout import CurvatureRule
from equipoise.proof.mechanisms import Calibration
from equipoise.proof.reference import Average
from equipoise.proof.request import Request
from equipoise.vocabulary.facts import Bound, Constants, Recipe

# The ball in which a route keeps the weights reaches this many times as far as the reference weights: far enough that
# it hardly ever binds, near enough that rounding stays small.
REACH = 8.0


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a localisation (K1): fresh rows, a step length, the noise that hides one of its rows.

    `alpha` is the ridge around the phase's start and `tolerance` where its solver stops, for losses with corners; both
    are 0 where a descent serves a smooth one.
    """

    rows: int
    step: float
    sensitivity: float
    noise_scale: float
    alpha: float = 0.0
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Procedure:
    """What the door does beyond minimising and adding noise; every number is public.

    Parameters
    ----------
    clip : float, optional
        The largest size of a row's slope; None leaves slopes as they are.
    reach : float, optional
        The radius of the ball in which the weights are kept; None for no ball but the domain's.
    finishing_epsilon, finishing_scale : float
        Objective perturbation: the share of epsilon, and the scale of the spherical noise, that hide where the solver
        stopped.
    steps, step, momentum, average, batch
        Noisy gradient: how many steps, of what length, with how much momentum, which iterate is released ("last" or
        "uniform", the mean of all), and how many rows a step sees (0 for all).
    moment_weight : float
        Sufficient statistics: the factor of the targets' products beside the rows' products.
    ridge : float
        Sufficient statistics and functional mechanism: the curvature that the noisy matrix is brought up to.
    projection : int
        How many public random directions every row is reduced to before anything else (P1); 0 for no reduction.
    stream : bool
        Whether the noise of the steps comes from a cryptographic stream, in double precision.
    phases : tuple of Phase
        Phased localisation: what each phase does, in order.
    curvature : CurvatureRule, optional
        Dropout: how the data's curvature is released first, and what follows from it.
    """

    clip: float | None = None
    reach: float | None = None
    finishing_epsilon: float = 0.0
    finishing_scale: float = 0.0
    steps: int = 0
    step: float = 0.0
    momentum: float = 0.0
    average: Average = "last"
    batch: int = 0
    moment_weight: float = 0.0
    ridge: float = 0.0
    projection: int = 0
    stream: bool = False
    phases: tuple[Phase, ...] = ()
    curvature: CurvatureRule | None = None


# Nothing beyond minimising and adding noise.
PLAIN = Procedure()


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to spend the budget, worked out in full. `share` is its modelled cost (reference.py)."""

    route: str
    loss: str
    alpha: float
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
    curve: Curve
    rounding: str
    excess_risk: float
    share: float
    procedure: Procedure
    recipe: Recipe | None = None
    assumptions: tuple[str, ...] = ()
    claim: Claim | None = None


class Route(ABC):
    """Where the noise enters, and what follows from it.

    A route is asked for by its id, and some take a number after a colon. `plans` yields one plan, or several that the
    automatic choice may prefer to each other; it raises an error with a remedy when the route cannot serve the request.
    """

    id: ClassVar[str]
    words: ClassVar[str]
    # Whether the weights come from a solver; routes that follow a recipe are asked for by estimators of their own.
    minimises: ClassVar[bool] = True

    @abstractmethod
    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield plans, the one that is taken when nothing else is considered first."""

    def no_parameter(self, parameter: float | None) -> None:
        """Refuse a parameter."""
        if parameter is not None:
            raise InvalidParameter(
                f"mechanism={self.id!r} without a number", f"{self.id}:{parameter:g}", f"write mechanism={self.id!r}"
            )
