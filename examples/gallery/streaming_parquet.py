"""Streaming Parquet: a folder of parts that is never held in memory gives the same release as one that is.

python examples/gallery/streaming_parquet.py
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from drawing import bars

import equipoise as eq

PARTS, COLUMNS = 5, 4
SCHEMA = """
schema_version = 1
n = {n}
vouched_by = "the script that made the rows"
vouched_on = 2026-11-18
[target]
name = "y"
classes = [0, 1]
""" + "".join(f'[columns.x{place}]\nkind = "number"\nbounds = [-1, 1]\n' for place in range(COLUMNS))


def write(folder: Path, rows: int) -> None:
    """Write made-up rows in parts."""
    coins = np.random.default_rng(0)
    for part in range(PARTS):
        X = coins.uniform(-1, 1, (rows // PARTS, COLUMNS))
        y = (X @ [3.0, -2.0, 1.0, 0.0] + coins.logistic(size=len(X)) > 0).astype(int)
        names = {f"x{place}": X[:, place] for place in range(COLUMNS)}
        pq.write_table(pa.table({**names, "y": y}), folder / f"part-{part}.parquet")


def main(rows: int = 50_000, picture: str = "streaming-parquet.svg") -> None:
    """Train from the folder, row group by row group and from memory, and draw both sets of weights."""
    found, schema = {}, eq.Schema.from_text(SCHEMA.format(n=rows // PARTS * PARTS))
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), rows)
        for engine in ("stream", "memory"):
            model = eq.LogisticRegression(epsilon=1.0, domain=schema, random_state=0)
            found[engine] = model.fit(eq.open_table(name, engine=engine)).coef_.ravel()
    print(f"largest difference of a weight: {np.abs(found['stream'] - found['memory']).max():.1e}")
    bars(
        [
            {"column": f"x{place}", "released weight": float(weight), "engine": engine}
            for engine, weights in found.items()
            for place, weight in enumerate(weights)
        ],
        *("column", "released weight", "engine", picture),
    )


if __name__ == "__main__":
    main()
