"""Rows that are held out from a training to evaluate it: the plan of both, from public facts alone (N3, N4)."""

import math
from dataclasses import replace

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Noise
from equipoise.certify.claims.evaluation import Cells, Evaluation, HeldOut, Looked
from equipoise.errors import InvalidParameter
from equipoise.planning.evaluation import further_noise, further_words, noise_on_counts
from equipoise.planning.issue import checked, issue
from equipoise.planning.laws import deviation_of
from equipoise.planning.notes import Notes, caveats_of
from equipoise.planning.request import Request
from equipoise.planning.words import Section
from equipoise.planning.work import remembered
from equipoise.vocabulary.facts import Budget
from equipoise.vocabulary.numbers import plain, require_number

# Deviations on either side of a normal number with a chance of 95 %.
_SIDES = 1.96


def rows_held_out(share: float, n_samples: int) -> int:
    """Return how many rows a share is, at least one, with at least one left to train on.

    Examples
    --------
    >>> rows_held_out(0.2, 1001), rows_held_out(0.06, 10)
    (200, 1)
    """
    remedy = "pass 0.2, a share of the rows"
    number = require_number("holdout", plain(share), above=0.0, remedy=remedy)
    if number >= 1:
        percent = f"{number:g} % is {number / 100:g}: pass that" if 1 < number < 100 else remedy
        raise InvalidParameter("a share of the rows to hold out, below 1", f"holdout={share!r}", percent)
    if n_samples < 2:
        raise InvalidParameter("rows to train on and rows to hold out", f"{n_samples} row", "hold nothing out")
    if round(number * n_samples) < 1:
        found = f"holdout={share!r} of {n_samples} rows, which is none"
        raise InvalidParameter("a share of the rows to hold out, of one row or more", found, remedy)
    return min(round(number * n_samples), n_samples - 1)


def known_within(counts: Evaluation) -> float:
    """Return how far from the truth the figure that is known best is seen at most, with a chance of 95 %.

    That is accuracy, ``1.96 sqrt(1/(4 n) + cells deviation^2/(4 n^2))`` for accuracy a half; of a regression the mean
    absolute error, in units of the target's range, with ``4/45`` in place of the second 1/4: the variance of squares of
    evenly spaced numbers, as edges of residuals are.

    Examples
    --------
    >>> counts = Evaluation(Budget(1.0), 50, "", "", Cells((0.5,), (0, 1)), Noise("laplace", 2.0, 4))
    >>> round(known_within(counts), 3)
    0.177
    """
    return _known_of(counts, 1)


def _known_of(counts: Evaluation, groups: int) -> float:
    """Return the same of one of so many groups that have as many rows, and cells, each."""
    rows = counts.n_samples / groups
    return _SIDES * math.sqrt(0.25 / rows + _drawn(counts) / groups / rows**2)


def _drawn(counts: Evaluation) -> float:
    weights = 1 / 4 if counts.cells.labels else 4 / 45
    return weights * math.prod(counts.cells.shape) * deviation_of(counts.noise) ** 2


def _known_best(counts: Evaluation) -> str:
    return "accuracy" if counts.cells.labels else "the mean absolute error, of the target's range,"


def require_enough(counts: Evaluation, n_samples: int) -> None:
    """Refuse rows of which nothing could be told: so few that the figure that is known best could be anything.

    Parameters
    ----------
    counts : Evaluation
        The plan of the counts.
    n_samples : int
        Of how many rows they were held out.
    """
    if known_within(counts) < 0.5:
        return
    enough = _enough(counts)
    share = math.ceil(1000 * enough / n_samples) / 1000
    found = _too_few(counts, f"{counts.n_samples} of {n_samples} rows")
    remedy = "train on all of them (no holdout) and evaluate on another table, or pass a larger epsilon"
    if share < 1:
        remedy = f"hold out {enough} rows or more, a share of {share:g}; or {remedy}"
    raise InvalidParameter("held-out rows that can tell something at this budget", found, remedy)


def counts_of(plan: Certificate) -> Evaluation:
    """Return what figures will follow from: of a first look and counts the counts, which come last."""
    return [claim for claim in plan.claim.nodes() if isinstance(claim, Evaluation)][-1]


def require_told(plan: Certificate) -> None:
    """Refuse an evaluation of which nothing could be told, by the same rule: it would be paid for all the same."""
    counts = counts_of(plan)
    if known_within(counts) >= 0.5:
        left, remedy = "", f"evaluate on {_enough(counts)} rows or more, or pass a larger epsilon"
        if isinstance(plan.claim, Looked):
            left = f", which is what look leaves of {plan.claim.budget.epsilon:g}"
            remedy = f"pass a smaller look, such as look=0.1, or none; or {remedy}"
        found = _too_few(counts, f"{counts.n_samples} rows for epsilon {counts.budget.epsilon:g}{left}")
        raise InvalidParameter("rows that can tell something at this budget", found, remedy)


