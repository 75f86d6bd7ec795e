"""Audits: from releases on two neighbours to a lower confidence bound on epsilon.

An event is fixed in advance: the release, turned into a number, lies beyond a threshold. If a mechanism is
(epsilon, delta)-private, the probabilities p and q of an event on two neighbours obey ``p <= exp(epsilon) q + delta``.
With Clopper-Pearson bounds on both, ``ln((p_low - delta) / q_high)`` exceeds the true epsilon with probability at most
`failure` (docs/audit.md). What is found is measured: it can refute a claim, and it can prove none.

The module is not called like the function `audit`, since ``equipoise.lab.audit`` cannot name both.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from scipy.special import betainccinv, betaincinv

from equipoise.errors import EquipoiseError, InvalidParameter
from equipoise.vocabulary.numbers import plain, require_count, require_number

Array = NDArray[np.float64]
Release = Callable[[], Any]
Report = Callable[[int, int], None]

FAILURE = 1e-4
RUNS, PILOTS = 2000, 200
# Where among the pilots' numbers the thresholds are put: the tails tell most, the middle is counted best.
QUANTILES = (0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95)
# A threshold rests on four statements: each of two probabilities is bounded from below and from above.
STATEMENTS = 4

NO_FAULT, REFUTED, NO_CLAIM = "no fault found", "the claim is refuted", "no claim was given"


@dataclass(frozen=True, slots=True)
class Finding:
    """A measured lower bound on epsilon: it exceeds the true one with probability at most `failure`.

    Parameters
    ----------
    epsilon : float
        The lower bound; 0 says nothing.
    failure : float
        The probability with which an audit as this one finds more than the truth, all its events together.
    runs : int
        The counted releases on each of the two neighbours.
    delta : float
        The delta at which epsilon is bounded.
    claimed : float, optional
        The epsilon that was claimed at this delta.
    reach : float
        The largest bound that so many runs could have shown.

    Examples
    --------
    >>> print(Finding(1.3, 0.0001, 2000, 0.0, 1.0, 5.2))
    measured: epsilon is at least 1.3 at delta = 0, with confidence 99.99 %; 2,000 counted releases on each of two \
