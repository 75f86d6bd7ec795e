"""Reading a certificate from disk, for the commands that take one."""

import json
from pathlib import Path
from typing import Annotated

import typer

from equipoise.artifact.folder import CERTIFICATE, LARGEST, certificate_in
from equipoise.errors import CertificateUnreadable
from equipoise.proof.certificate import Certificate
from equipoise.proof.search import SearchCertificate
from equipoise.proof.simplex import SimplexCertificate

AnyCertificate = Certificate | SearchCertificate | SimplexCertificate

# What only the request of a search, or of a selection by the simplex, states.
KINDS: dict[str, type[AnyCertificate]] = {"candidates": SearchCertificate, "share": SimplexCertificate}

CertificatePath = Annotated[Path, typer.Argument(help="A released folder, or a certificate.json.")]


def read_certificate(path: Path) -> AnyCertificate:
    """Return the certificate in a file, of a model, a search or a selection, or that of a released folder."""
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
    return _kind_of(text).from_json(text)


def _kind_of(text: str) -> type[AnyCertificate]:
    """Return which certificate a text is of, by its request; what cannot be told is read as that of a model."""
    try:
        stated = json.loads(text)["request"]
        return next((kind for field, kind in KINDS.items() if field in stated), Certificate)
    except (ValueError, RecursionError, TypeError, KeyError):
        return Certificate
