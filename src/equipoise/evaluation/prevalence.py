"""`equipoise.private_prevalence`: how common each class is in private rows, bought for a part of epsilon."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.certify.certificate import Certificate, Terms
from equipoise.certify.claims.evaluation import Evaluation
from equipoise.data.encoded import encoded_table
from equipoise.data.joined import raw_table
from equipoise.data.schema import Schema
from equipoise.data.seeded import domain_for, marked
from equipoise.data.tables import require_labels, target_column
from equipoise.data.unread import Unread
from equipoise.errors import InvalidData, InvalidParameter, LedgerRefused, NoTheoremApplies, ReleaseUnreadable
from equipoise.estimators.base import dataset_of
from equipoise.noise import noise_source
from equipoise.planning.laws import deviation_of
from equipoise.planning.prevalence import counts_of, issue_prevalence, shares_of
from equipoise.release import release
from equipoise.vocabulary.facts import Budget, Domain, Label
from equipoise.vocabulary.numbers import require_count
from equipoise.wording import of_type

Array = NDArray[np.float64]

ASKED = "the prevalence of declared classes"
DECLARE = "pass n_samples=..., the public number of rows"


@dataclass(frozen=True, slots=True, eq=False)
class Prevalence:
    """How common each class is, as it was bought: noisy counts, their certificate, and what follows from them.

    Parameters
    ----------
    certificate : Certificate
        It holds the counts, the classes and the noise.
    facts : Domain or Schema
        What was declared of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> domain = eq.Domain(row_norm=1.0, classes=("no", "yes"))
    >>> found = eq.private_prevalence(["no"] * 4700 + ["yes"] * 300, domain, epsilon=0.1, random_state=0)
    >>> found.classes, [round(share, 2) for share in found.shares], found.domain.prevalence == found.shares
    (('no', 'yes'), [0.94, 0.06], True)
    """

    certificate: Certificate
    facts: Domain | Schema

    @property
    def claim(self) -> Evaluation:
        """What was claimed and released."""
        claim = self.certificate.claim
        if not isinstance(claim, Evaluation) or claim.released is None or claim.cells.edges:
            remedy = "pass what private_prevalence returned"
            raise ReleaseUnreadable("the certificate of counts by class", f"one of {self.certificate.kind!r}", remedy)
        return claim

    @property
    def classes(self) -> tuple[Label, ...]:
        """The declared classes."""
        return self.claim.cells.labels

    @property
    def counts(self) -> tuple[int, ...]:
        """The noisy count of each class, as it was released; one may be below 0."""
        return tuple(counts_of(self.claim))

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on a count, as a share of the rows."""
        return deviation_of(self.claim.noise) / self.certificate.terms.n_samples

    @property
    def shares(self) -> tuple[float, ...]:
        """How common each class is, in their order; `domain` declares them, and remembers whether they are seeded."""
        return shares_of(self.claim)

    @property
    def domain(self) -> Domain | Schema:
        """The same domain or schema, which declares these shares; where they are seeded, no release takes it."""
        seeded = self.certificate.terms.seeded
        if isinstance(self.facts, Schema):
            target = replace(self.facts.target, prevalence=self.shares)
            return replace(self.facts, target=target, seeded=self.facts.seeded or seeded)
        found = replace(self.facts, prevalence=self.shares)
        return marked(found) if seeded else found


