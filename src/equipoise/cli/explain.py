"""`equipoise explain`: a certificate in plain words."""

from equipoise.cli.certificate_file import CertificatePath, read_certificate


def command(certificate: CertificatePath) -> None:
    """Print the whole argument of a certificate, with every number."""
    # The notes of a file may hold what a terminal obeys.
    for line in read_certificate(certificate).explain().splitlines():
        print(line if line.isprintable() else ascii(line))
