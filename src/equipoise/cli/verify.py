"""`equipoise verify`: whether a claim follows, and whether a release is as it was made."""

import json

import typer
from rich.console import Console

from equipoise.artifact.folder import inspect
from equipoise.cli.certificate_file import AnyCertificate, CertificatePath, read_certificate
from equipoise.cli.exit_codes import CHECK_FAILED
from equipoise.cli.options import AsJson, Quiet
from equipoise.proof.certificate import Certificate
from equipoise.proof.search import SearchCertificate


def command(path: CertificatePath, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Check every byte of a release and derive its certificate again; exit code 1 if anything does not hold."""
    whole = path.is_dir()
    faults = inspect(path) if whole else read_certificate(path).verify()
    console = Console(quiet=quiet or as_json, highlight=False, soft_wrap=True)
    if as_json and not quiet:
        print(json.dumps({"consistent": not faults, "faults": list(faults)}, indent=2))
    if faults:
        console.print(f"[bold red]does not hold[/]: {len(faults)} fault(s)")
        for fault in faults:
            console.print(f"  {fault}", markup=False)
        raise typer.Exit(CHECK_FAILED)
    claim = read_certificate(path)
    console.print(
        f"[bold green]consistent; origin unproved[/]: ({claim.epsilon:g}, {claim.delta:g})-differential privacy, "
        f"{claim.adjacency}, {claim.grade}, by {_grounds(claim)}"
    )
    if whole:
        console.print("Model, certificate, schema and report are those of the manifest, and belong together.")
    console.print("Arithmetic cannot prove that noise was drawn: that rests on who ran the fit.")


def _grounds(claim: AnyCertificate) -> str:
    """Return what a claim rests on: a theorem, and where noise enters."""
    if isinstance(claim, Certificate):
        return f"{claim.theorem}, {claim.route} and {claim.mechanism}"
    return f"{claim.theorem}, a search" if isinstance(claim, SearchCertificate) else "G5, a selection of columns"
