"""Losses with corners that a rule would drown in noise: refused before the spend, with the loss that is rounded off."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from equipoise.errors import InvalidParameter
from equipoise.planning.reference import Reference, of_problem, ridge_share
from equipoise.planning.request import Request
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.losses import KinkedLoss, Loss

if TYPE_CHECKING:
    from equipoise.planning.kinds.base import Plan, Planner

# A rule that finds no plan for a loss with corners which keeps this much of what there is to win refuses to pick one.
MOST_LOST = 0.5


def rounded_off(loss: Loss, domain: Domain) -> str:
    """Return the name of the loss whose corner is rounded off over a public width, as estimators know it.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> rounded_off(losses.named("hinge"), Domain(1.0, classes=(0, 1)))
    'smooth-hinge'
    >>> rounded_off(losses.named("absolute"), Domain(1.0, labels=(-2.0, 2.0)))
    'huber:0.5'
    """
    return f"huber:{domain.label_bound / 4!r}" if loss.task == "regression" else "smooth-hinge"


def sharp(loss: Loss, domain: Domain) -> bool:
    """Whether a loss has a corner, or one that is rounded off over less than the public width.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> domain = Domain(1.0, classes=(0, 1))
    >>> [sharp(losses.named(name), domain) for name in ("hinge", "smooth-hinge:1e-9", "smooth-hinge", "logistic")]
    [True, True, False, False]
    """
    if isinstance(loss, KinkedLoss):
        return True
    smooth = losses.named(rounded_off(loss, domain))
    return type(loss) is type(smooth) and loss.curvature_bound() > smooth.curvature_bound()


def refuse_drowned_ridge(request: Request, plan: "Plan", planned: Callable[[Request], "Plan"]) -> None:
    """Refuse to pick a ridge for a loss with corners where none keeps half of what there is to win.

    A solver provably ends on a corner only with a strong ridge, and the more rows there are the stronger. A ridge that
    is asked for as a number is taken as it stands. `planned` plans the loss without its corner, for comparison.
    """
    loss = losses.named(request.loss)
    if not sharp(loss, request.domain) or not isinstance(request.alpha, str):
        return
    nothing = of_problem(plan.claim.problem, request.n_features).nothing
    asked = f"a ridge at which a model of the {loss.name} loss keeps half of what there is to win"
    _refuse_drowned(
        request, loss, plan.share, nothing, MOST_LOST * nothing, planned, asked, "or pass alpha as a number"
    )


def refuse_drowned_descent(
    planner: "Planner[Any]", request: Request, cost: float, imagined: Reference, ridge: float, otherwise: str
) -> None:
    """Refuse to pick a step for a loss with corners where none keeps half of what the ridge leaves to win.

    What a ridge that was asked for as a number costs itself is no fault of the step. A step that is asked for, as a
    number, by decay or by a Langevin temperature, is taken as it stands.
    """
    loss, nothing = losses.named(request.loss), imagined.nothing
    asked_step = request.recipe and request.recipe.step
    if not sharp(loss, request.domain) or asked_step != "public":
        return
    asked_ridge = ridge > 0 and not isinstance(request.alpha, str)
    shrunk = ridge_share(imagined, ridge, 0.0, 0.0) if asked_ridge else 0.0
    most = shrunk + MOST_LOST * (nothing - shrunk)
    asked = f"a step with which a descent on the {loss.name} loss keeps half of what there is to win"
    _refuse_drowned(
        request, loss, cost, nothing, most, lambda smooth: next(planner.plans(smooth, None)), asked, otherwise
    )


def _refuse_drowned(
    request: Request,
    loss: Loss,
    cost: float,
    nothing: float,
    most: float,
    planned: Callable[[Request], "Plan"],
    asked: str,
    otherwise: str,
) -> None:
    """Refuse a cost above the most. Where the loss without its corner drowns as well, that is told as no remedy.

    A corner that is rounded off over too little is refused only where a wider one is a remedy.
    """
    if cost <= most:
        return
    name = rounded_off(loss, request.domain)
    smooth = planned(replace(request, loss=name)).share
    found = f"none: the best would lose {cost / nothing:.0%} of what there is to win, by the reference problem"
    remedy = f'round the corner off with loss="{name.partition(":")[0]}"'
    if smooth > most:
        if not isinstance(loss, KinkedLoss):
            return
        found += f", without its corner {smooth / nothing:.0%}"
        remedy = "allow a larger epsilon, train on more rows"
    raise InvalidParameter(asked, found, f"{remedy}, {otherwise}")
