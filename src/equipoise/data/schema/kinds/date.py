"""Dates and times of day: the parts of them that somebody chose."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from equipoise.data.schema.columns import Bounds, settle, written_bounds
from equipoise.data.schema.kinds.base import Column
from equipoise.data.schema.text import Faults, place, written, written_list
from equipoise.errors import ENDINGS

if TYPE_CHECKING:
    from equipoise.data.arrow_values import Kind
    from equipoise.data.readings import Reading
    from equipoise.data.writings import Writing

# Parts on a line, with their bounds where those are no one's to choose, and parts in a circle, with its length.
LINES: dict[str, Bounds | None] = {
    "year": None,
    "age": None,
    "month": (1.0, 12.0),
    "day": (1.0, 31.0),
    "weekday": (0.0, 6.0),
    "day of year": (1.0, 366.0),
    "hour": (0.0, 23.0),
}
CIRCLES = {"cyclic month": 12, "cyclic day of year": 366, "cyclic weekday": 7, "cyclic hour": 24}
PARTS = (*LINES, *CIRCLES)

# Directives of `strptime` that mean the same in every language.
DIRECTIVES = frozenset("YymdHMSfj%")
LONGEST = 64  # characters of a date

# What a clock on the wall shows: no zone takes part.
EPOCH = datetime(1970, 1, 1)
DAY = 86_400
_TIME = r"(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(?:Z|[+-]\d\d:?\d\d)?"
_ISO = re.compile(rf"(\d{{4}})-(\d\d)-(\d\d)(?:[T ]{_TIME})?", re.ASCII)
_ISO_TIME = re.compile(_TIME, re.ASCII)


@dataclass(frozen=True, slots=True)
class DateColumn(Column):
    """A column of dates, of dates with a time of day, or of times: entries in [-1, 1] for each chosen part.

    A part on a line is clipped into its bounds and scaled like a number. A cyclic part is two entries, the sine and
    the cosine of its place in the circle, so that December is next to January; their squares add up to 1. Where a date
    is missing or unreadable all parts are 0. What a clock on the wall showed counts: an offset from UTC is read over.

    Parameters
    ----------
    name : str
        The column's name in the data.
    parts : tuple of str
        What counts: "year", "age", "month", "day", "weekday", "day of year", "hour", "cyclic month", "cyclic weekday",
        "cyclic day of year", "cyclic hour"; empty is a blank.
    formats : tuple of str, optional
        How dates are written, in the directives of Python's `strptime` that are numbers, tried in order before
        ISO 8601 (2026-11-16, 2026-11-16 14:30:00), which is always read.
    years : (low, high), optional
        The public range of the part "year"; None is a blank.
    ages : (low, high), optional
        The public range of the part "age", in years; None is a blank.
    reference : str
        The public day on which ages are counted; empty is a blank.
    indicator : bool
        Whether one more column says where no date could be read.

    Examples
    --------
    >>> born = DateColumn("born", parts=("age", "cyclic month"), ages=(0, 110), reference="2026-01-01")
    >>> born.encoded_names()
    ('born age', 'born month sine', 'born month cosine')
    >>> born.second("1970-01-02"), born.second("1970-01-01T00:01+02:00"), born.second("2 January")
    (86400.0, 60.0, nan)
    """

    kind: ClassVar[str] = "date"
    keys: ClassVar[tuple[str, ...]] = ("parts", "formats", "years", "ages", "reference", "indicator")
    asked: ClassVar[str] = "columns of dates or text that have the declared parts"
    remedy: ClassVar[str] = 'say how numbers are dates, such as formats = ["%Y%m%d"], or declare kind = "number"'

    name: str
    parts: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    years: Bounds | None = None
    ages: Bounds | None = None
    reference: str = ""
    indicator: bool = False

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        path = place("columns", faults.name(self.name))
        parts = faults.texts(f"{path}.parts", self.parts)
        for part in parts:
            if part not in PARTS:
                faults.add(f"{path}.parts", f"some of {', '.join(PARTS)}", part)
        formats = faults.texts(f"{path}.formats", self.formats)
        for text in formats:
            directives = re.findall("%(.?)", text)
            if not directives or not DIRECTIVES.issuperset(directives):
                faults.add(f"{path}.formats", 'numbers such as "%d.%m.%Y %H:%M" (Y y m d j H M S f)', text)
        for key, part in (("years", "year"), ("ages", "age"), ("reference", "age")):
            if parts and part not in parts and getattr(self, key):
                faults.add(f"{path}.{key}", f'no such line without the part "{part}"', getattr(self, key))
        settle(
            self,
            parts=parts,
            formats=formats,
            years=faults.bounds(f"{path}.years", self.years),
            ages=faults.bounds(f"{path}.ages", self.ages),
            reference=faults.day(f"{path}.reference", self.reference),
            indicator=faults.flag(f"{path}.indicator", self.indicator),
        )
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield 'kind = "date"'
        yield f"parts = {written_list(map(written, self.parts))}"
        if self.formats:
            yield f"formats = {written_list(map(written, self.formats))}"
        if "year" in self.parts or self.years is not None:
            yield f"years = {written_bounds(self.years)}"
        if "age" in self.parts or self.ages is not None:
            yield f"ages = {written_bounds(self.ages)}"
        if "age" in self.parts or self.reference:
            yield f"reference = {self.reference or written('')}"
        if self.indicator:
            yield "indicator = true"

    def blanks(self) -> dict[str, object]:
        """Return the parts, and what those need that were chosen."""
        facts: dict[str, object] = {"parts": self.parts}
        if "year" in self.parts:
            facts["years"] = self.years
        if "age" in self.parts:
            facts |= {"ages": self.ages, "reference": self.reference}
        return facts

    def encoded_names(self) -> tuple[str, ...]:
        """Return one name for a part on a line, two for a part in a circle, and one for where it was missing."""
        names: list[str] = []
        for part in self.parts:
            plain = f"{self.name} {part.removeprefix('cyclic ')}"
            names += [f"{plain} sine", f"{plain} cosine"] if part in CIRCLES else [plain]
        return (*names, f"{self.name} missing") if self.indicator else tuple(names)

    @property
    def squared_length(self) -> float:
        """One for each part, a circle's pair included; where it is missing only what says so is not 0."""
        return float(max(1, len(self.parts)))

    @property
    def hours_alone(self) -> bool:
        """Whether no part but the hour was chosen."""
        return bool(self.parts) and all(part.endswith("hour") for part in self.parts)

    def fits(self, found: Kind) -> bool:
        """Return whether the type is of dates or text, or of numbers where formats say how those are dates.

        Of a day some part but the hour must count, and a time of day has nothing else.
        """
        if found == "number":
            return bool(self.formats)
        if found in ("day", "time"):
            return not self.parts or self.hours_alone == (found == "time")
        return found in ("date", "text", "unknown")

    def second(self, text: str) -> float:
        """Return the second since 1970 that a text names, by the clock on the wall; NaN where it names none.

        A time of day alone is read where no other part was chosen.
        """
        if len(text) > LONGEST:
            return math.nan
        try:
            moment = self._moment(text)
        except ENDINGS:
            raise
        except BaseException:  # a value inside a private row never raises
            return math.nan
        if moment is None:
            return math.nan
        passed = moment - EPOCH
        return float(passed.days * DAY + passed.seconds)

    def _moment(self, text: str) -> datetime | None:
        for written_as in self.formats:
            try:
                return datetime.strptime(text, written_as)
            except ValueError:
                continue
        if found := _ISO.fullmatch(text):
            return _clock(*found.groups())
        times = all(part.endswith("hour") for part in self.parts)
        if times and (found := _ISO_TIME.fullmatch(text)):
            return _clock("1970", "1", "1", *found.groups())
        return None

    def limits(self) -> Iterator[tuple[str, Bounds]]:
        """Yield the parts on a line, each with its bounds."""
        for part in self.parts:
            bounds = {"year": self.years, "age": self.ages}.get(part) or LINES.get(part)
            if bounds is not None:
                yield part, bounds

    def reading(self, missing: tuple[str, ...]) -> Reading:
        """Return what reads seconds since 1970."""
        import numpy as np

        from equipoise.data.date_parts import Calendar
        from equipoise.data.readings import Ruled

        chosen = [(part, bounds) for part, bounds in self.limits() if LINES[part] is None]
        return Ruled(
            self.second, np.dtype(np.float64), missing, math.nan, outside=Calendar(self.reference).outside(chosen)
        )

    def writing(self) -> Writing:
        """Return what writes the chosen parts."""
        from equipoise.data.date_parts import Parts

        circles = {part: CIRCLES[part] for part in self.parts if part in CIRCLES}
        return Parts(self.parts, dict(self.limits()), circles, self.reference, self.indicator)


def _clock(year: str, month: str, day: str, hour: str | None, minute: str | None, second: str | None) -> datetime:
    return datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
