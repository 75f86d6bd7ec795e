"""How often the intervals of an evaluation hold: the table of docs/evaluation.md.

Every figure in every cell of the grid of `tests/noisy_worlds.py`: rows, budgets, shares of rare rows, 10,000 simulated
worlds each, the same ones for all figures of a kind; and, of `tests/shown_worlds.py`, figures of scores and residuals
themselves. ``PYTHONPATH=tests python benchmarks/evaluation_coverage.py
[WORLDS [KIND [FIGURE [N EPSILON SHARE]]]]``: a tenth of a second to two of one core a cell and figure, ten where the
balanced accuracy of several classes has to be found. What was found is kept in build/evaluation_coverage.jsonl, cell by
cell, and not simulated again: delete it after a change to an interval.
"""

import json
import sys
from pathlib import Path

import numpy as np

from noisy_worlds import FIGURES, GRID, Cell, drawn_of
from shown_worlds import SHOWN

EVERY = FIGURES | SHOWN
WORLDS, PART = 10_000, 2500
KEPT = Path("build/evaluation_coverage.jsonl")
Key = tuple[str, str, Cell, int]


def kept() -> dict[Key, int]:
    """Return the worlds whose intervals held, by kind, figure, cell and number of worlds, of earlier runs."""
    lines = KEPT.read_text().splitlines() if KEPT.exists() else []
    return {(kind, name, Cell(*cell), worlds): held for kind, name, cell, worlds, held in map(json.loads, lines)}


def simulate(kind: str, names: list[str], cell: Cell, worlds: int) -> None:
    """Simulate one cell in parts of 2,500 worlds, so that memory stays small, and keep what is found."""
    held = dict.fromkeys(names, 0)
    for part, start in enumerate(range(0, worlds, PART)):
        seed = 1000 * (part + 1) + (GRID.index(cell) if cell in GRID else len(GRID))
        population = drawn_of(EVERY[kind][0](cell), min(PART, worlds - start), seed)
        for name in names:
            held[name] += int(np.sum(EVERY[kind][1][name](*population)))
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("a") as file:
        for name in names:
            print(json.dumps([kind, name, [cell.n, cell.epsilon, cell.share], worlds, held[name]]), file=file)


def main(worlds: int, kinds: list[str], figures: list[str], cells: list[Cell]) -> None:
    for kind in kinds:
        names = figures or list(EVERY[kind][1])
        for cell in cells:
            found = kept()
            missing = [name for name in names if (kind, name, cell, worlds) not in found]
            if missing:
                simulate(kind, missing, cell, worlds)
    found = kept()
    print("| rows of | figure | lowest | in the cell | mean where 30 events or more |")
    print("|---|---|---|---|---|")
    for kind in kinds:
        for name in figures or EVERY[kind][1]:
            shares = [found[kind, name, cell, worlds] / worlds for cell in cells]
            lowest = cells[int(np.argmin(shares))]
            often = [share for share, cell in zip(shares, cells, strict=True) if cell.events >= 30]
            mean = f"{np.mean(often):.4f}" if often else ""
            where = f"n {lowest.n:,}, epsilon {lowest.epsilon:g}, {100 * lowest.share:g} %"
            print(f"| {kind} | {name} | {min(shares):.4f} | {where} | {mean} |", flush=True)


if __name__ == "__main__":
    worlds, *rest = sys.argv[1:] or [str(WORLDS)]
    cells = [Cell(int(rest[2]), float(rest[3]), float(rest[4]))] if len(rest) > 4 else GRID
    main(int(worlds), rest[:1] or list(EVERY), rest[1:2], cells)
