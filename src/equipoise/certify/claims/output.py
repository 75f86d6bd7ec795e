"""Output perturbation: a minimiser, with noise on its weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...vocabulary.constants import setting
from ...vocabulary.facts import Hypothesis, Recipe, Setting
from .base import Moved, bounded


@dataclass(frozen=True, slots=True)
class Output(Moved):
    """A solver stops at a gradient of norm `tolerance`; one row moves what it returns by at most `sensitivity`."""

    kind: ClassVar[str] = "output"
    on_weights: ClassVar[bool] = True

    tolerance: float

    @property
    def setting(self) -> Setting:
        """The minimiser, up to the tolerance."""
        return setting(self.problem, Recipe(self.tolerance), self.n_samples, self.n_features)

    def conditions(self) -> Iterator[Hypothesis]:
        """Yield that the theorem bounds the sensitivity, and that the noise hides it."""
        yield from bounded(self.theorem, "minimiser", self.setting, self.sensitivity)
        yield from self.covered(self.setting.dimension)
