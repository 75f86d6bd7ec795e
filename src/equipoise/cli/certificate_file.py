"""Reading a certificate from disk, for the commands that take one."""

from pathlib import Path
from typing import Annotated

import typer

from equipoise.errors import CertificateUnreadable
from equipoise.proof.certificate import Certificate

CertificatePath = Annotated[Path, typer.Argument(help="A certificate.json.")]


def read_certificate(path: Path) -> Certificate:
    """Return the certificate in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "bytes that are not UTF-8 text"
        raise CertificateUnreadable(
            f"a certificate at {path}", f"{found}", "pass the path of a certificate.json"
        ) from None
    return Certificate.from_json(text)
