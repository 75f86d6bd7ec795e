"""What a folder is held against, and what comes of it: files, claim, page, signature, ledger, policy, release."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.artifact import page_file, statement
from equipoise.artifact.about import about
from equipoise.artifact.findings import ALONE, NOT_SEEN, NOTES, Findings, files_at, findings_of
from equipoise.artifact.parts import (
    BEYOND_POLICY,
    EVALUATION_SEEN,
    FILES_SEEN,
    NOT_PAID,
    NOT_SIGNED,
    NOT_TRUSTED,
    OTHER_HISTORY,
    WORDS,
    Part,
)
from equipoise.artifact.policy import Policy, Shown
from equipoise.artifact.trust import UNPROVED, Trusted, origin
from equipoise.certify.claims.evaluation import HeldOut
from equipoise.certify.folder import (
    CERTIFICATE,
    CHECK_FAILED,
    DONE,
    MANIFEST,
    MODEL,
    PAGE,
    REPORT,
    SCHEMA,
    WITHDRAWN,
    text_of,
)
from equipoise.errors import InvalidParameter, ReleaseUnreadable

if TYPE_CHECKING:
    from equipoise.artifact.attack import Membership
    from equipoise.artifact.page_check import EvaluationPage
    from equipoise.artifact.payment import History

SIGNATURE_NOT_SEEN, LEDGER_NOT_SEEN, NOISE_NOT_SEEN = NOT_SEEN
# Where a model is saved by itself, or the ledger did not answer after the spend, a page says that this was not at hand.
STATE_NOT_SHOWN = "what was left of the budget after the spend: the page does not show it"


@dataclass(frozen=True, slots=True)
class Against:
    """What a release is held against, besides itself.

    Attributes
    ----------
    keys : mapping or None
        The keys that count, by their bytes.
    history : History or None
        The entries of a ledger or an export.
    witnesses, witness_keys : sequences
        Who knows the ledger's history, and whose checkpoints count.
    policy : Policy or None
        A site's limits.
    release : Path or None
        The released folder that an evaluation should be about.
    attack : callable or None
        The laboratory's attack, by which that of a page is run again.
    today : date
        In UTC.
    """

    keys: Mapping[bytes, Trusted] | None = None
    history: History | None = None
    witnesses: Sequence[str] = ()
    witness_keys: Sequence[Path] = ()
    policy: Policy | None = None
    release: Path | None = None
    attack: Membership | None = None
    today: datetime.date = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).date())


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found, part by part; the first part with faults says what kind of refusal it is."""

    found: Findings
    parts: tuple[Part, ...]

    @property
    def whole(self) -> Findings:
        """All faults, and all that was not looked at."""
        unchecked = (line for part in self.parts for line in part.unchecked)
        faults = (line for part in self.parts for line in part.faults)
        own = self.found.unchecked[-1:] if self.found.unchecked == ALONE else ()
        return replace(
            self.found,
            faults=(*self.found.faults, *faults),
            unchecked=(*unchecked, NOISE_NOT_SEEN, *own),
        )

    @property
    def confirmed(self) -> tuple[str, ...]:
        """What holds beyond the folder's own claim."""
        return tuple(line for part in self.parts for line in part.confirmed)

    @property
    def answer(self) -> tuple[int, str]:
        """The exit code, and the verdict in a few words."""
        code, word = self.found.verdict
        refusals = [part.code for part in self.parts if part.faults]
        if code not in (DONE, WITHDRAWN) or (code == WITHDRAWN and refusals in ([], [BEYOND_POLICY])):
            return code, word
        if refusals:
            return refusals[0], "does not hold" if refusals[0] == CHECK_FAILED else WORDS[refusals[0]]
        said = {part.code: part.summary for part in self.parts if part.summary}
        return code, "; ".join(["consistent", said.pop(NOT_TRUSTED, UNPROVED), *said.values()])

    def lines(self) -> Iterator[str]:
        """Yield the answer for people: the verdict, what it rests on or is wrong, what holds, what was not checked."""
        whole = self.whole
        first, *rest = (line.removeprefix(whole.verdict[1]) for line in whole.lines())
        unchecked = len(whole.unchecked)
        confirmed = (f"  checked: {line}" for line in self.confirmed)
        for line in (f"{self.answer[1]}{first}", *rest[:-unchecked], *confirmed, *rest[-unchecked:]):
            # A file may hold what a terminal obeys.
            yield line if line.isprintable() else ascii(line)

    def plain(self) -> dict[str, object]:
        """Return the answer for programs."""
        code, word = self.answer
        found = {**self.whole.plain(), "verdict": word, "consistent": code == DONE}
        return {**found, "confirmed": self.confirmed, "exit_code": code}


