"""`equipoise verify`: whether a claim follows."""

import json
from typing import Annotated

import typer
from rich.console import Console

from equipoise.cli.certificate_file import CertificatePath, read_certificate

FAILED = 1


def command(
    certificate: CertificatePath, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """Derive a certificate again and name every field that does not follow; exit code 1 if there is one."""
    claim = read_certificate(certificate)
    faults = claim.verify()
    if as_json:
        print(json.dumps({"consistent": not faults, "faults": list(faults)}, indent=2))
    elif faults:
        console = Console(highlight=False)
        console.print(f"[bold red]does not follow[/]: {len(faults)} field(s)")
        for fault in faults:
            console.print(f"  {fault}", markup=False, soft_wrap=True)
    else:
        console = Console(highlight=False)
        console.print(
            f"[bold green]consistent; origin unproved[/]: ({claim.epsilon:g}, {claim.delta:g})-differential privacy, "
            f"{claim.adjacency}, {claim.grade}, by {claim.theorem}, {claim.route} and {claim.mechanism}",
            soft_wrap=True,
        )
        console.print("Arithmetic cannot prove that noise was drawn: that rests on who ran the fit.", soft_wrap=True)
    if faults:
        raise typer.Exit(FAILED)
