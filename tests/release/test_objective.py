"""Objective perturbation from plan to certificate: what is planned, solved, released, verified and explained."""

import dataclasses
import json
import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as PlainLogistic

import equipoise as eq
from equipoise.certify.certificate import Certificate
from equipoise.certify.laws import named as law_named
from equipoise.certify.theorems import perturbations
from equipoise.certify.theorems.perturbation import answer
from equipoise.data.rows import Rows
from equipoise.errors import EquipoiseError, InvalidParameter, NoTheoremApplies, UnknownName
from equipoise.noise import SeededSource, source
from equipoise.planning import kinds
from equipoise.planning.issue import asked_for, issue
from equipoise.planning.kinds.objective import FINISHING_SHARES
from equipoise.planning.laws import deviation_of
from equipoise.planning.menu import NEGLIGIBLE, Choice
from equipoise.planning.notes import Notes
from equipoise.planning.reference import RESOLUTION
from equipoise.planning.request import Request
from equipoise.release.carriers import objective as carrier
from equipoise.solve import solvers
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Target
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.constants import constants
from equipoise.vocabulary.facts import Problem

CLASSES = eq.Domain(row_norm=1.0, classes=(0, 1))
LABELS = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
BALL = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0), radius=1.5)
FOUR = eq.Domain(row_norm=1.0, classes=(0, 1, 2, 3))

MODELS = {
    "logistic": lambda **given: eq.LogisticRegression(domain=CLASSES, **given),
    "multinomial": lambda **given: eq.LogisticRegression(domain=FOUR, **given),
    "smooth hinge": lambda **given: eq.LinearSVC(domain=CLASSES, loss="smooth-hinge", **given),
    "huber": lambda **given: eq.HuberRegressor(domain=LABELS, **given),
    "squared": lambda **given: eq.Ridge(domain=LABELS, **given),
    "squared in a ball": lambda **given: eq.Ridge(domain=BALL, **given),
}
BUDGETS = {"pure": (1.0, 0.0), "approximate": (1.0, 1e-5), "loose": (5.0, 1e-3)}

ROWS, COLUMNS = 400, 3


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    X = generator.uniform(-0.6, 0.6, size=(ROWS, COLUMNS))
    score = 1.2 * X[:, 0] - X[:, 1] + 0.1 * generator.normal(size=ROWS)
    if name == "multinomial":
        return X, np.digitize(score, [-0.5, 0.0, 0.5])
    return X, (score > 0).astype(int) if name in ("logistic", "smooth hinge") else np.clip(score, -1, 1)


every_model = pytest.mark.parametrize("name", MODELS)
every_budget = pytest.mark.parametrize("budget", BUDGETS)


def planned(name: str, budget: str, **given: object) -> Certificate:
    epsilon, delta = BUDGETS[budget]
    given = {"mechanism": "objective", "random_state": 3, **given}
    return MODELS[name](epsilon=epsilon, delta=delta, **given).plan(ROWS, COLUMNS)


def menu_of(certificate: Certificate) -> tuple[Choice, ...]:
    return Notes.of(certificate).menu


def clip_of(certificate: Certificate) -> float | None:
    """Return the largest slope of a row where slopes were clipped: a descent clips, or the loss is a clipped form."""
    claim = certificate.claim
    loss, asked = claim.problem.loss, losses.named(asked_for(certificate).loss)
    if loss == asked:
        return getattr(claim, "clip", None)
    return loss.slope_bound(math.inf, claim.problem.domain.label_bound)


# --- the whole way ----------------------------------------------------------------------------------------------------


