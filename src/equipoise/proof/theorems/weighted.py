"""Minimisers of sums in which one record has a share of its own: tasks, pairs, nodes of a graph, bags of rows.

One line carries all of them. If the data's part of the objective is a sum with public weights and a record's terms have
the share s of it, minimisers move by at most ``s Gam / mu`` (docs/proofs/multi-task.md). What a solver returns is
within tau / mu of them (A4).
"""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from equipoise.proof.theorems.approximate import ROUNDING_MARGIN
from equipoise.proof.theorems.base import Theorem, common_hypotheses
from equipoise.vocabulary.constants import constants
from equipoise.vocabulary.constants import setting as make_setting
from equipoise.vocabulary.facts import Adjacency, Constants, Domain, Hypothesis, Problem, Recipe, Setting
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.methods import Method, method_named
from equipoise.vocabulary.penalties import named as penalty_named

# What belongs to the public structure of a table and not to a record: it stays as it is when a row is replaced.
STRUCTURE = {
    "multi-task": "the task of every row is public and not protected: a replaced row stays in its task",
    "ranking": "the class of every row is public and not protected: a replaced row stays in its class",
    "graph-convolution": "the graph is public and not protected: a replaced node keeps its neighbours",
}
UNPROTECTED = {
    "multi-task": "train one model for all tasks, with the task as a column",
    "ranking": 'write "ranking" without sizes, for all pairs',
    "graph-convolution": "train on the nodes' own rows: no bound covers private edges",
}
# Losses whose slopes have one sign, whatever the prediction.
MONOTONE = ("logistic", "clipped-logistic", "hinge", "smooth-hinge")


