"""What a spend would buy, and whether it would be admitted: `equipoise train --dry-run`, from public facts alone."""

import math
from dataclasses import asdict, dataclass
from typing import Self

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.chosen_bounds import MOST_UNITS, UNITS, ChosenBounds
from equipoise.data.schema import Schema
from equipoise.planning.notes import Notes

# So often what the noise costs stays below what is said of it.
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class BlankBounds:
    """What is paid for bounds that the schema leaves blank, of how many columns, and how wide they become (N6).

    Attributes
    ----------
    scale : float
        The scale of the noise on the scores of ranges, in rows.
    rows_at_stake : int
        So many rows at most the noise costs any of the ranges, with the probability `CONFIDENCE`: a range is released
        only if its score is at most ``max_I E_I`` below the best, and of K exponential variables of scale s for each of
        m columns all are below ``s ln(m K/beta)`` with probability ``1 - beta``.
    n_samples : int
        Of how many.
    narrowest : float
        The least length of a range, as a share of its farther end's distance from zero.
    """

    epsilon: float
    columns: int
    scale: float
    rows_at_stake: int
    n_samples: int
    narrowest: float

    @classmethod
    def of(cls, claim: ChosenBounds, epsilon: float) -> Self:
        """Return what a claim says before any row is read."""
        from equipoise.release.intervals import intervals

        columns, ranges = len(claim.columns), len(intervals().lows)
        at_stake = math.ceil(claim.scale * math.log(columns * ranges / (1 - CONFIDENCE)))
        return cls(epsilon, columns, claim.scale, at_stake, claim.n_samples, UNITS / MOST_UNITS)

    def line(self) -> str:
        """Return it in one sentence, of two lines on a terminal at most."""
        return (
            f"bounds: epsilon {self.epsilon:g} for {self.columns} blank column(s): noise of scale {self.scale:.3g} "
            f"rows, which in {100 * CONFIDENCE:g} % of runs costs no range more than {self.rows_at_stake} of "
            f"{self.n_samples} rows; none is shorter than {100 * self.narrowest:.2g} % of its farther end"
        )


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
        The part that pays for blank bounds, and how wide they become.
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

    def bought(self) -> tuple[str, ...]:
        """Return what is bought, a line each."""
        lines = []
        if self.buys is not None:
            lines.append(
                f"buys: {_percent(self.buys)} % of what a model without privacy would win, modelled on the "
                "reference problem (docs/mechanisms.md)"
            )
        if self.bounds is not None:
            lines.append(self.bounds.line())
        return tuple(lines)

    def lines(self) -> tuple[str, ...]:
        """Return what is bought and left, a line each."""
        lines = self.bought()
        if self.ledger is None:
            return (*lines, "ledger: none; the spend would be recorded nowhere")
        left = f"epsilon {self.ledger.epsilon} and delta {self.ledger.delta} remain before it"
        if self.ledger.currency != "basic":
            left = f"{left}; it costs {self.ledger.cost} of {self.ledger.left} left in {self.ledger.currency}"
        return (*lines, f"ledger: admits it; {left}")

    def to_plain(self) -> dict[str, object]:
        """Return the same as dictionaries."""
        return asdict(self)


def _percent(share: float) -> str:
    """Return a share in percent, of which three digits are shown; 100 is all, and nothing less."""
    return "over 99.9" if 0.9995 <= share < 1 else f"{100 * share:.3g}"


def purchase(plan: Certificate, schema: Schema, ledger: str | None) -> Purchase:
    """Return what a plan would buy and leave; a ledger that would refuse it refuses here."""
    cost = Notes.of(plan).cost
    buys = max(0.0, 1 - cost) if 0 <= cost < math.inf else None
    paid = schema.private_bounds
    claims = [node for node in plan.claim.nodes() if isinstance(node, ChosenBounds)]
    bounds = BlankBounds.of(claims[0], paid) if claims and paid is not None else None
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
