"""Many runs of SGD at once: R seeds x S neighbouring datasets of one model, on a CPU or on a GPU.

Runs that share a seed share the order of the rows, so a step of all S datasets is one matrix product of the batch (b x
d) with their weights (d x S). A dataset differs from the base in one replaced row; where the batch holds that row, and
only there, the product is corrected. The program is written once, for one seed: a CPU runs it seed by seed on every
core, with the weights in the core's cache; a GPU runs it for all seeds in step.

Weights are 32-bit floats; products keep full 32-bit precision. This file and `ensemble_models.py` import only NumPy and
JAX, and run alone on a machine where nothing else of Equipoise is installed.
"""

import functools
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    import jax
    import jax.numpy as jnp
    from jax import lax
except ImportError:
    raise ImportError('the ensemble engine runs on JAX, which is missing: pip install "equipoise[lab]"') from None

try:
    from equipoise.lab.ensemble_models import Array, EnsembleError, Neighbours, Training
except ModuleNotFoundError:  # the two files alone, in one folder
    from ensemble_models import Array, EnsembleError, Neighbours, Training  # type: ignore[import-not-found,no-redef]

# A CPU gathers the rows of so many bytes of batches ahead of the steps: few gathers, and the rows stay in its cache.
AHEAD_BYTES = 2**21
# A GPU counts the replaced rows of so many steps at a time, and its loop holds so many steps.
GPU_STEPS, GPU_UNROLL = 160, 8

# JAX leaves these without types.
_shape: Callable[..., Any] = jax.ShapeDtypeStruct
_ready: Callable[[Any], Any] = jax.block_until_ready


class Plan(NamedTuple):
    """What the compiled program is made for, beside the shapes of its arguments."""

    training: Training
    shared: bool
    together: bool
    unroll: int
    section: int
    trace: bool


def _product(left: jax.Array, right: jax.Array) -> jax.Array:
    return jnp.matmul(left, right, precision=lax.Precision.HIGHEST)


def _slopes(training: Training, z: Any, y: Any, head: Any, weight: Any) -> tuple[Any, Any]:
    """Return the loss's slopes in the products z (rows, outputs, S) and its gradient in the head, rows weighted."""
    margin = z[:, 0]
    if training.model == "multinomial":
        slopes = jax.nn.softmax(z, axis=1) - (y[:, None] == jnp.arange(training.classes, dtype=y.dtype)[:, None])
        return slopes * weight[:, None], jnp.zeros_like(head)
    active = jnp.maximum(z, 0)
    if training.model == "network":
        margin = (active * head[:-1]).sum(1) + head[-1]
    if training.model == "squared":
        slope = 2 * (margin - y)
    elif training.model == "hinge":
        slope = jnp.where(y * margin < 1, -y, jnp.zeros_like(margin))
    elif training.model == "smooth-hinge":
        slope = -y * jnp.clip((1 + training.width - y * margin) / (2 * training.width), 0, 1)
    else:
        slope = -y * jax.nn.sigmoid(-y * margin)
    slope = slope * weight
    if training.model != "network":
        return slope[:, None], jnp.zeros_like(head)
    upper = jnp.concatenate([(active * slope[:, None]).sum(0), slope.sum(0)[None]])
    return jnp.where(z > 0, slope[:, None] * head[:-1], 0), upper


