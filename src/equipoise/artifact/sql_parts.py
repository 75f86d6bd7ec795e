"""What one raw column contributes to an SQL expression: its text, its reading, its entries and what they weigh.

Every part adds names of its own, which end in its number, to steps that are selections inside of each other
(`equipoise.artifact.exports.sql_expression`). Texts are compared byte by byte: what TRIM returns has no collation of a
column left.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np

from equipoise.artifact.column_rules import Array, NumberRule, Rule, TextRule
from equipoise.errors import InvalidParameter

# What Python's `str.strip` takes away, but for ends of lines: those would not survive in a file of text.
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace() and chr(code).splitlines() != [""])
DIGITS = "'0123456789'"

# The first number that is rounded to infinity, and the last that is rounded to more than 0, in enough digits; and how
# many digits a power of ten may have so that a number of exact digits holds it.
BEYOND_DOUBLES = "1.797693134862315807e+308"
BELOW_DOUBLES = "2.4703282292062328e-324"
LONGEST_POWER = 4

# An entry of less counts as 0, beside a row norm or a largest entry of 1: PostgreSQL stops where a product, such as its
# square, is rounded to 0.
NOTHING = 1e-100

Kind = TypeVar("Kind", bound=Rule)


class Part(ABC, Generic[Kind]):
    """What a raw column contributes; `number` ends its names.

    A step is a list of texts "EXPRESSION AS name"; later steps see the names of earlier ones.
    """

    def __init__(self, rule: Kind, number: int) -> None:
        self.rule, self.number = rule, number

    @property
    def text(self) -> str:
        """The raw value's text without blanks around it, by which it is compared."""
        return f"TRIM(CAST({quoted(self.rule.column.name)} AS TEXT), {literal(BLANKS)})"

    @abstractmethod
    def steps(self) -> Iterator[list[str]]:
        """Yield the steps from the raw column to what `weighed` and `squares` need, the first one of raw columns."""

    @abstractmethod
    def weighed(self, weights: Array) -> str:
        """Return what the entries weigh together."""

    @abstractmethod
    def squares(self) -> str:
        """Return the sum of the squares of the entries."""


class NumberPart(Part[NumberRule]):
    """A number: r is NULL where it is missing, e is its entry."""

    def steps(self) -> Iterator[list[str]]:
        """Yield text, number and entry; what is no number by the schema's rule is missing."""
        place, rule = self.number, self.rule
        yield [f"{self.text} AS t{place}"]
        yield [f"{power(f't{place}')} AS x{place}"]
        read = number(f"t{place}", f"x{place}")
        for missing in rule.missing:
            read = f"NULLIF({read}, {real(missing)})"
        yield [f"{read} AS r{place}"]
        entry = scaled(f"r{place}", rule.low, rule.high, rule.filled)
        yield [f"{entry} AS {'u' if rule.root else 'e'}{place}"]
        if rule.root:
            # What rounds to less than -1 is -1.
            share = f"((1.0 + u{place}) / 2.0)"
            yield [f"CASE WHEN u{place} > -1.0 THEN {share} + SQRT({share}) - 1.0 ELSE -1.0 END AS e{place}"]

    def weighed(self, weights: Array) -> str:
        """Return a line, or a line in every cell of a curve, and the weight of a missing number."""
        place, rule = self.number, self.rule
        lines = [f"({real(constant)} + {real(slope)} * e{place})" for constant, slope in rule.lines(weights)]
        return self._with_indicator(self._by_cell(lines), float(weights[-1]))

    def squares(self) -> str:
        """Return the square of the entry, or those of a curve's line and hats, and 1 where the number is missing.

        A share u of the way through one of c cells those add up to ``1 - (4/c) u (1 - u)`` (`CurveColumn`).
        """
        place, rule = self.number, self.rule
        shares = [f"((e{place} - {real(knot)}) * {real(rule.cells / 2.0)})" for knot in rule.knots[:-1]]
        curve = [f"(1.0 - {real(4.0 / rule.cells)} * {share} * (1.0 - {share}))" for share in shares]
        return self._with_indicator(self._by_cell(curve) if curve else f"e{place} * e{place}", 1.0)

    def _by_cell(self, found: Sequence[str]) -> str:
        """Return what is true in the cell of the entry, the last of which has no end."""
        cases = [
            f"WHEN e{self.number} < {real(knot)} THEN {text}"
            for knot, text in zip(self.rule.knots[1:-1], found, strict=False)
        ]
        return f"CASE {' '.join(cases)} ELSE {found[-1]} END" if cases else found[-1]

    def _with_indicator(self, found: str, weight: float) -> str:
        missing = f" + CASE WHEN r{self.number} IS NULL THEN {real(weight)} ELSE 0.0 END"
        return f"({found}{missing if self.rule.indicator else ''})"


