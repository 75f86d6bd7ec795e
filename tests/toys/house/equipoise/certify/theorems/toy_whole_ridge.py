"""A toy: what is true of a penalty that says too little of itself."""

from ...vocabulary.facts import Conditions, Hypothesis, Setting
from .minimisers import GradientDiameter


class ToyWholeRidgeMinimisers(GradientDiameter):
    """``||w_S - w_S'|| <= Gam / (2 n alpha)``: A2, with the strong convexity that ``alpha ||w||^2`` has."""

    id = "toy-whole-ridge-minimisers"

    def hypotheses(self, setting: Setting) -> Conditions:
        """Yield those of A2, and the penalty."""
        yield from super().hypotheses(setting)
        claim, penalty = "the penalty is alpha ||w||^2", setting.problem.penalty
        yield Hypothesis(claim, penalty.id == "toy-whole-ridge", "use penalty toy-whole-ridge")

    def sensitivity(self, setting: Setting) -> float:
        """Return ``Gam / (2 n alpha)``."""
        return super().sensitivity(setting) / 2
