"""What a ledger answers: the balance of a dataset, where its history ends, and what became of its spends."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Claim
from equipoise.certify.claims.evaluation import HeldOut
from equipoise.certify.folder import CERTIFICATE, MODEL, manifest_of
from equipoise.certify.record import canonical
from equipoise.errors import Overdraft
from equipoise.ledger import records
from equipoise.ledger.chain import Entry
from equipoise.ledger.currencies import Amount, Currency
from equipoise.ledger.currencies.base import NOTHING, shown, text_of
from equipoise.ledger.names import is_about
from equipoise.ledger.walk import Walk
from equipoise.vocabulary.facts import Budget


@dataclass(frozen=True, slots=True)
class Balance:
    """What a dataset's budget is, and what remains of it.

    The promise about all releases together is `limit`, from the first of them on. `epsilon_left` and `delta_left` are
    exact in the basic currency. In any other they are the budget less what the spends so far are worth at the budget's
    delta, a reading for people; what decides about a spend is `left`, in the currency.

    Examples
    --------
    >>> Balance(Budget(1.0), Decimal("0.9"), Decimal(0)).epsilon_left
    Decimal('0.9')
    """

    limit: Budget
    epsilon_left: Decimal
    delta_left: Decimal
    currency: str = "basic"
    allowed: Amount = NOTHING
    spent: Amount = NOTHING

    @property
    def left(self) -> Amount:
        """What remains in the currency."""
        return self.allowed - self.spent


def balance_after(walk: Walk) -> Balance:
    """Return what remains after a history that holds together."""
    if walk.budget is None:
        raise ValueError("a history without a budget")
    left = walk.limit - walk.spent
    if walk.currency.name != "basic":
        left = _left_as_people_read_it(walk, walk.budget)
    return Balance(walk.budget, left.amount, left.delta, walk.currency.name, walk.limit, walk.spent)


def _left_as_people_read_it(walk: Walk, budget: Budget) -> Amount:
    """Return the budget less what was spent, both as (epsilon, delta) at the budget's delta."""
    worth = walk.currency.worth(walk.spent, budget)
    whole = Amount(Decimal(repr(budget.epsilon)), Decimal(repr(budget.delta)))
    left = whole - Amount(Decimal(repr(worth.epsilon)), Decimal(0))
    if walk.spent.amount == walk.limit.amount:
        return Amount(Decimal(0), whole.delta)  # and not what rounding leaves
    # The whole delta belongs to the epsilon that is read at it.
    return Amount(max(left.amount, Decimal(0)), whole.delta)


def dear_counts(claim: Claim, currency: Currency) -> str:
    """Return what to do where counts of held-out rows cost twice what the training on the others does; else nothing.

    Examples
    --------
    >>> import equipoise as eq
    >>> from equipoise.evaluation.held_out import plan_held_out
    >>> from equipoise.ledger.currencies import currency_named
    >>> model = eq.LogisticRegression(1.0, 1e-6, mechanism="gaussian", domain=eq.Domain(1.0, classes=(0, 1)))
    >>> pair = plan_held_out(model, n_samples=1000, n_features=3).claim
    >>> dear_counts(pair, currency_named("basic")), dear_counts(pair, currency_named("gaussian"))[:66]
    ('', 'hold nothing out: counts of held-out rows are what costs this much')
    """
    if not isinstance(claim, HeldOut):
        return ""
    counts, training = (currency.price(part).amount for part in claim.of)
    if counts < 2 * training:
        return ""
    alone = f"counts of held-out rows are what costs this much, and the training alone {float(training):.6g}"
    return f"hold nothing out: {alone}; or "


def overdraft(dataset: str, walk: Walk, cost: Amount, certificate: Certificate) -> Overdraft:
    """Return the error of a spend that costs more than a dataset has left."""
    left, limit = walk.limit - walk.spent, balance_after(walk).limit
    asked = f"to spend epsilon={certificate.epsilon!r}, delta={certificate.delta!r} of {dataset!r}"
    found = f"epsilon={shown(left.amount)}, delta={shown(left.delta)} remaining of {limit.epsilon:g}, {limit.delta:g}"
    if walk.currency.name != "basic":
        asked = f"{asked}, which costs {text_of(cost.amount)} and delta {text_of(cost.delta)} in {walk.currency.name}"
        found = f"{shown(left.amount)} and delta {shown(left.delta)} remaining"
        found = f"{found} of {text_of(walk.limit.amount)} and {text_of(walk.limit.delta)}"
    remedy = "lower epsilon and delta to what remains, or stop: nothing was read and nothing was spent"
    remedy = f"{dear_counts(certificate.claim, walk.currency)}{remedy}"
    return Overdraft(asked, found, remedy)


@dataclass(frozen=True, slots=True)
class Head:
    """Where a history ends: its last entry, and what was spent by then in the ledger's currency."""

    dataset: str
    number: int
    digest: str
    currency: str
    spent: Amount
    made: str


@dataclass(frozen=True, slots=True)
class Paid:
    """A spend and what became of it.

    Attributes
    ----------
    entry : Entry
        The spend.
    release : str
        The id of the release that it pays for; empty in entries of versions 0.1.0 and 0.2.0.
    outcome : str
        "released", "failed", or "unknown" where none was recorded: a process that died, or a ledger that did not
        answer a second time.
    certificate : str
        The digest of the certificate that was released (`claim_digest`); empty unless it is known.
    files : str
        The digest of the files that hold what was released (`files_digest`); empty unless it is known.
    """

    entry: Entry
    release: str
    outcome: str = "unknown"
    certificate: str = ""
    files: str = ""


