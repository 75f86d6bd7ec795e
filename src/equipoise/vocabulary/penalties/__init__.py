"""Penalties, one file each; members are discovered from this folder."""

from ..discovery import discover, make
from .base import Penalty

__all__ = ["Penalty", "members", "named"]


def members() -> dict[str, type[Penalty]]:
    """Return every penalty by its id."""
    return discover(__name__, Penalty)


def named(name: str, alpha: float) -> Penalty:
    """Return the penalty called `name` with strength `alpha`; a parameter follows after a colon: ``"elastic-net:0.5"``.

    Examples
    --------
    >>> named("l2", 0.5)
    L2(alpha=0.5)
    """
    return make(members(), name, "penalty", alpha)
