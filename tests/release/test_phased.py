"""Phased localisation: disjoint phases of halving sizes, noise in proportion to steps, and corners that are solved."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize

import equipoise as eq
from equipoise.certify.certificate import Certificate
from equipoise.certify.curves import LargestCurve
from equipoise.data.tables import feature_table, target_column
from equipoise.noise import SeededSource
from equipoise.planning.laws import deviation_of, known
from equipoise.release import release
from equipoise.release.carriers import phased as carrier
from equipoise.solve.losses import arrays_of
from equipoise.vocabulary import losses

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
LABELS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))

MODELS = {
    "logistic": (eq.PhasedClassifier, {"domain": CLASSES}),
    "smooth-hinge": (eq.PhasedClassifier, {"domain": CLASSES, "loss": "smooth-hinge"}),
    "hinge": (eq.PhasedClassifier, {"domain": CLASSES, "loss": "hinge"}),
    "squared": (eq.PhasedRegressor, {"domain": LABELS}),
    "huber": (eq.PhasedRegressor, {"domain": LABELS, "loss": "huber"}),
    "absolute": (eq.PhasedRegressor, {"domain": LABELS, "loss": "absolute"}),
}
every_loss = pytest.mark.parametrize("loss", MODELS)
SMOOTH = ("logistic", "smooth-hinge", "squared", "huber")


def made(loss: str, **changes):
    kind, parameters = MODELS[loss]
    return kind(**{"random_state": 0, **parameters, **changes})


def phases(loss: str, n_samples: int, **changes):
    return made(loss, **changes).plan(n_samples, 2).claim.phases


# --- the plan ---------------------------------------------------------------------------------------------------------


@every_loss
@pytest.mark.parametrize("n_samples", [2, 3, 100, 1023, 1024])
def test_phases_halve_their_rows_and_quarter_their_steps(loss, n_samples):
    found = phases(loss, n_samples, step=0.5)
    assert [phase.rows for phase in found] == [n_samples >> i for i in range(1, n_samples.bit_length())]
    assert sum(phase.rows for phase in found) <= n_samples - 1
    for number, phase in enumerate(found, start=1):
        assert phase.step == pytest.approx(0.5 * 4.0**-number, rel=1e-12)


@every_loss
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_every_phase_has_the_whole_budget_and_noise_in_proportion_to_its_step(loss, delta):
    certificate = made(loss, step=0.5, delta=delta).plan(200, 2)
    found = certificate.claim.phases
    law = known(certificate.mechanism)
    for phase in found:
        scale = law.scale_for(phase.sensitivity, certificate.claim.noise.dimension, eq.Budget(1.0, delta))
        assert phase.noise_scale == pytest.approx(scale, rel=1e-9)
        # A solver's tolerance is at most 4 % of the sensitivity (L3), and rounding less.
        assert phase.noise_scale / phase.step == pytest.approx(found[0].noise_scale / found[0].step, rel=0.05)


@every_loss
def test_the_sensitivity_is_the_diameter_times_the_step(loss):
    certificate = made(loss, step=0.5, clip=None).plan(200, 2)
    diameter = certificate.claim.constants.gradient_diameter
    for phase in certificate.claim.phases:
        assert diameter * phase.step * (1 - 1e-9) <= phase.sensitivity <= 1.045 * diameter * phase.step
        if loss in SMOOTH:
            assert (phase.alpha, phase.tolerance) == (0.0, 0.0)
        else:
            assert phase.alpha == pytest.approx(1 / (phase.step * phase.rows))
            assert phase.tolerance > 0


def test_the_curve_is_the_largest_of_the_phases_and_nothing_adds_up():
    certificate = made("logistic", step=0.5, delta=1e-6).plan(200, 2)
    curve = certificate.claim.curve()
    assert isinstance(curve, LargestCurve)
    assert len(curve.parts) == len(certificate.claim.phases) == 7
    for epsilon in (0.2, 1.0, 2.0):
        assert curve.delta(epsilon) == max(part.delta(epsilon) for part in curve.parts)
    assert 0.99e-6 < curve.delta(1.0) <= 1e-6


def test_a_clip_lowers_the_noise_in_proportion():
    plain, clipped = (phases("logistic", 100, step=0.5, clip=clip)[0].noise_scale for clip in (None, 0.05))
    assert clipped < 0.2 * plain


def test_pure_phases_have_pure_noise():
    assert made("hinge").plan(100, 2).mechanism in ("laplace", "spherical-laplace")
    pure, approximate = (
        deviation_of(made("hinge", step=0.5, delta=delta).plan(100, 30).claim.noise) for delta in (0.0, 1e-6)
    )
    assert approximate < 0.9 * pure
    assert made("hinge").plan(100, 2).curve().delta(1.0) == 0


@every_loss
def test_a_phase_on_the_unsafe_side_is_noticed_whoever_sealed_it(loss):
    certificate = made(loss, step=0.5).plan(200, 2)
    claim = certificate.claim
    for number in (0, 3):
        phase = claim.phases[number]
        for words, changes in {
            "bounds the sensitivity": {"sensitivity": phase.sensitivity / 2},
            "delta(": {"noise_scale": phase.noise_scale * 0.999},
            # As many rows more as make two phases share some.
            "rows": {"rows": phase.rows + 200 - sum(entry.rows for entry in claim.phases) + 1},
        }.items():
            phases = (*claim.phases[:number], replace(phase, **changes), *claim.phases[number + 1 :])
            # The noise that is named is that of the first phase.
            altered = replace(claim, phases=phases, noise=replace(claim.noise, scale=phases[0].noise_scale))
            faults = Certificate.seal(certificate.terms, altered, certificate.notes).verify()
            assert any(words in fault for fault in faults), (number, words)


# --- the run ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch):
    """Return a function that fits a model and says what each phase saw and found."""

    def fitted(loss: str, X, y, **changes):
        seen = []
        for name in ("_descended", "_around"):
            plain = getattr(carrier, name)

            def noted(task, phase, places, start, persons, plain=plain):
                found = plain(task, phase, places, start, persons)
                seen.append((phase, places.copy(), start.copy(), found.copy()))
                return found

            monkeypatch.setattr(carrier, name, noted)
        model = made(loss, **changes).fit(X, y)
        monkeypatch.undo()
        return model, seen

    return fitted


def table(loss: str, n_samples: int = 100):
    coins = np.random.default_rng(0)
    X = coins.normal(size=(n_samples, 2))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    targets = X @ [0.8, -0.4]
    return X, ((targets > 0).astype(int) if MODELS[loss][1]["domain"] is CLASSES else targets)


@every_loss
def test_no_row_is_in_two_phases_and_the_public_seed_deals_them(loss, run):
    X, y = table(loss)
    orders = []
    for seed in (0, 0, 1):
        _, seen = run(loss, X, y, public_seed=seed, random_state=seed + 5)
        places = np.concatenate([entry[1] for entry in seen])
        assert len(places) == len(set(places)) == 50 + 25 + 12 + 6 + 3 + 1
        assert [len(entry[1]) for entry in seen] == [50, 25, 12, 6, 3, 1]
        orders.append(places)
    np.testing.assert_array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])


@every_loss
def test_rows_that_no_phase_meets_change_nothing(loss, run):
    X, y = table(loss)
    model, seen = run(loss, X, y)
    used = np.concatenate([entry[1] for entry in seen])
    unused = np.setdiff1d(np.arange(100), used)
    assert len(unused) == 3
    X[unused] *= -1
    np.testing.assert_array_equal(made(loss).fit(X, y).coef_, model.coef_)
    X[used[0]] *= -1
    assert not np.array_equal(made(loss).fit(X, y).coef_, model.coef_)


@every_loss
def test_a_phase_starts_in_the_ball_where_the_last_was_released(loss, run):
    X, y = table(loss)
    model, seen = run(loss, X, y, epsilon=0.01, step=3.0)
    radius = model.certificate_.claim.constants.radius
    assert not seen[0][2].any()
    for before, after in itertools.pairwise(seen):
        start, found = after[2], before[3]
        assert np.linalg.norm(start) <= radius * (1 + 1e-12)
        assert not np.array_equal(start, found)
    # Phases that descend stay in the ball themselves; minimisers go no further than their ridge lets them.
    for phase, _, start, found in seen:
        reach = radius if loss in SMOOTH else np.linalg.norm(start) + 1.5 / phase.alpha
        assert np.linalg.norm(found) <= reach * (1 + 1e-9)


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_phases_with_corners_end_within_their_tolerance(loss, run):
    coins = np.random.default_rng(1)
    X = coins.uniform(-1, 1, size=(200, 1))
    y = coins.integers(2, size=200) if loss == "hinge" else coins.uniform(-1, 1, size=200)
    codes = np.where(y == 1, 1.0, -1.0) if loss == "hinge" else y
    _, seen = run(loss, X, y, fit_intercept=False, step=30.0, epsilon=3.0)
    assert len(seen) == 7
    arrays = arrays_of(losses.named(loss))
    for phase, places, start, found in seen:
        rows, targets = X[places, 0], codes[places]

        def objective(weight, rows=rows, targets=targets, phase=phase, start=start):
            return arrays.value(rows * weight, targets).mean() + phase.alpha / 2 * (weight - start[0]) ** 2

        reach = 1.5 / phase.alpha
        best = scipy.optimize.minimize_scalar(
            objective, bounds=(start[0] - reach, start[0] + reach), method="bounded", options={"xatol": 1e-12}
        ).x
        # The search itself is right to the root of the rounding of its values.
        assert abs(found[0] - best) <= phase.tolerance / phase.alpha + 1e-6 * max(1.0, reach)


@every_loss
def test_one_row_moves_its_phase_no_further_than_its_sensitivity(loss, run):
    X, y = table(loss, 60)
    _, first = run(loss, X, y, step=2.0)
    place = 0
    for number in range(len(first)):
        row = int(first[number][1][place])
        other = X.copy()
        other[row] *= -1
        _, second = run(loss, other, y, step=2.0)
        # Phases before the row's are the same, and so is its start: the noise is seeded.
        for before, after in zip(first[:number], second[:number], strict=True):
            np.testing.assert_array_equal(before[3], after[3])
        np.testing.assert_array_equal(first[number][2], second[number][2])
        moved = float(np.linalg.norm(first[number][3] - second[number][3]))
        assert 0 < moved <= first[number][0].sensitivity


def test_models_learn_in_one_pass():
    coins = np.random.default_rng(0)
    X = coins.normal(size=(20_000, 3))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    scores = X @ [2.0, -1.0, 0.5]
    for loss in ("logistic", "hinge"):
        model = made(loss, epsilon=2.0).fit(X, (scores > 0).astype(int))
        assert model.score(X, (scores > 0).astype(int)) > 0.85
    targets = np.clip(scores / 3, -1, 1)
    assert made("squared", epsilon=5.0).fit(X, targets).score(X, targets) > 0.3


def test_noise_is_drawn_once_a_phase_and_never_shared():
    drawn = []

    class Noted(SeededSource):
        def add(self, law, weights, scale):
            assert law == certificate.mechanism
            drawn.append(scale)
            return super().add(law, weights, scale)

    X, y = table("logistic")
    certificate = made("logistic").plan(100, 2)
    release(certificate, feature_table(X), target_column(y, 100), Noted(0))
    assert drawn == [phase.noise_scale for phase in certificate.claim.phases]
