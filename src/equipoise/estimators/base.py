"""What every private estimator shares: a constructor, plan, fit, and nothing that remembers a row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Claim, Trained
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.data.encoder import Encoder
from equipoise.data.schema import Schema
from equipoise.data.seeded import domain_for, reopened
from equipoise.data.unread import Unread
from equipoise.errors import (
    DomainMissing,
    EquipoiseError,
    InvalidParameter,
    LedgerRefused,
    PlanMismatch,
    ReleaseUnreadable,
)
from equipoise.estimators.class_weights import divided
from equipoise.estimators.coefficient_intervals import CoefficientIntervals, coefficient_intervals
from equipoise.estimators.intake import Intake, PlainRows, SchemaRows
from equipoise.estimators.plain import plain_model
from equipoise.estimators.saved import Saved, named, writing
from equipoise.estimators.scoring import PredictionFacts
from equipoise.estimators.showing import as_asked
from equipoise.estimators.unknown_arguments import KnownParameters, known_arguments
from equipoise.noise import noise_source
from equipoise.planning import kinds
from equipoise.planning.issue import issue
from equipoise.planning.losses import known as losses_known
from equipoise.planning.mean_alone import constants
from equipoise.planning.request import Request
from equipoise.release import Released, release
from equipoise.vocabulary import losses
from equipoise.vocabulary.facts import Budget, Domain, Label, Recipe

Array = NDArray[np.float64]
Start = Callable[[Certificate], Callable[[], Array]] | None

# The constant column as a share of the row norm; docs/intercept.md compares the choices.
INTERCEPT_SHARE = 0.2


@dataclass_transform()
class PrivateEstimator(KnownParameters, ABC):
    """An estimator whose annotated fields are its constructor's parameters, which only stores them.

    A subclass in a file of this folder registers itself by its `name`. A parameter
    that a subclass fixes is annotated there as a class variable. A fitted object holds the certificate, what was
    released and public facts, nothing else that depends on rows.
    """

    # What the command line and a released folder call it.
    name: ClassVar[str]

    def __init_subclass__(cls, **settings: Any) -> None:
        """Make the constructor; an estimator is compared by identity and shown as scikit-learn shows it."""
        super().__init_subclass__(**settings)
        dataclass(eq=False, repr=False)(cls)
        for name in {"__init__", "fit"} & vars(cls).keys():
            setattr(cls, name, known_arguments(vars(cls)[name]))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn does; where it prints them, a ledger's address has no password."""
        return as_asked(super().get_params(deep))

    def _unchanged_by_failure(self, fit: Callable[[], Self]) -> Self:
        """Fit, or leave the object as it was: unfitted, or fitted with the earlier release."""
        before = dict(self.__dict__)
        try:
            return fit()
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _certified(self, shape: tuple[int, int], declared: bool, issued: Callable[[], Certificate]) -> Certificate:
        """Return the certificate that a fit may carry out: the planned one, if `plan` was called.

        `declared` says that somebody states the number of rows; where a ledger is bound it never comes from the data.
        """
        planned: Certificate | None = getattr(self, "_planned", None)
        if planned is None:
            if not declared:
                raise LedgerRefused(
                    "a declared number of rows, since a ledger is bound",
                    "a fit that would take n from the data",
                    "call plan(n_samples=..., n_features=...) with the public numbers first",
                )
            return issued()
        if shape != (planned.n_samples, planned.n_features):
            raise PlanMismatch(
                f"the {planned.n_samples} rows and {planned.n_features} columns that were planned",
                f"{shape[0]} rows and {shape[1]} columns",
                "plan again for this table, or pass the planned one: n is public and part of the claim",
            )
        if issued() != planned:
            raise PlanMismatch("the parameters that were planned", "others, set since then", "call plan() again")
        return planned

    @property
    def _public_facts(self) -> Domain | Schema | None:
        """What somebody declared about the rows, as a fitted estimator was given it."""
        return None

    @abstractmethod
    def _saved(self) -> Saved:
        """Return what a released folder keeps of the fitted estimator: what was released, and public settings."""

    @classmethod
    @abstractmethod
    def _opened(cls, saved: Saved, certificate: Certificate, facts: Domain | Schema | None) -> Self:
        """Return the fitted estimator that a released folder describes."""


