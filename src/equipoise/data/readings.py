"""From raw values to one number each, for every kind of column: by a public rule, and no value ever raises (M3).

What a value is read as depends on that value alone. Every shortcut for speed must therefore give what the rule gives
for each value by itself, or the other rows of a batch would show.
"""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.data.arrow_values import Column
from equipoise.data.schema.text import number_of, same_moments, text_of
from equipoise.data.texts import SheetColumn, Texts, Words
from equipoise.data.unread import NUMERIC_KINDS

Array = NDArray[np.float64]

# Values of exactly these types become numbers in one go in the same way as one by one.
PLAIN_TYPES = {float, int, bool, type(None)}

# Real numbers are compared with so many known ones at most, and sorted where there are more.
FEW_NUMBERS = 32

# So many texts that are no numbers are looked at for how they are written.
LOOKED_AT = 1_000


class Seen(NamedTuple):
    """What the data's owner may see of a column's values: where they are missing, and counts of what a rule changes.

    None stands for a rule that does not concern the kind. All of it is private.
    """

    missing: NDArray[np.bool_]
    unreadable: int | None = None
    outside: int | None = None
    unknown: int | None = None
    # Some of the texts that are no numbers, or no known texts, for a remedy.
    texts: tuple[str, ...] = ()


class Reading(ABC):
    """What reads the raw values of a column."""

    @abstractmethod
    def __call__(self, values: Column) -> NDArray[Any]:
        """Return one number for each value: a quantity that is NaN where missing, or a position."""

    @abstractmethod
    def seen(self, values: Column) -> Seen:
        """Return what the owner may see of these values."""


class Numbers(Reading):
    """Reads numbers.

    Parameters
    ----------
    missing : tuple of str
        Texts that count as missing; one that is a number, such as -999, is that number however it is written.
    bounds : (low, high), optional
        Where `seen` counts what lies outside.
    rule : callable, optional
        Reads a text that is no number by itself, such as one with a unit; NaN for what it cannot read. It is given what
        reads the number in it, as the file has it written.

    Examples
    --------
    >>> Numbers(("NA",))(np.array([" 3.5 ", 7, "NA", None, "seven"], dtype=object))
    array([3.5, 7. , nan, nan, nan])
    """

    def __init__(
        self,
        missing: tuple[str, ...],
        bounds: tuple[float, float] | None = None,
        rule: Callable[[str, Callable[[str], float]], float] | None = None,
    ) -> None:
        self._missing_texts = frozenset(missing)
        self._missing_numbers = [number for number in map(number_of, missing) if math.isfinite(number)]
        self._bounds = bounds
        self._rule = rule

    def __call__(self, values: Column) -> Array:
        """Return the numbers; those that came as such are not copied, and what is not finite is missing."""
        plain = values.dtype == np.float64 and not self._missing_numbers
        return np.ascontiguousarray(values) if plain else self._numbers(values)

    def _numbers(self, values: Column) -> Array:
        """Return the numbers, NaN where a value is missing, unreadable or infinite."""
        if isinstance(values, Texts | SheetColumn):
            numbers = values.numbers()
        else:
            with silence():
                if values.dtype.kind in NUMERIC_KINDS:
                    numbers = values.astype(np.float64)
                else:
                    numbers = _numbers_of_objects(values.astype(object, copy=False))
        numbers[~np.isfinite(numbers)] = np.nan
        for number in self._missing_numbers:
            numbers[numbers == number] = np.nan
        if self._rule is not None and values.dtype == np.dtype(object):
            places = np.flatnonzero(np.isnan(numbers))
            texts = map(text_of, values[places])
            reader = _number_rule(values)
            numbers[places] = [math.nan if text is None else self._rule(text, reader) for text in texts]
        return numbers

    def seen(self, values: Column) -> Seen:
        """Return where values are missing, and how many are unreadable or outside the bounds."""
        with silence():
            numbers = self._numbers(values)
        low, high = self._bounds or (-math.inf, math.inf)
        nothing = np.isnan(numbers)
        unreadable, rule = nothing.copy(), _number_rule(values)
        for spot in np.flatnonzero(nothing):
            unreadable[spot] = not self._is_missing(values[spot], rule)
        outside = int(np.sum((numbers < low) | (numbers > high)))
        texts = tuple(text_of(values[spot]) or "" for spot in np.flatnonzero(unreadable)[:LOOKED_AT])
        return Seen(nothing & ~unreadable, int(np.sum(unreadable)), outside, texts=texts)

    def _is_missing(self, value: object, rule: Callable[[str], float]) -> bool:
        """Return whether a value that gave no number was meant to be missing, rather than text or an infinity."""
        text = text_of(value)
        if text is None or text in self._missing_texts or text.lstrip("+-").lower() == "nan":
            return True
        # A number that stands for missing, such as -999.
        return math.isfinite(rule(value) if isinstance(value, str) else number_of(value))


