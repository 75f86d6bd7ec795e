"""Stochastic gradient Langevin dynamics: noise in every step, of an inverse temperature.

python examples/sgld.py

The chain is private because each of its noisy steps is, whether or not it has mixed: every step is accounted for
(docs/proofs/C3.md). "langevin:B" takes the step at which the chain's stationary law has the inverse temperature B.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILON, DELTA, ALPHA = 1.0, 1e-6, 0.05
INVERSE_TEMPERATURE, PASSES, BATCH = 2000.0, 1, 50


def released(
    rows: np.ndarray, labels: np.ndarray, epsilon: float = EPSILON, seed: int | None = None
) -> tuple[np.ndarray, eq.Certificate]:
    """Return the chain's last weights and their certificate; labels are 0 and 1."""
    model = eq.NoisySGDClassifier(
        epsilon, DELTA, eq.Domain(row_norm=1.0, classes=(0, 1)), ALPHA, fit_intercept=False, random_state=seed,
        step=f"langevin:{INVERSE_TEMPERATURE:g}", passes=PASSES, batch_size=BATCH, average="last",
    )  # fmt: skip
    model.fit(rows, labels)
    return model.coef_.ravel(), model.certificate_


def main() -> None:
    """Release on public data in the role of private rows, each scaled to norm 1 by itself."""
    rows, y = make_classification(5_000, n_features=4, random_state=0)
    rows = normalize(rows)
    weights, certificate = released(rows, y)

    print(f"{certificate.theorem}: one row moves a batch's mean gradient by at most {certificate.sensitivity:.4g}; "
          f"noise {certificate.noise_scale:.4g} in every step")  # fmt: skip
    print(f"accuracy {np.mean((rows @ weights > 0) == y):.3f}")
    print(certificate.explain().splitlines()[0])
    print(f"conditions that do not hold: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
