"""Penalties on arrays of weights, one file each; members are discovered from this folder and paired by type."""

from equipoise.solve.pairing import partner_of
from equipoise.solve.penalties.base import PenaltyArrays
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.penalties import Penalty

__all__ = ["PenaltyArrays", "arrays_of", "members"]


def members() -> dict[type, type[PenaltyArrays]]:
    """Return every partner by the type of penalty that it is the partner of."""
    return discover(__name__, PenaltyArrays, key="of")


def arrays_of(penalty: Penalty) -> PenaltyArrays:
    """Return a penalty's arithmetic on arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.vocabulary.penalties import named
    >>> arrays_of(named("l2", 0.5)).gradient(np.array([2.0, -4.0]))
    array([ 1., -2.])
    """
    return partner_of(penalty, members(), "penalties")(penalty)
