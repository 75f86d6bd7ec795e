"""The frozen nouns of the house: public facts, and nothing that depends on a private row.

Evolution law (a certificate outlives the code that wrote it): fields are never removed or given another meaning; new
ones are optional, with a default that reproduces the old behaviour.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, get_args

from ..errors import InvalidParameter, NoTheoremApplies
from .declared import for_each_class, settled_bounds, settled_classes, settled_ends
from .declared import is_label as is_label
from .discovery import split_name
from .losses import Loss
from .methods import method_named
from .numbers import LARGEST_EPSILON, plain, require_count, require_number, settle
from .penalties import Penalty
from .records import Of
from .records import Record as Record

Label = int | float | str | bool


class Budget(Record):
    """How much privacy loss is allowed: (epsilon, delta), where delta = 0 means pure differential privacy.

    Examples
    --------
    >>> Budget(1.0)
    Budget(epsilon=1.0, delta=0.0)
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a budget that means nothing."""
        settle(self, "epsilon", above=0.0, largest=LARGEST_EPSILON, remedy="pass epsilon=1.0, for example")
        given, remedy = self.delta, "pass delta=0.0 for pure privacy, or one well below 1/n"
        if settle(self, "delta", above=0.0, inclusive=True, remedy=remedy) >= 1.0:
            raise InvalidParameter("a delta in [0, 1)", f"delta={given!r}", remedy)


class Domain(Record):
    """What is publicly known about the rows before any of them is read; the library enforces it row by row.

    Parameters
    ----------
    row_norm : float
        Every row is clipped to this L2 norm. Bounds of all `d` columns imply ``sqrt(d/3 + 0.6 sqrt(d))``, which one in
        40 rows is longer than where values are spread evenly; none is longer than ``sqrt(d)``.
    classes : tuple of labels, or "observed", optional
        The public label set of a classification; an unknown label is mapped to the first class. "observed" is the
        user's word that the label set found in the data is public, and makes the certificate "conditional".
    labels : (low, high), optional
        The public range of a regression's target; targets are clipped into it, non-finite ones become the midpoint.
    radius : float, optional
        A constraint on the norm of the weights (constant column included).
    fill : float
        What a non-finite value becomes; with bounds, in the units that they are scaled to, where 0 is the middle.
    rows_a_person : int, optional
        None where a row is a person. Otherwise every person has some rows, of which so many are kept at most; the
        number of persons is public, and the promise is about all rows of one (N1).
    class_weights : tuple of float, optional
        What a row of each class counts for, in the order of `classes`: above 0 and at most 1. None where every row
        counts for 1. Estimators take weights of any size by `class_weight` (N2).
    row_sum : float, optional
        Every row is clipped so that the absolute values of its entries add up to this at most: rows of a few entries
        that are not 0 need less noise for it (E2d). None where only the norm is bounded.
    prevalence : tuple of float, optional
        The public share of each class, in the order of `classes`. Plans are made for it, and no claim rests on it.
    bounds : ((low, high), ...) or (low, high), optional
        The public range of every column, or one for all columns: values are clipped into it and scaled to [-1, 1],
        ``(x - middle) / half``, before anything else. Norm, sum and weights are about columns so scaled. None where
        rows are taken as they are.

    Examples
    --------
    >>> round(Domain(bounds=[(17, 90), (0, 1), (0, 99), (0, 1)], classes=(0, 1)).row_norm, 3)
    1.592
    >>> Domain(row_norm=1.0, labels=(0.0, 400.0)).label_bound
    200.0
    """

    row_norm: float = 0.0
    classes: tuple[Label, ...] | Literal["observed"] | None = None
    labels: tuple[float, float] | None = None
    radius: float | None = None
    fill: float = 0.0
    rows_a_person: int | None = None
    class_weights: tuple[float, ...] | None = None
    row_sum: float | None = None
    prevalence: tuple[float, ...] | None = None
    bounds: tuple[tuple[float, float], ...] | tuple[float, float] | list[tuple[float, float]] | None = None

    def __post_init__(self) -> None:
        """Refuse facts that cannot be true, and turn NumPy scalars into plain numbers."""
        remedy = "declare the largest L2 norm a row may have, longer rows are clipped to it; or bounds of every column"
        if self.bounds is not None:
            object.__setattr__(self, "bounds", settled_bounds(self.bounds))
            if isinstance(self.row_norm, float) and self.row_norm == 0:
                if not isinstance(self.bounds[0], tuple):
                    raise InvalidParameter("a row_norm beside one pair of bounds for all columns", "none", remedy)
                # Rows spread evenly over bounds have a squared norm of d/3, and two deviations more in one of 40 rows.
                object.__setattr__(self, "row_norm", math.sqrt((d := len(self.bounds)) / 3 + 0.6 * math.sqrt(d)))
        settle(self, "row_norm", above=0.0, remedy=remedy)
        if self.radius is not None:
            settle(self, "radius", above=0.0, remedy="leave radius out, or bound the norm of the weights")
        if self.row_sum is not None:
            settle(self, "row_sum", above=0.0, remedy="leave row_sum out, or bound the sum of a row's absolute values")
        settle(self, "fill", above=-math.inf, remedy="pass the value that replaces NaN")
        if self.rows_a_person is not None:
            remedy = "pass the most rows that one person counts with, for example 100, or leave it out"
            object.__setattr__(self, "rows_a_person", require_count("rows_a_person", self.rows_a_person, remedy))
        if self.classes is not None and self.labels is not None:
            raise InvalidParameter("either classes or labels", "both", "classes for classifiers, labels for regressors")
        if self.classes is not None and self.classes != "observed":
            object.__setattr__(self, "classes", settled_classes(self.classes))
        if self.labels is not None:
            object.__setattr__(self, "labels", settled_ends("label", self.labels))
        for name, what in (("class_weights", "weight"), ("prevalence", "share")):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, for_each_class(given, self.classes, what))

    @property
    def unit(self) -> str:
        """What neighbours differ in, and n counts: a "row" or a "person"."""
        return "row" if self.rows_a_person is None else "person"

    @property
    def label_centre(self) -> float:
        """The public midpoint that regression targets are centred at (0 for classes, which are coded -1 and +1)."""
        return 0.0 if self.labels is None else self.labels[0] + (self.labels[1] - self.labels[0]) / 2

    @property
    def label_bound(self) -> float:
        """Y: the largest absolute value of a centred target (1 for classes)."""
        return 1.0 if self.labels is None else (self.labels[1] - self.labels[0]) / 2


class Problem(Record):
    """A convex objective (1/n) sum(loss) + penalty over rows in a domain, with a penalised constant column.

    Parameters
    ----------
    loss, penalty : Loss, Penalty
        Members of `equipoise.losses` and `equipoise.penalties`.
    domain : Domain
        The public facts about the rows.
    intercept : float
        The entry of the constant column that is appended to every row; 0 for no intercept. It is penalised like any
        other weight, so the theorems cover it with row norm sqrt(row_norm^2 + intercept^2).

    Examples
    --------
    >>> from equipoise.vocabulary.losses.logistic import Logistic
    >>> from equipoise.vocabulary.penalties.l2 import L2
    >>> Problem(Logistic(), L2(0.1), Domain(row_norm=3.0, classes=(0, 1)), intercept=4.0).row_norm
    5.0
    """

    loss: Loss
    penalty: Penalty
    domain: Domain
    intercept: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a domain whose target does not fit the loss."""
        remedy = "pass 0.0 for no intercept"
        require_number("intercept", self.intercept, above=0.0, inclusive=True, remedy=remedy)
        classifies, domain = self.loss.task == "classification", self.domain
        if (domain.classes if classifies else domain.labels) is None:
            missing, written = ("classes", "classes=(0, 1)") if classifies else ("label bounds", "labels=(low, high)")
            remedy = f"write Domain(row_norm={domain.row_norm:g}, {written}): they are public, never read from data"
            raise InvalidParameter(f"a domain with {missing} for the {self.loss.id} loss", f"{domain!r}", remedy)

    @property
    def row_norm(self) -> float:
        """B: the norm of a row with its constant column."""
        return math.hypot(self.domain.row_norm, self.intercept)

    def dimension(self, n_features: int) -> int:
        """Return the number of weights that are released."""
        return (n_features + (1 if self.intercept > 0 else 0)) * self.loss.free_outputs


