"""A figure: a value, an interval that holds, what of its width is sampling and what is noise."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL = 0.95
# Deviations on either side of a normal number with that chance.
_SIDES = 1.959963984540054
# More than so many times nobody estimates from what was drowned.
_MOST_TIMES = 10


@dataclass(frozen=True)
class Figure:
    """One number about a model, with an interval of 95 %.

    Parameters
    ----------
    value, low, high : float
        The estimate and the ends of its interval. Over sampling of rows and noise together the interval holds the
        figure of the population with at least the stated chance.
    sampling, noise : float
        The standard deviations that rows and noise contribute to the estimate, approximately: which is which.
    least, greatest : float
        What the figure can be at all.
    bins : float
        By how much either side of the interval is longer because rows of one bin are not told apart.
    guessing : float
        What a model has that says the same of every row, for a loss that can be far larger: an interval as long as
        that tells nothing, and neither does one that holds it because of what bins hide.
    clipped : bool
        Whether it can be less than `least`, and is then reported as that.
    capped : bool
        Whether a row could add more than `greatest` to a mean, and counts as that: the figure is that of such rows.
    reckoned : pair of float, or none, optional
        By which deviations of sampling and noise the `verdict` reckons, where the two of the estimate rest on counts
        that noise may have drowned: those that follow from public facts. Empty where none do; by default the two above.

    Examples
    --------
    >>> print(Figure(0.81, 0.79, 0.83, sampling=0.009, noise=0.005))
    0.81 [0.79, 0.83] (sampling 0.009, noise 0.005)
    >>> print(Figure(0.5, 0.1, 0.9, sampling=0.02, noise=0.25))
    cannot be told at this budget; it takes about 2 times the epsilon
    >>> print(Figure(0.5, 0.0, 1.0, sampling=0.02, noise=2.5))
    cannot be told at this budget; it takes more than 10 times the epsilon or the rows
    >>> print(Figure(0.5, 0.0, 1.0, sampling=0.02, noise=0.25, reckoned=()))
    cannot be told at this budget; it takes more epsilon or more rows
    >>> print(Figure(0.5, 0.1, 0.9, sampling=0.01, noise=0.02, bins=0.35))
    cannot be told from bins as wide as these; it takes about 2 times as many: more rows or epsilon
    >>> print(Figure(0.86, 0.8, 0.92, sampling=0.009, noise=0.005, bins=0.04, guessing=0.5))
    0.86 [0.8, 0.92] (sampling 0.009, noise 0.005, bins 0.04)
    >>> print(Figure(0.6, 0.38, 0.82, sampling=0.009, noise=0.005, bins=0.2, guessing=0.5))
    cannot be told from so few bins, which hide up to 0.2 on either side; more rows or epsilon make more
    >>> print(Figure(1.0, 0.6, 1.4, sampling=0.02, noise=0.05, greatest=4.0, bins=0.25, guessing=1.1))
    cannot be told from so few bins, which hide up to 0.25 on either side; more rows or epsilon make more
    >>> print(Figure(-0.9, -1.0, -0.6, sampling=0.1, noise=0.02, least=-1.0, clipped=True))
    -0.9 [-1, -0.6] (sampling 0.1, noise 0.02; what is below -1 reads -1)
    >>> print(Figure(0.32, 0.29, 0.38, sampling=0.009, noise=0.005, greatest=5.46, bins=0.03, capped=True))
    0.32 [0.29, 0.38] (sampling 0.009, noise 0.005, bins 0.03; no row counts as more than 5.46)
    """

    value: float
    low: float
    high: float
    sampling: float
    noise: float
    least: float = 0.0
    greatest: float = 1.0
    bins: float = 0.0
    guessing: float = math.inf
    clipped: bool = field(default=False, kw_only=True)
    capped: bool = field(default=False, kw_only=True)
    reckoned: tuple[float, ...] | None = field(default=None, kw_only=True)

    @property
    def _extent(self) -> float:
        """What the figure could be, from end to end: no more than twice what guessing costs."""
        return min(self.greatest - self.least, 2.0 * self.guessing)

    @property
    def told(self) -> bool:
        """Whether the interval leaves out half of what the figure could be, and bins do not hide what guessing is."""
        return self._short and not self._hidden

    @property
    def _short(self) -> bool:
        return self.high - self.low <= 0.5 * self._extent

    @property
    def _hidden(self) -> bool:
        """Whether bins hide more than sampling and noise leave open, and so much that scores may tell nothing."""
        left_open = self.high - self.low - 2.0 * self.bins
        return self.low <= self.guessing <= self.high and self.bins > 0.5 * left_open

    @property
    def words(self) -> str:
        """What is to be said beside the numbers, of an end that stands for all beyond it."""
        if self.capped:
            return f"no row counts as more than {self.greatest:.3g}"
        return f"what is below {self.least:g} reads {self.least:g}" if self._at_its_least else ""

    @property
    def _at_its_least(self) -> bool:
        return self.clipped and self.low <= self.least

    @property
    def hidden(self) -> bool:
        """Whether it is not told for what bins hide alone."""
        return not self.told and self.high - self.low - 2.0 * self.bins <= 0.5 * self._extent

    @property
    def known(self) -> str:
        """What is known where the figure is not told."""
        if self._at_its_least:
            return f"it is at most {self.high:.4g}"
        return f"it lies between {self.low:.4g} and {self.high:.4g}"

    @property
    def verdict(self) -> str:
        """What to do where the noise, or the few rows, drown the answer; empty where the figure is told.

        Noise shrinks like one over epsilon and like one over the number of rows, sampling like one over its root, and
        what bins hide like one over their number, which grows with rows and epsilon. Where sampling is the larger of
        the two, more rows are what it takes. How much is a whole number, up to ten, and rounded up: an estimate.
        """
        if self.told:
            return ""
        if self._short:
            hidden = f"which hide up to {self.bins:.2g} on either side"
            return f"cannot be told from so few bins, {hidden}; more rows or epsilon make more"
        if self.reckoned == ():
            return "cannot be told at this budget; it takes more epsilon or more rows"
        wanted = 0.25 * self._extent / _SIDES
        room = 0.25 * self._extent - _SIDES * math.hypot(self.sampling, self.noise)
        if room > 0.0 and self.bins > 0.0:
            times = _times(self.bins / room)
            return f"cannot be told from bins as wide as these; it takes {times} as many: more rows or epsilon"
        sampling, noise = self.reckoned or (self.sampling, self.noise)
        epsilon = noise / math.sqrt(wanted**2 - sampling**2) if sampling < wanted else math.inf
        if sampling < noise and epsilon <= _MOST_TIMES:
            return f"cannot be told at this budget; it takes {_times(epsilon)} the epsilon"
        share = (sampling / wanted) ** 2
        rows = 0.5 * (share + math.hypot(share, 2.0 * noise / wanted))
        if rows <= _MOST_TIMES:
            return f"cannot be told from so few rows at this budget; it takes {_times(rows)} the rows"
        return f"cannot be told at this budget; it takes {_times(rows)} the epsilon or the rows"

    def __str__(self) -> str:
        """Return the figure in one line, or what it would take."""
        if not self.told:
            return self.verdict
        parts = f"sampling {self.sampling:.2g}, noise {self.noise:.2g}"
        if self.bins:
            parts += f", bins {self.bins:.2g}"
        if self.words:
            parts += f"; {self.words}"
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}] ({parts})"


def _times(factor: float) -> str:
    """Return how many times something is taken, as far as it can be estimated.

    Examples
    --------
    >>> _times(0.9), _times(3.2), _times(76.0)
    ('about 2 times', 'about 4 times', 'more than 10 times')
    """
    if factor > _MOST_TIMES:
        return f"more than {_MOST_TIMES} times"
    return f"about {max(math.ceil(factor), 2)} times"


@dataclass(frozen=True)
class Curve:
    """Figures along public places (thresholds, scores): arrays of what a `Figure` has, each interval for itself.

    Examples
    --------
    >>> recall = Curve.of((0.5,), [Figure(0.81, 0.79, 0.83, sampling=0.009, noise=0.005)])
    >>> recall.value, recall.low, recall[0].high
    (array([0.81]), array([0.79]), 0.83)
    """

    places: tuple[float, ...]
    figures: tuple[Figure, ...]
    # Where places stand for bins, the ends of these, one more than there are places.
    ends: tuple[float, ...] = ()

    @classmethod
    def of(cls, places: tuple[float, ...], figures: "list[Figure]", ends: tuple[float, ...] = ()) -> "Curve":
        """Return the curve of these figures at these places, or of the bins with these ends."""
        return cls(places, tuple(figures), ends)

    @property
    def value(self) -> Array:
        """The values."""
        return np.array([figure.value for figure in self.figures])

    @property
    def low(self) -> Array:
        """The lower ends, each of its own interval: a band for all places together would be wider."""
        return np.array([figure.low for figure in self.figures])

    @property
    def high(self) -> Array:
        """The upper ends, likewise."""
        return np.array([figure.high for figure in self.figures])

    def __getitem__(self, place: int) -> Figure:
        """Return one figure."""
        return self.figures[place]

    def __len__(self) -> int:
        """Return how many figures there are."""
        return len(self.figures)
