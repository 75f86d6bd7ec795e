"""The grids of the paper: which data source with which settings, how many seeds and datasets; and their training."""

import re
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from equipoise.lab.ensemble_models import Neighbours, Training
from equipoise.lab.study import engine, run_study
from equipoise_studies.frame import Session
from equipoise_studies.intrinsic_privacy.preparation import (
    Prepare,
    Prepared,
    adult,
    adult_standardised,
    forest,
    mnist,
    mnist_unit_rows,
)

Weights = NDArray[np.float32]

REPLACED_SEED = 4
STARTS = {"varying": "seed", "fixed": "fixed"}
# A reduced grid has so many seeds and datasets, and a reduced network's so many.
QUICK_SIDE, QUICK_NETWORK = 18, (6, 16)


@dataclass(frozen=True)
class Source:
    """A data source with its settings (Tables I and II): how it is prepared, trained, and how large its grid is."""

    key: str
    name: str
    prepare: Prepare
    batch_size: int
    step: float
    n_steps: int
    side: int
    preparation: str

    def training(self, start: str) -> Training:
        """Return how a run of logistic regression is trained; the short batch at the end of an epoch is left out."""
        return Training(
            "logistic",
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            step=self.step,
            last_batch="drop",
            initialisation=STARTS[start],
        )


MNIST_SOURCE = Source(
    "mnist", "MNIST-binary", mnist, 32, 0.1, 1850, 99, "rows as long as they come (median norm about 10)"
)
FOREST_SOURCE = Source("forest", "Forest", forest, 50, 1.0, 8400, 127, "columns to [0, 1], unit rows")
ADULT_SOURCE = Source("adult", "Adult", adult, 32, 0.5, 3400, 160, "numbers to [0, 1], unit rows")
MAIN = (MNIST_SOURCE, FOREST_SOURCE, ADULT_SOURCE)
# The other readings of "prepared": what the text says of MNIST, and the usual way for Adult.
OTHERS = (
    replace(MNIST_SOURCE, key="mnist-unit-rows", prepare=mnist_unit_rows, preparation="unit rows, as the text says"),
    replace(
        ADULT_SOURCE,
        key="adult-standardised",
        prepare=adult_standardised,
        preparation="numbers standardised, unit rows",
    ),
)


@dataclass(frozen=True)
class Network:
    """A network of the non-convex study. The paper names no settings for it; these are of its authors' published code.

    Their repository (microsoft/intrinsic-private-sgd) lists the convergence points 4750 (for MNIST by principal
    directions and 10 units) and 1850, and the step 0.5; whether the paper used them is not known. It also drops 20 % of
    the hidden units, of which the paper says nothing and which is not done here.
    """

    key: str
    name: str
    prepare: Prepare
    hidden: int
    n_steps: int
    seeds: int
    datasets: int
    step: float = 0.5
    batch_size: int = 32

    def training(self, start: str) -> Training:
        """Return how a network is trained."""
        return Training(
            "network",
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            step=self.step,
            last_batch="drop",
            initialisation=STARTS[start],
            hidden=self.hidden,
        )


NETWORKS = (
    Network("mnist", "MNIST-binary, 16 hidden units", mnist_unit_rows, 16, 4750, seeds=50, datasets=99),
    Network("adult", "Adult, 8 hidden units", adult, 8, 1850, seeds=50, datasets=160),
)


def neighbours(prepared: Prepared, n_datasets: int) -> Neighbours:
    """Return the paper's datasets: each has the first row in the place of one of its own, drawn once.

    Examples
    --------
    >>> data = Prepared(np.zeros(2), 1.0, np.ones((9, 2)), np.ones(9), np.ones((3, 2)), np.ones(3))
    >>> neighbours(data, 4).n_datasets
    4
    """
    stream = np.random.default_rng(REPLACED_SEED)
    replaced = np.sort(stream.choice(len(prepared.features), n_datasets, replace=False))
    return Neighbours(prepared.features, prepared.labels, replaced, prepared.first_row, prepared.first_label)


def train(session: Session, name: str, training: Training, data: Neighbours, n_seeds: int) -> Weights:
    """Train a grid and return its weights, (seeds, datasets, parameters)."""
    plain = re.sub("[^a-z0-9]+", "-", name.lower())
    path = session.runs / f"{plain}-{n_seeds}x{data.n_datasets}.parquet"
    study = run_study(
        training,
        data,
        range(n_seeds),
        path,
        backend="auto",
        progress=lambda done, total: session.report(f"training {name}", done, total),
    )
    study.require_finite()
    weights: Weights = study.weights()
    return weights


def trace(training: Training, data: Neighbours, n_seeds: int, every: int) -> tuple[Weights, tuple[int, ...]]:
    """Train some seeds on one dataset; return the weights after every so many steps, and those steps."""
    traced = engine().train(training, data.part(0, 1), range(n_seeds), trace=every)
    weights: Weights = traced.trace
    return weights, traced.trace_steps
