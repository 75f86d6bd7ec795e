"""What every carrier promises, and how rows are mapped for those that train."""

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

import numpy as np

from equipoise.certify.claims import Claim, Noise, Trained
from equipoise.data.projection import directions, projected_rows
from equipoise.data.rows import RowSource, coded_targets, row_source
from equipoise.data.slots import shares_of
from equipoise.data.weighed import weighed
from equipoise.errors import PrivateFailure
from equipoise.noise import NoiseSource
from equipoise.release.job import Array, Carried, Job, Task
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.losses import arrays_of
from equipoise.solve.solvers.base import Target

Kind = TypeVar("Kind", bound=Claim)
Made = TypeVar("Made", bound=Trained)


class Carrier(ABC, Generic[Kind]):
    """Carries out one kind of claim on rows."""

    claim: ClassVar[type[Claim]]
    # Whether it sums products of all pairs of columns, however many there are.
    squares: ClassVar[bool] = False

    def sums_suffice(self, claim: Kind) -> bool:
        """Return whether sums over the rows are all that it needs of them, as for tables that are never held whole."""
        return False

    def rows_at_once(self, claim: Kind) -> int | None:
        """Return how many rows it must have in memory at once, if it takes them in an order of its own: a batch.

        None where it needs all of them.
        """
        return None

    def ready(self, claim: Kind, source: NoiseSource) -> None:
        """Load all that carrying out needs, and refuse what it would refuse: nothing is spent yet, no row is read."""
        source.ready(numbers_of(claim))

    @abstractmethod
    def carry_out(self, claim: Kind, job: Job) -> Carried:
        """Return what was released, and the claim that says so."""


def numbers_of(claim: Claim) -> int:
    """Return how many numbers have noise at a time, where a claim says so; others are few."""
    noise = getattr(claim, "noise", None)
    return noise.dimension if isinstance(noise, Noise) else 1


class TrainedCarrier(Carrier[Made]):
    """Carries out a claim about weights: rows are mapped into their domain one by one, then weights are found."""

    @abstractmethod
    def weights(self, task: Task[Made]) -> Array:
        """Return the noisy free weights, a row an output."""

    def carry_out(self, claim: Made, job: Job) -> Carried:
        """Map, train, add noise, and spread the weights over all outputs and columns."""
        if job.table.shape[0] != claim.n_samples:
            raise PrivateFailure
        # Rows that are never held keep what they count for with them, like their targets.
        persons = None if job.persons is None or job.table.parts is not None else job.persons.read()
        shares = None if persons is None else shares_of(persons, claim.n_samples)
        rows, targets = mapped(claim, job)
        task = self.prepared(Task(claim, rows, targets, job, persons, weighed(targets, claim.problem, shares)))
        return Carried(task.claim, spread(claim, self.weights(task), job), job)

    def prepared(self, task: Task[Made]) -> Task[Made]:
        """Return the task after what must be released first, if anything."""
        return task


def mapped(claim: Trained, job: Job) -> tuple[RowSource | PartedRows, Array]:
    """Return the rows in their domain, reduced to public directions where the claim says so, and coded targets.

    Rows of a table that is never held keep their targets with them, and what they count for.
    """
    problem, count = claim.problem, getattr(claim, "projection", 0)
    if job.target is None:
        raise PrivateFailure
    columns = directions(job.terms.n_features, count, job.terms.public_seed) if count else None
    if (parts := job.table.parts) is not None:
        return PartedRows(parts.table, parts.pieces(problem, job.classes, columns), claim.n_samples), np.empty(0)
    coded = coded_targets(job.target.read(), problem, job.classes)
    if columns is None:
        return row_source(job.table.read(), problem.domain, problem.intercept), coded
    return projected_rows(job.table.read(), problem.domain, problem.intercept, columns), coded


def spread(claim: Trained, free: Array, job: Job) -> Array:
    """Return the weights of every output and column that free weights stand for."""
    weights, count = arrays_of(claim.problem.loss).full(free), getattr(claim, "projection", 0)
    if not count:
        return weights
    columns = directions(job.terms.n_features, count, job.terms.public_seed)
    return np.hstack([weights[:, :count] @ columns.T, weights[:, count:]])


def target_of(claim: Trained, tolerance: float) -> Target:
    """Return what a solver must reach, from public facts alone."""
    facts = claim.constants
    return Target(
        tolerance=tolerance,
        smoothness=facts.smoothness + claim.problem.penalty.smoothness(),
        strong_convexity=facts.strong_convexity,
        start_distance=facts.radius,
        radius=claim.problem.domain.radius,
        row_norm=facts.row_norm,
        label_bound=facts.label_bound,
        passes=getattr(claim, "passes", None),
    )


def within(weights: Array, radius: float) -> Array:
    """Return the weights, projected to the ball."""
    norm = float(np.linalg.norm(weights))
    return weights if norm <= radius else weights * (radius / norm)
