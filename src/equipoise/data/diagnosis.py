"""For the data's owner alone: how many rows the public rules will touch. Computed on raw rows, it must stay inside."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equipoise.data.arrow_values import Column
from equipoise.data.bounded import bounded
from equipoise.data.date_parts import DAY
from equipoise.data.encoded import check_columns
from equipoise.data.encoder import Encoder, target_as_column
from equipoise.data.entries import numbers_of_entries
from equipoise.data.mismatch import (
    classes_mismatch,
    count_mismatch,
    hours_mismatch,
    labels_mismatch,
    levels_mismatch,
    lines_mismatch,
    quotes_mismatch,
    readings_mismatch,
    targets_mismatch,
    values_mismatch,
)
from equipoise.data.raw import RawTable
from equipoise.data.readings import LOOKED_AT, Reading
from equipoise.data.rows import class_codes
from equipoise.data.schema import Column as Declared
from equipoise.data.schema import Schema
from equipoise.data.schema.kinds.date import DateColumn
from equipoise.data.schema.numerals import COMMON
from equipoise.data.schema.text import text_of
from equipoise.data.sizes import sizes
from equipoise.data.slots import Slots
from equipoise.data.tables import feature_table, target_column
from equipoise.data.texts import SheetColumn, Texts
from equipoise.data.unread import NUMERIC_KINDS, Unread
from equipoise.errors import InvalidData
from equipoise.vocabulary.constants import BLOCK_ROWS
from equipoise.vocabulary.facts import Domain, Label

STAMP = "computed on raw rows: not for release"
HEAD = "the declared facts describe another table than this one:"


@dataclass(frozen=True, slots=True)
class RowDiagnosis:
    """Counts of rows that the domain's rules change. Every number here is private."""

    rows: int
    filled: int
    clipped: int
    targets_mapped: int
    # What shows that the domain describes another table (equipoise.data.mismatch).
    mismatches: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the counts with the stamp."""
        lines = [
            f"{STAMP}",
            f"  rows                                {self.rows}",
            f"  with non-finite values, filled      {self.filled}",
            f"  longer than row_norm, clipped       {self.clipped}",
            f"  with an unknown or far target       {self.targets_mapped}",
        ]
        if self.mismatches:
            lines += [HEAD, *(f"  {mismatch}" for mismatch in self.mismatches)]
        return "\n".join(lines)


def check_rows(X: Any, y: Any, domain: Domain) -> RowDiagnosis:  # noqa: N803 - the field's word for a table
    """Count the rows that a domain's public rules will fill, clip or relabel; for the owner's eyes only.

    Examples
    --------
    >>> import numpy as np
    >>> print(check_rows(np.array([[3.0, 4.0], [0.1, np.nan]]), [1, 7], Domain(row_norm=1.0, classes=(0, 1))))
    computed on raw rows: not for release
      rows                                2
      with non-finite values, filled      1
      longer than row_norm, clipped       1
      with an unknown or far target       1
    """
    table = feature_table(X)
    scaled = bounded(table, domain, X)
    target = target_column(y, table.shape[0])
    if domain.labels is not None and not target.numeric:
        raise InvalidData("a numeric target", "a target of another type", "pass numbers, or name classes in the domain")
    filled = clipped = 0
    for given, values in zip(_blocks(table), _blocks(scaled), strict=True):
        finite = np.isfinite(given)
        with np.errstate(all="ignore"):
            norms = sizes(np.where(np.isfinite(values), values, domain.fill), domain)
        filled += int(np.sum(~finite.all(axis=1)))
        # What rounding adds to the longest row that bounds allow is not counted.
        clipped += int(np.sum(norms > domain.row_norm * (1 + 1e-12 * (domain.bounds is not None))))
    mapped, others = _mapped_targets(target.read(), domain)
    found = targets_mismatch(mapped, table.shape[0]) or classes_mismatch(others, table.shape[0])
    return RowDiagnosis(table.shape[0], filled, clipped, mapped, () if found is None else (found,))


def _blocks(table: Unread) -> Iterator[NDArray[np.float64]]:
    """Yield the numbers of a table, some rows at a time."""
    matrix = table.read()
    if sparse.issparse(matrix):
        matrix = sparse.csr_array(matrix)
    for start in range(0, table.shape[0], BLOCK_ROWS):
        block = matrix[start : start + BLOCK_ROWS]
        yield (block.toarray() if sparse.issparse(block) else block).astype(np.float64)


def _mapped_targets(target: NDArray[Any], domain: Domain) -> tuple[int, int]:
    """Return how many targets are mapped, and how many count as another class than the first: all in a regression."""
    if domain.labels is not None:
        numeric = target.dtype.kind in NUMERIC_KINDS
        values = target.astype(np.float64) if numeric else numbers_of_entries(target, len(target))
        return int(np.sum(~(np.abs(values - domain.label_centre) <= domain.label_bound))), len(target)
    if domain.classes is None or domain.classes == "observed":
        return 0, len(target)
    first, *rest = (class_codes(target, (domain.classes[0], label)) > 0 for label in domain.classes)
    others = np.logical_or.reduce(rest)
    return int(np.sum(~(first | others))), int(np.sum(others))


@dataclass(frozen=True, slots=True)
class ColumnDiagnosis:
    """Counts of one column's values that the schema's rules change; None where a rule does not concern the column."""

    name: str
    missing: int
    unreadable: int | None = None
    outside_bounds: int | None = None
    unknown_levels: int | None = None


@dataclass(frozen=True, slots=True)
class PersonsDiagnosis:
    """Counts of persons and of what their rules leave out. Every number here, but the declared ones, is private."""

    persons: int
    declared_persons: int | None
    rows_without_id: int
    rows_at_most: int
    persons_with_more: int

    def lines(self) -> list[str]:
        """Return the counts as lines of a table."""
        surplus = 0 if self.declared_persons is None else max(0, self.persons - self.declared_persons)
        note = f" (the last {surplus} of the table are left out: correct n)" if surplus else ""
        declared = "not declared" if self.declared_persons is None else f"{self.declared_persons}{note}"
        return [
            f"  persons in the table                {self.persons}",
            f"  persons that the schema declares    {declared}",
            f"  rows without an id, left out        {self.rows_without_id}",
            f"  persons with more than {self.rows_at_most:<12} {self.persons_with_more} (the first rows count)",
        ]


@dataclass(frozen=True, slots=True)
class TableDiagnosis:
    """Counts of what a schema's rules change in a table. Every number here, but the declared one, is private."""

    rows: int
    declared_rows: int | None
    unusable_rows: int
    clipped: int
    columns: tuple[ColumnDiagnosis, ...]
    target: ColumnDiagnosis
    persons: PersonsDiagnosis | None = None
    # What shows that the schema describes another table (equipoise.data.mismatch).
    mismatches: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """Return the counts as dictionaries and lists, with the stamp."""
        plain = asdict(self)
        if self.persons is None:
            del plain["persons"]
        lists = {"columns": list(plain["columns"]), "mismatches": list(plain["mismatches"])}
        return {"stamp": STAMP, **plain, **lists}

    def __str__(self) -> str:
        """Return the counts as a table, with the stamp."""
        declared = "not declared" if self.declared_rows is None else f"{self.declared_rows}"
        counted = [f"  rows that the schema declares       {declared}{self._difference()}"]
        lines = [
            STAMP,
            f"  rows in the table                   {self.rows}",
            *(counted if self.persons is None else self.persons.lines()),
            f"  rows without any value              {self.unusable_rows}",
            f"  longer than row_norm, clipped       {self.clipped}",
            "",
        ]
        heads = ("column", "missing", "unreadable", "outside bounds", "unknown level")
        entries = [*self.columns, replace(self.target, name=f"{self.target.name} (target)")]
        width = max(len(heads[0]), *(min(len(entry.name), 40) for entry in entries))
        lines.append("  ".join([f"  {heads[0]:<{width}}", *heads[1:]]))
        for entry in entries:
            name = entry.name if len(entry.name) <= 40 else f"{entry.name[:37]}..."
            counts = (entry.missing, entry.unreadable, entry.outside_bounds, entry.unknown_levels)
            cells = (f"{'-' if n is None else n:>{len(head)}}" for n, head in zip(counts, heads[1:], strict=True))
            lines.append("  ".join([f"  {name:<{width}}", *cells]))
        if self.mismatches:
            lines += ["", HEAD, *(f"  {mismatch}" for mismatch in self.mismatches)]
        return "\n".join(lines)

    def _difference(self) -> str:
        if self.declared_rows is None or self.rows == self.declared_rows:
            return ""
        surplus = self.rows - self.declared_rows
        if surplus > 0:
            return f" (the last {surplus} of the table are left out)"
        return f" (the {-surplus} that lack count as rows without any value)"


