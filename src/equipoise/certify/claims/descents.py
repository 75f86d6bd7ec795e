"""Stochastic descents: noise on the weights they end at, in every step, or after every phase."""

import math
from collections.abc import Iterator
from dataclasses import replace

from ...vocabulary import penalties
from ...vocabulary.constants import constants, setting_in_ball
from ...vocabulary.facts import Conditions, Hypothesis, Recipe, Record, Setting
from .. import theorems
from ..curves import Curve, LargestCurve, SumCurve
from ..theorems.base import MOST_ROWS, MOST_WEIGHTS, ROUNDING_MARGIN, bearable
from ..theorems.descent import UNIT
from ..theorems.random_hits import LEFT_OUT
from ..work import within
from .base import Described, Moved, Noise, Trained, at_most, bounded, holds


class StochasticDescent(Described):
    """SGD by a recipe from 0; one row moves the end by at most `sensitivity`, or by a random distance (M1)."""

    kind = "sgd"
    units = ("row", "person")
    on_weights = True

    @property
    def relies(self) -> str:  # type: ignore[override] # read-only, as all of a record
        """The theorem on distances that secret coins decide, where delta pays for them."""
        return "M1" if self.budget.delta > 0 else ""

    def curve(self) -> Curve:
        """Return the curve of the noise, averaged over secret coins where they decide and delta pays (M1)."""
        chances = theorems.answer(self.theorem, self.setting()).law if self.budget.delta > 0 else ()
        if not chances:
            return Moved.curve(self)
        # A sensitivity of 0 would divide by it; the smallest positive one is as good.
        least = self.scale * 1e-30
        parts = ((chance.probability, self.noise.curve(max(chance.value, least)), 0.0) for chance in chances)
        return SumCurve(tuple(parts), LEFT_OUT)

    def conditions(self) -> Conditions:
        """Yield that the theorem bounds the distance of two descents, and that the noise hides it."""
        yield holds("it descends by steps of a length", self.recipe.descends and not isinstance(self.recipe.step, str))
        yield from bounded(self.theorem, "descent", self.setting(), self.sensitivity)
        yield from self.covered(self.setting().dimension)


class NoisyDescent(Moved):
    """Every step draws its rows in secret and adds noise to their mean gradient, which one row moves by `sensitivity`.

    `order` is that of the Renyi divergence that accounts for the steps; 0 stands for the composed distribution of
    losses. `stream` says that the noise comes from a cipher in double precision.
    """

    kind = "noisy-sgd"
    units = ("row", "person")

    recipe: Recipe
    radius: float
    order: float = 0.0
    stream: bool = False

    def setting(self) -> Setting:
        """Return the descent in a public ball."""
        return setting_in_ball(self.problem, self.recipe, self.n_samples, self.n_features, self.radius)

    def assumptions(self) -> Iterator[str]:
        """Yield that the stream is as good as exact noise, where it is used."""
        if self.stream:
            yield "the noise of the steps comes from an AES-256 key stream in double precision, and is as good as exact"

    def movement(self) -> float:
        """Return how far one row moves the mean gradient of a batch, rounding included (SGD-rounding.md, C3)."""
        facts, batch = self.constants, self.recipe.batch_size
        rounding = 2 * (self.setting().batch_rows + 32 + self.problem.loss.outputs) * UNIT * facts.lipschitz
        if math.isfinite(facts.smoothness):
            rounding += 2 * (self.setting().dimension + 11) * UNIT * facts.smoothness * facts.radius / batch
        return (facts.gradient_diameter / batch + rounding) * (1 + ROUNDING_MARGIN)

    def curve(self) -> Curve:
        """Return the curve of all steps together."""
        return self.of_steps(self.recipe.batch_size, self.recipe.steps(self.n_samples), self.order)

    def conditions(self) -> Conditions:
        """Yield the conditions of C3, the bound on a gradient's change, and the noise."""
        yield from secret_batches(self.setting())
        yield holds("C3 composes steps of Gaussian noise", self.theorem == "C3" and self.law == "gaussian")
        yield holds("a divergence has an order above 1", self.order == 0 or self.order > 1)
        yield at_most("C3 bounds a batch's change", self.movement(), self.sensitivity)
        yield from self.covered(self.setting().dimension)


