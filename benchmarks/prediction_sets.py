"""Prediction sets on real tables, over 1,000 splits of rows that the model never saw, beside MAPIE's without noise.

One model a table, released at epsilon 1. Its held-out rows are dealt 1,000 times into rows that are counted with noise
and rows whose sets are looked at. Stored in ``benchmarks/results/prediction-sets.json``, a record a table and epsilon
of the counts: how often sets hold the truth (wanted are 0.90 to 0.93), how often they are empty (a miss), how large
they are, and the same of the split-conformal sets that MAPIE makes of the same rows without noise. MAPIE is in the
peers' environment, and makes its sets in every split (``benchmarks/prediction_sets_peers.py``); they are computed here
as well, and where the two differ the program ends.
``python benchmarks/prediction_sets.py --data FOLDER --peers PYTHON [--splits 1000] [TABLE ...]``, minutes a table;
`make bench-page` writes the table of docs/evaluation.md.
"""

import argparse
import hashlib
import json
import math
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from dealing import dealt
from numpy.typing import NDArray
from prepared import Split, adult, covertype, covertype_seven, mnist_3_vs_5, mnist_ten
from scipy.special import expit, softmax
from scores import facts_of, plan_of, rows_digest
from stored import Named, Record, Store, measure_or_keep

import equipoise as eq
from equipoise import __version__
from equipoise.data.rows import class_positions
from equipoise.evaluation.evaluated import Evaluated, evaluated
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.prediction_sets import cells_of, levels_of_classes, mark, parts_of, reached
from equipoise.evaluation.regression import Regression
from equipoise.evaluation.shares import rebalanced
from equipoise.noise import SeededSource
from equipoise.planning.evaluation import further_noise, noise_on_counts
from equipoise.release.carriers.evaluation import binned, outputs_of, share_bins
from equipoise_studies.private_regression.preparation import patients

Array = NDArray[np.float64]

COVERAGE, EPSILONS, SPLITS, MOST_ROWS = 0.9, (1.0, 5.0), 1000, 10_000
# The page that proves the coverage says of which code: what was measured belongs to these digests.
PROOF = Path(__file__).parents[1] / "docs" / "proofs" / "N4-sets.md"
# MAPIE takes numbers that are nearer than this as equal: its sets lie between those of quantiles so far apart.
NEAR = 1e-8


@dataclass(frozen=True)
class HeldOut:
    """Rows that a model never saw, as its cells see them and as they are."""

    name: str
    epsilon: float
    template: NoisyCounts
    # The row of the histogram and the output that each row lies in; levels of cells. Of several classes it is the
    # histogram of the true class's share, which has one row.
    rows: NDArray[np.int64]
    outputs: NDArray[np.int64]
    levels: NDArray[np.intp]
    # Non-conformity scores of true labels, and of all labels (rows x classes); of numbers the absolute residual.
    scores: Array
    of_labels: Array | None
    # Of classes: the output of every row for each of its labels.
    outputs_of_labels: NDArray[np.int64] | None
    # What MAPIE is given: a score a row, and the truth.
    shown: Array
    truth: Array


def family(numbers: bool) -> type:
    """Return the estimator of a task."""
    return eq.Ridge if numbers else eq.LogisticRegression


def released(split: Split) -> Evaluated:
    """Train on a table's training rows."""
    model = family(split.domain.labels is not None)(epsilon=1.0, domain=split.domain, random_state=0)
    return evaluated(model.fit(split.X, split.y))