neighbours, which could have shown up to 5.2; claimed: 1; the claim is refuted
    """

    epsilon: float
    failure: float
    runs: int
    delta: float = 0.0
    claimed: float | None = None
    reach: float = math.inf

    @property
    def confidence(self) -> float:
        """The probability, at least, with which the true epsilon is no smaller than the bound."""
        return 1 - self.failure

    @property
    def refuted(self) -> bool:
        """Whether more was measured than was claimed."""
        return self.claimed is not None and self.epsilon > self.claimed

    @property
    def verdict(self) -> str:
        """What follows for the claim."""
        if self.claimed is None:
            return NO_CLAIM
        return REFUTED if self.refuted else NO_FAULT

    @property
    def words(self) -> str:
        """The whole finding in one sentence."""
        claim = "" if self.claimed is None else f"; claimed: {self.claimed:g}"
        return (
            f"measured: epsilon is at least {self.epsilon:.4g} at delta = {self.delta:g}, with confidence "
            f"{100 * self.confidence:.10g} %; {self.runs:,} counted releases on each of two neighbours, which could "
            f"have shown up to {self.reach:.3g}{claim}; {self.verdict}"
        )

    def __str__(self) -> str:
        """Return the whole finding in one sentence."""
        return self.words


def at_least(count: int, runs: int, failure: float) -> float:
    """Return the lower Clopper-Pearson bound of a probability.

    Examples
    --------
    >>> round(at_least(90, 100, 0.05), 4)
    0.8363
    """
    return 0.0 if count == 0 else float(betaincinv(count, runs - count + 1, failure))


def at_most(count: int, runs: int, failure: float) -> float:
    """Return the upper Clopper-Pearson bound of a probability.

    Examples
    --------
    >>> round(at_most(10, 100, 0.05), 4)
    0.1637
    """
    return 1.0 if count == runs else float(betainccinv(count + 1, runs - count, failure))


def reach(runs: int, delta: float = 0.0, failure: float = FAILURE, thresholds: int = len(QUANTILES)) -> float:
    """Return the largest bound that so many runs could show: an event that always happens here, and never there.

    Examples
    --------
    >>> round(reach(2000), 2)
    5.07
    """
    share = failure / (STATEMENTS * thresholds)
    low = at_least(runs, runs, share)
    return max(0.0, math.log((low - delta) / at_most(0, runs, share))) if low > delta else 0.0


def runs_to_reach(
    epsilon: float, delta: float = 0.0, failure: float = FAILURE, thresholds: int = len(QUANTILES)
) -> int:
    """Return how many runs an audit needs at the very least to show more than `epsilon`.

    Examples
    --------
    >>> runs_to_reach(1.0), runs_to_reach(8.0)
    (41, 37396)
    """
    # ln((x - delta) / (1 - x)) > epsilon, where x^runs is the share of one statement.
    evidence = math.log(STATEMENTS * thresholds / failure)
    odds = math.log1p((1 - delta) / (math.exp(min(epsilon, 700.0)) + delta))
    return math.floor(evidence / odds) + 1


def lower_bound(
    first: ArrayLike,
    second: ArrayLike,
    delta: float,
    thresholds: ArrayLike,
    failure: float = FAILURE,
    claimed: float | None = None,
) -> Finding:
    """Return the best lower bound over the given thresholds, in both directions and on both sides of each.

    Parameters
    ----------
    first, second : array
        One number a release, as many on the one neighbour as on the other, each independent of all others.
    delta : float
        The delta at which epsilon is bounded.
    thresholds : array
        Fixed before these runs; the failure probability is shared among all of them.
    failure : float
        The probability that the bound may exceed the true epsilon.
    claimed : float, optional
        The epsilon to compare with.

    Examples
    --------
    >>> answers = np.random.default_rng(0)
    >>> lower_bound(answers.normal(0, 1, 2000), answers.normal(3, 1, 2000), 0.0, [0.0, 1.5]).epsilon > 2
    True
    """
    one, other = _numbers(first, "first"), _numbers(second, "second")
    places = np.unique(_numbers(thresholds, "thresholds"))
    if len(one) != len(other):
        found = f"{len(one)} and {len(other)}"
        raise InvalidParameter("as many releases of the one as of the other", found, "draw the missing ones")
    delta, failure, claimed = _require(delta, failure, claimed)
    runs, share = len(one), failure / (STATEMENTS * len(places))
    best = 0.0
    for threshold in places:
        beyond = int(np.sum(one > threshold)), int(np.sum(other > threshold))
        short = runs - beyond[0], runs - beyond[1]
        for here, there in (beyond, beyond[::-1], short, short[::-1]):
            low = at_least(here, runs, share)
            if low > delta:
                best = max(best, math.log((low - delta) / at_most(there, runs, share)))
    return Finding(best, failure, runs, delta, claimed, reach(runs, delta, failure, len(places)))


def audit(
    first: Release,
    second: Release,
    *,
    delta: float = 0.0,
    claimed: float | None = None,
    statistic: Callable[[Any], Any] | None = None,
    thresholds: ArrayLike | None = None,
    runs: int = RUNS,
    pilots: int = PILOTS,
    failure: float = FAILURE,
    progress: bool | Report = False,
) -> Finding:
    """Measure a lower bound on the epsilon of a mechanism from its releases on two neighbours.

    Parameters
    ----------
    first, second : callable
        Without arguments; each call makes one release, on the one table or on its neighbour, with fresh noise. A
        release is a number, an array, or anything that `statistic` turns into one of them.
    delta : float
        The delta at which epsilon is bounded.
    claimed : float, optional
        The epsilon that the mechanism claims at this delta; the finding says whether it is refuted.
    statistic : callable, optional
        Turns a release into a number, for instance ``lambda model: model.coef_.sum()``. Arrays are projected on the
        line through the means of the pilots.
    thresholds : array, optional
        The events: that the number lies beyond a threshold, or not. Left out, they are taken from the pilots. Given,
        there are no pilots, and releases must be numbers.
    runs : int
        The counted releases by each callable.
    pilots : int
        Releases by each callable before them that fix the events and are not counted.
    failure : float
        The probability that the bound may exceed the true epsilon.
    progress : bool or callable
        True shows a bar on standard error; a callable is told how many of how many releases are made.

    Returns
    -------
    Finding
        The bound with its confidence and its runs. It is measured: a small one shows no privacy.

    Examples
    --------
    Randomised response tells the truth three times out of four: its epsilon is ln 3 = 1.0986.

    >>> coin = np.random.default_rng(0)
    >>> yes, no = (lambda: coin.random() < 0.75), (lambda: coin.random() < 0.25)
    >>> print(audit(yes, no, claimed=1.0986, runs=5000))
    measured: epsilon is at least 0.9695 at delta = 0, with confidence 99.99 %; 5,000 counted releases on each of two \
