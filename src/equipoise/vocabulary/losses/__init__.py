"""Losses, one file each; members are discovered from this folder."""

import functools
import sys

from equipoise.vocabulary.discovery import discover, look_up
from equipoise.vocabulary.losses.base import Loss

__all__ = ["Loss", "members", "named"]


@functools.cache
def members() -> dict[str, type[Loss]]:
    """Return every loss by its id."""
    return discover(sys.modules[__name__], Loss)  # type: ignore[type-abstract]


def named(name: str) -> Loss:
    """Return the loss called `name`.

    Examples
    --------
    >>> named("logistic")
    Logistic()
    """
    return look_up(members(), name, "loss")()
