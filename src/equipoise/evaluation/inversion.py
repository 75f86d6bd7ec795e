"""An interval is what no test refuses: hypotheses are tried from the ends of what is possible inwards (N4)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.intp]

# For the questions `which` and one hypothesis each: how likely so large, and so small, a statistic would be.
Tests = Callable[[Places, Array], tuple[Array, Array]]

_TRIED = 25
_HALVINGS = 15


def intervals(tests: Tests, questions: int, least: Array, greatest: Array, error: Array) -> tuple[Array, Array]:
    """Return the lowest and the highest hypothesis that its test accepts, for each question.

    The lower end is the first hypothesis from below under which so large a statistic has a chance above ``error / 2``,
    the upper end its mirror image; between a refused and an accepted one it is found by halving, and the refused side
    is returned. So the interval contains whatever the two tests accept, to the resolution of the first grid, and what
    they accept contains the truth with probability ``1 - error``. If they accept nothing the ends come in the wrong
    order, and the interval is what lies between them.

    Examples
    --------
    A normal number of deviation 1 that came out as 0.3:

    >>> from scipy.stats import norm
    >>> tests = lambda which, mean: (norm.sf(0.3 - mean), norm.cdf(0.3 - mean))
    >>> low, high = intervals(tests, 1, np.array([-8.0]), np.array([8.0]), error=np.array([0.05]))
    >>> low.round(2), high.round(2)
    (array([-1.66]), array([2.26]))
    """
    shares = np.linspace(0.0, 1.0, _TRIED)
    which = np.repeat(np.arange(questions), _TRIED)
    hypotheses = (least[:, None] + (greatest - least)[:, None] * shares).ravel()
    large, small = (found.reshape(questions, _TRIED) for found in tests(which, hypotheses))
    grid = hypotheses.reshape(questions, _TRIED)
    every = np.arange(questions)

    # Where one side accepts nothing at all, its end is the far end of what is possible.
    from_below = np.argmax((large > 0.5 * error[:, None]) | (shares == 1.0), axis=1)
    from_above = _TRIED - 1 - np.argmax((small > 0.5 * error[:, None])[:, ::-1] | (shares == 1.0), axis=1)
    refused = np.stack(
        [grid[every, np.maximum(from_below - 1, 0)], grid[every, np.minimum(from_above + 1, _TRIED - 1)]]
    )
    accepted = np.stack([grid[every, from_below], grid[every, from_above]])
    moving = np.concatenate([every, every])
    for _ in range(_HALVINGS):
        middle = 0.5 * (refused + accepted)
        large, small = tests(moving, middle.ravel())
        fine = np.stack([large[:questions], small[questions:]]) > 0.5 * error
        accepted, refused = np.where(fine, middle, accepted), np.where(fine, refused, middle)
    return np.minimum(*refused), np.maximum(*refused)
