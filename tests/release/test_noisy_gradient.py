"""Noisy gradient descent: what one row can move, how much noise every step carries, and how often it is paid for."""

import itertools
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse, stats

import equipoise as eq
from equipoise.certify.certificate import Certificate
from equipoise.certify.curves import GaussianCurve
from equipoise.certify.sampled import SampledGaussianCurve
from equipoise.data.rows import coded_targets, row_source
from equipoise.data.tables import feature_table, target_column
from equipoise.errors import BudgetImpossible, InvalidParameter, NoTheoremApplies
from equipoise.noise import ExactSource, NoiseSource, SeededSource
from equipoise.release import release
from equipoise.release.carriers.noisy_gradient import NoisyGradientCarrier
from equipoise.release.job import Job, Task
from equipoise.solve.losses import arrays_of
from equipoise.solve.objective import Objective
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.facts import Problem

Array = NDArray[np.float64]

TWO = eq.Domain(row_norm=1.5, classes=(0, 1))
FOUR = eq.Domain(row_norm=1.5, classes=(0, 1, 2, 3))
LABELS = eq.Domain(row_norm=1.5, labels=(-1.0, 3.0))
MODELS = {
    "logistic": (eq.LogisticRegression, TWO, {}),
    "multinomial:4": (eq.LogisticRegression, FOUR, {}),
    "huber": (eq.HuberRegressor, LABELS, {}),
    "smooth-hinge": (eq.LinearSVC, TWO, {"loss": "smooth-hinge"}),
    "squared": (eq.Ridge, LABELS, {}),
}
FORMS = {"dense": np.asarray, "csr": sparse.csr_array}
BATCHES = {"all rows": "noisy-gradient", "batches of 3": "noisy-gradient:3"}
ROWS, COLUMNS, CHANGED = 7, 3, 2
CASES = list(itertools.product(MODELS, FORMS, BATCHES))


def model(loss: str, **parameters: object):
    """Return an estimator with this loss whose noise is seeded, unless told otherwise."""
    kind, domain, extra = MODELS[loss]
    standard = {"epsilon": 1.0, "delta": 1e-5, "domain": domain, "mechanism": "noisy-gradient", "random_state": 0}
    return kind(**{**standard, **extra, **parameters})


def planned(loss: str, n_samples: int = ROWS, n_features: int = COLUMNS, **parameters: object) -> Certificate:
    return model(loss, **parameters).plan(n_samples, n_features)


class Scripted(NoiseSource):
    """Writes down what it is given and answers by a script, so that two runs see the same weights at every step."""

    def __init__(self, script: Array, seed: int) -> None:
        self.script = script
        self.generator = np.random.default_rng(seed)
        self.inputs: list[Array] = []
        self.scales: list[float] = []
        self.subsets: list[NDArray[np.intp]] = []

    @property
    def seeded(self) -> bool:
        return True

    def add(self, law: str, weights: Array, scale: float) -> Array:
        assert law == "gaussian", "another law than planned"
        self.inputs.append(weights.copy())
        self.scales.append(scale)
        return self.script[len(self.inputs) - 1]

    def subset(self, count: int, size: int) -> NDArray[np.intp]:
        self.subsets.append(np.sort(self.generator.choice(count, size=size, replace=False)))
        return self.subsets[-1]


