"""Bounds of columns, paid for before the model: what they claim, and from how many rows on they are worth it (N6)."""

import math
from typing import ClassVar

from equipoise.certify.claims import Claim
from equipoise.certify.claims.chosen_bounds import ChosenBounds
from equipoise.errors import InvalidParameter
from equipoise.planning.kinds.base import Words
from equipoise.planning.request import Bounds
from equipoise.planning.words import Section
from equipoise.vocabulary.facts import Budget

# So many rows to a unit of the noise's scale: from there on the ranges of five columns are all useful in 95 % of runs,
# for columns of every shape that was tried (docs/schema.md, benchmarks/private_bounds.py). A rule about accuracy: no
# claim depends on it.
ROWS_TO_SCALE = 100


class ChosenBoundsWords(Words):
    """Bounds of columns."""

    claim: ClassVar[type[Claim]] = ChosenBounds
    words: ClassVar[str] = "noise on counts of rows, from which the bounds of columns follow"


def chosen_bounds(asked: Bounds, n_samples: int) -> ChosenBounds:
    """Return the claim of bounds that are released first: noise of ``2 m / epsilon`` rows for m columns, rounded up.

    Where the noise is too large for so few rows, it is refused: a model on such bounds would be useless, and paid for.

    Examples
    --------
    >>> chosen_bounds(Bounds(("age", "height"), 0.2), 5000).scale
    20.000000000000025
    >>> chosen_bounds(Bounds(("age", "height"), 0.2), 1000)
    Traceback (most recent call last):
    ...
    equipoise.errors.InvalidParameter: asked: private bounds of 2 columns for epsilon 0.2; found: 1000 rows, too few \
for ranges that are of use: they need 2000; to do: spend at least 0.4 on bounds, declare the bounds in the \
schema, or train on more rows
    """
    columns = len(asked.columns)
    scale = math.nextafter(2 * columns / asked.epsilon * (1 + 1e-15), math.inf)
    # The last digits, in which the scale is rounded up, ask for no further row.
    needed = math.ceil(ROWS_TO_SCALE * scale * (1 - 1e-12))
    if n_samples < needed:
        raise InvalidParameter(
            f"private bounds of {columns} column{'s' if columns > 1 else ''} for epsilon {asked.epsilon:g}",
            f"{n_samples} rows, too few for ranges that are of use: they need {needed}",
            _remedy(asked, n_samples),
        )
    return ChosenBounds(Budget(asked.epsilon), n_samples, asked.columns, scale)


def _remedy(asked: Bounds, n_samples: int) -> str:
    """Say what would do: more of the budget, fewer blank columns, or more rows."""
    columns = len(asked.columns)
    enough = 2 * columns * ROWS_TO_SCALE / n_samples
    # Rounded up to two digits, so that what is told is enough; what two digits tell exactly is not.
    digits = 1 - math.floor(math.log10(enough))
    told = f"spend at least {math.ceil(enough * 10**digits * (1 - 1e-12)) / 10**digits:g} on bounds"
    fewer = math.floor(n_samples * asked.epsilon / (2 * ROWS_TO_SCALE) * (1 - 1e-9))
    if fewer:
        return f"{told}, leave at most {fewer} of the columns blank and declare the others, or train on more rows"
    return f"{told}, declare the bounds in the schema, or train on more rows"


def bounds_section(bounds: ChosenBounds, left: Budget) -> Section:
    """Say what the bounds cost, and what is left for the model."""
    return "Private bounds, released before the model", (
        f"- epsilon {bounds.budget.epsilon:.6g} pays for the bounds of {len(bounds.columns)} column(s), by N6: an "
        f"interval each, chosen from a public grid by counts of rows with noise of scale {bounds.scale:.6g}",
        f"- epsilon {left.epsilon:.6g} is left for the model; by basic composition the claim covers both",
    )
