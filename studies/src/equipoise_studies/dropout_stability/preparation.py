"""The paper's datasets: three pairs of newsgroups as bags of words, Boston housing, MNIST."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from equipoise_studies.data import BOSTON, MNIST, NEWSGROUPS

Array = NDArray[np.float64]

# The ranges that put each column of Boston housing into [-1, 1]: generous public ones, not fitted to the rows.
BOSTON_RANGES = {
    "crim": (0, 100),
    "zn": (0, 100),
    "indus": (0, 30),
    "chas": (0, 1),
    "nox": (0.3, 1),
    "rm": (3, 9),
    "age": (0, 100),
    "dis": (1, 13),
    "rad": (1, 24),
    "tax": (180, 720),
    "ptratio": (12, 23),
    "b": (0, 400),
    "lstat": (0, 40),
}


@dataclass(frozen=True)
class Pair:
    """Two newsgroups, by the paper's name for them."""

    key: str
    name: str
    groups: tuple[str, str]


PAIRS = (
    Pair("atheist", "Atheist", ("alt.atheism", "talk.religion.misc")),
    Pair("windows", "Windows", ("comp.graphics", "comp.windows.x")),
    Pair("baseball", "Baseball", ("rec.sport.baseball", "sci.crypt")),
)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows and outcomes."""

    rows: Any
    outcomes: NDArray[Any]

    def split(self, n_train: int, seed: int) -> tuple["Table", "Table"]:
        """Return so many rows for training and the rest for testing, drawn at random."""
        order = np.random.default_rng((3, seed)).permutation(len(self.outcomes))
        first, second = order[:n_train], order[n_train:]
        return Table(self.rows[first], self.outcomes[first]), Table(self.rows[second], self.outcomes[second])


def newsgroups(folder: Path, pair: Pair) -> Table:
    """Return word counts, each row divided by its norm; the vocabulary is that of all documents."""
    from sklearn.feature_extraction.text import CountVectorizer

    table = NEWSGROUPS.read(folder)
    groups = np.asarray(table["group"].to_pylist())
    inside = np.isin(groups, pair.groups)
    texts = [text for text, chosen in zip(table["text"].to_pylist(), inside.tolist(), strict=True) if chosen]
    counts = csr_matrix(CountVectorizer().fit_transform(texts), dtype=np.float64)
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(1)).ravel())
    return Table((diags(1 / np.maximum(norms, 1)) @ counts).tocsr(), groups[inside])


def boston(folder: Path) -> Table:
    """Return the 13 columns in [-1, 1], and the median value in thousands of dollars."""
    table = BOSTON.read(folder)
    columns = [
        2 * (table[name].to_numpy().astype(np.float64) - low) / (high - low) - 1
        for name, (low, high) in BOSTON_RANGES.items()
    ]
    return Table(np.column_stack(columns), table["medv"].to_numpy().astype(np.float64))


def mnist(folder: Path) -> tuple[Table, Table]:
    """Return pixels in [0, 1] and digits, by the official split."""
    table = MNIST.read(folder)
    pixels = np.frombuffer(b"".join(table["image"].to_pylist()), np.uint8).reshape(table.num_rows, -1)
    labels = table["label"].to_numpy().astype(np.int32)
    train = np.asarray(table["split"].to_pylist()) == "train"
    rows = pixels.astype(np.float32) / 255
    return Table(rows[train], labels[train]), Table(rows[~train], labels[~train])