@every_model
@every_budget
def test_plan_fit_verify_and_the_journey_through_json(name, budget):
    certificate = planned(name, budget)
    assert certificate.kind == "objective"
    assert certificate.theorem.endswith("+E4")
    assert certificate.sensitivity is None
    assert certificate.verify() == ()
    assert Certificate.from_json(certificate.to_json()) == certificate
    epsilon, delta = BUDGETS[budget]
    X, y = table(name)
    model = MODELS[name](epsilon=epsilon, delta=delta, mechanism="objective", random_state=3).fit(X, y)
    assert model.certificate_.digest == certificate.digest
    assert model.certificate_.verify() == ()
    assert np.all(np.isfinite(model.coef_))
    assert np.all(np.isfinite(model.predict(X)))


@every_model
@every_budget
def test_the_claim_is_what_the_curve_and_the_finishing_share_add_up_to(name, budget):
    certificate = planned(name, budget)
    claim = certificate.claim
    setting, law = claim.setting(), law_named(certificate.mechanism)
    theorem = perturbations()[certificate.theorem.removesuffix("+E4")]()
    inner = theorem.curve(setting, law, certificate.noise_scale)
    rest = certificate.epsilon - claim.finishing_epsilon
    shares = [share * certificate.epsilon for share in FINISHING_SHARES]
    assert any(claim.finishing_epsilon == pytest.approx(share, rel=1e-12) for share in shares)
    assert inner.delta(rest) <= certificate.delta
    # Not wasteful: two parts in a thousand less noise would be too little.
    assert theorem.curve(setting, law, 0.998 * certificate.noise_scale).delta(rest) > certificate.delta
    # The noise on top hides twice the solver's tolerance over the curvature.
    finisher = law_named("spherical-laplace")
    assert claim.finish.law == "spherical-laplace"
    slack = 2 * claim.tolerance / claim.constants.strong_convexity
    claimed = finisher.curve(slack, claim.noise.dimension, claim.finish.scale)
    assert claimed.delta(claim.finishing_epsilon) == 0.0
    curve, epsilon = certificate.curve(), certificate.epsilon
    assert curve.delta(epsilon) <= certificate.delta
    assert curve.delta(2 * epsilon) <= curve.delta(epsilon) <= curve.delta(epsilon / 2)


@every_model
def test_the_bounds_show_every_theorem_for_the_chosen_law_with_conditions_that_hold(name):
    certificate = planned(name, "approximate")
    about_rows = {theorem for theorem, member in perturbations().items() if "row" in member.units}
    assert {bound.theorem.removesuffix("+E4") for bound in certificate.bounds} == about_rows
    chosen = next(bound for bound in certificate.bounds if bound.theorem == certificate.theorem)
    assert chosen.applies
    assert chosen.value == certificate.noise_scale
    values = [bound.value for bound in certificate.bounds if bound.value is not None and bound.certifies]
    assert certificate.noise_scale <= min(values) * (1 + 1e-5)
    for bound in certificate.bounds:
        for hypothesis in bound.hypotheses:
            assert hypothesis.claim.strip()
            assert hypothesis.remedy.strip()


@every_model
def test_a_changed_number_of_the_claim_is_noticed(name):
    certificate = planned(name, "pure")
    record = json.loads(certificate.to_json())
    for field in ("finishing_epsilon", "tolerance", "radius"):
        altered = json.loads(json.dumps(record))
        altered["claim"][field] *= 0.5
        assert any("digest" in fault for fault in Certificate.from_json(json.dumps(altered)).verify())


@every_model
def test_a_number_on_the_unsafe_side_is_noticed_whoever_sealed_it(name):
    certificate = planned(name, "pure")
    claim = certificate.claim
    for words, changes in {
        "the finish hides 2 tau / alpha": (
            {"finishing_epsilon": claim.finishing_epsilon / 2},
            {"finish": dataclasses.replace(claim.finish, scale=claim.finish.scale / 2)},
            {"finish": dataclasses.replace(claim.finish, dimension=1)},
            {"tolerance": 2 * claim.tolerance},
        ),
        "delta(": ({"noise": dataclasses.replace(claim.noise, scale=0.998 * claim.scale)},),
        "numbers have noise": ({"noise": dataclasses.replace(claim.noise, dimension=1)},),
        "tau is large enough": ({"tolerance": claim.tolerance * 1e-12},),
        "the penalty is a ridge": (
            {"problem": dataclasses.replace(claim.problem, penalty=penalties.named("elastic-net:0.5", claim.alpha))},
        ),
    }.items():
        for change in changes:
            altered = dataclasses.replace(claim, **change)
            faults = Certificate.seal(certificate.terms, altered, certificate.notes).verify()
            assert any(words in fault for fault in faults), change


