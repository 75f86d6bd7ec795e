"""Tables and work with planted faults, in a module of its own: workers import it where they are."""

import contextlib
import functools
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import csv, parquet

from equipoise.data.engines.base import PartedTable, first_rows
from equipoise.data.engines.grouped import GroupedHere
from equipoise.data.engines.pieces import EncodedPieces
from equipoise.data.frames import FrameTable
from equipoise.data.person_runs import PersonRule
from equipoise.data.schema import NumberColumn, Schema, Target
from equipoise.errors import PrivateFailure
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Problem

# Parts that end within blocks, and one that has no row.
LENGTHS = (1500, 700, 0, 3001, 799)
ROWS = sum(LENGTHS)


def schema(n_samples: int = ROWS) -> Schema:
    columns = (NumberColumn("age", (0, 100)), NumberColumn("dose", (-3, 3)))
    return Schema(
        n_samples, columns, Target("ill", classes=("no", "yes")), vouched_by="A. Officer", vouched_on=date(2026, 11, 16)
    )


def parts(lengths: Sequence[int] = LENGTHS) -> list[pyarrow.Table]:
    """The rows of a small table, in parts."""
    coins = np.random.default_rng(19)
    age, dose = coins.uniform(0, 100, sum(lengths)), coins.normal(size=sum(lengths))
    ill = np.where(age + 20 * coins.normal(size=len(age)) > 50, "yes", "no")
    whole, ends = pyarrow.table({"age": age, "dose": dose, "ill": ill}), np.cumsum([0, *lengths])
    return [whole.slice(start, length) for start, length in zip(ends[:-1], lengths, strict=True)]


def written(folder: Path, ending: str, lengths: Sequence[int] = LENGTHS) -> Path:
    """The same as a folder of files."""
    folder.mkdir()
    for number, part in enumerate(parts(lengths)):
        write = csv.write_csv if ending == "csv" else parquet.write_table
        write(part, folder / f"{number}.{ending}")
    return folder


def encoding(n_samples: int = ROWS) -> EncodedPieces:
    """Rows of that table in a problem's domain."""
    facts = schema(n_samples)
    return EncodedPieces(
        facts, Problem(losses.named("logistic"), penalties.named("l2", 0.1), facts.domain, 1.0), ("no", "yes")
    )


class Planted(PartedTable):
    """A table in parts that goes wrong in one way: `fault` is told each pass's number and honest answers."""

    def __init__(self, fault: Any = None, tables: Sequence[pyarrow.Table] | None = None) -> None:
        self._parts = [FrameTable(part) for part in tables or parts()]
        self.names, self.kinds, self.source = self._parts[0].names, self._parts[0].kinds, "a planted table"
        self.n_samples = sum(part.n_samples for part in self._parts)
        self._fault, self.passes = fault, 0

    def with_ids(self, name: str) -> "Planted":
        table = super().with_ids(name)
        table._parts = [part.with_ids(name) for part in self._parts]
        return table

    def grouped(self, rule: PersonRule) -> PartedTable:
        return GroupedHere(self.with_ids(rule.column), rule)

    def batches(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        for part in self._parts:
            yield from part.batches(names)

    def answers(self, work: Any, names: Sequence[str], n_samples: int) -> Iterator[tuple[int, Any]]:
        first, found = 0, []
        for number, part in enumerate(self._parts):
            found.append((number, functools.partial(self._answer, work, part, names, first)))
            first += part.n_samples
        self.passes += 1
        for number, answer in found if self._fault is None else self._fault(self.passes, found):
            yield number, answer()

    def _answer(self, work: Any, part: FrameTable, names: Sequence[str], first: int) -> Any:
        # Whoever folds answers may keep their arrays, so each is made as often as it is sent.
        return work(first_rows(part.batches(names), part.n_samples), first)


# Faults of an engine: what becomes of a pass's honest answers.


def twice(_, found):
    return [*found, *reversed(found)]


def backwards(_, found):
    return reversed(found)


def swapped(_, found):
    """Two parts answer under each other's number, as if somebody had counted from 1."""
    (_, first), (_, second), *others = found
    return [(0, second), (1, first), *others]


def lost(_, found):
    return found[1:]


def lost_later(passes, found):
    return found if passes == 1 else found[1:]


def another(_, found):
    """A part's answer comes under the number of one that is lost."""
    (_, first), (_, _), *others = found
    return [(0, first), (1, first), *others]


def another_later(passes, found):
    return found if passes == 1 else another(passes, found)


def swapped_later(passes, found):
    return found if passes == 1 else swapped(passes, found)


HARMLESS = (None, twice, backwards, swapped)
HARMFUL = (lost, lost_later, another, another_later, swapped_later)
# How a fit fails after its spend.
CONSTANT = f"{PrivateFailure()} None None"


@dataclass(frozen=True)
class Deadly:
    """Work that ends its worker once: a file says that it did."""

    work: Any
    done: Path

    def __call__(self, *given: Any) -> Any:
        answer = self.work(*given)
        with contextlib.suppress(FileExistsError):
            self.done.touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        return answer


@dataclass(frozen=True)
class Telling:
    """Work that fails with a row in its text."""

    def __call__(self, batches: Iterator[Any], first: int) -> Any:
        raise ValueError(f"SECRET {next(batches)}")

    def __repr__(self) -> str:
        return "SECRET"
