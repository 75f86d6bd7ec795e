"""The loops over the numbers of rows, compiled: from columns to scaled rows, and the sum that tells rows apart.

They are compiled, or taken from the disk, when this module is imported, which happens when a table is opened
(`equipoise.data.texts.make_ready`). What a row becomes depends on that row alone, and its bits do not depend on how
many others there are: every loop rounds each number by itself.
"""

from typing import Any

import numpy as np

from equipoise.data.compiling import compiled, types

NUMBER = types.float64
NUMBERS = types.Array(types.float64, 1, "C", readonly=True)
ROOM = types.float64[::1]
COLUMNS = types.Array(types.float64, 2, "C", readonly=True)
ROWS = types.float64[:, :]
PLACES = types.Array(types.int64, 1, "C", readonly=True)
POSITIONS = types.Array(types.intp, 1, "A", readonly=True)
WORDS = types.Array(types.uint64, 1, "C", readonly=True)

# So many rows are put together at once: they stay in the fastest memory while their columns come.
TILE = 8


@compiled(types.void(NUMBERS, NUMBER, NUMBER, NUMBER, NUMBER, ROOM, ROOM))
def scale_numbers(numbers: Any, unit: float, low: float, high: float, middle: float, scaled: Any, squares: Any) -> None:
    """Clip numbers into bounds, scale them to [-1, 1], and add their squares; what is not finite is at the middle.

    All but the numbers themselves is in a unit, in which no difference of finite ones overflows.
    """
    for row in range(len(numbers)):
        number = unit * numbers[row]
        clipped = min(max(number, low), high)
        share = (clipped - low) / (high - low) if number - number == 0.0 else middle
        entry = 2.0 * share - 1.0
        scaled[row] = entry
        squares[row] += entry * entry


@compiled(types.void(NUMBERS, types.float64[:, ::1], ROOM))
def put_hats(scaled: Any, entries: Any, squares: Any) -> None:
    """Put every scaled number and its hat of each level, and add their squares.

    There are as many entries as cells: the number is the first of them, and hats over ``2^l`` stretches begin at entry
    ``2^l``.
    """
    cells = len(entries)
    for row in range(len(scaled)):
        entries[0, row] = scaled[row]
        squares[row] += scaled[row] * scaled[row]
        share = (scaled[row] + 1.0) / 2.0
        stretches, height = 1, 1.0
        while stretches < cells:
            place = share * stretches
            step = min(int(place), stretches - 1)
            hat = np.sqrt(height) * (1.0 - abs(2.0 * (place - step) - 1.0))
            entries[stretches + step, row] = hat
            squares[row] += hat * hat
            stretches, height = 2 * stretches, height / 2.0


@compiled(types.void(COLUMNS, PLACES, ROWS))
def put_entries(columns: Any, places: Any, rows: Any) -> None:
    """Put the entries of columns into their places in the rows."""
    count = columns.shape[1]
    for begin in range(0, count, TILE):
        for column in range(len(places)):
            place = places[column]
            # A loop of a length that is known before is unrolled, and takes a third of the time.
            if begin + TILE <= count:
                for row in range(TILE):
                    rows[begin + row, place] = columns[column, begin + row]
            else:
                for row in range(begin, count):
                    rows[row, place] = columns[column, row]


@compiled(types.void(POSITIONS, types.int64, NUMBERS, ROWS))
def mark_levels(positions: Any, first: int, lengths: Any, rows: Any) -> None:
    """Put the entry of each row's level, which is 1 before it is divided by the row's length."""
    for row in range(len(positions)):
        rows[row, first + positions[row]] = 1.0 / lengths[row]


@compiled(types.void(NUMBERS, NUMBERS, POSITIONS, types.intp, types.intp, types.intp[::1]))
def find_numbers(numbers: Any, known: Any, positions: Any, missing: int, unknown: int, found: Any) -> None:
    """Look each number up among the few that are known; one that is none of them is unknown, and NaN is missing."""
    # Rows within, and arithmetic in place of a choice: such loops take several numbers at once.
    for row in range(numbers.size):
        found[row] = unknown + (missing - unknown) * int(numbers[row] != numbers[row])
    for place in range(known.size):
        number, position = known[place], positions[place]
        for row in range(numbers.size):
            found[row] += int(numbers[row] == number) * (position - found[row])


@compiled(types.uint64(WORDS, WORDS))
def mixed_product(words: Any, odd: Any) -> Any:
    """Return the sum of words, their halves mixed, times secret odd numbers, modulo 2^64 (N12)."""
    total = np.uint64(0)
    for place in range(len(words)):
        total += (words[place] ^ (words[place] >> np.uint64(32))) * odd[place]
    return total
