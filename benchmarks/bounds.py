"""What centring by public bounds is worth: columns in [0, 1] against `Domain(bounds=...)` (docs/feature-maps.md).

python benchmarks/bounds.py
"""

import math

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from study import table_rows

import equipoise as eq
from equipoise.demonstration import BREAST_CANCER_RANGES

Array = np.ndarray
EPSILONS = (0.3, 1.0, 3.0)
SPLITS = 20
# Round numbers around what the description of the table says of its columns.
DIABETES_BOUNDS = [
    *((18, 90), (1, 2), (15, 45), (60, 140), (90, 320)),
    *((40, 250), (20, 100), (2, 10), (3, 6.5), (55, 130)),
]


def tables() -> list[tuple[str, Array, Array, list[tuple[float, float]]]]:
    """Return names, rows as they come, targets, and the public bounds of the columns."""
    rows, ill = load_breast_cancer(return_X_y=True)
    pixels, digit = load_digits(return_X_y=True)
    chosen = (digit == 3) | (digit == 8)
    people, progression = load_diabetes(return_X_y=True, scaled=False)
    return [
        ("breast cancer (AUC)", rows, ill, [(0, high) for high in BREAST_CANCER_RANGES]),
        ("digits 3-vs-8 (AUC)", pixels[chosen], (digit[chosen] == 8).astype(int), [(0, 16)] * 64),
        ("diabetes (R2)", people, progression, DIABETES_BOUNDS),
    ]


def score(rows: Array, target: Array, domain: eq.Domain, epsilon: float, seed: int) -> float:
    """Return what a model that was trained on four fifths of the rows does on the rest: AUC, or R2."""
    family = eq.Ridge if domain.labels else eq.LogisticRegression
    stratify = None if domain.labels else target
    X, X_test, y, y_test = train_test_split(rows, target, test_size=0.2, random_state=seed, stratify=stratify)
    model = family(epsilon, domain=domain, random_state=seed, public_seed=seed).fit(X, y)
    if domain.labels:
        return float(model.score(X_test, y_test))
    return float(roc_auc_score(y_test, model.decision_function(X_test)))


def line(name: str, rows: Array, target: Array, bounds: list[tuple[float, float]], epsilon: float) -> list[str]:
    """Return the means of both, and that of the difference with its standard error."""
    known = {"labels": (0, 400)} if "R2" in name else {"classes": (0, 1)}
    low, high = np.array(bounds, dtype=float).T
    shares, plain = (rows - low) / (high - low), eq.Domain(row_norm=math.sqrt(rows.shape[1]), **known)
    scaled = eq.Domain(row_norm=plain.row_norm, bounds=bounds, **known)
    pairs = np.array(
        [
            (score(shares, target, plain, epsilon, seed), score(rows, target, scaled, epsilon, seed))
            for seed in range(SPLITS)
        ]
    )
    apart = pairs[:, 1] - pairs[:, 0]
    means = [f"{mean:.3f}" for mean in pairs.mean(axis=0)]
    return [name, f"{epsilon:g}", *means, f"{apart.mean():+.3f} ± {apart.std(ddof=1) / math.sqrt(SPLITS):.3f}"]


if __name__ == "__main__":
    found = [line(*table, epsilon) for table in tables() for epsilon in EPSILONS]
    print(table_rows(["data", "epsilon", "columns in [0, 1]", "`bounds`", "gained"], found))
