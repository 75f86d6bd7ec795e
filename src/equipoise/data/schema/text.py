"""The text of a schema: TOML in and out, and every fault on the way with its place in the file."""

import json
import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable
from datetime import date, datetime
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

from equipoise.errors import ENDINGS, SchemaInvalid
from equipoise.vocabulary.facts import Label
from equipoise.vocabulary.numbers import LARGEST, SMALLEST, plain

LARGEST_FILE = 4 * 2**20  # bytes
LARGEST_COUNT = 10**15  # rows: the arithmetic of the proofs is covered up to here (M4)
LARGEST_LABEL = 2**63  # TOML's whole numbers have 64 bits
SHOWN = 20  # faults in one error

# How files of tables end (`equipoise.data.files`).
TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx", ".xlsm")

# tomllib needs time that grows with the square of a dotted key's depth; keys that people write have three parts.
_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
DEEP_KEY = "a key of 64 parts or more"
_DEEP_KEY = re.compile(rf"(?<![A-Za-z0-9_\"'-])(?:{_PART}){{64}}")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"(?:(-?\d{4,}-\d\d-\d\d)[T ])?(\d\d:\d\d:\d\d)(?:\.(\d+))?", re.ASCII)

Made = TypeVar("Made")


def text_of(value: object) -> str | None:
    """Return the text by which a value is compared with levels and classes, or None for a missing value.

    Text is stripped of blanks around it; true and false are written so; a number without a fraction is written
    without a point; any other number as Python writes it. No value whatsoever raises.

    Examples
    --------
    >>> [text_of(value) for value in (" no ", 3, 3.0, 2.5, True, None, float("nan"))]
    ['no', '3', '3', '2.5', 'true', None, None]
    """
    try:
        return _text_of(plain(value))
    except ENDINGS:
        raise
    except BaseException:  # a value inside a private row never raises
        return None


def _text_of(value: Any) -> str | None:
    if isinstance(value, str):
        return str(value).strip()
    # What does not equal itself is missing: NaN, and what pandas writes for times and for anything else.
    if value is None or not bool(value == value):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, Real | Decimal):
        number = float(value)
        if not number.is_integer():
            return repr(number)
        return str(int(value if isinstance(value, Decimal) else number))
    return value.decode("utf-8", "replace").strip() if isinstance(value, bytes) else str(value).strip()


