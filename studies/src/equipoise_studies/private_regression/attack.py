"""Model inversion on a sweep of linear models: the attack of Fredrikson et al. (2014) for VKORC1, vectorised."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equipoise_studies.private_regression.linear import Array, Linear
from equipoise_studies.private_regression.preparation import VKORC1, Patients, Rows


def published_error(model: Linear, training: Rows) -> float:
    """Return the root mean square error on the training rows, which a published model comes with.

    It has no noise: the attacker is given more than epsilon covers.

    Examples
    --------
    >>> rows = Rows(np.zeros((2, 1)), np.zeros(2), np.array([5.0, 6.0]), np.arange(2))
    >>> published_error(Linear(np.zeros(1)), rows)
    0.5
    """
    return float(np.sqrt(np.mean((model.predict(training.features) - training.root_dose) ** 2)))


@dataclass(frozen=True, eq=False)
class Inversion:
    """What the attacker knows of each patient, and what VKORC1 is.

    The other attributes and the true dose are known, and how often each level occurs among the training rows, and the
    spread of the model's errors on these (`published_error`). Nothing comes from the levels of the attacked rows.
    """

    features: tuple[Array, ...]
    root_dose: Array
    truth: NDArray[np.intp]
    log_prior: Array

    @classmethod
    def of(cls, patients: Patients, training: Rows, test: Rows) -> "Inversion":
        """Return the attack on the patients of the test rows."""
        counts = np.bincount(patients.vkorc1[training.places], minlength=len(VKORC1)) + 1.0
        levels = tuple(patients.with_vkorc1(level, test.places) for level in range(len(VKORC1)))
        return cls(levels, test.root_dose, patients.vkorc1[test.places], np.log(counts / counts.sum()))

    def guesses(self, model: Linear, deviation: float) -> NDArray[np.intp]:
        """Return the level of the largest weight, prior times Gaussian likelihood, for every patient."""
        misses = np.stack([(model.predict(features) - self.root_dose) / deviation for features in self.features])
        return np.asarray((self.log_prior[:, None] - misses**2 / 2).argmax(0))

    def accuracy(self, model: Linear, deviation: float) -> float:
        """Return the share of patients whose level is guessed."""
        return float((self.guesses(model, deviation) == self.truth).mean())

    @property
    def baseline(self) -> float:
        """The share of patients that guessing the most frequent level gets right."""
        return float((self.truth == self.log_prior.argmax()).mean())
