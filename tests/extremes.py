"""Extreme public parameters, generated: every estimator must plan what verifies, or refuse with a remedy."""

from __future__ import annotations

import math
import random
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.base import RegressorMixin

import equipoise as eq
from equipoise.errors import EquipoiseError
from equipoise.estimators import members

# The ends of what doubles hold, of what public numbers may be, and of what anybody asks for.
SIZES = (1e-300, 1e-100, 1e-90, 1e-50, 1e-20, 1e-9, 1e-3, 0.3, 7.0, 1e3, 1e9, 1e20, 1e50, 1e90, 1e100, 1e300)
COUNTS = (1, 2, 3, 10, 999, 1000, 10**6, 10**9, 10**15, 10**30)
LABELS = (
    *((-size, size) for size in SIZES),
    (0.0, 1e-300),
    (1e-100, 3e-100),
    (1e99, 1e100),
    (1.0, math.nextafter(1.0, 2.0)),
    (-1e100, 1e-100),
)

# What each parameter may be besides what it is by default; numbers of a loss are written after its name.
VALUES: dict[str, tuple[Any, ...]] = {
    "epsilon": (1e-300, 1e-100, 1e-50, 1e-20, 1e-9, 1e-3, 0.3, 7.0, 1e3, 1e9, 1e14, 1e15, 1e16),
    "delta": (0.0, 1e-300, 1e-100, 1e-30, 1e-15, 1e-6, 0.1, 0.999, math.nextafter(1.0, 0.0)),
    "alpha": ("public", 0.0, *SIZES),
    "radius": (None, *SIZES),
    "cap": SIZES,
    "power": (1.0, math.nextafter(1.0, 2.0), 1.0 + 1e-6, 1.01, 1.5, 1.999, 2.0),
    "l1_ratio": (0.0, 1e-300, 1e-12, 0.5, math.nextafter(1.0, 0.0), 1.0),
    "passes": (*SIZES, "linear", "quadratic"),
    "batch_size": COUNTS,
    "step": ("public", "decay", "langevin:1", "langevin:1e-300", "langevin:1e90", *SIZES),
    "clip": (None, "public", *SIZES),
    "order": ("permutation", "fresh", "replacement"),
    "average": ("last", "uniform", "suffix"),
    "dropout": (0.0, 1e-300, 0.5, math.nextafter(1.0, 0.0)),
    "skip": (0.0, 1e-300, 0.5, math.nextafter(1.0, 0.0)),
    "keep_probability": (1e-300, 1e-12, 0.5, math.nextafter(1.0, 0.0)),
    "masks": (0, 1, 4, 10**15),
    "curvature_share": ("public", 1e-300, 1e-12, 0.5, math.nextafter(1.0, 0.0)),
    "proposal": (None, *SIZES),
    "test_share": ("public", 1e-300, 1e-12, 0.5, math.nextafter(1.0, 0.0)),
    "mechanism": ("auto", "output", "objective", "noisy-gradient", "laplace", "gaussian", "sufficient-statistics"),
    "fit_intercept": (True, False),
}
LOSSES = {
    "svm": ("hinge", "smooth-hinge"),
    "classifier": ("logistic", "hinge", "smooth-hinge"),
    "regressor": ("squared", "huber", "absolute"),
}


@dataclass(frozen=True)
class Cell:
    """One estimator at one choice of public parameters, some of them extreme."""

    name: str
    parameters: tuple[tuple[str, Any], ...]
    domain: tuple[tuple[str, Any], ...]
    shape: tuple[int, int]


def cells(count: int, seed: int) -> Iterator[Cell]:
    """Yield cells in turn over every estimator, each with up to four parameters away from their defaults."""
    chance = random.Random(seed)  # noqa: S311 - it chooses what is tried, nothing that is released
    names = sorted(name for name, kind in members().items() if hasattr(kind, "plan") and _plain(kind))
    for place in range(count):
        name = names[place % len(names)]
        own = members()[name]._get_param_names()
        known = [parameter for parameter in VALUES if parameter in own]
        away = chance.sample(known, chance.randint(0, min(3, len(known))))
        chosen = {parameter: chance.choice(VALUES[parameter]) for parameter in away}
        if "loss" in own and chance.random() < 0.5:
            chosen["loss"] = _loss(name, chance)
        usual = {"row_norm": 1.0, "labels": (-1.0, 1.0)}
        if chance.random() < 0.7:
            usual["row_norm"] = chance.choice(SIZES)
        if chance.random() < 0.5:
            usual["labels"] = chance.choice(LABELS)
        if chance.random() < 0.2:
            usual["radius"] = chance.choice(SIZES)
        shape = (1000, 5)
        if chance.random() < 0.4:
            shape = (chance.choice(COUNTS), chance.choice((1, 2, 50, 10**6, 10**15, 10**20)))
        yield Cell(name, tuple(sorted(chosen.items(), key=str)), tuple(usual.items()), shape)


def _plain(kind: Any) -> bool:
    """Return whether an estimator is made without another one."""
    return "estimator" not in kind._get_param_names()


def _loss(name: str, chance: random.Random) -> str:
    known = next(names for ending, names in LOSSES.items() if name.endswith(ending))
    loss = chance.choice(known)
    takes = loss in ("huber", "smooth-hinge")
    return f"{loss}:{chance.choice(SIZES)}" if takes and chance.random() < 0.7 else loss


def plan(cell: Cell) -> eq.Certificate:
    """Return the certificate of a cell; whatever is wrong with it raises."""
    kind: Any = members()[cell.name]
    if "domain" not in kind._get_param_names():
        return kind(**dict(cell.parameters)).plan(*cell.shape)
    facts = dict(cell.domain)
    labels = facts.pop("labels")
    facts |= {"labels": labels} if issubclass(kind, RegressorMixin) else {"classes": (0, 1)}
    return kind(**dict(cell.parameters), domain=eq.Domain(**facts)).plan(*cell.shape)


def escape(cell: Cell) -> str:
    """Return what is wrong with how a cell ends: "" for a certificate that verifies or a refusal with a remedy."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            certificate = plan(cell)
    except EquipoiseError as refusal:
        return "" if refusal.remedy.strip() and "report this" not in refusal.remedy else f"no remedy: {refusal}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if faults := certificate.verify():
        return f"does not verify: {faults[0]}"
    text = certificate.to_json()
    if re.search(r"\bnan\b", text + certificate.explain(), re.IGNORECASE):
        return "NaN in the certificate"
    return "" if eq.Certificate.from_json(text) == certificate else "does not come back from its text"
