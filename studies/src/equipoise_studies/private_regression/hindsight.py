"""Output perturbation with parameters picked on the test rows: what a lucky choice would do. Not private."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from equipoise_studies.private_regression import printed
from equipoise_studies.private_regression.certified import Certified
from equipoise_studies.private_regression.linear import Array, Linear
from equipoise_studies.private_regression.mechanisms import Training
from equipoise_studies.private_regression.preparation import Rows


class Choice(NamedTuple):
    """What is picked: the ridge, the radius, and whether there is a constant column."""

    ridge: float
    radius: float
    intercept: bool


# The paper's grid: an arithmetic progression of ridges (it does not say of how many) and four radii.
PRINTED = tuple(
    Choice(ridge, radius, False) for radius in (0.25, 0.5, 1.0, 2.0) for ridge in np.linspace(0.001, 0.5, 12).tolist()
)
# Ours: ridges that double, the paper's smaller radii, with and without the constant column of the product.
EXACT = tuple(
    Choice(0.0125 * 2**power, radius, intercept)
    for intercept in (False, True)
    for radius in printed.RADII["R1"]
    for power in range(8)
)


def _as_printed(training: Training, choice: Choice, epsilon: float, seed: int) -> Linear:
    stream = np.random.default_rng(seed)
    return printed.output(training.squares, epsilon, choice.ridge, choice.radius, stream)


def _exact(training: Training, choice: Choice, epsilon: float, seed: int) -> Linear:
    way = Certified("output", choice.ridge, choice.radius, fit_intercept=choice.intercept)
    return way.fit(training.rows, epsilon, seed)


@dataclass(frozen=True, eq=False)
class Hindsight:
    """A grid of choices, and the models of every epsilon and repetition with their errors on the test rows.

    Examples
    --------
    >>> hindsight = Hindsight("none", (Choice(0.1, 1.0, False),), _exact)
    >>> hindsight.errors, hindsight.models
    ([], [])
    """

    name: str
    choices: tuple[Choice, ...]
    fit: Callable[[Training, Choice, float, int], Linear]
    errors: list[Array] = field(default_factory=list)
    models: list[list[list[Linear]]] = field(default_factory=list)

    def add(self, training: Training, test: Rows, epsilons: tuple[float, ...], repetition: int) -> None:
        """Fit every choice at every epsilon on the rows of a repetition; all choices share the noise's seed."""
        models = [
            [self.fit(training, choice, epsilon, 7000 * step + repetition) for choice in self.choices]
            for step, epsilon in enumerate(epsilons)
        ]
        self.errors.append(
            np.array([[np.mean((each.predict(test.features) - test.root_dose) ** 2) for each in row] for row in models])
        )
        self.models.append(models)

    def picked(self) -> list[int]:
        """Return for each epsilon the place of the choice with the smallest mean error over repetitions."""
        return [int(place) for place in np.mean(self.errors, axis=0).argmin(1)]


NAMES: Mapping[str, str] = {
    "oracle-printed": "oracle",
    "oracle": "output perturbation in hindsight, exact diameter",
}


def oracles() -> dict[str, Hindsight]:
    """Return the two grids, empty.

    Examples
    --------
    >>> {key: len(each.choices) for key, each in oracles().items()}
    {'oracle-printed': 48, 'oracle': 48}
    """
    return {
        "oracle-printed": Hindsight(NAMES["oracle-printed"], PRINTED, _as_printed),
        "oracle": Hindsight(NAMES["oracle"], EXACT, _exact),
    }
