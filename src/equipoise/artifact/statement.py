"""statement.dsse.json: who says that these files are one release, and when; an in-toto statement in a DSSE envelope.

The statement names every file by its digest, and the facts of the release that people ask for. All of it but who signed
and when follows from the folder, so that to check it is to write it again. This file ships with equipoise-verify, too;
that is why it imports relatively.
"""

# ruff: noqa: TID252

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ..certify.certificate import Certificate
from ..certify.claims.evaluation import Evaluation
from ..certify.folder import MODEL, PAGE, STATEMENT, text_of
from ..certify.record import parse
from ..errors import CertificateUnreadable, ReleaseUnreadable
from ..keys.signatures import fingerprint, verify
from ..vocabulary.records import Record
from . import page_file
from .page_file import AGAIN

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE, EVALUATION_TYPE = "urn:equipoise:release:v1", "urn:equipoise:evaluation:v1"

LONGEST_PRODUCER = 200
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\+00:00"


class Signed(Record):
    """A statement with its signature: `producer` and `time` are the signer's word, and so is `key` until it is known.

    The signature is over the bytes of `payload`.
    """

    payload: bytes
    key: bytes
    signature: bytes
    producer: str
    time: str

    @property
    def name(self) -> str:
        """The key as people read it out."""
        return fingerprint(self.key)

    def holds(self) -> bool | None:
        """Return whether the signature is that of the key which the envelope names; None if nothing here can tell."""
        try:
            return verify(self.key, PAYLOAD_TYPE, self.payload, self.signature)
        except ImportError:
            return None


def evaluation_in(certificate: Certificate) -> Evaluation | None:
    """Return the evaluation that a certificate carries, its own or that on rows which were held out, or None.

    Of counts after a look it is the counts: they come last.
    """
    found = [claim for claim in certificate.claim.nodes() if isinstance(claim, Evaluation) and claim.released]
    return found[-1] if found else None


