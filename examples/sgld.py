"""Stochastic gradient Langevin dynamics: noise in every step, of an inverse temperature.

python examples/sgld.py

The chain is private because each of its noisy steps is, whether or not it has mixed: every step is accounted for
(docs/proofs/C3.md). "langevin:B" takes the step at which the chain's stationary law has the inverse temperature B.
"""

from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

import equipoise as eq

X, y = make_classification(5_000, n_features=4, random_state=0)
X = normalize(X)

domain = eq.Domain(row_norm=1.0, classes=(0, 1))
model = eq.NoisySGDClassifier(
    epsilon=1.0, delta=1e-6, domain=domain, alpha=0.05, step="langevin:2000", passes=1, batch_size=50, average="last"
)
model.fit(X, y)

certificate = model.certificate_
print(f"{certificate.theorem}: one row moves a batch's mean gradient by at most {certificate.sensitivity:.4g}; noise "
      f"{certificate.noise_scale:.4g} in every step")  # fmt: skip
print(f"accuracy {model.score(X, y):.3f}")
print(certificate.explain().splitlines()[0])
print(f"fields that do not follow: {list(certificate.verify())}")
