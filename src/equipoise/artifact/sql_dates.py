"""Parts of dates in SQL from their texts alone: in whole numbers, since databases differ in their calendars.

Read are the days, days with a time, and times of ISO 8601 that `DateColumn` reads, and the zone of PostgreSQL, which
has hours alone; what a clock on the wall showed counts.
"""

import math
from collections.abc import Iterator, Sequence
from datetime import date

from equipoise.artifact.column_rules import Array, DateRule
from equipoise.artifact.sql_parts import BLANKS, DIGITS, Part, literal, real, scaled, total
from equipoise.data.date_parts import DAY, HOUR, THURSDAY, YEAR
from equipoise.data.schema import DateColumn
from equipoise.data.schema.kinds.date import CIRCLES, LONGEST

# 0000-03-01, the first day of the calendar's cycle, lies so many days before 1970.
FIRST_MARCH = 719_468
# Days before the first of each month in a common year.
BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
# Weeks enough that no day of the calendar lies before them.
WEEKS = 7 * 200_000


def digits(text: str) -> str:
    """Return whether a text that is not empty holds nothing but digits."""
    return f"TRIM({text}, {DIGITS}) = ''"


class DatePart(Part[DateRule]):
    """A date: year y, month m, day d, hour h, all NULL where it is missing; then entries e, one an encoded column."""

    def __init__(self, rule: DateRule, number: int, missing: Sequence[str]) -> None:
        super().__init__(rule, number)
        self._missing = missing
        assert isinstance(rule.column, DateColumn)  # noqa: S101 - what a date rule is about
        self._column = rule.column

    def steps(self) -> Iterator[list[str]]:
        """Yield the text, its two halves, their numbers, whether there is such a moment, its day, and entries."""
        place = self.number
        # A text that counts as missing may look like a date.
        known = f" NOT IN ({', '.join(map(literal, self._missing))})" if self._missing else " IS NOT NULL"
        yield [f"CASE WHEN {self.text}{known} THEN {self.text} END AS t{place}"]
        yield self._halves(f"t{place}")
        yield self._numbers(f"a{place}", f"c{place}")
        yield [f"CASE WHEN {self._exists()} THEN 1 ELSE 0 END AS k{place}"]
        yield self._day()
        yield [f"{entry} AS e{place}_{line}" for line, entry in enumerate(self._entries())]

    def _halves(self, text: str) -> list[str]:
        """Return the day a and the clock c of a text, NULL where it has another form."""
        written = f"LENGTH({text}) BETWEEN 10 AND {LONGEST}"
        days = [f"WHEN {written} THEN SUBSTR({text}, 1, 10)"]
        clocks = [
            f"WHEN LENGTH({text}) = 10 THEN '00:00'",
            f"WHEN {written} AND SUBSTR({text}, 11, 1) IN ('T', ' ') THEN SUBSTR({text}, 12)",
        ]
        if self._column.hours_alone:
            alone = f"WHEN SUBSTR({text}, 3, 1) = ':' AND LENGTH({text}) <= {LONGEST} THEN"
            days.insert(0, f"{alone} '1970-01-01'")
            clocks.insert(0, f"{alone} {text}")
        return [f"CASE {' '.join(days)} END AS a{self.number}", f"CASE {' '.join(clocks)} END AS c{self.number}"]

    def _numbers(self, day: str, clock: str) -> list[str]:
        """Return year, month and day, hour, minute n and second q, and what follows behind them, x."""
        place = self.number
        dated = (
            f"SUBSTR({day}, 5, 1) = '-' AND SUBSTR({day}, 8, 1) = '-' AND "
            f"{digits(f'SUBSTR({day}, 1, 4) || SUBSTR({day}, 6, 2) || SUBSTR({day}, 9, 2)')}"
        )
        timed = (
            f"LENGTH({clock}) >= 5 AND SUBSTR({clock}, 3, 1) = ':' AND "
            f"{digits(f'SUBSTR({clock}, 1, 2) || SUBSTR({clock}, 4, 2)')}"
        )
        seconds = f"LENGTH({clock}) >= 8 AND SUBSTR({clock}, 6, 1) = ':' AND {digits(f'SUBSTR({clock}, 7, 2)')}"
        fraction = (
            f"{seconds} AND SUBSTR({clock}, 9, 1) IN ('.', ',') AND LENGTH({clock}) >= 10 AND "
            f"{digits(f'SUBSTR({clock}, 10, 1)')}"
        )
        whole = [
            (f"y{place}", dated, f"SUBSTR({day}, 1, 4)"),
            (f"m{place}", dated, f"SUBSTR({day}, 6, 2)"),
            (f"d{place}", dated, f"SUBSTR({day}, 9, 2)"),
            (f"h{place}", timed, f"SUBSTR({clock}, 1, 2)"),
            (f"n{place}", timed, f"SUBSTR({clock}, 4, 2)"),
        ]
        found = [f"CASE WHEN {where} THEN CAST({what} AS INTEGER) END AS {name}" for name, where, what in whole]
        found.append(f"CASE WHEN {seconds} THEN CAST(SUBSTR({clock}, 7, 2) AS INTEGER) ELSE 0 END AS q{place}")
        behind = (
            f"CASE WHEN {fraction} THEN LTRIM(SUBSTR({clock}, 10), {DIGITS}) WHEN {seconds} THEN SUBSTR({clock}, 9) "
            f"ELSE SUBSTR({clock}, 6) END"
        )
        return [*found, f"LTRIM({behind}, {literal(BLANKS)}) AS x{place}"]

    def _exists(self) -> str:
        """Return whether there is such a day and such a time, and behind them a zone or nothing."""
        place = self.number
        long = f"m{place} IN (1, 3, 5, 7, 8, 10, 12)"
        days = f"CASE WHEN {long} THEN 31 WHEN m{place} <> 2 THEN 30 WHEN {self._leap()} THEN 29 ELSE 28 END"
        zone = (
            f"SUBSTR(x{place}, 1, 1) IN ('+', '-') AND ("
            f"LENGTH(x{place}) IN (3, 5) AND {digits(f'SUBSTR(x{place}, 2)')} "
            f"OR LENGTH(x{place}) = 6 AND SUBSTR(x{place}, 4, 1) = ':' AND "
            f"{digits(f'SUBSTR(x{place}, 2, 2) || SUBSTR(x{place}, 5, 2)')})"
        )
        return (
            f"y{place} >= 1 AND m{place} BETWEEN 1 AND 12 AND d{place} BETWEEN 1 AND {days} AND h{place} < 24 "
            f"AND n{place} < 60 AND q{place} < 60 AND (x{place} IN ('', 'Z') OR {zone})"
        )

    def _leap(self) -> str:
        year = f"y{self.number}"
        return f"({year} % 4 = 0 AND {year} % 100 <> 0 OR {year} % 400 = 0)"

    def _day(self) -> list[str]:
        """Return the day since 1970, NULL where there is no such moment; years begin in March, and end in leap days."""
        place = self.number
        early = f"CASE WHEN m{place} <= 2 THEN 1 ELSE 0 END"
        year = f"(y{place} - {early})"
        day = (
            f"365 * {year} + {year} / 4 - {year} / 100 + {year} / 400 "
            f"+ (153 * (m{place} - 3 + 12 * {early}) + 2) / 5 + d{place} - 1 - {FIRST_MARCH}"
        )
        return [f"CASE WHEN k{place} = 1 THEN {day} END AS g{place}"]

    def _part(self, name: str) -> str:
        """Return a part of the date, as `Calendar` counts it."""
        place = self.number
        if name == "age":
            reference = _day_of(self._column.reference) * DAY
            clock = f"h{place} * {HOUR} + n{place} * 60 + q{place}"
            # In double precision, where no number of seconds overflows.
            return f"({real(reference)} - g{place} * {real(DAY)} - ({clock})) / {real(YEAR)}"
        before = " ".join(f"WHEN {month} THEN {days}" for month, days in enumerate(BEFORE, start=1))
        leap = f"CASE WHEN m{place} > 2 AND {self._leap()} THEN 1 ELSE 0 END"
        return {
            "year": f"y{place}",
            "month": f"m{place}",
            "day": f"d{place}",
            "hour": f"h{place}",
            "weekday": f"((g{place} + {WEEKS + THURSDAY}) % 7)",
            "day of year": f"(d{place} + CASE m{place} {before} END + {leap})",
        }[name]

    def _entries(self) -> Iterator[str]:
        """Yield the entries: 0 where there is no date, which the last one says if that is asked for."""
        place, limits = self.number, dict(self._column.limits())
        missing = f"g{place} IS NULL"
        for name in self._column.parts:
            if name in limits:
                # Whole numbers are made real, since databases divide them otherwise.
                value = f"CASE WHEN NOT {missing} THEN CAST({self._part(name)} AS DOUBLE PRECISION) END"
                yield scaled(f"({value})", *limits[name], 0.0)
                continue
            length = CIRCLES[name]
            angle = f"{self._part(name.removeprefix('cyclic '))} % {length} * {real(2 * math.pi / length)}"
            for function in ("SIN", "COS"):
                yield f"CASE WHEN {missing} THEN 0.0 ELSE {function}({angle}) END"
        if self._column.indicator:
            yield f"CASE WHEN {missing} THEN 1.0 ELSE 0.0 END"

    def weighed(self, weights: Array) -> str:
        """Return what the entries weigh."""
        lines = enumerate(weights.tolist())
        return total(f"{real(weight)} * e{self.number}_{line}" for line, weight in lines)

    def squares(self) -> str:
        """Return the sum of squares."""
        lines = [f"e{self.number}_{line}" for line in range(self._column.width)]
        return total(f"{line} * {line}" for line in lines)


def _day_of(text: str) -> int:
    return (date.fromisoformat(text) - date(1970, 1, 1)).days
