"""The door: plan -> admit -> clip -> solve and perturb -> seal.

The only place where a computation on rows meets noise and a certificate; how each route meets them has a file of its
own here. Everything above the line that builds `Rows`
looks at public facts alone; everything below it may fail only with `PrivateFailure`, whose text is a constant.
"""

import functools
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.errors import InvalidData, InvalidParameter, PlanMismatch, PrivateFailure
from equipoise.learn.projection import directions, projected_rows
from equipoise.learn.rows import coded_targets, observed_classes, row_source
from equipoise.learn.tables import Unread
from equipoise.proof.certificate import Certificate
from equipoise.proof.noise import ExactSource, NoiseSource, SeededSource
from equipoise.proof.private_bounds import CANDIDATES, LEVELS, ReleasedBounds, ordered
from equipoise.release.base import Carrier, Task, Training
from equipoise.release.dropout import in_force, release_curvature
from equipoise.solve.losses import arrays_of
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.discovery import discover
from equipoise.vocabulary.facts import Label, Problem
from equipoise.vocabulary.numbers import plain

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Released:
    """What leaves: noisy weights (a row an output, the constant column last), public labels, the certificate."""

    weights: Array
    classes: tuple[Label, ...]
    certificate: Certificate


class Bounded(Protocol):
    """A table with its target, encoded by complete public facts."""

    features: Unread
    target: Unread


class Unbounded(Protocol):
    """A table some of whose columns have no bounds yet: they are paid for before it can be encoded."""

    def numbers(self, column: str) -> Array:
        """Return a column's numbers, NaN where one is missing."""

    def with_bounds(self, bounds: Mapping[str, tuple[float, float]]) -> Bounded:
        """Return the table encoded by these bounds."""


def noise_source(random_state: object) -> NoiseSource:
    """Return the exact source for None, a seeded one for a whole number.

    Examples
    --------
    >>> noise_source(None).seeded, noise_source(7).seeded
    (False, True)
    """
    seed = plain(random_state)
    if seed is None:
        return ExactSource()
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        remedy = "leave random_state=None for a release, or pass a whole number for an experiment"
        raise InvalidParameter("random_state, None or a whole number >= 0", f"random_state={random_state!r}", remedy)
    return SeededSource(seed)


def release(
    certificate: Certificate,
    table: Unread,
    target: Unread,
    source: NoiseSource,
    ledger: str | None = None,
    start: Array | None = None,
    unbounded: Unbounded | None = None,
    train: Training | None = None,
) -> Released:
    """Carry out a planned certificate on rows: record the spend, then read, solve, add noise.

    Parameters
    ----------
    certificate : Certificate
        The plan; nothing about it changes here.
    table, target : Unread
        The rows and targets as given; no value has been fetched yet.
    source : NoiseSource
        Where the noise comes from; a seeded one must have been planned as such.
    ledger : str, optional
        The URL or name of the ledger that must admit the spend first.
    start : array, optional
        Private weights from which the solver begins, in the layout of `Released.weights`.
    unbounded : Unbounded, optional
        The same rows before they are encoded, where the certificate pays for bounds of columns.
    train : callable, optional
        The caller's own training, where the certificate is for a method of the caller's.
    """
    if table.shape != (certificate.n_samples, certificate.n_features):
        raise PlanMismatch(
            f"the {certificate.n_samples} rows and {certificate.n_features} columns that were planned",
            f"{table.shape[0]} rows and {table.shape[1]} columns",
            "plan again for this table, or pass the planned one: n is public and part of the claim",
        )
    if source.seeded is not certificate.request.seeded:
        raise InvalidParameter(
            "the noise source that was planned", "another one", "plan and fit with the same random_state"
        )
    if (unbounded is None) != (certificate.request.private_bounds is None):
        raise InvalidParameter(
            "columns without bounds exactly where the plan pays for them",
            "another schema",
            "plan again with the schema",
        )
    _check_target(certificate, target)
    _check_ledger(certificate, ledger)
    if ledger is not None:
        # The database toolkit is loaded only where a ledger is bound.
        from equipoise.proof.ledger import Ledger

        Ledger(ledger).admit(certificate)
    # Rows are read from here on.
    domain = certificate.request.domain
    classes = observed_classes(target.read()) if domain.classes == "observed" else domain.classes or ()
    try:
        if unbounded is not None:
            certificate, table, target = _with_private_bounds(certificate, unbounded, source)
        weights, certificate = _carried_out(certificate, table, target, classes, source, start, train)
    except Exception:  # the cause may depend on rows, so it goes no further
        weights = None
    if weights is None:
        raise PrivateFailure
    return Released(weights, classes, certificate)


