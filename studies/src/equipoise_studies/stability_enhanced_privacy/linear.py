"""Elastic-net classifiers, one for two classes or one a class against the rest, minimised to a tolerance."""

import numpy as np
from numpy.typing import NDArray

from equipoise.data.rows import Rows
from equipoise.solve.objective import Objective
from equipoise.solve.solvers import suited
from equipoise.solve.solvers.base import Target
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Domain
from equipoise_studies.stability_enhanced_privacy.preparation import Array, Prepared
from equipoise_studies.stability_enhanced_privacy.printed import ETA, GAMMA

# The minimisers are the same to seven digits whatever solves for them; scikit-learn's SGD would not arrive.
TOLERANCE = 1e-7


def product_penalty(strength: float) -> tuple[float, float]:
    """Return alpha and the L1 share with which the product writes the paper's ``lambda (gamma |w|^2 + eta |w|_1)``.

    The product and scikit-learn have a half before the squared norm, the paper's formula has none.

    Examples
    --------
    >>> alpha, share = product_penalty(0.1)
    >>> round(alpha * share, 6), round(alpha * (1 - share) / 2, 6)
    (0.015, 0.085)
    """
    alpha = strength * (ETA + 2 * GAMMA)
    return alpha, ETA / (ETA + 2 * GAMMA)


def minimise(rows: Prepared, strength: float, start: Array | None = None) -> Array:
    """Return the weights of every classifier, a row each, the constant column's last."""
    alpha, share = product_penalty(strength)
    penalty = penalties.named(f"elastic-net:{share!r}", alpha)
    source = Rows(rows.features, Domain(rows.row_norm, classes=(0, 1)), rows.constant)
    curvature = 2 * strength * GAMMA
    target = Target(
        tolerance=TOLERANCE,
        smoothness=rows.longest**2 / 4 + curvature,
        strong_convexity=curvature,
        start_distance=rows.longest / curvature,
        radius=None,
        row_norm=rows.row_norm,
    )
    found = []
    for output in range(rows.outputs):
        chosen = 1 if rows.outputs == 1 else output
        labels = np.where(rows.labels == chosen, 1.0, -1.0)
        objective = Objective(
            losses.named("logistic"), penalty, source, labels, None if start is None else start[output]
        )
        found.append(suited(objective).solve(objective, target))
    return np.array(found)


def accuracies(rows: Prepared, weights: Array) -> Array:
    """Return the share of test rows that each of many models has right; weights are (models, outputs, columns + 1)."""
    scores = weights[:, :, :-1] @ rows.test_features.T + rows.constant * weights[:, :, -1:]
    predicted = (scores[:, 0] > 0).astype(np.intp) if rows.outputs == 1 else scores.argmax(1)
    return np.asarray((predicted == rows.test_labels).mean(1))


def support(weights: Array, threshold: float = 0.0) -> NDArray[np.bool_]:
    """Return which weights are selected, the constant column's left out: those beyond the threshold.

    Examples
    --------
    >>> support(np.array([[0.5, -0.2, 0.0, 9.0]]), 0.1).tolist()
    [[True, True, False]]
    """
    return np.asarray(np.abs(weights[..., :-1]) > threshold)


def columns(weights: Array, threshold: float = 0.0) -> NDArray[np.bool_]:
    """Return which columns are selected, as `eq.FeatureSelector` does: those with a weight beyond it for any class.

    Examples
    --------
    >>> columns(np.array([[0.5, -0.2, 0.0, 9.0], [0.0, 0.0, 0.0, 9.0]]), 0.3).tolist()
    [[True, False, False]]
    """
    return np.asarray(support(weights, threshold).any(axis=-2, keepdims=True))


def similarity(true: NDArray[np.bool_], found: NDArray[np.bool_]) -> Array:
    """Return the F1 score of many selections against one; two empty selections agree and have 1.

    Examples
    --------
    >>> similarity(np.array([[True, False]]), np.array([[[True, True]], [[False, False]]])).round(3).tolist()
    [0.667, 0.0]
    """
    both = (true & found).sum(axis=(1, 2))
    either = true.sum() + found.sum(axis=(1, 2))
    return np.asarray(np.where(either == 0, 1.0, 2 * both / np.maximum(either, 1)))
