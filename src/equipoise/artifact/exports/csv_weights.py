"""A table of weights: a line for every weight, and what it weighs."""

import csv
import io
import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from equipoise.artifact.column_rules import NumberRule, Rule, TextRule, rule_of
from equipoise.artifact.exported import Exported
from equipoise.artifact.exports.base import Export
from equipoise.data.schema import Column
from equipoise.data.schema.kinds.curve import hats
from equipoise.errors import InvalidParameter
from equipoise.wording import class_text

HEADER = ("release", "certificate", "output", "column", "weight", "divided by", "raw column", "kind", "meaning")
INTERCEPT = ("(intercept)", "", "", "", "added to every score")


class WeightTable(Export):
    """A CSV file: the weights as they were released, a line each, the intercept of an output before its weights."""

    name: ClassVar[str] = "csv"

    def written(self, model: Exported) -> bytes:
        """Return the table; every line names the release and the digest of its certificate."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(HEADER)
        columns = [INTERCEPT, *_columns(model)]
        for output, intercept, weights in zip(_outputs(model), model.intercepts, model.weights, strict=True):
            for (name, *of), weight in zip(columns, [intercept, *weights], strict=True):
                writer.writerow([model.release, model.certificate, output, name, repr(float(weight)), *of])
        return text.getvalue().encode("utf-8", "replace")


def _outputs(model: Exported) -> list[object]:
    """Return what the scores speak for: a class each, the second of two, or the number that is predicted."""
    if model.classes:
        return [class_text(label) for label in (model.classes if len(model.weights) > 1 else model.classes[-1:])]
    return [model.schema.target.name if model.schema is not None else "prediction"]


def _columns(model: Exported) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the name of every encoded column, what its entries are divided by, and what they are of."""
    if model.schema is None:
        for name, meaning in zip(model.features, _plain_meanings(model), strict=True):
            yield name, "", name, "", meaning
        return
    for column in model.schema.columns:
        try:
            says = list(_meanings(rule_of(column, 0, model.schema.missing)))
        except InvalidParameter:
            says = _told_by_kind(column)
        for name, meaning in zip(column.encoded_names(), says, strict=True):
            yield name, repr(model.row_norm), column.name, column.kind, meaning
    for pair, surface in zip(model.schema.pairs, model.schema.surfaces, strict=True):
        product = (
            "the product of two entries: of a category 1 at the level that is named, of a number from -1 to 1 between "
            "its bounds, and of one that is bent the hat whose top is there, as docs/schema.md says"
        )
        for name in surface.encoded_names():
            yield name, repr(model.row_norm), " and ".join(pair.columns), "pair", product


def _plain_meanings(model: Exported) -> Iterator[str]:
    """Yield what the numbers of a model without a schema are; bounds of the domain scale them, and clip rows."""
    domain = model.facts.domain
    if domain.bounds is None:
        yield from ["the number as the model was trained on it"] * len(model.features)
        return
    length = f"a row of these that is longer than {domain.row_norm!r}"
    if domain.row_sum is not None:
        length += f", or whose absolute values add up to more than {domain.row_sum!r},"
    filled = min(max(domain.fill, -1.0), 1.0)
    for low, high in np.broadcast_to(np.array(domain.bounds), (len(model.features), 2)).tolist():
        ends = f"-1 at {low!r} and below, 1 at {high!r} and above, a line between; {filled!r} if missing"
        yield f"{ends}; {length} is multiplied by what makes it no more"


def _told_by_kind(column: Column) -> list[str]:
    return [f"as docs/schema.md says of kind {column.kind}"] * column.width


def _meanings(rule: Rule) -> Iterator[str]:
    """Yield what the entries of a raw column are before they are divided."""
    if isinstance(rule, NumberRule):
        ends = f"-1 at {rule.low!r} and below, 1 at {rule.high!r} and above"
        share = (1.0 + rule.filled) / 2.0
        filled = share + math.sqrt(share) - 1.0 if rule.root else rule.filled
        between = "s + sqrt(s) - 1 at a share s of the way" if rule.root else "a line"
        yield f"{ends}, {between} between; {filled!r} if missing"
        for stretches, step in hats(rule.cells):
            low, top, high = (2.0 * (step + part) / stretches - 1.0 for part in (0.0, 0.5, 1.0))
            height = math.sqrt(1.0 / stretches)
            where = f"{height!r} where the entry of {rule.column.name} is {top!r}, 0 at {low!r} and {high!r}"
            yield f"{where} and beyond, a line between"
        if rule.indicator:
            yield "1 if missing, else 0"
    elif isinstance(rule, TextRule):
        for entries in rule.entries.T.tolist():
            texts = [f"{entries[place]:.17g} for {text!r}" for text, place in rule.places.items() if entries[place]]
            others = ((rule.at_missing, "if missing"), (rule.at_unknown, "for any other text"))
            texts += [f"{entries[place]:.17g} {words}" for place, words in others if entries[place]]
            yield "; ".join([*texts, "else 0"])
    else:
        yield from _told_by_kind(rule.column)
