"""Output perturbation: a minimiser, with noise on its weights."""

from ...vocabulary.constants import setting
from ...vocabulary.facts import Conditions, Recipe, Setting
from .base import Moved, bounded, holds


class Output(Moved):
    """A solver stops at a gradient of norm `tolerance`; one row moves what it returns by at most `sensitivity`."""

    kind = "output"
    on_weights = True

    tolerance: float

    def setting(self) -> Setting:
        """Return the minimiser, up to the tolerance."""
        return setting(self.problem, Recipe(self.tolerance), self.n_samples, self.n_features)

    def conditions(self) -> Conditions:
        """Yield that the theorem bounds the sensitivity, and that the noise hides it."""
        yield holds("a solver ends at a tolerance above 0 (A4)", self.tolerance > 0)
        yield from bounded(self.theorem, "minimiser", self.setting(), self.sensitivity)
        yield from self.covered(self.setting().dimension)
