"""What is measured: error, dose error and inversion of every mechanism at every epsilon, over repetitions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from equipoise.lab.estimate import Bootstrap, Estimate
from equipoise_studies.frame import Session
from equipoise_studies.private_regression import hindsight, printed, tuning
from equipoise_studies.private_regression.attack import Inversion, published_error
from equipoise_studies.private_regression.linear import Array, Linear
from equipoise_studies.private_regression.mechanisms import MECHANISMS, NOISELESS, Training
from equipoise_studies.private_regression.preparation import Patients, Rows, patients, split

EPSILONS, QUICK_EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0), (0.1, 0.2, 1.0)
REPETITIONS, QUICK_REPETITIONS = 100, 2
# As many rows are trained on as in the first prototype; the others are the test rows.
TRAINING_ROWS, TRAINING_SHARE = 2650, 0.75
BOOTSTRAP = Bootstrap(replicates=1000)
# Figure 7.
SHARES, QUICK_SHARES = tuple(round(0.1 * step, 1) for step in range(1, 11)), (0.1, 0.9)
SHARE_EPSILON = 0.5
SHARE_WAYS = {
    "as printed": (tuning.as_printed, "output"),
    "corrected": (tuning.corrected, "output"),
    "short noise": (tuning.as_printed, "output, short noise"),
}


@dataclass(frozen=True, eq=False)
class Scores:
    """Figures of one mechanism, (epsilons, repetitions): squared error of the root dose, mg a week, inversion."""

    squared: Array
    milligrams: Array
    inversion: Array

    @classmethod
    def empty(cls, steps: int, repetitions: int) -> "Scores":
        """Return figures to be filled."""
        return cls(*(np.full((steps, repetitions), np.nan) for _ in range(3)))


def mean(values: Array) -> Estimate:
    """Return the mean over repetitions with its interval.

    Examples
    --------
    >>> print(mean(np.array([1.0, 1.0, 1.0])))
    1 [1, 1]
    """
    drawn = np.random.default_rng(BOOTSTRAP.seed).integers(0, len(values), (BOOTSTRAP.replicates, len(values)))
    return BOOTSTRAP.estimate(float(values.mean()), values[drawn].mean(1))


@dataclass(frozen=True, eq=False)
class Measured:
    """Everything that was measured."""

    patients: Patients
    n_unimputed: int
    n_training: int
    repetitions: int
    epsilons: tuple[float, ...]
    scores: Mapping[str, Scores]
    chosen: Mapping[str, tuple[hindsight.Choice, ...]]
    sampled: tuple[float, ...]
    shares: Mapping[str, Scores]
    baseline: Estimate
    mean_only: Estimate
    models: Mapping[tuple[str, float], Linear] = field(repr=False)

    @property
    def n_test(self) -> int:
        """The number of test rows."""
        return len(self.patients.dose) - self.n_training

    def squared(self, key: str, epsilon: float) -> Estimate:
        """Return the mean squared error of the square root of the weekly dose."""
        return mean(self.scores[key].squared[self.epsilons.index(epsilon)])

    def milligrams(self, key: str, epsilon: float) -> Estimate:
        """Return the mean absolute error of the weekly dose, in mg."""
        return mean(self.scores[key].milligrams[self.epsilons.index(epsilon)])

    def inversion(self, key: str, epsilon: float) -> Estimate:
        """Return the share of patients whose VKORC1 level is guessed."""
        return mean(self.scores[key].inversion[self.epsilons.index(epsilon)])

    def split(self) -> tuple[Rows, Rows]:
        """Return the rows of the first repetition."""
        return split(self.patients.rows, self.n_training, 0)


def score(model: Linear, training: Rows, test: Rows, attack: Inversion) -> tuple[float, float, float]:
    """Return the figures of a model: squared error, mg a week, inversion."""
    predicted = model.predict(test.features)
    squared = float(np.mean((predicted - test.root_dose) ** 2))
    # A negative square root is a dose of nothing.
    milligrams = float(np.mean(np.abs(np.maximum(predicted, 0) ** 2 - test.root_dose**2)))
    return squared, milligrams, attack.accuracy(model, published_error(model, training))


def _fill(scores: Scores, step: int, repetition: int, found: tuple[float, float, float]) -> None:
    for values, value in zip((scores.squared, scores.milligrams, scores.inversion), found, strict=True):
        values[step, repetition] = value


def _repeat(scores: Scores, step: int, repetition: int) -> None:
    first = (scores.squared[0, repetition], scores.milligrams[0, repetition], scores.inversion[0, repetition])
    _fill(scores, step, repetition, first)


def measure(session: Session) -> Measured:
    """Measure every mechanism."""
    everyone = patients(session.data)
    rows, cells = everyone.rows, printed.cells()
    n_training = min(TRAINING_ROWS, int(TRAINING_SHARE * len(rows)))
    repetitions = QUICK_REPETITIONS if session.quick else REPETITIONS
    epsilons = QUICK_EPSILONS if session.quick else EPSILONS
    sampled = QUICK_SHARES if session.quick else SHARES
    scores = {key: Scores.empty(len(epsilons), repetitions) for key in MECHANISMS}
    shares = {key: Scores.empty(len(sampled), repetitions) for key in SHARE_WAYS}
    oracles = hindsight.oracles()
    models: dict[tuple[str, float], Linear] = {}
    baselines, means = np.empty(repetitions), np.empty(repetitions)
    for repetition in range(repetitions):
        session.report("fitting every mechanism", repetition, repetitions)
        train, test = split(rows, n_training, repetition)
        training, attack = Training(train, everyone.unscaled[train.places], cells), Inversion.of(everyone, train, test)
        baselines[repetition] = attack.baseline
        means[repetition] = np.mean((test.root_dose - train.root_dose.mean()) ** 2)
        for step, epsilon in enumerate(epsilons):
            for place, (key, mechanism) in enumerate(MECHANISMS.items()):
                if key in NOISELESS and step:
                    _repeat(scores[key], step, repetition)
                    models.setdefault((key, epsilon), models[key, epsilons[0]])
                    continue
                stream = np.random.default_rng((8, repetition, step, place))
                model = mechanism.fit(training, epsilon, stream)
                found = score(model, train, test, attack)
                _fill(scores[key], step, repetition, found)
                if repetition == 0:
                    models[key, epsilon] = model
        for oracle in oracles.values():
            oracle.add(training, test, epsilons, repetition)
        for key, (choose, way) in SHARE_WAYS.items():
            for step, share in enumerate(sampled):
                stream = np.random.default_rng((9, repetition, step))
                model = choose(train, way, "R1", SHARE_EPSILON, stream, share)
                _fill(shares[key], step, repetition, score(model, train, test, attack))
    chosen = {}
    for key, oracle in oracles.items():
        picked = oracle.picked()
        scores[key] = _in_hindsight(oracle, picked, everyone, n_training)
        chosen[key] = tuple(oracle.choices[place] for place in picked)
    unimputed = len(patients(session.data, imputed=False).dose)
    return Measured(
        everyone,
        unimputed,
        n_training,
        repetitions,
        epsilons,
        scores,
        chosen,
        sampled,
        shares,
        mean(baselines),
        mean(means),
        models,
    )


def _in_hindsight(oracle: hindsight.Hindsight, picked: list[int], everyone: Patients, n_training: int) -> Scores:
    """Return the figures of the choices that were picked, one for each epsilon."""
    scores = Scores.empty(len(picked), len(oracle.models))
    for repetition, models in enumerate(oracle.models):
        train, test = split(everyone.rows, n_training, repetition)
        attack = Inversion.of(everyone, train, test)
        for step, place in enumerate(picked):
            _fill(scores, step, repetition, score(models[step][place], train, test, attack))
    return scores
