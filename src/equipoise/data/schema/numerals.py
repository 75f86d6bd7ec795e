"""How numbers are written in a text file: a public rule for each text by itself, whatever it holds."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from equipoise.data.schema.text import number_of

# Where a mark of thousands stands: groups of three digits behind the first one, which begins with no zero. Any other
# grouping is no number: "1.5" in a file whose thousands are marked by points is far likelier a mistake than fifteen.
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:_[0-9]{3})+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")

# What people type for a mark: a space that does not break a line, an apostrophe as printers set it.
_SPELLINGS = {" ": " \u00a0\u202f", "'": "'\u2019"}

# Stands in no number, and the compiled loop is certain of that.
_FOREIGN = "!"


@dataclass(frozen=True)
class Numerals:
    """A way to write numbers: what stands before the fraction, and what may stand between thousands.

    Parameters
    ----------
    decimal : "." or ","
        The mark before the fraction.
    thousands : "", ".", ",", "'" or " "
        The mark between groups of three digits, empty for none; a number may also be written without any.

    Examples
    --------
    >>> german = Numerals(",", ".")
    >>> [german.number_of(text) for text in ("1.234,5", "1234,5", "-0,25", "1.5", "seven", None)]
    [1234.5, 1234.5, -0.25, nan, nan, nan]
    """

    decimal: str = "."
    thousands: str = ""

    @cached_property
    def _places(self) -> dict[int, str]:
        """The characters that are read as others: each mark as Python's float has it, and its own marks as none."""
        places = dict.fromkeys(map(ord, "._"), _FOREIGN)
        places |= dict.fromkeys(map(ord, _SPELLINGS.get(self.thousands, self.thousands)), "_")
        return places | {ord(self.decimal): "."}

    @cached_property
    def bytes_read_as(self) -> bytes:
        """The byte that each of the 256 is read as; bytes of longer characters stay, and no text with one is plain."""
        return bytes(ord(self._places.get(byte, chr(byte))) if byte < 128 else byte for byte in range(256))

    @property
    def common(self) -> bool:
        """Whether numbers are written as Python writes them."""
        return self == COMMON

    def number_of(self, text: str | None) -> float:
        """Return the number that a text is, NaN where it is none. No text raises."""
        if self.common or text is None:
            return number_of(text)
        plain = text.strip().translate(self._places)
        return number_of(plain.replace("_", "")) if "_" not in plain or _GROUPED.fullmatch(plain) else math.nan


COMMON = Numerals()

# The ways that are proposed, the likelier first.
KNOWN = (
    COMMON,
    Numerals(".", ","),
    Numerals(",", ""),
    Numerals(",", "."),
    Numerals(".", " "),
    Numerals(",", " "),
    Numerals(".", "'"),
    Numerals(",", "'"),
)


def likeliest(texts: Iterable[str], decimal: str = ".") -> Numerals:
    """Return the way of writing that reads most texts as numbers; of several one with that decimal mark, the earlier.

    Examples
    --------
    >>> likeliest(["3,5", "1.234,0", "x"]), likeliest(["3.5", "1,2"]), likeliest(["1,234"])
    (Numerals(decimal=',', thousands='.'), Numerals(decimal='.', thousands=''), Numerals(decimal='.', thousands=','))
    >>> likeliest(["1.234"], decimal=",")
    Numerals(decimal=',', thousands='.')
    """
    listed = list(texts)
    ways = sorted(KNOWN, key=lambda way: way.decimal != decimal)
    return max(ways, key=lambda way: sum(math.isfinite(way.number_of(text)) for text in listed))


# Another way of writing that reads so many of the texts is as likely: a few texts do not settle it.
NEARLY_AS_MANY = 0.9


def rival(texts: Iterable[str], chosen: Numerals, delimiter: str) -> Numerals | None:
    """Return another way of writing that reads nearly as many texts, and some as other numbers; None if none does.

    A decimal mark that also separates values is a rival only where a number holds it, which stands in quotes then.

    Examples
    --------
    >>> rival(["1.234", "5.678"], COMMON, ";"), rival(["1.234", "5.6"], COMMON, ";"), rival(["1.234"], COMMON, ",")
    (Numerals(decimal=',', thousands='.'), None, None)
    >>> rival(["1,234"], Numerals(".", ","), ",")
    Numerals(decimal=',', thousands='')
    """
    listed = list(texts)
    found = [chosen.number_of(text) for text in listed]
    for way in KNOWN:
        others = [way.number_of(text) for text in listed]
        as_many = sum(map(math.isfinite, others)) >= NEARLY_AS_MANY * sum(map(math.isfinite, found))
        both = [pair for pair in zip(found, others, strict=True) if all(map(math.isfinite, pair))]
        pairs = zip(listed, others, strict=True)
        quoted = any(delimiter in text and math.isfinite(other) for text, other in pairs)
        if (way.decimal != delimiter or quoted) and as_many and any(first != second for first, second in both):
            return way
    return None
