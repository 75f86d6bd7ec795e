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


def doubtful_folds(classifying: bool) -> str:
    """Return the rule that deals rows into folds by what is in them, where there may be one; "" where there is none.

    A fold by places holds a row of a neighbouring table in the same place, so it differs in that row alone. Folds by
    labels or by groups do not: one person's label moves rows of others from fold to fold. Without a rule in sight (a
    worker process is sent rows alone) a classifier's are folds by labels, scikit-learn's default for it.

    Examples
    --------
    >>> doubtful_folds(classifying=True)
    ''
    """
    if not looking():
        return ""
    from sklearn import model_selection as rules

    by_place = (
        *(rules.KFold, rules.RepeatedKFold, rules.ShuffleSplit, rules.LeaveOneOut, rules.LeavePOut),
        *(rules.TimeSeriesSplit, rules.PredefinedSplit),
        type(rules.check_cv([])),  # places that the caller lists
    )
    theirs = [frame.f_locals for frame in _frames() if _module(frame).startswith("sklearn.")]
    held = [value for names in theirs for value in (*names.values(), getattr(names.get("self"), "cv", None))]
    seen = [value for value in held if callable(getattr(type(value), "get_n_splits", None))]
    odd = {type(value).__name__ for value in seen if not isinstance(value, by_place)}
    if odd or seen or not classifying:
        return ", ".join(sorted(odd))
    return "a rule that cannot be seen from here"


def _frames() -> Iterator[FrameType]:
    """Yield the frames of whoever called the caller of this, from the inside out."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
