"""The contract of every theorem: it states a bound, its hypotheses and its proof, and no pair of tables breaks it.

Settings come from the pool in `settings/`, which belongs to the tests: a theorem is tried wherever it applies there.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from contracts import pool
from contracts.falsifier import (
    QUICK,
    THOROUGH,
    attack_settings,
    distance_of_neighbours,
    largest_observed_distance,
    minimiser,
    observed_distance_exceeds,
    tightest_tolerance,
)
from contracts.pool import about, cases, cases_of, subject_of
from equipoise.certify import theorems
from equipoise.certify.claims import Claim, Noise
from equipoise.certify.claims.base import bounded
from equipoise.certify.claims.output import Output
from equipoise.certify.curves import Curve, PureCurve
from equipoise.certify.theorems import Theorem, carried
from equipoise.certify.theorems.base import ROUNDING_MARGIN
from equipoise.certify.theorems.minimisers import GradientDiameter, StronglyConvex, approximate
from equipoise.certify.theorems.random_hits import LEFT_OUT
from equipoise.data.rows import Rows
from equipoise.errors import NoTheoremApplies
from equipoise.planning import issue, stability
from equipoise.planning.comparisons import stability_to_distance
from equipoise.planning.comparisons.slopes import penalty_slope
from equipoise.planning.public_alpha import public_alpha
from equipoise.planning.request import Request
from equipoise.planning.rules import settled
from equipoise.planning.words import statement_of
from equipoise.solve import losses as partners
from equipoise.solve.losses import LossArrays
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Target
from equipoise.solve.solvers.newton import Newton
from equipoise.vocabulary.constants import rounding_floor, setting, smallest_tolerance
from equipoise.vocabulary.facts import Bound, Budget, Conditions, Domain, Hypothesis, Problem, Recipe, Setting
from equipoise.vocabulary.losses import Loss
from equipoise.vocabulary.losses import named as loss_named
from equipoise.vocabulary.penalties import named as penalty_named

PROOFS = Path(__file__).parents[2] / "docs" / "proofs"
# Those that certify, and those that are kept for comparison.
MEMBERS = stability.members()
MINIMISERS = {name: member for name, member in MEMBERS.items() if member.about == "minimiser"}


def over(members: dict[str, type[Theorem]]) -> pytest.MarkDecorator:
    """Run a test over theorems."""
    return pytest.mark.parametrize("theorem", [members[name]() for name in sorted(members)], ids=sorted(members))


every_theorem = over(MEMBERS)
every_certifying_theorem = over(theorems.members())
# What much of this file is about; descents and other methods have tests of their own as well.
every_theorem_on_minimisers = over(MINIMISERS)

# One arithmetic expression in floating point.
EXACT = 1e-14
# A setting to start from where any serves.
ORDINARY = next(iter(about("minimiser"))).setting


# Those on minimisers that are known to fall with the number of rows, and to grow with their length.
SHRINKING = ("A1", "A2", "A3a", "A3b", "000-Thm4", "002-Thm14", "002-Alg2")


def with_constants(situation: Setting, **changes: float) -> Setting:
    return dataclasses.replace(situation, constants=dataclasses.replace(situation.constants, **changes))


def with_problem(situation: Setting, **changes: object) -> Setting:
    """Return the setting of a changed problem, with the constants that follow."""
    problem = dataclasses.replace(situation.problem, **changes)
    return setting(problem, situation.recipe, situation.n_samples, situation.n_features)


def with_domain(situation: Setting, **changes: object) -> Setting:
    """Return the setting with other public facts, and the constants that follow from them."""
    return with_problem(situation, domain=dataclasses.replace(situation.problem.domain, **changes))


def stated(theorem: Theorem, situations: list[Setting]) -> list[float]:
    """Return what a theorem says where it applies; one on minimisers applies whatever the sizes are."""
    bounds = [theorem.bound(situation) for situation in situations]
    if theorem.about == "minimiser":
        assert all(bound.applies for bound in bounds)
    return [bound.sensitivity for bound in bounds if bound.applies]


class Linear(Loss):
    """``-y m``: the loss that attains A1. Slope -y, no curvature."""

    id = "linear"
    task = "classification"

    def value(self, prediction, target):
        return -target * prediction

    @staticmethod
    def slope_at(prediction, target, parameter):
        return -target

    def slope_bound(self, reach, label_bound):
        return 1.0

    def curvature_bound(self):
        return 0.0

    def pull(self, reach, label_bound):
        return reach


class LinearArrays(LossArrays):
    of = Linear

    def value(self, prediction, target):
        return -target * prediction

    def slope(self, prediction, target):
        return -target + 0.0 * prediction

    def curvature(self, prediction, target):
        return np.zeros_like(prediction)


@pytest.fixture(autouse=True)
def linear_has_its_partner(monkeypatch):
    monkeypatch.setitem(partners.members(), Linear, LinearArrays)


def linear_setting(row_norm: float, alpha: float, n_samples: int) -> Setting:
    # Every minimiser has norm at most B / mu, so this constraint never binds; the loss is not bounded below, so the
    # radius cannot be found without it.
    domain = Domain(row_norm, classes=(0, 1), radius=2 * row_norm / alpha)
    return setting(Problem(Linear(), penalty_named("l2", alpha), domain), Recipe(), n_samples, 1)


# --- the pool ---------------------------------------------------------------------------------------------------------


def test_a_new_file_of_settings_is_found_by_itself(tmp_path):
    (tmp_path / "one.py").write_text(
        (pool.FOLDER / "minimisers.py").read_text(encoding="utf-8")
        + "\n\ndef with_more_rows(situation):\n    yield situation\n",
        encoding="utf-8",
    )
    found = cases(tmp_path)
    assert [(case.name.removeprefix("one: "), case.setting) for case in found] == [
        (case.name.removeprefix("minimisers: "), case.setting) for case in cases() if case.name.startswith("minimisers")
    ]
    assert list(found[0].with_more_rows(found[0].setting)) == [found[0].setting]


def test_the_constants_of_the_pool_follow_from_its_problems():
    for case in cases():
        # By their words: where nothing holds weights back a constant may be no number, which equals nothing.
        assert repr(case.setting) == repr(with_problem(case.setting)), case.name
        for larger in case.with_more_rows(case.setting):
            assert larger.n_samples > case.setting.n_samples


def test_a_theorem_that_applies_nowhere_asks_for_a_file():
    class Lonely(StronglyConvex):
        id = "lonely"

        def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
            yield Hypothesis("there is a row that nobody has", False, "look for it")

    with pytest.raises(AssertionError, match=r"lonely applies to no setting.*write tests/contracts/settings/"):
        cases_of(Lonely())


# --- what a theorem says about itself ---------------------------------------------------------------------------------


@every_theorem
def test_it_applies_to_settings_of_the_pool_and_bounds_a_distance_there(theorem):
    for case in cases_of(theorem):
        bound = theorem.bound(case.setting)
        assert bound.applies
        assert bound.missing == ()
        assert bound.value is not None
        assert 0 < bound.value < math.inf
        assert (bound.theorem, bound.certifies) == (theorem.id, theorem.certifies)
        assert bound.sensitivity == bound.value


@every_theorem
def test_it_refuses_with_a_remedy_elsewhere(theorem):
    for case in about(theorem.about):
        bound = theorem.bound(case.setting)
        assert bound.applies == (bound.value is not None) == (not bound.missing), case.name
        if not bound.applies:
            assert all(hypothesis.remedy.strip() for hypothesis in bound.missing)
            with pytest.raises(NoTheoremApplies, match=theorem.id):
                bound.sensitivity  # noqa: B018 - reading the property is what raises


class Resting(Claim):
    """A claim that rests on a theorem's bound and on nothing else."""

    kind = "resting"

    where: Setting
    about: str
    theorem: str
    sensitivity: float

    def conditions(self) -> Conditions:
        yield from bounded(self.theorem, self.about, self.where, self.sensitivity)

    def curve(self) -> Curve:
        return PureCurve(self.budget.epsilon)


