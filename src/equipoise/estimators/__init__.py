"""What users call: thin presets with one constructor. Estimators are discovered from this folder by their names."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from equipoise.vocabulary.discovery import discover, look_up

if TYPE_CHECKING:
    from equipoise.estimators.base import PrivateEstimator, PrivateLinearModel

__all__ = ["members", "model_named", "models"]


@functools.cache
def members() -> dict[str, type[PrivateEstimator]]:
    """Return every estimator by the name that a released folder calls it."""
    from equipoise.estimators.base import PrivateEstimator

    return discover(__name__, PrivateEstimator, key="name")


def models() -> dict[str, type[PrivateLinearModel]]:
    """Return every linear model by the name that the command line calls it."""
    from equipoise.estimators.base import PrivateLinearModel

    return {name: kind for name, kind in members().items() if issubclass(kind, PrivateLinearModel)}


def model_named(name: str) -> type[PrivateLinearModel]:
    """Return a linear model's class by its name.

    Examples
    --------
    >>> model_named("ridge").__name__
    'Ridge'
    """
    return look_up(models(), name, "model")
