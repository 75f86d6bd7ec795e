"""The compiled loops of several classes against the plain loop of the multinomial loss, and how they may round."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from equipoise.data.rows import row_source
from equipoise.errors import InvalidParameter
from equipoise.noise import SeededSource
from equipoise.solve.descents.layout import Persons
from equipoise.solve.descents.several import BESIDE, compiled_loss, slopes_of_classes
from equipoise.solve.descents.stochastic import Hand, Run, run_hands, run_noisy, run_passes
from equipoise.solve.losses import arrays_of
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.losses.multinomial import MOST_CLASSES

N, D, K, ROW_NORM = 23, 5, 4, 1.5
LOSS = losses.named(f"multinomial:{K}")
ARRAYS = arrays_of(LOSS)
DOMAIN = Domain(ROW_NORM, classes=tuple(range(K)))


def data(seed: int = 0):
    """Return rows, some of them too long, and the places of their classes."""
    coins = np.random.default_rng(seed)
    rows = coins.normal(size=(N, D)) * coins.choice([0.3, 1.0], size=(N, 1))
    return rows, coins.integers(K, size=N).astype(float)


def mapped(X, intercept: float):
    X = X * (ROW_NORM / np.maximum(ROW_NORM, np.linalg.norm(X, axis=1)))[:, None]
    return np.hstack([X, np.full((len(X), 1), intercept)]) if intercept > 0 else X


def plain(X, y, run: Run, orders, skips=None, start=None, noise=None, shares=None):
    """Return the free weights of the run, written in the weights of all classes; noise comes in free coordinates."""
    weights = np.zeros((K, X.shape[1])) if start is None else ARRAYS.full(start)
    seen, t = [], 0
    for number, order in enumerate(orders):
        for here in range(math.ceil(len(order) / run.batch)):
            if t == run.steps:
                break
            t += 1
            if skips is None or not skips[number][here]:
                length = run.step if run.decay == 0 else min(run.step, 1 / (run.decay * t))
                gradient = run.ridge * weights
                for i in order[here * run.batch : (here + 1) * run.batch]:
                    slope = ARRAYS.slope((weights @ X[i])[None, :], y[i : i + 1])[0]
                    pulled = np.outer(slope, X[i])
                    pulled *= min(1.0, run.clip / max(np.linalg.norm(pulled), 1e-300))
                    gradient = gradient + (1.0 if shares is None else shares[i]) * pulled / run.batch
                if noise is not None:
                    gradient = gradient + ARRAYS.full(noise[t - 1].reshape(K - 1, -1))
                weights = weights - length * gradient
                weights = weights * min(1.0, run.radius / max(np.linalg.norm(weights), 1e-300))
            seen.append(weights)
    kept = {"last": seen[-1:], "uniform": seen, "suffix": seen[math.ceil(run.steps / 2) :] or seen[-1:]}[run.average]
    return ARRAYS.free(np.mean(kept, axis=0)).ravel()


BASE = Run(batch=4, steps=12, step=0.4)
RUNS = {
    "plain": BASE,
    "one row a step": replace(BASE, batch=1, steps=60, average="uniform"),
    "a ridge and decay": replace(BASE, ridge=0.5, decay=0.5, average="suffix"),
    "a ball": replace(BASE, radius=0.3, average="uniform"),
    "clipped": replace(BASE, clip=0.4, batch=7),
    "all rows": replace(BASE, batch=N, steps=3),
}
TABLES = {"dense": np.asarray, "float32": lambda X: X.astype(np.float32), "sparse": sparse.csr_array}


@pytest.mark.parametrize("intercept", [0.0, 0.5])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_runs_are_what_the_recipe_says(run, table, intercept):
    X, y = data()
    coins = np.random.default_rng(1)
    orders = [coins.permutation(N) for _ in range(-(-run.steps // -(-N // run.batch)))]
    rows = row_source(TABLES[table](X), DOMAIN, intercept)
    found = run_passes(rows, y, LOSS, run, orders)
    expected = plain(mapped(X.astype(np.float32) if table == "float32" else X, intercept), y, run, orders)
    np.testing.assert_allclose(found, expected, atol=1e-6 if table == "float32" else 1e-12)


@pytest.mark.parametrize("table", ["dense", "sparse"])
def test_skips_starts_hands_and_rows_that_count_for_less(table):
    X, y = data(2)
    run, order = replace(BASE, steps=6), np.random.default_rng(3).permutation(N)
    skips = [np.array([False, True, False, False, True, False])]
    start, shares = np.random.default_rng(4).normal(size=(K - 1, D)), np.linspace(0.2, 1.0, N)
    rows = row_source(TABLES[table](X), DOMAIN, 0.0)
    persons = Persons.alone(shares)
    expected = plain(mapped(X, 0.0), y, run, [order], skips, start, shares=shares)
    found = run_passes(rows, y, LOSS, run, [order], skips=iter(skips), start=start.ravel(), persons=persons)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    hand = Hand(rows.arrays(), y, order, persons)
    np.testing.assert_array_equal(run_hands([hand], D, LOSS, run, skips=iter(skips), start=start.ravel()), found)


@pytest.mark.parametrize("table", ["dense", "sparse"])
def test_noise_in_every_step_is_added_to_the_free_gradient(table):
    X, y = data(5)
    run, drawn, noises = replace(BASE, batch=1, steps=30, clip=0.5, radius=2.0), [], []
    coins, scale = np.random.default_rng(6), 0.3

    def draw_rows(out):
        out[:] = coins.integers(N, size=len(out))
        drawn.append(out.copy())

    def draw_noise(count):
        noise = SeededSource(count).noise("gaussian", count, scale)
        noises.append(np.ldexp(noise.wholes + noise.parts, noise.exponent))
        return noise

    found = run_noisy(row_source(TABLES[table](X), DOMAIN, 0.5), y, LOSS, run, draw_rows, draw_noise)
    noise = np.concatenate(noises).reshape(-1, (K - 1) * (D + 1))
    assert len(noise) == run.steps
    np.testing.assert_allclose(found, plain(mapped(X, 0.5), y, run, drawn, noise=noise), atol=1e-9)


def test_a_person_s_row_has_the_same_slopes_wherever_it_stands_in_the_batch():
    """SGD-rounding, part 6: at the first hit, slopes of common rows must be the same to the last bit."""
    X, y = data(7)
    run, start = Run(batch=1, steps=1, step=1.0), np.random.default_rng(8).normal(size=(K - 1) * D)
    found = set()
    for before in range(9):
        # One person with some rows of zeros before theirs: the same sum, at another place.
        table = np.vstack([np.zeros((before, D)), X[:1]])
        shares = np.append(np.zeros(before), 1.0)
        persons = Persons(np.arange(before + 1), np.array([0, before + 1]), shares)
        rows = row_source(table, DOMAIN, 0.0)
        targets = np.append(np.zeros(before), y[:1])
        found.add(run_passes(rows, targets, LOSS, run, [np.arange(1)], start=start, persons=persons).tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("classes", [2, 3, 4, 10, 64, MOST_CLASSES])
def test_slopes_of_predictions_near_and_far_are_right_to_what_the_page_says(classes):
    """Part 7 of SGD-rounding.md, with room: errors of slopes over u, against 16 + K - 1 times their bound, and W's."""
    arrays, coins = arrays_of(losses.named(f"multinomial:{classes}")), np.random.default_rng(classes)
    unit, steepest = 2.0**-53, math.sqrt(2) * (1 - 1 / classes)
    for size in (0.0, 1e-3, 1.0, 30.0, 700.0):
        free = coins.normal(size=classes - 1)
        free *= size / np.linalg.norm(free)
        target = int(coins.integers(classes))
        with np.errstate(under="ignore"):
            full = np.asarray(arrays.full(free[:, None].astype(np.longdouble)), dtype=np.longdouble)[:, 0]
            chances = np.exp(full - full.max())
            slope = chances / chances.sum()
            slope[target] -= 1
            expected = np.asarray(arrays._basis(), dtype=np.longdouble) @ slope
        pulls = free[:, None].copy()
        length = slopes_of_classes(pulls, 0, float(target), np.empty(classes))
        assert length == pytest.approx(float(np.linalg.norm(expected.astype(float))), abs=1e-12)
        error = float(np.linalg.norm((pulls[:, 0] - expected).astype(float)))
        # The basis of the reference is rounded to doubles as well: twice what is priced.
        assert error <= 2 * unit * ((15 + classes) * steepest + (classes + 14) * size / 2) + 1e-18


def test_the_change_to_predictions_of_classes_rounds_by_less_than_is_priced():
    """Part 7: the matrix of roundings has a norm of at most K + 3, and slopes are right to K + 15, for all K."""
    for classes in range(2, MOST_CLASSES + 1):
        number, later = np.arange(classes)[:, None], np.arange(1, classes)[None, :]
        # A factor of two roundings, a product, additions down to this class but for the very first, an end.
        before = 3 + (later - number) - (later == classes - 1) + (number > 0)
        own = (4 + (number < classes - 1)) * number
        counts = np.where(later > number, before, np.where(later == number, own, 0)) / np.sqrt(later * (later + 1))
        assert np.linalg.norm(counts, 2) <= classes + 3
        slopes = (classes + 3 + math.sqrt(classes - 2)) * classes / (math.sqrt(2) * (classes - 1))
        assert slopes + 5 * (1 + 1 / math.sqrt(2)) <= classes + 15


def test_another_loss_of_several_outputs_is_refused_and_digests_stand_in_the_type():
    with pytest.raises(InvalidParameter, match="multinomial"):
        compiled_loss(losses.named("logistic"))
    assert compiled_loss(LOSS).type.name.count("-") == len(BESIDE)
