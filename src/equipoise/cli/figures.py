"""`equipoise figures`: every figure of a stored evaluation, also at every threshold; it costs nothing."""

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.options import AsJson
from equipoise.cli.progress import waiting

if TYPE_CHECKING:
    from equipoise.report.evaluation_record import EvaluationRecord, Shown


def command(
    evaluation: Annotated[Path, typer.Argument(help="The folder of an evaluation.")],
    as_json: AsJson = False,
) -> None:
    """Print what the counts of an evaluation tell: all figures, those of groups, and those at every threshold.

    Of what cannot be told it says about what it would take.
    """
    from equipoise.cli.evaluate import plain_of
    from equipoise.evaluation.evaluation import Evaluation
    from equipoise.evaluation.page import record_of

    found = Evaluation.load(evaluation)
    with waiting("computing figures", as_json):
        record = record_of(found.certificate, "" if found.schema is None else found.schema.target.name)
    if as_json:
        figures = [
            {"name": line.name, "meaning": line.meaning, **dataclasses.asdict(line.figure)} for line in record.lines
        ]
        facts = {"evaluation": str(evaluation), "certificate": found.certificate.digest}
        told = plain_of(found)
        # A record has room for so many groups; of those it has further figures.
        for group, further in _by_group(record).items():
            told["by_group"][group] |= further
        print(json.dumps({**facts, **told, "figures": figures}, indent=2))
        return
    for line in lines_of(record):
        # Names of classes and groups may hold what a terminal obeys.
        print(line if line.isprintable() else ascii(line))


def _by_group(record: "EvaluationRecord") -> dict[str, dict[str, dict[str, float]]]:
    """Return for programs the figures of groups that stand side by side, as `plain_of` has the first of them."""
    ends = ("value", "low", "high", "bins")
    return {
        group: {
            bars.title.replace(" ", "_"): {end: getattr(bars.figures[place], end) for end in ends}
            for bars in record.bars
        }
        for place, group in enumerate(record.groups)
        if record.bars
    }


def lines_of(record: "EvaluationRecord") -> Iterator[str]:
    """Yield for people every figure of an evaluation with its interval of 95 %."""
    yield (
        f"{record.n_samples} rows, ({record.epsilon:g}, {record.delta:g})-differential privacy, all figures together; "
        "in brackets intervals of 95 %"
    )
    yield from _table([("figure", "value"), *((line.name, _words(line.figure)) for line in record.lines)])
    if record.bars:
        rows = [
            (group, *(_words(bars.figures[place]) for bars in record.bars)) for place, group in enumerate(record.groups)
        ]
        yield from _table([(record.by, *(bars.title for bars in record.bars)), *rows])
    if record.thresholds:
        points = zip(*(points for _, points in record.thresholds), strict=True)
        cells = [(f"{line[0].place:.6g}", *(_words(one.figure) for one in line)) for line in points]
        yield from _table([("threshold", *(name for name, _ in record.thresholds)), *cells])
    if drowned := _untold(record):
        yield from _table([("what cannot be told", "why, and what it would take"), *drowned.items()])


def _untold(record: "EvaluationRecord") -> dict[str, str]:
    """Return by its name why each figure that is not told is not, and about what it would take."""
    named = {line.name: line.figure for line in record.lines}
    for bars in record.bars:
        named |= {f"{bars.title}, {group}": one for group, one in zip(record.groups, bars.figures, strict=True)}
    for name, points in record.thresholds:
        named |= {f"{name} from {point.place:.6g} on": point.figure for point in points}
    return {name: one.verdict for name, one in named.items() if one.verdict}


def _words(shown: "Shown") -> str:
    return f"{shown.text} ({shown.interval})".replace("\N{NO-BREAK SPACE}", " ")


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows with their columns one below the other, after an empty line."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    yield ""
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
