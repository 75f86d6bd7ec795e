"""The intrinsic-privacy study recovers what synthetic ensembles were made of, and finds what the paper's formulas say.

Intervals are random; where a test asks that one holds the truth, its seed is fixed, and coverage is tested by itself.
"""

import ast
import dataclasses
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import pdist

import equipoise.lab
from equipoise.certify.curves import GaussianCurve
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.lab import intrinsic
from equipoise.lab.epsilon import gaussian_epsilon
from equipoise.lab.estimate import Bootstrap, Estimate, Resamples, figures
from equipoise.lab.sensitivity import POOL, Pairs, spread_replicates
from equipoise.lab.variability import distances, sigma_replicates, sigmas, summarise_sigma
from equipoise.planning.laws.gaussian import largest_mu
from equipoise_studies.intrinsic_privacy import augmented

# The paper's Table II and III, and H4: what the formulas give from the rounded sigma.
COLUMNS = ("n", "batch", "step", "steps", "sigma", "bound", "proved")
TABLE = {
    "mnist": dict(zip(COLUMNS, (10397, 32, 0.1, 1850, 0.028, 0.0503, 0.0530), strict=True)),
    "forest": dict(zip(COLUMNS, (378783, 50, 1.0, 8400, 0.114, 0.0627, 0.1131), strict=True)),
    "adult": dict(zip(COLUMNS, (29305, 32, 0.5, 3400, 0.108, 0.1641, 0.1768), strict=True)),
}
EPSILONS = {"mnist": (7.82, 7.78, 8.31), "forest": (2.81, 2.39, 4.64), "adult": (6.97, 6.72, 7.35)}
PUBLISHED = {"mnist": (0.050, 7.88), "forest": (0.063, 2.80), "adult": (0.164, 6.95)}
every_dataset = pytest.mark.parametrize("name", list(TABLE))
QUICK = Bootstrap(replicates=100)


def ensemble(n_seeds=40, n_datasets=10, n_weights=6, sigma=0.1, shift=0.02, seed=0):
    """Return runs ``mean of the dataset + noise of the seed``, and the means; datasets share a seed's noise."""
    stream = np.random.default_rng(seed)
    means = shift * stream.normal(size=(n_datasets, n_weights))
    return means + sigma * stream.normal(size=(n_seeds, 1, n_weights)), means


def trained(**changes):
    """Return the keywords of a study of a convex model."""
    recipe = {"n_samples": 1000, "n_steps": 100, "batch_size": 10, "step": 0.1, "lipschitz": 1.0}
    return recipe | {"bootstrap": QUICK} | changes


# Sensitivities and epsilons by formula


@every_dataset
def test_the_theoretical_sensitivities_are_those_of_table_three(name):
    row = TABLE[name]
    passes = intrinsic.fractional_passes(row["steps"], row["n"], row["batch"])
    bound = intrinsic.theoretical_sensitivity(passes, math.sqrt(2), row["step"], row["batch"])
    proved = intrinsic.rigorous_sensitivity(row["steps"], row["n"], math.sqrt(2), row["step"], row["batch"])
    assert round(bound, 4) == row["bound"]
    assert round(bound, 3) == PUBLISHED[name][0]
    assert round(proved, 4) == row["proved"]
    assert proved == pytest.approx(bound * math.ceil(passes) / passes)


@pytest.mark.parametrize(
    ("rule", "expected"), [("nominal", 4 * 2 / 4), ("mean", 4 * 2 / 2), ("drop", 5 * 2 / 4)], ids=str
)
def test_the_last_batch_decides_what_a_row_can_do(rule, expected):
    # 10 rows in batches of 4, 4 and 2; 10 steps are 4 passes of 3 batches or 5 of 2.
    assert intrinsic.rigorous_sensitivity(10, 10, 1.0, 1.0, 4, last_batch=rule) == expected


@every_dataset
def test_the_epsilons_are_those_of_the_catalogue(name):
    row, (paper, exact, proved) = TABLE[name], EPSILONS[name]
    passes = intrinsic.fractional_passes(row["steps"], row["n"], row["batch"])
    bound = intrinsic.theoretical_sensitivity(passes, math.sqrt(2), row["step"], row["batch"])
    delta = 1 / row["n"]
    assert intrinsic.intrinsic_epsilon(bound, row["sigma"], delta) == pytest.approx(paper, abs=0.006)
    assert intrinsic.intrinsic_epsilon_gaussian(bound, row["sigma"], delta) == pytest.approx(exact, abs=0.006)
    # Rounded in its third digit, the paper's sigma fixes its epsilon to 2 %.
    assert intrinsic.intrinsic_epsilon(bound, row["sigma"], delta) == pytest.approx(PUBLISHED[name][1], rel=0.02)
    whole = bound * math.ceil(passes) / passes
    assert intrinsic.intrinsic_epsilon_gaussian(whole, row["sigma"], delta) == pytest.approx(proved, abs=0.006)


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-9], ids=str)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 7.0, 40.0], ids=str)
def test_the_exact_epsilon_is_the_root_of_the_gaussian_curve(epsilon, delta):
    mu = largest_mu(epsilon, delta)
    assert intrinsic.intrinsic_epsilon_gaussian(mu, 1.0, delta) == pytest.approx(epsilon, rel=1e-8)
    assert GaussianCurve(mu).delta(intrinsic.intrinsic_epsilon_gaussian(3 * mu, 3.0, delta)) == pytest.approx(delta)