def _program(plan: Plan, data: Any, schedule: Any, seed: Any) -> Any:
    """Train one seed on every dataset; return their weights, (S, parameters), or those after each section of steps."""
    training, table, replaced = plan.training, data["table"], data["replaced"]
    # The table ends with a row of zeros for empty places.
    (n, width), datasets, outputs = (table.shape[0] - 1, table.shape[1]), replaced.shape[0], training.outputs
    # Each dataset's replacement as a column, beside the weights that it meets.
    others = data["others"].T[:, None]
    dropout = training.dropout > 0
    ones = jnp.ones((1, width), jnp.float32)
    scale = ones[0].at[: width - training.intercept].divide(1 - training.dropout)

    def at(values: Any, index: Any) -> Any:
        return values.at[index].get(mode="promise_in_bounds")

    def fetched(index: Any) -> dict[str, Any]:
        return {"rows": at(table, index), "targets": at(data["targets"], index)}

    def mixed(left: Any, right: Any) -> Any:
        return _product(left, right.reshape(right.shape[0], -1)).reshape(-1, outputs, datasets)

    def change(state: Any, batch: Any, exceptional: bool) -> Any:
        """Return what the batch adds to the weights; an exceptional batch holds replaced rows or empty places."""
        layer, head = state
        index, rows, targets, weight = batch["index"], batch["rows"], batch["targets"][:, None], -batch["rate"]
        if dropout:
            kept = batch["kept"] * scale
            rows = rows * kept
        z = mixed(rows, layer)
        if not exceptional:
            slopes, upper = _slopes(training, z, targets, head, weight[None, None])
            return mixed(rows.T, slopes), upper
        hit = index[:, None] == replaced
        # One more row stands for a replacement wherever it is met; with dropout it looks different in each place.
        if dropout:
            z_other, met = mixed(kept, others * layer), hit
        else:
            # The sum runs along the last axis, where a CPU is quick.
            met = batch.get("met", (replaced[:, None] == index).sum(1))[None]
            if plan.shared:
                z_other = mixed(data["others"], layer)
            else:
                # A sum over rows: a CPU is quick at products, a GPU at sums.
                z_other = (others * layer).sum(0)[None] if plan.together else mixed(ones, others * layer)
        usual = jnp.where(hit | (index == n)[:, None], 0, weight)
        slopes, upper = _slopes(training, z, targets, head, usual)
        other_slopes, other_upper = _slopes(training, z_other, data["labels"][None], head, met * weight)
        lower = mixed(rows.T, slopes) + others * (mixed(kept.T, other_slopes) if dropout else other_slopes)
        return lower, upper + other_upper

    def advance(carry: Any, batch: Any, exceptional: bool) -> Any:
        moves = change(carry[0], batch, exceptional)
        if training.alpha:
            moves = jax.tree.map(lambda move, old: move - batch["eta"] * training.alpha * old, moves, carry[0])
        if training.momentum:
            moves = jax.tree.map(lambda last, move: training.momentum * last + move, carry[1], moves)
        state = jax.tree.map(jnp.add, carry[0], moves)
        if math.isfinite(training.radius):
            norm = jnp.sqrt(jnp.square(state[0]).sum((0, 1)) + jnp.square(state[1]).sum(0))
            state = jax.tree.map(lambda new: new * jnp.minimum(1, training.radius / norm), state)
        if training.momentum or math.isfinite(training.radius):
            # The last section may be longer than the steps that are left; a step of size 0 is none.
            state = jax.tree.map(lambda new, old: jnp.where(batch["eta"] > 0, new, old), state, carry[0])
        return state, moves if training.momentum else ()

    def step(carry: Any, batch: Any) -> Any:
        if plan.together:
            return advance(carry, batch | fetched(batch["index"]), True), None
        branches = [functools.partial(advance, exceptional=each) for each in (True, False)]
        return lax.cond(batch["exceptional"], *branches, carry, batch), None

    def section(carry: Any, batches: Any) -> Any:
        index = batches["index"]
        if plan.together:
            batches["met"] = (index[:, :, None] == replaced).sum(1)
        else:
            batches |= fetched(index) | {"exceptional": at(data["watched"], index).any(1)}
        carry, _ = lax.scan(step, carry, batches, unroll=plan.unroll)
        return carry, flat(carry[0]) if plan.trace else None

    def flat(state: Any) -> Any:
        return jnp.concatenate([state[0].transpose(2, 1, 0).reshape(datasets, -1), state[1].T], axis=1)

    state = tuple(jnp.broadcast_to(each[..., None], (*each.shape, datasets)) for each in (seed["first"], seed["head"]))
    carry = (state, jax.tree.map(jnp.zeros_like, state) if training.momentum else ())
    by_step = schedule | {name: seed[name] for name in ("index", "kept") if name in seed}
    sections = jax.tree.map(lambda each: each.reshape(-1, plan.section, *each.shape[1:]), by_step)
    carry, trace = lax.scan(section, carry, sections)
    return trace if plan.trace else flat(carry[0])


