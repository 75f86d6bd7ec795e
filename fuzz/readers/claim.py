"""The tree of claims by itself, its digest always renewed: only the inequalities are left to catch what was altered."""

import json
from dataclasses import replace

from equipoise.certify.certificate import Certificate, _digest
from equipoise.certify.claims import Claim
from equipoise.certify.record import parse
from equipoise.certify.record import read as read_value
from equipoise.errors import CertificateUnreadable
from fuzz.mutation import json_values
from fuzz.readers import certificate

SHARE = 0.7

mutate = json_values


def examples() -> list[bytes]:
    """Return the claims of the frozen certificates."""
    return [json.dumps(json.loads(data)["claim"]).encode() for data in certificate.examples()]


SHELL = certificate.examples()[0].decode()


def read(data: bytes) -> None:
    """Put it into a certificate, seal that and check it; its curve is asked for as pages do."""
    try:
        claim = read_value(Claim, parse(data.decode("utf-8", "replace")), "claim")
    except RecursionError:
        raise CertificateUnreadable("a tree", "a deep one", "none") from None
    whole = Certificate.from_json(SHELL)
    terms = replace(whole.terms, n_samples=claim.n_samples)
    sealed = Certificate(2, terms, claim, _digest(terms, claim), None, {})
    again = Certificate.from_json(sealed.to_json())
    if again.verify() == ():
        again.curve().delta(again.epsilon)
