"""Polyak's heavy ball: least squares by a few steps with momentum, released without a ridge.

python examples/heavy_ball.py

Nothing is minimised: the weights are those of the last of a public number of steps, and eq.bounds knows how far apart
such runs can end. See docs/proofs/B9.heavy-ball.md.
"""

import numpy as np
from sklearn.datasets import make_regression
from sklearn.preprocessing import normalize

import equipoise as eq
from equipoise.proof.mechanisms import named, quietest
from equipoise.proof.noise import ExactSource

EPSILON, STEP, MOMENTUM, STEPS = 1.0, 0.2, 0.5, 15

X, y = make_regression(20_000, n_features=4, random_state=0)
n, columns = X.shape

# Public facts: the domain, the bound, the noise.
domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("none", 0.0), domain)
recipe = eq.Recipe(passes=STEPS, batch_size=n, step=STEP, method=f"heavy-ball:{MOMENTUM}")
(bound,) = eq.bounds(problem, recipe, n, columns)
calibration = quietest(bound.sensitivity, columns, eq.Budget(EPSILON))

# Private rows from here on, mapped into the domain one by one: 1/100 is a public unit of the target.
X, y = normalize(np.nan_to_num(X, posinf=0.0, neginf=0.0)), np.clip(np.nan_to_num(y / 100), -1.0, 1.0)
before = weights = np.zeros(columns)
for _ in range(STEPS):
    gradient = 2 * X.T @ (X @ weights - y) / n
    before, weights = weights, weights - STEP * gradient + MOMENTUM * (weights - before)
released = named(calibration.mechanism).release(weights, calibration.scale, ExactSource())

print(f"{bound.theorem}: sensitivity {bound.sensitivity:.3g} after {STEPS} steps; {calibration.mechanism} noise, "
      f"deviation {calibration.deviation:.3g} a weight")  # fmt: skip
errors = [np.mean((X @ one - y) ** 2) for one in (released, weights)]
print(f"mean squared error {errors[0]:.4f} (without noise {errors[1]:.4f}, of the target {y.var():.4f})")
print(
    f"Claim (by eq.bounds and {calibration.mechanism}): epsilon = {EPSILON:g}, delta = 0, replace-one, n = {n} public"
)
