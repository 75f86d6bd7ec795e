"""How scores depend on the constants of the reference problem: the evidence in docs/mechanisms.md.

python benchmarks/reference.py --data FOLDER --seeds 5 --out docs
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

import altair as alt
import numpy as np
from prepared import Split, adult, mnist_3_vs_5, small
from rich.progress import track
from study import options, table_rows

import equipoise as eq
from equipoise.planning import issue, reference

EVIDENCE = (1.0, 2.0, 3.0, 5.0, 10.0)
SHARES = (0.25, 0.5, 0.75)
EPSILONS = (0.1, 1.0)
# A kind of release, and whether delta is 1/n^2 or 0.
KINDS = (("objective", False), ("noisy-gradient", True))
# MNIST's models are quick: it takes this many times as many seeds as Adult.
MNIST_SEEDS = 4


@dataclass(frozen=True)
class Cell:
    """One kind of release on one dataset at one budget, under one reference problem."""

    data: str
    kind: str
    epsilon: float
    evidence: float
    share: float
    score: float
    error: float


@contextmanager
def imagined(evidence: float, share: float) -> Iterator[None]:
    """Plan with another reference problem; a regression's evidence is scaled alike (it is 1 where a class's is 3)."""
    usual = reference.EVIDENCE, reference.COMMON_SHARE
    factor = evidence / usual[0]["classification"]
    reference.EVIDENCE = {task: factor * units for task, units in usual[0].items()}
    reference.COMMON_SHARE = share
    _forget()
    try:
        yield
    finally:
        reference.EVIDENCE, reference.COMMON_SHARE = usual
        _forget()


def _forget() -> None:
    reference.reference.cache_clear()
    reference.lost_by_projection.cache_clear()
    issue.forget()


USUAL = reference.EVIDENCE["classification"], reference.COMMON_SHARE
SETTINGS = tuple((evidence, USUAL[1]) for evidence in EVIDENCE) + tuple(
    (USUAL[0], share) for share in SHARES if share != USUAL[1]
)


def model_for(split: Split, epsilon: float, delta: float, mechanism: str, seed: int | None) -> eq.Ridge:
    family = eq.Ridge if split.domain.labels else eq.LogisticRegression
    return family(epsilon, delta, split.domain, mechanism=mechanism, random_state=seed)


def clip_of(certificate: eq.Certificate) -> float | None:
    """Return where slopes were clipped: step by step, or in the loss itself; None where they were not."""
    claim = certificate.claim
    clip: float | None = getattr(claim, "clip", getattr(claim.problem.loss, "cap", None))
    return clip


def cells(groups: list[list[Split]], seeds: int) -> Iterator[Cell]:
    grid = list(product(groups, KINDS, EPSILONS, SETTINGS))
    for group, (kind, approximate), epsilon, (evidence, share) in track(grid, description="references"):
        delta = len(group[0].y) ** -2.0 if approximate else 0.0
        scores = []
        with imagined(evidence, share):
            for number, split in enumerate(group):
                for seed in range(number * seeds, (number + 1) * seeds):
                    model = model_for(split, epsilon, delta, kind, seed).fit(split.X, split.y)
                    scores.append(model.score(split.X_test, split.y_test))
        error = float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
        yield Cell(group[0].name, kind, epsilon, evidence, share, float(np.mean(scores)), error)


def scores_table(found: list[Cell]) -> str:
    header = ["data", "kind", "epsilon", *(f"{evidence:g}" for evidence in EVIDENCE)]
    header += [f"share {share:g}" for share in SHARES if share != USUAL[1]] + ["error"]
    rows = {}
    for cell in found:
        row = rows.setdefault((cell.data, cell.kind, cell.epsilon), [])
        row.append((f"{cell.score:.3f}", cell.error))
    return table_rows(
        header,
        [
            [data, kind, f"{epsilon:g}", *(score for score, _ in row), f"{max(error for _, error in row):.3f}"]
            for (data, kind, epsilon), row in rows.items()
        ],
    )


def choices_table(groups: list[list[Split]]) -> str:
    """Return which kind of release "auto" takes under each reference problem."""
    rows = []
    for group, approximate, epsilon in product(groups, (False, True), EPSILONS):
        split = group[0]
        delta = len(split.y) ** -2.0 if approximate else 0.0
        taken = []
        for evidence, share in SETTINGS:
            with imagined(evidence, share):
                plan = model_for(split, epsilon, delta, "auto", None).plan(*split.X.shape)
            clip = ", unclipped" if plan.kind == "objective" and clip_of(plan) is None else ""
            taken.append(plan.kind + clip)
        rows.append([split.name, f"{epsilon:g}", "1/n^2" if approximate else "0", *taken])
    header = ["data", "epsilon", "delta", *(f"{evidence:g}" for evidence in EVIDENCE)]
    return table_rows(header + [f"share {share:g}" for share in SHARES if share != USUAL[1]], rows)


def spectra_table(groups: list[list[Split]]) -> str:
    """Return what the rows really look like: shares of their squared length, beside those of the reference problem."""
    rows = []
    for split in (group[0] for group in groups):
        height = type(model_for(split, 1.0, 0.0, "auto", None))._intercept_share
        X = np.column_stack([split.X, np.full(len(split.X), height)])
        shares = np.linalg.eigvalsh(X.T @ X)[::-1]
        others = 1 / np.arange(1, X.shape[1])
        imagined = np.concatenate([[1.0], others / others.sum()]) * USUAL[1]
        parts = slice(0, 1), slice(1, 6), slice(6, 21), slice(21, None)
        found = [f"{part[where].sum():.2f}" for where in parts for part in (shares / shares.sum(), imagined)]
        rows.append([split.name, *(f"{one} ({other})" for one, other in zip(found[::2], found[1::2], strict=True))])
    return table_rows(["data", "direction 1", "2 to 6", "7 to 21", "beyond"], rows)


def probabilities_table(splits: list[Split], seeds: int) -> str:
    """Return how sure the released models are against how often they are right, clipped and unclipped."""
    rows = []
    for split, epsilon, mechanism in product(splits, (1.0, 10.0), ("objective", "objective:1", "output", "auto")):
        sure, right, losses = [], [], []
        for seed in range(seeds):
            model = model_for(split, epsilon, 0.0, mechanism, seed).fit(split.X, split.y)
            logarithms = model.predict_log_proba(split.X_test)
            sure.append(np.exp(logarithms).max(axis=1).mean())
            right.append(model.score(split.X_test, split.y_test))
            losses.append(-logarithms[np.arange(len(split.y_test)), split.y_test].mean())
        clip = clip_of(model.certificate_)
        numbers = [f"{np.mean(values):.3f}" for values in (right, sure, losses)]
        rows.append([split.name, f"{epsilon:g}", mechanism, "none" if clip is None else f"{clip:g}", *numbers])
    return table_rows(["data", "epsilon", "mechanism", "clip", "right", "sure", "log loss"], rows)


def times_table(split: Split) -> str:
    """Return how long a release takes with exact noise, over output perturbation's time; labels as targets 0 and 1."""
    targets = Split(split.name, split.X, split.y, split.X_test, split.y_test, eq.Domain(1.0, labels=(0.0, 1.0)))
    rows = []
    for part, kinds in (
        (split, ("output", "objective", "noisy-gradient", "noisy-gradient:512")),
        (targets, ("output", "objective", "noisy-gradient", "sufficient-statistics", "functional")),
    ):
        usual = 0.0
        for kind in kinds:
            model = model_for(part, 1.0, len(part.y) ** -2.0, kind, None)
            start = time.perf_counter()
            steps = getattr(model.plan(*part.X.shape).claim, "steps", 0)
            planned = time.perf_counter() - start
            seconds = []
            for _ in range(3):
                start = time.perf_counter()
                model.fit(part.X, part.y)
                seconds.append(time.perf_counter() - start)
            fitted = float(np.median(seconds))
            usual = usual or fitted
            rows.append([type(model).__name__, kind, str(steps or ""), f"{planned:.2f}", f"{fitted / usual:.1f}"])
    return table_rows(["model", "mechanism", "steps", "plan, s", "fit, over output"], rows)


