"""The times that have a goal, as ratios within one run where there is a peer: what `bench.py` stores of them.

Each is measured by the benchmark that explains it: `gradient.py`, `noise.py`, `speed.py`. A time depends on the code as
a whole, so its key has the last commit that changed the program; that of a fit has its plan as well, and the page marks
a time whose plan is no longer made.
"""

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradient
import numpy as np
import speed
from prepared import Split, covertype, mnist_ten
from scores import REQUIRED_EPSILONS, Task, facts_of, plan_of
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression
from stored import Record, program

import equipoise as eq
import noise
from equipoise.noise.numbers import loops

TURNS = 5
LBFGS, NEWTON = "times scikit-learn's lbfgs", "times scikit-learn's newton-cholesky"
IMPORTED = "times scikit-learn's linear models"


def figure(value: float, unit: str, goal: float | None = None, **more: Any) -> Record:
    """Return a time as it is stored: a ratio unless its unit is one of time."""
    return {"value": value, "unit": unit, "goal": goal, "ratio": unit.startswith("times"), **more}


def fit_of(facts: dict[str, Any], mechanism: str, epsilon: float = 1.0, delta: float | None = None) -> dict[str, Any]:
    """Return what plans a fit that is timed, from public facts; delta is 1/n^2 unless said."""
    delta = facts["rows"] ** -2.0 if delta is None else delta
    return {"mechanism": mechanism, "epsilon": epsilon, "delta": delta, "facts": facts}


def made_facts(rows: int, columns: int, classes: int = 2) -> dict[str, Any]:
    """Return what is public about a made table (`gradient.fit_times`)."""
    shape = {"rows": rows, "columns": columns, "row_norm": 1.0, "labels": None, "row_sum": None}
    return shape | {"classes": list(range(classes))}


def plan_today(fit: dict[str, Any]) -> str:
    """Return the digest of the plan that the program makes today for a fit that was timed."""
    given = json.dumps({"mechanism": fit["mechanism"]})
    found = plan_of(eq.LogisticRegression, given, fit["epsilon"], fit["delta"], json.dumps(fit["facts"]))
    return "refused" if found is None else found[1]


def times(folder: Path, largest: int) -> Iterator[Task]:
    """Yield everything that has a goal."""
    key = {"program": program()}

    def named(what: str, measure: Any, fit: dict[str, Any] | None = None) -> Task:
        if fit is None:
            return {"what": what}, key, measure
        return {"what": what}, key | {"plan": plan_today(fit)}, lambda: measure() | {"fit": fit}

    for rows, columns in gradient.CELLS:
        if rows <= largest:
            fit = fit_of(made_facts(rows, columns), "noisy-gradient")
            yield named(f"noisy gradient, {rows:,} x {columns:,}", lambda r=rows, c=columns: _made(r, c), fit)
        if rows <= min(largest, gradient.CELLS[-2][0]):
            words = f"noisy gradient, {rows:,} x {columns:,}, single precision"
            fit = fit_of(made_facts(rows, columns), "noisy-gradient")
            yield named(words, lambda r=rows, c=columns: _made(r, c, dtype=np.float32), fit)
    fit = fit_of(made_facts(20_000, 100, 40), "noisy-gradient")
    yield named("noisy gradient, 20,000 x 100, 40 classes", lambda: _made(20_000, 100, 40), fit)
    images = fit_of(made_facts(60_000, 784, 10), "noisy-gradient")
    yield named("noisy gradient, MNIST with 10 classes", lambda: _mnist(folder), images)
    forest = covertype(folder)
    for epsilon, delta in [(e, d) for e in REQUIRED_EPSILONS for d in (0.0, len(forest.y) ** -2.0)]:
        words = f"auto, Covertype 1-vs-2, epsilon {epsilon:g}, {'delta 1/n^2' if delta else 'pure'}"
        yield named(
            words, lambda e=epsilon, d=delta: _auto(forest, e, d), fit_of(facts_of(forest), "auto", epsilon, delta)
        )
    planned: dict[str, float] = {}
    yield named("first fit of 1,000 x 10, planning included", lambda: _planning(planned, "first", gradient.FIRST_FIT))
    yield named("ten plans for other epsilons", lambda: _planning(planned, "ten", gradient.TEN_PLANS))
    for law in noise.LAWS:
        yield named(f"a number of exact noise, {law}", lambda law=law: _noise(law))
    yield named("output, Covertype 1-vs-2", lambda: figure(speed.fit_ratio(forest), NEWTON, speed.FIT))
    for dtype in (np.float32, np.float64):
        words = f"memory of a fit, {np.dtype(dtype).name}"
        yield named(words, lambda t=dtype: figure(speed.memory_ratio(forest, t), "times the rows", speed.MEMORY))
    yield named("import equipoise", lambda: figure(speed.import_ratio(), IMPORTED, speed.IMPORT))


def _made(rows: int, columns: int, classes: int = 2, dtype: Any = np.float64) -> Record:
    """Return noisy gradients beside lbfgs on made rows."""
    loops()
    X, y = gradient.made(rows, columns, classes)
    steps, mine, theirs = gradient.fit_times(X.astype(dtype), y, TURNS if rows <= gradient.CELLS[-2][0] else 3)
    return figure(mine / theirs, LBFGS, gradient.RATIO, seconds=mine, steps=steps)


def _mnist(folder: Path) -> Record:
    """Return noisy gradients on MNIST, whose goal is one of seconds."""
    loops()
    split = mnist_ten(folder)
    steps, mine, theirs = gradient.fit_times(split.X, split.y, 3)
    goal = gradient.MNIST_SECONDS
    return figure(mine / theirs, LBFGS, None, seconds=mine, steps=steps, said=f"{goal:g} s", met=mine <= goal)


def _auto(split: Split, epsilon: float, delta: float) -> Record:
    """Return the automatic choice beside lbfgs, in turns; planning and loading are outside the clock."""
    model = eq.LogisticRegression(epsilon=epsilon, delta=delta, domain=split.domain)
    plain = PlainLogisticRegression(max_iter=1000)
    model.fit(split.X, split.y)
    pairs = [
        (gradient.seconds(lambda: model.fit(split.X, split.y)), gradient.seconds(lambda: plain.fit(split.X, split.y)))
        for _ in range(3)
    ]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    return figure(mine / theirs, LBFGS, None, seconds=mine, taken=model.certificate_.kind)


def _planning(known: dict[str, float], part: str, goal: float) -> Record:
    """Return a first fit or ten plans, which are measured together."""
    if not known:
        known["first"], known["ten"] = gradient.planning(TURNS)
    return figure(known[part], "s", goal)


def _noise(law: str) -> Record:
    """Return what a number costs, beside OpenDP's where it has the law."""
    mine, theirs = noise.costs(law, 1_000_000, 3)
    beside = {} if theirs is None else {"said": f"OpenDP takes {theirs / mine:.0f} times as long"}
    return figure(mine, "microseconds", noise.GOAL, **beside)
