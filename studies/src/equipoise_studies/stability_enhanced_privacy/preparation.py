"""The three tables, prepared twice: as the paper does, which looks at private rows, and by public rules alone.

The paper reduces the columns to 32 by a truncated singular value decomposition and standardises them. Both maps are
fitted on the rows that are to be protected, so no certificate covers them: study only. The public preparation scales by
constants that were known before, projects on 32 directions that a public seed draws, and scales each row by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from equipoise.data.projection import directions
from equipoise.errors import InvalidData
from equipoise_studies.adult import adult_columns
from equipoise_studies.data import ADULT, KHAN, LASTFM_COUNTRIES, LASTFM_LIKES, Dataset

Array = NDArray[np.float64]

COLUMNS = 32
TEST_SHARE = 0.2
PUBLIC_SEED = 0
# What is known before a row is read: 7,842 artists, 18 countries and 4 tumours.
ARTISTS = 7842
COUNTRIES, TUMOURS = tuple(range(18)), (1, 2, 3, 4)
# A study needs more columns to reduce than it keeps, and enough rows that a split has them all.
LEAST_ROWS = 60
# The constant column as a share of the row norm: the product's own in public rows, 1 beside standardised columns.
PUBLIC_CONSTANT, PAPER_CONSTANT = 0.2, 1.0


@dataclass(frozen=True, eq=False)
class Source:
    """A table before either preparation: features (dense or sparse), classes as 0, 1, .., and its name."""

    key: str
    name: str
    features: Any
    labels: NDArray[np.intp]
    classes: int
    remark: str

    def split(self, seed: int) -> "Split":
        """Return the places of training and test rows, 80 to 20; the seed is public."""
        order = np.random.default_rng((9, seed)).permutation(len(self.labels))
        n_test = int(TEST_SHARE * len(order))
        return Split(order[n_test:], order[:n_test])


@dataclass(frozen=True, eq=False)
class Split:
    """The places of training and of test rows."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows of 32 columns, clipped to a norm; a constant column is appended by whoever fits.

    Parameters
    ----------
    features, test_features : array of shape (n, 32)
        Rows of norm at most `row_norm`.
    labels, test_labels : array of int
        Classes from 0 up.
    row_norm, constant : float
        The norm that rows are clipped to, and the constant column's value.
    classes : int
        How many there are.
    clipped : float
        The share of the training rows that clipping shortened.
    """

    features: Array
    labels: NDArray[np.intp]
    test_features: Array
    test_labels: NDArray[np.intp]
    row_norm: float
    constant: float
    classes: int
    clipped: float

    @property
    def n_rows(self) -> int:
        """The number of training rows."""
        return len(self.features)

    @property
    def most_frequent(self) -> float:
        """The share of the test rows that are of their most frequent class."""
        return float(np.bincount(self.test_labels).max() / len(self.test_labels))

    @property
    def outputs(self) -> int:
        """How many linear classifiers there are: one for two classes, otherwise one a class."""
        return 1 if self.classes == 2 else self.classes

    @property
    def longest(self) -> float:
        """The norm of the longest row with its constant column: the paper's kappa."""
        return float(np.hypot(self.row_norm, self.constant))


def _clipped(x: Array, row_norm: float) -> Array:
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(x * np.minimum(1.0, row_norm / np.where(norms > 0, norms, 1.0)))


def as_the_paper(source: Source, split: Split) -> Prepared:
    """Return rows reduced by a truncated SVD and standardised, both fitted on the training rows: study only.

    The paper names no norm of its rows, and without one no bound holds. Standardised rows have a mean squared norm of
    32; they are clipped to its root.
    """
    train, test = source.features[split.train], source.features[split.test]
    reduced = TruncatedSVD(COLUMNS, random_state=0).fit(train)
    x, x_test = reduced.transform(train), reduced.transform(test)
    centre, spread = x.mean(0), x.std(0)
    spread = np.where(spread > 0, spread, 1.0)
    x, x_test = (x - centre) / spread, (x_test - centre) / spread
    norm = COLUMNS**0.5
    beyond = float(np.mean(np.linalg.norm(x, axis=1) > norm))
    labels = source.labels
    return Prepared(
        _clipped(x, norm), labels[split.train], _clipped(x_test, norm), labels[split.test], norm, PAPER_CONSTANT,
        source.classes, beyond,
    )  # fmt: skip


