"""A study on public data: what privacy costs on three datasets that come with scikit-learn, and one model to look at.

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

from equipoise.certify.certificate import Certificate
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.logistic import LogisticRegression
from equipoise.estimators.ridge import Ridge
from equipoise.planning.laws import deviation_of
from equipoise.vocabulary.facts import Domain
from equipoise.wording import percent, standing_in_words

Array = NDArray[Any]
Image = tuple[tuple[float, ...], ...]

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)

# At these epsilons the model of images is looked at.
LOOKED_AT = (10.0, 3.0, 1.0)

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


IMAGES = "digits 3-vs-5"
CLASSES = Domain(row_norm=1.0, classes=(0, 1))
DATASETS = (
    PublicDataset("breast cancer", "accuracy", breast_cancer, CLASSES, LogisticRegression, plain_logistic, True),
    PublicDataset(IMAGES, "accuracy", digits_3_vs_5, CLASSES, LogisticRegression, plain_logistic, True),
    PublicDataset("diabetes", "R2", diabetes, Domain(1.0, labels=(0.0, 400.0)), Ridge, lambda: PlainRidge(1e-3), False),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One dataset at one epsilon: scores over repetitions, and what the certificate says.

    `guess` is the largest share of right guesses of an attacker, `found` the largest rate of true positives at one per
    cent of false ones (N7).
    """

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
    guess: float
    found: float
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
    gains = certificate.gains()
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
        guess=gains.guess,
        found=dict(gains.true_positive_rates)[0.01],
        explanation=certificate.explain(),
    )


@dataclass(frozen=True, slots=True)
class Looked:
    """One model of images: weights without privacy and at some epsilons, and its plan at the last without a seed."""

    plain: Image
    private: dict[float, Image]
    plan: Certificate


def look() -> Looked:
    """Train the model that tells threes from fives on all images, without privacy and with more and more of it."""
    X, y = digits_3_vs_5()
    private = {}
    for epsilon in LOOKED_AT:
        model: Any = LogisticRegression(epsilon=epsilon, domain=CLASSES, random_state=0)
        private[epsilon] = _image(model.fit(X, y).coef_)
    plan = LogisticRegression(epsilon=LOOKED_AT[-1], domain=CLASSES).plan(*X.shape)
    return Looked(_image(plain_logistic().fit(X, y).coef_), private, plan)


def _image(weights: Array) -> Image:
    return tuple(tuple(float(weight) for weight in line) for line in np.reshape(weights, (8, 8)))


def in_ten_lines(certificate: Certificate) -> tuple[tuple[str, str], ...]:
    """Return the whole of a certificate of a trained model in ten lines, each with its name."""
    claim: Any = certificate.claim
    gains, checked = certificate.gains(), tuple(claim.checked())
    failing = certificate.verify()
    rates = dict(gains.true_positive_rates)
    return (
        ("claim", f"({certificate.epsilon:g}, {certificate.delta:g})-differential privacy, {certificate.grade}"),
        ("neighbours", f"{certificate.adjacency}: one of n = {certificate.n_samples:,} rows is another"),
        (
            "public facts",
            f"{certificate.n_features} columns, rows no longer than {CLASSES.row_norm:g}, classes 0 and 1",
        ),
        ("model", f"logistic regression with a ridge of alpha = {certificate.alpha:.3g}, from public facts alone"),
        ("noise enters", f"{certificate.kind}, by theorem {certificate.theorem}"),
        ("noise", f"{certificate.mechanism}, deviation {deviation_of(claim.noise):.3g} a coordinate"),
        ("attacker", f"names the right one of two rows in at most {percent(gains.guess)} of cases; a coin in 50 %"),
        ("false alarms", f"at {percent(0.01)} of them the row is found in at most {percent(rates[0.01])} of cases"),
        (
            "checked",
            f"{len(checked)} conditions, {f'{len(failing)} failing' if failing else 'all hold'}; "
            + "; ".join(standing_in_words(certificate.theorems())),
        ),
        ("digest", certificate.digest),
    )
