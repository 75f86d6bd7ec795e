"""Dask: a data frame in parts, on one machine or many, is a table as it is.

python examples/gallery/dask_frame.py
"""

import dask
import dask.dataframe as dd
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
name = "sold"
classes = [0, 1]
[columns.price]
kind = "number"
bounds = [0, 100]
[columns.stars]
kind = "number"
bounds = [1, 5]
"""


def main(rows: int = 40_000, picture: str = "dask-frame.svg") -> None:
    """Train on a Dask frame and draw the chance of a sale over the price."""
    coins = np.random.default_rng(0)
    price, stars = coins.uniform(0, 100, rows), coins.integers(1, 6, rows)
    sold = (stars - price / 20 + coins.logistic(size=rows) > 0).astype(int)
    frame = dd.from_pandas(pd.DataFrame({"price": price, "stars": stars, "sold": sold}), npartitions=4)
    model = eq.LogisticRegression(epsilon=1.0, domain=eq.Schema.from_text(SCHEMA.format(n=rows)), random_state=0)
    with dask.config.set(scheduler="threads"):
        model.fit(frame)
    print(f"{frame.npartitions} parts, n = {model.certificate_.n_samples:,}, {model.certificate_.kind}")
    found = []
    for count in (1, 3, 5):
        places = pd.DataFrame({"price": np.linspace(0, 100, 26), "stars": count})
        chances = model.predict_proba(places)[:, 1]
        found += [
            {"price": float(where), "chance of a sale": float(chance), "stars": f"{count} star{'s' * (count > 1)}"}
            for where, chance in zip(places["price"], chances, strict=True)
        ]
    lines(found, "price", "chance of a sale", "stars", picture, points=False)


if __name__ == "__main__":
    main()