neighbours, which could have shown up to 6.09; claimed: 1.0986; no fault found
    >>> audit(yes, no, claimed=0.5, runs=5000).verdict
    'the claim is refuted'
    """
    runs = require_count("runs", runs, "pass the number of counted releases")
    delta, failure, claimed = _require(delta, failure, claimed)
    events = None if thresholds is None else np.unique(_numbers(thresholds, "thresholds"))
    before = 0 if events is not None else require_count("pilots", pilots, "pass the number of releases that fix events")
    _require_enough(runs, delta, failure, claimed, len(QUANTILES) if events is None else len(events))
    bar = _bar(before + runs) if progress is True else nullcontext(progress or _say_nothing)
    with bar as report:
        draw = _Draw(first, second, statistic, report, before + runs)
        direction = np.ones(1)
        if events is None:
            one, other = draw.many(before)
            if one.shape[1] > 1:
                direction = other.mean(axis=0) - one.mean(axis=0)
            events = np.unique(np.quantile(np.concatenate([one @ direction, other @ direction]), QUANTILES))
        one, other = draw.many(runs)
        if one.shape[1] != len(direction):
            found = f"arrays of {one.shape[1]}"
            raise InvalidParameter(
                "releases that are numbers, since thresholds are given", found, "pass a statistic, or no thresholds"
            )
    return lower_bound(one @ direction, other @ direction, delta, events, failure, claimed)


class _Draw:
    """Draws from two callables in turn, each release a row of numbers."""

    def __init__(
        self,
        first: Release,
        second: Release,
        statistic: Callable[[Any], Any] | None,
        report: Report,
        total: int,
    ) -> None:
        for name, given in (("first", first), ("second", second), ("statistic", statistic)):
            if given is not None and not callable(given):
                found = f"{name} of type {type(given).__name__}"
                raise InvalidParameter("callables", found, f"pass {name}=lambda ...: one release for each call")
        self._sides = {"first": first, "second": second}
        self._statistic = statistic
        self._report = report
        self._done, self._total = 0, total
        self._width: int | None = None

    def many(self, count: int) -> tuple[Array, Array]:
        """Return so many releases of either, a row each."""
        found: tuple[list[Array], list[Array]] = ([], [])
        for _ in range(count):
            for name, rows in zip(self._sides, found, strict=True):
                rows.append(self._one(name))
            self._done += 1
            self._report(self._done, self._total)
        return np.array(found[0]), np.array(found[1])

    def _one(self, name: str) -> Array:
        try:
            released = self._sides[name]()
            value = released if self._statistic is None else self._statistic(released)
        except EquipoiseError:
            raise
        except Exception as error:
            raise InvalidParameter(
                f"a release by the {name} callable",
                f"{type(error).__name__}: {error!s:.200}",
                f"call {name}() by itself, and the statistic on what it returns",
            ) from None
        row = _as_floats(value)
        if row is None or not row.size or not np.isfinite(row).all():
            kind = type(value).__name__ if row is None else "nothing" if not row.size else "nan or infinity"
            raise InvalidParameter(
                "releases that are finite numbers, or arrays of them",
                f"{kind} from the {name} callable",
                "pass a statistic that turns a release into a number, such as statistic=lambda model: model.coef_",
            )
        if self._width not in (None, row.size):
            raise InvalidParameter(
                "releases of one size", f"arrays of {self._width} and of {row.size}", "pass a statistic"
            )
        self._width = row.size
        return row


def _as_floats(value: object) -> Array | None:
    """Return a number or an array of numbers, flat, or None for anything else: texts that look like numbers too."""
    try:
        given = np.asarray(value)
    except ValueError:
        return None
    return given.astype(np.float64).ravel() if given.dtype.kind in "fiub" else None


def _numbers(given: ArrayLike, name: str) -> Array:
    numbers = _as_floats(given)
    if numbers is None or not numbers.size or not np.isfinite(numbers).all():
        raise InvalidParameter(f"{name}, one finite number or more", "something else", f"pass numbers as {name}")
    return numbers


def _require(delta: float, failure: float, claimed: float | None) -> tuple[float, float, float | None]:
    """Return the three as floats, or say which is out of its range."""
    delta = require_number("delta", plain(delta), above=0.0, inclusive=True, remedy="pass delta=0.0")
    failure = require_number("failure", plain(failure), above=0.0, remedy="pass failure=0.0001")
    if delta >= 1 or failure >= 1:
        name, value = ("delta", delta) if delta >= 1 else ("failure", failure)
        raise InvalidParameter(f"{name} < 1", f"{name}={value:g}", f"pass {name} as a probability")
    if claimed is not None:
        claimed = require_number("claimed", plain(claimed), above=0.0, inclusive=True, remedy="pass the epsilon")
    return delta, failure, claimed


def _require_enough(runs: int, delta: float, failure: float, claimed: float | None, thresholds: int) -> None:
    """Refuse an audit that could find nothing: whatever it saw, it would say that there is no fault."""
    if reach(runs, delta, failure, thresholds) > (claimed or 0.0):
        return
    least = runs_to_reach(claimed or 0.0, delta, failure, thresholds)
    what = "show anything" if claimed is None else f"refute epsilon = {claimed:g}"
    raise InvalidParameter(
        f"enough runs to {what} with failure probability {failure:g}",
        f"{runs:,} runs, too few whatever they show",
        f"make {_counted(least)} runs or more, several times as many to be likely to find a fault",
    )


def _counted(runs: int) -> str:
    return f"{runs:,}" if runs < 10**12 else f"{runs:.3g}"


def _say_nothing(done: int, total: int) -> None:
    """Take the place of a progress bar."""


@contextmanager
def _bar(total: int) -> Iterator[Report]:
    columns = (TextColumn("releasing"), BarColumn(), MofNCompleteColumn(), TextColumn("pairs"), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield lambda done, _: progress.update(task, completed=done)
