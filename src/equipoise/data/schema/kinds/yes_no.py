"""Yes or no, in any spelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from equipoise.data.schema.columns import settle
from equipoise.data.schema.kinds.base import PlacedColumn
from equipoise.data.schema.text import Faults, place, written, written_list

if TYPE_CHECKING:
    from equipoise.data.readings import Reading

Answer = Literal["no", "yes"]

# The canonical text always holds the spellings, so that other defaults of a later version change no stored schema.
YES = ("yes", "y", "true", "t", "1", "1.0", "on", "ja", "j", "oui", "si", "s\u00ed", "sim", "tak", "da")
NO = ("no", "n", "false", "f", "0", "0.0", "off", "nein", "nej", "nee", "non", "n\u00e3o", "nie", "ne")

# What a value is read as; the two answers are 0 and 1.
AT_UNKNOWN, AT_MISSING = 2, 3


@dataclass(frozen=True, slots=True)
class YesNoColumn(PlacedColumn):
    """A column of answers: -1 for no, 1 for yes. Capital and small letters are the same.

    Parameters
    ----------
    name : str
        The column's name in the data.
    yes, no : tuple of str
        The spellings of either answer, in small letters; those of several languages if left out.
    unknown : "no" or "yes", optional
        What any other value counts as; 0, half-way, if left out.
    fill : "no" or "yes", optional
        What a missing value counts as; what any other value counts as if left out.
    indicator : bool
        Whether one more column says where the value was missing.

    Examples
    --------
    >>> smoker = YesNoColumn("smoker")
    >>> [smoker.answer(text) for text in ("Yes", "nein", "1", "perhaps")]
    [1, 0, 1, 2]
    """

    kind: ClassVar[str] = "yes-no"
    keys: ClassVar[tuple[str, ...]] = ("yes", "no", "unknown", "fill", "indicator")
    asked: ClassVar[str] = "columns that can hold yes and no"
    remedy: ClassVar[str] = "declare the spellings yes = [...] and no = [...] as the column has them, or another kind"

    name: str
    yes: tuple[str, ...] = YES
    no: tuple[str, ...] = NO
    unknown: Answer | None = None
    fill: Answer | None = None
    indicator: bool = False

    def __post_init__(self) -> None:
        """Refuse facts that cannot be so."""
        faults = Faults()
        path = place("columns", faults.name(self.name))
        spelled: dict[str, tuple[str, ...]] = {}
        for key, given in (("yes", self.yes), ("no", self.no)):
            texts = faults.texts(f"{path}.{key}", given)
            spelled[key] = tuple(dict.fromkeys(text.casefold() for text in texts))
            if not texts:
                faults.add(f"{path}.{key}", "one spelling or more, or no such line", given)
        for text in sorted(set(spelled["yes"]) & set(spelled["no"])):
            faults.add(f"{path}.no", "no spelling that also means yes", text)
        for key, answer in (("unknown", self.unknown), ("fill", self.fill)):
            if answer not in (None, "no", "yes"):
                faults.add(f"{path}.{key}", '"no" or "yes", or no such line for half-way', answer)
        settle(self, **spelled, indicator=faults.flag(f"{path}.indicator", self.indicator))
        faults.refuse()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the column's TOML table."""
        yield 'kind = "yes-no"'
        yield f"yes = {written_list(map(written, self.yes))}"
        yield f"no = {written_list(map(written, self.no))}"
        yield from self.rule_lines()

    def texts(self) -> tuple[str, ...]:
        """Return the spellings."""
        return (*self.yes, *self.no)

    def known(self) -> tuple[str, ...]:
        """Return no and yes."""
        return ("no", "yes")

    def answer(self, text: str) -> int:
        """Return 1 for a spelling of yes, 0 for one of no, and the place of unknown values for others."""
        folded = text.casefold()
        return 1 if folded in self.yes else 0 if folded in self.no else AT_UNKNOWN

    def numbers(self) -> tuple[float, ...]:
        """Return the numbers of no, of yes, of any other value, and of a missing one."""
        numbers = {"no": -1.0, "yes": 1.0, None: 0.0}
        unknown = numbers[self.unknown]
        return -1.0, 1.0, unknown, unknown if self.fill is None else numbers[self.fill]

    def reading(self, missing: tuple[str, ...]) -> Reading:
        """Return what reads answers; the usual capital letters are found without asking the rule."""
        import numpy as np

        from equipoise.data.readings import Ruled

        spelled = [*self.yes, *self.no]
        usual = [form for text in spelled for form in (text, text.upper(), text.capitalize())]
        # A missing text that is a spelling is that spelling.
        kept = tuple(text for text in missing if self.answer(text) == AT_UNKNOWN)
        return Ruled(self.answer, np.dtype(np.intp), kept, AT_MISSING, usual=usual, at_unknown=AT_UNKNOWN)
