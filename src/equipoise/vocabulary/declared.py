"""Facts of a domain as users write them: labels, weights and ranges, checked and made plain."""

import math
from collections.abc import Iterable

from ..errors import InvalidParameter
from .numbers import SMALLEST, plain, require_number

# Labels are public and stand in files: larger numbers and longer texts are none.
LARGEST_LABEL, LONGEST_LABEL = 1e200, 1000


def is_label(value: object) -> bool:
    """Return whether a plain value may be a class: a number or a text that every file can hold, of bounded length.

    Examples
    --------
    >>> [is_label(value) for value in (1, True, "yes", math.nan, 10**400, None)]
    [True, True, True, False, False, False]
    """
    if isinstance(value, str):
        # Half a pair of UTF-16 is a letter to Python, and to no file.
        return len(value) <= LONGEST_LABEL and value == value.encode("utf-8", "ignore").decode()
    return isinstance(value, int | float) and abs(value) < LARGEST_LABEL


def settled_classes(given: object) -> tuple[object, ...]:
    """Return a label set as a tuple of at least two different labels."""
    remedy = 'write classes=(0, 1) or classes=("no", "yes"), the public label set'
    classes = () if isinstance(given, str) or not isinstance(given, Iterable) else tuple(map(plain, given))
    if not all(map(is_label, classes)):
        asked = f"classes that are numbers below {LARGEST_LABEL:g} in size, or texts of at most {LONGEST_LABEL} letters"
        raise InvalidParameter(asked, "another among them", remedy)
    if len(set(classes)) != len(classes) or len(classes) < 2:
        found = f"{len(classes)}, of which {len(set(classes))} differ"
        raise InvalidParameter("at least two different classes, numbers or strings", found, remedy)
    return classes


def for_each_class(given: object, classes: object, what: str) -> tuple[float, ...]:
    """Return a weight, or a share, for each class, above 0 and at most 1."""
    remedy = f"declare the classes, and a {what} above 0 and at most 1 for each, in their order"
    numbers = () if isinstance(given, str) or not isinstance(given, Iterable) else tuple(map(plain, given))
    if not isinstance(classes, tuple) or len(numbers) != len(classes):
        found = f"{len(numbers)} {what}s with classes={classes!r:.80}"
        raise InvalidParameter(f"one {what} for each declared class", found, remedy)
    return tuple(require_number(f"class {what}", number, above=0.0, largest=1.0, remedy=remedy) for number in numbers)


def settled_ends(of: str, given: object) -> tuple[float, float]:
    """Return a range as (low, high), both finite and low below high."""
    remedy = f"write (low, high), the public range of the {'target' if of == 'label' else 'column'}"
    ends = () if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if len(ends) != 2:
        raise InvalidParameter(f"{of} bounds (low, high)", f"{given!r:.80}", remedy)
    low, high = (require_number(f"{of} bound", plain(end), above=-math.inf, remedy=remedy) for end in ends)
    if not low < high or high - low < SMALLEST:
        raise InvalidParameter(f"{of} bounds with low < high", f"{given!r:.80}", remedy)
    return low, high


def settled_bounds(given: object) -> tuple[object, ...]:
    """Return the range of every column, or the one that is for all of them."""
    pairs = () if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if not pairs or not any(isinstance(pair, Iterable) for pair in pairs):
        return settled_ends("column", pairs or given)
    return tuple(settled_ends("column", pair) for pair in pairs)
