"""Bridge regression, between the lasso and the ridge: the penalty alpha sum |w_j|^p with 1 < p < 2.

python examples/bridge.py

No solver of scikit-learn minimises it. Its curvature fades with the weights, and is bounded on the ball that holds
every minimiser: see docs/proofs/bridge.md.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILON, ALPHA, POWER = 1.0, 0.02, 1.5


def released(
    rows: np.ndarray, labels: np.ndarray, epsilon: float = EPSILON, seed: int | None = None
) -> tuple[np.ndarray, eq.Certificate]:
    """Return noisy weights and their certificate; labels are 0 and 1."""
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    model = eq.BridgeClassifier(
        epsilon, domain=domain, alpha=ALPHA, fit_intercept=False, power=POWER, random_state=seed
    ).fit(rows, labels)
    return model.coef_.ravel(), model.certificate_


def main() -> None:
    """Release on public data in the role of private rows, each scaled to norm 1 by itself."""
    rows, y = make_classification(20_000, n_features=5, n_informative=3, n_redundant=0, random_state=0)
    rows = normalize(rows)
    weights, certificate = released(rows, y)

    print(f"{certificate.theorem}: sensitivity {certificate.sensitivity:.3g} with the penalty "
          f"{certificate.claim.problem.penalty.name}")  # fmt: skip
    print(f"accuracy {np.mean((rows @ weights > 0) == y):.3f}")
    print(certificate.explain().splitlines()[0])
    print(f"conditions that do not hold: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
