"""Options that many commands share."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.errors import InvalidParameter

if TYPE_CHECKING:
    from equipoise.artifact.trust import Trusted

_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables and sentences.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
# A name in brackets would be a style to those who print help, unless a backslash stands before it.
Delimiter = Annotated[
    str | None, typer.Option(help=r"What separates the values of a CSV line, if not what the schema's \[file] says.")
]
FileFacts = Annotated[
    list[str] | None,
    typer.Option(
        "--file",
        metavar="KEY=VALUE",
        help=r"How this file is written, if not as the schema's \[file] says: decimal=. for example.",
    ),
]

PublicKeys = Annotated[
    list[Path] | None,
    typer.Option("--key", metavar="FILE.pub", help="A public key that you trust; may be given again."),
]
TrustFile = Annotated[
    Path | None, typer.Option("--trust", metavar="FILE.toml", help="The keys that you trust, with names and dates.")
]


def whole_number(text: str) -> int:
    """Return a whole number; 8.000 is none: to some it is 8, to others 8,000.

    Examples
    --------
    >>> whole_number("8000")
    8000
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r:.80} is no integer")
    return int(text)


def trusted_keys(key: list[Path] | None, trust: Path | None) -> "dict[bytes, Trusted] | None":
    """Return the keys that count, by their bytes; None where nobody named any."""
    if not key and trust is None:
        return None
    from equipoise.artifact.trust import Trusted, trusted_in
    from equipoise.keys import public_key

    if key and trust:
        raise InvalidParameter("one list of keys", "--key and --trust", "name the key in the trust file, too")
    return {public_key(path): Trusted(path.name) for path in key or ()} if trust is None else trusted_in(trust)


def read_file_facts(texts: list[str] | None) -> dict[str, object]:
    """Return the facts of a text file that options describe.

    Examples
    --------
    >>> read_file_facts(["decimal=,", "header=false"])
    {'decimal': ',', 'header': False}
    """
    from equipoise.data.schema.file_format import ALL_KEYS

    facts: dict[str, object] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if key not in ALL_KEYS or not equals:
            remedy = f"write --file KEY=VALUE, with one of the keys {', '.join(ALL_KEYS)}"
            raise InvalidParameter("a fact about a text file", f"--file {text}", remedy)
        facts[key] = {"true": True, "false": False}.get(value, value) if key == "header" else value
    return facts
