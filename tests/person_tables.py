"""Small tables of persons in parts, and what a table in memory keeps of them."""

import itertools
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray
from pyarrow import csv, parquet

from equipoise.data.encoded import encoded_table
from equipoise.data.engines.base import SHARES
from equipoise.data.frames import FrameTable
from equipoise.data.person_runs import PersonRule
from equipoise.data.schema import NumberColumn, Person, Schema, Target
from equipoise.data.slots import shares_of

MOST = 10
# Persons with one row, two, and many more than are kept, and a hundred others.
COUNTS = {"one": 1, "two": 2, "many": 1000, **{f"p{number}": 1 + number % 14 for number in range(100)}}
PERSONS = len(COUNTS)
# Parts end anywhere, and one has no row.
ENDS = (0, 7, 400, 400, 1200)


def person_schema(n_persons: int = PERSONS) -> Schema:
    return Schema(
        n_persons,
        (NumberColumn("age", (0, 100)), NumberColumn("dose", (-3, 3))),
        Target("ill", classes=("no", "yes")),
        vouched_by="A. Officer",
        vouched_on=date(2026, 11, 17),
        person=Person("patient", MOST),
    )


def rule(n_persons: int = PERSONS) -> PersonRule:
    return PersonRule("patient", frozenset(person_schema().missing), n_persons, MOST)


def person_table(order: str = "shuffled", seed: int = 3) -> pyarrow.Table:
    """Rows of persons, and some of nobody, sorted by person or not."""
    coins = np.random.default_rng(seed)
    ids: list[Any] = [name for name, count in COUNTS.items() for _ in range(count)]
    ids += [None, "", "  ", None]
    age, dose = coins.uniform(0, 100, len(ids)), coins.normal(size=len(ids))
    # Blanks around an id do not count.
    ids = [f" {name}" if name and coins.random() < 0.1 else name for name in ids]
    table = pyarrow.table(
        {
            "age": age,
            "patient": pyarrow.array(ids, pyarrow.string()),
            "dose": dose,
            "ill": np.where(age + 20 * coins.normal(size=len(age)) > 50, "yes", "no"),
        }
    )
    return table if order == "sorted" else table.take(pyarrow.array(coins.permutation(len(ids))))


def in_parts(table: pyarrow.Table) -> list[pyarrow.Table]:
    ends = [*ENDS, len(table)]
    return [table.slice(start, stop - start) for start, stop in itertools.pairwise(ends)]


def written(folder: Path, table: pyarrow.Table, ending: str = "parquet") -> Path:
    """A table as a folder of files, over which persons are spread."""
    folder.mkdir()
    for number, part in enumerate(in_parts(table)):
        write = csv.write_csv if ending == "csv" else parquet.write_table
        write(part, folder / f"{number}.{ending}")
    return folder


class Seen:
    """Work that returns the rows themselves: ages and shares, from a place on."""

    def __call__(self, batches: Any, first: int) -> tuple[int, list[float], list[float]]:
        kept = [(batch["age"].tolist(), batch[SHARES].tolist()) for batch in batches]
        return first, [float(age) for ages, _ in kept for age in ages], [share for _, some in kept for share in some]


def kept_rows(table: Any, n_persons: int = PERSONS) -> list[tuple[float, float]]:
    """What parts have of persons, by place among the kept rows: ages and shares."""
    grouped, found = table.grouped(rule(n_persons)), {}
    count = grouped.places(n_persons)
    for _, (first, ages, shares) in grouped.answers(Seen(), ["age"], n_persons):
        found.update({first + place: row for place, row in enumerate(zip(ages, shares, strict=True))})
    grouped.close()
    assert sorted(found) == list(range(count))
    return [found[place] for place in range(count)]


def kept_in_memory(table: pyarrow.Table, n_persons: int = PERSONS) -> list[tuple[float, float]]:
    encoded = encoded_table(person_schema(n_persons), FrameTable(table), n_persons)
    shares = shares_of(encoded.persons.read(), n_persons)
    # The first column is age / 50 - 1, over the root of two.
    ages = (encoded.features.read()[:, 0] * np.sqrt(2) + 1) * 50
    return list(zip(ages.tolist(), shares.tolist(), strict=True))


def same_rows(found: Sequence[tuple[float, float]], expected: Sequence[tuple[float, float]]) -> bool:
    """Whether rows are the same: ages up to how they are scaled and back, shares to the last bit."""
    return len(found) == len(expected) and all(
        abs(one - other) < 1e-9 and share == another
        for (one, share), (other, another) in zip(found, expected, strict=True)
    )


def one_more_person(
    coins: np.random.Generator, common: NDArray[Any], rows: int, may_be_nobody: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return six persons with a row each and a seventh with so many at random, or nobody: rows, labels and ids."""
    own = coins.normal(size=(rows, 2)) * coins.uniform(0, 3) + 3 * coins.normal(size=2)
    own = own if not may_be_nobody or coins.random() < 0.7 else own[:0]
    X = np.concatenate([common, own])
    y = (coins.random(len(X)) < coins.random()).astype(int)
    y[:6] = [0, 1, 0, 1, 0, 1]
    return X, y, np.concatenate([np.arange(6), np.full(len(own), 6)])
