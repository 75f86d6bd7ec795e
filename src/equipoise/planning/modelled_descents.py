"""Plain descents on the reference problem: what is left of the start, of the noise of every step and of the batches.

The noise that privacy asks for in a step does not depend on how long the step is, and everything after it is free: the
length, the number of rows in a batch and which weights are averaged are those of least modelled cost. Nothing here
looks at a row, and no privacy claim rests on it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from equipoise.planning.losses import known as known_loss
from equipoise.planning.reference import Reference, averaged_descent, of_problem
from equipoise.vocabulary.facts import Averaging, Problem

if TYPE_CHECKING:
    from equipoise.planning.reference import Array

# How many step lengths are considered: half octaves below the longest.
LENGTHS = 70

# The longest step, over one by the curvature of all directions together: where all rows lie along one, and curve twice
# as much at the start as around the best weights, it still shrinks an error.
LONGEST = 0.5


def reference_of(problem: Problem, n_features: int, clip: float | None) -> Reference:
    """Return the reference problem of gradients that are clipped at this norm, as curved as the clipped loss."""
    if clip is None:
        return of_problem(problem, n_features)
    return of_problem(replace(problem, loss=known_loss(problem.loss).clipped(clip / problem.row_norm)), n_features)


def lengths_below(longest: float) -> Array:
    """Return step lengths, the longest first.

    Examples
    --------
    >>> lengths_below(2.0)[:3].round(3).tolist()
    [2.0, 1.414, 1.0]
    """
    import numpy as np

    return np.asarray(longest * np.exp2(-np.arange(LENGTHS) / 2))


def public_lengths(imagined: Reference, alpha: float) -> Array:
    """Return the step lengths that a rule picks from, the longest first.

    Examples
    --------
    >>> from equipoise.planning.reference import reference
    >>> from equipoise.vocabulary import losses
    >>> lengths = public_lengths(reference(losses.named("squared"), 1.0, 1.0, 10), 0.0)
    >>> round(float(lengths[0]), 9), len(lengths)
    (0.25, 70)
    """
    return lengths_below(LONGEST / (_summed(imagined) + alpha))


def _summed(imagined: Reference) -> float:
    """Return the curvature of all directions together."""
    return sum(map(math.prod, zip(imagined.counts, imagined.curvatures, strict=True)))


def begun(average: Averaging, steps: int) -> int:
    """Return after how many steps averaging begins.

    Examples
    --------
    >>> [begun(average, 10) for average in ("last", "uniform", "suffix")]
    [9, 0, 5]
    """
    return {"last": steps - 1, "uniform": 0, "suffix": min((steps + 1) // 2, steps - 1)}[average]


def pull_of_a_batch(problem: Problem, imagined: Reference, clip: float | None, batch: int) -> Array:
    """Return the variance of a batch's mean gradient along each direction: rows pull as a typical one does."""
    import numpy as np

    pull = known_loss(problem.loss).typical_slope(problem.domain.label_bound) * problem.row_norm
    pull = pull if clip is None else min(pull, clip)
    directions = np.array(imagined.curvatures) / _summed(imagined)
    # Along one of several outputs a row pulls with its part.
    variances: Array = pull**2 * directions / (batch * problem.loss.free_outputs)
    return variances


def modelled_costs(
    imagined: Reference, alpha: float, lengths: Array, steps: int, average: Averaging, variance: Array | float
) -> list[float]:
    """Return the modelled cost of steps of each length, with noise of this variance in every gradient.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.planning.reference import reference
    >>> from equipoise.vocabulary import losses
    >>> imagined = reference(losses.named("logistic"), 1.0, 1.0, 10)
    >>> short, long = modelled_costs(imagined, 0.0, np.array([1e-3, 10.0]), 100, "uniform", 1e-6)
    >>> short > 0.9, long < 0.1
    (True, True)
    """
    import numpy as np

    short, left = averaged_descent(imagined, alpha, lengths, steps, begun(average, steps))
    with np.errstate(all="ignore"):
        costs: list[float] = imagined.shares(short, left * variance).tolist()
    return costs


def cheapest_length(lengths: Array, costs: list[float]) -> tuple[float, float]:
    """Return the smallest cost and the length that has it; the longest of equals, and where all diverge the shortest.

    Examples
    --------
    >>> import numpy as np
    >>> cheapest_length(np.array([2.0, 1.0, 0.5]), [0.3, 0.1, 0.1])
    (0.1, 1.0)
    >>> cheapest_length(np.array([2.0, 1.0]), [math.inf, math.inf])
    (inf, 1.0)
    """
    place = costs.index(min(costs)) if min(costs) < math.inf else len(costs) - 1
    return costs[place], float(lengths[place])
