"""Accuracy of output perturbation for guesses of the weights' norm from 1 to 100: the evidence in docs/alpha.md.

python benchmarks/alpha.py --data FOLDER --out docs
"""

from collections.abc import Iterator

import altair as alt
import numpy as np
from prepared import Split, large, small
from rich.progress import track
from study import options, request_for, table_rows

import equipoise as eq
from equipoise.estimators.base import INTERCEPT_SHARE
from equipoise.planning.public_alpha import WEIGHT_GUESS, public_alpha

GUESSES = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)
EPSILONS = (0.1, 1.0)


def cells(splits: list[list[Split]], seeds: int) -> Iterator[dict[str, object]]:
    grid = [(group, epsilon, guess) for group in splits for epsilon in EPSILONS for guess in GUESSES]
    for group, epsilon, guess in track(grid, description="guesses"):
        scores = []
        for number, split in enumerate(group):
            alpha = public_alpha(request_for(split, eq.Budget(epsilon), INTERCEPT_SHARE, "public"), guess)
            scores.append(mean_score(split, epsilon, alpha, range(number * seeds, (number + 1) * seeds)))
        yield {"data": group[0].name, "epsilon": epsilon, "guess": guess, "score": float(np.mean(scores))}


def mean_score(split: Split, epsilon: float, alpha: float, seeds: range) -> float:
    """Return the mean test score of pure output perturbation with a given ridge, one released model a seed."""
    scores = []
    family = eq.Ridge if split.domain.labels else eq.LogisticRegression
    for seed in seeds:
        model = family(epsilon, 0.0, split.domain, alpha, mechanism="output", random_state=seed)
        # One height of the constant column for all, so that the table compares guesses and nothing else.
        model._intercept_share = INTERCEPT_SHARE
        scores.append(model.fit(split.X, split.y).score(split.X_test, split.y_test))
    return float(np.mean(scores))


def baseline(split: Split, epsilon: float, seeds: int) -> float:
    """Return the accuracy with the paper's own rule, alpha = sqrt(d / (n epsilon)) ([002], R = 1)."""
    n_samples, n_features = split.X.shape
    return mean_score(split, epsilon, float(np.sqrt(n_features / (n_samples * epsilon))), range(seeds))


def picture(records: list[dict[str, object]], path: str) -> None:
    shown = [
        {**record, "score": max(-1.0, float(str(record["score"]))), "epsilon": f"{record['epsilon']:g}"}
        for record in records
    ]
    chart = (
        alt.Chart(alt.Data(values=shown))
        .mark_line(point=True)
        .encode(
            x=alt.X("guess:Q", title="guess of the weights' norm, in units of evidence").scale(type="log"),
            y=alt.Y("score:Q", title="test accuracy (R2 for diabetes)").scale(zero=False),
            color=alt.Color("epsilon:N", title="epsilon"),
        )
        .properties(width=210, height=150)
        .facet(facet=alt.Facet("data:N", title=None, sort=[str(record["data"]) for record in records]), columns=3)
        .resolve_scale(y="independent")
        .configure(font="sans-serif", background="white")
    )
    chart.save(path)


if __name__ == "__main__":
    chosen = options(__doc__ or "")
    groups = [[split] for split in large(chosen.data)] + small(chosen.splits)
    records = list(cells(groups, chosen.seeds))
    picture(records, str(chosen.out / "alpha.svg"))
    header = ["data", "epsilon", *(f"{guess:g}" for guess in GUESSES)]
    rows = [
        [group[0].name, f"{epsilon:g}"]
        + [
            f"{record['score']:.3f}" + ("*" if record["guess"] == WEIGHT_GUESS else "")
            for record in records
            if record["data"] == group[0].name and record["epsilon"] == epsilon
        ]
        for group in groups
        for epsilon in EPSILONS
    ]
    print(table_rows(header, rows))
    covertype = next(split for [split] in groups[:3] if split.name.startswith("Covertype"))
    for epsilon in EPSILONS:
        print(f"Covertype, epsilon {epsilon:g}, the paper's rule: {baseline(covertype, epsilon, chosen.seeds):.3f}")
