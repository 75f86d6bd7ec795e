"""`equipoise ledger`: budgets and spends, for those who keep them."""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from equipoise.artifact.staging import new_file
from equipoise.cli.exit_codes import CHECK_FAILED, WITHDRAWN
from equipoise.cli.ledger_checkpoint import checkpoint
from equipoise.cli.options import AsJson
from equipoise.errors import InvalidParameter
from equipoise.keys.files import public_key
from equipoise.ledger.chain import Entry
from equipoise.ledger.currencies import Amount, currency_named
from equipoise.ledger.currencies.base import NOTHING, SHARE, shown
from equipoise.ledger.currencies.renyi import Renyi
from equipoise.ledger.records import RECOVERY_KEYS, plain, read
from equipoise.ledger.statements import Balance, basic_sums, course
from equipoise.vocabulary.facts import Budget

if TYPE_CHECKING:
    from equipoise.ledger import Ledger

# Enough of a digest to tell certificates apart; --json has the whole of it.
SHOWN_DIGITS = 12

Reference = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER",
        help="A dataset name, sqlite:///file.db#dataset, or postgresql://user@host/database#dataset.",
    ),
]

Currency = Annotated[
    str | None,
    typer.Option(help="What spends are counted in: basic, gaussian, zcdp or renyi:ORDER (docs/currencies.md)."),
]

group = typer.Typer(no_args_is_help=True, help="Create, show and check the ledger that keeps a dataset's budget.")
group.command()(checkpoint)


def _opened(reference: str) -> "Ledger":
    """Return the ledger; the database toolkit, an extra, is loaded here and not by those who ask for help."""
    from equipoise.ledger import Ledger

    return Ledger(reference)


