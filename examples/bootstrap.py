"""Bagging on bootstrap samples that public coins draw.

python examples/bootstrap.py

Everybody may know how often each row is drawn, so that the row which is drawn most sets the noise: `most` times in m
bags, where m would be the price of training once on all rows. More bags bring most / m down to 1, never below: drawing
bags costs noise and saves none. See docs/proofs/bootstrap.md.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILON, ALPHA, BAGS = 1.0, 0.1, 25


def counts(rows: int, bags: int) -> np.ndarray:
    """Return how often every bag draws every row, by public coins."""
    drawn = np.random.default_rng(0).integers(rows, size=(bags, rows))
    return np.array([np.bincount(bag, minlength=rows) for bag in drawn])


def trained(rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the mean over bags of the minimiser of the mean squared loss plus ``alpha/2 |w|^2``."""
    total = np.zeros(rows.shape[1])
    for bag in counts(len(rows), BAGS):
        hessian = 2 * (rows.T * bag) @ rows / len(rows) + ALPHA * np.eye(rows.shape[1])
        total += np.linalg.solve(hessian, 2 * rows.T @ (bag * targets) / len(rows))
    return total / BAGS


def described(count: int, bags: int) -> tuple[eq.Problem, eq.Recipe]:
    """Return the public facts; the tolerance covers the rounding of a direct solution."""
    domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
    problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", ALPHA), domain)
    most = counts(count, bags).sum(0).max()
    return problem, eq.Recipe(1e-9, method=f"bootstrap:{bags}/{most}")


def released(
    rows: np.ndarray, targets: np.ndarray, epsilon: float = EPSILON, seed: int | None = None
) -> tuple[np.ndarray, eq.Certificate]:
    """Return noisy weights and their certificate; the door maps the rows, calls `trained` and adds the noise."""
    problem, recipe = described(len(rows), BAGS)
    found = eq.release_method(trained, rows, targets, problem, recipe, eq.Budget(epsilon), random_state=seed)
    return found.weights, found.certificate


def main() -> None:
    """Release on public data in the role of private rows, each scaled to norm 1 by itself."""
    rows, y = make_classification(10_000, n_features=4, random_state=0)
    rows, signs = normalize(rows), 2.0 * y - 1
    weights, certificate = released(rows, signs)

    print(f"{certificate.theorem}: sensitivity {certificate.sensitivity:.4g} with {BAGS} bags; noise of deviation "
          f"{certificate.notes['candidates'][0]['deviation']:.3g} a weight")  # fmt: skip
    for bags in (5, 100):
        (bound,) = eq.bounds(*described(len(y), bags), len(y), rows.shape[1])
        print(f"  with {bags} bags it would be {bound.sensitivity:.4g}")
    problem, _ = described(len(y), BAGS)
    exact = eq.bounds(problem, eq.Recipe(1e-9), len(y), rows.shape[1])[0]
    print(f"  one ridge on all rows needs {exact.sensitivity:.4g} ({exact.theorem})")
    print(f"accuracy {np.mean((rows @ weights > 0) == y):.3f}")
    print(certificate.explain().splitlines()[0])
    print(f"conditions that do not hold: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
