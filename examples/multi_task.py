"""Multi-task learning: schools that share a part of their model, each with a part of its own.

python examples/multi_task.py

Every task has the weights w0 + v_t, and every task counts the same. A row x of task t is laid out as
(x, 0, .., x, .., 0) in the stacked space of (w0, v_1, ..., v_T), where the model is a weighted ridge. With tasks of
equal size it is a plain ridge, which an estimator of the library trains; with unequal ones the example trains it
itself, and the smallest task sets the noise. The task of a row is public. See docs/proofs/multi-task.md.
"""

import math

import numpy as np
from sklearn.preprocessing import normalize

import equipoise as eq

EPSILON, ALPHA = 1.0, 0.1
Released = tuple[np.ndarray, eq.Certificate]


def stacked(rows: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Return the rows in the stacked space; the first rows are of the first task, and so on."""
    layout = np.zeros((len(rows), len(sizes) + 1, rows.shape[1]))
    layout[:, 0] = layout[np.arange(len(rows)), 1 + np.repeat(np.arange(len(sizes)), sizes)] = rows
    return layout.reshape(len(rows), -1)


def trained(rows: np.ndarray, targets: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Return the minimiser of the mean over tasks of their mean squared losses, plus ``alpha/2 |W|^2``."""
    shares, laid = np.repeat([1 / (len(sizes) * size) for size in sizes], sizes), stacked(rows, sizes)
    hessian = 2 * (laid.T * shares) @ laid + ALPHA * np.eye(laid.shape[1])
    return np.linalg.solve(hessian, 2 * laid.T @ (shares * targets))


def released(
    rows: np.ndarray, targets: np.ndarray, sizes: tuple[int, ...], epsilon: float = EPSILON, seed: int | None = None
) -> Released:
    """Return noisy stacked weights for tasks of any sizes; the tolerance covers the rounding of a direct solution."""
    domain = eq.Domain(row_norm=1.0, labels=(-2.0, 2.0))
    problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("l2", ALPHA), domain)
    found = eq.release_method(
        lambda mapped, centred: trained(mapped, centred, sizes), rows, targets, problem,
        eq.Recipe(1e-8, method=f"multi-task:{'/'.join(map(str, sizes))}"), eq.Budget(epsilon), random_state=seed,
    )  # fmt: skip
    return found.weights, found.certificate


def released_equal(
    rows: np.ndarray, targets: np.ndarray, tasks: int, epsilon: float = EPSILON, seed: int | None = None
) -> Released:
    """Return noisy stacked weights for tasks of one size, by an estimator."""
    # A stacked row holds x twice: it is sqrt(2) times as long. The estimator clips it, and so x.
    domain = eq.Domain(row_norm=math.sqrt(2), labels=(-2.0, 2.0))
    model = eq.Ridge(epsilon, domain=domain, alpha=ALPHA, fit_intercept=False, mechanism="output", random_state=seed)
    model.fit(stacked(rows, (len(rows) // tasks,) * tasks), targets)
    return model.coef_, model.certificate_


def main() -> None:
    """Release both on made-up schools."""
    coins = np.random.default_rng(0)
    models = coins.normal(size=3) + 0.5 * coins.normal(size=(4, 3))
    for sizes in ((5_000,) * 4, (9_000, 5_000, 4_000, 2_000)):
        tasks = np.repeat(np.arange(4), sizes)
        rows = normalize(coins.normal(size=(len(tasks), 3)))
        targets = np.clip((rows * models[tasks]).sum(1), -2.0, 2.0)
        equal = len(set(sizes)) == 1
        weights, certificate = released_equal(rows, targets, 4) if equal else released(rows, targets, sizes)
        errors = (stacked(rows, sizes) @ weights - targets) ** 2
        means = ", ".join(f"{errors[tasks == task].mean():.3f}" for task in range(4))
        print(f"schools of {sizes} rows, {certificate.theorem}: sensitivity {certificate.sensitivity:.4g}; mean "
              f"squared errors {means} (targets: {targets.var():.3f})")  # fmt: skip
        print(certificate.explain().splitlines()[0])
        print(f"conditions that do not hold: {list(certificate.verify())}")


if __name__ == "__main__":
    main()
