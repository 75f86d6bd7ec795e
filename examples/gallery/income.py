"""Income: a schema says what is publicly known, and the curve over epsilon what privacy costs.

python examples/gallery/income.py

A simulated census. Bounds and levels come from the code book, never from the rows.
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
name = "income"
classes = ["below", "above"]
[columns.age]
kind = "number"
bounds = [17, 90]
[columns.hours]
kind = "number"
bounds = [0, 80]
[columns.sector]
kind = "category"
levels = ["private", "public", "self-employed"]
unknown = "private"
"""
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0)


def census(rows: int, seed: int) -> pd.DataFrame:
    """Return people that nobody is."""
    coins = np.random.default_rng(seed)
    age, hours = coins.uniform(17, 90, rows), np.clip(coins.normal(38, 12, rows), 0, 80)
    sector = coins.choice(["private", "public", "self-employed"], rows, p=[0.7, 0.2, 0.1])
    score = (age - 45) / 20 + (hours - 38) / 10 + (sector == "self-employed") + coins.logistic(size=rows)
    return pd.DataFrame({"age": age, "hours": hours, "sector": sector, "income": np.where(score > 0, "above", "below")})


def main(rows: int = 20_000, picture: str = "income.svg") -> None:
    """Train at several epsilons and draw the accuracy on new people."""
    table, new, schema = census(rows, 0), census(5_000, 1), eq.Schema.from_text(SCHEMA.format(n=rows))
    found = []
    for epsilon in EPSILONS:
        # The seed makes the picture the same again; a release leaves it out.
        model = eq.LogisticRegression(epsilon=epsilon, domain=schema, random_state=0).fit(table)
        accuracy = float(np.mean(model.predict(new) == new["income"]))
        found.append({"epsilon": epsilon, "accuracy on new people": accuracy, "model": "private model"})
        print(f"epsilon {epsilon:>4g}: accuracy {accuracy:.3f}, by theorem {model.certificate_.theorem}")
    lines(found, "epsilon", "accuracy on new people", "model", picture, log=True)


if __name__ == "__main__":
    main()
