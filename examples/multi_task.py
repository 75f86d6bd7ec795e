"""Multi-task learning: schools that share a part of their model, each with a part of its own.

python examples/multi_task.py

Every task has the weights w0 + v_t. A row x of task t is laid out as (x, 0, .., x, .., 0) in the stacked space of
(w0, v_1, ..., v_T), where the model is a plain ridge. With tasks of equal size an estimator of the library trains it,
with its certificate. See docs/proofs/multi-task.md.
"""

import math

import numpy as np

import equipoise as eq

TASKS, EACH, COLUMNS = 4, 5_000, 3
ALPHA = 0.1

coins = np.random.default_rng(0)
shared, own = coins.normal(size=COLUMNS), 0.5 * coins.normal(size=(TASKS, COLUMNS))
rows = coins.normal(size=(TASKS, EACH, COLUMNS))
rows /= np.linalg.norm(rows, axis=2, keepdims=True)
targets = np.clip(np.einsum("tij,tj->ti", rows, shared + own), -2.0, 2.0)

stacked = np.zeros((TASKS, EACH, TASKS + 1, COLUMNS))
stacked[:, :, 0] = rows
for task in range(TASKS):
    stacked[task, :, task + 1] = rows[task]

# A stacked row holds x twice: it is sqrt(2) times as long.
domain = eq.Domain(row_norm=math.sqrt(2), labels=(-2.0, 2.0))
model = eq.Ridge(epsilon=1.0, domain=domain, alpha=ALPHA, fit_intercept=False, mechanism="output")
model.fit(stacked.reshape(TASKS * EACH, -1), targets.ravel())
weights = model.coef_.reshape(TASKS + 1, COLUMNS)

certificate = model.certificate_
problem = eq.Problem(
    eq.losses.named("squared"), eq.penalties.named("l2", ALPHA), eq.Domain(row_norm=1.0, labels=(-2.0, 2.0))
)
sizes = "/".join([str(EACH)] * TASKS)
recipe = eq.Recipe(certificate.argument.tolerance, method=f"multi-task:{sizes}")
(bound,) = eq.bounds(problem, recipe, TASKS * EACH, COLUMNS)
print(f"sensitivity {certificate.sensitivity:.4g} in the certificate, {bound.sensitivity:.4g} by {bound.theorem}")
errors = [np.mean((rows[task] @ (weights[0] + weights[task + 1]) - targets[task]) ** 2) for task in range(TASKS)]
print(
    f"mean squared error of the tasks: {', '.join(f'{error:.3f}' for error in errors)} (targets: {targets.var():.3f})"
)
print(certificate.explain().splitlines()[0])
print(f"fields that do not follow: {list(certificate.verify())}")
