"""The door: plan -> admit -> map -> compute and perturb -> seal.

Everything above the line that reads looks at public facts alone; everything below it may fail only with
`PrivateFailure`, whose text is a constant.
"""

import contextlib
import secrets
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.certificate import ADJACENCIES, Certificate, Release, Terms
from equipoise.certify.claims import Claim, Trained
from equipoise.certify.claims.evaluation import HeldOut
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.certify.folder import CERTIFICATE, MODEL
from equipoise.data.observed_labels import observed_classes
from equipoise.data.unread import Unread
from equipoise.errors import (
    ENDINGS,
    UNSPENT,
    InvalidData,
    InvalidParameter,
    MissingExtra,
    PlanMismatch,
    PrivateFailure,
)
from equipoise.noise import NoiseSource
from equipoise.noise.exact import software
from equipoise.release import account, carriers
from equipoise.release.job import Evaluating, Job, Scoring, Training, Unbounded
from equipoise.vocabulary.facts import Label

if TYPE_CHECKING:
    from equipoise.ledger import Entry

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Released:
    """What leaves: noisy weights (a row an output, the constant column last), public labels, the certificate.

    A selection of a column releases its place instead of weights, an evaluation counts, which its certificate holds.
    """

    weights: Array
    classes: tuple[Label, ...]
    certificate: Certificate


def release(
    certificate: Certificate,
    table: Unread,
    target: Unread | None,
    source: NoiseSource,
    ledger: str | None = None,
    start: Callable[[], Array] | None = None,
    unbounded: Unbounded | None = None,
    train: Training | None = None,
    persons: Unread | None = None,
    scoring: Scoring | None = None,
    evaluating: Evaluating | None = None,
    model: Callable[[Released], str] | None = None,
) -> Released:
    """Carry out a planned certificate on rows: record the spend, then read, compute, add noise.

    Parameters
    ----------
    certificate : Certificate
        The plan; nothing about it changes here but what its claims say was released on the way.
    table, target : Unread
        The rows and targets as given; no value has been fetched yet. Some selections have no target.
    source : NoiseSource
        Where the noise comes from; a seeded one must have been planned as such.
    ledger : str, optional
        The URL or name of the ledger that must admit the spend first.
    start : callable, optional
        Returns private weights from which the solver begins, in the layout of `Released.weights`: as little as of the
        rows is anything of their values known before.
    unbounded : Unbounded, optional
        The same rows before they are encoded, where the certificate pays for bounds of columns.
    train : callable, optional
        The caller's own training, where the certificate is for a method of the caller's.
    persons : Unread, optional
        The slot of the person that each row belongs to, where the certificate is about persons; the first length of
        the table and of the target is then their declared number, whatever is read.
    scoring : Scoring, optional
        The released model, where the certificate is for its evaluation.
    evaluating : callable, optional
        Makes the model of what a training released, where the certificate is for rows that are held out from it.
    model : callable, optional
        Returns the text of model.json from what was released, which the ledger's outcome then names by its digest.
    """
    terms, trained = certificate.terms, certificate.claim.trained
    if table.shape != (terms.n_samples, terms.n_features):
        raise PlanMismatch(
            f"the {terms.n_samples} rows and {terms.n_features} columns that were planned",
            f"{table.shape[0]} rows and {table.shape[1]} columns",
            "plan again for this table, or pass the planned one: n is public and part of the claim",
        )
    if (persons is None) is (terms.adjacency == ADJACENCIES["person"]):
        raise PlanMismatch(
            f"rows as the plan has them: neighbours are {terms.adjacency}",
            "rows of persons" if persons is not None else "rows without persons",
            "pass groups=ids, or a schema with [person], exactly where the domain says how many rows a person has",
        )
    if source.seeded is not terms.seeded:
        raise InvalidParameter(
            "the noise source that was planned", "another one", "plan and fit with the same random_state"
        )
    if (unbounded is None) is any(isinstance(node, PrivateBounds) for node in certificate.claim.nodes()):
        raise InvalidParameter(
            "columns without bounds exactly where the plan pays for them",
            "another schema",
            "plan again with the schema",
        )
    _check_target(trained, target)
    if faults := _faults(certificate.digest, certificate.terms, certificate.claim):
        raise InvalidParameter("a plan whose claim holds", "; ".join(faults[:3]), "plan again with an estimator")
    with _all_ready(certificate, source, table):
        made = _made(source)
        entry = _admit(certificate, made, ledger)
        # Rows are read from here on.
        declared = trained.problem.domain.classes if isinstance(trained, Trained) else None
        observed = declared == "observed" and target is not None
        classes = observed_classes(target.read()) if observed and target is not None else declared or ()
        job = Job(terms, table, target, tuple(classes), source, None, unbounded, train, (), persons, scoring)
        job = replace(job, evaluating=evaluating, release=made.id)
        try:
            # Warnings would tell of values inside rows.
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                job = job if start is None else replace(job, start=start())
                carried = carriers.carry_out(certificate.claim, job)
        except ENDINGS:
            raise
        except BaseException:  # the cause may depend on rows, so it goes no further
            carried = None
    if carried is None:
        _conclude(ledger, entry, None)
        raise PrivateFailure
    made = replace(made, entry=None if entry is None else entry.place)
    released = Released(carried.weights, job.classes, certificate.with_release(carried.claim, made))
    _conclude(ledger, entry, released, model)
    return released


