"""`equipoise verify`: whether a claim follows, and whether a release is as it was made."""

import json
from importlib.metadata import version

import typer
from rich.console import Console

from equipoise.artifact.shipped import strangers
from equipoise.certify.folder import CHECK_FAILED, DONE, NOT_CHECKABLE, WITHDRAWN, inspect
from equipoise.cli.certificate_file import CertificatePath
from equipoise.cli.options import AsJson, Quiet
from equipoise.cli.progress import waiting

COLOURS = {DONE: "bold green", CHECK_FAILED: "bold red", WITHDRAWN: "bold yellow", NOT_CHECKABLE: "bold yellow"}


def command(path: CertificatePath, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Check every byte of a release and every inequality of its claim.

    Exit code 1 if anything does not hold, 5 if what it rests on was withdrawn, 6 if this version cannot check it.
    """
    with waiting("checking", quiet or as_json):
        found = inspect(path)
    # A member that the checker alone does not ship was trusted because it is installed here.
    trusted = list(strangers(found.certificate))
    console = Console(quiet=quiet or as_json, highlight=False, soft_wrap=True)
    if as_json and not quiet:
        print(json.dumps({**found.plain(), "trusted": trusted}, indent=2))
    (code, verdict), (first, *rest) = found.verdict, found.lines()
    console.print(f"[{COLOURS[code]}]{verdict}[/]", end="")
    console.print(first.removeprefix(verdict), markup=False)
    for line in rest:
        console.print(line, markup=False)
    for member in trusted:
        console.print(f"  trusted: {member}, which Equipoise {version('equipoise')} does not ship", markup=False)
    raise typer.Exit(code)
