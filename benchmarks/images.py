"""Images by a public map and a private linear model: MNIST and Fashion-MNIST at (3, 1e-5), with exact noise.

python benchmarks/images.py [--data FOLDER] [--fashion FOLDER] [--directions 1500] [--only NAME] [--fits 4]
    [--recipe]

``--directions 0`` takes all 3,969, which makes 39,690 weights. ``--fashion`` is where Debian's package
dataset-fashion-mnist puts its files.
The map is made once and the model fitted ``--fits`` times: a mean and its standard error. Features come from a GPU
where JAX finds one.
``--recipe`` also runs the published one as often (Tramer and Boneh 2021: scattering, groups of channels normalised,
noisy gradients) with noise for replaced rows, in single precision. Set OPENBLAS_NUM_THREADS=1.
"""

import argparse
import gzip
import math
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as parquet
from numpy.typing import NDArray
from scipy.special import softmax

import equipoise as eq
from equipoise.data.drawn_images import BLOCK
from equipoise.data.scattering import Scattering, width_of
from equipoise.planning.laws.gaussian import largest_mu

EPSILON, DELTA = 3.0, 1e-5
TRAINED = 60_000
CLASSES = tuple(range(10))
# The published recipe's clip, steps, length of a step and momentum: of a grid, the best on 10,000 training images kept
# apart.
RECIPES = {
    "MNIST": (0.1, 500, 300 / math.sqrt(0.1), 0.0),
    "Fashion-MNIST": (0.1, 150, 100 / math.sqrt(0.1), 0.9),
}


class Pictures(NamedTuple):
    """Images, the first 60,000 to train on, and what they show."""

    name: str
    images: NDArray[np.uint8]
    labels: NDArray[np.int64]


def mnist(folder: Path) -> Pictures:
    table = parquet.read_table(folder / "mnist.parquet")
    images = np.frombuffer(b"".join(table["image"].to_pylist()), np.uint8).reshape(-1, 784)
    return Pictures("MNIST", images, table["label"].to_numpy().astype(np.int64))


def fashion(folder: Path) -> Pictures:
    def read(kind: str, header: int) -> NDArray[np.uint8]:
        parts = [gzip.decompress((folder / f"{part}-{kind}.gz").read_bytes())[header:] for part in ("train", "t10k")]
        return np.frombuffer(b"".join(parts), np.uint8)

    return Pictures(
        "Fashion-MNIST", read("images-idx3-ubyte", 16).reshape(-1, 784), read("labels-idx1-ubyte", 8).astype(np.int64)
    )


class Clock:
    """Seconds since it was last asked, on the wall and of this process."""

    def __init__(self) -> None:
        self._last = time.perf_counter(), time.process_time()

    def __call__(self) -> str:
        """Return them in words."""
        now = time.perf_counter(), time.process_time()
        (wall, process), self._last = ((late - early) for late, early in zip(now, self._last, strict=True)), now
        return f"{wall:.0f} s ({process:.0f} s of a core)"


def mean_and_error(accuracies: list[float]) -> str:
    """Return the mean of several accuracies and its standard error, in words."""
    if len(accuracies) == 1:
        return f"{accuracies[0]:.4f}"
    return f"{np.mean(accuracies):.4f} ({np.std(accuracies, ddof=1) / math.sqrt(len(accuracies)):.4f})"


def measure(pictures: Pictures, directions: int | None, fits: int) -> None:
    """Print a line: accuracy on the 10,000 test images, and what map, features and all fits took."""
    clock = Clock()
    features = eq.ImageFeatures(directions=directions).fit(pictures.images)
    made = clock()
    X = features.transform(pictures.images)
    mapped = clock()
    model: Any = eq.LogisticRegression(
        epsilon=EPSILON,
        delta=DELTA,
        domain=eq.Domain(row_norm=1.0, classes=CLASSES),
        mechanism="noisy-gradient",
        fit_intercept=False,
    )
    accuracies = []
    for _ in range(fits):
        model.fit(X[:TRAINED], pictures.labels[:TRAINED])
        if model.certificate_.verify():
            raise SystemExit("the certificate fails its check")
        accuracies.append(float(model.score(X[TRAINED:], pictures.labels[TRAINED:])))
    fitted = clock()
    claim = model.certificate_.claim
    plan = f"{claim.steps} steps, clip {claim.clip:.3g}"
    found = f"| {pictures.name} | {X.shape[1]} | {mean_and_error(accuracies)} | {plan}"
    print(f"{found} | {made} | {mapped} | {fitted} |", flush=True)


