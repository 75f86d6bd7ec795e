"""Options that `plan` and `train` share: the model, its budget and where its noise enters."""

from typing import Annotated

import typer

from equipoise.errors import InvalidParameter
from equipoise.estimators import models

Epsilon = Annotated[float, typer.Option(help="The privacy loss allowed.")]
Delta = Annotated[float, typer.Option(help="0 for pure differential privacy.")]
Model = Annotated[str, typer.Option(help=f"One of {', '.join(models())}.")]
Alpha = Annotated[str, typer.Option(help='The ridge: a number, or "public" to pick it from these facts.')]
Mechanism = Annotated[
    str,
    typer.Option(
        help="auto, output, objective[:CLIP], noisy-gradient[:BATCH]; for ridge also sufficient-statistics and "
        "functional; or noise on the output by one law: spherical-laplace, laplace, gaussian."
    ),
]
Intercept = Annotated[bool, typer.Option(help="Append a penalised constant column.")]


def read_alpha(text: str) -> float | str:
    """Return the ridge that an option asks for.

    Examples
    --------
    >>> read_alpha("public"), read_alpha("0.01")
    ('public', 0.01)
    """
    if text == "public":
        return text
    try:
        return float(text)
    except ValueError:
        raise InvalidParameter("--alpha NUMBER or --alpha public", f"--alpha {text}", "write --alpha public") from None