class TextPart(Part[TextRule]):
    """A text from a list: r is its place."""

    def steps(self) -> Iterator[list[str]]:
        """Yield text and place; places of which no text is known are those of any other."""
        place, rule = self.number, self.rule
        yield [f"{self.text} AS t{place}"]
        known: dict[int, list[str]] = {}
        for text, found in rule.places.items():
            known.setdefault(found, []).append(literal(text))
        known.pop(rule.at_unknown, None)
        cases = [f"WHEN t{place} IN ({', '.join(texts)}) THEN {found}" for found, texts in known.items()]
        missing = f"WHEN t{place} IS NULL THEN {rule.at_missing}"
        yield [f"CASE {missing} {' '.join(cases)} ELSE {rule.at_unknown} END AS r{place}"]

    def weighed(self, weights: Array) -> str:
        """Return what the entries of the place weigh."""
        return self._by_place(self.rule.entries @ weights)

    def squares(self) -> str:
        """Return the squares of the entries of the place."""
        return self._by_place(np.sum(self.rule.entries**2, axis=1))

    def _by_place(self, numbers: Array) -> str:
        listed = numbers.tolist()
        if len(set(listed)) == 1:
            return real(listed[0])
        cases = " ".join(f"WHEN {place} THEN {real(value)}" for place, value in enumerate(listed[:-1]))
        return f"CASE r{self.number} {cases} ELSE {real(listed[-1])} END"


def scaled(value: str, low: float, high: float, filled: float) -> str:
    """Return the entry of a number between bounds, and of a missing one."""
    # No difference of two bounds overflows in halves.
    middle, half = low / 2.0 + high / 2.0, high / 2.0 - low / 2.0
    beside, filled = f"({value} - {real(middle)})", 0.0 if abs(filled) < NOTHING else filled
    return (
        f"CASE WHEN {value} IS NULL THEN {real(filled)} WHEN {value} <= {real(low)} THEN -1.0 "
        f"WHEN {value} >= {real(high)} THEN 1.0 WHEN ABS{beside} < {real(NOTHING * half)} THEN 0.0 "
        f"ELSE {beside} / {real(half)} END"
    )


def total(terms: Iterable[str]) -> str:
    """Return a sum whose depth grows with the logarithm of its terms: SQLite takes no depth beyond 1,000.

    Examples
    --------
    >>> total(["a", "b", "c"])
    '(a + (b + c))'
    """
    listed = list(terms)
    if len(listed) < 2:
        return listed[0] if listed else "0.0"
    half = len(listed) // 2
    return f"({total(listed[:half])} + {total(listed[half:])})"


def power(text: str) -> str:
    """Return what stands behind the sign, the digits and the point that a text begins with: an exponent, or nothing."""
    whole = f"LTRIM(LTRIM({text}, '+-'), {DIGITS})"
    return f"CASE WHEN SUBSTR({whole}, 1, 1) = '.' THEN LTRIM(SUBSTR({whole}, 2), {DIGITS}) ELSE {whole} END"


def number(text: str, power: str) -> str:
    """Return the number that a text is by the rule of `data.schema.text.number_of`, NULL where it is none.

    `power` names what `power` returns for it. A truth value is 0 or 1. What is cast is a sign, digits with a point and
    an exponent, in an order of checks of which a database may not depart, so that no cast fails: SQLite would read as
    much of a text as is a number, and PostgreSQL would stop. Nor may it meet a number that doubles do not hold: Python
    has infinity for a large one, which is missing, and 0 for a small one.
    """
    unsigned, exponent, exact = f"LTRIM({text}, '+-')", f"LTRIM(SUBSTR({power}, 2), '+-')", f"CAST({text} AS NUMERIC)"
    digits = f"SUBSTR({unsigned}, 1, LENGTH({unsigned}) - LENGTH({power}))"
    no_exponent = (
        f"SUBSTR({power}, 1, 1) NOT IN ('e', 'E') OR LENGTH({power}) - LENGTH({exponent}) > 2 OR {exponent} = '' "
        f"OR LTRIM({exponent}, {DIGITS}) <> ''"
    )
    return (
        f"CASE WHEN {text} = 'true' THEN 1.0 WHEN {text} = 'false' THEN 0.0 "
        f"WHEN LENGTH({text}) - LENGTH({unsigned}) > 1 OR TRIM({digits}, '.') = '' THEN NULL "
        f"WHEN {power} <> '' AND ({no_exponent}) THEN NULL WHEN TRIM({digits}, '0.') = '' THEN 0.0 "
        f"WHEN LENGTH(LTRIM({exponent}, '0')) > {LONGEST_POWER} "
        f"THEN CASE WHEN SUBSTR({power}, 2, 1) = '-' THEN 0.0 END "
        f"WHEN ABS({exact}) > {BEYOND_DOUBLES} THEN NULL WHEN ABS({exact}) < {BELOW_DOUBLES} THEN 0.0 "
        f"ELSE CAST({text} AS DOUBLE PRECISION) END"
    )


def real(value: float) -> str:
    """Return a number of double precision, to the last bit; PostgreSQL would take it for one with exact digits.

    Examples
    --------
    >>> real(-0.5), real(1e-30)
    ('(-0.5)', '1e-30')
    """
    return f"({float(value)!r})" if value < 0 else repr(float(value))


def quoted(name: str) -> str:
    """Return the name of a column.

    Examples
    --------
    >>> quoted('the "age" now')
    '"the ""age"" now"'
    """
    return '"' + _without_nothing(name).replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL has it.

    Examples
    --------
    >>> literal("O'Brien")
    "'O''Brien'"
    """
    return "'" + _without_nothing(text).replace("'", "''") + "'"


def _without_nothing(text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidParameter("texts that a database can hold", ascii(text), "predict with equipoise predict")
    return text
