"""The sizes that must work, in one run: wide sparse text, ten classes of images, a million rows.

python benchmarks/sizes.py --data FOLDER

Times and memory are held against stated limits; the images are held against scikit-learn at the same gradient norm.
"""

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from prepared import Array, unit_rows
from scipy.special import softmax
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression
from sklearn.preprocessing import normalize
from study import options

import equipoise as eq

SECONDS = 20.0
MEMORY = 1.0  # GiB above what was held before the fit
RATIO = 3.0
GROUPS = ("alt.atheism", "talk.religion.misc")
ROWS, COLUMNS = 10**6, 100
STEPS = 10**6  # more than scikit-learn takes
HALVINGS = 20  # of its tol


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def verdict(measured: float, limit: float) -> str:
    return f"at most {limit:g}: {'met' if measured <= limit else 'MISSED'}"


def newsgroups(folder: Path) -> None:
    """Fit sparse counts of words; the vocabulary is read off the texts, so this is a study and no release."""
    frame = parquet.read_table(folder / "newsgroups20_18828_6groups.parquet").to_pandas()
    frame = frame[frame["group"].isin(GROUPS)]
    counts = CountVectorizer().fit_transform(frame["text"])  # lower-cased words of two letters or digits and more
    X = normalize(counts.astype(np.float64).tocsr())
    y = (frame["group"] == GROUPS[1]).to_numpy(int)
    model = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(row_norm=1.0, classes=(0, 1)))
    duration = seconds(lambda: model.fit(X, y))
    tracemalloc.start()  # in a fit of its own: tracing slows the program down
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1] / 2**30
    tracemalloc.stop()
    print(f"20 Newsgroups, {X.shape[0]} x {X.shape[1]}, CSR with {X.nnz} counts, alpha {model.certificate_.alpha:.3g}")
    print(f"NEWSGROUPS {duration:.2f} s ({verdict(duration, SECONDS)})")
    print(f"NEWSGROUPS MEMORY {peak:.3f} GiB above the baseline ({verdict(peak, MEMORY)})")


def multinomial_gradient_norm(X: Array, y: Array, coefficients: Array, alpha: float) -> float:
    """Return the norm of the gradient of the mean multinomial loss with a ridge, all classes' weights together."""
    slopes = softmax(X @ coefficients.T, axis=1)
    slopes[np.arange(len(y)), y] -= 1
    return float(np.linalg.norm(slopes.T @ X / len(y) + alpha * coefficients))


def plain_seconds(X: Array, y: Array, alpha: float, tolerance: float) -> float:
    """Return the time of the first run of scikit-learn's lbfgs whose gradient norm is at most the tolerance.

    Its `tol` bounds the largest entry of the gradient, so that the norm is above it at first; earlier runs are free.
    """
    for halvings in range(HALVINGS):
        tol = tolerance / 2**halvings
        plain = PlainLogisticRegression(C=1 / (alpha * len(y)), fit_intercept=False, tol=tol, max_iter=STEPS)
        start = time.perf_counter()
        plain.fit(X, y)
        duration = time.perf_counter() - start
        reached = multinomial_gradient_norm(X, y, plain.coef_, alpha)
        print(f"scikit-learn lbfgs, tol {tol:.3g}: {duration:.2f} s, {plain.n_iter_[0]} steps, gradient {reached:.3g}")
        if reached <= tolerance:
            return duration
    raise SystemExit("scikit-learn's lbfgs does not reach this gradient norm at any tol tried: no ratio")


def mnist(folder: Path) -> None:
    table = parquet.read_table(folder / "mnist.parquet")
    train = table["split"].to_numpy() == "train"
    pixels = np.frombuffer(b"".join(table["image"].to_pylist()), np.uint8).reshape(-1, 784)
    X, y = unit_rows(pixels[train] / 255), table["label"].to_numpy()[train].astype(int)
    domain = eq.Domain(row_norm=1.0, classes=tuple(range(10)))
    # Left to itself the choice falls on noisy steps, which have no gradient norm to stop at.
    given = {"epsilon": 1.0, "delta": 1 / len(y) ** 2, "mechanism": "output"}
    ours = eq.LogisticRegression(domain=domain, fit_intercept=False, **given)
    certificate = ours.plan(*X.shape)
    alpha, tolerance = certificate.alpha, certificate.claim.tolerance
    duration = seconds(lambda: ours.fit(X, y))
    print(f"MNIST, 10 classes, {X.shape[0]} x {X.shape[1]}, alpha {alpha:.3g}, gradient tolerance {tolerance:.3g}")
    print(f"fit: {duration:.2f} s")
    theirs = plain_seconds(X, y, alpha, tolerance)
    print(f"MNIST RATIO {duration / theirs:.2f} ({verdict(duration / theirs, RATIO)})")


def million() -> None:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((ROWS, COLUMNS))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = (generator.random(ROWS) < 1 / (1 + np.exp(-5 * X[:, 0]))).astype(int)
    model = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(row_norm=1.0, classes=(0, 1)))
    duration = seconds(lambda: model.fit(X, y))
    print(f"{ROWS} x {COLUMNS} dense, alpha {model.certificate_.alpha:.3g}")
    print(f"MILLION ROWS {duration:.2f} s ({verdict(duration, SECONDS)})")


def warm_up() -> None:
    """Load OpenDP and the compiled libraries once, outside every figure."""
    eq.LogisticRegression(domain=eq.Domain(row_norm=1.0, classes=(0, 1))).fit(np.eye(2), np.array([0, 1]))


if __name__ == "__main__":
    chosen = options(__doc__ or "")
    warm_up()
    newsgroups(chosen.data)
    mnist(chosen.data)
    million()
