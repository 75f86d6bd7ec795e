"""The calculus of constants: loss x penalty x domain -> Lipschitz, smoothness, strong convexity, gradient diameter."""

import math
from dataclasses import replace

from ..errors import InvalidParameter
from .facts import Constants, Problem, Recipe, Setting
from .numbers import require_count

# Rows are summed in blocks of this many, so that rounding grows with the block and the number of blocks, not with n.
BLOCK_ROWS = 4096

# Clipped rows may be longer than their norm by rounding, and their loss steeper by this share (SGD-rounding.md).
STEEPER = 1e-9

# No tolerance is smaller: the squares in a computed norm would vanish, and a test pass that proves nothing (M4).
LEAST_TOLERANCE = 1e-130


def constants(problem: Problem, reach: float | None = None) -> Constants:
    """Return the constants that follow from a problem's public facts (docs/proofs/A2.md).

    The radius contains the exact minimiser of every dataset (docs/proofs/A2.md, lemma R); where noise enters before
    the minimiser is found, the weights are kept within `reach` instead.

    Examples
    --------
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.facts import Domain
    >>> facts = constants(Problem(losses.named("squared"), penalties.named("l2", 0.5), Domain(1.0, labels=(-1.0, 1.0))))
    >>> round(facts.radius, 6), facts.strong_convexity
    (1.0, 0.5)
    """
    if reach is not None and reach < 0:
        raise InvalidParameter("a ball of weights", f"radius={reach!r}", "pass a radius of at least 0")
    radius = _radius(problem) if reach is None else reach
    return _within(problem, radius, problem.penalty.strong_convexity(radius), math.inf)


def _within(problem: Problem, radius: float, strong_convexity: float, clip: float) -> Constants:
    """Return the constants over weights of this norm at most, where gradients longer than `clip` are shortened."""
    loss, row_norm, label_bound = problem.loss, problem.row_norm, problem.domain.label_bound
    lipschitz = min(clip, row_norm * loss.slope_bound(row_norm * radius, label_bound))
    smoothness = loss.curvature_bound() * row_norm**2
    diameter = min(loss.gradient_diameter(row_norm, radius, label_bound), 2 * lipschitz)
    return Constants(row_norm, label_bound, radius, lipschitz, smoothness, strong_convexity, diameter)


def _radius(problem: Problem) -> float:
    label_bound = problem.domain.label_bound
    radius = problem.penalty.minimiser_radius(lambda reach: problem.loss.pull(reach, label_bound), problem.row_norm)
    return radius if problem.domain.radius is None else min(radius, problem.domain.radius)


