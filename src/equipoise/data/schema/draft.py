"""A schema to fill in: names and kinds of a table's columns, and a blank wherever somebody must vouch for a fact."""

import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from equipoise.data.raw import RawTable, listed
from equipoise.data.schema.code_book import CodeBook
from equipoise.data.schema.columns import ROWS_AT_MOST, written_bounds
from equipoise.data.schema.hints import names_dates, unit_in
from equipoise.data.schema.kinds.date import PARTS as PARTS_OF_DATES
from equipoise.data.schema.kinds.date import DateColumn
from equipoise.data.schema.kinds.identifier import names_identifiers
from equipoise.data.schema.kinds.yes_no import AT_UNKNOWN, YesNoColumn
from equipoise.data.schema.record import DEFAULT_MISSING, VERSION, Schema
from equipoise.data.schema.text import number_of, place, text_of, written, written_list
from equipoise.errors import InvalidData

GUESSED_ROWS = 1_000

HEAD = """\
# A drafted schema: names and kinds of columns, and blanks ("" and []).
#
# Fill in every blank from what is publicly known without the rows: a code book, a questionnaire, a physical or legal
# range. Do not look into the data for it. A bound or a level that was learned from private rows tells something about
# them, and no certificate covers that. docs/schema.md explains every key.
#
# A column that shall take no part: write kind = "unused" and delete its other lines.
#
# In a CSV file each line is a row, also within quotes. Where a person's record may be several lines (a note with line
# breaks), the promise for one row is not one for that person: take them out, or save the table as Parquet.
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
"""

UNNAMED = """\
# What is predicted. Move one column here: write its name, and delete its table below.
name = ""
"""

LABELS = """\
# A classification: the public label set, for example ["no", "yes"]; any other value counts as the first. Look it up in
# the code book: a label that only one row has would give that row away.
classes = []
# A regression: delete the line above, and write the public range [low, high] of the target. Look up the physical or
# legal range: the smallest and the largest target in the rows are somebody's.
# bounds = []
"""