def resting(theorem: str, situation: Setting, sensitivity: float) -> Resting:
    return Resting(
        budget=Budget(1.0),
        n_samples=situation.n_samples,
        where=situation,
        about=subject_of(situation),
        theorem=theorem,
        sensitivity=sensitivity,
    )


@every_certifying_theorem
def test_no_claim_rests_on_it_where_it_is_about_something_else(theorem):
    for case in cases():
        if subject_of(case.setting) != theorem.about:
            assert resting(theorem.id, case.setting, math.inf).check(), case.name


@every_theorem
def test_it_says_what_it_is(theorem):
    assert theorem.id.strip()
    assert statement_of(theorem.id).strip()
    # Nobody reads the family's general words as this member's.
    assert statement_of(theorem.id) not in {line_of(base) for base in type(theorem).__mro__[1:] if base is not object}
    for case in about(theorem.about):
        for hypothesis in theorem.hypotheses(case.setting):
            assert hypothesis.claim.strip()
            assert hypothesis.remedy.strip()


def line_of(base: type) -> str:
    return (base.__doc__ or "").partition("\n")[0]


@every_certifying_theorem
def test_its_proof_is_written_if_it_certifies(theorem):
    page = PROOFS / f"{theorem.id}.md"
    assert page.is_file(), f"write {page}: a theorem certifies only with its proof"
    text = page.read_text(encoding="utf-8")
    assert theorem.id in text
    assert "proof" in text.lower()
    # The shortest complete argument (A1, proof 2) takes about 400 characters without its statement.
    assert len(text) >= 600


@over({name: member for name, member in MEMBERS.items() if name not in theorems.members() and member.certifies})
def test_the_proof_of_a_valid_comparison_is_written_as_well(theorem):
    test_its_proof_is_written_if_it_certifies(theorem)


@pytest.mark.parametrize("page", ["A4.md"])
def test_the_step_to_what_a_solver_returns_is_proved(page):
    text = (PROOFS / page).read_text(encoding="utf-8")
    assert "proof" in text.lower()
    assert len(text) >= 600


def test_ids_are_unique_and_name_their_members():
    assert all(name == member.id for name, member in MEMBERS.items())
    assert len({member.id for member in MEMBERS.values()}) == len(MEMBERS)
    assert {"A1", "A2", "A3a", "A3b", "000-Thm4", "002-Thm14", "002-Alg2"} <= set(MINIMISERS)


@every_certifying_theorem
def test_what_the_check_knows_certifies(theorem):
    # `bounded` asks a theorem's answer for nothing else: a member that does not certify belongs in `planning`.
    assert theorem.certifies


@every_certifying_theorem
def test_a_claim_may_record_its_bound_and_nothing_less(theorem):
    for case in cases_of(theorem):
        bound = carried(theorem, case.setting)
        if bound.value is None:
            continue
        for share, holds in ((1.0, True), (1 + 1e-9, True), (1 - 1e-9, False), (0.5, False), (0.0, False)):
            assert (not resting(bound.theorem, case.setting, share * bound.value).check()) == holds, case.name


