"""`equipoise explain`: a certificate in plain words."""

from equipoise.cli.certificate_file import CertificatePath, read_certificate
from equipoise.cli.options import AsJson


def command(certificate: CertificatePath, as_json: AsJson = False) -> None:
    """Print the whole argument of a certificate, with every number."""
    if as_json:
        print(read_certificate(certificate).to_json(), end="")
        return
    # The notes of a file may hold what a terminal obeys.
    for line in read_certificate(certificate).explain().splitlines():
        print(line if line.isprintable() else ascii(line))
