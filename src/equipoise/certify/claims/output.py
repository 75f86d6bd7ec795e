"""Output perturbation: a minimiser, with noise on its weights."""

import math

from ...vocabulary.constants import setting
from ...vocabulary.facts import Conditions, Recipe, Setting
from ..work import within
from .base import Moved, bounded, holds


class Output(Moved):
    """A solver stops at a gradient of norm `tolerance`; one row moves what it returns by at most `sensitivity`."""

    kind = "output"
    units = ("row", "person")
    on_weights = True

    tolerance: float
    # The most passes over the rows that the solver makes, on any rows (N10).
    passes: int | None = None

    @property
    def relies(self) -> str:  # type: ignore[override] # read-only, as all of a record
        """The theorem on losses with corners, where there are any."""
        return "L3" if math.isinf(self.problem.loss.curvature_bound()) else ""

    def setting(self) -> Setting:
        """Return the minimiser, up to the tolerance."""
        return setting(self.problem, Recipe(self.tolerance), self.n_samples, self.n_features)

    def conditions(self) -> Conditions:
        """Yield that the theorem bounds the sensitivity, and that the noise hides it."""
        yield holds("a solver ends at a tolerance above 0 (A4)", self.tolerance > 0)
        yield from bounded(self.theorem, "minimiser", self.setting(), self.sensitivity)
        yield from within(self.setting(), self.passes)
        yield from self.covered(self.setting().dimension)
