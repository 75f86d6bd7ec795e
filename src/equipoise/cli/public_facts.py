"""Options that several commands share: the public facts of a problem, as text."""

from typing import Annotated, Any

import typer

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.facts import Domain, Label

RowNorm = Annotated[float | None, typer.Option(help="Rows are clipped to this L2 norm; 1 unless columns have bounds.")]
Bounds = Annotated[
    str | None,
    typer.Option(help="Bounds of every column, for example 0,16: rows are scaled by them, and the row norm follows."),
]
Classes = Annotated[str | None, typer.Option(help="The public classes, for example 0,1 or no,yes.")]
Labels = Annotated[str | None, typer.Option(help="The public range of the target, for example 0,400.")]
RowSum = Annotated[float | None, typer.Option(help="Rows are clipped to this sum of absolute values, too.")]
Radius = Annotated[float | None, typer.Option(help="A constraint on the norm of the weights.")]


def read_domain(
    row_norm: float | None,
    classes: str | None,
    labels: str | None,
    radius: float | None,
    row_sum: float | None,
    bounds: tuple[str | None, int] = (None, 0),
) -> Domain:
    """Return the domain that the options describe, with the same bounds for so many columns where they are given.

    Examples
    --------
    >>> read_domain(None, "0,1", None, None, None).classes
    (0, 1)
    >>> round(read_domain(None, "0,1", None, None, None, ("0,16", 64)).row_norm, 3)
    5.112
    """
    facts: dict[str, Any] = {
        "classes": None if classes is None else tuple(_label(part) for part in classes.split(",")),
        "labels": None if labels is None else _range("--labels", labels, "0,400"),
        "radius": radius,
        "row_sum": row_sum,
    }
    ends, columns = bounds
    if ends is None:
        return Domain(1.0 if row_norm is None else row_norm, **facts)
    each = [_range("--bounds", ends, "0,16")] * columns
    return Domain(bounds=each, **facts) if row_norm is None else Domain(row_norm, bounds=each, **facts)


def _label(text: str) -> Label:
    try:
        return int(text)
    except ValueError:
        return text.strip()


def _range(option: str, text: str, example: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidParameter(
            f"{option} LOW,HIGH", f"{option} {text}", f"write two numbers, for example {option} {example}"
        ) from None
    return low, high
