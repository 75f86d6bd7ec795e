"""SVRG, a stochastic solver with reduced variance, released through A4.

python examples/svrg.py

Bounds on SVRG's own stability hold in expectation and certify nothing. But any solver will do that ends close to the
minimiser of a ridge: eq.release_solution checks the gradient on the clipped rows, polishes the weights where it is too
large, and adds the noise that the minimiser needs. See docs/proofs/A4.md.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

import equipoise as eq

ALPHA, STEP, ROUNDS = 0.02, 1.0, 6

X, y = make_classification(5_000, n_features=5, random_state=0)
X, signs = normalize(X), 2.0 * y - 1
n, columns = X.shape


def slopes(rows: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the slope of the logistic loss at every row's prediction."""
    return -labels / (1 + np.exp(labels * (rows @ weights)))


coins = np.random.default_rng(0)
weights = np.zeros(columns)
for _ in range(ROUNDS):
    anchor = weights.copy()
    full = X.T @ slopes(X, signs, anchor) / n
    for row in coins.integers(n, size=n):
        picked, label = X[row], signs[row]
        difference = slopes(picked, label, weights) - slopes(picked, label, anchor)
        weights = weights - STEP * (difference * picked + full + ALPHA * weights)

domain = eq.Domain(row_norm=1.0, classes=(0, 1))
model = eq.LogisticRegression(epsilon=1.0, domain=domain, alpha=ALPHA, fit_intercept=False, mechanism="output")
eq.release_solution(weights[None, :], model, X, y)

certificate = model.certificate_
problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", ALPHA), domain)
bound = eq.bounds(problem, eq.Recipe(certificate.argument.tolerance), n, columns)[0]
print(f"sensitivity {certificate.sensitivity:.4g}, {bound.sensitivity:.4g} by {bound.theorem}")
print(f"accuracy {model.score(X, y):.3f}")
print(certificate.explain().splitlines()[0])
print(f"fields that do not follow: {list(certificate.verify())}")
