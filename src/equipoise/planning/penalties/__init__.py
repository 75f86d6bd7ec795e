"""What planning knows of penalties. A penalty without a file here is a ridge and an L1 norm, as its constants say."""

from equipoise.planning.penalties.base import KnownPenalty
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.penalties import Penalty

__all__ = ["KnownPenalty", "known"]


def _members() -> dict[type[Penalty], type[KnownPenalty]]:
    return discover(__name__, KnownPenalty, key="of")


def known(penalty: Penalty) -> KnownPenalty:
    """Return what is known of a penalty.

    Examples
    --------
    >>> from equipoise.vocabulary import penalties
    >>> known(penalties.named("l2", 0.5)).largest(radius=2.0, dimension=3)
    1.0
    """
    return _members().get(type(penalty), KnownPenalty)(penalty)
