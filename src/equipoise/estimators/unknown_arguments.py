"""Arguments that other libraries have, answered with what stands in their place here."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from equipoise.errors import UnknownArgument
from equipoise.estimators.scikit_learn import BaseEstimator

_NO_WORK = "leave it out: every fit ends after a number of passes that its certificate states"
_NO_CHOICE = "leave it out: the solver is chosen by what the certificate needs"
_NOWHERE = "leave it out, or look for a model that takes it"
_NO_WEIGHTS = "leave it out: a weight a row would depend on private rows"

# What scikit-learn's and diffprivlib's users are used to, and where it is found here.
ELSEWHERE = {
    "C": "write alpha = 1 / (C n), with n the public number of rows; or alpha='public', which picks it",
    "l1_ratio": "use ElasticNet or ElasticNetClassifier",
    "penalty": "choose the model by its penalty: ElasticNet and ElasticNetClassifier have an L1 norm besides the ridge",
    "loss": "choose the model by its loss, or use SGDClassifier and SGDRegressor, which take it by name",
    "data_norm": "write domain=Domain(row_norm=..., classes=(...))",
    "bounds_X": "write domain=Schema.from_toml(...), whose columns have bounds",
    "bounds_y": "write domain=Domain(row_norm=..., labels=(low, high))",
    "bounds": "write domain=Schema.from_toml(...), whose columns have bounds",
    "accountant": "write ledger='NAME': a budget that outlives the process",
    "sample_weight": _NO_WEIGHTS,
    "max_iter": _NO_WORK,
    "tol": _NO_WORK,
    "n_iter_no_change": _NO_WORK,
    "early_stopping": _NO_WORK,
    "validation_fraction": _NO_WORK,
    "solver": _NO_CHOICE,
    "dual": _NO_CHOICE,
    "warm_start": _NO_CHOICE,
    "n_jobs": "leave it out: it would change nothing; large tables are shared out by eq.open_table(..., engine='dask')",
    "verbose": "leave it out: progress would tell of the rows",
}


def known_arguments(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that refuses arguments which it does not take in three lines, not in Python's one.

    Examples
    --------
    >>> class Ridge:
    ...     @known_arguments
    ...     def fit(self, X, y=None): return self
    >>> Ridge().fit(1, sample_weight=[2])
    Traceback (most recent call last):
    equipoise.errors.UnknownArgument: asked: arguments of Ridge.fit: X, y
    found: sample_weight
    to do: leave it out: a weight a row would depend on private rows
    """
    _, *taken = inspect.signature(method).parameters

    @functools.wraps(method)
    def checked(self: Any, *given: Any, **named: Any) -> Any:
        _refuse_others(type(self), "" if method.__name__ == "__init__" else f".{method.__name__}", named, taken)
        return method(self, *given, **named)

    return checked


class KnownParameters(BaseEstimator):
    """An estimator of scikit-learn whose `set_params` refuses what its constructor would refuse, in the same lines."""

    def set_params(self, **named: Any) -> Self:
        """Set parameters, as scikit-learn does; ``<component>__<parameter>`` is a parameter of a component.

        Examples
        --------
        >>> class Ridge(KnownParameters):
        ...     def __init__(self, alpha=1.0): self.alpha = alpha
        >>> Ridge().set_params(alpha=2.0).alpha
        2.0
        >>> Ridge().set_params(max_iter=100)
        Traceback (most recent call last):
        equipoise.errors.UnknownArgument: asked: arguments of Ridge: alpha
        found: max_iter
        to do: leave it out: every fit ends after a number of passes that its certificate states
        """
        _, *taken = inspect.signature(type(self).__init__).parameters
        _refuse_others(type(self), "", {name.partition("__")[0]: value for name, value in named.items()}, taken)
        set_here: Self = super().set_params(**named)
        return set_here


def _refuse_others(owner: type, method: str, named: Mapping[str, object], taken: Sequence[str]) -> None:
    """Refuse names that are not among those that are taken, each with what stands in its place."""
    if unknown := [name for name in named if name not in taken]:
        remedies = {name: _remedy(owner, name, named[name], taken) for name in unknown}
        told = "; ".join(f"{name}: {remedy}" for name, remedy in remedies.items())
        remedy = told if len(unknown) > 1 else remedies[unknown[0]]
        asked = f"arguments of {owner.__name__}{method}: {', '.join(taken)}"
        raise UnknownArgument(asked, ", ".join(unknown), remedy)


def _remedy(owner: type, name: str, value: object, taken: Sequence[str]) -> str:
    """Return what stands in the place of an argument, in the words of the model that it was passed to."""
    if name == "data_norm" and "labels" in getattr(owner, "_domain_line", ""):
        return ELSEWHERE["bounds_y"]
    if name == "penalty" and "l1_ratio" in taken:
        return "write l1_ratio=..., the share of the L1 norm; l1_ratio=0.0 is l2 alone"
    if name == "penalty" and value == "l2" and hasattr(owner, "_penalty_name"):
        return "leave it out: l2 is what it is"
    return ELSEWHERE.get(name, _NOWHERE)