def check_table(schema: Schema, raw: RawTable) -> TableDiagnosis:
    """Count what a schema's public rules will fill, clip or map in a table; for the owner's eyes only.

    Parameters
    ----------
    schema : Schema
        Without blanks in its columns and target.
    raw : RawTable
        The table; every row of it is read, also those beyond the declared number.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.frames import FrameTable
    >>> from equipoise.data.schema import CategoryColumn, NumberColumn, Target
    >>> columns = (NumberColumn("age", (20, 60)), CategoryColumn("job", ("none", "nurse"), unknown="none"))
    >>> schema = Schema(4, columns, Target("ill", classes=("no", "yes")))
    >>> ages, jobs = [25, 99, 40, None], ["nurse", "pilot", "none", None]
    >>> frame = pyarrow.table({"age": ages, "job": jobs, "ill": ["yes", "no", "no", None]})
    >>> print(check_table(schema, FrameTable(frame)))
    computed on raw rows: not for release
      rows in the table                   4
      rows that the schema declares       4
      rows without any value              1
      longer than row_norm, clipped       0
    <BLANKLINE>
      column        missing  unreadable  outside bounds  unknown level
      age                 1           0               1              -
      job                 1           -               -              1
      ill (target)        1           -               -              0
    """
    # With the natural norm nothing is clipped, so the encoded rows still have their lengths.
    encoder = Encoder(replace(schema, row_norm=None))
    check_columns(schema, raw)
    target = schema.target
    tallies = [_Tally(column, encoder.reading(column.name)) for column in schema.columns]
    tallies.append(_Tally(target_as_column(schema), encoder.reading(target.name)))
    natural = schema.longest_row
    limit = math.inf if schema.row_norm is None else schema.row_norm / natural * (1 + 1e-12)
    rows = unusable = clipped = identified = 0
    person, slots = schema.person, Slots(10**18, 10**18, schema.missing)
    names = [tally.name for tally in tallies]
    if person is not None:
        raw, names = raw.with_ids(person.column), [*names, person.column]
    for batch in raw.batches(names):
        count = len(batch[target.name])
        identified += 0 if person is None else len(slots.of(batch[person.column])[0])
        missing = [tally.add(batch[tally.name]) for tally in tallies]
        rows += count
        unusable += int(np.sum(np.all(missing, axis=0)))
        clipped += int(np.sum(np.linalg.norm(encoder.encode(batch, count), axis=1) > limit))
    counts = tuple(tally.counts() for tally in tallies)
    persons = None
    if person is not None:
        more = sum(found > person.rows_at_most for found in slots.counts)
        persons = PersonsDiagnosis(len(slots.counts), schema.n_samples, rows - identified, person.rows_at_most, more)
    declared = schema.n_samples if person is None else None
    quotes = quotes_mismatch(raw.ends_lines_inside_quotes())
    found = [quotes, lines_mismatch(unusable, rows), count_mismatch(rows, declared)]
    found += [tally.mismatch(rows) or tally.others_mismatch(rows) for tally in tallies[:-1]]
    found.append(tallies[-1].target_mismatch(rows, target.classes))
    mismatches = tuple(mismatch for mismatch in found if mismatch is not None)
    return TableDiagnosis(rows, declared, unusable, clipped, counts[:-1], counts[-1], persons, mismatches)


