"""Bagging three ways: trees' votes in a vector, ridges on disjoint parts, ridges on bootstrap samples.

python examples/bagging.py

Parts and bags are drawn by public coins before a row is read. Whatever is trained on disjoint parts, its mean moves by
2 C / m when every part's output is clipped to norm C; minimisers of a ridge move less. See the pages
docs/proofs/bagging.clipped.md, docs/proofs/bagging.minimisers.md and docs/proofs/bootstrap.md.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize
from sklearn.tree import DecisionTreeClassifier

import equipoise as eq
from equipoise.proof.mechanisms import named, quietest
from equipoise.proof.noise import ExactSource

# Each of the three releases is a spend of its own.
EPSILON = 1.0
ALPHA, PARTS, BAGS = 0.1, 200, 25

X, y = make_classification(10_000, n_features=4, random_state=0)
X = normalize(X)
n, columns = X.shape
coins = np.random.default_rng(0)
parts = np.array_split(coins.permutation(n), PARTS)
bags = [coins.integers(n, size=n) for _ in range(BAGS)]
most = int(sum(np.bincount(bag, minlength=n) for bag in bags).max())


def noisy(mean: np.ndarray, bound: eq.Bound) -> np.ndarray:
    """Return the mean with the noise that hides the bound."""
    calibration = quietest(bound.sensitivity, len(mean), eq.Budget(EPSILON))
    print(f"{bound.theorem}: sensitivity {bound.sensitivity:.4g}, deviation {calibration.deviation:.3g} a number")
    return named(calibration.mechanism).release(mean, calibration.scale, ExactSource())


# Anything at all: each part's tree votes on 8 public points, and its votes are a vector of norm sqrt(8).
points = normalize(coins.normal(size=(8, columns)))
labels = eq.Domain(row_norm=1.0, classes=(0, 1), radius=np.sqrt(8))
problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", ALPHA), labels)
clipped = {bound.theorem: bound for bound in eq.bounds(problem, eq.Recipe(method=f"bagging:{PARTS}"), n)}
votes = [2.0 * DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[part], y[part]).predict(points) - 1
         for part in parts]  # fmt: skip
kept = noisy(np.mean(votes, axis=0), clipped["bagging.clipped"])
print(f"  votes that keep their sign: {np.mean((kept > 0) == (np.mean(votes, axis=0) > 0)):.2f}")

# Ridges, which are solved exactly up to rounding; the tolerance covers that.
domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
ridge = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", ALPHA), domain)


def solved(rows: np.ndarray) -> np.ndarray:
    """Return the minimiser of the mean squared loss plus ``alpha/2 |w|^2``; its Hessian is never singular."""
    hessian = 2 * X[rows].T @ X[rows] / len(rows) + ALPHA * np.eye(columns)
    return np.linalg.solve(hessian, 2 * X[rows].T @ (2.0 * y[rows] - 1) / len(rows))


for method, sets in ((f"bagging:{PARTS}", parts), (f"bootstrap:{BAGS}/{most}", bags)):
    bound = eq.bounds(ridge, eq.Recipe(1e-9, method=method), n, columns)[0]
    weights = noisy(np.mean([solved(rows) for rows in sets], axis=0), bound)
    print(f"  accuracy {np.mean((X @ weights > 0) == y):.3f}")

print(f"Claim (by eq.bounds and noise on the means): epsilon = {EPSILON:g} for each of the three, delta = 0, "
      f"replace-one, n = {n} public")  # fmt: skip
