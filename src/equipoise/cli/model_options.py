"""Options that `plan` and `train` share: the model, its budget and where its noise enters."""

from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.errors import InvalidParameter

if TYPE_CHECKING:
    from equipoise.estimators.base import PrivateLinearModel

Epsilon = Annotated[float, typer.Option(help="The privacy loss allowed.")]
Delta = Annotated[float, typer.Option(help="0 for pure differential privacy.")]
# Naming all of them here would load all of them, for every word of help.
Model = Annotated[
    str,
    typer.Option(
        help="logistic, svm, ridge, ...: a word that is none is answered with all of them. Left out: logistic for "
        "classes, ridge for numbers."
    ),
]
Alpha = Annotated[str, typer.Option(help='The ridge: a number, or "public" to pick it from these facts.')]
Mechanism = Annotated[
    str,
    typer.Option(
        help="auto, output, objective[:CLIP], noisy-gradient[:BATCH]; for ridge also sufficient-statistics and "
        "functional; or noise on the output by one law: spherical-laplace, laplace, gaussian."
    ),
]
Intercept = Annotated[bool, typer.Option(help="Append a penalised constant column.")]


def model_for(name: str, task: str, declare: str) -> type["PrivateLinearModel"]:
    """Return the model that is asked for, or what suits the task if none is; `declare` says how it would be another.

    Examples
    --------
    >>> [model_for("", task, "declare another target").__name__ for task in ("regression", "classification")]
    ['Ridge', 'LogisticRegression']
    """
    from sklearn.base import is_regressor

    from equipoise.estimators import model_named  # with all of its members

    usual = {"classification": "logistic", "regression": "ridge"}[task]
    kind = model_named(name or usual)
    if is_regressor(kind()) is not (task == "regression"):
        has, predicts = ("classes", "numbers") if task == "classification" else ("a range of numbers", "classes")
        remedy = f"leave --model out, which means {usual}, or {declare}"
        raise InvalidParameter(f"a model for a target of {has}", f"--model {name}, which predicts {predicts}", remedy)
    return kind


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
        remedy = "write a number with a decimal point, such as 0.5, or --alpha public"
        raise InvalidParameter("--alpha NUMBER or --alpha public", f"--alpha {text}", remedy) from None
