"""What every claim says about itself: what it costs, and the inequalities from which that follows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from ...errors import EquipoiseError, UnknownName
from ...vocabulary.constants import constants, setting
from ...vocabulary.facts import Budget, Conditions, Constants, Hypothesis, Problem, Recipe, Record, Setting
from ...vocabulary.records import Of
from .. import laws, theorems
from ..curves import LATTICE_DELTA, Curve, SumCurve
from ..sampled import RenyiSampledCurve, SampledGaussianCurve

# How a fault ends that says no more than that this version cannot tell.
UNKNOWN = ", unknown here"

# Two machines may differ in the last digits of exp or log; the margin of 1e-9 on every bound has room for it (M4).
AGREEMENT = 1 + 1e-12

# The samplers' proofs (D1, D3) need scales far above the spacing of doubles and far below their end.
SMALLEST_SCALE, LARGEST_SCALE = 2.0**-400, 2.0**400


def holds(claim: str, condition: bool) -> Hypothesis:
    """Return an inequality of a claim."""
    return Hypothesis(claim, condition, "the claim does not follow from its facts: ask whoever made it")


def at_most(what: str, found: float | None, limit: float) -> Hypothesis:
    """Return the inequality that a bound is no larger than what was recorded.

    Examples
    --------
    >>> at_most("A1", 0.5, 0.4).holds, at_most("A1", None, 0.4).holds
    (False, False)
    """
    value = "no bound" if found is None else f"{found:.9g}"
    return holds(f"{what}: {value} <= {limit:.9g}", found is not None and 0 <= found <= limit * AGREEMENT)


class Noise(Record):
    """A law of noise at a scale, on so many numbers."""

    law: str
    scale: float
    dimension: int

    def curve(self, sensitivity: float) -> Curve:
        """Return the curve of this noise on numbers of an L2 sensitivity."""
        return laws.named(self.law).curve(sensitivity, self.dimension, self.scale)

    def drawable(self) -> Hypothesis:
        """Return the condition that the samplers' proofs cover this scale."""
        claim = f"{self.law} noise of scale {self.scale:.9g} can be drawn"
        return holds(claim, SMALLEST_SCALE <= self.scale <= LARGEST_SCALE)


class Claim(Record, ABC):
    """A node of a certificate's tree: what was released costs no more than its budget, for one row replaced.

    Meanings of recorded kinds and fields never change; new kinds and fields with defaults are added. A field called
    `released` holds what a fit appended, paid for by the claim; one called `procedure` holds numbers that the door
    follows and no inequality depends on.
    """

    kind: ClassVar[str]
    # The theorem, or theorems, by which one row's change is bounded; "" for compositions. Some kinds record it.
    theorem: ClassVar[str]
    # What noise is drawn from, where it has one law.
    law = Of[str]("kind")
    # Further laws and theorems, which are not recorded, and the classes that the domain declares.
    draws = ""
    relies = ""
    classes = Of[Any]("problem.domain.classes", None)
    class_weights = Of[Any]("problem.domain.class_weights", None)
    # What neighbours differ in, and of what it may be claimed: of all rows of a person where N1 is proved for the kind.
    unit = Of[str]("problem.domain.unit", "row")
    units: ClassVar[tuple[str, ...]] = ("row",)

    budget: Budget
    # The public number of rows that it is about.
    n_samples: int

    @abstractmethod
    def conditions(self) -> Conditions:
        """Yield every hypothesis and inequality from which the claim follows, parts included."""

    @abstractmethod
    def curve(self) -> Curve:
        """Return the privacy curve."""

    def nodes(self) -> Iterator["Claim"]:
        """Yield this claim and all that it is composed of."""
        yield self

    @property
    def main(self) -> "Claim":
        """The claim whose theorem and noise stand for the whole."""
        return self

    @property
    def trained(self) -> "Claim":
        """The claim about the weights that were released."""
        return self.main

    def assumptions(self) -> Iterator[str]:
        """Yield what the claim itself rests on besides theorems; nothing where it is proved."""
        return iter(())

    def rests_on(self) -> Iterator[tuple[str, str]]:
        """Yield the members that the claim itself rests on, each with its family."""
        yield "kind", self.kind
        yield from (("theorem", name) for name in (*self.theorem.split("+"), *self.relies.split()) if name)
        yield from (("law", name) for name in self.draws.split())
        if self.unit == "person":
            yield "theorem", "N1"
        if self.class_weights is not None:
            yield "theorem", "N2"

    def meets(self) -> Hypothesis:
        """Return the inequality that the curve is within the budget."""
        delta, budget = self.curve().delta(self.budget.epsilon), self.budget
        return holds(f"delta({budget.epsilon:.9g}) = {delta:.9g} <= {budget.delta:.9g}", delta <= budget.delta)

    def checked(self) -> Conditions:
        """Yield every condition, the last of which does not hold where members are unknown or numbers mean nothing."""
        try:
            yield from self.conditions()
            for node in self.nodes():
                if {self.unit, node.unit} != {"row"}:
                    proved = node.unit == self.unit in node.units
                    yield holds(f"{node.kind} is proved for a {self.unit} that is replaced (N1)", proved)
                if node.class_weights is not None:
                    # What is proved for persons is proved for rows with weights (N2).
                    yield holds(f"{node.kind} is proved for rows with class weights (N2)", "person" in node.units)
        except UnknownName as error:
            yield holds(f"{error.asked.removeprefix('a known ')}: {error.found:.160}{UNKNOWN}", False)
        except (EquipoiseError, ArithmeticError, ValueError, LookupError) as error:
            yield holds(f"its numbers mean nothing ({error!s:.200})", False)

    def check(self) -> tuple[str, ...]:
        """Return one line for every condition that does not hold; nothing where the claim follows."""
        # A recorded name may hold what a terminal obeys.
        return tuple(ascii(f"{self.kind}: {entry.claim}")[1:-1] for entry in self.checked() if not entry.holds)


