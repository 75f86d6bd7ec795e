"""When a schema describes another table than the one that is there: public thresholds, for the owner's diagnosis.

A value that does not fit is mapped by a public rule, and costs accuracy. Where most values of a column are mapped, the
schema is wrong and not the values: a decimal comma, a unit, classes that are spelt otherwise. Training would spend the
budget on nothing, so `schema check` fails.
"""

import math
import re
from collections.abc import Sequence

from equipoise.data.schema.numerals import Numerals, likeliest, rival
from equipoise.data.schema.text import written

# A number column fails if more than this share of its values that are not missing are no numbers; a table, if it has
# fewer rows than this share of the declared number, or if that is less than this share of its rows.
MOST = 0.5
# A table fails if more than this share of its rows are without any value. Of a file with a blank line after each row it
# is a half; people do not leave whole rows empty.
MANY_ROWS = 0.25
# A target fails if at least this share of its labels that are not missing are none of the classes. A class against all
# others may be declared on purpose, so only what leaves next to nothing of the other classes is a mistake.
NEARLY_ALL = 0.99

# A number with something before or behind it that has no digit.
_WITH_UNIT = re.compile(r"[^\d+.-]*([+-]?\d(?:[\d.,'\u2019\s]*\d)?)\D*")


def nearly_all(count: int, of: int) -> bool:
    """Return whether a count is nearly all there are.

    Examples
    --------
    >>> nearly_all(99, 100), nearly_all(98, 100), nearly_all(0, 0)
    (True, False, False)
    """
    return of > 0 and count >= NEARLY_ALL * of


def lines_mismatch(unusable: int, rows: int) -> str | None:
    """Return what to say of a table many lines of which are no rows, None for another.

    Examples
    --------
    >>> lines_mismatch(1, 4) is None
    True
    """
    if unusable <= MANY_ROWS * rows:
        return None
    return (
        "many rows are without any value: in a CSV file, blank lines, and lines with another number of values than the "
        "first; check delimiter, quote and header in [file], and write each row on one line"
    )


def quotes_mismatch(unfinished: bool) -> str | None:
    """Return what to say of a text file in which a line ends inside quotes, None for another.

    One suffices: its row is several lines, and each of them counts as a row of somebody's.

    Examples
    --------
    >>> quotes_mismatch(False) is None
    True
    """
    if not unfinished:
        return None
    return (
        "lines end inside quotes: each line is a row, so that a record of several lines is as many rows, none of them "
        "usable, and the promise for one row is not one for such a person; write line breaks in values as blanks, "
        "leave that column out of the file, or save the table as Parquet"
    )


def count_mismatch(rows: int, declared: int | None) -> str | None:
    """Return what to say of a table that lacks most of the declared rows, or has most beyond them, None for another.

    Examples
    --------
    >>> count_mismatch(50, 100) is None, count_mismatch(200, 100) is None, count_mismatch(50, None) is None
    (True, True, True)
    """
    if declared is not None and declared < MOST * rows:
        return (
            "n: the table has far more rows than declared, and all beyond the declared number are left out; correct n"
        )
    if declared is None or rows >= MOST * declared:
        return None
    return (
        "n: the table has far fewer rows than declared, and those that lack count as rows without any value; correct n"
    )


def readings_mismatch(
    name: str, unreadable: int, present: int, texts: Sequence[str], way: Numerals, target: bool = False
) -> str | None:
    """Return what to say of a column of numbers or dates most values of which are none, None for another.

    Parameters
    ----------
    name : str
        The column's name.
    unreadable, present : int
        How many of the values that are not missing cannot be read, and how many there are.
    texts : sequence of str
        Some of those that are no numbers, for a remedy; of a column of dates none.
    way : Numerals
        How the numbers were read.
    target : bool
        Whether it is the target of a regression, which has no other kind and no unit.

    Examples
    --------
    >>> print(readings_mismatch("size", 9, 10, ["1,75"], Numerals()))
    size: most values are no numbers; they are with decimal = "," in the schema's [file]
    >>> print(readings_mismatch("weight", 9, 10, ["72 kg"], Numerals(",")))
    weight: most values are no numbers; they are with unit = "..." for what stands beside them
    >>> print(readings_mismatch("pay", 9, 10, ["1.234"], Numerals(",")))
    pay: most values are no numbers; ambiguous: they are with thousands = "." in the schema's [file], and others with \
decimal = "."; write what is publicly known of the program that wrote the file
    """
    if unreadable <= MOST * present:
        return None
    if not texts:
        return f"{name}: most values cannot be read; write formats as dates and times are written there"
    numerals = [found[1] for found in map(_WITH_UNIT.fullmatch, texts) if found]
    better = likeliest(numerals, way.decimal)
    better = way if _readable(way, numerals) == _readable(better, numerals) else better
    if _readable(better, numerals) <= MOST * len(texts):
        remedy = "declare target.classes" if target else 'is it a kind = "category" or "date"?'
        return f"{name}: most values are no numbers; {remedy}"
    unit = _readable(better, texts) <= MOST * len(texts)
    without = "nothing beside them in the data" if target else 'unit = "..." for what stands beside them'
    lines, beside = _lines(better, way), [without] if unit else []
    other = rival(numerals, better, delimiter="") if lines else None
    if other is not None:
        return (
            f"{name}: most values are no numbers; ambiguous: they are with {lines} in the schema's [file], and others "
            f"with {_lines(other, way)}; write what is publicly known of the program that wrote the file"
            f"{''.join(f', and {remedy}' for remedy in beside)}"
        )
    remedies = [f"{lines} in the schema's [file]"] if lines else []
    return f"{name}: most values are no numbers; they are with {', and '.join([*remedies, *beside])}"


