"""What a spend would buy, and whether it would be admitted: `equipoise train --dry-run`, from public facts alone."""

import math
from dataclasses import asdict, dataclass

from equipoise.certify.certificate import Certificate
from equipoise.data.schema import Schema
from equipoise.planning.notes import Notes


@dataclass(frozen=True, slots=True)
class BlankBounds:
    """What is paid for bounds that the schema leaves blank, of how many columns."""

    epsilon: float
    columns: int


@dataclass(frozen=True, slots=True)
class Remaining:
    """What a ledger has left before a spend that it would admit, and what the spend costs, in its currency.

    `epsilon` and `delta` are what is left as people read it, the others exact decimals of the currency.
    """

    ledger: str
    epsilon: str
    delta: str
    currency: str
    cost: str
    left: str


@dataclass(frozen=True, slots=True)
class Purchase:
    """What a plan would buy and leave; None where there is nothing to say.

    Attributes
    ----------
    buys : float or None
        The modelled share of what a model without privacy would win.
    bounds : BlankBounds or None
        The part that pays for blank bounds.
    ledger : Remaining or None
        What remains before the spend; None where it would be recorded nowhere.

    Examples
    --------
    >>> for line in Purchase(0.9, None, None).lines():
    ...     print(line)
    buys: 90 % of what a model without privacy would win, modelled on the reference problem (docs/mechanisms.md)
    ledger: none; the spend would be recorded nowhere
    """

    buys: float | None
    bounds: BlankBounds | None
    ledger: Remaining | None

    def lines(self) -> tuple[str, ...]:
        """Return what is bought and left, a line each."""
        lines = []
        if self.buys is not None:
            lines.append(
                f"buys: {100 * self.buys:.3g} % of what a model without privacy would win, modelled on the "
                "reference problem (docs/mechanisms.md)"
            )
        if self.bounds is not None:
            lines.append(
                f"bounds: epsilon {self.bounds.epsilon:g} for {self.bounds.columns} blank column(s); in 95 % of trials "
                "a range was at most 3 times as long as from the 1 % to the 99 % quantile (docs/schema.md)"
            )
        if self.ledger is None:
            return (*lines, "ledger: none; the spend would be recorded nowhere")
        left = f"epsilon {self.ledger.epsilon} and delta {self.ledger.delta} remain before it"
        if self.ledger.currency != "basic":
            left = f"{left}; it costs {self.ledger.cost} of {self.ledger.left} left in {self.ledger.currency}"
        return (*lines, f"ledger: admits it; {left}")

    def to_plain(self) -> dict[str, object]:
        """Return the same as dictionaries."""
        return asdict(self)


def purchase(plan: Certificate, schema: Schema, ledger: str | None) -> Purchase:
    """Return what a plan would buy and leave; a ledger that would refuse it refuses here."""
    cost = Notes.of(plan).cost
    buys = max(0.0, 1 - cost) if 0 <= cost < math.inf else None
    paid = schema.private_bounds
    bounds = None if paid is None else BlankBounds(paid, len(schema.unbounded))
    if ledger is None:
        return Purchase(buys, bounds, None)
    # The database toolkit is loaded only where a ledger is bound.
    from equipoise.ledger import Ledger
    from equipoise.ledger.currencies import currency_named

    book = Ledger(ledger)
    before = book.would_admit(plan)
    price = currency_named(before.currency).price(plan.claim).amount
    left = (str(before.epsilon_left), str(before.delta_left), before.currency, str(price), str(before.left.amount))
    return Purchase(buys, bounds, Remaining(book.dataset, *left))