def digests_of(contents: Mapping[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of every file that a statement is about: all but itself."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in contents.items() if name != STATEMENT}


def payload_of(digests: Mapping[str, str], certificate: Certificate, page: str, producer: str, time: str) -> bytes:
    """Return the statement about a folder: JSON with sorted keys, without spaces, in ASCII.

    That of an evaluation also names what it is about: the id of a release, and the SHA-256 of its model.json.

    Parameters
    ----------
    digests : mapping of str to str
        The SHA-256 of every file.
    certificate : Certificate
        The release's own.
    page : str
        The text of page.json.
    producer, time : str
        Who signs, in their own words, and when, in UTC.
    """
    release, terms, facts = certificate.release, certificate.terms, page_file.read(page)
    if release is None:
        raise ReleaseUnreadable("a certificate of a release", "one of a plan", AGAIN)
    ledger = None
    if terms.ledger is not None:
        head = None if facts.ledger is None else facts.ledger.head
        ledger = {"dataset": terms.ledger, "entry": release.entry, "head": head}
    claim, about = evaluation_in(certificate), {}
    # Rows that were held out have a certificate with their release in common: its folder has the model.
    if claim is not None and MODEL not in digests:
        about = {"about": {"release": claim.release, "model": claim.model}}
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": digests[name]}} for name in sorted(digests)],
        "predicateType": EVALUATION_TYPE if about else PREDICATE_TYPE,
        "predicate": {
            "release": release.id,
            "certificate": certificate.digest,
            "schema": terms.schema,
            "ledger": ledger,
            "software": [list(pair) for pair in release.software],
            "renderer": [list(pair) for pair in facts.renderer],
            "made": release.made,
            "producer": producer,
            "signed": time,
            **about,
        },
    }
    return json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()


def written(payload: bytes, key: bytes, signature: bytes) -> str:
    """Return the text of an envelope; the id of its key is the public key itself, in hexadecimal digits."""
    signed = {"keyid": key.hex(), "sig": base64.b64encode(signature).decode()}
    envelope = {"payload": base64.b64encode(payload).decode(), "payloadType": PAYLOAD_TYPE, "signatures": [signed]}
    return json.dumps(envelope, indent=1) + "\n"


def read(text: str) -> Signed:
    """Return the statement of an envelope, whose signature is still to be checked; it has one way to be written.

    Examples
    --------
    >>> read("{}")
    Traceback (most recent call last):
    equipoise.errors.ReleaseUnreadable: asked: statement.dsse.json as `equipoise sign` writes it; found: another form; \
to do: ask for the released folder again
    """
    try:
        envelope = parse(text)
        ((key, signature),) = ((bytes.fromhex(one["keyid"]), _decoded(one["sig"])) for one in envelope["signatures"])
        payload = _decoded(envelope["payload"])
        predicate = parse(payload.decode("ascii"))["predicate"]
        producer, time = predicate["producer"], predicate["signed"]
        if text != written(payload, key, signature) or not is_producer(producer) or not is_time(time):
            raise ValueError("another form")
    except (CertificateUnreadable, ValueError, TypeError, KeyError, AttributeError):
        asked = f"{STATEMENT} as `equipoise sign` writes it"
        raise ReleaseUnreadable(asked, "another form", AGAIN) from None
    return Signed(payload, key, signature, producer, time)


def faults_of(signed: Signed, digests: Mapping[str, str], certificate: Certificate, page: str) -> Iterator[str]:
    """Yield in what a statement is not about this folder, and that its key did not sign it."""
    payload = payload_of(digests, certificate, page, signed.producer, signed.time)
    if signed.payload != payload:
        yield from (f"{STATEMENT}: {fault}" for fault in _differences(json.loads(signed.payload), json.loads(payload)))
    if signed.holds() is False:
        yield f"{STATEMENT}: a signature that {signed.name}, whom it names, did not make"


def _differences(said: Any, expected: Any) -> Iterator[str]:
    """Yield in what a statement differs from the one that this folder calls for."""
    if not isinstance(said, dict) or said.keys() != expected.keys():
        yield "other fields than a statement about a release has"
        return
    named = 0
    for name in ("_type", "predicateType"):
        if said[name] != expected[name]:
            yield f"{name} {said[name]!r:.80}, and this program reads {expected[name]}"
            named += 1
    if said["subject"] != expected["subject"]:
        listed = said["subject"] if isinstance(said["subject"], list) else []
        other = ", ".join(one["name"] for one in expected["subject"] if one not in listed)
        yield f"about another folder, whose files are other ones: {other or 'more, or in another order'}"
        named += 1
    predicate = said["predicate"] if isinstance(said["predicate"], dict) else {}
    facts = ", ".join(name for name, fact in expected["predicate"].items() if predicate.get(name, ...) != fact)
    if facts or predicate.keys() != expected["predicate"].keys() or not named:
        yield f"another release than the certificate's, or written otherwise: {facts or 'further facts'}"


def found_in(contents: Mapping[str, bytes], digests: Mapping[str, str], certificate: Certificate) -> "Found":
    """Return the statement in a folder, if there is one, and what is wrong with it."""
    if STATEMENT not in contents:
        return Found(None, ())
    if PAGE not in contents:
        return Found(None, (f"{STATEMENT}: beside no {PAGE}, which every folder that is signed has",))
    try:
        signed = read(text_of(contents, STATEMENT))
        faults = tuple(faults_of(signed, digests, certificate, text_of(contents, PAGE)))
    except ReleaseUnreadable as error:
        return Found(None, (f"{STATEMENT}: {error.found}, where {error.asked} was asked for",))
    return Found(signed, faults)


class Found(Record):
    """A folder's statement, None where there is none that can be read, and what is wrong with it."""

    signed: Signed | None
    faults: tuple[str, ...]


def is_producer(name: object) -> bool:
    """Return whether a text can say who signs: a line that people can read, or nothing.

    Examples
    --------
    >>> is_producer("Data office, St. Anna"), is_producer(" in the middle ")
    (True, False)
    """
    return isinstance(name, str) and len(name) <= LONGEST_PRODUCER and name.isprintable() and name == name.strip()


def is_time(text: object) -> bool:
    """Return whether a text is a time in UTC, to the second.

    Examples
    --------
    >>> is_time("2026-11-17T10:00:00+00:00"), is_time("2026-02-30T10:00:00+00:00")
    (True, False)
    """
    if not isinstance(text, str) or not re.fullmatch(_TIME, text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _decoded(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
