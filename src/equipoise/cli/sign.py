"""`equipoise sign`: say that a released folder, or an evaluation, is yours, so that others can check it."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from equipoise.certify.folder import STATEMENT
from equipoise.cli.options import AsJson, Quiet
from equipoise.cli.passphrase import passphrase_of
from equipoise.cli.progress import waiting
from equipoise.errors import InvalidParameter
from equipoise.keys import PrivateKey, fingerprint, private_key

# `evaluate` has another use for --by.
By = Annotated[
    str,
    typer.Option("--by", "--signer", metavar="NAME", help="Who signs, in your own words; it stands in the statement."),
]


def command(
    release: Annotated[Path, typer.Argument(help="A released folder, or an evaluation.")],
    key: Annotated[Path, typer.Option(help="The private key that signs, as `equipoise key new` wrote it.")],
    by: By = "",
    force: Annotated[bool, typer.Option("--force", help="Replace the statement of an earlier signature.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Sign a released folder: every file by its digest, the release, what paid for it, who signs and when."""
    from equipoise.artifact.signing import require_producer, sign_folder
    from equipoise.evaluation.drawing import evaluation_page

    producer, private = require_producer(by), private_key(key, partial(passphrase_of, key))
    with waiting("checking and signing", quiet or as_json):
        sign_folder(release, private, producer, force, evaluation_page)
    if as_json and not quiet:
        facts = {"statement": str(release / STATEMENT), "key": private.public.hex()}
        print(json.dumps({**facts, "fingerprint": fingerprint(private.public)}, indent=2))
    console = Console(quiet=quiet or as_json, highlight=False, soft_wrap=True)
    console.print(f"[bold green]signed[/]: {escape(str(release))}, by {fingerprint(private.public)}")
    console.print(f"  check it:  equipoise verify {escape(str(release))} --key {escape(key.name)}.pub")


def signing_key(path: Path | None, by: str) -> PrivateKey | None:
    """Return the key that will sign, or None; refuse what could not be signed with or by."""
    from equipoise.artifact.signing import require_producer

    if path is None and by:
        raise InvalidParameter("a key to sign with", f"a name of who signs, {by!r:.80}, alone", "pass --sign KEY, too")
    require_producer(by)
    return None if path is None else private_key(path, partial(passphrase_of, path))


def signed(files: dict[str, str], key: PrivateKey | None, by: str) -> dict[str, str]:
    """Return the files of a folder, with the signed statement about them if there is a key."""
    from equipoise.artifact.signing import envelope_of

    if key is None:
        return files
    return files | {STATEMENT: envelope_of({name: text.encode() for name, text in files.items()}, key, by)}