class Fitted:
    """What a fit of a linear model leaves, for whoever checks types: none of it is a parameter."""

    coef_: Array
    intercept_: Array | float
    classes_: NDArray[Any]
    certificate_: Certificate
    schema_: Schema
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _planned: Certificate
    _facts: PredictionFacts


class PrivateLinearModel(Fitted, PrivateEstimator):
    """Plans a certificate from public facts, carries it out on rows, and keeps the noisy weights."""

    epsilon: float = 1.0
    delta: float = 0.0
    domain: Domain | Schema | None = None
    alpha: float | str = "public"
    mechanism: str = "auto"
    fit_intercept: bool = True
    random_state: int | None = None
    public_seed: int = 0
    ledger: str | None = None

    _domain_line: ClassVar[str]
    _intercept_share: ClassVar[float] = INTERCEPT_SHARE
    # The rule of a `FeatureSelector` that trains this model, "" where the model stands for itself.
    _selection = ""

    @abstractmethod
    def _keep(self, classes: tuple[Label, ...], coefficients: Array, intercepts: Array) -> None:
        """Store the weights and labels in the shapes that scikit-learn gives them."""

    def plan(self, n_samples: int | None = None, n_features: int | None = None) -> Certificate:
        """Return the certificate that `fit` will carry, from public facts alone.

        Afterwards `fit` refuses a table of any other shape: n is part of the claim. A schema declares both numbers, so
        that they can be left out.
        """
        self._planned = issue(self._request(*self._intake().shape(n_samples, n_features)))
        return self._planned

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Train on rows and release: the spend is recorded first; values are mapped by public rules and never raise.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers; pandas and Polars frames, float32 and float64 are taken as they are. The declared type decides what
            is refused; a list is read entry by entry, and what is no number in it is missing. With a schema as the
            domain: a frame of raw columns, or a file opened by `equipoise.open_table`.
        y : array of shape (n_samples,)
            Labels or targets. With a schema they may be left out, and are then a column of the table.
        groups : array of shape (n_samples,), optional
            The id of the person that each row belongs to, where the domain says how many rows of one person count at
            most: the promise is then about all rows of a person, and n is the number of persons, which `plan` is told
            first. A row without an id is left out. A schema names the column instead.
        """
        return self._fit_from(X, y, None, groups)

    def _fit_from(
        self, X: Any, y: Any, start: Start, groups: Any = None, saved: Callable[[], Saved] | None = None
    ) -> Self:
        """Fit from private weights that `start` lays out, or from nowhere; `saved` says what a folder keeps of it."""
        return self._unchanged_by_failure(lambda: self._fit(X, y, start, groups, saved or self._saved))

    def _fit(self, X: Any, y: Any, start: Start, groups: Any, saved: Callable[[], Saved]) -> Self:
        intake = self._intake()
        planned: Certificate | None = getattr(self, "_planned", None)
        rows = intake.training(X, y, groups, None if planned is None else (planned.n_samples, planned.n_features))
        found, shape = self._found_classes(rows.target), rows.shape
        declared = self.ledger is None or isinstance(self.domain, Schema)
        asked = self._request(shape[0], shape[1], found)
        certificate = self._certified(shape, declared, lambda: issue(asked))
        intake.remember(self, X, shape)
        begin, source = None if start is None else start(certificate), noise_source(self.random_state)
        given = certificate, rows.features, rows.target, source, self.ledger, begin
        text = writing(self._take, saved)
        self._take(release(*given, unbounded=rows.unbounded, persons=rows.persons, model=text))
        return self

    def _take(self, released: Released) -> None:
        """Keep a release under scikit-learn's names."""
        certificate, weights = released.certificate, released.weights
        claim = certificate.claim.trained
        if not isinstance(claim, Trained):
            raise InvalidParameter("a certificate about weights", f"one of kind {claim.kind!r}", "use a model's own")
        problem = claim.problem
        constants = problem.intercept * weights[:, -1] if problem.intercept > 0 else np.zeros(len(weights))
        coefficients = weights[:, : certificate.n_features]
        self.certificate_ = certificate
        self._become(
            PredictionFacts.of(certificate),
            released.classes,
            coefficients,
            constants + problem.domain.label_centre,
            certificate.claim.nodes(),
        )

    def _become(
        self,
        facts: PredictionFacts,
        classes: tuple[Label, ...],
        coefficients: Array,
        intercepts: Array,
        nodes: Iterable[Claim],
    ) -> None:
        """Become the fitted estimator of a release: a row of coefficients and an intercept an output."""
        self.__dict__.pop("schema_", None)  # of an earlier fit
        if isinstance(described := self._public_facts, Schema):
            bounds = (node.released or () for node in nodes if isinstance(node, PrivateBounds))
            paid = {entry.column: (entry.low, entry.high) for released in bounds for entry in released}
            self.schema_ = described.with_bounds(paid, self.certificate_.terms.seeded) if paid else described
        self._facts = facts
        self._keep(classes, coefficients, intercepts)

    @property
    def _public_facts(self) -> Domain | Schema | None:
        # A model whose own public rule describes columns in other words says so here.
        return self.domain

    def _saved(self) -> Saved:
        schema: Schema | None = getattr(self, "schema_", None)
        names = getattr(self, "feature_names_in_", ()) if schema is None else Encoder(schema).names
        # NumPy makes one type of all classes: of 1 and 1.5 it has 1.0, which is not what the certificate declares.
        declared = self._facts.domain.classes
        found = getattr(self, "classes_", np.array([])).tolist()
        return Saved(
            model=named(self),
            features=tuple(names),
            classes=declared if isinstance(declared, tuple) else tuple(found),
            coefficients=tuple(tuple(row) for row in np.atleast_2d(self.coef_).tolist()),
            intercepts=tuple(np.atleast_1d(self.intercept_).tolist()),
        )

    @classmethod
    def _opened(cls, saved: Saved, certificate: Certificate, facts: Domain | Schema | None) -> Self:
        found = PredictionFacts.of(certificate)
        model = cls(**saved.model.parameters(cls), domain=reopened(facts or found.domain, certificate.terms.seeded))
        claim = certificate.claim.trained
        if isinstance(claim, Trained):
            shape = certificate.n_samples, certificate.n_features
            model._recognise(shape, claim.problem.loss.name, claim.problem.penalty.name, claim.problem.intercept)
        model.certificate_ = certificate
        model._reopen(saved, found, certificate.claim.nodes())
        return model

    def _recognise(self, shape: tuple[int, int], loss: str, penalty: str, intercept: float) -> None:
        """Refuse to become a model with another loss, penalty or constant column than the certified ones."""
        # A folder does not say which seed was used, and whether one was changes nothing about what is compared.
        asking = copy(self).set_params(random_state=0)
        try:
            asked = asking._request(*shape)
            own, cap = losses.named(asked.loss), loss.partition(":")[2]
            # Some kinds of release clip slopes, which makes another loss of it.
            known = loss in (own.name, losses_known(own).clipped(float(cap)).name if cap else own.name)
            known = known and asked.penalty == penalty and intercept in constants(asked)
        except (EquipoiseError, ValueError):
            known = False
        if not known:
            wanted = "a model, a certificate and a schema that belong together"
            found, remedy = "a model that asks for another certificate", "ask for the released folder again"
            raise ReleaseUnreadable(wanted, found, remedy)

    def _reopen(self, saved: Saved, facts: PredictionFacts, nodes: Iterable[Claim]) -> None:
        """Become the fitted estimator that was saved."""
        self._become(facts, saved.classes, np.array(saved.coefficients), np.array(saved.intercepts), nodes)
        names = saved.features
        if isinstance(self.domain, Schema):
            names = tuple(column.name for column in self.domain.columns)
        self.n_features_in_ = len(names) or facts.n_features
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _intake(self) -> Intake:
        """Return how rows come in: by a schema, or as they are into a domain; neither is ever inferred."""
        name, line = type(self).__name__, f"domain={self._domain_line}"
        if (facts := self._public_facts) is None:
            raise DomainMissing(
                f"the public facts about the rows, to which {name} clips them",
                "domain=None, and nothing is ever inferred from the data",
                f"write {name}({line})",
            )
        if isinstance(facts, Schema):
            return SchemaRows(facts)
        if not isinstance(facts, Domain):
            found = f"domain of type {type(facts).__name__}"
            raise InvalidParameter("a Domain or a Schema", found, f"write {line}")
        return PlainRows(facts)

    def _found_classes(self, target: Unread) -> tuple[Label, ...]:
        """Return classes that must be read from the data before the request can be made: none, but for a classifier."""
        return ()

    def _request(self, n_samples: int, n_features: int, found: tuple[Label, ...] = ()) -> Request:
        intake = self._intake()
        if not isinstance(self.fit_intercept, bool | np.bool_):
            raise InvalidParameter("fit_intercept, True or False", f"{self.fit_intercept!r}", "pass fit_intercept=True")
        known = domain_for(intake.domain, seeded := noise_source(self.random_state).seeded)
        domain = self._constrained(replace(known, classes=found) if found else known)
        intercept = self._intercept_share * domain.row_norm if self.fit_intercept else 0.0
        asked = Request(
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
            seeded=seeded,
            ledger=dataset_of(self.ledger),
            observed_classes=bool(found),
            recipe=self._recipe(domain, intercept, n_samples),
            selection=self._selection,
            **intake.facts(),
        )
        return divided(asked, self._asked_weights(domain))

    def _asked_weights(self, domain: Domain) -> tuple[float, ...] | None:
        """Return the weights of the classes that are asked for, in their order; None where all rows count alike."""
        return None

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
        check_is_fitted(self, "coef_")
        schema: Schema | None = getattr(self, "schema_", None)
        facts = self._facts
        intake = PlainRows(facts.domain) if schema is None else SchemaRows(schema)
        with np.errstate(all="ignore"):
            products = intake.scores(self, X, np.atleast_2d(self.coef_).T)
            facts.shortened(products, lambda columns: intake.scores(self, X, columns))
            products += self.intercept_
        return products

    def coefficient_intervals(self, level: float = 0.95) -> CoefficientIntervals:
        """Return exact intervals of the coefficients without noise, each with this chance (docs/coefficients.md)."""
        return coefficient_intervals(self, level)

    def to_sklearn(self) -> Any:
        """Return the released model as plain scikit-learn objects, which need this library no longer.

        With a schema: a pipeline that takes a pandas frame of raw columns, categories as text. With bounds: one that
        takes rows as `fit` does, and scales and clips them; without, rows longer than the row norm are not clipped,
        except by a model that saw them in a few random directions. Predictions are not kept inside the target's range.
        """
        check_is_fitted(self, "coef_")
        classes: NDArray[Any] | None = getattr(self, "classes_", None)
        weights = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        facts, schema = self._facts, getattr(self, "schema_", None)
        return plain_model(self._plain_class(), *weights, classes, facts.domain, schema, facts.directions)

    @classmethod
    def _kinds(cls) -> tuple[str, ...]:
        """Return the kinds of release that this model can come to: any for a minimiser, or the one that it fixes."""
        if "mechanism" not in cls._get_param_names():
            return (str(cls.mechanism),)
        return tuple(name for name, planner in kinds.named().items() if planner.minimises)

    @classmethod
    def _extreme(cls, at_the_end: bool) -> dict[str, Any]:
        """Return parameters of its own at which a row moves the weights almost as far as is claimed, for an audit.

        `at_the_end` says whether noise is added to finished weights.
        """
        return {}

    @abstractmethod
    def _plain_class(self) -> Any:
        """Return the class of scikit-learn whose predictions are those of this model with the same weights."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that non-finite values are mapped, not refused, and that noise is drawn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.non_deterministic = self.random_state is None
        return tags


def dataset_of(ledger: str | None) -> str | None:
    """Return the dataset id of a ledger, which is all that a certificate records of it.

    An address with a password is refused: parameters are in every copy of an estimator, and in every copy on disk.
    """
    if ledger is None:
        return None
    # The database toolkit is loaded only where a ledger is bound.
    from equipoise.ledger import Ledger

    found = Ledger(ledger)
    if found.has_password:
        remedy = "leave the password to PGPASSWORD or ~/.pgpass: every copy of an estimator holds its parameters"
        raise LedgerRefused("an estimator's ledger without a password", "one with a password, not shown here", remedy)
    return found.dataset
