"""`equipoise export`: a released model for other programs: a graph of ONNX, SQL, or a table of weights."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from equipoise.cli.options import AsJson, Quiet
from equipoise.errors import InvalidParameter


def command(
    release: Annotated[Path, typer.Argument(help="A released folder.")],
    to: Annotated[str, typer.Option("--to", help="The format: onnx, sql or csv.")],
    out: Annotated[Path | None, typer.Option(help="The file to write; without it, sql and csv are printed.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    r"""Write a released model for a place where this library is not installed: it predicts the same there.

    onnx is a graph for onnxruntime (pip install "equipoise\[onnx]"), sql the columns of a SELECT list for SQLite and
    PostgreSQL, both from raw columns by the schema's rules; csv is a table of weights (docs/export.md).

    Nothing is spent: what is computed from a release is covered by its certificate, whose digest stands in the file.
    """
    from equipoise.artifact import exports
    from equipoise.artifact.exported import exported
    from equipoise.artifact.staging import new_file
    from equipoise.vocabulary.discovery import look_up

    export = look_up(exports.members(), to, "format")()
    if out is None and (as_json or not export.is_text):
        asked = "a file for a format that is no text" if not export.is_text else "a file, where --json speaks of it"
        raise InvalidParameter(asked, "none", f"pass --out model.{to}")
    model = exported(release)
    found = export.written(model)
    if out is None:
        if not quiet:
            sys.stdout.write(found.decode())
        return
    with new_file(out, force) as file:
        file.buffer.write(found)
    if as_json and not quiet:
        facts = {"out": str(out), "format": to, "release": model.release, "certificate": model.certificate}
        print(json.dumps(facts, indent=2))
    Console(quiet=quiet or as_json, highlight=False, soft_wrap=True).print(f"wrote {out}", markup=False)
