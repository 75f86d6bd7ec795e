"""An account without a database: `with eq.account(epsilon=3.0, delta=1e-6):` counts until the block ends.

A certificate speaks of one release. Inside of a block the door asks here before a row is read, and all releases stay
within the account's budget together, by the filter of its currency (N5): each decision rests on what was spent before,
so budgets may be chosen along the way. docs/account.md says what is counted, refused, and covered by no count.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from equipoise.certify.certificate import Certificate
from equipoise.errors import FitNotCounted, InvalidParameter, LedgerRefused, ScoresNotCovered
from equipoise.release.account_book import VARIABLE, Allowance, Book, CountedRelease, amount_of
from equipoise.release.callers import doubtful_rows, looking, warn_the_user
from equipoise.vocabulary.facts import Budget

if TYPE_CHECKING:
    from equipoise.ledger.currencies import Amount

_SECOND_RELEASE = (
    "this process makes a second private release, a fit or an evaluation, that neither a ledger nor an account counts: "
    "each certificate speaks of its own release alone, and what they tell about a person adds up. Write `with "
    "eq.account(epsilon=..., delta=...):` around them, or pass ledger=... (docs/account.md)"
)
_SCORES = (
    "the account counts the fits that scikit-learn makes here, and nothing else: scores on these rows (best_score_, "
    "cv_results_, what cross_val_score returns), a choice by them and a calibration are functions of private rows that "
    "no noise covers, so keep them to yourself. eq.PrivateGridSearch pays for a choice; scores on public rows are free "
    "(docs/account.md)"
)

# How many releases of this process nobody counts.
_uncounted = itertools.count(1)

# Threads that were started inside of an account's block and outlived it: their fits were to be counted.
_outlived: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def account(epsilon: float, delta: float = 0.0, *, currency: str | None = None) -> Account:
    """Return an account for a block: every private fit inside is counted before it reads a row, or refused.

    It counts for the whole process: every thread, and worker processes too. All releases of the block together are
    private with the account's epsilon and delta.

    Parameters
    ----------
    epsilon, delta : float
        What all fits together may spend.
    currency : str, optional
        How spends add up, as in a ledger. Left out, the one that a ledger of this budget would have.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.linspace(-1, 1, 5000)[:, None]
    >>> ridge = eq.Ridge(epsilon=1.0, domain=eq.Domain(row_norm=1.0, labels=(-1.0, 1.0)))
    >>> with eq.account(epsilon=1.5, currency="basic") as account:
    ...     fitted = ridge.fit(X, X[:, 0])
    ...     account.left.epsilon
    0.5
    >>> account.spent.epsilon, [(release.kind, release.n_samples) for release in account.releases]
    (1.0, [('objective', 5000)])
    """
    from equipoise.ledger.currencies import currency_named, default_for

    budget = Budget(epsilon, delta)
    chosen = default_for(budget).name if currency is None else currency
    currency_named(chosen).limit(budget)  # refuses what the currency cannot keep
    return Account(Allowance(budget, chosen))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an account's budget: its amount in the currency, and what that is as (epsilon, delta)."""

    epsilon: float
    delta: float
    amount: Amount