class WeightedMinimiser(Theorem):
    """``s Gam / mu + 2 tau / mu``: s is a record's share of the sum, Gam the largest change of one of its terms."""

    certifies: ClassVar[bool] = True
    # How much longer the rows that the loss sees are than the records'.
    stretch: ClassVar[float] = 1.0
    # A method by which the contract tests meet the member.
    example: ClassVar[str]

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield those of A1, a ridge, a recipe that minimises, and what the method needs."""
        yield from common_hypotheses(replace(setting, constants=self.facts(setting)))
        yield Hypothesis(
            "the penalty is a ridge or an elastic net",
            setting.problem.penalty.id in ("l2", "elastic-net"),
            "use penalty l2 or elastic-net",
        )
        yield minimises(setting)
        method = method_named(setting.recipe.method)
        if structure(method):
            yield Hypothesis(structure(method), True, UNPROTECTED[method.name])
        yield from self.further(setting, method)

    @abstractmethod
    def further(self, setting: Setting, method: Method) -> Iterator[Hypothesis]:
        """Yield what the method needs."""

    @abstractmethod
    def share(self, setting: Setting, method: Method) -> float:
        """Return a record's share of the sum, the largest of all records."""

    def facts(self, setting: Setting) -> Constants:
        """Return the constants for rows as long as the loss sees them."""
        problem = setting.problem
        longer = replace(problem.domain, row_norm=self.stretch * problem.domain.row_norm)
        return constants(replace(problem, domain=longer, intercept=self.stretch * problem.intercept))

    def term(self, setting: Setting, facts: Constants, method: Method) -> float:
        """Return the largest change of one term's gradient."""
        return facts.gradient_diameter

    def sensitivity(self, setting: Setting) -> float:
        """Return ``(s Gam + 2 tau) / mu``, with a billionth for rounding (M4)."""
        facts, method = self.facts(setting), method_named(setting.recipe.method)
        pull = min(1.0, self.share(setting, method)) * self.term(setting, facts, method) + 2 * setting.recipe.tolerance
        return pull / facts.strong_convexity * (1 + ROUNDING_MARGIN)

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield the method on logistic models with a ridge, solved exactly and approximately."""
        domain = Domain(row_norm=1.0, classes=(0, 1))
        for alpha, tolerance in ((0.1, 0.0), (0.5, 1e-6)):
            problem = Problem(loss_named("logistic"), penalty_named("l2", alpha), domain)
            yield make_setting(problem, Recipe(tolerance, method=cls.example), 60, 3)


def structure(method: Method) -> str:
    """Return what stays as it is when a row is replaced, "" where nothing but the number of rows does."""
    # Without sizes all pairs of records are in the sum, and a record may change its class.
    return "" if method.name == "ranking" and not method.numbers else STRUCTURE.get(method.name, "")


def minimises(setting: Setting) -> Hypothesis:
    """Return the condition that weights are minimisers, up to a gradient that is fixed before data (A4, L3)."""
    return Hypothesis(
        "every run ends where a subgradient of the objective has norm at most tau, fixed before data (A4, L3)",
        setting.recipe.passes == 0,
        "leave passes out: minimise, and pass the gradient's norm as the tolerance",
    )


def sizes_add_up(setting: Setting, method: Method) -> Hypothesis:
    """Return the condition that public sizes make up the n records."""
    return Hypothesis(
        "the public sizes add up to n",
        sum(method.counts) == setting.n_samples,
        f"pass sizes whose sum is {setting.n_samples}",
    )


class MultiTask(WeightedMinimiser):
    """Tasks with weights ``w0 + v_t``: a row of task t is ``(x, x)`` in the stacked space, with share ``1/(T n_t)``."""

    id: ClassVar[str] = "multi-task"
    about: ClassVar[str] = "multi-task"
    citation: ClassVar[str] = "Equipoise, docs/proofs/multi-task.md"
    statement: ClassVar[str] = "Gam / (T n_t mu) for the smallest task, Gam at row norm sqrt(2) B: <= 2 sqrt(2) rho"
    stretch: ClassVar[float] = math.sqrt(2)
    example: ClassVar[str] = "multi-task:40/20"

    def further(self, setting: Setting, method: Method) -> Iterator[Hypothesis]:
        """Yield that sizes of tasks add up."""
        yield sizes_add_up(setting, method)

    def share(self, setting: Setting, method: Method) -> float:
        """Return ``1 / (T n_t)`` for the smallest task."""
        return 1 / (len(method.counts) * min(method.counts))


class Ranking(WeightedMinimiser):
    """Pairs of records in different classes, by the difference of their rows: at most 2 B long.

    Without sizes the sum is divided by ``n (n - 1) / 2`` and a record has the share ``2 / n``. With public sizes of
    classes that nobody leaves, it is divided by the number of pairs, and a term changes half as much: both differences
    start at the same other row, and slopes have one sign.
    """

    id: ClassVar[str] = "ranking"
    about: ClassVar[str] = "ranking"
    citation: ClassVar[str] = "Equipoise, docs/proofs/ranking.md"
    statement: ClassVar[str] = (
        "(2/n) Gam / mu, Gam at row norm 2 B: <= 4 rho_pair / (n mu); public classes: share rho / mu"
    )
    stretch: ClassVar[float] = 2.0
    example: ClassVar[str] = "ranking"

    def further(self, setting: Setting, method: Method) -> Iterator[Hypothesis]:
        """Yield that pairs are ordered by a loss of one sign, without a constant column, and that sizes add up."""
        problem = setting.problem
        yield Hypothesis(
            "a pair is ordered by a loss of the margin whose slope has one sign",
            problem.loss.id in MONOTONE,
            f"use one of the losses {', '.join(MONOTONE)}",
        )
        yield Hypothesis(
            "there is no constant column, which cancels in every pair", problem.intercept == 0, "pass intercept=0.0"
        )
        yield Hypothesis("there are pairs", setting.n_samples >= 2, "rank at least two records")
        if method.counts:
            yield sizes_add_up(setting, method)

    def share(self, setting: Setting, method: Method) -> float:
        """Return ``2 / n``, or the pairs of a record of the smallest class over all pairs of different classes."""
        if not method.counts:
            return 2 / setting.n_samples
        total = sum(method.counts)
        pairs = (total**2 - sum(size**2 for size in method.counts)) // 2
        return (total - min(method.counts)) / pairs

    def term(self, setting: Setting, facts: Constants, method: Method) -> float:
        """Return Gam for records that may change their class, rho of a pair for those that may not."""
        return min(facts.gradient_diameter, facts.lipschitz) if method.counts else facts.gradient_diameter


class GraphConvolution(WeightedMinimiser):
    """One linear layer on a public graph: a node's record enters the rows of the node and of its neighbours."""

    id: ClassVar[str] = "graph-convolution"
    about: ClassVar[str] = "graph-convolution"
    citation: ClassVar[str] = "Equipoise, docs/proofs/graph-convolution.md"
    statement: ClassVar[str] = "(D + 1) Gam / (n mu), D the largest degree"
    example: ClassVar[str] = "graph-convolution:3"

    def further(self, setting: Setting, method: Method) -> Iterator[Hypothesis]:
        """Yield that a node has at most n - 1 neighbours."""
        yield Hypothesis(
            "a node has at most n - 1 neighbours, by a graph that is public and clipped rows (no ReLU between)",
            method.counts[0] < setting.n_samples,
            f"pass a largest degree below {setting.n_samples}",
        )

    def share(self, setting: Setting, method: Method) -> float:
        """Return ``(D + 1) / n``."""
        return (method.counts[0] + 1) / setting.n_samples


