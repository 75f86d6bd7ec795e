"""Evaluations of released models: the noise that a budget needs, the bins that so many rows carry, the plan (N4)."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from equipoise.certify.certificate import Certificate, Terms
from equipoise.certify.claims import Noise
from equipoise.certify.claims.evaluation import Cells, Evaluation, Looked
from equipoise.errors import BudgetImpossible
from equipoise.planning.issue import checked
from equipoise.planning.laws import deviation_of, known
from equipoise.planning.notes import Notes, caveats_of
from equipoise.vocabulary.facts import Budget, Label

# One replaced row moves two counts by 1 each: so far in L2, as the claim rounds it.
MOVED = math.sqrt(2) * (1 + 1e-15)

# Counts by the true class's share, from which prediction sets of several classes follow, or by the target, from which
# R2 does, have this much more noise than the others have: they cost a ninth of epsilon. Sums up to a level are few
# counts' noise, figures those of many; of the two means that R2 divides the squared error is known less well.
FURTHER = 8.0

# The laws whose noise is independent in every cell.
LAWS = ("laplace", "gaussian")

# Fewer bins tell nothing of the order of scores, and more are finer than any sample of scores that people look at.
FEWEST, MOST = 6, 50

# Residuals spread over less: bins are even as far as this share of the target's range, and wider and wider beyond.
USUAL_RESIDUAL = 1 / 20

# Accuracy adds up the noise of half of all cells. It may add a quarter of the largest variance that sampling has, which
# is a quarter of the number of rows.
SHARE_OF_ROWS = 1 / 16


def noise_on_counts(budget: Budget, further: bool = False) -> Noise:
    """Return the quietest noise on one count that meets a budget; the law that a pure one has comes first of equals.

    Examples
    --------
    >>> noise_on_counts(Budget(0.5)).law, round(noise_on_counts(Budget(0.5)).scale, 9)
    ('laplace', 4.0)
    >>> noise_on_counts(Budget(0.01, 0.01)).law
    'gaussian'
    """
    return noises_on_counts(budget, further)[0]


def noises_on_counts(budget: Budget, further: bool = False) -> list[Noise]:
    """Return the noise on one count that meets a budget, of every law that can, the quietest first.

    With `further` counts, by the true class's share or by the target, their noise, `FURTHER` times as much, is paid for
    as well.

    Examples
    --------
    >>> [(noise.law, round(noise.scale, 2)) for noise in noises_on_counts(Budget(1.0, 1e-6))]
    [('laplace', 2.0), ('gaussian', 5.97)]
    """
    moved = MOVED * (1 + 1 / FURTHER) if further else MOVED
    scales = ((law, known(law).scale_for(moved, 2, budget)) for law in LAWS)
    found = [Noise(law, scale, 1) for law, scale in scales if scale is not None]
    drawable = [noise for noise in found if noise.drawable().holds]
    if not drawable:
        asked = f"an evaluation for epsilon={budget.epsilon:g}, delta={budget.delta:g}"
        raise BudgetImpossible(asked, "a budget that no noise meets", "pass an epsilon between 0.01 and 10")
    return sorted(drawable, key=deviation_of)


def further_noise(noise: Noise, cells: Cells) -> Noise | None:
    """Return the noise on further counts, where cells have any, beside this noise on the others."""
    return Noise(noise.law, FURTHER * noise.scale, len(cells.further) + 1) if cells.further else None


def bins(n_samples: int, classes: int, noise: Noise) -> int:
    """Return how many bins a score has, from public numbers alone: as many as accuracy can carry the noise of.

    The accuracy of two classes sums one cell a bin, that of C classes C cells a bin. Its noise then has the variance
    ``cells deviation^2``, and that may be `SHARE_OF_ROWS` of the rows.

    Examples
    --------
    >>> noise = noise_on_counts(Budget(0.5))
    >>> [bins(n_samples, 2, noise) for n_samples in (200, 10_000, 10**6)], bins(10_000, 10, noise)
    ([6, 20, 50], 2)
    """
    cells = SHARE_OF_ROWS * n_samples / deviation_of(noise) ** 2
    if classes > 2:
        return round(min(max(cells / classes, 1), MOST / 5))
    return round(min(max(cells, FEWEST), MOST))


# The true class's share has at least so many bins, and at most.
FEWEST_SHARES, MOST_SHARES = 8, 256


def bins_of_shares(n_samples: int, noise: Noise) -> int:
    """Return how many bins the share of the true class has, from public numbers alone.

    Noise takes about ``0.2 deviation sqrt(bins)`` ranks off (N4-sets), the bin in which sets of 90 % end holds about
    ``1.7/bins`` of all rows, and half of it is too much in the mean: the sum of both is smallest at
    ``(8.5 rows/deviation)^(2/3)`` bins.

    Examples
    --------
    >>> noise = noise_on_counts(Budget(1.0), further=True)
    >>> [bins_of_shares(n_samples, noise) for n_samples in (100, 5000, 10_000)]
    [10, 141, 223]
    """
    best = math.pow(8.5 * n_samples / (FURTHER * deviation_of(noise)), 2 / 3)
    return round(min(max(best, FEWEST_SHARES), MOST_SHARES))


# A target has at least so many cells, and at most: with more, coins add next to nothing to what sampling does.
FEWEST_TARGETS, MOST_TARGETS = 6, 16


def cells_of_targets(n_samples: int, noise: Noise) -> int:
    """Return how many cells a target has to which coins deal it, from public numbers alone.

    In units of half the range K cells add about ``0.09 K deviation^2/rows^2`` of noise to the variance of the estimated
    variance of a target, and coins ``4 variance/(K^2 rows)``. For a variance of 0.1 the sum of both is smallest at
    ``(9 rows/deviation^2)^(1/3)`` cells between the two outer ones.

    Examples
    --------
    >>> noise = noise_on_counts(Budget(1.0), further=True)
    >>> [cells_of_targets(n_samples, noise) for n_samples in (2000, 10_000, 10**6)]
    [6, 7, 16]
    """
    best = math.pow(9 * n_samples / (FURTHER * deviation_of(noise)) ** 2, 1 / 3) + 2
    return round(min(max(best, FEWEST_TARGETS), MOST_TARGETS))


def edges_around(centre: float, reach: float, usual: float, count: int) -> tuple[float, ...]:
    """Return the inner edges of so many bins from ``centre - reach`` to ``centre + reach``, most within the `usual`.

    They lie at ``usual sinh(u asinh(reach/usual))`` for evenly spaced u: evenly as far as `usual`, and wider and wider
    apart beyond it.

    Examples
    --------
    >>> [round(edge, 2) for edge in edges_around(0.0, 8.0, 1.0, 8)]
    [-3.95, -1.88, -0.75, 0.0, 0.75, 1.88, 3.95]
    """
    import numpy as np

    even = np.linspace(-1.0, 1.0, count + 1)[1:-1]
    edges = centre + usual * np.sinh(even * math.asinh(reach / usual)) if usual > 0.0 else np.full(1, centre)
    return tuple(sorted({float(edge) for edge in edges}))


def edges_of_margins(centre: float, reach: float, columns: int, count: int) -> tuple[float, ...]:
    """Return the inner edges of so many bins of margins, which lie within ``centre - reach`` and ``centre + reach``.

    A row that points in no direction in particular comes about as far as ``reach/sqrt(columns)``: so far edges lie
    evenly. The one nearest to 0, where decisions change, is moved there.

    Examples
    --------
    >>> [round(edge, 2) for edge in edges_of_margins(0.5, 8.0, 64, 8)]
    [-3.45, -1.38, 0.0, 0.5, 1.25, 2.38, 4.45]
    """
    edges = list(edges_around(centre, reach, reach / math.sqrt(columns), count))
    nearest = min(range(len(edges)), key=lambda place: abs(edges[place]))
    # Of a model without weights all rows have one margin, and equal edges would make empty bins, for noise.
    return tuple(sorted({*edges[:nearest], 0.0, *edges[nearest + 1 :]}))


# Of so many bins of residuals figures can still be computed while somebody waits.
MOST_RESIDUALS = 48


def bins_of_numbers(n_samples: int, noise: Noise) -> tuple[int, int]:
    """Return how many bins predictions and residuals of a regression have.

    Six times as many cells as for two classes, at most `MOST_RESIDUALS` bins of residuals. A mean of errors sums all
    of them that a row can lie in, each by its share of the largest error, which is small in most: fine bins around 0
    cost little noise, and what is finer than a bin nobody sees.

    Examples
    --------
    >>> noise = noise_on_counts(Budget(0.5))
    >>> [bins_of_numbers(n_samples, noise) for n_samples in (200, 10_000, 10**6)]
    [(2, 36), (4, 48), (6, 48)]
    """
    cells = 2 * bins(n_samples, 2, noise)
    predictions = max(2, round(math.sqrt(cells) / 1.6))
    return predictions, min(12 * (cells // predictions // 2), MOST_RESIDUALS)


def rest_of(label: Label) -> str:
    """Return the name that cells have for all classes but one."""
    return f"not {label}"


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """The public inputs from which an evaluation's certificate follows.

    `against_the_rest` says that the second of the cells' two classes is one of several of the model's, and the first
    all others. A `look` comes before the counts, and is paid for from the same budget.
    """

    terms: Terms
    budget: Budget
    release: str
    model: str
    cells: Cells
    against_the_rest: bool = False
    look: "Look | None" = None


@dataclass(frozen=True, slots=True)
class Look:
    """A first look: the share of the budget that it costs, and the cells in which it counts."""

    share: float
    cells: Cells


def spent_on(budget: Budget, share: float) -> tuple[Budget, Budget]:
    """Return a budget in two: that of a first look, a share of it, and what is left, which together are no more.

    Examples
    --------
    >>> look, rest = spent_on(Budget(0.5), 0.1)
    >>> look.epsilon, rest.epsilon
    (0.05, 0.44999999999999996)
    """
    parts = []
    for whole in (budget.epsilon, budget.delta):
        first = share * whole
        rest = whole - first
        # A rounded difference may be larger than the difference.
        while Fraction(first) + Fraction(rest) > Fraction(whole):
            rest = math.nextafter(rest, 0.0)
        parts.append((first, rest))
    (first, rest), (first_delta, rest_delta) = parts
    return Budget(first, first_delta), Budget(rest, rest_delta)


def issue_evaluation(request: EvaluationRequest) -> Certificate:
    """Return the certificate of an evaluation, from public facts alone; no delta is spent where none is needed.

    Examples
    --------
    >>> asked = EvaluationRequest(Terms(1000, 3), Budget(0.5), "id", "digest", Cells((0.25, 0.5, 0.75), (0, 1)))
    >>> issue_evaluation(asked).verify()
    ()
    """
    if request.look is not None:
        return _issue_looked(request, request.look)
    claim = _counts(request)
    checked(claim)
    return Certificate.seal(request.terms, claim, _notes(claim, request).plain())


def _counts(request: EvaluationRequest) -> Evaluation:
    """Return the claim of counts in the cells of a request, for all of its budget."""
    cells = request.cells
    one = noise_on_counts(request.budget, bool(cells.further))
    noise = Noise(one.law, one.scale, math.prod(cells.shape))
    budget = request.budget if one.law == "gaussian" else Budget(request.budget.epsilon)
    about = request.terms.n_samples, request.release, request.model
    return Evaluation(budget, *about, cells, noise, further_noise=further_noise(one, cells))


def _issue_looked(request: EvaluationRequest, look: Look) -> Certificate:
    """Return the one certificate of a first look and of counts in bins that follow from it (N3)."""
    first, rest = spent_on(request.budget, look.share)
    before = _counts(replace(request, budget=first, cells=look.cells))
    after = _counts(replace(request, budget=rest))
    budget = request.budget if before.budget.delta + after.budget.delta else Budget(request.budget.epsilon)
    claim = Looked(budget, request.terms.n_samples, (before, after))
    checked(claim)
    notes = _notes(after, request)
    seen = (
        f"- a first look, for epsilon {first.epsilon:.6g} of {request.budget.epsilon:.6g}, counts the same rows in "
        f"{before.noise.dimension} cells with {before.law} noise of scale {before.scale:.6g}",
        "- from these noisy counts a public rule says where bins are: the counts below have others than were planned, "
        "perhaps fewer, and the noise that was planned; both together are within the budget (N3)",
    )
    (title, steps), *others = notes.sections
    caveats = tuple(dict.fromkeys((*notes.caveats, *caveats_of(request.terms, claim))))
    noted = replace(notes, sections=((title, (*seen, *steps)), *others), caveats=caveats)
    return Certificate.seal(request.terms, claim, noted.plain())


def _notes(claim: Evaluation, request: EvaluationRequest) -> Notes:
    terms = request.terms
    released = (
        f"Released: how many of the rows lie in each of {claim.noise.dimension} public cells, with noise, "
        f"about release {claim.release or 'without an id'}."
    )
    steps = (
        f"- a cell is {_cell(claim, request.against_the_rest)}; one replaced row leaves a cell and enters another",
        f"- so counts move by 2 in L1 and by sqrt 2 in L2, and {claim.law} noise of scale {claim.scale:.6g} on every "
        f"one of them hides that (N4); its standard deviation is {deviation_of(claim.noise):.6g} rows",
        *further_words(claim),
        *_bins_words(claim.cells.bins_from),
        "- every figure is computed from these counts: none costs anything more",
    )
    caveats = (*_decided(claim, request.against_the_rest), *caveats_of(terms, claim))
    return Notes(claim=(released,), sections=(("How", steps),), caveats=caveats)


def _decided(claim: Evaluation, against_the_rest: bool) -> tuple[str, ...]:
    if not against_the_rest:
        return ()
    label = claim.cells.labels[1]
    return (
        f"counted is {label} against all other classes: figures of decisions are those of saying {label} where its "
        "share is above a half, and not of the class with the largest share, which the model predicts",
    )


def _bins_words(bins_from: str | None) -> tuple[str, ...]:
    if not bins_from:
        return ()
    return (
        f"- edges of bins follow from the counts of evaluation {bins_from}, by a public rule; what that one cost is "
        "not in this certificate, and adds to it where both are about the same rows (N3)",
    )


def further_words(claim: Evaluation) -> tuple[str, ...]:
    """Return what is said of further counts, where a claim has such."""
    if claim.further_noise is None:
        return ()
    cells = "bins of the share that the model gives their true class, for prediction sets"
    if claim.cells.targets:
        cells = "cells of the target, to which coins deal it, for R2"
    return (
        f"- rows are counted once more in {claim.further_noise.dimension} {cells}; noise of scale "
        f"{claim.further_noise.scale:.6g} hides that, and both together are within the budget (N4)",
    )


def _cell(claim: Evaluation, against_the_rest: bool) -> str:
    if against_the_rest:
        label = claim.cells.labels[1]
        return f"whether the true class is {label}, and a bin of the share that the model gives {label}"
    if claim.cells.labels:
        return "a true class and a bin of what the model says"
    return "a bin of predictions and one of residuals"
