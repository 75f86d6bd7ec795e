"""`equipoise predict`: what a released model says about new rows."""

import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from equipoise.cli.options import (
    AsJson,
    Delimiter,
    FileFacts,
    PublicKeys,
    Quiet,
    TrustFile,
    read_file_facts,
    trusted_keys,
)
from equipoise.cli.progress import counting
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.wording import class_text

if TYPE_CHECKING:
    from equipoise.artifact.trust import Trusted
    from equipoise.data.raw import RawTable
    from equipoise.evaluation.new_rows import NewRows

# So many rows are written between two words about how many there are.
REPORTED_ROWS = 10_000


def command(
    release: Annotated[Path, typer.Argument(help="A released folder.")],
    data: Annotated[
        Path, typer.Argument(help="New rows: CSV, Parquet, Arrow or Excel, with the columns of the schema.")
    ],
    out: Annotated[Path | None, typer.Option(help="A CSV file; without it predictions are printed.")] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add a column with the probability of each class.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="Predict the second of two classes where its probability is at least this; 0.5 if left out."),
    ] = None,
    sets: Annotated[
        Path | None,
        typer.Option(
            metavar="EVALUATION",
            help="Add sets of classes, or an interval, that hold the truth as often as --coverage says: by a paid "
            "evaluation of this release. A class at the boundary of a set is let in by a coin, since sets would "
            "otherwise be larger and hold the truth too often; coins are the same each time.",
        ),
    ] = None,
    coverage: Annotated[
        float | None, typer.Option(help="How often the sets of --sets hold the truth, at least; 0.9 if left out.")
    ] = None,
    public_seed: Annotated[
        int | None,
        typer.Option(
            help="The seed of the coins of --sets, one for each place of a row; 0 if left out. Rows that are predicted "
            "one at a time need another each time."
        ),
    ] = None,
    key: PublicKeys = None,
    trust: TrustFile = None,
    identifier: Annotated[
        str | None, typer.Option("--id", help="A column of the new rows that is written beside each prediction.")
    ] = None,
    delimiter: Delimiter = None,
    file_facts: FileFacts = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Predict every row of a table, in its order: one line a row, after a header.

    With --key or --trust a key that you trust must have signed the evaluation of --sets, which names the model.
    """
    from equipoise.artifact.predictions import predictor
    from equipoise.data.compiling import is_short, left_as_they_are
    from equipoise.data.files import open_table
    from equipoise.data.tallied import TalliedTable

    if threshold is not None and not 0 < threshold < 1:
        raise InvalidParameter("a threshold between 0 and 1", f"--threshold {threshold:g}", "pass --threshold 0.3")
    if coverage is not None and sets is None:
        remedy = "pass --sets EVALUATION, a paid evaluation of this release"
        raise InvalidParameter("sets of a coverage", f"--coverage {coverage:g} alone", remedy)
    if public_seed is not None and sets is None:
        remedy = "pass --sets EVALUATION, a paid evaluation of this release"
        raise InvalidParameter("sets, whose coins have a seed", f"--public-seed {public_seed} alone", remedy)
    if (key or trust is not None) and sets is None:
        remedy = "check a release by itself with equipoise verify --key"
        raise InvalidParameter("an evaluation, whose signature is looked at", "--key or --trust without --sets", remedy)
    if identifier == "prediction":
        asked, remedy = "another name than that of the predictions for --id", "rename the column of identifiers"
        raise InvalidParameter(asked, "--id prediction", remedy)
    found = None if probabilities or threshold is not None else predictor(release)
    model: Any = _estimator(release, probabilities, threshold) if found is None else found
    known = None if sets is None else _new_rows(release, sets, coverage, trusted_keys(key, trust), public_seed)
    silent = quiet or as_json
    with left_as_they_are(is_short(data)), counting(silent) as report:
        opened = open_table(data, delimiter, model.schema_.file.for_new_rows(**read_file_facts(file_facts)))
        # New rows are whose they are who predicts, so neither their number nor what they hold is a secret here.
        table = TalliedTable(opened, lambda rows: report("rows read", rows, opened.n_samples), model.schema_)
        ids = _ids(table, identifier)
        predictions = _predictions(model, table, threshold)
        shares = model.predict_proba(table).tolist() if probabilities else [[]] * len(predictions)
        held = known.of(table) if known is not None else [[]] * len(predictions)
    # What is printed as JSON without a file is the predictions, and has no place for it.
    told = quiet or (as_json and out is not None)
    for sentence in () if told else (*table.sentences(), *(known.sentences() if known is not None else ())):
        print(sentence, file=sys.stderr)
    labels = model.classes_.tolist() if probabilities else []
    rows = zip(ids or [[]] * len(predictions), predictions, shares, held, strict=True)
    if as_json and out is None:
        records = _records(rows, labels, known)
        print("[", ",\n".join(json.dumps(record, default=str) for record in records), "]", sep="\n")
        return
    with _opened(out, force) as file, counting(silent or out is None) as report:
        writer = csv.writer(file, lineterminator="\n")
        columns = [
            *(f"probability of {class_text(label)}" for label in labels),
            *(known.columns if known is not None else ()),
        ]
        writer.writerow([*([] if identifier is None else [identifier]), "prediction", *columns])
        for number, (own, prediction, share, held_by) in enumerate(rows, start=1):
            writer.writerow([*own, class_text(prediction), *share, *held_by])
            if number % REPORTED_ROWS == 0:
                report("rows written", number, len(predictions))
    if out is None:
        return
    if as_json and not quiet:
        print(json.dumps({"out": str(out), "rows": len(predictions), "unread": table.unread()}, indent=2))
    if not silent:
        print(f"wrote {len(predictions)} predictions to {out}", file=sys.stderr)


def _new_rows(
    release: Path,
    sets: Path,
    coverage: float | None,
    trusted: "dict[bytes, Trusted] | None",
    public_seed: int | None,
) -> "NewRows":
    from equipoise.evaluation.new_rows import NewRows

    return NewRows(release, sets, 0.9 if coverage is None else coverage, trusted, public_seed or 0)


def _records(
    rows: Iterable[tuple[list[Any], Any, list[float], list[Any]]], labels: list[Any], known: "NewRows | None"
) -> Iterator[dict[str, Any]]:
    """Yield an object a row; an id that is a number and not finite stands for nothing."""
    for own, prediction, share, held in rows:
        record = {"prediction": prediction}
        if own:
            record["id"] = None if isinstance(own[0], float) and not math.isfinite(own[0]) else own[0]
        if labels:
            record["probabilities"] = dict(zip(map(class_text, labels), share, strict=True))
        if known is not None:
            record |= known.plain(held)
        yield record


def _estimator(release: Path, probabilities: bool, threshold: float | None) -> Any:
    """Return the estimator of a release, if it can do what is asked."""
    from equipoise.artifact.folder import load

    model: Any = load(release)
    if not hasattr(model, "schema_"):
        raise InvalidParameter(
            "a release with a schema, which encodes raw columns",
            "one that was saved without",
            "open it in Python with equipoise.load and pass rows as it was trained on",
        )
    if (probabilities or threshold is not None) and not hasattr(model, "predict_proba"):
        option = "--probabilities" if probabilities else "--threshold"
        remedy = f"leave {option} out for this model; a logistic one has probabilities"
        raise InvalidParameter("a model with probabilities", f"a {type(model).__name__}", remedy)
    if threshold is not None and len(model.classes_) != 2:
        found, remedy = f"{len(model.classes_)} classes", "leave --threshold out, and look at --probabilities"
        raise InvalidParameter("two classes, for --threshold", found, remedy)
    return model


def _predictions(model: Any, table: "RawTable", threshold: float | None) -> list[Any]:
    if threshold is None:
        return list(model.predict(table).tolist())
    # The second class is the one whose probability the threshold is about.
    first, second = model.classes_.tolist()
    return [second if share >= threshold else first for share in model.predict_proba(table)[:, 1].tolist()]


def _ids(table: "RawTable", name: str | None) -> list[list[object]]:
    """Return the identifier of every row as the table has it, a missing one as nothing.

    Excel keeps whole numbers as others, and shows them without a fraction.
    """
    if name is None:
        return []
    if name not in table.names:
        remedy = f"choose one of {', '.join(table.names[:20])}"
        raise InvalidData(f"a column {name!r} to pass through", "none of that name", remedy)
    batches = table.with_ids(name).batches([name])
    return [[_as_shown(value)] for batch in batches for value in batch[name].tolist()]


def _as_shown(value: object) -> object:
    # Beyond this a double does not hold every whole number.
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    return value


@contextmanager
def _opened(out: Path | None, force: bool) -> Iterator[TextIO]:
    if out is None:
        yield sys.stdout
        return
    from equipoise.artifact.staging import new_file

    with new_file(out, force) as file:
        yield file
