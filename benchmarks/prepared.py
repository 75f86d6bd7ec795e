"""The benchmarks' datasets, prepared by public constants only: unit or clipped rows, as pinned for every method alike.

The Parquet files are read from a folder (``--data`` or EQUIPOISE_DATA); the small sets come with scikit-learn.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

import equipoise as eq
from equipoise.demonstration import DATASETS, PublicDataset

Array = NDArray[np.float64]

ADULT_SCALES = {
    "age": 90,
    "fnlwgt": 1490400,
    "education_num": 16,
    "capital_gain": 99999,
    "capital_loss": 4356,
    "hours_per_week": 99,
}
COVERTYPE_LOW = np.array([1859, 0, 0, 0, -173, 0, 0, 0, 0, 0], dtype=float)
COVERTYPE_HIGH = np.array([3858, 360, 66, 1397, 601, 7117, 254, 254, 254, 7173], dtype=float)


@dataclass(frozen=True)
class Split:
    """One dataset, split into training and test rows, with its public domain."""

    name: str
    X: Array
    y: Array
    X_test: Array
    y_test: Array
    domain: eq.Domain


def unit_rows(X: Array, centre: float = 0.0) -> Array:
    """Return every row divided by its own norm, after public centring of its columns."""
    moved = X - centre
    return moved / np.linalg.norm(moved, axis=1, keepdims=True)


def large(folder: Path, centred: bool = False) -> list[Split]:
    """Return the three large sets; `centred` moves columns with range [0, 1] to the middle of it first."""
    centre = 0.5 if centred else 0.0
    return [adult(folder, centre), covertype(folder), mnist_3_vs_5(folder, centre)]


def small(splits: int, centred: bool = False) -> list[list[Split]]:
    """Return scikit-learn's three sets of the demonstration, each with several random 80/20 splits."""
    return [[_split(dataset, seed, centred) for seed in range(splits)] for dataset in DATASETS]


def _split(dataset: PublicDataset, seed: int, centred: bool) -> Split:
    X, y = dataset.load()
    if centred and dataset.name.startswith("digits"):
        # Unit rows of pixels: the public middle of the range is taken off before the row is scaled again.
        X = unit_rows(X / np.abs(X).max(axis=1, keepdims=True), 0.5)
    stratify = y if dataset.stratify else None
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=stratify)
    return Split(dataset.name, clipped_rows(X), y, clipped_rows(X_test), y_test, dataset.domain)


def clipped_rows(X: Array) -> Array:
    """Return every row divided by its norm where that is above 1."""
    return X / np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))


def adult(folder: Path, centre: float = 0.0) -> Split:
    """Return Adult: public maxima, every level one-hot (108 columns), unit rows, official split."""
    frame = parquet.read_table(folder / "adult.parquet").to_pandas()
    columns = [frame[name].to_numpy(float)[:, None] / scale for name, scale in ADULT_SCALES.items()]
    for name in frame.columns.difference([*ADULT_SCALES, "income", "split"]):
        levels = sorted(frame[name].unique())
        columns.append((frame[name].to_numpy()[:, None] == np.array(levels)[None, :]).astype(float))
    X = unit_rows(np.hstack(columns), centre)
    y = (frame["income"] == ">50K").to_numpy(int)
    train = (frame["split"] == "train").to_numpy()
    # Six numbers and a level of each of eight categories: 14 entries, as long as nothing is taken off the zeros (E2d).
    row_sum = None if centre else math.sqrt(14)
    return Split("Adult", X[train], y[train], X[~train], y[~train], eq.Domain(1.0, classes=(0, 1), row_sum=row_sum))


def covertype(folder: Path) -> Split:
    """Return Covertype classes 1 and 2: public ranges to [-1, 1], unit rows, random 80/20 split with seed 0."""
    frame = parquet.read_table(folder / "covertype.parquet").to_pandas()
    cover = frame.pop("cover_type").to_numpy()
    chosen = (cover == 1) | (cover == 2)
    X, y = frame.to_numpy(float)[chosen], (cover[chosen] == 2).astype(int)
    X[:, :10] = 2 * (X[:, :10] - COVERTYPE_LOW) / (COVERTYPE_HIGH - COVERTYPE_LOW) - 1
    X = unit_rows(X)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: int(0.8 * len(y))], order[int(0.8 * len(y)) :]
    return Split("Covertype 1-vs-2", X[train], y[train], X[test], y[test], eq.Domain(1.0, classes=(0, 1)))


def covertype_seven(folder: Path) -> Split:
    """Return all seven classes of Covertype, prepared as `covertype` is."""
    frame = parquet.read_table(folder / "covertype.parquet").to_pandas()
    y = frame.pop("cover_type").to_numpy(int)
    X = frame.to_numpy(float)
    X[:, :10] = 2 * (X[:, :10] - COVERTYPE_LOW) / (COVERTYPE_HIGH - COVERTYPE_LOW) - 1
    X = unit_rows(X)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: int(0.8 * len(y))], order[int(0.8 * len(y)) :]
    domain = eq.Domain(1.0, classes=tuple(range(1, 8)))
    return Split("Covertype 7-class", X[train], y[train], X[test], y[test], domain)


def mnist_ten(folder: Path) -> Split:
    """Return MNIST with its ten classes: pixels/255, unit rows, official split."""
    table = parquet.read_table(folder / "mnist.parquet")
    y = table["label"].to_numpy().astype(int)
    pixels = np.frombuffer(b"".join(table["image"].to_pylist()), np.uint8).reshape(-1, 784)
    X = unit_rows(pixels / 255)
    return Split(
        "MNIST 10-class", X[:60_000], y[:60_000], X[60_000:], y[60_000:], eq.Domain(1.0, classes=tuple(range(10)))
    )


def mnist_3_vs_5(folder: Path, centre: float = 0.0) -> Split:
    """Return MNIST 3 against 5: pixels/255 through a public Gaussian projection to 50 columns, unit rows."""
    table = parquet.read_table(folder / "mnist.parquet")
    labels = table["label"].to_numpy()
    chosen = np.flatnonzero((labels == 3) | (labels == 5))
    images = table["image"].to_pylist()
    pixels = np.frombuffer(b"".join(images[position] for position in chosen), np.uint8).reshape(-1, 784)
    projection = np.random.default_rng(1).normal(0, np.sqrt(1 / 50), size=(784, 50))
    X, y = unit_rows((pixels / 255 - centre) @ projection), (labels[chosen] == 5).astype(int)
    train = chosen < 60_000
    return Split("MNIST 3-vs-5", X[train], y[train], X[~train], y[~train], eq.Domain(1.0, classes=(0, 1)))
