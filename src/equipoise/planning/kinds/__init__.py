"""Planners, one file a kind of release, found by the type of its claim. Members are discovered from this folder."""

import functools
import sys
from typing import Any

from equipoise.certify.claims import Trained
from equipoise.planning.kinds.base import Plan, Planner
from equipoise.vocabulary.discovery import discover

__all__ = ["Plan", "Planner", "members", "named", "planner_of"]


@functools.cache
def members() -> dict[type[Trained], type[Planner[Any]]]:
    """Return every planner by the type of claim it makes."""
    return discover(sys.modules[__name__], Planner, key="claim")  # type: ignore[type-abstract]


def named() -> dict[str, type[Planner[Any]]]:
    """Return every planner by the name of its kind."""
    return {claim.kind: planner for claim, planner in members().items()}


def planner_of(claim: Trained) -> Planner[Any]:
    """Return the planner of a claim's kind, which says in words what it means.

    Examples
    --------
    >>> import equipoise as eq
    >>> plan = eq.Ridge(domain=eq.Domain(1.0, labels=(0.0, 1.0)), mechanism="output").plan(100, 2)
    >>> planner_of(plan.claim).words
    'noise on the weights'
    """
    return members()[type(claim)]()
