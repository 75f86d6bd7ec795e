"""Your own solver: weights from anywhere, released with the certificate of the house.

python examples/gallery/own_solver.py

SciPy minimises; the library checks the gradient on the clipped rows, adds the noise and proves the claim (A4).
"""

import numpy as np
from drawing import bars
from scipy.optimize import minimize
from scipy.special import expit

import equipoise as eq

ALPHA, COLUMNS = 0.01, 6


def solved(X: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return the minimiser of the mean logistic loss with a ridge, as SciPy finds it."""

    def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * (X @ weights)
        value = np.mean(np.logaddexp(0, -margins)) + ALPHA / 2 * weights @ weights
        return value, -X.T @ (signs * expit(-margins)) / len(X) + ALPHA * weights

    return np.asarray(minimize(objective, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", tol=1e-12).x)


def main(rows: int = 20_000, picture: str = "own-solver.svg") -> None:
    """Solve, release, and draw both: the solver's weights, which stay inside, and those that leave."""
    coins = np.random.default_rng(0)
    X = coins.uniform(-1, 1, (rows, COLUMNS)) / np.sqrt(COLUMNS)
    y = (X @ [9.0, -6.0, 3.0, 0.0, 0.0, 1.0] + coins.logistic(size=rows) > 0).astype(int)
    inside = solved(X, np.where(y == 1, 1.0, -1.0))
    model = eq.LogisticRegression(
        *(1.0, 0.0, eq.Domain(1.0, classes=(0, 1)), ALPHA), mechanism="output", fit_intercept=False, random_state=0
    )
    eq.release_solution(inside[None, :], model, X, y)
    print(f"{model.certificate_.theorem}: one row moves the weights by at most {model.certificate_.sensitivity:.2g}")
    print(f"conditions that do not hold: {list(model.certificate_.verify())}")
    weights = {"as solved, stays inside": inside, "as released": model.coef_.ravel()}
    bars(
        [
            {"column": f"column {place}", "weight": float(value), "which": name}
            for name, values in weights.items()
            for place, value in enumerate(values)
        ],
        *("column", "weight", "which", picture),
    )


if __name__ == "__main__":
    main()
