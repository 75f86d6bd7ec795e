"""The manifest: SHA-256 of every file of a release, in the form that ``sha256sum --check`` reads."""

import hashlib
from collections.abc import Mapping

NAME = "MANIFEST.sha256"


def render(files: Mapping[str, bytes]) -> str:
    """Return the manifest of files, in the order of their names.

    Examples
    --------
    >>> render({"b": b"", "a": b""}).splitlines()[0][-3:]
    '  a'
    """
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))


def faults(manifest: bytes, files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return one line for each file that is not as the manifest says, and for a manifest that is not as it is written.

    Examples
    --------
    >>> faults(render({"a": b"1"}).encode(), {"a": b"2"})
    ('a: its bytes are not those of the manifest',)
    """
    expected = render(files)
    if manifest == expected.encode():
        return ()
    text = manifest.decode("utf-8", "replace")
    listed = {line.split("  ", 1)[1] for line in text.splitlines() if "  " in line}
    found = [f"{name}: not in the manifest" for name in sorted(files.keys() - listed)]
    found += [f"{name!r:.80}: in the manifest, but not there" for name in sorted(listed - files.keys())]
    changed = {line.split("  ", 1)[1] for line in expected.splitlines() if line not in text}
    found += [f"{name}: its bytes are not those of the manifest" for name in sorted(changed & listed)]
    return tuple(found) or (f"{NAME}: not as this program writes it",)
