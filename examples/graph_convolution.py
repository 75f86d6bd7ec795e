"""One layer of graph convolution: a node's features are averaged with its neighbours', then a private linear model.

python examples/graph_convolution.py

The graph is public, what the nodes hold is private. A node's record enters its own row and those of its neighbours, at
most D + 1 of n, so that an estimator at epsilon / (D + 1) a row gives epsilon a node. See
docs/proofs/graph-convolution.md.
"""

import numpy as np
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILON, ALPHA = 2.0, 0.05
NODES, COLUMNS = 6_000, 3

# A ring with chords: every node has four neighbours, two on either side.
coins = np.random.default_rng(0)
neighbours = np.stack([np.roll(np.arange(NODES), shift) for shift in (0, 1, 2, -1, -2)])
degree = len(neighbours) - 1
# Labels change slowly along the ring, and features are noisy signs of them.
y = (np.sin(np.arange(NODES) / 40) > 0).astype(int)
features = normalize(coins.normal(size=(NODES, COLUMNS)) + np.outer(2.0 * y - 1, [0.5, 0.3, 0.0]))

# The layer: a public, linear map of everyone's features. The estimator clips its rows to norm 1 again.
rows = features[neighbours].mean(0)

domain = eq.Domain(row_norm=1.0, classes=(0, 1))
problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", ALPHA), domain)
models = {}
for name, table in (("with the graph", rows), ("without it", features)):
    level = EPSILON / (degree + 1) if table is rows else EPSILON
    models[name] = eq.LogisticRegression(
        epsilon=level, domain=domain, alpha=ALPHA, fit_intercept=False, mechanism="output"
    ).fit(table, y)
    print(f"{name}: accuracy {models[name].score(table, y):.3f}")

certificate = models["with the graph"].certificate_
recipe = eq.Recipe(certificate.argument.tolerance, method=f"graph-convolution:{degree}")
(bound,) = eq.bounds(problem, recipe, NODES, COLUMNS)
# The mechanism's scale is that of the node's sensitivity at the node's epsilon; the tolerance is counted once there.
print(f"{bound.theorem}: a node moves the weights by at most {bound.sensitivity:.4g}, a row by "
      f"{certificate.sensitivity:.4g}: {bound.sensitivity / certificate.sensitivity:.3f} times as much")  # fmt: skip
print(certificate.explain().splitlines()[0], "for one row of the layer")
print(f"Claim (for a node, by {bound.theorem}): epsilon = {EPSILON:g}, delta = 0, replace-one, the graph is public")
print(f"fields that do not follow: {list(certificate.verify())}")
