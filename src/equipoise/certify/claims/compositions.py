"""Inner nodes: claims in sequence, over disjoint rows, and after post-processing."""

from collections.abc import Iterator
from functools import reduce
from typing import ClassVar

from ...errors import InvalidParameter
from ...vocabulary.facts import Conditions
from ..curves import Curve, LargestCurve, PointCurve, SumCurve, add_up
from .base import Claim, holds


class Composition(Claim):
    """A claim that follows from others, `of` which it is; the last one's theorem and noise stand for the whole."""

    theorem = ""

    of: tuple[Claim, ...]

    def __post_init__(self) -> None:
        """Refuse a composition of nothing."""
        if not self.of:
            raise InvalidParameter("a composition of claims", "none", "name its parts")

    def nodes(self) -> Iterator[Claim]:
        """Yield this claim and all of its parts'."""
        yield self
        for part in self.of:
            yield from part.nodes()

    @property
    def main(self) -> Claim:
        """The last part's."""
        return self.of[-1].main

    @property
    def unit(self) -> str:  # type: ignore[override] # read-only, as all of a record
        """The last part's, which all others must have as well."""
        return self.of[-1].unit

    @property
    def trained(self) -> Claim:
        """The last part's."""
        return self.of[-1].trained

    def chosen(self, place: int | None) -> Claim:
        """Return the part at a place, the first where none was chosen; a place that no part has is no candidate's."""
        return self.of[place if type(place) is int and 0 <= place < len(self.of) else 0]

    def conditions(self) -> Conditions:
        """Yield those of every part, and that none costs more than the whole."""
        for part in self.of:
            yield from part.conditions()
            yield holds(f"a part ({part.kind}) costs no more than the whole", add_up((part.budget,), self.budget))


class Sequence(Composition):
    """Claims about the same rows, one after the other, the later ones fixed by what the earlier ones released.

    Basic adaptive composition: epsilons add up, and so do deltas.
    """

    kind = "sequence"
    units: ClassVar[tuple[str, ...]] = ("row", "person")

    def curve(self) -> Curve:
        """Return the last part's curve, where all before it are pure; otherwise what adding up gives."""
        *earlier, last = self.of
        if any(part.budget.delta > 0 for part in earlier):
            return PointCurve(self.budget)
        return reduce(lambda curve, part: SumCurve(((1.0, curve, part.budget.epsilon),)), earlier, last.curve())

    def conditions(self) -> Conditions:
        """Yield those of every part, and that shares add up to the budget."""
        yield from Composition.conditions(self)
        yield holds("all parts are about these rows", {part.n_samples for part in self.of} == {self.n_samples})
        yield holds("the parts' budgets fit in the whole", add_up(tuple(part.budget for part in self.of), self.budget))


class Disjoint(Composition):
    """Claims about disjoint rows, dealt by a public rule; later parts may look at what earlier ones released (N3).

    A replaced row lies in one of them, so that the largest budget counts. The last part chose among the others.
    """

    kind = "disjoint"
    relies = "N3"

    @property
    def trained(self) -> Claim:
        """That of the part that was chosen; in a plan, of the first."""
        return self.chosen(getattr(self.main, "released", None)).trained

    def curve(self) -> Curve:
        """Return the largest of the parts' curves."""
        return LargestCurve(tuple(part.curve() for part in self.of))

    def conditions(self) -> Conditions:
        """Yield those of every part, and that there are rows for all of them."""
        yield from Composition.conditions(self)
        sizes, others = [part.n_samples for part in self.of], len(self.of) - 1
        yield holds(f"parts have rows, {sum(sizes)} of all", min(sizes) > 0 and sum(sizes) <= self.n_samples)
        yield holds("a choice is among the other parts", getattr(self.of[-1], "candidates", others) == others)


class PostProcessing(Composition):
    """Whatever is computed from a release by a public rule, which is free: columns selected by a threshold (F3)."""

    kind = "post-processing"
    units: ClassVar[tuple[str, ...]] = ("row", "person")
    relies = "F3"

    rule: str

    def curve(self) -> Curve:
        """Return the curve of the release."""
        return self.of[-1].curve()

    def conditions(self) -> Conditions:
        """Yield those of the one release that is processed."""
        yield from Composition.conditions(self)
        yield holds("one release is processed", [part.n_samples for part in self.of] == [self.n_samples])