def tree_depth(n_samples: int) -> int:
    """Return how many additions of blocks a row's term passes at most, in a tree over all blocks (N12).

    Examples
    --------
    >>> tree_depth(4096), tree_depth(10**6), tree_depth(10**9)
    (0, 8, 18)
    """
    return ((n_samples - 1) // BLOCK_ROWS).bit_length()


def rounding_unit(n_samples: int, dimension: int) -> float:
    """Return ``g = (block + depth + d + 20) 2^-53``, the relative rounding of a computed gradient (A4, N12)."""
    return (BLOCK_ROWS + tree_depth(n_samples) + dimension + 20) * 2.0**-53


def well_conditioned(facts: Constants, n_samples: int, dimension: int) -> bool:
    """Return whether ``100 g (beta + mu) <= mu``: only then is a small computed gradient a near minimum (A4).

    Losses with corners are tested in another way, which needs no such condition.
    """
    if math.isinf(facts.smoothness):
        return True
    curvature = facts.smoothness + facts.strong_convexity
    return 100 * rounding_unit(n_samples, dimension) * curvature <= facts.strong_convexity


def rounding_floor(facts: Constants, n_samples: int, dimension: int) -> float:
    """Return a bound on how far a computed gradient can be from the true one (L3, docs/proofs/A4.md).

    ``g (rho + mu R + (beta + mu) R)`` with g as in `rounding_unit`: sums in blocks, dot products of length d, and
    predictions that are themselves rounded. Without smoothness the slopes are given numbers, and the prediction's
    rounding does not reach them: ``g (rho + 2 mu R)``.
    """
    smoothness = 0.0 if math.isinf(facts.smoothness) else facts.smoothness
    reach = (smoothness + facts.strong_convexity) * facts.radius
    return rounding_unit(n_samples, dimension) * (facts.lipschitz + facts.strong_convexity * facts.radius + reach)


def smallest_tolerance(facts: Constants, n_samples: int, dimension: int) -> float:
    """Return the smallest tolerance that rounding lets a solver prove (docs/proofs/A4.md).

    20 rounding floors for a smooth loss. For a loss with corners, 2 floors and twice the root of mu times the rounding
    of the mean Fenchel gap, ``4 rho R (d + 4) 2^-53`` (docs/proofs/L3.md).
    """
    floor = rounding_floor(facts, n_samples, dimension)
    if not math.isinf(facts.smoothness):
        return max(20 * floor, LEAST_TOLERANCE)
    gap = 4 * facts.lipschitz * facts.radius * (dimension + 4) * 2.0**-53
    return max(2 * floor + 2 * math.sqrt(facts.strong_convexity * gap), LEAST_TOLERANCE)


def masked(problem: Problem, recipe: Recipe) -> Problem:
    """Return the problem that a descent sees: where masks hide columns, what is left of a row is clipped shorter (B6).

    Examples
    --------
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.facts import Domain
    >>> problem = Problem(losses.named("hinge"), penalties.named("l2", 0.5), Domain(2.0, classes=(0, 1)))
    >>> masked(problem, Recipe(passes=1, step=0.1, dropout=0.75)).row_norm
    1.0
    """
    if recipe.dropout == 0:
        return problem
    shorter = problem.domain.row_norm * math.sqrt(1 - recipe.dropout)
    return replace(problem, domain=replace(problem.domain, row_norm=shorter))


def descent_constants(problem: Problem, recipe: Recipe, n_samples: int) -> Constants:
    """Return the constants over the weights that a descent from 0 can visit (docs/proofs/SGD-rounding.md).

    The radius is the least of the domain's and, a hundredth more for rounding, of ``g T step``, ``g / alpha`` and
    ``sqrt((pull + step L^2) / alpha)``: g bounds the gradient at 0 where steps on a smooth loss do not expand, and any
    gradient elsewhere.
    """
    seen = masked(problem, recipe)
    loss, ridge, clip = seen.loss, seen.penalty.smoothness(), math.inf if recipe.clip is None else recipe.clip
    row_norm, label_bound, length = seen.row_norm, seen.domain.label_bound, recipe.length
    smoothness = loss.curvature_bound() * row_norm**2
    steady = math.isfinite(smoothness) and length * (smoothness * (1 + STEEPER) + 2 * ridge) <= 2
    steepest = min(clip, row_norm * loss.slope_bound(math.inf, label_bound))
    pull = min(clip, row_norm * loss.slope_bound(0.0, label_bound)) if steady else steepest
    # A ridge that overshoots by more than it shrinks can carry weights away without end.
    reaches = [pull * length * recipe.steps(n_samples) if length * ridge <= 2 else math.inf]
    if ridge > 0 and length * ridge <= 1:
        reaches += [pull / ridge, math.sqrt((loss.pull(math.inf, label_bound) + length * steepest**2) / ridge)]
    return _within(seen, min(1.01 * min(reaches), seen.domain.radius or math.inf), ridge, clip)


def setting_in_ball(problem: Problem, recipe: Recipe, n_samples: int, n_features: int, radius: float) -> Setting:
    """Return what a theorem sees of weights in a ball, for gradients that are shortened to the recipe's clip (B7)."""
    facts = constants(problem, radius)
    lipschitz = min(math.inf if recipe.clip is None else recipe.clip, facts.lipschitz)
    facts = replace(facts, lipschitz=lipschitz, gradient_diameter=min(facts.gradient_diameter, 2 * lipschitz))
    return Setting(problem, recipe, n_samples, n_features, facts)


def setting(problem: Problem, recipe: Recipe, n_samples: int, n_features: int) -> Setting:
    """Return what a theorem sees."""
    rows = require_count("n_samples", n_samples, "pass the public number of rows")
    columns = require_count("n_features", n_features, "pass the number of columns")
    facts = descent_constants(problem, recipe, rows) if recipe.descends else constants(problem)
    return Setting(problem, recipe, rows, columns, facts)