def _lines(better: Numerals, way: Numerals) -> str:
    """Return the lines of `[file]` in which one way of writing numbers differs from another."""
    facts = {"decimal": (better.decimal, way.decimal), "thousands": (better.thousands, way.thousands)}
    return " and ".join(f"{key} = {written(new)}" for key, (new, old) in facts.items() if new != old)


def _readable(way: Numerals, texts: Sequence[str]) -> int:
    """Return how many texts are finite numbers in a way of writing them."""
    return sum(math.isfinite(way.number_of(text)) for text in texts)


def values_mismatch(
    name: str, missing: int, unreadable: int, outside: int, rows: int, target: bool = False
) -> str | None:
    """Return what to say of a column without any value, or with nearly all outside its bounds; None for another.

    A value may be rare, so that one suffices. A target cannot be left unused.

    Examples
    --------
    >>> values_mismatch("size", 9, 0, 0, 10) is None, values_mismatch("size", 0, 0, 98, 100) is None
    (True, True)
    >>> print(values_mismatch("size", 0, 1, 99, 100))
    size: nearly all values lie outside the declared bounds; are these in another unit?
    """
    if 0 < rows == missing:
        remedy = "name the column that holds the target" if target else 'declare kind = "unused"'
        return f"{name}: no row has a value; correct missing = [...], or {remedy}"
    if nearly_all(outside, rows - missing - unreadable):
        return f"{name}: nearly all values lie outside the declared bounds; are these in another unit?"
    return None


def targets_mismatch(mapped: int, rows: int) -> str | None:
    """Return what to say of a table nearly all rows of which have no target that can be used, None for another.

    Examples
    --------
    >>> targets_mismatch(98, 100) is None
    True
    """
    if not nearly_all(mapped, rows):
        return None
    return "nearly all targets are missing, no declared class, or out of range: declare them as they are"


def classes_mismatch(others: int, rows: int) -> str | None:
    """Return what to say of a table no row of which counts as another class than the first, None for another.

    Any value that is no class counts as the first, so that a class that is spelt otherwise leaves nothing to learn.

    Examples
    --------
    >>> classes_mismatch(1, 100) is None, classes_mismatch(0, 0) is None
    (True, True)
    """
    if others > 0 or rows == 0:
        return None
    return "no row has another class than the first; write the classes as they are in the data"


def hours_mismatch(name: str, others: int, present: int) -> str | None:
    """Return what to say of a column of which the hour alone counts and every one is midnight, None for another.

    Examples
    --------
    >>> hours_mismatch("seen", 1, 100) is None, hours_mismatch("seen", 0, 0) is None
    (True, True)
    """
    if others > 0 or present == 0:
        return None
    return f"{name}: no value has a time of day but midnight, and the hour alone counts; choose other parts of the date"


def levels_mismatch(name: str, unknown: int, present: int) -> str | None:
    """Return what to say of a column none of whose values is a declared level or spelling, None for another.

    A level may be rare, so that one value that is known suffices.

    Examples
    --------
    >>> levels_mismatch("town", 9, 10) is None
    True
    """
    if not 0 < present == unknown:
        return None
    return f"{name}: all values are none of the declared levels or spellings; write these as the texts in the data"


def labels_mismatch(
    name: str, unknown: int, present: int, texts: Sequence[str] = (), classes: Sequence[str] = ()
) -> str | None:
    """Return what to say of a target nearly all labels of which are none of the classes, None for another.

    A class against all others may be declared on purpose; one spelling of a class against another never is.

    Parameters
    ----------
    name : str
        The target's name.
    unknown, present : int
        How many of the labels that are not missing are none of the classes, and how many there are.
    texts : sequence of str
        Some of those that are none.
    classes : sequence of str
        The texts of the classes.

    Examples
    --------
    >>> labels_mismatch("ill", 1, 10) is None
    True
    >>> print(labels_mismatch("ill", 4, 10, ["Yes"] * 4, ["no", "yes"]))
    ill: many labels are a class but for capital letters, which count; write each class in one way in the data
    """
    if nearly_all(unknown, present):
        return (
            f"{name}: nearly all labels are none of the declared classes; write target.classes as the texts in the data"
        )
    folded = {text.casefold() for text in classes}
    if nearly_all(present - unknown, present) or 2 * sum(text.casefold() in folded for text in texts) <= len(texts):
        return None
    return (
        f"{name}: many labels are a class but for capital letters, which count; write each class in one way in the data"
    )
