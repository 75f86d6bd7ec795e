"""Losses with corners that a rule would drown in noise: refused before the spend, with the loss that is rounded off."""

from typing import NoReturn

from equipoise.errors import InvalidParameter
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.losses import KinkedLoss

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


def refuse_corners(loss: KinkedLoss, domain: Domain, asked: str, cost: float, otherwise: str) -> NoReturn:
    """Refuse a loss with corners none of whose plans leaves, by the model, more signal than noise."""
    remedy = rounded_off(loss, domain).partition(":")[0]
    raise InvalidParameter(
        asked,
        f"none: the best would lose {cost:.0%} of what there is to win, by the reference problem",
        f'round the corner off with loss="{remedy}", {otherwise}',
    )
