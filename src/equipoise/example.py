"""A made-up table of people, its code book and its schema: to try every command on, without a network or a secret.

Nobody in it exists. People are drawn by a public seed and Python's own generator, whose numbers stay the same over
versions, so that whoever makes the table has the same one.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from random import Random

PEOPLE, NEW_PEOPLE = 8_000, 500
SEED = 20

NAMES = ("person_id", "born", "job", "hours", "exercise", "smokes", "checkup")
TARGET = NAMES[-1]
# When the survey was taken, and how old people were then.
SURVEY = date(2026, 1, 1)
YOUNGEST, OLDEST = 18, 90
DAYS_OF_A_YEAR = 365.25
MOST_HOURS = 80

# What each level stands for, and how much likelier a check-up is with it, in logits.
JOBS = {
    "care": ("nursing and care", 0.9),
    "craft": ("crafts and building", -0.6),
    "farming": ("farming and forestry", -0.9),
    "office": ("offices and shops", 0.3),
    "teaching": ("schools and universities", 0.6),
    "transport": ("driving and delivery", -0.9),
    "none": ("no job, retired or in education", 0.0),
}
EXERCISE = {
    "rarely": ("less than once a week", -0.5),
    "weekly": ("once a week or more", 0.2),
    "daily": ("every day", 0.5),
}
CHECKUP = {"no": "no medical check-up within the last two years", "yes": "one or more"}
# The labels of every column that has levels.
LEVELS = {
    "job": {level: label for level, (label, _) in JOBS.items()},
    "exercise": {level: label for level, (label, _) in EXERCISE.items()},
    TARGET: CHECKUP,
}


def code_book() -> str:
    """Return what was published beside the table, as a CSV file: every level with its label, and bounds.

    Examples
    --------
    >>> code_book().splitlines()[:2]
    ['column,level,label,low,high', 'job,care,nursing and care,,']
    """
    rows = [[name, level, label, "", ""] for name, labels in LEVELS.items() for level, label in labels.items()]
    return _written([["column", "level", "label", "low", "high"], *rows, ["hours", "", "", 0, MOST_HOURS]])


def schema() -> str:
    """Return the public facts about the table, as whoever took the survey would write them down: a schema.toml.

    Examples
    --------
    >>> from equipoise.data.schema import Schema
    >>> Schema.from_text(schema()).n_samples
    8000
    """
    levels = {name: ", ".join(f'"{level}"' for level in known) for name, known in LEVELS.items()}
    return f"""# Made-up facts about made-up people. Yours come from a code book, never from the rows: docs/schema.md.
schema_version = 1
n = {PEOPLE}
vouched_by = "nobody: these people are made up"
vouched_on = {SURVEY}

[target]
name = "{TARGET}"
classes = [{levels[TARGET]}]

[columns.person_id]
kind = "identifier"

[columns.born]
kind = "date"
parts = ["age"]
ages = [{YOUNGEST}, {OLDEST}]
reference = {SURVEY}

[columns.job]
kind = "category"
levels = [{levels["job"]}]
other = true

[columns.hours]
kind = "number"
bounds = [0, {MOST_HOURS}]

[columns.exercise]
kind = "category"
levels = [{levels["exercise"]}]
other = true

[columns.smokes]
kind = "yes-no"
"""


def table(people: Iterable[tuple[object, ...]], target: bool = True) -> str:
    r"""Return people as a CSV file, with or without the target.

    Examples
    --------
    >>> table([], target=False)
    'person_id,born,job,hours,exercise,smokes\n'
    """
    width = len(NAMES) if target else len(NAMES) - 1
    return _written(row[:width] for row in (NAMES, *people))


def people(first: int = 1, count: int = PEOPLE, seed: int = SEED) -> Iterator[tuple[object, ...]]:
    """Yield made-up people, the target last: whoever is older, cares for others or moves more goes to check-ups.

    Examples
    --------
    >>> next(people())
    ('P00001', '1942-11-06', 'teaching', 46, 'daily', 'no', 'yes')
    """
    generator = Random(seed)  # noqa: S311 - public coins
    for number in range(first, first + count):
        born = SURVEY - timedelta(days=_between(generator, YOUNGEST * 366, OLDEST * 365))
        age = (SURVEY - born).days / DAYS_OF_A_YEAR
        job, exercise = _one_of(generator, JOBS), _one_of(generator, EXERCISE)
        hours = 0 if job == "none" else min(MOST_HOURS, _between(generator, 10, 45) + _between(generator, 0, 15))
        smokes = generator.random() < 0.25
        pull = 0.07 * (age - 54) - 0.02 * (hours - 30) + JOBS[job][1] + EXERCISE[exercise][1] - 0.8 * smokes
        goes = generator.random() < 1 / (1 + math.exp(-1.5 * pull))
        # Some do not answer.
        shown = "" if generator.random() < 0.03 else hours
        yield f"P{number:05}", born.isoformat(), job, shown, exercise, _answer(smokes), _answer(goes)


def _between(generator: Random, low: int, high: int) -> int:
    return low + int(generator.random() * (high - low + 1))


def _one_of(generator: Random, levels: Iterable[str]) -> str:
    known = tuple(levels)
    return known[_between(generator, 0, len(known) - 1)]


def _answer(truth: bool) -> str:
    return "yes" if truth else "no"


def _written(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
