"""How good private bounds are: the share of columns whose range is useful, and the fewest rows at which 95 % are.

A range is useful if it holds at least 90 % of the column's values and is at most 3 times as long as from their 1 % to
their 99 % quantile; for a constant, if it holds the value and is no longer than its size, or 1 for zero. Prints the
table of docs/schema.md: ``python benchmarks/private_bounds.py``, some minutes. All that matters of n, the number of
columns m and epsilon is n over the scale of the noise, ``2 m / epsilon``.
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from equipoise.noise import SeededSource
from equipoise.planning.kinds.chosen_bounds import chosen_bounds
from equipoise.planning.request import Bounds
from equipoise.release.carriers.chosen_bounds import chosen
from equipoise.release.intervals import CELLS

Array = NDArray[np.float64]

# The promise: so many rows, columns and so much epsilon.
ROWS, COLUMNS, EPSILON = 5000, 5, 0.2
FEWER_ROWS = (1000, 1500, 2000, 2500, 3000, 3500)

Shape = Callable[[np.random.Generator, int], Array]


def rescaled(shape: Shape) -> Shape:
    """Return a shape in a random unit: nothing may depend on where the grid's powers of two are."""
    return lambda coins, count: shape(coins, count) * 2.0 ** coins.uniform(-8, 8)


def half_zero(values: Array) -> Array:
    """Return values the first half of which is zero."""
    values[: len(values) // 2] = 0.0
    return values


SHAPES: dict[str, Shape] = {
    "normal N(0, 1), in any unit": rescaled(lambda coins, count: coins.normal(size=count)),
    "normal N(170, 10)": lambda coins, count: coins.normal(170, 10, count),
    "normal N(1000, 10)": lambda coins, count: coins.normal(1000, 10, count),
    "uniform on [0, 1], in any unit": rescaled(lambda coins, count: coins.uniform(size=count)),
    "two normals, 20 deviations apart": rescaled(
        lambda coins, count: coins.normal(size=count) + 20 * coins.integers(0, 2, count) + 10
    ),
    "log-normal, sigma 1": rescaled(lambda coins, count: coins.lognormal(0, 1, count)),
    "log-normal, sigma 2": rescaled(lambda coins, count: coins.lognormal(0, 2, count)),
    "Student's t, 2 degrees of freedom": rescaled(lambda coins, count: coins.standard_t(2, count)),
    "Cauchy": rescaled(lambda coins, count: coins.standard_cauchy(count)),
    "Pareto, exponent 1.5": rescaled(lambda coins, count: 1 + coins.pareto(1.5, count)),
    "half zero, half log-normal": rescaled(lambda coins, count: half_zero(coins.lognormal(0, 1, count))),
    "half zero, half N(100, 10)": lambda coins, count: half_zero(coins.normal(100, 10, count)),
    "whole numbers: Poisson, mean 3": lambda coins, count: coins.poisson(3, count).astype(float),
    "whole numbers: 1 to 6": lambda coins, count: coins.integers(1, 7, count).astype(float),
    "whole numbers: 17 to 90": lambda coins, count: coins.integers(17, 91, count).astype(float),
    "0 or 1": lambda coins, count: coins.integers(0, 2, count).astype(float),
    "negative: minus log-normal, sigma 0.5": rescaled(lambda coins, count: -coins.lognormal(0, 0.5, count)),
    "negative: N(-50, 5)": lambda coins, count: coins.normal(-50, 5, count),
    "constant, of any size": rescaled(lambda coins, count: np.full(count, coins.choice([-1.0, 1.0]))),
    "constant 0": lambda coins, count: np.zeros(count),
}


def is_useful(values: Array, low: float, high: float) -> bool:
    """Return whether a range serves to encode these values.

    Examples
    --------
    >>> values = np.arange(100.0)
    >>> is_useful(values, 0.0, 99.0), is_useful(values, 20.0, 99.0), is_useful(values, -200.0, 200.0)
    (True, False, False)
    """
    if values.min() == values.max():
        return bool(low <= values[0] <= high) and high - low <= (abs(values[0]) or 1.0)
    first, last = np.quantile(values, [0.01, 0.99])
    return bool(np.mean((values >= low) & (values <= high)) >= 0.9 and high - low <= 3 * (last - first))


def share_useful(shape: Shape, count: int, scale: float, runs: int, seed: int) -> float:
    """Return the share of useful ranges among so many columns of a shape, with noise of this scale on counts."""
    coins, source = np.random.default_rng(seed), SeededSource(seed)
    useful = 0
    for _ in range(runs):
        values = shape(coins, count)
        bounds = chosen("a column", CELLS.counts(values), scale, source)
        useful += is_useful(values, bounds.low, bounds.high)
    return useful / runs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400, help="columns a cell of the table")
    runs = parser.parse_args().runs
    scale = chosen_bounds(Bounds(tuple(f"c{place}" for place in range(COLUMNS)), EPSILON), ROWS).scale
    fewer = " | ".join(f"{count:,}" for count in FEWER_ROWS)
    print(f"| shape | {fewer} | {ROWS:,} rows | fewest for 95 % |")
    print("|---" * (len(FEWER_ROWS) + 3) + "|")
    for name, shape in SHAPES.items():
        shares = {count: share_useful(shape, count, scale, runs, seed=count) for count in (*FEWER_ROWS, ROWS)}
        # From there on all pass, and not only some of them.
        failing = max((count for count, share in shares.items() if share < 0.95), default=0)
        fewest = next((f"{count:,}" for count in shares if count > failing), "more")
        print(f"| {name} | {' | '.join(f'{share:.1%}' for share in shares.values())} | {fewest} |", flush=True)


if __name__ == "__main__":
    main()