@every_theorem
def test_chances_rise_to_the_bound_and_leave_nothing_out(theorem):
    for case in cases_of(theorem):
        bound = theorem.bound(case.setting)
        if not bound.law:
            assert bound.typical == bound.value
            continue
        assert 1 - LEFT_OUT <= math.fsum(chance.probability for chance in bound.law) <= 1 + 1e-6
        assert all(0 < chance.probability <= 1 for chance in bound.law)
        values = [chance.value for chance in bound.law]
        assert values == sorted(values)
        assert 0 <= values[0] <= bound.typical <= values[-1] <= bound.value


@every_theorem
def test_what_a_computer_returns_is_bounded_by_no_less(theorem):
    for case in cases_of(theorem):
        exact, computed = theorem.bound(case.setting), carried(theorem, case.setting)
        assert computed.certifies == theorem.certifies
        assert computed.sensitivity >= exact.sensitivity, case.name
        assert [chance.probability for chance in computed.law] == [chance.probability for chance in exact.law]
        assert all(more.value >= less.value for less, more in zip(exact.law, computed.law, strict=True))


# --- how a bound moves with the public facts --------------------------------------------------------------------------


@every_theorem
def test_it_is_never_worse_with_more_data(theorem):
    for case in cases_of(theorem):
        values = [theorem.bound(each).sensitivity for each in (case.setting, *case.with_more_rows(case.setting))]
        assert all(more <= less for less, more in itertools.pairwise(values)), case.name
        if theorem.about == "minimiser":
            # A bound that does not know n, such as the ball's diameter, never moves; all others fall with it.
            assert values[-1] == values[0] or values[-1] < values[0] / 10, case.name
            assert values[-1] < values[0] or theorem.id not in SHRINKING


@every_theorem
def test_it_never_shrinks_with_a_larger_lipschitz_constant(theorem):
    for case in cases_of(theorem):
        facts = case.setting.constants
        steeper = [
            with_constants(
                case.setting, lipschitz=factor * facts.lipschitz, gradient_diameter=factor * facts.gradient_diameter
            )
            for factor in (1.0, 1.5, 4.0, 100.0)
        ]
        values = stated(theorem, steeper)
        assert all(more >= less for less, more in itertools.pairwise(values)), case.name


@every_theorem
def test_it_never_shrinks_with_longer_rows(theorem):
    for case in cases_of(theorem):
        norms = [case.setting.problem.domain.row_norm * factor for factor in (0.1, 0.5, 1.0, 1.1, 2.0, 10.0)]
        values = stated(theorem, [with_domain(case.setting, row_norm=norm) for norm in norms])
        assert all(longer >= shorter * (1 - EXACT) for shorter, longer in itertools.pairwise(values)), case.name
        if theorem.about == "minimiser":
            # Where the pull has reached its maximum, longer rows do not widen the ball.
            assert theorem.id not in SHRINKING or values[-1] > values[0], case.name


@every_theorem
def test_it_never_shrinks_with_a_wider_range_of_targets(theorem):
    for case in cases_of(theorem):
        problem = case.setting.problem
        if problem.loss.task != "regression":
            continue
        values = stated(theorem, [with_domain(case.setting, labels=(-half, half)) for half in (0.5, 1.0, 2.0, 9.0)])
        assert all(wider >= narrower for narrower, wider in itertools.pairwise(values)), case.name
        # A loss that is as steep as its residual is long, and weights that nothing holds back.
        if theorem.about == "minimiser" and problem.loss.id == "squared" and problem.domain.radius is None:
            assert all(wider > narrower for narrower, wider in itertools.pairwise(values)), case.name


@every_theorem
def test_it_never_grows_with_a_stronger_penalty(theorem):
    for case in cases_of(theorem):
        problem, recipe = case.setting.problem, case.setting.recipe
        if problem.penalty.alpha == 0:
            continue
        stronger = []
        for factor in (1.0, 1.5, 4.0, 100.0):
            penalty = penalty_named(problem.penalty.name, problem.penalty.alpha * factor)
            changed = dataclasses.replace(problem, penalty=penalty)
            # Steps that decay as the ridge has it follow the ridge.
            rule = dataclasses.replace(recipe, step="decay", decay=0.0) if recipe.decay else recipe
            stronger.append(setting(changed, settled(changed, rule), case.setting.n_samples, case.setting.n_features))
        values = stated(theorem, stronger)
        assert all(later <= earlier * (1 + EXACT) for earlier, later in itertools.pairwise(values)), case.name
        if theorem.about == "minimiser" and problem.domain.radius is None:
            assert all(later < earlier for earlier, later in itertools.pairwise(values)), case.name


# --- refusals ---------------------------------------------------------------------------------------------------------


def refused(theorem: Theorem, situation: Setting) -> None:
    bound = theorem.bound(situation)
    assert bound.value is None
    assert not bound.applies
    assert bound.missing
    assert all(hypothesis.remedy.strip() for hypothesis in bound.missing)
    with pytest.raises(NoTheoremApplies, match=theorem.id):
        bound.sensitivity  # noqa: B018 - reading the property is what raises


@every_theorem_on_minimisers
@pytest.mark.parametrize("curvature", [0.0, -1.0, math.nan])
def test_it_refuses_an_objective_without_strong_convexity_with_a_remedy(theorem, curvature):
    for case in cases_of(theorem):
        refused(theorem, with_constants(case.setting, strong_convexity=curvature))


