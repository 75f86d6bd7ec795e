"""What every private linear model shares: plan, fit, predict, and nothing that remembers a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from equipoise.errors import DomainMissing, InvalidParameter, LedgerRefused, PlanMismatch
from equipoise.estimators.intake import Intake, PlainRows, SchemaRows
from equipoise.estimators.plain import plain_model
from equipoise.learn.projection import directions, shortening
from equipoise.learn.schema import Schema
from equipoise.learn.tables import Unread
from equipoise.proof.certificate import Certificate
from equipoise.proof.request import Request
from equipoise.release import Released, noise_source, release
from equipoise.vocabulary.facts import Budget, Domain, Label, Recipe

Array = NDArray[np.float64]

# The constant column as a share of the row norm; docs/intercept.md compares the choices.
INTERCEPT_SHARE = 0.2


class PrivateLinearModel(BaseEstimator, ABC):
    """Plans a certificate from public facts, carries it out on rows, and keeps the noisy weights.

    The constructor only stores; `fit` changes no parameter. A fitted object holds the certificate, the noisy weights
    and public facts, nothing else that depends on rows.
    """

    _domain_line: ClassVar[str]
    _intercept_share: ClassVar[float] = INTERCEPT_SHARE
    # The rule of a `FeatureSelector` that trains this model, "" where the model stands for itself.
    _selection: str = ""

    coef_: Array
    intercept_: Array | float

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 0.0,
        domain: Domain | Schema | None = None,
        alpha: float | str = "public",
        mechanism: str = "auto",
        fit_intercept: bool = True,
        random_state: int | None = None,
        public_seed: int = 0,
        ledger: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.domain = domain
        self.alpha = alpha
        self.mechanism = mechanism
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.public_seed = public_seed
        self.ledger = ledger

    @abstractmethod
    def _keep(self, classes: tuple[Label, ...], coefficients: Array, intercepts: Array) -> None:
        """Store the weights and labels in the shapes that scikit-learn gives them."""

    def plan(self, n_samples: int | None = None, n_features: int | None = None) -> Certificate:
        """Return the certificate that `fit` will carry, from public facts alone.

        Afterwards `fit` refuses a table of any other shape: n is part of the claim. A schema declares both numbers, so
        that they can be left out.
        """
        self._planned = Certificate.issue(self._request(*self._intake().shape(n_samples, n_features)))
        return self._planned

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on rows and release: the spend is recorded first; values are mapped by public rules and never raise.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers; pandas and Polars frames, float32 and float64 are taken as they are. With a schema as the domain:
            a frame of raw columns, or a file opened by `equipoise.open_table`.
        y : array of shape (n_samples,)
            Labels or targets. With a schema they may be left out, and are then a column of the table.
        """
        return self._fit_from(X, y, None)

    def _fit_from(self, X: Any, y: Any, start: Callable[[Certificate], Array] | None) -> Self:
        """Fit from private weights that `start` lays out for a certificate, or from nowhere."""
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, start)
        except BaseException:
            # A failed fit leaves the object as it was: unfitted, or fitted with the earlier release.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fit(self, X: Any, y: Any, start: Callable[[Certificate], Array] | None) -> Self:
        intake = self._intake()
        rows = intake.training(X, y)
        n_samples, n_features = rows.features.shape
        certificate = self._certificate_for(n_samples, n_features, self._found_classes(rows.target))
        intake.remember(self, X)
        begin = None if start is None else start(certificate)
        source = noise_source(self.random_state)
        self._take(release(certificate, rows.features, rows.target, source, self.ledger, begin, rows.unbounded))
        return self

    def _take(self, released: Released) -> None:
        """Keep a release under scikit-learn's names."""
        request, weights = released.certificate.request, released.weights
        constants = request.intercept * weights[:, -1] if request.intercept > 0 else np.zeros(len(weights))
        coefficients = weights[:, : request.n_features]
        self._restore(released.certificate, released.classes, coefficients, constants + request.domain.label_centre)

    def _restore(
        self, certificate: Certificate, classes: tuple[Label, ...], coefficients: Array, intercepts: Array
    ) -> None:
        """Become the fitted estimator of a release: a row of coefficients and an intercept an output."""
        self.__dict__.pop("schema_", None)  # of an earlier fit
        if isinstance(self.domain, Schema):
            paid = {bounds.column: (bounds.low, bounds.high) for bounds in certificate.released_bounds}
            self.schema_ = self.domain.with_bounds(paid) if paid else self.domain
        self._keep(classes, coefficients, intercepts)
        self.certificate_ = certificate

    def _intake(self) -> Intake:
        """Return how rows come in: by a schema, or as they are into a domain; neither is ever inferred."""
        name, line = type(self).__name__, f"domain={self._domain_line}"
        if self.domain is None:
            raise DomainMissing(
                f"the public facts about the rows, to which {name} clips them",
                "domain=None, and nothing is ever inferred from the data",
                f"write {name}({line})",
            )
        if isinstance(self.domain, Schema):
            return SchemaRows(self.domain)
        if not isinstance(self.domain, Domain):
            found = f"domain of type {type(self.domain).__name__}"
            raise InvalidParameter("a Domain or a Schema", found, f"write {line}")
        return PlainRows(self.domain)

    def _found_classes(self, target: Unread) -> tuple[Label, ...]:
        """Return classes that must be read from the data before the request can be made: none, but for a classifier."""
        return ()

    def _certificate_for(self, n_samples: int, n_features: int, found: tuple[Label, ...]) -> Certificate:
        request = self._request(n_samples, n_features, found)
        planned: Certificate | None = getattr(self, "_planned", None)
        if planned is None and self.ledger is not None and not isinstance(self.domain, Schema):
            raise LedgerRefused(
                "a declared number of rows, since a ledger is bound",
                "a fit that would take n from the data",
                "call plan(n_samples=..., n_features=...) with the public numbers first",
            )
        if planned is not None and (n_samples, n_features) != (planned.n_samples, planned.n_features):
            raise PlanMismatch(
                f"the {planned.n_samples} rows and {planned.n_features} columns that were planned",
                f"{n_samples} rows and {n_features} columns",
                "plan again for this table, or pass the planned one: n is public and part of the claim",
            )
        if planned is not None and planned.request != request:
            raise PlanMismatch("the parameters that were planned", "others, set since then", "call plan() again")
        return planned or Certificate.issue(request)

    def _request(self, n_samples: int, n_features: int, found: tuple[Label, ...] = ()) -> Request:
        intake = self._intake()
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise InvalidParameter("fit_intercept, True or False", f"{self.fit_intercept!r}", "pass fit_intercept=True")
        domain = self._constrained(replace(intake.domain, classes=found) if found else intake.domain)
        intercept = self._intercept_share * domain.row_norm if self.fit_intercept else 0.0
        return Request(
            loss=self._loss_name(domain),
            penalty=self._penalty_name(),
            alpha=self._ridge(),  # type: ignore[arg-type] # the request refuses every other string than "public"
            domain=domain,
            intercept=intercept,
            n_samples=n_samples,
            n_features=n_features,
            budget=Budget(self.epsilon, self.delta),
            mechanism=self._place_of_noise(),
            public_seed=self.public_seed,
            seeded=noise_source(self.random_state).seeded,
            ledger=_dataset_of(self.ledger),
            observed_classes=bool(found),
            recipe=self._recipe(domain, intercept, n_samples),
            selection=self._selection,
            **intake.facts(),
        )

    @abstractmethod
    def _loss_name(self, domain: Domain) -> str:
        """Return the loss by its name, parameter included."""

    def _penalty_name(self) -> str:
        """Return the penalty by its name, parameter included."""
        return "l2"

    def _ridge(self) -> float | str:
        """Return the strength of the penalty that is asked for."""
        return self.alpha

    def _place_of_noise(self) -> str:
        """Return where the noise enters."""
        return self.mechanism

    def _constrained(self, domain: Domain) -> Domain:
        """Return the domain with what the estimator itself knows about the weights."""
        return domain

    def _recipe(self, domain: Domain, intercept: float, n_samples: int) -> Recipe | None:
        """Return how the weights descend, None where a solver minimises."""
        return None

    def _scores(self, X: Any) -> Array:
        """Return ``<coef, x> + intercept`` for new rows, a column an output, mapped into the domain as in training."""
        check_is_fitted(self, "certificate_")
        schema: Schema | None = getattr(self, "schema_", None)
        intake = PlainRows(self.certificate_.request.domain) if schema is None else SchemaRows(schema)
        request, count = self.certificate_.request, self.certificate_.argument.procedure.projection
        with np.errstate(all="ignore"):
            products = intake.scores(self, X, np.atleast_2d(self.coef_).T)
            if count:
                # Rows are clipped in their few directions as in training, so that the intercept weighs the same (P1).
                columns = directions(request.n_features, count, request.public_seed)
                products *= shortening(intake.scores(self, X, columns), request.domain.row_norm)[:, None]
            scores: Array = products + self.intercept_
        return scores

    def to_sklearn(self) -> Any:
        """Return the released model as plain scikit-learn objects, which need this library no longer.

        With a schema: a pipeline that takes a pandas frame of raw columns, categories as text. Rows longer than the row
        norm are not clipped there, and predictions not kept inside the target's range.
        """
        check_is_fitted(self, "certificate_")
        return plain_model(self)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that non-finite values are mapped, not refused, and that noise is drawn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        return tags


def _dataset_of(ledger: str | None) -> str | None:
    if ledger is None:
        return None
    # The database toolkit is loaded only where a ledger is bound.
    from equipoise.proof.ledger import Ledger

    return Ledger(ledger).dataset
