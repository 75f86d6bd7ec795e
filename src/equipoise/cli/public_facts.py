"""Options that several commands share: the public facts of a problem, as text."""

from typing import Annotated

import typer

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.facts import Domain, Label

RowNorm = Annotated[float | None, typer.Option(help="Rows are clipped to this L2 norm; 1 if left out.")]
Classes = Annotated[str | None, typer.Option(help="The public classes, for example 0,1 or no,yes.")]
Labels = Annotated[str | None, typer.Option(help="The public range of the target, for example 0,400.")]
RowSum = Annotated[float | None, typer.Option(help="Rows are clipped to this sum of absolute values, too.")]
Radius = Annotated[float | None, typer.Option(help="A constraint on the norm of the weights.")]


def read_domain(
    row_norm: float | None, classes: str | None, labels: str | None, radius: float | None, row_sum: float | None
) -> Domain:
    """Return the domain that the options describe; rows of norm 1 where none is named.

    Examples
    --------
    >>> domain = read_domain(None, "0,1", None, None, None)
    >>> domain.classes, domain.row_norm
    ((0, 1), 1.0)
    """
    return Domain(
        1.0 if row_norm is None else row_norm,
        classes=None if classes is None else tuple(_label(part) for part in classes.split(",")),
        labels=None if labels is None else _range(labels),
        radius=radius,
        row_sum=row_sum,
    )


def _label(text: str) -> Label:
    try:
        return int(text)
    except ValueError:
        return text.strip()


def _range(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidParameter(
            "--labels LOW,HIGH", f"--labels {text}", "write two numbers, for example --labels 0,400"
        ) from None
    return low, high