def test_no_difference_is_no_loss_and_no_noise_is_every_loss():
    assert gaussian_epsilon(np.array([0.0, 1e-9, math.inf]), 1e-5).tolist() == [0.0, 0.0, math.inf]
    assert intrinsic.intrinsic_epsilon(0.0, 0.0, 1e-5) == 0
    assert intrinsic.intrinsic_epsilon(1.0, 0.0, 1e-5) == math.inf


# Distances and their resampling


def test_distances_agree_with_scipy_far_from_the_origin():
    runs, _ = ensemble(seed=3)
    found = intrinsic.pairwise_distances(1000 + runs)
    direct = np.stack([pdist(each) for each in runs])
    np.testing.assert_allclose(found, direct, rtol=1e-7)


@pytest.mark.parametrize("kind", ["by_data", "by_seed", "by_both"])
def test_every_pair_is_there_once_with_its_distance(kind):
    runs = np.random.default_rng(0).normal(size=(4, 3, 2))
    found = getattr(Pairs, kind)(runs)
    cells = list(itertools.product(range(4), range(3)))
    direct = sorted(
        float(np.linalg.norm(runs[one] - runs[other]))
        for one, other in itertools.combinations(cells, 2)
        if (one[0] != other[0], one[1] != other[1])
        == {"by_data": (False, True), "by_seed": (True, False), "by_both": (True, True)}[kind]
    )
    np.testing.assert_allclose(found.distances, direct, rtol=1e-12)


def test_a_sample_of_pairs_that_differ_in_both_has_true_distances():
    runs = np.random.default_rng(0).normal(size=(9, 8, 2))
    found = Pairs.by_both(runs, most=500)
    (_, left), (_, right), (_, first), (_, second) = found.places
    direct = np.linalg.norm(runs[left, first] - runs[right, second], axis=1)
    np.testing.assert_allclose(found.distances, direct)
    assert len({*zip(left, first, right, second, strict=True)}) == 500
    assert (left != right).all()
    assert (first != second).all()


@pytest.mark.parametrize("kind", ["by_data", "by_seed", "by_both"])
def test_a_replicate_is_what_the_drawn_runs_show(kind):
    runs = np.random.default_rng(1).normal(size=(5, 6, 3))
    pairs = getattr(Pairs, kind)(runs)
    resamples = Bootstrap(replicates=80, seed=7).draw(5, 6)
    found = spread_replicates(pairs, resamples)
    for replicate in range(80):
        seeds, datasets = (each[replicate] for each in resamples)
        weight = np.ones(len(pairs.distances), int)
        for axis, index in pairs.places:
            weight *= (seeds if axis == "seed" else datasets).astype(int)[index]
        drawn = np.repeat(pairs.distances, weight)
        expected = [drawn.min(), *np.quantile(drawn, [0.05, 0.5, 0.95], method="inverted_cdf"), drawn.max()]
        np.testing.assert_allclose(found.replicates[replicate][[0, 1, 3, 4, 5]], expected)


def test_the_farthest_pair_is_found_beyond_the_first_block():
    # One dataset lies far from all others: a replicate without it has to look past all of its pairs.
    runs, _ = ensemble(n_seeds=30, n_datasets=40)
    runs[:, 5] += 10
    without = Resamples(np.ones((1, 30)), np.where(np.arange(40) == 5, 0, 1)[None].astype(float))
    expected = intrinsic.pairwise_distances(np.delete(runs, 5, axis=1)).max()
    assert Pairs.by_data(runs).extremes(without)[1][0] == pytest.approx(expected, rel=1e-9)


def test_quantiles_of_a_large_grid_are_resampled_on_a_part_of_its_pairs():
    runs, _ = ensemble(n_seeds=30, n_datasets=45)
    pairs = Pairs.by_data(runs)
    assert len(pairs.distances) > POOL == len(pairs.pool.distances)
    spread = spread_replicates(pairs, QUICK.draw(30, 45)).spread(QUICK)
    assert spread.median.value == np.quantile(pairs.distances, 0.5, method="inverted_cdf")
    assert spread.median.value in spread.median


