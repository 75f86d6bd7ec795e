"""What is wrong with the files of a release, from their bytes alone: manifest, schema, shape of the model, claim.

Those of an evaluation hold no model: its certificate names the release that it is about. `artifact.findings` reads the
files and says what was found.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from ..errors import CertificateUnreadable, ReleaseUnreadable
from ..vocabulary.facts import Label, is_label
from .certificate import Certificate
from .claims import UNKNOWN, Trained
from .claims.evaluation import Counted, Evaluation, HeldOut
from .record import AGAIN, parse

MODEL, CERTIFICATE, SCHEMA = "model.json", "certificate.json", "schema.toml"
REPORT, MANIFEST = "report.html", "MANIFEST.sha256"
# What the page was drawn with and from, besides the others; and who signed all of them, which no manifest can list.
PAGE, STATEMENT = "page.json", "statement.dsse.json"
MODEL_FIELDS = "certificate classes coefficients estimator features format_version intercepts model selected"

DONE, CHECK_FAILED, REFUSED, WITHDRAWN, NOT_CHECKABLE = 0, 1, 2, 5, 6


def manifest_of(files: Mapping[str, bytes]) -> str:
    """Return the manifest of files, in the order of their names, in the form that ``sha256sum --check`` reads.

    All but itself and the statement, which is made afterwards and covers the manifest, too.

    Examples
    --------
    >>> manifest_of({"b": b"", "a": b""}).splitlines()[0][-3:]
    '  a'
    """
    listed = sorted(files.keys() - {MANIFEST, STATEMENT})
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in listed)


def manifest_faults(contents: Mapping[str, bytes]) -> Iterator[str]:
    """Yield one line for each file that is not as the manifest says, or for a manifest that is not as it is written."""
    expected, text = manifest_of(contents), contents[MANIFEST].decode("utf-8", "replace")
    if text == expected:
        return
    changed = [line.split("  ", 1)[1] for line in expected.splitlines() if line not in text]
    yield from (f"{name}: its bytes are not those of the manifest" for name in changed)
    if not changed:
        yield f"{MANIFEST}: not as this program writes it"


def text_of(contents: Mapping[str, bytes], name: str) -> str:
    """Return a file as text; a model, the largest, as it is written, since one other letter widens all of them."""
    coding = "ASCII" if name == MODEL else "UTF-8"
    try:
        return contents[name].decode(coding)
    except UnicodeDecodeError:
        raise ReleaseUnreadable(f"{name} as {coding} text", "other bytes", AGAIN) from None


def schema_faults(contents: Mapping[str, bytes], certificate: Certificate) -> Iterator[str]:
    """Yield that the schema is not the one that the certificate names."""
    found = hashlib.sha256(contents[SCHEMA]).hexdigest() if SCHEMA in contents else ""
    if found != certificate.terms.schema:
        yield f"{SCHEMA}: not the schema that the certificate names"


def pair_faults(contents: Mapping[str, bytes], certificate: Certificate) -> Iterator[str]:
    """Yield that rows were held out for another release, or for other weights than those that lie here."""
    found, made = getattr(certificate.claim, "released", None), certificate.release
    if isinstance(certificate.claim, HeldOut) and isinstance(found, Evaluation) and made is not None:
        # The digest stands there once: in any other text it would be a way to write something else.
        parts = contents.get(MODEL, b"").split(certificate.digest.encode())
        own = hashlib.sha256(b"".join(parts)).hexdigest() if len(parts) == 2 else ""
        if found.release != made.id or found.model != (own if MODEL in contents else found.model):
            yield f"{CERTIFICATE}: an evaluation of another release, or of other weights"


def model_faults(model: Any, certificate: Certificate) -> Iterator[str]:
    """Yield what is wrong with the weights beside a certificate: their shape, or that they belong to another one."""
    if not isinstance(model, dict) or model.get("certificate") != certificate.digest:
        yield f"{MODEL}: weights for another certificate"
        return
    if model.get("format_version") != 2:
        yield f"{MODEL}: format {model.get('format_version')!r:.20}{UNKNOWN}"
        return
    trained, width, rows = certificate.claim.trained, certificate.n_features, model.get("coefficients")
    names, places = model.get("features"), model.get("selected")
    if " ".join(sorted(model)) != MODEL_FIELDS or not _named(model["model"]) or not _named(model["estimator"]):
        yield f"{MODEL}: other fields than those of format 2"
        return
    if not _texts(names) or len(names) not in (0, width):
        yield f"{MODEL}: names of other columns"
    if not isinstance(places, list) or not all(type(place) is int and place in range(width) for place in places):
        yield f"{MODEL}: columns selected that there are not"
        return
    if certificate.release is None or any(
        getattr(node, "released", 0) is None for node in (certificate.claim, certificate.claim.main, trained)
    ):
        yield f"{CERTIFICATE}: a plan, beside weights"
    if isinstance(trained, Evaluation):
        yield f"{MODEL}: beside an evaluation, which has none"
    if not isinstance(trained, Trained):
        # After a refusal the first column stands for none.
        fitting = len(places) == 1 and (getattr(trained, "released", True) is not False or places == [0])
        if rows != [] or model.get("intercepts") != [] or not fitting:
            yield f"{MODEL}: weights, where none were released, or another column than a refusal leaves"
        return
    outputs, declared = trained.problem.loss.outputs, trained.problem.domain.classes
    matrix: list[Any] = [*rows, model.get("intercepts")] if isinstance(rows, list) else []
    if [len(row) if isinstance(row, list) else -1 for row in matrix] != [width] * outputs + [outputs]:
        yield f"{MODEL}: weights of another shape"
    elif not all(type(entry) is float and math.isfinite(entry) for row in matrix for entry in row):
        yield f"{MODEL}: weights that are no numbers"
    elif not _covered(trained, matrix):
        yield f"{MODEL}: numbers that no noise covers: a constant, sums over classes, or weights after a refusal"
    if not _declared(model.get("classes"), declared):
        yield f"{MODEL}: other classes"


def _declared(classes: Any, declared: tuple[Label, ...] | str | None) -> bool:
    """Return whether classes are those of the domain, where 1 is not True; of observed ones there are one or two."""
    if declared == "observed":
        return isinstance(classes, list) and len(classes) in (1, 2) and all(map(is_label, classes))
    known = list(declared or ())
    return isinstance(classes, list) and len(classes) == len(known) and repr(classes) == repr(known)


def _texts(values: Any) -> TypeGuard[list[str]]:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _named(value: Any) -> bool:
    """Return whether a value is an estimator's name with its settings, or none."""
    if value is None:
        return True
    if not isinstance(value, dict) or value.keys() != {"name", "settings"} or not isinstance(value["settings"], list):
        return False
    entries = [entry for entry in value["settings"] if isinstance(entry, dict) and entry.keys() == {"name", "value"}]
    scalar = all(entry["value"] is None or isinstance(entry["value"], bool | int | float | str) for entry in entries)
    return len(entries) == len(value["settings"]) and scalar and _texts([value["name"], *(e["name"] for e in entries)])


