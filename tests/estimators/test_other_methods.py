"""The caller's own algorithm inside the door: its certificate, what it is given, and what never leaves."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import equipoise as eq
from equipoise.certify.theorems.weighted import GraphConvolution, MultiTask, Ranking
from equipoise.errors import InvalidData, InvalidParameter, NoTheoremApplies, PrivateFailure, UnknownName
from equipoise.planning.laws import deviation_of
from equipoise.vocabulary.methods import ELSEWHERE, FORMS, method_named

CLASSES = eq.Domain(row_norm=1.0, classes=("no", "yes"))
LABELS = eq.Domain(row_norm=1.0, labels=(-1.0, 3.0), fill=0.25)
LOGISTIC = eq.Problem(eq.losses.named("logistic"), eq.penalties.named("l2", 0.1), CLASSES)
SQUARED = eq.Problem(eq.losses.named("squared"), eq.penalties.named("none", 0.0), LABELS)
BUDGET = eq.Budget(1.0)
# What is public about a row beside its position, and not protected, for the methods that know such a thing.
STRUCTURE = {kind.id: kind.structure for kind in (Ranking, MultiTask, GraphConvolution)}


def momentum(n: int) -> eq.Recipe:
    return eq.Recipe(passes=5, batch_size=n, step=0.1, method="heavy-ball:0.5")


def test_rows_reach_the_training_mapped_into_the_domain_and_targets_coded():
    seen = []

    def train(rows, targets):
        seen.append((rows, targets))
        return np.zeros(rows.shape[1])

    X = np.array([[3.0, 4.0], [0.1, np.nan], [np.inf, 0.2], [0.3, 0.1]])
    with_constant = eq.Problem(SQUARED.loss, SQUARED.penalty, LABELS, intercept=0.5)
    eq.release_method(train, X, [7.0, np.nan, 0.0, -9.0], with_constant, momentum(4), BUDGET, random_state=0)
    rows, targets = seen.pop()
    np.testing.assert_allclose(rows, [[0.6, 0.8, 0.5], [0.1, 0.25, 0.5], [0.25, 0.2, 0.5], [0.3, 0.1, 0.5]])
    # Relative to the middle of the range, 1.
    np.testing.assert_allclose(targets, [2.0, 0.0, -1.0, -2.0])
    recipe = eq.Recipe(1e-6, method="bootstrap:1/3")
    eq.release_method(train, sparse.csr_array(X[[0, 3]]), ["yes", "?"], LOGISTIC, recipe, BUDGET, random_state=0)
    rows, targets = seen.pop()
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.3, 0.1]])
    np.testing.assert_array_equal(targets, [1.0, -1.0])
    # What it does to its rows is done to a copy.
    rows[:] = 9.0
    assert X[3, 0] == 0.3


def test_noise_of_the_certificates_law_is_added_and_nothing_else():
    X = np.random.default_rng(0).uniform(-0.5, 0.5, size=(50, 3))
    certificate = eq.plan_method(SQUARED, momentum(50), BUDGET, 50, 3, random_state=1)
    drawn = np.array(
        [
            eq.release_method(
                lambda rows, _: [1.0, np.nan, -np.inf], X, X[:, 0], SQUARED, momentum(50), BUDGET, random_state=seed
            ).weights
            for seed in range(400)
        ]
    )
    # Values that are no numbers become 0 by a public rule. 400 draws tell the mean to a twentieth of the deviation
    # and the deviation itself to 4 % (its kurtosis is below 6): six deviations of each are allowed.
    deviation = deviation_of(certificate.claim.noise)
    np.testing.assert_allclose(drawn.mean(0), [1.0, 0.0, 0.0], atol=0.3 * deviation)
    np.testing.assert_allclose(drawn.std(0), deviation, rtol=0.33)


@pytest.mark.parametrize(
    ("problem", "recipe", "numbers"),
    [
        (SQUARED, momentum(60), 2),
        (SQUARED, eq.Recipe(passes=5, batch_size=60, step=0.1, method="nesterov:0.5"), 2),
        (LOGISTIC, eq.Recipe(1e-6, method="multi-task:40/20"), 6),
        (LOGISTIC, eq.Recipe(1e-6, method="ranking"), 2),
        (LOGISTIC, eq.Recipe(1e-6, method="ranking:10/20/30"), 2),
        (LOGISTIC, eq.Recipe(1e-6, method="graph-convolution:3"), 2),
        (LOGISTIC, eq.Recipe(1e-6, method="bagging:6"), 2),
        (LOGISTIC, eq.Recipe(1e-6, method="bootstrap:3/9"), 2),
        (
            eq.Problem(LOGISTIC.loss, LOGISTIC.penalty, eq.Domain(1.0, classes=("no", "yes"), radius=3.0)),
            eq.Recipe(method="bagging:6/20"),
            20,
        ),
    ],
    ids=lambda value: value.method if isinstance(value, eq.Recipe) else "",
)
def test_every_method_with_a_theorem_has_a_conditional_certificate(problem, recipe, numbers):
    X = np.random.default_rng(0).uniform(-0.5, 0.5, size=(60, 2))
    y = X[:, 0] if problem is SQUARED else np.where(X[:, 0] > 0, "yes", "no")
    released = eq.release_method(lambda *_: np.zeros(numbers), X, y, problem, recipe, BUDGET)
    certificate = released.certificate
    assert released.weights.shape == (numbers,)
    assert (certificate.kind, certificate.grade) == ("method", "conditional")
    assert certificate.sensitivity == eq.bounds(problem, recipe, 60, 2)[0].sensitivity
    assert recipe.method in certificate.assumptions[0]
    assert f"docs/proofs/{certificate.theorem}.md" in certificate.assumptions[0]
    # Without sizes a record of a ranking may change its class.
    structure = None if recipe.method == "ranking" else STRUCTURE.get(method_named(recipe.method).name)
    assert certificate.assumptions[1:] == ((structure,) if structure else ())
    assert certificate.verify() == ()
    assert eq.Certificate.from_json(certificate.to_json()) == certificate
    planned = eq.plan_method(problem, recipe, BUDGET, 60, 2)
    assert (certificate.terms, certificate.claim, certificate.notes) == (planned.terms, planned.claim, planned.notes)


def test_what_is_public_about_a_row_and_not_protected_is_a_condition_of_the_bound():
    assert len(set(STRUCTURE.values()) - {""}) == 3
    for recipe, said in (
        ("ranking:20/40", STRUCTURE["ranking"]),
        ("multi-task:20/40", STRUCTURE["multi-task"]),
        ("graph-convolution:3", STRUCTURE["graph-convolution"]),
        ("ranking", None),
        ("bagging:6", None),
    ):
        (bound, *_) = eq.bounds(LOGISTIC, eq.Recipe(1e-6, method=recipe), 60)
        claims = [hypothesis.claim for hypothesis in bound.hypotheses]
        assert (said in claims) if said else not set(STRUCTURE.values()) & set(claims)


def test_without_that_condition_the_bound_for_public_classes_would_be_false():
    alpha, pairs = 5.0, 40 * 60
    problem = eq.Problem(eq.losses.named("hinge"), eq.penalties.named("l2", alpha), CLASSES)
    bound = eq.bounds(problem, eq.Recipe(method="ranking:40/60"), 100)[0].sensitivity

    def ranked(good, bad):
        """Return the minimiser in one dimension: no margin reaches 1, so that every pair pulls with its difference."""
        weight = np.subtract.outer(good, bad).sum() / (pairs * alpha)
        assert abs(weight) * 2 < 1
        return weight

    before = ranked(np.r_[1.0, -np.ones(39)], -np.ones(60))
    within = ranked(-np.ones(40), -np.ones(60))
    across = ranked(-np.ones(39), np.r_[1.0, -np.ones(60)])
    assert abs(before - within) == pytest.approx(bound)
    assert abs(before - across) > 1.6 * bound


class TrainingFailedError(Exception):
    pass


def failing(rows, targets):
    raise TrainingFailedError(f"a row: {rows[0]}")


@pytest.mark.parametrize(
    "train",
    [failing, lambda *_: np.zeros(3), lambda *_: "words", lambda *_: None],
    ids=["raises", "size", "text", "none"],
)
def test_what_fails_inside_says_nothing_about_rows(train):
    X = np.full((10, 2), 0.125)
    with pytest.raises(PrivateFailure) as caught:
        eq.release_method(train, X, X[:, 0], SQUARED, momentum(10), BUDGET)
    assert "125" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_warning_of_the_training_goes_no_further():
    def train(rows, targets):
        warnings.warn(f"a row: {rows[0]}", UserWarning, stacklevel=1)
        return np.log(np.zeros(2))

    X = np.full((10, 2), 0.125)
    with warnings.catch_warnings(action="error"):
        released = eq.release_method(train, X, X[:, 0], SQUARED, momentum(10), BUDGET)
    assert np.isfinite(released.weights).all()


def test_a_ledger_does_not_take_what_is_conditional(tmp_path):
    certificate = eq.plan_method(SQUARED, momentum(10), BUDGET, 10, 2)
    ledger = eq.Ledger(f"sqlite:///{tmp_path}/ledger.db#people")
    ledger.create(eq.Budget(5.0))
    with pytest.raises(eq.errors.EquipoiseError, match="conditional"):
        ledger.admit(certificate)
    assert ledger.balance().epsilon_left == 5.0


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"recipe": eq.Recipe()}, InvalidParameter, "release_solution"),
        ({"recipe": eq.Recipe(method="ranking")}, NoTheoremApplies, "ranking"),
        ({"recipe": eq.Recipe(method="swapout")}, NoTheoremApplies, "noise"),
        ({"problem": LOGISTIC, "recipe": eq.Recipe(method="bootstrap:2/5")}, InvalidParameter, "tolerance"),
        ({"problem": LOGISTIC, "recipe": eq.Recipe(1e-6, method="bagging:2/5")}, NoTheoremApplies, "radius"),
        ({"mechanism": "objective"}, UnknownName, "spherical-laplace"),
        ({"problem": "squared"}, InvalidParameter, "eq.Problem"),
        ({"budget": 1.0}, InvalidParameter, "Budget"),
        ({"train": 7}, InvalidParameter, "function"),
        ({"train": lambda rows: rows[0]}, InvalidParameter, "two arguments"),
        ({"train": lambda rows, targets, step: rows[0]}, InvalidParameter, "missing a required argument"),
        ({"X": np.array([["a", "b"]] * 10)}, InvalidData, "number"),
        ({"y": [0.0] * 9}, InvalidData, "10"),
        ({"random_state": -1}, InvalidParameter, "random_state"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_remedy_and_before_the_training(changes, error, words):
    called = []
    asked = {"train": lambda *_: called.append(1), "X": np.zeros((10, 2)), "y": [0.0] * 10, "problem": SQUARED,
             "recipe": momentum(10), "budget": BUDGET} | changes  # fmt: skip
    with pytest.raises(error, match=words):
        eq.release_method(**asked)
    assert not called


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_algorithms_that_are_asked_for_elsewhere_say_where(name):
    assert name not in FORMS
    with pytest.raises(InvalidParameter, match="leave method out"):
        eq.Recipe(method=name)


@pytest.mark.parametrize("text", ["bagging:3/0", "bagging:3/4/5", "bagging:3/1.5"])
def test_numbers_that_no_part_can_answer_with_are_refused(text):
    with pytest.raises(InvalidParameter, match="PARTS/NUMBERS"):
        eq.Recipe(method=text)


def test_minimisers_answer_with_weights_alone():
    found = {bound.theorem: bound for bound in eq.bounds(LOGISTIC, eq.Recipe(1e-6, method="bagging:6/20"), 60)}
    assert found["bagging.minimisers"].value is None
    assert "bagging:6" in found["bagging.minimisers"].missing[0].remedy
