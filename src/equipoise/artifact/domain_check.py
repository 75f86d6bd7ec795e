"""Whether rows, as the schema of a folder encodes them, lie in the domain that its certificate speaks of.

A certificate names its schema by a digest, and states the domain for itself: the claim holds for rows of that domain.
A wider one is fine, since whatever holds for longer rows holds for shorter ones. In a narrower one there would be rows
that the encoding makes and the claim does not know of.
"""

from collections.abc import Iterator, Mapping

from equipoise.artifact.parts import Part
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Trained
from equipoise.certify.folder import CERTIFICATE, CHECK_FAILED, SCHEMA, text_of
from equipoise.data.schema import Schema
from equipoise.errors import EquipoiseError
from equipoise.vocabulary.facts import Domain

COMPARED = "the domain: rows and targets lie in it, as the schema encodes them"


def domain_compared(contents: Mapping[str, bytes], certificate: Certificate) -> Part:
    """Return in what a certificate's domain contradicts the schema beside it; nothing where there is no schema."""
    claim = certificate.claim.trained
    if SCHEMA not in contents or not isinstance(claim, Trained):
        return Part(CHECK_FAILED)
    try:
        schema = Schema.from_text(text_of(contents, SCHEMA))
        encoded, columns = schema.domain, schema.n_features
    except EquipoiseError as error:
        return Part(CHECK_FAILED, (f"{SCHEMA}: no domain follows from it ({error.found:.200})",))
    faults = list(narrower(claim.problem.domain, encoded))
    if schema.seeded and not certificate.terms.seeded:
        faults.append("no seed, and the schema's facts are those that a seeded run chose")
    if certificate.n_features != columns:
        faults.append(f"{certificate.n_features} columns, and the schema encodes {columns}")
    if faults:
        return Part(CHECK_FAILED, tuple(f"{CERTIFICATE}: {fault}" for fault in faults))
    return Part(CHECK_FAILED, confirmed=(COMPARED,))


def narrower(claimed: Domain, encoded: Domain) -> Iterator[str]:
    """Yield in what a claimed domain does not hold the encoded rows and targets.

    Classes must be the same, in their order: the first one stands for every unknown label. What a row of a class
    counts for must be as the schema says, where it says anything; an estimator may say it instead.

    Examples
    --------
    >>> list(narrower(Domain(2.0, classes=(0, 1)), Domain(1.0, classes=(0, 1), row_sum=1.5)))
    []
    >>> list(narrower(Domain(0.5, classes=(0, 1)), Domain(1.0, classes=(0, 1))))
    ['rows of norm 0.5 at most, and the schema encodes rows of norm 1']
    """
    if claimed.row_norm < encoded.row_norm:
        yield f"rows of norm {claimed.row_norm:g} at most, and the schema encodes rows of norm {encoded.row_norm:g}"
    if claimed.row_sum is not None and (encoded.row_sum is None or claimed.row_sum < encoded.row_sum):
        longer = "any" if encoded.row_sum is None else f"{encoded.row_sum:.9g}"
        yield f"rows whose entries add up to {claimed.row_sum:.9g} at most, and by the schema to {longer}"
    # Where 1 is not True.
    if repr(claimed.classes) != repr(encoded.classes):
        yield "other classes than the schema's, or in another order"
    if encoded.class_weights is not None and claimed.class_weights != encoded.class_weights:
        yield "other weights of classes than the schema's"
    if (claimed.labels is None) is not (encoded.labels is None):
        yield "a target of another kind than the schema's"
    elif claimed.labels is not None and encoded.labels is not None:
        (low, high), (least, most) = claimed.labels, encoded.labels
        if low > least or high < most:
            yield f"targets from {low:g} to {high:g}, and the schema encodes them from {least:g} to {most:g}"
    if claimed.unit != encoded.unit:
        yield f"neighbours that differ in a {claimed.unit}, and the schema counts every {encoded.unit}"
    elif (claimed.rows_a_person or 0) < (encoded.rows_a_person or 0):
        found = f"{claimed.rows_a_person} rows of a person at most"
        yield f"{found}, and the schema keeps {encoded.rows_a_person}"
