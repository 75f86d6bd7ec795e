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

EPSILON, ALPHA, STEPS = 1.0, 0.02, 500


def trained(rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the weights after so many steps, each the minimiser along a drawn column."""
    columns = rows.shape[1]
    products = 2 * rows.T @ rows / len(rows) + ALPHA * np.eye(columns)
    pulls, weights = 2 * rows.T @ targets / len(rows), np.zeros(columns)
    for column in np.random.default_rng(0).integers(columns, size=STEPS):
        weights[column] += (pulls[column] - products[column] @ weights) / products[column, column]
    return weights


def released(
    rows: np.ndarray, targets: np.ndarray, epsilon: float = EPSILON, seed: int | None = None
) -> tuple[np.ndarray, eq.Certificate]:
    """Return noisy weights and their certificate; targets lie between -1 and 1."""
    domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
    model = eq.Ridge(epsilon, domain=domain, alpha=ALPHA, fit_intercept=False, mechanism="output", random_state=seed)
    # A value in a row neither raises nor warns. Whatever comes of it, the door begins there and ends at the tolerance.
    with np.errstate(all="ignore"):
        weights = trained(rows, targets)
    eq.release_solution(weights, model, rows, targets)
    return model.coef_, model.certificate_


def main() -> None:
    """Release on public data in the role of private rows, each scaled to norm 1 by itself."""
    rows, y = make_regression(10_000, n_features=5, random_state=0)
    rows, y = normalize(rows), np.clip(y / 100, -1.0, 1.0)
    weights, certificate = released(rows, y)

    print(f"{certificate.theorem}: sensitivity {certificate.sensitivity:.4g}; any solver will do that ends at a "
          f"gradient of norm {certificate.claim.tolerance:.2g}")  # fmt: skip
    print(f"share of the variance explained: {1 - np.mean((rows @ weights - y) ** 2) / y.var():.3f}")
    print(certificate.explain().splitlines()[0])
    print(f"conditions that do not hold: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
