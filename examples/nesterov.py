"""Nesterov's accelerated descent with constant momentum, for least squares with a ridge.

python examples/nesterov.py

A ridge shrinks old differences, so that more steps cost little; eq.bounds knows how far apart
such runs can end. See docs/proofs/B9.nesterov.md.
"""

import numpy as np
from sklearn.datasets import make_regression
from sklearn.preprocessing import normalize

import equipoise as eq
from equipoise.proof.mechanisms import named, quietest
from equipoise.proof.noise import ExactSource

EPSILON, STEP, MOMENTUM, STEPS, ALPHA = 1.0, 0.4, 0.5, 30, 0.05

X, y = make_regression(20_000, n_features=4, random_state=0)
n, columns = X.shape

# Public facts: the domain, the bound, the noise.
domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", ALPHA), domain)
recipe = eq.Recipe(passes=STEPS, batch_size=n, step=STEP, method=f"nesterov:{MOMENTUM}")
(bound,) = eq.bounds(problem, recipe, n, columns)
calibration = quietest(bound.sensitivity, columns, eq.Budget(EPSILON))

# Private rows from here on, mapped into the domain one by one: 1/100 is a public unit of the target.
X, y = normalize(np.nan_to_num(X, posinf=0.0, neginf=0.0)), np.clip(np.nan_to_num(y / 100), -1.0, 1.0)
before = weights = np.zeros(columns)
for _ in range(STEPS):
    ahead = weights + MOMENTUM * (weights - before)
    before, weights = weights, ahead - STEP * (2 * X.T @ (X @ ahead - y) / n + ALPHA * ahead)
released = named(calibration.mechanism).release(weights, calibration.scale, ExactSource())

print(f"{bound.theorem}: sensitivity {bound.sensitivity:.3g} after {STEPS} steps; {calibration.mechanism} noise, "
      f"deviation {calibration.deviation:.3g} a weight")  # fmt: skip
errors = [np.mean((X @ one - y) ** 2) for one in (released, weights)]
print(f"mean squared error {errors[0]:.4f} (without noise {errors[1]:.4f}, of the target {y.var():.4f})")
print(
    f"Claim (by eq.bounds and {calibration.mechanism}): epsilon = {EPSILON:g}, delta = 0, replace-one, n = {n} public"
)
