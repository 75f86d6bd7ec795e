"""Formats in which a released model is used elsewhere, one file each; members are discovered from this folder."""

from equipoise.artifact.exports.base import Export
from equipoise.vocabulary.discovery import discover

__all__ = ["Export", "members"]


def members() -> dict[str, type[Export]]:
    """Return every format by its name.

    Examples
    --------
    >>> sorted(members())
    ['csv', 'onnx', 'sql']
    """
    return discover(__name__, Export, key="name")
