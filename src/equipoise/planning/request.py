"""What a user asks for, in public facts only: the input of every certificate."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from equipoise.certify.certificate import ADJACENCIES, Terms
from equipoise.errors import InvalidParameter, NoTheoremApplies
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Budget, Domain, Problem, Recipe
from equipoise.vocabulary.numbers import SMALLEST, plain, require_count, require_number


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which columns get private bounds, and the part of the budget that pays for all of them together (N6).

    Examples
    --------
    >>> Bounds(("age", "height"), 0.2).left(Budget(1.0)).epsilon
    0.7999999999999999
    """

    columns: tuple[str, ...]
    epsilon: float

    def __post_init__(self) -> None:
        """Refuse an empty list, a column named twice and an epsilon that is none."""
        remedy = "pass the part of epsilon that private bounds may cost, for example 0.1"
        require_number("epsilon for private bounds", self.epsilon, above=0.0, remedy=remedy)
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise InvalidParameter(
                "different columns that need bounds", f"{len(self.columns)} names", "name each column once"
            )

    def left(self, budget: Budget) -> Budget:
        """Return what remains of a budget for the model, rounded down."""
        rest = math.nextafter(budget.epsilon - self.epsilon, 0.0)
        if rest <= 0:
            raise InvalidParameter(
                "private bounds that cost less than the whole epsilon",
                f"{self.epsilon:g} of {budget.epsilon:g}",
                "raise epsilon, or spend less of it on bounds",
            )
        return Budget(rest, budget.delta)