@over({name: member for name, member in MEMBERS.items() if member.about in ("minimiser", "descent")})
@pytest.mark.parametrize("slope", [math.inf, math.nan])
def test_it_refuses_a_loss_without_a_lipschitz_constant_with_a_remedy(theorem, slope):
    for case in cases_of(theorem):
        refused(theorem, with_constants(case.setting, lipschitz=slope))


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        # The diameter is a supremum over the ball that holds every minimiser.
        ("A2", lambda situation: with_constants(situation, radius=math.inf)),
        # The algorithm projects onto a ball.
        ("002-Alg2", lambda situation: with_constants(situation, radius=math.inf)),
        # The penalty sits inside the loss whose stability is used.
        ("A3a", lambda situation: with_problem(situation, penalty=penalty_named("elastic-net:0.5", 1.0))),
    ],
)
def test_it_refuses_without_its_own_hypothesis(name, broken):
    theorem = MEMBERS[name]()
    for case in cases_of(theorem):
        bound = theorem.bound(broken(case.setting))
        assert bound.value is None
        # A ball without end has a penalty without a largest slope: both are said.
        assert {"radius" in missing.remedy or "ridge" in missing.remedy for missing in bound.missing} == {True}
        assert len(bound.missing) == (2 if name == "002-Alg2" else 1)


# --- A4: what a solver returns ----------------------------------------------------------------------------------------


def solved(situation: Setting, tolerance: float) -> Setting:
    return dataclasses.replace(situation, recipe=Recipe(tolerance))


def floor_of(situation: Setting) -> float:
    dimension = situation.problem.dimension(situation.n_features)
    return rounding_floor(situation.constants, situation.n_samples, dimension)


def least_tolerance(situation: Setting) -> float:
    """Return the least tolerance that can be proved: 20 times the rounding of a computed gradient (L3).

    Losses with corners are tested by a duality gap, whose rounding is another.
    """
    if math.isinf(situation.constants.smoothness):
        return smallest_tolerance(situation.constants, situation.n_samples, situation.dimension)
    return 20 * floor_of(situation)


@every_theorem_on_minimisers
def test_approximate_adds_exactly_twice_the_tolerance_over_the_curvature(theorem):
    for case in cases_of(theorem):
        situation, least = case.setting, least_tolerance(case.setting)
        exact, mu = theorem.bound(situation), situation.constants.strong_convexity
        # A bridge is as curved as stated near its minimisers alone, so that a solver must come near.
        everywhere = situation.problem.penalty.strong_convexity(math.inf) >= mu
        for tolerance in (least, max(1e-6, least), *([1e-2] if everywhere else [])):
            bound = approximate(exact, solved(situation, tolerance))
            added = 2 * tolerance / mu
            assert bound.sensitivity == pytest.approx((exact.sensitivity + added) * (1 + 1e-9), rel=EXACT), case.name
            assert (bound.theorem, bound.certifies) == (f"{theorem.id}+A4", theorem.certifies)
            assert set(exact.hypotheses) < set(bound.hypotheses)


def test_the_margin_is_the_one_of_the_catalogue():
    assert ROUNDING_MARGIN == 1e-9  # M4


@every_theorem_on_minimisers
def test_approximate_refuses_a_tolerance_below_the_rounding_floor(theorem):
    for case in cases_of(theorem):
        exact, least = theorem.bound(case.setting), least_tolerance(case.setting)
        assert approximate(exact, solved(case.setting, least)).value is not None
        below = approximate(exact, solved(case.setting, 0.9995 * least))
        assert below.value is None
        assert [hypothesis.remedy for hypothesis in below.missing] == ["raise the tolerance"]


def test_a_tolerance_whose_squares_vanish_is_refused():
    # Squares below 2.5e-324 are 0, and so is the computed norm of a gradient of 1e-162: the solver's test passes at 0
    # for one table, and not for its neighbour, whose weights are far from there (M4).
    domain, rows, tolerance = Domain(1e-100, labels=(-1e-61, 1e-61)), 1000, 2e-167
    problem = Problem(loss_named("squared"), penalty_named("l2", 1e-100), domain)
    situation = setting(problem, Recipe(tolerance), rows, 1)
    facts, exact = situation.constants, GradientDiameter().bound(situation)
    assert 20 * floor_of(situation) < tolerance <= 0.001 * facts.gradient_diameter / (2 * rows)
    mu = facts.strong_convexity
    target = Target(tolerance, facts.smoothness + mu, mu, facts.radius, None)

    def weights(largest: int) -> float:
        targets = np.where(np.arange(rows) < largest, 1e-61, 0.0)
        table = Rows(np.full((rows, 1), 1e-100), domain, 0.0)
        return float(Newton().solve(Objective(problem.loss, problem.penalty, table, targets), target)[0])

    moved = max(abs(weights(count + 1) - weights(count)) for count in range(70, 90))
    assert moved > 30 * (exact.sensitivity + 2 * tolerance / mu)
    assert approximate(exact, situation).value is None
    assert approximate(exact, solved(situation, 1e-130)).value is not None


