"""`equipoise audit`: releases on a worst case, and the epsilon that they show."""

import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from equipoise.cli.exit_codes import CHECK_FAILED
from equipoise.cli.model_options import Delta, Mechanism, Model
from equipoise.cli.options import AsJson

if TYPE_CHECKING:
    from equipoise.cli.worst_cases import WorstCase
    from equipoise.lab.auditing import Finding

NOTICE = (
    "Measured on two built-in neighbouring tables; no rows of yours were read. The noise was drawn from seeded "
    "sources, for speed: the exact samplers of a release are not what was audited. An audit can refute a claim; "
    "that it found no fault proves nothing."
)


def command(
    model: Model = "logistic",
    mechanism: Mechanism = "auto",
    epsilon: Annotated[float, typer.Option(help="The privacy loss that the release claims.")] = 1.0,
    delta: Delta = 0.0,
    n_features: Annotated[int, typer.Option("--n-features", "-d", help="Columns of the tables.", min=1)] = 1,
    rows_a_person: Annotated[
        int, typer.Option(help="Replace all rows of a person, who has so many; 0 replaces one row.", min=0)
    ] = 0,
    runs: Annotated[int, typer.Option(help="Counted releases on each of the two tables.", min=1)] = 5000,
    seed: Annotated[int, typer.Option(help="Another one gives other noise.", min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """Release many times on two neighbouring tables, and measure the privacy loss; exit code 1 if a claim is refuted.

    The tables are those on which a model moves almost as far as its certificate allows.
    """
    from equipoise.cli.worst_cases import measure, worst_case

    case = worst_case(model, mechanism, epsilon, delta, n_features, rows_a_person)
    found = measure(case, runs, seed, progress=not as_json)
    if as_json:
        print(json.dumps(_plain(model, case, found, seed), indent=2))
    else:
        _print(model, case, found, seed)
    if found.refuted:
        raise typer.Exit(CHECK_FAILED)


def _plain(model: str, case: "WorstCase", found: "Finding", seed: int) -> dict[str, object]:
    from equipoise.lab.auditing import PILOTS

    certificate = case.certificate
    return {
        "model": model,
        "loss": case.loss,
        "kind": certificate.kind,
        "mechanism": certificate.mechanism,
        "theorem": certificate.theorem,
        "delta": found.delta,
        "claimed_epsilon": found.claimed,
        "measured_epsilon": found.epsilon,
        "confidence": found.confidence,
        "failure": found.failure,
        "runs": found.runs,
        "pilots": PILOTS,
        "reach": found.reach,
        "verdict": found.verdict,
        "seed": seed,
        "adjacency": certificate.adjacency,
        "n_samples": certificate.n_samples,
        "n_features": certificate.n_features,
        "alpha": certificate.alpha,
        "grade": "measured",
        "notice": NOTICE,
    }


def _print(model: str, case: "WorstCase", found: "Finding", seed: int) -> None:
    from equipoise.lab.auditing import PILOTS

    certificate = case.certificate
    console = Console(highlight=False, soft_wrap=True)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    most = case.rows_a_person
    shape = f"{certificate.n_samples} {'persons' if most else 'rows'}, {certificate.n_features} column(s)"
    turned = f"all {most} row(s) of one person" if most else "one row"
    colour = "bold red" if found.refuted else "bold green"
    for name, text in (
        ("release", f"{model} ({case.loss} loss), {certificate.kind}, {certificate.mechanism} noise"),
        ("worst case", f"{turned} turned round; {shape}, ridge {certificate.alpha:g}"),
        ("claimed", f"epsilon = {found.claimed:g} at delta = {found.delta:g}, by {certificate.theorem}"),
        ("measured", f"epsilon >= {found.epsilon:.4g}; so many runs could have shown up to {found.reach:.3g}"),
        (
            "confidence",
            f"{100 * found.confidence:.10g} %: a true claim is refuted with probability <= {found.failure:g}",
        ),
        ("runs", f"{found.runs:,} on each table, after {PILOTS} that fixed the events; seed {seed}"),
        ("verdict", f"[{colour}]{found.verdict}[/]"),
    ):
        table.add_row(name, text)
    console.print(table)
    console.print(f"\n{NOTICE}")
