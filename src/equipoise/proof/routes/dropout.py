"""Dropout: minimise the expected loss over masks, and let the data's own curvature, released first, calm the noise."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from equipoise.certify.claims import Noise
from equipoise.certify.claims.dropout import Dropout as Claim
from equipoise.certify.claims.dropout import Masks
from equipoise.errors import BudgetImpossible, InvalidParameter, NoTheoremApplies
from equipoise.proof.curves import Curve
from equipoise.proof.dropout import CurvatureRule, Dropout
from equipoise.proof.mechanisms import calibrations, named, quietest
from equipoise.proof.mechanisms.propose_test_release import AfterLowerBound, AfterTest
from equipoise.proof.public_alpha import public_alpha
from equipoise.proof.reference import of_problem, ridge_share
from equipoise.proof.request import Request
from equipoise.proof.routes.base import Plan, Procedure, Route
from equipoise.proof.theorems.approximate import MOST_ROWS, ROUNDING_MARGIN
from equipoise.vocabulary.constants import TOLERANCE_SHARE, rounding_unit, smallest_tolerance, well_conditioned
from equipoise.vocabulary.facts import Bound, Budget, Constants, Hypothesis, Problem

# The parts of epsilon that may pay for the curvature when public facts pick one.
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)

# Public facts imagine rows that spread half as evenly over the columns as they could.
EVENNESS = 0.5

# The curvature is the smallest eigenvalue of a matrix that is formed: beyond this many columns it takes too long, and
# rows hardly ever fill so many directions.
MOST_COLUMNS = 2_000

# What a computed smallest eigenvalue may be wrong by, in units of d 2^-53 times the matrix's norm (G3).
EIGENVALUE_ROUNDING = 100


class DropoutMinimiser(Route):
    """Noise on the minimiser of the dropout objective, scaled by a released bound on the data's curvature (G3)."""

    id: ClassVar[str] = "dropout"
    words: ClassVar[str] = "noise on the weights, scaled by a released curvature"
    minimises: ClassVar[bool] = False

    def plans(self, request: Request, parameter: float | None) -> Iterator[Plan]:
        """Yield the one plan: the rule for every curvature, and the noise in the worst case, where there is none."""
        asked = request.dropout
        if asked is None:
            remedy = "use one of DropoutRegressor and DropoutClassifier"
            raise InvalidParameter("dropout with a keep probability", "a model without dropout", remedy)
        if request.budget.delta == 0:
            raise BudgetImpossible(
                "pure privacy for a curvature that the data decide",
                "delta=0, and noise on a curvature has no largest value",
                "pass delta > 0, for example 1e-6, or use Ridge or LogisticRegression",
            )
        alpha = _ridge(request)
        problem = request.problem(alpha)
        facts = dropout_constants(problem, asked)
        dimension = problem.dimension(request.n_features)
        rule = _rule(request, asked, problem, facts, dimension)
        tolerance = _tolerance(request, asked, facts, dimension, rule.weights.epsilon)
        hypotheses = tuple(_hypotheses(request, asked, facts, dimension, tolerance))
        if missing := [hypothesis for hypothesis in hypotheses if not hypothesis.holds]:
            remedies = "; ".join(hypothesis.remedy for hypothesis in missing)
            raise NoTheoremApplies("a certified dropout model", "hypotheses that do not hold", remedies)
        # Without curvature of the data the ridge is all there is; a confirmed proposal is there or nothing is released.
        worst = rule.distance(asked.proposal or 0.0)
        chosen = quietest(worst, dimension, rule.weights, "auto")
        law = named(chosen.mechanism)
        rule = replace(rule, ratio=chosen.scale / worst)
        following = law.curve(worst, dimension, chosen.scale)
        curve: Curve
        if asked.proposal is None:
            curve = AfterLowerBound(following, rule.statistic)
        else:
            curve = AfterTest(following, rule.statistic)
        yield Plan(
            route=self.id,
            loss=problem.loss.name,
            alpha=alpha,
            constants=facts,
            tolerance=tolerance,
            bounds=(Bound("G3+G4", True, worst, hypotheses),),
            theorem="G3+G4",
            sensitivity=worst,
            dimension=dimension,
            candidates=calibrations(worst, dimension, rule.weights, "auto"),
            mechanism=chosen.mechanism,
            noise_scale=chosen.scale,
            noise_deviation=chosen.deviation,
            curve=curve,
            rounding=f"{law.rounding(dimension)}; the noise on the curvature is exact",
            excess_risk=math.inf,
            share=ridge_share(of_problem(problem, request.n_features), alpha, 0.0, chosen.deviation),
            procedure=Procedure(curvature=rule),
            recipe=request.recipe,
            claim=Claim(
                budget=request.budget,
                n_samples=request.n_samples,
                problem=problem,
                n_features=request.n_features,
                noise=Noise(chosen.mechanism, chosen.scale, dimension),
                masks=Masks(asked.keep, asked.masks),
                statistic=rule.statistic,
                weights=rule.weights,
                curvature_sensitivity=rule.sensitivity,
                tolerance=tolerance,
                worst=worst,
                proposal=asked.proposal,
            ),
        )


