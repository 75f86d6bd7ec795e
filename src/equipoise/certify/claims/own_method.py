"""Noise on weights that another algorithm computed: heavy ball, ranking, bagging and the others that have a theorem."""

from collections.abc import Iterator

from ...vocabulary.discovery import look_up
from ...vocabulary.facts import Conditions
from ...vocabulary.methods import Method, method_named
from .. import theorems
from ..theorems.weighted import WeightedMinimiser
from .base import Described, bounded, holds


class OwnMethod(Described):
    """The certified distance of an algorithm that the caller's code runs. Whether it runs that one is an assumption."""

    kind = "method"

    def method(self) -> Method:
        """Return the method by its name and public numbers."""
        return method_named(self.recipe.method)

    def assumptions(self) -> Iterator[str]:
        """Yield that the caller's code is that method, and what is public about the table's structure."""
        described = f"{self.recipe.method} as docs/proofs/{self.theorem}.md describes it"
        yield f"the caller's code computes {described}, on the rows that it is given and on nothing else"
        theorem = look_up(theorems.members(), self.theorem, "theorem")()
        if isinstance(theorem, WeightedMinimiser) and (structure := theorem.public_structure(self.method())):
            yield structure

    def conditions(self) -> Conditions:
        """Yield that the theorem bounds the distance, that a solver stops somewhere, and that noise hides it."""
        yield from bounded(self.theorem, self.method().name, self.setting(), self.sensitivity)
        minimises = issubclass(look_up(theorems.members(), self.theorem, "theorem"), WeightedMinimiser)
        yield holds("a minimiser is found up to a tolerance", self.recipe.tolerance > 0 or not minimises)
        yield from self.covered(released_numbers(self.method(), self.setting().dimension))


def released_numbers(method: Method, dimension: int) -> int:
    """Return how many numbers a method trains for a model of so many weights.

    Examples
    --------
    >>> released_numbers(method_named("multi-task:40/25"), 3), released_numbers(method_named("bagging:7/20"), 3)
    (9, 20)
    """
    if method.name == "multi-task":
        # The common weights and those of every task.
        return (len(method.numbers) + 1) * dimension
    return method.counts[1] if method.name == "bagging" and len(method.numbers) == 2 else dimension
