"""A toy: output perturbation, with weights rounded to a public grid."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import ClassVar

from equipoise.certify.claims import Noise, Trained
from equipoise.certify.claims.toy_coarse import ToyCoarse
from equipoise.planning.kinds.base import Plan
from equipoise.planning.kinds.output import OutputPlanner
from equipoise.planning.request import Request

GRID = 2.0**-10


class ToyCoarsePlanner(OutputPlanner):
    """Noise on the weights, which are rounded afterwards."""

    claim: ClassVar[type[Trained]] = ToyCoarse
    words: ClassVar[str] = "noise on the weights, rounded to a grid"

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the plan of output perturbation, with a grid."""
        for plan in super().plans(replace(request, mechanism="output"), None):
            found = {field.name: getattr(plan.claim, field.name) for field in fields(plan.claim)}
            yield replace(plan, claim=ToyCoarse(**found, grid=GRID if parameter is None else parameter))

    def noise_of_a_weight(self, claim: ToyCoarse) -> Noise | None:
        """Return nothing: a rounded weight carries no noise of a known law."""
        return None

    def noise_words(self, claim: ToyCoarse, deviation: float | None) -> str:
        """Say that weights are rounded."""
        return f"Each released weight carries noise and is a multiple of {claim.grid:g}."