@over({name: member for name, member in theorems.members().items() if member.about == "minimiser"})
def test_no_claim_is_made_about_an_exact_minimiser_which_no_solver_returns(theorem):
    for case in cases_of(theorem):
        situation, exact = case.setting, theorem.bound(case.setting).sensitivity
        for tolerance, name in ((least_tolerance(situation), f"{theorem.id}+A4"), (0.0, theorem.id)):
            claim = Output(
                budget=Budget(1.0),
                n_samples=situation.n_samples,
                problem=situation.problem,
                n_features=situation.n_features,
                noise=Noise("spherical-laplace", 2 * exact, situation.dimension),
                sensitivity=1.5 * exact,
                theorem=name,
                tolerance=tolerance,
            )
            assert (claim.check() == ()) == (tolerance > 0), (case.name, claim.check())


def test_approximate_keeps_a_refusal():
    situation = solved(with_constants(ORDINARY, strong_convexity=0.0), 1e-3)
    bound = approximate(StronglyConvex().bound(situation), situation)
    assert bound.value is None
    assert any("ridge" in hypothesis.remedy for hypothesis in bound.missing)


def test_the_rounding_floor_is_at_least_the_catalogues():
    # L3 asks for (rho + lambda R) (n + d + 20) 2^-53, with log2 n in place of n for pairwise sums; the house sums in
    # blocks of 4096, so its factor may not fall below that of one block.
    for case in about("minimiser"):
        situation, facts = case.setting, case.setting.constants
        rows = min(situation.n_samples, 4096)
        unit = (rows + situation.problem.dimension(situation.n_features) + 20) * 2.0**-53
        assert floor_of(situation) >= unit * (facts.lipschitz + facts.strong_convexity * facts.radius)


def test_the_rounding_floor_covers_the_rounding_of_a_gradient():
    # The same gradient in extended precision is the reference; 20 tables of 5000 rows, more than one block.
    for seed in range(20):
        generator = np.random.default_rng(seed)
        domain = Domain(3.0, labels=(-1.0, 1.0))
        problem = Problem(loss_named("squared"), penalty_named("l2", 0.01), domain)
        situation = setting(problem, Recipe(), 5000, 7)
        matrix = generator.normal(size=(5000, 7))
        targets = generator.uniform(-1, 1, size=5000)
        weights = generator.normal(size=7)
        weights *= situation.constants.radius / np.linalg.norm(weights)
        rows = Rows(matrix, domain, 0.0)
        computed = Objective(problem.loss, problem.penalty, rows, targets).gradient(weights)
        clipped = np.concatenate([block.copy() for block, _ in rows.blocks()]).astype(np.longdouble)
        residuals = clipped @ weights.astype(np.longdouble) - targets.astype(np.longdouble)
        exact = 2 * (residuals @ clipped) / 5000 + problem.penalty.alpha * weights.astype(np.longdouble)
        assert float(np.linalg.norm(computed - exact)) <= floor_of(situation)


# --- the choice -------------------------------------------------------------------------------------------------------


def solved_settings() -> Iterator[Setting]:
    for case in about("minimiser"):
        yield case.setting
        yield solved(case.setting, max(1e-6, least_tolerance(case.setting)))


def test_smallest_is_the_minimum_over_members_that_certify():
    for situation in solved_settings():
        answers = {
            bound.theorem: bound.value
            for name, member in MINIMISERS.items()
            if (bound := approximate(member().bound(situation), situation)).value is not None
            and name in theorems.members()
        }
        chosen = stability.smallest(situation)
        assert chosen.value == min(answers.values())
        assert answers[chosen.theorem] == chosen.value


def test_smallest_is_the_least_likely_to_move_far_over_members_that_certify_whatever_the_subject():
    for case in cases():
        answers = [
            carried(member(), case.setting)
            for member in theorems.members().values()
            if member.about == subject_of(case.setting)
        ]
        typical = [bound.typical for bound in answers if bound.value is not None]
        assert stability.smallest(case.setting).typical == min(typical), case.name


def test_answers_list_every_member_smallest_first_and_refusals_last():
    for situation in solved_settings():
        answers = stability.answers(with_constants(situation, radius=math.inf))
        assert len(answers) == len(MINIMISERS)
        values = [bound.value for bound in answers]
        said = [value for value in values if value is not None]
        assert values == [*sorted(said), *[None] * (len(values) - len(said))]
        assert None in values


def test_smallest_lists_every_remedy_when_nothing_applies():
    with pytest.raises(NoTheoremApplies) as refusal:
        stability.smallest(with_constants(ORDINARY, strong_convexity=0.0))
    certifying = [name for name, member in MINIMISERS.items() if member.certifies]
    # One remedy is said once, with everything it would help.
    assert refusal.value.remedy == f"add a ridge: alpha > 0 ({', '.join(sorted(certifying))})"


class Wishful(Theorem):
    """A false statement that admits to being unproved: a thousandth of A2."""

    id: ClassVar[str] = "wishful"
    certifies: ClassVar[bool] = False

    def hypotheses(self, setting: Setting) -> Iterator[Hypothesis]:
        yield from GradientDiameter().hypotheses(setting)

    def sensitivity(self, setting: Setting) -> float:
        return GradientDiameter().sensitivity(setting) / 1000


class Lying(Wishful):
    """The same, claiming to be proved."""

    id: ClassVar[str] = "lying"
    certifies: ClassVar[bool] = True


@pytest.fixture
def plant(monkeypatch):
    """Put a member into a family for one test, with the memory of earlier plans wiped before and after."""

    def put(member: type[Theorem], family: object) -> None:
        everyone = {**family.members(), member.id: member}
        monkeypatch.setattr(family, "members", lambda: everyone)
        forget()

    def forget() -> None:
        issue.forget()
        public_alpha.cache_clear()
        genuine.cache_clear()

    genuine = stability.members
    forget()
    yield put
    monkeypatch.undo()
    forget()


