"""The compiled loops against the plain loop that the recipe describes: losses, orders, averages, penalties, tables."""

import math
import os
import subprocess
import sys
from dataclasses import replace

import numba
import numpy as np
import pytest
from scipy import sparse

from equipoise.certify.theorems import descent
from equipoise.data.rows import DenseArrays, SparseArrays, row_source
from equipoise.data.tables import Columns
from equipoise.errors import InvalidParameter
from equipoise.noise.grid import GridNoise
from equipoise.solve.compiled_slope import compiled_slope
from equipoise.solve.descents import gridded, kernels, orders
from equipoise.solve.descents.stochastic import Hand, Run, run_hands, run_noisy, run_noisy_hands, run_passes
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.losses import Loss

N, D, ROW_NORM = 23, 5, 1.5
NAMES = sorted(name for name in losses.members() if name != "multinomial")


def data(seed: int = 0):
    """Return rows, some of them too long, and targets of size 1."""
    coins = np.random.default_rng(seed)
    return coins.normal(size=(N, D)) * coins.choice([0.3, 1.0], size=(N, 1)), np.sign(coins.normal(size=N))


def domain_of(loss) -> Domain:
    return Domain(ROW_NORM, classes=(-1, 1)) if loss.task == "classification" else Domain(ROW_NORM, labels=(-1.0, 1.0))


def clipped_table(X, intercept: float):
    X = X.astype(np.float64)
    X = X * (ROW_NORM / np.maximum(ROW_NORM, np.linalg.norm(X, axis=1)))[:, None]
    return np.hstack([X, np.full((len(X), 1), intercept)]) if intercept > 0 else X


def plain(X, y, loss, run: Run, orders, masks=None, skips=None, start=None, noise=None):
    """Return what the recipe says, on rows that are clipped already, written as it is said."""
    weights = np.zeros(X.shape[1]) if start is None else start.copy()
    seen, t = [], 0
    for number, order in enumerate(orders):
        for here in range(math.ceil(len(order) / run.batch)):
            if t == run.steps:
                break
            t += 1
            if skips is None or not skips[number][here]:
                length = run.step if run.decay == 0 else min(run.step, 1 / (run.decay * t))
                gradient = np.zeros_like(weights)
                for i in order[here * run.batch : (here + 1) * run.batch]:
                    row = X[i].copy()
                    if masks is not None:
                        columns = slice(0, masks[number].shape[1])
                        row[columns] *= masks[number][here]
                        row[columns] *= min(1.0, run.short / max(np.linalg.norm(row[columns]), 1e-300))
                    slope = loss.slope(float(row @ weights), float(y[i]))
                    slope *= min(1.0, run.clip / max(abs(slope) * np.linalg.norm(row), 1e-300))
                    gradient += slope * row / run.batch
                gradient += run.ridge * weights
                if noise is not None:
                    gradient += noise[t - 1]
                weights = weights - length * gradient
                weights = np.sign(weights) * np.maximum(np.abs(weights) - length * run.l1, 0)
                weights *= min(1.0, run.radius / max(np.linalg.norm(weights), 1e-300))
            seen.append(weights)
    kept = {"last": seen[-1:], "uniform": seen, "suffix": seen[math.ceil(run.steps / 2) :] or seen[-1:]}[run.average]
    return np.mean(kept, axis=0)


def orders_for(kind: str, batch: int, passes: int, seed: int = 1):
    coins = np.random.default_rng(seed)
    if kind == "replacement":
        return [coins.integers(N, size=math.ceil(N / batch) * batch) for _ in range(passes)]
    fixed = coins.permutation(N)
    return [fixed if kind == "permutation" else coins.permutation(N) for _ in range(passes)]


def agree(X, y, loss, run, orders, intercept=0.5, **more):
    rows = row_source(X, domain_of(loss), intercept)
    found = run_passes(rows, y, loss, run, orders, **more)
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    wanted = plain(clipped_table(dense, intercept), y, loss, run, orders, **more)
    assert np.abs(wanted).max() > 1e-3
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)


# --- the losses -------------------------------------------------------------------------------------------------------