def secret_batches(where: Setting) -> Conditions:
    """Yield the conditions of C3."""
    recipe, facts = where.recipe, where.constants
    claim, remedy = "every step draws its rows in secret, without replacement (C3)", "leave skip and dropout out"
    yield Hypothesis(claim, recipe.skip == 0 and recipe.dropout == 0 and recipe.order == "replacement", remedy)
    claim = "a row's gradient has a bounded norm in the ball of the weights"
    yield Hypothesis(claim, 0 < facts.lipschitz < math.inf, "clip gradients, or choose a Lipschitz loss")
    yield Hypothesis("the penalty is a ridge or none", where.problem.penalty.id in ("l2", "none"), "use a ridge")
    claim = "rows and weights are of a size that double precision can bear (M4)"
    yield Hypothesis(claim, bearable(where), f"train on at most {MOST_ROWS:g} rows and {MOST_WEIGHTS:g} weights")


class Phase(Record):
    """One phase of a localisation: fresh rows, a step length, the theorem and the noise that hides one of its rows.

    `alpha` is the ridge around the phase's start and `tolerance` where its solver stops, for losses with corners; both
    are 0 where a descent serves a smooth one.
    """

    rows: int
    step: float
    theorem: str
    sensitivity: float
    noise_scale: float
    alpha: float = 0.0
    tolerance: float = 0.0
    passes: int | None = None


class Phased(Trained):
    """Phases on disjoint rows, each with the whole budget, started in a public ball where the last was released (K1).

    `noise` is that of the first phase; the others have the same law.
    """

    kind = "phased"
    units = ("row", "person")
    theorem = "K1"

    recipe: Recipe
    radius: float
    phases: tuple[Phase, ...]

    @property
    def sensitivity(self) -> float | None:
        """How far one row moves the first phase, if there is one."""
        return self.phases[0].sensitivity if self.phases else None

    def setting(self) -> Setting:
        """Return the whole, over the ball in which phases start."""
        return setting_in_ball(self.problem, self.recipe, self.n_samples, self.n_features, self.radius)

    def setting_of(self, phase: Phase) -> Setting:
        """Return what a theorem sees of one phase: a pass of averaged descent, or a minimiser around the start."""
        whole = self.setting()
        if math.isfinite(whole.constants.smoothness):
            recipe = Recipe(passes=1, step=phase.step, average="uniform", clip=self.recipe.clip)
            return replace(whole, recipe=recipe, n_samples=phase.rows)
        # The ball of the start is no constraint of the phase, whose minimiser can lie outside of it.
        ridge, domain = penalties.named("l2", phase.alpha), replace(self.problem.domain, radius=None)
        free = replace(self.problem, penalty=ridge, domain=domain)
        around = constants(free, whole.constants.radius + whole.constants.lipschitz / phase.alpha)
        return Setting(free, Recipe(phase.tolerance), phase.rows, self.n_features, around)

    def noise_of(self, phase: Phase) -> Noise:
        """Return the noise on the weights of one phase."""
        return replace(self.noise, scale=phase.noise_scale)

    def curve(self) -> Curve:
        """Return the largest of the phases' curves: a row belongs to one of them."""
        return LargestCurve(tuple(self.noise_of(phase).curve(phase.sensitivity) for phase in self.phases))

    def conditions(self) -> Conditions:
        """Yield that rows suffice for disjoint phases, that theorems bound every phase, and that noise hides each."""
        used = sum(phase.rows for phase in self.phases)
        yield holds(f"the phases have {used} of {self.n_samples} rows", 0 < used <= self.n_samples)
        about = "descent" if math.isfinite(self.constants.smoothness) else "minimiser"
        for phase in self.phases:
            solved = phase.alpha > 0 and phase.tolerance > 0 and self.constants == constants(self.problem, self.radius)
            fits = phase.alpha == phase.tolerance == 0 if about == "descent" else solved
            yield holds("a phase has rows, and descends, or solves where there are corners", phase.rows >= 1 and fits)
            yield from bounded(phase.theorem, about, self.setting_of(phase), phase.sensitivity)
            yield from within(self.setting_of(phase), phase.passes if solved else None)
            yield self.noise_of(phase).drawable()
        yield holds("the first phase's noise is the one that is named", self.scale == self.phases[0].noise_scale)
        yield from self.covered(self.setting().dimension)

    @property
    def relies(self) -> str:  # type: ignore[override] # read-only, as all of a record
        """The theorems of the phases; where a phase solves, there are corners (L3)."""
        return " ".join(phase.theorem + "+L3" * (phase.alpha > 0) for phase in self.phases).replace("+", " ")