REQUESTS = [
    Request("logistic", "l2", 0.1, Domain(1.0, classes=(0, 1)), 0.5, 1000, 3, Budget(1.0)),
    Request("squared", "l2", 0.3, Domain(2.0, labels=(0.0, 5.0)), 1.0, 400, 6, Budget(0.5, 1e-6)),
    Request("logistic", "l2", "public", Domain(1.0, classes=(0, 1)), 0.5, 1000, 3, Budget(1.0)),
]
every_request = pytest.mark.parametrize("request_made", REQUESTS, ids=lambda made: f"{made.loss}-{made.alpha}")
# Beside those that certify, whatever it says about itself.
beside = pytest.mark.parametrize("member", [Wishful, Lying], ids=lambda member: member.id)


@beside
def test_a_false_member_beside_those_that_certify_is_never_chosen_by_smallest(plant, member):
    before = [stability.smallest(situation) for situation in solved_settings()]
    plant(member, stability)
    after = [stability.smallest(situation) for situation in solved_settings()]
    assert after == before
    for situation in solved_settings():
        # It is in the table, first and marked, so the test above had something to refuse.
        first = stability.answers(situation)[0]
        assert first.theorem.startswith(member.id)
        assert first.certifies == member.certifies


@beside
@every_request
def test_a_false_member_beside_those_that_certify_never_enters_a_claim(plant, request_made, member):
    before = issue.issue(request_made)
    plant(member, stability)
    after = issue.issue(request_made)
    assert after.bounds[0].theorem == f"{member.id}+A4"
    assert dataclasses.replace(after, notes=before.notes) == before


@every_request
def test_the_folder_that_it_is_in_is_what_keeps_it_out(plant, request_made):
    # The same member among those that certify is chosen: the two tests above do not pass because planting fails.
    plant(Lying, theorems)
    assert issue.issue(request_made).theorem == "lying+A4"


@every_request
def test_a_claim_that_rests_on_an_unknown_member_does_not_verify(plant, monkeypatch, request_made):
    plant(Lying, theorems)
    certificate = issue.issue(request_made)
    assert certificate.verify() == ()
    monkeypatch.undo()
    assert any("lying" in fault for fault in certificate.verify())


def test_a_refused_member_that_does_not_certify_offers_no_remedy(plant):
    plant(Wishful, stability)
    with pytest.raises(NoTheoremApplies) as refusal:
        stability.smallest(with_constants(ORDINARY, strong_convexity=0.0))
    assert "wishful" not in refusal.value.remedy


# --- brute force ------------------------------------------------------------------------------------------------------

HUNTED = [
    *(pytest.param(case.setting, id=case.name) for case in about("minimiser")),
    *(pytest.param(situation, id=f"attack {place}") for place, situation in enumerate(attack_settings())),
]


@pytest.mark.parametrize("situation", HUNTED)
@pytest.mark.parametrize(
    "effort", [pytest.param(QUICK, id="quick"), pytest.param(THOROUGH, id="thorough", marks=pytest.mark.statistics)]
)
def test_no_neighbouring_pair_moves_further_than_any_theorem_says(situation, effort):
    applying = [member() for member in MINIMISERS.values() if member().bound(situation).applies]
    assert applying
    for theorem in applying:
        assert observed_distance_exceeds(theorem, [situation], effort) is None


def claiming(genuine: type[Theorem], share: float) -> Theorem:
    """Return a member that claims to certify a share of a genuine bound."""

    class Claim(genuine):
        id: ClassVar[str] = f"{share} of {genuine.id}"
        certifies: ClassVar[bool] = True

        def sensitivity(self, setting: Setting) -> float:
            return share * super().sensitivity(setting)

    return Claim()


@pytest.mark.parametrize("name", ["A1", "A2", "A3b", "002-Thm14", "000-Thm4"])
def test_a_member_that_claims_a_quarter_is_caught(name):
    violation = observed_distance_exceeds(claiming(MEMBERS[name], 0.25))
    assert violation is not None
    assert violation.observed > violation.claimed


def test_a_member_that_claims_one_per_cent_less_than_the_truth_is_caught_where_a1_is_attained():
    situations = [linear_setting(1.0, 0.5, 3)]
    assert observed_distance_exceeds(claiming(StronglyConvex, 0.99), situations) is not None
    assert observed_distance_exceeds(StronglyConvex(), situations) is None


def test_the_tempting_one_sided_diameter_is_caught():
    # A one-sided derivative alone does NOT give the diameter B (A2): both rows may be misclassified.
    class OneSided(GradientDiameter):
        id: ClassVar[str] = "one-sided"

        def sensitivity(self, setting: Setting) -> float:
            return setting.constants.row_norm / (setting.n_samples * setting.constants.strong_convexity)

    assert observed_distance_exceeds(OneSided()) is not None


def extreme_target(situation: Setting) -> float:
    """Return a coded target that pulls as hard as any: a class, or the end of the range."""
    return 0.0 if situation.problem.loss.outputs > 1 else situation.problem.domain.label_bound


