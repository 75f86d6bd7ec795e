"""What a cell of a workbook is: a number, a text, a truth value or a date, by a public rule for that cell alone."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from equipoise.data.schema.text import number_of

Value = str | float | int | None

DAY = 86_400
# A date is a number of days since one of two; the first calendar has a 29 February 1900, which never was.
FROM_1900, FROM_1904, NEVER_WAS = datetime(1899, 12, 30), datetime(1904, 1, 1), 60
# Days from the first of these to the end of the year 9999.
MOST_DAYS = 2_958_466

# The numbers of formats that show dates and have no text in the file; durations ([h]:mm:ss, 46) are numbers of days.
DATE_FORMATS = frozenset(map(str, (*range(14, 23), *range(27, 37), 45, 47, *range(50, 59))))
# Excel's own limit.
LONGEST_FORMAT = 255
# In the text of a format: what is shown as it stands, colours, conditions and languages.
_SHOWN = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!(?:h+|m+|s+)\])[^\]]*\]', re.IGNORECASE | re.DOTALL)
# Whole numbers that a float may not hold: other programs than Excel write such ids.
_LONG = re.compile(r"-?[0-9]{16,40}")
_PLACE = re.compile(r"\$?([A-Z]{1,3})\$?[0-9]{1,7}")


def column_of(reference: str | None, following: int) -> int:
    """Return the column of a cell, from 0 on: the following one where it names none, -1 for no place in any sheet.

    Examples
    --------
    >>> [column_of(reference, 5) for reference in ("A1", "AB12", None, "12", "ABCD1")]
    [0, 27, 5, -1, -1]
    """
    if reference is None:
        return following
    found = _PLACE.fullmatch(reference)
    column = 0
    for letter in found[1] if found else "":
        column = 26 * column + ord(letter) - ord("A") + 1
    return column - 1


def is_date_format(key: str, text: str | None) -> bool:
    """Return whether a format shows numbers as dates or times of day, by its number and its own text, if it has one.

    Examples
    --------
    >>> [is_date_format("164", text) for text in ("dd.mm.yyyy", "h:mm AM/PM", '0.0 "days"', "[Red]0", "[h]:mm")]
    [True, True, False, False, False]
    >>> is_date_format("14", None), is_date_format("0", None)
    (True, False)
    """
    if text is None:
        return key in DATE_FORMATS
    if len(text) > LONGEST_FORMAT:
        return False
    shown = _SHOWN.sub("", text).partition(";")[0].lower()
    return "[" not in shown and "general" not in shown and any(letter in shown for letter in "dmyhs")


def cell_value(kind: str, text: str, texts: Sequence[str | None], is_date: bool, from_1904: bool) -> Value:
    """Return the value of a cell that is not empty; an error, and whatever cannot be read, is missing.

    Parameters
    ----------
    kind : str
        What the cell says that it holds.
    text : str
        What is written in it.
    texts : sequence
        Those that cells share, of which a cell of kind "s" has the position.
    is_date : bool
        Whether its style shows numbers as dates.
    from_1904 : bool
        Whether days are counted from 1904 on.

    Examples
    --------
    >>> [cell_value(kind, "1", ["no", "yes"], False, False) for kind in ("n", "s", "str", "b", "e")]
    [1.0, 'yes', '1', True, None]
    >>> [cell_value("n", text, [], True, False) for text in ("43890", "43890.75", "0.5", "-1")]
    ['2020-02-29', '2020-02-29 18:00:00', '12:00:00', None]
    """
    if kind in ("str", "inlineStr", "d"):
        return text
    if kind == "s":
        position = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else len(texts)
        return texts[position] if position < len(texts) else None
    if kind == "b":
        return {"1": True, "true": True, "0": False, "false": False}.get(text)
    if kind != "n":
        return None
    if _LONG.fullmatch(text) and not is_date:
        return int(text)
    number = number_of(text)
    return date_text(number, from_1904) if is_date else number


def date_text(days: float, from_1904: bool) -> str | None:
    """Return the date, or the time of day, that a number of days stands for, to the second; None where there is none.

    Examples
    --------
    >>> date_text(1.0, from_1904=False), date_text(1.0, from_1904=True), date_text(float("nan"), from_1904=True)
    ('1900-01-01', '1904-01-02', None)
    """
    if not 0 <= days < MOST_DAYS:
        return None
    if days < 1:
        return str((FROM_1904 + timedelta(seconds=min(round(days * DAY), DAY - 1))).time())
    first = FROM_1904 if from_1904 else FROM_1900
    seconds = round(days * DAY) + (DAY if not from_1904 and days < NEVER_WAS else 0)
    if seconds > (datetime.max - first) // timedelta(seconds=1):
        return None
    moment = first + timedelta(seconds=seconds)
    return str(moment.date() if seconds % DAY == 0 else moment)
