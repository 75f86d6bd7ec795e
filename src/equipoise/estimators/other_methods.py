"""Bring your own algorithm: weights that the caller's code trains, released with the bound of a theorem on it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.certify.certificate import Certificate
from equipoise.data.seeded import domain_for
from equipoise.errors import InvalidParameter
from equipoise.estimators.intake import PlainRows, refuse_persons
from equipoise.noise import noise_source
from equipoise.planning.issue import issue
from equipoise.planning.request import Request
from equipoise.release import release
from equipoise.vocabulary.facts import Budget, Problem, Recipe

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedWeights:
    """Noisy weights, all that leaves of the rows, and their certificate."""

    weights: Array
    certificate: Certificate


def plan_method(
    problem: Problem,
    recipe: Recipe,
    budget: Budget,
    n_samples: int,
    n_features: int,
    *,
    mechanism: str = "output",
    random_state: int | None = None,
    public_seed: int = 0,
) -> Certificate:
    """Return the certificate that `release_method` will carry, from public facts alone.

    Examples
    --------
    >>> import equipoise as eq
    >>> domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
    >>> problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("none", 0.0), domain)
    >>> recipe = eq.Recipe(passes=5, batch_size=1000, step=0.2, method="heavy-ball:0.5")
    >>> certificate = eq.plan_method(problem, recipe, eq.Budget(1.0), 1000, 3)
    >>> certificate.theorem, certificate.grade, certificate.verify()
    ('B9.heavy-ball', 'conditional', ())
    """
    _require_facts(problem, recipe, budget)
    seeded = noise_source(random_state).seeded
    return issue(
        Request(
            loss=problem.loss.name,
            penalty=problem.penalty.name,
            alpha=problem.penalty.alpha,
            domain=domain_for(problem.domain, seeded),
            intercept=problem.intercept,
            n_samples=n_samples,
            n_features=n_features,
            budget=budget,
            mechanism=mechanism,
            public_seed=public_seed,
            seeded=seeded,
            recipe=recipe,
        )
    )


def release_method(
    train: Callable[[Array, Array], ArrayLike],
    X: Any,
    y: Any,
    problem: Problem,
    recipe: Recipe,
    budget: Budget,
    *,
    mechanism: str = "output",
    random_state: int | None = None,
    public_seed: int = 0,
) -> ReleasedWeights:
    """Train by the caller's code inside the door, and release its weights with noise.

    The rows are mapped into the domain first, one by one: nothing inside them raises. That `train` computes the method
    that the recipe names is the caller's word, so that the certificate is conditional and no ledger takes it. Whatever
    `train` raises, and weights of another size than was planned, fail with one constant sentence: try it on made-up
    rows first.

    Parameters
    ----------
    train : callable
        From rows, clipped and filled, with the constant column last where the problem has one, and coded targets (-1
        and +1, or numbers relative to the middle of their range) to the weights as one vector. Called once. What is
        public about every position, such as its task or its neighbours, is known to it beforehand.
    X, y : table and target
        The private rows.
    problem : Problem
        Loss, penalty, domain and constant column.
    recipe : Recipe
        With the method's name and public numbers, and what its theorem needs: steps, or the tolerance of its solver.
    budget : Budget
        The privacy loss allowed.
    mechanism : str
        "output", or the name of one law of noise.
    random_state : int, optional
        For experiments alone; None draws exact noise.
    public_seed : int
        The seed of the caller's public coins, for the record.

    Returns
    -------
    ReleasedWeights
        The noisy weights as one vector, and the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> def train(rows, targets, momentum=0.5, step=0.2):
    ...     before = weights = np.zeros(rows.shape[1])
    ...     for _ in range(5):
    ...         gradient = 2 * rows.T @ (rows @ weights - targets) / len(rows)
    ...         before, weights = weights, weights - step * gradient + momentum * (weights - before)
    ...     return weights
    >>> X = np.array([[0.9, 0.1], [-0.8, 0.1]] * 5000)
    >>> domain = eq.Domain(row_norm=1.0, labels=(-1.0, 1.0))
    >>> problem = eq.Problem(eq.losses.named("squared"), eq.penalties.named("none", 0.0), domain)
    >>> recipe = eq.Recipe(passes=5, batch_size=10_000, step=0.2, method="heavy-ball:0.5")
    >>> released = eq.release_method(train, X, X[:, 0], problem, recipe, eq.Budget(1.0), random_state=0)
    >>> released.weights.shape, released.certificate.theorem
    ((2,), 'B9.heavy-ball')
    """
    _require_training(train)
    _require_facts(problem, recipe, budget)
    refuse_persons("a method of your own", None, problem.domain)
    rows = PlainRows(problem.domain).training(X, y)
    n_samples, n_features = rows.features.shape
    certificate = plan_method(
        problem,
        recipe,
        budget,
        n_samples,
        n_features,
        mechanism=mechanism,
        random_state=random_state,
        public_seed=public_seed,
    )
    source = noise_source(random_state)
    released = release(certificate, rows.features, rows.target, source, train=train)
    return ReleasedWeights(released.weights.ravel(), released.certificate)


def _require_facts(problem: object, recipe: object, budget: object) -> None:
    if not isinstance(problem, Problem) or not isinstance(recipe, Recipe) or not isinstance(budget, Budget):
        found = ", ".join(type(each).__name__ for each in (problem, recipe, budget))
        remedy = "pass eq.Problem(...), eq.Recipe(method=...) and eq.Budget(epsilon)"
        raise InvalidParameter("a Problem, a Recipe and a Budget", found, remedy)
    if not recipe.method:
        raise InvalidParameter(
            "a recipe with a method",
            "none: it minimises or descends",
            "use an estimator, or eq.release_solution for another solver's weights",
        )


def _require_training(train: object) -> None:
    """Refuse what cannot be called with rows and targets: inside the door a mistake would have no words."""
    remedy = "pass a function of rows and targets"
    if not callable(train):
        raise InvalidParameter("a function that trains", type(train).__name__, remedy)
    try:
        inspect.signature(train).bind(None, None)
    except TypeError as mismatch:
        raise InvalidParameter("a function of two arguments, rows and targets", str(mismatch), remedy) from None
    except ValueError:
        # Some compiled functions do not tell their arguments.
        return
