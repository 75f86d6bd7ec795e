"""Algorithm 2 as a finding: how accurate models are with the noise that each way of counting asks for.

"SGD as deterministic" adds the whole of sigma_target; "SGD as random" adds what SGD's own noise is taken to lack of it.
Both get the same drawn noise, scaled: the difference within a run is then due to the scale alone, and tests are paired.
The second way makes no certificate, since its assumption is refuted (H2).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from equipoise.lab.estimate import Bootstrap, Estimate
from equipoise_studies.intrinsic_privacy.preparation import Prepared

Array = NDArray[np.float64]
NOISE_SEED = 2
# The accuracies of a curve are measured on at most so many test rows.
CURVE_ROWS = 10_000
EPSILONS = tuple(float(f"{value:.3g}") for value in np.geomspace(0.25, 32, 15))


@dataclass(frozen=True)
class Paired:
    """Mean accuracies of two ways on the same runs, the mean gain, and the p-value of the paired t-test."""

    deterministic: Estimate
    random: Estimate
    gain: Estimate
    p_value: float


def accuracies(weights: NDArray[np.floating], x: Array, y: Array) -> Array:
    """Return the accuracy of each linear model, (runs,); the intercept is the last weight.

    Examples
    --------
    >>> models, rows = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[1.0], [2.0], [-1.0]])
    >>> accuracies(models, rows, np.ones(3)).round(2).tolist()
    [0.67, 0.33]
    """
    rows, found = x.astype(np.float32), []
    for part in np.array_split(weights.astype(np.float32), max(1, len(weights) * len(x) // 2**24)):
        margins = rows @ part[:, :-1].T + part[:, -1]
        found.append(((margins > 0) == (y > 0)[:, None]).mean(0))
    return np.concatenate(found)


def target(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the paper's sigma_target, ``c Delta / epsilon`` with ``c = sqrt(2 ln(1.25 / delta))``.

    Examples
    --------
    >>> round(target(0.1641, 1.0, 1 / 29305), 3)
    0.752
    """
    return math.sqrt(2 * math.log(1.25 / delta)) * sensitivity / epsilon


def augmented(sigma_target: float, sigma: float) -> float:
    """Return the noise that Algorithm 2 adds to noise that is there already.

    Examples
    --------
    >>> augmented(5.0, 3.0), augmented(1.0, 3.0)
    (4.0, 0.0)
    """
    return math.sqrt(max(0.0, sigma_target**2 - sigma**2))


def _mean(values: Array, bootstrap: Bootstrap) -> Estimate:
    drawn = np.random.default_rng(bootstrap.seed).integers(0, len(values), (bootstrap.replicates, len(values)))
    return bootstrap.estimate(float(values.mean()), values[drawn].mean(1))


def at_one(
    prepared: Prepared, runs: NDArray[np.floating], sigma: float, sigma_target: float, bootstrap: Bootstrap
) -> Paired:
    """Compare the two ways on the same runs with the same drawn noise."""
    drawn = np.random.default_rng(NOISE_SEED).normal(size=runs.shape)
    x, y = prepared.test_features, prepared.test_labels
    whole = accuracies(runs + sigma_target * drawn, x, y)
    part = accuracies(runs + augmented(sigma_target, sigma) * drawn, x, y)
    gains = part - whole
    p_value = float(stats.ttest_rel(part, whole).pvalue) if np.ptp(gains) > 0 else 1.0
    return Paired(_mean(whole, bootstrap), _mean(part, bootstrap), _mean(gains, bootstrap), p_value)


def noiseless(prepared: Prepared, runs: NDArray[np.floating], bootstrap: Bootstrap) -> Estimate:
    """Return the accuracy of the runs as they are."""
    return _mean(accuracies(runs, prepared.test_features, prepared.test_labels), bootstrap)


def curves(
    prepared: Prepared,
    runs: Mapping[str, NDArray[np.floating]],
    sigmas: Mapping[str, float],
    sensitivities: Mapping[str, float],
    delta: float,
) -> list[dict[str, object]]:
    """Return the mean accuracy over epsilon as records: by start of the runs, treatment and sensitivity."""
    x, y = prepared.test_features[:CURVE_ROWS], prepared.test_labels[:CURVE_ROWS]
    records: list[dict[str, object]] = []
    for start, weights in runs.items():
        drawn = np.random.default_rng(NOISE_SEED).normal(size=weights.shape)
        plain = float(accuracies(weights, x, y).mean())
        for epsilon in EPSILONS:
            if start == "varying":
                records.append({"x": epsilon, "y": plain, "ink": "noiseless", "dash": "bound"})
            for kind, sensitivity in sensitivities.items():
                whole = target(sensitivity, epsilon, delta)
                ways = {f"random, {start} start": augmented(whole, sigmas[start])}
                if start == "varying":
                    ways = {"deterministic": whole} | ways
                for ink, noise in ways.items():
                    accuracy = float(accuracies(weights + noise * drawn, x, y).mean())
                    records.append({"x": epsilon, "y": accuracy, "ink": ink, "dash": kind})
    return records
