"""The weights of a model over the strength of its penalty, without noise: for studies on public data.

The module is not called like the function `solution_path`, since ``equipoise.lab.regularisation_path`` names this file.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.data.bounded import bounded
from equipoise.data.observed_labels import observed_classes
from equipoise.data.rows import RowSource, coded_targets, row_source
from equipoise.data.tables import feature_table, target_column
from equipoise.errors import DomainMissing, InvalidParameter
from equipoise.solve import solvers
from equipoise.solve.objective import Objective
from equipoise.solve.solvers.base import Target
from equipoise.vocabulary import losses, penalties
from equipoise.vocabulary.constants import constants, smallest_tolerance
from equipoise.vocabulary.facts import Constants, Domain, Problem
from equipoise.vocabulary.numbers import plain, require_number

Array = NDArray[np.float64]

# How precisely each model is solved, as shares of what one row can do; a loss with corners is solved less precisely.
SMOOTH_SHARE, KINKED_SHARE = 1e-6, 4e-3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RegularisationPath:
    """Weights before noise over alpha. It depends on every row: not private, for public data alone.

    Parameters
    ----------
    alphas : tuple of float
        The strengths, largest first.
    weights : array of shape (alphas, outputs, columns)
        The weights of the columns as the model sees them, clipped to the row norm. Weights that an L1 norm puts at zero
        are exactly 0.
    constants : array of shape (alphas, outputs)
        The weights of the constant column, 0 without one.
    training : tuple of float
        The training loss, without the penalty.
    """

    mark: ClassVar[str] = "not private: computed on raw rows without noise, for studies on public data"

    alphas: tuple[float, ...]
    weights: Array
    constants: Array
    training: tuple[float, ...]

    @property
    def support(self) -> NDArray[np.bool_]:
        """Whether a column has a weight that is not 0, for any output: an array of shape (alphas, columns)."""
        return np.asarray((self.weights != 0).any(axis=1))

    def __repr__(self) -> str:
        """Return one line with the mark: the numbers are in the fields."""
        return f"<RegularisationPath of {len(self.alphas)} alphas; {self.mark}>"

    def __str__(self) -> str:
        """Return the path as a table, with its mark."""
        lines = [f"Regularisation path ({self.mark})", f"  {'alpha':>12}{'columns':>10}{'training loss':>16}"]
        for alpha, chosen, loss in zip(self.alphas, self.support.sum(axis=1), self.training, strict=True):
            lines.append(f"  {alpha:>12.6g}{chosen:>10}{loss:>16.6g}")
        return "\n".join(lines)


def solution_path(
    X: Any,  # noqa: N803 - the field's word for a table
    y: Any,
    alphas: Iterable[float],
    *,
    domain: Domain,
    loss: str = "logistic",
    penalty: str = "elastic-net:0.5",
    intercept: float = 0.0,
) -> RegularisationPath:
    """Return the weights at each alpha, each solved from those of the one before, from the largest down.

    Nothing is released and nothing is spent: what comes back depends on every row. Use it on public data, to study
    which columns a penalty keeps, and never on rows that a certificate is to protect.

    Parameters
    ----------
    X, y : arrays or data frames
        Public rows and their targets.
    alphas : iterable of float
        The strengths of the penalty.
    domain : Domain
        To which rows are clipped, as in training.
    loss, penalty : str
        By name, parameter included.
    intercept : float
        The entry of the constant column, 0 for none.

    Examples
    --------
    >>> X = np.array([[0.9, 0.1], [0.8, -0.1], [-0.9, 0.1], [-0.7, -0.1]] * 5)
    >>> path = solution_path(X, [1, 1, 0, 0] * 5, [1.0, 0.01], domain=Domain(1.0, classes=(0, 1)))
    >>> path
    <RegularisationPath of 2 alphas; not private: computed on raw rows without noise, for studies on public data>
    >>> path.support.tolist()
    [[False, False], [True, False]]
    >>> print(path)
    Regularisation path (not private: computed on raw rows without noise, for studies on public data)
             alpha   columns   training loss
                 1         0        0.693147
              0.01         1       0.0331697
    """
    strengths = _strengths(alphas)
    _require_domain(domain)
    _require_names(loss=loss, penalty=penalty)
    constant_entry = require_number(
        "intercept", plain(intercept), above=0.0, inclusive=True, remedy="pass 0.0 for no intercept"
    )
    table = bounded(feature_table(X), domain, X)
    target = target_column(y, table.shape[0]).read()
    rows = row_source(table.read(), domain, constant_entry)
    classes = observed_classes(target) if domain.classes == "observed" else domain.classes or ()
    kind = losses.named(loss)
    found, losses_found = [], []
    start: Array | None = None
    for strength in strengths:
        problem = Problem(kind, penalties.named(penalty, strength), domain, constant_entry)
        objective = Objective(kind, problem.penalty, rows, coded_targets(target, problem, classes), start)
        start = solvers.suited(objective).solve(objective, _target(problem, rows))
        found.append(start.reshape(kind.outputs, -1))
        losses_found.append(float(objective.loss_arrays.value(objective.predictions(start), objective.targets).mean()))
    weights, width = np.array(found), table.shape[1]
    constant = weights[:, :, width] if constant_entry > 0 else np.zeros(weights.shape[:2])
    return RegularisationPath(strengths, weights[:, :, :width], constant, tuple(losses_found))


def _strengths(alphas: Iterable[float]) -> tuple[float, ...]:
    remedy = "pass a list such as [1.0, 0.1, 0.01]"
    try:
        entries = list(alphas)
    except TypeError:
        found = f"{alphas!r:.80} of type {type(alphas).__name__}"
        raise InvalidParameter("several alphas", found, remedy) from None
    values = [require_number("alpha", plain(value), above=0.0, remedy=remedy) for value in entries]
    if not values:
        raise InvalidParameter("at least one alpha", "none", remedy)
    return tuple(sorted(values, reverse=True))


def _require_names(**names: object) -> None:
    for kind, name in names.items():
        if not isinstance(name, str):
            found = f"{kind}={name!r:.80} of type {type(name).__name__}"
            raise InvalidParameter(
                f"a {kind} by its name", found, "pass a text such as " + {"loss": '"logistic"', "penalty": '"l2"'}[kind]
            )


def _require_domain(domain: object) -> None:
    remedy = "pass domain=Domain(row_norm=1.0, classes=(0, 1)), or labels=(low, high) for a number"
    if domain is None:
        found = "domain=None, and nothing is ever inferred from the data"
        raise DomainMissing("the public facts about the rows, to which they are clipped", found, remedy)
    if not isinstance(domain, Domain):
        raise InvalidParameter("a Domain", f"domain of type {type(domain).__name__}", remedy)


def _target(problem: Problem, rows: RowSource) -> Target:
    """Return what the solver must reach."""
    facts = constants(problem)
    return Target(
        tolerance=_tolerance(facts, rows.n_samples, rows.dimension * problem.loss.outputs),
        smoothness=facts.smoothness + problem.penalty.smoothness(),
        strong_convexity=facts.strong_convexity,
        start_distance=facts.radius,
        radius=problem.domain.radius,
        row_norm=facts.row_norm,
        label_bound=facts.label_bound,
    )


def _tolerance(facts: Constants, n_samples: int, dimension: int) -> float:
    """Return the norm of the gradient at which a solver stops: a small share of one row's pull, if rounding allows."""
    share = SMOOTH_SHARE if math.isfinite(facts.smoothness) else KINKED_SHARE
    return max(share * facts.gradient_diameter / (2 * n_samples), smallest_tolerance(facts, n_samples, dimension))
