"""The balanced accuracy of several classes, whose recalls noise pushes beyond 1."""

import numpy as np
import pytest

from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.several_classes import SeveralClasses, mean_of_shares


# While each recall was first cut at 1, the mean of ten held in none of such worlds: what was cut off added up.
@pytest.mark.parametrize(("classes", "recall"), [(3, 0.999), (10, 0.999), (10, 0.0)])
def test_a_mean_of_recalls_near_an_end_holds(classes, recall):
    generator, rows, scale = np.random.default_rng(classes), 300 * classes, 2.0
    chances = np.full((classes, classes), (1 - recall) / (classes - 1) / classes)
    np.fill_diagonal(chances, recall / classes)
    kept = 1 - np.exp(-1 / scale)
    worlds, held = 60, 0
    for _ in range(worlds):
        counts = generator.multinomial(rows, chances.ravel()).reshape(1, classes, classes)
        counts = counts + generator.geometric(kept, counts.shape) - generator.geometric(kept, counts.shape)
        found = SeveralClasses(NoisyCounts((), counts, "laplace", scale, rows)).balanced_accuracy
        assert 0 <= found.low <= found.value <= found.high <= 1
        held += found.low <= recall <= found.high
    # Of 60 worlds with a chance of .95 each, 50 or fewer hold once in 1,500.
    assert held > 50


def test_what_noise_pushes_beyond_an_end_counts_and_no_distance_is_shorter_than_noise():
    ends = np.array([0.9, 0.9]), np.array([1.0, 1.0])
    value, low, high = mean_of_shares(np.array([1.04, 0.92]), *ends, np.array([0.03, 0.03]))
    assert value == pytest.approx(0.98)
    assert high == 1
    assert 0.98 - low == pytest.approx(np.hypot(0.14, 0.0587990) / 2, rel=1e-4)
