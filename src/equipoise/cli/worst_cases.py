"""Neighbouring tables on which a model moves almost as far as its certificate allows, whatever its mechanism."""

import inspect
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import InvalidParameter
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.catalogue import model_named
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.estimators.descending import DescendingModel
from equipoise.learn.tables import Unread, feature_table, target_column
from equipoise.proof import mechanisms
from equipoise.proof.certificate import Certificate
from equipoise.proof.noise import SeededSource
from equipoise.release import release
from equipoise.release.sgd import public_order
from equipoise.vocabulary.facts import Domain

Array = NDArray[np.float64]

# One row that is turned round, and rows of zeros, which a model without intercept ignores.
N_SAMPLES = 4
# A strong ridge keeps the loss from adding curvature, so that the bounds are nearly attained (THEOREMS A2).
STRONG = 40.0
# One row's curvature is paid for out of epsilon: at this ridge, divided by a small epsilon, it costs next to nothing.
STRONGEST = 200.0
# A weak one keeps the noise of the steps and of the sums in the weights.
WEAK = 0.01
WEAKLY_PENALISED = ("noisy-gradient", "sufficient-statistics", "functional")
INSIDE = ("objective", *WEAKLY_PENALISED)
# So small a share of the L1 norm leaves the row's pull as it is.
L1_RATIO = 2e-4
# So near to a ridge the bridge is about as curved at small weights as it is stated to be for all of them.
POWER = 1.999
# The table has a row more than a batch, up to batches of 9,999; larger ones are refused as larger than the table.
LONGEST_NUMBER = 4
# Steps so short, in a ball so small, that no loss bends: a meeting with the row moves the weights as far as it can.
DESCENT = {"alpha": 0.0, "passes": 1, "batch_size": 1, "step": 1e-5, "average": "last", "radius": 0.02, "clip": None}
# Hardly a column is dropped, and the ridge outweighs the curvature, which takes so many rows for each unit of epsilon.
DROPOUT = {"alpha": STRONG, "radius": 0.02, "keep_probability": 0.999, "curvature_share": 0.2}
CURVATURE_ROWS = 40
# Noise in every step: a row is in half of the batches.
SECRET_BATCH = 2


@dataclass(frozen=True, slots=True, eq=False)
class WorstCase:
    """A planned release, the two tables it is made on, and how its weights become one number."""

    certificate: Certificate
    tables: tuple[Unread, Unread]
    target: Unread

    def releases(self, side: int, seed: int) -> Callable[[], Array]:
        """Return what makes one release on a side for each call, from seeds that no other call uses."""
        seeds = itertools.count((2 * seed + side) << 64)
        return lambda: release(self.certificate, self.tables[side], self.target, SeededSource(next(seeds))).weights

    @staticmethod
    def statistic(weights: Array) -> float:
        """Return the sum of the weights: all of them point where the row does."""
        return float(weights.sum())


def worst_case(
    model: str, mechanism: str = "auto", epsilon: float = 1.0, delta: float = 0.0, n_features: int = 1
) -> WorstCase:
    """Return the built-in worst case of a model and a mechanism at a budget.

    Examples
    --------
    >>> case = worst_case("logistic", "output")
    >>> case.certificate.mechanism, case.certificate.n_samples
    ('laplace', 4)
    """
    kind = model_named(model)
    if issubclass(kind, DescendingModel) or "mechanism" not in inspect.signature(kind).parameters:
        return _one_route(kind, mechanism, epsilon, delta, n_features)
    route, _, number = mechanism.partition(":")
    if route == "auto" and not number:
        chosen = _estimator(kind, STRONG, mechanism, epsilon, delta).plan(N_SAMPLES, n_features)
        return worst_case(model, chosen.route, epsilon, delta, n_features)
    alpha = STRONGEST / min(1.0, epsilon) if route == "objective" and epsilon > 0 else STRONG
    if route in WEAKLY_PENALISED:
        alpha = WEAK
    n_samples = N_SAMPLES
    if route == "noisy-gradient" and number.isdecimal() and len(number) <= LONGEST_NUMBER:
        n_samples = max(N_SAMPLES, int(number) + 1)
    certificate = _estimator(kind, alpha, mechanism, epsilon, delta).plan(n_samples, n_features)
    return _turned(certificate, 0)


def _one_route(
    kind: type[PrivateLinearModel], mechanism: str, epsilon: float, delta: float, n_features: int
) -> WorstCase:
    """Return the worst case of a model with a route of its own: the row is met first, in the first of phases."""
    parameters = inspect.signature(kind).parameters
    given: Mapping[str, object] = DESCENT
    n_samples = N_SAMPLES
    if not issubclass(kind, DescendingModel):
        given = DROPOUT
        if epsilon > 0 and delta > 0:
            n_samples = math.ceil(CURVATURE_ROWS * n_features * (1 - math.log(delta)) / min(epsilon, 1.0))
    own: dict[str, Any] = {name: value for name, value in given.items() if name in parameters}
    laws = mechanisms.members() if "mechanism" in parameters else {}
    if mechanism in laws:
        own["mechanism"] = mechanism
    if not laws and "batch_size" in parameters:
        own["batch_size"] = SECRET_BATCH
    estimator = kind(epsilon=epsilon, delta=delta, domain=_domain(kind), fit_intercept=False, random_state=0, **own)
    certificate = estimator.plan(n_samples, n_features)
    known = ("auto", certificate.route, *laws)
    if mechanism not in known:
        raise InvalidParameter(
            f"a mechanism of {kind.__name__}", f"{mechanism!r:.80}", f"use one of {', '.join(known)}"
        )
    return _turned(certificate, int(public_order(n_samples, certificate.request.public_seed)[0]))


def _turned(certificate: Certificate, place: int) -> WorstCase:
    """Return the tables of one long row, turned round in the second, among rows of zeros."""
    n_samples, n_features = certificate.n_samples, certificate.n_features
    rows = np.zeros((n_samples, n_features))
    rows[place] = 1 / np.sqrt(n_features)
    labels = np.zeros(n_samples)
    labels[place] = 1
    if certificate.request.domain.classes is not None:
        labels = labels.astype(int)
    tables = feature_table(rows), feature_table(-rows)
    return WorstCase(certificate, tables, target_column(labels, n_samples))


def _domain(kind: type[PrivateLinearModel]) -> Domain:
    classifies = issubclass(kind, PrivateClassifier)
    return Domain(1.0, classes=(0, 1)) if classifies else Domain(1.0, labels=(-1.0, 1.0))


def _estimator(
    kind: type[PrivateLinearModel], alpha: float, mechanism: str, epsilon: float, delta: float
) -> PrivateLinearModel:
    own: dict[str, Any] = {}
    parameters = inspect.signature(kind).parameters
    if "l1_ratio" in parameters:
        own["l1_ratio"] = L1_RATIO
    if "power" in parameters:
        own["power"] = POWER
    if "loss" in parameters and mechanism.partition(":")[0] in INSIDE:
        # The hinge has a corner: noise inside the training needs it rounded off.
        own["loss"] = "smooth-hinge"
    return kind(
        epsilon=epsilon,
        delta=delta,
        domain=_domain(kind),
        alpha=alpha,
        mechanism=mechanism,
        fit_intercept=False,
        random_state=0,
        **own,
    )
