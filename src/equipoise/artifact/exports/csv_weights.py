"""A table of weights: a line for every weight, and what it weighs."""

import csv
import io
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from equipoise.artifact.column_meanings import meanings, meanings_of_pair
from equipoise.artifact.exported import Exported
from equipoise.artifact.exports.base import Export
from equipoise.wording import class_text

HEADER = ("release", "certificate", "output", "column", "weight", "divided by", "raw column", "kind", "meaning")


class WeightTable(Export):
    """A CSV file: the weights as they were released, a line each, the intercept of an output before its weights."""

    name: ClassVar[str] = "csv"

    def written(self, model: Exported) -> bytes:
        """Return the table; every line names the release and the digest of its certificate."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(HEADER)
        columns = list(_columns(model))
        added = ("(intercept)", "", "", "", _predicts(model))
        lines = zip(_outputs(model), model.intercepts, model.weights, strict=True)
        found = [(output, [added, *columns], [intercept, *weights]) for output, intercept, weights in lines]
        found += [(_direction(place), columns, weights) for place, weights in enumerate(model.directions, 1)]
        for output, named, weights in found:
            for (name, *of), weight in zip(named, weights, strict=True):
                writer.writerow([model.release, model.certificate, output, name, repr(float(weight)), *of])
        return text.getvalue().encode("utf-8", "replace")


def _outputs(model: Exported) -> list[object]:
    """Return what the scores speak for: a class each, the second of two, or the number that is predicted."""
    if model.classes:
        return [class_text(label) for label in (model.classes if len(model.weights) > 1 else model.classes[-1:])]
    return [model.schema.target.name if model.schema is not None else "prediction"]


def _direction(place: int) -> str:
    return f"(direction {place})"


def _predicts(model: Exported) -> str:
    """Return how entries become a prediction, which the lines of single weights cannot say."""
    parts = ["added to every score, which is this and the sum of weights times entries"]
    if model.schema is not None:
        parts.append(
            "entries are divided by what the table has for it, or by the length of the row's entries (the root of the "
            "sum of their squares) where that is larger; texts are compared without blanks around them"
        )
    if len(model.directions):
        domain = model.facts.domain
        size = "the root of the sum of the squares of these"
        if domain.row_sum is not None:
            size = (
                f"the larger of {size} and {domain.row_norm / domain.row_sum!r} times the sum of their absolute values"
            )
        parts.append(
            f"each of {_direction(1)} to {_direction(len(model.directions))} is a sum of weights times entries, too; "
            f"where {size} is more than {domain.row_norm!r}, every score is multiplied by {domain.row_norm!r} and "
            "divided by it before this is added"
        )
    return "; ".join([*parts, _decides(model)])


def _decides(model: Exported) -> str:
    """Return what scores say."""
    if not model.classes:
        (low, high), (least, most) = model.range, model.in_units()
        ends = f"{least!r} at a score of {low!r} and below, {most!r} at {high!r} and above"
        return f"the prediction is {ends}, a line between"
    labels = [repr(class_text(label)) for label in model.classes]
    if len(model.weights) > 1:
        odds = "; probabilities are in proportion to exp(score)" if model.probabilities else ""
        return f"the class is that with the highest score, the first of {', '.join(labels)} if several have it{odds}"
    odds = f"; the probability of {labels[-1]} is 1 / (1 + exp(-score))" if model.probabilities else ""
    return f"the class is {labels[-1]} where the score is above 0, else {labels[0]}{odds}"


def _columns(model: Exported) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the name of every encoded column, what its entries are divided by, and what they are of."""
    if model.schema is None:
        for name, meaning in zip(model.features, _plain_meanings(model), strict=True):
            yield name, "", name, "", meaning
        return
    for column in model.schema.columns:
        says = meanings(column, model.schema.missing)
        for name, meaning in zip(column.encoded_names(), says, strict=True):
            yield name, repr(model.row_norm), column.name, column.kind, meaning
    for pair, surface in zip(model.schema.pairs, model.schema.surfaces, strict=True):
        says = meanings_of_pair(surface, model.schema.missing)
        for name, meaning in zip(surface.encoded_names(), says, strict=True):
            yield name, repr(model.row_norm), " and ".join(pair.columns), "pair", meaning


def _plain_meanings(model: Exported) -> Iterator[str]:
    """Yield what the numbers of a model without a schema are; bounds scale them, and long rows are cut."""
    domain = model.facts.domain
    length = f"a row of these that is longer than {domain.row_norm!r}"
    if domain.row_sum is not None:
        length += f", or whose absolute values add up to more than {domain.row_sum!r},"
    length += " is multiplied by what makes it no more"
    if domain.bounds is None:
        yield from [f"the number itself; {domain.fill!r} if missing; {length}"] * len(model.features)
        return
    filled = min(max(domain.fill, -1.0), 1.0)
    for low, high in np.broadcast_to(np.array(domain.bounds), (len(model.features), 2)).tolist():
        yield f"-1 at {low!r} and below, 1 at {high!r} and above, a line between; {filled!r} if missing; {length}"
