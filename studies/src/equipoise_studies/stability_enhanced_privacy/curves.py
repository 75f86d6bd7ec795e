"""What the figures ask of one way to make the noise: the study's three and the product answer the same questions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise_studies.stability_enhanced_privacy.linear import accuracies, columns, similarity, support
from equipoise_studies.stability_enhanced_privacy.preparation import Array, Prepared

Selected = Callable[[Array, float], NDArray[np.bool_]]

# Figures 2 and 6: the noise that this lambda needs at the largest epsilon, kept for every lambda.
REFERENCE = 0.01
# Figure 3: thresholds in deviations of the noise (F3). Figures 5 and 6: fixed ones.
MULTIPLES = (1.0, 3.0)
CUTOFFS = (0.01, 0.1, 1.0, 10.0)
# Figure 4: fixed lambdas and scales from small to large, and the epsilons that each account gives at one lambda: 0.1,
# or, where rows are short, one at which the model without noise still beats the most frequent class.
FIXED = (0.01, 0.1, 1.0)
SCALES = tuple(float(f"{10 ** (step / 2):.2g}") for step in range(-6, 3))
SWEPT = {"paper": 0.1, "public": 0.001}
# The paper speaks of weights. The product selects columns, and so do the curves beside it.
SELECTED = {"paper": support, "public": columns}
WIDE = tuple(float(f"{10 ** (step / 2):.2g}") for step in range(-4, 9))


class Account(ABC):
    """A way to release the weights of one split's training rows; weights are (.., outputs, columns + 1).

    Parameters
    ----------
    rows : Prepared
        The rows.
    selected : callable
        From weights and a threshold to what is selected: every weight, or every column, beyond it.
    """

    def __init__(self, rows: Prepared, selected: Selected) -> None:
        self.rows, self.selected = rows, selected

    @abstractmethod
    def plain(self, strength: float) -> Array:
        """Return the weights without noise at a lambda."""

    @abstractmethod
    def scale(self, strength: float, epsilon: float) -> float:
        """Return the scale of the noise that is meant to be epsilon-private."""

    @abstractmethod
    def deviation(self, strength: float, epsilon: float) -> float:
        """Return the standard deviation of the noise in one weight (F3)."""

    @abstractmethod
    def release(self, strength: float, epsilon: float) -> Array:
        """Return draws of the released weights, which the first axis counts."""

    @abstractmethod
    def release_at(self, strength: float, scale: float) -> Array:
        """Return the same with noise of a given scale."""

    def accuracy(self, released: Array) -> float:
        """Return the test accuracy, the mean over the draws."""
        return float(accuracies(self.rows, released).mean())

    def agreement(self, strength: float, released: Array, threshold: float) -> float:
        """Return the F1 score of what is selected beyond a threshold against what is not 0 without noise."""
        return float(similarity(self.selected(self.plain(strength), 0.0), self.selected(released, threshold)).mean())


@dataclass(frozen=True, eq=False)
class Curves:
    """What one account reached; every array ends with the axis of the splits.

    Parameters
    ----------
    private : array (epsilons, strengths, splits)
        Accuracy with tuned noise: Figure 1.
    constant : array (strengths, splits)
        Accuracy with noise of one scale: Figure 2.
    swept : array (wide epsilons, splits)
        Accuracy at the strength of SWEPT: Figure 4 over epsilon.
    dynamic : mapping from a multiple of the deviation to an array (epsilons, strengths, splits)
        F1 with tuned noise and thresholds: Figure 3.
    static, held : mapping from a cutoff to an array (strengths, splits)
        F1 with tuned noise at the largest epsilon (Figure 5), and with noise of one scale (Figure 6).
    """

    private: Array
    constant: Array
    swept: Array
    dynamic: Mapping[float, Array]
    static: Mapping[float, Array]
    held: Mapping[float, Array]

    @classmethod
    def stacked(cls, parts: Sequence["Curves"]) -> "Curves":
        """Return what single splits found, side by side."""

        def together(of: str, key: float) -> Array:
            return np.stack([getattr(part, of)[key] for part in parts], axis=-1)

        return cls(
            private=np.stack([part.private for part in parts], axis=-1),
            constant=np.stack([part.constant for part in parts], axis=-1),
            swept=np.stack([part.swept for part in parts], axis=-1),
            dynamic={multiple: together("dynamic", multiple) for multiple in MULTIPLES},
            static={cutoff: together("static", cutoff) for cutoff in CUTOFFS},
            held={cutoff: together("held", cutoff) for cutoff in CUTOFFS},
        )


def enough(curves: Curves, alone: Array, short: float) -> float | None:
    """Return the first epsilon of the sweep that is less than `short` below the accuracy without noise."""
    reached = curves.swept.mean(1) > alone.mean() - short
    return WIDE[int(reached.argmax())] if reached.any() else None


def curves_of(account: Account, strengths: Sequence[float], epsilons: Sequence[float], swept: float) -> Curves:
    """Return every curve of one account on one split: without the axis of the splits."""
    tuned = {(epsilon, each): account.release(each, epsilon) for epsilon in epsilons for each in strengths}
    last = epsilons[-1]
    kept = account.scale(REFERENCE, last)
    constant = {each: account.release_at(each, kept) for each in strengths}

    def dynamic(multiple: float) -> Array:
        return np.array(
            [
                [
                    account.agreement(each, tuned[epsilon, each], multiple * account.deviation(each, epsilon))
                    for each in strengths
                ]
                for epsilon in epsilons
            ]
        )

    def fixed(released: Mapping[float, Array]) -> dict[float, Array]:
        return {
            cutoff: np.array([account.agreement(each, released[each], cutoff) for each in strengths])
            for cutoff in CUTOFFS
        }

    return Curves(
        private=np.array([[account.accuracy(tuned[epsilon, each]) for each in strengths] for epsilon in epsilons]),
        constant=np.array([account.accuracy(constant[each]) for each in strengths]),
        swept=np.array([account.accuracy(account.release(swept, epsilon)) for epsilon in WIDE]),
        dynamic={multiple: dynamic(multiple) for multiple in MULTIPLES},
        static=fixed({each: tuned[last, each] for each in strengths}),
        held=fixed(constant),
    )
