"""Private phased localisation: ever shorter phases on fresh rows, each released with the whole budget."""

from typing import ClassVar

from equipoise.estimators.descending import DescendingModel
from equipoise.estimators.sgd import DescendingClassifier, DescendingRegressor
from equipoise.vocabulary.facts import Averaging, Order


class _InPhases(DescendingModel):
    """Phases on disjoint rows; no penalty, since a phase does not go far from where the last one ended."""

    mechanism: ClassVar[str] = "phased"  # type: ignore[misc] # no parameter here
    alpha: ClassVar[float] = 0.0  # type: ignore[misc]
    l1_ratio: ClassVar[float] = 0.0  # type: ignore[misc]
    passes: ClassVar[float] = 1  # type: ignore[misc]
    batch_size: ClassVar[int] = 1  # type: ignore[misc]
    order: ClassVar[Order] = "permutation"  # type: ignore[misc]
    average: ClassVar[Averaging] = "uniform"  # type: ignore[misc]
    clip: float | str | None = "public"
    dropout: ClassVar[float] = 0.0  # type: ignore[misc]
    skip: ClassVar[float] = 0.0  # type: ignore[misc]

    def _penalty_name(self) -> str:
        return "none"

    def _ridge(self) -> float:
        return 0.0


class PhasedClassifier(_InPhases, DescendingClassifier):
    """A linear classifier by phased localisation (Feldman, Koren and Talwar 2020), pure or approximate (K1).

    Phase i meets n / 2^i fresh rows once, with steps 4^-i times as long, and starts where the last phase was released
    with noise. A smooth loss is descended on, and the mean of the weights is used; the hinge is minimised around the
    start. Every row belongs to one phase, so each phase has the whole budget.

    Parameters
    ----------
    epsilon, delta, domain, fit_intercept, random_state, public_seed, ledger
        As in `LogisticRegression`.
    loss, radius, class_weight
        As in `SGDClassifier`. Without a radius, the weights are kept in a public ball that hardly ever binds.
    step : float or "public"
        The length of a step before the first phase's quartering; "public" takes the one of least modelled cost.
    clip : float, "public" or None
        The largest norm of one row's gradient, for smooth losses; "public" takes what a typical row pulls with, and of
        several classes clips nothing (B7).

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.array([[0.9, 0.1], [0.8, -0.1], [-0.9, 0.0], [-0.7, 0.2]] * 2500)
    >>> y = np.array([1, 1, 0, 0] * 2500)
    >>> model = eq.PhasedClassifier(epsilon=1.0, domain=eq.Domain(row_norm=1.0, classes=(0, 1)), random_state=0)
    >>> model.fit(X, y).predict([[0.5, 0.0], [-0.5, 0.0]])
    array([1, 0])
    """

    name: ClassVar[str] = "phased-classifier"


class PhasedRegressor(_InPhases, DescendingRegressor):
    """Linear regression by phased localisation, pure or approximate (K1).

    Parameters
    ----------
    loss : str
        "squared", "huber" or "absolute", as in `SGDRegressor`; the absolute loss is minimised in every phase.
    epsilon, delta, domain, fit_intercept, random_state, public_seed, ledger, step, radius, clip
        As in `PhasedClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.linspace(-1, 1, 20_000)[:, None]
    >>> model = eq.PhasedRegressor(epsilon=1.0, domain=eq.Domain(row_norm=1.0, labels=(0.0, 10.0)), random_state=0)
    >>> prediction = model.fit(X, 5 + 4 * X[:, 0]).predict([[0.0]])
    >>> bool(4.0 < prediction[0] < 6.0)
    True
    """

    name: ClassVar[str] = "phased-regressor"
    loss: str = "squared"
