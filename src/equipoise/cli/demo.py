"""`equipoise demo`: a study on public data, as a table and a page."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from equipoise.artifact.staging import refuse_inside_a_release
from equipoise.cli.options import AsJson, Quiet
from equipoise.cli.progress import counting, waiting
from equipoise.errors import InvalidParameter, MissingExtra, OutputRefused

if TYPE_CHECKING:
    from equipoise.demonstration import Cell

HEADER = ("dataset", "epsilon", "non-private", "private", "10 % .. 90 %", "kind", "theorem", "noise")
SPREAD = HEADER.index("10 % .. 90 %")
TEXTS = ("dataset", "kind", "theorem")
UNITS = (
    "Kind: where the noise enters, chosen from public facts alone. Noise: its standard deviation there, a coordinate "
    "of the objective's tilt (objective), a weight (output) or a sum of products (sufficient-statistics)"
)
PAGE = "index.html"
NOTICE = (
    "Study on public data. The scores are measured on test rows and are no part of a certificate: on private rows they "
    "would have to be paid for. The noise is seeded, so these models are for looking at, not for release."
)


def command(
    out: Annotated[Path, typer.Option(help="The folder that gets the page.")] = Path("demo"),
    force: Annotated[bool, typer.Option("--force", help="Replace a page there that no demonstration wrote.")] = False,
    repetitions: Annotated[int, typer.Option(help="Splits a dataset.", min=1)] = 20,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train private models on three public datasets at several epsilons and write a page.

    Without the extra report the table is all there is, and the program says so. The page of an earlier demonstration is
    replaced, any other file of that name is not.
    """
    refuse_inside_a_release(out / PAGE)
    if not force:
        _refuse_another_page(out / PAGE)
    console = Console(quiet=quiet or as_json)
    cells = _with_progress(repetitions, quiet or as_json)
    _print_table(console, cells)
    if as_json:
        print(json.dumps([{"notice": NOTICE, **asdict(cell)} for cell in cells], indent=2))
    console.print(f"\n{NOTICE}\n", style="yellow")
    try:
        with waiting("drawing the page", quiet or as_json):
            document = _write(out, cells, repetitions)
    except MissingExtra as absent:
        console.print(f"no page: {absent.found}; with one: {absent.remedy}", markup=False, soft_wrap=True)
        return
    console.print(f"open in a browser: {document.resolve().as_uri()}", soft_wrap=True)


def _refuse_another_page(document: Path) -> None:
    """Refuse to replace a page that this command has not written, before anything is trained."""
    from equipoise.report.demonstration_page import TITLE

    if not os.path.lexists(document):
        return
    mark = f"<title>{TITLE}</title>".encode()
    if document.is_symlink() or not document.is_file() or mark not in document.read_bytes():
        raise OutputRefused(
            f"a folder without an {PAGE}, or with that of an earlier demonstration",
            f"another {PAGE} in {document.parent}",
            "pass --out with another folder, or --force to replace it",
        )


def _with_progress(repetitions: int, silent: bool) -> list["Cell"]:
    from equipoise.demonstration import DATASETS, EPSILONS, run

    cells: list[Cell] = []
    with counting(silent) as report:
        for cell in run(repetitions):
            cells.append(cell)
            report("training private models", len(cells), len(DATASETS) * len(EPSILONS))
    return cells


def _texts(cell: "Cell") -> tuple[str, ...]:
    return (
        cell.dataset if cell.score == "accuracy" else f"{cell.dataset}, {cell.score}",
        f"{cell.epsilon:g}",
        f"{cell.plain:.3f}",
        f"{cell.private:.3f}",
        f"{cell.low:.3f} .. {cell.high:.3f}",
        cell.kind,
        cell.theorem,
        f"{cell.noise:.3g}" if cell.noise < 1000 else f"{cell.noise:.0f}",
    )


def _print_table(console: Console, cells: list["Cell"]) -> None:
    table = Table(
        title="What privacy costs: test accuracy, or R2, at pure epsilon",
        title_justify="left",
        box=SIMPLE,
        padding=(0, 1, 0, 0),
    )
    for name in HEADER[:SPREAD] + HEADER[SPREAD + 1 :]:
        table.add_column(name, justify="left" if name in TEXTS else "right", no_wrap=True)
    shown = ""
    for cell in cells:
        texts = _texts(cell)
        if cell.dataset != shown:
            table.add_section()
        # The spread is on the page; the terminal has 80 columns.
        table.add_row("" if cell.dataset == shown else texts[0], *texts[1:SPREAD], *texts[SPREAD + 1 :])
        shown = cell.dataset
    console.print(table)
    console.print(f"{UNITS}.", highlight=False)


def _right(share: float) -> str:
    return f"{100 * share:.1f} % of new images right."


def _write(out: Path, cells: list["Cell"], repetitions: int) -> Path:
    from equipoise.demonstration import IMAGES, in_ten_lines, look
    from equipoise.report import page
    from equipoise.report.demonstration_page import Demonstration, Portrait, demonstration_page

    model, scores = look(), {cell.epsilon: cell for cell in cells if cell.dataset == IMAGES}
    portraits = [Portrait("without privacy", _right(next(iter(scores.values())).plain), model.plain)]
    portraits += [
        Portrait(f"at epsilon = {epsilon:g}", _right(scores[epsilon].private) if epsilon in scores else "", weights)
        for epsilon, weights in model.private.items()
    ]
    text = demonstration_page(
        Demonstration(
            notice=NOTICE,
            repetitions=repetitions,
            cells=[asdict(cell) for cell in cells],
            portraits=portraits,
            signs=("for a five", "for a three"),
            certificate=in_ten_lines(model.plan),
            grade=model.plan.grade,
            numbers=page.table(HEADER, [_texts(cell) for cell in cells], f"{UNITS}."),
            arguments=[
                (f"{cell.dataset} at epsilon = {cell.epsilon:g}: the whole argument", cell.explanation)
                for cell in cells
                if cell.epsilon == 1.0
            ],
        )
    )
    document = out / PAGE
    try:
        out.mkdir(parents=True, exist_ok=True)
        document.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(
            f"to write into {out}", f"{error.strerror}", "pass --out with a folder that can be written"
        ) from None
    return document
