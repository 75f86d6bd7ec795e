"""The signed statement beside a release, held against the folder that it is about."""

import json
import random

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from equipoise.artifact import page_file, statement
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import PAGE, STATEMENT
from equipoise.keys import PrivateKey, sign
from fuzz.mutation import json_values
from fuzz.readers import certificate as certificates

# Nobody's key: the same in every run.
KEY = PrivateKey(Ed25519PrivateKey.from_private_bytes(bytes(32)))
PAGE_TEXT = page_file.written(page_file.PageFacts((("equipoise", "0.2.0"),)))


def _released() -> Certificate:
    found = (Certificate.from_json(data.decode()) for data in certificates.examples())
    return next(one for one in found if one.release is not None)


RELEASED = _released()
DIGESTS = dict.fromkeys(("MANIFEST.sha256", "certificate.json", PAGE), "0" * 64)
TRUE = statement.payload_of(DIGESTS, RELEASED, PAGE_TEXT, "Data office", "2026-11-17T10:00:00+00:00")


def _signed(payload: bytes) -> bytes:
    return statement.written(payload, KEY.public, sign(KEY, statement.PAYLOAD_TYPE, payload)).encode()


def examples() -> list[bytes]:
    """Return a statement as it is signed."""
    return [_signed(TRUE)]


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Alter the envelope, or sign another statement with the same key."""
    if chance.random() < 0.5:
        return json_values(data, chance)
    return _signed(json_values(TRUE, chance))


def read(data: bytes) -> None:
    """Check it: only what was signed, or signed anew by somebody of another name or date, is about this folder."""
    contents = {STATEMENT: data, PAGE: PAGE_TEXT.encode()}
    found = statement.found_in(contents, DIGESTS, RELEASED)
    if not found.faults and found.signed is not None:
        said = json.loads(found.signed.payload)
        expected = json.loads(TRUE)
        for own in (said, expected):
            own["predicate"].pop("producer"), own["predicate"].pop("signed")
        if said != expected or not found.signed.holds():
            raise AssertionError("a forged statement")