def unit_rows(x: Array) -> Array:
    """Return every row divided by its norm; a row of zeros stays.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(x / np.where(norms > 0, norms, 1.0))


def by_public_rules(source: Source, split: Split) -> Prepared:
    """Return rows projected on 32 public random directions, each then scaled to norm 1: nothing is fitted."""
    columns = directions(source.features.shape[1], COLUMNS, PUBLIC_SEED)
    x = unit_rows(np.asarray(source.features @ columns))
    labels = source.labels
    return Prepared(
        x[split.train], labels[split.train], x[split.test], labels[split.test], 1.0, PUBLIC_CONSTANT, source.classes,
        clipped=0.0,
    )  # fmt: skip


def _source(
    dataset: Dataset, key: str, features: Any, labels: NDArray[Any], classes: tuple[int, ...], remark: str
) -> Source:
    """Return a table with the classes that it is known to have; a label that is none of them counts as the first."""
    if features.shape[0] < LEAST_ROWS or features.shape[1] <= COLUMNS:
        found = f"{features.shape[0]} rows, {features.shape[1]} columns"
        raise InvalidData(f"a whole {dataset.name} in {dataset.file}", found, f"get it from {dataset.address}")
    codes = (labels[:, None] == np.array(classes)).argmax(1)
    return Source(key, NAMES[key], features, codes.astype(np.intp), len(classes), remark)


def adult(folder: Path) -> Source:
    """Return Adult, all rows, by its code book."""
    table = ADULT.read(folder)
    rich = np.asarray(table["income"].to_pylist()) == ">50K"
    return _source(ADULT, "adult", adult_columns(table), rich.astype(np.intp), (0, 1), "")


def lastfm(folder: Path) -> Source:
    """Return LastFM Asia: users by artists, 1 where liked, and the country; the users whose lists are there."""
    likes, countries = LASTFM_LIKES.read(folder), LASTFM_COUNTRIES.read(folder)
    lists = likes["artists"].combine_chunks()
    liked, ends = lists.values.to_numpy(zero_copy_only=False), lists.offsets.to_numpy()
    if len(liked) and liked.max() >= ARTISTS:
        found = f"an artist {int(liked.max())}"
        raise InvalidData(f"artists below {ARTISTS} in {LASTFM_LIKES.file}", found, f"write it: {LASTFM_LIKES.shape}")
    features = sparse.csr_matrix(
        (np.ones(len(liked)), liked.astype(np.int64), ends.astype(np.int64)), shape=(len(likes), ARTISTS)
    )
    known = dict(zip(countries["id"].to_pylist(), countries["country"].to_pylist(), strict=True))
    label = np.array([known.get(user, -1) for user in likes["id"].to_pylist()], np.float64)
    remark = f"{len(likes)} of the 7,624 users: the others' lists are not at hand"
    return _source(LASTFM_LIKES, "lastfm", features, label, COUNTRIES, remark)


def khan(folder: Path) -> Source:
    """Return the Khan set, which stands in for the paper's gene expressions: 83 tissues, 2,308 genes, 4 tumours."""
    table = KHAN.read(folder)
    names = [name for name in table.column_names if name.startswith("gene_")]
    genes = np.column_stack([np.asarray(table[name].to_numpy(), np.float64) for name in names])
    remark = f"{len(genes)} tissues of the Khan set stand in for the 801 of the paper's"
    return _source(KHAN, "khan", genes, np.asarray(table["tumour"].to_numpy()), TUMOURS, remark)


NAMES = {"adult": "Adult", "lastfm": "LastFM Asia", "khan": "Khan (genes)"}
SOURCES: tuple[Callable[[Path], Source], ...] = (adult, lastfm, khan)
PREPARATIONS: dict[str, Callable[[Source, Split], Prepared]] = {"paper": as_the_paper, "public": by_public_rules}
