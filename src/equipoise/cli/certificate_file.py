"""Reading a certificate from disk, for the commands that take one."""

from pathlib import Path
from typing import Annotated

import typer

from equipoise.artifact.folder import CERTIFICATE, LARGEST, certificate_in
from equipoise.errors import CertificateUnreadable
from equipoise.proof.certificate import Certificate

CertificatePath = Annotated[Path, typer.Argument(help="A released folder, or a certificate.json.")]


def read_certificate(path: Path) -> Certificate:
    """Return the certificate in a file or in a released folder."""
    if path.is_dir():
        return certificate_in(path)
    try:
        if path.is_file() and path.stat().st_size > LARGEST[CERTIFICATE]:
            raise CertificateUnreadable(
                f"a certificate of at most {LARGEST[CERTIFICATE]} bytes", "a longer file", "pass a certificate.json"
            )
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "bytes that are not UTF-8 text"
        raise CertificateUnreadable(
            f"a certificate at {path}", f"{found}", "pass a released folder or the path of a certificate.json"
        ) from None
    return Certificate.from_json(text)
