"""Penalties, one file each; members are discovered from this folder."""

import functools
import sys

from equipoise.vocabulary.discovery import discover, look_up
from equipoise.vocabulary.penalties.base import Penalty

__all__ = ["Penalty", "members", "named"]


@functools.cache
def members() -> dict[str, type[Penalty]]:
    """Return every penalty by its id."""
    return discover(sys.modules[__name__], Penalty)  # type: ignore[type-abstract]


def named(name: str, alpha: float) -> Penalty:
    """Return the penalty called `name` with strength `alpha`.

    Examples
    --------
    >>> named("l2", 0.5)
    L2(alpha=0.5)
    """
    return look_up(members(), name, "penalty")(alpha)
