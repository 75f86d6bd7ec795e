"""How often approximate intervals for the population's coefficients hold: the tables of docs/coefficients.md.

Worlds with known coefficients: four columns, evenly spread, and labels

- by the model: log odds ``2 x1 - x2 + x3 + 0.3``, rows that are hardly ever clipped;
- by another one: to the log odds comes ``6 (x1^2 - 0.16)``, and the population's coefficients are those of the best
  logistic model, found on 10^6 rows;
- clipped: rows twice as long as the declared row norm, and longer.

Private rows and public ones are drawn apart from the same population; the public ones are 2,000.
``python benchmarks/coefficients.py [WORLDS REFITS]``, about a second of one core a world and line of the tables.
"""

import sys
import time
from dataclasses import dataclass, field

import numpy as np

import equipoise as eq

WORLDS, REFITS, PUBLIC, AT_A_TIME = 24, 20, 2000, 2
TRUTH, INTERCEPT = np.array([2.0, -1.0, 1.0, 0.0]), 0.3
DOMAIN = eq.Domain(row_norm=1.0, classes=(0, 1))
KINDS = (("output", 0.0), ("objective", 0.0), ("noisy-gradient", 1e-6))
CELLS = {
    "the model": [(n, epsilon) for n in (1000, 10_000) for epsilon in (0.5, 1.0, 3.0)],
    "another model": [(1000, 1.0), (10_000, 1.0)],
    "clipped rows": [(1000, 1.0), (10_000, 1.0)],
}


class World:
    """A population whose coefficients are known."""

    def __init__(self, name: str) -> None:
        self.half = 1.4 if name == "clipped rows" else 0.7
        self.bent = 6.0 if name == "another model" else 0.0
        rows, labels = self.drawn(np.random.default_rng(0), 10**6 if self.bent else 0)
        self.truth = _best(rows, labels) if self.bent else np.append(TRUTH, INTERCEPT)

    def drawn(self, stream: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and labels."""
        rows = stream.uniform(-self.half, self.half, (count, 4))
        odds = rows @ TRUTH + INTERCEPT + self.bent * (rows[:, 0] ** 2 - 0.16)
        return rows, (stream.random(count) < 1 / (1 + np.exp(-odds))).astype(int)


def _best(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the best logistic model of many rows, the intercept last, by Newton's method."""
    rows, weights = np.column_stack([rows, np.ones(len(rows))]), np.zeros(rows.shape[1] + 1)
    for _ in range(20):
        chances = 1 / (1 + np.exp(-rows @ weights))
        slopes = rows.T @ (chances - labels)
        weights -= np.linalg.solve(rows.T @ (rows * (chances * (1 - chances))[:, None]), slopes)
    return weights


@dataclass
class Cell:
    """What was found in worlds of one kind: whether intervals hold, and how far estimates are from the truth."""

    held: list[np.ndarray] = field(default_factory=list)
    widths: list[list[float]] = field(default_factory=list)
    released: list[np.ndarray] = field(default_factory=list)
    estimated: list[list[float]] = field(default_factory=list)
    untold: int = 0
    refused: int = 0

    def add(self, world: World, place: tuple[int, float], kind: str, delta: float, refits: int, seed: int) -> None:
        """Release a model of one world, and look whether its intervals hold."""
        n, epsilon = place
        stream = np.random.default_rng((n, round(10 * epsilon), seed))
        public = world.drawn(stream, PUBLIC)[0]
        model = eq.LogisticRegression(epsilon, delta, DOMAIN, mechanism=kind, random_state=seed)
        model.fit(*world.drawn(stream, n))
        self.released.append(np.append(model.coef_[0], model.intercept_[0]) - world.truth)
        try:
            found = eq.population_intervals(model, public, refits=refits, seed=seed)
        except eq.errors.InvalidParameter:
            self.refused += 1
            return
        pairs = list(zip([*found.coefficients, found.intercept], world.truth, strict=True))
        self.held.append(np.array([one.low <= true <= one.high for one, true in pairs]))
        self.estimated.append([one.value - true for one, true in pairs])
        self.widths.append([one.high - one.low for one, _ in pairs])
        self.untold += sum(not one.told for one, _ in pairs)

    def __str__(self) -> str:
        """Return what stands in a line of the table."""
        if not self.held:
            return f"- | - | - | - | - | {self.refused} of {len(self.released)} |"
        count = len(self.held)
        # Of the four coefficients the one that is farthest off in the middle of all worlds.
        before, after = (np.abs(np.median(one, axis=0))[:4].max() for one in (self.released, self.estimated))
        width = np.median(np.array(self.widths)[:, :4])
        holds = f"{int(np.sum(self.held))} of {5 * count} | {width:.2f} | {before:.2f} | {after:.2f}"
        return f"{holds} | {100 * self.untold / (5 * count):.0f} % | {self.refused} of {len(self.released)} |"


def main(worlds: int, refits: int) -> None:
    """Go through all cells, a few worlds at a time, and print what is known after each time."""
    names = {name: World(name) for name in CELLS}
    cells = {(name, *place, *kind): Cell() for name in CELLS for place in CELLS[name] for kind in KINDS}
    for start in range(0, worlds, AT_A_TIME):
        for (name, n, epsilon, kind, delta), cell in cells.items():
            for seed in range(start, min(start + AT_A_TIME, worlds)):
                cell.add(names[name], (n, epsilon), kind, delta, refits, seed)
        print(f"\n{min(start + AT_A_TIME, worlds)} worlds a cell, {refits} refits, {time.process_time():.0f} s")
        for name, world in names.items():
            print(f"\nLabels by {name}, coefficients {np.round(world.truth, 2).tolist()}\n")
            print("| n | epsilon | kind | hold | width | bias released | bias left | not told | refused |")
            print("|---|---|---|---|---|---|---|---|---|")
            for (of, n, epsilon, kind, _), cell in cells.items():
                if of == name:
                    print(f"| {n:,} | {epsilon:g} | {kind} | {cell}", flush=True)


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given or (WORLDS, REFITS)))