def test_every_minimiser_found_lies_within_the_radius_and_one_reaches_it():
    # Lemma R of docs/proofs/A2.md. Rows that are all alike pull hardest: the radius is attained below B R = 1.278 for
    # the logistic loss, and below B R = Y / 2 for the squared one.
    generator = np.random.default_rng(5)
    reached = 0
    for situation in [*attack_settings(), *(case.setting for case in about("minimiser"))]:
        domain, radius = situation.problem.domain, situation.constants.radius
        shape = (situation.n_samples, situation.n_features)
        allowed = radius + tightest_tolerance(situation) / situation.constants.strong_convexity
        ridge = situation.problem.penalty.id == "l2" and situation.problem.loss.id in ("logistic", "squared")
        for scatter in (0.0, 0.1, 1.0):
            rows = generator.normal(size=shape[1]) + scatter * generator.normal(size=shape)
            rows *= domain.row_norm / np.linalg.norm(rows, axis=1, keepdims=True)
            targets = np.full(shape[0], extreme_target(situation))
            norm = float(np.linalg.norm(minimiser(situation, rows, targets)))
            assert norm <= allowed
            short = situation.problem.intercept == 0.0 and situation.constants.row_norm * radius < 0.5
            if scatter == 0.0 and short and ridge:
                assert norm >= 0.999999 * radius
                reached += 1
    assert reached


# --- witnesses: pairs that come as near to a bound as the catalogue says ----------------------------------------------


def linear_neighbours(situation: Setting) -> float:
    """Return the distance of the minimisers when one of n rows changes its class, by the closed form."""
    row_norm, facts = situation.problem.domain.row_norm, situation.constants
    codes = np.resize([1.0, -1.0], situation.n_samples)
    weights = (codes * row_norm).mean() / facts.strong_convexity
    codes[0] = -1.0
    return abs(weights - (codes * row_norm).mean() / facts.strong_convexity)


@pytest.mark.parametrize("name", ["A1", "A2", "A3b"])
@pytest.mark.parametrize(("row_norm", "alpha", "n_samples"), [(1.0, 0.5, 3), (1.5, 0.2, 9), (0.1, 7.0, 40)])
def test_linear_loss_attains_the_bound(name, row_norm, alpha, n_samples, witness):
    # l = rho z w with a ridge moves exactly 2 rho / (n mu): ratio 1.000 (A1). A3b equals A1.
    situation = linear_setting(row_norm, alpha, n_samples)
    claimed = MEMBERS[name]().bound(situation).sensitivity
    witness(name, claimed, linear_neighbours(situation), f"straight loss, {n_samples} rows, ridge {alpha}")
    assert linear_neighbours(situation) == pytest.approx(claimed, rel=1e-12)
    rows, targets = np.full((4, 1), row_norm), np.array([1.0, -1.0, 1.0, -1.0])
    solved_apart = distance_of_neighbours(situation, rows, targets)
    assert solved_apart == pytest.approx(claimed, abs=2 * tightest_tolerance(situation) / alpha)


def test_catalogue_example_of_the_two_stabilities(monkeypatch):
    # A3, n = 9: (b) 1.667 = actual, (a) 5.0, with beta = 2 rho^2 / (mu n), the penalty's slope left out.
    situation = linear_setting(1.5, 0.2, 9)
    assert linear_neighbours(situation) == pytest.approx(5 / 3, rel=1e-12)
    assert MEMBERS["A3b"]().bound(situation).sensitivity == pytest.approx(5 / 3, rel=1e-12)
    monkeypatch.setattr(stability_to_distance, "penalty_slope", lambda setting: 0.0)
    assert MEMBERS["A3a"]().bound(situation).sensitivity == pytest.approx(5.0, rel=1e-12)


@pytest.mark.parametrize("radius", [0.1, 0.4])
def test_a_row_and_its_mirror_image_attain_the_ball(radius, witness):
    # Without the ball they would lie at 1 / alpha, on either side.
    problem = Problem(Linear(), penalty_named("l2", 0.5), Domain(1.0, classes=(0, 1), radius=radius))
    situation = setting(problem, Recipe(), 1, 1)
    claimed = MEMBERS["ball"]().bound(situation).sensitivity
    observed = distance_of_neighbours(situation, np.ones((2, 1)), np.array([1.0, -1.0]))
    witness("ball", claimed, observed, f"one row, radius {radius}")
    assert observed == pytest.approx(claimed, rel=1e-6)


def test_ridge_logistic_pair_comes_within_six_per_cent_of_the_diameter(witness):
    # A2: brute force at lambda = 2, n = 4 gave n lambda |dw| = .9695, .94 of the diameter at R = 1/2.
    situation = next(attack_settings())
    assert (situation.problem.loss.id, situation.problem.penalty.alpha, situation.n_samples) == ("logistic", 2.0, 4)
    moved = situation.n_samples * situation.constants.strong_convexity * largest_observed_distance(situation)
    assert 0.9695 <= moved <= 1.029
    claimed = MEMBERS["A2"]().bound(situation).sensitivity
    witness("A2", claimed, largest_observed_distance(situation), "ridge logistic, 4 rows, ridge 2")
    assert 0.94 <= largest_observed_distance(situation) / claimed <= 1


def test_ridge_regression_pair_comes_within_a_fifth_of_the_diameter(witness):
    # A2: least squares at n = 20, lambda = 1 gave 4.284, .82 of the diameter at R = 1 ([002] says 20).
    situation = list(attack_settings())[1]
    assert (situation.problem.loss.id, situation.problem.penalty.alpha, situation.n_samples) == ("squared", 1.0, 20)
    moved = situation.n_samples * situation.constants.strong_convexity * largest_observed_distance(situation)
    assert 0.8 * 3 * math.sqrt(3) <= moved <= 3 * math.sqrt(3)
    claimed = MEMBERS["A2"]().bound(situation).sensitivity
    witness("A2", claimed, largest_observed_distance(situation), "least squares, 20 rows, ridge 1")
    assert 0.8 <= largest_observed_distance(situation) / claimed <= 1


