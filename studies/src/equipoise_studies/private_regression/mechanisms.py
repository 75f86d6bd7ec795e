"""Every mechanism of the study under one name, with what it promises and what is wrong with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equipoise_studies.private_regression import certified, printed, tuning
from equipoise_studies.private_regression.linear import Array, Linear, Squares
from equipoise_studies.private_regression.preparation import Rows

PRINTED, CORRECTED, READING, REFERENCE = "as printed", "corrected", "another reading", "reference"
# A corrected mechanism at the epsilon that the paper's one really spends.
SPENT = "at the same true epsilon"


@dataclass(frozen=True, eq=False)
class Training:
    """Rows to train on, with what several mechanisms need of them."""

    rows: Rows
    unscaled: Array
    cells: tuple[Array, Array]

    @cached_property
    def squares(self) -> Squares:
        """The sums of the least-squares problem."""
        return Squares.of(self.rows)


Fit = Callable[[Training, float, np.random.Generator], Linear]
# From columns, rows and the epsilon that is asked for to the one that is spent.
Spent = Callable[[int, int, float], float]


@dataclass(frozen=True)
class Mechanism:
    """A mechanism: its family, whether it is the paper's or ours, how it is fitted, and what it promises."""

    key: str
    name: str
    family: str
    kind: str
    fit: Fit
    promise: str


def _product(way: certified.Certified) -> Fit:
    return lambda training, epsilon, stream: way.fit(training.rows, epsilon, int(stream.integers(2**31)))


def _independent(training: Training, epsilon: float, stream: np.random.Generator) -> Linear:
    return printed.output(training.squares, epsilon, _ridge(training, epsilon), 1.0, stream)


def _objective(training: Training, epsilon: float, stream: np.random.Generator) -> Linear:
    return printed.objective(training.squares, epsilon, _ridge(training, epsilon), 1.0, stream)


def _ridge(training: Training, epsilon: float) -> float:
    return printed.public_ridge(training.rows.features.shape[1], len(training.rows), epsilon)


def _projected(training: Training, epsilon: float, stream: np.random.Generator) -> Linear:
    noisy = _independent(training, epsilon, stream).weights
    return Linear(np.asarray(noisy / max(1.0, float(np.linalg.norm(noisy)))))


def _short_noise(training: Training, epsilon: float, stream: np.random.Generator) -> Linear:
    return printed.output_short_noise(training.squares, epsilon, _ridge(training, epsilon), 1.0, stream)


def _functional(training: Training, epsilon: float, stream: np.random.Generator) -> Linear:
    return printed.functional(training.squares, epsilon, stream)


def _functional_bare(training: Training, epsilon: float, stream: np.random.Generator) -> Linear:
    return printed.functional(training.squares, epsilon, stream, deviations=0.0)


def _histogram(training: Training, epsilon: float, stream: np.random.Generator) -> Linear:
    return printed.histogram(training.rows, training.unscaled, training.cells, epsilon, stream)


def _tuned(choose: Callable[..., Linear], way: str, radii: str) -> Fit:
    return lambda training, epsilon, stream: choose(training.rows, way, radii, epsilon, stream)


def algorithm_3_epsilon(n_columns: int, n_rows: int, epsilon: float) -> float:
    """Return what Algorithm 3 spends with the paper's data-independent parameters, by E2.

    Examples
    --------
    >>> round(algorithm_3_epsilon(14, 2650, 1.0), 2)
    2.61
    """
    return printed.objective_epsilon(printed.public_ridge(n_columns, n_rows, epsilon), 1.0, n_rows, epsilon)


def tuned_epsilon(radii: str) -> Spent:
    """Return what Algorithm 5 around Algorithm 3 spends, by E2 and E5."""
    return lambda n_columns, n_rows, epsilon: printed.tuned_objective_epsilon(radii, n_rows, epsilon)


