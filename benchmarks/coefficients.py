"""How often approximate intervals for the population's coefficients hold: the tables of docs/coefficients.md.

Worlds with known coefficients: four columns, evenly spread, and labels

- by the model: log odds ``2 x1 - x2 + x3 + 0.3``, rows that are hardly ever clipped;
- by another one: to the log odds comes ``6 (x1^2 - 0.16)``, and the population's coefficients are those of the best
  logistic model, found on 10^6 rows;
- clipped: rows twice as long as the declared row norm, and longer;
- correlated columns: evenly spread, each two with a correlation of about 0.8; the same with ten columns, shorter by the
  root of their number, and a regression on four, with errors of deviation 0.5;
- few public rows: correlated columns, and 300 public rows in place of 2,000.

Private rows and public ones are drawn apart from the same population.
``python benchmarks/coefficients.py [WORLDS REFITS [NAME ...]]``, about 0.15 s of one core a world and line of the
tables for output and objective perturbation, seconds for noisy gradients.
"""

import sys
import time
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

import equipoise as eq

WORLDS, REFITS, PUBLIC, AT_A_TIME = 200, 20, 2000, 10
INTERCEPT, ERRORS = 0.3, 0.5
KINDS = (("output", 0.0), ("objective", 0.0), ("noisy-gradient", 1e-6))
CELLS = {
    "the model": [(n, epsilon) for n in (1000, 10_000) for epsilon in (0.5, 1.0, 3.0)],
    "another model": [(1000, 1.0), (10_000, 1.0)],
    "clipped rows": [(1000, 1.0), (10_000, 1.0)],
    "correlated columns": [(1000, 1.0), (1000, 3.0)],
    "ten correlated columns": [(1000, 3.0)],
    "a regression": [(1000, 3.0)],
    "few public rows": [(1000, 3.0)],
}
# Noisy gradients take a hundred times as long, and are for squared losses only where labels are clipped.
FEWER_KINDS = ("correlated columns", "ten correlated columns", "a regression", "few public rows")


class World:
    """A population whose coefficients are known."""

    def __init__(self, name: str) -> None:
        self.columns = 10 if name.startswith("ten") else 4
        self.half = {"clipped rows": 1.4, "ten correlated columns": 0.44}.get(name, 0.7)
        self.bent = 6.0 if name == "another model" else 0.0
        self.shared = 0.8 if name in FEWER_KINDS else 0.0
        self.regression = name == "a regression"
        self.public = 300 if name == "few public rows" else PUBLIC
        self.slopes = np.resize([2.0, -1.0, 1.0, 0.0], self.columns)
        rows, labels = self.drawn(np.random.default_rng(0), 10**6 if self.bent else 0)
        self.truth = _best(rows, labels) if self.bent else np.append(self.slopes, INTERCEPT)

    def drawn(self, stream: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and labels."""
        if self.shared:
            normal = stream.standard_normal((count, self.columns + 1))
            mixed = np.sqrt(1 - self.shared) * normal[:, :-1] + np.sqrt(self.shared) * normal[:, -1:]
            rows = self.half * (2 * ndtr(mixed) - 1)
        else:
            rows = stream.uniform(-self.half, self.half, (count, self.columns))
        odds = rows @ self.slopes + INTERCEPT + self.bent * (rows[:, 0] ** 2 - 0.16)
        if self.regression:
            return rows, odds + stream.normal(0.0, ERRORS, count)
        return rows, (stream.random(count) < 1 / (1 + np.exp(-odds))).astype(int)

    def model(self, epsilon: float, delta: float, kind: str, seed: int) -> eq.LogisticRegression | eq.Ridge:
        """Return what is trained."""
        if self.regression:
            return eq.Ridge(epsilon, delta, eq.Domain(1.0, labels=(-4.0, 4.0)), mechanism=kind, random_state=seed)
        domain = eq.Domain(row_norm=1.0, classes=(0, 1))
        return eq.LogisticRegression(epsilon, delta, domain, mechanism=kind, random_state=seed)


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
        public = world.drawn(stream, world.public)[0]
        model = world.model(epsilon, delta, kind, seed).fit(*world.drawn(stream, n))
        weights = np.append(np.atleast_2d(model.coef_)[0], np.atleast_1d(model.intercept_)[0])
        self.released.append(weights - world.truth)
        noise = {"label_noise": ERRORS} if world.regression else {}
        try:
            found = eq.population_intervals(model, public, refits=refits, seed=seed, **noise)
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
        # Intervals of one world hang together: the standard error is that of worlds.
        worlds, columns = np.mean(self.held, axis=1), np.array(self.widths).shape[1] - 1
        error = np.std(worlds, ddof=1) / np.sqrt(len(worlds)) if len(worlds) > 1 else np.nan
        # Of the coefficients the one that is farthest off in the middle of all worlds.
        before, after = (np.abs(np.median(one, axis=0))[:columns].max() for one in (self.released, self.estimated))
        width = np.median(np.array(self.widths)[:, :columns])
        holds = f"{100 * worlds.mean():.1f} % ± {100 * error:.1f} | {width:.2f} | {before:.2f} | {after:.2f}"
        untold = 100 * self.untold / np.size(self.held)
        return f"{holds} | {untold:.0f} % | {self.refused} of {len(self.released)} |"


def main(worlds: int, refits: int, designs: list[str]) -> None:
    """Go through all cells, a few worlds at a time, and print what is known after each time."""
    names = {name: World(name) for name in designs}
    cells = {
        (name, *place, *kind): Cell()
        for name in names
        for place in CELLS[name]
        for kind in (KINDS[:2] if name in FEWER_KINDS else KINDS)
    }
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
    worlds, refits, *designs = sys.argv[1:] or (WORLDS, REFITS)
    main(int(worlds), int(refits), designs or list(CELLS))