class _Tally:
    """Counts over the batches of one column."""

    def __init__(self, column: Declared, reading: Reading) -> None:
        self.name = column.name
        self._reading = reading
        # Where the hour alone counts, midnight is the first of its levels.
        self._hours = isinstance(column, DateColumn) and column.hours_alone
        self._others = 0
        self._missing = 0
        self._counts: list[int | None] = list(reading.seen(np.empty(0, dtype=object))[1:4])
        self._numerals = COMMON
        self._texts: list[str] = []

    def add(self, values: Column) -> NDArray[np.bool_]:
        """Count a batch, and return where its values are missing."""
        seen = self._reading.seen(values)
        self._missing += int(np.sum(seen.missing))
        pairs = zip(self._counts, seen[1:4], strict=True)
        self._counts = [None if total is None or more is None else total + more for total, more in pairs]
        if isinstance(values, Texts | SheetColumn):
            self._numerals = values.numerals
        self._texts.extend(seen.texts[: LOOKED_AT - len(self._texts)])
        read = self._reading(values)
        self._others += int(np.sum((read % DAY if self._hours else read)[~seen.missing] > 0))
        return seen.missing

    def mismatch(self, rows: int, target: bool = False) -> str | None:
        """Return what shows that the schema is wrong about how this column is written, if anything does."""
        unreadable, outside, _ = (count or 0 for count in self._counts)
        return readings_mismatch(
            self.name, unreadable, rows - self._missing, self._texts, self._numerals, target
        ) or values_mismatch(self.name, self._missing, unreadable, outside, rows, target)

    def others_mismatch(self, rows: int) -> str | None:
        """Return what shows that the schema is wrong about levels, spellings or hours, if anything does."""
        present = rows - self._missing
        if self._hours:
            return hours_mismatch(self.name, self._others, present)
        return levels_mismatch(self.name, self._counts[2] or 0, present)

    def target_mismatch(self, rows: int, classes: Sequence[Label] | None) -> str | None:
        """Return what shows that the schema is wrong about the target, if anything does."""
        if classes is None:
            found = self.mismatch(rows, target=True)
        else:
            known = [text_of(label) or "" for label in classes]
            found = labels_mismatch(self.name, self._counts[2] or 0, rows - self._missing, self._texts, known)
        if found is not None:
            return found
        none = targets_mismatch(self._missing + sum(count or 0 for count in self._counts), rows)
        if none is None and classes is not None:
            none = classes_mismatch(self._others, rows)
        return None if none is None else f"{self.name}: {none}"

    def counts(self) -> ColumnDiagnosis:
        """Return what was counted; None where a rule does not concern the kind."""
        return ColumnDiagnosis(self.name, self._missing, *self._counts)
