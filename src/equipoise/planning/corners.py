"""Losses with corners that a rule would drown in noise: refused before the spend, with the loss that is rounded off."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from equipoise.errors import InvalidParameter
from equipoise.planning.reference import Reference, ridge_share
from equipoise.planning.request import Request
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.losses import KinkedLoss

if TYPE_CHECKING:
    from equipoise.planning.kinds.base import Planner

# A rule that finds no plan for a loss with corners which keeps this much of what there is to win refuses to pick one.
MOST_LOST = 0.5


def rounded_off(loss: KinkedLoss, domain: Domain) -> str:
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


def refuse_corners(loss: KinkedLoss, domain: Domain, asked: str, lost: float, otherwise: str) -> NoReturn:
    """Refuse a loss with corners none of whose plans leaves, by the model, more signal than noise."""
    remedy = rounded_off(loss, domain).partition(":")[0]
    raise InvalidParameter(asked, _found(lost), f'round the corner off with loss="{remedy}", {otherwise}')


def refuse_drowned_descent(
    planner: "Planner[Any]", request: Request, cost: float, imagined: Reference, ridge: float, otherwise: str
) -> None:
    """Refuse to pick a step for a loss with corners where none keeps half of what the ridge leaves to win.

    What a ridge that was asked for as a number costs itself is no fault of the step. A step that is asked for, as a
    number, by decay or by a Langevin temperature, is taken as it stands. Where the loss without its corner would drown
    as well, rounding off is no remedy, and is not told as one.
    """
    loss, nothing = losses.named(request.loss), imagined.nothing
    asked_ridge = ridge > 0 and not isinstance(request.alpha, str)
    shrunk = ridge_share(imagined, ridge, 0.0, 0.0) if asked_ridge else 0.0
    most = shrunk + MOST_LOST * (nothing - shrunk)
    asked_step = request.recipe and request.recipe.step
    if not isinstance(loss, KinkedLoss) or asked_step != "public" or cost <= most:
        return
    asked = f"a step with which a descent on the {loss.id} loss keeps half of what there is to win"
    smooth = next(planner.plans(replace(request, loss=rounded_off(loss, request.domain)), None)).share
    if smooth <= most:
        refuse_corners(loss, request.domain, asked, cost / nothing, otherwise)
    found = f"{_found(cost / nothing)}, without its corner {smooth / nothing:.0%}"
    raise InvalidParameter(asked, found, f"allow a larger epsilon, train on more rows, {otherwise}")


def _found(lost: float) -> str:
    return f"none: the best would lose {lost:.0%} of what there is to win, by the reference problem"
