"""What a spend rests on: its recorded certificate, or the grounds that version 0.2.0 kept in a table beside entries."""

from __future__ import annotations

import json
from collections.abc import Mapping

from equipoise.certify.certificate import ADJACENCIES, Certificate
from equipoise.certify.withdrawn import affecting
from equipoise.ledger import records
from equipoise.ledger.chain import Entry

REPLACE_ONE = ADJACENCIES["row"]


def grounds_of(certificate: Certificate, software: Mapping[str, str]) -> str:
    """Return what a certificate rests on, as version 0.2.0 kept it beside an entry."""
    kept: dict[str, object] = {"members": certificate.rests_on(), "software": dict(software)}
    if certificate.adjacency != REPLACE_ONE:
        kept["adjacency"] = certificate.adjacency
    return json.dumps(kept, sort_keys=True)


def adjacency_in(grounds: str) -> str:
    """Return what neighbours are for an entry of version 0.2.0; one that does not say is about rows."""
    try:
        return str(json.loads(grounds).get("adjacency", REPLACE_ONE))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return REPLACE_ONE


def reasons_of(entry: Entry, grounds: str) -> tuple[str, ...] | None:
    """Return why what an entry rests on was withdrawn; None where that is not known, or was overwritten."""
    try:
        if entry.record is not None:
            rest, head = records.read_spend(entry.record)
            return affecting(records.members_of(head), dict(rest["software"]).items())
        record = json.loads(grounds)
        members = [(str(family), str(name)) for family, name in record["members"]]
        return affecting(members, dict(record["software"]).items())
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
