"""`equipoise plan`: the whole argument before any data."""

import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.certify.certificate import Certificate
from equipoise.cli.model_options import Alpha, Delta, Epsilon, Intercept, Mechanism, Model, model_for, read_alpha
from equipoise.cli.options import whole_number
from equipoise.cli.progress import waiting
from equipoise.cli.public_facts import Bounds, Classes, Labels, Radius, RowNorm, RowSum, read_domain
from equipoise.cli.recipe_options import RecipeText, for_model, read_recipe
from equipoise.cli.summary import Verbose, told
from equipoise.errors import InvalidParameter

if TYPE_CHECKING:
    from equipoise.data.schema import Schema
    from equipoise.vocabulary.facts import Domain


def command(
    epsilon: Epsilon,
    schema: Annotated[
        Path | None,
        typer.Option(help="The schema.toml that train will have, in place of -n, -d, classes, labels and norms."),
    ] = None,
    n_samples: Annotated[
        int | None,
        typer.Option(
            "--n-samples",
            "--rows",
            "-n",
            parser=whole_number,
            help="The public number of rows; a schema may declare it.",
        ),
    ] = None,
    n_features: Annotated[int | None, typer.Option("--n-features", "-d", help="The number of columns.")] = None,
    delta: Delta = 0.0,
    model: Model = "",
    row_norm: RowNorm = None,
    bounds: Bounds = None,
    row_sum: RowSum = None,
    classes: Classes = None,
    labels: Labels = None,
    radius: Radius = None,
    private_bounds: Annotated[
        float | None, typer.Option(help="The part of epsilon that pays for bounds the schema leaves blank.")
    ] = None,
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

    if curve is not None:
        from equipoise.report.charts import altair

        altair()  # what draws is missed before anything is planned or printed
    described: Schema | None = None
    if schema is None:
        if n_samples is None or n_features is None or private_bounds is not None:
            raise InvalidParameter(
                "a plan for --schema SCHEMA, or for -n ROWS and -d COLUMNS",
                "--private-bounds without a schema" if private_bounds is not None else "not both of -n and -d",
                "write --schema schema.toml, or the two public numbers",
            )
        task, other = (
            ("classification", "pass --labels LOW,HIGH") if labels is None else ("regression", "pass --classes")
        )
        kind = model_for(model, task, other)
        if classes is None and labels is None and issubclass(kind, PrivateClassifier):
            classes = "0,1"
        domain: Domain | Schema = read_domain(row_norm, classes, labels, radius, row_sum, (bounds, n_features))
    else:
        beside = {"-d": n_features, "--row-norm": row_norm, "--bounds": bounds, "--row-sum": row_sum}
        _refuse_beside_a_schema({**beside, "--classes": classes, "--labels": labels, "--radius": radius})
        domain = described = _described(schema, n_samples, private_bounds)
        kind = model_for(model, described.task, "correct what [target] in the schema says")
    wanted = {
        "epsilon": epsilon,
        "delta": delta,
        "domain": domain,
        "alpha": read_alpha(alpha),
        "mechanism": mechanism,
        "fit_intercept": intercept,
        **read_recipe(recipe),
    }
    face = kind(**for_model(kind, wanted))
    with waiting("planning", as_json):
        certificate = face.plan() if described is not None else face.plan(n_samples, n_features)
    # What is left as it comes is None here: it needs no words.
    given = {
        "--schema": schema or "schema.toml",
        "--epsilon": epsilon,
        "--delta": delta or None,
        "--model": model or None,
        "--private-bounds": private_bounds,
        "--alpha": None if alpha == "public" else alpha,
        "--mechanism": None if mechanism == "auto" else mechanism,
        "--recipe": recipe or None,
    }
    then = _training(given, intercept)
    print(certificate.to_json() if as_json else _in_words(certificate, verbose, then, described), end="")
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


def _refuse_beside_a_schema(given: dict[str, Any]) -> None:
    """Refuse options that say what a schema says."""
    if found := [option for option, value in given.items() if value is not None]:
        raise InvalidParameter(
            "public facts in one place: the schema, or options",
            f"--schema and {', '.join(found)}",
            "leave the options out; columns, target and the norm of rows stand in the schema",
        )


def _described(path: Path, n_samples: int | None, private_bounds: float | None) -> "Schema":
    """Return the schema of a file; its number of rows may be blank and named beside it."""
    from equipoise.data.schema import Schema

    facts = Schema.from_toml(path)
    if n_samples is not None and facts.n_samples not in (None, n_samples):
        remedy = "leave --rows out, or correct n in the schema"
        raise InvalidParameter(f"the {facts.n_samples} rows that the schema declares", f"--rows {n_samples}", remedy)
    if n_samples is not None:
        facts = replace(facts, n_samples=n_samples)
    return facts if private_bounds is None else facts.with_private_bounds(private_bounds)


def _training(given: dict[str, Any], intercept: bool) -> str:
    """Return the command that carries the plan out, with the options that were given; who counts spends is asked."""
    said = [str(word) for option, value in given.items() if value is not None for word in (option, value)]
    flags = [] if intercept else ["--no-intercept"]
    return shlex.join(["equipoise", "train", "TABLE", *said, *flags, "--ledger", "DATASET"])


def _in_words(certificate: Certificate, verbose: bool, then: str, schema: "Schema | None") -> str:
    """Return the plan in words, with what it buys for a schema and what to type then, or with certified risks."""
    text = told(certificate, verbose)
    if schema is not None:
        from equipoise.cli.dry_run import purchase

        text += "".join(f"  {line}\n" for line in purchase(certificate, schema, None).bought())
    if not verbose:
        return f"{text}The whole argument: the same with --verbose. Next: {then}\n"
    if certificate.kind != "output":
        return text
    from equipoise.planning.risk import risk

    return f"{text}\n{risk(certificate)}"