@lru_cache(maxsize=1024)
def _faults(digest: str, terms: Terms, claim: Claim) -> tuple[str, ...]:
    """Return what does not follow in a plan; most fits carry out one that was checked a moment ago.

    It is checked as it would be read: what no reader takes must not be paid for.
    """
    return Certificate.from_json(replace(Certificate.seal(terms, claim, {}), digest=digest).to_json()).faults()


def _check_target(trained: object, target: Unread | None) -> None:
    if not isinstance(trained, Trained):
        return
    if trained.problem.loss.task == "regression" and target is not None and not target.numeric:
        raise InvalidData(
            "a numeric target",
            "a target of text or objects",
            "convert it by a public rule: whether an entry parses depends on values, which never raise",
        )
    loss, classes = trained.problem.loss, trained.problem.domain.classes
    if loss.outputs > 1 and isinstance(classes, tuple) and len(classes) != loss.outputs:
        raise InvalidParameter(
            f"{loss.outputs} declared classes, as {loss.name} has predictions", f"{len(classes)}", "plan again"
        )


@contextlib.contextmanager
def _all_ready(certificate: Certificate, source: NoiseSource, table: Unread) -> Iterator[None]:
    """Load what the computation and its noise need, take room, reach for workers: what is not there is missed now.

    Workers are let go at the end.
    """
    try:
        carriers.ready(certificate.claim, source, table)
        table.ready()
        if table.parts is not None:
            table.parts.table.ready()
    except MissingExtra:
        raise
    except (ImportError, OSError) as error:
        raise MissingExtra.of(f"what a release of kind {certificate.kind!r} needs", error, UNSPENT) from None
    try:
        yield
    finally:
        if table.parts is not None:
            table.parts.table.close()


def _admit(certificate: Certificate, made: Release, ledger: str | None) -> "Entry | None":
    """Record the spend in the account that is open and in the ledger that was planned with, if any.

    Another ledger than the plan's, or none, is refused. The entry commits to the id of the release that it pays for.
    """
    planned, found = certificate.terms.ledger, None
    if ledger is not None:
        # The database toolkit is loaded only where a ledger is bound.
        from equipoise.ledger import Ledger
        from equipoise.ledger.release_ids import DrawnId

        found = Ledger(ledger).dataset
    if found != planned:
        raise InvalidParameter(
            f"the ledger of the plan (dataset {planned!r})", f"{found!r}", "plan and fit with the same ledger"
        )
    account.admit(certificate, ledger)
    return None if ledger is None else Ledger(ledger).admit(certificate, dict(made.software), DrawnId(made.id))


def _conclude(
    ledger: str | None,
    entry: "Entry | None",
    released: Released | None,
    model: Callable[[Released], str] | None = None,
) -> None:
    """Record whether the spend ended in a release, of which files, or failed, and nothing else.

    Rows were read: whatever fails here, such as a ledger that no longer answers, is withheld, and no release is lost
    for it. The outcome is then not known.
    """
    if ledger is None or entry is None:
        return
    from equipoise.ledger import Ledger

    with contextlib.suppress(Exception):
        if released is None:
            Ledger(ledger).conclude(entry, "failed")
        else:
            files = ""
            with contextlib.suppress(Exception):
                files = _digest(released, model)
            Ledger(ledger).conclude(entry, "released", released.certificate, files)


def _digest(released: Released, model: Callable[[Released], str] | None) -> str:
    """Return the digest of the files that hold a release; empty where nobody says what its model.json will be."""
    from equipoise.ledger.statements import files_digest

    files = {CERTIFICATE: released.certificate.to_json().encode()}
    if model is not None:
        files[MODEL] = model(released).encode()
    elif released.weights.size and not isinstance(released.certificate.claim, HeldOut):
        # Rows that are held out have a certificate that names the model itself.
        return ""
    return files_digest(files)


def _made(source: NoiseSource) -> Release:
    """Return by which software a release is to be made, under a random name, and when it was asked for.

    Not when it was ready: how long a fit takes depends on rows, and the spend's time stands in a ledger.
    """
    return Release(secrets.token_hex(16), _now(), _software(source))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _software(source: NoiseSource) -> tuple[tuple[str, str], ...]:
    """Return Equipoise and what the noise comes from, with their versions."""
    return (("equipoise", version("equipoise")), *software(source.seeded))
