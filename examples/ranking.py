"""Learning to rank: a score that puts records of a higher class above those of a lower one.

python examples/ranking.py

The objective is the sum of logistic losses over pairs, divided by a public number, plus a ridge. Two ways: all pairs,
where the class is as private as the row and the sum is divided by n (n - 1) / 2; and three classes that everybody knows
(the class goes by the position), divided by the number of pairs. As many gradient steps as the tolerance needs for any
table, a number from public facts. See docs/proofs/ranking.md.
"""

import math

import numpy as np

import equipoise as eq

EPSILON, ALPHA, TOLERANCE = 1.0, 0.2, 1e-7
SIZES = (250, 150, 200)
Released = tuple[np.ndarray, eq.Certificate]


def trained(rows: np.ndarray, grades: np.ndarray, pairs: int) -> np.ndarray:
    """Return the minimiser of ``sum over grade_i > grade_j of log(1 + exp(-<w, x_i - x_j>)) / pairs``, plus ridge."""
    # A pair's row is at most 2 long: smoothness 2^2 / 4, and no minimiser is further out than 2 / alpha. So many steps
    # end at the tolerance on any table (A4, L3).
    smoothness = 1 + ALPHA
    steps = math.ceil(smoothness / ALPHA * math.log(4 * smoothness * (2 / ALPHA) / TOLERANCE))
    above, weights = np.greater.outer(grades, grades), np.zeros(rows.shape[1])
    for _ in range(steps):
        slopes = -1.0 * above / (1 + np.exp(np.subtract.outer(rows @ weights, rows @ weights)))
        weights = weights - ((slopes.sum(1) - slopes.sum(0)) @ rows / pairs + ALPHA * weights) / smoothness
    return weights


def described(method: str) -> tuple[eq.Problem, eq.Recipe]:
    """Return the public facts: the loss of a pair, the ridge, the domain of a record, and the solver's tolerance."""
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    problem = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", ALPHA), domain)
    return problem, eq.Recipe(TOLERANCE, method=method)


def released(rows: np.ndarray, labels: np.ndarray, epsilon: float = EPSILON, seed: int | None = None) -> Released:
    """Rank all pairs; the labels, 0 or 1, are private and may change with the record."""
    pairs, facts = len(rows) * (len(rows) - 1) // 2, described("ranking")
    found = eq.release_method(
        lambda x, signs: trained(x, signs, pairs), rows, labels, *facts, eq.Budget(epsilon), random_state=seed
    )
    return found.weights, found.certificate


def released_classes(
    rows: np.ndarray, sizes: tuple[int, ...], epsilon: float = EPSILON, seed: int | None = None
) -> Released:
    """Rank public classes: the first rows are of the lowest class, and so on. There is no private label."""
    grades, labels = np.repeat(np.arange(len(sizes)), sizes), np.zeros(len(rows))
    pairs, facts = int(np.greater.outer(grades, grades).sum()), described(f"ranking:{'/'.join(map(str, sizes))}")
    found = eq.release_method(
        lambda x, _: trained(x, grades, pairs), rows, labels, *facts, eq.Budget(epsilon), random_state=seed
    )
    return found.weights, found.certificate


def main() -> None:
    """Release both on made-up records."""
    grades = np.repeat(np.arange(3), SIZES)
    rows = (np.random.default_rng(0).normal(size=(len(grades), 3)) + np.outer(grades, [1.0, 0.5, 0.0])) / 4
    high = (grades > 0).astype(int)
    for targets, (weights, certificate) in ((high, released(rows, high)), (grades, released_classes(rows, SIZES))):
        margins = np.subtract.outer(rows @ weights, rows @ weights)[np.greater.outer(targets, targets)]
        print(f"{certificate.claim.recipe.method}: sensitivity {certificate.sensitivity:.4g}; "
              f"{np.mean(margins > 0):.3f} of the pairs in the right order")  # fmt: skip
        print(certificate.explain().splitlines()[0])
        print(f"conditions that do not hold: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
