"""`equipoise key`: make and show the keys that checkpoints are signed with."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from equipoise.artifact.staging import refuse_inside_a_release
from equipoise.cli.options import AsJson
from equipoise.cli.passphrase import passphrase_of
from equipoise.keys.files import is_private, new_key, private_key, public_key, public_path
from equipoise.keys.signatures import fingerprint

group = typer.Typer(no_args_is_help=True, help="Make and show the keys that checkpoints are signed with.")


@group.command()
def new(
    path: Annotated[Path, typer.Argument(help="Where the private key goes; its public key goes to PATH.pub.")],
    encrypt: Annotated[
        bool,
        typer.Option("--encrypt", help="Ask for a passphrase (or take EQUIPOISE_KEY_PASSPHRASE) and encrypt the key."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make an Ed25519 key: a private file for you alone, and a public one for everybody. Existing files are kept."""
    refuse_inside_a_release(path)
    public = new_key(path, passphrase_of(path, new=True) if encrypt else None)
    if as_json:
        files = {"private": str(path), "public": str(public_path(path))}
        print(json.dumps({**files, **_facts(public), "encrypted": encrypt}, indent=2))
        return
    console = _console()
    console.print(
        f"[bold green]made[/]: {escape(str(path))}, for nobody but you, and its public key in {path.name}.pub"
    )
    console.print(f"fingerprint {fingerprint(public)}")
    console.print("Keep it where no analyst can read it, and tell the fingerprint to those who check (docs/keys.md).")


@group.command()
def show(
    path: Annotated[Path, typer.Argument(help="A private or a public key file.")],
    as_json: AsJson = False,
) -> None:
    """Show the fingerprint of a key, to be read out, and its public half."""
    private = is_private(path)
    public = private_key(path, partial(passphrase_of, path)).public if private else public_key(path)
    if as_json:
        print(json.dumps({"kind": "private" if private else "public", **_facts(public)}, indent=2))
        return
    console = _console()
    console.print(f"{'private' if private else 'public'} key {escape(str(path))}")
    console.print(f"fingerprint {fingerprint(public)}")
    console.print(f"public half {public.hex()}")


def _facts(public: bytes) -> dict[str, str]:
    return {"key": public.hex(), "fingerprint": fingerprint(public)}


def _console() -> Console:
    return Console(highlight=False, soft_wrap=True)
