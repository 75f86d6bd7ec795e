"""An interval is what no test refuses: hypotheses are tried from the ends of what is possible inwards (N4)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.intp]

# For the questions `which` and one hypothesis each: how likely so large, and so small, a statistic would be.
Tests = Callable[[Places, Array], tuple[Array, Array]]

_TRIED = 25
HALVINGS = 15


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
    ends = Ends(tests, questions, least, greatest, error)
    for _ in range(HALVINGS):
        ends.halve(np.arange(questions))
    return np.minimum(*ends.refused), np.maximum(*ends.refused)


class Ends:
    """The lower and the upper ends of `intervals` while they are looked for: 2 x questions.

    Each lies between a hypothesis that is `refused` and the next one within that is `accepted`.
    """

    def __init__(self, tests: Tests, questions: int, least: Array, greatest: Array, error: Array) -> None:
        self._tests, self._error = tests, error
        shares = np.linspace(0.0, 1.0, _TRIED)
        which = np.repeat(np.arange(questions), _TRIED)
        hypotheses = (least[:, None] + (greatest - least)[:, None] * shares).ravel()
        large, small = (found.reshape(questions, _TRIED) for found in tests(which, hypotheses))
        grid = hypotheses.reshape(questions, _TRIED)
        every = np.arange(questions)

        # Where one side accepts nothing at all, its end is the far end of what is possible.
        below = np.argmax((large > 0.5 * error[:, None]) | (shares == 1.0), axis=1)
        above = _TRIED - 1 - np.argmax((small > 0.5 * error[:, None])[:, ::-1] | (shares == 1.0), axis=1)
        self.refused = np.stack([grid[every, np.maximum(below - 1, 0)], grid[every, np.minimum(above + 1, _TRIED - 1)]])
        self.accepted = np.stack([grid[every, below], grid[every, above]])

    def halve(self, which: Places) -> None:
        """Try the middle between refused and accepted, for both ends of these questions."""
        refused, accepted = self.refused[:, which], self.accepted[:, which]
        middle = 0.5 * (refused + accepted)
        large, small = self._tests(np.concatenate([which, which]), middle.ravel())
        fine = np.stack([large[: len(which)], small[len(which) :]]) > 0.5 * self._error[which]
        self.accepted[:, which], self.refused[:, which] = (
            np.where(fine, middle, accepted),
            np.where(fine, refused, middle),
        )
