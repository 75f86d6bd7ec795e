"""What a measurement is: a figure with its interval, and the resampling that the interval comes from.

An ensemble is a table of runs, seeds by datasets. Its runs are no independent samples: those of one seed share the
order of the rows, those of one dataset share the rows. So whole seeds and whole datasets are drawn anew, each with
replacement, and every figure is computed again on what was drawn (the two-way bootstrap of Owen, 2007, which errs
towards wide intervals).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.errors import InvalidData, InvalidParameter

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured figure, and an interval that holds what it estimates with the stated confidence.

    A figure that is computed, not measured, has an empty interval and confidence 1.

    Examples
    --------
    >>> print(Estimate(0.108, 0.105, 0.111, 0.95))
    0.108 [0.105, 0.111]
    >>> Estimate.exact(0.5)
    Estimate(value=0.5, low=0.5, high=0.5, confidence=1.0)
    >>> 0.51 in Estimate(0.5, 0.48, 0.52, 0.95)
    True
    """

    value: float
    low: float
    high: float
    confidence: float

    @classmethod
    def exact(cls, value: float) -> "Estimate":
        """Return a figure without uncertainty."""
        return cls(float(value), float(value), float(value), 1.0)

    @classmethod
    def of(cls, value: float, replicates: ArrayLike, confidence: float) -> "Estimate":
        """Return a figure with the percentile interval of its replicates, widened to hold the figure itself."""
        tails = [(1 - confidence) / 2, (1 + confidence) / 2]
        low, high = np.quantile(np.asarray(replicates, np.float64), tails, method="closest_observation").tolist()
        return cls(float(value), min(low, float(value)), max(high, float(value)), confidence)

    def __contains__(self, value: float) -> bool:
        """Return whether a number lies in the interval."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        """Return the figure and its interval to four digits."""
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How intervals are made: how often the runs are drawn anew, the confidence, and the seed of the drawing.

    Examples
    --------
    >>> Bootstrap(confidence=95)
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: a confidence above 0 and below 1; found: 95; to do: pass confidence=0.95
    """

    replicates: int = 500
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a confidence that is none, and too few replicates for its tails."""
        if not 0 < self.confidence < 1:
            asked = "a confidence above 0 and below 1"
            raise InvalidParameter(asked, repr(self.confidence), "pass confidence=0.95")
        least = math.ceil(4 / (1 - self.confidence))
        if not isinstance(self.replicates, int) or self.replicates < least:
            asked = f"at least {least} replicates for a confidence of {self.confidence:g}"
            raise InvalidParameter(asked, repr(self.replicates), f"pass replicates={max(least, 500)}")
        if not isinstance(self.seed, int) or self.seed < 0:
            raise InvalidParameter("a seed: a whole number from 0 up", repr(self.seed), "pass seed=0")

    def draw(self, n_seeds: int, n_datasets: int) -> "Resamples":
        """Return how often each replicate holds each seed and each dataset; at least two of either.

        Examples
        --------
        >>> counts = Bootstrap(replicates=80).draw(3, 5)
        >>> counts.seeds.shape, counts.datasets.shape, set(counts.datasets.sum(1).tolist())
        ((80, 3), (80, 5), {5.0})
        """
        stream = np.random.default_rng((self.seed, n_seeds, n_datasets))
        return Resamples(*(_counts(stream, size, self.replicates) for size in (n_seeds, n_datasets)))

    def estimate(self, value: float, replicates: ArrayLike) -> Estimate:
        """Return a figure with the percentile interval of its replicates."""
        return Estimate.of(value, replicates, self.confidence)


class Resamples(NamedTuple):
    """How often each replicate holds each seed, (replicates, R), and each dataset, (replicates, S)."""

    seeds: Array
    datasets: Array


def _counts(stream: np.random.Generator, size: int, replicates: int) -> Array:
    counts = stream.multinomial(size, np.full(size, 1 / size), replicates)
    # Nothing is measured on one seed, and no distance on one dataset: such a replicate is drawn again.
    while (alone := (counts > 0).sum(1) < min(2, size)).any():
        counts[alone] = stream.multinomial(size, np.full(size, 1 / size), int(alone.sum()))
    return counts.astype(np.float64)


def checked(weights: ArrayLike, *, least_seeds: int = 2, least_datasets: int = 2) -> NDArray[Any]:
    """Return the weights of an ensemble, (seeds, datasets, parameters), or say what is wrong with them.

    Examples
    --------
    >>> checked(np.zeros((3, 4, 2))).shape
    (3, 4, 2)
    >>> checked(np.zeros((1, 4, 2)))
    Traceback (most recent call last):
    equipoise.errors.InvalidData: asked: at least 2 seeds, since what is measured is how runs differ; found: 1; to do: \
train with more seeds
    """
    table = np.asarray(weights)
    if table.ndim != 3 or table.dtype.kind not in "fiu":
        asked = "weights as numbers of shape (seeds, datasets, parameters)"
        found = f"shape {table.shape}, {table.dtype}"
        raise InvalidData(asked, found, "pass the `weights` of an ensemble; one model a run, flattened")
    for found, least, name in ((table.shape[0], least_seeds, "seeds"), (table.shape[1], least_datasets, "datasets")):
        if found < least:
            asked = f"at least {least} {name}, since what is measured is how runs differ"
            raise InvalidData(asked, str(found), f"train with more {name}")
    if not table.shape[2]:
        raise InvalidData("at least one weight a run", "none", "pass the `weights` of an ensemble")
    if not np.isfinite(table).all():
        bad = ~np.isfinite(table).all(2)
        seed, dataset = np.argwhere(bad)[0].tolist()
        found = f"{int(bad.sum())} runs that are not, the first at seed {seed}, dataset {dataset} (counted from 0)"
        raise InvalidData("finite weights", found, "these runs diverged: train with a smaller step")
    return table


def positive(**values: float) -> None:
    """Refuse the first of the named numbers that is not finite and above 0.

    Examples
    --------
    >>> positive(sigma=0.0)
    Traceback (most recent call last):
    equipoise.errors.InvalidParameter: asked: a finite sigma above 0; found: 0.0; to do: pass a positive sigma
    """
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise InvalidParameter(f"a finite {name} above 0", repr(value), f"pass a positive {name}")


def figures(finding: Any, prefix: str = "") -> Iterator[tuple[str, Estimate]]:
    """Yield every figure of a finding with its dotted name, in order.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Pair:
    ...     first: Estimate
    ...     others: dict[str, Estimate]
    >>> [name for name, _ in figures(Pair(Estimate.exact(1), {"second": Estimate.exact(2)}))]
    ['first', 'others.second']
    """
    if isinstance(finding, Estimate):
        yield prefix, finding
    elif is_dataclass(finding):
        for field in fields(finding):
            yield from figures(getattr(finding, field.name), f"{prefix}.{field.name}".lstrip("."))
    elif isinstance(finding, dict):
        for name, value in finding.items():
            yield from figures(value, f"{prefix}.{name}".lstrip("."))
    elif isinstance(finding, tuple):
        for place, value in enumerate(finding):
            yield from figures(value, f"{prefix}.{place}".lstrip("."))