def dropout_constants(problem: Problem, asked: Dropout) -> Constants:
    """Return the constants of the dropout objective over the ball of the constraint (G3).

    The expected squared loss adds ``((1-q)/q) sum_j x_j^2 w_j^2`` to every row's loss (G1). With masks a row's loss is
    the mean over its masked rows, which are as long as ``sqrt((b/q)^2 + s^2)``.

    Examples
    --------
    >>> from equipoise.vocabulary import losses, penalties
    >>> from equipoise.vocabulary.facts import Domain
    >>> domain = Domain(1.0, labels=(-1.0, 1.0), radius=1.0)
    >>> facts = dropout_constants(Problem(losses.named("squared"), penalties.named("l2", 0.1), domain), Dropout(0.5, 0))
    >>> facts.lipschitz, facts.smoothness, round(facts.gradient_diameter, 4)
    (6.0, 4.0, 7.1962)
    """
    radius = problem.domain.radius
    if radius is None:
        raise InvalidParameter(
            "a constraint on the norm of the weights, on which slopes and curvatures are bounded",
            "radius=None",
            'pass radius="public", or the largest norm that the weights may have',
        )
    loss, label_bound, alpha = problem.loss, problem.domain.label_bound, problem.penalty.alpha
    if asked.masks == 0:
        if loss.id != "squared":
            raise InvalidParameter(
                "an expectation over masks in closed form", f"the {loss.id} loss", "pass masks=4, or use squared loss"
            )
        row_norm = problem.row_norm
        added = 2 * (1 - asked.keep) / asked.keep * problem.domain.row_norm**2
        lipschitz = row_norm * loss.slope_bound(row_norm * radius, label_bound) + added * radius
        # One row's added term is a diagonal between 0 and `added`, so two of them differ by no more than that.
        diameter = loss.gradient_diameter(row_norm, radius, label_bound) + added * radius
    else:
        if loss.outputs > 1:
            remedy = "declare two classes, or use LogisticRegression, which takes more"
            raise InvalidParameter("dropout for two classes", f"{loss.outputs} classes", remedy)
        row_norm = math.hypot(problem.domain.row_norm / asked.keep, problem.intercept)
        lipschitz = row_norm * loss.slope_bound(row_norm * radius, label_bound)
        # A mean of gradients lies in the hull of what single masked rows can have, which is no wider.
        diameter = loss.gradient_diameter(row_norm, radius, label_bound)
    return Constants(
        row_norm=row_norm,
        label_bound=label_bound,
        radius=radius,
        lipschitz=lipschitz,
        smoothness=loss.curvature_bound() * most_of_a_row(problem, asked),
        strong_convexity=alpha,
        gradient_diameter=min(diameter, 2 * lipschitz),
        penalty_slope=alpha * radius,
    )


def most_of_a_row(problem: Problem, asked: Dropout) -> float:
    """Return the largest eigenvalue, which is also the largest trace, that one row can give the matrix of squares.

    ``b^2/q + s^2`` in expectation over masks, ``b^2/q^2 + s^2`` for any set of them: the constant column s is kept.
    """
    keep = asked.keep if asked.masks == 0 else asked.keep**2
    return problem.domain.row_norm**2 / keep + problem.intercept**2


def curvature_factor(problem: Problem, facts: Constants, masks: int) -> float:
    """Return the least curvature of the loss at predictions that the ball allows, rounded down (G2).

    2 for the squared loss, ``sigmoid(U) sigmoid(-U)`` with ``U = B R`` for the logistic one.
    """
    if masks == 0:
        return problem.loss.curvature_bound()
    reach = facts.row_norm * facts.radius
    return problem.loss.slope_bound(reach, facts.label_bound) * problem.loss.slope_floor(reach) * (1 - 1e-12)


def _ridge(request: Request) -> float:
    """Return the ridge: as asked, or the one that a minimiser without dropout would have."""
    if not isinstance(request.alpha, str):
        return request.alpha
    return public_alpha(replace(request, recipe=None, dropout=None, mechanism="output"))


def _rows(request: Request, asked: Dropout) -> int:
    return request.n_samples * max(1, asked.masks)


def _tolerance(request: Request, asked: Dropout, facts: Constants, dimension: int, epsilon: float) -> float:
    """Return where the solver stops: a thousandth of a row's pull, or what rounding allows (A4)."""
    wanted = TOLERANCE_SHARE / max(1.0, epsilon) * facts.gradient_diameter / (2 * request.n_samples)
    return max(wanted, smallest_tolerance(facts, _rows(request, asked), dimension))


