"""Random coordinate descent on a ridge, released through A4.

python examples/coordinate_descent.py

Each step minimises along one column, drawn by coins. What its stability is on average certifies nothing; that it ends
close to the minimiser does. eq.release_solution checks the gradient, and polishes the weights where it is too large.
See docs/proofs/A4.md.
"""

import numpy as np
from sklearn.datasets import make_regression
from sklearn.preprocessing import normalize

import equipoise as eq

ALPHA, STEPS = 0.02, 500

X, y = make_regression(10_000, n_features=5, random_state=0)
X, y = normalize(X), np.clip(y / 100, -1.0, 1.0)
n, columns = X.shape

coins = np.random.default_rng(0)
products, pulls = 2 * X.T @ X / n + ALPHA * np.eye(columns), 2 * X.T @ y / n
weights = np.zeros(columns)
for column in coins.integers(columns, size=STEPS):
    weights[column] += (pulls[column] - products[column] @ weights) / products[column, column]

domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
model = eq.Ridge(epsilon=1.0, domain=domain, alpha=ALPHA, fit_intercept=False, mechanism="output")
eq.release_solution(weights, model, X, y)

certificate = model.certificate_
problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", ALPHA), domain)
bound = eq.bounds(problem, eq.Recipe(certificate.argument.tolerance), n, columns)[0]
print(f"sensitivity {certificate.sensitivity:.4g}, {bound.sensitivity:.4g} by {bound.theorem}")
print(f"share of the variance explained: {model.score(X, y):.3f}")
print(certificate.explain().splitlines()[0])
print(f"fields that do not follow: {list(certificate.verify())}")
