"""Who called: the user's own line that a warning points to, and what scikit-learn does with rows around a fit.

scikit-learn passes no hint to what it fits, so the stack is all there is to see. What is seen here may refuse a fit or
say more about it; none is counted less for it.
"""

import sys
import warnings
from collections.abc import Iterator
from types import FrameType

# What stands between a user's line and the door.
_BETWEEN = ("equipoise", "sklearn", "joblib")

# Where scikit-learn scores, chooses or calibrates by the rows that it fits on.
_LOOKING = ("sklearn.model_selection", "sklearn.calibration", "sklearn.feature_selection._rfe")

# Where scikit-learn picks, repeats or leaves out rows by chance, by their labels or by what an earlier model said.
_PICKING = (
    *("sklearn.ensemble._bagging", "sklearn.ensemble._weight_boosting", "sklearn.impute._iterative"),
    *("sklearn.linear_model._ransac", "sklearn.semi_supervised._self_training"),
)


def warn_the_user(message: str, category: type[Warning]) -> None:
    """Warn from the innermost line that is neither ours nor scikit-learn's."""
    level = 2
    for level, frame in enumerate(_frames(), start=1):  # noqa: B007
        if _module(frame).partition(".")[0] not in _BETWEEN:
            break
    warnings.warn(message, category, stacklevel=level)


def looking() -> bool:
    """Tell whether a part of scikit-learn is on the way here that looks at rows around the fits.

    Examples
    --------
    >>> looking()
    False
    """
    return any(_module(frame).startswith(_LOOKING) for frame in _frames())


def doubtful_rows() -> str:
    """Return what picks the rows of this fit, where it may be something else than their places; "" where nothing is.

    A fold by places holds a row of a neighbouring table in the same place, so it differs in that row alone. Folds by
    labels or by groups do not: one person's label moves rows of others from fold to fold. The rule must be in sight, on
    the stack, and be one of scikit-learn's own by places, of that very class; a worker process is sent rows alone.

    Examples
    --------
    >>> doubtful_rows()
    ''
    """
    theirs = [frame for frame in _frames() if _module(frame).startswith("sklearn.")]
    if pickers := {_module(frame) for frame in theirs if _picks(frame)}:
        return f"rows that {', '.join(sorted(pickers))} picks"
    if not looking():
        return ""
    from sklearn import model_selection as rules

    by_place = (rules.KFold, rules.RepeatedKFold, rules.ShuffleSplit, rules.LeaveOneOut, rules.LeavePOut)
    listed = type(rules.check_cv([]))  # splits that somebody dealt before, by whatever rule
    seen: list[type] = []
    unseen = False
    for frame in reversed(theirs):  # as they were called
        local = frame.f_locals
        kept = getattr(local.get("self"), "__dict__", {})  # a search keeps its rule, and shows it nowhere else
        held = (type(value) for value in (*local.values(), *kept.values()))
        seen += [each for each in held if callable(getattr(each, "get_n_splits", None))]
        # Work that scikit-learn hands out: who did so is not in sight from a worker.
        unseen = unseen or (
            not seen and frame.f_code.co_name == "__call__" and _module(frame) == "sklearn.utils.parallel"
        )
    odd = {each for each in seen if each not in (*by_place, rules.TimeSeriesSplit)}
    if odd:
        names = {"a ready-made list of splits" if each is listed else each.__name__ for each in odd}
        return f"folds by {', '.join(sorted(names))}"
    return "folds by a rule that cannot be seen from here" if unseen or not seen else ""


def _picks(frame: FrameType) -> bool:
    return _module(frame).startswith(_PICKING) or frame.f_code.co_name == "_fit_ovo_binary"


def _frames() -> Iterator[FrameType]:
    """Yield the frames of whoever called the caller of this, from the inside out."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
