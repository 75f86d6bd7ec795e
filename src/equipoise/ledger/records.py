"""What an entry records in JSON beside its columns: what a spend cost, what was spent so far, for which certificate.

Records are canonical: sorted keys, no spaces, amounts as the texts of exact decimals. docs/ledger.md lists the keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from equipoise.certify.certificate import Certificate
from equipoise.certify.record import to_plain
from equipoise.errors import EquipoiseError
from equipoise.ledger.currencies import Amount, currency_named
from equipoise.ledger.currencies.base import NOTHING, text_of

RECORD_VERSION = 2

# What an amount looks like; a currency's own have far fewer digits.
_AMOUNT = re.compile(r"[0-9]{1,400}(\.[0-9]{1,400})?(E[+-]?[0-9]{1,3})?")

# Where the certificate of a spend ends in its record: no text inside can look so, because its quotes are escaped.
_SEAM = '},"cost":'

# So many different certificates of a history are remembered while it is read.
MOST_REMEMBERED = 4096

BUDGET_KEYS = {"version", "currency", "limit", "key"}
SPEND_KEYS = {"adjacency", "certificate", "cost", "release", "software", "spent", "under"}
MIGRATION_KEYS = {"adjacency", "currency", "from", "limit", "spent"}
RECOVERY_KEYS = {"adjacency", "quarantined", "spent", "under"}
OUTCOME_KEYS = {"adjacency", "of", "outcome", "release", "spent", "under"}
OUTCOMES = ("released", "failed")

# What an outcome names besides: the digest of the files that hold the release (`equipoise.ledger.statements`).
FILES = "files"
_DIGEST = re.compile(r"[0-9a-f]{64}")

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(record: Mapping[str, Any]) -> str:
    """Return the text of a record.

    Examples
    --------
    >>> canonical({"spent": 1, "cost": 2})
    '{"cost":2,"spent":1}'
    """
    return _encode(record)


def plain(amount: Amount) -> dict[str, str]:
    """Return an amount as it is recorded.

    Examples
    --------
    >>> plain(NOTHING)
    {'amount': '0', 'delta': '0'}
    """
    return {"amount": text_of(amount.amount), "delta": text_of(amount.delta)}


def amount_of(record: object) -> Amount:
    """Return the amount that was recorded; what looks like none is a ValueError.

    Examples
    --------
    >>> amount_of({"amount": "0.1", "delta": "0"}).amount
    Decimal('0.1')
    """
    if not isinstance(record, dict) or len(record) != 2:
        raise ValueError("no amount")
    amount, delta = str(record["amount"]), str(record["delta"])
    if _AMOUNT.fullmatch(amount) is None or _AMOUNT.fullmatch(delta) is None:
        raise ValueError("no amount")
    return Amount(Decimal(amount), Decimal(delta))


def read(text: object, keys: set[str]) -> dict[str, Any]:
    """Return a record that has exactly these keys and is written canonically, else raise ValueError.

    Examples
    --------
    >>> read('{"b":1}', {"b"})
    {'b': 1}
    """
    try:
        record = json.loads(text) if isinstance(text, str) else None
        if isinstance(record, dict) and record.keys() == keys and canonical(record) == text:
            return record
    except (ValueError, RecursionError):
        pass
    raise ValueError("no record")


def read_outcome(text: object) -> dict[str, Any]:
    """Return the record of an outcome, with the digest of the released files or without, else raise ValueError.

    Examples
    --------
    >>> read_outcome("{}")
    Traceback (most recent call last):
    ValueError: no record
    """
    named = isinstance(text, str) and f',"{FILES}":' in text  # in a text inside, quotes are escaped
    record = read(text, OUTCOME_KEYS | {FILES} if named else OUTCOME_KEYS)
    if named and (record["outcome"] != "released" or not _DIGEST.fullmatch(str(record[FILES]))):
        raise ValueError("no record")
    return record


def of_plan(certificate: Certificate) -> dict[str, Any]:
    """Return a plan as it is recorded: without notes, without defaults, and without what a fit appends to it."""
    terms = to_plain(certificate.terms, keep_defaults=False)
    claim = to_plain(certificate.claim, keep_defaults=False, released=False)
    version = certificate.schema_version
    return {"schema_version": version, "terms": terms, "claim": claim, "digest": certificate.planned_digest}


def read_spend(text: object) -> tuple[dict[str, Any], str]:
    """Return what a spend records beside its certificate, and the text of its first part, which `judged` reads.

    Many spends of a long history have the same certificate: in two parts, the long one is read once.
    """
    head, seam, tail = text.rpartition(_SEAM) if isinstance(text, str) else ("", "", "")
    if not seam:
        raise ValueError("no record")
    return read(f'{{"cost":{tail}', SPEND_KEYS - {"adjacency", "certificate"}), f"{head}}}}}"


@lru_cache(maxsize=MOST_REMEMBERED)
def members_of(head: str) -> tuple[tuple[str, str], ...]:
    """Return what the certificate in the first part of a spend's record rests on, or raise ValueError."""
    return _planned(head)[1].rests_on()


@lru_cache(maxsize=MOST_REMEMBERED)
def neighbours_of(head: str) -> str | None:
    """Return what neighbours are by the certificate in the first part of a spend's record; None where it is junk.

    What the record says beside the certificate is the client's word, and not asked.
    """
    try:
        certificate = _planned(head)[1]
        return None if certificate.faults() else certificate.adjacency
    except (EquipoiseError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Judged:
    """What a recorded certificate says, and what it costs in a currency; `faults` say why it does not count."""

    faults: tuple[str, ...]
    digest: str = ""
    amount: tuple[str, str] = ("", "")
    dataset: str | None = None
    price: Amount = NOTHING


@lru_cache(maxsize=MOST_REMEMBERED)
def judged(currency: str, head: str) -> Judged:
    """Return what a recorded certificate costs in a currency, computed again from the certificate alone."""
    try:
        adjacency, certificate = _planned(head)
        if found := certificate.faults():
            return Judged(tuple(f"its certificate does not follow ({fault})" for fault in found[:3]))
        if certificate.grade != "proved" or adjacency != certificate.adjacency:
            return Judged(("its certificate is not one that a ledger admits",))
        price = currency_named(currency).price(certificate.claim)
    except (EquipoiseError, ValueError) as error:
        why = error.found if isinstance(error, EquipoiseError) else str(error)
        return Judged((f"its certificate cannot be priced here ({why:.120})",))
    amount = repr(certificate.epsilon), repr(certificate.delta)
    return Judged((), certificate.planned_digest, amount, certificate.terms.ledger, price)


def _planned(head: str) -> tuple[str, Certificate]:
    """Return what neighbours are and the certificate, from the first part of a spend's record."""
    record = read(head, {"adjacency", "certificate"})
    return record["adjacency"], Certificate.from_json(json.dumps(record["certificate"]))
