"""The frozen nouns of the house: public facts, and nothing that depends on a private row.

Evolution law (a certificate outlives the code that wrote it): fields are never removed or given another meaning; new
ones are optional, with a default that reproduces the old behaviour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

from equipoise.errors import InvalidParameter, NoTheoremApplies

if TYPE_CHECKING:
    from equipoise.vocabulary.losses import Loss
    from equipoise.vocabulary.penalties import Penalty

Label = int | float | str | bool


class Adjacency(Enum):
    """When two datasets are neighbours. There is one answer in this house: n is public and one row is replaced."""

    REPLACE_ONE = "replace-one"


# Public numbers stay inside these powers of ten, so that neither squares nor products overflow or vanish (M4).
SMALLEST, LARGEST = 1e-100, 1e100

# No table has more rows or columns; sums of so many terms still stay inside the bounds of rounding (M4).
LARGEST_COUNT = 10**15

# Beyond this epsilon nothing is hidden, and the noise would fall below the arithmetic that adds it (docs/proofs/D1.md).
LARGEST_EPSILON = 1e15


def require_number(
    name: str, value: object, *, above: float, remedy: str, inclusive: bool = False, largest: float = LARGEST
) -> float:
    """Return `value` as a float when it is a number above the bound and of a size that arithmetic can bear.

    Examples
    --------
    >>> require_number("epsilon", 1, above=0.0, remedy="pass epsilon=1.0")
    1.0
    """
    bound = f"a finite {name} {'>=' if inclusive else '>'} {above:g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidParameter(bound, f"{name}={value!r} of type {type(value).__name__}", remedy)
    number = float(value)
    if not math.isfinite(number) or number < above or (number == above and not inclusive):
        raise InvalidParameter(bound, f"{name}={value!r}", remedy)
    is_scale = above == 0 and not inclusive
    if abs(number) > largest or (is_scale and number < SMALLEST):
        sizes = f"{name} between {SMALLEST:g} and {largest:g} in size"
        raise InvalidParameter(sizes, f"{name}={value!r}", f"change the unit; {remedy}")
    return number


def require_count(name: str, value: object, remedy: str) -> int:
    """Return `value` as a positive int of a size that a table can have, and refuse anything else.

    Examples
    --------
    >>> require_count("n_samples", 100, "pass the number of rows")
    100
    """
    whole = plain(value)
    if isinstance(whole, bool) or not isinstance(whole, int) or whole < 1:
        raise InvalidParameter(f"{name}, a whole number >= 1", f"{name}={value!r}", remedy)
    if whole > LARGEST_COUNT:
        raise InvalidParameter(f"{name} of at most {LARGEST_COUNT:g}", "a larger number", remedy)
    return whole


def plain(value: object) -> object:
    """Return a NumPy scalar as the plain Python value it stands for, anything else unchanged."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "shape", None) == () else value


@dataclass(frozen=True, slots=True)
class Budget:
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
        epsilon = require_number(
            "epsilon", plain(self.epsilon), above=0.0, largest=LARGEST_EPSILON, remedy="pass epsilon=1.0, for example"
        )
        remedy = "pass delta=0.0 for pure privacy, or one well below 1/n"
        delta = require_number("delta", plain(self.delta), above=0.0, inclusive=True, remedy=remedy)
        if delta >= 1.0:
            raise InvalidParameter("a delta in [0, 1)", f"delta={self.delta!r}", remedy)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)


@dataclass(frozen=True, slots=True)
class Domain:
    """What is publicly known about the rows before any of them is read; the library enforces it row by row.

    Parameters
    ----------
    row_norm : float
        Every row is clipped to this L2 norm.
    classes : tuple of labels, or "observed", optional
        The public label set of a classification; an unknown label is mapped to the first class. "observed" is the
        user's word that the label set found in the data is public, and makes the certificate "conditional".
    labels : (low, high), optional
        The public range of a regression's target; targets are clipped into it, non-finite ones become the midpoint.
    radius : float, optional
        A constraint on the norm of the weights (constant column included).
    fill : float
        What a non-finite value becomes.

    Examples
    --------
    >>> Domain(row_norm=1.0, classes=(0, 1)).classes
    (0, 1)
    >>> Domain(row_norm=1.0, labels=(0.0, 400.0)).label_bound
    200.0
    """

    row_norm: float
    classes: tuple[Label, ...] | Literal["observed"] | None = None
    labels: tuple[float, float] | None = None
    radius: float | None = None
    fill: float = 0.0

    def __post_init__(self) -> None:
        """Refuse facts that cannot be true, and turn NumPy scalars into plain numbers."""
        remedy = "declare the largest L2 norm a row may have; longer rows are clipped to it"
        row_norm = require_number("row_norm", plain(self.row_norm), above=0.0, remedy=remedy)
        object.__setattr__(self, "row_norm", row_norm)
        if self.radius is not None:
            remedy = "leave radius out, or bound the norm of the weights"
            object.__setattr__(self, "radius", require_number("radius", plain(self.radius), above=0.0, remedy=remedy))
        fill = require_number("fill", plain(self.fill), above=-math.inf, remedy="pass the value that replaces NaN")
        object.__setattr__(self, "fill", fill)
        if self.classes is not None and self.labels is not None:
            raise InvalidParameter(
                "either classes or labels", "both", "classes for a classifier, labels for a regressor"
            )
        if self.classes is not None and self.classes != "observed":
            self._settle_classes()
        if self.labels is not None:
            self._settle_labels()

    def _settle_classes(self) -> None:
        remedy = 'write classes=(0, 1) or classes=("no", "yes"), the public label set'
        given: object = self.classes
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InvalidParameter("a tuple of class labels", f"classes={given!r}", remedy)
        classes = tuple(plain(label) for label in given)
        if not all(isinstance(label, int | float | str | bool) for label in classes):
            raise InvalidParameter("classes that are numbers or strings", f"classes={classes!r}", remedy)
        if len(set(classes)) != len(classes) or len(classes) < 2:
            raise InvalidParameter("at least two different classes", f"classes={classes!r}", remedy)
        object.__setattr__(self, "classes", classes)

    def _settle_labels(self) -> None:
        remedy = "write labels=(low, high), the public range of the target"
        given: object = self.labels
        ends = () if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
        if len(ends) != 2:
            raise InvalidParameter("label bounds (low, high)", f"labels={given!r}", remedy)
        low, high = (require_number("label bound", plain(end), above=-math.inf, remedy=remedy) for end in ends)
        if not low < high or high - low < SMALLEST:
            raise InvalidParameter("label bounds with low < high", f"labels={given!r}", remedy)
        object.__setattr__(self, "labels", (low, high))

    @property
    def label_centre(self) -> float:
        """The public midpoint that regression targets are centred at (0 for classes, which are coded -1 and +1)."""
        return 0.0 if self.labels is None else self.labels[0] + (self.labels[1] - self.labels[0]) / 2

    @property
    def label_bound(self) -> float:
        """Y: the largest absolute value of a centred target (1 for classes)."""
        return 1.0 if self.labels is None else (self.labels[1] - self.labels[0]) / 2


