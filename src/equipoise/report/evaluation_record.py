"""What the page of an evaluation shows, as plain values; and how a number with an interval is written."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from equipoise.report.page import number

# On a narrow screen a number keeps its unit beside it.
PERCENT = "\N{NO-BREAK SPACE}%"


@dataclass(frozen=True, slots=True)
class Shown:
    """A number with its interval of 95 %, and what rows and noise contribute to it.

    `verdict` says what it would take where the interval leaves the answer open, and is empty otherwise. A `share` is
    written in percent. `note` says what stands for more than itself. `bins` is by how much rows that lie in one bin
    lengthen the interval on either side, and `hidden` is whether bins alone keep the figure from being told.

    Examples
    --------
    >>> figure = Shown(0.8387, 0.83124, 0.84601, sampling=0.0037, noise=0.00056, share=True)
    >>> [words.replace(PERCENT, " %") for words in (figure.text, figure.interval, *figure.parts)]
    ['83.87 %', '83.12 % to 84.61 %', '0.37 %', '0.056 %']
    >>> Shown(50061.2, 42411.0, 57832.9, 1600.0, 3600.0).interval
    '42,411 to 57,833'
    """

    value: float
    low: float
    high: float
    sampling: float
    noise: float
    verdict: str = ""
    share: bool = False
    note: str = ""
    bins: float = 0.0
    hidden: bool = False

    @property
    def text(self) -> str:
        """The value, to two digits of half its interval's width; or that, or why, it cannot be told."""
        if self.hidden:
            return "hidden by bins"
        return "cannot be told" if self.verdict else self._written(self.value, round)

    @property
    def interval(self) -> str:
        """The interval, rounded outwards: it holds what the interval holds."""
        return f"{self._written(self.low, math.floor)} to {self._written(self.high, math.ceil)}"

    @property
    def parts(self) -> tuple[str, str]:
        """The deviations that are due to sampling and to noise; sampling is not known where the value is not."""
        sampling, noise = self._part(self.sampling), self._part(self.noise)
        return "not known" if self.verdict and not self.hidden else sampling, noise

    @property
    def width_of_bins(self) -> str:
        """By how much bins lengthen the interval on either side."""
        return self._part(self.bins)

    def _part(self, part: float) -> str:
        times, unit = (100, PERCENT) if self.share else (1, "")
        return f"{number(float(f'{times * part:.2g}'))}{unit}"

    def _written(self, value: float, rounded: Callable[[float], int]) -> str:
        times, unit = (100.0, PERCENT) if self.share else (1.0, "")
        half = 0.5 * times * (self.high - self.low)
        digits = min(max(1 - math.floor(math.log10(half)), 0), 9) if half > 0 else 4
        # What is left of binary fractions must not carry an end that is a round number over to the next.
        near = round(times * value * 10**digits, 6)
        return f"{rounded(near) / 10**digits:,.{digits}f}{unit}"


def against_the_rest(labels: Sequence[str]) -> str:
    """Return in a sentence what was counted where two classes are one and all others; empty for any other classes.

    Examples
    --------
    >>> against_the_rest(["not ill", "ill"])
    'Counted was ill against all others: it is taken to say ill where its share is above a half.'
    """
    if len(labels) != 2 or labels[0] != f"not {labels[1]}":
        return ""
    return (
        f"Counted was {labels[1]} against all others: it is taken to say {labels[1]} where its share is above a half."
    )


@dataclass(frozen=True, slots=True)
class Line:
    """A figure of the table: its name, the figure, and what it means in a few words."""

    name: str
    figure: Shown
    meaning: str


@dataclass(frozen=True, slots=True)
class Point:
    """A figure at a place of a curve; if that stands for a bin, with the ends of it."""

    place: float
    figure: Shown
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Bars:
    """One figure for each group: a title, what it means, and the figures in the order of the groups.

    `least` is what a bar begins at.
    """

    title: str
    meaning: str
    figures: tuple[Shown, ...]
    least: float = 0.0


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """Everything on the page of an evaluation: functions of its certificate, and the name of the target.

    Attributes
    ----------
    task : str
        "two classes", "several classes" or "regression".
    release, model : str
        The id of the release that was evaluated, and the SHA-256 of its model.json.
    labels : tuple of str
        The classes; empty for a regression.
    lines : tuple of Line
        The figures of the table.
    roc : tuple of pairs of Point
        False and true positive rates at every threshold.
    thresholds : tuple of pairs of str and tuple of Point
        By name every figure of two classes that exists at every threshold.
    calibration : tuple of Point
        Shares of the second class (or of right predictions) over scores; mean residuals over predictions.
    confusion : tuple of tuples of Shown
        True class by predicted one, as shares of all rows; empty where there are too many classes to read.
    classes : tuple of pairs of Shown
        Recall and precision of each of several classes.
    quantiles : tuple of Point
        Residuals below which these shares of rows lie.
    by, groups, bars :
        The column of groups, their names, and what is shown for each.
    left_out : int
        So many further groups the page has no room for.
    further, further_scale :
        In how many cells rows were counted once more, and with noise of which scale; 0 where they were not.
    held_out_of : int
        Of how many rows, the others of which trained the model, these were held out; 0 where they were not.
    """

    task: str
    target: str
    release: str
    model: str
    labels: tuple[str, ...]
    n_samples: int
    epsilon: float
    delta: float
    adjacency: str
    grade: str
    theorem: str
    law: str
    scale: float
    cells: int
    guess: float
    seeded: bool
    ledger: str | None
    evaluation_id: str
    made: str
    software: tuple[tuple[str, str], ...]
    certificate_digest: str
    schema_digest: str
    caveats: tuple[str, ...]
    assumptions: tuple[str, ...]
    lines: tuple[Line, ...]
    calibration: tuple[Point, ...]
    roc: tuple[tuple[Point, Point], ...] = ()
    thresholds: tuple[tuple[str, tuple[Point, ...]], ...] = ()
    confusion: tuple[tuple[Shown, ...], ...] = ()
    classes: tuple[tuple[Shown, Shown], ...] = ()
    quantiles: tuple[Point, ...] = ()
    by: str = ""
    groups: tuple[str, ...] = ()
    bars: tuple[Bars, ...] = ()
    left_out: int = 0
    # The cells of a first look, from whose counts bins follow; 0 without one.
    looked: int = 0
    further: int = 0
    further_scale: float = 0.0
    held_out_of: int = 0
