"""`equipoise predict`: what a released model says about new rows."""

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console

from equipoise.cli.options import Delimiter, FileFacts, Quiet, read_file_facts
from equipoise.errors import InvalidParameter


def command(
    release: Annotated[Path, typer.Argument(help="A released folder.")],
    data: Annotated[Path, typer.Argument(help="New rows: CSV, Parquet or Arrow, with the columns of the schema.")],
    out: Annotated[Path | None, typer.Option(help="A CSV file; without it predictions are printed.")] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add a column with the probability of each class.")
    ] = False,
    delimiter: Delimiter = None,
    file_facts: FileFacts = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    quiet: Quiet = False,
) -> None:
    """Predict every row of a table, in its order: one line a row, after a header."""
    from equipoise.artifact.folder import load
    from equipoise.data.files import open_table

    model: Any = load(release)
    if not hasattr(model, "schema_"):
        raise InvalidParameter(
            "a release with a schema, which encodes raw columns",
            "one that was saved without",
            "open it in Python with equipoise.load and pass rows as it was trained on",
        )
    if probabilities and not hasattr(model, "predict_proba"):
        raise InvalidParameter(
            "a model with probabilities", f"a {type(model).__name__}", "leave --probabilities out for this model"
        )
    table = open_table(data, delimiter, model.schema_.file.for_new_rows(**read_file_facts(file_facts)))
    columns = [f"probability of {label}" for label in model.classes_] if probabilities else []
    count = 0
    with _opened(out, force) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["prediction", *columns])
        for line in _lines(model, table, probabilities):
            writer.writerow(line)
            count += 1
    if out is not None:
        Console(quiet=quiet, stderr=True, highlight=False).print(f"wrote {count} predictions to {out}", markup=False)


@contextmanager
def _opened(out: Path | None, force: bool) -> Iterator[TextIO]:
    if out is None:
        yield sys.stdout
        return
    from equipoise.artifact.staging import new_file

    with new_file(out, force) as file:
        yield file


def _lines(model: Any, table: Any, probabilities: bool) -> Iterator[list[object]]:
    predictions = model.predict(table).tolist()
    if not probabilities:
        yield from ([prediction] for prediction in predictions)
        return
    for prediction, shares in zip(predictions, model.predict_proba(table).tolist(), strict=True):
        yield [prediction, *shares]
