"""A toy: output perturbation, with weights rounded to a public grid."""

from ...vocabulary.facts import Conditions
from .base import holds
from .output import Output


class ToyCoarse(Output):
    """Noisy weights, rounded to multiples of `grid`: what is done to a release costs nothing (N3)."""

    kind = "toy-coarse"

    grid: float = 0.01

    def conditions(self) -> Conditions:
        """Yield those of output perturbation, and that there is a grid."""
        yield from super().conditions()
        yield holds(f"a grid of width {self.grid:.9g}", self.grid > 0)