def test_the_empirical_sensitivity_is_the_planted_one():
    runs, means = ensemble()
    runs[7, 2] += 1.0
    found = intrinsic.empirical_sensitivity(runs, QUICK)
    direct = max(float(np.linalg.norm(runs[7, 2] - runs[7, other])) for other in range(10))
    assert found.maximum.value == pytest.approx(direct)
    assert found.seed == 7
    assert 2 in found.datasets
    # Without the one seed, which a replicate misses with probability 0.37, the datasets' means are left.
    assert found.maximum.low <= pdist(means).max() + 1e-9


# Sigma


def test_a_replicate_of_sigma_is_the_drawn_runs_sigma_freed_of_its_bias():
    runs, _ = ensemble(n_seeds=12, n_datasets=3)
    counts = Bootstrap(replicates=80).draw(12, 3).seeds
    found = sigma_replicates(runs, counts)
    for row, held in zip(found["flattened"], counts.astype(int), strict=True):
        drawn = np.repeat(runs, held, axis=0)
        np.testing.assert_allclose(row, np.sqrt(drawn.var(0, ddof=1).mean(-1) * 12 / 11))
    for row, held in zip(found["per-weight"], counts.astype(int), strict=True):
        np.testing.assert_allclose(row, np.repeat(runs, held, axis=0).std(0, ddof=1).mean(-1) * math.sqrt(12 / 11))


def test_the_median_is_over_the_datasets():
    noise = np.random.default_rng(0).normal(size=(200, 3, 50)) * np.array([1.0, 2.0, 9.0])[:, None]
    by_dataset = intrinsic.sigma_per_dataset(noise)
    np.testing.assert_allclose(by_dataset, [1, 2, 9], rtol=0.03)
    assert intrinsic.sigma(noise, bootstrap=QUICK).value == by_dataset[1]
    assert intrinsic.sigma(noise, "min", QUICK).value == by_dataset[0]
    assert intrinsic.sigma(noise, "max", QUICK).value == by_dataset[2]
    assert intrinsic.sigma(noise, "pooled", QUICK).value == pytest.approx(math.sqrt(np.square(by_dataset).mean()))


def test_the_ways_agree_on_equal_noise_and_differ_on_unequal():
    stream = np.random.default_rng(2)
    equal = 3 + stream.normal(size=(400, 4, 60))
    for way in ("flattened", "per-weight", "norm"):
        np.testing.assert_allclose(intrinsic.sigma_per_dataset(equal, way), 1, rtol=0.1)
    unequal = equal * np.linspace(0, 2, 60)
    np.testing.assert_allclose(intrinsic.sigma_per_dataset(unequal, "per-weight"), 1, rtol=0.05)
    np.testing.assert_allclose(intrinsic.sigma_per_dataset(unequal), math.sqrt(4 / 3), rtol=0.05)


@pytest.mark.parametrize("centre", [0.0, 0.5, 20.0], ids=str)
def test_the_variance_of_the_norm_gives_sigma_wherever_the_mean_is(centre):
    runs = centre + 0.5 * np.random.default_rng(5).normal(size=(4000, 2, 20))
    np.testing.assert_allclose(intrinsic.sigma_per_dataset(runs, "norm"), 0.5, rtol=0.05)


def test_intervals_hold_sigma_as_often_as_they_say():
    # Percentile intervals of 30 seeds cover some 93 %, that of the norm's variance 86 %. With those, one choice of
    # seeds in 45 gives less than 88 of 100, one in 28 less than 80; intervals that cover 80 % give 88 once in 40.
    hits = dict.fromkeys(intrinsic.ESTIMATORS, 0)
    for seed in range(100):
        runs, _ = ensemble(n_seeds=30, n_datasets=4, n_weights=8, seed=1000 + seed)
        for name, found in sigmas(runs, QUICK.draw(30, 4), QUICK).items():
            hits[name] += 0.1 in found
    assert min(hits.values()) >= 80
    assert hits["median"] >= 88


