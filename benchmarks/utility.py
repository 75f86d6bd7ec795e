"""Accuracy of the automatic choice, of every mechanism and of the peers, on the same rows in one run.

Steps that ``make bench DATA=FOLDER`` takes one after the other. ::

    python benchmarks/utility.py splits --data FOLDER       # write the prepared splits
    python benchmarks/peers.py build/splits build/peers.json    # measure the peers, in their own environment
    python benchmarks/utility.py measure --data FOLDER      # measure Equipoise; then the same with classes and time
    python benchmarks/utility.py descents --data FOLDER     # measure the descents, and write their table
    python benchmarks/utility.py page                       # write the tables and the picture of docs/utility.md

Estimators are used as they come: ``LogisticRegression(epsilon=..., delta=..., domain=...)``; nothing is tuned on data.
"""

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray
from prepared import Split, adult, covertype, covertype_seven, mnist_3_vs_5, mnist_ten, small
from sklearn.linear_model import LogisticRegression as Unprivate
from sklearn.linear_model import Ridge as UnprivateRidge
from study import table_rows

import equipoise as eq

REQUIRED_EPSILONS = (0.1, 1.0)
CURVE_EPSILONS = (0.05, 0.1, 0.3, 1.0, 3.0, 10.0)
MECHANISMS = ("auto", "output", "objective", "noisy-gradient", "sufficient-statistics", "functional")
# Datasets of more rows than this have the fixed choices and the rest of the curve measured with fewer runs.
MANY_ROWS = 100_000
# The deviation of the mean's lower 95 % bound, one-sided.
NORMAL_QUANTILE = 1.645


@dataclass(frozen=True)
class Cell:
    """One mechanism on one dataset at one budget, over many runs."""

    dataset: str
    epsilon: float
    delta: float
    kind: str
    method: str
    taken: str
    mean: float
    deviation: float
    runs: int
    seconds: float

    @property
    def lower(self) -> float:
        """The lower 95 % bound of the mean."""
        return self.mean - NORMAL_QUANTILE * self.deviation / np.sqrt(self.runs)


def read(folder: Path, small_splits: int) -> dict[str, list[Split]]:
    """Return every dataset of the requirement, the small ones with many splits."""
    large = [adult(folder), mnist_3_vs_5(folder), covertype(folder)]
    return {split.name: [split] for split in large} | {group[0].name: group for group in small(small_splits)}


def write_splits(datasets: dict[str, list[Split]], folder: Path) -> None:
    """Write the splits as peers.py reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.npz"):
        old.unlink()
    for number, group in enumerate(datasets.values()):
        for seed, split in enumerate(group):
            labels = split.domain.labels
            low, high = labels or (0.0, 1.0)
            coded = {part: getattr(split, part) if labels else _codes(split, part) for part in ("y", "y_test")}
            np.savez(
                folder / f"{number}-{seed:03d}.npz",
                X=split.X,
                X_test=split.X_test,
                name=split.name,
                task="regression" if labels else "classification",
                label_low=low,
                label_high=high,
                split_seed=seed,
                **coded,
            )


def _codes(split: Split, part: str) -> NDArray[np.int_]:
    classes = split.domain.classes
    return (getattr(split, part) == classes[1]).astype(int)  # type: ignore[index]


def measure(group: list[Split], epsilon: float, delta: float, mechanism: str, runs: int) -> Cell | None:
    """Return the test scores of released models, one noise seed a run, splits in turn; None where it is refused."""
    scores, seconds, taken = [], [], ""
    for seed in range(runs):
        split = group[seed % len(group)]
        family = eq.Ridge if split.domain.labels else eq.LogisticRegression
        # Every run has public directions of its own, where a plan asks for some: one draw may be lucky.
        seeds = {"random_state": seed, "public_seed": seed}
        model = family(epsilon=epsilon, delta=delta, domain=split.domain, mechanism=mechanism, **seeds)
        start = time.perf_counter()
        try:
            model.fit(split.X, split.y)
        except eq.errors.EquipoiseError:
            return None
        seconds.append(time.perf_counter() - start)
        scores.append(model.score(split.X_test, split.y_test))
        taken = model.certificate_.kind
    kind = "approximate" if delta else "pure"
    spread = float(np.std(scores, ddof=1)) if runs > 1 else 0.0
    return Cell(
        group[0].name, epsilon, delta, kind, mechanism, taken, float(np.mean(scores)), spread,
        runs, float(np.median(seconds)),
    )  # fmt: skip


def runs_for(group: list[Split], large: int) -> int:
    """Return the number of runs: as many as there are splits of a small set."""
    return large if len(group) == 1 else len(group)


def measure_all(datasets: dict[str, list[Split]], large: int) -> list[Cell]:
    """Measure the automatic choice at the required budgets with all runs, and the rest with fewer."""
    found = []
    for name, group in datasets.items():
        rows = len(group[0].y)
        for epsilon in CURVE_EPSILONS:
            for delta, mechanism in product((0.0, rows**-2.0), MECHANISMS):
                full = mechanism == "auto" and epsilon in REQUIRED_EPSILONS
                runs = runs_for(group, large) // (1 if full else 4 if rows < MANY_ROWS else 10)
                if cell := measure(group, epsilon, delta, mechanism, runs):
                    found.append(cell)
                    print(f"{name} eps={epsilon:g} {cell.kind} {mechanism}: {cell.mean:.4f}", file=sys.stderr)
    return found


def unprivate_score(group: list[Split]) -> float:
    """Return scikit-learn's mean score without privacy."""
    scores = []
    for split in group[:20]:
        model = UnprivateRidge(1.0) if split.domain.labels else Unprivate(C=100.0, max_iter=2000)
        scores.append(model.fit(split.X, split.y).score(split.X_test, split.y_test))
    return float(np.mean(scores))


