"""SGD with noise at the end: public orders and masks, secret draws and skips, then noise on the weights.

Persons are dealt to places in secret first, and orders are those of places: one new id may shift the slots of all
(docs/proofs/N1.md, part (vii)).
"""

import math
from collections.abc import Iterator
from itertools import repeat
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.claims import Claim
from equipoise.certify.claims.descents import NoisyDescent, StochasticDescent
from equipoise.noise import NoiseSource
from equipoise.release.carriers.base import TrainedCarrier, numbers_of
from equipoise.release.dealt_persons import DealtPersons
from equipoise.release.dealt_rows import DealtRows, dealt_rows
from equipoise.release.job import Array, Task
from equipoise.release.parted_rows import PartedRows
from equipoise.solve.descents.layout import Persons
from equipoise.solve.descents.stochastic import Hand, Run, ready_for, run_hands, run_passes
from equipoise.vocabulary.facts import Recipe

# Which of the public seed's streams is used for what.
ORDERS, MASKS = 1, 2

# Rows that stay together in a fresh order of dealt rows: some lines of memory.
RUN = 16

# Masks and skips are drawn for so many steps at a time.
STEPS_AT_ONCE = 2**14

# For a table that is never held, masks of at most so many columns in all are drawn at a time.
CUT_COLUMNS = 2**22


class StochasticDescentCarrier(TrainedCarrier[StochasticDescent]):
    """Coins that the theorem needs to be secret come from the source of noise, all others from the public seed."""

    claim: ClassVar[type[Claim]] = StochasticDescent

    def rows_at_once(self, claim: StochasticDescent) -> int:
        """Return a batch: any order of the rows serves, and draws can be fetched."""
        return claim.recipe.batch_size

    def ready(self, claim: StochasticDescent, source: NoiseSource) -> None:
        """Load the compiled loops; secret coins are streamed."""
        ready_for(claim.problem.loss)
        secret = claim.recipe.order == "replacement" or claim.recipe.skip > 0 or claim.unit == "person"
        source.ready(numbers_of(claim), streaming=secret)

    def weights(self, task: Task[StochasticDescent]) -> Array:
        """Descend, add noise, and make up for the columns that masks have hidden."""
        claim, recipe = task.claim, task.claim.recipe
        columns = task.rows.dimension - (1 if claim.problem.intercept > 0 else 0)
        descended = _streamed(task, columns) if isinstance(task.rows, PartedRows) else _held(task, columns)
        noisy = task.source.add(claim.law, descended, claim.scale).reshape(claim.problem.loss.free_outputs, -1)
        # Predictions see every column, training saw a share of them (B6); after the noise this is free.
        noisy[:, :columns] *= 1 - recipe.dropout
        return noisy


def _held(task: Task[StochasticDescent], columns: int) -> Array:
    """Descend on rows, or persons, in memory."""
    recipe, loss, n_samples = task.claim.recipe, task.claim.problem.loss, task.claim.n_samples
    deals, persons, dealt = _pays_to_deal(recipe), in_secret_places(task), None
    if deals:
        dealt = public_order(n_samples, task.public_seed)
        if persons is not None and task.persons is not None:
            dealt = persons.rows
    orders = orders_of(recipe, n_samples, task.public_seed, task.source, deals or task.persons is not None)
    if recipe.dropout or recipe.skip:
        orders = in_blocks(orders, STEPS_AT_ONCE * recipe.batch_size)
    run, coins = run_of(task.claim, recipe.steps(n_samples)), _coins(task, columns, STEPS_AT_ONCE)
    return run_passes(task.whole, task.targets, loss, run, orders, *coins, dealt=dealt, persons=persons)


