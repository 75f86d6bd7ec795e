"""Reading a certificate from disk, for the commands that take one."""

from pathlib import Path
from typing import Annotated

import typer

from equipoise.artifact.findings import files_at
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import CERTIFICATE, text_of

CertificatePath = Annotated[Path, typer.Argument(help="A released folder, or a certificate.json.")]


def read_certificate(path: Path) -> Certificate:
    """Return the certificate in a file, or that of a released folder."""
    return Certificate.from_json(text_of(files_at(path), CERTIFICATE))
