"""Losses on arrays of rows, one file each; members are discovered from this folder and paired by type."""

from equipoise.solve.losses.base import KinkedArrays, LossArrays
from equipoise.solve.pairing import partner_of
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.losses import Loss

__all__ = ["KinkedArrays", "LossArrays", "arrays_of", "members"]


def members() -> dict[type, type[LossArrays]]:
    """Return every partner by the type of loss that it is the partner of."""
    return discover(__name__, LossArrays, key="of")


def arrays_of(loss: Loss) -> LossArrays:
    """Return a loss's arithmetic on arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.vocabulary.losses import named
    >>> arrays_of(named("huber:2")).slope(np.array([1.0, 5.0]), np.zeros(2))
    array([1., 2.])
    """
    return partner_of(loss, members(), "losses")(loss)