def _number_rule(values: Column) -> Callable[[str], float]:
    """Return what reads a number in a text of these values: a file may have it written in its own way."""
    return values.numerals.number_of if isinstance(values, Texts | SheetColumn) else number_of


class Positions(Reading):
    """Reads positions among known texts; a missing text that is among them is that one.

    A moment that is known is so however its type writes it.

    Examples
    --------
    >>> Positions({"no": 0, "yes": 1}, ("",), at_missing=3, at_unknown=2)(np.array(["yes", "", 7], dtype=object))
    array([1, 3, 2])
    """

    def __init__(
        self, positions: Mapping[str, int], missing: tuple[str, ...], at_missing: int, at_unknown: int
    ) -> None:
        moments = {other: place for text, place in positions.items() for other in same_moments(text)}
        positions = moments | dict(positions)
        self._levels = frozenset(positions)
        self._unknown = at_unknown
        self._missing = at_missing
        self._known = dict.fromkeys(missing, at_missing) | positions

    def one(self, value: object) -> int:
        """Return the position of one value."""
        text = text_of(value)
        return self._missing if text is None else self._known.get(text, self._unknown)

    @cached_property
    def _numbers(self) -> list[float]:
        """The numbers whose texts may be known; any other number's text is not."""
        return sorted({0.0, *(number for number in map(number_of, self._known) if math.isfinite(number))})

    def _found(self, numbers: Array) -> NDArray[np.intp]:
        """Return the positions of real numbers, of which only few are known."""
        from equipoise.data.row_loops import find_numbers

        found = np.empty(len(numbers), dtype=np.intp)
        find_numbers(np.ascontiguousarray(numbers), *self._known_numbers, self._missing, self._unknown, found)
        return found

    @cached_property
    def _known_numbers(self) -> tuple[Array, NDArray[np.intp]]:
        """Numbers that may be known, infinite ones among them, and their positions."""
        known = [*self._numbers, math.inf, -math.inf]
        return np.array(known), np.array([self.one(number) for number in known], dtype=np.intp)

    @cached_property
    def _words(self) -> Words:
        return Words(self._known)

    def __call__(self, values: Column) -> NDArray[np.intp]:
        """Return the position of every value."""
        # Texts are remembered, other objects are not: 1 and True would be the same key.
        memory = _Memory(self._known, self.one)
        if isinstance(values, Texts):
            return values.found(self._words, self._missing, self._unknown, memory.__getitem__)
        with silence():
            if values.dtype == np.float64 and len(self._numbers) <= FEW_NUMBERS:
                return self._found(values)
            return _one_by_one(values, np.dtype(np.intp), memory, self.one)

    def seen(self, values: Column) -> Seen:
        """Return where values are missing, and how many are no known text."""
        apart = self._apart
        places = apart(values)
        unknown = np.flatnonzero(places == apart._unknown)
        texts = tuple(text_of(values[spot]) or "" for spot in unknown[:LOOKED_AT])
        return Seen(places == apart._missing, unknown=len(unknown), texts=texts)

    @cached_property
    def _apart(self) -> "Positions":
        """The same reading, with places of their own for what is missing and what is unknown."""
        missing = tuple(text for text in self._known if text not in self._levels)
        known = {text: place for text, place in self._known.items() if text in self._levels}
        last = max(known.values(), default=-1)
        return Positions(known, missing, at_missing=last + 1, at_unknown=last + 2)


