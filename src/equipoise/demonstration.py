"""A study on public data: what privacy costs on three datasets that come with scikit-learn.

Rows are prepared by public constants only (code books and physical ranges, rounded generously), as a real release
would. Scores are measured on test rows and are no part of any certificate: a study may show them because the data is
public.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression as PlainLogisticRegression
from sklearn.linear_model import Ridge as PlainRidge
from sklearn.model_selection import train_test_split

from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.logistic import LogisticRegression
from equipoise.estimators.ridge import Ridge
from equipoise.planning.laws import deviation_of
from equipoise.vocabulary.facts import Domain

Array = NDArray[Any]

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)

# Upper ends of the thirty measurements' ranges; every lower end is 0.
BREAST_CANCER_RANGES = np.array(
    [
        *(35, 50, 250, 3500, 0.2, 0.45, 0.55, 0.25, 0.4, 0.15),
        *(3.5, 6, 30, 700, 0.04, 0.2, 0.5, 0.065, 0.095, 0.04),
        *(45, 60, 350, 5500, 0.3, 1.5, 2, 0.35, 0.8, 0.25),
    ]
)


@dataclass(frozen=True, slots=True)
class PublicDataset:
    """One public dataset, prepared, with the private and the plain model that are compared on it."""

    name: str
    score: str
    load: Callable[[], tuple[Array, Array]]
    domain: Domain
    private: type[PrivateLinearModel]
    plain: Callable[[], Any]
    stratify: bool


def breast_cancer() -> tuple[Array, Array]:
    """Return the breast-cancer rows, columns to [-1, 1] by their ranges."""
    X, y = load_breast_cancer(return_X_y=True)
    return 2 * X / BREAST_CANCER_RANGES - 1, y


def digits_3_vs_5() -> tuple[Array, Array]:
    """Return the images of threes and fives, each divided by its own norm; the target says whether it is a five."""
    X, y = load_digits(return_X_y=True)
    chosen = (y == 3) | (y == 5)
    pixels = X[chosen] / 16
    return pixels / np.linalg.norm(pixels, axis=1, keepdims=True), (y[chosen] == 5).astype(int)


def diabetes() -> tuple[Array, Array]:
    """Return the diabetes rows, scaled features divided by 0.2, and the progression."""
    X, y = load_diabetes(return_X_y=True)
    return X / 0.2, y


def plain_logistic() -> PlainLogisticRegression:
    """Return scikit-learn's classifier with next to no ridge: on rows of norm 1 its default holds it back."""
    return PlainLogisticRegression(C=100.0, max_iter=2000)


CLASSES = Domain(row_norm=1.0, classes=(0, 1))
DATASETS = (
    PublicDataset("breast cancer", "accuracy", breast_cancer, CLASSES, LogisticRegression, plain_logistic, True),
    PublicDataset("digits 3-vs-5", "accuracy", digits_3_vs_5, CLASSES, LogisticRegression, plain_logistic, True),
    PublicDataset("diabetes", "R2", diabetes, Domain(1.0, labels=(0.0, 400.0)), Ridge, lambda: PlainRidge(1e-3), False),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One dataset at one epsilon: scores over repetitions, and what the certificate says."""

    dataset: str
    score: str
    epsilon: float
    n_samples: int
    plain: float
    private: float
    low: float
    high: float
    kind: str
    theorem: str
    mechanism: str
    noise: float
    explanation: str


def run(repetitions: int) -> Iterator[Cell]:
    """Yield one cell after another: 80/20 splits, a plain and a private model each, seeded and therefore repeatable."""
    for dataset in DATASETS:
        X, y = dataset.load()
        splits = [_split(dataset, X, y, seed) for seed in range(repetitions)]
        plain = float(np.mean([_plain_score(dataset, split) for split in splits]))
        for epsilon in EPSILONS:
            yield _cell(dataset, splits, plain, epsilon)


def _split(dataset: PublicDataset, X: Array, y: Array, seed: int) -> list[Array]:
    stratify = y if dataset.stratify else None
    return list(train_test_split(X, y, test_size=0.2, random_state=seed, stratify=stratify))


def _plain_score(dataset: PublicDataset, split: list[Array]) -> float:
    X, X_test, y, y_test = split
    limit = dataset.domain.row_norm
    train, test = (rows / np.maximum(limit, np.linalg.norm(rows, axis=1, keepdims=True)) for rows in (X, X_test))
    return float(dataset.plain().fit(train, y).score(test, y_test))


def _cell(dataset: PublicDataset, splits: list[list[Array]], plain: float, epsilon: float) -> Cell:
    scores = []
    for seed, (X, X_test, y, y_test) in enumerate(splits):
        # Public directions, where a plan asks for some, are drawn anew as well: one draw may be lucky.
        model: Any = dataset.private(epsilon=epsilon, domain=dataset.domain, random_state=seed, public_seed=seed)
        scores.append(float(model.fit(X, y).score(X_test, y_test)))
    low, high = np.quantile(scores, [0.1, 0.9])
    certificate = model.certificate_
    return Cell(
        dataset=dataset.name,
        score=dataset.score,
        epsilon=epsilon,
        n_samples=certificate.n_samples,
        plain=plain,
        private=float(np.mean(scores)),
        low=float(low),
        high=float(high),
        kind=certificate.kind,
        theorem=certificate.theorem,
        mechanism=certificate.mechanism,
        noise=deviation_of(certificate.claim.noise),
        explanation=certificate.explain(),
    )
