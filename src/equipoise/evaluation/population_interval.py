"""Approximate intervals for coefficients of a population: what training took off, and what makes them so wide.

How they are found stands in `equipoise.evaluation.population`.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PopulationInterval:
    """An approximate interval for one coefficient of the population: no ridge, nothing clipped, no noise.

    Parameters
    ----------
    released : float
        The coefficient as it was released.
    value, low, high : float
        The estimate, with what training took off put back, and the ends of its interval.
    ridge, clipping, rest : float
        What training adds to the population's coefficient on the average: by the ridge; by clipping rows, labels and
        slopes, and by a descent of few steps; and by everything else (few rows, noise that acts through the training).
    sampling, noise, public : float
        The standard deviations that private rows, noise, and the public rows, being few, contribute to the estimate.
    reach : float
        The largest size that the plan reckoned with: odds of 20 to 1 for a row that points that way.

    Examples
    --------
    >>> print(PopulationInterval(0.9, 1.2, 0.9, 1.5, -0.3, 0.0, 0.0, 0.1, 0.1, 0.0, 3.0))
    about 1.2 [0.9, 1.5] (released 0.9; bias -0.3: ridge -0.3, clipping 0, rest 0; sampling 0.1, noise 0.1, public 0)
    >>> print(PopulationInterval(0.9, 1.2, -7.2, 9.6, -0.3, 0.0, 0.0, 0.1, 4.2, 0.0, 3.0))
    cannot be told at this budget; it takes about 5.6 times the epsilon
    """

    released: float
    value: float
    low: float
    high: float
    ridge: float
    clipping: float
    rest: float
    sampling: float
    noise: float
    public: float
    reach: float

    @property
    def bias(self) -> float:
        """What training adds to the population's coefficient on the average."""
        return self.ridge + self.clipping + self.rest

    @property
    def told(self) -> bool:
        """Whether the interval is at most half as wide as what the coefficient could be, from -reach to reach."""
        return self.high - self.low <= self.reach

    @property
    def verdict(self) -> str:
        """What to do where the answer is drowned; empty where it is told.

        Noise shrinks like one over epsilon, and like one over the number of rows, sampling like one over its root.
        """
        if self.told:
            return ""
        # As many deviations wide as this interval is.
        wanted = self.reach / (self.high - self.low) * math.hypot(self.sampling, self.noise, self.public)
        if self.public > wanted:
            # What private rows and noise leave to public ones, whose part shrinks like one over the root of them.
            left = max(wanted**2 - self.sampling**2 - self.noise**2, 0.25 * wanted**2)
            return f"cannot be told from so few public rows; it takes about {self.public**2 / left:.1f} times as many"
        if self.sampling < wanted:
            times = max(self.noise / math.sqrt(wanted**2 - self.sampling**2), 1.1)
            return f"cannot be told at this budget; it takes about {times:.1f} times the epsilon"
        share = (self.sampling / wanted) ** 2
        rows = 0.5 * (share + math.hypot(share, 2.0 * self.noise / wanted))
        return f"cannot be told from so few rows at this budget; it takes about {rows:.1f} times the rows"

    def __str__(self) -> str:
        """Return the interval in one line, or what it would take."""
        if not self.told:
            return self.verdict
        parts = f"ridge {self.ridge:.2g}, clipping {self.clipping:.2g}, rest {self.rest:.2g}"
        spread = f"sampling {self.sampling:.2g}, noise {self.noise:.2g}, public {self.public:.2g}"
        interval = f"about {self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"
        return f"{interval} (released {self.released:.3g}; bias {self.bias:.2g}: {parts}; {spread})"


@dataclass(frozen=True, slots=True)
class PopulationIntervals:
    """Approximate intervals for the coefficients of the population, and what they assume.

    Parameters
    ----------
    level : float
        The chance that each is meant to hold with, for itself. Approximate: nothing is proved.
    coefficients : tuple of PopulationInterval
        In the order and in the units of ``coef_``.
    intercept : PopulationInterval, optional
        That of ``intercept_``; None where none was trained.
    names : tuple of str
        Of the columns.
    refits : int
        How many tables were simulated and trained on; a quarter of them twice, to tell noise from sampling.
    assumptions : tuple of str
        What the intervals rest on.
    """

    level: float
    coefficients: tuple[PopulationInterval, ...]
    intercept: PopulationInterval | None
    names: tuple[str, ...]
    refits: int
    assumptions: tuple[str, ...]
    grade: str = field(default="approximate", init=False)

    @property
    def value(self) -> Array:
        """The estimates of all coefficients."""
        return np.array([one.value for one in self.coefficients])

    @property
    def low(self) -> Array:
        """The lower ends, each of its own interval."""
        return np.array([one.low for one in self.coefficients])

    @property
    def high(self) -> Array:
        """The upper ends, likewise."""
        return np.array([one.high for one in self.coefficients])

    def __str__(self) -> str:
        """Return a line a coefficient, and what all of them assume."""
        title = f"approximate intervals for the population, {100 * self.level:g} % each for itself, by simulation"
        lines = [f"  {name}: {one}" for name, one in zip(self.names, self.coefficients, strict=True)]
        lines += [] if self.intercept is None else [f"  intercept: {self.intercept}"]
        return "\n".join([title, *lines, *(f"  assumed: {line}" for line in self.assumptions)])
