"""Bridge regression, between the lasso and the ridge: the penalty alpha sum |w_j|^p with 1 < p < 2.

python examples/bridge.py

No solver of scikit-learn minimises it, so the example brings its own model: a logistic regression with the penalty's
name. The certificate's theorem, solver and noise are those of the library. See docs/proofs/bridge.md.
"""

from typing import ClassVar

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILON, ALPHA = 1.0, 0.02


class BridgeClassifier(eq.LogisticRegression):
    """Logistic regression with a bridge penalty.

    No estimator of the library takes the name of a penalty. The power is an attribute of the class and not a parameter
    of the constructor: scikit-learn clones and compares parameters, and a subclass that adds one has to repeat all of
    its parent's. A class attribute is as public, and the certificate records it.
    """

    power: ClassVar[float] = 1.5

    def _penalty_name(self) -> str:
        return f"bridge:{self.power}"


def released(
    rows: np.ndarray, labels: np.ndarray, epsilon: float = EPSILON, seed: int | None = None
) -> tuple[np.ndarray, eq.Certificate]:
    """Return noisy weights and their certificate; labels are 0 and 1."""
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    model = BridgeClassifier(
        epsilon, domain=domain, alpha=ALPHA, fit_intercept=False, mechanism="output", random_state=seed
    )
    model.fit(rows, labels)
    return model.coef_.ravel(), model.certificate_


def main() -> None:
    """Release on public data in the role of private rows, each scaled to norm 1 by itself."""
    rows, y = make_classification(20_000, n_features=5, n_informative=3, n_redundant=0, random_state=0)
    rows = normalize(rows)
    weights, certificate = released(rows, y)

    print(f"{certificate.theorem}: sensitivity {certificate.sensitivity:.3g} with the penalty "
          f"{certificate.request.penalty}")  # fmt: skip
    print(f"accuracy {np.mean((rows @ weights > 0) == y):.3f}")
    print(certificate.explain().splitlines()[0])
    print(f"fields that do not follow: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
