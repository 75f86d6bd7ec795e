"""`equipoise example`: a made-up table with its code book and its schema, to try everything on."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from equipoise.cli.options import AsJson, Quiet
from equipoise.errors import OutputRefused

TABLE, CODES, FACTS, NEW = "people.csv", "codes.csv", "people.toml", "new.csv"


def command(
    out: Annotated[Path, typer.Option(help="The folder that gets the files; existing files are kept.")] = Path("."),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a table of made-up people, its code book, its schema, and new people for whom a model can be asked.

    Everybody gets the same people: they are drawn by a public seed. docs/tutorial.md goes on from here.
    """
    from equipoise.artifact.staging import new_file, refuse_inside_a_release
    from equipoise.example import NEW_PEOPLE, PEOPLE, SEED, TARGET, code_book, people, schema, table

    refuse_inside_a_release(out / TABLE)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        remedy = "pass --out with a folder that can be written"
        raise OutputRefused(f"a folder {out}", str(error.strerror), remedy) from None
    # All names must be free before the first file is written.
    with (
        new_file(out / TABLE) as rows,
        new_file(out / CODES) as codes,
        new_file(out / FACTS) as facts,
        new_file(out / NEW) as strangers,
    ):
        rows.write(table(people()))
        codes.write(code_book())
        facts.write(schema())
        strangers.write(table(people(PEOPLE + 1, NEW_PEOPLE, SEED + 1), target=False))
    files = {
        TABLE: f"{PEOPLE:,} made-up people; {TARGET} is what a model may learn to predict",
        CODES: "the code book: levels and bounds that were published beside the table",
        FACTS: "the schema: all public facts about the table, filled in",
        NEW: f"{NEW_PEOPLE} other people, without {TARGET}",
    }
    if as_json and not quiet:
        print(json.dumps({"folder": str(out), "n": PEOPLE, "target": TARGET, "files": files}, indent=2))
    console = Console(quiet=quiet or as_json, highlight=False, soft_wrap=True)
    for name, what in files.items():
        console.print(f"wrote {out / name}: {what}", markup=False)
