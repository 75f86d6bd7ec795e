"""`equipoise reproduce`: a paper's claims, measured again on public data."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from equipoise.cli.options import AsJson, Quiet
from equipoise.cli.progress import counting
from equipoise.errors import MissingExtra


def command(
    name: Annotated[str | None, typer.Argument(help="The study; without one, the names are listed.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="The folder of public datasets; by default what EQUIPOISE_DATA names.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A reduced grid, within a minute on two cores.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="The folder that gets the page and the images; by default the study's name.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier study in that folder.")] = False,
    runs: Annotated[
        Path | None, typer.Option(help="A folder that keeps every trained run; a study that stopped continues there.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure a paper's claims again on public data, and write a page, its figures and the claims as data."""
    # Other commands do not wait for what only this one needs.
    from equipoise.report.charts import altair

    try:
        from equipoise_studies import frame
        from equipoise_studies.claims import tally
        from equipoise_studies.study_page import number
    except ModuleNotFoundError as error:
        if error.name != "equipoise_studies":
            raise
        found, remedy = "they are a distribution of their own, not installed here", "pip install equipoise-studies"
        raise MissingExtra("the studies of papers", found, remedy) from None

    console = Console(quiet=quiet or as_json, highlight=False, soft_wrap=True)
    if name is None:
        known = frame.studies()
        if as_json and not quiet:
            print(json.dumps([{"name": each.name, "title": each.title} for each in known.values()], indent=2))
        for each in known.values():
            console.print(f"[bold]{each.name}[/]  {escape(each.title)}")
        return
    study = frame.study_named(name)
    altair()  # a page without charts is noticed before the work
    folder = Path(study.name) if out is None else out
    with counting(quiet or as_json) as report:
        claims = frame.reproduce(study, data=data, quick=quick, out=folder, force=force, runs=runs, report=report)
    if as_json and not quiet:
        print(json.dumps([claim.record() for claim in claims], indent=2))
    table = Table(title=study.title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("claim", overflow="fold")
    for header in ("published", "measured"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for claim in claims:
        table.add_row(claim.id, number(claim.published), number(claim.measured), claim.verdict)
    console.print(table)
    console.print(f"{tally(claims)}\n")
    console.print(f"{escape(study.notice)}\n", style="yellow")
    console.print(
        f"wrote {escape(str(folder))}; open in a browser: file://{escape(str(folder.resolve() / frame.PAGE))}"
    )
