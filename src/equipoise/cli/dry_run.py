"""What a spend would buy, and whether it would be admitted: `equipoise train --dry-run`, from public facts alone."""

import math

from equipoise.certify.certificate import Certificate
from equipoise.data.schema import Schema
from equipoise.planning.notes import Notes


def bought(plan: Certificate, schema: Schema, ledger: str | None) -> tuple[str, ...]:
    """Return what a plan would buy and leave, a line each; a ledger that would refuse it refuses here."""
    lines = []
    cost = Notes.of(plan).cost
    if 0 <= cost < math.inf:
        lines.append(
            f"buys: {100 * max(0.0, 1 - cost):.3g} % of what a model without privacy would win, modelled on the "
            "reference problem (docs/mechanisms.md)"
        )
    if schema.private_bounds is not None:
        lines.append(
            f"bounds: epsilon {schema.private_bounds:g} for {len(schema.unbounded)} blank column(s); in 95 % of trials "
            "a range was at most 3 times as long as from the 1 % to the 99 % quantile (docs/schema.md)"
        )
    if ledger is None:
        return (*lines, "ledger: none; the spend would be recorded nowhere")
    from equipoise.ledger import Ledger  # the database toolkit is loaded only where a ledger is bound

    before = Ledger(ledger).would_admit(plan)
    return (*lines, f"ledger: admits it; epsilon {before.epsilon_left} and delta {before.delta_left} remain before it")
