"""A schema to fill in: names and kinds of a table's columns, and a blank wherever somebody must vouch for a fact."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from equipoise.data.raw import RawTable
from equipoise.data.schema.columns import ROWS_AT_MOST
from equipoise.data.schema.record import DEFAULT_MISSING, VERSION, Schema
from equipoise.data.schema.text import number_of, place, text_of, written, written_list

GUESSED_ROWS = 1_000

HEAD = """\
# A drafted schema: names and kinds of columns, and blanks ("" and []).
#
# Fill in every blank from what is publicly known without the rows: a code book, a questionnaire, a physical or legal
# range. Do not look into the data for it. A bound or a level that was learned from private rows tells something about
# them, and no certificate covers that. docs/schema.md explains every key.
#
# A column that shall take no part: write kind = "unused" and delete its other lines.
"""

FACTS = """\
# The number of rows, as it is publicly known: it is part of the claim. It is not counted here, because publishing a
# count that only the rows can tell is a leak of its own. With a table [person], see below, the number of persons.
n = ""

# Who says that everything in this file is public and true, and since when. No program can say that.
vouched_by = ""
vouched_on = ""  # a date: 2026-11-16

# Optional: the texts that count as a missing value.
# missing = {missing}

[target]
# What is predicted. Move one column here: write its name, and delete its table below.
name = ""
# A classification: the public label set, for example ["no", "yes"]; any other value counts as the first. Look it up in
# the code book: a label that only one row has would give that row away.
classes = []
# A regression: delete the line above, and write the public range [low, high] of the target. Look up the physical or
# legal range: the smallest and the largest target in the rows are somebody's.
# bounds = []

# Optional, where a person may have several rows: the promise is then about all rows of a person. Move the column of ids
# here: write its name, and delete its table below. A row without an id is left out; of each person the first rows
# count, at most so many.
# [person]
# column = ""
# rows_at_most = {rows_at_most}
"""

GUESS = f"  # a guess from the first {GUESSED_ROWS:,} rows: whoever vouches must confirm or correct it"
BOUNDS = "[low, high]: look up the code book, the physical or the legal range; the extremes of the rows are somebody's"
LEVELS = "every level of the code book; a rare level learned from the rows would give its owner away"
UNKNOWN = "one of the levels: what any other value counts as; it must be fixed before a row is seen"


def draft(raw: RawTable, file_lines: Sequence[str] = ()) -> str:
    """Return the text of a schema with a table's names and kinds, and blanks for whatever somebody must vouch for.

    Kinds are those of the file. Where it has none (CSV), they are guessed from the first rows, and the text says so.
    How a CSV file is written is told by the lines of its table `[file]`.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.raw import FrameTable
    >>> text = draft(FrameTable(pyarrow.table({"age": [31, 64], "town": ["Graz", "Linz"]})))
    >>> Schema.from_text(text).blanks()[3:]
    ('target.name', 'target.classes', 'columns.age.bounds', 'columns.town.levels', 'columns.town.unknown')
    """
    guessed = _guesses(raw, [name for name in raw.names if raw.kinds[name] == "unknown"])
    facts = FACTS.format(missing=written_list(map(written, DEFAULT_MISSING)), rows_at_most=ROWS_AT_MOST)
    tables = ["\n".join(_table(name, guessed.get(name, raw.kinds[name]), name in guessed)) for name in raw.names]
    text = "\n".join([HEAD, f"schema_version = {VERSION}", "", facts, *file_lines, *tables])
    Schema.from_text(text)  # refuses what no schema can describe, such as too many columns
    return text


def _table(name: str, kind: str, guess: bool) -> Iterator[str]:
    note = GUESS if guess else ""
    yield f"[{place('columns', name)}]"
    if kind == "number":
        yield f'kind = "number"{note}'
        yield f"bounds = []  # {BOUNDS}"
    else:
        yield f'kind = "category"{note}'
        yield f"levels = []  # {LEVELS}"
        yield f'unknown = ""  # {UNKNOWN}'
    yield ""


def _guesses(raw: RawTable, names: Sequence[str]) -> dict[str, str]:
    """Return "number" for columns most of whose first values read as numbers, "text" for the others."""
    values: dict[str, list[object]] = {name: [] for name in names}
    for batch in raw.batches(names) if names else ():
        for name, found in values.items():
            found.extend(batch[name][: GUESSED_ROWS - len(found)])
        if len(values[names[0]]) >= GUESSED_ROWS:
            break
    rule = number_of if raw.file is None else raw.file.numerals.number_of
    return {name: _guess(found, rule) for name, found in values.items()}


def _guess(values: Iterable[object], rule: Callable[[Any], float]) -> str:
    present = [value for value in values if text_of(value) not in (None, *DEFAULT_MISSING)]
    numbers = sum(np.isfinite(rule(value)) for value in present)
    return "number" if 2 * numbers > len(present) else "text"