class Trained(Claim):
    """A claim about weights that were trained for a problem on n rows, with noise somewhere."""

    problem: Problem
    n_features: int
    noise: Noise

    # The strength of the penalty, the law and the scale of the noise.
    alpha = Of[float]("problem.penalty.alpha")
    law = Of[str]("noise.law")
    scale = Of[float]("noise.scale")

    def setting(self) -> Setting:
        """Return what a theorem sees of it: the problem, where nothing else matters."""
        return Setting(self.problem, Recipe(), self.n_samples, self.n_features, constants(self.problem))

    @property
    def constants(self) -> Constants:
        """The constants that follow from the facts."""
        return self.setting().constants

    def rests_on(self) -> Iterator[tuple[str, str]]:
        """Yield the kind, and the theorems, loss, penalty and law that are named."""
        yield from Claim.rests_on(self)
        yield from (("loss", self.problem.loss.id), ("penalty", self.problem.penalty.id))
        yield from (("law", entry.law) for entry in vars(self).values() if isinstance(entry, Noise))

    def covered(self, numbers: int) -> Conditions:
        """Yield that noise covers so many numbers and can be drawn, and that its curve is within the budget."""
        yield holds(f"{self.noise.dimension} numbers have noise, all of {numbers}", self.noise.dimension == numbers > 0)
        yield self.noise.drawable()
        yield self.meets()


class Moved(Trained):
    """Weights, or sums, that one row moves by at most `sensitivity`, by the theorem that is named; noise hides that."""

    # Whether noise is added once, to finished weights.
    on_weights = False

    sensitivity: float
    theorem: str  # type: ignore[misc] # recorded here, a property of the kind elsewhere

    def curve(self) -> Curve:
        """Return the curve of the noise for the sensitivity."""
        return self.noise.curve(self.sensitivity)

    def of_steps(self, batch: int, steps: int, order: float) -> Curve:
        """Return the curve of steps on secret batches: of composed losses, or by a divergence of an order (C3)."""
        run = self.scale / self.sensitivity, batch / self.n_samples, steps
        sampled: Curve = RenyiSampledCurve(*run, order) if order else SampledGaussianCurve(*run)
        return SumCurve(((1.0, sampled, 0.0),), steps * LATTICE_DELTA)


class Described(Moved):
    """Weights that an algorithm ends at, which a recipe describes."""

    recipe: Recipe

    def setting(self) -> Setting:
        """Return the problem and its recipe."""
        return setting(self.problem, self.recipe, self.n_samples, self.n_features)


def bounded(theorem: str, about: str, where: Setting, sensitivity: float) -> Conditions:
    """Yield the hypotheses of the theorem that is named, and that its bound is at most the recorded one."""
    bound = theorems.answer(theorem, where)
    known = theorems.members()[theorem.removesuffix(theorems.SUFFIX)].about == about
    yield holds(f"{theorem} is a theorem about such weights", known and bound.certifies and bound.theorem == theorem)
    yield from bound.hypotheses
    yield at_most(f"{theorem} bounds the sensitivity", bound.value, sensitivity)