def picture(found: list[Cell], path: str) -> None:
    shown = [
        {"data": cell.data, "line": f"{cell.kind}, epsilon {cell.epsilon:g}"}
        | {"evidence": cell.evidence, "score": max(-1.0, cell.score)}
        for cell in found
        if cell.share == USUAL[1]
    ]
    order = [f"{kind}, epsilon {epsilon:g}" for (kind, _), epsilon in product(KINDS, EPSILONS)]
    colours = alt.Scale(domain=order, range=["#4c78a8", "#f58518", "#4c78a8", "#f58518"])
    dashes = alt.Scale(domain=order, range=[[1, 0], [1, 0], [5, 3], [5, 3]])
    legend = alt.Legend(title=None, symbolType="stroke", symbolSize=600, symbolStrokeWidth=2)
    axis = alt.Axis(title="evidence of a typical prediction (3 is used)", values=list(EVIDENCE))
    chart = (
        alt.Chart(alt.Data(values=shown))
        .mark_line(point=True)
        .encode(
            x=alt.X("evidence:Q", axis=axis).scale(type="log"),
            y=alt.Y("score:Q", title="test accuracy (R2 for diabetes)").scale(zero=False),
            color=alt.Color("line:N", scale=colours, legend=legend),
            strokeDash=alt.StrokeDash("line:N", scale=dashes, legend=legend),
        )
        .properties(width=210, height=150)
        .facet(facet=alt.Facet("data:N", title=None, sort=list(dict.fromkeys(cell.data for cell in found))), columns=3)
        .resolve_scale(x="independent", y="independent")
        .configure(font="sans-serif", background="white")
    )
    chart.save(path)


if __name__ == "__main__":
    chosen = options(__doc__ or "")
    large = [adult(chosen.data), mnist_3_vs_5(chosen.data)]
    groups = [[large[0]], [large[1]] * MNIST_SEEDS, *small(chosen.splits)]
    found = list(cells(groups, chosen.seeds))
    picture(found, str(chosen.out / "mechanisms-evidence.svg"))
    print(scores_table(found), choices_table(groups), spectra_table(groups), sep="\n\n", end="\n\n")
    print(probabilities_table(large, chosen.seeds), times_table(large[0]), sep="\n\n")