def _check_target(certificate: Certificate, target: Unread) -> None:
    problem = certificate.request.problem(certificate.alpha)
    if problem.loss.task == "regression" and not target.numeric:
        raise InvalidData(
            "a numeric target",
            "a target of text or objects",
            "convert it by a public rule: whether an entry parses depends on values, which never raise",
        )


def _check_ledger(certificate: Certificate, ledger: str | None) -> None:
    planned, found = certificate.request.ledger, None
    if ledger is not None:
        # The database toolkit is loaded only where a ledger is bound.
        from equipoise.proof.ledger import Ledger

        found = Ledger(ledger).dataset
    if found != planned:
        raise InvalidParameter(
            f"the ledger of the plan (dataset {planned!r})", f"{found!r}", "plan and fit with the same ledger"
        )


def _with_private_bounds(
    certificate: Certificate, unbounded: Unbounded, source: NoiseSource
) -> tuple[Certificate, Unread, Unread]:
    """Release the bounds that were paid for (Q1), and return the certificate and the table that carry them."""
    asked = certificate.request.private_bounds
    if asked is None:
        raise PrivateFailure
    released: list[ReleasedBounds] = []
    for column in asked.columns:
        # A missing value stands as 0: a public rule, so one row moves one value.
        values = np.nan_to_num(unbounded.numbers(column), nan=0.0)
        ends = (source.quantile(values, CANDIDATES, level, asked.scale) for level in LEVELS)
        released.append(ordered(column, *ends))
    bounded = unbounded.with_bounds({bounds.column: (bounds.low, bounds.high) for bounds in released})
    return certificate.with_bounds(tuple(released)), bounded.features, bounded.target


def _noisy_weights(
    certificate: Certificate,
    table: Unread,
    target: Unread,
    classes: tuple[Label, ...],
    source: NoiseSource,
    start: Array | None,
) -> Array:
    return _carried_out(certificate, table, target, classes, source, start)[0]


def _carried_out(
    certificate: Certificate,
    table: Unread,
    target: Unread,
    classes: tuple[Label, ...],
    source: NoiseSource,
    start: Array | None,
    train: Training | None = None,
) -> tuple[Array, Certificate]:
    """Return the noisy weights, and the certificate with the curvature that was released before them, if one was."""
    request, argument = certificate.request, certificate.argument
    problem = Problem(
        losses.named(argument.loss or request.loss),
        penalties.named(request.penalty, argument.alpha),
        request.domain,
        request.intercept,
    )
    # Overflow warnings would tell of values inside rows.
    with np.errstate(all="ignore"):
        coded = coded_targets(target.read(), problem, classes)
        count = argument.procedure.projection
        columns = directions(request.n_features, count, request.public_seed) if count else None
        if columns is None:
            rows = row_source(table.read(), problem.domain, problem.intercept)
        else:
            rows = projected_rows(table.read(), problem.domain, problem.intercept, columns)
        task = Task(problem, argument, rows, coded, source, start, request.public_seed, train)
        if request.dropout is not None:
            released = release_curvature(task)
            certificate, task = certificate.with_curvature(released), in_force(task, released)
        carried = carriers()[argument.route].carry_out(task)
    weights = arrays_of(problem.loss).full(carried)
    spread = weights if columns is None else np.hstack([weights[:, :count] @ columns.T, weights[:, count:]])
    return spread, certificate


@functools.cache
def carriers() -> dict[str, type[Carrier]]:
    """Return what carries out each route, by the route's id."""
    return discover(sys.modules[__name__], Carrier)  # type: ignore[type-abstract]
