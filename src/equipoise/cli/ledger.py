"""`equipoise ledger`: budgets and spends, for those who keep them."""

import json
from dataclasses import asdict
from decimal import ROUND_CEILING, Decimal, localcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from equipoise.artifact.staging import new_file
from equipoise.cli.exit_codes import CHECK_FAILED, WITHDRAWN
from equipoise.cli.ledger_checkpoint import checkpoint
from equipoise.cli.options import AsJson
from equipoise.ledger import Ledger
from equipoise.ledger.chain import EXACT_DIGITS
from equipoise.ledger.fixed_budgets import composed
from equipoise.ledger.partings import compare
from equipoise.vocabulary.facts import Budget

FIXED_BUDGETS = "for fixed budgets; admits nothing"

# Enough of a digest to tell certificates apart; --json has the whole of it.
SHOWN_DIGITS = 12

Reference = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER",
        help="A dataset name, sqlite:///file.db#dataset, or postgresql://user@host/database#dataset.",
    ),
]

group = typer.Typer(no_args_is_help=True, help="Create, show and check the ledger that keeps a dataset's budget.")
group.command()(checkpoint)


@group.command()
def create(
    reference: Reference,
    epsilon: Annotated[float, typer.Option(help="All the privacy loss that this dataset may ever have.")],
    delta: Annotated[float, typer.Option(help="0 admits pure differential privacy only.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Give a dataset its budget, once; it is never changed."""
    ledger, budget = Ledger(reference), Budget(epsilon, delta)
    ledger.create(budget)
    if as_json:
        limit = {"epsilon": repr(budget.epsilon), "delta": repr(budget.delta)}
        print(json.dumps({"dataset": ledger.dataset, "limit": limit}, indent=2))
        return
    console = _console()
    amount = f"epsilon={budget.epsilon!r}, delta={budget.delta!r}"
    console.print(f"[bold green]created[/]: {escape(repr(ledger.dataset))} may spend {amount}")
    console.print("The ledger counts by dataset id: the same people under another id would have another budget.")


@group.command()
def show(
    reference: Reference,
    extra_delta: Annotated[
        float, typer.Option(help="What the figure for fixed budgets may add to the sum of deltas.")
    ] = 1e-6,
    as_json: AsJson = False,
) -> None:
    """Show the budget of a dataset, what was spent of it, and what remains."""
    ledger = Ledger(reference)
    balance, entries = ledger.statement()
    spends = [(float(entry.epsilon), float(entry.delta)) for entry in entries if entry.kind == "spend"]
    limit = {"epsilon": repr(balance.limit.epsilon), "delta": repr(balance.limit.delta)}
    left = {"epsilon": str(balance.epsilon_left), "delta": str(balance.delta_left)}
    with localcontext() as context:
        context.prec = EXACT_DIGITS
        spent = {name: str(Decimal(limit[name]) - Decimal(left[name])) for name in limit}
    epsilon, delta = (_rounded_up(amount) for amount in composed(spends, extra_delta))
    if epsilon >= float(spent["epsilon"]):
        # No tighter than the sum, which is exact.
        epsilon, delta = float(spent["epsilon"]), float(spent["delta"])
    if as_json:
        fixed = {"epsilon": epsilon, "delta": delta, "extra_delta": extra_delta, "meaning": FIXED_BUDGETS}
        record = {"dataset": ledger.dataset, "limit": limit, "spent": spent, "left": left, "spends": len(spends)}
        print(json.dumps({**record, "fixed_budgets": fixed}, indent=2))
        return
    table = Table(title=f"The budget of {escape(repr(ledger.dataset))}", title_justify="left")
    for heading in ("", "epsilon", "delta"):
        table.add_column(heading, justify="right" if heading else "left", overflow="fold")
    table.add_row("limit", limit["epsilon"], limit["delta"])
    table.add_row("spent", spent["epsilon"], spent["delta"])
    table.add_row("left", left["epsilon"], left["delta"], style="bold")
    table.add_row(f"spent, {FIXED_BUDGETS}", f"{epsilon:g}", f"{delta:g}", style="dim")
    console = _console()
    console.print(table)
    console.print(f"{len(spends)} spend(s); the last entry was made at {entries[-1].made}")


@group.command()
def history(reference: Reference, as_json: AsJson = False) -> None:
    """List every entry of a dataset, as it is recorded."""
    ledger = Ledger(reference)
    entries = ledger.history()
    if as_json:
        # An overwritten column may hold bytes, which JSON has no word for.
        print(json.dumps([asdict(entry) for entry in entries], indent=2, default=str))
        return
    table = Table(title=f"The history of {escape(repr(ledger.dataset))}", title_justify="left")
    for heading in ("number", "made (UTC)", "kind", "epsilon", "delta", "certificate"):
        table.add_column(heading, overflow="fold")
    for entry in entries:
        made, certificate = str(entry.made).removesuffix("+00:00"), str(entry.certificate)
        short = certificate if len(certificate) <= SHOWN_DIGITS else f"{certificate[:SHOWN_DIGITS]}..."
        fields = (entry.number, made, entry.kind, entry.epsilon, entry.delta, short)
        table.add_row(*map(_as_text, fields))
    console = _console()
    console.print(table)
    if ledger.verify():
        console.print("[bold red]does not hold together[/]: `equipoise ledger verify` says where")


@group.command()
def export(
    reference: Reference,
    out: Annotated[Path | None, typer.Option(help="Write to this file; an existing one is kept.")] = None,
) -> None:
    """Write the history of a dataset as JSON, to be kept where nobody who writes the ledger can change it."""
    text = Ledger(reference).export()
    if out is None:
        print(text, end="")
        return
    with new_file(out) as file:
        file.write(text)


@group.command()
def verify(
    reference: Reference,
    against: Annotated[
        str | None,
        typer.Option(help="An earlier export, a checkpoint, or the URL of a second database: what others know of it."),
    ] = None,
    key: Annotated[
        list[Path] | None, typer.Option(help="The public key of whoever signed the checkpoints; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the chain of entries, and that what others know of it still holds; exit code 1 if anything does not."""
    ledger = Ledger(reference)
    comparison = None if against is None else compare(ledger, against, key or ())
    faults = ledger.verify() if comparison is None else comparison.faults
    console = Console(quiet=as_json, highlight=False, soft_wrap=True)
    if as_json:
        found = {"intact": not faults, "faults": list(faults)}
        known = {} if comparison is None else {"confirmed": list(comparison.confirmed)}
        print(json.dumps({**found, **known}, indent=2))
    if faults:
        console.print(f"[bold red]does not hold[/]: {len(faults)} fault(s)")
        for fault in faults:
            console.print(f"  {fault}", markup=False)
        raise typer.Exit(CHECK_FAILED)
    console.print(f"[bold green]intact[/]: {len(ledger.history())} entry(s) of {escape(repr(ledger.dataset))}")
    for confirmed in () if comparison is None else comparison.confirmed:
        console.print(f"  {confirmed}", markup=False)
    if against is None:
        console.print("Entries cut off at the end are noticed only with --against and an earlier export or checkpoint.")


@group.command()
def withdrawn(reference: Reference, as_json: AsJson = False) -> None:
    """List the spends whose certificates rest on what was found false since; exit code 5 if there are any."""
    ledger = Ledger(reference)
    affected, unknown = ledger.withdrawn()
    if as_json:
        found = [{"number": entry.number, "certificate": entry.certificate, "reasons": why} for entry, why in affected]
        record = {"affected": found, "unknown": [entry.number for entry in unknown]}
        print(json.dumps(record, indent=2, default=str))
    console = Console(quiet=as_json, highlight=False, soft_wrap=True)
    for entry, reasons in affected:
        named = f"entry {_as_text(entry.number)}, certificate {_as_text(entry.certificate)}"
        console.print(f"[bold yellow]withdrawn[/]: {named}")
        for reason in reasons:
            console.print(f"  {reason}", markup=False)
    if not affected:
        which = "the other entries" if unknown else "entries"
        console.print(f"[bold green]nothing withdrawn[/] that {which} of {escape(repr(ledger.dataset))} rest on")
    if unknown:
        numbers = ", ".join(_as_text(entry.number) for entry in unknown)
        console.print(f"Not known here: entry(s) {numbers}, of which this ledger keeps nothing that they rest on.")
        console.print("Check the certificates of their releases: equipoise verify RELEASE", soft_wrap=True)
        console.print("The next equipoise ledger create in this file or database makes it keep that for new spends.")
    if affected:
        raise typer.Exit(WITHDRAWN)


def _as_text(field: object) -> str:
    """Return a field for a console: what was overwritten may hold anything, even what a terminal obeys."""
    return escape(text if (text := str(field)).isprintable() else ascii(text))


def _console() -> Console:
    return Console(highlight=False)


def _rounded_up(amount: float) -> float:
    """Return a figure of six digits that is not below the amount."""
    exact = Decimal(amount)
    return float(exact.quantize(Decimal((0, (1,), exact.adjusted() - 5)), ROUND_CEILING)) if exact else 0.0
