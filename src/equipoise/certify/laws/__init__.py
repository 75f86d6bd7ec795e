"""Laws of noise, one file each; members are discovered from this folder."""

from ...vocabulary.discovery import discover, look_up
from .base import Law

__all__ = ["Law", "members", "named"]


def members() -> dict[str, type[Law]]:
    """Return every law by its id."""
    return discover(__name__, Law)


def named(name: str) -> Law:
    """Return the law called `name`.

    Examples
    --------
    >>> named("gaussian").id
    'gaussian'
    """
    return look_up(members(), name, "law")()
