"""N5: what every kind of claim costs at a rate: by its curve, unless more is known about the kind.

A kind that is not named here is priced by its curve, which is safe. docs/proofs/N5.md proves every formula. Whoever
checks certificates needs none of it.
"""

import math
from functools import singledispatch
from typing import Any

from equipoise.certify import laws
from equipoise.certify.claims import Claim
from equipoise.certify.claims.choice import ChosenCurve, Stopping, mean_of
from equipoise.certify.claims.chosen_bounds import ChosenBounds
from equipoise.certify.claims.compositions import Composition, Disjoint
from equipoise.certify.claims.descents import NoisyDescent, Phased
from equipoise.certify.claims.dropout import Dropout
from equipoise.certify.claims.noisy_gradient import NoisyGradient
from equipoise.certify.claims.objective import Objective
from equipoise.certify.claims.private_bounds import LEVELS, PrivateBounds
from equipoise.certify.curves import LATTICE_DELTA, PureCurve
from equipoise.certify.sampled import divergence_of_a_step
from equipoise.certify.theorems.perturbation import Corners, determinant_price
from equipoise.ledger.rates import Cost, Rate, largest
from equipoise.vocabulary.facts import Budget, Setting

# --- divergences that are known besides the curve ---------------------------------------------------------------------


@singledispatch
def divergence(claim: Claim, order: float) -> Cost | None:
    """Return a bound on the Renyi divergence of an order that is known besides the curve; None where there is none."""
    return None


@divergence.register
def divergence_of_noisy_descent(claim: NoisyDescent, order: float) -> Cost | None:
    """Return the sum over the steps (C3)."""
    return divergence_of_a_run(claim.curve(), order)


@divergence.register
def divergence_of_noisy_gradient(claim: NoisyGradient, order: float) -> Cost | None:
    """Return the sum over the steps, where they draw batches (C3)."""
    return divergence_of_a_run(claim.curve(), order) if claim.batch else None


@divergence.register
def divergence_of_objective(claim: Objective, order: float) -> Cost | None:
    """Return that of a Gaussian tilt."""
    return divergence_of_tilt(claim.setting(), claim.scale, order) if claim.law == "gaussian" else None


@divergence.register
def divergence_of_stopping(claim: Stopping, order: float) -> Cost | None:
    """Return the divergence of any order, where runs have one (E6)."""
    if not claim.mu:
        return None
    spent = ChosenCurve(claim.mu, claim.shape, claim.gamma, order).spent(order)
    return Cost(spent + math.log(mean_of(claim.shape, claim.gamma)) / (order - 1))


def divergence_of_a_run(curve: Any, order: float) -> Cost:
    """Return what all steps behind the curve of a run with secret batches cost at an order, with its lattices (C3)."""
    run = curve.parts[0][1]
    return Cost(run.steps * divergence_of_a_step(run.noise_multiplier, run.share, order), curve.added)


def divergence_of_tilt(setting: Setting, scale: float, order: float) -> Cost:
    """Return ``D + ln(sum of m exp(a (a - 1) v^2 / (2 scale^2))) / (a - 1)``, Gaussian tilts of rows or persons.

    D is the determinant's price. All of E3a's corners count, the one of length 0 too, which several classes leave out.
    """
    facts, loss = setting.constants, setting.problem.loss
    corners = loss.shift_vertices(facts.row_norm, facts.radius, facts.label_bound)
    rate, most = order * (order - 1) / (2 * scale**2), max(length for _, length in corners)
    total = math.fsum(count * math.exp(rate * (length**2 - most**2)) for count, length in corners)
    total += math.exp(-rate * most**2) if loss.outputs > 1 else 0.0
    return Cost(determinant_price(setting) + (rate * most**2 + math.log(total)) / (order - 1), LATTICE_DELTA)


# --- costs ------------------------------------------------------------------------------------------------------------


@singledispatch
def cost(claim: Claim, rate: Rate) -> Cost:
    """Return what a claim adds to a sum in a currency: by its curve, where nothing else is known.

    Examples
    --------
    >>> import equipoise as eq
    >>> from equipoise.ledger.rates import ConcentratedRate
    >>> plan = eq.LogisticRegression(1.0, domain=eq.Domain(1.0, classes=(0, 1)), mechanism="laplace").plan(1000, 3)
    >>> round(cost(plan.claim, ConcentratedRate()).amount, 4)
    0.4621
    """
    return rate.of(claim.curve(), claim.budget, lambda order: divergence(claim, order))


@cost.register
def cost_of_composition(claim: Composition, rate: Rate) -> Cost:
    """Return the sum of the parts' costs; what was processed is one."""
    return sum((cost(part, rate) for part in claim.of), Cost(0.0))


@cost.register
def cost_of_disjoint(claim: Disjoint, rate: Rate) -> Cost:
    """Return the largest of the parts' costs: a replaced row lies in one of them (N3)."""
    return largest(tuple(cost(part, rate) for part in claim.of))


@cost.register
def cost_of_stopping(claim: Stopping, rate: Rate) -> Cost:
    """Return the cost by the curve or the divergence: the choice among all runs pays for them."""
    return cost.dispatch(Claim)(claim, rate)


@cost.register
def cost_of_phased(claim: Phased, rate: Rate) -> Cost:
    """Return the largest of the phases' costs: a row belongs to one of them."""
    curves = (claim.noise_of(phase).curve(phase.sensitivity) for phase in claim.phases)
    return largest(tuple(rate.of(curve, claim.budget) for curve in curves))


@cost.register
def cost_of_dropout(claim: Dropout, rate: Rate) -> Cost:
    """Return what curvature and weights cost, but for the chance that the margin did not hold."""
    one = rate.of(PureCurve(claim.statistic.epsilon), claim.statistic)
    both, missed = one + rate.of(claim.noise.curve(claim.worst), claim.weights), claim.statistic.delta
    return Cost(both.amount / (1 - missed), both.delta) + Cost(0.0, missed)


@cost.register
def cost_of_objective(claim: Objective, rate: Rate) -> Cost:
    """Return what the tilted minimiser and the finish cost: two releases (E4)."""
    left = Budget(claim.budget.epsilon - claim.finishing_epsilon, claim.budget.delta)
    # A pure tilt of one row has the curve of E3a as well, which says more than its largest loss.
    pure = claim.budget.delta == 0 and claim.unit == "row"
    theorem = Corners() if pure else claim.perturbation()
    tilted = theorem.curve(claim.setting(), laws.named(claim.law), claim.scale)
    finish = rate.of(PureCurve(claim.finishing_epsilon), left)
    return rate.of(tilted, left, lambda order: divergence(claim, order)) + finish


@cost.register
def cost_of_private_bounds(claim: PrivateBounds, rate: Rate) -> Cost:
    """Return the sum over the choices: many small ones cost less than a large one."""
    choices = len(claim.columns) * (1 if isinstance(claim, ChosenBounds) else len(LEVELS))
    one = rate.of(PureCurve(2 / claim.scale), claim.budget)
    return Cost(choices * one.amount, choices * one.delta)