def comparison(cells: list[Cell], peers: list[dict[str, Any]]) -> str:
    """Return the table of the requirement: the automatic choice's lower bound against the best peer."""
    rows = []
    for cell in cells:
        if cell.method != "auto" or cell.epsilon not in REQUIRED_EPSILONS:
            continue
        allowed = {"pure"} if cell.kind == "pure" else {"pure", "approximate"}
        rivals = [
            peer
            for peer in peers
            if peer["dataset"] == cell.dataset and peer["epsilon"] == cell.epsilon and peer["kind"] in allowed
        ]
        strict = max(rivals, key=lambda peer: peer["mean"])
        plain = max((peer for peer in rivals if "clip tuned" not in peer["method"]), key=lambda peer: peer["mean"])
        rows.append(
            [
                cell.dataset,
                f"{cell.epsilon:g}",
                cell.kind,
                f"**{cell.mean:.3f}**" if cell.lower > plain["mean"] else f"{cell.mean:.3f}",
                f"{cell.lower:.4f}",
                cell.taken,
                f"{plain['mean']:.4f} ({plain['method']})",
                f"{strict['mean']:.4f}" if strict is not plain else "",
                "yes" if cell.lower > strict["mean"] else ("but the last" if cell.lower > plain["mean"] else "no"),
            ]
        )
    header = ["data", "epsilon", "privacy", "score", "lower 95 %", "taken", "best peer", "clip tuned too", "ahead"]
    return table_rows(header, rows)


def regret(cells: list[Cell]) -> tuple[str, float]:
    """Return the table of fixed choices against the automatic one, and the mean regret in points of score."""
    rows, regrets = [], []
    fixed = [name for name in MECHANISMS if name != "auto"]
    for cell in cells:
        if cell.method != "auto":
            continue
        others = {
            other.method: other.mean
            for other in cells
            if (other.dataset, other.epsilon, other.kind) == (cell.dataset, cell.epsilon, cell.kind)
        }
        best = max(others.values())
        regrets.append(best - cell.mean)
        shown = [f"{others[name]:.3f}" if name in others else "" for name in fixed]
        rows.append(
            [cell.dataset, f"{cell.epsilon:g}", cell.kind, f"{cell.mean:.3f}", *shown, f"{best - cell.mean:.3f}"]
        )
    table = table_rows(["data", "epsilon", "privacy", "auto", *fixed, "regret"], rows)
    return table, 100 * float(np.mean(regrets))


