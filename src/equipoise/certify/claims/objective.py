"""Objective perturbation: the minimiser of a randomly tilted objective, with a little noise on top."""

from ...vocabulary.discovery import look_up
from ...vocabulary.facts import Conditions, Setting
from .. import laws, theorems
from ..curves import Curve, SumCurve
from ..theorems.perturbation import SUFFIX, Perturbation, finishing, finishing_sensitivity, in_ball
from ..work import within
from .base import Noise, Trained, holds


class Objective(Trained):
    """``argmin F(w) + <b, w>/n`` over a ball: `noise` is that of b, and `finish` hides where the solver stopped (E4).

    `finishing_epsilon` pays for the latter. With a `projection`, rows were first reduced to so many public random
    directions, which are then the columns that the claim speaks of (P1).
    """

    kind = "objective"
    units = ("row", "person")

    theorem: str  # type: ignore[misc] # recorded here
    radius: float
    tolerance: float
    finish: Noise
    finishing_epsilon: float
    projection: int = 0
    passes: int | None = None

    @property
    def relies(self) -> str:  # type: ignore[override] # read-only, as all of a record
        """The theorem on projected rows, where they are."""
        return "P1" if self.projection else ""

    def setting(self) -> Setting:
        """Return the problem over the public ball."""
        return in_ball(self.problem, self.radius, self.tolerance, self.n_samples, self.n_features)

    def perturbation(self) -> Perturbation:
        """Return the theorem on the exact minimiser."""
        return look_up(theorems.perturbations(), self.theorem.removesuffix(SUFFIX), "theorem")()

    def curve(self) -> Curve:
        """Return the curve of the tilted minimiser, after what the finish costs."""
        tilted = self.perturbation().curve(self.setting(), laws.named(self.law), self.scale)
        return SumCurve(((1.0, tilted, self.finishing_epsilon),))

    def conditions(self) -> Conditions:
        """Yield the theorem's hypotheses, those of E4, and that tilt and finish are within the budget."""
        where, theorem = self.setting(), self.perturbation()
        yield holds("E4 carries the theorem to what a solver returns", self.theorem == theorem.id + SUFFIX)
        yield from theorem.hypotheses(where, laws.named(self.law))
        yield from finishing(where, self.scale)
        yield from within(where, self.passes)
        hidden = self.finish.curve(finishing_sensitivity(where)).delta(self.finishing_epsilon) == 0
        claim = f"the finish hides 2 tau / alpha for epsilon {self.finishing_epsilon:.9g}, for certain"
        yield holds(claim, hidden and self.finish.dimension == where.dimension)
        yield self.finish.drawable()
        yield holds("the claim is about the directions", self.projection in (0, self.n_features))
        yield from self.covered(where.dimension)
