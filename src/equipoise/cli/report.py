"""`equipoise report`: the page of a release, drawn again."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from equipoise.cli.options import AsJson, Quiet
from equipoise.cli.progress import waiting


def command(
    release: Annotated[Path, typer.Argument(help="A released folder.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    ledger: Annotated[str | None, typer.Option(help="Show the state of this ledger as of its last entry.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write one self-contained HTML page about a release: from its certificate and weights alone."""
    from equipoise.artifact.folder import load, report_of
    from equipoise.artifact.staging import new_file
    from equipoise.cli.ledger_state import state_of

    silent = quiet or as_json
    with waiting("drawing the page", silent):
        model = load(release)
        text = report_of(model, None if ledger is None else state_of(ledger))
    with new_file(out, force) as file:
        file.write(text)
    if as_json and not quiet:
        facts = {"page": str(out), "release": str(release), "certificate": model.certificate_.digest}
        print(json.dumps(facts, indent=2))
    Console(quiet=silent, highlight=False, soft_wrap=True).print(f"wrote {out}", markup=False)