def _covered(claim: Trained, matrix: list[list[float]]) -> bool:
    """Return whether weights hold no more than noise covers; the last line of the matrix holds the constants."""
    *weights, constants = matrix
    domain, refused = claim.problem.domain, getattr(claim, "scale", 1.0) == 0
    if refused and any(entry != 0 for row in weights for entry in row):
        return False
    if (refused or claim.problem.intercept == 0) and any(entry != domain.label_centre for entry in constants):
        return False
    if claim.problem.loss.outputs == 1:
        return True
    # Classes share what is added to all of them: free weights are one class fewer, and the rest adds up to 0 (A2).
    sums = [math.fsum(column) for column in (*zip(*weights, strict=True), constants)]
    return max(map(abs, sums)) <= 1e-9 * max(abs(entry) for row in matrix for entry in row)


def folder_faults(contents: dict[str, bytes], certificate: Certificate) -> tuple[str, ...]:
    """Return one line for everything that is wrong with these files, among them the certificate.

    The model is taken out, so that it is not held twice; only of an evaluation there may be none.
    """
    faults = (*manifest_faults(contents), *schema_faults(contents, certificate), *pair_faults(contents, certificate))
    claim = certificate.claim
    if MODEL not in contents:
        if not isinstance(claim, Evaluation | Counted) or None in (certificate.release, claim.released):
            raise ReleaseUnreadable(f"a folder with {MODEL}", "none, and no evaluation that was carried out", AGAIN)
        return (*faults, *certificate.faults())
    text = text_of(contents, MODEL)
    del contents[MODEL]
    try:
        model = parse(text)
    except CertificateUnreadable as error:
        raise ReleaseUnreadable("a model in JSON", error.found, error.remedy) from None
    faults += tuple(model_faults(model, certificate))
    return (*faults, *(f"{CERTIFICATE}: {fault}" for fault in certificate.faults()))
