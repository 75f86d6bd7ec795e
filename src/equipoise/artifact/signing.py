"""Signing a released folder or an evaluation, when it is made or later: one that holds, whose page is its own."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from equipoise.artifact import statement
from equipoise.artifact.domain_check import domain_compared
from equipoise.artifact.findings import contents_of, findings_of
from equipoise.artifact.page_check import EvaluationPage, compared
from equipoise.artifact.staging import new_file, sweep
from equipoise.certify.certificate import Certificate
from equipoise.certify.folder import CERTIFICATE, MODEL, PAGE, STATEMENT, text_of
from equipoise.errors import InvalidParameter, ReleaseUnreadable
from equipoise.keys import PrivateKey, sign


def require_producer(name: str) -> str:
    """Return the name of whoever signs, or refuse one that is no line of text."""
    if not statement.is_producer(name):
        asked = f"a name of whoever signs, in at most {statement.LONGEST_PRODUCER} letters that can be read"
        raise InvalidParameter(asked, f"{name!r:.80}", 'pass one line: --by "Data office, St. Anna"')
    return name


def envelope_of(contents: Mapping[str, bytes], key: PrivateKey, producer: str = "") -> str:
    """Return the signed statement about the files of a release, as the text of statement.dsse.json."""
    certificate = Certificate.from_json(text_of(contents, CERTIFICATE))
    if certificate.terms.seeded:
        found, remedy = "seeded noise, for experiments, not for release", "fit without random_state, a new spend"
        raise ReleaseUnreadable("noise that nobody can repeat, to sign a release", found, remedy)
    time = datetime.now(UTC).isoformat(timespec="seconds")
    digests, page = statement.digests_of(contents), text_of(contents, PAGE)
    payload = statement.payload_of(digests, certificate, page, require_producer(producer), time)
    return statement.written(payload, key.public, sign(key, statement.PAYLOAD_TYPE, payload))


def sign_folder(
    folder: str | os.PathLike[str],
    key: PrivateKey,
    producer: str = "",
    force: bool = False,
    evaluation_page: EvaluationPage | None = None,
) -> None:
    """Sign a released folder: everything in it must hold, and its page must be the one that it calls for.

    Parameters
    ----------
    folder : path
        What `equipoise train` or `eq.save` wrote, or `equipoise evaluate`.
    key : PrivateKey
        The signer's.
    producer : str, optional
        Who signs, in their own words.
    force : bool, optional
        Replace the statement of an earlier signature.
    evaluation_page : callable, optional
        What draws the page of an evaluation again; without it none can be signed.
    """
    place = Path(folder)
    # What a process that was killed while signing left here would be a file too many.
    sweep(place)
    contents = contents_of(place)
    evaluation = MODEL not in contents
    if evaluation and evaluation_page is None:
        remedy = "sign it on the command line: equipoise sign"
        raise InvalidParameter("what draws pages of evaluations, to sign one", "none", remedy)
    if PAGE not in contents:
        remedy = "release again with this version, which is a new spend, or leave it unsigned"
        raise ReleaseUnreadable(f"a folder with {PAGE}, whose page can be drawn again", "one without", remedy)
    text = envelope_of(contents, key, producer)
    page = compared(contents, evaluation_page if evaluation else None)
    found = findings_of(contents)
    domain = domain_compared(contents, found.certificate)
    # A page that was not compared is no reason to sign; a measured attack on one that was is its maker's word.
    faults = (*found.faults, *domain.faults, *page.faults, *(() if page.confirmed else page.unchecked))
    if faults:
        remedy = "look at what equipoise verify says; nothing was signed"
        raise ReleaseUnreadable("a release that holds, to sign it", f"{'; '.join(faults):.500}", remedy)
    with new_file(place / STATEMENT, force, sealed=True) as file:
        file.write(text)
