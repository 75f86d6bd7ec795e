"""Inner nodes: claims in sequence, over disjoint rows, and after post-processing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...vocabulary.facts import Hypothesis
from ..curves import Curve, LargestCurve, PointCurve, SumCurve, add_up
from .base import Claim, holds


@dataclass(frozen=True, slots=True)
class Composition(Claim):
    """A claim that follows from others, `of` which it is; the last one's theorem and noise stand for the whole."""

    theorem: ClassVar[str] = ""

    of: tuple[Claim, ...]

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
    def trained(self) -> Claim:
        """The last part's."""
        return self.of[-1].trained

    def conditions(self) -> Iterator[Hypothesis]:
        """Yield those of every part, and that none costs more than the whole."""
        yield holds("there are parts", len(self.of) > 0)
        for part in self.of:
            yield from part.conditions()
            yield holds(f"a part ({part.kind}) costs no more than the whole", add_up((part.budget,), self.budget))


@dataclass(frozen=True, slots=True)
class Sequence(Composition):
    """Claims about the same rows, one after the other, the later ones fixed by what the earlier ones released.

    Basic adaptive composition: epsilons add up, and so do deltas.
    """

    kind: ClassVar[str] = "sequence"

    def curve(self) -> Curve:
        """Return the last part's curve, where all before it are pure; otherwise what adding up gives."""
        *earlier, last = self.of
        if any(part.budget.delta > 0 for part in earlier):
            return PointCurve(self.budget)
        return SumCurve(((1.0, last.curve(), sum(part.budget.epsilon for part in earlier)),))

    def conditions(self) -> Iterator[Hypothesis]:
        """Yield those of every part, and that shares add up to the budget."""
        yield from Composition.conditions(self)
        yield holds("all parts are about these rows", {part.n_samples for part in self.of} == {self.n_samples})
        shares = tuple(part.budget for part in self.of)
        yield holds("the parts' budgets add up to no more than the whole", add_up(shares, self.budget))


@dataclass(frozen=True, slots=True)
class Disjoint(Composition):
    """Claims about disjoint rows, dealt by a public rule; later parts may look at what earlier ones released (N3).

    A replaced row lies in one of them, so that the largest budget counts. The last part chose among the others.
    """

    kind: ClassVar[str] = "disjoint"

    @property
    def trained(self) -> Claim:
        """That of the part that was chosen; in a plan, of the first."""
        return self.of[getattr(self.main, "released", None) or 0].trained

    def curve(self) -> Curve:
        """Return the largest of the parts' curves."""
        return LargestCurve(tuple(part.curve() for part in self.of))

    def conditions(self) -> Iterator[Hypothesis]:
        """Yield those of every part, and that there are rows for all of them."""
        yield from Composition.conditions(self)
        used = sum(part.n_samples for part in self.of)
        yield holds(f"the parts have {used} of {self.n_samples} rows", used <= self.n_samples)


@dataclass(frozen=True, slots=True)
class PostProcessing(Composition):
    """Whatever is computed from a release by a public rule, which is free: columns selected by a threshold (F3)."""

    kind: ClassVar[str] = "post-processing"

    rule: str

    def curve(self) -> Curve:
        """Return the curve of the release."""
        return self.of[-1].curve()

    def conditions(self) -> Iterator[Hypothesis]:
        """Yield those of the one release that is processed."""
        yield from Composition.conditions(self)
        yield holds("one release is processed", [part.n_samples for part in self.of] == [self.n_samples])
