"""The JavaScript that draws the charts of a page, made once for a version of the library that bundles it.

Bundling takes longer than planning and training on a thousand rows, and its result depends on nothing but that version:
it is kept in the user's own cache folder, and made anew where it is not there, damaged or somebody else's.
"""

import contextlib
import functools
import hashlib
import os
import tempfile
from importlib.metadata import version
from pathlib import Path

from equipoise.errors import MissingExtra

# What a page calls to draw a chart.
SNIPPET = "window.vegaEmbed = vegaEmbed;"


@functools.cache
def runtime() -> str:
    """Return the JavaScript that draws charts, to be put inside a page so that it needs no network."""
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtra.of("a chart", error) from None
    place = _place()
    found = None if place is None else _kept(place)
    if found is not None:
        return found
    bundle: str = vl_convert.javascript_bundle(SNIPPET)
    if place is not None:
        _keep(place, bundle)
    return bundle


def _place() -> Path | None:
    """Return where the bundle of this version is kept; None where there is no folder for it."""
    try:
        # Where files have no owner's number (Windows), only the user's own home is known to be nobody else's.
        elsewhere = os.environ.get("XDG_CACHE_HOME") if hasattr(os, "geteuid") else None
        folder = Path(elsewhere or Path.home() / ".cache")
        return folder / "equipoise" / f"charts-{version('vl-convert-python')}.js"
    except (RuntimeError, ModuleNotFoundError):  # no home, or a bundler without a version
        return None


def _kept(place: Path) -> str | None:
    """Return the bundle that this user kept, if it is as it was written: its digest stands in its first line."""
    try:
        with place.open("rb") as file:
            if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                return None
            digest, _, content = file.read().partition(b"\n")
    except OSError:
        return None
    return content.decode("utf-8") if digest == _digest(content) else None


def _keep(place: Path, bundle: str) -> None:
    """Keep a bundle, whole or not at all; where that cannot be, it is made again next time."""
    content = bundle.encode("utf-8")
    with contextlib.suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=place.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(content) + b"\n" + content)
            os.replace(beside, place)
        except OSError:
            os.unlink(beside)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode("ascii")
