"""Feature selection: which columns matter, told with a promise to the rows and a promise about mistakes.

python examples/gallery/feature_selection.py

Of 12 columns three count. The threshold is public: 5 % is the chance that any column within the noise is chosen.
"""

import numpy as np
from drawing import bars

import equipoise as eq

COLUMNS = 12
TRUTH = np.array([0, 3, 0, 0, -3, 0, 0, 0, 2, 0, 0, 0], dtype=float)


def main(rows: int = 40_000, picture: str = "feature-selection.svg") -> None:
    """Select columns at epsilon 1 and draw the released weights."""
    coins = np.random.default_rng(0)
    X = coins.uniform(-1, 1, (rows, COLUMNS)) / np.sqrt(COLUMNS)
    y = (X @ TRUTH * np.sqrt(COLUMNS) + coins.logistic(size=rows) > 0).astype(int)
    domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    selector = eq.FeatureSelector(epsilon=1.0, domain=domain, threshold="family-wise:0.05", random_state=0)
    chosen = selector.fit(X, y).get_support()
    print(f"chosen: {np.flatnonzero(chosen).tolist()}, true: {np.flatnonzero(TRUTH).tolist()}")
    print(selector.certificate_.explain().splitlines()[0])
    bars(
        [
            {
                "column": f"column {place}",
                "released weight": float(weight),
                "standing": "chosen" if kept else "within the noise",
            }
            for place, (weight, kept) in enumerate(zip(selector.estimator_.coef_.ravel(), chosen, strict=True))
        ],
        "column",
        "released weight",
        "standing",
        picture,
    )


if __name__ == "__main__":
    main()
