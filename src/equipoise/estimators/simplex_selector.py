"""A private selector: which column of zeros and ones has the fewest ones."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from equipoise.errors import LedgerRefused, PlanMismatch
from equipoise.learn.tables import feature_table
from equipoise.proof.simplex import SimplexCertificate, SimplexRequest
from equipoise.release import noise_source
from equipoise.release.simplex import select
from equipoise.vocabulary.facts import Budget


class SimplexSelector(SelectorMixin, BaseEstimator):
    """Select the column with the fewest ones, by dropout coins (G5; Algorithm 2 of [003] with a threshold that holds).

    Minimises the linear loss ``sum <w, x_i * b_i>`` over the simplex, whose solution is one column: of every one in
    the table a secret fair coin keeps or drops, and the column with the fewest kept ones is selected, the first of
    equals. A test makes sure beforehand that every column has enough ones for the coins to hide a row; where it
    refuses, the first column stands in and `refused_` is True. Entries above 1/2 count as ones, all others as zeros.

    Parameters
    ----------
    epsilon, delta : float
        The budget of test and choice together; delta must be above 0.
    test_share : float or "public"
        The part of epsilon that pays for the test; "public" picks it from public facts.
    random_state : int, optional
        None draws from the operating system. A seed makes the run repeatable and unfit for release.
    ledger : str, optional
        URL or name of the ledger that must admit the spend before a row is read.

    Attributes
    ----------
    column_ : int
        The place of the selected column.
    certificate_ : SimplexCertificate
        The claim and its whole argument.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = (np.random.default_rng(0).random((4000, 3)) < [0.7, 0.3, 0.6]).astype(float)
    >>> selector = eq.SimplexSelector(epsilon=1.0, delta=1e-6, random_state=0).fit(X)
    >>> selector.get_support(), selector.transform(X).shape, selector.refused_
    (array([False,  True, False]), (4000, 1), False)
    >>> selector.certificate_.verify()
    ()
    """

    column_: int
    certificate_: SimplexCertificate

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        test_share: float | str = "public",
        random_state: int | None = None,
        ledger: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.test_share = test_share
        self.random_state = random_state
        self.ledger = ledger

    def plan(self, n_samples: int, n_features: int) -> SimplexCertificate:
        """Return the certificate that `fit` will carry, from public facts alone; `fit` then takes no other shape."""
        self._planned = SimplexCertificate.issue(self._request(n_samples, n_features))
        return self._planned

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select a column and release which: the spend is recorded first, and values never raise.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Zeros and ones, dense or sparse.
        y : None
            Not used.
        """
        table = feature_table(X)
        request = self._request(*table.shape)
        planned: SimplexCertificate | None = getattr(self, "_planned", None)
        if planned is None and self.ledger is not None:
            raise LedgerRefused(
                "a declared number of rows, since a ledger is bound",
                "a fit that would take n from the data",
                "call plan(n_samples=..., n_features=...) with the public numbers first",
            )
        if planned is not None and planned.request != request:
            raise PlanMismatch("the shape and parameters that were planned", "others", "call plan() again")
        certificate = planned or SimplexCertificate.issue(request)
        selected = select(certificate, table, noise_source(self.random_state), self.ledger)
        validate_data(self, X, skip_check_array=True)
        self.column_ = selected.column
        self.certificate_ = selected.certificate
        return self

    def _request(self, n_samples: int, n_features: int) -> SimplexRequest:
        share: Any = self.test_share
        seeded = noise_source(self.random_state).seeded
        budget = Budget(self.epsilon, self.delta)
        return SimplexRequest(n_samples, n_features, budget, share, seeded, self._dataset())

    def _dataset(self) -> str | None:
        if self.ledger is None:
            return None
        # The database toolkit is loaded only where a ledger is bound.
        from equipoise.proof.ledger import Ledger

        return Ledger(self.ledger).dataset

    @property
    def refused_(self) -> bool:
        """Whether the test refused, so that the first column stands in."""
        return self.certificate_.passed is False

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "certificate_")
        mask = np.zeros(self.certificate_.request.n_features, dtype=bool)
        mask[self.column_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that non-finite values are mapped, not refused, and that coins are tossed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        return tags
