"""`equipoise schema`: draft a schema to fill in, and check one against the data, for the owner's eyes."""

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.options import AsJson, Delimiter

group = typer.Typer(no_args_is_help=True, help="Draft the public facts of a table, and check them against the rows.")

DataPath = Annotated[Path, typer.Argument(help="A CSV, Parquet or Arrow file.")]


@group.command()
def draft(
    data: DataPath,
    out: Annotated[Path | None, typer.Option(help="Write the draft here; an existing file is kept.")] = None,
    delimiter: Delimiter = ",",
    codebook: Annotated[
        list[Path] | None,
        typer.Option(
            help="A CSV file of levels (column, level, label) or bounds (column, low, high); may be repeated."
        ),
    ] = None,
) -> None:
    """Write a schema with names, kinds and blanks; the facts are yours to fill in."""
    from equipoise.artifact.staging import new_file
    from equipoise.data.files import open_table
    from equipoise.data.schema import Schema
    from equipoise.data.schema.code_book import read_code_books
    from equipoise.data.schema.draft import draft as drafted

    table = open_table(data, delimiter)
    text = drafted(table, read_code_books(codebook or (), table.names))
    if out is None:
        print(text, end="")
        return
    with new_file(out) as file:
        file.write(text)
    blanks = len(Schema.from_text(text).blanks())
    separated = [] if delimiter == "," else ["--delimiter", delimiter]
    command = shlex.join(["equipoise", "schema", "check", str(data), str(out), *separated])
    print(f"wrote {out}: fill in its {blanks} blanks, then run: {command}")


@group.command()
def check(
    data: DataPath,
    schema: Annotated[Path, typer.Argument(help="A schema.toml without blanks.")],
    delimiter: Delimiter = ",",
    as_json: AsJson = False,
) -> None:
    """Count what a schema's rules change in the rows. For the data's owner: the counts are not for release."""
    from equipoise.data.diagnosis import check_table
    from equipoise.data.files import open_table
    from equipoise.data.schema import Schema

    facts = Schema.from_toml(schema)
    facts.require_complete()
    diagnosis = check_table(facts, open_table(data, delimiter))
    print(json.dumps(diagnosis.to_plain(), indent=2) if as_json else diagnosis)
