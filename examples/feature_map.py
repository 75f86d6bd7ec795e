"""A private model of a curved boundary: a public feature map in front of a private linear model.

python examples/feature_map.py

Two rings, one inside the other: no line separates them. Random Fourier features, drawn from a fixed seed before any
row is seen, make an RBF-like model out of the same private logistic regression. See docs/feature-maps.md.
"""

import math

from sklearn.datasets import make_circles
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

import equipoise as eq

EPSILON = 1.0
FEATURES = 50

# Public data in the role of private rows. Only the data and the map are seeded: the noise comes from the operating
# system, so that the accuracies change a little from run to run.
points, rings = make_circles(20_000, noise=0.1, factor=0.4, random_state=0)
points, new_points, rings, new_rings = train_test_split(points, rings, test_size=0.25, random_state=0)

linear = eq.LogisticRegression(epsilon=EPSILON, domain=eq.Domain(row_norm=1.5, classes=(0, 1)))
linear.fit(points, rings)

# `fit` of the sampler reads the number of columns and its own seed, no value: the map is public. No row that comes out
# of it is longer than sqrt(2), so that nothing is clipped.
curved = Pipeline(
    [
        ("features", RBFSampler(gamma=1.0, n_components=FEATURES, random_state=0)),
        ("model", eq.LogisticRegression(epsilon=EPSILON, domain=eq.Domain(row_norm=math.sqrt(2), classes=(0, 1)))),
    ]
)
curved.fit(points, rings)

print(f"linear model:       accuracy {linear.score(new_points, new_rings):.3f}")
print(f"{FEATURES} RBF features:    accuracy {curved.score(new_points, new_rings):.3f}")
certificate = curved["model"].certificate_
print(next(line for line in certificate.explain().splitlines() if line.startswith("Claim")))
print(f"conditions that do not hold: {list(certificate.verify())}")
