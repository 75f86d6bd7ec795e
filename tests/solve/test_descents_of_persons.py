"""Steps over persons (N1): all rows of a person at once, by their mean, against the plain loop that says so."""

import math

import numpy as np
import pytest
from scipy import sparse

from equipoise.data.rows import row_source
from equipoise.noise.grid import GridNoise
from equipoise.solve.descents import kernels
from equipoise.solve.descents.layout import Persons
from equipoise.solve.descents.stochastic import Run, run_noisy, run_passes
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Domain

D, INTERCEPT, ROW_NORM = 5, 0.5, 1.0
# Eleven slots: nobody, one row, many, more than a tile of the loops has.
COUNTS = (1, 3, 0, 1, 2, 40, 1, 0, 1, 7, 1)
RUNS = {
    "plain": Run(4, 9, 0.3, ridge=0.1),
    "one person a step": Run(1, 33, 0.3, ridge=0.1, average="suffix"),
    "clipped": Run(4, 9, 0.4, clip=0.3, radius=0.5, average="uniform"),
    "sparse weights": Run(4, 9, 0.3, l1=0.02, ridge=0.1, average="suffix"),
}
TABLES = {"dense": np.asarray, "single": lambda X: X.astype(np.float32), "sparse": sparse.csr_array}
every_table = pytest.mark.parametrize("table", TABLES)


def data(counts: tuple[int, ...] = COUNTS, seed: int = 0):
    """Return rows in no order, targets, and whose rows they are."""
    coins = np.random.default_rng(seed)
    slots = coins.permutation(np.repeat(np.arange(len(counts)), counts))
    X = coins.normal(size=(len(slots), D)).astype(np.float32).astype(float) * (coins.random((len(slots), D)) < 0.7)
    return X, np.sign(coins.normal(size=len(slots))), slots


def persons_of(slots, count: int) -> Persons:
    return Persons.of(slots, count, 1 / np.bincount(slots, minlength=count)[slots])


def plain(X, y, slots, loss, run: Run, orders, masks=None, skips=None, noise=None):
    """Return what N1 says: a step's gradient is the sum of its persons' mean gradients, over the batch's size."""
    X = np.hstack([X * np.minimum(1, ROW_NORM / np.linalg.norm(X, axis=1))[:, None], np.full((len(X), 1), INTERCEPT)])
    weights, seen = np.zeros(D + 1), []
    for number, order in enumerate(orders):
        for here, first in enumerate(range(0, len(order), run.batch)):
            if len(seen) == run.steps:
                break
            total = np.zeros(D + 1)
            for person in order[first : first + run.batch]:
                gradients = []
                for row, target in zip(X[slots == person], y[slots == person], strict=True):
                    kept = row.copy()
                    if masks is not None:
                        kept[:D] *= masks[number][here]
                        kept[:D] *= min(1.0, run.short / max(np.linalg.norm(kept[:D]), 1e-300))
                    slope = loss.slope(float(kept @ weights), float(target))
                    gradients.append(slope * kept * min(1.0, run.clip / max(abs(slope) * np.linalg.norm(kept), 1e-300)))
                total += np.mean(gradients, axis=0) if gradients else 0.0
            if skips is None or not skips[number][here]:
                direction = total / run.batch + run.ridge * weights + (0.0 if noise is None else noise[len(seen)])
                weights = weights - run.step * direction
                weights = np.sign(weights) * np.maximum(np.abs(weights) - run.step * run.l1, 0)
                weights = weights * min(1.0, run.radius / max(np.linalg.norm(weights), 1e-300))
            seen.append(weights)
    return np.mean(seen[run.averaged_from - 1 :], axis=0)


def found(table, X, y, loss, run, orders, **more):
    rows = row_source(TABLES[table](X), Domain(1.0, classes=(-1, 1)), INTERCEPT)
    return run_passes(rows, y, loss, run, orders, **more)


@every_table
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("dealt", [False, True])
def test_a_step_meets_all_rows_of_its_persons_and_counts_each_person_once(table, name, dealt):
    (X, y, slots), loss, run = data(), losses.named("logistic"), RUNS[name]
    persons = persons_of(slots, len(COUNTS))
    coins = np.random.default_rng(1)
    orders = [coins.permutation(len(COUNTS)) for _ in range(3)]
    more = {"dealt": persons.rows} if dealt else {}
    wanted = plain(X, y, slots, loss, run, orders)
    assert np.abs(wanted).max() > 1e-2
    np.testing.assert_allclose(found(table, X, y, loss, run, orders, persons=persons, **more), wanted, rtol=1e-11)
    rows_alone = found(table, X, y, loss, run, [np.arange(len(y))] * 3)
    assert np.abs(rows_alone - wanted).max() > 1e-3


