"""`equipoise schema`: draft a schema to fill in, and check one against the data, for the owner's eyes."""

import json
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli.exit_codes import CHECK_FAILED
from equipoise.cli.options import AsJson, Delimiter
from equipoise.cli.progress import counting
from equipoise.errors import InvalidParameter

group = typer.Typer(no_args_is_help=True, help="Draft the public facts of a table, and check them against the rows.")

DataPath = Annotated[Path, typer.Argument(help="A CSV, Parquet, Arrow or Excel file.")]
TablePath = Annotated[Path, typer.Argument(help="A CSV, Parquet, Arrow or Excel file, or a folder of parts.")]

# Bounds that are paid for reach no farther from zero (N6).
FARTHEST_BOUNDS = (-(2.0**40), 2.0**40)


@group.command()
def draft(
    data: DataPath,
    out: Annotated[Path | None, typer.Option(help="Write the draft here; an existing file is kept.")] = None,
    delimiter: Delimiter = None,
    sheet: Annotated[
        str | None, typer.Option(help="The sheet of a workbook that holds the table, where it has several.")
    ] = None,
    no_header: Annotated[
        bool, typer.Option("--no-header", help="The first line of the CSV file is a row: name columns by position.")
    ] = False,
    codebook: Annotated[
        list[Path] | None,
        typer.Option(
            help="A CSV file of levels (column, level, label) or bounds (column, low, high); may be repeated."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The column that is predicted; its code book gives classes or a range.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a schema with names, kinds and blanks; the facts are yours to fill in."""
    from equipoise.artifact.staging import new_file
    from equipoise.data.files import open_table
    from equipoise.data.schema import Schema
    from equipoise.data.schema.code_book import read_code_books
    from equipoise.data.schema.draft import draft as drafted
    from equipoise.data.schema.file_format import COMMON_FILE
    from equipoise.data.sheet_sniffing import propose_sheet
    from equipoise.data.sniffing import propose

    proposal = propose(data, delimiter, header=not no_header)
    if proposal is None and (no_header or delimiter is not None):
        raise InvalidParameter(
            "a text file, such as CSV, for --no-header or --delimiter",
            f"{data.name}, which names its columns itself",
            "leave them out; where the first row of a sheet is a person, insert a row of names above it",
        )
    if proposal is None:
        proposal = propose_sheet(data, sheet)
    if sheet is not None and (proposal is None or not proposal.file.sheet):
        found = f"{data.name}, which has no sheets"
        raise InvalidParameter("a workbook of Excel, for --sheet", found, "leave --sheet out")
    table = open_table(data, file=COMMON_FILE if proposal is None else proposal.file)
    book = read_code_books(codebook or (), table.names)
    text = drafted(table, book, () if proposal is None else proposal.lines(), target)
    if out is not None:
        with new_file(out) as file:
            file.write(text)
    blanks = Schema.from_text(text).blanks()
    if as_json:
        reasons = {} if proposal is None else proposal.reasons
        facts = {"schema": tomllib.loads(text), "file_reasons": reasons, "blanks": blanks}
        print(json.dumps({**facts, "out": None if out is None else str(out)}, indent=2))
        return
    if out is None:
        print(text, end="")
    if proposal is not None and proposal.reasons:
        print(f"proposed for [file] from the first lines of {data.name}; confirm it there:", file=sys.stderr)
        print("\n".join(proposal.said()), file=sys.stderr)
        if proposal.blank:
            print("numbers can be read in two ways: fill decimal in before anything is trained", file=sys.stderr)
    if out is None:
        return
    command = shlex.join(["equipoise", "schema", "check", str(data), str(out)])
    print(f"wrote {out}: fill in its {len(blanks)} blanks, then run: {command}")


@group.command()
def check(
    data: TablePath,
    schema: Annotated[Path, typer.Argument(help="A schema.toml without blanks.")],
    delimiter: Delimiter = None,
    private_bounds: Annotated[
        bool, typer.Option("--private-bounds", help="Blank bounds will be paid for: count what no such bounds reach.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Count what a schema's rules change in the rows. For the data's owner: the counts are not for release.

    Exit code 1 if the schema describes another table: most numbers unreadable, or nearly all labels of no class.
    """
    from equipoise.data.diagnosis import check_table
    from equipoise.data.engines import open_table
    from equipoise.data.schema import Schema
    from equipoise.data.watched import WatchedTable

    facts = Schema.from_toml(schema)
    if private_bounds:
        facts = facts.with_bounds(dict.fromkeys(facts.unbounded, FARTHEST_BOUNDS))
    facts.require_complete()
    raw = open_table(data, delimiter, schema=facts)
    # How many rows persons have in all is nowhere declared.
    total = raw.n_samples if facts.person is not None else facts.n_samples
    with counting(as_json) as report:
        diagnosis = check_table(facts, WatchedTable(raw, lambda rows: report("rows read", rows, total)))
    print(json.dumps(diagnosis.to_plain(), indent=2) if as_json else diagnosis)
    if diagnosis.mismatches:
        print("the schema describes another table than this one: correct it before anything is spent", file=sys.stderr)
        raise typer.Exit(CHECK_FAILED)
