"""A script as a user writes it: `make dist` runs it, and `mypy --strict` over it, against the installed wheel."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import equipoise as eq

generator = np.random.default_rng(0)
rows = generator.uniform(-0.5, 0.5, size=(500, 3))
labels = (rows[:, 0] > 0).astype(int)
domain = eq.Domain(row_norm=1.0, classes=(0, 1))

# Plan, train, evaluate, within an account.
model = eq.LogisticRegression(epsilon=1.0, domain=domain)
plan: eq.Certificate = model.plan(n_samples=500, n_features=3)
print(plan.epsilon, plan.explain())
with eq.account(epsilon=3.0, delta=1e-6) as account:
    model.fit(rows, labels)
    evaluation: eq.Evaluation = eq.evaluate(model, rows, labels, epsilon=0.5)
    print(account.left.epsilon, evaluation.accuracy.low)
faults: tuple[str, ...] = model.certificate_.verify()
predicted = model.predict(rows)
probabilities: NDArray[np.float64] = model.predict_proba(rows)
print(faults, predicted.shape, probabilities.sum(), model.coef_, model.intercept_, model.classes_)

# Save, open, hand over.
eq.save(model, Path("release"), force=True)
opened = eq.load("release")
print(opened.certificate_.epsilon, eq.Certificate.from_json(plan.to_json()) == plan)
print(opened.to_sklearn().predict(rows[:3]), opened.certificate_.digest)

# Other models, of rows with bounds; a search, a selection of columns, and training and evaluation in one.
bounded = eq.Domain(bounds=[(-0.5, 0.5), (-0.5, 0.5), (-0.5, 0.5)], classes=(0, 1))
for each in (eq.LinearSVC(epsilon=1.0, domain=bounded), eq.ElasticNetClassifier(epsilon=1.0, domain=bounded)):
    print(each.plan(n_samples=500, n_features=3).claim.kind, eq.check_rows(rows, labels, bounded).filled)
numbers = eq.Domain(row_norm=1.0, labels=(0.0, 1.0))
ridge = eq.Ridge(epsilon=1.0, domain=numbers)
search = eq.PrivateGridSearch(ridge, {"alpha": [0.1, 1.0]}, epsilon=2.0)
selector = eq.FeatureSelector(epsilon=1.0, domain=bounded)
both = eq.train_and_evaluate(eq.HuberRegressor(epsilon=1.0, domain=numbers), rows, rows[:, 0], holdout=0.2)
output = eq.LogisticRegression(epsilon=1.0, domain=domain, mechanism="output").plan(n_samples=500, n_features=3)
print(eq.risk(output), search.get_params(), selector.get_params(), both.certificate.epsilon)

# Theorems, before any data.
problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", 1.0), numbers)
for bound in eq.bounds(problem, eq.Recipe(), n_samples=1000):
    print(bound.theorem, bound.value)

# A schema and a file.
schema = eq.Schema.from_toml(Path("people/people.toml"))
people = eq.open_table("people/people.csv")
print([column.name for column in schema.columns], schema.target.name, people.n_samples)
print(eq.AdditiveClassifier(epsilon=1.0, domain=schema).plan().epsilon)
try:
    eq.SGDClassifier(epsilon=1.0, domain=domain).fit(rows, labels)
except eq.errors.MissingExtra as error:
    print(error.remedy)
