"""`equipoise sign`: say that a released folder is yours, so that others can check it."""

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
from equipoise.keys import fingerprint, private_key

By = Annotated[str, typer.Option(metavar="NAME", help="Who signs, in your own words; it stands in the statement.")]


def command(
    release: Annotated[Path, typer.Argument(help="A released folder.")],
    key: Annotated[Path, typer.Option(help="The private key that signs, as `equipoise key new` wrote it.")],
    by: By = "",
    force: Annotated[bool, typer.Option("--force", help="Replace the statement of an earlier signature.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Sign a released folder: every file by its digest, the release, what paid for it, who signs and when."""
    from equipoise.artifact.signing import require_producer, sign_folder

    producer, private = require_producer(by), private_key(key, partial(passphrase_of, key))
    with waiting("checking and signing", quiet or as_json):
        sign_folder(release, private, producer, force)
    if as_json and not quiet:
        facts = {"statement": str(release / STATEMENT), "key": private.public.hex()}
        print(json.dumps({**facts, "fingerprint": fingerprint(private.public)}, indent=2))
    console = Console(quiet=quiet or as_json, highlight=False, soft_wrap=True)
    console.print(f"[bold green]signed[/]: {escape(str(release))}, by {fingerprint(private.public)}")
    console.print(f"  check it:  equipoise verify {escape(str(release))} --key {escape(key.name)}.pub")
