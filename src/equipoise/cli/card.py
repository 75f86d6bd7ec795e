"""`equipoise card`: a release on one page, for people and for disclosure control."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from equipoise.cli.options import AsJson, PublicKeys, Quiet, TrustFile, trusted_keys
from equipoise.cli.progress import waiting
from equipoise.errors import InvalidParameter


class Format(StrEnum):
    """What a card is written as."""

    markdown = "markdown"
    html = "html"
    pdf = "pdf"


BY_ENDING = {".md": Format.markdown, ".html": Format.html, ".htm": Format.html, ".pdf": Format.pdf}


def command(
    release: Annotated[Path, typer.Argument(help="A released folder.")],
    out: Annotated[Path | None, typer.Option(help="The file to write; without it, the card is printed.")] = None,
    kind: Annotated[
        Format | None, typer.Option("--format", help="What it is written as; by default what the file's name ends in.")
    ] = None,
    evaluation: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A paid evaluation of this release, to put on the card.")
    ] = None,
    key: PublicKeys = None,
    trust: TrustFile = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say on one page what a release is, what it promises and what it does not: from the folder alone.

    With --evaluation also how well it predicts: from a paid evaluation of this very release, or it is refused.

    With --key or --trust a key that you trust must have signed both, or there is no card; without, it says that the
    origin is unproved.

    With --json, the record behind the card (docs/card.md).
    """
    from equipoise.artifact.card import card_of
    from equipoise.artifact.staging import new_file
    from equipoise.report.card import html, markdown
    from equipoise.report.pdf import printed

    if kind is None:
        kind = Format.markdown if out is None else BY_ENDING.get(out.suffix.lower(), Format.markdown)
    if kind is Format.pdf and out is None:
        raise InvalidParameter("a file for a PDF", "none", "pass --out card.pdf")
    trusted, paid = trusted_keys(key, trust), None
    if evaluation is not None:
        # What figures need is loaded only where there are any.
        from equipoise.evaluation.card import evaluation_of

        with waiting("computing figures", quiet or as_json):
            paid = evaluation_of(evaluation, release, trusted)
    card = card_of(release, paid, trusted)
    if as_json:
        print(json.dumps(card, indent=2, allow_nan=False))
    if out is None:
        if not (as_json or quiet):
            print(markdown(card) if kind is Format.markdown else html(card), end="")
        return
    with new_file(out, force) as file:
        if kind is Format.pdf:
            file.buffer.write(printed(html(card)))
        else:
            file.write(markdown(card) if kind is Format.markdown else html(card))
    Console(quiet=quiet or as_json, highlight=False, soft_wrap=True).print(f"wrote {out}", markup=False)
