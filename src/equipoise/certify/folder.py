"""A released folder, checked from its bytes alone: manifest, claims, schema, shape of the model."""

import hashlib
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CertificateUnreadable, ReleaseUnreadable
from .certificate import Certificate
from .claims import Trained
from .record import AGAIN, parse

MODEL, CERTIFICATE, SCHEMA, REPORT, MANIFEST = (
    "model.json",
    "certificate.json",
    "schema.toml",
    "report.html",
    "MANIFEST.sha256",
)

# No file of an honest release is longer; a longer one is not read.
LARGEST = {MODEL: 2**28, CERTIFICATE: 2**24, SCHEMA: 2**22, REPORT: 2**26, MANIFEST: 2**12}

NOT_SEEN = (
    "who made the release and when: no signature was looked at",
    "whether a ledger recorded the spend",
    "whether noise was drawn: no arithmetic can tell",
)
UNCHECKED = (*NOT_SEEN, "what the page says: its bytes are those of the manifest, and nobody compared its numbers")
ALONE = (*NOT_SEEN, "model, schema and page: this certificate lies apart from its release")


@dataclass(frozen=True, slots=True)
class Findings:
    """What a check found: the certificate, everything that is wrong, what was withdrawn, and what was not looked at."""

    certificate: Certificate
    faults: tuple[str, ...]
    unchecked: tuple[str, ...]

    @property
    def withdrawn(self) -> tuple[str, ...]:
        """What the claim rests on that was found false since."""
        return self.certificate.withdrawn()

    @property
    def verdict(self) -> str:
        """The answer in a word or two."""
        if self.faults:
            return "does not hold"
        return "withdrawn" if self.withdrawn else "consistent; origin unproved"


def contents_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file; anything but the files of a release is refused unread."""
    try:
        entries = {entry.name: entry for entry in os.scandir(folder)}
    except OSError as error:
        found = error.strerror or "it cannot be opened"
        raise ReleaseUnreadable(f"a released folder {folder}", found, "pass the folder that train wrote") from None
    needed = LARGEST.keys() - {SCHEMA}
    strange, missing = sorted(entries.keys() - LARGEST.keys()), sorted(needed - entries.keys())
    if strange or missing:
        found = f"missing: {', '.join(missing) or 'nothing'}; besides: {', '.join(map(repr, strange[:8])) or 'nothing'}"
        raise ReleaseUnreadable(f"a folder of {', '.join(LARGEST)}", f"{found:.300}", AGAIN)
    contents = {}
    for name, entry in entries.items():
        if not entry.is_file(follow_symlinks=False) or entry.stat(follow_symlinks=False).st_size > LARGEST[name]:
            raise ReleaseUnreadable(f"a plain file {name} of at most {LARGEST[name]} bytes", "something else", AGAIN)
        try:
            contents[name] = Path(entry.path).read_bytes()
        except OSError as error:
            raise ReleaseUnreadable(name, error.strerror or "it cannot be read", "check its permissions") from None
    return contents


def manifest_of(files: Mapping[str, bytes]) -> str:
    """Return the manifest of files, in the order of their names, in the form that ``sha256sum --check`` reads.

    Examples
    --------
    >>> manifest_of({"b": b"", "a": b""}).splitlines()[0][-3:]
    '  a'
    """
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files) if name != MANIFEST)


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
    """Return a file as text."""
    try:
        return contents[name].decode("utf-8")
    except UnicodeDecodeError:
        raise ReleaseUnreadable(f"{name} as UTF-8 text", "other bytes", AGAIN) from None


def schema_faults(contents: Mapping[str, bytes], certificate: Certificate) -> Iterator[str]:
    """Yield that the schema is not the one that the certificate names."""
    found = hashlib.sha256(contents[SCHEMA]).hexdigest() if SCHEMA in contents else ""
    if found != certificate.terms.schema:
        yield f"{SCHEMA}: not the schema that the certificate names"


def model_faults(model: Any, certificate: Certificate) -> Iterator[str]:
    """Yield what is wrong with the weights beside a certificate: their shape, or that they belong to another one."""
    trained = certificate.claim.trained
    if not isinstance(model, dict) or model.get("certificate") != certificate.digest:
        yield f"{MODEL}: weights for another certificate"
        return
    rows: Any = model.get("coefficients")
    constants: Any = model.get("intercepts")
    if not isinstance(trained, Trained):
        places = model.get("selected")
        known = isinstance(places, list) and all(place in range(certificate.n_features) for place in places)
        if rows != [] or constants != [] or not known:
            yield f"{MODEL}: weights, where none were released, or no such columns"
        return
    outputs, width = trained.problem.loss.outputs, certificate.n_features
    listed = isinstance(rows, list) and isinstance(constants, list)
    matrix = [*rows, constants] if listed and all(isinstance(row, list) for row in rows) else []
    if [len(row) for row in matrix] != [width] * outputs + [outputs]:
        yield f"{MODEL}: weights of another shape"
    elif not all(type(entry) is float and math.isfinite(entry) for row in matrix for entry in row):
        yield f"{MODEL}: weights that are no numbers"
    declared = trained.problem.domain.classes
    if declared != "observed" and model.get("classes") != list(declared or ()):
        yield f"{MODEL}: other classes"


def certificate_at(path: Path) -> Certificate:
    """Return the certificate of a released folder, or in a file by itself."""
    if path.is_dir():
        return Certificate.from_json(text_of(contents_of(path), CERTIFICATE))
    remedy = "pass a released folder or the path of a certificate.json"
    try:
        if path.is_file() and path.stat().st_size > LARGEST[CERTIFICATE]:
            raise CertificateUnreadable(f"at most {LARGEST[CERTIFICATE]} bytes", "a longer file", remedy)
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "bytes that are not UTF-8 text"
        raise CertificateUnreadable(f"a certificate at {path}", f"{found}", remedy) from None
    return Certificate.from_json(text)


def inspect(path: Path) -> Findings:
    """Return what a check of every byte of a released folder finds, or of a certificate.json by itself."""
    certificate = certificate_at(path)
    if not path.is_dir():
        return Findings(certificate, certificate.faults(), ALONE)
    contents = contents_of(path)
    try:
        model = parse(text_of(contents, MODEL))
    except CertificateUnreadable as error:
        raise ReleaseUnreadable("a model in JSON", error.found, error.remedy) from None
    faults = (*manifest_faults(contents), *schema_faults(contents, certificate), *model_faults(model, certificate))
    return Findings(certificate, (*faults, *(f"{CERTIFICATE}: {fault}" for fault in certificate.faults())), UNCHECKED)
