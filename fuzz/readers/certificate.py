"""A certificate: read, checked and explained."""

from pathlib import Path

from equipoise.certify.certificate import Certificate
from fuzz.mutation import json_values

STORED = Path(__file__).parents[2] / "tests" / "certificates" / "0.2.0"
SHARE = 0.5

mutate = json_values


def examples() -> list[bytes]:
    """Return the frozen certificates."""
    return [path.read_bytes() for path in sorted(STORED.glob("*.json"))]


def read(data: bytes) -> None:
    """Check and explain it, and write it again."""
    certificate = Certificate.from_json(data.decode("utf-8", "replace"))
    certificate.verify()
    certificate.explain()
    _ = certificate.grade, certificate.bounds, certificate.mechanism, certificate.to_json()