def held_out(split: Split, found: Evaluated, epsilon: float) -> HeldOut:
    """See a table's test rows with the released model."""
    name, numbers = split.name, split.domain.labels is not None
    n = min(len(split.y_test) // 2, MOST_ROWS)
    noise = noise_on_counts(eq.Budget(epsilon), found.further)
    cells, margins = found.cells(n, noise), found.scores(split.X_test)
    counts = np.zeros(cells.shape, dtype=np.int64)
    template = NoisyCounts(cells.edges, counts, noise.law, noise.scale, n, cells.predictions, cells.range)
    truth = split.y_test.astype(float)
    if numbers:
        predicted = margins[:, 0]
        rows, outputs = binned(cells.predictions, predicted), binned(cells.edges, truth - predicted)
        levels = np.broadcast_to(Regression(template).levels, cells.shape[1:])
        scores, shown = np.abs(truth - predicted), predicted[:, None]
        return HeldOut(name, epsilon, template, rows, outputs, levels, scores, None, None, shown, truth)
    second = expit(margins[:, 0])
    shares = np.stack([1.0 - second, second], axis=1) if len(found.labels) == 2 else softmax(margins, axis=1)
    rows = class_positions(split.y_test, found.labels).astype(np.int64)
    scores, true = 1.0 - shares[np.arange(len(rows)), rows], rows.astype(float)
    if (louder := further_noise(noise, cells)) is None:
        outputs, levels = outputs_of(cells, margins), levels_of_classes(template)
        of_labels = np.repeat(outputs[:, None], 2, axis=1)
        return HeldOut(name, epsilon, template, rows, outputs, levels, scores, 1.0 - shares, of_labels, shares, true)
    template = NoisyCounts(
        cells.true_shares, np.zeros((1, 1, louder.dimension), dtype=np.int64), noise.law, louder.scale, n
    )
    of_labels, levels = share_bins(cells, margins), np.arange(louder.dimension)[::-1][None, :]
    outputs, alone = of_labels[np.arange(len(rows)), rows], np.zeros_like(rows)
    return HeldOut(name, epsilon, template, alone, outputs, levels, scores, 1.0 - shares, of_labels, shares, true)


def measured(table: HeldOut, splits: int, theirs: "Peer") -> Record:
    """Return what is stored of one table and epsilon: means over all splits."""
    n, shape = table.template.n_samples, table.template.counts.shape
    places = table.rows * shape[2] + table.outputs
    # Public facts alone decide the mark, so that it is the same for every split.
    parts = 1 if table.of_labels is None else parts_of(table.levels)
    needed = mark(table.template, cells_of(table.template, table.levels), COVERAGE, parts)
    own = table.levels[table.rows, table.outputs]
    found, plain = [], []
    for world in range(splits):
        counted, new = dealt(world, len(own), n)
        true = np.bincount(places[counted], minlength=table.levels.size).reshape(shape)
        noisy = SeededSource(world).add_whole(table.template.law, true.ravel(), table.template.scale).reshape(shape)
        counts = replace(table.template, counts=noisy)
        upto = reached(np.bincount(table.levels.ravel(), rebalanced(counts).ravel()), needed, parts)
        # A label on a level is in where the coin of its row is below what the level has of these.
        inside = upto - np.random.default_rng([2, world]).random(len(new))
        quantile = np.sort(table.scores[counted])[int(np.ceil((n + 1) * COVERAGE)) - 1]
        sizes = sizes_of(table, inside, new)
        found.append((np.mean(own[new] < inside), np.mean(sizes == 0), np.mean(sizes)))
        plain.append([without_noise(table, quantile + apart, new) for apart in (-NEAR, NEAR)])
    made, versions = theirs(table)
    least, most = np.array(plain).transpose(1, 0, 2)
    if not np.all((least <= made) & (made <= most)):
        raise SystemExit(f"{table.name}: MAPIE's sets differ from those computed here in some split")
    held, empty, size = np.mean(found, axis=0).tolist()
    held_plain, size_plain = np.mean(made, axis=0).tolist()
    figures = {"held": held, "empty": empty, "size": size, "held plain": held_plain, "size plain": size_plain}
    deviation = float(np.std([each[0] for each in found], ddof=1))
    return {"counted": n, **figures, "mean": held, "deviation": deviation, "runs": splits, "peer": versions}


def sizes_of(table: HeldOut, inside: Array, new: NDArray[np.int64]) -> Array:
    """Return how large sets of new rows are; of numbers the width of the interval."""
    if table.of_labels is not None and table.outputs_of_labels is not None:
        labels = np.arange(table.of_labels.shape[1]) if len(table.levels) > 1 else 0
        members = table.levels[labels, table.outputs_of_labels[new]] < inside[:, None]
        return np.asarray(members.sum(axis=1))
    low, high = Regression(table.template).upto(math.ceil(inside[0]) - 1)
    return np.full(len(new), high - low)


def without_noise(table: HeldOut, quantile: float, new: NDArray[np.int64]) -> tuple[float, float]:
    """Return how often split-conformal sets up to a quantile hold the truth, and their mean size."""
    size = 2.0 * quantile if table.of_labels is None else np.sum(table.of_labels[new] <= quantile) / len(new)
    return float(np.mean(table.scores[new] <= quantile)), float(size)


class Peer:
    """MAPIE in the peers' environment: asked once a table, for what it makes does not depend on epsilon."""

    def __init__(self, python: str, splits: int) -> None:
        self._python, self._splits = python, splits
        self._made: dict[str, tuple[Array, list[str]]] = {}

    def __call__(self, table: HeldOut) -> tuple[Array, list[str]]:
        """Return how often its sets hold and their mean size, a line a split, and the versions that made them."""
        if table.name not in self._made:
            with tempfile.TemporaryDirectory() as folder:
                asked, answer = Path(folder) / "asked.npz", Path(folder) / "answer.npz"
                counted, classes = table.template.n_samples, table.of_labels is not None
                facts = {"counted": counted, "splits": self._splits, "coverage": COVERAGE, "classes": classes}
                np.savez(asked, shown=table.shown, truth=table.truth, **facts)
                program = Path(__file__).with_name("prediction_sets_peers.py")
                subprocess.run([self._python, program, asked, answer], check=True)  # noqa: S603
                answered = np.load(answer)
                self._made[table.name] = answered["made"], answered["versions"].tolist()
        return self._made[table.name]


def warfarin(folder: Path) -> Split:
    """Return the warfarin table: roots of weekly doses from clinical and genetic facts, half of it to train."""
    rows = patients(folder).rows
    order = np.random.default_rng(0).permutation(len(rows))
    X, y = rows.features[order], rows.target[order]
    half = len(y) // 2
    # Features and targets are scaled by the study's public ranges: rows into the unit ball, targets into [-1, 1].
    return Split("warfarin", X[:half], y[:half], X[half:], y[half:], eq.Domain(1.0, labels=(-1.0, 1.0)))


TABLES = (adult, mnist_3_vs_5, covertype, warfarin, covertype_seven, mnist_ten)


def proved() -> str:
    """Return a digest of the code that the proof of the coverage is pinned to."""
    pins = [line for line in PROOF.read_text(encoding="utf-8").splitlines() if line.startswith("- Pinned: ")]
    return hashlib.sha256("\n".join(pins).encode()).hexdigest()[:12]


def key_of(facts: Record) -> Named:
    """Return what today's program makes of a table's public facts: the plan of the model, and the code of sets."""
    plan = plan_of(family(facts["labels"] is not None), "{}", 1.0, 0.0, json.dumps(facts))
    return {"version": __version__, "plan": plan and plan[1], "sets": proved()}


def tasks(
    read: Callable[[Path], Split], folder: Path, splits: int, theirs: Peer
) -> Iterator[tuple[Named, Named, Callable[[], Record]]]:
    """Yield what is to be measured of one table."""
    split = read(folder)
    facts = facts_of(split)
    key = {**key_of(facts), "rows": rows_digest([split]), "runs": splits}
    model = cache(partial(released, split))

    def measure(epsilon: float) -> Record:
        return {"facts": facts, **measured(held_out(split, model(), epsilon), splits, theirs)}

    for epsilon in EPSILONS:
        yield {"data": split.name, "epsilon": epsilon}, key, partial(measure, epsilon)


def main() -> None:
    """Measure what is not stored."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [read.__name__ for read in TABLES]
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(names)}; all unless said")
    parser.add_argument("--data", type=Path, default=os.environ.get("EQUIPOISE_DATA"), help="folder of Parquet files")
    parser.add_argument("--peers", default=".venv-peers/bin/python", help="Python of the peers' environment")
    parser.add_argument("--splits", type=int, default=SPLITS, help="of a table's held-out rows")
    asked = parser.parse_args()
    store = Store("prediction-sets")
    for read in TABLES:
        if read.__name__ in (asked.tables or names):
            found = list(tasks(read, asked.data, asked.splits, Peer(asked.peers, asked.splits)))
            measure_or_keep(store, found, False, partial(print, flush=True))


if __name__ == "__main__":
    main()
