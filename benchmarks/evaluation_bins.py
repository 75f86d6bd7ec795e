"""How many bins an evaluation should have: what noise and bins do to accuracy and AUC, for several numbers of bins.

Released models are evaluated on rows that they never saw. Sampling error is that of the exact figure on fresh rows.
The deviation of the figure by noisy counts from the exact one on the same rows, which noise and bins cause, is printed
as a share of it, for half, once, twice and four times as many bins as the rule has. Prints the table of
docs/evaluation.md: ``python benchmarks/evaluation_bins.py``, some minutes.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import rankdata

import equipoise as eq
from equipoise.certify.claims.evaluation import Cells
from equipoise.evaluation.evaluated import evaluated
from equipoise.noise import SeededSource
from equipoise.planning.evaluation import bins, edges_of_margins, noise_on_counts
from equipoise.release.carriers.evaluation import counted

Array = NDArray[np.float64]

WORLDS, DRAWS = 12, 20
MULTIPLES = (0.5, 1, 2, 4)
CASES = [
    (columns, rows, epsilon) for columns in (3, 30) for rows, epsilon in ((1000, 1.0), (10_000, 0.5), (10**5, 0.2))
]


def people(count: int, columns: int, coins: np.random.Generator) -> tuple[Array, Array]:
    """Return rows inside the unit ball, with few long ones, and classes of which a quarter is the second."""
    rows = coins.normal(size=(count, columns)) / np.sqrt(2 * columns)
    evidence = rows @ np.linspace(3, 0.5, columns) * np.sqrt(8 / columns)
    return rows, (coins.random(count) < expit(evidence - 1.3)).astype(int)


def exact_auc(margins: Array, classes: Array) -> float:
    """Return the share of pairs in the right order, a tie for half."""
    second = classes == 1
    ranks, count = rankdata(margins), second.sum()
    return float((ranks[second].sum() - count * (count + 1) / 2) / (count * (len(classes) - count)))


def figures(counts: Array, edges: tuple[float, ...]) -> tuple[float, float]:
    """Return accuracy and AUC by counts of two classes."""
    below = edges.index(0.5) + 1
    first, second = counts / counts.sum(axis=1, keepdims=True)
    ranked = second @ (np.cumsum(first) - first / 2)
    return float((counts[0, :below].sum() + counts[1, below:].sum()) / counts.sum()), float(ranked)


def shares(columns: int, rows: int, epsilon: float) -> list[tuple[int, float, float]]:
    """Return for each number of bins what noise and bins add to accuracy and to AUC, over what sampling has."""
    noise, exact, differences = noise_on_counts(eq.Budget(epsilon)), [], {multiple: [] for multiple in MULTIPLES}
    rule = bins(rows, 2, noise)
    for world in range(WORLDS):
        coins = np.random.default_rng(world)
        model = eq.LogisticRegression(1.0, domain=eq.Domain(1.0, classes=(0, 1)), random_state=world)
        found = evaluated(model.fit(*people(20_000, columns, coins)))
        held, classes = people(rows, columns, coins)
        margins = found.scores(held)
        true = np.mean((margins[:, 0] > 0) == classes), exact_auc(margins[:, 0], classes)
        exact.append(true)
        reach = float(np.linalg.norm(found.weights))
        for multiple in MULTIPLES:
            edges = edges_of_margins(float(found.intercepts[0]), reach, columns, max(2, round(multiple * rule)))
            cells = Cells(tuple(expit(edges).tolist()), (0, 1))
            counts = counted(cells, margins, classes.astype(float), np.zeros(rows, dtype=int))
            for draw in range(DRAWS):
                noisy = SeededSource(draw).add_whole(noise.law, counts, noise.scale).reshape(2, -1)
                differences[multiple].append(np.subtract(figures(noisy, cells.edges), true))
    # Standard deviations of accuracy and AUC over samples of rows, for this share of the second class.
    accuracy, auc = np.mean(exact, axis=0)
    few = rows / 4
    hanley = (
        auc * (1 - auc) + (few - 1) * (auc / (2 - auc) - auc**2) + (3 * few - 1) * (2 * auc**2 / (1 + auc) - auc**2)
    )
    sampling = np.sqrt([accuracy * (1 - accuracy) / rows, hanley / (few * 3 * few)])
    return [
        (max(2, round(multiple * rule)), *(np.sqrt(np.mean(np.square(found), axis=0)) / sampling))
        for multiple, found in differences.items()
    ]


if __name__ == "__main__":
    print("| columns | rows | epsilon | " + " | ".join(f"{multiple:g} times the bins" for multiple in MULTIPLES) + " |")
    print("|---|---|---|" + "---|" * len(MULTIPLES))
    for case in CASES:
        cells = " | ".join(f"{count}: {accuracy:.2f}, {auc:.2f}" for count, accuracy, auc in shares(*case))
        print(f"| {case[0]} | {case[1]:,} | {case[2]:g} | {cells} |")
