"""Kinds of claim, one typed record each; members are discovered from this folder."""

from ...vocabulary.discovery import discover
from .base import LARGEST_SCALE, SMALLEST_SCALE, UNKNOWN, Claim, Moved, Noise, Trained

__all__ = ["LARGEST_SCALE", "SMALLEST_SCALE", "UNKNOWN", "Claim", "Moved", "Noise", "Trained", "members"]


def members() -> dict[str, type[Claim]]:
    """Return every kind of claim by its name."""
    return discover(__name__, Claim, key="kind")
