"""Nesterov's accelerated descent with constant momentum, for least squares with a ridge.

python examples/nesterov.py

Every step costs: with a ridge the bound levels off in the end, but far above that of the ridge's exact minimiser, since
it has to allow for runs that went far out. A few steps pay where rows are few and noise is what hurts, as here; the
example prints where that ends, and what the exact ridge does. See docs/proofs/B9.nesterov.md and docs/proofs/A2.md.
"""

import numpy as np
from sklearn.datasets import make_regression
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILON, STEP, MOMENTUM, STEPS, ALPHA = 1.0, 0.2, 0.5, 8, 0.05


def trained(rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the weights after the last step from 0."""
    before = weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        ahead = weights + MOMENTUM * (weights - before)
        gradient = 2 * rows.T @ (rows @ ahead - targets) / len(rows) + ALPHA * ahead
        before, weights = weights, ahead - STEP * gradient
    return weights


def described(steps: int, count: int) -> tuple[eq.Problem, eq.Recipe]:
    """Return the public facts: the domain that rows are mapped into, and so many steps with all rows."""
    domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
    problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", ALPHA), domain)
    return problem, eq.Recipe(passes=steps, batch_size=count, step=STEP, method=f"nesterov:{MOMENTUM}")


def released(
    rows: np.ndarray, targets: np.ndarray, epsilon: float = EPSILON, seed: int | None = None
) -> tuple[np.ndarray, eq.Certificate]:
    """Return noisy weights and their certificate; the door maps the rows, calls `trained` and adds the noise."""
    problem, recipe = described(STEPS, len(rows))
    found = eq.release_method(trained, rows, targets, problem, recipe, eq.Budget(epsilon), random_state=seed)
    return found.weights, found.certificate


def main() -> None:
    """Release on public data in the role of private rows, beside the exact ridge at the same epsilon."""
    rows, y = make_regression(1_000, n_features=4, random_state=0)
    # Every row is scaled by itself, which looks at no other row; 100 is a public unit of the target.
    rows, y = normalize(rows), np.clip(y / 100, -1.0, 1.0)
    weights, certificate = released(rows, y)
    problem, _ = described(STEPS, len(y))
    exact = eq.bounds(problem, eq.Recipe(), len(y), rows.shape[1])[0]

    print(f"{certificate.theorem}: sensitivity {certificate.sensitivity:.3g} after {STEPS} steps")
    print(f"{exact.theorem}: the exact ridge has {exact.sensitivity:.3g}")
    for steps in (5, 15, 30, 500):
        (bound,) = eq.bounds(*described(steps, len(y)), len(y), rows.shape[1])
        print(f"  {steps} steps: {bound.sensitivity:.3g}, {bound.sensitivity / exact.sensitivity:.2f} of the ridge's")
    print(f"mean squared error {np.mean((rows @ weights - y) ** 2):.3f} (without noise "
          f"{np.mean((rows @ trained(rows, y) - y) ** 2):.3f}, of the target {y.var():.3f})")  # fmt: skip
    # Seeded releases are experiments, possible on public data alone.
    ridge = eq.Ridge(EPSILON, domain=problem.domain, alpha=ALPHA, fit_intercept=False, mechanism="output")
    ends = (
        [released(rows, y, seed=seed)[0] for seed in range(20)],
        [ridge.set_params(random_state=seed).fit(rows, y).coef_ for seed in range(20)],
    )
    errors = [np.mean((rows @ np.array(each).T - y[:, None]) ** 2) for each in ends]
    print(f"on average over 20 experiments: {errors[0]:.3f}; of the exact ridge: {errors[1]:.3f}")
    print(certificate.explain().splitlines()[0])
    print(f"conditions that do not hold: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
