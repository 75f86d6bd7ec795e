"""Private noisy SGD, also known as stochastic gradient Langevin dynamics: noise in every step."""

from typing import ClassVar

from equipoise.errors import InvalidParameter
from equipoise.estimators.descending import DescendingModel
from equipoise.estimators.sgd import DescendingClassifier, DescendingRegressor
from equipoise.vocabulary.facts import Averaging, Order
from equipoise.vocabulary.numbers import plain, require_number


class _NoiseInSteps(DescendingModel):
    """Every step draws its rows in secret and adds noise to their mean gradient."""

    _clips_several_classes: ClassVar[bool] = True
    _may_be_open: ClassVar[tuple[str, ...]] = ("batch_size", "average")

    delta: float = 1e-6
    alpha: float = 0.0
    passes: float | str = 20
    batch_size: int | str = "public"
    average: Averaging | str = "public"
    clip: float | str | None = "public"

    mechanism: ClassVar[str] = "noisy-sgd"  # type: ignore[misc] # no parameter here
    order: ClassVar[Order] = "replacement"  # type: ignore[misc]
    l1_ratio: ClassVar[float] = 0.0  # type: ignore[misc]
    dropout: ClassVar[float] = 0.0  # type: ignore[misc]
    skip: ClassVar[float] = 0.0  # type: ignore[misc]

    def _ridge(self) -> float:
        remedy = "pass alpha=0.0 for no ridge, or its strength"
        return require_number("alpha", plain(self.alpha), above=0.0, inclusive=True, remedy=remedy)

    def _penalty_name(self) -> str:
        return "none" if self._ridge() == 0 else "l2"

    def _number_of_passes(self, n_samples: int) -> float:
        if isinstance(self.passes, str):
            known = {"linear": 1.0, "quadratic": float(n_samples)}
            if self.passes not in known:
                allowed = 'a number of passes, "linear" (n steps) or "quadratic" (n^2 steps)'
                raise InvalidParameter(allowed, f"passes={self.passes!r}", 'pass passes="linear"')
            return known[self.passes]
        return super()._number_of_passes(n_samples)


class NoisySGDClassifier(_NoiseInSteps, DescendingClassifier):
    """A linear classifier by noisy SGD: every step adds noise to the mean gradient of rows drawn in secret (C3).

    ``w <- Proj(w - step (mean clipped gradient + alpha w + N(0, sigma^2 I)))``, with sigma from the composition of all
    steps' privacy profiles. It is Algorithm 2 of Bassily et al. 2020 with ``passes="quadratic"`` and batches of one,
    its linear-time variant with ``passes="linear"``, and stochastic gradient Langevin dynamics under the name
    ``step="langevin:B"``, which takes the step at which the stationary law has inverse temperature B.

    Parameters
    ----------
    epsilon, delta, domain, fit_intercept, random_state, public_seed, ledger
        As in `LogisticRegression`; delta > 0 is needed.
    alpha : float
        The ridge, 0 for none: small steps hold the weights back as well.
    loss, radius, class_weight
        As in `SGDClassifier`. Without a radius, the weights are kept in a public ball that hardly ever binds.
    passes : float or str
        How often a row is used on average; "linear" for n / batch_size steps, "quadratic" for n times as many.
    batch_size : int or "public"
        How many different rows a step draws; "public" takes the largest batch of nearly the least modelled cost.
    step : float or str
        The length of a step; "public" takes the one of least modelled cost on the reference problem; "langevin:B".
    average : str
        "uniform" (the mean of all weights), "last", "suffix", or "public" for the one of least modelled cost.
    clip : float, "public" or None
        The largest norm of one row's gradient; "public" takes what a typical row pulls with.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.array([[0.9, 0.1], [0.8, -0.1], [-0.9, 0.0], [-0.7, 0.2]] * 250)
    >>> y = np.array([1, 1, 0, 0] * 250)
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> model = eq.NoisySGDClassifier(epsilon=1.0, delta=1e-6, domain=domain, random_state=0)
    >>> model.fit(X, y).predict([[0.5, 0.0], [-0.5, 0.0]])
    array([1, 0])
    """

    name: ClassVar[str] = "noisy-sgd-classifier"


class NoisySGDRegressor(_NoiseInSteps, DescendingRegressor):
    """Linear regression by noisy SGD: every step adds noise to the mean gradient of rows drawn in secret (C3).

    Parameters
    ----------
    loss : str
        "squared", "huber" or "absolute", as in `SGDRegressor`.
    epsilon, delta, domain, alpha, fit_intercept, random_state, public_seed, ledger
        As in `NoisySGDClassifier`.
    passes, batch_size, step, average, radius, clip
        As in `NoisySGDClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.linspace(-1, 1, 5_000)[:, None]
    >>> domain = eq.Domain(row_norm=1.0, labels=(0.0, 10.0))
    >>> model = eq.NoisySGDRegressor(epsilon=1.0, delta=1e-6, domain=domain, random_state=0)
    >>> prediction = model.fit(X, 5 + 4 * X[:, 0]).predict([[0.0]])
    >>> bool(4.0 < prediction[0] < 6.0)
    True
    """

    name: ClassVar[str] = "noisy-sgd-regressor"
    loss: str = "squared"
