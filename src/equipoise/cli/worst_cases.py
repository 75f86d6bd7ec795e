"""Neighbouring tables on which a model moves almost as far as its certificate allows, whatever its mechanism."""

import inspect
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.catalogue import model_named
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.learn.tables import Unread, feature_table, target_column
from equipoise.proof.certificate import Certificate
from equipoise.proof.noise import SeededSource
from equipoise.release import release
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
# The table has a row more than a batch, up to batches of 9,999; larger ones are refused as larger than the table.
LONGEST_NUMBER = 4


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
    rows = np.zeros((n_samples, n_features))
    rows[0] = 1 / np.sqrt(n_features)
    labels = np.zeros(n_samples)
    labels[0] = 1
    if issubclass(kind, PrivateClassifier):
        labels = labels.astype(int)
    tables = feature_table(rows), feature_table(-rows)
    return WorstCase(certificate, tables, target_column(labels, n_samples))


def _estimator(
    kind: type[PrivateLinearModel], alpha: float, mechanism: str, epsilon: float, delta: float
) -> PrivateLinearModel:
    classifies = issubclass(kind, PrivateClassifier)
    own: dict[str, Any] = {}
    parameters = inspect.signature(kind).parameters
    if "l1_ratio" in parameters:
        own["l1_ratio"] = L1_RATIO
    if "loss" in parameters and mechanism.partition(":")[0] in INSIDE:
        # The hinge has a corner: noise inside the training needs it rounded off.
        own["loss"] = "smooth-hinge"
    return kind(
        epsilon=epsilon,
        delta=delta,
        domain=Domain(1.0, classes=(0, 1)) if classifies else Domain(1.0, labels=(-1.0, 1.0)),
        alpha=alpha,
        mechanism=mechanism,
        fit_intercept=False,
        random_state=0,
        **own,
    )