def private_prevalence(
    y: Any,
    domain: Domain | Schema,
    *,
    epsilon: float,
    delta: float = 0.0,
    ledger: str | None = None,
    n_samples: int | None = None,
    random_state: int | None = None,
) -> Prevalence:
    """Buy how common each class is: a noisy count of the rows of each, to declare in a domain or a schema (N4, N3).

    Each count has exact noise, Laplace of scale ``2/epsilon`` without delta; one replaced row moves two of them by 1.
    The spend is recorded first, and values never raise: an unknown label counts as the first class. What follows from
    the counts is free, and so is a plan made for it. A model of the same rows is a spend of its own.

    Parameters
    ----------
    y : array or table
        The labels, one a row; with a schema the raw table, or a file opened by `equipoise.open_table`, of which the
        target column is counted.
    domain : Domain or Schema
        It declares the classes; a prevalence that it declares is replaced. Bounds of a schema's columns may be blank,
        or be paid for later: they have no part in what is counted.
    epsilon, delta : float
        What the counts may cost. A twentieth of what the model has is plenty for some thousand rows (docs/alpha.md).
    ledger : str, optional
        The URL or name of the ledger that must admit the spend before a row is read.
    n_samples : int, optional
        The declared number of rows, where the schema does not have it. Where a ledger is bound it never comes from the
        data.
    random_state : int, optional
        None draws from the operating system. A seed makes the counts repeatable and unfit for release, and so are
        plans for them: only seeded fits take `found.domain`.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> generator = np.random.default_rng(0)
    >>> X, y = generator.uniform(-0.5, 0.5, (5000, 3)), (generator.random(5000) < 0.06).astype(int)
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> with eq.account(epsilon=1.0, currency="basic") as account:
    ...     found = eq.private_prevalence(y, domain, epsilon=0.05)
    ...     model = eq.LogisticRegression(epsilon=0.95, domain=found.domain).fit(X, y)
    >>> len(account.releases), found.certificate.verify(), model.domain.prevalence == found.shares
    (2, (), True)
    """
    source = noise_source(random_state)
    facts = domain_for(_declared(domain), source.seeded)
    classes = facts.classes
    if not isinstance(classes, tuple) or len(classes) < 2:
        found = "a range of numbers" if facts.labels is not None else "none that are declared"
        raise InvalidParameter(ASKED, found, "declare two classes or more: counts of others would name private labels")
    if facts.unit == "person":
        raise NoTheoremApplies(
            "a prevalence that covers all rows of a person",
            "no proof: a person with several rows moves several counts (N4)",
            "leave persons out if nobody has two rows, or declare a prevalence that is published",
        )
    schema = domain if isinstance(domain, Schema) else None
    declared = n_samples if n_samples is not None or schema is None else schema.n_samples
    if ledger is not None and declared is None:
        raise LedgerRefused(
            "a declared number of rows, since a ledger is bound",
            "counts that would take n from the data",
            DECLARE,
        )
    rows, target = _labels(y, classes, declared) if schema is None else _column(y, schema, declared)
    terms = Terms(
        rows.shape[0],
        rows.shape[1],
        seeded=source.seeded,
        ledger=dataset_of(ledger),
        schema="" if schema is None else schema.digest,
        vouched="" if schema is None else f"{schema.vouched_by} ({schema.vouched_on})",
    )
    certificate = issue_prevalence(terms, Budget(epsilon, delta), classes)
    released = release(certificate, rows, target, source, ledger, scoring=_Silent(len(classes)))
    return Prevalence(released.certificate, domain)


@dataclass(frozen=True, slots=True)
class _Silent:
    """A model that says the same of every row, of so many classes: rows are told apart by their class alone."""

    classes: int

    def scores(self, rows: Any) -> Array:
        """Return zeros, a column an output."""
        return np.zeros((rows.shape[0], 1 if self.classes == 2 else self.classes))

    def groups(self, rows: Any) -> NDArray[np.int64]:
        """Return one group."""
        return np.zeros(rows.shape[0], dtype=np.int64)

    def after(self, looked: Evaluation) -> Any:
        """Refuse: where all scores are alike there is nothing to look for."""
        raise NotImplementedError


def require_counted(schema: Schema, ignoring: tuple[str, ...] = ()) -> None:
    """Refuse a schema with blanks; bounds may be blank, since only classes are counted."""
    bounds = tuple(blank for blank in schema.blanks() if blank.endswith(".bounds"))
    schema.require_complete(ignoring=(*ignoring, *bounds))


def _declared(domain: Any) -> Domain:
    """Return the domain that declares the classes."""
    if isinstance(domain, Schema):
        require_counted(domain, ignoring=("n",))
        return domain.domain
    if not isinstance(domain, Domain):
        found = of_type(domain)
        raise InvalidParameter(ASKED, found, "pass a Domain(..., classes=(0, 1)), or a Schema whose target has classes")
    return domain


def _labels(y: Any, classes: tuple[Label, ...], n_samples: int | None) -> tuple[Unread, Unread]:
    """Return rows of which nothing is read but the label, and the labels, unread; what their type tells is told now."""
    target = target_column(y, None)
    count = target.shape[0] if n_samples is None else require_count("n_samples", n_samples, DECLARE)
    if target.shape[0] != count:
        raise InvalidData(f"the declared {count} rows", f"{target.shape[0]} labels", DECLARE)
    require_labels(target, classes)
    return Unread((count, 1), True, lambda: np.zeros((count, 1))), target


def _column(table: Any, schema: Schema, n_samples: int | None) -> tuple[Unread, Unread]:
    """Return the rows of a raw table and its target column, unread, as many as are declared."""
    raw = raw_table(table, schema.target.name)
    count = require_count("n_samples", raw.n_samples if n_samples is None else n_samples, DECLARE)
    # A row is read whole, and any bounds make it complete: no count depends on them.
    complete = schema.with_bounds(dict.fromkeys(schema.unbounded, (-1.0, 1.0)))
    encoded = encoded_table(complete, raw, count)
    return encoded.features, encoded.target
