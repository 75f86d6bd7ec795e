"""Mistakes as a user's script may have them: `mypy --strict` finds every one, or says that it has nothing to ignore.

`make types` and `make dist` check this file; nobody runs it.
"""

import numpy as np

import equipoise as eq

rows, labels = np.zeros((500, 3)), np.arange(500) % 2
domain = eq.Domain(row_norm=1.0, classes=(0, 1))
model = eq.LogisticRegression(epsilon=1.0, domain=domain)
selector = eq.FeatureSelector(epsilon=1.0, domain=domain)

model.fti(rows, labels)  # type: ignore[attr-defined]
model.fit(rows, labels).predikt(rows)  # type: ignore[attr-defined]
model.get_parms()  # type: ignore[attr-defined]
model.certificat_  # type: ignore[attr-defined] # noqa: B018
said: str = model.score(rows, labels)  # type: ignore[assignment]
eq.Ridge(epsilon=1.0, domain=domain).predict_proba(rows)  # type: ignore[attr-defined]
selector.get_suport()  # type: ignore[attr-defined]
eq.PrivateGridSearch(model, {"alpha": [0.1]}).best_parameters_  # type: ignore[attr-defined] # noqa: B018
eq.LogisticRegression(epsilom=1.0)  # type: ignore[call-arg]
eq.LogisticRegresion(epsilon=1.0)  # type: ignore[attr-defined]