@every_model
@every_budget
def test_explain_shows_the_numbers_of_the_argument(name, budget):
    certificate = planned(name, budget)
    text, claim = certificate.explain(), certificate.claim
    shown = [
        claim.scale,
        deviation_of(claim.noise),
        claim.alpha,
        claim.tolerance,
        claim.finishing_epsilon,
        claim.finish.scale,
        claim.radius,
        claim.constants.gradient_diameter,
        *(bound.value for bound in certificate.bounds if bound.value is not None),
    ]
    for number in shown:
        assert f"{number:.6g}" in text
    assert certificate.theorem in text
    assert "noise in the objective" in text


def test_a_ball_that_was_declared_is_the_ball_of_the_weights():
    assert planned("squared in a ball", "pure", mechanism="objective:9").claim.radius == 1.5
    assert planned("squared", "pure").claim.radius > 1.5


# --- the weights ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [False, True])
def test_with_a_huge_epsilon_the_weights_are_those_of_scikit_learn(intercept):
    X, y = table("logistic")
    alpha = 0.02
    model = eq.LogisticRegression(
        epsilon=1e8, domain=CLASSES, alpha=alpha, mechanism="objective:1", fit_intercept=intercept, random_state=0
    ).fit(X, y)
    assert clip_of(model.certificate_) is None
    column = model.certificate_.claim.problem.intercept
    extended = np.hstack([X, np.full((ROWS, 1), column)]) if intercept else X
    plain = PlainLogistic(C=1 / (ROWS * alpha), fit_intercept=False, tol=1e-12, max_iter=10_000).fit(extended, y)
    released = np.append(model.coef_, model.intercept_ / column) if intercept else model.coef_.ravel()
    assert released == pytest.approx(plain.coef_.ravel(), abs=1e-5)


def test_with_a_huge_epsilon_clipped_slopes_give_the_clipped_minimiser():
    X, y = table("logistic")
    given = {"epsilon": 1e8, "domain": CLASSES, "alpha": 0.02, "fit_intercept": False, "random_state": 0}
    model = eq.LogisticRegression(mechanism="objective:0.25", **given).fit(X, y)
    assert model.certificate_.claim.problem.loss.name == "clipped-logistic:0.25"
    problem = Problem(losses.named("clipped-logistic:0.25"), penalties.named("l2", 0.02), CLASSES)
    objective = Objective(problem.loss, problem.penalty, Rows(X, CLASSES, 0.0), 2.0 * y - 1)
    assert np.linalg.norm(objective.gradient(model.coef_.ravel())) < 1e-6


# --- steep tilts ------------------------------------------------------------------------------------------------------


def tilted(loss: str, steepness: float, radius: float = 2.0) -> tuple[Objective, Target, float]:
    """Return an objective under a tilt of this multiple of what loss and ridge can answer."""
    member = losses.named(loss)
    domain = LABELS if member.task == "regression" else CLASSES
    problem = Problem(member, penalties.named("l2", 0.1), domain)
    facts = constants(problem, radius)
    generator = np.random.default_rng(11)
    rows = Rows(generator.uniform(-0.6, 0.6, size=(30, 3)), domain, 0.0)
    targets = generator.choice([-1.0, 1.0], size=30)
    direction = generator.normal(size=3)
    tilt = steepness * answer(facts) * direction / np.linalg.norm(direction)
    smoothness = facts.smoothness + 0.1
    target = Target(1e-9 * max(1.0, steepness), smoothness, 0.1, radius, radius, facts.row_norm, facts.label_bound)
    return Objective(member, problem.penalty, rows, targets, tilt=tilt), target, radius


