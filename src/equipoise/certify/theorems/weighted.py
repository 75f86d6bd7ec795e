"""Minimisers of sums in which one record has a share of its own: tasks, pairs, nodes of a graph, bags of rows.

One line carries all of them. If the data's part of the objective is a sum with public weights and a record's terms have
the share s of it, minimisers move by at most ``s Gam / mu`` (docs/proofs/multi-task.md). What a solver returns is
within tau / mu of them (A4).
"""

import math
from abc import abstractmethod
from dataclasses import replace

from ...vocabulary.constants import constants
from ...vocabulary.facts import Conditions, Constants, Hypothesis, Setting
from ...vocabulary.methods import Method, method_named
from .base import ROUNDING_MARGIN, Theorem
from .minimisers import strongly_convex

# Losses whose slopes have one sign, whatever the prediction.
MONOTONE = ("logistic", "clipped-logistic", "hinge", "smooth-hinge")


class WeightedMinimiser(Theorem):
    """``s Gam / mu + 2 tau / mu``: s is a record's share of the sum, Gam the largest change of one of its terms."""

    # How much longer the rows that the loss sees are than the records'.
    stretch = 1.0
    # What belongs to the public structure of a table and stays as it is when a record is replaced.
    structure = ""

    def hypotheses(self, setting: Setting) -> Conditions:
        """Yield those of A1, a ridge, a recipe that minimises, and what the method needs."""
        yield from strongly_convex(replace(setting, constants=self.facts(setting)))
        claim = "the penalty is a ridge or an elastic net"
        yield Hypothesis(claim, setting.problem.penalty.id in ("l2", "elastic-net"), "use penalty l2 or elastic-net")
        claim = "every run ends where a subgradient of the objective has norm at most tau, fixed before data (A4, L3)"
        yield Hypothesis(claim, setting.recipe.passes == 0, "leave passes out, and pass the tolerance of a solver")
        method = method_named(setting.recipe.method)
        if public := self.public_structure(method):
            yield Hypothesis(public, True, "train on the rows alone: nothing covers a private structure")
        yield from self.further(setting, method)

    def public_structure(self, method: Method) -> str:
        """Return what stays as it is when a row is replaced; "" where nothing but the number of rows does."""
        return self.structure

    def further(self, setting: Setting, method: Method) -> Conditions:
        """Yield what the method needs."""
        return iter(())

    @abstractmethod
    def share(self, setting: Setting, method: Method) -> float:
        """Return a record's share of the sum, the largest of all records."""

    def facts(self, setting: Setting) -> Constants:
        """Return the constants for rows as long as the loss sees them."""
        problem = setting.problem
        longer = replace(problem.domain, row_norm=self.stretch * problem.domain.row_norm)
        return constants(replace(problem, domain=longer, intercept=self.stretch * problem.intercept))

    def term(self, facts: Constants, method: Method) -> float:
        """Return the largest change of one term's gradient."""
        return facts.gradient_diameter

    def sensitivity(self, setting: Setting) -> float:
        """Return ``(s Gam + 2 tau) / mu``, with a billionth for rounding (M4)."""
        facts, method = self.facts(setting), method_named(setting.recipe.method)
        pull = min(1.0, self.share(setting, method)) * self.term(facts, method) + 2 * setting.recipe.tolerance
        return pull / facts.strong_convexity * (1 + ROUNDING_MARGIN)


def sizes_add_up(setting: Setting, method: Method) -> Hypothesis:
    """Return the condition that public sizes make up the n records."""
    remedy = f"pass sizes whose sum is {setting.n_samples}"
    return Hypothesis("the public sizes add up to n", sum(method.counts) == setting.n_samples, remedy)


