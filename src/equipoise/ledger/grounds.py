"""What a spend may rest on and what it does: its recorded certificate, or what version 0.2.0 kept beside entries."""

from __future__ import annotations

import json
from collections.abc import Mapping

from equipoise.certify.certificate import ADJACENCIES, Certificate
from equipoise.certify.withdrawn import affecting
from equipoise.errors import LedgerRefused
from equipoise.ledger import records
from equipoise.ledger.chain import Entry
from equipoise.ledger.names import is_about

REPLACE_ONE = ADJACENCIES["row"]
# How version 0.2.0 wrote down that a spend is about persons; what is about rows said nothing. postgresql.sql looks for
# the same text: read as JSON, what somebody overwrote could mean one thing there and another here.
_ABOUT_PERSONS = f'"adjacency": "{ADJACENCIES["person"]}"'


def require_admissible(certificate: object, dataset: str) -> None:
    """Refuse what is no certificate of a release, or one that no ledger, or not this dataset's, takes.

    A certificate is checked, and shown to people, as one of the dataset that its terms name: recorded under another
    one it would spend the wrong people's budget. One that names none may be recorded under any.
    """
    if not isinstance(certificate, Certificate):
        remedy = "pass what `plan` returned: a finding is measured, not proved, and cannot be a spend"
        raise LedgerRefused("a certificate", f"an object of type {type(certificate).__name__}", remedy)
    if certificate.terms.seeded:
        remedy = "leave random_state=None where a ledger is bound"
        raise LedgerRefused("a release", "a seeded run, for experiments only", remedy)
    if certificate.grade != "proved":
        found = f"grade {certificate.grade!r}: {'; '.join(certificate.assumptions)}"
        remedy = "declare the classes, or run fewer noisy steps: whatever the assumption rests on"
        raise LedgerRefused('a certificate of grade "proved"', found, remedy)
    if not is_about(certificate.terms.ledger, dataset):
        found = f"one that was planned for the dataset {certificate.terms.ledger!r:.80}"
        remedy = "plan again with this ledger; nothing was read and nothing was spent"
        raise LedgerRefused(f"a certificate for the dataset {dataset!r}", found, remedy)


def grounds_of(certificate: Certificate, software: Mapping[str, str]) -> str:
    """Return what a certificate rests on, as version 0.2.0 kept it beside an entry."""
    kept: dict[str, object] = {"members": certificate.rests_on(), "software": dict(software)}
    if certificate.adjacency != REPLACE_ONE:
        kept["adjacency"] = certificate.adjacency
    return json.dumps(kept, sort_keys=True)


def adjacency_in(grounds: str) -> str:
    """Return what neighbours are for an entry of version 0.2.0; one that does not say is about rows.

    Examples
    --------
    >>> adjacency_in('{"adjacency": "replace-one-person", "members": []}'), adjacency_in("")
    ('replace-one-person', 'replace-one')
    """
    return ADJACENCIES["person"] if _ABOUT_PERSONS in str(grounds) else REPLACE_ONE


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
