"""What an intercept costs: a penalised constant column at several scales against public centring (docs/intercept.md).

python benchmarks/intercept.py --data FOLDER
"""

import numpy as np
from prepared import Split, large, small
from rich.progress import track
from study import options, request_for, table_rows, test_scores

from equipoise.vocabulary.facts import Budget

SHARES = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 1.0, 2.0)
EPSILONS = (0.1, 1.0, 10.0)


def mean_score(group: list[Split], epsilon: float, share: float, seeds: int) -> float:
    scores = [
        test_scores(
            split, request_for(split, Budget(epsilon), share, "public"), range(number * seeds, (number + 1) * seeds)
        )
        for number, split in enumerate(group)
    ]
    return float(np.mean(scores))


if __name__ == "__main__":
    chosen = options(__doc__ or "")
    groups = [[split] for split in large(chosen.data)] + small(chosen.splits)
    centred = [[split] for split in large(chosen.data, centred=True)] + small(chosen.splits, centred=True)
    rows = []
    for plain, moved in track(list(zip(groups, centred, strict=True)), description="datasets"):
        for epsilon in EPSILONS:
            scores = [mean_score(plain, epsilon, share, chosen.seeds) for share in SHARES]
            scores.append(mean_score(moved, epsilon, 0.0, chosen.seeds))
            rows.append([plain[0].name, f"{epsilon:g}", *(f"{score:.3f}" for score in scores)])
    print(table_rows(["data", "epsilon", *(f"{share:g}" for share in SHARES), "centred columns, none"], rows))
