"""`equipoise plan`: the whole argument before any data."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from equipoise.certify.certificate import Certificate
from equipoise.cli.model_options import Alpha, Delta, Epsilon, Intercept, Mechanism, Model, model_for, read_alpha
from equipoise.cli.progress import waiting
from equipoise.cli.public_facts import Bounds, Classes, Labels, Radius, RowNorm, RowSum, read_domain
from equipoise.cli.recipe_options import RecipeText, for_model, read_recipe
from equipoise.cli.summary import Verbose, told


def command(
    n_samples: Annotated[int, typer.Option("--n-samples", "-n", help="The public number of rows.")],
    n_features: Annotated[int, typer.Option("--n-features", "-d", help="The number of columns.")],
    epsilon: Epsilon,
    delta: Delta = 0.0,
    model: Model = "",
    row_norm: RowNorm = None,
    bounds: Bounds = None,
    row_sum: RowSum = None,
    classes: Classes = None,
    labels: Labels = None,
    radius: Radius = None,
    alpha: Alpha = "public",
    mechanism: Mechanism = "auto",
    recipe: RecipeText = "",
    intercept: Intercept = True,
    out: Annotated[
        Path | None, typer.Option(help="Also write the certificate as JSON; an existing file is kept.")
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(help="Also draw the errors of noise on the weights over alpha and epsilon, as one HTML page."),
    ] = None,
    verbose: Verbose = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the certificate as JSON.")] = False,
) -> None:
    """Show which noise a model needs and why, from public facts alone."""
    from equipoise.artifact.staging import new_file
    from equipoise.estimators.classifier import PrivateClassifier

    task, other = ("classification", "pass --labels LOW,HIGH") if labels is None else ("regression", "pass --classes")
    kind = model_for(model, task, other)
    if classes is None and labels is None and issubclass(kind, PrivateClassifier):
        classes = "0,1"
    wanted = {
        "epsilon": epsilon,
        "delta": delta,
        "domain": read_domain(row_norm, classes, labels, radius, row_sum, (bounds, n_features)),
        "alpha": read_alpha(alpha),
        "mechanism": mechanism,
        "fit_intercept": intercept,
        **read_recipe(recipe),
    }
    face = kind(**for_model(kind, wanted))
    with waiting("planning", as_json):
        certificate = face.plan(n_samples, n_features)
    print(certificate.to_json() if as_json else _in_words(certificate, verbose), end="")
    if out is not None:
        with new_file(out) as file:
            file.write(certificate.to_json())
    if curve is not None:
        with new_file(curve) as file, waiting("planning over alpha and epsilon", as_json):
            file.write(_trade_off(certificate))
        # Apart from what is printed, which may be JSON.
        typer.echo(f"wrote {curve}: open it in a browser", err=True)


def _trade_off(certificate: Certificate) -> str:
    """Return the page of the trade-off around a plan."""
    from equipoise.planning.issue import asked_for
    from equipoise.planning.trade_off import trade_off
    from equipoise.report.trade_off_page import trade_off_page

    found = trade_off(certificate)
    centre = found.certificate
    asked = asked_for(centre)
    facts = {
        "loss": asked.loss,
        "penalty": asked.penalty,
        "n_samples": centre.n_samples,
        "n_features": centre.n_features,
        "epsilon": centre.epsilon,
        "delta": centre.delta,
        "alpha": centre.alpha,
        "norm": found.norm,
        "ceiling": found.ceiling,
        "mechanism": centre.mechanism,
        "planned": certificate.kind,
        "planned_alpha": certificate.alpha,
        "picked": asked.alpha == "public",
        "reasons": dict(found.reasons),
        "refused": found.refused,
        "refusal": found.refusal,
    }
    return trade_off_page(facts, [asdict(point) for point in found.points], [asdict(gain) for gain in found.gains])


def _in_words(certificate: Certificate, verbose: bool) -> str:
    """Return the plan in words; the whole argument ends with certified bounds on risk, if noise is on the weights."""
    text = told(certificate, verbose)
    if not verbose:
        return f"{text}The whole argument: the same with --verbose. Next: equipoise train TABLE --schema schema.toml\n"
    if certificate.kind != "output":
        return text
    from equipoise.planning.risk import risk

    return f"{text}\n{risk(certificate)}"
