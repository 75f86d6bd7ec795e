"""A toy: A2 for one penalty, under a name that comes first among equals."""

from ...vocabulary.facts import Conditions, Hypothesis, Setting
from .minimisers import BoundedMinimisers


class ToyMinimisers(BoundedMinimisers):
    """``||w_S - w_S'|| <= Gam / (2 n alpha)``: A2 for the penalty ``alpha ||w||^2``."""

    id = "A0.toy"

    def hypotheses(self, setting: Setting) -> Conditions:
        """Yield those of A2, and the penalty."""
        yield from super().hypotheses(setting)
        claim, penalty = "the penalty is alpha ||w||^2", setting.problem.penalty
        yield Hypothesis(claim, penalty.id == "toy-whole-ridge", "use penalty toy-whole-ridge")

    def sensitivity(self, setting: Setting) -> float:
        """Return ``Gam / (2 n alpha)``."""
        ridge = 2 * setting.problem.penalty.alpha
        return setting.constants.gradient_diameter / (setting.n_samples * ridge)
