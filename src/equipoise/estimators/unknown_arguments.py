"""Arguments that other libraries have, answered with what stands in their place here."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from equipoise.errors import UnknownArgument

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
    "n_jobs": _NO_CHOICE,
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
    equipoise.errors.UnknownArgument: asked: arguments of Ridge.fit: X, y; found: sample_weight; to do: leave it ...
    """
    _, *taken = inspect.signature(method).parameters

    @functools.wraps(method)
    def checked(self: Any, *given: Any, **named: Any) -> Any:
        if unknown := [name for name in named if name not in taken]:
            place = type(self).__name__ + ("" if method.__name__ == "__init__" else f".{method.__name__}")
            remedies = {name: ELSEWHERE.get(name, _NOWHERE) for name in unknown}
            told = "; ".join(f"{name}: {remedy}" for name, remedy in remedies.items())
            remedy = told if len(unknown) > 1 else remedies[unknown[0]]
            raise UnknownArgument(f"arguments of {place}: {', '.join(taken)}", ", ".join(unknown), remedy)
        return method(self, *given, **named)

    return checked
