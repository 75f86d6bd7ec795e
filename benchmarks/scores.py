"""What is measured of Equipoise on the benchmarks' rows: the automatic choice, every mechanism, and the descents.

Estimators are used as they come: ``LogisticRegression(epsilon=..., delta=..., domain=...)``; nothing is tuned on data.
`bench.py` measures; a plan can be made again without any rows, and so it is known whether a stored score is still that
of the program (`plan_of`).
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import tables
from prepared import Split, adult, covertype, covertype_seven, mnist_3_vs_5, mnist_ten, small
from sklearn import __version__ as sklearn_version
from sklearn.linear_model import LogisticRegression as Unprivate
from sklearn.linear_model import Ridge as UnprivateRidge
from sklearn.metrics import roc_auc_score
from stored import Named, Record, rounded

import equipoise as eq
from equipoise import __version__

REQUIRED_EPSILONS = (0.1, 1.0)
CURVE_EPSILONS = (0.05, 0.1, 0.3, 1.0, 3.0, 10.0)
MECHANISMS = ("auto", "output", "objective", "noisy-gradient", "sufficient-statistics", "functional")
# Datasets of more rows than this have the fixed choices and the rest of the curve measured with fewer runs.
MANY_ROWS = 100_000
UNPRIVATE = "scikit-learn, no privacy"

# Descents as they come, and one averaged pass without a ridge, which is what a stream of rows allows.
ONE_PASS = {"passes": 1, "alpha": 0.0, "average": "uniform", "batch_size": 1, "clip": "public"}
Families = dict[str, tuple[Any, dict[str, Any]]]
CLASSIFIERS: Families = {
    "NoisySGDClassifier": (eq.NoisySGDClassifier, {}),
    "SGDClassifier": (eq.SGDClassifier, {}),
    "SGDClassifier, one pass": (eq.SGDClassifier, ONE_PASS),
    "PhasedClassifier": (eq.PhasedClassifier, {}),
}
REGRESSORS: Families = {
    "NoisySGDRegressor": (eq.NoisySGDRegressor, {}),
    "SGDRegressor": (eq.SGDRegressor, {}),
    "SGDRegressor, one pass": (eq.SGDRegressor, ONE_PASS),
    "PhasedRegressor": (eq.PhasedRegressor, {}),
}
DESCENTS = CLASSIFIERS | REGRESSORS

# Noisy SGD beside the automatic choice, with delta = 1/n^2: so many runs of each that the standard error of their
# difference is about 0.05 points at most; six where one takes seconds.
BESIDE = {
    "Adult": {0.1: 160, 1.0: 40},
    "Covertype 1-vs-2": {0.1: 6, 1.0: 6},
    "MNIST 3-vs-5": {0.1: 2600, 1.0: 200},
}

Task = tuple[Named, Named, Callable[[], Record]]


# What reads a dataset, by its name; the small ones have many splits and come with scikit-learn.
LARGE: dict[str, Callable[[Path], Split]] = {
    "Adult": adult,
    "MNIST 3-vs-5": mnist_3_vs_5,
    "Covertype 1-vs-2": covertype,
}
MANY_CLASSES: dict[str, Callable[[Path], Split]] = {"MNIST 10-class": mnist_ten, "Covertype 7-class": covertype_seven}


def numbers(folder: Path, small_splits: int, runs: int) -> dict[str, list[Split]]:
    """Return the tables with numbers for targets on which descents are measured, with their splits."""
    whole = tables.warfarin(folder)
    return {"diabetes": small(small_splits)[-1], "warfarin": [tables.split(whole, seed) for seed in range(runs)]}


def read(folder: Path, small_splits: int, only: str = "") -> Iterator[list[Split]]:
    """Yield every dataset of the requirement, the small ones with many splits."""
    for name, make in LARGE.items():
        if only.casefold() in name.casefold():
            yield [make(folder)]
    yield from (group for group in small(small_splits) if only.casefold() in group[0].name.casefold())


def write_splits(datasets: Iterable[list[Split]], folder: Path) -> None:
    """Write the splits as peers.py reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.npz"):
        old.unlink()
    for number, group in enumerate(datasets):
        for seed, split in enumerate(group):
            labels = split.domain.labels
            low, high = labels or (0.0, 1.0)
            np.savez(
                folder / f"{number}-{seed:03d}.npz",
                X=split.X,
                X_test=split.X_test,
                y=_coded(split, split.y),
                y_test=_coded(split, split.y_test),
                name=split.name,
                task="regression" if labels else "classification",
                label_low=low,
                label_high=high,
                split_seed=seed,
            )


