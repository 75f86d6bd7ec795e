"""`equipoise explain`: a certificate in plain words."""

import json

from equipoise.certify.record import to_plain
from equipoise.cli.certificate_file import CertificatePath, read_certificate
from equipoise.cli.options import AsJson


def command(certificate: CertificatePath, as_json: AsJson = False) -> None:
    """Print the whole argument of a certificate, with every number."""
    found = read_certificate(certificate)
    if as_json:
        record = json.loads(found.to_json())
        # Among the notes, on which no claim rests: what is printed is still a certificate.
        if not found.verify():
            record["notes"]["gains"] = to_plain(found.gains())
            record["notes"]["theorems"] = found.theorems()
        print(json.dumps(record, indent=2))
        return
    # The notes of a file may hold what a terminal obeys.
    for line in found.explain().splitlines():
        print(line if line.isprintable() else ascii(line))
    theorems = {} if found.verify() else found.theorems()
    if theorems:
        print(
            f"\nTo read on: equipoise docs {'+'.join(theorems)} prints these proofs, equipoise docs mechanisms a page"
        )
        print("that is cited as docs/mechanisms.md, and equipoise docs lists all pages.")
