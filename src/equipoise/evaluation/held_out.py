"""`equipoise.train_and_evaluate`: some rows train a model, the others evaluate it, and both cost what one does (N3)."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.artifact import model_file
from equipoise.certify.certificate import Certificate, Release
from equipoise.certify.claims import Noise, Trained
from equipoise.certify.claims.evaluation import Evaluation as EvaluationClaim
from equipoise.certify.claims.evaluation import HeldOut
from equipoise.data.schema import Schema
from equipoise.errors import InvalidData, InvalidParameter, LedgerRefused
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.estimators.intake import refuse_persons
from equipoise.estimators.regressor import PrivateRegressor
from equipoise.evaluation.evaluated import Array, Evaluated, evaluated
from equipoise.evaluation.evaluation import Evaluation
from equipoise.evaluation.histogram import require_figures
from equipoise.noise import noise_source
from equipoise.planning.evaluation import noises_on_counts
from equipoise.planning.held_out import counts_of, issue_held_out, known_within, require_enough, rows_held_out
from equipoise.planning.issue import issue
from equipoise.release import Released, account, release
from equipoise.release.job import Carried
from equipoise.vocabulary.facts import Label
from equipoise.wording import of_type

if TYPE_CHECKING:
    from equipoise.ledger.currencies import Amount, Currency


def train_and_evaluate(
    model: PrivateLinearModel,
    X: Any,
    y: Any = None,
    *,
    holdout: float = 0.2,
    by: str = "",
    n_samples: int | None = None,
) -> Evaluation:
    """Fit a model on some of the rows and count the others by what it says of them: one spend, one certificate.

    Rows are dealt by place, by a permutation that follows from the model's `public_seed` and their declared number
    alone. A replaced row lies in one of the two parts, so that both together cost the model's epsilon and delta once
    (N3); in a ledger or account that is not kept in sums counts may have other noise for it (docs/evaluation.md). The
    model is fitted as by its `fit`, and carries the certificate of both.

    Parameters
    ----------
    model : classifier or regressor
        It brings the budget, the public seed, the ledger and the source of noise, for both parts.
    X, y : table and target
        All rows, as `fit` takes them.
    holdout : float
        The share of the rows that is held out.
    by : str, optional
        A column of levels of the model's schema: held-out rows are counted for each level apart.
    n_samples : int, optional
        The declared number of rows, needed where a ledger is bound and no schema declares it.

    Returns
    -------
    Evaluation
        With the certificate that the model has, too.

    Examples
    --------
    >>> import equipoise as eq
    >>> X = np.random.default_rng(0).uniform(-0.5, 0.5, (6000, 3))
    >>> y = (X[:, 0] + 0.3 * X[:, 1] + np.random.default_rng(1).normal(0.0, 0.2, 6000) > 0).astype(int)
    >>> model = eq.LogisticRegression(epsilon=1.0, domain=eq.Domain(1.0, classes=(0, 1)), random_state=0)
    >>> evaluation = eq.train_and_evaluate(model, X, y, holdout=0.25)
    >>> evaluation.counts.n_samples, evaluation.certificate == model.certificate_, model.certificate_.epsilon
    (1500, True, 1.0)
    >>> 0.8 < evaluation.accuracy.value < 0.9
    True
    """
    _require(model)
    model._unchanged_by_failure(lambda: _fit(model, X, y, holdout, by, n_samples))
    return Evaluation(model.certificate_, facts if isinstance(facts := model._public_facts, Schema) else None)


def plan_held_out(
    model: PrivateLinearModel,
    holdout: float = 0.2,
    by: str = "",
    n_samples: int | None = None,
    n_features: int | None = None,
) -> Certificate:
    """Return the certificate that `train_and_evaluate` will carry out, from public facts alone.

    Examples
    --------
    >>> import equipoise as eq
    >>> model = eq.Ridge(epsilon=1.0, domain=eq.Domain(1.0, labels=(0.0, 1.0)))
    >>> plan = plan_held_out(model, 0.2, n_samples=1000, n_features=3)
    >>> [(part.kind, part.n_samples) for part in plan.claim.of]
    [('evaluation', 200), ('objective', 800)]
    """
    _require(model)
    shape = model._intake().shape(n_samples, n_features)
    rows = rows_held_out(holdout, shape[0])
    request = model._request(shape[0] - rows, shape[1])
    planned = _as_released(model, issue(request), _unit_weights(issue(request)), by)

    def pair(noise: Noise) -> Certificate:
        return issue_held_out(request, rows, planned.cells(rows, noise), noise)

    quietest, *louder = noises_on_counts(request.budget, planned.further)
    first, books = pair(quietest), books_of(model.ledger) if louder else ()
    found = (pair(noise) for noise in louder) if books else iter(())
    return next((each for each in found if _pays(each, first, books)), first)


def _pays(louder: Certificate, quieter: Certificate, books: tuple[tuple[Currency, Amount], ...]) -> bool:
    """Return whether counts with louder noise make the pair cost half, or less, where it would be counted now.

    As sums of epsilon and delta it costs the same. Other currencies tell more of a release: counts with pure noise cost
    many times what a training does that spends its delta, and would be what a book of such releases is spent on. Where
    the quieter pair costs more than is left and the louder one does not, that decides.
    """
    if known_within(counts_of(louder)) >= 0.5:
        return False
    lefts = [left for _, left in books]
    ones, others = ([currency.price(pair.claim) for currency, _ in books] for pair in (louder, quieter))
    if any(2 * one.amount <= other.amount for one, other in zip(ones, others, strict=True)):
        return True
    return _all_within(ones, lefts) and not _all_within(others, lefts)


def _all_within(costs: list[Amount], lefts: list[Amount]) -> bool:
    return all(cost.within(left) for cost, left in zip(costs, lefts, strict=True))


def books_of(ledger: str | None) -> tuple[tuple[Currency, Amount], ...]:
    """Return where a release of this process would be counted now, in an account and a ledger: currency, what is left.

    Both follow from certificates alone.
    """
    found = [each for each in (account.counting(),) if each is not None]
    if ledger is not None:
        # The database toolkit is loaded only where a ledger is bound.
        from equipoise.ledger import Ledger

        balance = Ledger(ledger).balance()
        found.append((balance.currency, balance.left))
    if not found:
        return ()
    from equipoise.ledger.currencies import currency_named

    return tuple((currency_named(name), left) for name, left in found)


def require_told(certificate: Certificate) -> None:
    """Refuse a plan whose held-out rows are so few that nothing could be told of them: it is private, and no use."""
    counts = certificate.claim.of[0] if isinstance(certificate.claim, HeldOut) else None
    if isinstance(counts, EvaluationClaim):
        require_enough(counts, certificate.n_samples)
        require_figures(counts.cells, counts.n_samples, counts.noise)


def _require(model: Any) -> None:
    """Refuse what cannot be evaluated, or has no proof."""
    if not isinstance(model, PrivateClassifier | PrivateRegressor):
        found, remedy = (
            of_type(model),
            "pass a classifier or regressor of this library, not fitted yet",
        )
        raise InvalidParameter("a private model that predicts, to train and evaluate it", found, remedy)
    domain = model._intake().domain
    refuse_persons("an evaluation on rows that are held out", None, domain)
    if domain.classes == "observed":
        remedy = "declare them in the domain: which rows would show them depends on how rows are dealt"
        raise InvalidParameter("declared classes, since rows are held out", 'classes="observed"', remedy)


def _fit(model: PrivateLinearModel, X: Any, y: Any, holdout: float, by: str, n_samples: int | None) -> Any:
    intake = model._intake()
    rows = intake.training(X, y)
    if n_samples is None and model.ledger is not None and not isinstance(model.domain, Schema):
        raise LedgerRefused(
            "a declared number of rows, since a ledger is bound",
            "a training that would take n from the data",
            "pass n_samples=..., the public number of rows",
        )
    if n_samples is not None and n_samples != rows.shape[0]:
        remedy = "pass n_samples=..., the public number of rows, or leave it to the schema"
        raise InvalidData(f"the declared {n_samples} rows", f"{rows.shape[0]} rows", remedy)
    certificate = plan_held_out(model, holdout, by, *rows.shape)
    require_told(certificate)
    intake.remember(model, X, rows.shape)

    def evaluating(trained: Carried) -> Evaluated:
        made = certificate.with_release(trained.claim, Release("", "", ()))
        return _as_released(model, made, trained.weights, by)

    model._take(
        release(
            certificate,
            rows.features,
            rows.target,
            noise_source(model.random_state),
            model.ledger,
            unbounded=rows.unbounded,
            evaluating=evaluating,
        )
    )
    return model


def _as_released(model: PrivateLinearModel, certificate: Certificate, weights: Array, by: str) -> Evaluated:
    """Return a model with these weights as an evaluation sees it; the model itself stays as it is."""
    trial = copy.copy(model)
    claim = certificate.claim.trained
    classes: tuple[Label, ...] = ()
    if isinstance(claim, Trained) and isinstance(claim.problem.domain.classes, tuple):
        classes = claim.problem.domain.classes
    trial._take(Released(weights, classes, certificate))
    schema: Schema | None = getattr(trial, "schema_", None)
    if schema is not None and schema.unbounded:
        # A plan, in which bounds are still to be paid for: as many cells as there will be.
        trial.schema_ = schema.with_bounds(dict.fromkeys(schema.unbounded, (-1.0, 1.0)))
    # The certificate will hold this digest, so that its own cannot be part of it.
    digest = hashlib.sha256(model_file.written(trial._saved(), "").encode()).hexdigest()
    return replace(evaluated(trial, by), digest=digest)


def _unit_weights(certificate: Certificate) -> Array:
    """Return weights of length 1, the constant column last: what cells are planned for."""
    claim = certificate.claim.trained
    if not isinstance(claim, Trained):
        raise InvalidParameter("a model with weights", f"a release of kind {claim.kind!r}", "choose another model")
    weights = np.zeros((claim.problem.loss.outputs, certificate.n_features + (claim.problem.intercept > 0)))
    weights[:, 0] = 1.0
    return weights