def _coded(split: Split, y: Any) -> Any:
    """Return targets as they are, and classes as 0 and 1."""
    return y if split.domain.labels else (y == split.domain.classes[1]).astype(int)  # type: ignore[index]


def rows_digest(group: list[Split]) -> str:
    """Return a digest of all rows of a dataset."""
    digest = hashlib.sha256()
    for split, part in product(group, ("X", "y", "X_test", "y_test")):
        digest.update(np.ascontiguousarray(getattr(split, part), dtype=float))
    return digest.hexdigest()[:12]


@cache
def plan_of(family: Any, given: str, epsilon: float, delta: float, facts: str) -> tuple[str, str] | None:
    """Return the kind of release that is planned, and a digest of the plan; None where the request is refused.

    What a plan claims fixes the law of the model that it releases: noise, ridge, steps, clip. Numbers count with four
    digits, and so the last bits of a machine do not matter. No rows are needed: `facts` are `facts_of` a split.
    """
    known = json.loads(facts)
    rows, columns = known.pop("rows"), known.pop("columns")
    domain = eq.Domain(**{name: tuple(part) if isinstance(part, list) else part for name, part in known.items()})
    try:
        model = family(epsilon=epsilon, delta=delta, domain=domain, **json.loads(given))
        return plan_key(model.plan(rows, columns))
    except eq.errors.EquipoiseError:
        return None


def plan_key(plan: eq.Certificate) -> tuple[str, str]:
    """Return the kind of release that is planned, and a digest of what fixes its law."""
    claim = json.loads(plan.to_json())["claim"]
    if claim["kind"] == "noisy-gradient" and claim["order"] == 0:
        # The field came after the first scores: 0 is what its absence said, and the law of the model is the same.
        del claim["order"]
    text = json.dumps(rounded(claim, 4), sort_keys=True)
    return claim["kind"], hashlib.sha256(text.encode()).hexdigest()[:12]


def facts_of(split: Split) -> dict[str, Any]:
    """Return what is public about a split: all that a plan is made of."""
    stated = {name: part for name, part in asdict(split.domain).items() if name in ("row_norm", "row_sum", "labels")}
    classes = split.domain.classes
    shape = {"rows": split.X.shape[0], "columns": split.X.shape[1]}
    return rounded(shape | stated | {"classes": None if classes is None else [int(word) for word in classes]})


def planned(record: Record) -> tuple[str, str] | None:
    """Return what today's program plans for a stored record: kind and digest."""
    name, facts = record["name"], record["facts"]
    family, given = asked(name["method"], facts)
    delta = facts["rows"] ** -2.0 if name["privacy"] == "approximate" else 0.0
    return plan_of(family, json.dumps(given), name["epsilon"], delta, json.dumps(facts))


