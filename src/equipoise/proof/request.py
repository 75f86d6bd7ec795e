"""What a user asks for, in public facts only: the input of every certificate."""

from dataclasses import dataclass, replace
from typing import Literal

from equipoise.errors import InvalidParameter
from equipoise.proof.dropout import Dropout
from equipoise.proof.private_bounds import PrivateBounds
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Budget, Domain, Problem, Recipe
from equipoise.vocabulary.numbers import plain, require_count


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
        The public shape of the data.
    budget : Budget
        The privacy loss allowed.
    mechanism : str
        Where the noise enters: a route ("output", "objective", "noisy-gradient", ...), "auto" for the one with the
        smallest modelled cost, or the name of one law of noise on the output.
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
    private_bounds : PrivateBounds, optional
        The columns whose bounds are released first, and the part of the budget that pays for them.
    recipe : Recipe, optional
        How the weights descend; None where a solver minimises.
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
    private_bounds: PrivateBounds | None = None
    recipe: Recipe | None = None
    dropout: Dropout | None = None
    selection: str = ""

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
        return replace(self, budget=self.private_bounds.left(self.budget), private_bounds=None)

    def problem(self, alpha: float) -> Problem:
        """Return the objective with this strength of penalty."""
        return Problem(losses.named(self.loss), penalties.named(self.penalty, alpha), self.domain, self.intercept)
