"""The loops over the bytes of text, compiled: where the fields of lines lie, and which numbers and words they are.

What a loop says of a line or a text follows from its own bytes, and it says only what is certain. Everything else it
calls odd, and leaves to the rule that Python's `csv`, `float` and `str` make, line by line and text by text: so nothing
here decides what a line, a number or a word is, and no value raises.

The loops are compiled for their types when this module is imported, which loads Numba, unless rows are few
(`equipoise.data.compiling`). That happens when a table is opened, so that nothing can be missing after the first row
was read. Contents are followed by `PADDING` bytes that
belong to no text, and `eights` are the same bytes, seen as the eight from every place on.
"""

from typing import Any

import numpy as np

from equipoise.data.compiling import compiled, types

BYTES = types.Array(types.uint8, 1, "C", readonly=True)
EIGHTS = types.Array(types.int64, 1, "A", readonly=True, aligned=False)
PLACES = types.Array(types.int64, 1, "C", readonly=True)
WORDS = types.Array(types.int64, 2, "C", readonly=True)
ROOM = types.int64[::1]
TABLE = types.int64[:, ::1]
INTEGER = types.int64
FOUR = types.UniTuple(INTEGER, 4)

# The columns of a table of words.
NUMBER, LENGTH, FIRST, LAST, START = range(5)

LINE_FEED, RETURN, BLANK, QUOTE, DELETE = 10, 13, 32, 34, 127
PLUS, MINUS, POINT, ZERO, NINE, CAPITAL_E, UNDERSCORE, SMALL_E = 43, 45, 46, 48, 57, 69, 95, 101
# The blanks of one byte: tab to carriage return, which `float` strips, and four more that only `str.strip` does.
FIRST_BLANK, LAST_BLANK, FIRST_SEPARATOR, LAST_SEPARATOR = 9, 13, 28, 31

# A whole number below this can take one more digit, and is still one that a double holds.
ROOM_FOR_A_DIGIT = 2**53 // 10
# The powers of ten that a double holds.
TENS = np.array([float(10**power) for power in range(23)])


@compiled(INTEGER(BYTES, INTEGER, INTEGER, ROOM))
def find_marks(content: Any, size: int, delimiter: int, marks: Any) -> int:
    """Find the places of the bytes that end a field or a line, or that may make it odd; return their number."""
    special = np.zeros(256, dtype=np.uint8)
    special[0] = special[LINE_FEED] = special[RETURN] = special[QUOTE] = special[delimiter] = 1
    count = 0
    for position in range(size):
        # Noted at every byte, and kept where it counts: a branch that cannot be foreseen costs more.
        marks[count] = position
        count += int(special[content[position]])
    return count


@compiled(FOUR(BYTES, INTEGER, INTEGER, PLACES, INTEGER, INTEGER, INTEGER, PLACES, TABLE, TABLE, TABLE))
def split_lines(
    content: Any,
    size: int,
    position: int,
    marks: Any,
    mark: int,
    delimiter: int,
    longest: int,
    slots: Any,
    starts: Any,
    ends: Any,
    odd: Any,
) -> tuple[int, int, int, int]:
    """Find the fields of the lines from a position and its mark on, as many as there is room for.

    The marks end with the size of the content, which ends where a line does, with or without a line feed. Field j of
    line i lies between ``starts[slots[j], i]`` and ``ends[slots[j], i]``; one whose slot is -1 is not noted. A line is
    not odd if it is no longer than `longest`, not blank, and has one field a slot, each of them without quotes or with
    one at either end and none inside, no zero byte, and no carriage return but the one that ends it: such fields are
    those that the csv module finds. The numbers of odd lines and their two ends are put into `odd`.

    Returns the number of lines, the number of odd ones, and the position and mark of the next line.
    """
    width, room = len(slots), starts.shape[1]
    line, strange = 0, 0
    while position < size and line < room:
        first, field, plain = position, 0, True
        while plain:
            start, end = position, marks[mark]
            if start < size and content[start] == QUOTE:
                start += 1
                mark += 1
                while marks[mark] < size and content[marks[mark]] == delimiter:
                    mark += 1
                end = marks[mark]
                # The second quote, and right behind it what ends the field.
                plain = end < size and content[end] == QUOTE and marks[mark + 1] == end + 1
                if not plain:
                    break
                mark += 1
            if field < width and slots[field] >= 0:
                starts[slots[field], line] = start
                ends[slots[field], line] = end
            field += 1
            end = marks[mark]
            if end == size or content[end] == LINE_FEED:
                break
            if content[end] == RETURN and marks[mark + 1] == end + 1:
                plain = end + 1 == size or content[end + 1] == LINE_FEED
                break
            plain = content[end] == delimiter
            position = end + 1
            mark += 1
        while marks[mark] < size and content[marks[mark]] != LINE_FEED:
            mark += 1
        position = min(marks[mark] + 1, size)
        mark += 1
        blank = content[first] == LINE_FEED or content[first] == RETURN
        if not plain or blank or field != width or position - first > longest:
            odd[strange, 0], odd[strange, 1], odd[strange, 2] = line, first, position
            strange += 1
        line += 1
    return line, strange, position, mark


@compiled()
def _exponent(content: Any, position: int, end: int) -> tuple[int, int]:
    """Return the power of ten that is written after a letter E, and where it ends; -1 for none."""
    negative = position < end and content[position] == MINUS
    if position < end and (negative or content[position] == PLUS):
        position += 1
    shift, first = 0, position
    while position < end and ZERO <= content[position] <= NINE and shift < 1000:
        shift = 10 * shift + (content[position] - ZERO)
        position += 1
    return (-shift if negative else shift), (position if position > first else -1)