class MultiTask(WeightedMinimiser):
    """Tasks with weights ``w0 + v_t``: a row of task t is ``(x, x)`` in the stacked space, with share ``1/(T n_t)``."""

    id = "multi-task"
    about = "multi-task"
    stretch = math.sqrt(2)
    structure = "the task of every row is public and not protected: a replaced row stays in its task"

    def further(self, setting: Setting, method: Method) -> Conditions:
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

    id = "ranking"
    about = "ranking"
    stretch = 2.0
    structure = "the class of every row is public and not protected: a replaced row stays in its class"

    def public_structure(self, method: Method) -> str:
        """Return the classes, where sizes are given; otherwise a record may change its class."""
        return self.structure if method.numbers else ""

    def further(self, setting: Setting, method: Method) -> Conditions:
        """Yield that pairs are ordered by a loss of one sign, without a constant column, and that sizes add up."""
        problem = setting.problem
        claim = "a pair is ordered by a loss of the margin whose slope has one sign"
        yield Hypothesis(claim, problem.loss.id in MONOTONE, f"use one of the losses {', '.join(MONOTONE)}")
        claim = "there is no constant column, which cancels in every pair"
        yield Hypothesis(claim, problem.intercept == 0, "pass intercept=0.0")
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

    def term(self, facts: Constants, method: Method) -> float:
        """Return Gam for records that may change their class, rho of a pair for those that may not."""
        return min(facts.gradient_diameter, facts.lipschitz) if method.counts else facts.gradient_diameter


class GraphConvolution(WeightedMinimiser):
    """One linear layer on a public graph: a node's record enters the rows of the node and of its neighbours."""

    id = "graph-convolution"
    about = "graph-convolution"
    structure = "the graph is public and not protected: a replaced node keeps its neighbours"

    def further(self, setting: Setting, method: Method) -> Conditions:
        """Yield that a node has at most n - 1 neighbours."""
        claim, n = "a node has at most n - 1 neighbours, by a public graph (no ReLU between)", setting.n_samples
        yield Hypothesis(claim, method.counts[0] < n, f"pass a largest degree below {n}")

    def share(self, setting: Setting, method: Method) -> float:
        """Return ``(D + 1) / n``."""
        return (method.counts[0] + 1) / setting.n_samples


class BaggedMinimisers(WeightedMinimiser):
    """The mean of minimisers on m disjoint parts: a record moves one of them."""

    id = "bagging.minimisers"
    about = "bagging"

    def further(self, setting: Setting, method: Method) -> Conditions:
        """Yield that every part has a row, and that weights are what is averaged."""
        yield parts_have_rows(setting, method)
        claim = "every part answers with its minimiser's weights, not with other numbers"
        yield Hypothesis(claim, len(method.counts) == 1, f"write bagging:{method.counts[0]}")

    def share(self, setting: Setting, method: Method) -> float:
        """Return ``1 / (m n_b)``."""
        parts = method.counts[0]
        return 1 / (parts * (setting.n_samples // parts))


class BootstrappedMinimisers(WeightedMinimiser):
    """The mean of minimisers on m bags of n rows, drawn with replacement by public coins."""

    id = "bootstrap"
    about = "bootstrap"

    def share(self, setting: Setting, method: Method) -> float:
        """Return ``most / (m n)``: coins are public, so that the largest number of draws is."""
        bags, most = method.counts
        return most / (bags * setting.n_samples)


class ClippedParts(Theorem):
    """The mean of anything that was trained on m disjoint parts and clipped to norm C: ``2 C / m``, convex or not."""

    id = "bagging.clipped"
    about = "bagging"

    def hypotheses(self, setting: Setting) -> Conditions:
        """Yield replaced records, a radius, and parts with rows."""
        claim, remedy = "every part's answer is clipped to a public radius", "declare a radius, and clip answers to it"
        yield Hypothesis(claim, setting.problem.domain.radius is not None, remedy)
        yield parts_have_rows(setting, method_named(setting.recipe.method))

    def sensitivity(self, setting: Setting) -> float:
        """Return ``2 C / m``."""
        parts = method_named(setting.recipe.method).counts[0]
        return 2 * (setting.problem.domain.radius or 0.0) / parts * (1 + ROUNDING_MARGIN)


def parts_have_rows(setting: Setting, method: Method) -> Hypothesis:
    """Return the condition that rows are dealt to parts by a public rule, and every part gets one."""
    claim = "rows are dealt to the parts by a public rule, evenly, and every part has one"
    return Hypothesis(claim, method.counts[0] <= setting.n_samples, f"pass at most {setting.n_samples} parts")
