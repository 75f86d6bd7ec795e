"""Signing the head of a ledger's history, for `equipoise ledger checkpoint`."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from equipoise.artifact.staging import new_file
from equipoise.cli.options import AsJson
from equipoise.cli.passphrase import passphrase_of
from equipoise.errors import InvalidParameter
from equipoise.keys import fingerprint, private_key


def checkpoint(
    reference: Annotated[
        str, typer.Argument(metavar="LEDGER", help="A dataset name, or a ledger's URL, as for the other commands.")
    ],
    key: Annotated[Path, typer.Option(help="The private key that signs; one that no analyst can read.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the checkpoint to this file; an existing one is kept.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Keep it in the table of checkpoints of this second file or database."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Compute every price again, not only those since this key signed last.")
    ] = False,
    after_recovery: Annotated[
        bool,
        typer.Option(
            "--after-recovery", help="Once after `recover`, as the owner: witnesses follow to what it replaced."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Verify a dataset's history and sign its last entry, for a witness: one that is not what was signed is refused."""
    # The database toolkit is an extra, which help does without.
    from equipoise.ledger.signing import signed_head

    if out is None and to is None:
        remedy = "pass --out FILE, or --to sqlite:///elsewhere.db"
        raise InvalidParameter("a place for the checkpoint", "neither --out nor --to", remedy)
    private = private_key(key, partial(passphrase_of, key))
    # A file that cannot be written is told before anything is signed.
    with nullcontext(None) if out is None else new_file(out) as file:
        kept, new = signed_head(reference, private, to, full, after_recovery)
        if file is not None:
            file.write(kept.to_json())
    if as_json:
        print(kept.to_json(), end="")
        return
    console = Console(highlight=False, soft_wrap=True)
    said = kept.checkpoint
    console.print(f"[bold green]signed[/]: entry {said.number} of {escape(repr(said.dataset))}, {said.made}")
    console.print(f"by {fingerprint(kept.key)}, digest {said.digest}")
    if said.recovered is not None:
        number, replaced = said.recovered.number, len(said.recovered.replaced)
        console.print(f"Witnesses follow the recovery, entry {number}: it replaced {replaced} entry(s) that they knew.")
    if to is not None and not new:
        console.print("The second database has a checkpoint of this entry by this key already.")