@pytest.mark.parametrize("loss", ["logistic", "clipped-logistic:0.5", "huber:0.5", "squared"])
@pytest.mark.parametrize("steepness", [2.0**7, 2.0**10])
def test_the_fixed_point_agrees_with_the_solver_where_both_work(loss, steepness):
    objective, target, radius = tilted(loss, steepness)
    solved = solvers.suited(objective).solve(objective, target)
    fixed = carrier.on_the_sphere(objective, radius)
    assert np.linalg.norm(fixed) == pytest.approx(radius, rel=1e-12)
    assert fixed == pytest.approx(solved, abs=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("steepness", [2.0**11, 2.0**60, 2.0**300])
def test_the_fixed_point_is_the_minimiser_on_the_sphere(loss, steepness):
    # There the gradient points straight inwards.
    objective, _, radius = tilted(loss, steepness)
    weights = carrier.on_the_sphere(objective, radius)
    gradient = objective.gradient(weights)
    assert np.linalg.norm(weights) == pytest.approx(radius, rel=1e-12)
    assert gradient / np.linalg.norm(gradient) == pytest.approx(-weights / radius, abs=1e-12)


class SteepSource(SeededSource):
    """The first draw is the tilt, as long as it is told; the second, the finishing noise, is left out."""

    length = 0.0

    def __init__(self, seed):
        super().__init__(seed)
        self.drawn = 0

    def add(self, law, weights, scale):
        assert law == "spherical-laplace"
        self.drawn += 1
        if self.drawn > 1:
            return weights
        direction = np.arange(1.0, len(weights) + 1)
        return self.length * direction / np.linalg.norm(direction)


@pytest.mark.parametrize("name", ["logistic", "multinomial", "squared"])
@pytest.mark.parametrize(("share", "used"), [(0.99, False), (1.01, True), (1e12, True)])
def test_a_tilt_steeper_than_the_public_bound_is_left_to_the_fixed_point(name, share, used, monkeypatch):
    certificate = planned(name, "pure")
    facts = certificate.claim.constants
    calls = []
    genuine = carrier.on_the_sphere
    monkeypatch.setattr(carrier, "on_the_sphere", lambda *given: calls.append(1) or genuine(*given))
    monkeypatch.setattr(source, "SeededSource", SteepSource)
    monkeypatch.setattr(SteepSource, "length", share * carrier.STEEP * answer(facts) * ROWS)
    X, y = table(name)
    model = MODELS[name](mechanism="objective", random_state=3).fit(X, y)
    assert bool(calls) is used
    problem = model.certificate_.claim.problem
    constants_column = np.atleast_1d(model.intercept_ - problem.domain.label_centre) / problem.intercept
    weights = np.column_stack([np.atleast_2d(model.coef_), constants_column])
    assert np.linalg.norm(weights) == pytest.approx(facts.radius, rel=1e-9)


def test_an_ordinary_tilt_never_meets_the_fixed_point(monkeypatch):
    monkeypatch.setattr(carrier, "on_the_sphere", lambda *given: pytest.fail("zone 2 was entered"))
    X, y = table("logistic")
    for seed in range(20):
        eq.LogisticRegression(domain=CLASSES, mechanism="objective", random_state=seed).fit(X, y)


# --- alpha, clips and refusals ----------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_an_alpha_too_small_for_epsilon_is_refused_with_a_remedy(name, delta):
    model = MODELS[name](epsilon=0.5, delta=delta, alpha=1e-5, mechanism="objective")
    with pytest.raises(NoTheoremApplies, match="raise alpha or epsilon"):
        model.plan(100, COLUMNS)
    model.set_params(alpha=1.0).plan(100, COLUMNS)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 30.0])
