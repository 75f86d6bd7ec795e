"""`equipoise prevalence`: how common each class is in private rows, paid for, as a line for the schema."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from equipoise.cli.model_options import Delta, Epsilon
from equipoise.cli.options import AsJson, Delimiter, Quiet
from equipoise.cli.progress import waiting


def command(
    data: Annotated[Path, typer.Argument(help="The table: a CSV, Parquet, Arrow or Excel file, or a folder of them.")],
    schema: Annotated[Path, typer.Option(help="The schema.toml with the table's public facts.")],
    epsilon: Epsilon,
    out: Annotated[Path, typer.Option(help="The file that will hold the certificate of the counts.")] = Path(
        "prevalence.json"
    ),
    delta: Delta = 0.0,
    ledger: Annotated[
        str | None, typer.Option(help="The ledger that must admit the spend: a dataset's name or a URL.")
    ] = None,
    delimiter: Delimiter = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier file of that name.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Count private rows by class, with noise, and certify that: the line that follows may stand in the schema."""
    from equipoise.artifact.staging import new_file
    from equipoise.data.engines import open_table
    from equipoise.data.schema import Schema
    from equipoise.evaluation.prevalence import private_prevalence, require_counted

    facts = Schema.from_toml(schema)
    require_counted(facts)
    table = open_table(data, delimiter, schema=facts)
    silent = quiet or as_json
    console = Console(quiet=silent, highlight=False, soft_wrap=True)
    # A name that is taken and a disk that is full are told before anything is spent.
    with new_file(out, force) as file:
        with waiting("counting: the time it takes depends on the table's size", silent):
            found = private_prevalence(table, facts, epsilon=epsilon, delta=delta, ledger=ledger)
        file.write(found.certificate.to_json())
    bought = found.certificate
    if as_json and not quiet:
        told = {
            "file": str(out),
            "certificate": bought.digest,
            "classes": list(found.classes),
            "counts": list(found.counts),
            "prevalence": list(found.shares),
            "noise": {"law": found.claim.law, "scale": found.claim.scale},
        }
        print(json.dumps(told, indent=2))
    listed = ", ".join(f"{share:g}" for share in found.shares)
    for line in (
        f"{bought.n_samples} rows, ({bought.epsilon:g}, {bought.delta:g})-differential privacy, all classes together",
        *(f"  {label}: {count}" for label, count in zip(found.classes, found.counts, strict=True)),
        f"  each with {found.claim.law} noise of scale {found.claim.scale:.4g}, {found.deviation:.2%} of the rows",
        f"wrote {out}: publish it with the model; what both cost adds up",
        f"write into [target] of {schema}, and train with it:",
        f"  prevalence = [{listed}]",
    ):
        console.print(line, markup=False)
