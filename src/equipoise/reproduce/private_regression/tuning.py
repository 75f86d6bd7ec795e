"""Parameters chosen on private rows: Algorithm 5 as printed and corrected (E5), and random stopping (E6)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from equipoise.reproduce.private_regression import printed
from equipoise.reproduce.private_regression.certified import Certified
from equipoise.reproduce.private_regression.linear import Array, Linear, Squares
from equipoise.reproduce.private_regression.preparation import HALF_RANGE, Rows

# The squared error of predictions in [-1, 1] of a target in [-1, 1] is at most 4: public.
LARGEST_LOSS = 4.0
# Random stopping: the share of rows that scores, and gamma of the logarithmic law (eta = 0): 6.3 tries on average.
SCORING_SHARE = 0.1
STOPPING = 0.05


# A mechanism as printed, and what multiplies a loss on the scale of the target before a choice is made. The third is a
# reading that comes close to Figure 7: it was found among 16 that were tried, so that its closeness is no evidence.
PRINTED_WAYS = {
    "output": (printed.output, 1.0),
    "objective": (printed.objective, 1.0),
    "output, short noise": (printed.output_short_noise, HALF_RANGE**2),
}


class Setting(NamedTuple):
    """A candidate: its ridge and its radius."""

    ridge: float
    radius: float


def settings(radii: str) -> tuple[Setting, ...]:
    """Return the 24 settings of Algorithm 5 for one of the two sets of radii.

    Examples
    --------
    >>> len(settings("R1")), settings("R2")[0]
    (24, Setting(ridge=0.002, radius=0.5))
    """
    return tuple(Setting(ridge, radius) for radius in printed.RADII[radii] for ridge in printed.RIDGES)


def chunks(rows: Rows, share: float) -> tuple[list[Rows], Rows]:
    """Return 24 parts for training, each sampled at a rate, and a last one for validation (Figure 7's protocol)."""
    parts = np.array_split(np.arange(len(rows)), printed.CHUNKS)
    training = [rows.part(part[: max(1, round(share * len(part)))]) for part in parts[:-1]]
    # The rows of a chunk are in random order already, so that its first ones are a sample.
    return training, rows.part(parts[-1])


def as_printed(
    rows: Rows, way: str, radii: str, epsilon: float, stream: np.random.Generator, share: float = 1.0
) -> Linear:
    """Return Algorithm 5 as printed, around a mechanism as printed."""
    train, unit = PRINTED_WAYS[way]
    training, validation = chunks(rows, share)
    models = [
        train(Squares.of(part), epsilon, setting.ridge, setting.radius, stream)
        for part, setting in zip(training, settings(radii), strict=True)
    ]
    found = np.array([np.mean((validation.features @ model.weights - validation.target) ** 2) for model in models])
    return models[printed.tuned(unit * found, epsilon, max(printed.RADII[radii]), stream)]


def corrected(
    rows: Rows, way: str, radii: str, epsilon: float, stream: np.random.Generator, share: float = 1.0
) -> Linear:
    """Return private tuning with the exact sensitivity (E5): losses are bounded, and averaged over the chunk.

    A row lies in one chunk, so that training and choosing together cost epsilon once.
    """
    training, validation = chunks(rows, share)
    models = [
        Certified(way, setting.ridge, setting.radius).fit(part, epsilon, int(stream.integers(2**31)))
        for part, setting in zip(training, settings(radii), strict=True)
    ]
    found = np.minimum(bounded_losses(models, validation), LARGEST_LOSS)
    return models[printed.exponential(-epsilon * len(validation) * found / (2 * LARGEST_LOSS), stream)]


def bounded_losses(models: Sequence[Linear], rows: Rows) -> Array:
    """Return mean squared errors on the clipped target: each term lies between 0 and 4."""
    return np.array([
        np.mean((np.clip(rows.features @ model.weights + model.offset, -1, 1) - rows.target) ** 2) for model in models
    ])  # fmt: skip


def tries(stream: np.random.Generator) -> int:
    """Return how often random stopping tries: the logarithmic law, `P[K = k] = (1 - gamma)^k / (k ln(1/gamma))`.

    Examples
    --------
    >>> stream = np.random.default_rng(0)
    >>> bool(5.9 < np.mean([tries(stream) for _ in range(4000)]) < 6.8)
    True
    """
    return int(stream.logseries(1 - STOPPING))


# What random stopping chooses from: three ridges around the product's public ones, and whether there is a radius.
CHOICES: tuple[Certified, ...] = tuple(
    Certified("objective", ridge, radius) for ridge in (0.004, 0.016, 0.064) for radius in (None, 1.0, 2.0)
)


def random_stopping(rows: Rows, epsilon: float, stream: np.random.Generator) -> Linear:
    """Return the best of a random number of private fits with private scores (E6, eta = 0): each costs epsilon / 2.

    A fit sees nine tenths of the rows and its score the others, so that a try costs epsilon / 2 once.
    """
    each = epsilon / 2
    kept = round((1 - SCORING_SHARE) * len(rows))
    training, scoring = rows.part(np.arange(kept)), rows.part(np.arange(kept, len(rows)))
    best, lowest = Linear(np.zeros(rows.features.shape[1])), np.inf  # the law starts at one try, which replaces it
    for choice in stream.integers(len(CHOICES), size=tries(stream)):
        model = CHOICES[choice].fit(training, each, int(stream.integers(2**31)))
        noise = stream.laplace(scale=LARGEST_LOSS / (len(scoring) * each))
        score = float(bounded_losses([model], scoring)[0] + noise)
        if score < lowest:
            best, lowest = model, score
    return best
