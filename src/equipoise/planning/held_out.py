"""Rows that are held out from a training to evaluate it: the plan of both, from public facts alone (N3, N4)."""

import math
from dataclasses import replace

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Noise
from equipoise.certify.claims.evaluation import Cells, Evaluation, HeldOut
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


def rows_held_out(share: float, n_samples: int) -> int:
    """Return how many rows a share is, at least one, with at least one left to train on.

    Examples
    --------
    >>> rows_held_out(0.2, 1001), rows_held_out(0.001, 10)
    (200, 1)
    """
    remedy = "pass 0.2, a share of the rows"
    number = require_number("holdout", plain(share), above=0.0, remedy=remedy)
    if number >= 1:
        raise InvalidParameter("a share of the rows to hold out, below 1", f"holdout={share!r}", remedy)
    if n_samples < 2:
        raise InvalidParameter("rows to train on and rows to hold out", f"{n_samples} row", "hold nothing out")
    return min(max(1, round(number * n_samples)), n_samples - 1)


@remembered(most=1024)
def issue_held_out(training: Request, rows: int, cells: Cells) -> Certificate:
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

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Domain
    >>> asked = Request("logistic", "l2", 0.1, Domain(1.0, classes=(0, 1)), 0.0, 800, 3, Budget(1.0))
    >>> certificate = issue_held_out(asked, 200, Cells((0.25, 0.5, 0.75), (0, 1)))
    >>> certificate.n_samples, certificate.epsilon, certificate.verify()
    (1000, 1.0, ())
    """
    made, one = issue(training), noise_on_counts(training.budget, bool(cells.further))
    budget = training.budget if one.law == "gaussian" else Budget(training.budget.epsilon)
    noise = Noise(one.law, one.scale, math.prod(cells.shape))
    counts = Evaluation(budget, rows, "", "", cells, noise, further_noise=further_noise(one, cells))
    claim = HeldOut(training.budget, training.n_samples + rows, (counts, made.claim))
    checked(claim)
    terms, notes = replace(made.terms, n_samples=claim.n_samples), Notes.of(made)
    released = f"Released: how many of {rows} rows that were held out from it lie in each public cell, with noise."
    noted = replace(
        notes,
        claim=(*notes.claim, released),
        sections=(_dealt(training.n_samples, counts, training.public_seed), *notes.sections),
        caveats=caveats_of(terms, claim),
    )
    return Certificate.seal(terms, claim, noted.plain())


def _dealt(trained: int, counts: Evaluation, public_seed: int) -> Section:
    return "Which rows?", (
        f"- of {trained + counts.n_samples} places, counted before anything is left out, {counts.n_samples} are held "
        f"out by a public permutation (public seed {public_seed}); the training reads the other {trained} alone",
        "- a replaced row lies in one of the two parts, so that both together cost what the dearer one does (N3)",
        f"- held-out rows are counted by what the released model says of them, with {counts.law} noise of scale "
        f"{counts.scale:.6g} on every count, a standard deviation of {deviation_of(counts.noise):.6g} rows (N4)",
        *further_words(counts),
    )