class Account:
    """What `eq.account` returns: a block that counts, and afterwards what it counted.

    Attributes
    ----------
    spent, left : Part
        With `epsilon` and `delta`, and with `amount`, the exact pair in the account's currency.
    releases : tuple of CountedRelease
        Every fit and evaluation that was paid for, whether it ended well or not, in their order; public facts alone.
    """

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._book: Book | None = None
        self._counted: tuple[CountedRelease, ...] | None = None  # once it is over
        self._entered, self._holder, self._before = 0, 0, os.environ.get(VARIABLE)
        self._threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()  # those that are older than the block
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Open the account, or enter it once more; a second account inside of one is refused, and so is a finished one.

        Which of two budgets a fit inside of both was to be counted in, nobody could say afterwards.
        """
        with self._lock:
            if self._counted is not None:
                remedy = "open another with what the people have left in all"
                raise LedgerRefused("an account that is open", "one that is over: its block has ended", remedy)
            if self._book is None:
                inherited = Book.inherited()
                if Book.near() is not None or (inherited is not None and inherited.open):
                    raise LedgerRefused(
                        "one account at a time",
                        "an account that is open already, in this process or in one that started it",
                        "count everything in that one, or open this one after it has ended",
                    )
                self._book, self._holder = Book.create(self._allowance), os.getpid()
                self._before = os.environ.get(VARIABLE)
                self._threads.update(threading.enumerate())
                os.environ[VARIABLE] = str(self._book.folder)
            self._entered += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the account with its outermost block, however that ends; what was spent stays spent.

        Left more often than entered, it was ended inside of the block, and what came after that was not counted.
        """
        with self._lock:
            self._entered -= 1
            if self._entered < 0 and self._holder == os.getpid() and error is None:
                remedy = "leave the end to the `with` block, and count what was fitted since as spent"
                raise LedgerRefused(
                    "an account that is open until its block ends", "one that was ended before, inside of it", remedy
                )
            # A copy of the process by fork leaves the block too, and must not take the book away.
            if self._entered or self._book is None or self._holder != os.getpid():
                return
            try:
                self._counted = self._book.close()
            finally:
                _outlived.update(thread for thread in threading.enumerate() if thread not in self._threads)
                self._counted = self._counted or ()
                os.environ.pop(VARIABLE, None)
                if self._before is not None:
                    os.environ[VARIABLE] = self._before

    @property
    def releases(self) -> tuple[CountedRelease, ...]:
        """Every fit and evaluation that was paid for so far."""
        if self._counted is not None:
            return self._counted
        return () if self._book is None else self._book.releases()

    @property
    def spent(self) -> Part:
        """What the releases so far cost together."""
        return self._spent_on(self.releases)

    @property
    def left(self) -> Part:
        """What may still be spent; the amount decides, and in other currencies than basic the epsilon is for people."""
        return self._left_after(self.spent)

    def _spent_on(self, releases: tuple[CountedRelease, ...]) -> Part:
        from equipoise.ledger.currencies import currency_named

        amount = amount_of("0", "0")
        for release in releases:
            amount += release.cost
        worth = currency_named(self._allowance.currency).worth(amount, self._allowance.budget)
        return Part(worth.epsilon, worth.delta, amount)

    def _left_after(self, spent: Part) -> Part:
        budget, amount = self._allowance.budget, self._allowance.limit - spent.amount
        if self._allowance.currency == "basic":
            return Part(float(amount.amount), float(amount.delta), amount)
        # The whole delta belongs to the epsilon that is read at it, as a ledger shows it.
        return Part(max(budget.epsilon - spent.epsilon, 0.0), budget.delta, amount)

    def __str__(self) -> str:
        """Return what was spent on what, and what is left, for people."""
        budget, releases = self._allowance.budget, self.releases
        spent = self._spent_on(releases)
        left = self._left_after(spent)
        state = "over" if self._counted is not None else "not opened yet" if self._book is None else "open"
        return "\n".join(
            (
                f"Account of epsilon {budget.epsilon:g} and delta {budget.delta:g} "
                f"(currency {self._allowance.currency}), {state}",
                f"  spent  epsilon {spent.epsilon:.6g}, delta {spent.delta:.6g}, on {len(releases)} release(s)",
                f"  left   epsilon {left.epsilon:.6g}, delta {left.delta:.6g}",
                *(
                    f"  {each.number:>5}  epsilon {each.epsilon:g}, delta {each.delta:g}: {each.kind} on "
                    f"{each.n_samples} rows and {each.n_features} columns, neighbours {each.adjacency}"
                    for each in releases
                ),
                "  not counted: scores, choices by them and calibrations on the rows (docs/account.md)",
            )
        )

    def __repr__(self) -> str:
        """Return the line that opens such an account."""
        budget = self._allowance.budget
        return f"account(epsilon={budget.epsilon!r}, delta={budget.delta!r}, currency={self._allowance.currency!r})"

    def __reduce__(self) -> str | tuple[object, ...]:
        """Refuse to be pickled: a worker finds the account by itself, and a copy of it would count apart."""
        found, remedy = "an account", "leave it out of what is sent: fits in worker processes are counted all the same"
        raise InvalidParameter("an object that can be sent to another process", found, remedy)


