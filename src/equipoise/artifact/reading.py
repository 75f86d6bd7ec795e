"""Reading a released folder: files that are whole, and a model, a certificate and a schema that belong together.

Nothing is made of it yet: an estimator (`equipoise.load`), or predictions without one
(`equipoise.artifact.predictions`).
"""

import os
from dataclasses import dataclass
from pathlib import Path

from equipoise.artifact import model_file
from equipoise.artifact.findings import contents_of
from equipoise.certify import folder as checked
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.evaluation import HeldOut
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.certify.folder import CERTIFICATE, MODEL, SCHEMA
from equipoise.certify.record import parse
from equipoise.data.schema import Schema
from equipoise.errors import NotCheckable, ReleaseUnreadable
from equipoise.estimators.saved import Saved


@dataclass(frozen=True, slots=True)
class OldRelease:
    """The texts of a folder of version 0.1.0, and its schema."""

    model: str
    certificate: str
    schema: Schema | None


@dataclass(frozen=True, slots=True)
class ReadRelease:
    """What was released, its certificate, and the schema that encodes rows for it, if there is one."""

    saved: Saved
    certificate: Certificate
    schema: Schema | None


def trained_on(certificate: Certificate) -> int:
    """Return the public number of rows, or persons, without those that were held out from the training."""
    claim = certificate.claim
    return claim.of[-1].n_samples if isinstance(claim, HeldOut) else certificate.n_samples


def read_release(folder: str | os.PathLike[str]) -> ReadRelease | OldRelease:
    """Return what a released folder holds; refuse files that were altered or that do not belong together."""
    return release_in(contents_of(Path(folder)))


def release_in(contents: dict[str, bytes]) -> ReadRelease | OldRelease:
    """Return what these files of a released folder hold; the model is taken out, so that it is not held twice."""
    if MODEL not in contents:
        remedy = "read it with equipoise figures FOLDER (Python: Evaluation.load), or pass the folder that train wrote"
        raise ReleaseUnreadable("the folder of a released model", "one without a model, as of an evaluation", remedy)
    altered = tuple(checked.manifest_faults(contents))
    if altered:
        raise ReleaseUnreadable(
            "a release as it was made", "; ".join(altered), "ask for the folder again; equipoise verify says more"
        )
    schema = Schema.from_text(checked.text_of(contents, SCHEMA)) if SCHEMA in contents else None
    texts = checked.text_of(contents, MODEL), checked.text_of(contents, CERTIFICATE)
    del contents[MODEL]
    try:
        certificate = Certificate.from_json(texts[1])
    except NotCheckable:
        if parse(texts[1])["schema_version"] != 1:
            raise
        return OldRelease(*texts, schema)
    # Parsed once, for a model may be large; what does not belong here is refused before more is made of it.
    record = model_file.parsed(texts[0])
    faults = (*checked.schema_faults(contents, certificate), *checked.model_faults(record, certificate))
    if schema is not None and tuple(record["features"]) != schema.encoded_names():
        faults = (*faults, f"{MODEL}: names of other columns than the schema's")
    if faults:
        raise ReleaseUnreadable(
            "a model, a certificate and a schema that belong together", "; ".join(faults), model_file.AGAIN
        )
    paid = [node.budget.epsilon for node in certificate.claim.nodes() if isinstance(node, PrivateBounds)]
    if schema is not None and paid:
        schema = schema.with_private_bounds(paid[0])
    return ReadRelease(model_file.settled(record), certificate, schema)
