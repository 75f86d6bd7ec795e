"""Polyak's heavy ball: least squares by a few steps with momentum, released without a ridge.

python examples/heavy_ball.py

Nothing is minimised: the weights are those of the last of a public number of steps, and a theorem says how far apart
such runs can end. Every step costs: the bound grows with the number of steps and with the ball that they can reach. See
docs/proofs/B9.heavy-ball.md.
"""

import numpy as np
from sklearn.datasets import make_regression
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILON, STEP, MOMENTUM, STEPS = 1.0, 0.2, 0.5, 15


def trained(rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the weights after the last step from 0."""
    before = weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        gradient = 2 * rows.T @ (rows @ weights - targets) / len(rows)
        before, weights = weights, weights - STEP * gradient + MOMENTUM * (weights - before)
    return weights


def described(steps: int, count: int) -> tuple[eq.Problem, eq.Recipe]:
    """Return the public facts: the domain that rows are mapped into, and so many steps with all rows."""
    domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
    problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("none", 0.0), domain)
    return problem, eq.Recipe(passes=steps, batch_size=count, step=STEP, method=f"heavy-ball:{MOMENTUM}")


def released(
    rows: np.ndarray, targets: np.ndarray, epsilon: float = EPSILON, seed: int | None = None
) -> tuple[np.ndarray, eq.Certificate]:
    """Return noisy weights and their certificate; the door maps the rows, calls `trained` and adds the noise."""
    problem, recipe = described(STEPS, len(rows))
    found = eq.release_method(trained, rows, targets, problem, recipe, eq.Budget(epsilon), random_state=seed)
    return found.weights, found.certificate


def main() -> None:
    """Release on public data in the role of private rows, and show what more steps would cost."""
    rows, y = make_regression(20_000, n_features=4, random_state=0)
    # Every row is scaled by itself, which looks at no other row; 100 is a public unit of the target.
    rows, y = normalize(rows), np.clip(y / 100, -1.0, 1.0)
    weights, certificate = released(rows, y)

    print(f"{certificate.theorem}: sensitivity {certificate.sensitivity:.3g} after {STEPS} steps; noise of deviation "
          f"{certificate.notes['candidates'][0]['deviation']:.3g} a weight")  # fmt: skip
    for steps in (5, 30, 100):
        (bound,) = eq.bounds(*described(steps, len(y)), len(y), rows.shape[1])
        print(f"  after {steps} steps it would be {bound.sensitivity:.3g}")
    errors = [np.mean((rows @ one - y) ** 2) for one in (weights, trained(rows, y))]
    print(f"mean squared error {errors[0]:.4f} ({errors[1]:.4f} without noise, of the target {y.var():.4f})")
    print(certificate.explain().splitlines()[0])
    print(f"conditions that do not hold: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
