"""Who called: the line of the user's own that a warning points to, and whether scikit-learn scores around a fit.

A count never rests on this: what is not noticed is counted all the same, and only less is said.
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


def _frames() -> Iterator[FrameType]:
    """Yield the frames of whoever called the caller of this, from the inside out."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
