"""`equipoise train`: from a table on disk to a released folder."""

import json
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from equipoise.certify.folder import REPORT
from equipoise.cli.held_out import evaluated, line_of, plain_of, planned_with, require_holdout, worth_of
from equipoise.cli.model_options import Alpha, Delta, Epsilon, Intercept, Mechanism, Model, model_for, read_alpha
from equipoise.cli.options import AsJson, Delimiter, Quiet
from equipoise.cli.progress import waiting
from equipoise.cli.publishing import publish
from equipoise.cli.recipe_options import RecipeText, for_model, read_recipe
from equipoise.cli.sign import By, signed, signing_key
from equipoise.cli.summary import Verbose, told

if TYPE_CHECKING:
    from equipoise.artifact.page_file import Attack
    from equipoise.certify.certificate import Certificate


def command(
    data: Annotated[Path, typer.Argument(help="The table: a CSV, Parquet, Arrow or Excel file, or a folder of them.")],
    schema: Annotated[Path, typer.Option(help="The schema.toml with the table's public facts.")],
    epsilon: Epsilon,
    out: Annotated[Path, typer.Option(help="The folder that will hold the release.")] = Path("release"),
    model: Model = "",
    delta: Delta = 0.0,
    ledger: Annotated[
        str | None, typer.Option(help="The ledger that must admit the spend: a dataset's name or a URL.")
    ] = None,
    private_bounds: Annotated[
        float | None, typer.Option(help="The part of epsilon that pays for bounds the schema leaves blank.")
    ] = None,
    alpha: Alpha = "public",
    mechanism: Mechanism = "auto",
    recipe: RecipeText = "",
    intercept: Intercept = True,
    public_seed: Annotated[int, typer.Option(help="The seed of public coins; recorded.")] = 0,
    delimiter: Delimiter = None,
    engine: Annotated[
        str, typer.Option(help="How rows are gone through: memory, stream (never held whole), dask or spark.")
    ] = "memory",
    scheduler: Annotated[
        str | None, typer.Option(help="The address of a cluster; without it dask and spark work on this machine.")
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(help="Hold this share of the rows out and evaluate the model on it; both cost epsilon once."),
    ] = None,
    holdout_by: Annotated[
        str, typer.Option(metavar="COLUMN", help="Count held-out rows for each level of this column apart.")
    ] = "",
    evaluation: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="With --holdout: the folder for its evaluation, `evaluation` by default."),
    ] = None,
    sign: Annotated[
        Path | None, typer.Option(metavar="KEY", help="Sign the release with this private key (equipoise key new).")
    ] = None,
    by: By = "",
    attack: Annotated[
        bool,
        typer.Option("--attack", help="Attack the plan on simulated rows, and show on the page what that reaches."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier release in that folder.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check all that train would, show the plan, and stop before any row is read."),
    ] = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a private model on a table and release it with its certificate: plan, record the spend, read, train."""
    from equipoise.artifact.folder import NO_PAGE, files_of, rehearse, staging, staging_of_evaluation
    from equipoise.artifact.page_file import draws
    from equipoise.cli.dry_run import purchase
    from equipoise.cli.ledger_state import recorded
    from equipoise.data.compiling import is_short, left_as_they_are
    from equipoise.data.encoded import encoded_table
    from equipoise.data.engines import open_table
    from equipoise.data.schema import Schema

    # A key that is missing, or somebody else's, is told before anything is planned.
    key = signing_key(sign, by)
    facts = Schema.from_toml(schema)
    if private_bounds is not None:
        facts = facts.with_private_bounds(private_bounds)
    kind = model_for(model, facts.task, "correct what [target] in the schema says")
    wanted = {
        "epsilon": epsilon,
        "delta": delta,
        "domain": facts,
        "alpha": read_alpha(alpha),
        "mechanism": mechanism,
        "fit_intercept": intercept,
        "public_seed": public_seed,
        "ledger": ledger,
        **read_recipe(recipe),
    }
    face = kind(**for_model(kind, wanted))
    silent = quiet or as_json
    console = Console(quiet=silent, highlight=False, soft_wrap=True)
    beside_it = require_holdout(holdout, holdout_by, engine, out, evaluation)
    with waiting("planning", silent):
        planned = face.plan() if holdout is None else planned_with(face, holdout, holdout_by)
    if isinstance(described := face._public_facts, Schema):
        facts = described
    # Nothing but the time hangs on it, which no certificate covers.
    with left_as_they_are(is_short(data)):
        table = open_table(data, delimiter, engine, scheduler, facts)
    # Whatever names and types can is told before anything is spent.
    encoded_table(facts, table, planned.n_samples)
    # A page that cannot be made, a name that is taken and a disk that is full are told before the plan.
    with waiting("drawing the page", silent):
        room = rehearse(planned, facts.encoded_names(), facts)
    # It follows from the plan alone, so that it is run before a row is read, and what cannot be is told here.
    reached = _attacked(planned, dry_run, silent) if attack else None
    with staging(out, force, room) as place, ExitStack() as besides:
        beside = None if holdout is None else besides.enter_context(staging_of_evaluation(beside_it, force))
        if dry_run:
            bought = purchase(planned, facts, ledger)
            check = _check_line(data, schema, delimiter, private_bounds is not None)
            console.print(told(planned, verbose), markup=False, end="")
            for line in () if verbose or holdout is None else worth_of(planned):
                console.print(line, markup=False)
            if as_json and not quiet:
                plan = json.loads(planned.to_json())
                print(json.dumps({"plan": plan, **bought.to_plain(), "check": check}, indent=2))
            for line in (*bought.lines(), f"check the rows, inside: {check}"):
                console.print(f"  {line}", markup=False)
            console.print("\n[bold]dry run[/]: no row was read and nothing was spent; train would begin.")
            return
        with waiting("training: the time it takes depends on the table's size", silent):
            found = None if holdout is None else evaluated(face, table, holdout, holdout_by)
            if found is None:
                face.fit(table)
        try:
            # What was found on held-out rows is written before anything about the release is signed.
            if beside is not None and found is not None:
                publish(beside, signed(found.files(), key, by), beside_it)
        finally:
            publish(place, signed(files_of(face, recorded(ledger), reached), key, by), out)
    # The claim is told once there is something that it is about; with held-out rows it is 15 lines, too.
    console.print(told(planned, verbose, most=10 if holdout is None else 9), markup=False, end="")
    if as_json and not quiet:
        told_of = {} if found is None else {"evaluation": str(beside_it), **plain_of(found)}
        print(json.dumps({"release": str(out), "certificate": face.certificate_.digest, **told_of}, indent=2))
    check = shlex.join(["equipoise", "verify", str(out)])
    if found is not None:
        console.print(line_of(found, declared=table.n_samples is None), markup=False)
        check += f"; {shlex.join(['equipoise', 'verify', str(beside_it)])}"
    console.print(f"\n[bold green]released[/] to {escape(str(out))}: it may leave the building, with everything in it.")
    console.print(f"  check it:    {escape(check)}")
    console.print(f"  look at it:  {escape(str(out / REPORT) if draws() else NO_PAGE)}")
    console.print(f"  use it:      equipoise predict {escape(str(out))} NEW.csv --out predictions.csv")


def _attacked(planned: "Certificate", dry_run: bool, silent: bool) -> "Attack | None":
    """Return what an attack on the plan reaches on simulated rows; what cannot be simulated is refused."""
    from equipoise.artifact.attack import AttackedPlan
    from equipoise.artifact.page_file import require_drawing

    require_drawing("a page, to show an attack on it")
    attacked = AttackedPlan(planned)
    if dry_run:
        return None
    # The laboratory is loaded only where something is measured.
    from equipoise.lab.membership_attack import membership

    with waiting("attacking the plan on simulated rows", silent):
        return attacked.reached(membership)


def _check_line(data: Path, schema: Path, delimiter: str | None, private_bounds: bool) -> str:
    """Return the command that counts what the schema's rules change in the rows."""
    options = [] if delimiter is None else ["--delimiter", delimiter]
    options += ["--private-bounds"] if private_bounds else []
    return shlex.join(["equipoise", "schema", "check", str(data), str(schema), *options])
