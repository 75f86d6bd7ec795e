"""A released folder is read and checked: its bytes, what is wrong with them, what was not looked at, in words.

What is checked stands in `certify`; here are the file system and the sentences. That of an evaluation holds no model:
its certificate names the release that it is about. This file ships with equipoise-verify, too; that is why it imports
relatively.
"""

# ruff: noqa: TID252

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..certify.certificate import Certificate
from ..certify.claims import UNKNOWN
from ..certify.claims.evaluation import Evaluation, Looked
from ..certify.folder import (
    CERTIFICATE,
    CHECK_FAILED,
    DONE,
    MANIFEST,
    MODEL,
    NOT_CHECKABLE,
    PAGE,
    REPORT,
    SCHEMA,
    STATEMENT,
    WITHDRAWN,
    folder_faults,
    text_of,
)
from ..certify.record import AGAIN
from ..errors import ReleaseUnreadable
from ..vocabulary.records import Record
from ..wording import standing_in_words
from . import page_file
from .statement import evaluation_in

# No file of an honest release is longer; a longer one is not read.
LARGEST = {MODEL: 2**27, CERTIFICATE: 2**24, SCHEMA: 2**22, REPORT: 2**26, MANIFEST: 2**12, PAGE: 2**12}
LARGEST[STATEMENT] = 2**16
# An evaluation has no model, a model of numbers no schema; older releases have no page.json, and new ones no page where
# page.json says that none was drawn.
OPTIONAL = {MODEL, SCHEMA, PAGE, REPORT, STATEMENT}

# Who named another path has nothing to ask for again.
OTHER_PATH = "check the path; pass the folder that train or evaluate wrote"

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
    checked: str

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
            # Of what was withdrawn nobody says that it is proved.
            theorems = {} if self.withdrawn else claim.theorems()
            yield from (f"  {line}" for line in standing_in_words(theorems))
            if theorems:
                yield f"  to read them: equipoise docs {'+'.join(theorems)} (of the distribution equipoise)"
            yield from (f"  assumed: {line}" for line in claim.assumptions)
            yield from (f"  part: {each.kind}, {each.n_samples} rows" for each in getattr(claim.claim, "of", ()))
            yield f"  checked: {self.checked}"
        yield from (f"  not checked: {line}" for line in self.unchecked)

    def plain(self) -> dict[str, object]:
        """Return the answer for programs."""
        found = {"faults": self.faults, "withdrawn": self.withdrawn, "unchecked": self.unchecked}
        consistent = self.verdict[0] == DONE
        theorems = self.certificate.theorems() if consistent else {}
        return {"verdict": self.verdict[1], "consistent": consistent, **found, "theorems": theorems}


def contents_of(folder: Path, asked: str = "a released folder", maker: str = "train or evaluate") -> dict[str, bytes]:
    """Return the bytes of every file; anything but the files of a release is refused unread."""
    wrong = f"check the path; pass the folder that {maker} wrote"
    try:
        names = set(os.listdir(folder))
    except OSError as error:
        raise ReleaseUnreadable(f"{asked} {folder}", f"{error.strerror}", wrong) from None
    strange, missing = sorted(names - LARGEST.keys()), sorted(LARGEST.keys() - OPTIONAL - names)
    contents = {} if strange or missing else {name: _bytes(folder / name, name) for name in names}
    if contents and REPORT not in names and _page_drawn(contents):
        missing = [REPORT]
    if strange or missing:
        found = f"missing: {', '.join(missing) or 'nothing'}; besides: {', '.join(map(repr, strange)) or 'nothing'}"
        remedy = AGAIN if CERTIFICATE in names else wrong
        raise ReleaseUnreadable(f"a folder of {', '.join(LARGEST)}", f"{found:.300}", remedy)
    return contents


def _page_drawn(contents: Mapping[str, bytes]) -> bool:
    """Return whether there should be a page: unless page.json says, as it is written, that none was drawn."""
    try:
        return page_file.read(text_of(contents, PAGE)).drawn if PAGE in contents else True
    except ReleaseUnreadable:
        return True


