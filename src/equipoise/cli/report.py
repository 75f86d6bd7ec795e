"""`equipoise report`: the page of a release, drawn again."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from equipoise.artifact.folder import load
from equipoise.artifact.staging import new_file
from equipoise.cli.options import Quiet
from equipoise.proof.ledger import Ledger
from equipoise.release_report import ledger_state, page_of


def command(
    release: Annotated[Path, typer.Argument(help="A released folder.")],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    ledger: Annotated[str | None, typer.Option(help="Show the state of this ledger, as it is now.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write one self-contained HTML page about a release: from its certificate and weights alone."""
    model = load(release)
    state = None if ledger is None else ledger_state(Ledger(ledger))
    with new_file(out, force) as file:
        file.write(page_of(model, state))
    Console(quiet=quiet, highlight=False, soft_wrap=True).print(f"wrote {out}", markup=False)
