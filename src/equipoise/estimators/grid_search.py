"""Private tuning: a search over parameters whose whole cost is in one certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from equipoise.certify.certificate import Certificate
from equipoise.data.schema import Schema
from equipoise.errors import InvalidParameter, ReleaseUnreadable
from equipoise.estimators.additive import Additive
from equipoise.estimators.base import PrivateEstimator, PrivateLinearModel
from equipoise.estimators.intake import refuse_persons
from equipoise.estimators.saved import Saved, writing
from equipoise.estimators.scikit_learn import MetaEstimatorMixin
from equipoise.estimators.scoring import PredictionFacts
from equipoise.noise import noise_source
from equipoise.planning.request import Request
from equipoise.planning.search import (
    Candidate,
    Method,
    Parameter,
    SearchRequest,
    issue_search,
    rows_to_train,
    run_budget,
)
from equipoise.release import Released, release
from equipoise.vocabulary.facts import Budget, Domain
from equipoise.vocabulary.numbers import plain, require_number

Array = NDArray[np.float64]
Call = TypeVar("Call", bound=Callable[..., Any])

# What belongs to the search as a whole, and to no candidate.
OWNED = ("epsilon", "delta", "random_state", "public_seed", "ledger")

# Runs per candidate: so many are drawn that few candidates are missed (docs/tuning.md).
RUNS_PER_CANDIDATE = 3.0

# With delta > 0 runs are accounted for as Gaussians; these names leave the law of the noise open.
OPEN_MECHANISMS = ("auto", "output", "gaussian")


def _has(name: str) -> Callable[[Call], Call]:
    """Show a method only where the estimator has one of that name."""

    def check(search: Any) -> bool:
        getattr(search.estimator, name)
        return True

    return cast("Callable[[Call], Call]", available_if(check))


class PrivateGridSearch(MetaEstimatorMixin, PrivateEstimator):
    """Searches over the parameters of a private model; training, scoring and choosing share one budget.

    What comes out is one model with noisy weights and the name of the candidate that it is. There is no best score, no
    table of results and no refit: each would be another look at the rows.

    Parameters
    ----------
    estimator : a private model of this library
        Its own epsilon, delta, random_state, public_seed and ledger stay at their defaults: the search brings them.
    param_grid : dict, or list of dicts
        Parameters and the values to try, as in scikit-learn's GridSearchCV. To be written down without a look at rows.
    epsilon, delta : float
        The budget of the whole search.
    method : str
        "chunks": every candidate is trained on rows of its own, with the whole budget (E5). "random-stopping": a secret
        number of runs on the same rows, each with a part of the budget, of which the best is kept (E6).
    score_bound : float, optional
        The most that one row may count against a candidate. Left out, it is 1 for a classifier, whose errors count 0 or
        1, and the square of half the target's range for a regressor, whose squared errors are clipped there. With a
        schema the target's range is [-1, 1].
    validation_share : float
        The share of the rows that chooses and trains nothing.
    shape : int, optional
        For random stopping: 0 (default) draws a logarithmic number of runs, 1 a geometric one, which is seldom small
        and costs more.
    mean_runs : float, optional
        For random stopping: the mean number of runs, three a candidate if left out.
    random_state : int, optional
        None draws from the operating system. A seed makes the run repeatable and unfit for release.
    public_seed : int
        Splits the rows and drives the candidates' public coins; recorded in the certificate.
    ledger : str, optional
        URL or name of the ledger that must admit the one spend before a row is read.

    Attributes
    ----------
    best_params_ : dict
        The parameters of the chosen candidate, public once it is released.
    coef_, intercept_, classes_
        Its noisy weights and public labels, as the estimator shapes them.
    certificate_ : Certificate
        The claim and its whole argument.

    Examples
    --------
    >>> import equipoise as eq
    >>> X = np.linspace(-1, 1, 20_000)[:, None]
    >>> ridge = eq.Ridge(domain=eq.Domain(row_norm=1.0, labels=(0.0, 10.0)))
    >>> search = eq.PrivateGridSearch(ridge, {"alpha": [0.01, 100.0]}, epsilon=1.0, random_state=0)
    >>> found = search.fit(X, 5 + 4 * X[:, 0])
    >>> found.best_params_, bool(4.0 < found.predict([[0.0]])[0] < 6.0)
    ({'alpha': 0.01}, True)
    >>> found.certificate_.theorem, found.certificate_.epsilon, found.certificate_.verify()
    ('E5', 1.0, ())
    """

    name: ClassVar[str] = "grid-search"

    estimator: PrivateLinearModel
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
    epsilon: float = 1.0
    delta: float = 0.0
    _: KW_ONLY
    method: Method = "chunks"
    score_bound: float | None = None
    validation_share: float = 0.2
    shape: int | None = None
    mean_runs: float | None = None
    random_state: int | None = None
    public_seed: int = 0
    ledger: str | None = None

    def plan(self, n_samples: int | None = None, n_features: int | None = None) -> Certificate:
        """Return the certificate that `fit` will carry, from public facts alone.

        Afterwards `fit` refuses a table of any other shape. A schema declares both numbers, so that they can be left
        out.
        """
        shape = self._candidates()[0][1]._intake().shape(n_samples, n_features)
        self._planned = issue_search(self._request(*shape))
        return self._planned

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Search on rows and release one model: the one spend is recorded first; values never raise.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            As the estimator takes it.
        y : array of shape (n_samples,)
            Labels or targets. With a schema they may be left out, and are then a column of the table.
        groups : None
            Nothing is proved about all rows of a person.
        """
        return self._unchanged_by_failure(lambda: self._fit(X, y, groups))

    def _fit(self, X: Any, y: Any, groups: Any) -> Self:
        candidates = self._candidates()
        intake = candidates[0][1]._intake()
        refuse_persons("a search", groups, intake.domain)
        rows = intake.training(X, y)
        shape = rows.shape
        declared = self.ledger is None or any(isinstance(model.domain, Schema) for _, model in candidates)
        certificate = self._certified(shape, declared, lambda: issue_search(self._request(*shape)))
        intake.remember(self, X, shape)

        def take(released: Released) -> None:
            self._take(released, candidates)

        given = certificate, rows.features, rows.target, noise_source(self.random_state), self.ledger
        take(release(*given, model=writing(take, self._saved)))
        return self

    def _take(self, released: Released, candidates: Sequence[tuple[dict[str, Any], PrivateLinearModel]]) -> None:
        """Keep the candidate that was released."""
        self.__dict__.pop("classes_", None)  # of an earlier fit
        parameters, model = candidates[released.certificate.released or 0]
        model._take(released)
        self.best_params_ = parameters
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_
        self.certificate_ = released.certificate

    def predict(self, X: Any) -> NDArray[Any]:
        """Return what the released model predicts for new rows."""
        return self._answering().predict(X)  # type: ignore[no-any-return]

    @_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """Return the released model's scores of new rows, where it has them."""
        return self._answering().decision_function(X)  # type: ignore[no-any-return]

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """Return the released model's probability of every class, where it has them."""
        return self._answering().predict_proba(X)  # type: ignore[no-any-return]

    @_has("predict_log_proba")
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the released model's probability of every class, where it has them."""
        return self._answering().predict_log_proba(X)  # type: ignore[no-any-return]

    def score(self, X: Any, y: Any) -> float:
        """Return the score that the estimator has for other rows than those of the fit."""
        return float(self._answering().score(X, y))

    def to_sklearn(self) -> Any:
        """Return the released model as plain scikit-learn objects, which need this library no longer."""
        return self._model().to_sklearn()

    def _answering(self) -> Any:
        """Return the released model as what predicts: which methods it has only the one that was searched knows."""
        return self._model()

    def _model(self) -> PrivateLinearModel:
        """Return the released model as an estimator, with the certificate of the whole search."""
        check_is_fitted(self, "certificate_")
        own = {name: getattr(self, name) for name in OWNED}
        model: PrivateLinearModel = clone(self.estimator).set_params(**self.best_params_, **own)
        model.certificate_ = self.certificate_
        classes = tuple(getattr(self, "classes_", np.array([])).tolist())
        nodes = self.certificate_.claim.nodes()
        facts = PredictionFacts.of(self.certificate_)
        model._become(facts, classes, np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_), nodes)
        model.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return model

    @property
    def _public_facts(self) -> Domain | Schema | None:
        return self._model()._public_facts

    def _saved(self) -> Saved:
        # A search is saved as the model that it found, with the certificate of the whole search.
        return self._model()._saved()

    @classmethod
    def _opened(cls, saved: Saved, certificate: Certificate, facts: Domain | Schema | None) -> Self:
        found, remedy = "a search itself", "ask for the released folder again"
        raise ReleaseUnreadable("the model that a search found", found, remedy)

    def _candidates(self) -> list[tuple[dict[str, Any], PrivateLinearModel]]:
        """Return every candidate's parameters and an unfitted estimator with them."""
        if not isinstance(self.estimator, PrivateLinearModel):
            found = f"an estimator of type {type(self.estimator).__name__}"
            raise InvalidParameter("a private model of this library", found, "pass eq.Ridge(...), for example")
        defaults = type(self.estimator)().get_params()
        brought = [name for name in OWNED if getattr(self.estimator, name) != defaults[name]]
        if brought:
            raise InvalidParameter(
                "an estimator that leaves its budget to the search",
                f"an estimator with {', '.join(f'{name}={getattr(self.estimator, name)!r}' for name in brought)}",
                f"pass {', '.join(brought)} to PrivateGridSearch and leave the estimator's own at the default",
            )
        try:
            grid = list(ParameterGrid(self.param_grid))
        except (TypeError, ValueError) as error:
            raise InvalidParameter("a grid of parameters", str(error), 'pass {"alpha": [0.01, 0.1, 1.0]}') from None
        names = sorted({name for parameters in grid for name in parameters})
        unknown = [name for name in names if name not in defaults or name in OWNED]
        if unknown:
            found = f"{', '.join(unknown)} in the grid"
            known = ", ".join(sorted(defaults.keys() - set(OWNED)))
            raise InvalidParameter("parameters that a candidate may have", found, f"choose from {known}")
        if isinstance(self.estimator, Additive) and ("cells" in names or self.estimator.cells == "public"):
            # Rows are encoded once, for all candidates, and the rule depends on a budget that they do not have.
            found, remedy = "an additive model that chooses its cells", "pass cells=8 to the estimator, or 0 for lines"
            raise InvalidParameter("candidates that encode rows alike", found, remedy)
        return [(parameters, clone(self.estimator).set_params(**parameters)) for parameters in grid]

    def _request(self, n_samples: int, n_features: int) -> SearchRequest:
        models = self._candidates()
        budget = Budget(self.epsilon, self.delta)
        shape, mean_runs = self._stopping(len(models))
        run = run_budget(self.method, budget, shape, mean_runs)
        validation_rows = self._validation_rows(n_samples, len(models))
        rows = max(1, rows_to_train(self.method, n_samples, validation_rows, len(models)))
        candidates = tuple(
            Candidate(
                tuple(Parameter(name, _written(value)) for name, value in sorted(parameters.items())),
                self._training(model, run, rows, n_features),
            )
            for parameters, model in models
        )
        domain = candidates[0].request.domain
        bound = _usual_bound(domain) if self.score_bound is None else self.score_bound
        return SearchRequest(
            method=self.method,
            candidates=candidates,
            n_samples=n_samples,
            n_features=n_features,
            budget=budget,
            validation_rows=validation_rows,
            score_bound=require_number("score_bound", plain(bound), above=0.0, remedy="leave it out, or pass 1.0"),
            public_seed=candidates[0].request.public_seed,
            seeded=candidates[0].request.seeded,
            ledger=candidates[0].request.ledger,
            shape=shape,
            mean_runs=mean_runs,
        )

    def _stopping(self, count: int) -> tuple[int, float]:
        if self.method == "random-stopping":
            shape = 0 if self.shape is None else self.shape
            return shape, RUNS_PER_CANDIDATE * count if self.mean_runs is None else float(self.mean_runs)
        if self.shape is not None or self.mean_runs is not None:
            found = f"shape={self.shape!r}, mean_runs={self.mean_runs!r} with method={self.method!r}"
            raise InvalidParameter(
                "a number of runs only where runs are stopped at random", found, 'pass method="random-stopping"'
            )
        return 0, 0.0

    def _validation_rows(self, n_samples: int, count: int) -> int:
        remedy = "pass validation_share=0.2"
        share = require_number("validation_share", plain(self.validation_share), above=0.0, remedy=remedy)
        if share >= 1:
            raise InvalidParameter("a validation_share below 1", f"validation_share={share!r}", remedy)
        rows = max(1, round(share * n_samples))
        # What does not divide evenly among chunks helps to choose.
        return rows + (n_samples - rows) % count if self.method == "chunks" else rows

    def _training(self, model: PrivateLinearModel, run: Budget, rows: int, n_features: int) -> Request:
        """Return what one candidate asks for on its rows."""
        model.set_params(
            epsilon=run.epsilon,
            delta=run.delta,
            random_state=self.random_state,
            public_seed=self.public_seed,
            ledger=self.ledger,
        )
        if self.method == "random-stopping" and run.delta > 0 and model.mechanism in OPEN_MECHANISMS:
            model.set_params(mechanism="gaussian")
        return model._request(rows, n_features)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what the estimator is, and that noise is drawn."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        tags.non_deterministic = self.random_state is None
        return tags


def _usual_bound(domain: Domain) -> float:
    """Return 1 where errors are counted, and the squared error of a guess at the range's middle, at its worst."""
    return 1.0 if domain.classes is not None else domain.label_bound**2


def _written(value: object) -> bool | int | float | str | None:
    """Return a parameter as a certificate writes it: plain numbers and texts as they are, anything else described."""
    settled = plain(value)
    return settled if settled is None or isinstance(settled, bool | int | float | str) else repr(settled)
