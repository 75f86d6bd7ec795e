"""A released folder, checked from its bytes alone: manifest, claims, schema, shape of the model.

That of an evaluation holds no model: its certificate names the release that it is about.
"""

import hashlib
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from ..errors import CertificateUnreadable, ReleaseUnreadable
from ..vocabulary.facts import Label, is_label
from ..vocabulary.records import Record
from .certificate import Certificate
from .claims import UNKNOWN, Trained
from .claims.evaluation import Evaluation, HeldOut
from .record import AGAIN, parse

MODEL, CERTIFICATE, SCHEMA = "model.json", "certificate.json", "schema.toml"
REPORT, MANIFEST = "report.html", "MANIFEST.sha256"
# What the page was drawn with and from, besides the others; and who signed all of them, which no manifest can list.
PAGE, STATEMENT = "page.json", "statement.dsse.json"
MODEL_FIELDS = "certificate classes coefficients estimator features format_version intercepts model selected"

DONE, CHECK_FAILED, REFUSED, WITHDRAWN, NOT_CHECKABLE = 0, 1, 2, 5, 6

# No file of an honest release is longer; a longer one is not read.
LARGEST = {MODEL: 2**27, CERTIFICATE: 2**24, SCHEMA: 2**22, REPORT: 2**26, MANIFEST: 2**12, PAGE: 2**12}
LARGEST[STATEMENT] = 2**16
# An evaluation has no model, a model of numbers no schema; older releases have no page.json.
OPTIONAL = {MODEL, SCHEMA, PAGE, STATEMENT}

NOT_SEEN = (
    "who made the release and when: no signature was looked at",
    "whether a ledger recorded the spend",
    "whether noise was drawn and rows were mapped by the declared facts, whether those were chosen without a look at "
    "rows, and what else was released from them: no arithmetic can tell",
)
NOTES = "sentences and figures of the certificate's notes, which the page and explain repeat: no claim rests on them"
PAGE_UNSEEN = "what the page says: its bytes are those of the manifest, and nobody compared its numbers"
UNCHECKED = (*NOT_SEEN, NOTES, PAGE_UNSEEN)
EVALUATED = (*UNCHECKED, "the release that it is about, which lies apart: its id and the digest of its model are named")
ALONE = (*NOT_SEEN, NOTES, "model, schema and page: this certificate lies apart from its release")


class Findings(Record):
    """What a check found: the certificate, everything that is wrong, what was withdrawn, and what was not looked at."""

    certificate: Certificate
    faults: tuple[str, ...]
    unchecked: tuple[str, ...]
    checked: str = "manifest, claim, schema digest, model shape"

    @property
    def withdrawn(self) -> tuple[str, ...]:
        """What the claim rests on that was found false since."""
        return self.certificate.withdrawn()

    @property
    def verdict(self) -> tuple[int, str]:
        """The answer for scripts, an exit code, and in a word or two."""
        if self.faults:
            unknown = all(fault.endswith(UNKNOWN) for fault in self.faults)
            return (NOT_CHECKABLE, "unknown") if unknown else (CHECK_FAILED, "does not hold")
        return (WITHDRAWN, "withdrawn") if self.withdrawn else (DONE, "consistent; origin unproved")

    def lines(self) -> Iterator[str]:
        """Yield the answer for people: the verdict, what it rests on or what is wrong, and what was not checked."""
        claim = self.certificate
        yield f"{self.verdict[1]}: ({claim.epsilon:g}, {claim.delta:g})-differential privacy, {claim.adjacency}"
        yield from (f"  {line}" for line in (*self.faults, *self.withdrawn))
        if not self.faults:
            once = "once " if self.withdrawn else ""
            yield f"  {once}{claim.grade}, by {claim.theorem}, {claim.kind} and {claim.mechanism}"
            yield from (f"  assumed: {line}" for line in claim.assumptions)
            yield from (f"  part: {each.kind}, {each.n_samples} rows" for each in getattr(claim.claim, "of", ()))
            yield f"  checked: {self.checked}"
        yield from (f"  not checked: {line}" for line in self.unchecked)

    def plain(self) -> dict[str, object]:
        """Return the answer for programs."""
        found = {"faults": self.faults, "withdrawn": self.withdrawn, "unchecked": self.unchecked}
        return {"verdict": self.verdict[1], "consistent": self.verdict[0] == DONE, **found}


def contents_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file; anything but the files of a release is refused unread."""
    try:
        names = set(os.listdir(folder))
    except OSError as error:
        raise ReleaseUnreadable(f"a released folder {folder}", f"{error.strerror}", "pass what train wrote") from None
    strange, missing = sorted(names - LARGEST.keys()), sorted(LARGEST.keys() - OPTIONAL - names)
    if strange or missing:
        found = f"missing: {', '.join(missing) or 'nothing'}; besides: {', '.join(map(repr, strange)) or 'nothing'}"
        raise ReleaseUnreadable(f"a folder of {', '.join(LARGEST)}", f"{found:.300}", AGAIN)
    return {name: _bytes(folder / name, name) for name in names}


def _bytes(path: Path, name: str) -> bytes:
    try:
        plain, content = not path.is_symlink() and path.is_file(), b""
        if plain:
            with path.open("rb") as file:
                # Some files, such as those of /proc, do not tell how long they are.
                content = file.read(LARGEST[name] + 1)
        if not plain or len(content) > LARGEST[name]:
            found = f"{'a longer one' if plain else 'a link, or no file'} at {path}"
            raise ReleaseUnreadable(f"a plain file {name} of at most {LARGEST[name]} bytes", found, AGAIN)
        return content
    except OSError as error:
        raise ReleaseUnreadable(f"the file {path}", f"{error.strerror}", "check its permissions") from None


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


def files_at(at: Path) -> dict[str, bytes]:
    """Return the files of a released folder, or a certificate.json by itself."""
    # Unlike the methods of a path, these two questions never raise.
    return contents_of(at) if os.path.isdir(at) else {CERTIFICATE: _bytes(Path(os.path.realpath(at)), CERTIFICATE)}


def inspect(path: Path) -> Findings:
    """Return what a check of every byte of a released folder finds, or of a certificate.json by itself."""
    return findings_of(files_at(path))


def findings_of(contents: dict[str, bytes]) -> Findings:
    """Return what a check of these files finds; the model is taken out, so that it is not held twice."""
    certificate = Certificate.from_json(text_of(contents, CERTIFICATE))
    if MANIFEST not in contents:
        return Findings(certificate, certificate.faults(), ALONE, "claim")
    faults = (*manifest_faults(contents), *schema_faults(contents, certificate), *pair_faults(contents, certificate))
    if MODEL not in contents:
        claim = certificate.claim
        if not isinstance(claim, Evaluation | HeldOut) or None in (certificate.release, claim.released):
            raise ReleaseUnreadable(f"a folder with {MODEL}", "none, and no evaluation that was carried out", AGAIN)
        return Findings(certificate, (*faults, *certificate.faults()), EVALUATED, "manifest, claim, schema digest")
    text = text_of(contents, MODEL)
    del contents[MODEL]
    try:
        model = parse(text)
    except CertificateUnreadable as error:
        raise ReleaseUnreadable("a model in JSON", error.found, error.remedy) from None
    faults += tuple(model_faults(model, certificate))
    return Findings(certificate, (*faults, *(f"{CERTIFICATE}: {fault}" for fault in certificate.faults())), UNCHECKED)
