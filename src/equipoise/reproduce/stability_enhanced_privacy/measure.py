"""What is measured on each table and each preparation, split by split."""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equipoise.lab.estimate import Bootstrap, Estimate
from equipoise.reproduce.frame import Session
from equipoise.reproduce.stability_enhanced_privacy.linear import accuracies, minimise, similarity, support
from equipoise.reproduce.stability_enhanced_privacy.noises import NOISES, PRINTED, Noise, proved_epsilon
from equipoise.reproduce.stability_enhanced_privacy.preparation import (
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
# Figure 2: the noise that lambda = 0.01 needs, kept for every lambda. Figure 4: fixed strengths, scales from small to
# large, and the epsilons that the three accounts would give at one strength: 0.1, or, where rows are short, one at
# which the model without noise still beats the most frequent class.
REFERENCE, FIXED = 0.01, (0.01, 0.1, 1.0)
SCALES = tuple(float(f"{10 ** (step / 2):.2g}") for step in range(-6, 3))
MIDDLE = 0.1
SWEPT = {"paper": 0.1, "public": 0.001}
WIDE = tuple(float(f"{10 ** (step / 2):.2g}") for step in range(-4, 9))
# Figure 3: thresholds in deviations of the noise (F3). Figures 5 and 6: fixed ones.
MULTIPLES = (1.0, 3.0)
CUTOFFS = (0.01, 0.1, 1.0)
CONSTANT_SCALE = 0.1
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
    private : mapping
        Accuracy by noise, (epsilons, strengths, splits): Figure 1.
    constant : mapping
        Accuracy by noise at the largest epsilon, lambda = 0.01 setting the scale, (strengths, splits): Figure 2.
    scaled : mapping
        Accuracy by fixed lambda, (scales, splits): Figure 4.
    swept : mapping
        Accuracy by noise at the strength of SWEPT, (wide epsilons, splits).
    dynamic : mapping
        F1 by noise and threshold in deviations, (epsilons, strengths, splits): Figure 3.
    static, held : mapping
        F1 by cutoff, (strengths, splits): printed noise at the largest epsilon (Figure 5), and of one scale (Figure 6).
    """

    source: Source
    preparation: str
    rows: Prepared = field(repr=False)
    strengths: tuple[float, ...]
    plain: Array
    sparsity: Array
    private: Mapping[str, Array]
    constant: Mapping[str, Array]
    scaled: Mapping[float, Array]
    swept: Mapping[str, Array]
    dynamic: Mapping[tuple[str, float], Array]
    static: Mapping[float, Array]
    held: Mapping[float, Array]

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
        values = self.private[noise][self.epsilons.index(epsilon)]
        place = int(values.mean(1).argmax())
        return mean(values[place]), self.strengths[place]

    def best_plain(self) -> tuple[Estimate, float]:
        """Return the same without noise."""
        place = int(self.plain.mean(1).argmax())
        return mean(self.plain[place]), self.strengths[place]

    def enough(self, noise: str, short: float) -> float | None:
        """Return the first epsilon of the sweep that is less than `short` below the accuracy without noise."""
        reached = self.swept[noise].mean(1) > self.plain[self.at(SWEPT[self.preparation])].mean() - short
        return WIDE[int(reached.argmax())] if reached.any() else None


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
                (rows, one_split(rows, strengths, EPSILONS[source.key], SWEPT[name], seed))
                for seed, rows in one_per_split(session, source, prepare, splits, says)
            ]
            first, parts = gathered[0]
            tables = {
                part: {key: np.stack([each[part][key] for _, each in gathered], axis=-1) for key in keys}
                for part, keys in parts.items()
            }
            found.append(_found(source, name, first, strengths, tables))
    return tuple(found)


Tables = dict[str, dict[Any, Array]]
PARTS = ("alone", "private", "constant", "scaled", "swept", "dynamic", "static", "held")


def _found(source: Source, name: str, rows: Prepared, strengths: tuple[float, ...], tables: Tables) -> Found:
    alone = tables.pop("alone")
    return Found(source, name, rows, strengths, alone["plain"], alone["sparsity"], **tables)


def one_split(
    rows: Prepared, strengths: tuple[float, ...], epsilons: tuple[float, ...], swept: float, seed: int
) -> Tables:
    """Return every figure of one split: by part of `Found`, by its key, without the axis of the splits."""
    stream = np.random.default_rng((9, 1, seed))
    # From strong to weak: each minimiser is a start for the next.
    weights: dict[float, Array] = {}
    start = None
    for strength in sorted(strengths, reverse=True):
        start = weights[strength] = minimise(rows, strength, start)

    def noisy(strength: float, noise: Noise, scale: float) -> Array:
        return weights[strength] + noise.draw(stream, (DRAWS, *weights[strength].shape), scale)

    def accuracy(strength: float, noise: Noise, scale: float) -> float:
        return float(accuracies(rows, noisy(strength, noise, scale)).mean())

    def agreement(strength: float, noise: Noise, scale: float, threshold: float) -> float:
        selected = support(noisy(strength, noise, scale), threshold)
        return float(similarity(support(weights[strength]), selected).mean())

    tables: Tables = {part: {} for part in PARTS}
    tables["alone"]["plain"] = np.array([accuracies(rows, weights[each][None])[0] for each in strengths])
    tables["alone"]["sparsity"] = np.array([support(weights[each]).mean() for each in strengths])
    for noise in NOISES:
        scale, deviation = functools.partial(noise.scale, rows), functools.partial(noise.deviation, rows)
        tables["private"][noise.key] = np.array(
            [[accuracy(each, noise, scale(each, epsilon)) for each in strengths] for epsilon in epsilons]
        )
        kept = scale(REFERENCE, epsilons[-1])
        tables["constant"][noise.key] = np.array([accuracy(each, noise, kept) for each in strengths])
        tables["swept"][noise.key] = np.array([accuracy(swept, noise, scale(swept, epsilon)) for epsilon in WIDE])
        for multiple in MULTIPLES:
            tables["dynamic"][noise.key, multiple] = np.array(
                [
                    [
                        agreement(each, noise, scale(each, epsilon), multiple * deviation(each, epsilon))
                        for each in strengths
                    ]
                    for epsilon in epsilons
                ]
            )
    for strength in FIXED:
        tables["scaled"][strength] = np.array([accuracy(strength, PRINTED, scale) for scale in SCALES])
    for cutoff in CUTOFFS:
        tables["static"][cutoff] = np.array(
            [agreement(each, PRINTED, PRINTED.scale(rows, each, epsilons[-1]), cutoff) for each in strengths]
        )
        tables["held"][cutoff] = np.array([agreement(each, PRINTED, CONSTANT_SCALE, cutoff) for each in strengths])
    return tables
