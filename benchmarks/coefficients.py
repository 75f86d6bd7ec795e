"""How often approximate intervals for the population's coefficients hold: the tables of docs/coefficients.md.

Worlds with known coefficients: four columns, evenly spread, and labels

- by the model: log odds ``2 x1 - x2 + x3 + 0.3``, rows that are hardly ever clipped;
- by another one: to the log odds comes ``6 (x1^2 - 0.16)``, and the population's coefficients are those of the best
  logistic model, found on 10^6 rows;
- clipped: rows twice as long as the declared row norm, and longer.

Private rows and public ones are drawn apart from the same population; the public ones are 4,000.
``python benchmarks/coefficients.py [WORLDS] [REFITS] [WORLD ...]``, about two seconds of one core a world and kind of
release.
"""

import math
import sys
import time

import numpy as np

import equipoise as eq

WORLDS, REFITS, PUBLIC = 25, 40, 4000
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


def measured(world: World, n: int, epsilon: float, kind: str, delta: float, worlds: int, refits: int) -> str:
    """Return a line: coverage of five numbers in so many worlds, and of the released ones beside it."""
    held, untold, refused, widths, biases, kept = [], 0, 0, [], [], []
    for seed in range(worlds):
        stream = np.random.default_rng((n, round(10 * epsilon), seed))
        public = world.drawn(stream, PUBLIC)[0]
        model = eq.LogisticRegression(
            epsilon=epsilon, delta=delta, domain=DOMAIN, mechanism=kind, random_state=seed, alpha="public"
        ).fit(*world.drawn(stream, n))
        biases.append(np.append(model.coef_[0], model.intercept_[0]) - world.truth)
        try:
            found = eq.population_intervals(model, public, refits=refits, seed=seed)
        except eq.errors.InvalidParameter:
            refused += 1
            continue
        numbers = [*found.coefficients, found.intercept]
        inside = np.array([one.low <= true <= one.high for one, true in zip(numbers, world.truth, strict=True)])
        held.append(inside)
        kept.append([one.value - true for one, true in zip(numbers, world.truth, strict=True)])
        untold += sum(not one.told for one in numbers)
        widths.append([one.high - one.low for one in numbers])
    if not held:
        return f"| {n:,} | {epsilon:g} | {kind} | - | - | - | - | - | {refused} of {worlds} |"
    share = float(np.mean(held))
    # Numbers of one world hang together: the error is that of worlds.
    error = float(np.std(np.mean(held, axis=1))) / math.sqrt(len(held))
    # Errors of an estimate: those of the release, and those after bias was put back.
    before, after = np.abs(np.mean(biases, axis=0))[:4].max(), np.abs(np.median(kept, axis=0))[:4].max()
    return (
        f"| {n:,} | {epsilon:g} | {kind} | {100 * share:.1f} ± {100 * max(error, 0.5 / len(held)):.1f} "
        f"| {np.median(np.array(widths)[:, :4]):.2f} | {before:.2f} | {after:.2f} "
        f"| {100 * untold / (5 * len(held)):.0f} % | {refused} of {worlds} |"
    )


def main(worlds: int, refits: int, names: list[str]) -> None:
    for name in names:
        world, start = World(name), time.perf_counter()
        print(f"\nLabels by {name}; coefficients {np.round(world.truth, 2).tolist()}; {worlds} worlds, {refits} refits")
        print("| n | epsilon | kind | coverage, % | width | bias released | bias left | not told | refused |")
        print("|---|---|---|---|---|---|---|---|---|", flush=True)
        for n, epsilon in CELLS[name]:
            for kind, delta in KINDS:
                print(measured(world, n, epsilon, kind, delta, worlds, refits), flush=True)
        print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else WORLDS, int(given[1]) if given[1:] else REFITS, given[2:] or list(CELLS))