def scattered(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    scattering = Scattering(28, 28, np.float32)
    rows = np.empty((len(images), width_of(28, 28)), dtype=np.float32)
    for start in range(0, len(images), BLOCK):
        block = images[start : start + BLOCK].astype(np.float32) / np.float32(255)
        rows[start : start + BLOCK] = scattering.rows(block.reshape(-1, 28, 28))
    return rows


def recipe(pictures: Pictures, fits: int) -> None:
    """Print the accuracy of the published recipe with noise for replaced rows; rounding is not accounted for."""
    clip, steps, _, _ = RECIPES[pictures.name]
    X = scattered(pictures.images)
    found = mean_and_error([recipe_accuracy(pictures, X, seed) for seed in range(fits)])
    name = f"{pictures.name}, published recipe, replaced rows"
    print(f"| {name} | {X.shape[1]} | {found} | {steps} steps, clip {clip:g} | | | |", flush=True)


def recipe_accuracy(pictures: Pictures, X: NDArray[np.float32], seed: int) -> float:
    """Return the accuracy of one run of it."""
    clip, steps, step, momentum = RECIPES[pictures.name]
    train, labels = X[:TRAINED], pictures.labels[:TRAINED]
    norms, generator = np.linalg.norm(train, axis=1), np.random.default_rng(seed)
    truth = np.eye(len(CLASSES), dtype=np.float32)[labels]
    weights = np.zeros((X.shape[1], len(CLASSES)), dtype=np.float32)
    velocity, total = np.zeros_like(weights), np.zeros_like(weights)
    scale = 2 * clip / TRAINED * math.sqrt(steps) / largest_mu(EPSILON, DELTA)
    for turn in range(steps):
        slopes = softmax(train @ weights, axis=1) - truth
        slopes *= np.minimum(1.0, clip / (np.linalg.norm(slopes, axis=1) * norms + 1e-12))[:, None]
        noise = scale * generator.standard_normal(weights.shape)
        velocity = momentum * velocity + train.T @ slopes.astype(np.float32) / TRAINED + noise.astype(np.float32)
        weights = weights - np.float32(step) * velocity
        if turn >= steps / 2:
            total += weights
    # To its credit the better of the last weights and the mean of the second half counts, by the test images.
    return max(
        float(np.mean(np.argmax(X[TRAINED:] @ found, axis=1) == pictures.labels[TRAINED:]))
        for found in (weights, total)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("EQUIPOISE_DATA"), help="folder of Parquet files")
    parser.add_argument("--fashion", type=Path, default=Path("/usr/share/datasets/fashion-mnist"))
    parser.add_argument("--directions", type=int, default=1500)
    parser.add_argument("--only", choices=tuple(RECIPES))
    parser.add_argument("--fits", type=int, default=4)
    parser.add_argument("--recipe", action="store_true")
    given = parser.parse_args()
    if given.data is None:
        parser.error("say where the Parquet files are: --data FOLDER, or set EQUIPOISE_DATA")
    print("| images | features | test accuracy | plan | making the map | mapping 70,000 | fit |")
    print("|---|---|---|---|---|---|---|", flush=True)
    found = {"MNIST": lambda: mnist(given.data), "Fashion-MNIST": lambda: fashion(given.fashion)}
    for name in [given.only] if given.only else found:
        pictures = found[name]()
        measure(pictures, given.directions or None, given.fits)
        if given.recipe:
            recipe(pictures, given.fits)


if __name__ == "__main__":
    main()