def examine(path: Path, against: Against, evaluation_page: EvaluationPage | None = None) -> Verdict:
    """Return what a check of a released folder finds, of an evaluation's, or of a certificate.json by itself.

    Without `evaluation_page` the page of an evaluation is not compared, and that is said.
    """
    contents = files_at(path)
    digests = statement.digests_of(contents)
    alone, evaluation = MANIFEST not in contents, MANIFEST in contents and MODEL not in contents
    if alone and against.keys is not None:
        asked = "a released folder, whose signature is looked at"
        raise InvalidParameter(asked, "a certificate by itself", "pass the folder that it was released in")
    if against.release is not None and not evaluation:
        asked = "an evaluation, to hold it against the release that it is about"
        raise InvalidParameter(asked, "no folder of an evaluation", "leave --release out")
    # Nothing is read a second time: who can write the folder could put other files there meanwhile.
    found = findings_of(dict(contents))
    shown, parts, drawn = _shown(contents), [], Part(CHECK_FAILED)
    said, files = None if shown is None else shown.ledger, ""
    if against.attack is not None and (shown is None or shown.attack is None):
        raise InvalidParameter("a page that shows an attack, to run it again", "none", "leave --attack out")
    if against.history is not None and MANIFEST in contents:
        # What reads ledgers is loaded only where one is held against.
        from equipoise.ledger.statements import files_digest

        # A certificate of held-out rows names the model itself, and lies in two folders.
        pair = isinstance(found.certificate.claim, HeldOut)
        files = files_digest({CERTIFICATE: contents[CERTIFICATE]} if pair else contents)
    if not alone:
        parts.append(_domain(contents, found))
        drawn = _page(contents, found, evaluation, evaluation_page, against.attack)
        parts.append(drawn)
        if evaluation:
            parts.append(about(found.certificate, against.release))
        signature = statement.found_in(contents, digests, found.certificate)
        parts.append(origin(signature, against.keys, against.today))
    else:
        parts.append(Part(NOT_TRUSTED, unchecked=(SIGNATURE_NOT_SEEN,)))
    if against.history is None:
        parts.append(Part(NOT_PAID, unchecked=(LEDGER_NOT_SEEN,)))
    else:
        from equipoise.artifact.payment import payment

        if said is None and MODEL in contents and PAGE in contents:
            parts.append(Part(NOT_PAID, unchecked=(STATE_NOT_SHOWN,)))
        witnesses, seen = (against.witnesses, against.witness_keys), EVALUATION_SEEN if evaluation else FILES_SEEN
        parts += payment(found.certificate, against.history, said, *witnesses, files, seen)
    if not any(
        {FILES_SEEN, EVALUATION_SEEN} & {*part.confirmed} or (part.code == NOT_TRUSTED and part.confirmed)
        for part in parts
    ):
        parts.append(Part(CHECK_FAILED, unchecked=(NOTES,)))
    if against.policy is not None:
        parts.append(_within(against.policy, found, parts, REPORT in contents and bool(drawn.confirmed)))
    return Verdict(found, tuple(parts))


def _domain(contents: Mapping[str, bytes], found: Findings) -> Part:
    """Return whether the certificate's domain holds what the schema encodes, where both are whole."""
    if SCHEMA not in contents or found.faults:
        return Part(CHECK_FAILED)
    # What reads schemas is loaded only where there is one.
    from equipoise.artifact.domain_check import domain_compared

    return domain_compared(contents, found.certificate)


def _page(
    contents: Mapping[str, bytes],
    found: Findings,
    evaluation: bool,
    evaluation_page: EvaluationPage | None,
    attack: Membership | None,
) -> Part:
    """Return what comes of drawing the page again: only that of a folder that holds, or its numbers mean nothing."""
    why = "since the rest does not hold" if found.faults else "since nothing that draws evaluations was at hand"
    if found.faults or (evaluation and evaluation_page is None):
        return Part(CHECK_FAILED, unchecked=(f"what the page says: not compared, {why}",))
    # What plans and draws is loaded only where there is a page to draw again: a certificate alone has none.
    from equipoise.artifact.page_check import compared

    return compared(contents, evaluation_page if evaluation else None, attack)


def _shown(contents: Mapping[str, bytes]) -> page_file.PageFacts | None:
    try:
        return page_file.read(text_of(contents, PAGE)) if PAGE in contents else None
    except ReleaseUnreadable:
        return None  # the page's own part says it


def _within(policy: Policy, found: Findings, parts: Sequence[Part], page: bool) -> Part:
    """Return in what a release exceeds the policy; what was not confirmed, or is disputed, was not shown."""

    def shown(part_of: int, *also: int) -> bool:
        own = [part for part in parts if part.code in (part_of, *also)]
        return any(part.confirmed for part in own if part.code == part_of) and not any(part.faults for part in own)

    held = Shown(shown(NOT_TRUSTED, NOT_SIGNED), shown(NOT_PAID, OTHER_HISTORY), page)
    return Part(BEYOND_POLICY, tuple(f"policy: {fault}" for fault in policy.faults(found.certificate, held)))
