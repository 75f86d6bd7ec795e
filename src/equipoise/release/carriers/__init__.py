"""Carriers, one file a kind of release, found by the type of its claim. Members are discovered from this folder."""

from typing import Any

from equipoise.certify.claims import Claim, Trained
from equipoise.data.engines.person_piles import require_person_piles
from equipoise.data.engines.pieces import EncodedParts
from equipoise.data.engines.piles import require_piles
from equipoise.data.unread import Unread
from equipoise.errors import InvalidParameter
from equipoise.noise import NoiseSource
from equipoise.planning.corners import rounded_off
from equipoise.release.carriers.base import Carrier, TrainedCarrier
from equipoise.release.job import Carried, Job
from equipoise.release.memory import require_memory
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.losses import KinkedLoss

__all__ = ["Carrier", "TrainedCarrier", "carry_out", "members", "ready"]


def members() -> dict[type[Claim], type[Carrier[Any]]]:
    """Return what carries out each kind, by the type of its claim."""
    return discover(__name__, Carrier, key="claim")


def ready(claim: Claim, source: NoiseSource, table: Unread) -> None:
    """Fail now, for a public reason, if any part of a claim could not be carried out on such a table."""
    for node in claim.nodes():
        if type(node) not in members():
            found = f"one of kind {node.kind!r}, which is checked and no longer carried out"
            raise InvalidParameter("a plan of today", found, "plan again")
        carrier = members()[type(node)]()
        descends = table.parts is not None and not carrier.sums_suffice(node)
        if table.parts is not None and descends:
            _require_rows(node, carrier.rows_at_once(node), table.parts)
        if table.parts is not None and isinstance(node, Trained):
            require_memory(node, table.parts, carrier.squares, descends)
        carrier.ready(node, source)


def _require_rows(claim: Claim, rows_at_once: int | None, parts: EncodedParts) -> None:
    """Refuse a kind that needs more than sums of a table that is never held, unless rows can be kept in a scratch."""
    if rows_at_once is None or not isinstance(claim, Trained):
        raise InvalidParameter(
            "a release that needs no more of its rows than sums, for a table that is never held whole",
            f"one of kind {claim.kind!r} for this loss",
            f'open the table with engine="memory", or {_otherwise(claim)}',
        )
    if not parts.table.comes_here:
        raise InvalidParameter(
            f"rows one by one on this machine, for a release of kind {claim.kind!r}",
            "a table whose rows stay with workers",
            'open its files with engine="stream", which keeps rows on this disk while a fit runs, or engine="memory"',
        )
    if parts.schema.person is None:
        require_piles(claim.n_samples, claim.n_features, rows_at_once)
    else:
        require_person_piles(claim.n_samples, parts.schema.person.rows_at_most, claim.n_features, rows_at_once)


def _otherwise(claim: Claim) -> str:
    """Return what else to do where a kind needs all rows at once: a loss without its corner, or another estimator."""
    if isinstance(claim, Trained) and isinstance(claim.problem.loss, KinkedLoss):
        name = rounded_off(claim.problem.loss, claim.problem.domain).partition(":")[0]
        return f'round the corner off with loss="{name}"'
    return "take an estimator that needs sums alone, such as LogisticRegression or Ridge"


def carry_out(claim: Claim, job: Job) -> Carried:
    """Carry out a claim on rows; nothing that is computed from them leaves but what noise was added to."""
    return members()[type(claim)]().carry_out(claim, job)
