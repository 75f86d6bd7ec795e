"""A column of text as bytes, read as numbers or words without making an object of every text.

What a text is read as is what the rule says of that text alone: that of its `Numerals` for numbers, and for words
whatever rule the caller has. The compiled loops (`equipoise.data.text_loops`) answer where the answer is certain.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from equipoise.data.schema.numerals import COMMON, Numerals
from equipoise.data.schema.text import number_of
from equipoise.errors import UNSPENT, MissingExtra

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

# Bytes behind a content that belong to no text: the loops look at eight at once.
PADDING = bytes(8)


def make_ready() -> None:
    """Load the compiled loops: what cannot be loaded is missed before a row is read."""
    try:
        import equipoise.data.row_loops
        import equipoise.data.text_loops  # noqa: F401 - compiled, or taken from the disk, by being imported
        from equipoise.data.compiling import compile_all

        compile_all()
    except (ImportError, OSError) as error:
        raise MissingExtra.of("what reading a table needs", error, UNSPENT) from None


def padded(*parts: bytes) -> Bytes:
    """Return bytes one behind the other, and the padding behind them.

    Examples
    --------
    >>> padded(b"ab", b"c").tobytes() == b"abc" + PADDING
    True
    """
    return np.frombuffer(b"".join((*parts, PADDING)), dtype=np.uint8)


def eights_of(content: Bytes) -> Places:
    """Return the eight bytes from every place on as whole numbers, without a copy."""
    return np.ndarray((len(content) - len(PADDING) + 1,), np.int64, content, strides=(1,))


class Words:
    """Words and the number that each stands for, laid out for a compiled search.

    Words that no text can be are left out: those with blanks around them, and those that are no Unicode.

    Parameters
    ----------
    numbers : mapping of str to int
        The words, and a number for each that is not negative.
    """

    def __init__(self, numbers: Mapping[str, int]) -> None:
        from equipoise.data.text_loops import START, lay_out

        known = [(_encoded(word), number) for word, number in numbers.items() if word == word.strip()]
        kept = [(word, number) for word, number in known if word is not None]
        bounds = np.cumsum([0, *(len(word) for word, _ in kept)], dtype=np.int64)
        self.content = padded(*(word for word, _ in kept))
        self.table = np.full((2 ** (2 * len(kept) + 1).bit_length(), START + 1), -1, dtype=np.int64)
        lay_out(eights_of(self.content), bounds, np.array([number for _, number in kept], dtype=np.int64), self.table)


def _encoded(word: str) -> bytes | None:
    try:
        return word.encode("utf-8")
    except UnicodeEncodeError:
        return None


class Texts:
    """Texts in a content of bytes, decoded by UTF-8 with replacement; a text that starts below 0 is missing.

    Stands for an array of strings and None, and becomes one when NumPy asks for it. How numbers are written in them is
    a public fact of the file that they come from.

    Examples
    --------
    >>> texts = Texts(padded(b"31,Graz,x"), np.array([0, 3, -1, 8]), np.array([2, 7, -1, 9]))
    >>> texts.tolist(), texts[1], texts[2:].tolist()
    (['31', 'Graz', None, 'x'], 'Graz', [None, 'x'])
    >>> texts.numbers()
    array([31., nan, nan, nan])
    >>> texts.found(Words({"Graz": 5, "Wien": 7}), missing=0, unknown=1, rule=len).tolist()
    [1, 5, 0, 1]
    """

    dtype = np.dtype(object)

    def __init__(self, content: Bytes, starts: Places, ends: Places, numerals: Numerals = COMMON) -> None:
        self._content = content
        self._starts = starts
        self._ends = ends
        self.numerals = numerals
        self.shape = starts.shape

    def __repr__(self) -> str:
        """Return the texts as a list shows them."""
        return f"Texts({self.tolist()})"

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._starts)

    @overload
    def __getitem__(self, place: int | np.integer[Any]) -> str | None: ...
    @overload
    def __getitem__(self, place: slice | NDArray[Any]) -> "Texts": ...
    def __getitem__(self, place: int | np.integer[Any] | slice | NDArray[Any]) -> "str | Texts | None":
        """Return one text, or some of them."""
        if isinstance(place, slice | np.ndarray):
            return self._part(place)
        start, end = self._starts[place], self._ends[place]
        return None if start < 0 else self._content[start:end].tobytes().decode("utf-8", errors="replace")

    def _part(self, places: slice | NDArray[Any]) -> "Texts":
        starts, ends = (np.ascontiguousarray(limits[places]) for limits in (self._starts, self._ends))
        return Texts(self._content, starts, ends, self.numerals)

    def taken(self, places: NDArray[np.intp]) -> "Texts":
        """Return the texts at these places; one place too far stands for a missing text."""
        starts, ends = (np.append(limits, -1) for limits in (self._starts, self._ends))
        return TakenTexts(Texts(self._content, starts, ends, self.numerals), places)

    def __iter__(self) -> Iterator[str | None]:
        """Yield the texts."""
        if not len(self):
            return
        content = self._content.tobytes()
        for start, end in zip(self._starts.tolist(), self._ends.tolist(), strict=True):
            yield None if start < 0 else content[start:end].decode("utf-8", "replace")

    def tolist(self) -> list[str | None]:
        """Return the texts."""
        return list(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the texts as objects."""
        objects = np.fromiter(self, dtype=object, count=len(self))
        return objects if dtype is None else objects.astype(dtype)

    def numbers(self) -> Array:
        """Return the finite numbers that the texts are, as the rule reads them; others are not finite or missing."""
        from equipoise.data.text_loops import read_numbers

        numbers, odd = np.empty(len(self)), np.empty(len(self), dtype=np.int64)
        content = self._content
        rule: Callable[[Any], float] = number_of
        if not self.numerals.common:
            # The loop knows one way to write numbers: the marks of another are replaced, and what stands between
            # thousands makes a text odd.
            content, rule = np.frombuffer(self.numerals.bytes_read_as, dtype=np.uint8)[content], self.numerals.number_of
        count = read_numbers(content, self._starts, self._ends, numbers, odd)
        numbers[odd[:count]] = np.fromiter(map(rule, self[odd[:count]]), dtype=np.float64, count=count)
        return numbers

    def found(self, words: Words, missing: int, unknown: int, rule: Callable[[str], int]) -> Places:
        """Return the number of the word that each text is, stripped of blanks; the rule is asked where that is odd."""
        from equipoise.data.text_loops import find_words

        found, odd = np.empty(len(self), dtype=np.int64), np.empty(len(self), dtype=np.int64)
        count = find_words(
            self._content,
            eights_of(self._content),
            self._starts,
            self._ends,
            words.content,
            words.table,
            missing,
            unknown,
            found,
            odd,
        )
        found[odd[:count]] = [rule(text or "") for text in self[odd[:count]]]
        return found


