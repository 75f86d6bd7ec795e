"""Tiles of a grid of seeds and datasets: rectangles whose arrays fit a stated memory."""

from collections.abc import Callable
from typing import NamedTuple

from equipoise.errors import InvalidParameter
from equipoise.lab.ensemble_models import Neighbours, Training

# On a CPU a tile has at most so many seeds a thread: few enough to lose in a stop, enough to keep every core at work.
SEEDS_A_THREAD = 4


class Tile(NamedTuple):
    """A rectangle of the grid: places of seeds and datasets, from the first up to the last, without it."""

    seed: int
    last_seed: int
    dataset: int
    last_dataset: int

    @property
    def runs(self) -> int:
        """How many runs the tile has."""
        return (self.last_seed - self.seed) * (self.last_dataset - self.dataset)

    @property
    def cells(self) -> tuple[slice, slice]:
        """Where the tile lies in a table of seeds by datasets."""
        return slice(self.seed, self.last_seed), slice(self.dataset, self.last_dataset)


def memory_needed(
    training: Training, n_samples: int, n_features: int, n_seeds: int, n_datasets: int, at_once: int
) -> int:
    """Return how many bytes the arrays of a tile take, `at_once` of its seeds being in work at a time.

    Examples
    --------
    >>> memory_needed(Training(n_steps=3400), 29305, 100, n_seeds=160, n_datasets=160, at_once=2) // 2**20
    205
    """
    width, places = n_features + training.intercept, training.batch_size
    weights = 4 * n_datasets * training.n_parameters(n_features)
    table = 3 * 4 * (n_samples + 1) * (width + 2)
    # Steps are padded to whole sections, and every array is for a while both here and on the device.
    steps = training.n_steps * 17 // 16 + 16
    held = 2 * steps * places * (4 + (width if training.dropout else 0)) + 2 * weights
    batch = 4 * (2 * places + 1) * training.outputs * n_datasets
    ahead = 2 * max(2**21, 4 * places * width) + 4 * 512 * n_datasets
    return table + n_seeds * held + at_once * (6 * weights + 8 * batch + ahead)


def cut(
    training: Training, neighbours: Neighbours, n_seeds: int, *, memory: int, threads: int, on_cpu: bool, parts: int = 1
) -> list[Tile]:
    """Return the tiles of a grid, each of which fits `memory` bytes: whole columns of datasets where they can be.

    Examples
    --------
    >>> import numpy as np
    >>> data = Neighbours(np.eye(9), np.ones(9), np.arange(9), np.zeros(9), 1.0)
    >>> cut(Training(n_steps=9, batch_size=3), data, 20, memory=2**25, threads=2, on_cpu=True)[-1]
    Tile(seed=16, last_seed=20, dataset=0, last_dataset=9)
    """

    def fits(n_seeds: int, n_datasets: int) -> bool:
        return need(n_seeds, n_datasets) <= memory

    def need(n_seeds: int, n_datasets: int) -> int:
        at_once = min(n_seeds, threads) if on_cpu else n_seeds
        return memory_needed(training, neighbours.n_samples, neighbours.n_features, n_seeds, n_datasets, at_once)

    def most(largest: int, fitting: Callable[[int], bool]) -> int:
        low, high = 1, largest
        while low < high:
            middle = -(-(low + high) // 2)
            low, high = (middle, high) if fitting(middle) else (low, middle - 1)
        return low

    if not fits(1, 1):
        found = f"memory={memory}, where one run alone takes {need(1, 1)} bytes"
        raise InvalidParameter("memory for one run at least", found, f"pass memory={need(1, 1)} or more")
    datasets = most(neighbours.n_datasets, lambda each: fits(1, each))
    limit = min(-(-n_seeds // parts), SEEDS_A_THREAD * threads if on_cpu else n_seeds)
    seeds = most(limit, lambda each: fits(each, datasets))
    return [
        Tile(seed, min(seed + seeds, n_seeds), dataset, min(dataset + datasets, neighbours.n_datasets))
        for seed in range(0, n_seeds, seeds)
        for dataset in range(0, neighbours.n_datasets, datasets)
    ]