def _streamed(task: Task[StochasticDescent], columns: int) -> Array:
    """Descend on rows of a table that is never held: in a public order of their own, or drawn and then fetched.

    Persons are dealt to places in secret, and the order is one of places.
    """
    recipe, loss, n_samples = task.claim.recipe, task.claim.problem.loss, task.rows.n_samples
    run, at_once = run_of(task.claim, recipe.steps(n_samples)), max(1, min(STEPS_AT_ONCE, CUT_COLUMNS // columns))
    with dealt_rows(task, recipe.batch_size) as rows:
        if recipe.order == "replacement":
            hands = _drawn(rows, run, task.source)
        else:
            hands = rows.passes(recipe.batch_size, fresh=recipe.order == "fresh")
        coins = _coins(task, columns, at_once)
        return run_hands(hands, rows.dimension, loss, run, *coins, steps_at_once=at_once)


def _drawn(rows: DealtRows | DealtPersons, run: Run, source: NoiseSource) -> Iterator[Hand]:
    """Yield batches of rows, or persons, drawn in secret, each draw by itself, as many as are fetched at a time."""
    batches = max(1, min(run.steps, rows.rows_at_once // run.batch))
    while True:
        slots = np.empty(batches * run.batch, dtype=np.int64)
        source.integers(rows.n_samples, slots)
        yield rows.drawn(slots)


def _coins(
    task: Task[StochasticDescent], columns: int, at_once: int
) -> tuple[Iterator[NDArray[np.bool_]] | None, Iterator[NDArray[np.bool_]] | None]:
    """Return public masks and secret skips, for so many steps at a time, where the recipe has them."""
    recipe = task.claim.recipe
    masks = _masks(task.public_seed, 1 - recipe.dropout, columns, at_once) if recipe.dropout else None
    return masks, _skips(recipe.skip, task.source, at_once) if recipe.skip else None


def run_of(claim: StochasticDescent | NoisyDescent, steps: int) -> Run:
    """Return the run that a recipe stands for."""
    recipe, problem = claim.recipe, claim.problem
    return Run(
        batch=recipe.batch_size,
        steps=steps,
        step=recipe.length,
        decay=recipe.decay,
        average=recipe.average,
        radius=problem.domain.radius or math.inf,
        clip=math.inf if recipe.clip is None else recipe.clip,
        ridge=problem.penalty.smoothness(),
        l1=problem.penalty.corner,
        short=problem.domain.row_norm * math.sqrt(1 - recipe.dropout) if recipe.dropout else math.inf,
    )


def in_secret_places(task: Task[Any]) -> Persons | None:
    """Return persons at places that they were dealt to in secret, every order equally likely (N1).

    None for rows; rows that do not all count for 1 (N2) stay in their own places, each alone.
    """
    return task.grouped(None if task.persons is None else task.source.permutation(task.claim.n_samples))


def public_order(n_samples: int, public_seed: int) -> NDArray[np.int64]:
    """Return the public order of the rows."""
    return np.random.default_rng([public_seed, ORDERS]).permutation(n_samples)


def _pays_to_deal(recipe: Recipe) -> bool:
    """Return whether a copy of the rows in a public order pays: for ordered passes in batches, from the third on."""
    return recipe.order != "replacement" and recipe.passes > 2 and recipe.batch_size > 1


def orders_of(
    recipe: Recipe, n_samples: int, public_seed: int, source: NoiseSource, dealt: bool
) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of one pass after the other, without end; where they were dealt, as places among the dealt.

    A fresh order of dealt rows keeps short runs of them together, which lie together in memory. Persons are dealt
    always, in secret.
    """
    if recipe.order == "permutation":
        yield from repeat(np.arange(n_samples) if dealt else public_order(n_samples, public_seed))
    coins = np.random.default_rng([public_seed, ORDERS])
    while recipe.order == "fresh":
        yield fresh_runs(coins, n_samples) if dealt else coins.permutation(n_samples)
    while True:
        drawn = np.empty(recipe.batches(n_samples) * recipe.batch_size, dtype=np.int64)
        source.integers(n_samples, drawn)
        yield drawn


def fresh_runs(coins: np.random.Generator, n_samples: int) -> NDArray[np.int64]:
    """Return every row once, in runs of neighbours whose order is random; the last run may be short."""
    runs = coins.permutation(-(-n_samples // RUN))
    rows = (runs[:, None] * RUN + np.arange(RUN)).ravel()
    return rows[rows < n_samples]


def in_blocks(orders: Iterator[NDArray[np.int64]], length: int) -> Iterator[NDArray[np.int64]]:
    """Yield the same orders in blocks of whole batches: the length is a multiple of the batch's size."""
    for order in orders:
        for first in range(0, len(order), length):
            yield order[first : first + length]


def _masks(public_seed: int, keep: float, columns: int, at_once: int) -> Iterator[NDArray[np.bool_]]:
    coins = np.random.default_rng([public_seed, MASKS])
    while True:
        yield coins.random((at_once, columns)) < keep


def _skips(chance: float, source: NoiseSource, at_once: int) -> Iterator[NDArray[np.bool_]]:
    """Yield which steps are skipped: never less often than the chance says."""
    while True:
        coins = np.empty(at_once, dtype=np.int64)
        source.integers(2**53, coins)
        yield coins < math.ceil(chance * 2**53)
