"""Releases of sums of products: what one row can move of them, what is done with noisy sums, and who may ask."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

import equipoise as eq
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Claim
from equipoise.certify.claims.sums import coefficient_sensitivity, joint_sensitivity
from equipoise.data.rows import row_source
from equipoise.data.tables import feature_table, target_column
from equipoise.errors import BudgetImpossible, InvalidParameter, NoTheoremApplies
from equipoise.noise import NoiseSource, SeededSource
from equipoise.release import release
from equipoise.solve.products import products, symmetric

Array = NDArray[np.float64]

KINDS = ("sufficient-statistics", "functional")
LABELS = eq.Domain(row_norm=1.5, labels=(-1.0, 3.0))
FORMS = {"dense": np.asarray, "csr": sparse.csr_array}


class Overheard(NoiseSource):
    """Writes down the sums and adds nothing to them, or replaces them."""

    def __init__(self, answer: Array | None = None) -> None:
        self.answer = answer
        self.law, self.sums, self.scale = "", np.zeros(0), 0.0

    @property
    def seeded(self) -> bool:
        return True

    def add(self, law: str, weights: Array, scale: float) -> Array:
        self.law, self.sums, self.scale = law, weights.copy(), scale
        return weights if self.answer is None else self.answer

    def subset(self, count: int, size: int) -> NDArray[np.intp]:
        raise AssertionError("no release of sums draws batches")


def planned(kind: str, shape: tuple[int, int], **parameters: object) -> Certificate:
    standard = {"epsilon": 1.0, "delta": 1e-5, "domain": LABELS, "mechanism": kind, "random_state": 0}
    return eq.Ridge(**{**standard, **parameters}).plan(*shape)


def carried_out(certificate: Certificate, X: object, y: Array, source: NoiseSource) -> Array:
    return release(certificate, feature_table(X), target_column(y, len(y)), source).weights[0]


def inside(raw: Array, row_norm: float) -> Array:
    """Return a point of the closed ball for every vector, the sphere included."""
    return raw * row_norm / max(1.0, float(np.linalg.norm(raw)))


def joint_change(raw: Array, row_norm: float, label_bound: float, weight: float) -> float:
    """Return the L2 change of ``(x x', t y x)`` for a pair of rows and targets, written as free numbers."""
    columns = len(raw) // 2 - 1
    x, z = inside(raw[:columns], row_norm), inside(raw[columns:-2], row_norm)
    y, u = label_bound * np.clip(raw[-2:], -1, 1)
    squares = np.linalg.norm(np.outer(x, x) - np.outer(z, z))
    return math.hypot(float(squares), weight * float(np.linalg.norm(y * x - u * z)))


def coefficient_change(raw: Array, row_norm: float, label_bound: float) -> float:
    """Return the L1 change of the coefficients of all monomials of ``(<w, x> - y)^2`` but the constant."""
    columns = len(raw) // 2 - 1
    x, z = inside(raw[:columns], row_norm), inside(raw[columns:-2], row_norm)
    y, u = label_bound * np.clip(raw[-2:], -1, 1)
    # A cross coefficient is 2 x_j x_l, one for each pair, so the entries of the whole matrix count it once.
    return float(np.abs(np.outer(x, x) - np.outer(z, z)).sum() + 2 * np.abs(y * x - u * z).sum())


def searched(change, columns: int, starts: int) -> float:
    """Return the largest change that random pairs find, and climbing from the best of them."""
    generator = np.random.default_rng(columns)
    pairs = generator.normal(size=(400, 2 * columns + 2)) * np.exp(generator.uniform(-2, 2, size=(400, 1)))
    values = np.array([change(pair) for pair in pairs])
    best = float(values.max())
    for place in np.argsort(values)[len(values) - starts :]:
        climbed = minimize(
            lambda raw: -change(raw), pairs[place], method="Nelder-Mead", options={"maxiter": 1500, "adaptive": True}
        )
        best = max(best, -float(climbed.fun))
    return best


WEIGHTS = [0.01, 0.5, 1.0, 1.3, 2.0, 3.0, 50.0]


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("sizes", ["1 1", "2 0.5"])
def test_the_joint_sensitivity_is_never_exceeded_and_reached(weight, sizes):
    row_norm, label_bound = map(float, sizes.split())
    claimed = joint_sensitivity(row_norm, label_bound, weight)
    found = searched(lambda raw: joint_change(raw, row_norm, label_bound, weight), 2, 2)
    assert 0.999 * claimed <= found <= claimed
    # More columns are no help: the widest pair spans a plane.
    assert searched(lambda raw: joint_change(raw, row_norm, label_bound, weight), 5, 1) <= claimed


@pytest.mark.parametrize("weight", WEIGHTS)
def test_the_joint_sensitivity_is_reached_at_its_cosine(weight, witness):
    cosine = min(1.0, weight**2 / 2)
    pair = np.array([1.0, 0.0, cosine, math.sqrt(1 - cosine**2), 1.0, -1.0])
    witness("SSP", joint_sensitivity(1.0, 1.0, weight), joint_change(pair, 1.0, 1.0, weight), f"weight {weight:g}")
    assert joint_change(pair, 1.0, 1.0, weight) == pytest.approx(joint_sensitivity(1.0, 1.0, weight), rel=1e-12)


# The share of the claim that rows of norm 1 and targets up to 1 reach: squares have one sign, so they cannot all change
# by twice their size at once.
REACHED = {1: 0.66, 2: 0.73, 3: 0.73, 6: 0.69}


@pytest.mark.parametrize("columns", REACHED)
def test_the_coefficient_sensitivity_is_never_exceeded(columns):
    for row_norm, label_bound in ((1.0, 1.0), (0.3, 2.0), (2.0, 0.1)):
        claimed = coefficient_sensitivity(row_norm, label_bound, columns)
        found = searched(lambda raw, b=row_norm, y=label_bound: coefficient_change(raw, b, y), columns, 2)
        assert found <= claimed
        if row_norm == label_bound:
            assert found >= REACHED[columns] * claimed


def test_the_coefficient_sensitivity_is_reached_where_targets_rule(witness):
    # Tiny rows: only the linear coefficients count, and they change sign with the target.
    for columns in (1, 4, 9):
        pair = np.concatenate([np.full(2 * columns, 1 / math.sqrt(columns)), [1.0, -1.0]])
        attained, claimed = coefficient_change(pair, 1e-6, 1.0), coefficient_sensitivity(1e-6, 1.0, columns)
        witness("E7", claimed, attained, f"{columns} columns, targets rule")
        assert 0.99999 <= attained / claimed <= 1


def naive_sums(table: Array, targets: Array) -> tuple[Array, Array]:
    squares, moments = np.zeros((table.shape[1], table.shape[1])), np.zeros(table.shape[1])
    for row, target in zip(table, targets, strict=True):
        squares += np.outer(row, row)
        moments += target * row
    return squares, moments


def clipped(X: Array, intercept: float) -> Array:
    """Return rows filled, clipped and with their constant column."""
    filled = np.where(np.isfinite(X), X, LABELS.fill)
    largest = np.maximum(np.abs(filled).max(axis=1, keepdims=True), 1.0)
    norms = np.linalg.norm(filled / largest, axis=1, keepdims=True)
    rows = filled / np.maximum(1.0, norms * (largest / LABELS.row_norm))
    return np.column_stack([rows, np.full(len(X), intercept)]) if intercept > 0 else rows


@pytest.mark.parametrize("intercept", [0.0, 0.7])
@pytest.mark.parametrize("form", FORMS)
def test_sums_of_products_are_the_naive_sums(form, intercept, monkeypatch):
    monkeypatch.setattr("equipoise.data.rows.BLOCK_ROWS", 16)
    generator = np.random.default_rng(0)
    X = generator.normal(size=(50, 4)) * (generator.uniform(size=(50, 4)) < 0.6)
    X[3], X[20, 1], X[21, 0], X[49] = np.nan, np.inf, 1e300, 40.0
    targets = generator.uniform(-2, 2, size=50)
    with np.errstate(all="ignore"):
        found = products(row_source(FORMS[form](X), LABELS, intercept), targets)
    for entry, expected in zip(found, naive_sums(clipped(X, intercept), targets), strict=True):
        np.testing.assert_allclose(entry, expected, rtol=1e-12, atol=1e-13)


def test_a_triangle_is_unfolded_into_its_symmetric_matrix():
    generator = np.random.default_rng(0)
    for size in (1, 2, 5):
        matrix = generator.normal(size=(size, size))
        matrix += matrix.T
        np.testing.assert_array_equal(symmetric(matrix[np.triu_indices(size)], size), matrix)


def released_sums(kind: str, squares: Array, moments: Array, weight: float) -> Array:
    """Return the vector that gets noise: one entry a monomial, or an isometric image of matrix and vector."""
    upper = np.triu_indices(len(squares))
    cross = upper[0] != upper[1]
    if kind == "functional":
        return np.concatenate([squares[upper] * np.where(cross, 2.0, 1.0), -2 * moments])
    return np.concatenate([squares[upper] * np.where(cross, math.sqrt(2), 1.0), weight * moments])


def weight_of(claim: Claim) -> float:
    """Return what sums with the target are multiplied by; coefficients are what they are."""
    return getattr(claim, "moment_weight", 1.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_gets_noise_are_the_sums_and_one_row_moves_them_by_no_more_than_claimed(kind, form):
    certificate = planned(kind, (30, 3))
    claim, norm = certificate.claim, 1 if kind == "functional" else 2
    claimed = certificate.bounds[0].value
    largest = 0.0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(30, 3)) * np.exp(generator.uniform(-1, 2, size=(30, 1)))
        X[0, 0], X[1, 2] = np.nan, 1e300
        y = generator.uniform(-3, 5, size=30)
        y[5] = np.inf
        other_X, other_y = X.copy(), y.copy()
        X[8], other_X[8] = generator.normal(size=(2, 3)) * 9
        y[8], other_y[8] = -1.0, 3.0
        sums = []
        for table, target in ((X, y), (other_X, other_y)):
            source = Overheard()
            carried_out(certificate, FORMS[form](table), target, source)
            assert (source.law, source.scale) == (certificate.mechanism, certificate.noise_scale)
            centred = np.clip(np.where(np.isfinite(target), target - 1.0, 0.0), -2.0, 2.0)
            naive = naive_sums(clipped(table, certificate.claim.problem.intercept), centred)
            expected = released_sums(kind, *naive, weight_of(claim))
            np.testing.assert_allclose(source.sums, expected, rtol=1e-11, atol=1e-11)
            sums.append(source.sums)
        moved = float(np.linalg.norm(sums[0] - sums[1], ord=norm))
        assert moved <= claimed
        largest = max(largest, moved)
    assert largest > (0.4 if kind == "functional" else 0.85) * claimed


def test_the_sums_sensitivity_is_reached_through_the_door():
    certificate = planned("sufficient-statistics", (30, 3), fit_intercept=False)
    X, other = np.zeros((30, 3)), np.zeros((30, 3))
    # Rows and targets weigh the same there, so that the widest angle has cosine 1/2.
    X[4], other[4] = [1.5, 0.0, 0.0], [0.75, 1.5 * math.sqrt(0.75), 0.0]
    sums = []
    for table, target in ((X, 3.0), (other, -1.0)):
        source = Overheard()
        carried_out(certificate, table, np.full(30, target), source)
        sums.append(source.sums)
    ratio = np.linalg.norm(sums[0] - sums[1]) / certificate.sensitivity
    assert 0.99999 <= ratio <= 1


def ordinary(X: Array, y: Array, certificate: Certificate, alpha: float) -> tuple[Array, float]:
    """Return coefficients and intercept of the ridge that the estimator documents, by solving its equations."""
    table = clipped(X, certificate.claim.problem.intercept)
    squares, moments = naive_sums(table, y - 1.0)
    weights = np.linalg.solve(squares / len(X) + alpha / 2 * np.eye(len(moments)), moments / len(X))
    return weights[: X.shape[1]], 1.0 + certificate.claim.problem.intercept * float(weights[-1])


@pytest.mark.parametrize("alpha", [1e-9, 0.1])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_to_speak_of_the_fit_is_the_ordinary_one(kind, form, alpha):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(400, 3))
    y = np.clip(1.2 + clipped(X, 0.0) @ [0.5, -0.3, 0.2] + 0.1 * generator.normal(size=400), -1.0, 3.0)
    model = eq.Ridge(epsilon=1e13, alpha=alpha, domain=LABELS, mechanism=kind, random_state=0)
    model.fit(FORMS[form](X), y)
    coefficients, intercept = ordinary(X, y, model.certificate_, alpha)
    np.testing.assert_allclose(model.coef_, coefficients, atol=1e-8)
    assert model.intercept_ == pytest.approx(intercept, abs=1e-8)
    if alpha < 1e-6:
        table = np.column_stack([clipped(X, 0.0), np.ones(400)])
        plain = np.linalg.lstsq(table, y, rcond=None)[0]
        np.testing.assert_allclose(np.append(model.coef_, model.intercept_), plain, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_shrinks_as_epsilon_grows(kind):
    generator = np.random.default_rng(2)
    X = generator.normal(size=(2000, 3))
    y = np.clip(1.2 + clipped(X, 0.0) @ [0.5, -0.3, 0.2], -1.0, 3.0)
    errors = []
    for epsilon in (0.01, 1.0, 100.0, 1e4):
        fits = [
            eq.Ridge(epsilon=epsilon, alpha=1e-9, domain=LABELS, mechanism=kind, random_state=seed).fit(X, y)
            for seed in range(9)
        ]
        errors.append(np.median([np.linalg.norm(fit.coef_ - [0.5, -0.3, 0.2]) for fit in fits]))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01 * errors[0]


# Matrices as noise can leave them: definite, singular, with some or all eigenvalues negative.
SPECTRA = {
    "definite": [900.0, 500.0, 400.0, 300.0],
    "singular": [900.0, 500.0, 0.0, 0.0],
    "nearly singular": [900.0, 500.0, 1e-9, -1e-9],
    "indefinite": [900.0, 5.0, -40.0, -300.0],
    "negative": [-1.0, -5.0, -40.0, -9000.0],
    "zero": [0.0, 0.0, 0.0, 0.0],
}


@pytest.mark.parametrize("alpha", [1e-6, 2.0])
@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("kind", KINDS)
def test_the_solution_follows_from_noisy_sums_and_stays_in_the_ball(kind, spectrum, alpha):
    certificate = planned(kind, (300, 3), alpha=alpha)
    procedure = certificate.claim.procedure
    generator = np.random.default_rng(3)
    for size in (1e-3, 1.0, 1e6):
        basis = np.linalg.qr(generator.normal(size=(4, 4)))[0]
        squares = basis @ np.diag(SPECTRA[spectrum]) @ basis.T
        squares = (squares + squares.T) / 2
        moments = 300 * size * generator.normal(size=4)
        answer = released_sums(kind, squares, moments, weight_of(certificate.claim))
        found = carried_out(certificate, np.zeros((300, 3)), np.zeros(300), Overheard(answer))
        values, vectors = np.linalg.eigh(squares / 300)
        if kind == "functional":
            curved = values + procedure.ridge + alpha / 2
            keep = curved > 0
            expected = vectors[:, keep] @ (vectors[:, keep].T @ (moments / 300) / curved[keep])
        else:
            ridge = max(alpha / 2, procedure.ridge - values.min())
            assert ridge >= alpha / 2 > 0
            # What the ridge makes of the matrix is definite, by at least the size of its noise.
            assert (values + ridge).min() >= procedure.ridge * (1 - 1e-9)
            expected = np.linalg.solve(squares / 300 + ridge * np.eye(4), moments / 300)
        norm = np.linalg.norm(expected)
        expected = expected * min(1.0, procedure.radius / norm) if norm > 0 else expected
        assert np.linalg.norm(found) <= procedure.radius * (1 + 1e-12)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("radius", [None, 0.2])
@pytest.mark.parametrize("kind", KINDS)
def test_released_weights_stay_in_the_ball_under_heavy_noise(kind, radius):
    domain = replace(LABELS, radius=radius)
    for seed, epsilon in itertools.product(range(10), (1e-6, 0.1, 10.0)):
        certificate = planned(kind, (40, 3), domain=domain, epsilon=epsilon)
        assert radius in (None, certificate.claim.procedure.radius)
        assert certificate.claim.procedure.ridge > 0
        generator = np.random.default_rng(seed)
        weights = carried_out(
            certificate, generator.normal(size=(40, 3)), generator.uniform(-1, 3, size=40), SeededSource(seed)
        )
        assert np.linalg.norm(weights) <= certificate.claim.procedure.radius * (1 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_raises_or_warns(kind):
    hostile = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0]
    for first, second in itertools.product(hostile, repeat=2):
        X, y = np.full((12, 3), first), np.full(12, second)
        for form in FORMS.values():
            model = eq.Ridge(delta=1e-5, domain=LABELS, mechanism=kind, random_state=0).fit(form(X), y)
            assert np.isfinite(model.coef_).all()


OTHERS = {
    "logistic": lambda kind: eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), mechanism=kind),
    "huber": lambda kind: eq.HuberRegressor(domain=LABELS, mechanism=kind),
    "hinge": lambda kind: eq.LinearSVC(domain=eq.Domain(1.0, classes=(0, 1)), loss="hinge", mechanism=kind),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("kind", KINDS)