def _rule(request: Request, asked: Dropout, problem: Problem, facts: Constants, dimension: int) -> CurvatureRule:
    """Return the rule with the share that was asked for, or the one with the least noise on imagined rows."""
    if not isinstance(asked.share, str):
        rule = _split(request, asked, problem, facts, dimension, asked.share)
        _refuse_too_few_rows(request, rule)
        return rule
    rules = [_split(request, asked, problem, facts, dimension, share) for share in SHARES]
    if asked.proposal is None:
        return min(rules, key=lambda rule: _imagined_noise(rule, dimension))
    # So that twice the proposed curvature passes but for a chance of delta.
    proposal = asked.proposal
    roomy = [rule for rule in rules if rule.noisy.margin <= proposal / 2]
    chosen = roomy[0] if roomy else rules[-1]
    _refuse_too_few_rows(request, chosen)
    return chosen


def _imagined_noise(rule: CurvatureRule, dimension: int) -> float:
    found = max(0.0, EVENNESS * rule.most - rule.noisy.margin)
    return quietest(rule.distance(found), dimension, rule.weights, "auto").deviation


def _split(
    request: Request, asked: Dropout, problem: Problem, facts: Constants, dimension: int, share: float
) -> CurvatureRule:
    budget, largest = request.budget, most_of_a_row(problem, asked)
    epsilon = share * budget.epsilon
    # A lower bound adds its delta to that of the weights; of a test's and the weights' the larger counts (G4).
    delta = budget.delta if asked.proposal is not None else budget.delta / 2 * (1 - 1e-12)
    weights = Budget(math.nextafter(budget.epsilon - epsilon, 0.0), delta)
    unit = rounding_unit(_rows(request, asked), dimension) + EIGENVALUE_ROUNDING * dimension * 2.0**-53
    error = unit * largest
    tolerance = _tolerance(request, asked, facts, dimension, weights.epsilon)
    return CurvatureRule(
        keep=asked.keep,
        masks=asked.masks,
        proposal=asked.proposal,
        statistic=Budget(epsilon, delta),
        weights=weights,
        sensitivity=largest / request.n_samples * (1 + ROUNDING_MARGIN) + 2 * error,
        error=error,
        # The trace over the directions; and the constant column, which is kept, has no more than its own square.
        most=min([largest / dimension, *([problem.intercept**2] if problem.intercept > 0 else [])]),
        alpha=problem.penalty.alpha,
        factor=curvature_factor(problem, facts, asked.masks),
        movement=(facts.gradient_diameter / request.n_samples + 2 * tolerance) * (1 + ROUNDING_MARGIN),
    )


def _refuse_too_few_rows(request: Request, rule: CurvatureRule) -> None:
    """Refuse a part of the budget that no rows of this number could make anything of."""
    needed = (rule.proposal or 0.0) + rule.noisy.margin
    if needed < rule.most:
        return
    room = rule.most - (rule.proposal or 0.0)
    remedy = "propose less than that"
    if room > 0:
        rows = math.ceil(request.n_samples * rule.noisy.margin / room) + 1
        remedy = f"train on {rows:,} rows or more, raise epsilon or curvature_share"
    raise InvalidParameter(
        f"a curvature that shows through its noise: the most that rows can have is {rule.most:.4g}",
        f"{needed:.4g} needed for n={request.n_samples}, epsilon {rule.statistic.epsilon:g} of it for the curvature",
        f"{remedy}, or use Ridge or LogisticRegression, which pay for no curvature",
    )


def _hypotheses(
    request: Request, asked: Dropout, facts: Constants, dimension: int, tolerance: float
) -> Iterator[Hypothesis]:
    rows = _rows(request, asked)
    yield Hypothesis("neighbouring datasets differ by replacing one row, and n is public", True, "declare n")
    yield Hypothesis(
        "the penalty is a ridge, so that the solver ends for every dataset (L6)",
        request.penalty == "l2" and facts.strong_convexity > 0,
        "use an L2 penalty with alpha > 0",
    )
    yield Hypothesis(
        "slopes and curvatures are bounded on the ball of the constraint (G2)",
        0 < facts.lipschitz < math.inf,
        "bound rows and labels in the domain",
    )
    yield Hypothesis(
        f"the curvature is an eigenvalue of at most {MOST_COLUMNS:,} columns",
        dimension <= MOST_COLUMNS,
        "use fewer columns, or Ridge or LogisticRegression",
    )
    yield Hypothesis(
        "every run ends in the ball at a subgradient of norm at most tau, fixed before data (A4, L3)",
        tolerance >= smallest_tolerance(facts, rows, dimension) * (1 - ROUNDING_MARGIN),
        "raise the tolerance",
    )
    yield Hypothesis(
        "the objective is well enough conditioned for double precision by its ridge alone (A4)",
        rows <= MOST_ROWS and well_conditioned(facts, rows, dimension),
        "raise alpha: it is below the rounding of the data's curvature",
    )
