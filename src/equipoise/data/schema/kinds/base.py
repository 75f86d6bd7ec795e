"""What every kind of column must say: its facts, its text, and how its raw values become encoded numbers."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from equipoise.data.schema.text import number_of, text_of, written

if TYPE_CHECKING:
    from equipoise.data.arrow_values import Kind
    from equipoise.data.readings import Reading
    from equipoise.data.writings import Writing

# Types of which no value is a level, an answer, a date or a number: the unit of a duration is nobody's declaration.
HOLD_NO_LEVELS = ("nothing", "duration")

# How values of a type are written where their texts are compared.
_DAY, _TIME = r"-?\d{4,}-\d\d-\d\d", r"\d\d:\d\d:\d\d(?:\.\d+)?"
_WHOLE = re.compile(r"-?[1-9]\d*", re.ASCII)
_TEXTS = {
    "day": re.compile(rf"{_DAY}(?:T{_TIME})?", re.ASCII),
    "date": re.compile(rf"{_DAY}[T ]{_TIME}", re.ASCII),
    "time": re.compile(_TIME, re.ASCII),
}


class Column(ABC):
    """A feature of a schema. A kind is a frozen data class in a file of this folder; its fields are its TOML keys.

    Two steps turn a raw value into entries of a row. *Reading* gives one number a value, which no bound changes: a
    number, or a position among levels. *Writing* gives its entries in [-1, 1]; a kind that is `spread` has none,
    since its number is the place of the only entry that is not 0, and that is 1. What a value becomes depends on that
    value alone, and no value raises (M3).

    Attributes
    ----------
    kind : str
        What the schema calls it.
    keys : tuple of str
        The keys of its TOML table besides `kind`, which are its fields.
    asked : str
        What its columns are called where a table's types cannot be of this kind.
    remedy : str
        What to do there.
    spread : bool
        Whether a reading is a place among the encoded columns.
    name : str
        The column's name in the data.
    """

    __slots__ = ()

    kind: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    asked: ClassVar[str]
    remedy: ClassVar[str]
    spread: ClassVar[bool] = False
    name: str

    @abstractmethod
    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table: the same facts always the same."""

    def blanks(self) -> dict[str, object]:
        """Return by their keys the facts that somebody must fill in; those that are empty are blank."""
        return {}

    @abstractmethod
    def encoded_names(self) -> tuple[str, ...]:
        """Return the names of the encoded columns."""

    @property
    def width(self) -> int:
        """How many encoded columns there are."""
        return len(self.encoded_names())

    @property
    def squared_length(self) -> float:
        """The largest that the squares of its entries in one row add up to, but for rounding."""
        return 1.0

    @property
    def entries(self) -> int:
        """How many of its entries can be other than 0 in one row."""
        return 1 if self.spread else self.width

    @property
    def summed_length(self) -> float:
        """The largest that the absolute values of its entries in one row add up to, but for rounding."""
        return math.sqrt(self.entries * self.squared_length)

    def texts(self) -> tuple[str, ...]:
        """Return the texts of which a value should be one; none where they are blank, or any value will do."""
        return ()

    def fits(self, found: Kind) -> bool:
        """Return whether a table's column of such a type can hold values of this kind: one of the texts, if any."""
        return levels_fit(self.texts(), found)

    def groups(self) -> tuple[str, ...]:
        """Return the names of the groups that its values tell apart; none where they are not told by levels."""
        return ()

    @abstractmethod
    def reading(self, missing: tuple[str, ...]) -> Reading:
        """Return what reads raw values; these texts count as missing."""

    def writing(self) -> Writing | None:
        """Return what writes entries from what was read, None for a kind that is spread."""
        return None


class PlacedColumn(Column):
    """A feature whose values stand at public places between -1 and 1: levels in order, yes and no.

    `unknown` and `fill` name the places of any other value and of a missing one, and `indicator` asks for one more
    column that says where the value was missing.
    """

    __slots__ = ()

    unknown: str | None
    fill: str | None
    indicator: bool

    @abstractmethod
    def numbers(self) -> tuple[float, ...]:
        """Return the numbers of the known values, then of any other, then of a missing one."""

    @abstractmethod
    def known(self) -> tuple[str, ...]:
        """Return the names of the known values, in the order of their numbers."""

    def places(self) -> dict[float, str]:
        """Return by their numbers the known values, and others and missing ones where these have numbers of their own.

        Examples
        --------
        >>> from equipoise.data.schema import OrderedColumn, YesNoColumn
        >>> YesNoColumn("smokes").places(), YesNoColumn("smokes", unknown="no").places()
        ({-1.0: 'no', 1.0: 'yes', 0.0: 'smokes other'}, {-1.0: 'no', 1.0: 'yes'})
        >>> OrderedColumn("dose", ("low", "middle", "high")).places()
        {-1.0: 'low', 0.0: 'middle', 1.0: 'high'}
        """
        found: dict[float, str] = {}
        for number, value in zip(
            self.numbers(), (*self.known(), f"{self.name} other", f"{self.name} missing"), strict=True
        ):
            found.setdefault(number, value)
        return found

    def groups(self) -> tuple[str, ...]:
        """Return the values that have numbers of their own."""
        return tuple(self.places().values())

    def rule_lines(self) -> Iterator[str]:
        """Yield the lines of what becomes of values that are not known, or not there."""
        if self.unknown is not None:
            yield f"unknown = {written(self.unknown)}"
        if self.fill is not None:
            yield f"fill = {written(self.fill)}"
        if self.indicator:
            yield "indicator = true"

    def encoded_names(self) -> tuple[str, ...]:
        """Return the name, and one for where it was missing."""
        return (self.name, f"{self.name} missing") if self.indicator else (self.name,)

    @property
    def squared_length(self) -> float:
        """One for a known value, and for a missing one what it counts as and one more for what says so."""
        return 1.0 + (self.numbers()[-1] ** 2 if self.indicator else 0.0)

    def writing(self) -> Writing:
        """Return what writes the number of each value."""
        from equipoise.data.writings import LookedUp

        return LookedUp(self.numbers(), self.indicator)


def levels_fit(levels: Sequence[str], found: Kind) -> bool:
    """Return whether one of these texts can be that of a value of such a type; those of blank levels can.

    Examples
    --------
    >>> levels_fit(("1", "2"), "number"), levels_fit(("low", "high"), "number"), levels_fit(("low", "high"), "text")
    (True, False, True)
    """
    return found not in HOLD_NO_LEVELS and (not levels or any(can_be(text, found) for text in levels))


def can_be(text: str, found: Kind) -> bool:
    """Return whether a value of such a type can have this text (`text_of`), by which it is compared.

    Examples
    --------
    >>> [can_be(text, "number") for text in ("0", "2.5", "0.0", "1e3", "true")]
    [True, True, False, False, False]
    >>> can_be("1", "truth"), can_be("true", "truth"), can_be("2020-02-29", "day"), can_be("2020-02-29", "date")
    (False, True, True, False)
    """
    if found in HOLD_NO_LEVELS:
        return False
    if found == "number":
        # Categories are read one by one, and then whole numbers have all their digits.
        return text_of(number_of(text)) == text or _WHOLE.fullmatch(text) is not None
    if found == "truth":
        return text in ("true", "false")
    return found not in _TEXTS or _TEXTS[found].fullmatch(text) is not None
