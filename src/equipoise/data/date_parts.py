"""Parts of dates from seconds since 1970, all rows at once: whole numbers, so that no row's bits depend on others."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.data.writings import Writing, mark_missing, scale

Array = NDArray[np.float64]
Bounds = tuple[float, float]

DAY, HOUR = 86_400, 3_600
YEAR = 365.2425 * DAY  # the mean year of the calendar
THURSDAY = 3  # 1 January 1970; Monday is 0


class Calendar:
    """Parts of dates; ages are counted at a public day.

    Examples
    --------
    >>> seconds = np.array([0.0, 86400.0 * 31 + 3600])
    >>> [Calendar("").part(name, seconds).tolist() for name in ("year", "month", "day", "weekday", "hour")]
    [[1970.0, 1970.0], [1.0, 2.0], [1.0, 1.0], [3.0, 6.0], [0.0, 1.0]]
    >>> Calendar("1971-01-01").part("age", seconds).round(2).tolist()
    [1.0, 0.91]
    """

    def __init__(self, reference: str) -> None:
        self._reference = float(np.datetime64(reference, "s").astype(np.int64)) if reference else math.nan

    def part(self, name: str, seconds: Array) -> Array:
        """Return a part of every date, NaN where it is missing; a circle's are those on its line."""
        if name == "age":
            return (self._reference - seconds) / YEAR
        known = np.isfinite(seconds)
        moments = np.where(known, seconds, 0.0).astype(np.int64)
        days = moments.view("M8[s]").astype("M8[D]")
        months, years = days.astype("M8[M]"), days.astype("M8[Y]")
        numbers: Callable[[], Any] = {
            "year": lambda: years.astype(np.int64) + 1970,
            "month": lambda: months.astype(np.int64) % 12 + 1,
            "day": lambda: (days - months).astype(np.int64) + 1,
            "day of year": lambda: (days - years).astype(np.int64) + 1,
            "weekday": lambda: (days.astype(np.int64) + THURSDAY) % 7,
            "hour": lambda: moments % DAY // HOUR,
        }[name]
        return np.where(known, numbers(), np.nan)

    def outside(self, limits: Sequence[tuple[str, Bounds]]) -> Callable[[Array], NDArray[np.bool_]]:
        """Return what finds dates of which a part lies outside its bounds."""

        def outside(seconds: Array) -> NDArray[np.bool_]:
            found = np.zeros(len(seconds), dtype=bool)
            for name, (low, high) in limits:
                part = self.part(name, seconds)
                found |= (part < low) | (part > high)
            return found

        return outside


class Parts(Writing):
    """Writes parts of dates: scaled ones on a line, sine and cosine in a circle, all of them 0 where it is missing.

    Examples
    --------
    >>> entries, squares = np.empty((3, 2)), np.zeros(2)
    >>> parts = Parts(("month", "cyclic month"), {"month": (1.0, 12.0)}, {"cyclic month": 12}, "", indicator=False)
    >>> parts(np.array([0.0, np.nan]), entries, squares)
    >>> entries.round(2).tolist(), squares.round(2).tolist()
    ([[-1.0, 0.0], [0.5, 0.0], [0.87, 0.0]], [2.0, 0.0])
    """

    def __init__(
        self,
        parts: tuple[str, ...],
        limits: Mapping[str, Bounds],
        circles: Mapping[str, int],
        reference: str,
        indicator: bool,
    ) -> None:
        self._parts, self._indicator = parts, indicator
        self._calendar = Calendar(reference)
        self._scales = {part: scale(bounds, None) for part, bounds in limits.items()}
        # From a table, since NumPy's own sine may round in another way in another place of an array.
        self._circles = {part: _circle(length) for part, length in circles.items()}

    def __call__(self, read: NDArray[Any], entries: Array, squares: Array) -> None:
        """Write a line or two for each part, and the one of missing dates."""
        from equipoise.data.row_loops import scale_numbers

        lines = iter(entries)
        for name in self._parts:
            part = self._calendar.part(name.removeprefix("cyclic "), read)
            if name in self._scales:
                scale_numbers(part, *self._scales[name], next(lines), squares)
                continue
            tables = self._circles[name]
            length = tables.shape[1] - 1
            # The last of those that count from 1 stands where 0 does.
            places = np.where(np.isfinite(part), part % length, length).astype(np.intp)
            for table in tables:
                line = next(lines)
                np.take(table, places, out=line)
                squares += line * line
        if self._indicator:
            mark_missing(read, next(lines), squares)


def _circle(length: int) -> Array:
    """Return the sine and the cosine of every place in a circle, and 0 behind the last."""
    angles = [2 * math.pi * place / length for place in range(length)]
    return np.array([[*map(math.sin, angles), 0.0], [*map(math.cos, angles), 0.0]])
