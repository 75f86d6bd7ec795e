"""The manifest of a folder."""

from equipoise.certify.folder import MANIFEST, manifest_faults, manifest_of
from fuzz.mutation import lines

SHARE = 4.0

FILES = {"model.json": b"{}", "certificate.json": b"[]", "schema.toml": b"", "report.html": b"<p>"}

mutate = lines


def examples() -> list[bytes]:
    """Return the manifest of made-up files."""
    return [manifest_of(FILES).encode()]


def read(data: bytes) -> None:
    """Judge the files by it: only the manifest that was written has no faults."""
    faults = tuple(manifest_faults({**FILES, MANIFEST: data}))
    if (faults == ()) != (data == manifest_of(FILES).encode()):
        raise AssertionError("a manifest that was judged wrongly")
