"""One layer of graph convolution: a node's features are added to its neighbours', then a private linear model.

python examples/graph_convolution.py

The graph is public, what the nodes hold is private. A node's record enters its own row and those of its neighbours, at
most D + 1 of n, so that an estimator at epsilon / (D + 1) a row gives epsilon a node. See
docs/proofs/graph-convolution.md.
"""

import numpy as np
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILON, ALPHA = 2.0, 0.05
# A ring with chords: every node has four neighbours, two on either side.
SHIFTS = (0, 1, 2, -1, -2)
DEGREE = len(SHIFTS) - 1


def layer(features: np.ndarray) -> np.ndarray:
    """Return the sum of every node's features and its neighbours': a public, linear map."""
    # A value neither raises nor warns: what is no number is mapped with the row that it comes to stand in.
    with np.errstate(all="ignore"):
        return sum(np.roll(features, shift, axis=0) for shift in SHIFTS)


def model(epsilon: float, seed: int | None = None) -> eq.LogisticRegression:
    """Return the model of a row; it clips the sums to norm 1, so that one node moves D + 1 rows and no others."""
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    return eq.LogisticRegression(
        epsilon, domain=domain, alpha=ALPHA, fit_intercept=False, mechanism="output", random_state=seed
    )


def released(
    features: np.ndarray, labels: np.ndarray, epsilon: float = EPSILON, seed: int | None = None
) -> tuple[np.ndarray, eq.Certificate]:
    """Return noisy weights at epsilon a node, and the certificate, which speaks of one row: epsilon / (D + 1)."""
    fitted = model(epsilon / (DEGREE + 1), seed).fit(layer(features), labels)
    return fitted.coef_.ravel(), fitted.certificate_


def main() -> None:
    """Release on a made-up ring: labels change slowly along it, and features are noisy signs of them."""
    nodes, coins = 6_000, np.random.default_rng(0)
    y = (np.sin(np.arange(nodes) / 40) > 0).astype(int)
    features = normalize(coins.normal(size=(nodes, 3)) + np.outer(2.0 * y - 1, [0.5, 0.3, 0.0]))
    weights, certificate = released(features, y)
    alone = model(EPSILON).fit(features, y)
    print(f"with the graph: accuracy {np.mean((layer(features) @ weights > 0) == y):.3f}")
    print(f"without it: accuracy {alone.score(features, y):.3f}")

    claim = certificate.claim
    recipe = eq.Recipe(claim.tolerance, method=f"graph-convolution:{DEGREE}")
    (bound,) = eq.bounds(claim.problem, recipe, nodes, features.shape[1])
    times = bound.sensitivity / certificate.sensitivity
    print(f"{bound.theorem}: a node moves the weights by at most {bound.sensitivity:.4g}, a row by "
          f"{certificate.sensitivity:.4g}: {times:.3f} times as much")  # fmt: skip
    print(certificate.explain().splitlines()[0], "for one row of the layer")
    print(f"Claim (for a node, by {bound.theorem}): epsilon = {EPSILON:g}, delta = 0, replace-one, the graph is public")
    print(f"conditions that do not hold: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
