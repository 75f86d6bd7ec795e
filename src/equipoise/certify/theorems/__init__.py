"""Theorems that certify, one file a family; members are discovered from this folder. Arithmetic on public numbers."""

from ...vocabulary.discovery import discover, look_up
from ...vocabulary.facts import Bound, Setting
from .base import Theorem
from .descent import computed
from .minimisers import SUFFIX, approximate
from .perturbation import Perturbation

__all__ = ["SUFFIX", "Perturbation", "Theorem", "answer", "carried", "members", "perturbations"]


def members() -> dict[str, type[Theorem]]:
    """Return every theorem by its id."""
    return discover(__name__, Theorem)


def perturbations() -> dict[str, type[Perturbation]]:
    """Return every theorem on objective perturbation by its id."""
    return discover(__name__, Perturbation)


def carried(theorem: Theorem, setting: Setting) -> Bound:
    """Return a theorem's answer for what a computer returns: solvers stop early (A4), and every step is rounded."""
    bound = theorem.bound(setting)
    if theorem.about == "descent":
        return computed(bound, setting)
    # Members on other methods carry their bounds to computed weights themselves.
    return approximate(bound, setting) if theorem.about == "minimiser" else bound


def answer(name: str, setting: Setting) -> Bound:
    """Return the answer of the theorem that is named: ``"A2+A4"`` is A2, carried to where a solver stops.

    Examples
    --------
    >>> from ...vocabulary import losses, penalties
    >>> from ...vocabulary.constants import setting
    >>> from ...vocabulary.facts import Domain, Problem, Recipe
    >>> problem = Problem(losses.named("logistic"), penalties.named("l2", 1.0), Domain(1.0, classes=(0, 1)))
    >>> round(answer("A1+A4", setting(problem, Recipe(tolerance=1e-6), 100, 2)).value, 4)
    0.012
    """
    return carried(look_up(members(), name.removesuffix(SUFFIX), "theorem")(), setting)
