"""`equipoise plan`: the whole argument before any data."""

from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.public_facts import Classes, Labels, Radius, RowNorm, read_domain
from equipoise.errors import InvalidParameter, UnknownName
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.estimators.elastic_net import ElasticNet, ElasticNetClassifier
from equipoise.estimators.huber import HuberRegressor
from equipoise.estimators.logistic import LogisticRegression
from equipoise.estimators.ridge import Ridge
from equipoise.estimators.svm import LinearSVC
from equipoise.proof.certificate import Certificate
from equipoise.proof.risk import risk

MODELS: dict[str, type[PrivateLinearModel]] = {
    "logistic": LogisticRegression,
    "ridge": Ridge,
    "svm": LinearSVC,
    "huber": HuberRegressor,
    "elastic-net": ElasticNet,
    "elastic-net-classifier": ElasticNetClassifier,
}


def command(
    n_samples: Annotated[int, typer.Option("--n-samples", "-n", help="The public number of rows.")],
    n_features: Annotated[int, typer.Option("--n-features", "-d", help="The number of columns.")],
    epsilon: Annotated[float, typer.Option(help="The privacy loss allowed.")],
    delta: Annotated[float, typer.Option(help="0 for pure differential privacy.")] = 0.0,
    model: Annotated[str, typer.Option(help=f"One of {', '.join(MODELS)}.")] = "logistic",
    row_norm: RowNorm = 1.0,
    classes: Classes = None,
    labels: Labels = None,
    radius: Radius = None,
    alpha: Annotated[
        str, typer.Option(help='The ridge: a number, or "public" to pick it from these facts.')
    ] = "public",
    mechanism: Annotated[
        str,
        typer.Option(
            help="auto, output, objective[:CLIP], noisy-gradient[:BATCH]; for ridge also sufficient-statistics and "
            "functional; or noise on the output by one law: spherical-laplace, laplace, gaussian."
        ),
    ] = "auto",
    intercept: Annotated[bool, typer.Option(help="Append a penalised constant column.")] = True,
    out: Annotated[
        Path | None, typer.Option(help="Also write the certificate as JSON; an existing file is kept.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the certificate as JSON.")] = False,
) -> None:
    """Show which noise a model needs and why, from public facts alone."""
    if model not in MODELS:
        raise UnknownName("a known model", f"{model!r}", f"choose one of {', '.join(MODELS)}")
    if classes is None and labels is None and issubclass(MODELS[model], PrivateClassifier):
        classes = "0,1"
    face = MODELS[model](
        epsilon=epsilon,
        delta=delta,
        domain=read_domain(row_norm, classes, labels, radius),
        alpha=alpha if alpha == "public" else _number(alpha),
        mechanism=mechanism,
        fit_intercept=intercept,
    )
    certificate = face.plan(n_samples, n_features)
    print(certificate.to_json() if as_json else _in_words(certificate), end="")
    if out is not None:
        _write(out, certificate.to_json())


def _in_words(certificate: Certificate) -> str:
    """Return the argument, with the certified bounds on risk where there are any: for noise on the weights."""
    text = certificate.explain()
    return f"{text}\n{risk(certificate)}" if certificate.route == "output" else text


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidParameter("--alpha NUMBER or --alpha public", f"--alpha {text}", "write --alpha public") from None


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidParameter(
            "a new file", f"{path} exists", "choose another name: files are never overwritten"
        ) from None
    except OSError as error:
        raise InvalidParameter(
            f"to write {path}", str(error.strerror), "choose a folder that exists and can be written"
        ) from None
