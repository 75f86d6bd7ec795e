"""What an intercept costs: a penalised constant column at several heights, by mechanism (docs/intercept.md).

python benchmarks/intercept.py --data FOLDER
"""

import numpy as np
from prepared import Split, large, small
from rich.progress import track
from study import options, table_rows

import equipoise as eq

SHARES = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 1.0, 2.0)
EPSILONS = (0.1, 1.0, 10.0)

# Larger sets are left out of the tables of "auto".
MOST_ROWS = 100_000


def mean_score(group: list[Split], epsilon: float, delta: float, mechanism: str, share: float, seeds: int) -> float:
    """Return the mean test score of released models whose constant column has this height over the row norm."""
    scores = []
    for number, split in enumerate(group):
        family = eq.Ridge if split.domain.labels else eq.LogisticRegression
        for seed in range(number * seeds, (number + 1) * seeds):
            model = family(epsilon, delta, split.domain, mechanism=mechanism, random_state=seed)
            model._intercept_share = share
            model.fit_intercept = share > 0
            scores.append(model.fit(split.X, split.y).score(split.X_test, split.y_test))
    return float(np.mean(scores))


def table(pairs: list[tuple[list[Split], list[Split]]], mechanism: str, approximate: bool, seeds: int) -> str:
    """Return the scores of one mechanism, the last column for public centring without a constant column."""
    rows = []
    for plain, moved in track(pairs, description=mechanism):
        delta = len(plain[0].y) ** -2.0 if approximate else 0.0
        for epsilon in EPSILONS:
            scores = [mean_score(plain, epsilon, delta, mechanism, share, seeds) for share in SHARES]
            scores.append(mean_score(moved, epsilon, delta, mechanism, 0.0, seeds))
            rows.append([plain[0].name, f"{epsilon:g}", *(f"{score:.3f}" for score in scores)])
    return table_rows(["data", "epsilon", *(f"{share:g}" for share in SHARES), "centred, none"], rows)


if __name__ == "__main__":
    chosen = options(__doc__ or "")
    groups = [[split] for split in large(chosen.data)] + small(chosen.splits)
    centred = [[split] for split in large(chosen.data, centred=True)] + small(chosen.splits, centred=True)
    for mechanism, approximate in (("auto", False), ("auto", True), ("output", False)):
        # Covertype would take most of the time: only the cheaper table has it.
        kept = [place for place, group in enumerate(groups) if mechanism == "output" or len(group[0].y) < MOST_ROWS]
        pairs = [(groups[place], centred[place]) for place in kept]
        print(f"mechanism={mechanism!r}, delta={'1/n^2' if approximate else '0'}", flush=True)
        print(table(pairs, mechanism, approximate, chosen.seeds), flush=True)
