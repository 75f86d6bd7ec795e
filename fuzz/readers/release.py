"""A released folder, all of its files in one JSON object; the manifest is mostly written anew, as a forger would."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

from equipoise.artifact import folder as released
from equipoise.artifact.findings import inspect
from equipoise.artifact.shipped import strangers
from equipoise.certify.folder import MANIFEST, manifest_of
from fuzz.mutation import json_values, lines
from fuzz.sample_tables import FACTS, tables
from fuzz.written import folder

OLD = Path(__file__).parents[2] / "tests" / "released" / "0.1.0"
SHARE = 0.05


def _new() -> dict[str, str]:
    import equipoise as eq
    from equipoise.data.frames import FrameTable

    former, released.page_of = released.page_of, lambda certificate, *_, **__: f"<p>{certificate.digest}</p>"  # type: ignore[assignment]
    try:
        return released.files_of(eq.LogisticRegression(domain=FACTS, random_state=0).fit(FrameTable(next(tables()))))
    finally:
        released.page_of = former


def examples() -> list[bytes]:
    """Return a release of this version, and those of version 0.1.0 without their long pages."""
    found: list[dict[str, str]] = [_new()]
    for path in sorted(entry for entry in OLD.iterdir() if entry.is_dir()):
        found.append({file.name: file.read_text() for file in path.iterdir()} | {"report.html": "<p>"})
    return [json.dumps(files).encode() for files in found]


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Alter one file."""
    try:
        files: dict[str, Any] = json.loads(data)
        name = chance.choice(sorted(files))
        text = str(files[name]).encode("utf-8", "surrogatepass")
        way = json_values if name.endswith(".json") else lines
        files[name] = way(text, chance).decode("utf-8", "replace")
    except (ValueError, AttributeError, TypeError, IndexError, RecursionError):
        return json_values(data, chance)
    if chance.random() < 0.8:
        bytes_of = {key: str(value).encode("utf-8", "surrogatepass") for key, value in files.items()}
        files[MANIFEST] = manifest_of(bytes_of)
    return json.dumps(files).encode()


def read(data: bytes) -> None:
    """Check the folder and open it."""
    try:
        files = {str(name): str(text) for name, text in json.loads(data).items()}
    except (ValueError, AttributeError, RecursionError):
        return
    at = folder() / "release"
    shutil.rmtree(at, ignore_errors=True)
    at.mkdir()
    for name, text in files.items():
        if name.isascii() and name.isprintable() and "/" not in name and 0 < len(name) < 100 and set(name) != {"."}:
            (at / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        found = inspect(at)
        list(found.lines())
        found.plain()
        list(strangers(found.certificate))
    finally:
        released.load(at)
