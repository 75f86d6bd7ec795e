"""A script as a user writes it: `make dist` runs `mypy --strict` over it against the installed wheel."""

import numpy as np

import equipoise as eq

generator = np.random.default_rng(0)
rows = generator.uniform(-0.5, 0.5, size=(500, 3))
labels = (rows[:, 0] > 0).astype(int)
domain = eq.Domain(row_norm=1.0, classes=(0, 1))

model = eq.LogisticRegression(epsilon=1.0, domain=domain)
plan: eq.Certificate = model.plan(n_samples=500, n_features=3)
print(plan.epsilon, plan.explain())
with eq.account(epsilon=3.0, delta=1e-6) as account:
    model.fit(rows, labels)
    evaluation = eq.evaluate(model, rows, labels, epsilon=0.5)
    print(account.left.epsilon, evaluation.accuracy.low)
faults: tuple[str, ...] = model.certificate_.verify()
predicted = model.predict(rows)
print(faults, predicted.shape, model.coef_, model.intercept_, model.classes_)
eq.save(model, "release")
opened = eq.load("release")
print(opened.certificate_.epsilon, eq.Certificate.from_json(plan.to_json()) == plan)
ridge = eq.Ridge(epsilon=1.0, domain=eq.Domain(row_norm=1.0, labels=(0.0, 1.0)))
search = eq.PrivateGridSearch(ridge, {"alpha": [0.1, 1.0]}, epsilon=2.0)
print(eq.risk(plan), search.get_params())
try:
    eq.SGDClassifier(epsilon=1.0, domain=domain).fit(rows, labels)
except eq.errors.MissingExtra as error:
    print(error.remedy)