class LogCosh(Loss):
    """``width log cosh(r / width)``: a loss that no file of the house knows."""

    width: float = 0.5
    id = "log-cosh"
    task = "regression"

    def value(self, prediction, target):
        residual = abs(prediction - target) / self.width
        return self.width * (residual + math.log1p(math.exp(-2 * residual)) - math.log(2))

    @staticmethod
    def slope_at(prediction, target, parameter):
        return math.tanh((prediction - target) / parameter)

    def slope_bound(self, reach, label_bound):
        return 1.0

    def curvature_bound(self):
        return 1 / self.width

    def pull(self, reach, label_bound):
        return min(reach, label_bound)


@pytest.mark.parametrize("table", ["dense", "sparse"])
@pytest.mark.parametrize("batch", [1, 4])
def test_a_loss_brings_its_own_slope_into_the_loops(table, batch):
    X, y = data(2)
    for loss in (LogCosh(), LogCosh(0.1)):
        run = Run(batch=batch, steps=40 // batch, step=0.3, ridge=0.05)
        agree(TABLES[table](X), y, loss, run, orders_for("fresh", batch, 3))


def test_a_loss_of_several_outputs_has_no_slope_for_these_loops():
    with pytest.raises(InvalidParameter, match=r"a loss of one output.*multinomial"):
        compiled_slope(losses.named("multinomial:3"))


FIRST_STEP = """
import sys
import numpy as np
from equipoise.data.rows import row_source
from equipoise.solve.descents import kernels, orders
from equipoise.solve.descents.stochastic import Run, run_passes
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Domain

rows = row_source(np.eye(2), Domain(1.0, labels=(-1.0, 1.0)), intercept=0.0)
found = run_passes(rows, np.ones(2), losses.named(sys.argv[1]), Run(batch=1, steps=2, step=0.25), [np.arange(2)])
loops = [value for value in vars(kernels).values() if hasattr(value, "stats")]
print(found.tolist(), sum(sum(loop.stats.cache_misses.values()) for loop in loops))
"""


@pytest.mark.statistics
def test_another_process_compiles_nothing_again_and_never_takes_one_loss_s_loop_for_another(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def first_step(loss: str) -> str:
        command = [sys.executable, "-c", FIRST_STEP, loss]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    # Slopes of -2, and of minus the cap, at prediction 0; steps of 0.25. One loop serves every cap.
    answers = [first_step(loss) for loss in ("squared", "huber:0.3", "huber:0.2")]
    assert [answer.rsplit(" ", 1)[0] for answer in answers] == [
        "[0.5, 0.5]",
        "[0.075, 0.075]",
        "[0.05, 0.05]",
    ]
    compiled = [int(answer.rsplit(" ", 1)[1]) for answer in answers]
    assert compiled[0] > compiled[1] > 0
    assert compiled[2:] == [0]


def test_what_loops_take_from_other_files_stands_in_the_type_by_which_the_cache_knows_them(monkeypatch):
    # Numba's cache stamps a loop with the content of its own file and of no other.
    others = [
        value
        for value in vars(kernels).values()
        if hasattr(value, "py_func") and value.py_func.__module__ != kernels.__name__
    ]
    taken = []
    monkeypatch.setattr(kernels, "dense_steps", lambda slope, *_: taken.append(slope.type) or 1)
    X, y = data()
    loss = losses.named("squared")
    run_passes(row_source(X, domain_of(loss), 0.0), y, loss, Run(batch=N, steps=1, step=0.1), orders_for("fresh", N, 1))
    assert others == [gridded.add_noise]
    assert taken == [compiled_slope(loss, *others).type]

    def add_noise(gradient, batch, noise, here):
        return True

    changed = {compiled_slope(loss, *found).type.name for found in ([], others, [numba.njit(add_noise)])}
    assert len(changed) == 3


# --- the run ----------------------------------------------------------------------------------------------------------

TABLES = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "sparse": lambda X: sparse.csr_array(X * (np.abs(X) > 0.4)),
}
RUNS = {
    "plain": Run(batch=1, steps=3 * N, step=0.3),
    "batches": Run(batch=4, steps=18, step=0.5),
    "partial": Run(batch=4, steps=15, step=0.5, ridge=0.1),
    "ridge": Run(batch=1, steps=3 * N, step=0.4, ridge=0.2),
    "strong": Run(batch=1, steps=3 * N, step=0.9, ridge=0.9, average="uniform"),
    "decay": Run(batch=1, steps=3 * N, step=2.0, decay=0.2, ridge=0.2),
    "vanishing": Run(batch=1, steps=3 * N, step=5.0, decay=0.2, ridge=0.2, average="suffix"),
    "uniform": Run(batch=1, steps=3 * N, step=0.4, ridge=0.1, average="uniform"),
    "suffix": Run(batch=4, steps=17, step=0.4, ridge=0.1, average="suffix"),
    "ball": Run(batch=1, steps=3 * N, step=0.6, radius=0.4, ridge=0.1, average="uniform"),
    "wide ball": Run(batch=4, steps=18, step=0.9, radius=0.7),
    "clip": Run(batch=1, steps=3 * N, step=0.5, clip=0.15, ridge=0.1),
    "clipped batches": Run(batch=5, steps=15, step=0.9, clip=0.15, average="uniform"),
    "l1": Run(batch=1, steps=3 * N, step=0.4, l1=0.05, ridge=0.1, radius=0.5, average="suffix"),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_runs_are_what_the_recipe_says(table, run):
    X, y = data()
    agree(TABLES[table](X), y, losses.named("logistic"), run, orders_for("fresh", run.batch, 3))


# Every order once in the fast lane, dense and sparse in turn: a loop is compiled for every loss and kind of table.
ORDERS = {"permutation": "dense", "fresh": "sparse", "replacement": "dense"}


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        pytest.param(kind, table, marks=() if ORDERS[kind] == table else pytest.mark.statistics)
        for kind in ORDERS
        for table in ("dense", "sparse")
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_every_loss_in_every_order(name, kind, table):
    X, y = data(2)
    loss = losses.named(name)
    run = Run(batch=4, steps=16, step=0.3, ridge=0.05, radius=2.0)
    for run_of in (run, replace(run, batch=1, steps=50)):
        agree(TABLES[table](X), y, loss, run_of, orders_for(kind, run_of.batch, 3))


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("table", ["dense", "float32", "sparse"])
@pytest.mark.parametrize("intercept", [0.0, 0.5])
def test_masks_and_skipped_steps(batch, table, intercept):
    X, y = data(3)
    coins = np.random.default_rng(5)
    steps = math.ceil(N / batch)
    masks = [coins.random((steps, D)) < 0.6 for _ in range(3)]
    skips = [coins.random(steps) < 0.3 for _ in range(3)]
    run = Run(batch, 3 * steps - 1, 0.5, ridge=0.1, short=0.6**0.5 * ROW_NORM, clip=0.4, average="uniform")
    orders = orders_for("fresh", batch, 3)
    agree(TABLES[table](X), y, losses.named("logistic"), run, orders, intercept, masks=masks, skips=skips)
    agree(TABLES[table](X), y, losses.named("squared"), run, orders, intercept, masks=masks)
    agree(TABLES[table](X), y, losses.named("huber"), replace(run, clip=math.inf), orders, intercept, skips=skips)


@pytest.mark.parametrize("table", ["dense", "sparse"])
def test_a_pass_may_come_in_pieces_and_start_anywhere(table):
    X, y = data(4)
    rows = row_source(TABLES[table](X), Domain(ROW_NORM, classes=(-1, 1)), 0.5)
    loss, start = losses.named("logistic"), np.linspace(-1, 1, D + 1)
    run = Run(batch=4, steps=11, step=0.4, ridge=0.1, average="uniform")
    orders = orders_for("fresh", 4, 2)
    pieces = [piece for order in orders for piece in (order[:8], order[8:])]
    whole = run_passes(rows, y, loss, run, orders, start=start)
    np.testing.assert_allclose(run_passes(rows, y, loss, run, pieces, start=start), whole, rtol=1e-13)
    assert start[0] == -1
    agree(TABLES[table](X), y, loss, run, orders, start=start)


@pytest.mark.parametrize("average", ["last", "uniform", "suffix"])
def test_one_step_is_its_own_average(average):
    X, y = data()
    agree(X, y, losses.named("logistic"), Run(batch=4, steps=1, step=0.4, average=average), orders_for("fresh", 4, 1))


@pytest.mark.parametrize("average", ["last", "uniform"])
@pytest.mark.parametrize("radius", [1.1, math.inf])
def test_sparse_sums_are_deferred_over_many_steps(average, radius):
    coins = np.random.default_rng(6)
    X = sparse.csr_array(coins.normal(size=(N, 40)) * (coins.random((N, 40)) < 0.1))
    y = np.sign(coins.normal(size=N))
    run = Run(batch=1, steps=100 * N - 7, step=0.1, ridge=0.003, average=average, radius=radius)
    agree(X, y, losses.named("hinge"), run, orders_for("fresh", 1, 100))


def test_no_sum_is_deferred_for_longer_than_its_rounding_is_priced():
    assert kernels.STRETCH <= descent.STRETCH


def test_values_of_rows_never_raise():
    X, y = data()
    X[3, 1], X[4] = np.nan, 1e200
    X[5, 0] = -np.inf
    run = Run(batch=1, steps=N, step=0.3)
    clean = np.where(np.isfinite(X), X, 0.0)
    clean[4] = ROW_NORM / math.sqrt(D)
    orders = orders_for("fresh", 1, 1)
    wanted = plain(clipped_table(clean, 0.0), y, losses.named("logistic"), run, orders)
    for table in (X, np.asfortranarray(X), sparse.csr_array(X), Columns(list(X.T))):
        rows = row_source(table, Domain(ROW_NORM, classes=(-1, 1)), 0.0)
        found = run_passes(rows, y, losses.named("logistic"), run, orders)
        np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_zero_rows_and_zero_weights_project_and_clip_without_a_fuss():
    rows = row_source(np.zeros((4, 2)), Domain(1.0, labels=(-1.0, 1.0)), 0.0)
    run = Run(batch=2, steps=4, step=0.5, clip=0.1, radius=0.5, l1=0.1, ridge=0.1, short=0.5)
    masks = [np.zeros((2, 2), dtype=bool)] * 2
    for table in (rows, row_source(sparse.csr_array((4, 2)), Domain(1.0, labels=(-1.0, 1.0)), 0.0)):
        found = run_passes(table, np.ones(4), losses.named("absolute"), run, [np.arange(4)] * 2, masks=masks)
        assert found.tolist() == [0.0, 0.0]


# --- arrays -----------------------------------------------------------------------------------------------------------


def test_a_dense_table_is_not_copied_unless_it_must_be():
    X, _ = data()
    domain = Domain(ROW_NORM, classes=(-1, 1))
    for table in (X, X.astype(np.float32)):
        arrays = row_source(table, domain, 0.5).arrays()
        assert isinstance(arrays, DenseArrays)
        assert arrays.matrix is table
    for table, kind in (
        (np.asfortranarray(X), np.float64),
        (np.ones((3, 2), dtype=np.int8), np.float32),
        (X.astype(">f8"), np.float64),
    ):
        arrays = row_source(table, domain, 0.5).arrays()
        assert arrays.matrix.flags.c_contiguous
        assert arrays.matrix.dtype == np.dtype(kind)
        assert arrays.matrix.dtype.isnative
        np.testing.assert_array_equal(arrays.matrix, table)


def test_sparse_arrays_are_the_clipped_rows():
    X, _ = data()
    rows = row_source(sparse.csr_array(X), Domain(ROW_NORM, classes=(-1, 1)), 0.5)
    arrays = rows.arrays()
    assert isinstance(arrays, SparseArrays)
    table = sparse.csr_array((arrays.data, arrays.indices, arrays.indptr), shape=(N, D + 1)).toarray()
    np.testing.assert_allclose(table, clipped_table(X, 0.5), rtol=1e-15)


# --- rows that are at hand a few at a time ----------------------------------------------------------------------------


def gathered(X, y, order, intercept=0.5):
    """Return a hand of the rows that an order meets, each once, lying in another order than in the table."""
    arrays = row_source(X, Domain(ROW_NORM, classes=(-1, 1)), intercept).arrays()
    distinct, places = np.unique(-np.asarray(order), return_inverse=True)
    return Hand(arrays.dealt(-distinct), y[-distinct], places)


@pytest.mark.parametrize("table", ["dense", "sparse"])
@pytest.mark.parametrize("run", ["plain", "partial", "decay", "ball", "clipped batches", "l1", "suffix"])
def test_rows_in_hands_take_the_steps_of_the_whole_table(table, run):
    X, y = data(5)
    X, run, loss = TABLES[table](X), RUNS[run], losses.named("logistic")
    orders = orders_for("fresh", run.batch, 3)
    length = 2 * run.batch
    cut = [order[first : first + length] for order in orders for first in range(0, len(order), length)]
    wanted = run_passes(row_source(X, domain_of(loss), 0.5), y, loss, run, cut)
    for at_once in (None, 1):
        found = run_hands((gathered(X, y, order) for order in cut), D + 1, loss, run, steps_at_once=at_once)
        # Steps are the same to the last bit; a mean may be added up in other groups, and sparse sums are deferred.
        assert found == pytest.approx(wanted, rel=1e-12)
        if run.average == "last" and table == "dense":
            assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("batch", [1, 4, N])
def test_noisy_steps_on_fetched_rows_are_those_on_the_whole_table(batch, monkeypatch):
    monkeypatch.setattr("equipoise.solve.descents.stochastic.CHUNK", 60)
    X, y = data(7)
    run, loss = Run(batch, 31, 0.3, ridge=0.1, radius=0.8, clip=0.7), losses.named("logistic")

    def drawing():
        coins = np.random.default_rng(8)

        def draw_rows(out):
            out[:] = coins.integers(N, size=len(out))

        return draw_rows, lambda count: GridNoise.of_doubles(0.7 * coins.standard_normal(count), 0.7)

    wanted = run_noisy(row_source(X, domain_of(loss), 0.5), y, loss, run, *drawing())
    at_once = max(1, 60 // max(D + 1, batch))
    found = run_noisy_hands(lambda order: gathered(X, y, order), D + 1, loss, run, *drawing(), at_once)
    assert found.tobytes() == wanted.tobytes()


# --- noise in every step ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["dense", "sparse"])
@pytest.mark.parametrize("batch", [1, 4, N])
def test_noisy_steps_take_distinct_rows_and_the_noise_given(table, batch, monkeypatch):
    monkeypatch.setattr("equipoise.solve.descents.stochastic.CHUNK", 60)
    X, y = data(7)
    coins = np.random.default_rng(8)
    drawn, noise = [], []

    def draw_rows(out):
        out[:] = coins.integers(N, size=len(out))
        drawn.extend(out.tolist())

    def draw_noise(count):
        drawn = 0.7 * coins.standard_normal(count)
        noise.extend(drawn.reshape(-1, D + 1))
        return GridNoise.of_doubles(drawn, 0.7)

    run = Run(batch, 31, 0.3, ridge=0.1, radius=0.8, clip=0.7, average="uniform", l1=0.01)
    X = TABLES[table](X)
    loss = losses.named("logistic")
    found = run_noisy(row_source(X, domain_of(loss), 0.5), y, loss, run, draw_rows, draw_noise)
    assert len(noise) == run.steps
    dense = X.toarray() if sparse.issparse(X) else X
    if batch in (1, N):
        # With one row a batch is its draw, and with all of them it is known.
        order = np.array(drawn[: run.steps]) if batch == 1 else np.tile(np.arange(N), run.steps)
        wanted = plain(clipped_table(dense, 0.5), y, loss, run, [order], noise=np.array(noise))
        # Gradients are rounded to the grid of the noise, 2^-41 of its deviation at most.
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_subsets_of_rows_are_uniform():
    # 20 subsets of 3 out of 6, 20,000 times: chi-square with 19 degrees of freedom exceeds 70 with probability 1e-7.
    coins = np.random.default_rng(9)
    # Four spots for six rows: they meet in them.
    order, seen, filled = np.empty(60_000, dtype=np.int64), np.zeros((4, 2), dtype=np.int64), 0
    while filled < len(order):
        filled = orders.distinct_rows(coins.integers(6, size=1000), 3, 0, filled, seen, order)
    subsets, counts = np.unique(np.sort(order.reshape(-1, 3), axis=1), axis=0, return_counts=True)
    assert len(subsets) == 20
    assert (np.diff(subsets, axis=1) > 0).all()
    assert np.square(counts - 1000).sum() / 1000 < 70


def test_a_sparse_table_without_a_stored_entry_is_dealt_like_any_other():
    # SciPy asks for a shape where no entry tells it: an error here would tell that all entries are 0.
    loss, run = losses.named("logistic"), Run(batch=2, steps=4, step=0.3)
    rows = row_source(sparse.csr_array((4, D)), domain_of(loss), 0.0)
    order = np.arange(4)[::-1].copy()
    found = run_passes(rows, np.ones(4), loss, run, [np.arange(4)] * 2, dealt=order)
    assert found.tolist() == [0.0] * D
