"""What the entries of a raw column are, in words from which they can be computed with nothing else at hand.

A table of weights travels alone: what a reader of it needs stands in it, bounds, days and units included.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from equipoise.artifact.column_rules import TextRule, rule_of
from equipoise.data.schema import Column, DateColumn, HashedColumn, NumberColumn, YesNoColumn
from equipoise.data.schema.kinds.curve import hats
from equipoise.data.schema.kinds.date import CIRCLES
from equipoise.data.schema.pairs import Surface
from equipoise.errors import InvalidParameter

LINE = "-1 at {!r} and below, 1 at {!r} and above"
MARKED = "1 if missing, else 0"
# What the number of a part is that does not say so itself.
NUMBERED = {
    "weekday": "weekday (Monday is 0)",
    "day of year": "day of the year (1 January is 1)",
    "day": "day of the month",
}


def meanings(column: Column, missing: tuple[str, ...]) -> list[str]:
    """Return what each entry of a raw column is before it is divided; these texts count as missing.

    Examples
    --------
    >>> meanings(DateColumn("born", parts=("age",), ages=(0, 110), reference="2026-01-01"), ("NA",))
    ["of the years of 365.2425 days from the date to 2026-01-01: -1 at 0.0 and below, 1 at 110.0 and above, a line \
between; 0.0 if missing. Missing is what is no date of ISO 8601, such as 2026-11-16 or 2026-11-16 14:30:00, and 'NA'; \
what the clock on the wall showed counts"]
    """
    if isinstance(column, NumberColumn):
        return list(_of_number(column, missing))
    if isinstance(column, DateColumn):
        return list(_of_date(column, missing))
    if isinstance(column, HashedColumn):
        return list(_of_hash(column, missing))
    if isinstance(column, YesNoColumn):
        return list(_of_answer(column, missing))
    try:
        rule = rule_of(column, 0, missing)
    except InvalidParameter:
        rule = None
    if isinstance(rule, TextRule):
        return list(_of_texts(rule))
    # A kind that somebody added, or more levels than anybody reads.
    return [f"as the schema says of {column.name}, of kind {column.kind}"] * column.width


def meanings_of_pair(surface: Surface, missing: tuple[str, ...]) -> list[str]:
    """Return what each entry of a pair of columns is: a product of two."""
    first, second = (meanings(side, missing) for side in surface.sides)
    one, other = (side.name for side in surface.sides)
    return [f"the product of two: of {one} [{left}] and of {other} [{right}]" for left in first for right in second]


def _of_number(column: NumberColumn, missing: tuple[str, ...]) -> Iterator[str]:
    # A unit is read off before the rule of plain numbers.
    rule: Any = rule_of(replace(column, unit=None, units=()), 0, missing)
    low, high, filled = rule.low, rule.high, rule.filled
    share = (1.0 + filled) / 2.0
    filled = share + math.sqrt(share) - 1.0 if rule.root else filled
    between = "s + sqrt(s) - 1 at a share s of the way" if rule.root else "a line"
    none = "what is no finite number" + "".join(f", and {number!r}" for number in rule.missing)
    if column.unit is not None:
        none += " without a unit" if rule.missing else ""
        others = "".join(f", 1 {unit!r} is {factor!r} of it" for unit, factor in dict(column.units).items())
        none += f"; numbers are in {column.unit!r}, which may stand behind or before them{others}"
    yield f"{LINE.format(low, high)}, {between} between; {filled!r} if missing. Missing is {none}"
    for stretches, step in hats(rule.cells):
        low, top, high = (2.0 * (step + part) / stretches - 1.0 for part in (0.0, 0.5, 1.0))
        height = math.sqrt(1.0 / stretches)
        where = f"{height!r} where the entry of {rule.column.name} is {top!r}, 0 at {low!r} and {high!r}"
        yield f"{where} and beyond, a line between"
    if rule.indicator:
        yield MARKED


def _of_date(column: DateColumn, missing: tuple[str, ...]) -> Iterator[str]:
    read = "what is no date of ISO 8601, such as 2026-11-16 or 2026-11-16 14:30:00"
    read += ", and no time of day, such as 14:30" if column.hours_alone else ""
    read += "".join(f", and none by {form!r} of strptime, which come first" for form in column.formats)
    none = f"{read}{_or_listed(missing, ', and ')}; what the clock on the wall showed counts"
    limits = dict(column.limits())
    for part in column.parts:
        if part in limits:
            value = (
                f"years of 365.2425 days from the date to {column.reference}"
                if part == "age"
                else NUMBERED.get(part, part)
            )
            ends = LINE.format(*map(float, limits[part]))
            yield f"of the {value}: {ends}, a line between; 0.0 if missing. Missing is {none}"
            continue
        plain = part.removeprefix("cyclic ")
        for function in ("sine", "cosine"):
            angle = f"2 pi / {CIRCLES[part]} times the {NUMBERED.get(plain, plain)}"
            yield f"the {function} of {angle}; 0.0 if missing. Missing is {none}"
    if column.indicator:
        yield MARKED


def _of_hash(column: HashedColumn, missing: tuple[str, ...]) -> Iterator[str]:
    number = "the whole number in the first 8 bytes, the highest first, of the SHA-256 of the text in UTF-8"
    none = f"Missing is no value{_or_listed(missing, ', and ')}"
    for bucket in range(column.buckets):
        yield f"1 if {number} leaves {bucket} when divided by {column.buckets}, else 0, also if missing. {none}"
    yield f"{MARKED}. {none}"


def _of_answer(column: YesNoColumn, missing: tuple[str, ...]) -> Iterator[str]:
    no, yes, unknown, nothing = column.numbers()
    kept = [text for text in missing if text.casefold() not in column.texts()]
    none = f"Missing is no value{_or_listed(kept, ', and ')}"
    spelt = [f"{number!r} for {', '.join(map(repr, texts))}" for number, texts in ((yes, column.yes), (no, column.no))]
    letters = "in any capital or small letters, as Unicode folds case"
    yield f"{'; '.join(spelt)}, {letters}; {nothing!r} if missing; {unknown!r} for any other text. {none}"
    if column.indicator:
        yield f"{MARKED}. {none}"


def _of_texts(rule: TextRule) -> Iterator[str]:
    for entries in rule.entries.T.tolist():
        told = [f"{entries[place]:.17g} for {text!r}" for text, place in rule.places.items() if entries[place]]
        told += [f"{entries[rule.at_missing]:.17g} if missing"] if entries[rule.at_missing] else []
        if entries[rule.at_unknown]:
            # A text that is listed is not any other, also where its entry is 0.
            zero = [repr(text) for text, place in rule.places.items() if not entries[place]]
            told += [f"0 for {', '.join(zero)}"] if zero else []
            told += [f"{entries[rule.at_unknown]:.17g} for any other text"]
        yield "; ".join([*told, "else 0"])


def _or_listed(texts: Sequence[str], before: str) -> str:
    return before + ", ".join(map(repr, texts)) if texts else ""
