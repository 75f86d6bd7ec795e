"""Planners, one file a kind of release, found by the type of its claim. Members are discovered from this folder."""

from typing import Any

from equipoise.certify.claims import Claim, Trained
from equipoise.planning.kinds.base import Plan, Planner, Words
from equipoise.vocabulary.discovery import discover

__all__ = ["Plan", "Planner", "Words", "members", "named", "planner_of", "words_of", "work_of_all"]


def members() -> dict[type[Claim], type[Words]]:
    """Return what plans each kind, or says what it means, by the type of its claim."""
    return discover(__name__, Words, key="claim")


def named() -> dict[str, type[Planner[Any]]]:
    """Return every planner by the name of its kind."""
    return {claim.kind: found for claim, found in members().items() if issubclass(found, Planner)}


def words_of(claim: Claim) -> Words:
    """Return what is said of a claim's kind."""
    return members()[type(claim)]()


def work_of_all(claim: Claim) -> float:
    """Return how many numbers of the table a fit meets on the worst rows: its claim's and those of all its parts.

    Examples
    --------
    >>> import equipoise as eq
    >>> plan = eq.Ridge(domain=eq.Domain(1.0, labels=(0.0, 1.0)), mechanism="output").plan(100, 2)
    >>> work_of_all(plan.claim) == plan.claim.passes * (100 * (2 + 30) + 50_000)
    True
    """
    parts = [work_of_all(part) for part in getattr(claim, "of", ())]
    return words_of(claim).work(claim, parts)


def planner_of(claim: Trained) -> Planner[Any]:
    """Return the planner of a claim's kind, which says in words what it means.

    Examples
    --------
    >>> import equipoise as eq
    >>> plan = eq.Ridge(domain=eq.Domain(1.0, labels=(0.0, 1.0)), mechanism="output").plan(100, 2)
    >>> planner_of(plan.claim).words
    'noise on the weights'
    """
    return named()[claim.kind]()
