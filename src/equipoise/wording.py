"""Numbers and sentences for people, from plain numbers: no claim rests on them, and no check.

This file ships with equipoise-verify, too.
"""

import math
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, Context


def percent(share: float) -> str:
    """Return a share in percent, rounded up, small ones to more digits: no more is promised than is proved.

    Examples
    --------
    >>> percent(0.5), percent(0.731058), percent(0.0271), percent(0.002718)
    ('50 %', '73.2 %', '2.71 %', '0.272 %')
    """
    digits = 1 if share >= 0.1 else 2 if share >= 0.01 else 3
    return f"{min(math.ceil(share * 100 * 10**digits * (1 - 1e-12)) / 10**digits, 100):g} %"


def four_digits(value: float) -> str:
    """Return a number in at most four digits, rounded up: for what is proved to be no larger.

    Examples
    --------
    >>> four_digits(0.5), four_digits(0.26801), four_digits(1e-06)
    ('0.5', '0.2681', '1e-06')
    """
    return f"{float(Context(4, ROUND_CEILING).create_decimal_from_float(value)):.4g}"


def gains_in_words(
    unit: str, guess: float, true_positive_rates: Sequence[tuple[float, float]], advantage: float, mu: float | None
) -> Iterator[str]:
    """Yield what an attacker gains at most (N7); a unit is a row or a person."""
    yield f"An attacker knows two candidate {unit}s, one of which was in the table, and all the rest of the table."
    yield f"Both being equally likely beforehand, the right one is named in at most {percent(guess)} of cases,"
    yield "by whichever method; by a coin in 50 %."
    yield "To name the first where it was the second is a false positive, where it was the first a true one."
    for false, true in true_positive_rates:
        yield f"With false positives in {percent(false)} of cases, true ones are at most {percent(true)}."
    yield f"Advantage, the true positive rate less the false one: at most {percent(advantage)}."
    if mu is not None:
        yield f"No easier to tell than two normal laws of deviation 1 whose means are mu = {four_digits(mu)} apart."