RATIOS_TO_A1 = {
    # Each theorem's ratio to A1, from the entry that states it; s is the penalty's slope over rho, n the rows.
    "002-Thm14": lambda slope, n: 2.0,  # A1: "4 rho / (lam n) correct but 2x loose"
    "000-Thm4": lambda slope, n: 2.0,  # A1: "4 L kappa / (n lam) correct, 2x loose"
    "002-Alg2": lambda slope, n: 2.0 * (1 + slope),  # A1: "4 (rho + lam R) / (lam n) correct, looser"
    "A3b": lambda slope, n: 1.0,  # A3: "(b) gives exactly 2 rho / (mu n)"
    "A3a": lambda slope, n: math.sqrt(n * (1 + slope)),  # A3: "(a) gives sqrt(n) times more", the penalty inside l
}


@pytest.mark.parametrize("name", sorted(RATIOS_TO_A1))
def test_published_bounds_are_as_loose_as_the_catalogue_says(name):
    theorem = MEMBERS[name]()
    for situation in [*(case.setting for case in cases_of(theorem)), *attack_settings()]:
        slope = penalty_slope(situation) / situation.constants.lipschitz
        expected = RATIOS_TO_A1[name](slope, situation.n_samples)
        ratio = theorem.bound(situation).sensitivity / StronglyConvex().bound(situation).sensitivity
        assert ratio == pytest.approx(expected, rel=1e-12)


def test_a2_is_never_worse_than_a1():
    pooled = [case.setting for case in about("minimiser")]
    for situation in [*pooled, *attack_settings(), linear_setting(1.0, 0.5, 3)]:
        assert GradientDiameter().bound(situation).sensitivity <= StronglyConvex().bound(situation).sensitivity


def test_stopping_at_the_tolerance_on_a_bare_quadratic_attains_a4(witness):
    # A4: F = mu/2 ||w||^2, reached with rows of zeros; at ||grad F|| = tau the distance is tau / mu.
    alpha, tolerance = 0.3, 1e-3
    problem = Problem(loss_named("squared"), penalty_named("l2", alpha), Domain(1.0, labels=(-1.0, 1.0)))
    objective = Objective(problem.loss, problem.penalty, Rows(np.zeros((5, 3)), problem.domain, 0.0), np.ones(5))
    stopped = tolerance / alpha * np.array([2.0, -1.0, 2.0]) / 3
    assert np.linalg.norm(objective.gradient(stopped)) == pytest.approx(tolerance, rel=1e-12)
    situation = setting(problem, Recipe(tolerance), 5, 3)
    # Two runs on the same table may stop on opposite sides of the minimiser 0: all of A4's slack is needed.
    slack = approximate(Bound("nothing moves", True, 0.0, ()), situation).sensitivity
    witness("A4", slack, float(np.linalg.norm(stopped - (-stopped))), "one table, stopped on opposite sides")
    assert np.linalg.norm(stopped - (-stopped)) == pytest.approx(slack, rel=2e-9)
    assert np.linalg.norm(stopped - (-stopped)) <= slack


def test_linear_loss_stopped_early_attains_a1_and_a4_together():
    row_norm, alpha, n_samples, tolerance = 1.0, 0.5, 4, 1e-3
    situation = solved(linear_setting(row_norm, alpha, n_samples), tolerance)
    problem = situation.problem
    ends = []
    for codes, side in ((np.array([1.0, 1.0, -1.0, -1.0]), 1.0), (np.array([-1.0, 1.0, -1.0, -1.0]), -1.0)):
        stopped = np.array([codes.mean() * row_norm / alpha + side * tolerance / alpha])
        objective = Objective(problem.loss, problem.penalty, Rows(np.ones((4, 1)), problem.domain, 0.0), codes)
        assert abs(objective.gradient(stopped)[0]) == pytest.approx(tolerance, rel=1e-9)
        ends.append(stopped[0])
    claimed = stability.smallest(situation).sensitivity
    assert abs(ends[0] - ends[1]) <= claimed
    assert abs(ends[0] - ends[1]) >= claimed * (1 - 2e-9)


def test_the_distance_from_the_minimiser_is_at_most_the_gradient_over_the_curvature():
    # A4: random points around the minimiser of random tables.
    generator = np.random.default_rng(11)
    for case in about("minimiser"):
        situation, problem, facts = case.setting, case.setting.problem, case.setting.constants
        if problem.penalty.kinked or problem.domain.radius is not None:
            continue  # whose subgradients are more than a gradient
        shape = (situation.n_samples, situation.n_features)
        matrix = generator.normal(size=shape)
        codes = (
            [0.0, 1.0, 2.0] if problem.loss.outputs > 1 else [-problem.domain.label_bound, extreme_target(situation)]
        )
        targets = generator.choice(codes, size=shape[0])
        best = minimiser(situation, matrix, targets)
        objective = Objective(problem.loss, problem.penalty, Rows(matrix, problem.domain, problem.intercept), targets)
        unknown = tightest_tolerance(situation) / facts.strong_convexity  # how far `best` itself may be from exact
        for size in (1e-3, 0.1, 10.0):
            for _ in range(20):
                point = best + size * generator.normal(size=len(best))
                reach = float(np.linalg.norm(objective.gradient(point))) / facts.strong_convexity
                assert float(np.linalg.norm(point - best)) <= reach * (1 + 1e-9) + unknown