def _bytes(path: Path, name: str, remedy: str = AGAIN) -> bytes:
    try:
        plain, content = not path.is_symlink() and path.is_file(), b""
        if plain:
            with path.open("rb") as file:
                # Some files, such as those of /proc, do not tell how long they are.
                content = file.read(LARGEST[name] + 1)
        if not plain or len(content) > LARGEST[name]:
            found = f"{'a longer one' if plain else 'a link, or no file'} at {path}"
            raise ReleaseUnreadable(f"a plain file {name} of at most {LARGEST[name]} bytes", found, remedy)
        return content
    except OSError as error:
        raise ReleaseUnreadable(f"the file {path}", f"{error.strerror}", "check its permissions") from None


def files_at(at: Path) -> dict[str, bytes]:
    """Return the files of a released folder, or a certificate.json by itself."""
    # Unlike the methods of a path, these questions never raise.
    if os.path.isdir(at):
        return contents_of(at)
    asked = "a released folder, an evaluation, or a certificate.json"
    if not os.path.exists(at):
        raise ReleaseUnreadable(asked, f"nothing at {at}", OTHER_PATH)
    content = _bytes(Path(os.path.realpath(at)), CERTIFICATE, OTHER_PATH)
    # Other files of a release are JSON, too.
    if not content.lstrip().startswith(b"{") or b'"schema_version"' not in content:
        raise ReleaseUnreadable(asked, f"another file, {at}, which is no certificate", OTHER_PATH)
    return {CERTIFICATE: content}


def inspect(path: Path) -> Findings:
    """Return what a check of every byte of a released folder finds, or of a certificate.json by itself."""
    return findings_of(files_at(path))


def bins_faults(certificate: Certificate) -> Iterator[str]:
    """Yield that bins are said to follow from counts that cannot be: of this very evaluation, or of none."""
    claim, made = evaluation_in(certificate), certificate.release
    named = None if claim is None else claim.cells.bins_from
    if named is not None and (not named.strip() or (made is not None and named == made.id)):
        yield f"{CERTIFICATE}: bins that follow from the counts of {repr(named)[:40]}, which is no earlier evaluation"
    if isinstance(certificate.claim, Looked):
        whole = certificate.claim
        parts = [part for part in (*whole.of, whole.released) if isinstance(part, Evaluation)]
        about = {(part.release, part.model, part.cells.labels, part.cells.groups, part.cells.by) for part in parts}
        if len(about) != 1:
            yield f"{CERTIFICATE}: a first look and counts that are not of one release, its classes and groups"
        if whole.released is not None and parts[0].released is None:
            yield f"{CERTIFICATE}: counts in bins that follow from a first look whose own counts are not there"


def bins_words(certificate: Certificate) -> tuple[str, ...]:
    """Return what nobody can tell of the bins of an evaluation whose edges follow from counts; empty elsewhere."""
    claim = evaluation_in(certificate)
    if isinstance(certificate.claim, Looked):
        return (
            "that edges of bins follow from the counts of the first look, which this certificate holds and pays for",
        )
    if claim is None or claim.cells.bins_from is None:
        return ()
    named = repr(claim.cells.bins_from)[1:-1][:40]
    return (
        f"the evaluation {named} from whose counts edges of bins follow: what it cost is in a certificate of its own, "
        "and adds to this one where both are about the same rows",
    )


def findings_of(contents: dict[str, bytes]) -> Findings:
    """Return what a check of these files finds; the model is taken out, so that it is not held twice."""
    certificate = Certificate.from_json(text_of(contents, CERTIFICATE))
    if MANIFEST not in contents:
        faults = (*certificate.faults(), *bins_faults(certificate))
        return Findings(certificate, faults, (*ALONE, *bins_words(certificate)), "claim")
    model, page = MODEL in contents, REPORT in contents
    # What else is wrong with a page is for whoever draws it again.
    undrawn = page and not _page_drawn(contents)
    stray = [f"{REPORT}: a page, and {PAGE} says that none was drawn"] if undrawn else []
    faults = (*stray, *folder_faults(contents, certificate), *bins_faults(certificate))
    checked = ["manifest", "claim", "schema digest", *(["model shape"] if model else [])]
    checked += [] if page else [f"no page, as {PAGE} says"]
    unchecked = tuple(line for line in (UNCHECKED if model else EVALUATED) if page or line != PAGE_UNSEEN)
    return Findings(certificate, faults, (*unchecked, *bins_words(certificate)), ", ".join(checked))