@dataclass(frozen=True, slots=True)
class Dropout:
    """What a request says about dropout.

    Parameters
    ----------
    keep : float
        The chance that a column is kept; kept ones are divided by it.
    masks : int
        How many public masks each row has; 0 stands for the expectation over all of them, where it has a closed form.
    share : float or "public"
        The part of epsilon that pays for the curvature; "public" picks it from public facts.
    proposal : float, optional
        None releases a lower bound on the curvature, whatever it is. A number proposes that curvature: where a noisy
        test does not confirm it, the release is refused.

    Examples
    --------
    >>> Dropout(0.8, 0)
    Dropout(keep=0.8, masks=0, share='public', proposal=None)
    """

    keep: float
    masks: int
    share: float | Literal["public"] = "public"
    proposal: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no chance, no count, no share or no curvature."""
        object.__setattr__(self, "keep", _inside("keep_probability", self.keep, "pass keep_probability=0.8"))
        masks = plain(self.masks)
        if masks != 0:
            masks = require_count("masks", masks, "pass masks=4, the number of public masks of a row")
        object.__setattr__(self, "masks", masks)
        if self.share != "public":
            share = _inside("curvature_share", self.share, 'pass curvature_share=0.2, or "public"')
            object.__setattr__(self, "share", share)
        if self.proposal is not None:
            remedy = "pass the curvature that the data should be tested for, or None to release a lower bound on it"
            proposal = require_number("proposal", plain(self.proposal), above=0.0, remedy=remedy)
            object.__setattr__(self, "proposal", proposal)


def _inside(name: str, value: object, remedy: str) -> float:
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not SMALLEST <= number < 1:
        raise InvalidParameter(f"{name} of at least {SMALLEST:g} and below 1", f"{name}={value!r}", remedy)
    return float(number)


@dataclass(frozen=True, slots=True)
class Request:
    """The public inputs from which a certificate follows.

    Parameters
    ----------
    loss, penalty : str
        Names of members of their families.
    alpha : float or "public"
        The strength of the penalty; "public" picks it from the other fields alone.
    domain : Domain
        What is publicly known about the rows.
    intercept : float
        The entry of the constant column, 0 for none.
    n_samples, n_features : int
        The public shape of the data; where the domain says how many rows a person has at most, n counts persons.
    budget : Budget
        The privacy loss allowed.
    mechanism : str
        Where the noise enters: a kind of release ("output", "objective", "noisy-gradient", ...), "auto" for the one
        with the smallest modelled cost, or the name of one law of noise on the output.
    public_seed : int
        Drives public coins: orders, masks, directions; recorded.
    seeded : bool
        Whether the noise is repeatable, and the result therefore for experiments only.
    ledger : str, optional
        The dataset id under which the spend is recorded.
    observed_classes : bool
        Whether the classes of the domain were found in the data and declared public by the user's word.
    schema : str
        SHA-256 of the schema that encodes raw rows into the domain, "" where rows are taken as given.
    vouched : str
        Who vouches for the schema's facts, and when.
    row_norms : (float, float), optional
        Where a schema declares no row norm and hardly any row is as long as what its rows are divided by: that length,
        and the public row norm that it could declare. It adds a caveat; nothing depends on it.
    remarks : tuple of str
        What an estimator made of its public facts by a rule of its own, in sentences. They become caveats, as above.
    filled : bool
        Whether rows were shortened until most fill their norm, so that they may have nearly all of it in common: a
        descent is then fitted to several shares of it. Only the choice of steps depends on it, no claim.
    private_bounds : Bounds, optional
        The columns whose bounds are released first, and the part of the budget that pays for them.
    recipe : Recipe, optional
        How the weights descend; None where a solver minimises.
    left_open : tuple of str
        The fields of the recipe that planning fills in from public facts; what stands there holds a place.
    dropout : Dropout, optional
        The masks of a dropout model, and the part of the budget that pays for the data's curvature.
    selection : str
        The public rule by which columns are selected from the released weights, "" where none are. It adds a
        caveat; the claim does not depend on it.

    Examples
    --------
    >>> Request("logistic", "l2", 0.1, Domain(1.0, classes=(0, 1)), 0.5, 100, 3, Budget(1.0)).problem(0.1).dimension(3)
    4
    """

    loss: str
    penalty: str
    alpha: float | Literal["public"]
    domain: Domain
    intercept: float
    n_samples: int
    n_features: int
    budget: Budget
    mechanism: str = "output"
    public_seed: int = 0
    seeded: bool = False
    ledger: str | None = None
    observed_classes: bool = False
    schema: str = ""
    vouched: str = ""
    private_bounds: Bounds | None = None
    recipe: Recipe | None = None
    dropout: Dropout | None = None
    selection: str = ""
    left_open: tuple[str, ...] = ()
    row_norms: tuple[float, float] | None = None
    remarks: tuple[str, ...] = ()
    filled: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be asked; the problem itself checks loss, penalty and domain against each other."""
        object.__setattr__(
            self, "n_samples", require_count("n_samples", self.n_samples, "pass the public number of rows")
        )
        object.__setattr__(
            self, "n_features", require_count("n_features", self.n_features, "pass the number of columns")
        )
        if not isinstance(self.mechanism, str):
            raise InvalidParameter(
                "mechanism, a name", f"mechanism of type {type(self.mechanism).__name__}", 'pass mechanism="auto"'
            )
        seed = plain(self.public_seed)
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InvalidParameter("public_seed, a whole number >= 0", f"public_seed={seed!r}", "pass public_seed=0")
        object.__setattr__(self, "public_seed", seed)
        if isinstance(self.alpha, str) and self.alpha != "public":
            raise InvalidParameter('alpha > 0 or alpha="public"', f"alpha={self.alpha!r}", 'pass alpha="public"')
        if not isinstance(self.alpha, str):
            object.__setattr__(self, "alpha", self.problem(self.alpha).penalty.alpha)
        else:
            self.problem(1.0)
        if self.recipe is not None:
            self.recipe.steps(self.n_samples)
        self.for_the_model()

    def for_the_model(self) -> "Request":
        """Return what is asked of the model alone: with the budget that private bounds leave."""
        if self.private_bounds is None:
            return self
        if self.domain.unit == "person":
            raise NoTheoremApplies(
                "private bounds that cover all rows of a person",
                "no proof: N6 counts rows",
                "write the bounds of every column into the schema, from what is publicly known",
            )
        return replace(self, budget=self.private_bounds.left(self.budget), private_bounds=None)

    @property
    def rows(self) -> int:
        """The most rows that a pass is over: n, or as many as n persons may have."""
        return self.n_samples * (self.domain.rows_a_person or 1)

    def problem(self, alpha: float) -> Problem:
        """Return the objective with this strength of penalty."""
        return Problem(losses.named(self.loss), penalties.named(self.penalty, alpha), self.domain, self.intercept)

    def terms(self) -> Terms:
        """Return what a claim about this request is about."""
        return Terms(
            n_samples=self.n_samples,
            n_features=self.n_features,
            public_seed=self.public_seed,
            seeded=self.seeded,
            observed_classes=self.observed_classes or self.domain.classes == "observed",
            ledger=self.ledger,
            schema=self.schema,
            vouched=self.vouched,
            adjacency=ADJACENCIES[self.domain.unit],  # type: ignore[arg-type] # its two values are those of the terms
        )
