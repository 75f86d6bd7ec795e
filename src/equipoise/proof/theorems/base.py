"""What every theorem says about itself."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from equipoise.vocabulary.constants import setting as make_setting
from equipoise.vocabulary.facts import Adjacency, Bound, Chance, Domain, Hypothesis, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named


class Theorem(ABC):
    """A bound on how far the weights move when one row is replaced, with the hypotheses under which it holds.

    `certifies` is True only when the statement is proved in ``docs/proofs/<id>.md``; a test requires the page. Members
    speak of the exact minimiser, which `approximate.py` carries to what a solver returns, or of a descent over the
    reals, which `descent.py` carries to what a computer finds.
    """

    # "minimiser", "descent", or the name of another method.
    about: ClassVar[str] = "minimiser"

    id: ClassVar[str]
    citation: ClassVar[str]
    statement: ClassVar[str]
    certifies: ClassVar[bool]

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield every condition, met or not, each with its remedy: those of A1 unless a theorem needs more."""
        yield from common_hypotheses(setting)

    @abstractmethod
    def sensitivity(self, setting: Setting) -> float:
        """Return the bound; called only when every hypothesis holds."""

    def law(self, setting: Setting) -> tuple[Chance, ...]:
        """Return how likely each distance is where secret coins decide, in rising order; nothing where none do."""
        return ()

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield settings to which the theorem applies; the contract tests start from them."""
        classification = Domain(row_norm=1.0, classes=(0, 1))
        regression = Domain(row_norm=2.0, labels=(-1.0, 3.0))
        for alpha, n_samples in ((2.0, 4), (0.1, 50), (1e-3, 1000)):
            penalty = penalty_named("l2", alpha)
            yield make_setting(Problem(loss_named("logistic"), penalty, classification), Recipe(), n_samples, 3)
            yield make_setting(Problem(loss_named("squared"), penalty, regression, 0.5), Recipe(), n_samples, 3)

    def bound(self, setting: Setting) -> Bound:
        """Return the answer for one setting: a value when every hypothesis holds, the missing ones otherwise."""
        hypotheses = tuple(self.hypotheses(setting))
        holds = all(hypothesis.holds for hypothesis in hypotheses)
        if not holds:
            return Bound(self.id, self.certifies, None, hypotheses)
        return Bound(self.id, self.certifies, self.sensitivity(setting), hypotheses, self.law(setting))


def common_hypotheses(setting: Setting) -> Iterator[Hypothesis]:
    """Yield what every theorem on regularised minimisers needs (THEOREMS A1)."""
    facts = setting.constants
    yield Hypothesis(
        "neighbouring datasets differ by replacing one row, and n is public",
        setting.adjacency is Adjacency.REPLACE_ONE,
        "declare n and use replace-one adjacency",
    )
    yield Hypothesis(
        "the objective is strongly convex",
        facts.strong_convexity > 0,
        "add a ridge: alpha > 0",
    )
    yield Hypothesis(
        "the loss is convex and Lipschitz on the domain",
        0 < facts.lipschitz < float("inf"),
        "bound the rows and labels in the domain, or choose a Lipschitz loss",
    )


def bounded_minimisers(setting: Setting) -> Hypothesis:
    """Return the condition that lemma R or a declared radius bounds every minimiser (docs/proofs/A2.md)."""
    return Hypothesis(
        "every minimiser has a norm bounded before data is seen",
        math.isfinite(setting.constants.radius),
        "add a ridge, or a radius to the domain",
    )


def bounded_slope(setting: Setting) -> Hypothesis:
    """Return the condition that the penalty's slope is bounded, for bounds that let it into the Lipschitz constant."""
    return Hypothesis(
        "the penalty has a bounded slope where minimisers can lie",
        math.isfinite(setting.constants.penalty_slope),
        "use a ridge, or a bound that does not need the penalty's slope",
    )