class TakenTexts(Texts):
    """Texts that stand at places among others: what each of those is, is asked once, however often it is taken.

    Examples
    --------
    >>> towns = Texts(padded(b"GrazWien"), np.array([0, 4]), np.array([4, 8])).taken(np.array([1, 1, 2]))
    >>> towns.tolist(), towns[1:].found(Words({"Wien": 7}), missing=0, unknown=1, rule=len).tolist()
    (['Wien', 'Wien', None], [7, 0])
    """

    def __init__(self, words: Texts, places: NDArray[np.intp]) -> None:
        super().__init__(words._content, words._starts[places], words._ends[places], words.numerals)
        self._words, self._places = words, places

    def _part(self, places: slice | NDArray[Any]) -> Texts:
        return TakenTexts(self._words, self._places[places])

    def numbers(self) -> Array:
        """Return the finite numbers that the texts are."""
        return self._words.numbers()[self._places]

    def found(self, words: Words, missing: int, unknown: int, rule: Callable[[str], int]) -> Places:
        """Return the number of the word that each text is."""
        return self._words.found(words, missing, unknown, rule)[self._places]


class SheetColumn(np.ndarray):
    """Cells of a column of a sheet, as objects, and how numbers are written in those that are text.

    Examples
    --------
    >>> cells = SheetColumn.of(np.array(["1,5", 2.5, None], dtype=object), Numerals(","))
    >>> cells[1:].numerals, cells.numbers()
    (Numerals(decimal=',', thousands=''), array([1.5, 2.5, nan]))
    """

    numerals: Numerals

    @classmethod
    def of(cls, values: NDArray[Any], numerals: Numerals) -> "SheetColumn":
        """Return an array of objects as such a column, without a copy."""
        column = values.view(cls)
        column.numerals = numerals
        return column

    def __array_finalize__(self, other: object) -> None:
        """Keep the way of writing in every part and copy."""
        self.numerals = getattr(other, "numerals", COMMON)

    def numbers(self) -> Array:
        """Return the number that each cell is, as the rule of its type reads it; NaN for none."""
        read = (self.numerals.number_of(cell) if isinstance(cell, str) else number_of(cell) for cell in self)
        return np.fromiter(read, dtype=np.float64, count=len(self))
