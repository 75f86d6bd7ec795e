"""What is measured on each table and each preparation, split by split."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from equipoise.lab.estimate import Bootstrap, Estimate
from equipoise_studies.frame import Session
from equipoise_studies.stability_enhanced_privacy.curves import (
    FIXED,
    SCALES,
    SELECTED,
    SWEPT,
    Account,
    Curves,
    Selected,
    curves_of,
)
from equipoise_studies.stability_enhanced_privacy.linear import accuracies, minimise, support
from equipoise_studies.stability_enhanced_privacy.noises import NOISES, PRINTED, Noise, proved_epsilon
from equipoise_studies.stability_enhanced_privacy.preparation import (
    PREPARATIONS,
    SOURCES,
    Array,
    Prepared,
    Source,
    Split,
)

# Half decades of lambda; the paper prints no grid but speaks of 0.1 as a middle value.
STRENGTHS = tuple(float(f"{10 ** (step / 2):.2g}") for step in range(-8, 3))
QUICK_STRENGTHS = STRENGTHS[2::2]
# The paper prints no epsilon. Small tables need large ones before anything is left.
EPSILONS = {"adult": (0.1, 1.0, 10.0), "lastfm": (1.0, 10.0, 100.0), "khan": (1.0, 10.0, 100.0)}
SPLITS, QUICK_SPLITS = 10, 2
# Draws of noise a split; their mean is one number of the split.
DRAWS = 5
MIDDLE = 0.1
BOOTSTRAP = Bootstrap()


def mean(values: Array) -> Estimate:
    """Return the mean over splits with its bootstrap interval.

    Examples
    --------
    >>> print(mean(np.array([1.0, 1.0, 1.0])))
    1 [1, 1]
    """
    drawn = np.random.default_rng(BOOTSTRAP.seed).integers(0, len(values), (BOOTSTRAP.replicates, len(values)))
    return BOOTSTRAP.estimate(float(values.mean()), values[drawn].mean(1))


@dataclass(frozen=True, eq=False)
class Found:
    """What was measured on one table in one preparation; every array ends with the axis of the splits.

    Parameters
    ----------
    source, preparation : Source, str
        The table, and "paper" or "public".
    rows : Prepared
        The rows of the first split.
    strengths : tuple of float
        The grid of lambda.
    plain, sparsity : array (strengths, splits)
        Accuracy without noise, and the share of weights that are not 0.
    curves : mapping
        What each noise reached, by its key.
    scaled : mapping
        Accuracy with the printed noise by fixed lambda, (scales, splits): Figure 4 over the scale.
    """

    source: Source
    preparation: str
    rows: Prepared = field(repr=False)
    strengths: tuple[float, ...]
    plain: Array
    sparsity: Array
    curves: Mapping[str, Curves]
    scaled: Mapping[float, Array]

    @property
    def key(self) -> str:
        """The table and the preparation, as claims name them."""
        return self.source.key if self.preparation == "paper" else f"{self.source.key}.public"

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The budgets that this table was measured at."""
        return EPSILONS[self.source.key]

    @property
    def proved_epsilon(self) -> float:
        """What is proved of the printed noise, in units of the epsilon that it claims."""
        return proved_epsilon(self.rows)

    def at(self, strength: float) -> int:
        """Return the place of a strength in the grid."""
        return self.strengths.index(strength)

    def best(self, noise: str, epsilon: float) -> tuple[Estimate, float]:
        """Return the accuracy of the best lambda in hindsight, and that lambda."""
        values = self.curves[noise].private[self.epsilons.index(epsilon)]
        place = int(values.mean(1).argmax())
        return mean(values[place]), self.strengths[place]

    def best_plain(self) -> tuple[Estimate, float]:
        """Return the same without noise."""
        place = int(self.plain.mean(1).argmax())
        return mean(self.plain[place]), self.strengths[place]


Prepare = Callable[[Source, Split], Prepared]