class Recorded(SeededSource):
    """Seeded noise, with what came in and what went out."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.pairs: list[tuple[Array, Array]] = []
        self.scales: set[float] = set()

    def add(self, law: str, weights: Array, scale: float) -> Array:
        assert law == "gaussian", "another law than planned"
        released = super().add(law, weights, scale)
        self.pairs.append((weights.copy(), released))
        self.scales.add(scale)
        return released


def carried_out(certificate: Certificate, X: object, y: Array, source: NoiseSource) -> Array:
    return release(certificate, feature_table(X), target_column(y, len(y)), source).weights


def targets(loss: str, generator: np.random.Generator, count: int) -> Array:
    if losses.named(loss).task == "regression":
        return generator.choice([-1.0, 3.0, 1.0, 0.2, 2.5, np.nan, 1e300], size=count)
    # One label more than there are classes, which counts as the first.
    return generator.integers(0, len(MODELS[loss][1].classes) + 1, size=count).astype(float)


def script(certificate: Certificate, generator: np.random.Generator, towards: Array) -> Array:
    """Return released gradients that carry the weights near and far, at random and along a given row."""
    claim = certificate.claim
    outputs, steps = claim.problem.loss.free_outputs, claim.steps
    shape = steps, outputs, claim.noise.dimension // outputs
    answers = generator.normal(size=shape)
    along = generator.normal(size=(steps, outputs, 1)) * towards
    answers = np.where(generator.uniform(size=(steps, 1, 1)) < 0.5, along, answers)
    return (answers * np.exp(generator.uniform(-4, 6, size=(steps, 1, 1)))).reshape(steps, -1)


# A row far away, the same row turned round and the same row with another label: each of them twice, or four times.
@pytest.mark.parametrize("seeds", [6, pytest.param(12, marks=pytest.mark.statistics)])
@pytest.mark.parametrize(("loss", "form", "batch"), CASES)
def test_one_row_never_moves_a_released_gradient_by_more_than_the_certificate_says(loss, form, batch, seeds):
    certificate = planned(loss, mechanism=BATCHES[batch])
    largest = 0.0
    for seed in range(seeds):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(ROWS, COLUMNS)) * np.exp(generator.uniform(-2, 3, size=(ROWS, 1)))
        X[0, 0], X[1, 1], X[3] = np.nan, -np.inf, 1e300
        y = targets(loss, generator, ROWS)
        other_X, other_y = X.copy(), y.copy()
        # A row far away, the same row turned round, or the same row with another label.
        other_X[CHANGED] = (-X[CHANGED], generator.normal(size=COLUMNS) * 9, X[CHANGED])[seed % 3]
        other_y[CHANGED] = y[CHANGED] if seed % 3 == 0 else targets(loss, generator, 1)[0]
        towards = np.append(X[CHANGED] / np.linalg.norm(X[CHANGED]), 0.0)
        answers = script(certificate, generator, towards)
        first, second = (Scripted(answers, seed) for _ in range(2))
        carried_out(certificate, FORMS[form](X), y, first)
        carried_out(certificate, FORMS[form](other_X), other_y, second)
        moved = np.linalg.norm(np.array(first.inputs) - np.array(second.inputs), axis=1)
        assert moved.max() <= certificate.sensitivity
        largest = max(largest, float(moved.max()))
        if first.subsets:
            np.testing.assert_array_equal(first.subsets, second.subsets)
            absent = [CHANGED not in subset for subset in first.subsets]
            assert moved[absent].max() <= 1e-12 * certificate.sensitivity
    assert largest > 0.7 * certificate.sensitivity


@pytest.mark.parametrize(("loss", "form", "batch"), CASES)
def test_the_sensitivity_is_reached_in_every_step(loss, form, batch, witness):
    certificate = planned(loss, mechanism=BATCHES[batch], fit_intercept=False)
    X, y = np.zeros((ROWS, COLUMNS)), np.full(ROWS, 3.0 if losses.named(loss).task == "regression" else 1.0)
    # A row turned round, at weights that the script leaves at zero.
    X[CHANGED, 0] = 1.5
    answers = np.zeros((certificate.claim.steps, certificate.claim.noise.dimension))
    first, second = (Scripted(answers, 0) for _ in range(2))
    carried_out(certificate, FORMS[form](X), y, first)
    carried_out(certificate, FORMS[form](-X), y, second)
    moved = np.linalg.norm(np.array(first.inputs) - np.array(second.inputs), axis=1)
    if first.subsets:
        moved = moved[[CHANGED in subset for subset in first.subsets]]
        assert 0 < len(moved) < len(first.subsets)
    witness("C5", certificate.sensitivity, moved.min(), f"{loss}, {batch}, least of all steps")
    assert moved.min() >= 0.999999 * certificate.sensitivity
    assert moved.max() <= certificate.sensitivity


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("loss", MODELS)
def test_every_gradient_gets_noise_of_the_certificate_s_scale(loss, batch):
    certificate = planned(loss, 60, mechanism=BATCHES[batch])
    generator = np.random.default_rng(1)
    source = Recorded(1)
    carried_out(certificate, generator.normal(size=(60, COLUMNS)), targets(loss, generator, 60), source)
    assert source.scales == {certificate.noise_scale}
    noise = np.concatenate([released - given for given, released in source.pairs]) / certificate.noise_scale
    assert noise.size == certificate.claim.steps * certificate.claim.noise.dimension
    # Two-sided, one chance in 10^6 each for the standard deviation, the mean and the law.
    tails = stats.chi2.ppf([5e-7, 1 - 5e-7], noise.size)
    assert tails[0] <= float(noise @ noise) <= tails[1]
    assert abs(noise.mean()) * math.sqrt(noise.size) < 4.9
    assert stats.kstest(noise, "norm").pvalue > 1e-6


HOSTILE = {
    "zeros": np.zeros((20, COLUMNS)),
    "nothing finite": np.full((20, COLUMNS), np.nan),
    "infinite": np.full((20, COLUMNS), np.inf),
    "huge": np.full((20, COLUMNS), -1e300),
    "separable": np.repeat([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], 10, axis=0),
    "tiny": np.full((20, COLUMNS), 5e-324),
}


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("loss", MODELS)
def test_the_number_of_noisy_gradients_is_planned_and_no_data_changes_it(loss, batch):
    certificate = planned(loss, 20, mechanism=BATCHES[batch])
    steps = certificate.claim.steps
    assert steps > 1
    for X, target in itertools.product(HOSTILE.values(), (0.0, 1.0, np.nan, np.inf)):
        source = Recorded(0)
        weights = carried_out(certificate, X, np.full(20, target), source)
        assert len(source.pairs) == steps
        assert np.isfinite(weights).all()


BUDGETS = {"small": (0.1, 1e-7), "middle": (1.0, 1e-5), "large": (8.0, 1e-6), "no epsilon to speak of": (1e-3, 1e-2)}


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("loss", MODELS)
def test_all_steps_together_meet_the_budget_and_less_noise_would_not(loss, budget):
    epsilon, delta = BUDGETS[budget]
    certificate = planned(loss, 500, epsilon=epsilon, delta=delta)
    mu = math.sqrt(certificate.claim.steps) * certificate.sensitivity / certificate.noise_scale
    assert certificate.theorem == "C5"
    assert certificate.mechanism == "gaussian"
    assert GaussianCurve(mu).delta(epsilon) <= delta
    assert GaussianCurve(mu / 0.99).delta(epsilon) > delta
    curve, claim = certificate.curve(), certificate.claim
    assert curve.delta(epsilon) <= delta < curve.delta(epsilon / 2)
    for place in (epsilon / 2, epsilon, 2 * epsilon):
        assert curve.delta(place) == pytest.approx(GaussianCurve(mu).delta(place), rel=1e-9)
    # Nothing but the clip, the row norm and n is in the sensitivity, up to rounding.
    least = 2 * claim.clip * claim.constants.row_norm / 500
    assert certificate.sensitivity == pytest.approx(least, rel=1e-6)
    assert certificate.sensitivity > least


@pytest.mark.parametrize("budget", ["middle", "large"])
@pytest.mark.parametrize("size", [1, 64, 499])
def test_batches_are_priced_by_the_curve_of_their_share_steps_and_multiplier(size, budget):
    epsilon, delta = BUDGETS[budget]
    certificate = planned("logistic", 500, epsilon=epsilon, delta=delta, mechanism=f"noisy-gradient:{size}")
    claim = certificate.claim
    assert (certificate.theorem, claim.batch, claim.steps) == ("C3", size, math.ceil(20 * 500 / size))
    assert certificate.sensitivity == pytest.approx(2 * claim.clip * claim.constants.row_norm / size, rel=1e-6)
    multiplier = certificate.noise_scale / certificate.sensitivity
    curve = SampledGaussianCurve(multiplier, size / 500, claim.steps)
    assert curve.delta(epsilon) <= delta * (1 + 1e-9)
    assert multiplier > 1 / 16
    assert SampledGaussianCurve(multiplier * 0.99, size / 500, claim.steps).delta(epsilon) > delta
    for place in (epsilon / 2, epsilon, 2 * epsilon):
        assert certificate.curve().delta(place) == pytest.approx(curve.delta(place), rel=1e-6)
    assert certificate.curve().delta(epsilon) <= delta


def test_a_batch_of_all_rows_pays_as_all_rows():
    certificate = planned("logistic", 500, mechanism="noisy-gradient:500")
    plain = planned("logistic", 500, mechanism="noisy-gradient")
    assert certificate.theorem == "C5"
    assert certificate.claim == plain.claim


# Beyond it, steps make an error along the most curved direction grow.
STABLE = 2.0


@pytest.mark.parametrize("size", ["", ":20", ":100", ":400"])
@pytest.mark.parametrize("loss", MODELS)
def test_steps_are_short_enough_for_the_most_curved_direction(loss, size):
    certificate = planned(loss, 400, epsilon=20.0, mechanism=f"noisy-gradient{size}")
    claim = certificate.claim
    curved = claim.constants.smoothness + claim.alpha
    assert claim.procedure.step * curved <= STABLE * (1 + claim.procedure.momentum)


def batches_of(monkeypatch, kind: type, **parameters: object) -> list[tuple[int, ...]]:
    """Return the batches that one fit draws from this kind of source."""
    drawn: list[tuple[int, ...]] = []
    original = kind.subset

    def subset(self, count, size):
        chosen = original(self, count, size)
        drawn.append(tuple(chosen.tolist()))
        return chosen

    with monkeypatch.context() as patch:
        patch.setattr(kind, "subset", subset)
        model("logistic", mechanism="noisy-gradient:5", **parameters).fit(np.eye(40, 2), np.arange(40) % 2)
    return drawn


def test_batches_come_from_the_secret_source_and_not_from_the_public_seed(monkeypatch):
    first, second = (batches_of(monkeypatch, ExactSource, random_state=None, public_seed=3) for _ in range(2))
    assert len(first) == len(second) == 160
    # Two equal sequences have a chance of 658008^-160.
    assert first != second
    for batch in (*first, *second):
        assert len(set(batch)) == 5
        assert list(batch) == sorted(batch)
        assert 0 <= batch[0] <= batch[-1] < 40
    # Batches are fresh in every step, and every row turns up.
    assert len(set(first)) > 150
    assert {row for batch in first for row in batch} == set(range(40))
    seeded = [batches_of(monkeypatch, SeededSource, random_state=7, public_seed=seed) for seed in (0, 1)]
    assert seeded[0] == seeded[1]
    assert seeded[0] != batches_of(monkeypatch, SeededSource, random_state=8, public_seed=0)


@pytest.mark.parametrize("parameter", ["0", "2.5", "10000000", "-3", "0.999999", "201"])
def test_a_batch_that_is_no_number_of_rows_is_refused_with_a_remedy(parameter):
    with pytest.raises(InvalidParameter, match=r"whole batch size from 1 to n = 200.*to do: write noisy-gradient:256"):
        planned("logistic", 200, mechanism=f"noisy-gradient:{parameter}")


@pytest.mark.parametrize("parameter", ["nan", "inf", "-inf", "1e400"])
def test_a_batch_that_is_no_finite_number_is_refused_with_a_remedy(parameter):
    with pytest.raises(InvalidParameter, match="to do: write noisy-gradient"):
        planned("logistic", 200, mechanism=f"noisy-gradient:{parameter}")


@pytest.mark.parametrize("text", ["noisy-gradient:x", "noisy-gradient:", "noisy-gradient:3:4", "noisy-gradient:0x10"])
def test_a_batch_that_does_not_parse_is_refused_with_a_remedy(text):
    with pytest.raises(InvalidParameter, match="to do: write noisy-gradient:NUMBER"):
        planned("logistic", 200, mechanism=text)


def test_pure_privacy_is_refused_with_a_remedy():
    for mechanism in ("noisy-gradient", "noisy-gradient:20"):
        with pytest.raises(BudgetImpossible, match="delta > 0, or mechanism='objective'"):
            planned("logistic", 200, delta=0.0, mechanism=mechanism)


@pytest.mark.parametrize("delta", ["2^-500", "2^-499", "1e-200"])
@pytest.mark.parametrize("batch", BATCHES)
def test_a_delta_below_what_the_lattice_costs_is_refused_with_a_remedy(batch, delta):
    number = 2.0 ** float(delta[2:]) if "^" in delta else float(delta)
    with pytest.raises(BudgetImpossible, match=r"to do: .*delta"):
        planned("logistic", 200, delta=number, mechanism=BATCHES[batch])


def test_a_delta_just_above_what_the_lattice_costs_is_met():
    assert planned("logistic", 200, delta=1e-140).curve().delta(1.0) <= 1e-140


def test_kinked_losses_and_penalties_are_refused_with_a_remedy():
    for mechanism in ("noisy-gradient", "noisy-gradient:20"):
        with pytest.raises(NoTheoremApplies, match="use a smooth loss, such as smooth-hinge"):
            eq.LinearSVC(delta=1e-5, domain=TWO, loss="hinge", mechanism=mechanism).fit(
                np.eye(30, 2), np.arange(30) % 2
            )
        with pytest.raises(NoTheoremApplies, match="use an L2 penalty, or mechanism='output'"):
            eq.ElasticNet(delta=1e-5, domain=LABELS, mechanism=mechanism).fit(np.eye(30, 2), np.arange(30) % 2)


@pytest.mark.parametrize("radius", [None, 0.3, 5.0])
@pytest.mark.parametrize("loss", MODELS)
def test_every_point_where_a_gradient_is_taken_lies_in_the_ball(loss, radius, monkeypatch):
    certificate = planned(loss, 25, domain=replace(MODELS[loss][1], radius=radius))
    ball = certificate.claim.constants.radius
    assert certificate.claim.radius == ball
    assert radius in (None, ball)
    visited = []
    original = Objective.clipped_gradient

    def recording(self, weights, *others):
        visited.append(float(np.linalg.norm(weights)))
        return original(self, weights, *others)

    monkeypatch.setattr(Objective, "clipped_gradient", recording)
    generator = np.random.default_rng(0)
    # Answers so large that every step ends on the sphere, and ordinary noise.
    wild = script(certificate, generator, np.append(np.ones(COLUMNS), 0.0)) * 1e6
    X, y = generator.normal(size=(25, COLUMNS)), targets(loss, generator, 25)
    for source in (Scripted(wild, 0), SeededSource(0)):
        weights = carried_out(certificate, X, y, source)
        assert np.linalg.norm(weights) <= ball * (1 + 1e-12)
    assert len(visited) == 2 * certificate.claim.steps
    assert max(visited) <= ball * (1 + 1e-12)
    assert max(visited) >= ball * (1 - 1e-12)


@pytest.mark.parametrize("average", ["last", "uniform"])
@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("loss", MODELS)
def test_what_is_released_follows_from_the_noisy_gradients_and_the_procedure(loss, momentum, average):
    certificate = planned(loss, 25)
    procedure = replace(certificate.claim.procedure, momentum=momentum, average=average)
    claim = replace(certificate.claim, procedure=procedure, steps=17)
    problem = claim.problem
    generator = np.random.default_rng(2)
    X, y = generator.normal(size=(25, COLUMNS)), targets(loss, generator, 25)
    source = Recorded(2)
    with np.errstate(all="ignore"):
        rows = row_source(X, problem.domain, problem.intercept)
        coded = coded_targets(y, problem, problem.domain.classes or ())
        job = Job(certificate.terms, feature_table(X), target_column(y, 25), problem.domain.classes or (), source)
        found = NoisyGradientCarrier().weights(Task(claim, rows, coded, job))
    # Only what was released enters from here on.
    weights, speed, iterates = np.zeros(found.shape), np.zeros(found.shape), []
    for _, released in source.pairs:
        speed = momentum * speed + released.reshape(found.shape) + claim.alpha * weights
        weights = weights - procedure.step * speed
        weights = weights * min(1.0, claim.radius / np.linalg.norm(weights))
        iterates.append(weights)
    assert len(iterates) == 17
    expected = weights if average == "last" else np.mean(iterates, axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("chosen", ["all rows", "0 3 4 9"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", MODELS)
def test_a_clipped_gradient_is_the_mean_of_rows_gradients_each_clipped(loss, form, chosen, monkeypatch):
    monkeypatch.setattr("equipoise.data.rows.BLOCK_ROWS", 4)
    monkeypatch.setattr("equipoise.data.view_heights.BLOCK_ROWS", 4)
    generator = np.random.default_rng(3)
    member, domain = losses.named(loss), MODELS[loss][1]
    places = np.arange(10) if chosen == "all rows" else np.array(chosen.split(), dtype=np.intp)
    X = generator.normal(size=(10, COLUMNS))
    X[1, 0], X[4, 2], X[9, 1] = np.nan, np.inf, 1e300
    problem = Problem(member, penalties.named("l2", 1.0), domain, 0.4)
    with np.errstate(all="ignore"):
        coded = coded_targets(targets(loss, generator, 10), problem, domain.classes or ())
        rows = row_source(FORMS[form](X), domain, 0.4)
        table = np.vstack([block.copy() for block, _ in row_source(X, domain, 0.4).blocks()])
    for clip in (1e-3, 0.3, 1.0, 50.0):
        weights = 3 * generator.normal(size=(member.outputs, COLUMNS + 1))
        with np.errstate(all="ignore"):
            found = Objective(member, problem.penalty, rows, coded).clipped_gradient(
                weights, clip, places if chosen != "all rows" else None
            )
        terms = []
        for place in places:
            scores = (weights @ table[place])[None, :] if member.outputs > 1 else table[place : place + 1] @ weights[0]
            slope = np.atleast_1d(arrays_of(member).slope(scores, coded[place : place + 1]).squeeze())
            terms.append(np.outer(slope * clip / max(clip, np.linalg.norm(slope)), table[place]))
            assert np.linalg.norm(terms[-1]) <= clip * problem.row_norm * (1 + 1e-12)
        np.testing.assert_allclose(found, np.mean(terms, axis=0), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("loss", MODELS)
def test_no_value_raises_or_warns_and_sparse_rows_are_dense_ones(loss, batch):
    generator = np.random.default_rng(4)
    X = generator.normal(size=(30, COLUMNS)) * (generator.uniform(size=(30, COLUMNS)) < 0.6)
    X[0], X[1, 0], X[2, 1], X[3, 2], X[4] = np.nan, np.inf, -np.inf, 1e300, [1e308, -1e308, 1e308]
    X[5], X[6] = 5e-324, 0.0
    y = targets(loss, generator, 30)
    y[7:12] = [np.nan, np.inf, -np.inf, 1e308, -1e308]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dense, csr = (
            model(loss, mechanism=BATCHES[batch], domain=replace(MODELS[loss][1], fill=0.25)).fit(form(X), y)
            for form in FORMS.values()
        )
    assert dense.certificate_.digest == csr.certificate_.digest
    assert np.isfinite(dense.coef_).all()
    np.testing.assert_allclose(csr.coef_, dense.coef_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(csr.intercept_, dense.intercept_, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("loss", MODELS)
def test_a_certificate_is_read_back_and_verified(loss, batch):
    certificate = planned(loss, 300, mechanism=BATCHES[batch])
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.verify() == ()
    claim = certificate.claim
    for unsafe, words in (
        # The search for a batch's noise ends within a thousandth.
        (replace(claim, noise=replace(claim.noise, scale=claim.scale * 0.99)), "delta"),
        (replace(claim, steps=math.ceil(claim.steps * 1.02)), "delta"),
        (replace(claim, clip=claim.clip * 1.001), "bounds a gradient's change"),
        (replace(claim, sensitivity=claim.sensitivity * 0.999), "bounds a gradient's change"),
        (replace(claim, noise=replace(claim.noise, dimension=1)), "numbers have noise"),
    ):
        assert any("digest" in fault for fault in replace(certificate, claim=unsafe).verify())
        faults = Certificate.seal(certificate.terms, unsafe, certificate.notes).verify()
        assert len(faults) == 1
        assert words in faults[0]


@pytest.mark.parametrize("loss", MODELS)
def test_with_a_generous_budget_the_descent_learns(loss):
    generator = np.random.default_rng(6)
    X = generator.normal(size=(3000, COLUMNS))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True) / 1.5)
    scores = X @ generator.normal(size=(COLUMNS, 4))
    if losses.named(loss).task == "regression":
        y = 1 + scores[:, 0] / np.abs(scores[:, 0]).max()
        fitted = model(loss, epsilon=20.0).fit(X, y)
        assert np.abs(fitted.predict(X) - y).mean() < 0.3 * np.abs(y - y.mean()).mean()
        return
    y = scores[:, : max(2, len(MODELS[loss][1].classes))].argmax(axis=1)
    assert (model(loss, epsilon=20.0).fit(X, y).predict(X) == y).mean() > 0.85
