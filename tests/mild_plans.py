"""Ordinary public parameters, generated: round numbers, which are the nodes of tables and the limits of rules."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from sklearn.base import RegressorMixin

from equipoise.estimators import members
from extremes import Cell

VALUES: dict[str, tuple[Any, ...]] = {
    "epsilon": (0.01, 0.1, 0.5, 1.0, 2.0, 8.0, 30.0),
    "delta": (0.0, 1e-12, 1e-6, 1e-5, 0.01),
    "alpha": ("public", 1e-6, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0),
    "passes": (0.3, 1, 1.5, 2, 7.25, 20, 50),
    "batch_size": (1, 2, 7, 32, 100),
    "step": ("public", "decay", 1e-4, 0.01, 0.1, 0.5, 1.0, 2.0),
    "clip": (None, "public", 0.1, 1.0, 5.0),
    "order": ("permutation", "fresh", "replacement"),
    "average": ("last", "uniform", "suffix"),
    "dropout": (0.0, 0.0, 0.1, 0.5, 0.9),
    "skip": (0.0, 0.0, 0.1, 0.5),
    "power": (1.1, 1.3, 1.5, 1.9, 2.0),
    "l1_ratio": (0.1, 0.5, 0.9),
    "cap": (0.1, 0.3, 0.5, 0.9, 2.0),
    "radius": (None, 0.5, 1.0, 10.0),
    "keep_probability": (0.3, 0.5, 0.9),
    "masks": (0, 1, 4),
    "mechanism": ("auto", "output", "objective", "noisy-gradient", "laplace", "gaussian", "sufficient-statistics"),
    "fit_intercept": (True, False),
}
LOSSES = {True: ("squared", "huber:0.5", "absolute", "huber"), False: ("logistic", "hinge", "smooth-hinge:0.1")}
ROWS, COLUMNS = (1, 2, 3, 10, 100, 1000, 12345, 10**6, 10**8), (1, 2, 5, 30, 300)

# Losses of secret batches are composed for minutes, and a selection is planned for half of one.
SLOW = ("noisy-sgd", "simplex")


def cells(count: int, seed: int) -> Iterator[Cell]:
    """Yield cells in turn over every estimator that is planned quickly, each with about half of its parameters set."""
    chance = random.Random(seed)  # noqa: S311 - it chooses what is tried, nothing that is released
    names = sorted(
        name
        for name, kind in members().items()
        if hasattr(kind, "plan") and "estimator" not in kind._get_param_names() and not name.startswith(SLOW)
    )
    for place in range(count):
        name = names[place % len(names)]
        kind, regresses = members()[name], issubclass(members()[name], RegressorMixin)
        own = kind._get_param_names()
        chosen = {known: chance.choice(VALUES[known]) for known in VALUES if known in own and chance.random() < 0.55}
        if "loss" in own and chance.random() < 0.6:
            chosen["loss"] = chance.choice(LOSSES[regresses])
        facts: dict[str, Any] = {"row_norm": chance.choice((0.1, 1.0, 1.0, 3.0, 17.3))}
        facts["labels"] = chance.choice(((-1.0, 1.0), (0.0, 1.0), (0.0, 400.0), (-0.3, 7.1)))
        if chance.random() < 0.25:
            facts["rows_a_person"] = chance.choice((1, 2, 7))
        if chance.random() < 0.3:
            facts["radius"] = chance.choice((0.1, 1.0, 5.0, 50.0))
        yield Cell(name, tuple(chosen.items()), tuple(facts.items()), (chance.choice(ROWS), chance.choice(COLUMNS)))