def one_per_split(
    session: Session, source: Source, prepare: Prepare, splits: int, says: str
) -> Iterator[tuple[int, Prepared]]:
    """Yield the prepared rows of every split, telling how far the work is."""
    for seed in range(splits):
        session.report(says, seed, splits)
        yield seed, prepare(source, source.split(seed))
    session.report(says, splits, splits)


def measure(session: Session) -> tuple[Found, ...]:
    """Measure every table in both preparations."""
    splits = QUICK_SPLITS if session.quick else SPLITS
    strengths = QUICK_STRENGTHS if session.quick else STRENGTHS
    found = []
    for load in SOURCES:
        source = load(session.data)
        for name, prepare in PREPARATIONS.items():
            says = f"{source.name}, {'as the paper' if name == 'paper' else 'public'}"
            gathered = [
                (rows, one_split(rows, name, strengths, EPSILONS[source.key], seed))
                for seed, rows in one_per_split(session, source, prepare, splits, says)
            ]
            parts = [part for _, part in gathered]
            found.append(
                Found(
                    source,
                    name,
                    gathered[0][0],
                    strengths,
                    plain=np.stack([part.plain for part in parts], axis=-1),
                    sparsity=np.stack([part.sparsity for part in parts], axis=-1),
                    curves={noise.key: Curves.stacked([part.curves[noise.key] for part in parts]) for noise in NOISES},
                    scaled={each: np.stack([part.scaled[each] for part in parts], axis=-1) for each in FIXED},
                )
            )
    return tuple(found)


class Noised(Account):
    """Minimisers with noise that a study draws: one classifier, or one a class against the rest."""

    def __init__(
        self,
        rows: Prepared,
        selected: Selected,
        weights: Mapping[float, Array],
        noise: Noise,
        stream: np.random.Generator,
    ) -> None:
        super().__init__(rows, selected)
        self._weights, self._noise, self._stream = weights, noise, stream

    def plain(self, strength: float) -> Array:
        """Return the minimiser."""
        return self._weights[strength]

    def scale(self, strength: float, epsilon: float) -> float:
        """Return the noise's own scale."""
        return self._noise.scale(self.rows, strength, epsilon)

    def deviation(self, strength: float, epsilon: float) -> float:
        """Return the noise's own deviation."""
        return self._noise.deviation(self.rows, strength, epsilon)

    def release(self, strength: float, epsilon: float) -> Array:
        """Return the minimiser with draws of tuned noise."""
        return self.release_at(strength, self.scale(strength, epsilon))

    def release_at(self, strength: float, scale: float) -> Array:
        """Return the minimiser with draws of noise of a scale."""
        weights = self._weights[strength]
        return weights + self._noise.draw(self._stream, (DRAWS, *weights.shape), scale)


@dataclass(frozen=True, eq=False)
class OneSplit:
    """What one split found: the fields of `Found`, without the axis of the splits."""

    plain: Array
    sparsity: Array
    curves: Mapping[str, Curves]
    scaled: Mapping[float, Array]


def one_split(
    rows: Prepared, preparation: str, strengths: tuple[float, ...], epsilons: tuple[float, ...], seed: int
) -> OneSplit:
    """Minimise at every strength, and ask every noise for its curves."""
    stream = np.random.default_rng((9, 1, seed))
    # From strong to weak: each minimiser is a start for the next.
    weights: dict[float, Array] = {}
    start = None
    for strength in sorted(strengths, reverse=True):
        start = weights[strength] = minimise(rows, strength, start)
    accounts = {noise.key: Noised(rows, SELECTED[preparation], weights, noise, stream) for noise in NOISES}
    printed = accounts[PRINTED.key]
    return OneSplit(
        plain=np.array([accuracies(rows, weights[each][None])[0] for each in strengths]),
        sparsity=np.array([support(weights[each]).mean() for each in strengths]),
        curves={key: curves_of(account, strengths, epsilons, SWEPT[preparation]) for key, account in accounts.items()},
        scaled={
            each: np.array([printed.accuracy(printed.release_at(each, scale)) for scale in SCALES]) for each in FIXED
        },
    )
