"""The mean of a target and hardly anything else: what to release where columns cost more than they tell.

Where noise drowns a regression, a model of all columns is worse than the mean of the targets, and often far worse.
Rows are then reduced to one public random direction (P1), which says little, and that by chance, beside a constant
column that is twice as long as rows may be, so that most of the budget goes to the mean (docs/mechanisms.md).
"""

from dataclasses import replace

from equipoise.certify.claims import Trained
from equipoise.planning.reference import of_problem
from equipoise.planning.request import Request
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Problem

# Columns are given up where every model of them loses more than this share of what a typical prediction carries. Real
# targets spread less than the imagined ones, about half as far, so that noise counts for more than the model says:
# settled with fifty public regressions in view, and judged on twenty others (docs/mechanisms.md).
MOST_LOST = 0.6

# One direction, the fewest that there can be.
DIRECTIONS = 1

# The constant column in row norms: a longer one would tell the mean with less noise, and the direction with more.
HEIGHT = 2.0


# Of few columns a direction says too much, and all of them cost little; on fewer than these nothing was measured.
FEWEST_COLUMNS = 6

# What to keep in mind of such a release.
SAID = (
    "the mean of the target is told alone, and predictions depend on columns by chance only, for columns would cost "
    "more than they tell: take a larger epsilon, more rows, fewer columns or tighter bounds of the target to learn "
    "more, or mechanism='objective' to have all columns whatever they cost"
)


def is_mean_alone(claim: Trained) -> bool:
    """Whether a claim is about the mean of a target and one random direction: the constant column tells.

    Version 0.2.0 took a few directions for regressions, one at times, with the constant column of all columns.
    """
    problem = claim.problem
    one = problem.loss.task == "regression" and getattr(claim, "projection", 0) == DIRECTIONS
    return one and problem.intercept == HEIGHT * problem.domain.row_norm


def reduced(request: Request) -> Request | None:
    """Return the request for a target's mean alone; nothing where none is to be told, or more was asked for.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget, Domain
    >>> asked = Request("squared", "l2", "public", Domain(2.0, labels=(0.0, 1.0)), 1.0, 400, 30, Budget(0.1))
    >>> found = reduced(asked)
    >>> found.n_features, found.intercept
    (1, 4.0)
    >>> reduced(replace(asked, intercept=0.0)), reduced(replace(asked, alpha=0.5))
    (None, None)
    """
    plain = request.penalty == "l2" and request.domain.radius is None and isinstance(request.alpha, str)
    told = losses.named(request.loss).task == "regression" and request.intercept > 0
    if not (plain and told) or request.n_features < FEWEST_COLUMNS:
        return None
    return replace(request, n_features=DIRECTIONS, intercept=HEIGHT * request.domain.row_norm)


def constants(request: Request) -> tuple[float, ...]:
    """Return the constant columns that plans of a request have: that of all columns, and that of the mean alone."""
    mean = reduced(request)
    return (request.intercept,) if mean is None else (request.intercept, mean.intercept)


def cost(problem: Problem, alpha: float, tilt: float, deviation: float) -> float:
    """Return the modelled cost of a tilted minimiser that tells the mean alone, as a share of what is at stake.

    All that predictions carry is lost, which is 1, and of the mean what the ridge keeps back along the constant column,
    of curvature ``k = c intercept^2``; noise in the mean costs ``k v``. How much rows have of the direction nobody
    knows: where its curvature is the ridge, noise costs most, ``tilt^2 / (4 alpha)``.

    Examples
    --------
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.facts import Domain
    >>> known = Domain(1.0, labels=(-1.0, 1.0))
    >>> problem = Problem(losses.named("squared"), penalties.named("l2", 0.5), known, intercept=4.0)
    >>> round(cost(problem, 0.5, tilt=0.0, deviation=0.0), 6), round(cost(problem, 0.5, tilt=0.1, deviation=0.0), 3)
    (1.000237, 1.024)
    """
    imagined = of_problem(problem, DIRECTIONS)
    stakes = sum(count * curvature for count, curvature in zip(imagined.counts, imagined.curvatures, strict=True))
    constant = stakes * (problem.intercept / problem.row_norm) ** 2
    short = alpha / (constant + alpha)
    noise = constant * (tilt / (constant + alpha)) ** 2 + tilt * tilt / (4 * alpha) + stakes * deviation * deviation
    return 1.0 + (sum(imagined.means) * short * short + noise) / (stakes * imagined.weight**2)