def test_the_bootstrap_seed_changes_the_interval_and_not_the_figure():
    runs, _ = ensemble()
    first, again, other = (intrinsic.sigma(runs, bootstrap=Bootstrap(100, seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert first.value == other.value
    assert (first.low, first.high) != (other.low, other.high)


def test_more_confidence_is_a_wider_interval():
    runs, _ = ensemble()
    narrow, wide = (intrinsic.sigma(runs, bootstrap=Bootstrap(500, each)) for each in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


# Normality


def test_the_shapiro_test_rejects_uniform_starts_and_not_normal_noise():
    stream = np.random.default_rng(0)
    runs = np.stack([stream.normal(size=(150, 20)), *stream.uniform(size=(2, 150, 20))], axis=1)
    found = intrinsic.normality(runs, bootstrap=QUICK)
    assert found.p_values.shape == (3, 20)
    assert found.corrected == 0.05 / 20
    assert found.strict == 0.05 / 60
    rejected = (found.p_values < found.corrected).mean(1)
    # 20 tests at 0.05 / 20: a false alarm in 1 of 20 seeds; this one has none.
    assert rejected[0] == 0
    assert rejected[1:].min() >= 0.5
    assert found.rejected_corrected.value == pytest.approx(rejected.mean())
    assert found.rejected_corrected.low < found.rejected_corrected.high


def test_p_values_are_those_of_the_test_itself():
    runs = 100 + np.random.default_rng(0).exponential(size=(30, 2, 3))
    found = intrinsic.normality(runs, bootstrap=QUICK)
    for dataset, weight in itertools.product(range(2), range(3)):
        expected = stats.shapiro(runs[:, dataset, weight] - 100).pvalue
        assert found.p_values[dataset, weight] == pytest.approx(expected, rel=1e-6)


def test_a_weight_that_no_seed_moves_is_counted_apart():
    runs, _ = ensemble(n_weights=4)
    runs[..., 1] = 0.3
    found = intrinsic.normality(runs, datasets=5, bootstrap=QUICK)
    assert found.constant == 5
    assert np.isnan(found.p_values[:, 1]).all()
    assert np.isfinite(np.delete(found.p_values, 1, axis=1)).all()
    assert found.strict == 0.05 / 15


# Variability, claims, gradients


def test_distances_by_seed_follow_their_law():
    # Two seeds differ by a Gaussian of standard deviation 0.1 sqrt(2) in each of 6 weights.
    runs, means = ensemble(n_seeds=80)
    found = distances(runs, QUICK)
    law = stats.chi(6, scale=0.1 * math.sqrt(2))
    assert law.ppf(0.5) in found.by_seed.median
    assert law.ppf(0.95) in found.by_seed.upper
    assert found.by_data.maximum.value == pytest.approx(pdist(means).max())
    assert found.by_both.median.value == pytest.approx(found.by_seed.median.value, rel=0.05)
    assert found.by_seed.minimum.value <= found.by_seed.mode.value <= found.by_seed.maximum.value
    beyond = (found.seed.distances > found.by_data.maximum.value).mean()
    assert found.dominance.value == pytest.approx(beyond)
    assert found.dominance.low <= beyond <= found.dominance.high


def test_the_start_adds_what_it_adds():
    stream = np.random.default_rng(0)
    order = 0.1 * stream.normal(size=(60, 1, 10)) + 0.01 * stream.normal(size=(8, 10))
    start = math.sqrt(0.5**2 - 0.1**2) * stream.normal(size=(60, 1, 10))
    found = intrinsic.variability(order + start, order, QUICK)
    assert 5.0 in found.ratio
    assert found.varying.by_data.maximum.value == pytest.approx(found.fixed.by_data.maximum.value)


def test_claim_two_is_chebyshev_on_permutations_without_fixed_points():
    found = intrinsic.claims(passes=3, lipschitz=1.5, step=0.2, n_samples=40)
    stream = np.random.default_rng(0)
    matches = (np.argsort(stream.random((4000, 3, 40)), axis=2) == np.arange(40)).sum(2)
    bounds = 2 * 1.5 * 0.2 * (40 - matches).sum(1)
    # The mean of 12,000 counts of variance 1 lies within 5 standard errors of 1; the sum's variance likewise.
    assert bounds.mean() == pytest.approx(found.expected, abs=5 * 0.6 * math.sqrt(3 / 4000))
    assert bounds.var() / found.deviation**2 == pytest.approx(found.probability, rel=0.2)
    assert found.variability_bound == pytest.approx(40 * found.sensitivity_bound)
    assert found.variability_bound == intrinsic.claim_1_bound(3, 1.5, 0.2, 40)


def test_batches_divide_both_bounds_of_claim_one():
    alone, batched = (intrinsic.claims(3, 1.5, 0.2, 40, batch_size=each) for each in (1, 8))
    assert batched.variability_bound == alone.variability_bound / 8
    assert batched.sensitivity_bound == intrinsic.theoretical_sensitivity(3, 1.5, 0.2, 8)
    assert batched.probability == alone.probability


def test_traced_weights_tell_the_norms_of_their_gradients():
    stream = np.random.default_rng(0)
    gradients = stream.normal(size=(5, 9, 2, 3))
    sizes = np.linspace(0.5, 0.1, 10)
    trace = -np.cumsum(gradients * sizes[1:, None, None], axis=1)
    trace = np.concatenate([np.zeros((5, 1, 2, 3)), trace], axis=1)
    found = intrinsic.norms_from_trace(trace, range(1, 11), sizes)
    np.testing.assert_allclose(found, np.linalg.norm(gradients, axis=3))
    summary = intrinsic.gradient_norms(found, range(2, 11), lipschitz=5.0, bootstrap=QUICK)
    assert summary.maximum[4].value == found[:, 4].max()
    assert all(each.value in each for each in summary.median)


# Anisotropy


def test_the_anisotropic_mu_is_the_mahalanobis_distance():
    scales = np.array([1.0, 0.5, 0.02])
    stream = np.random.default_rng(0)
    rotation = np.linalg.qr(stream.normal(size=(3, 3)))[0]
    means = stream.normal(size=(5, 3)) * 0.1
    runs = stream.normal(size=(300, 1, 3)) * scales @ rotation + means
    found = intrinsic.anisotropy(runs, 1e-5, 0.1, QUICK)
    precision = np.linalg.inv(np.cov(runs[:, found.dataset], rowvar=False))
    direct = max(math.sqrt((a - b) @ precision @ (a - b)) for a, b in itertools.combinations(means, 2))
    factor = math.sqrt(stats.chi2.ppf(0.5, 297) / 299)
    assert found.mahalanobis.value == pytest.approx(direct * factor, rel=1e-6)
    truth = (rotation.T / scales**2) @ rotation
    assert max(math.sqrt((a - b) @ truth @ (a - b)) for a, b in itertools.combinations(means, 2)) in found.mahalanobis
    assert found.epsilon_empirical.value == pytest.approx(
        intrinsic.intrinsic_epsilon_gaussian(found.mahalanobis.value, 1.0, 1e-5)
    )
    assert 0.02 in found.least
    assert math.sqrt((scales**2).mean()) / 0.02 in found.optimism
    assert found.epsilon_theoretical.value == pytest.approx(
        intrinsic.intrinsic_epsilon_gaussian(0.1, found.least.value, 1e-5)
    )


def test_one_sigma_is_not_optimistic_on_equal_noise():
    runs, _ = ensemble(n_seeds=160, n_weights=60)
    found = intrinsic.anisotropy(runs, 1e-5, 0.1, QUICK)
    assert 1.0 in found.optimism
    # The covariance's own smallest eigenvalue is far off: 160 seeds, 60 dimensions.
    assert found.smallest < 0.06


def test_a_covariance_is_not_made_up_from_few_seeds():
    runs, _ = ensemble(n_seeds=30, n_weights=100)
    found = intrinsic.anisotropy(runs, 1e-5, 0.1, QUICK)
    assert found.least is found.optimism is found.mahalanobis is None
    assert found.epsilon_theoretical is found.epsilon_empirical is None


def test_weights_that_never_move_have_no_say():
    runs, _ = ensemble(n_seeds=60)
    wider = np.concatenate([runs, np.full((60, 10, 3), 0.7)], axis=2)
    plain, padded = (intrinsic.anisotropy(each, 1e-5, 0.1, QUICK) for each in (runs, wider))
    assert padded.dimensions == plain.dimensions == 6
    assert padded.mahalanobis.value == pytest.approx(plain.mahalanobis.value)


def test_a_difference_where_seeds_agree_is_an_infinite_epsilon():
    runs, _ = ensemble(n_seeds=60)
    runs[..., 2] = np.linspace(0, 1, 10)
    found = intrinsic.anisotropy(runs, 1e-5, 0.1, QUICK)
    assert found.mahalanobis.value == found.epsilon_empirical.value == math.inf
    assert found.epsilon_theoretical.value > 1e9


# The study


def test_a_study_recovers_what_the_ensemble_was_made_of():
    runs, means = ensemble(n_seeds=80, n_weights=10)
    found = intrinsic.study(runs, **trained(), half=runs[:, :5])
    farthest, factor = pdist(means).max(), math.sqrt(2 * math.log(1250))
    assert found.delta == 1e-3
    assert found.theoretical.value == pytest.approx(2 * 1 * 1.0 * 0.1 / 10)
    assert found.rigorous.value == found.theoretical.value
    assert 0.1 in found.sigma
    assert found.sigma == found.sigmas["median"]
    assert found.empirical.maximum.value == pytest.approx(farthest)
    assert factor * 0.02 / 0.1 in found.epsilon_theoretical.paper
    assert found.epsilon_empirical.paper.value == pytest.approx(factor * farthest / found.sigma.value)
    assert found.epsilon_empirical.gaussian.value == pytest.approx(
        intrinsic.intrinsic_epsilon_gaussian(farthest, found.sigma.value, 1e-3)
    )
    assert found.pairwise.paper.maximum.value == pytest.approx(found.epsilon_empirical.paper.value)
    assert found.claims.variability_bound == pytest.approx(2 * 0.1 * 100)
    assert found.claims.attained.value == pytest.approx(found.variability.varying.by_seed.maximum.value / 20)


def test_every_figure_has_its_interval_and_none_is_certified():
    runs, _ = ensemble()
    found = intrinsic.study(runs, **trained(), fixed=runs / 2, half=runs[::2])
    every = found.figures()
    assert {"sigma", "epsilon_rigorous.gaussian", "half_size.sigma_ratio", "normality.rejected"} <= set(every)
    assert {"pairwise.paper.mode", "variability.ratio", "anisotropy.optimism", "claims.attained"} <= set(every)
    for name, each in every.items():
        assert each.low <= each.value <= each.high, name
        assert each.confidence in (0.95, 1.0), name
    assert found.grade == "measured"
    assert found.reasons
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.sigma = None


def test_a_network_has_pairwise_epsilons_and_no_bound():
    runs, means = ensemble()
    found = intrinsic.study(runs, **trained(lipschitz=None))
    assert found.theoretical is found.rigorous is found.epsilon_theoretical is found.epsilon_rigorous is None
    assert found.claims is found.anisotropy.epsilon_theoretical is None
    alone = intrinsic.pairwise_epsilons(runs, 1e-3, bootstrap=QUICK)
    assert alone.paper == found.pairwise.paper
    factor = math.sqrt(2 * math.log(1250)) / found.sigma.value
    np.testing.assert_allclose(np.unique(alone.values.round(9)), np.unique((factor * pdist(means)).round(9)))
    np.testing.assert_allclose(
        alone.gaussian.median.value,
        intrinsic.intrinsic_epsilon_gaussian(found.empirical.pairwise.median.value, found.sigma.value, 1e-3),
    )


def test_pairwise_epsilons_concentrate_where_most_pairs_are():
    # One dataset is an outlier: it moves the maximum and not the mode, as in the paper's Figure 7.
    runs, _ = ensemble(n_datasets=20, n_weights=40)
    plain = intrinsic.pairwise_epsilons(runs, 1e-4, bootstrap=QUICK)
    runs[:, 0] += 0.1
    found = intrinsic.pairwise_epsilons(runs, 1e-4, bootstrap=QUICK)
    assert found.paper.maximum.value > 2 * plain.paper.maximum.value
    assert found.paper.mode.value == pytest.approx(plain.paper.mode.value, rel=0.1)
    assert found.paper.mode.value == pytest.approx(found.paper.median.value, rel=0.1)


def test_single_and_double_precision_agree():
    runs, _ = ensemble()
    double = intrinsic.study(runs, **trained()).figures()
    single = intrinsic.study(runs.astype(np.float32), **trained()).figures()
    for name, each in double.items():
        if not name.startswith("normality"):
            assert single[name].value == pytest.approx(each.value, rel=0.02), name


@pytest.mark.parametrize("factor", [1.0, 0.5], ids=str)
def test_the_half_size_check_sees_a_change_and_no_other(factor):
    runs, means = ensemble(n_seeds=100)
    twin = factor * means + 0.1 * np.random.default_rng(9).normal(size=(100, 1, 6))
    found = intrinsic.half_size_check(runs, twin, bootstrap=QUICK)
    assert found.sensitivity_ratio.value == pytest.approx(factor)
    assert 1.0 in found.sigma_ratio


def test_the_grid_itself_is_halved_where_no_twin_is_given():
    runs, _ = ensemble()
    found = intrinsic.half_size_check(runs, bootstrap=QUICK)
    assert found.sigma_half.value == intrinsic.sigma(runs[::2, ::2], bootstrap=QUICK).value
    assert found.sensitivity_half.value <= found.sensitivity.value + 1e-12


# Algorithm 2


def accuracy(weights):
    """Return a score that falls with the distance from (1, ..., 1)."""
    return 1 - np.abs(np.asarray(weights) - 1).mean(1)


def credited(runs, sigma, epsilons=(1.0,), **changes):
    """Return the utility of an ensemble whose sensitivity is 0.05."""
    options = {"sensitivity": 0.05, "sigma": sigma, "epsilons": epsilons, "delta": 1e-4, "bootstrap": QUICK} | changes
    return augmented.utility(runs, accuracy, **options)


def test_adult_needs_the_noise_of_algorithm_two():
    target = augmented.target_sigma(0.1641, 1.0, 1 / 29305)
    assert target == pytest.approx(0.7525, abs=2e-4)
    assert augmented.augmenting_sigma(target, 0.108) == pytest.approx(math.sqrt(target**2 - 0.108**2))
    assert augmented.target_sigma(0.1641, 6.95, 1 / 29305) == pytest.approx(0.1083, abs=2e-4)
    assert augmented.augmenting_sigma(0.1, 0.108) == 0
    exact = augmented.target_sigma(0.1641, 1.0, 1 / 29305, rule="gaussian")
    assert GaussianCurve(0.1641 / exact).delta(1.0) == pytest.approx(1 / 29305)


def test_the_credit_buys_utility_and_more_of_it_where_sigma_is_near_the_target():
    runs = 1 + ensemble(n_seeds=60, n_datasets=3, sigma=0.05)[0]
    near, far = credited(runs, 0.05, epsilons=(4.0, 0.5))
    assert near.sigma_augmented == pytest.approx(math.sqrt(near.sigma_target**2 - 0.05**2))
    assert near.deterministic.value < near.augmented.value < near.noiseless.value
    assert near.gain.difference.low > 0
    assert near.gain.p_value < 1e-6
    assert near.shortfall.difference.high < 0
    assert 0 < far.gap_closed.value < near.gap_closed.value < 1
    assert near.gain.difference.value == pytest.approx(near.augmented.value - near.deterministic.value)


def test_enough_noise_of_its_own_is_taken_for_no_noise():
    runs = 1 + ensemble(n_datasets=2)[0]
    (found,) = credited(runs, sigma=10.0)
    assert found.sigma_augmented == 0
    assert found.augmented == found.noiseless
    assert found.gap_closed.value == 1
    assert found.shortfall.p_value == 1


def test_without_credit_there_is_no_gain():
    runs = 1 + ensemble(n_datasets=2)[0]
    (found,) = credited(runs, sigma=0.0)
    assert found.gain.difference == Estimate(0.0, 0.0, 0.0, 0.95)
    assert found.gain.p_value == found.gain.p_value_by_run == 1


def test_the_same_draw_is_scaled_for_both_so_that_scores_are_paired():
    runs = 1 + ensemble(n_datasets=2)[0]
    seen = []

    def record(weights):
        seen.append(np.array(weights))
        return accuracy(weights)

    (found,) = augmented.utility(runs, record, sensitivity=0.05, sigma=0.1, epsilons=[1.0], delta=1e-4, bootstrap=QUICK)
    plain, deterministic, lessened = seen[0], seen[len(runs)], seen[len(runs) + 1]
    ratio = found.sigma_augmented / found.sigma_target
    np.testing.assert_allclose(lessened - plain, ratio * (deterministic - plain))


def test_runs_of_one_seed_are_one_pair():
    stream = np.random.default_rng(0)
    by_seed = stream.normal(0.3, 1, size=(30, 1))
    found = augmented.paired_test(np.repeat(by_seed, 20, axis=1), QUICK)
    expected = stats.ttest_1samp(by_seed[:, 0], 0)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.n_pairs == 30
    assert found.p_value_by_run < found.p_value / 10
    assert found.wins == (by_seed > 0).mean()


def test_more_draws_measure_the_same_more_finely():
    runs = 1 + ensemble(n_seeds=30, n_datasets=2, sigma=0.01)[0]
    once, often = (credited(runs, 0.01, draws=each)[0] for each in (1, 30))
    width = often.deterministic.high - often.deterministic.low
    assert width < (once.deterministic.high - once.deterministic.low) / 2
    assert once.deterministic.value == pytest.approx(often.deterministic.value, abs=0.1)


def test_augmented_noise_has_its_size_and_its_seed():
    noisy, again, other = (augmented.augment(np.zeros((20, 20, 50)), 0.3, seed=each) for each in (1, 1, 2))
    # 20,000 draws: the standard deviation is known to 0.5 %, five of which are 2.5 %.
    assert noisy.std() == pytest.approx(0.3, rel=0.025)
    assert (noisy == again).all()
    assert (noisy != other).all()


def test_the_anisotropic_complement_fills_every_direction_up_to_the_target():
    stream = np.random.default_rng(0)
    half = stream.normal(size=(5, 5))
    covariance = half @ half.T
    added = augmented.augmenting_covariance(covariance, 1.0)
    sizes, total = np.linalg.eigvalsh(covariance), np.linalg.eigvalsh(covariance + added)
    np.testing.assert_allclose(np.sort(np.maximum(sizes, 1.0)), total, rtol=1e-9)


# Bad input


@pytest.mark.parametrize(
    ("weights", "found"),
    [
        (np.zeros((3, 4)), "shape (3, 4)"),
        (np.full((3, 3, 2), "a"), "<U1"),
        (np.zeros((1, 4, 2)), "at least 8 seeds"),
        (np.zeros((9, 1, 2)), "at least 2 datasets"),
        (np.zeros((9, 4, 0)), "at least one weight"),
        (np.full((9, 4, 2), np.nan), "36 runs that are not, the first at seed 0, dataset 0"),
        (
            np.where(np.arange(72).reshape(9, 4, 2) == 43, np.inf, 1.0),
            "1 runs that are not, the first at seed 5, dataset 1",
        ),
    ],
    ids=["table", "text", "one seed", "one dataset", "no weights", "missing", "diverged"],
)
def test_weights_that_are_no_ensemble_are_refused(weights, found):
    with pytest.raises(InvalidData) as caught:
        intrinsic.study(weights, **trained())
    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: intrinsic.sigma(ensemble()[0], "mode"), "pass one of median, mean"),
        (lambda: intrinsic.sigma_per_dataset(ensemble()[0], "mean"), '"per-weight"'),
        (lambda: intrinsic.study(ensemble()[0], **trained(estimator="mode")), "pass one of median"),
        (lambda: intrinsic.study(ensemble()[0], **trained(delta=0.0)), "delta above 0"),
        (lambda: intrinsic.study(ensemble()[0], **trained(smoothness=100.0)), "a smaller step"),
        (lambda: intrinsic.study(ensemble()[0], **trained(n_steps=0)), "n_steps"),
        (lambda: intrinsic.rigorous_sensitivity(9, 9, 1.0, 1.0, 3, last_batch="keep"), '"drop"'),
        (lambda: intrinsic.rigorous_sensitivity(9, 9, 1.0, 1.0, 10, last_batch="drop"), "smaller batch_size"),
        (lambda: intrinsic.theoretical_sensitivity(math.nan, 1.0, 1.0, 1), "passes"),
        (lambda: intrinsic.intrinsic_epsilon(-1.0, 1.0, 1e-5), "negative"),
        (lambda: intrinsic.intrinsic_epsilon(1.0, 1.0, 1.0), "delta above 0 and below 1"),
        (lambda: intrinsic.claim_2_bound(1, 2), "at least 3 rows"),
        (lambda: intrinsic.normality(ensemble()[0], datasets=0), "datasets=25"),
        (lambda: intrinsic.normality(ensemble()[0], level=5), "level=0.05"),
        (lambda: Bootstrap(replicates=10), "at least 80 replicates"),
        (lambda: Bootstrap(seed=-1), "seed=0"),
        (lambda: augmented.target_sigma(1.0, 0.0, 1e-5), "epsilon above 0"),
        (lambda: augmented.target_sigma(1.0, 1.0, 1e-5, rule="laplace"), '"gaussian"'),
        (lambda: augmented.augmenting_sigma(1.0, -1.0), "from 0 up"),
        (lambda: augmented.augment(np.zeros((2, 2, 2)), math.nan), "augmenting_sigma"),
        (lambda: credited(ensemble()[0], 0.1, draws=0), "draws=1"),
    ],
)
def test_parameters_out_of_range_are_refused_with_what_to_do(call, words):
    with pytest.raises(InvalidParameter) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: intrinsic.normality(ensemble(n_seeds=2)[0]), "at least 3 seeds"),
        (lambda: intrinsic.normality(np.ones((5, 2, 2))), "vary from seed to seed"),
        (lambda: intrinsic.anisotropy(np.ones((9, 2, 2)), 1e-5), "runs that differ"),
        (lambda: intrinsic.variability(ensemble()[0], ensemble(n_weights=5)[0]), "6 and 5 weights"),
        (lambda: intrinsic.norms_from_trace(np.ones((2, 3, 2, 2)), (1, 2), 0.1), "2 steps"),
        (lambda: intrinsic.norms_from_trace(np.ones((2, 2, 2, 2)), (2, 2), 0.1), "ascending"),
        (lambda: intrinsic.gradient_norms(np.ones((1, 3)), (1, 2, 3), 1.0), "two seeds"),
        (lambda: augmented.paired_test(np.ones(5)), "(seeds, runs)"),
        (lambda: augmented.augmenting_covariance(np.ones((2, 3)), 1.0), "symmetric"),
        (
            lambda: augmented.utility(
                ensemble()[0], lambda w: 0.5, sensitivity=1.0, sigma=0.1, epsilons=[1.0], delta=1e-5
            ),
            "10 finite numbers",
        ),
    ],
)
def test_data_of_another_shape_is_refused_with_what_was_found(call, words):
    with pytest.raises(InvalidData) as caught:
        call()
    assert words in str(caught.value)


def test_a_grid_of_two_by_two_still_has_intervals():
    runs, _ = ensemble(n_seeds=2, n_datasets=2)
    found = distances(runs, QUICK)
    assert all(math.isfinite(each.low) and math.isfinite(each.high) for _, each in figures(found))
    assert summarise_sigma(sigma_replicates(runs, np.ones((1, 2)), drawn=False), "median").shape == (1,)


LAB = Path(equipoise.lab.__file__).parent
MODULES = [
    LAB / f"{name}.py" for name in ["estimate", "epsilon", "sensitivity", "variability", "anisotropy", "intrinsic"]
]


@pytest.mark.parametrize("path", [*MODULES, Path(augmented.__file__)], ids=lambda path: path.stem)
def test_no_module_of_the_study_can_reach_a_certificate(path):
    tree = ast.parse(path.read_text("utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    ours = {module for module in imported if module.startswith("equipoise")}
    # A curve's arithmetic is no certificate's.
    arithmetic = {"equipoise.errors", "equipoise.planning.laws.gaussian"}
    assert all(each.startswith("equipoise.lab.") for each in ours - arithmetic)
    assert not any(module.split(".")[0] == "jax" for module in imported)