class Ruled(Reading):
    """Reads what a rule says of each text; a batch asks it once for texts that are the same.

    Parameters
    ----------
    rule : callable
        The number that stands for a text.
    kind : dtype
        Of these numbers.
    missing : tuple of str
        Texts that count as missing.
    at_missing : number
        What stands for a missing value.
    usual : sequence of str
        Texts that are found without asking the rule, which says of them what it always does.
    at_unknown : int, optional
        What the rule says of texts that it does not know, where `seen` counts those.
    outside : callable, optional
        Where numbers lie outside of bounds, where `seen` counts that.

    Examples
    --------
    >>> Ruled(len, np.dtype(np.intp), ("",), 9)(np.array(["yes", "", 7, None], dtype=object))
    array([3, 9, 1, 9])
    """

    def __init__(
        self,
        rule: Callable[[str], float],
        kind: "np.dtype[Any]",
        missing: tuple[str, ...],
        at_missing: float,
        usual: Sequence[str] = (),
        at_unknown: int | None = None,
        outside: Callable[[Array], NDArray[np.bool_]] | None = None,
    ) -> None:
        self._rule, self._kind, self._missing_texts, self._missing = rule, kind, frozenset(missing), at_missing
        self._known = {text: rule(text) for text in usual} | dict.fromkeys(missing, at_missing)
        self._at_unknown, self._outside, self._has_usual = at_unknown, outside, bool(usual)

    def one(self, value: object) -> float:
        """Return what stands for one value."""
        text = text_of(value)
        return self._missing if text is None or text in self._missing_texts else self._rule(text)

    @cached_property
    def _words(self) -> Words:
        return Words(self._known)  # type: ignore[arg-type] # usual texts have positions

    def __call__(self, values: Column) -> NDArray[Any]:
        """Return what stands for every value."""
        memory = _Memory({}, self.one)
        with silence():
            if not isinstance(values, Texts) or not self._has_usual:
                return _one_by_one(values, self._kind, memory, self.one)
            found = values.found(self._words, int(self._missing), -1, lambda text: -1)
            places = np.flatnonzero(found == -1)
            found[places] = [memory[text or ""] for text in values[places]]
            return found.astype(self._kind, copy=False)

    def seen(self, values: Column) -> Seen:
        """Return where values are missing, and counts of those that the rule cannot read or does not know."""
        texts = [text_of(value) for value in values.tolist()]
        missing = np.array([text is None or text in self._missing_texts for text in texts], dtype=bool)
        read = self(values)
        if self._at_unknown is not None:
            return Seen(missing, unknown=int(np.sum(read == self._at_unknown)))
        if self._kind.kind != "f":
            return Seen(missing)
        outside = None if self._outside is None else int(np.sum(self._outside(read)))
        return Seen(missing, unreadable=int(np.sum(np.isnan(read) & ~missing)), outside=outside)


@contextmanager
def silence() -> Iterator[None]:
    """Let nothing about a value be seen: neither a warning of NumPy nor one that an odd object gives."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _one_by_one(
    values: Column, kind: "np.dtype[Any]", memory: "_Memory", one: Callable[[object], float]
) -> NDArray[Any]:
    """Return what stands for every value: each number asked once, texts remembered, others as they come."""
    if values.dtype.kind in NUMERIC_KINDS:
        distinct, where = np.unique(np.asarray(values), return_inverse=True)
        return np.array([one(value) for value in distinct.tolist()], dtype=kind)[where]
    entries = values if isinstance(values, Texts) else values.astype(object)
    found = (memory[value] if type(value) is str else one(value) for value in entries)
    return np.fromiter(found, dtype=kind, count=len(values))


def _numbers_of_objects(values: NDArray[Any]) -> Array:
    # NumPy reads some types otherwise than the rule does (datetime64, text), so it may only be asked about plain ones.
    if PLAIN_TYPES.issuperset(map(type, values)):
        try:
            return values.astype(np.float64)
        except OverflowError:
            pass  # some whole number is larger than doubles: one by one
    return np.fromiter(map(number_of, values), dtype=np.float64, count=len(values))


class _Memory(dict[str, Any]):
    """What stands for the texts that one batch has met; it is thrown away with the batch, since they are private."""

    def __init__(self, known: Mapping[str, int], one: Callable[[object], float]) -> None:
        super().__init__(known)
        self._one = one

    def __missing__(self, text: str) -> float:
        self[text] = found = self._one(text)
        return found