def _at(spent: Spent, fit: Fit) -> Fit:
    def fitted(training: Training, epsilon: float, stream: np.random.Generator) -> Linear:
        n_rows, n_columns = training.rows.features.shape
        return fit(training, spent(n_columns, n_rows, epsilon), stream)

    return fitted


def least_squares(padded: Array, target: Array) -> Linear:
    """Return least squares on columns of which the last is constant.

    Examples
    --------
    >>> least_squares(np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([0.25, 0.75])).weights.round(6).tolist()
    [0.5]
    """
    solved = np.linalg.lstsq(padded, target, rcond=None)[0].astype(np.float64)
    return Linear(solved[:-1], float(solved[-1]), kept_in_range=True)


def _least_squares(training: Training, epsilon: float, stream: np.random.Generator) -> Linear:
    """Return ordinary least squares with an intercept, without noise."""
    padded = np.column_stack([training.rows.features, np.ones(len(training.rows))])
    return least_squares(padded, training.rows.target)


def _without_intercept(training: Training, epsilon: float, stream: np.random.Generator) -> Linear:
    """Return least squares inside the unit ball without an intercept: what the paper's models tend to."""
    return Linear(training.squares.solve(0.0, 1.0))


CERTIFIED = "epsilon-private, with a certificate"
# Weights of Algorithm 3 stay in the ball, those of Algorithm 4 leave it with the noise.
TUNED_WRONG = {
    "output": "the loss of a noisy candidate has no bound, so R^2 is not its sensitivity; no epsilon is known",
    "objective": "its candidates are those of Algorithm 3",
}
LISTED = (
    Mechanism("default", "eq.Ridge, all defaults", "product", CORRECTED, _product(certified.DEFAULT), CERTIFIED),
    Mechanism(
        "output", "output perturbation, paper's parameters, exact diameter", "data-independent output", CORRECTED,
        _product(certified.OUTPUT), f"{CERTIFIED} (E1)",
    ),
    Mechanism(
        "output-half", "output perturbation, radius 1/2, twice the paper's ridge", "product", CORRECTED,
        _product(certified.OUTPUT_HALF), f"{CERTIFIED} (E1)",
    ),
    Mechanism(
        "output-public", "output perturbation, public ridge, intercept", "product", CORRECTED,
        _product(certified.OUTPUT_PUBLIC), CERTIFIED,
    ),
    Mechanism(
        "objective", "objective perturbation, half the paper's ridge, intercept", "objective", CORRECTED,
        _product(certified.OBJECTIVE), f"{CERTIFIED} (E2)",
    ),
    Mechanism(
        "functional", "functional mechanism, smaller sensitivity, radius 1", "functional", CORRECTED,
        _product(certified.FUNCTIONAL), f"{CERTIFIED} (E7)",
    ),
    Mechanism(
        "statistics", "sufficient statistics", "product", CORRECTED, _product(certified.STATISTICS), CERTIFIED
    ),
    *(
        Mechanism(
            f"tuned-{way}-{radii.lower()}", f"tuned {way} perturbation, {radii}", f"tuned {way} {radii}", CORRECTED,
            _tuned(tuning.corrected, way, radii), f"{CERTIFIED} (E5): disjoint chunks, losses bounded",
        )
        for way in ("output", "objective") for radii in printed.RADII
    ),
    Mechanism(
        "random-stopping", "random stopping over objective perturbation", "random stopping", CORRECTED,
        lambda training, epsilon, stream: tuning.random_stopping(training.rows, epsilon, stream),
        f"{CERTIFIED} (E6): a run costs epsilon / 2",
    ),
    Mechanism(
        "printed-output", "data-independent output perturbation", "data-independent output", PRINTED, _independent,
        "epsilon-private; the noise is 3.8 times what one row needs at R = 1",
    ),
    Mechanism(
        "printed-objective", "Algorithm 3, data-independent parameters", "objective", PRINTED, _objective,
        "not epsilon-private: slopes reach 2 (R + 1), not 1; beta must be epsilon'/2; Delta is not used",
    ),
    Mechanism(
        "printed-functional", "functional mechanism, 2 (d + 1)^2", "functional", PRINTED, _functional,
        "epsilon-private; the sensitivity is ten times too large for unit rows",
    ),
    Mechanism(
        "histogram", "projected histogram", "histogram", PRINTED, _histogram,
        "epsilon-private: Laplace noise on counts of a public grid",
    ),
    *(
        Mechanism(
            f"printed-tuned-{way}-{radii.lower()}", f"tuned {way} perturbation, {radii}", f"tuned {way} {radii}",
            PRINTED, _tuned(tuning.as_printed, way, radii), f"not epsilon-private: {wrong}",
        )
        for way, wrong in TUNED_WRONG.items() for radii in printed.RADII
    ),
    Mechanism(
        "objective-spent", "objective perturbation, half the paper's ridge, intercept", "objective", SPENT,
        _at(algorithm_3_epsilon, _product(certified.OBJECTIVE)), "private for what Algorithm 3 spends",
    ),
    Mechanism(
        "default-spent", "eq.Ridge, all defaults", "product", SPENT,
        _at(algorithm_3_epsilon, _product(certified.DEFAULT)), "private for what Algorithm 3 spends",
    ),
    *(
        Mechanism(
            f"tuned-objective-{radii.lower()}-spent", f"tuned objective perturbation, {radii}",
            f"tuned objective {radii}", SPENT,
            _at(tuned_epsilon(radii), _tuned(tuning.corrected, "objective", radii)),
            "private for what Algorithm 5 spends around Algorithm 3",
        )
        for radii in printed.RADII
    ),
    Mechanism(
        "reading-projected", "data-independent, noisy weights projected to the ball", "data-independent output",
        READING, _projected, "epsilon-private: projection is free",
    ),
    Mechanism(
        "reading-short-noise", "data-independent, noise with an exponential norm", "data-independent output", READING,
        _short_noise, "not epsilon-private: density exp(-norm/b) in d dimensions has a Gamma(d) norm",
    ),
    Mechanism(
        "reading-functional-bare", "functional mechanism without its ridge", "functional", READING, _functional_bare,
        "epsilon-private",
    ),
    Mechanism("plain", "least squares, no noise", "no noise", REFERENCE, _least_squares, "not private"),
    Mechanism(
        "plain-ball", "least squares in the unit ball, no intercept, no noise", "no noise", REFERENCE,
        _without_intercept, "not private",
    ),
)  # fmt: skip
MECHANISMS: Mapping[str, Mechanism] = {each.key: each for each in LISTED}
# Without noise epsilon means nothing: fitted once a repetition.
NOISELESS = ("plain", "plain-ball")
# The paper's mechanism beside its corrected form, family by family.
PAIRS = {
    "functional": ("printed-functional", "functional"),
    "data-independent output": ("printed-output", "output"),
    "objective": ("printed-objective", "objective"),
    # The default is objective perturbation too, with the product's public ridge and no radius.
    "objective, default": ("printed-objective", "default"),
    **{
        f"tuned {way} {radii}": (f"printed-tuned-{way}-{radii.lower()}", f"tuned-{way}-{radii.lower()}")
        for way in ("output", "objective")
        for radii in printed.RADII
    },
}
# Where the printed mechanism spends more than it says, and how much is known: the corrected one at that epsilon.
SAME_PRIVACY: Mapping[str, tuple[str, str, Spent]] = {
    "objective": ("printed-objective", "objective-spent", algorithm_3_epsilon),
    "objective, default": ("printed-objective", "default-spent", algorithm_3_epsilon),
    **{
        f"tuned objective {radii}": (
            f"printed-tuned-objective-{radii.lower()}",
            f"tuned-objective-{radii.lower()}-spent",
            tuned_epsilon(radii),
        )
        for radii in printed.RADII
    },
}