def _too_few(counts: Evaluation, rows: str) -> str:
    return f"{rows}, by which {_known_best(counts)} would be known to within {min(known_within(counts), 1.0):.2f}"


def _enough(counts: Evaluation) -> int:
    """Return of how many rows the figure that is known best is known to within a quarter."""
    # n^2 = (4 * 1.96)^2 (n / 4 + drawn).
    square = (4 * _SIDES) ** 2
    return math.ceil(square / 8 + math.sqrt((square / 8) ** 2 + square * _drawn(counts)))


@remembered(most=1024)
def issue_held_out(training: Request, rows: int, cells: Cells, noise: Noise | None = None) -> Certificate:
    """Return the one certificate of a training and of counts of so many further rows, each for the whole budget.

    A replaced row lies in one part, so that the larger of the two costs is that of both (N3).

    Parameters
    ----------
    training : Request
        What is asked of the training, on the rows that are left to it.
    rows : int
        How many are held out.
    cells : Cells
        What the cells would be for weights of length 1: the edges follow from the weights that are released.
    noise : Noise, optional
        The noise on one count; by default the quietest for the budget.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Domain
    >>> asked = Request("logistic", "l2", 0.1, Domain(1.0, classes=(0, 1)), 0.0, 800, 3, Budget(1.0))
    >>> certificate = issue_held_out(asked, 200, Cells((0.25, 0.5, 0.75), (0, 1)))
    >>> certificate.n_samples, certificate.epsilon, certificate.verify()
    (1000, 1.0, ())
    """
    made, quietest = issue(training), noise_on_counts(training.budget, bool(cells.further))
    one = noise or quietest
    budget = training.budget if one.law == "gaussian" else Budget(training.budget.epsilon)
    every = Noise(one.law, one.scale, math.prod(cells.shape))
    counts = Evaluation(budget, rows, "", "", cells, every, further_noise=further_noise(one, cells))
    claim = HeldOut(training.budget, training.n_samples + rows, (counts, made.claim))
    checked(claim)
    terms, notes = replace(made.terms, n_samples=claim.n_samples), Notes.of(made)
    released = f"Released: how many of {rows} rows that were held out from it lie in each public cell, with noise."
    noted = replace(
        notes,
        claim=(*notes.claim, released),
        sections=(_dealt(training.n_samples, counts, training.public_seed, quietest), *notes.sections),
        caveats=caveats_of(terms, claim),
    )
    return Certificate.seal(terms, claim, noted.plain())


def _dealt(trained: int, counts: Evaluation, public_seed: int, quietest: Noise) -> Section:
    louder = (
        f"- {quietest.law} noise would be quieter, a standard deviation of {deviation_of(quietest):.6g} rows, but in "
        "the currency of the ledger or account both together would then cost twice as much, or more than is left",
    )
    return "Which rows?", (
        f"- of {trained + counts.n_samples} places, counted before anything is left out, {counts.n_samples} are held "
        f"out by a public permutation (public seed {public_seed}); the training reads the other {trained} alone",
        "- a replaced row lies in one of the two parts, so that both together cost what the dearer one does (N3)",
        f"- held-out rows are counted by what the released model says of them, with {counts.law} noise of scale "
        f"{counts.scale:.6g} on every count, a standard deviation of {deviation_of(counts.noise):.6g} rows (N4)",
        *(() if quietest.law == counts.law else louder),
        f"- {worth(counts)}",
        *further_words(counts),
    )


def worth(counts: Evaluation) -> str:
    """Return in words how well the figure that is known best will be known, and what telling groups apart costs.

    Examples
    --------
    >>> cells = Cells((0.5,), (0, 1), groups=("f", "m"), by="sex")
    >>> print(worth(Evaluation(Budget(1.0), 1000, "", "", cells, Noise("laplace", 2.0, 8))))
    accuracy will be known to within about 0.032; of each of 2 levels of sex, if rows are spread evenly, 0.045
    """
    within, figure = known_within(counts), _known_best(counts)
    if within >= 0.5:
        return f"so few rows tell nothing at this budget: {figure} could be anything"
    few = ", and most figures cannot be told" if within > 0.25 else ""
    groups = len(counts.cells.groups)
    each = min(_known_of(counts, max(groups, 1)), 1.0)
    apart = f"; of each of {groups} levels of {counts.cells.by}, if rows are spread evenly, {each:.2g}"
    return f"{figure} will be known to within about {within:.2g}{few}{apart if groups else ''}"