@dataclass(frozen=True, slots=True)
class Problem:
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
        if self.loss.task == "classification" and self.domain.classes is None:
            raise InvalidParameter(
                f"a domain with classes for the {self.loss.id} loss",
                f"{self.domain!r}",
                f"write Domain(row_norm={self.domain.row_norm:g}, classes=(0, 1)): "
                "the public label set is never read from data",
            )
        if self.loss.task == "regression" and self.domain.labels is None:
            raise InvalidParameter(
                f"a domain with label bounds for the {self.loss.id} loss",
                f"{self.domain!r}",
                f"write Domain(row_norm={self.domain.row_norm:g}, labels=(low, high)): "
                "the public range is never read from data",
            )

    @property
    def row_norm(self) -> float:
        """B: the norm of a row with its constant column."""
        return math.hypot(self.domain.row_norm, self.intercept)

    def dimension(self, n_features: int) -> int:
        """Return the number of weights that are released."""
        return (n_features + (1 if self.intercept > 0 else 0)) * self.loss.free_outputs


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the objective is solved. Everything in it is fixed before a row is read.

    Parameters
    ----------
    tolerance : float
        The solver stops at a point where some subgradient of the objective has at most this norm, for every dataset. 0
        stands for the exact minimiser, an ideal that theorems speak of and no computer returns.

    Examples
    --------
    >>> Recipe(tolerance=1e-8).tolerance
    1e-08
    """

    tolerance: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a tolerance that is not a number."""
        remedy = "pass a gradient norm such as 1e-8, or 0.0 for the exact minimiser"
        tolerance = require_number("tolerance", plain(self.tolerance), above=0.0, inclusive=True, remedy=remedy)
        object.__setattr__(self, "tolerance", tolerance)


@dataclass(frozen=True, slots=True)
class Constants:
    """The numbers that follow from loss x penalty x domain (THEOREMS section 0 and A2).

    `lipschitz`, `gradient_diameter` and `penalty_slope` are suprema over weights of norm at most `radius`, which
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
    penalty_slope: float


@dataclass(frozen=True, slots=True)
class Setting:
    """What a theorem sees: a problem, a recipe, the public size of the data, and the constants that follow."""

    problem: Problem
    recipe: Recipe
    n_samples: int
    n_features: int
    constants: Constants
    adjacency: Adjacency = Adjacency.REPLACE_ONE


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One condition of a theorem: what it claims, whether it holds here, and what to do when it does not."""

    claim: str
    holds: bool
    remedy: str


@dataclass(frozen=True, slots=True)
class Bound:
    """A theorem's answer for one setting: a bound on the L2 distance, or the hypotheses that are missing.

    Examples
    --------
    >>> Bound("A1", True, 0.5, ()).applies
    True
    """

    theorem: str
    certifies: bool
    value: float | None
    hypotheses: tuple[Hypothesis, ...]

    @property
    def applies(self) -> bool:
        """Whether every hypothesis holds."""
        return all(hypothesis.holds for hypothesis in self.hypotheses)

    @property
    def sensitivity(self) -> float:
        """The value, for a bound that applies."""
        if self.value is None:
            remedies = "; ".join(hypothesis.remedy for hypothesis in self.missing)
            raise NoTheoremApplies(f"a bound from {self.theorem}", "hypotheses that do not hold", remedies)
        return self.value

    @property
    def missing(self) -> tuple[Hypothesis, ...]:
        """The hypotheses that do not hold, each with its remedy."""
        return tuple(hypothesis for hypothesis in self.hypotheses if not hypothesis.holds)
