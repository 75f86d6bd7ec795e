"""A1: minimisers of a strongly convex objective do not move far."""

from typing import ClassVar

from equipoise.proof.theorems.base import Theorem
from equipoise.vocabulary.facts import Setting


class StronglyConvex(Theorem):
    """``||w_S - w_S'|| <= 2 rho / (n mu)``: rho is the Lipschitz constant of the loss, mu the strong convexity.

    The penalty is the same for both datasets and cancels; it does not enter rho. Attained by linear losses.
    """

    id: ClassVar[str] = "A1"
    citation: ClassVar[str] = "Bousquet and Elisseeff 2002, with the constant proved in docs/proofs/A1.md"
    statement: ClassVar[str] = "2 rho / (n mu)"
    certifies: ClassVar[bool] = True

    def sensitivity(self, setting: Setting) -> float:
        """Return ``2 rho / (n mu)``."""
        facts = setting.constants
        return 2 * facts.lipschitz / (setting.n_samples * facts.strong_convexity)
