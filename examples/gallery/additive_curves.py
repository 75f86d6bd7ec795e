"""Additive curves: a private model that bends where the world does, at the price of a straight one.

python examples/gallery/additive_curves.py

Simulated stays in hospital: the very young and the very old stay longest. A line misses that.
"""

import numpy as np
import pandas as pd
from drawing import lines

import equipoise as eq

SCHEMA = """
schema_version = 1
n = {n}
vouched_by = "the script that made the rows"
vouched_on = 2026-11-18
[target]
name = "days"
bounds = [0, 30]
[columns.age]
kind = "number"
bounds = [0, 100]
"""


def days(age: np.ndarray) -> np.ndarray:
    """Return how long people of an age stay, in the mean."""
    return 4 + 14 * ((age - 40) / 60) ** 2


def main(rows: int = 20_000, picture: str = "additive-curves.svg") -> None:
    """Train a curve and a line at epsilon 1 and draw what both say along age."""
    coins = np.random.default_rng(0)
    age = coins.uniform(0, 100, rows)
    table = pd.DataFrame({"age": age, "days": np.clip(days(age) + coins.normal(0, 3, rows), 0, 30)})
    schema, grid = eq.Schema.from_text(SCHEMA.format(n=rows)), np.linspace(0, 100, 51)
    places = pd.DataFrame({"age": grid})
    curve = eq.AdditiveRegressor(epsilon=1.0, domain=schema, random_state=0).fit(table)
    line = eq.Ridge(epsilon=1.0, domain=schema, random_state=0).fit(table)
    said = {"truth": days(grid), "private curve": curve.predict(places), "private line": line.predict(places)}
    for name, values in said.items():
        print(f"{name}: off by {np.mean(np.abs(values - said['truth'])):.2f} days in the mean")
    records = [
        {"age": float(where), "days": float(value), "model": name}
        for name, values in said.items()
        for where, value in zip(grid, values, strict=True)
    ]
    lines(records, "age", "days", "model", picture, points=False)


if __name__ == "__main__":
    main()