@every_table
def test_masks_and_skips_are_those_of_a_step_of_persons(table):
    (X, y, slots), loss = data(seed=3), losses.named("hinge")
    run, coins = Run(4, 9, 0.3, short=0.8, average="uniform"), np.random.default_rng(2)
    orders = [coins.integers(len(COUNTS), size=12) for _ in range(3)]
    more = {"masks": [coins.random((3, D)) < 0.6 for _ in range(3)], "skips": [coins.random(3) < 0.3 for _ in range(3)]}
    wanted = plain(X, y, slots, loss, run, orders, **more)
    persons = persons_of(slots, len(COUNTS))
    np.testing.assert_allclose(found(table, X, y, loss, run, orders, persons=persons, **more), wanted, rtol=1e-11)


@every_table
@pytest.mark.parametrize("batch", [1, 6])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_persons_of_one_row_each_are_rows(table, batch, loss):
    X, y, slots = data((1,) * 23)
    orders = [np.random.default_rng(seed).permutation(23) for seed in range(3)]
    run, members = Run(batch, 3 * math.ceil(23 / batch), 0.3, ridge=0.05, clip=0.9), losses.named(loss)
    by_rows = found(table, X, y, members, run, [np.argsort(slots)[order] for order in orders])
    by_persons = found(table, X, y, members, run, orders, persons=persons_of(slots, 23))
    # A batch's last products may be rounded otherwise: rows of persons are taken in fours to the end.
    np.testing.assert_allclose(by_persons, by_rows, rtol=1e-12, atol=1e-14)


@every_table
def test_noise_in_every_step_is_added_to_the_mean_over_persons(table):
    X, y, slots = data()
    loss, run, noise = losses.named("logistic"), Run(len(COUNTS), 7, 0.3, radius=0.8, average="uniform"), []
    coins = np.random.default_rng(5)

    def draw_persons(out):
        out[:] = coins.integers(len(COUNTS), size=len(out))

    def draw_noise(count):
        drawn = 0.7 * coins.standard_normal(count)
        noise.extend(drawn.reshape(run.steps, -1))
        return GridNoise.of_doubles(drawn, 0.7)

    rows = row_source(TABLES[table](X), Domain(1.0, classes=(-1, 1)), INTERCEPT)
    persons = persons_of(slots, len(COUNTS))
    noisy = run_noisy(rows, y, loss, run, draw_persons, draw_noise, persons=persons)
    # Batches of all persons: which they are is known.
    wanted = plain(X, y, slots, loss, run, [np.arange(len(COUNTS))] * run.steps, noise=noise)
    # Gradients are rounded to the grid of the noise, 2^-41 of its deviation at most.
    np.testing.assert_allclose(noisy, wanted, rtol=1e-9)


@pytest.mark.parametrize("table", ["dense", "sparse"])
def test_slots_without_rows_leave_the_penalty_alone(table):
    X, y, slots = data((2, 0, 0))
    run, loss = Run(1, 3, 0.5, ridge=0.4), losses.named("logistic")
    persons = persons_of(slots, 3)
    one = found(table, X, y, loss, Run(1, 1, 0.5, ridge=0.4), [[0]], persons=persons)
    three = found(table, X, y, loss, run, [[0, 1, 2]], persons=persons)
    np.testing.assert_allclose(three, one * 0.8**2, rtol=1e-14)
    nobody = found(table, X[:0], y[:0], loss, run, [[0, 1, 2]], persons=persons_of(slots[:0], 3))
    assert nobody.tolist() == [0.0] * (D + 1)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_row_is_rounded_in_one_way_at_every_place_of_a_batch(kind):
    # What losses with corners need (SGD-rounding, part 6): persons before it have any number of rows.
    coins = np.random.default_rng(4)
    for columns in (*range(1, 20), 33, 100):
        table, weights = coins.normal(size=(4, columns)).astype(kind), coins.normal(size=columns)
        places = []
        for shift in range(4):
            out = np.empty(4)
            kernels.four_products(table, tuple(np.roll(np.arange(4), shift)), weights, out)
            places.append(np.roll(out, -shift))
        assert all((place == places[0]).all() for place in places)


@pytest.mark.parametrize("table", ["dense", "single", "sparse"])
def test_a_batch_gives_common_rows_the_same_slope_however_many_rows_the_others_have(table):
    # Rows next to a corner, where the last digit decides: the replaced person, at the origin, adds nothing.
    coins, loss, columns = np.random.default_rng(6), losses.named("hinge"), 37
    start = coins.normal(size=columns + 1)
    common = coins.normal(size=(60, columns))
    common *= ((1 - INTERCEPT * start[-1]) / (common @ start[:-1]))[:, None]
    ends = []
    for rows in (1, 2, 3, 5, 38):
        X = np.vstack([np.zeros((rows, columns)), common])
        slots = np.concatenate([np.zeros(rows, dtype=int), np.arange(1, 61)])
        source = row_source(TABLES[table](X), Domain(1e9, classes=(-1, 1)), INTERCEPT)
        targets = np.where(slots == 0, -1.0, 1.0)
        run = Run(61, 1, 1.0)
        ends.append(run_passes(source, targets, loss, run, [np.arange(61)], start=start, persons=persons_of(slots, 61)))
    assert all(np.abs(end - ends[0]).max() < 1e-13 for end in ends)