class BaggedMinimisers(WeightedMinimiser):
    """The mean of minimisers on m disjoint parts: a record moves one of them."""

    id: ClassVar[str] = "bagging.minimisers"
    about: ClassVar[str] = "bagging"
    citation: ClassVar[str] = "Equipoise, docs/proofs/bagging.minimisers.md"
    statement: ClassVar[str] = "Gam / (m n_b mu), n_b = floor(n / m) the rows of the smallest part"
    example: ClassVar[str] = "bagging:7"

    def further(self, setting: Setting, method: Method) -> Iterator[Hypothesis]:
        """Yield that every part has a row, and that weights are what is averaged."""
        yield parts_have_rows(setting, method)
        yield Hypothesis(
            "every part answers with its minimiser's weights, not with other numbers",
            len(method.counts) == 1,
            f"write bagging:{method.counts[0]}",
        )

    def share(self, setting: Setting, method: Method) -> float:
        """Return ``1 / (m n_b)``."""
        parts = method.counts[0]
        return 1 / (parts * (setting.n_samples // parts))


class BootstrappedMinimisers(WeightedMinimiser):
    """The mean of minimisers on m bags of n rows, drawn with replacement by public coins."""

    id: ClassVar[str] = "bootstrap"
    about: ClassVar[str] = "bootstrap"
    citation: ClassVar[str] = "Equipoise, docs/proofs/bootstrap.md"
    statement: ClassVar[str] = "(most / m) Gam / (n mu), most the largest number of draws of one row over all m bags"
    example: ClassVar[str] = "bootstrap:7/19"

    def further(self, setting: Setting, method: Method) -> Iterator[Hypothesis]:
        """Yield nothing: coins are public, so that the largest number of draws is."""
        return iter(())

    def share(self, setting: Setting, method: Method) -> float:
        """Return ``most / (m n)``."""
        bags, most = method.counts
        return most / (bags * setting.n_samples)


class ClippedParts(Theorem):
    """The mean of anything that was trained on m disjoint parts and clipped to norm C: ``2 C / m``, convex or not."""

    id: ClassVar[str] = "bagging.clipped"
    about: ClassVar[str] = "bagging"
    citation: ClassVar[str] = "Equipoise, docs/proofs/bagging.clipped.md"
    statement: ClassVar[str] = "2 C / m, C the radius that every part's weights are clipped to"
    certifies: ClassVar[bool] = True

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        """Yield replaced records, a radius, and parts with rows."""
        yield Hypothesis(
            "neighbouring datasets differ by replacing one row, and n is public",
            setting.adjacency is Adjacency.REPLACE_ONE,
            "declare n and use replace-one adjacency",
        )
        yield Hypothesis(
            "every part's answer is clipped to a public radius",
            setting.problem.domain.radius is not None,
            "declare a radius in the domain, and clip the answer of every part to it",
        )
        yield parts_have_rows(setting, method_named(setting.recipe.method))

    def sensitivity(self, setting: Setting) -> float:
        """Return ``2 C / m``."""
        parts = method_named(setting.recipe.method).counts[0]
        return 2 * (setting.problem.domain.radius or 0.0) / parts * (1 + ROUNDING_MARGIN)

    @classmethod
    def examples(cls) -> Iterator[Setting]:
        """Yield bags of a model with a radius."""
        domain = Domain(row_norm=1.0, classes=(0, 1), radius=2.0)
        problem = Problem(loss_named("logistic"), penalty_named("l2", 0.1), domain)
        yield make_setting(problem, Recipe(method="bagging:7"), 60, 3)


def parts_have_rows(setting: Setting, method: Method) -> Hypothesis:
    """Return the condition that rows are dealt to parts by a public rule, and every part gets one."""
    return Hypothesis(
        "rows are dealt to the parts by a public rule, evenly, and every part has one",
        method.counts[0] <= setting.n_samples,
        f"pass at most {setting.n_samples} parts",
    )
