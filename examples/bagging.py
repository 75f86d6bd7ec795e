"""Bagging on disjoint parts, two ways: trees' votes in a vector, and ridges.

python examples/bagging.py

The rule that deals rows to parts is public. Whatever is trained on disjoint parts, its mean moves by 2 C / m when every
part's answer is clipped to norm C; minimisers of a ridge move less. See docs/proofs/bagging.clipped.md and
docs/proofs/bagging.minimisers.md; examples/bootstrap.py draws bags instead.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize
from sklearn.tree import DecisionTreeClassifier

import equipoise as eq

# Each of the two releases is a spend of its own.
EPSILON, ALPHA, PARTS, CLIP = 1.0, 0.1, 200, 1.0
# Eight public points for trees to vote on.
POINTS = normalize(np.random.default_rng(1).normal(size=(8, 4)))
Released = tuple[np.ndarray, eq.Certificate]


def parts(count: int) -> list[np.ndarray]:
    """Return which rows are in every part."""
    return np.array_split(np.random.default_rng(0).permutation(count), PARTS)


def votes(rows: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return the mean over parts of a tree's votes on the public points, each clipped to norm `CLIP`."""
    total = np.zeros(len(POINTS))
    for part in parts(len(rows)):
        vote = DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows[part], signs[part]).predict(POINTS)
        total += vote * min(1.0, CLIP / np.linalg.norm(vote))
    return total / PARTS


def ridges(rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the mean over parts of the minimiser of the mean squared loss plus ``alpha/2 |w|^2``."""
    total = np.zeros(rows.shape[1])
    for part in parts(len(rows)):
        hessian = 2 * rows[part].T @ rows[part] / len(part) + ALPHA * np.eye(rows.shape[1])
        total += np.linalg.solve(hessian, 2 * rows[part].T @ targets[part] / len(part))
    return total / PARTS


def released_votes(rows: np.ndarray, labels: np.ndarray, epsilon: float = EPSILON, seed: int | None = None) -> Released:
    """Return noisy votes; labels are 0 and 1. The loss and the ridge play no part in the bound."""
    domain = eq.Domain(row_norm=1.0, classes=(0, 1), radius=CLIP)
    problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", ALPHA), domain)
    recipe = eq.Recipe(method=f"bagging:{PARTS}/{len(POINTS)}")
    found = eq.release_method(votes, rows, labels, problem, recipe, eq.Budget(epsilon), random_state=seed)
    return found.weights, found.certificate


def released_ridges(rows: np.ndarray, signs: np.ndarray, epsilon: float = EPSILON, seed: int | None = None) -> Released:
    """Return the noisy mean of ridges; the tolerance covers the rounding of a direct solution."""
    domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
    problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", ALPHA), domain)
    recipe = eq.Recipe(1e-9, method=f"bagging:{PARTS}")
    found = eq.release_method(ridges, rows, signs, problem, recipe, eq.Budget(epsilon), random_state=seed)
    return found.weights, found.certificate


def main() -> None:
    """Release both on public data in the role of private rows, each scaled to norm 1 by itself."""
    rows, y = make_classification(10_000, n_features=4, random_state=0)
    rows, signs = normalize(rows), 2.0 * y - 1
    (noisy, first), (weights, second) = released_votes(rows, y), released_ridges(rows, signs)
    print(f"votes that keep their sign: {np.mean((noisy > 0) == (votes(rows, signs) > 0)):.2f}")
    print(f"accuracy of the mean ridge: {np.mean((rows @ weights > 0) == y):.3f}")
    for one in (first, second):
        deviation = one.notes["candidates"][0]["deviation"]
        print(f"{one.theorem}: sensitivity {one.sensitivity:.4g}, noise of deviation {deviation:.3g} a number")
        print(one.explain().splitlines()[0], "; conditions that do not hold:", list(one.verify()))


if __name__ == "__main__":
    main()
