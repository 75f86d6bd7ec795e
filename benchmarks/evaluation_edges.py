"""Where bins of two classes should lie: what they hide of the area under the ROC curve, by the rule and by an older.

Models are trained on public tables, and the area of their binned test scores, without noise, is compared with the exact
one. The older rule divided all that margins can be, `reach sign(u) |u|^1.5` for evenly spaced u; the rule now divides
where rows in no direction in particular come. Prints the table of docs/evaluation.md:
``python benchmarks/evaluation_edges.py FOLDER``, a minute; FOLDER holds the Parquet files.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from evaluation_bins import exact_auc
from numpy.typing import NDArray
from prepared import Split, adult, covertype, mnist_3_vs_5, small

import equipoise as eq
from equipoise.evaluation.evaluated import evaluated
from equipoise.planning.evaluation import bins, edges_of_margins, noise_on_counts

Array = NDArray[np.float64]

SEEDS, BUDGETS, GROUPS = range(2), (0.5, 1.0), (1, 2)
# Of small tables: few rows, and as many as would do for a model of their kind.
MANY, FEW = (3000, 6512, 10_000), (100, 1000)


def older(centre: float, reach: float, count: int) -> Array:
    """Return edges over all that margins can be, closer in the middle."""
    even = np.linspace(-1.0, 1.0, count + 1)[1:-1]
    edges = centre + reach * np.sign(even) * np.abs(even) ** 1.5
    edges[np.argmin(np.abs(edges))] = 0.0
    return np.unique(edges)


def tables(folder: Path) -> Iterator[Split]:
    """Yield all tables of two classes."""
    yield from (adult(folder), mnist_3_vs_5(folder), covertype(folder))
    yield from (splits[0] for splits in small(1) if splits[0].domain.classes is not None)


def hidden(table: Split) -> Iterator[tuple[int, int, float, int, float, float, float]]:
    """Yield rows, groups, epsilon, bins, the exact area, and what either rule's bins take off it, in the mean."""
    for epsilon in BUDGETS:
        found = []
        for seed in SEEDS:
            model = eq.LogisticRegression(epsilon, domain=table.domain, random_state=seed).fit(table.X, table.y)
            seen = evaluated(model)
            found.append((seen, seen.scores(table.X_test)[:, 0]))
        exact = [exact_auc(margins, table.y_test) for _, margins in found]
        for rows in MANY if len(table.y) > max(MANY) else FEW:
            for groups in GROUPS:
                count, lost = bins(rows // groups, 2, noise_on_counts(eq.Budget(epsilon))), []
                for (seen, margins), area in zip(found, exact, strict=True):
                    centre, reach = float(seen.intercepts[0]), float(np.linalg.norm(seen.weights))
                    reach *= table.domain.row_norm
                    rules = older(centre, reach, count), edges_of_margins(centre, reach, seen.weights.shape[1], count)
                    lost.append([area - exact_auc(np.searchsorted(edges, margins), table.y_test) for edges in rules])
                before, now = np.mean(lost, axis=0)
                yield rows, groups, epsilon, count, float(np.mean(exact)), float(before), float(now)


if __name__ == "__main__":
    print("| table | rows | groups | epsilon | bins | exact AUC | hidden by the older rule | by the rule |")
    print("|---|---|---|---|---|---|---|---|")
    every = []
    for table in tables(Path(sys.argv[1])):
        for line in hidden(table):
            rows, groups, epsilon, count, area, *both = line
            every.append(both)
            words = " | ".join(f"{each:.3f}" for each in (area, *both))
            print(f"| {table.name} | {rows:,} | {groups} | {epsilon:g} | {count} | {words} |", flush=True)
    before, now = np.mean(np.abs(every), axis=0)
    worse = float(np.max(np.diff(np.abs(every), axis=1)))
    print(f"in the mean {before:.3f} and {now:.3f}; by the rule no more than {worse:.4f} above the older one")
