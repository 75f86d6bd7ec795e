"""Networks on MNIST with and without dropout, trained on all rows and without some (Figure 2 c, d).

Plain stochastic gradient descent with momentum on rectified linear units. The paper pre-trains its networks; these are
not. Dropout drops a fifth of the inputs and half of the hidden units (Hinton et al. 2012).
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.lab.row_removal import RemovalFinding, Repetition, summarise
from equipoise_studies.dropout_stability.preparation import Table
from equipoise_studies.frame import Report

BATCH, STEP, MOMENTUM = 50, 0.05, 0.9
# The chance that an input and a hidden unit stay.
KEPT = {"SGD": (1.0, 1.0), "dropout": (0.8, 0.5)}


@dataclass(frozen=True)
class Plan:
    """Hidden layers, training rows (at most), passes, repetitions, and the fractions that are removed at random."""

    hidden: tuple[int, ...] = (200, 200)
    rows: int = 5000
    epochs: int = 30
    repetitions: int = 5
    fractions: tuple[float, ...] = (0.25, 0.5, 0.75)


DEFAULT = Plan()
QUICK = Plan((50,), 1000, 8, 2, (0.5,))
# Section 5: all rows, two layers of 800 units, five repetitions of 150 passes; for a machine with an accelerator.
PAPER = Plan((800, 800), 60_000, 150, 5, (0.1, 0.25, 0.5, 0.75, 0.9))


@dataclass(frozen=True, eq=False)
class Trained:
    """What was found of either way of training, and its repetitions, which share rows and starts."""

    plan: Plan
    findings: Mapping[str, RemovalFinding]
    repetitions: Mapping[str, Sequence[Repetition]]


def measure(train: Table, test: Table, plan: Plan, report: Report) -> Trained:
    """Train with and without dropout, on all rows of the plan and on what remains of them.

    Examples
    --------
    >>> draws = np.random.default_rng(0)
    >>> labels = np.arange(120, dtype=np.int32) % 3
    >>> table = Table((np.eye(3)[labels] + 0.1 * draws.normal(size=(120, 3))).astype(np.float32), labels)
    >>> found = measure(table, table, Plan((8,), 120, 20, 2, (0.5,)), lambda *_: None)
    >>> found.findings["SGD"].baseline.value < 0.1
    True
    """
    once: dict[str, list[Repetition]] = {name: [] for name in KEPT}
    total, done = plan.repetitions * len(KEPT), 0
    for repetition in range(plan.repetitions):
        order = np.random.default_rng((4, repetition)).permutation(len(train.outcomes))[: plan.rows]
        for name, kept in KEPT.items():
            before = _predictions(train, test, order, plan, kept, repetition)
            baseline = float((before != test.outcomes).mean())
            errors, moved = [], []
            for fraction in plan.fractions:
                left = order[round(fraction * len(order)) :]
                after = _predictions(train, test, left, plan, kept, repetition)
                errors.append(float((after != test.outcomes).mean()))
                moved.append(float((after != before).mean()))
            once[name].append(Repetition(baseline, {"random": np.array(errors)}, {"random": np.array(moved)}))
            done += 1
            report("networks", done, total)
    rows = (min(plan.rows, len(train.outcomes)), len(test.outcomes))
    findings = {name: summarise(found, plan.fractions, rows, "share of wrong labels") for name, found in once.items()}
    return Trained(plan, findings, once)


def _predictions(
    train: Table, test: Table, chosen: NDArray[np.intp], plan: Plan, kept: tuple[float, float], seed: int
) -> NDArray[Any]:
    import jax
    import jax.numpy as jnp

    inputs, labels = jnp.asarray(train.rows[chosen]), jnp.asarray(train.outcomes[chosen])
    classes = int(max(train.outcomes.max(), test.outcomes.max())) + 1
    sizes = (inputs.shape[1], *plan.hidden, classes)
    start = np.random.default_rng((5, seed))
    layers = [
        (jnp.asarray(start.normal(0, math.sqrt(2 / a), (a, b)), jnp.float32), jnp.zeros(b, jnp.float32))
        for a, b in itertools.pairwise(sizes)
    ]
    state = (layers, jax.tree.map(jnp.zeros_like, layers))
    batch = min(BATCH, len(chosen))
    epoch = _epoch(kept, batch)
    for number in range(plan.epochs):
        key = jax.random.key(1_000_000 * seed + number)
        # The step falls in a straight line, so that the last pass settles.
        state = epoch(state, inputs, labels, key, STEP * (1 - number / plan.epochs))
    scores = _forward(state[0], jnp.asarray(test.rows), None, (1.0, 1.0))
    return np.asarray(scores.argmax(1))


@cache
def _epoch(kept: tuple[float, float], batch: int) -> Any:
    import jax
    import jax.numpy as jnp

    def loss(layers: Any, inputs: Any, labels: Any, key: Any) -> Any:
        scores = jax.nn.log_softmax(_forward(layers, inputs, key, kept))
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

    @partial(jax.jit, donate_argnums=0)
    def epoch(state: Any, inputs: Any, labels: Any, key: Any, step: Any) -> Any:
        shuffle, masks = jax.random.split(key)
        count = len(labels) // batch
        order = jax.random.permutation(shuffle, len(labels))[: count * batch].reshape(count, batch)

        def update(state: Any, now: Any) -> Any:
            layers, speed = state
            rows, coins = now
            slopes = jax.grad(loss)(layers, inputs[rows], labels[rows], coins)
            speed = jax.tree.map(lambda old, slope: MOMENTUM * old - step * slope, speed, slopes)
            return (jax.tree.map(jnp.add, layers, speed), speed), None

        return jax.lax.scan(update, state, (order, jax.random.split(masks, count)))[0]

    return epoch


def _forward(layers: Any, inputs: Any, key: Any, kept: tuple[float, float]) -> Any:
    import jax
    import jax.numpy as jnp

    values = inputs
    for place, (weights, shift) in enumerate(layers):
        keep = kept[min(place, 1)]
        if keep < 1:
            coins = jax.random.bernoulli(jax.random.fold_in(key, place), keep, values.shape)
            values = jnp.where(coins, values / keep, 0.0)
        values = values @ weights + shift
        if place < len(layers) - 1:
            values = jax.nn.relu(values)
    return values