def test_a_given_alpha_is_kept(alpha):
    assert planned("logistic", "loose", alpha=alpha).alpha == alpha


@pytest.mark.parametrize("clip", [0.25, 0.5, 0.9])
def test_the_number_after_the_colon_clips_slopes(clip):
    certificate = planned("logistic", "pure", mechanism=f"objective:{clip}")
    assert clip_of(certificate) == clip
    assert certificate.claim.problem.loss.name == f"clipped-logistic:{clip}"
    diameter = certificate.claim.constants.gradient_diameter
    assert diameter == pytest.approx(2 * clip * certificate.claim.constants.row_norm, rel=1e-6)
    assert f"{clip:g}" in certificate.explain()
    assert certificate.verify() == ()


def test_slopes_are_clipped_at_their_typical_size_unless_told_otherwise():
    assert clip_of(planned("logistic", "pure")) == 0.5
    assert clip_of(planned("squared", "pure")) == pytest.approx(1.0)
    for name, cap in (("logistic", "1"), ("smooth hinge", "1"), ("multinomial", "1.5")):
        assert clip_of(planned(name, "pure", mechanism=f"objective:{cap}")) is None


@pytest.mark.parametrize("text", ["objective:x", "objective:", "objective:1:2"])
def test_a_parameter_that_is_no_number_is_refused(text):
    with pytest.raises(UnknownName, match="write objective:NUMBER"):
        planned("logistic", "pure", mechanism=text)


@pytest.mark.parametrize("name", ["logistic", "huber", "squared", "multinomial", "smooth hinge"])
@pytest.mark.parametrize("text", ["objective:-1", "objective:0", "objective:nan", "objective:inf"])
def test_a_clip_that_is_not_positive_is_refused(name, text):
    with pytest.raises(InvalidParameter, match="clip > 0"):
        planned(name, "pure", mechanism=text)


@pytest.mark.parametrize("name", ["multinomial", "smooth hinge"])
def test_a_loss_that_cannot_be_clipped_there_says_so(name):
    with pytest.raises(InvalidParameter, match="leave the number out"):
        planned(name, "pure", mechanism="objective:0.5")


@pytest.mark.parametrize("alpha", ["public", 0.1])
def test_losses_with_corners_and_other_penalties_are_refused_with_a_remedy(alpha):
    hinge = eq.LinearSVC(domain=CLASSES, loss="hinge", alpha=alpha, mechanism="objective")
    net = eq.ElasticNet(domain=LABELS, alpha=alpha, mechanism="objective")
    with pytest.raises(NoTheoremApplies, match="L2 penalty"):
        net.plan(ROWS, COLUMNS)
    with pytest.raises(NoTheoremApplies, match="smooth loss"):
        hinge.plan(ROWS, COLUMNS)


# --- the automatic choice ---------------------------------------------------------------------------------------------

MENUS = {
    "logistic, pure": ("logistic", 1.0, 0.0, 2000, 5),
    "logistic": ("logistic", 1.0, 1e-5, 2000, 5),
    "logistic, many rows": ("logistic", 8.0, 1e-6, 10_000_000, 3),
    "multinomial": ("multinomial", 1.0, 1e-5, 2000, 5),
    "smooth hinge": ("smooth hinge", 1.0, 0.0, 500, 20),
    "huber": ("huber", 1.0, 1e-5, 2000, 5),
    "squared": ("squared", 1.0, 1e-5, 2000, 5),
    "squared, pure": ("squared", 0.5, 0.0, 2000, 30),
    "squared in a ball": ("squared in a ball", 1.0, 1e-5, 2000, 5),
    "squared, many rows": ("squared", 4.0, 1e-5, 10_000_000, 3),
}


def chosen(name: str) -> Certificate:
    model, epsilon, delta, n_samples, n_features = MENUS[name]
    return MODELS[model](epsilon=epsilon, delta=delta, mechanism="auto").plan(n_samples, n_features)


