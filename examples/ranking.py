"""Learning to rank: two public classes of records, and a score that puts the one above the other.

python examples/ranking.py

The objective is the mean logistic loss of all pairs of a good and a bad record, plus a ridge. One record is in a share
of the pairs that the classes' sizes tell, and eq.bounds knows how far the weights can move. The example solves by
itself: as many gradient steps as the tolerance needs for any table, a number from public facts. See
docs/proofs/ranking.md.
"""

import math

import numpy as np

import equipoise as eq
from equipoise.proof.mechanisms import named, quietest
from equipoise.proof.noise import ExactSource

EPSILON, ALPHA, TOLERANCE = 1.0, 0.1, 1e-7
GOOD, BAD, COLUMNS = 300, 500, 3

coins = np.random.default_rng(0)
good = coins.normal(size=(GOOD, COLUMNS)) + np.array([1.0, 0.5, 0.0])
bad = coins.normal(size=(BAD, COLUMNS))


def clipped(rows: np.ndarray) -> np.ndarray:
    """Return rows of norm at most 1; non-finite values become 0."""
    rows = np.nan_to_num(rows, nan=0.0, posinf=0.0, neginf=0.0)
    return rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))


def gradient(weights: np.ndarray, above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return the gradient of the mean over pairs of ``log(1 + exp(-<w, x_i - x_j>))``, plus the ridge's."""
    slopes = -1 / (1 + np.exp(np.subtract.outer(above @ weights, below @ weights)))
    return (slopes.sum(1) @ above - slopes.sum(0) @ below) / slopes.size + ALPHA * weights


# Public facts: the bound, the number of steps (A4, L3), the noise.
domain = eq.Domain(row_norm=1.0, classes=(0, 1))
problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", ALPHA), domain)
recipe = eq.Recipe(TOLERANCE, method=f"ranking:{BAD}/{GOOD}")
(bound,) = eq.bounds(problem, recipe, GOOD + BAD, COLUMNS)
# A pair's row is at most 2 long: smoothness 2^2 / 4, and no minimiser is further out than 2 / alpha.
smoothness = 1 + ALPHA
steps = math.ceil(smoothness / ALPHA * math.log(4 * smoothness * (2 / ALPHA) / TOLERANCE))
calibration = quietest(bound.sensitivity, COLUMNS, eq.Budget(EPSILON))

# Private rows from here on.
good, bad = clipped(good), clipped(bad)
weights = np.zeros(COLUMNS)
for _ in range(steps):
    weights -= gradient(weights, good, bad) / smoothness
released = named(calibration.mechanism).release(weights, calibration.scale, ExactSource())

print(f"{bound.theorem}: sensitivity {bound.sensitivity:.4g}; {steps} steps; {calibration.mechanism} noise, deviation "
      f"{calibration.deviation:.3g} a weight")  # fmt: skip
shares = [np.mean(np.subtract.outer(good @ one, bad @ one) > 0) for one in (released, weights)]
print(f"pairs in the right order: {shares[0]:.3f} (without noise {shares[1]:.3f})")
claim = f"epsilon = {EPSILON:g}, delta = 0, replace-one within a class, n = {GOOD} + {BAD} public"
print(f"Claim (by eq.bounds and {calibration.mechanism}): {claim}")
