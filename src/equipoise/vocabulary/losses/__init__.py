"""Losses, one file each; members are discovered from this folder."""

from ..discovery import discover, make
from .base import KinkedLoss, Loss

__all__ = ["KinkedLoss", "Loss", "members", "named"]


def members() -> dict[str, type[Loss]]:
    """Return every loss by its id."""
    return discover(__name__, Loss)


def named(name: str) -> Loss:
    """Return the loss called `name`; a parameter follows after a colon, as in ``"huber:0.5"``.

    Examples
    --------
    >>> named("logistic")
    Logistic()
    """
    return make(members(), name, "loss")