def asked(method: str, facts: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the estimator of a method's name, and what it is given."""
    if method in MECHANISMS:
        return (eq.Ridge if facts["labels"] else eq.LogisticRegression), {"mechanism": method}
    return DESCENTS[method]


def task(group: list[Split], digest: str, epsilon: float, delta: float, method: str, runs: int) -> Task | None:
    """Return what measures one cell: one seed of the noise a run, splits in turn; None where it is refused."""
    facts = facts_of(group[0])
    family, given = asked(method, facts)
    plan = plan_of(family, json.dumps(given), epsilon, delta, json.dumps(facts))
    if plan is None:
        return None
    name = {
        "data": group[0].name,
        "epsilon": epsilon,
        "privacy": "approximate" if delta else "pure",
        "method": method,
    }
    key = {"version": __version__, "plan": plan[1], "rows": digest, "runs": runs}

    def measure() -> Record:
        scores, areas, seconds, taken = [], [], [], ""
        for seed in range(runs):
            split = group[seed % len(group)]
            # Every run has public directions of its own, where a plan asks for some: one draw may be lucky.
            seeds = {"random_state": seed, "public_seed": seed}
            model = family(epsilon=epsilon, delta=delta, domain=split.domain, **seeds, **given)
            start = time.process_time()
            model.fit(split.X, split.y)
            seconds.append(time.process_time() - start)
            scores.append(model.score(split.X_test, split.y_test))
            taken = model.certificate_.kind
            if split.domain.classes and len(split.domain.classes) == 2:
                second = split.y_test == split.domain.classes[1]
                areas.append(roc_auc_score(second, model.decision_function(split.X_test)))
        figures = {"taken": taken, "facts": facts, "runs": runs, "seconds": float(np.median(seconds))}
        spread = float(np.std(scores, ddof=1)) if runs > 1 else 0.0
        area = {"auc": float(np.mean(areas))} if areas else {}
        return {"mean": float(np.mean(scores)), "deviation": spread, **area, **figures}

    return name, key, measure


def scores(group: list[Split], large: int) -> Iterator[Task]:
    """Yield every mechanism at every budget: the automatic choice at the required ones with all runs."""
    rows, digest = len(group[0].y), rows_digest(group)
    yield _unprivate(group, digest)
    for epsilon, delta, mechanism in product(CURVE_EPSILONS, (0.0, rows**-2.0), MECHANISMS):
        full = is_required({"method": mechanism, "epsilon": epsilon})
        runs = (large if len(group) == 1 else len(group)) // (1 if full else 4 if rows < MANY_ROWS else 10)
        if found := task(group, digest, epsilon, delta, mechanism, max(runs, 2)):
            yield found


def is_required(name: Named) -> bool:
    """Whether a cell is one of the first table: the automatic choice at a required budget."""
    return name["method"] == "auto" and name["epsilon"] in REQUIRED_EPSILONS


def _unprivate(group: list[Split], digest: str) -> Task:
    """Return what measures scikit-learn's mean score without privacy."""

    def measure() -> Record:
        found = []
        for split in group[:20]:
            model = UnprivateRidge(1.0) if split.domain.labels else Unprivate(C=100.0, max_iter=2000)
            found.append(model.fit(split.X, split.y).score(split.X_test, split.y_test))
        return {"mean": float(np.mean(found)), "runs": len(found)}

    return {"data": group[0].name, "method": UNPRIVATE}, {"rows": digest, "scikit-learn": sklearn_version}, measure


def classes(split: Split, runs: int) -> Iterator[Task]:
    """Yield the mechanisms on a problem with many classes, at epsilon 1 and delta 1/n^2."""
    digest = rows_digest([split])
    for mechanism in ("auto", "output", "objective", "noisy-gradient"):
        if found := task([split], digest, 1.0, len(split.y) ** -2.0, mechanism, runs):
            yield found


def descents(group: list[Split], runs: int) -> Iterator[Task]:
    """Yield every descent at the required budgets, beside the automatic choice where no other suite has it.

    MNIST with ten classes at epsilon 1 and delta 1/n^2 alone: a fit takes many seconds.
    """
    split = group[0]
    digest, delta = rows_digest(group), len(split.y) ** -2.0
    budgets = [(1.0, delta)] if split.name == "MNIST 10-class" else product(REQUIRED_EPSILONS, (0.0, delta))
    families = list(REGRESSORS if split.domain.labels else CLASSIFIERS)
    for epsilon, share in budgets:
        elsewhere = (
            split.name in LARGE or split.name == "diabetes" or (split.name in MANY_CLASSES and epsilon == 1 and share)
        )
        for method in [*([] if elsewhere else ["auto"]), *families]:
            if found := task(group, digest, epsilon, share, method, runs):
                yield found


def beside(split: Split) -> Iterator[Task]:
    """Yield noisy SGD and the automatic choice with many runs, at the required epsilons and delta = 1/n^2."""
    digest = rows_digest([split])
    for (epsilon, runs), method in product(BESIDE[split.name].items(), ("auto", "NoisySGDClassifier")):
        if found := task([split], digest, epsilon, len(split.y) ** -2.0, method, runs):
            yield found
