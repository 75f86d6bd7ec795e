"""Columns of a SELECT list that compute predictions from raw columns, for SQLite and PostgreSQL.

Steps are selections inside of each other, each of one row and without a table, so that no number is computed twice and
raw columns are named nowhere but in the innermost. A limit of one row keeps a planner from putting an inner step into
an outer one again and again. Only what both databases have with the same meaning is used: CAST, TRIM, LTRIM, NULLIF,
SUBSTR, LENGTH, ABS, CASE, and of mathematical functions SQRT, EXP, SIN and COS where they are needed.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np

from equipoise.artifact.column_rules import Array, DateRule, NumberRule, Rule, TextRule, refusal
from equipoise.artifact.exported import Exported
from equipoise.artifact.exports.base import Export
from equipoise.artifact.sql_dates import DatePart
from equipoise.artifact.sql_parts import NumberPart, Part, TextPart, literal, quoted, real, total
from equipoise.artifact.sql_plain import plain_steps
from equipoise.vocabulary.facts import Label
from equipoise.wording import class_text

# A larger power of e is no number of PostgreSQL's; with it, a probability is 0 or 1 but for rounding.
LARGEST_POWER = 700.0


class SelectList(Export):
    """A text of SQL: the prediction of a row, and the probability of every class where scores are log odds."""

    name: ClassVar[str] = "sql"

    def written(self, model: Exported) -> bytes:
        """Return the columns of a SELECT list, with comments before them."""
        scores = _scores(model)
        answers = {"prediction": _prediction(model)}
        if model.probabilities:
            for place, label in enumerate(model.classes):
                answers[f"probability of {class_text(label)}"] = _probability(len(model.weights), place)
        columns = [f"({_selected(answer, scores)}) AS {quoted(name)}" for name, answer in answers.items()]
        comments = (
            "A released model as columns of a SELECT list, for SQLite and PostgreSQL.",
            model.origin,
            "Use it as: SELECT id, <this text> FROM a_table_with_the_raw_columns",
            "Columns of numbers may be numeric or text there, all others text, whole numbers, truth values or dates.",
        )
        return "\n".join([*(f"-- {comment}" for comment in comments), ",\n".join(columns), ""]).encode()


def _part(rule: Rule, number: int, missing: tuple[str, ...]) -> Part[Any]:
    if isinstance(rule, NumberRule):
        return NumberPart(rule, number)
    if isinstance(rule, TextRule):
        return TextPart(rule, number)
    if isinstance(rule, DateRule):
        return DatePart(rule, number, missing)
    raise refusal(rule.column, "SQL")


def _scores(model: Exported) -> str:
    """Return the selection of the scores s0, s1, ... from raw columns."""
    domain, outputs = model.facts.domain, len(model.weights)
    # Rows are in units of the row norm, so that none is too small for squares.
    columns = np.vstack([model.weights * domain.row_norm, model.directions])
    steps = list(plain_steps(model, columns) if model.schema is None else _encoded_steps(model, columns))
    factor = ""
    if len(columns) > outputs:
        # A row that is long in the few directions is clipped in them, as in training (P1).
        few = [f"p{output}" for output in range(outputs, len(columns))]
        ratio = 0.0 if domain.row_sum is None else domain.row_norm / domain.row_sum
        reach = f"SQRT({total(f'{name} * {name}' for name in few)}) AS reach"
        steps.append(["*", reach, f"{real(ratio)} * {total(f'ABS({name})' for name in few)} AS spread"])
        factor = (
            " * CASE WHEN spread > reach AND spread > 1.0 THEN 1.0 / spread "
            "WHEN reach > 1.0 THEN 1.0 / reach ELSE 1.0 END"
        )
    steps.append(
        [
            f"CAST(p{output}{factor} + {real(intercept)} AS DOUBLE PRECISION) AS s{output}"
            for output, intercept in enumerate(model.intercepts.tolist())
        ]
    )
    text = f"SELECT {', '.join(steps[0])} LIMIT 1"
    for step in steps[1:]:
        text = _selected(", ".join(step), text)
    return text


def _encoded_steps(model: Exported, columns: Array) -> Iterator[list[str]]:
    """Yield the steps from raw columns to p0, p1, ...: rows as the schema encodes them, times the columns."""
    missing = model.encoding.missing
    parts = [_part(rule, number, missing) for number, rule in enumerate(model.rules)]
    for place, step in enumerate(zip_longest(*(part.steps() for part in parts), fillvalue=[])):
        yield [*(["*"] if place else []), *(text for texts in step for text in texts)]
    norm = model.row_norm
    sums = [
        f"{total(part.weighed(weights[part.rule.encoded]) for part in parts)} AS z{output}"
        for output, weights in enumerate(columns if model.clips_rows else columns / norm)
    ]
    divisor = ""
    if model.clips_rows:
        sums.append(f"SQRT({total(part.squares() for part in parts)}) AS length")
        divisor = f" / CASE WHEN length > {real(norm)} THEN length ELSE {real(norm)} END"
    yield sums
    yield [f"z{output}{divisor} AS p{output}" for output in range(len(columns))]


def _selected(what: str, source: str) -> str:
    # Raw columns and levels are quoted by those who name them.
    return f"SELECT {what} FROM ({source}) AS step LIMIT 1"  # noqa: S608


def _prediction(model: Exported) -> str:
    """Return the class or the number that scores say."""
    if not model.classes:
        (low, high), (least, most) = model.range, model.in_units()
        slope = (most - least) / (high - low)
        line = f"{real(least)} + (s0 - {real(low)}) * {real(slope)}"
        return (
            f"CASE WHEN s0 <= {real(low)} THEN {real(least)} WHEN s0 >= {real(high)} THEN {real(most)} ELSE {line} END"
        )
    labels = [_label(label) for label in model.classes]
    if len(model.weights) == 1:
        return f"CASE WHEN s0 > 0 THEN {labels[-1]} ELSE {labels[0]} END"
    # The first of those with the highest score; those before were lower than some later one.
    cases = [
        f"WHEN {' AND '.join(f's{place} >= s{later}' for later in range(place + 1, len(labels)))} THEN {label}"
        for place, label in enumerate(labels[:-1])
    ]
    return f"CASE {' '.join(cases)} ELSE {labels[-1]} END"


def _probability(outputs: int, place: int) -> str:
    """Return the probability of the class at a place."""
    if outputs == 1:
        differences = ["0.0 - s0" if place else "s0"]
    else:
        differences = [f"s{other} - s{place}" for other in range(outputs) if other != place]
    odds = (f"EXP({_within(f'({difference})')})" for difference in differences)
    return f"1.0 / (1.0 + {total(odds)})"


def _within(power: str) -> str:
    most = real(LARGEST_POWER)
    return f"CASE WHEN {power} > {most} THEN {most} WHEN {power} < -{most} THEN -{most} ELSE {power} END"


def _label(label: Label) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    return literal(label) if isinstance(label, str) else repr(label)
