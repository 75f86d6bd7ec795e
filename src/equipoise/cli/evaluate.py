"""`equipoise evaluate`: how good a released model is on private rows, paid for once."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from equipoise.certify.folder import REPORT
from equipoise.cli.held_out import require_apart
from equipoise.cli.model_options import Delta, Epsilon
from equipoise.cli.options import AsJson, Delimiter, Quiet, whole_number
from equipoise.cli.progress import waiting
from equipoise.cli.publishing import publish
from equipoise.cli.sign import signed, signing_key
from equipoise.errors import InvalidParameter

if TYPE_CHECKING:
    from equipoise.certify.claims.evaluation import Evaluation as EvaluationClaim
    from equipoise.evaluation.evaluation import Evaluation
    from equipoise.evaluation.figure import Figure


# Whether a file has more rows, or fewer, is private: it is said of every file that does not tell how many it has.
DECLARED = "as declared by --rows: further rows are not read, and rows that the file lacks count as rows without values"


def command(
    release: Annotated[Path, typer.Argument(help="A released folder with a schema.")],
    data: Annotated[
        Path, typer.Argument(help="Private rows that had no part in the model: CSV, Parquet, Arrow or Excel.")
    ],
    epsilon: Epsilon,
    out: Annotated[Path, typer.Option(help="The folder that will hold the evaluation.")] = Path("evaluation"),
    delta: Delta = 0.0,
    rows: Annotated[
        int | None,
        typer.Option(
            parser=whole_number,
            help="The declared number of rows: needed with a ledger, and for CSV files, which do not tell it.",
        ),
    ] = None,
    by: Annotated[str, typer.Option(help="A column of levels: rows are counted for each level apart.")] = "",
    positive: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="One of several classes, to be evaluated against all others: ROC and AUC."),
    ] = None,
    bins_from: Annotated[
        Path | None,
        typer.Option(
            metavar="EVALUATION",
            help="An earlier evaluation of this release: its counts say where scores are, and bins are put there.",
        ),
    ] = None,
    look: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Spend this share of epsilon, such as 0.1, on a first look at where scores are; bins are put there.",
        ),
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(help="The ledger that must admit the spend: a dataset's name or a URL.")
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="Sign the evaluation with this private key (`equipoise key new`)."),
    ] = None,
    signer: Annotated[
        str, typer.Option(metavar="NAME", help="Who signs, in your own words; it stands in the statement.")
    ] = "",
    delimiter: Delimiter = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier evaluation in that folder.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Count private rows by true class and by what a released model says of them, with noise, and certify that."""
    from equipoise.artifact.folder import NO_PAGE, load, staging_of_evaluation
    from equipoise.data.engines import open_table
    from equipoise.evaluation.evaluate import evaluate
    from equipoise.evaluation.page import require_drawing

    # A key that is missing, or somebody else's, and a page that cannot be drawn are told before anything is spent.
    key = signing_key(sign, signer)
    require_drawing()
    silent = quiet or as_json
    console = Console(quiet=silent, highlight=False, soft_wrap=True)
    model: Any = load(release)
    schema = getattr(model, "schema_", None)
    if schema is None:
        remedy = "open it in Python with equipoise.load, and call equipoise.evaluate with rows as it was trained on"
        raise InvalidParameter("a release with a schema, which encodes raw columns", "one without", remedy)
    table = open_table(data, delimiter, schema=schema)
    if rows is None and (ledger is not None or table.n_samples is None):
        why = "a ledger is bound" if ledger is not None else f"{data.name} does not tell it"
        raise InvalidParameter(
            "the declared number of rows", f"none, and {why}", "pass --rows, the public number of rows"
        )
    require_apart(release, out, "--out")
    with staging_of_evaluation(out, force) as place:
        with waiting("evaluating: the time it takes depends on the table's size", silent):
            found = evaluate(
                model,
                table,
                epsilon=epsilon,
                delta=delta,
                ledger=ledger,
                by=by,
                positive=positive,
                bins_from=bins_from,
                look=look,
                n_samples=rows,
            )
        with waiting("drawing the page", silent):
            files = found.files()
        publish(place, signed(files, key, signer), out)
    if as_json and not quiet:
        print(
            json.dumps({"evaluation": str(out), "certificate": found.certificate.digest, **plain_of(found)}, indent=2)
        )
    for line in lines_of(found, declared=table.n_samples is None):
        console.print(line, markup=False)
    console.print(
        f"\n[bold green]evaluated[/] to {escape(str(out))}: it may leave the building, with everything in it."
    )
    console.print(f"  check it:    equipoise verify {escape(str(out))} --release {escape(str(release))}")
    console.print(f"  look at it:  {escape(str(out / REPORT) if REPORT in files else NO_PAGE)}")
    console.print(f"  all figures: equipoise figures {escape(str(out))}")


