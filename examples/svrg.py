"""SVRG, a stochastic solver with reduced variance, released through A4.

python examples/svrg.py

Bounds on SVRG's own stability hold in expectation and certify nothing. But any solver will do that ends close to the
minimiser of a ridge: eq.release_solution checks the gradient on the clipped rows, polishes the weights where it is too
large, and adds the noise that the minimiser needs. See docs/proofs/A4.md.
"""

import numpy as np
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILON, ALPHA, STEP, ROUNDS = 1.0, 0.02, 1.0, 6


def slopes(rows: np.ndarray, signs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the slope of the logistic loss at every row's prediction."""
    return -signs * expit(-signs * (rows @ weights))


def trained(rows: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return the weights after so many rounds of n steps, each corrected by the full gradient at the round's start."""
    coins, weights = np.random.default_rng(0), np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        anchor = weights.copy()
        full = rows.T @ slopes(rows, signs, anchor) / len(rows)
        for row in coins.integers(len(rows), size=len(rows)):
            picked, sign = rows[row], signs[row]
            difference = slopes(picked, sign, weights) - slopes(picked, sign, anchor)
            weights = weights - STEP * (difference * picked + full + ALPHA * weights)
    return weights


def released(
    rows: np.ndarray, labels: np.ndarray, epsilon: float = EPSILON, seed: int | None = None
) -> tuple[np.ndarray, eq.Certificate]:
    """Return noisy weights and their certificate; labels are 0 and 1."""
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    model = eq.LogisticRegression(
        epsilon, domain=domain, alpha=ALPHA, fit_intercept=False, mechanism="output", random_state=seed
    )
    # A value in a row neither raises nor warns. Whatever comes of it, the door begins there and ends at the tolerance.
    with np.errstate(all="ignore"):
        weights = trained(rows, np.where(labels == 1, 1.0, -1.0))
    eq.release_solution(weights[None, :], model, rows, labels)
    return model.coef_.ravel(), model.certificate_


def main() -> None:
    """Release on public data in the role of private rows, each scaled to norm 1 by itself."""
    rows, y = make_classification(5_000, n_features=5, random_state=0)
    rows = normalize(rows)
    weights, certificate = released(rows, y)

    print(f"{certificate.theorem}: sensitivity {certificate.sensitivity:.4g}; any solver will do that ends at a "
          f"gradient of norm {certificate.claim.tolerance:.2g}")  # fmt: skip
    print(f"accuracy {np.mean((rows @ weights > 0) == y):.3f}")
    print(certificate.explain().splitlines()[0])
    print(f"conditions that do not hold: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
