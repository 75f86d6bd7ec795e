"""How often the intervals of an evaluation hold: the table of docs/evaluation.md.

Every figure in every cell of the grid of `tests/noisy_worlds.py`: rows, budgets, shares of rare rows, 10,000 simulated
worlds each. Ends of a balanced accuracy of several classes take a thousand times the work of a test, so it has 200.
``PYTHONPATH=tests python benchmarks/evaluation_coverage.py [WORLDS] [KIND]``, about a minute of one core a figure.
"""

import sys

import numpy as np

from noisy_worlds import FIGURES, GRID, covered

WORLDS, FEWER = 10_000, 200


def main(worlds: int, kinds: list[str]) -> None:
    print("| rows of | figure | worlds a cell | lowest | in the cell | mean where 30 events or more |")
    print("|---|---|---|---|---|---|", flush=True)
    for kind in kinds:
        for name in FIGURES[kind][1]:
            number = min(worlds, FEWER) if (kind, name) == ("three classes", "balanced accuracy") else worlds
            found = [covered(kind, name, cell, number, seed) for seed, cell in enumerate(GRID)]
            lowest = GRID[int(np.argmin(found))]
            mean = np.mean([share for share, cell in zip(found, GRID, strict=True) if cell.events >= 30])
            where = f"n {lowest.n:,}, epsilon {lowest.epsilon:g}, {100 * lowest.share:g} %"
            print(f"| {kind} | {name} | {number:,} | {min(found):.4f} | {where} | {mean:.4f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else WORLDS, sys.argv[2:] or list(FIGURES))