def same_moments(text: str) -> tuple[str, ...]:
    """Return the texts of typed values that are the moment or the time of day of a text, none for any other text.

    A type of microseconds holds the same moments as one of seconds, and a text has no type: so fractions are written
    without zeros at their end, or by six digits as Python does, behind a T or a blank; midnight is also a day.

    Examples
    --------
    >>> same_moments("14:30:00.000"), same_moments("2020-02-29T00:00:00"), same_moments("noon")
    (('14:30:00',), ('2020-02-29T00:00:00', '2020-02-29 00:00:00', '2020-02-29'), ())
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        return ()
    day, clock, fraction = found[1], found[2], (found[3] or "").rstrip("0")
    clocks = [f"{clock}.{fraction}", f"{clock}.{fraction:0<6}"] if fraction else [clock]
    if day is None:
        return tuple(dict.fromkeys(clocks))
    midnight = [day] if clocks == ["00:00:00"] else []
    return tuple(dict.fromkeys([f"{day}{mark}{clock}" for mark in "T " for clock in clocks] + midnight))


def number_of(value: Any) -> float:
    """Return a value or a text as a number, or NaN where it is none. No value whatsoever raises.

    A text is a number as databases and files of all kinds write it: blanks around it, a sign, digits 0 to 9 with a
    point among them or none, an exponent. Python's float reads some texts more: digits with underscores between them,
    and those of other scripts. They are none here, so that a text is the same number wherever a model is used
    (docs/schema.md#what-is-a-number).

    Examples
    --------
    >>> [number_of(value) for value in (" 3.5 ", 7, True, ".5", "1e3", "seven", "1_0", "\uff11", None)]
    [3.5, 7.0, 1.0, 0.5, 1000.0, nan, nan, nan, nan]
    """
    try:
        number = float(value)
        # Asked of what Python reads, which most texts that are no numbers never reach.
        if isinstance(value, str):
            if "_" in value or not (value.isascii() or value.strip().isascii()):
                return math.nan
        elif isinstance(value, bytes | bytearray) and b"_" in value:
            return math.nan
        return number
    except ENDINGS:
        raise
    except BaseException:  # a value inside a private row never raises
        return math.nan


def load(path: str | Path) -> str:
    """Return the text of a file that is small enough to be a schema."""
    if str(path).lower().endswith(TABLES):
        remedy = "pass the schema.toml here, and the table where a table is asked for"
        raise SchemaInvalid(f"a schema at {path}", "a table, by its name", remedy)
    try:
        # A pipe or device may have no end, or no beginning.
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError, TypeError) as error:
        found = error.strerror if isinstance(error, OSError) else "no plain file"
        raise SchemaInvalid(f"a schema at {path}", f"{found}", "pass the path of a schema.toml") from None
    if len(content) > LARGEST_FILE:
        raise _too_large(f"{path}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SchemaInvalid(
            f"a schema at {path}", "bytes that are not UTF-8 text", "save it as UTF-8 text, not as UTF-16 or Latin-1"
        ) from None


def parse(text: str, source: str) -> dict[str, Any]:
    """Return the tables of a TOML text, and refuse what is none.

    Examples
    --------
    >>> parse("n = 100", "the text")
    {'n': 100}
    """
    if not isinstance(text, str):
        remedy = 'pass the text of a schema; a file is read by Schema.from_toml("schema.toml")'
        raise SchemaInvalid(f"a schema in {source}", f"an object of type {type(text).__name__}", remedy)
    if not _is_unicode(text):
        raise SchemaInvalid(f"a schema in {source}", "text that is not Unicode", "save it as UTF-8 text")
    if len(text.encode()) > LARGEST_FILE:
        raise _too_large(source)
    if has_deep_key(text):
        raise SchemaInvalid(f"a schema in {source}", DEEP_KEY, "put a text with many points in quotes")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = f"no TOML: {error}"
    except RecursionError:
        found = "lists or tables nested too deeply"
    except Exception:  # whatever a file holds, its reader gets a sentence
        found = "a number or a date that cannot be read"
    remedy = "correct the line; text stands in quotes, and docs/schema.md shows every key"
    raise SchemaInvalid(f"a schema in {source}", found, remedy) from None


def has_deep_key(text: str) -> bool:
    """Return whether a TOML text has a key of 64 parts or more, which nobody writes and tomllib reads for minutes.

    Examples
    --------
    >>> has_deep_key("limits.largest.epsilon = 1"), has_deep_key("a." * 64 + "a = 1")
    (False, True)
    """
    return _DEEP_KEY.search(text) is not None


def _too_large(source: str) -> SchemaInvalid:
    remedy = "shorten it: a column with very many levels is better left unused, or grouped by a public rule"
    return SchemaInvalid(f"a schema of at most {LARGEST_FILE // 2**20} MiB", f"{source} is larger", remedy)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def written(value: Label) -> str:
    r"""Return a text, number or truth value as TOML that reads back as the same value and type.

    Examples
    --------
    >>> print(written('a "b"'), written(True), written(1e-5), written(3))
    "a \"b\"" true 1e-05 3
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return ("true" if value else "false") if isinstance(value, bool) else repr(value)


def written_number(value: float) -> str:
    """Return a number as TOML, exactly; one without a fraction is written without a point."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def written_list(texts: Iterable[str]) -> str:
    """Return a TOML list of values that are written already."""
    return f"[{', '.join(texts)}]"


def place(*keys: str) -> str:
    """Return the TOML path of keys.

    Examples
    --------
    >>> print(place("columns", "hours.per week", "bounds"))
    columns."hours.per week".bounds
    """
    return ".".join(key if _BARE_KEY.fullmatch(key) else written(key) for key in keys)


def shown(value: object) -> str:
    """Return a value for an error, on one line and short whatever it is."""
    if isinstance(value, list | tuple):
        simple = len(value) <= 4 and not any(isinstance(entry, list | tuple | dict) for entry in value)
        return f"[{', '.join(map(shown, value))}]" if simple else f"a list of {len(value)}"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, int) and abs(value) > LARGEST_LABEL:
        return "a huge whole number"
    if isinstance(value, str | int | float | date):
        text = f"{value}" if isinstance(value, date) else ascii(value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


class Faults:
    """Collects everything that is wrong, so that one reading names it all; a value at fault is taken as blank.

    Examples
    --------
    >>> faults = Faults()
    >>> faults.bounds("columns.age.bounds", [90, 17])
    >>> faults.found
    ['columns.age.bounds: two numbers, the lower one first; found [90, 17]']
    """

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, path: str, asked: str, value: object) -> None:
        """Note that something else was asked for than the value."""
        self.found.append(f"{path}: {asked}; found {shown(value)}")

    def refuse(self, source: str = "the schema") -> None:
        """Raise what was found, if anything was."""
        if not self.found:
            return
        rest = [f"... and {len(self.found) - SHOWN} more faults"] if len(self.found) > SHOWN else []
        error = SchemaInvalid(
            f"a schema without faults in {source}",
            "\n       ".join(self.found[:SHOWN] + rest),
            "correct these lines; docs/schema.md explains every key",
        )
        error.faults = tuple(self.found)
        raise error

    def attempt(self, make: Callable[[], Made]) -> Made | None:
        """Return what is made, or None after taking over the faults that prevent it."""
        try:
            return make()
        except SchemaInvalid as error:
            self.found.extend(error.faults or (error.found,))
            return None

    def table(self, path: str, value: object, keys: tuple[str, ...]) -> dict[str, Any]:
        """Return a table, without the keys that nobody knows."""
        if not isinstance(value, dict):
            self.add(path, f"a table [{path}]", value)
            return {}
        for key in value:
            if key not in keys:
                inside = f"{path}." if path else ""
                self.found.append(f"{inside}{place(key)}: no such key; known here: {', '.join(keys)}")
        return {key: value[key] for key in value if key in keys}

    def text(self, path: str, value: object) -> str:
        """Return a text; empty is blank."""
        if isinstance(value, str) and _is_unicode(value):
            return str(value)
        self.add(path, "a text in quotes", value)
        return ""

    def name(self, value: object) -> str:
        """Return the name of a column."""
        name = self.text("columns", value)
        if value == "":
            self.add("columns", "a column's name", value)
        return name

    def day(self, path: str, value: object) -> str:
        """Return a date as text; empty is blank."""
        if value == "" or (isinstance(value, date) and not isinstance(value, datetime)):
            return f"{value}"
        try:
            if isinstance(value, str) and _DAY.fullmatch(value):
                return date.fromisoformat(value).isoformat()
        except ValueError:
            pass
        self.add(path, "a date such as 2026-11-16", value)
        return ""

    def count(self, path: str, value: object) -> int | None:
        """Return a number of rows; None and empty text are blank."""
        whole = plain(value)
        if whole is None or whole == "":
            return None
        if isinstance(whole, int) and not isinstance(whole, bool) and 1 <= whole <= LARGEST_COUNT:
            return whole
        self.add(path, f"a whole number from 1 to {LARGEST_COUNT:g}", value)
        return None

    def number(self, path: str, value: object) -> float | None:
        """Return a finite number."""
        number = plain(value)
        if isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < math.inf:
            try:
                return float(number) + 0.0  # -0 and 0 are one number, written in one way
            except OverflowError:
                pass
        self.add(path, "a finite number", value)
        return None

    def scale(self, path: str, value: object) -> float | None:
        """Return a positive number of a size that arithmetic can bear; None is left out."""
        number = None if value is None else self.number(path, value)
        if number is not None and not SMALLEST <= number <= LARGEST:
            self.add(path, f"a number between {SMALLEST:g} and {LARGEST:g}", value)
        return number

    def bounds(self, path: str, value: object) -> tuple[float, float] | None:
        """Return two numbers in order; None and an empty list are blank."""
        if value is None or (isinstance(value, list | tuple) and not value):
            return None
        inner = Faults()
        ends = [inner.number(path, end) for end in value] if isinstance(value, list | tuple) else []
        if len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] < ends[1]:
            return ends[0], ends[1]
        self.add(path, "two numbers, the lower one first", value)
        return None

    def flag(self, path: str, value: object) -> bool:
        """Return a truth value."""
        truth = plain(value)
        if not isinstance(truth, bool):
            self.add(path, "true or false", value)
        return truth is True

    def label(self, path: str, value: object, empty: bool = False) -> Label | None:
        """Return a text, number or truth value that a value of the data can match."""
        label = plain(value)
        is_number = isinstance(label, int | float) and abs(label) < LARGEST_LABEL
        if not is_number and not (isinstance(label, str) and _is_unicode(label)):
            self.add(path, "a text, a number, true or false", value)
            return None
        text = text_of(label)
        if isinstance(label, str) and (label != text or not (text or empty)):
            self.add(path, "a text without blanks around it" if text or empty else "a text that is not empty", value)
            return None
        # NaN and infinity are of no size at all, so they never come here; a subclass becomes what it stands for.
        return str(label) if isinstance(label, str) else label  # type: ignore[return-value] # a number by now

    def labels(self, path: str, value: object, empty: bool = False) -> tuple[Label, ...]:
        """Return different labels: no two with the same text, and no two that are equal."""
        if not isinstance(value, list | tuple):
            self.add(path, "a list", value)
            return ()
        labels, texts = [], set()
        for position, entry in enumerate(value):
            label = self.label(f"{path}[{position}]", entry, empty)
            if label is None:
                continue
            text = text_of(label)
            if text in texts:
                self.add(f"{path}[{position}]", "each entry once", entry)
            texts.add(text)
            labels.append(label)
        return tuple(labels)

    def texts(self, path: str, value: object, empty: bool = False) -> tuple[str, ...]:
        """Return different labels by their texts."""
        return tuple(text_of(label) or "" for label in self.labels(path, value, empty))
