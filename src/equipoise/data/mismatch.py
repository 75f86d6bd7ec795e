"""When a schema describes another table than the one that is there: public thresholds, for the owner's diagnosis.

A value that does not fit is mapped by a public rule, and costs accuracy. Where most values of a column are mapped, the
schema is wrong and not the values: a decimal comma, a unit, classes that are spelt otherwise. Training would spend the
budget on nothing, so `schema check` fails.
"""

from collections.abc import Sequence

from equipoise.data.schema.numerals import Numerals, likeliest
from equipoise.data.schema.text import written

# A number column fails if more than this share of its values that are not missing are no numbers; a table, if more than
# this share of its lines are no rows.
MOST = 0.5
# A target fails if at least this share of its labels that are not missing are none of the classes. A class against all
# others may be declared on purpose, so only what leaves next to nothing of the other classes is a mistake.
NEARLY_ALL = 0.99


def nearly_all(count: int, of: int) -> bool:
    """Return whether a count is nearly all there are.

    Examples
    --------
    >>> nearly_all(99, 100), nearly_all(98, 100), nearly_all(0, 0)
    (True, False, False)
    """
    return of > 0 and count >= NEARLY_ALL * of


def lines_mismatch(unusable: int, rows: int) -> str | None:
    """Return what to say of a table most lines of which are no rows, None for another.

    Examples
    --------
    >>> lines_mismatch(1, 3) is None
    True
    """
    if unusable <= MOST * rows:
        return None
    return (
        "most rows are without any value: in a CSV file, lines with another number of values than the first; "
        "check delimiter, quote and header in [file]"
    )


def readings_mismatch(name: str, unreadable: int, present: int, texts: Sequence[str], way: Numerals) -> str | None:
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

    Examples
    --------
    >>> print(readings_mismatch("size", 9, 10, ["1,75"], Numerals()))
    size: most values are no numbers; they are with decimal = "," in the schema's [file]
    """
    if unreadable <= MOST * present:
        return None
    if not texts:
        return f"{name}: most values cannot be read; write formats as dates and times are written there"
    better = likeliest(texts)
    facts = {"decimal": (better.decimal, way.decimal), "thousands": (better.thousands, way.thousands)}
    lines = [f"{key} = {written(new)}" for key, (new, old) in facts.items() if new != old]
    if lines:
        return f"{name}: most values are no numbers; they are with {' and '.join(lines)} in the schema's [file]"
    return f'{name}: most values are no numbers; is it a kind = "category", or written in another way than [file] says?'


def labels_mismatch(name: str, unknown: int, present: int) -> str | None:
    """Return what to say of a target nearly all labels of which are none of the classes, None for another.

    Examples
    --------
    >>> labels_mismatch("ill", 1, 10) is None
    True
    """
    if not nearly_all(unknown, present):
        return None
    return f"{name}: nearly all labels are none of the declared classes; write target.classes as the texts in the data"
