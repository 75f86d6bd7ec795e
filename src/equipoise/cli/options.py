"""Options that many commands share."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables and sentences.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Delimiter = Annotated[str, typer.Option(help="What separates the values of a CSV line.")]
