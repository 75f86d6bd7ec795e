"""How common each class is, bought: the plan of noisy counts of rows by class, and the shares that follow (N4, N3).

It is the evaluation of a model that says the same of every row: a row's cell is its class alone. One replaced row moves
two counts by 1 each, whatever the number of classes.
"""

import math
from collections.abc import Sequence

from equipoise.certify.certificate import Certificate, Terms
from equipoise.certify.claims import Noise
from equipoise.certify.claims.evaluation import MOST_CELLS, Cells, Evaluation
from equipoise.errors import InvalidParameter
from equipoise.planning.evaluation import noise_on_counts
from equipoise.planning.issue import checked
from equipoise.planning.laws import deviation_of
from equipoise.planning.notes import Notes, caveats_of
from equipoise.planning.words import number
from equipoise.vocabulary.facts import Budget, Label

# A count whose noise has a deviation of more than this share of the rows tells no share: a plan for it would be a plan
# for noise. A rule about accuracy: no claim depends on it.
LOUDEST = 0.05

# So many digits of a share are kept: what is beyond them is noise, and the numbers stand in schemas.
DIGITS = 4


def cells_of(classes: tuple[Label, ...]) -> Cells:
    """Return the cells of rows by class.

    Of several classes a claim has a cell for every class that could be said of a row; only the first ever is.

    Examples
    --------
    >>> cells_of(("no", "yes")).shape, cells_of((0, 1, 2)).shape
    ((1, 2, 1), (1, 3, 3))
    """
    return Cells((), classes)


def issue_prevalence(terms: Terms, budget: Budget, classes: tuple[Label, ...]) -> Certificate:
    """Return the certificate of counts by class, from public facts alone; no delta is spent where none is needed.

    Examples
    --------
    >>> found = issue_prevalence(Terms(1000, 1), Budget(0.1), ("no", "yes"))
    >>> found.verify(), found.kind, round(found.claim.scale, 9)
    ((), 'evaluation', 20.0)
    >>> issue_prevalence(Terms(300, 1), Budget(0.1), ("no", "yes"))
    Traceback (most recent call last):
    ...
    equipoise.errors.InvalidParameter: asked: the prevalence of classes for epsilon=0.1; found: noise with a deviation \
of 28.3 rows, of 300: too much for a share to be told; to do: spend at least epsilon 0.19, declare a prevalence that \
is published, or none
    """
    one = noise_on_counts(budget)
    cells = cells_of(classes)
    count, deviation = math.prod(cells.shape), deviation_of(one)
    asked = f"the prevalence of classes for epsilon={budget.epsilon:g}"
    if count > MOST_CELLS:
        raise InvalidParameter(asked, f"{len(classes)} classes, too many", "declare fewer classes")
    if deviation > LOUDEST * terms.n_samples:
        enough = math.ceil(100 * budget.epsilon * deviation / (LOUDEST * terms.n_samples)) / 100
        raise InvalidParameter(
            asked,
            f"noise with a deviation of {deviation:.3g} rows, of {terms.n_samples}: too much for a share to be told",
            f"spend at least epsilon {enough:g}, declare a prevalence that is published, or none",
        )
    spent = budget if one.law == "gaussian" else Budget(budget.epsilon)
    claim = Evaluation(spent, terms.n_samples, "", "", cells, Noise(one.law, one.scale, count))
    checked(claim)
    return Certificate.seal(terms, claim, _notes(terms, claim).plain())


def shares_of(claim: Evaluation) -> tuple[float, ...]:
    """Return how common each class is, from what was released alone: counts, none below a deviation of their noise.

    A class whose count drowns is thereby taken to be as common as the noise is large, and never to be impossible.

    Examples
    --------
    >>> from dataclasses import replace
    >>> planned = issue_prevalence(Terms(1000, 1), Budget(1.0), ("no", "yes")).claim
    >>> shares_of(replace(planned, released=(939, 62))), shares_of(replace(planned, released=(1003, -2)))
    ((0.9381, 0.0619), (0.9972, 0.0028))
    """
    counts = [max(float(count), deviation_of(claim.noise)) for count in counts_of(claim)]
    shares = [round(count / math.fsum(counts), DIGITS) for count in counts]
    return tuple(max(share, 10.0**-DIGITS) for share in shares)


def counts_of(claim: Evaluation) -> Sequence[int]:
    """Return the noisy count of each class: the cell of the first class that could be said of a row."""
    outputs = claim.cells.shape[2]
    return () if claim.released is None else claim.released[::outputs]


def _notes(terms: Terms, claim: Evaluation) -> Notes:
    labels = ", ".join(str(label)[:40] for label in claim.cells.labels[:20])
    return Notes(
        claim=(f"Released: how many of the rows have each of {len(claim.cells.labels)} public classes, with noise.",),
        sections=(
            (
                "How",
                (
                    f"- a cell is a class ({labels}); a row of no class counts as the first; one replaced row leaves a "
                    "cell and enters another",
                    f"- so counts move by 2 in L1 and by sqrt 2 in L2, and {claim.law} noise of scale "
                    f"{number(claim.scale)} on each of them hides that (N4); its standard deviation is "
                    f"{number(deviation_of(claim.noise))} rows",
                    "- shares follow from these counts alone, so that they are as public as the certificate is: a "
                    "domain or a schema may declare them, and plans made for them cost nothing more (N3). A model of "
                    "the same rows has a certificate and a spend of its own: what both cost adds up",
                ),
            ),
        ),
        caveats=caveats_of(terms, claim),
    )
