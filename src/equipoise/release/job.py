"""What the door hands to whatever carries out a claim, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.certify.certificate import Terms
from equipoise.certify.claims import Claim, Noise, Trained
from equipoise.certify.claims.evaluation import Cells as EvaluationCells
from equipoise.certify.claims.evaluation import Evaluation
from equipoise.data.cells import Cells, Counts
from equipoise.data.rows import RowSource
from equipoise.data.unread import Unread
from equipoise.errors import PrivateFailure
from equipoise.noise import NoiseSource
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.descents.layout import Persons
from equipoise.solve.objective import Objective
from equipoise.solve.products import products
from equipoise.solve.questions import Products
from equipoise.solve.summed import SummedObjective
from equipoise.vocabulary.facts import Label

Array = NDArray[np.float64]
Training = Callable[[Array, Array], ArrayLike]
Made = TypeVar("Made", bound=Trained)


class Bounded(Protocol):
    """A table with its target, encoded by complete public facts."""

    features: Unread
    target: Unread


class Unbounded(Protocol):
    """A table some of whose columns have no bounds yet: they are paid for before it can be encoded."""

    def counts(self, columns: tuple[str, ...], cells: Cells) -> list[Counts]:
        """Return how many numbers of each column every public cell holds; missing ones are in none."""

    def with_bounds(self, bounds: Mapping[str, tuple[float, float]]) -> Bounded:
        """Return the table encoded by these bounds."""

    def at(self, places: NDArray[np.intp]) -> UnboundedPart:
        """Return the table of the rows at these places."""


class UnboundedPart(Unbounded, Bounded, Protocol):
    """Some rows of such a table; nobody reads features and target of it before bounds are known."""


class Scoring(Protocol):
    """A released model, of rows as they were read."""

    def scores(self, rows: Any) -> Array:
        """Return what it says of every row: a column an output."""

    def groups(self, rows: Any) -> NDArray[np.int64]:
        """Return the place of the group that every row belongs to; 0 where nobody asked for groups."""

    def after(self, looked: Evaluation) -> Evaluable:
        """Return the same model, of which a first look has released these counts: bins follow from them."""


class Evaluable(Scoring, Protocol):
    """A model that was just released, with what follows from it for the rows that were held out."""

    @property
    def digest(self) -> str:
        """The SHA-256 of its model.json, without the digest of a certificate."""

    def cells(self, n_samples: int, noise: Noise) -> EvaluationCells:
        """Return the cells of so many rows with so much noise on a count."""

    def known_target(self, target: Unread) -> Unread:
        """Return the target as the cells take it."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """The terms of the plan, the rows and targets as given, the source of noise, and what some kinds need besides.

    `candidates` are what parts before this one have released, for the part that chooses among them.
    """

    terms: Terms
    table: Unread
    target: Unread | None
    classes: tuple[Label, ...]
    source: NoiseSource
    start: Array | None = None
    unbounded: Unbounded | None = None
    train: Training | None = None
    candidates: tuple[Carried, ...] = ()
    persons: Unread | None = None
    scoring: Scoring | None = None
    evaluating: Evaluating | None = None
    # The id of the release that is made.
    release: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """What a claim has released: the claim with that in it, noisy weights, and the job for whatever follows."""

    claim: Claim
    weights: Array
    job: Job


# From what a training released to the model that is to be evaluated: no row is looked at.
Evaluating = Callable[[Carried], Evaluable]


@dataclass(frozen=True, slots=True, eq=False)
class Task(Generic[Made]):
    """A claim about weights, the rows mapped into their domain, the coded targets, and the job."""

    claim: Made
    rows: RowSource | PartedRows
    targets: Array
    job: Job
    # Where n counts persons, the slot that each row belongs to (N1), and what the row counts for: there, and where
    # classes have weights (N2).
    persons: NDArray[np.intp] | None = None
    shares: Array | None = None

    def objective(self, start: Array | None = None, tilt: Array | None = None) -> Objective:
        """Return the objective of the claim's problem: a mean over rows, or over persons of their rows' means (N1)."""
        problem = self.claim.problem
        if isinstance(self.rows, PartedRows):
            return SummedObjective(problem.loss, problem.penalty, self.rows, start, tilt)
        return Objective(
            problem.loss,
            problem.penalty,
            self.rows,
            self.targets,
            start,
            tilt,
            shares=self.shares,
            n_samples=self.claim.n_samples,
        )

    def products(self) -> tuple[Array, Array]:
        """Return ``sum x x'`` and ``sum y x``, in one pass over the rows."""
        if isinstance(self.rows, PartedRows):
            squares, moments = self.rows.sums(Products())
            return squares, moments
        return products(self.rows, self.targets)

    def grouped(self, places: NDArray[np.int64] | None = None) -> Persons | None:
        """Return whose rows they are: persons by their slots, or by the places that slots have; None for rows.

        Rows that count for less than 1 (N2) are persons with one row each.
        """
        if self.shares is None:
            return None
        if self.persons is None:
            return Persons.alone(self.shares)
        return Persons.of(self.persons if places is None else places[self.persons], self.claim.n_samples, self.shares)

    @property
    def whole(self) -> RowSource:
        """The rows, for kinds that need more of them than sums."""
        if isinstance(self.rows, PartedRows):
            raise PrivateFailure
        return self.rows

    @property
    def source(self) -> NoiseSource:
        """Where the noise comes from."""
        return self.job.source

    @property
    def public_seed(self) -> int:
        """What drives orders and masks."""
        return self.job.terms.public_seed