def plain_of(evaluation: "Evaluation") -> dict[str, Any]:
    """Return for programs what was counted, and what follows."""
    counts, claim = evaluation.counts, evaluation.claim
    return {
        "release": claim.release,
        "rows": counts.n_samples,
        "groups": list(claim.cells.groups),
        "classes": list(claim.cells.labels),
        "edges": list(counts.edges),
        "counts": counts.counts.tolist(),
        "noise": {"law": counts.law, "scale": counts.scale},
        **({} if claim.cells.labels else {"predictions": list(counts.predictions)}),
        **{name.replace(" ", "_").lower(): _plain(figure) for name, figure in first_figures(evaluation).items()},
        **({"by_group": groups} if (groups := _by_group(evaluation)) else {}),
        **({"at_thresholds": curves} if (curves := _at_thresholds(evaluation)) else {}),
    }


def _at_thresholds(evaluation: "Evaluation") -> dict[str, Any]:
    """Return of two classes the thresholds and, by its name, every figure at each of them."""
    from equipoise.evaluation.two_classes import TwoClasses

    figures = evaluation.figures()
    if not isinstance(figures, TwoClasses):
        return {}
    curves = {
        name.replace(" ", "_"): {end: getattr(curve, end).tolist() for end in ("value", "low", "high")}
        for name, curve in figures.at_thresholds.items()
    }
    return {"threshold": list(evaluation.counts.edges), **curves}


def _by_group(evaluation: "Evaluation") -> dict[str, dict[str, dict[str, float]]]:
    return {
        str(group): {name.replace(" ", "_").lower(): _plain(figure)}
        for group, name, figure in first_of_groups(evaluation)
    }


def _plain(figure: "Figure") -> dict[str, float]:
    """Return a figure for programs, with what bins add on either side of its interval."""
    return {"value": figure.value, "low": figure.low, "high": figure.high, "bins": figure.bins}


def first_figures(evaluation: "Evaluation") -> "dict[str, Figure]":
    """Return by name the figures that are asked for first: accuracy, AUC of two classes; of numbers error and R2."""
    from equipoise.evaluation.regression import Regression
    from equipoise.evaluation.two_classes import TwoClasses

    figures = evaluation.figures()
    if isinstance(figures, Regression):
        return {"mean absolute error": figures.mean_absolute_error, "R2": figures.r2}
    area = {"AUC": figures.auc} if isinstance(figures, TwoClasses) else {}
    return {"accuracy": figures.accuracy, **area}


def first_of_groups(evaluation: "Evaluation") -> "list[tuple[str, str, Figure]]":
    """Return for each group its name and the first figure of its rows: accuracy, of numbers the mean absolute error."""
    from equipoise.evaluation.regression import Regression

    found = []
    for place, group in enumerate(evaluation.claim.cells.groups):
        figures = evaluation.figures([place])
        if isinstance(figures, Regression):
            found.append((str(group), "mean absolute error", figures.mean_absolute_error))
        else:
            found.append((str(group), "accuracy", figures.accuracy))
    return found


def _named(by: str, group: str) -> str:
    """Return the name of a group with its column; groups of no level, such as all others, have it in theirs.

    Examples
    --------
    >>> _named("sex", "f"), _named("sex", "sex other")
    ('sex f', 'sex other')
    """
    return group if group in (f"{by} other", f"{by} missing") else f"{by} {group}"


def _further(claim: "EvaluationClaim") -> str:
    more = claim.further_noise
    return f", {more.dimension} more of scale {more.scale:.4g}" if more else ""


def told(name: str, figure: "Figure") -> str:
    """Return a figure in words, or what it would take to tell it and all that is known."""
    if figure.told:
        return f"{name} {figure}, an interval of 95 %"
    return f"{name} {figure}; all that is known: {figure.known}"


def lines_of(evaluation: "Evaluation", declared: bool = False) -> list[str]:
    """Return for people what was counted, and what follows.

    Where their number was `declared`, because the file does not tell it, what that does is said.
    """
    from equipoise.planning.notes import hardly_any

    claim, counts = evaluation.claim, evaluation.counts
    bought = evaluation.certificate
    return [
        f"{counts.n_samples} rows, ({bought.epsilon:g}, {bought.delta:g})-differential privacy, all figures together",
        *([f"  {DECLARED}"] if declared else []),
        f"  {counts.counts.size} counts, each with {counts.law} noise of scale {counts.scale:.4g}{_further(claim)}",
        *(f"  {told(name, figure)}" for name, figure in first_figures(evaluation).items()),
        *(
            f"  {_named(claim.cells.by, group)}: {told(name, figure)}"
            for group, name, figure in first_of_groups(evaluation)
        ),
        f"  about release {claim.release}",
        *(f"  mind: {line}" for line in hardly_any(bought.claim.budget)),
    ]