# Menus that have another way to look at, or none; the others repeat one of them with other numbers.
FEW_MENUS = ("logistic, pure", "multinomial", "squared", "squared in a ball", "squared, many rows")


every_menu = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FEW_MENUS else pytest.mark.statistics) for name in MENUS]
)


@every_menu
def test_the_choice_has_the_smallest_cost_or_bends_nothing_at_a_negligible_one(name):
    certificate = chosen(name)
    served = [choice for choice in menu_of(certificate) if choice.theorem]
    refused = [choice for choice in menu_of(certificate) if not choice.theorem]
    taken = [choice for choice in served if choice.verdict.startswith("taken")]
    assert len(taken) == 1
    assert (taken[0].kind, taken[0].theorem, taken[0].law, taken[0].alpha, taken[0].clip) == (
        certificate.kind,
        certificate.theorem,
        certificate.mechanism,
        certificate.alpha,
        clip_of(certificate),
    )
    assert taken[0].cost == Notes.of(certificate).cost
    costs = [choice.cost for choice in served]
    assert costs == sorted(costs)
    assert all(math.isfinite(cost) and cost > 0 for cost in costs)
    unbent = [choice.cost for choice in served if choice.clip is None and choice.cost <= NEGLIGIBLE]
    if unbent:
        assert taken[0].clip is None
        assert taken[0].cost <= NEGLIGIBLE
    else:
        # Within what the model can tell apart, and then objective perturbation comes first.
        assert taken[0].cost <= min(costs) + RESOLUTION
        near = [choice.kind for choice in served if choice.cost <= min(costs) + RESOLUTION]
        assert taken[0].kind == "objective" or "objective" not in near
    assert {choice.kind for choice in menu_of(certificate)} == {
        kind for kind, planner in kinds.named().items() if planner.minimises
    }
    for choice in refused:
        assert choice.verdict.startswith("refused: ")
        assert len(choice.verdict) > len("refused: ") + 5
        assert math.isinf(choice.cost)
    assert certificate.verify() == ()
    assert Certificate.from_json(certificate.to_json()) == certificate


def test_both_ways_of_choosing_happen():
    menus = {name: menu_of(chosen(name)) for name in FEW_MENUS}
    verdicts = {name: next(c.verdict for c in menu if c.verdict.startswith("taken")) for name, menu in menus.items()}
    assert any("smallest modelled cost" in verdict for verdict in verdicts.values())
    assert any("unclipped" in verdict for verdict in verdicts.values())


@every_menu
def test_explain_prints_the_menu(name):
    certificate = chosen(name)
    text = certificate.explain()
    assert "Which way?" in text
    for choice in menu_of(certificate):
        assert choice.kind in text
        assert choice.verdict in text


def test_a_plan_that_was_asked_for_by_name_has_no_menu():
    assert menu_of(planned("logistic", "pure")) == ()
    assert "Which way?" not in planned("logistic", "pure").explain()


@every_menu
def test_the_choice_is_the_same_as_asking_for_its_kind(name):
    certificate = chosen(name)
    if certificate.kind == "output":
        return
    clip = clip_of(certificate)
    asked = certificate.kind
    if asked == "objective":
        model = MENUS[name][0]
        asked += "" if clip is not None else {"squared": "", "squared in a ball": "", "huber": ":1"}.get(model, ":2")
    alone = issue(dataclasses.replace(asked_for(certificate), mechanism=asked))
    if clip_of(alone) != clip:
        return
    assert alone.noise_scale == certificate.noise_scale
    assert alone.alpha == certificate.alpha


def test_a_budget_that_no_kind_meets_raises_with_a_remedy():
    request = Request("logistic", "l2", 1e-3, CLASSES, 0.0, 10, 2, eq.Budget(1e-14), mechanism="objective")
    with pytest.raises(EquipoiseError) as refusal:
        issue(request)
    assert refusal.value.remedy.strip()
