"""`equipoise explain`: a certificate in plain words."""

from equipoise.cli.certificate_file import CertificatePath, read_certificate


def command(certificate: CertificatePath) -> None:
    """Print the whole argument of a certificate, with every number."""
    print(read_certificate(certificate).explain(), end="")
