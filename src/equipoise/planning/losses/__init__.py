"""What planning knows of losses: yardsticks and clipped forms. A loss without a file here is known by what all tell."""

from equipoise.planning.losses.base import KnownLoss
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.losses import Loss

__all__ = ["KnownLoss", "known"]


def _members() -> dict[type[Loss], type[KnownLoss]]:
    return discover(__name__, KnownLoss, key="of")


def known(loss: Loss) -> KnownLoss:
    """Return what is known of a loss.

    Examples
    --------
    >>> from equipoise.vocabulary import losses
    >>> known(losses.named("logistic")).clipped(0.5)
    ClippedLogistic(cap=0.5)
    """
    return _members().get(type(loss), KnownLoss)(loss)
