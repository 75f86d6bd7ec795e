"""From a request to a certificate: search for a claim, hand it to `certify`, and seal what holds."""

from dataclasses import replace
from typing import Any

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Claim, Trained
from equipoise.certify.claims.compositions import PostProcessing, Sequence
from equipoise.errors import InvalidParameter, NoTheoremApplies
from equipoise.planning.arithmetic import within_doubles
from equipoise.planning.kinds import Plan, work_of_all
from equipoise.planning.kinds.chosen_bounds import bounds_section, chosen_bounds
from equipoise.planning.menu import Choice, choose
from equipoise.planning.notes import Notes, notes_of
from equipoise.planning.request import Request
from equipoise.planning.tilts import quietest_tilt
from equipoise.planning.work import remembered, require_work

SELECTION = (
    "This fit is one spend; selecting the columns whose released weight is beyond the public threshold {rule} is free "
    "(F3). A private step trained on them afterwards reads the same rows again: another spend, not covered here."
)

# What a request records, but no plan depends on: repeated runs need not be planned anew.
_NO_SAY: Any = {
    "public_seed": 0,
    "seeded": False,
    "ledger": None,
    "vouched": "",
    "selection": "",
    "row_norms": None,
    "remarks": (),
}


@remembered(most=1024)
def _chosen(request: Request) -> tuple[Plan, tuple[Choice, ...]]:
    """Return the plan, whose claim was checked: a search may be wrong, a certificate may not."""
    plan, menu = choose(request)
    checked(plan.claim)
    return plan, menu


def checked(claim: Claim) -> None:
    """Refuse a claim that does not follow: a search may be wrong, a certificate may not."""
    if faults := claim.check():
        remedy = "report this: the search found a false claim"
        raise NoTheoremApplies("a claim that holds", "; ".join(faults[:3]), remedy)


def ends(claim: Claim, remedy: str) -> None:
    """Refuse a claim whose parts, all together, may be more work than the limit."""
    trainings = sum(isinstance(part, Trained) for part in claim.nodes())
    found = f"{trainings} trainings" if trainings > 1 else "all parts of a training"
    require_work(work_of_all(claim), found, remedy)


def forget() -> None:
    """Forget every plan that was made: for tests that change what follows."""
    quietest_tilt.cache_clear()
    _chosen.cache_clear()
    issue.cache_clear()


@remembered(most=1024)
def issue(request: Request) -> Certificate:
    """Return the certificate of a request, from public facts alone; nothing about it depends on a row.

    Examples
    --------
    >>> from equipoise.vocabulary.facts import Budget, Domain
    >>> certificate = issue(Request("logistic", "l2", 0.1, Domain(1.0, classes=(0, 1)), 0.0, 1000, 3, Budget(1.0)))
    >>> certificate.theorem, certificate.mechanism, certificate.grade
    ('A2+A4', 'spherical-laplace', 'proved')
    """
    with within_doubles():
        plan, menu = _chosen(replace(request.for_the_model(), **_NO_SAY))
        notes = notes_of(request, plan, menu)
    claim: Claim = plan.claim
    if request.private_bounds is not None:
        bounds = chosen_bounds(request.private_bounds, request.n_samples)
        claim = Sequence(request.budget, request.n_samples, (bounds, claim))
        notes = replace(notes, sections=(bounds_section(bounds, plan.claim.budget), *notes.sections))
    if request.selection:
        claim = PostProcessing(request.budget, request.n_samples, (claim,), request.selection)
        told = ("Selection of columns", (SELECTION.format(rule=request.selection),))
        notes = replace(notes, sections=(*notes.sections, told))
    ends(claim, "train on fewer rows, raise alpha, or choose a loss that is less sharp")
    return Certificate.seal(request.terms(), claim, notes.plain())


def asked_for(certificate: Certificate) -> Request:
    """Return what a certificate answers, as its planner noted it; plans around it are made from that.

    Examples
    --------
    >>> import equipoise as eq
    >>> plan = eq.Ridge(domain=eq.Domain(1.0, labels=(0.0, 1.0)), mechanism="output").plan(100, 2)
    >>> asked_for(plan).alpha
    'public'
    """
    asked = Notes.of(certificate).asked
    if asked is None:
        found = f"a certificate of kind {certificate.kind!r} that notes none"
        raise InvalidParameter("a certificate that notes what was asked for", found, "plan again with an estimator")
    return asked