@group.command()
def create(
    reference: Reference,
    epsilon: Annotated[float, typer.Option(help="All the privacy loss that this dataset may ever have.")],
    delta: Annotated[float, typer.Option(help="0 admits pure differential privacy only.")] = 0.0,
    currency: Currency = None,
    key: Annotated[Path | None, typer.Option(help="The owner's public key, by which checkpoints are signed.")] = None,
    apart_from: Annotated[
        list[str] | None,
        typer.Option(help="A dataset of nearly the same name that is about other people; may be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Give a dataset its budget, once; it is never changed."""
    ledger, budget = _opened(reference), Budget(epsilon, delta)
    ledger.create(budget, currency, None if key is None else public_key(key).hex(), apart_from or ())
    counted = ledger.head().currency
    if as_json:
        limit = {"epsilon": repr(budget.epsilon), "delta": repr(budget.delta)}
        print(json.dumps({"dataset": ledger.dataset, "limit": limit, "currency": counted}, indent=2))
        return
    console = _console()
    amount = f"epsilon={budget.epsilon!r}, delta={budget.delta!r}"
    console.print(f"[bold green]created[/]: {escape(repr(ledger.dataset))} may spend {amount}, counted in {counted}")
    console.print(f"It is kept in {escape(ledger.place)}.", soft_wrap=True)
    console.print("The ledger counts by dataset id: the same people under another id would have another budget.")


@group.command()
def migrate(
    reference: Reference,
    currency: Annotated[str, typer.Option(help="What spends are counted in from now on (docs/currencies.md).")],
    as_json: AsJson = False,
) -> None:
    """Move a dataset to another currency, for its owner; the history stays, and an entry says what was done."""
    ledger = _opened(reference)
    entry = ledger.migrate(currency)
    balance = ledger.balance()
    if as_json:
        print(json.dumps({"dataset": ledger.dataset, "entry": entry.number, **_in_currency(balance)}, indent=2))
        return
    console = _console()
    named = f"{escape(repr(ledger.dataset))} counts in {balance.currency} from entry {entry.number} on"
    console.print(f"[bold green]moved[/]: {named}")
    console.print(f"spent {shown(balance.spent.amount, True)} of {balance.allowed.amount}, in {balance.currency}")
    for line in _promise(balance, _migrations(ledger.history())):
        console.print(line)


@group.command()
def recover(
    reference: Reference,
    everything: Annotated[bool, typer.Option("--everything", help="Count all that is left as spent.")] = False,
    amount: Annotated[
        str | None, typer.Option(help="What malformed entries may have spent, in the ledger's currency.")
    ] = None,
    delta: Annotated[str, typer.Option(help="Their delta.")] = "0",
    as_json: AsJson = False,
) -> None:
    """Move malformed entries out of a history, as evidence, and count what they may have spent; for the owner."""
    if everything is (amount is not None):
        remedy = "pass --everything, or --amount A --delta D for the malformed entries together"
        raise InvalidParameter("what malformed entries may have spent", "nothing, or both answers", remedy)
    from equipoise.ledger.recovery import recover as recovered

    ledger = _opened(reference)
    entry = recovered(ledger, None if amount is None else Amount(_decimal(amount), _decimal(delta)))
    balance = ledger.balance()
    moved = len(read(entry.record, RECOVERY_KEYS)["quarantined"])
    if as_json:
        print(
            json.dumps(
                {"dataset": ledger.dataset, "entry": entry.number, "moved": moved, **_in_currency(balance)}, indent=2
            )
        )
        return
    console = _console()
    console.print(
        f"[bold green]recovered[/]: {moved} entry(s) of {escape(repr(ledger.dataset))} moved to `quarantined`"
    )
    console.print(
        f"entry {entry.number} says so; spent {shown(balance.spent.amount, True)} of {balance.allowed.amount}"
    )
    if amount is not None and not balance.left.amount:
        console.print("Nothing is left, whatever was stated: docs/ledger-postgresql.md says when that is so.")


@group.command()
def show(
    reference: Reference,
    picture: Annotated[Path | None, typer.Option(help="Draw the spends over time into this new SVG file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the budget of a dataset, what was spent of it over time, and what remains."""
    from equipoise.report.ledger_chart import as_lines, chart

    ledger = _opened(reference)
    balance, entries = ledger.statement()
    points = [(point.made, point.share) for point in course(entries)]
    if picture is not None:
        drawn = io.StringIO()
        chart(f"The budget of {ledger.dataset}", points).save(drawn, format="svg")
        with new_file(picture) as file:
            file.write(drawn.getvalue())
    sums, left, moves = basic_sums(entries), balance.left, _migrations(entries)
    recoveries = sum(entry.kind == "recovery" for entry in entries)
    limit = {"epsilon": repr(balance.limit.epsilon), "delta": repr(balance.limit.delta)}
    remaining = {"epsilon": str(balance.epsilon_left), "delta": str(balance.delta_left)}
    basic = {"epsilon": str(sums.amount), "delta": str(sums.delta)}
    spent = _worth(balance)
    if as_json:
        record = {"dataset": ledger.dataset, "limit": limit, "spent": spent, "left": remaining, "basic": basic}
        drawn_points = [{"made": made, "share": share} for made, share in points]
        proved = {"epsilon": limit["epsilon"], "delta": _proved_delta(balance, moves)}
        record |= {"proved": proved}
        times = {"migrations": moves, "recoveries": recoveries}
        told = {**record, **times, **_in_currency(balance), "spends": len(points), "course": drawn_points}
        print(json.dumps(told, indent=2))
        return
    table = Table(title=f"The budget of {escape(repr(ledger.dataset))}", title_justify="left")
    headings = (
        ("", "epsilon", "delta") if balance.currency == "basic" else ("", "epsilon", "delta", *_headings(balance))
    )
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left", overflow="fold")
    rows = [("limit", limit, balance.allowed), ("spent", spent, balance.spent), ("left", remaining, left)]
    for name, amount, counted in rows:
        # In basic composition both are the same exact decimals.
        cells = [shown(Decimal(amount[part]), upwards=name == "spent") for part in ("epsilon", "delta")]
        if balance.currency != "basic":
            found = (Decimal(amount["epsilon"]), Decimal(amount["delta"]), counted.amount, counted.delta)
            cells = [_short(number, upwards=name == "spent") for number in found]
        table.add_row(name, *cells, style="bold" if name == "left" else None)
    if balance.currency != "basic":
        table.add_row(
            "spent, by basic composition", *(shown(part, True) for part in (sums.amount, sums.delta)), style="dim"
        )
    console = _console()
    if (order := _cost_of_order(balance)) is not None:
        # Before the table: after few spends it reads more than basic composition would.
        console.print(f"Of the epsilon spent, {order:.3g} is what the order costs once, however little is spent.")
    console.print(table)
    for line in _promise(balance, moves):
        console.print(line)
    if recoveries:
        console.print(
            f"It was recovered {recoveries} time(s): what was moved then is counted, and in no list of spends."
        )
    console.print(f"It counts in {balance.currency}.")
    for line in as_lines(points):
        console.print(line, markup=False)
    console.print(f"{len(points)} spend(s); the last entry was made at {entries[-1].made}")


@group.command()
def releases(reference: Reference, as_json: AsJson = False) -> None:
    """List the spends of a dataset with the ids of their releases, and what became of them."""
    ledger = _opened(reference)
    found = ledger.releases()
    if as_json:
        listed = [
            {
                "number": paid.entry.number,
                "digest": paid.entry.digest,
                "made": paid.entry.made,
                "release": paid.release or None,
                "outcome": paid.outcome,
                "certificate": paid.certificate or None,
            }
            for paid in found
        ]
        print(json.dumps(listed, indent=2, default=str))
        return
    title = f"The releases of {escape(repr(ledger.dataset))}"
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=0, show_edge=False)
    for heading in ("entry", "made (UTC)", "epsilon", "delta", "release", "outcome"):
        # An id is there to be copied; a time may stand in two lines.
        table.add_column(heading, overflow="fold", no_wrap=heading == "release")
    for paid in found:
        entry = paid.entry
        made = str(entry.made).removesuffix("+00:00").replace("T", " ")
        fields = (entry.number, made, entry.epsilon, entry.delta, paid.release or "not known", paid.outcome)
        table.add_row(*map(_as_text, fields))
    _console().print(table)


@group.command()
def history(reference: Reference, as_json: AsJson = False) -> None:
    """List every entry of a dataset, as it is recorded."""
    ledger = _opened(reference)
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
    text = _opened(reference).export()
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
    """Check the chain and every price, and that what others know still holds; exit code 1 if not.

    A spend takes the price that a client names: one who lies is found here, afterwards, and is not stopped.
    """
    from equipoise.ledger.partings import compare
    from equipoise.ledger.recovery import evidence_faults

    ledger = _opened(reference)
    comparison = None if against is None else compare(ledger, against, key or ())
    faults = (*(ledger.verify() if comparison is None else comparison.faults), *evidence_faults(ledger))
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
    console.print(f"[bold green]intact[/]: {ledger.head().number} entry(s) of {escape(repr(ledger.dataset))}")
    console.print("Every price was computed again from its certificate: a client that lied would have been found here.")
    for confirmed in () if comparison is None else comparison.confirmed:
        console.print(f"  {confirmed}", markup=False)
    if against is None:
        console.print("Entries cut off at the end are noticed only with --against and an earlier export or checkpoint.")


@group.command()
def withdrawn(reference: Reference, as_json: AsJson = False) -> None:
    """List the spends whose certificates rest on what was found false since; exit code 5 if there are any."""
    ledger = _opened(reference)
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


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise InvalidParameter("an amount", f"{text!r:.80}", "write a decimal, such as 0.5 or 1e-8") from None


def _migrations(entries: Sequence[Entry]) -> int:
    return sum(entry.kind == "migration" for entry in entries)


def _proved_delta(balance: Balance, migrations: int) -> str:
    """Return (k + 1) delta: what is proved after k migrations, whatever they were decided by (docs/ledger.md)."""
    return str((migrations + 1) * Decimal(repr(balance.limit.delta)))


def _promise(balance: Balance, migrations: int) -> Iterator[str]:
    """Yield what all releases of a ledger together promise, after so many migrations."""
    if not migrations or not balance.limit.delta:
        yield "All releases together are private with the limit."
        return
    yield f"It was migrated {migrations} time(s). All releases together are private with the limit if none of these"
    yield f"decisions looked at a release; else with delta {_proved_delta(balance, migrations)} (docs/ledger.md)."


def _console() -> Console:
    return Console(highlight=False)


def _in_currency(balance: Balance) -> dict[str, object]:
    """Return limit, spent and left in the currency of a ledger."""
    amounts = {"limit": balance.allowed, "spent": balance.spent, "left": balance.left}
    return {"currency": balance.currency, "in_currency": {name: plain(found) for name, found in amounts.items()}}


def _short(number: Decimal, upwards: bool) -> str:
    """Return a number in six digits, rounded to the careful side; --json has all of them."""
    return str(Context(prec=6, rounding=ROUND_CEILING if upwards else ROUND_FLOOR).plus(number)) if number else "0"


def _headings(balance: Balance) -> tuple[str, str]:
    return f"in {balance.currency}", "its delta"


def _cost_of_order(balance: Balance) -> float | None:
    """Return the part of the epsilon spent that a Renyi currency takes with the first spend; None in all others."""
    currency = currency_named(balance.currency)
    if not isinstance(currency, Renyi) or balance.spent == NOTHING:
        return None
    return currency.least(0.0, balance.limit.delta * SHARE)


def _worth(balance: Balance) -> dict[str, str]:
    """Return what was spent as (epsilon, delta): exactly in basic currency, else at the delta of the budget."""
    if balance.currency == "basic" or balance.spent == NOTHING:
        return {"epsilon": str(balance.spent.amount), "delta": str(balance.spent.delta)}
    worth = currency_named(balance.currency).worth(balance.spent, balance.limit)
    return {"epsilon": repr(worth.epsilon), "delta": repr(worth.delta)}
