"""A search for tables that make a fit need many passes over its rows, after the falsifier's: the best one is altered.

Tables of several kinds that are likely to be hard come first; then the hardest so far is changed a little, again and
again, and what needs no fewer passes is kept.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

ROWS, COLUMNS = 60, 5


class Table(NamedTuple):
    """Rows and numbers from which targets are made."""

    X: np.ndarray
    y: np.ndarray


def start(generator: np.random.Generator, way: int) -> Table:
    """Return a table that is likely to be hard: badly scaled, at corners, of equal or opposite rows, separable."""
    X = generator.normal(size=(ROWS, COLUMNS))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    if way == 1:
        X *= 10.0 ** generator.uniform(-8, 0, size=COLUMNS)
    elif way == 2:
        X = np.repeat(X[:2], ROWS // 2, axis=0) * generator.choice([-1.0, 1.0], size=(ROWS, 1))
    elif way == 3:
        X[:, 1:] = X[:, :1] * (1 + 10.0 ** generator.uniform(-12, -2) * X[:, 1:])
    elif way == 4:
        X *= 10.0 ** generator.uniform(-6, 6, size=(ROWS, 1))
    elif way == 5:
        X[: ROWS // 2] = np.nan
    return Table(X, X[:, 0] + 10.0 ** generator.uniform(-6, 1) * generator.normal(size=ROWS))


WAYS = 6


def altered(generator: np.random.Generator, table: Table) -> Table:
    """Return the table with some rows, targets, copies or scales changed."""
    X, y = table.X.copy(), table.y.copy()
    some = generator.choice(len(X), size=generator.integers(1, len(X) // 3), replace=False)
    way = generator.integers(7)
    if way == 0:
        X[some] = generator.normal(size=(len(some), X.shape[1]))
    elif way == 1:
        y[some] = -y[some]
    elif way == 2:
        y[some] = generator.normal(size=len(some))
    elif way == 3:
        # Copies of one row, or its opposites, with its target.
        X[some], y[some] = X[some[0]] * generator.choice([-1.0, 1.0], size=(len(some), 1)), y[some[0]]
    elif way == 4:
        X[some] *= 10.0 ** generator.uniform(-3, 3)
    elif way == 5:
        X[:, generator.integers(X.shape[1])] *= 10.0 ** generator.uniform(-2, 2)
    else:
        X[some] += 10.0 ** generator.uniform(-8, 0) * generator.normal(size=(len(some), X.shape[1]))
    return Table(X, y)


def climb(passes_of: Callable[[Table], int], seed: int, steps: int) -> tuple[Table, int]:
    """Return the table that needs the most passes among those tried, and how many."""
    generator = np.random.default_rng(seed)
    tables = [start(generator, way) for way in range(WAYS)]
    found = [passes_of(table) for table in tables]
    most = max(found)
    best = tables[found.index(most)]
    for _ in range(steps):
        other = altered(generator, best)
        needed = passes_of(other)
        # Equals are taken, so that the search does not stay where it is.
        if needed >= most:
            best, most = other, needed
    return best, most
