"""The paper's mechanisms as it prints them, and the older ones that it compares with. None of them certifies anything.

What is wrong with each is said where it stands; docs/errata.md has the list. The rest of the study uses the product.
"""

import math

import numpy as np
from numpy.typing import NDArray

from equipoise_studies.private_regression.linear import Array, Linear, Squares, spherical
from equipoise_studies.private_regression.preparation import Rows

# The squared loss bends with 2 |x|^2, at most 2 for unit rows: the c of Algorithm 3.
CURVATURE = 2.0
# Algorithm 5: ridges and the two sets of radii, and the bound that it divides the loss by.
RIDGES = tuple(0.002 * 2**power for power in range(8))
RADII = {"R1": (0.25, 0.5, 1.0), "R2": (0.5, 1.0, 2.0)}
CHUNKS = 25


def public_ridge(n_columns: int, n_rows: int, epsilon: float) -> float:
    """Return the data-independent ridge, `sqrt(d / (n epsilon))`.

    Examples
    --------
    >>> round(public_ridge(14, 2650, 0.2), 4)
    0.1625
    """
    return math.sqrt(n_columns / (n_rows * epsilon))


def output_scale(ridge: float, radius: float, n_rows: int, epsilon: float) -> float:
    """Return the scale of Algorithm 4's noise, `(12 R + 8) / (lambda n epsilon)`: private, and too large (A2, E1)."""
    return (12 * radius + 8) / (ridge * n_rows * epsilon)


def output(squares: Squares, epsilon: float, ridge: float, radius: float, stream: np.random.Generator) -> Linear:
    """Return Algorithm 4 (rls-out)."""
    noise = spherical(stream, len(squares.moment), output_scale(ridge, radius, squares.n_rows, epsilon))
    return Linear(squares.solve(ridge, radius) + noise)


def output_short_noise(
    squares: Squares, epsilon: float, ridge: float, radius: float, stream: np.random.Generator
) -> Linear:
    """Return Algorithm 4 with a slip that is easily made: a direction, and a norm from an exponential law.

    The density `exp(-norm / b)` in d dimensions has a norm from the law Gamma(d), d times as long. It is measured to
    see whether it explains the paper's figures; it is not private.
    """
    direction = spherical(stream, len(squares.moment), 1.0)
    norm = stream.exponential(output_scale(ridge, radius, squares.n_rows, epsilon))
    return Linear(squares.solve(ridge, radius) + direction / np.linalg.norm(direction) * norm)


def objective(squares: Squares, epsilon: float, ridge: float, radius: float, stream: np.random.Generator) -> Linear:
    """Return Algorithm 3 with `beta = epsilon / 2`; it is not epsilon-private for the squared loss.

    Its lines 1 and 2 compute an epsilon' and a Delta that lines 3 and 4 do not use, and slopes reach 2 (R + 1), not 1.
    """
    noise = spherical(stream, len(squares.moment), 2 / epsilon)
    return Linear(squares.solve(ridge, radius, tilt=noise / squares.n_rows))


def objective_epsilon(ridge: float, radius: float, n_rows: int, epsilon: float) -> float:
    """Return the epsilon that Algorithm 3 has by E2 with the right slopes: the noise's share and the bend's.

    Examples
    --------
    >>> round(objective_epsilon(0.0727, 1.0, 2650, 1.0), 2)
    2.61
    """
    cosine = 2 * radius / (1 + math.hypot(1, math.sqrt(8) * radius))
    diameter = 4 * (1 + radius * cosine) * math.sqrt(1 - cosine**2)
    return diameter * epsilon / 2 + math.log1p(CURVATURE / (n_rows * ridge))


def tuned_objective_epsilon(radii: str, n_rows: int, epsilon: float) -> float:
    """Return the epsilon of Algorithm 5 around Algorithm 3: a row trains one candidate or helps to choose.

    Weights of Algorithm 3 stay in the ball, so that losses are bounded by `(R + 1)^2` and choosing costs little; what
    one row bends in a small chunk with a small ridge costs most.

    Examples
    --------
    >>> [round(tuned_objective_epsilon("R1", 2650, epsilon), 1) for epsilon in (0.1, 1.0, 10.0)]
    [2.6, 4.9, 28.3]
    """
    chunk, largest = n_rows // CHUNKS, max(RADII[radii])
    trained = max(objective_epsilon(ridge, radius, chunk, epsilon) for ridge in RIDGES for radius in RADII[radii])
    return max(trained, epsilon * (largest + 1) ** 2 / (chunk * largest**2))