def test_other_losses_are_refused_with_a_remedy(kind, other):
    with pytest.raises(NoTheoremApplies, match="to do: use Ridge, or mechanism='objective'"):
        OTHERS[other](kind).plan(100, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_other_penalties_too_many_columns_and_parameters_are_refused_with_a_remedy(kind):
    with pytest.raises(NoTheoremApplies, match="to do: use an L2 penalty, or mechanism='output'"):
        eq.ElasticNet(domain=LABELS, mechanism=kind).plan(100, 3)
    # With the constant column 630 columns have 199,395 sums, and 631 have 200,027.
    assert planned(kind, (100, 629)).claim.noise.dimension == 199_395
    with pytest.raises(NoTheoremApplies, match="to do: use fewer columns, or mechanism='objective'"):
        planned(kind, (100, 630))
    with pytest.raises(InvalidParameter, match=f"to do: write mechanism='{kind}'"):
        planned(f"{kind}:3", (100, 3))


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_certificate_is_read_back_and_verified_and_meets_the_budget(kind, delta):
    certificate = planned(kind, (100, 3), delta=delta)
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.verify() == ()
    assert certificate.curve().delta(1.0) <= delta
    claim = certificate.claim
    for unsafe, words in (
        (replace(claim, noise=replace(claim.noise, scale=claim.scale * 0.999)), "delta("),
        (replace(claim, noise=replace(claim.noise, dimension=claim.noise.dimension - 1)), "numbers have noise"),
        (replace(claim, sensitivity=claim.sensitivity * 0.999), "bounds the sums' change"),
        (replace(claim, problem=replace(claim.problem, intercept=2.0)), "bounds the sums' change"),
    ):
        faults = Certificate.seal(certificate.terms, unsafe, certificate.notes).verify()
        assert any(words in fault for fault in faults)
    assert certificate.theorem == {"functional": "E7", "sufficient-statistics": "SSP"}[kind]
    if kind == "functional":
        level = certificate.bounds[0].value / certificate.noise_scale
        assert certificate.mechanism == "laplace"
        assert 1 - 1e-12 < level <= 1


@pytest.mark.parametrize("size", ["1e-100", "1e-70", "1e-30", "1e30", "1e70", "1e100"])
@pytest.mark.parametrize("kind", KINDS)
def test_extreme_units_are_planned_with_noise_that_can_be_drawn_or_refused_with_a_remedy(kind, size):
    domain = eq.Domain(float(size), labels=(-float(size), float(size)))
    try:
        certificate = planned(kind, (100, 3), alpha=1e-3, domain=domain)
    except (BudgetImpossible, InvalidParameter):
        return
    # The samplers' proofs (D1, D2, D3) reach this far.
    assert 2.0**-400 <= certificate.noise_scale <= 2.0**400