def picture(cells: list[Cell], peers: list[dict[str, Any]], unprivate: dict[str, float], path: Path) -> None:
    """Draw the score of every mechanism over epsilon, a panel a dataset and kind of privacy."""
    records = [asdict(cell) | {"score": max(cell.mean, -1.0)} for cell in cells]
    rivals = [
        {**peer, "score": max(peer["mean"], -1.0), "method": "best peer"}
        for key in {(peer["dataset"], peer["epsilon"], peer["kind"]) for peer in peers}
        for peer in [max((p for p in peers if (p["dataset"], p["epsilon"], p["kind"]) == key), key=lambda p: p["mean"])]
    ]
    panels = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        row = []
        for kind in ("pure", "approximate"):
            data = alt.Data(values=[r for r in records if (r["dataset"], r["kind"]) == (dataset, kind)])
            dots = alt.Data(values=[r for r in rivals if (r["dataset"], r["kind"]) == (dataset, kind)])
            x = alt.X("epsilon:Q", scale=alt.Scale(type="log", domain=[0.045, 11.0], nice=False), title="epsilon")
            y = alt.Y("score:Q", scale=alt.Scale(zero=False), title="test score")
            order = [
                "auto",
                "output",
                "objective",
                "noisy-gradient",
                "sufficient-statistics",
                "functional",
                "best peer",
            ]
            colour = alt.Color("method:N", sort=order, scale=alt.Scale(scheme="category10"), title=None)
            width = alt.condition(alt.datum.method == "auto", alt.value(4), alt.value(1.5))
            lines = alt.Chart(data).mark_line(point=True).encode(x, y, colour, strokeWidth=width)
            marks = alt.Chart(dots).mark_point(shape="diamond", size=90, filled=True).encode(x, y, colour)
            rule = alt.Chart(alt.Data(values=[{"score": unprivate[dataset]}])).mark_rule(strokeDash=[4, 4]).encode(y=y)
            title = f"{dataset}, {'delta = 0' if kind == 'pure' else 'delta = 1/n^2'}"
            row.append((lines + marks + rule).properties(width=330, height=190, title=title))
        panels.append(alt.hconcat(*row))
    alt.vconcat(*panels).configure(background="white").save(path)


def several_classes(folder: Path, runs: int) -> str:
    """Return the table of the problems with many classes at epsilon 1, delta 1/n^2."""
    rows = []
    for split in (mnist_ten(folder), covertype_seven(folder)):
        delta = len(split.y) ** -2.0
        for mechanism in ("auto", "output", "objective", "noisy-gradient"):
            if cell := measure([split], 1.0, delta, mechanism, runs):
                rows.append([split.name, mechanism, cell.taken, f"{cell.mean:.4f}", f"{cell.seconds:.0f} s"])
                print(rows[-1], file=sys.stderr)
    return table_rows(["data", "mechanism", "taken", "accuracy", "fit"], rows)


# Descents as they come, and one averaged pass without a ridge, which is what a stream of rows allows.
ONE_PASS = {"passes": 1, "alpha": 0.0, "average": "uniform", "batch_size": 1, "clip": "public"}
DESCENTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "LogisticRegression": (eq.LogisticRegression, {}),
    "NoisySGDClassifier": (eq.NoisySGDClassifier, {}),
    "SGDClassifier": (eq.SGDClassifier, {}),
    "SGDClassifier, one pass": (eq.SGDClassifier, ONE_PASS),
    "PhasedClassifier": (eq.PhasedClassifier, {}),
}
# Of several classes: "auto" may take noisy SGD itself.
SEVERAL: dict[str, tuple[Any, dict[str, Any]]] = {
    "LogisticRegression, noisy gradient": (eq.LogisticRegression, {"mechanism": "noisy-gradient"}),
    "NoisySGDClassifier": (eq.NoisySGDClassifier, {}),
}


def descents(folder: Path, runs: int, only: str) -> dict[str, list[list[str]]]:
    """Return the rows of every descent beside the automatic choice, by dataset: mean, its standard error, and time.

    Several classes at epsilon 1 and delta 1/n^2 alone.
    """
    found: dict[str, list[list[str]]] = {}
    for make in (adult, mnist_3_vs_5, covertype, mnist_ten, covertype_seven):
        split = make(folder)
        if only.lower() not in split.name.lower():
            continue
        rows, approximate = found.setdefault(split.name, []), len(split.y) ** -2.0
        several = len(split.domain.classes) > 2
        for epsilon, delta in [(1.0, approximate)] if several else product(REQUIRED_EPSILONS, (0.0, approximate)):
            for name, (family, given) in (SEVERAL if several else DESCENTS).items():
                scores, seconds = [], []
                if not delta and family is eq.NoisySGDClassifier:
                    continue
                for seed in range(runs):
                    seeds = {"random_state": seed, "public_seed": seed}
                    model = family(epsilon=epsilon, delta=delta, domain=split.domain, **seeds, **given)
                    start = time.process_time()
                    model.fit(split.X, split.y)
                    seconds.append(time.process_time() - start)
                    scores.append(model.score(split.X_test, split.y_test))
                error = float(np.std(scores, ddof=1)) / np.sqrt(runs)
                kind = "approximate" if delta else "pure"
                shown = [f"{np.mean(scores):.4f}", f"{error:.4f}", f"{np.median(seconds):.2f} s"]
                rows.append([split.name, f"{epsilon:g}", kind, name, *shown])
                print(rows[-1], file=sys.stderr)
    return found


