"""Bridge regression, between the lasso and the ridge: the penalty alpha sum |w_j|^p with 1 < p < 2.

python examples/bridge.py

No solver of scikit-learn minimises it, so the example brings its own model: a logistic regression with the penalty's
name. The certificate's theorem, solver and noise are those of the library. See docs/proofs/bridge.md.
"""

from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

import equipoise as eq


class BridgeClassifier(eq.LogisticRegression):
    """Logistic regression with a bridge penalty of the power 1.5."""

    def _penalty_name(self) -> str:
        return "bridge:1.5"


# Public data in the role of private rows. Every row is scaled to norm 1 by itself, which looks at no other row.
X, y = make_classification(20_000, n_features=5, n_informative=3, n_redundant=0, random_state=0)
X = normalize(X)

domain = eq.Domain(row_norm=1.0, classes=(0, 1))
model = BridgeClassifier(epsilon=1.0, domain=domain, alpha=0.02, fit_intercept=False, mechanism="output")
model.fit(X, y)

certificate = model.certificate_
problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("bridge:1.5", 0.02), domain)
bound = eq.bounds(problem, eq.Recipe(certificate.argument.tolerance), len(y), X.shape[1])[0]
print(f"sensitivity {certificate.sensitivity:.3g}, by {bound.theorem} {bound.sensitivity:.3g}")
print(f"accuracy {model.score(X, y):.3f}")
print(certificate.explain().splitlines()[0])
print(f"fields that do not follow: {list(certificate.verify())}")