def paid_by(entries: Iterable[Entry]) -> tuple[Paid, ...]:
    """Return the spends of a history in their order, each with what became of it; a second outcome is ignored."""
    found: dict[object, Paid] = {}
    for entry in entries:
        if entry.kind == "spend":
            found[entry.number] = Paid(entry, _release_of(entry))
        elif entry.kind == "outcome":
            number, outcome, files = outcome_of(entry)
            if number in found and found[number].outcome == "unknown":
                paid = found[number]
                found[number] = replace(paid, outcome=outcome, certificate=entry.certificate, files=files)
    return tuple(found.values())


def outcome_of(entry: Entry) -> tuple[object, str, str]:
    """Return the number of the spend that an entry is the outcome of, the outcome, and the digest of files, if any.

    None and "unknown" where it is no outcome.
    """
    try:
        record = records.read_outcome(entry.record)
        if isinstance(record["of"], int):
            return record["of"], str(record["outcome"]), record.get(records.FILES, "")
    except ValueError:
        pass
    return None, "unknown", ""


def _release_of(entry: Entry) -> str:
    try:
        return str(records.read_spend(entry.record)[0]["release"])
    except ValueError:
        return ""


def claim_digest(certificate: Certificate) -> str:
    """Return the digest of a released certificate, its release included and its notes left out: what an outcome names.

    Examples
    --------
    >>> import equipoise as eq
    >>> plan = eq.Ridge(epsilon=2.0, domain=eq.Domain(1.0, labels=(0, 1))).plan(5000, 4)
    >>> len(claim_digest(plan)), claim_digest(plan) == claim_digest(replace(plan, notes={}))
    (64, True)
    """
    return hashlib.sha256(canonical(replace(certificate, notes={})).encode()).hexdigest()


def files_digest(files: Mapping[str, bytes]) -> str:
    """Return the digest of the files that hold a release: certificate.json, notes included, and model.json, if any.

    It is the SHA-256 of their lines in MANIFEST.sha256.

    Examples
    --------
    >>> files_digest({"certificate.json": b"{}", "model.json": b"{}", "report.html": b""})[:12]
    'ba783dbeed22'
    """
    own = {name: files[name] for name in (CERTIFICATE, MODEL) if name in files}
    return hashlib.sha256(manifest_of(own).encode()).hexdigest()


def claim_faults(certificate: Certificate, paid: Paid | None, files: str = "") -> tuple[str, ...]:
    """Return one line for every reason why a released certificate cannot claim the entry that it names.

    So it is with the files that hold it, if their digest is given (`files_digest`) and the entry's outcome names one.
    """
    release = certificate.release
    if release is None or release.entry is None:
        return ("the certificate names no entry of a ledger",)
    if paid is None or paid.entry.place != release.entry:
        return (f"the ledger has no spend {release.entry:.80}",)
    number, found = paid.entry.number, []
    if paid.entry.certificate != certificate.planned_digest:
        found.append(f"entry {number} paid for another plan")
    if not is_about(certificate.terms.ledger, paid.entry.dataset):
        planned = f"the certificate was planned for {certificate.terms.ledger!r:.80}"
        found.append(f"entry {number} is of {paid.entry.dataset!r:.80}, and {planned}")
    if paid.release and paid.release != release.id:
        found.append(f"entry {number} paid for the release {paid.release:.40}, and this is {release.id:.40}")
    if paid.outcome == "unknown":
        found.append(f"entry {number} has no outcome: nobody can tell whether this is the one release it paid for")
    elif paid.outcome != "released" or paid.certificate != claim_digest(certificate):
        found.append(f"entry {number} ended otherwise: {paid.outcome}, and not with this certificate")
    elif files and paid.files and files != paid.files:
        found.append(f"entry {number} paid for another {CERTIFICATE} or {MODEL} than these")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Point:
    """How much of a budget was spent after a spend: the larger of its two shares, of the amount and of delta."""

    made: str
    share: float


def course(entries: Iterable[Entry]) -> tuple[Point, ...]:
    """Return how the spends of a history that holds together used its budget up, a point for every spend.

    Examples
    --------
    >>> from equipoise.ledger.chain import following
    >>> budget = following((), "trial", "budget", Budget(1.0))
    >>> [point.share for point in course([budget, following([budget], "trial", "spend", Budget(0.25))])]
    [0.25]
    """
    walk, points = Walk(), []
    for entry in entries:
        list(walk.take(entry))
        if entry.kind == "spend":
            pairs = ((walk.spent.amount, walk.limit.amount), (walk.spent.delta, walk.limit.delta))
            points.append(Point(entry.made, max(float(spent) / float(limit) for spent, limit in pairs if limit)))
    return tuple(points)


def basic_sums(entries: Iterable[Entry]) -> Amount:
    """Return what basic composition would say of all spends: the sums of their epsilons and of their deltas."""
    total = NOTHING
    for entry in entries:
        if entry.kind == "spend":
            total += Amount(Decimal(entry.epsilon), Decimal(entry.delta))
    return total
