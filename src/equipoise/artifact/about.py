"""Whether an evaluation is about a released folder: it names the id of a release and the SHA-256 of its model."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from equipoise.artifact.findings import EVALUATED, contents_of, findings_of
from equipoise.artifact.parts import Part
from equipoise.artifact.statement import evaluation_in
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.evaluation import HeldOut
from equipoise.certify.folder import CHECK_FAILED, MODEL
from equipoise.errors import InvalidParameter, ReleaseUnreadable

OTHER_FOLDER = "pass the folder of the release that was evaluated"


def about(certificate: Certificate, release: Path | None) -> Part:
    """Return what comes of holding an evaluation against the folder that it should be about, if one was named."""
    if release is None:
        return Part(CHECK_FAILED, unchecked=EVALUATED[-1:])
    faults = tuple(f"--release: {fault}" for fault in faults_of(certificate, release))
    found = f"it is about {release.name or release}: its id and model are those that are named, and its claim holds"
    return Part(CHECK_FAILED, faults) if faults else Part(CHECK_FAILED, confirmed=(found,))


def require_about(certificate: Certificate, release: Path) -> None:
    """Refuse an evaluation that is about another release, or about one that does not hold."""
    faults = tuple(faults_of(certificate, release))
    if faults:
        asked = f"an evaluation of the release in {release.name or release}"
        raise ReleaseUnreadable(asked, f"{'; '.join(faults):.300}", OTHER_FOLDER)


def faults_of(certificate: Certificate, release: Path) -> Iterator[str]:
    """Yield why an evaluation is not about a released folder; one that does not hold is nothing to be about."""
    claim, contents = evaluation_in(certificate), contents_of(release)
    if MODEL not in contents:
        asked = "the folder of a released model, which an evaluation is about"
        raise InvalidParameter(asked, "one without a model, as of an evaluation", OTHER_FOLDER)
    if claim is None:
        yield f"about no release: a certificate of kind {certificate.kind!r}"
        return
    # The digest of a certificate that covers both stands in the model, and cannot be among what it names.
    own = certificate.digest.encode() if isinstance(certificate.claim, HeldOut) else b""
    digest = hashlib.sha256(contents[MODEL].replace(own, b"") if own else contents[MODEL]).hexdigest()
    found = findings_of(contents)
    yield from (f"that folder does not hold: {fault}" for fault in found.faults[:3])
    made = found.certificate.release
    if made is None or made.id != claim.release:
        yield f"about the release {claim.release:.40}, and that folder holds {made.id if made else 'none':.40}"
    if digest != claim.model:
        yield f"about a {MODEL} with the SHA-256 {claim.model:.16}..., and that folder's has {digest[:16]}..."
    if found.certificate.terms.schema != certificate.terms.schema:
        yield "rows were encoded by another schema than that folder's"