@compiled()
def _number(content: Any, position: int, end: int) -> tuple[float, bool]:
    """Return the number that a text is, and whether that is certain.

    Some 15 digits times a small power of ten are one product or quotient of two numbers that doubles hold: it is
    rounded once, and so is what `float` gives (Clinger 1990). A text with a letter or sign that stands in no finite
    number is NaN, whatever else it holds.
    """
    while position < end and (content[position] == BLANK or FIRST_BLANK <= content[position] <= LAST_BLANK):
        position += 1
    while position < end and (content[end - 1] == BLANK or FIRST_BLANK <= content[end - 1] <= LAST_BLANK):
        end -= 1
    if position == end:
        return np.nan, True
    negative = content[position] == MINUS
    if negative or content[position] == PLUS:
        position += 1
    whole, digits, power, fraction = 0, 0, 0, False
    while position < end:
        byte = content[position]
        if ZERO <= byte <= NINE:
            if whole >= ROOM_FOR_A_DIGIT:
                return np.nan, False
            whole = 10 * whole + (byte - ZERO)
            digits += 1
            power -= fraction
        elif byte == POINT and not fraction:
            fraction = True
        else:
            break
        position += 1
    if position < end:
        byte = content[position]
        if byte in (SMALL_E, CAPITAL_E):
            shift, position = _exponent(content, position + 1, end)
            power += shift
        elif BLANK < byte < DELETE:
            return np.nan, byte not in (POINT, PLUS, MINUS, UNDERSCORE)
    if position != end or digits == 0 or abs(power) >= len(TENS):
        return np.nan, False
    number = whole * TENS[power] if power >= 0 else whole / TENS[-power]
    return (-number if negative else number), True


@compiled(INTEGER(BYTES, PLACES, PLACES, types.float64[::1], ROOM))
def read_numbers(content: Any, starts: Any, ends: Any, numbers: Any, odd: Any) -> int:
    """Read texts as numbers, NaN for a missing one; put the places of odd ones into `odd` and return their number."""
    strange = 0
    for place in range(len(starts)):
        numbers[place], certain = np.nan, True
        if starts[place] >= 0:
            numbers[place], certain = _number(content, starts[place], ends[place])
        if not certain:
            odd[strange] = place
            strange += 1
    return strange


@compiled()
def _key(eights: Any, start: int, end: int) -> tuple[int, int, int]:
    """Return the first and the last eight bytes of a word, and a number that spreads words over a table."""
    size = end - start
    if size < 8:
        first = eights[start] & ((1 << (8 * size)) - 1)
        last = first
    else:
        first, last = eights[start], eights[end - 8]
    mixed = (first ^ (last * 0x2545F4914F6CDD1D) ^ size) * 0x1B873593CC9E2D51
    return first, last, mixed ^ (mixed >> 32)


@compiled(types.void(EIGHTS, PLACES, PLACES, TABLE))
def lay_out(eights: Any, bounds: Any, numbers: Any, table: Any) -> None:
    """Put words into a table, each into the first free row from its own on; word k begins at ``bounds[k]``.

    The table has a column for each of `NUMBER` to `START` and more rows than there are words, their number a power of
    2; free ones hold -1.
    """
    mask = len(table) - 1
    for word in range(len(numbers)):
        first, last, row = _key(eights, bounds[word], bounds[word + 1])
        row &= mask
        while table[row, LENGTH] >= 0:
            row = (row + 1) & mask
        table[row, NUMBER], table[row, LENGTH] = numbers[word], bounds[word + 1] - bounds[word]
        table[row, FIRST], table[row, LAST], table[row, START] = first, last, bounds[word]


@compiled()
def _is_blank(byte: int) -> bool:
    return byte == BLANK or FIRST_BLANK <= byte <= LAST_BLANK or FIRST_SEPARATOR <= byte <= LAST_SEPARATOR


@compiled()
def _same(content: Any, start: int, words: Any, begin: int, size: int) -> bool:
    # The first and the last eight bytes were compared.
    for place in range(8, size - 8):  # noqa: SIM110 - no generator is compiled
        if content[start + place] != words[begin + place]:
            return False
    return True


@compiled()
def _is_ascii(content: Any, start: int, end: int) -> bool:
    for position in range(start, end):  # noqa: SIM110 - no generator is compiled
        if content[position] > DELETE:
            return False
    return True


@compiled(INTEGER(BYTES, EIGHTS, PLACES, PLACES, BYTES, WORDS, INTEGER, INTEGER, ROOM, ROOM))
def find_words(
    content: Any,
    eights: Any,
    starts: Any,
    ends: Any,
    words: Any,
    table: Any,
    missing: int,
    unknown: int,
    found: Any,
    odd: Any,
) -> int:
    """Find the number of each text among words: that of the word that it is, stripped of blanks.

    `unknown` stands for a text that is none of them. It is odd if it is not all ASCII: it may have other blanks around
    it, or bytes that become replacement characters. Returns the number of odd ones; `odd` takes their places.
    """
    strange, mask = 0, len(table) - 1
    for place in range(len(starts)):
        start, end = starts[place], ends[place]
        found[place] = missing
        if start < 0:
            continue
        while start < end and _is_blank(content[start]):
            start += 1
        while start < end and _is_blank(content[end - 1]):
            end -= 1
        size = end - start
        first, last, row = _key(eights, start, end)
        row &= mask
        while table[row, LENGTH] >= 0 and not (
            table[row, LENGTH] == size
            and table[row, FIRST] == first
            and table[row, LAST] == last
            and _same(content, start, words, table[row, START], size)
        ):
            row = (row + 1) & mask
        if table[row, LENGTH] >= 0:
            found[place] = table[row, NUMBER]
            continue
        found[place] = unknown
        if not _is_ascii(content, start, end):
            odd[strange] = place
            strange += 1
    return strange