@functools.lru_cache(maxsize=32)
def _compiled(plan: Plan, shapes: Any, tree: Any, device: Any) -> Callable[..., jax.Array]:
    where = jax.sharding.SingleDeviceSharding(device)
    arguments = tree.unflatten([_shape(shape, dtype, sharding=where) for shape, dtype in shapes])
    program = functools.partial(_program, plan)
    if plan.together:
        program = jax.vmap(program, in_axes=(None, None, 0))
    # On a CPU the cores are spread over the seeds, so that no product is cut into pieces too small to pay.
    options: dict[str, str | bool] | None = None if plan.together else {"xla_cpu_multi_thread_eigen": False}
    return jax.jit(program).lower(*arguments).compile(options)


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The weights of R seeds x S datasets, (R, S, parameters), and the seconds that each stage took.

    `trace` holds the weights after each of `trace_steps`, (R, len(trace_steps), S, parameters), where it was asked for.
    """

    weights: Array
    seeds: tuple[int, ...]
    seconds: dict[str, float]
    trace: Array
    trace_steps: tuple[int, ...]

    @property
    def diverged(self) -> tuple[tuple[int, int], ...]:
        """The runs whose weights are not finite, as (seed, dataset)."""
        return tuple((self.seeds[r], int(a)) for r, a in np.argwhere(~np.isfinite(self.weights).all(2)))


def device(backend: str) -> Any:
    """Return the device of a backend ("cpu", "gpu", or "auto": the best that JAX finds).

    Examples
    --------
    >>> device("cpu").platform
    'cpu'
    """
    if backend not in ("auto", "cpu", "gpu"):
        raise EnsembleError("a backend", repr(backend), 'pass "auto", "cpu" or "gpu"')
    try:
        return jax.devices(None if backend == "auto" else backend)[0]
    except RuntimeError:
        found = f"JAX {jax.__version__} sees only: {', '.join(str(each) for each in jax.devices())}"
        remedy = 'pip install "jax[cuda13]" on a machine with an NVIDIA GPU, or pass backend="cpu"'
        raise EnsembleError(f"a {backend} that JAX can use", found, remedy) from None


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check(training: Training, neighbours: Neighbours, seeds: Sequence[int]) -> None:
    """Refuse seeds, batches and labels that do not go together."""
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise EnsembleError("distinct seeds of at least 0", f"{len(seeds)} seeds: {seeds[:5]} ..", "pass range(R)")
    if training.batch_size > neighbours.n_samples:
        found = f"batch_size={training.batch_size}"
        raise EnsembleError(f"batches of at most {neighbours.n_samples} rows", found, "lower batch_size")
    labels = np.unique(np.append(neighbours.labels, neighbours.replacement_labels))
    known = np.arange(training.classes) if training.model == "multinomial" else np.array([-1, 1])
    if training.model != "squared" and not np.isin(labels, known).all():
        asked = f"labels among {known.tolist()[:5]} for the model {training.model!r}"
        raise EnsembleError(asked, f"{labels[~np.isin(labels, known)][:5].tolist()}", "code the classes so")


def sections(n_steps: int, near: int, multiple: int = 1) -> int:
    """Return how long the sections are that steps are cut into: near `near`, wasting the fewest steps at the end.

    Examples
    --------
    >>> sections(3400, near=160, multiple=8), sections(7, near=100)
    (200, 7)
    """
    counts = range(max(1, n_steps // (2 * near)), n_steps // near + 2)
    lengths = [multiple * -(-n_steps // (count * multiple)) for count in counts]
    return min(lengths, key=lambda length: (-(-n_steps // length) * length, abs(length - near)))


def train(
    training: Training,
    neighbours: Neighbours,
    seeds: Sequence[int],
    *,
    backend: str = "auto",
    together: bool | None = None,
    threads: int | None = None,
    trace: int = 0,
) -> Ensemble:
    """Train every seed on every dataset.

    Parameters
    ----------
    training, neighbours : Training, Neighbours
        How each run is trained, and on what.
    seeds : sequence of int
        Each drives its own order of rows, dropout masks and, where asked, initial weights.
    backend : str
        "cpu", "gpu" or "auto".
    together : bool, optional
        Whether all seeds take each step together, as they do by default on a GPU alone.
    threads : int, optional
        How many seeds are trained at a time where they are not; by default one for each core.
    trace : int
        Keep the weights after every so many steps, too; 0 keeps the last alone.

    Examples
    --------
    >>> x, y = np.eye(4), np.array([1, -1, 1, -1])
    >>> runs = train(Training(n_steps=5, batch_size=2, step=1.0), Neighbours(x, y, [-1, 2], x[0], y[0]), range(3))
    >>> runs.weights.shape, runs.diverged
    ((3, 2, 5), ())
    """
    seeds = tuple(int(seed) for seed in seeds)
    check(training, neighbours, seeds)
    place, (n, d) = device(backend), neighbours.features.shape
    together, width = place.platform != "cpu" if together is None else together, d + training.intercept
    near = GPU_STEPS if together else max(1, AHEAD_BYTES // (4 * training.batch_size * width))
    unroll = 1 if place.platform == "cpu" else GPU_UNROLL
    section = trace or sections(training.n_steps, near, unroll)
    spare = -training.n_steps % section
    threads, seconds = threads or cores(), {}

    @contextmanager
    def clock(stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        seconds[stage] = time.perf_counter() - start

    def padded(by_step: NDArray[Any], fill: float) -> NDArray[Any]:
        return (
            np.concatenate([by_step, np.full((spare, *by_step.shape[1:]), fill, by_step.dtype)]) if spare else by_step
        )

    def draw(seed: int) -> dict[str, NDArray[Any]]:
        first, head = training.draw_initial(d, seed)
        drawn = {"first": first, "head": head, "index": padded(training.draw_order(n, seed), n)}
        return drawn | ({"kept": padded(training.draw_masks(d, seed), 0)} if training.dropout else {})

    def with_constant(rows: Array) -> Array:
        return np.column_stack([rows, np.ones(len(rows), np.float32)]) if training.intercept else rows

    with ThreadPoolExecutor(threads) as pool:
        with clock("draw"):
            drawn = list(pool.map(draw, seeds))
            watched = np.zeros(n + 1, np.bool_)
            watched[np.append(neighbours.replaced_index[neighbours.replaced_index >= 0], n)] = True
            rows, etas = with_constant(neighbours.features), training.steps()
            others = with_constant(np.atleast_2d(neighbours.replacement_rows))
            sizes = training.batch_size if training.last_batch == "nominal" else (drawn[0]["index"] < n).sum(1)
            data = {
                "table": np.concatenate([rows, np.zeros((1, width), np.float32)]),
                "targets": np.append(neighbours.labels, np.float32(1)),
                "replaced": neighbours.replaced_index.astype(np.int32),
                "others": others,
                "labels": np.atleast_1d(neighbours.replacement_labels),
                "watched": watched,
            }
            schedule = {"eta": padded(etas, 0), "rate": padded(etas, 0) / np.maximum(sizes, 1).astype(np.float32)}
            if together:
                drawn = [{name: np.stack([each[name] for each in drawn]) for name in drawn[0]}]
        with clock("transfer"):
            data, schedule, drawn = _ready(jax.device_put((data, schedule, drawn), place))
        with clock("compile"):
            leaves, tree = jax.tree.flatten((data, schedule, drawn[0]))
            plan = Plan(training, neighbours.shared, together, unroll, section, trace > 0)
            run = _compiled(plan, tuple((leaf.shape, leaf.dtype) for leaf in leaves), tree, place)
        with clock("run"):
            found = list(pool.map(lambda seed: _ready(run(data, schedule, seed)), drawn))
        with clock("fetch"):
            weights = np.asarray(found[0]) if together else np.stack([np.asarray(each) for each in found])
    ends = tuple(min(end, training.n_steps) for end in range(section, training.n_steps + section, section))
    kept = (weights, ends) if trace else (weights[:, None], (training.n_steps,))
    return Ensemble(kept[0][:, -1], seeds, seconds, *kept)