def functional(squares: Squares, epsilon: float, stream: np.random.Generator, deviations: float = 4.0) -> Linear:
    """Return the functional mechanism with its published sensitivity, `2 (d + 1)^2`: private, and ten times too noisy.

    Laplace noise on every coefficient of the sum of squares, a ridge of four deviations of the noise, and the
    eigenvalues that stay below zero left out, as Zhang et al. (2012) do.
    """
    size = len(squares.moment)
    scale = 2 * (size + 1) ** 2 / epsilon
    upper = np.triu(stream.laplace(scale=scale, size=(size, size)))
    # A monomial x_j x_l with j < l has one noisy coefficient, half of which stands on either side of the diagonal.
    quadratic = squares.n_rows * squares.gram + (upper + upper.T) / 2
    linear = -2 * squares.n_rows * squares.moment + stream.laplace(scale=scale, size=size)
    values, vectors = np.linalg.eigh(quadratic + deviations * math.sqrt(2) * scale * np.eye(size))
    kept = values > 0
    projected = vectors[:, kept]
    return Linear(-projected @ ((projected.T @ linear) / (2 * values[kept])))


def tuned(losses: Array, epsilon: float, largest_radius: float, stream: np.random.Generator) -> int:
    """Return which candidate Algorithm 5 takes: probabilities `exp(-loss epsilon / (2 R^2))`.

    Its sensitivity `R^2` holds for no noisy candidate, whose loss has no bound, and the mean over the validation rows
    would have a sensitivity smaller by their number.
    """
    return exponential(-losses * epsilon / (2 * largest_radius**2), stream)


def exponential(exponents: Array, stream: np.random.Generator) -> int:
    """Return a place drawn with probabilities proportional to the exponentials.

    Examples
    --------
    >>> exponential(np.array([-1e9, 0.0, -1e9]), np.random.default_rng(0))
    1
    """
    odds = np.exp(exponents - exponents.max())
    return int(stream.choice(len(odds), p=odds / odds.sum()))


# A public discretisation for the histogram: how many steps each column has, and for the dose.
STEPS = {"age": (-1.0, 0.0, 1.0), "height": (-0.3, 0.3), "weight": (-0.25, 0.25)}
DOSES = (-0.75, -0.25, 0.25, 0.75)


def cells() -> tuple[Array, Array]:
    """Return the features and the target of every cell of the public discretisation."""
    levels = [np.array(STEPS[name])[:, None] for name in STEPS]
    for count in (3, 6, 3, 2, 2):
        levels.append(np.eye(count)[:, 1:])
    grids = np.meshgrid(*(np.arange(len(level)) for level in levels), np.arange(len(DOSES)), indexing="ij")
    places = [grid.ravel() for grid in grids]
    unscaled = np.hstack([level[place] for level, place in zip(levels, places[:-1], strict=True)])
    half = unscaled / 2
    return half / np.maximum(1, np.linalg.norm(half, axis=1))[:, None], np.array(DOSES)[places[-1]]


def cell_of(unscaled: Array, target: Array) -> NDArray[np.intp]:
    """Return the cell in which each row lies."""
    places = [np.abs(unscaled[:, [at]] - np.array(steps)).argmin(1) for at, steps in enumerate(STEPS.values())]
    first = len(STEPS)
    for count in (3, 6, 3, 2, 2):
        group = unscaled[:, first : first + count - 1]
        places.append(np.where(group.any(1), group.argmax(1) + 1, 0))
        first += count - 1
    places.append(np.abs(target[:, None] - np.array(DOSES)).argmin(1))
    shape = (*(len(steps) for steps in STEPS.values()), 3, 6, 3, 2, 2, len(DOSES))
    return np.asarray(np.ravel_multi_index(tuple(places), shape), dtype=np.intp)


def histogram(
    rows: Rows, unscaled: Array, table: tuple[Array, Array], epsilon: float, stream: np.random.Generator
) -> Linear:
    """Return least squares on a noisy histogram; small counts are left out, as the projected histogram does.

    Replacing one row changes two counts by 1, so Laplace noise of scale `2 / epsilon` on every cell is epsilon-private.
    The threshold is public: what the largest of that many draws of noise reaches.
    """
    features, target = table
    counts = np.bincount(cell_of(unscaled, rows.target), minlength=len(target)).astype(np.float64)
    counts += stream.laplace(scale=2 / epsilon, size=len(counts))
    counts[counts < 2 / epsilon * math.log(len(counts))] = 0
    if not counts.any():
        return Linear(np.zeros(features.shape[1]))
    share = counts / counts.sum()
    padded = np.column_stack([features, np.ones(len(share))])
    kept = share > 0
    gram = (padded[kept] * share[kept, None]).T @ padded[kept]
    solved = np.linalg.solve(gram + 1e-3 * np.eye(len(gram)), padded[kept].T @ (share[kept] * target[kept]))
    return Linear(solved[:-1], float(solved[-1]))
