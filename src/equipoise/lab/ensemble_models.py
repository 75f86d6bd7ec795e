"""What an ensemble trains: how each run is trained, and the neighbouring datasets; NumPy alone.

Orders, initial weights and dropout masks are drawn here, each seed from its own streams, so that every backend and a
plain loop see the same numbers.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MODELS = ("logistic", "multinomial", "squared", "smooth-hinge", "hinge", "network")
ORDERS = ("fresh", "permutation", "replacement")
SCHEDULES = {"constant": 0.0, "root": 0.5, "inverse": 1.0}
INITIALISATIONS = ("seed", "fixed", "zero")
LAST_BATCHES = ("mean", "nominal", "drop")
# What a stream of a seed is for.
INITIAL, ORDER, MASK = range(3)

Array = NDArray[np.float32]


class EnsembleError(ValueError):
    """What was asked, what was found, what to do; the three texts are its `args`.

    Examples
    --------
    >>> print(EnsembleError("a positive step", "step=0", "pass step=0.1"))
    asked: a positive step; found: step=0; to do: pass step=0.1
    """

    def __init__(self, asked: str, found: str, remedy: str) -> None:
        super().__init__(asked, found, remedy)

    def __str__(self) -> str:
        """Return the whole sentence that a user reads."""
        return "asked: {}; found: {}; to do: {}".format(*self.args)


@dataclass(frozen=True)
class Training:
    """How every run of an ensemble is trained: ``w <- w - eta_t (mean gradient of the batch + alpha w)``.

    Parameters
    ----------
    model : str
        "logistic", "squared" ``(m - y)^2``, "hinge", "smooth-hinge" (Huber's SVM loss of half-width `width`) and
        "network" (one hidden layer of `hidden` ReLU units under a logistic loss) take labels -1 and +1, "squared" any;
        "multinomial" takes labels 0 .. `classes` - 1.
    n_steps, batch_size : int
        How many steps of how many rows.
    step, schedule, largest_step
        The step size: ``min(largest_step, step / t**e)`` for t = 1, 2, ... with e = 0 ("constant"), 1/2 ("root"), 1
        ("inverse").
    order : str
        "fresh" shuffles the rows every epoch, "permutation" once, "replacement" draws each row anew.
    last_batch : str
        The short batch at the end of an epoch: divided by its own size ("mean"), by `batch_size` ("nominal"), or left
        out ("drop").
    initialisation : str
        Glorot's uniform weights and zero biases, drawn by each "seed" or all by `initial_seed` ("fixed"); or "zero".
    intercept : bool
        Whether rows get a constant column; it is the last weight of each output, and is held to the same `alpha`.
    alpha, radius, momentum, dropout : float
        Ridge ``alpha / 2 ||w||^2``; the ball that each run is projected onto (``inf``: none); the heavy ball's
        factor; the chance that an input is dropped, the rest being divided by ``1 - dropout``.

    Examples
    --------
    >>> Training("logistic", n_steps=3400, batch_size=32, step=0.5).n_parameters(100)
    101
    >>> Training("logistic", order="sorted")
    Traceback (most recent call last):
    equipoise.lab.ensemble_models.EnsembleError: asked: a known order; found: 'sorted'; to do: pass one of fresh, \
permutation, replacement
    """

    model: str = "logistic"
    n_steps: int = 1000
    batch_size: int = 32
    step: float = 0.1
    schedule: str = "constant"
    largest_step: float = math.inf
    order: str = "fresh"
    last_batch: str = "mean"
    initialisation: str = "seed"
    initial_seed: int = 0
    intercept: bool = True
    alpha: float = 0.0
    radius: float = math.inf
    momentum: float = 0.0
    dropout: float = 0.0
    classes: int = 2
    hidden: int = 16
    width: float = 0.5

    def __post_init__(self) -> None:
        """Refuse unknown names and numbers out of range."""
        for name, known in (
            ("model", MODELS),
            ("schedule", tuple(SCHEDULES)),
            ("order", ORDERS),
            ("last_batch", LAST_BATCHES),
            ("initialisation", INITIALISATIONS),
        ):
            if getattr(self, name) not in known:
                raise EnsembleError(f"a known {name}", repr(getattr(self, name)), f"pass one of {', '.join(known)}")
        for name, least in (("n_steps", 1), ("batch_size", 1), ("initial_seed", 0), ("classes", 2), ("hidden", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise EnsembleError(f"{name}: a whole number of at least {least}", repr(value), f"pass {name}={least}")
        for name, low, high in (
            ("step", 0.0, math.inf),
            ("largest_step", 0.0, math.inf),
            ("alpha", 0.0, math.inf),
            ("radius", 0.0, math.inf),
            ("momentum", 0.0, 1.0),
            ("dropout", 0.0, 1.0),
            ("width", 0.0, math.inf),
        ):
            value = getattr(self, name)
            zero, endless = name in ("alpha", "momentum", "dropout"), name in ("radius", "largest_step")
            if not (low < value < high or (zero and value == 0) or (endless and value == math.inf)):
                edges = f"{'at least' if zero else 'above'} 0 and below {high:g}"
                raise EnsembleError(f"{name} {edges}", f"{name}={value!r}", f"pass {name} as a number in that range")

    @property
    def outputs(self) -> int:
        """How many products a row has with the first layer: 1, or one a class or hidden unit."""
        return {"multinomial": self.classes, "network": self.hidden}.get(self.model, 1)

    @property
    def head(self) -> int:
        """How many weights follow the first layer: those of a network's output, its bias last."""
        return self.hidden + 1 if self.model == "network" else 0

    def n_parameters(self, n_features: int) -> int:
        """Return how many weights a run has: output by output with the intercept last, then the network's head."""
        return self.outputs * (n_features + self.intercept) + self.head

    def steps(self) -> Array:
        """Return the step size of every step."""
        sizes = self.step / np.arange(1, self.n_steps + 1, dtype=np.float64) ** SCHEDULES[self.schedule]
        steps: Array = np.minimum(sizes, self.largest_step).astype(np.float32)
        return steps

    def draw_order(self, n_samples: int, seed: int) -> NDArray[np.int32]:
        """Return the rows of each batch, (n_steps, batch_size); places that a short batch leaves empty hold n_samples.

        Examples
        --------
        >>> Training(n_steps=4, batch_size=2).draw_order(3, seed=0).tolist()
        [[2, 0], [1, 3], [1, 2], [0, 3]]
        """
        steps, size = self.n_steps, self.batch_size
        stream = np.random.default_rng((seed, ORDER))
        if self.order == "replacement":
            return stream.integers(0, n_samples, (steps, size), dtype=np.int32)
        batches = n_samples // size if self.last_batch == "drop" else -(-n_samples // size)
        rows = np.arange(n_samples, dtype=np.int32)
        places = np.full((-(-steps // batches), batches * size), n_samples, np.int32)
        used = min(n_samples, batches * size)
        for epoch, place in enumerate(places):
            place[:used] = stream.permutation(rows)[:used] if epoch == 0 or self.order == "fresh" else places[0, :used]
        return places.reshape(-1, size)[:steps]

    def draw_initial(self, n_features: int, seed: int) -> tuple[Array, Array]:
        """Return the first weights: those of the first layer (n_features + intercept, outputs), and the head's.

        Examples
        --------
        >>> first, head = Training("network", hidden=4).draw_initial(3, seed=0)
        >>> first.shape, head.shape, bool(abs(first).max() <= (6 / 7) ** 0.5), first[-1].tolist(), head[-1].item()
        ((4, 4), (5,), True, [0.0, 0.0, 0.0, 0.0], 0.0)
        """
        first = np.zeros((n_features + self.intercept, self.outputs), np.float32)
        head = np.zeros(self.head, np.float32)
        if self.initialisation != "zero":
            stream = np.random.default_rng((seed if self.initialisation == "seed" else self.initial_seed, INITIAL))
            edge = math.sqrt(6 / (n_features + self.outputs))
            first[:n_features] = stream.uniform(-edge, edge, (n_features, self.outputs))
            head[:-1] = stream.uniform(-1, 1, max(self.head - 1, 0)) * math.sqrt(6 / (self.hidden + 1))
        return first, head

    def draw_masks(self, n_features: int, seed: int) -> NDArray[np.bool_]:
        """Return which inputs are kept, (n_steps, batch_size, n_features + intercept); the constant column always is.

        Examples
        --------
        >>> Training(n_steps=50, batch_size=8, dropout=0.5).draw_masks(3, seed=0).mean((0, 1)).round(1).tolist()
        [0.5, 0.5, 0.5, 1.0]
        """
        stream = np.random.default_rng((seed, MASK))
        kept = np.ones((self.n_steps, self.batch_size, n_features + self.intercept), np.bool_)
        kept[..., :n_features] = stream.random((*kept.shape[:2], n_features), np.float32) >= self.dropout
        return kept


@dataclass(frozen=True, eq=False)
class Neighbours:
    """A base dataset and S datasets that differ from it in one row each.

    Parameters
    ----------
    features, labels : array
        The base dataset: n rows of d features, and their labels.
    replaced_index : array of S whole numbers
        Which row each dataset replaces; -1 for the base itself.
    replacement_rows, replacement_labels : array
        What stands there instead: a row and a label for each dataset, or one row and one label for all.

    Examples
    --------
    >>> x, y = np.eye(4), np.array([1, -1, 1, -1])
    >>> pair = Neighbours(x, y, [-1, 2], x[0], y[0])
    >>> pair.n_samples, pair.n_features, pair.n_datasets, pair.shared
    (4, 4, 2, True)
    """

    features: Any
    labels: Any
    replaced_index: Any
    replacement_rows: Any
    replacement_labels: Any

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together, and values that are not finite."""
        put = functools.partial(object.__setattr__, self)
        put("replaced_index", np.atleast_1d(np.asarray(self.replaced_index)))
        for name in ("features", "labels", "replacement_rows", "replacement_labels"):
            put(name, np.asarray(getattr(self, name), np.float32, order="C"))
            if not np.isfinite(getattr(self, name)).all():
                raise EnsembleError(f"finite {name}", "values that are not", "replace or remove them first")
        if self.features.ndim != 2 or self.labels.shape != self.features.shape[:1] or not self.features.size:
            shapes = f"features {self.features.shape}, labels {self.labels.shape}"
            raise EnsembleError("a table of rows and one label a row", shapes, "pass n x d features and n labels")
        index, (n, d) = self.replaced_index, self.features.shape
        if index.ndim != 1 or index.dtype.kind not in "iu" or not index.size or index.min() < -1 or index.max() >= n:
            found = f"shape {index.shape}, {index.dtype}" + (f", {index.min()} .. {index.max()}" if index.size else "")
            raise EnsembleError(f"replaced_index: whole numbers from -1 to {n - 1}", found, "count rows from 0")
        shared = self.replacement_rows.ndim == 1
        lead = () if shared else index.shape
        if self.replacement_rows.shape != (*lead, d) or self.replacement_labels.shape != lead:
            found = f"rows {self.replacement_rows.shape}, labels {self.replacement_labels.shape}"
            raise EnsembleError(
                f"replacement rows ({d},) or ({len(index)}, {d}), and labels", found, "pass those shapes"
            )

    n_samples = property(lambda self: int(self.features.shape[0]), doc="How many rows each dataset has.")
    n_features = property(lambda self: int(self.features.shape[1]), doc="How many features a row has.")
    n_datasets = property(lambda self: len(self.replaced_index), doc="How many datasets there are.")
    shared = property(lambda self: self.replacement_rows.ndim == 1, doc="Whether one row replaces every replaced row.")

    def part(self, first: int, last: int) -> "Neighbours":
        """Return the datasets from `first` up to `last`, without it."""
        rows, labels = self.replacement_rows, self.replacement_labels
        if not self.shared:
            rows, labels = rows[first:last], labels[first:last]
        return Neighbours(self.features, self.labels, self.replaced_index[first:last], rows, labels)