PERSON = """\

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
OTHER = 'any other value has a level of its own; instead unknown = "..." may name one of the levels'
PARTS = f"what of a date counts, some of: {', '.join(PARTS_OF_DATES)}; docs/schema.md says what they need besides"
UNITS = "by its name: take the first # away if the unit stands beside the numbers"
AS_NUMBERS = "by its name, if these are numbers with their unit:"
AS_DATES = "by its name, if these are dates:"
FORMATS = 'formats = ["%d.%m.%Y"]  # if dates are not written as 2026-11-16; numbers alone: %Y %y %m %d %j %H %M'
ANSWERS = "yes and no in the usual spellings; yes = [...] and no = [...] declare others"
NAMED = "by its name: it takes part in nothing. If it names persons who have several rows, move it to [person]"
WITHOUT_A_KIND = {
    "duration": "durations: to be a feature they must be written as numbers in a stated unit, such as hours",
    "nothing": "its type holds no value",
}
BOOK = "  # from the code book"

# What reads the first values of a column whose kind is guessed.
DATES, ANSWERED = DateColumn("date"), YesNoColumn("answer")


def draft(
    raw: RawTable, book: CodeBook | None = None, file_lines: Sequence[str] = (), target: str | None = None
) -> str:
    """Return the text of a schema with a table's names and kinds, and blanks for whatever somebody must vouch for.

    Levels and bounds of a code book are filled in, and decide the kinds of their columns; those of the target, if one
    is named, are its classes or its range. A column is an identifier by its name. Units and formats of dates are hints
    in comments, by names alone (`equipoise.data.schema.hints`). Other kinds are those of the file.
    Where it has none (CSV), they are guessed from the first rows, and the text says so. How a CSV file is written is
    told by the lines of its table `[file]`.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.data.frames import FrameTable
    >>> text = draft(FrameTable(pyarrow.table({"age": [31, 64], "town": ["Graz", "Linz"]})))
    >>> Schema.from_text(text).blanks()[3:]
    ('target.name', 'target.classes', 'columns.age.bounds', 'columns.town.levels', 'columns.town.unknown')
    """
    book = book or CodeBook()
    if target is not None and target not in raw.names:
        found = f"none of that name in {raw.source}"
        close = difflib.get_close_matches(target, list(raw.names)[:1000], n=1)
        remedy = f"did you mean {close[0]!r}? choose one" if close else "choose one"
        raise InvalidData(f"a column {target!r} to predict", found, f"{remedy} of {listed(raw.names)}")
    names = [name for name in raw.names if name != target]
    known = {*book.levels, *book.bounds, *filter(names_identifiers, names)}
    guessed = _guesses(raw, [name for name in names if raw.kinds[name] == "unknown" and name not in known])
    facts = FACTS.format(missing=written_list(map(written, DEFAULT_MISSING)))
    person = PERSON.format(rows_at_most=ROWS_AT_MOST)
    tables = ["\n".join(_table(name, guessed.get(name, raw.kinds[name]), name in guessed, book)) for name in names]
    text = "\n".join(
        [HEAD, f"schema_version = {VERSION}", "", facts + _target(target, book) + person, *file_lines, *tables]
    )
    Schema.from_text(text)  # refuses what no schema can describe, such as too many columns
    return text


def _target(name: str | None, book: CodeBook) -> str:
    """Return the lines of the target, whose column is named or blank."""
    if name is None:
        return UNNAMED + LABELS
    named = f"name = {written(name)}\n"
    if name in book.levels:
        if len(book.levels[name]) == 1:
            found = f"{book.lines.get(name, 'the code book')}: the only level of {name!r}"
            remedy = "write a line for each class, or low and high if the target is a number"
            raise InvalidData("two classes or more of the target in the code book", found, remedy)
        classes = written_list(map(written, book.levels[name]))
        labels = "".join(f"{line}\n" for line in _labels(book.levels[name]))
        return f"{named}{labels}classes = {classes}{BOOK}; any other value counts as the first\n"
    if name in book.bounds:
        return f"{named}bounds = {written_bounds(book.bounds[name])}{BOOK}\n"
    return named + LABELS


def _table(name: str, kind: str, guess: bool, book: CodeBook) -> Iterator[str]:
    note = GUESS if guess else ""
    yield f"[{place('columns', name)}]"
    if name in book.levels:
        yield f'kind = "category"{BOOK}'
        yield from _labels(book.levels[name])
        yield f"levels = {written_list(map(written, book.levels[name]))}"
        yield f"other = true  # {OTHER}"
    elif name in book.bounds:
        yield f'kind = "number"{BOOK}'
        yield f"bounds = {written_bounds(book.bounds[name])}"
        yield from _unit(name)
    elif names_identifiers(name):
        yield f'kind = "identifier"  # {NAMED}'
    elif kind in WITHOUT_A_KIND:
        yield f'kind = "unused"  # {WITHOUT_A_KIND[kind]}'
    elif kind == "number":
        yield f'kind = "number"{note}'
        yield f"bounds = []  # {BOUNDS}"
        yield from _unit(name)
        yield from _dates(name)
    elif kind in ("date", "day", "time"):
        yield f'kind = "date"{note}'
        yield f"parts = []  # {PARTS}"
        # Dates with a type of their own are written in no way.
        if guess and names_dates(name):
            yield f"# {FORMATS}"
    elif kind in ("yes-no", "truth"):
        yield f'kind = "yes-no"{note}'
        yield f"# {ANSWERS}"
    else:
        yield f'kind = "category"{note}'
        yield f"levels = []  # {LEVELS}"
        yield f'unknown = ""  # {UNKNOWN}'
        if unit := unit_in(name):
            yield f'# {AS_NUMBERS} kind = "number", bounds = [] and unit = {written(unit)}'
        yield from _dates(name)
    yield ""


def _unit(name: str) -> Iterator[str]:
    """Yield the unit that a name tells, as a comment: values may be written without it."""
    if unit := unit_in(name):
        yield f"# unit = {written(unit)}  # {UNITS}"


def _dates(name: str) -> Iterator[str]:
    """Yield how a column would be declared whose name says that it holds dates, as comments."""
    if names_dates(name):
        yield f'# {AS_DATES} kind = "date" and parts = [], and'
        yield f"# {FORMATS}"


def _labels(levels: Mapping[str, str]) -> Iterator[str]:
    """Yield a comment for every level that has a label."""
    yield from (f"# {written(level)}: {_on_one_line(label)}" for level, label in levels.items() if label)


def _on_one_line(label: str) -> str:
    """Return a label for a comment: a line's end in it would begin a line of the schema."""
    plain = label if label.isprintable() else ascii(label)
    return plain if len(plain) <= 80 else f"{plain[:77]}..."


def _guesses(raw: RawTable, names: Sequence[str]) -> dict[str, str]:
    """Return the kind as which most of a column's first values read, "text" for the others."""
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
    texts = [text_of(value) or "" for value in present]
    # To Python, true and false are numbers.
    bare = [math.nan if isinstance(value, bool) else value for value in present]
    found = {
        "number": [rule(value) if isinstance(value, str) else number_of(value) for value in bare],
        "date": [DATES.second(text) for text in texts],
        "yes-no": [math.nan if ANSWERED.answer(text) == AT_UNKNOWN else 1.0 for text in texts],
    }
    return next((kind for kind, read in found.items() if 2 * sum(map(math.isfinite, read)) > len(present)), "text")