def fit_time(split: Split) -> str:
    """Return how long the automatic choice takes on Covertype against scikit-learn's default, in this run."""
    rows = []
    start = time.perf_counter()
    Unprivate(max_iter=1000).fit(split.X, split.y)
    usual = time.perf_counter() - start
    for epsilon in REQUIRED_EPSILONS:
        for delta in (0.0, len(split.y) ** -2.0):
            model = eq.LogisticRegression(epsilon=epsilon, delta=delta, domain=split.domain)
            start = time.perf_counter()
            model.fit(split.X, split.y)
            seconds = time.perf_counter() - start
            rows.append([f"{epsilon:g}", f"{delta:.2g}", model.certificate_.kind, f"{seconds / usual:.2f}"])
    return table_rows(["epsilon", "delta", "taken", "fit time over scikit-learn's"], rows)


def main() -> None:
    """Write splits, measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("splits", "measure", "classes", "time", "descents", "page"))
    parser.add_argument("--data", type=Path, default=os.environ.get("EQUIPOISE_DATA"), help="folder of Parquet files")
    parser.add_argument("--build", type=Path, default=Path("build"), help="folder for what was measured")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder for the page")
    parser.add_argument("--only", default="", help="measure only datasets whose name has this in it")
    parser.add_argument("--seeds-large", type=int, default=20)
    parser.add_argument("--seeds-small", type=int, default=200)
    chosen = parser.parse_args()
    ours = chosen.build / "equipoise.json"
    if chosen.step == "page":
        write_page(json.loads(ours.read_text()), json.loads((chosen.build / "peers.json").read_text()), chosen.out)
        return
    if not chosen.data or not Path(chosen.data).is_dir():
        parser.error("say where the Parquet files are: --data FOLDER, or set EQUIPOISE_DATA")
    if chosen.step == "classes":
        keep(ours, {"classes": several_classes(chosen.data, 1)})
        return
    if chosen.step == "descents":
        before = json.loads(ours.read_text()).get("descents", {}) if ours.exists() else {}
        found = before | descents(chosen.data, min(chosen.seeds_large, 10), chosen.only)
        keep(ours, {"descents": found})
        put_tables({"descents": descents_table(found)}, chosen.out)
        return
    if chosen.step == "time":
        keep(ours, {"time": fit_time(covertype(chosen.data))})
        return
    datasets = read(chosen.data, chosen.seeds_small)
    if chosen.step == "splits":
        write_splits(datasets, chosen.build / "splits")
        return
    for name, group in datasets.items():
        if chosen.only.lower() in name.lower():
            before = json.loads(ours.read_text()) if ours.exists() else {"cells": [], "unprivate": {}}
            others = [cell for cell in before["cells"] if cell["dataset"] != name]
            cells = others + [asdict(cell) for cell in measure_all({name: group}, chosen.seeds_large)]
            keep(ours, {"cells": cells, "unprivate": before["unprivate"] | {name: unprivate_score(group)}})


def keep(path: Path, found: dict[str, Any]) -> None:
    """Write what was found beside what was found before."""
    before = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(before | found, indent=1))


def write_page(ours: dict[str, Any], peers: list[dict[str, Any]], out: Path) -> None:
    """Put the tables between the page's marks, and draw the picture."""
    cells = [Cell(**record) for record in ours["cells"]]
    picture(cells, peers, ours["unprivate"], out / "utility.svg")
    table, points = regret(cells)
    sections = {
        "comparison": comparison(cells, peers),
        "regret": f"{table}\n\nMean regret: {points:.2f} points.",
        "classes": ours["classes"],
        "time": ours["time"],
        "descents": descents_table(ours["descents"]),
    }
    put_tables(sections, out)


def descents_table(found: dict[str, list[list[str]]]) -> str:
    """Return the table of all descents."""
    header = ["data", "epsilon", "privacy", "estimator", "accuracy", "standard error", "processor time"]
    return table_rows(header, [row for rows in found.values() for row in rows])


def put_tables(sections: dict[str, str], out: Path) -> None:
    """Put tables between the page's marks."""
    page = (out / "utility.md").read_text()
    for name, text in sections.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, after = page.split(start)[0], page.split(end)[1]
        page = f"{before}{start}\n\n{text}\n\n{end}{after}"
    (out / "utility.md").write_text(page)


if __name__ == "__main__":
    main()
