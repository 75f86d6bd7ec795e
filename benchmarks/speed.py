"""Fit time, peak memory and import time, each as a ratio within one run.

python benchmarks/speed.py --data FOLDER
"""

import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from prepared import Split, covertype
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression
from study import options

import equipoise as eq

ALPHA = 1e-3
REPETITIONS = 5
FIT, MEMORY, IMPORT = 1.5, 1.0, 1.3


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def gradient_norm(split: Split, weights: np.ndarray) -> float:
    codes = 2 * split.y - 1
    slopes = -codes / (1 + np.exp(codes * (split.X @ weights)))
    return float(np.linalg.norm(slopes @ split.X / len(codes) + ALPHA * weights))


def fit_ratio(split: Split) -> float:
    """Return the time of output perturbation over that of scikit-learn's solver, to the same tolerance."""
    ours = eq.LogisticRegression(epsilon=1.0, domain=split.domain, alpha=ALPHA, fit_intercept=False)
    tolerance = ours.plan(*split.X.shape).claim.tolerance
    plain = PlainLogisticRegression(
        C=1 / (ALPHA * len(split.y)), fit_intercept=False, solver="newton-cholesky", tol=tolerance
    )
    ours.fit(split.X, split.y)  # loads OpenDP and the compiled libraries once
    pairs = [
        (seconds(lambda: ours.fit(split.X, split.y)), seconds(lambda: plain.fit(split.X, split.y)))
        for _ in range(REPETITIONS)
    ]
    fastest = [min(column) for column in zip(*pairs, strict=True)]
    print(f"gradient tolerance {tolerance:.3g}; scikit-learn ended at {gradient_norm(split, plain.coef_[0]):.3g}")
    print(f"fit: {fastest[0]:.3f} s, scikit-learn newton-cholesky {fastest[1]:.3f} s")
    return fastest[0] / fastest[1]


def memory_ratio(split: Split, dtype: Any) -> float:
    """Return the most memory that a fit takes, over that of its rows."""
    X = split.X.astype(dtype)
    model = eq.LogisticRegression(epsilon=1.0, domain=split.domain, alpha=ALPHA)
    tracemalloc.start()
    model.fit(X, split.y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / X.nbytes


def import_ratio(module: str = "equipoise") -> float:
    """Return the time of an import over that of scikit-learn's linear models."""

    def best(module: str) -> float:
        command = [sys.executable, "-c", f"import {module}"]
        return min(seconds(lambda: subprocess.run(command, check=True)) for _ in range(REPETITIONS))  # noqa: S603

    ours, plain = best(module), best("sklearn.linear_model")
    print(f"import {module} {ours:.2f} s, sklearn.linear_model {plain:.2f} s")
    return ours / plain


if __name__ == "__main__":
    chosen = options(__doc__ or "")
    data = covertype(chosen.data)
    print(f"FIT RATIO {fit_ratio(data):.2f} (at most {FIT})")
    for kind in (np.float32, np.float64):
        print(f"MEMORY RATIO {np.dtype(kind).name} {memory_ratio(data, kind):.2f} of the input (at most {MEMORY:g})")
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak resident memory of the whole process: {resident:.1f} GiB")
    print(f"IMPORT RATIO {import_ratio():.2f} (at most {IMPORT})")
    print(f"IMPORT RATIO of the estimators {import_ratio('equipoise.estimators.logistic'):.2f}")
