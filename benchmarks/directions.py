"""Few rows: is the worst of ten public seeds behind the model of all columns? (docs/mechanisms.md, "A few directions").

    python benchmarks/directions.py --seeds 1000

The product's own releases at epsilon 0.1, pure, on random splits of small tables: "auto", which reduces rows to a few
public directions there, for ten public seeds, and `mechanism="objective"`, which never does. Every seed sees the same
splits. The lowest of ten means is low by chance as well, so the worst seed is named by one half of the splits and
scored on the other half, both ways round: that is what a user can expect who has drawn it.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from prepared import Array, Split, clipped_rows, small, unit_rows
from rich.progress import track
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from study import table_rows

import equipoise as eq

EPSILON = 0.1
PUBLIC_SEEDS = range(10)
# Pairs of digits that nobody had looked at when eight directions were settled upon.
OTHER_PAIRS = ((1, 7), (4, 9))


@dataclass(frozen=True)
class Table:
    """Accuracies of one table: a row a public seed and a column a split, and those of all columns."""

    name: str
    reduced: Array
    whole: Array

    @property
    def crossed(self) -> tuple[float, float]:
        """The worst seed's accuracy, named by one half of the splits and scored on the other, and its error."""
        halves = np.arange(self.reduced.shape[1]) % 2
        scored = []
        for half in (0, 1):
            worst = np.argmin(self.reduced[:, halves == 1 - half].mean(axis=1))
            scored.append(self.reduced[worst, halves == half])
        found = np.concatenate(scored)
        return float(found.mean()), error_of(found)


def error_of(scores: Array) -> float:
    """Return the standard error of a mean."""
    return float(scores.std(ddof=1) / np.sqrt(scores.size))


def digits(pair: tuple[int, int], splits: int) -> list[Split]:
    """Return splits of two digits: unit rows of pixels, as the demonstration has 3 and 5."""
    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, pair)
    rows, labels = unit_rows(X[chosen]), (y[chosen] == pair[1]).astype(int)
    parts = []
    for seed in range(splits):
        dealt = train_test_split(rows, labels, test_size=0.2, random_state=seed, stratify=labels)
        X_train, X_test = clipped_rows(dealt[0]), clipped_rows(dealt[1])
        name = f"digits {pair[0]}-vs-{pair[1]}"
        parts.append(Split(name, X_train, dealt[2], X_test, dealt[3], eq.Domain(1.0, classes=(0, 1))))
    return parts


def accuracy(part: Split, mechanism: str, public_seed: int, seed: int) -> float:
    """Return the accuracy of one release on test rows."""
    model = eq.LogisticRegression(
        EPSILON, 0.0, part.domain, mechanism=mechanism, random_state=seed, public_seed=public_seed
    ).fit(part.X, part.y)
    return float(model.score(part.X_test, part.y_test))


def measured(parts: list[Split]) -> Table:
    """Measure one table."""
    reduced = np.array(
        [
            [accuracy(part, "auto", public, 1000 * run + public) for run, part in enumerate(parts)]
            for public in track(PUBLIC_SEEDS, description=parts[0].name)
        ]
    )
    whole = [
        accuracy(part, "objective", 0, 1000 * run + again)
        for again in (900, 901, 902)
        for run, part in enumerate(parts)
    ]
    return Table(parts[0].name, reduced, np.array(whole))


def page(found: list[Table]) -> str:
    """Return the table of the page."""
    rows = []
    for each in found:
        means, (crossed, error) = each.reduced.mean(axis=1), each.crossed
        shown = [f"{each.whole.mean():.4f} ({error_of(each.whole):.4f})", f"{means.mean():.4f}", f"{means.min():.4f}"]
        ahead = crossed - each.whole.mean()
        behind = f"{ahead:+.4f} ({np.hypot(error, error_of(each.whole)):.4f})"
        rows.append([each.name, *shown, f"{crossed:.4f} ({error:.4f})", behind, f"{means.max():.4f}"])
    header = ["table", "all columns", "mean of ten", "lowest mean", "worst seed, other half", "less all", "highest"]
    return table_rows(header, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1000, help="splits of every table")
    asked = parser.parse_args()
    named = {parts[0].name: parts for parts in small(asked.seeds)}
    groups = [named["digits 3-vs-5"], named["breast cancer"], *(digits(pair, asked.seeds) for pair in OTHER_PAIRS)]
    print(page([measured(parts) for parts in groups]))
