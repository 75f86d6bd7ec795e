"""A private selector: which column of zeros and ones has the fewest ones."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims.simplex import Simplex
from equipoise.data.schema import Schema
from equipoise.data.tables import feature_table
from equipoise.errors import ReleaseUnreadable
from equipoise.estimators.base import PrivateEstimator, dataset_of
from equipoise.estimators.intake import note_columns, refuse_persons
from equipoise.estimators.saved import Saved, named, writing
from equipoise.estimators.scikit_learn import SelectorMixin
from equipoise.noise import noise_source
from equipoise.planning.simplex import SimplexRequest, issue_simplex
from equipoise.release import Released, release
from equipoise.vocabulary.facts import Budget, Domain


class SimplexSelector(SelectorMixin, PrivateEstimator):
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
    certificate_ : Certificate
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

    name: ClassVar[str] = "simplex-selector"

    epsilon: float = 1.0
    delta: float = 1e-6
    test_share: float | str = "public"
    random_state: int | None = None
    ledger: str | None = None

    def plan(self, n_samples: int, n_features: int) -> Certificate:
        """Return the certificate that `fit` will carry, from public facts alone; `fit` then takes no other shape."""
        self._planned = issue_simplex(self._request(n_samples, n_features))
        return self._planned

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Select a column and release which: the spend is recorded first, and values never raise.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Zeros and ones, dense or sparse.
        y : None
            Not used.
        groups : None
            Nothing is proved about all rows of a person.
        """
        refuse_persons("a selected column", groups)
        return self._unchanged_by_failure(lambda: self._fit(X))

    def _fit(self, X: Any) -> Self:
        table = feature_table(X)
        shape = (table.shape[0], table.shape[1])
        certificate = self._certified(shape, self.ledger is None, lambda: issue_simplex(self._request(*shape)))
        note_columns(self, X, shape)
        given = certificate, table, None, noise_source(self.random_state), self.ledger
        self._take(release(*given, model=writing(self._take, self._saved)))
        return self

    def _take(self, released: Released) -> None:
        """Keep the column that was released."""
        self.column_ = int(released.weights[0, 0])
        self.certificate_ = released.certificate

    def _request(self, n_samples: int, n_features: int) -> SimplexRequest:
        share: Any = self.test_share
        seeded = noise_source(self.random_state).seeded
        budget = Budget(self.epsilon, self.delta)
        return SimplexRequest(n_samples, n_features, budget, share, seeded, dataset_of(self.ledger))

    def _saved(self) -> Saved:
        names = tuple(getattr(self, "feature_names_in_", ()))
        return Saved(model=named(self), features=names, selected=(self.column_,))

    @classmethod
    def _opened(cls, saved: Saved, certificate: Certificate, facts: Domain | Schema | None) -> Self:
        if not isinstance(certificate.claim, Simplex):
            raise ReleaseUnreadable(
                "a selection by coins", f"one of kind {certificate.kind!r}", "ask for the released folder again"
            )
        selector = cls(**saved.model.parameters(cls))
        selector.column_, selector.certificate_ = saved.selected[0], certificate
        selector.n_features_in_ = certificate.n_features
        if saved.features:
            selector.feature_names_in_ = np.array(saved.features, dtype=object)
        return selector

    @property
    def refused_(self) -> bool:
        """Whether the test refused, so that the first column stands in."""
        return self.certificate_.released is False

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "certificate_")
        mask = np.zeros(self.certificate_.n_features, dtype=bool)
        mask[self.column_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that non-finite values are mapped, not refused, and that coins are tossed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        return tags
