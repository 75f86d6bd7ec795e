"""Shortcuts to a tail change no answer: terms that are passed over, and sums of a tenth of the terms."""

import numpy as np
import pytest

from equipoise.evaluation import shares as shares_module
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.inversion import intervals
from equipoise.evaluation.means import Kinds, MeansTest
from equipoise.evaluation.shares import SharesTest, rebalanced
from equipoise.evaluation.tails import TERMS, CellNoise, Rows, _Smoothed, tails
from equipoise.evaluation.waves import NEGLIGIBLE, rounded_normal, summed

QUESTIONS = 40


def asked(law: str, scale: float, values: int, kinds: int, seed: int) -> tuple[list[Rows], CellNoise, np.ndarray]:
    """Two samples of rows with values of a kind, noise of some weights, and sums that came out."""
    coins = np.random.default_rng(seed)

    def rows() -> Rows:
        of_rows = coins.choice([20.0, 300.0, 20_000.0], QUESTIONS)
        worth = coins.normal(size=(QUESTIONS, values)).round(coins.integers(0, 3))
        return Rows(of_rows, worth, coins.dirichlet(np.full(values, 0.5), QUESTIONS))

    samples = [rows(), rows()]
    noise = CellNoise(
        law,
        scale,
        coins.normal(size=(QUESTIONS, kinds)).round(1),
        coins.integers(0, 40, (QUESTIONS, kinds)).astype(float),
    )
    law_of = _Smoothed(samples, [noise])
    return samples, noise, law_of._mean + coins.normal(0.0, 1.5, QUESTIONS) * law_of._reach / 10.0


SETTINGS = [
    (law, scale, values, kinds)
    for law, scale in (("laplace", 0.4), ("laplace", 4.0), ("laplace", 40.0), ("gaussian", 0.6), ("gaussian", 3.0))
    for values, kinds in ((2, 3), (30, 20))
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_terms_that_are_passed_over_do_not_matter(setting):
    samples, noise, reached = asked(*setting, seed=1)
    law = _Smoothed(samples, [noise])
    gaussian, scales, weights, cells, counts, values, chances, starts, reach = law._law
    distances = np.stack([reached, reached + 0.1 * reach], axis=1)
    smoothing = 5.0 * reach / (2.0 * np.pi * TERMS)
    found = summed(*law._law, smoothing, distances, TERMS)
    half = np.arange(TERMS) + 0.5
    for question in range(0, QUESTIONS, 8):
        # Davies' sum as it is written, with all of its terms.
        frequencies = half * 2.0 * np.pi / reach[question]
        phi = np.exp(-0.5 * (frequencies * smoothing[question]) ** 2).astype(complex)
        for weight, number, scale in zip(weights[question], cells[question], scales, strict=True):
            if gaussian:
                one = np.array([rounded_normal(scale, each * weight) for each in frequencies])
            else:
                ratio = np.exp(-1.0 / scale)
                one = (1 - ratio) ** 2 / (1 - 2 * ratio * np.cos(frequencies * weight) + ratio**2)
            phi *= one**number
        for sample in range(2):
            part = slice(starts[sample], starts[sample + 1])
            waves = np.exp(1j * np.outer(frequencies, values[question, part]))
            phi *= (waves @ chances[question, part]) ** counts[question, sample]
        turned = np.imag(phi[:, None] * np.exp(-1j * np.outer(frequencies, distances[question])))
        exact = np.sum(turned / (np.pi * half[:, None]), axis=0)
        np.testing.assert_allclose(found[question], exact, rtol=0, atol=TERMS * NEGLIGIBLE)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_tenth_of_the_terms_tells_the_side_that_all_of_them_do(setting):
    told = 0
    for seed in range(5):
        samples, noise, reached = asked(*setting, seed)
        whole = tails(samples, noise, reached)
        most, least = _Smoothed(samples, [noise]).bounds(reached)
        for compared in (0.001, 0.024, 0.025):
            sides = tails(samples, noise, reached, compared)
            assert [list(each > compared) for each in sides] == [list(each > compared) for each in whole]
            told += sum(
                int(np.sum((low > compared) | (high <= compared))) for low, high in zip(least, most, strict=True)
            )
        for low, high, each in zip(least, most, whole, strict=True):
            assert np.all((low <= each) & (each <= high))
    # Else nothing would be saved.
    assert told >= 0.8 * (5 * 3 * 2 * QUESTIONS)


COUNTS = NoisyCounts((0.3, 0.5, 0.8), np.array([[[3103, 520, 290, 12], [71, 245, 695, 1390]]]), "laplace", 4.0, 6_350)


def test_intervals_of_means_have_the_ends_that_they_have_without_shortcuts():
    kinds = Kinds.of(COUNTS, np.array([[0.0, 0.2, 0.5, 1.1], [1.7, 0.8, 0.3, 0.1]]), np.ones((1, 2, 4), dtype=bool))
    rows, one = kinds.summed(rebalanced(COUNTS).reshape(1, -1)), np.ones(1)
    found = [
        intervals(MeansTest(COUNTS, rows, kinds.apart, kinds.cells, each), 1, 0.0 * one, 1.7 * one, 0.05 * one)
        for each in (None, 0.025)
    ]
    assert found[0] == found[1]


def test_intervals_of_shares_have_the_ends_that_they_have_without_shortcuts(monkeypatch):
    place = np.indices(COUNTS.counts.shape)
    asked = [
        shares_module.Share(part, whole)
        for part, whole in (
            ((place[1] == 1) & (place[2] > 1), place[1] == 1),
            ((place[1] == 1) & (place[2] == 3), place[2] == 3),
            (place[1] == (place[2] > 1), place[1] >= 0),
        )
    ]
    found = []
    for _ in range(2):
        tests = SharesTest.of(COUNTS, asked)
        found.append(np.array(intervals(tests, 3, np.zeros(3), np.ones(3), tests.error)))
        monkeypatch.setattr(shares_module, "tails", lambda rows, noise, reached, compared: tails(rows, noise, reached))
    assert np.array_equal(*found)