Order = Literal["permutation", "fresh", "replacement"]
Averaging = Literal["last", "uniform", "suffix"]

# The rules that a step may be named by: the first two say what a length follows from, the last needs a number after it.
STEP_RULES = ("public", "decay", "langevin")
# What to do about a number of a recipe that is none, or below 0.
REMEDIES = {
    "tolerance": "pass a gradient norm such as 1e-8; if none is asked for, a smaller row_norm, or a larger alpha",
    "passes": "pass passes=10",
    "decay": "pass decay=0.0 for steps of one length, or the ridge",
    "dropout": "pass dropout=0.0 for none, or a share below 1",
    "skip": "pass skip=0.0 for none, or a share below 1",
}


class Recipe(Record):
    """How weights come from the objective. Everything in it is fixed before a row is read.

    Without passes a solver minimises. With passes the weights descend along gradients of batches,
    ``w <- Proj(prox(w - step (mean gradient of the batch + ridge w)))``, from 0.

    Parameters
    ----------
    tolerance : float
        The solver stops at a point where some subgradient of the objective has at most this norm, for every dataset. 0
        stands for the exact minimiser, an ideal that theorems speak of and no computer returns.
    passes : float
        How often every row is used; ``ceil(passes * ceil(n / batch_size))`` steps.
    batch_size : int
        How many rows, or persons, a step sees. A sum over a short last batch is divided by this number as well.
    step : float or str
        The length of a step, or a rule: "public" (from public facts), "decay" (``min(1/beta, 1/(alpha t))``), or for
        noise in every step "langevin:B" with the inverse temperature B.
    decay : float
        0 for steps of one length, otherwise the t-th step is ``min(step, 1/(decay t))``.
    order : "permutation", "fresh" or "replacement"
        One public order of the rows, a new one in every pass, or rows drawn in secret. Persons are first dealt to
        places in secret, and the orders are those of places (N1).
    average : "last", "uniform" or "suffix"
        Which weights are used: the last, the mean of all, or the mean of those after the second half of the steps.
    clip : float, optional
        The largest norm of one row's gradient; longer ones are shortened (B7).
    dropout : float
        The share of columns that public masks hide in every step (B6).
    skip : float
        The chance that a step is left out, by secret coins (B6).
    method : str
        The name of another algorithm with its public numbers, "heavy-ball:0.5" (`equipoise.vocabulary.methods`).

    Examples
    --------
    >>> Recipe(passes=3, batch_size=32, step=0.1).steps(100)
    12
    """

    tolerance: float = 0.0
    passes: float = 0.0
    batch_size: int = 1
    step: float | str = 0.0
    decay: float = 0.0
    order: Order = "permutation"
    average: Averaging = "last"
    clip: float | None = None
    dropout: float = 0.0
    skip: float = 0.0
    method: str = ""

    def __post_init__(self) -> None:
        """Refuse what is no recipe."""
        for name, remedy in REMEDIES.items():
            share = settle(self, name, above=0.0, inclusive=True, remedy=remedy)
            if name in ("dropout", "skip") and share >= 1:
                raise InvalidParameter(f"{name} in [0, 1)", f"{name}={share!r}", remedy)
        object.__setattr__(self, "batch_size", require_count("batch_size", self.batch_size, "pass batch_size=64"))
        object.__setattr__(self, "step", _settled_step(self.step, self.passes > 0))
        for name, choices in (("order", get_args(Order)), ("average", get_args(Averaging))):
            if getattr(self, name) not in choices:
                allowed = " or ".join(repr(choice) for choice in choices)
                raise InvalidParameter(f"{name}, {allowed}", f"{name}={getattr(self, name)!r}", f"pass {choices[0]!r}")
        if self.clip is not None:
            settle(self, "clip", above=0.0, remedy="leave clip out, or pass a gradient norm")
        if self.method:
            method_named(self.method)

    @property
    def descends(self) -> bool:
        """Whether the weights come from passes over batches rather than from a minimiser or another method."""
        return self.passes > 0 and not self.method

    @property
    def length(self) -> float:
        """The length of the first step, where it is a number."""
        if not isinstance(self.step, str):
            return self.step
        remedy = "pass a number; eq.bounds has no budget from which the rule could follow"
        raise InvalidParameter("a step length", f"the rule {self.step!r}", remedy)

    def batches(self, n_samples: int) -> int:
        """Return how many batches a pass has."""
        if self.batch_size > n_samples:
            asked, found = f"batches of at most the {n_samples} rows that there are", f"batch_size={self.batch_size}"
            raise InvalidParameter(asked, found, f"pass batch_size={n_samples} for all rows in every step, or fewer")
        return -(-n_samples // self.batch_size)

    def steps(self, n_samples: int) -> int:
        """Return how many steps all passes have; a billionth of a step is rounding."""
        return max(1, math.ceil(self.passes * self.batches(n_samples) - 1e-9))


def _settled_step(step: object, descends: bool) -> float | str:
    value, remedy = plain(step), 'pass a number such as 0.1, "public", "decay" or "langevin:1000"'
    if callable(value):
        found = "a function, which could look at the data"
        raise InvalidParameter("step lengths that are fixed before a row is read", found, remedy)
    if not isinstance(value, str):
        return require_number("step", value, above=0.0, inclusive=not descends, remedy=remedy)
    name, colon, parameter = value.partition(":")
    if name not in STEP_RULES or bool(colon) != (name == "langevin"):
        raise InvalidParameter("a step length, or a rule for one", f"step={value!r}", remedy)
    if colon:
        split_name(value, "step")
        require_number("inverse temperature", float(parameter), above=0.0, remedy=remedy)
    return value


class Constants(Record):
    """The numbers that follow from loss x penalty x domain (docs/proofs/A2.md).

    `lipschitz` and `gradient_diameter` are suprema over weights of norm at most `radius`, which
    contains the exact minimiser of every dataset; `smoothness` is that of one example's loss; `strong_convexity` is
    that of the whole objective, from the penalty alone.
    """

    row_norm: float
    label_bound: float
    radius: float
    lipschitz: float
    smoothness: float
    strong_convexity: float
    gradient_diameter: float


class Setting(Record):
    """What a theorem sees: a problem, a recipe, the public size of the data, and the constants that follow."""

    problem: Problem
    recipe: Recipe
    n_samples: int
    n_features: int
    constants: Constants

    @property
    def dimension(self) -> int:
        """The number of weights that are released."""
        return self.problem.dimension(self.n_features)

    @property
    def rows(self) -> int:
        """The most rows that sums are over, which rounding grows with: n, or as many as n persons may have."""
        return self.n_samples * (self.problem.domain.rows_a_person or 1)

    @property
    def batch_rows(self) -> int:
        """The most rows that a batch's sum is over."""
        return self.recipe.batch_size * (self.problem.domain.rows_a_person or 1)

    # What neighbours differ in.
    unit = Of[str]("problem.domain.unit")


class Hypothesis(Record):
    """One condition of a theorem: what it claims, whether it holds here, and what to do when it does not."""

    claim: str
    holds: bool
    remedy: str


Conditions = Iterator[Hypothesis]


class Chance(Record):
    """One value of a random sensitivity, and how likely it is."""

    probability: float
    value: float


class Bound(Record):
    """A theorem's answer for one setting: a bound on the L2 distance, or the hypotheses that are missing.

    Where secret coins decide how often a row is used, `law` says how likely each distance is (M1), up to a chance that
    it leaves out; `value` is then the largest, which coins can reach.

    Examples
    --------
    >>> Bound("A1", True, 0.5, ()).applies
    True
    """

    theorem: str
    certifies: bool
    value: float | None
    hypotheses: tuple[Hypothesis, ...]
    law: tuple[Chance, ...] = ()

    @property
    def typical(self) -> float | None:
        """The mean distance of a random bound, the value of any other: what bounds are compared by (M2)."""
        return sum(chance.probability * chance.value for chance in self.law) if self.law else self.value

    @property
    def applies(self) -> bool:
        """Whether every hypothesis holds."""
        return all(hypothesis.holds for hypothesis in self.hypotheses)

    @property
    def sensitivity(self) -> float:
        """The value, for a bound that applies."""
        if self.value is not None:
            return self.value
        remedies = "; ".join(hypothesis.remedy for hypothesis in self.missing)
        raise NoTheoremApplies(f"a bound from {self.theorem}", "hypotheses that do not hold", remedies)

    @property
    def missing(self) -> tuple[Hypothesis, ...]:
        """The hypotheses that do not hold, each with its remedy."""
        return tuple(hypothesis for hypothesis in self.hypotheses if not hypothesis.holds)
