"""How often the intervals of an evaluation hold: the table of docs/evaluation.md.

Every figure in every cell of the grid of `tests/noisy_worlds.py`: rows, budgets, shares of rare rows, 10,000 simulated
worlds each. Ends of a balanced accuracy of several classes take a thousand times the work of a test, so it has 200.
``PYTHONPATH=tests python benchmarks/evaluation_coverage.py [WORLDS [KIND [FIGURE [N EPSILON SHARE]]]]``: about a second
of one core a cell of 10,000 worlds, a minute where classes or budgets are large. One cell can be asked for by itself.
"""

import sys

import numpy as np

from noisy_worlds import FIGURES, GRID, Cell, covered

WORLDS, FEWER, PART = 10_000, 200, 2500


def coverage(kind: str, name: str, cell: Cell, worlds: int) -> float:
    """Return the share of worlds whose interval holds, in parts of 2,500 worlds, so that memory stays small."""
    parts = [min(PART, worlds - start) for start in range(0, worlds, PART)]
    place = GRID.index(cell)
    held = [size * covered(kind, name, cell, size, 1000 * (part + 1) + place) for part, size in enumerate(parts)]
    return sum(held) / worlds


def main(worlds: int, kinds: list[str], figures: list[str], cells: list[Cell]) -> None:
    print("| rows of | figure | worlds a cell | lowest | in the cell | mean where 30 events or more |")
    print("|---|---|---|---|---|---|", flush=True)
    for kind in kinds:
        for name in figures or FIGURES[kind][1]:
            number = min(worlds, FEWER) if (kind, name) == ("three classes", "balanced accuracy") else worlds
            found = [coverage(kind, name, cell, number) for cell in cells]
            lowest = cells[int(np.argmin(found))]
            often = [share for share, cell in zip(found, cells, strict=True) if cell.events >= 30]
            mean = f"{np.mean(often):.4f}" if often else ""
            where = f"n {lowest.n:,}, epsilon {lowest.epsilon:g}, {100 * lowest.share:g} %"
            print(f"| {kind} | {name} | {number:,} | {min(found):.4f} | {where} | {mean} |", flush=True)


if __name__ == "__main__":
    worlds, *rest = sys.argv[1:] or [str(WORLDS)]
    cells = [Cell(int(rest[2]), float(rest[3]), float(rest[4]))] if len(rest) > 4 else GRID
    main(int(worlds), rest[:1] or list(FIGURES), rest[1:2], cells)