def inside() -> bool:
    """Tell whether a fit of this process would be counted by an account now.

    Examples
    --------
    >>> inside()
    False
    """
    return Book.found() is not None


def counting() -> tuple[str, Amount] | None:
    """Return the currency of the account that would count a fit of this process now and what is left; None outside.

    Examples
    --------
    >>> with account(epsilon=3.0, currency="basic"):
    ...     print(counting())
    ('basic', Amount(amount=Decimal('3.0'), delta=Decimal('0.0')))
    """
    book = next((each for each in (Book.near(), Book.inherited()) if each is not None and each.open), None)
    return None if book is None else (book.allowance.currency, book.left)


def admit(certificate: Certificate, ledger: str | None) -> None:
    """Count a release in the account that is open, before a row is read; outside of all, say once that nobody counts.

    Where a ledger is bound too, the fit is counted in both: it must be sure to be admitted there before the account
    pays, so that what the ledger refuses costs nothing here, and what the account refuses is never recorded there.
    """
    book = Book.found()
    if book is None:
        if threading.current_thread() in _outlived:
            raise LedgerRefused(
                "a fit in a thread that was started inside of an account",
                "the account is over",
                "wait for the thread before the block ends, or start it outside of it; nothing was read and nothing "
                "was spent",
            )
        # A seeded run is stamped "not for release"; and what a ledger records is counted there.
        if ledger is None and not certificate.terms.seeded and next(_uncounted) == 2:
            warn_the_user(_SECOND_RELEASE, FitNotCounted)
        return
    _require_release(certificate)
    _require_rows_by_a_public_rule()
    if ledger is not None:
        from equipoise.ledger import Ledger

        Ledger(ledger).would_admit(certificate)
    if looking() and book.first_word():
        warn_the_user(_SCORES, ScoresNotCovered)
    book.admit(certificate)


def _require_release(certificate: Certificate) -> None:
    """Refuse what a sum of proved claims cannot hold, as ledgers do."""
    if certificate.terms.seeded:
        raise LedgerRefused(
            "a release in this account",
            "a seeded run, whose noise can be drawn again and hides nothing",
            "leave random_state=None, or experiment outside of the account; ensembles of scikit-learn that give their "
            "members a random_state, such as bagging, are no releases: fit the members one by one, or "
            "choose a model by eq.PrivateGridSearch. Nothing was read and nothing was spent",
        )
    if certificate.grade != "proved":
        raise LedgerRefused(
            'a certificate of grade "proved" in this account',
            f"grade {certificate.grade!r}: {'; '.join(certificate.assumptions)}",
            "declare the classes, or whatever the assumption rests on, or fit outside of the account. Nothing was read "
            "and nothing was spent",
        )


def _require_rows_by_a_public_rule() -> None:
    """Refuse a fit on rows that labels may have picked: neighbours then differ in more rows than the claim has."""
    if rule := doubtful_rows():
        raise LedgerRefused(
            "a fit on rows that a public rule picks",
            f"{rule}: where labels, groups or other models decide, one person's row moves rows of others into the "
            "table or out of it, and a fit costs more than its epsilon",
            "pass cv=KFold(5) itself, which deals by places, and n_jobs=None, so that it can be seen; or choose by "
            "eq.PrivateGridSearch, and columns by eq.FeatureSelector. Nothing was read and nothing was spent",
        )
