"""Public numbers: what may be one, and the plain Python value of it."""

import math
from typing import Any

from ..errors import InvalidParameter

# Public numbers stay inside these powers of ten, so that neither squares nor products overflow or vanish (M4).
SMALLEST, LARGEST = 1e-100, 1e100

# No table has more rows or columns; sums of so many terms still stay inside the bounds of rounding (M4).
LARGEST_COUNT = 10**15

# Beyond this epsilon nothing is hidden, and the noise would fall below the arithmetic that adds it (docs/proofs/D1.md).
LARGEST_EPSILON = 1e15


def require_number(
    name: str, value: object, *, above: float, remedy: str, inclusive: bool = False, largest: float = LARGEST
) -> float:
    """Return `value` as a float when it is a number above the bound and of a size that arithmetic can bear.

    Examples
    --------
    >>> require_number("epsilon", 1, above=0.0, remedy="pass epsilon=1.0")
    1.0
    """
    bound = f"a finite {name}" + (f" {'>=' if inclusive else '>'} {above:g}" if above > -math.inf else "")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidParameter(bound, f"{name}={value!r} of type {type(value).__name__}", remedy)
    if abs(value) > 1e300:
        value = math.inf  # a whole number may be too long for a double, and even to be shown
    number = float(value)
    if not math.isfinite(number) or number < above or (number == above and not inclusive):
        raise InvalidParameter(bound, f"{name}={value!r}", remedy)
    if abs(number) > largest or (above == 0 and not inclusive and number < SMALLEST):
        sizes = f"{name} between {SMALLEST:g} and {largest:g} in size"
        raise InvalidParameter(sizes, f"{name}={value!r}", f"change the unit; {remedy}")
    return number


def settle(owner: object, name: str, **limits: Any) -> float:
    """Check a number that a frozen dataclass was given, keep it as a plain one, and return it.

    Examples
    --------
    >>> from equipoise.vocabulary.losses.huber import Huber
    >>> Huber(2).cap
    2.0
    """
    number = require_number(name, plain(getattr(owner, name)), **limits)
    object.__setattr__(owner, name, number)
    return number


def require_count(name: str, value: object, remedy: str) -> int:
    """Return `value` as a positive int of a size that a table can have, and refuse anything else.

    Examples
    --------
    >>> require_count("n_samples", 100, "pass the number of rows")
    100
    """
    whole = plain(value)
    if isinstance(whole, bool) or not isinstance(whole, int) or whole < 1:
        raise InvalidParameter(f"{name}, a whole number >= 1", f"{name}={value!r}", remedy)
    if whole > LARGEST_COUNT:
        raise InvalidParameter(f"{name} of at most {LARGEST_COUNT:g}", "a larger number", remedy)
    return whole


def plain(value: object) -> object:
    """Return a NumPy scalar as the plain Python value it stands for, anything else unchanged."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "shape", None) == () else value
