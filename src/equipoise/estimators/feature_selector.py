"""Private feature selection: columns whose released weight stands out of the noise."""

from __future__ import annotations

import textwrap
from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Trained
from equipoise.certify.claims.compositions import PostProcessing
from equipoise.data.schema import Schema
from equipoise.data.tables import feature_table
from equipoise.errors import DomainMissing, InvalidParameter, PlanMismatch, ReleaseUnreadable
from equipoise.estimators import model_named
from equipoise.estimators.base import PrivateEstimator, PrivateLinearModel
from equipoise.estimators.elastic_net import ElasticNet, ElasticNetClassifier
from equipoise.estimators.saved import Saved, named
from equipoise.estimators.scikit_learn import MetaEstimatorMixin, SelectorMixin
from equipoise.planning.flips import (
    Deviations,
    FamilyWise,
    Fixed,
    Threshold,
    WeightNoise,
    flip_probabilities,
    real_numbers,
)
from equipoise.vocabulary.facts import Domain
from equipoise.vocabulary.numbers import plain

Array = NDArray[np.float64]

RULES: dict[str, type[Threshold]] = {"deviations": Deviations, "family-wise": FamilyWise, "fixed": Fixed}

# What the default model takes from here, with the defaults that say that nothing was asked for.
OWNED = {
    "epsilon": 1.0,
    "delta": 0.0,
    "domain": None,
    "alpha": "public",
    "l1_ratio": 0.5,
    "random_state": None,
    "public_seed": 0,
    "ledger": None,
}

COLUMNS = 108


class FeatureSelector(MetaEstimatorMixin, SelectorMixin, PrivateEstimator):
    """Trains a private linear model and selects the columns whose released weight is larger than a public threshold.

    The fit of the model is a spend, with a certificate. Comparing its released weights with the threshold is free. A
    private step that is trained afterwards on the selected columns reads the same rows again and is another spend. The
    certificate records the rule of the threshold and says all this.

    Parameters
    ----------
    estimator : a private model of this library, optional
        With noise on its weights: a minimiser with noise on the output, or `SGDClassifier` or `SGDRegressor`; with its
        own budget and domain. Left out, it is an elastic net that takes the parameters below: `ElasticNetClassifier`
        for a domain with classes, `ElasticNet` for one with labels.
    threshold : str or float
        "family-wise:RATE" keeps the probability that any weight of zero is selected at most at the rate;
        "deviations:C" is C standard deviations of the noise in one weight; a number is the threshold itself. Fix it
        before the data are seen.
    epsilon, delta, domain, alpha, l1_ratio, random_state, public_seed, ledger
        As in `ElasticNetClassifier`; only without an estimator.

    Attributes
    ----------
    estimator_ : the released model
        Its noisy weights are all that is kept of the rows.
    threshold_ : float
        The threshold.
    certificate_ : Certificate
        The claim of the fit and its whole argument, with the rule of the threshold; `explain` adds what it means for
        the selection.

    Examples
    --------
    >>> import equipoise as eq
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-0.5, 0.5, size=(20_000, 4))
    >>> y = (X[:, 1] + 0.1 * generator.normal(size=20_000) > 0).astype(int)
    >>> domain = eq.Domain(row_norm=1.0, classes=(0, 1))
    >>> selector = eq.FeatureSelector(domain=domain, l1_ratio=0.1, random_state=0)
    >>> plan = selector.plan(n_samples=20_000, n_features=4)
    >>> selector.expected_flips([0.0, 1.0, 0.0, 0.0]).round(3).tolist()
    [0.012, 0.003, 0.012, 0.012]
    >>> selector.fit(X, y).get_support(indices=True)
    array([1])
    """

    name: ClassVar[str] = "feature-selector"

    estimator: PrivateLinearModel | None = None
    threshold: float | str = "family-wise:0.05"
    _: KW_ONLY
    epsilon: float = 1.0
    delta: float = 0.0
    domain: Domain | Schema | None = None
    alpha: float | str = "public"
    l1_ratio: float = 0.5
    random_state: int | None = None
    public_seed: int = 0
    ledger: str | None = None

    def plan(self, n_samples: int | None = None, n_features: int | None = None) -> Certificate:
        """Return the certificate that `fit` will carry, from public facts alone; `fit` then refuses any other shape."""
        certificate = self._model().plan(n_samples, n_features)
        _threshold(certificate)
        self._planned = certificate
        return certificate

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Train the model on rows and release its noisy weights: one spend, recorded first; values never raise.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Numbers.
        y : array of shape (n_samples,)
            Labels or targets.
        groups : array of shape (n_samples,), optional
            The person that each row belongs to, as in `LogisticRegression`.
        """
        model = self._model()
        planned: Certificate | None = getattr(self, "_planned", None)
        shape = (planned.n_samples, planned.n_features) if planned is not None else feature_table(X).shape
        # A release that cannot be selected from is refused before it is paid for.
        certificate = self._model().plan(*shape)
        _threshold(certificate)
        if planned is not None:
            if certificate != planned:
                raise PlanMismatch("the parameters that were planned", "others, set since then", "call plan() again")
            model.plan(*shape)
        self._take(model._fit_from(X, y, None, groups, lambda: self._saved_of(model)))
        return self

    def _take(self, model: PrivateLinearModel) -> None:
        """Keep a fitted model, and what its certificate says about the threshold."""
        self.threshold_ = _threshold(model.certificate_)
        self.estimator_ = model
        self.certificate_ = model.certificate_
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_

    @property
    def _public_facts(self) -> Domain | Schema | None:
        return self.estimator_.domain

    def _saved(self) -> Saved:
        return self._saved_of(self.estimator_)

    def _saved_of(self, model: PrivateLinearModel) -> Saved:
        return replace(model._saved(), model=named(self), estimator=named(model))

    @classmethod
    def _opened(cls, saved: Saved, certificate: Certificate, facts: Domain | Schema | None) -> Self:
        if saved.estimator is None:
            raise ReleaseUnreadable("the model that a selector trained", "none", "ask for the released folder again")
        kind = model_named(saved.estimator.name)
        inner = kind._opened(replace(saved, model=saved.estimator), certificate, facts)
        # The elastic net that a selector makes for itself is no estimator of the user's.
        selector = cls(**saved.model.parameters(cls), domain=inner.domain)
        if named(selector._unmarked()) != saved.estimator:
            selector = cls(**saved.model.parameters(cls), estimator=clone(inner))
        selector._take(inner)
        return selector

    def expected_flips(self, weights: ArrayLike) -> Array:
        """Return for hypothetical weights the probability that noise flips their selection: exact (F2).

        From the plan, before any row is read, or from the certificate of the fit. Without noise a column is selected
        where its weight is not zero: that of the minimiser, or that which the descent ends at.

        Parameters
        ----------
        weights : array of shape (n_features,), or (n_classes, n_features) for more than two classes
            What the weights might be before noise, in the units of the released ones. Of several classes each weight
            is looked at for itself.

        Returns
        -------
        array of the same shape
            For a weight of zero the probability to be selected, for any other that to be missed.
        """
        certificate = self._certificate()
        values = real_numbers(weights)
        outputs, width = _outputs(certificate), certificate.n_features
        if values.shape not in ((outputs, width), *([(width,)] if outputs == 1 else [])):
            raise InvalidParameter(
                f"weights of shape {(width,) if outputs == 1 else (outputs, width)}",
                f"shape {values.shape}",
                "pass one weight for each column that was planned, the intercept left out",
            )
        return flip_probabilities(values, _threshold(certificate), WeightNoise.of(certificate))

    def explain(self) -> str:
        """Return the argument of the certificate, and what it says about the selection."""
        certificate = self._certificate()
        noise, count = WeightNoise.of(certificate), _compared(certificate)
        threshold = _threshold(certificate)
        zero = float(2 * noise.tail(threshold))
        spend = f"epsilon = {certificate.epsilon:g}, delta = {certificate.delta:g}"
        sentences = (
            f"A column is selected where a released weight is larger than {threshold:.6g} in size: "
            f"{_rule(certificate).words(count)}. The noise in one weight has the standard deviation "
            f"{noise.deviation:.6g}.",
            f"A weight that is zero without noise is selected with probability {zero:.3g}, exactly; among "
            f"{count} of them {count * zero:.3g} are expected (F2, F3).",
            "Comparing released weights with a public threshold is free: the selection is covered by this "
            f"certificate, whose fit is one spend of {spend}.",
            "A private step that follows is not covered: trained on the selected columns it reads the same rows again, "
            "and is another spend with a certificate of its own. The two add up.",
        )
        lines = ["Feature selection"]
        for sentence in sentences:
            lines += textwrap.wrap(sentence, COLUMNS, initial_indent="  ", subsequent_indent="  ")
        return certificate.explain() + "\n" + "\n".join(lines) + "\n"

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "certificate_")
        mask: NDArray[np.bool_] = np.any(np.abs(np.atleast_2d(self.estimator_.coef_)) > self.threshold_, axis=0)
        return mask

    def _certificate(self) -> Certificate:
        found: Certificate | None = getattr(self, "_planned", None) or getattr(self, "certificate_", None)
        if found is None:
            raise InvalidParameter(
                "a plan, from which the law of the noise follows",
                "none yet",
                "call plan(n_samples=..., n_features=...) with the public numbers first",
            )
        return found

    def _model(self) -> PrivateLinearModel:
        """Return the unfitted model, which asks for a certificate that names the rule of the threshold."""
        model = self._unmarked()
        model._selection = read_threshold(self.threshold).name
        return model

    def _unmarked(self) -> PrivateLinearModel:
        """Return a copy of the user's model, or the elastic net for the domain's task."""
        own = {name: getattr(self, name) for name in OWNED}
        if self.estimator is not None:
            return self._given(own)
        if self.domain is None:
            raise DomainMissing(
                "the public facts about the rows, to which FeatureSelector clips them",
                "domain=None, and nothing is ever inferred from the data",
                "write FeatureSelector(domain=Domain(row_norm=1.0, classes=(0, 1)))",
            )
        _refuse_schema(self.domain)
        kind = ElasticNetClassifier if getattr(self.domain, "classes", None) is not None else ElasticNet
        return kind(**own)

    def _given(self, own: dict[str, Any]) -> PrivateLinearModel:
        if not isinstance(self.estimator, PrivateLinearModel):
            found = f"an estimator of type {type(self.estimator).__name__}"
            raise InvalidParameter(
                "a private model of this library", found, "pass eq.ElasticNet(...), or leave it out and pass the domain"
            )
        brought = [name for name, value in own.items() if value != OWNED[name]]
        if brought:
            raise InvalidParameter(
                "one place for the budget and the domain",
                f"an estimator, and {', '.join(brought)} beside it",
                f"pass {', '.join(brought)} to the estimator, or leave the estimator out",
            )
        _refuse_schema(self.estimator.domain)
        model: PrivateLinearModel = clone(self.estimator)
        return model

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that a target is needed, that values are mapped, not refused, and that noise is drawn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        given = self.estimator
        tags.non_deterministic = self.random_state is None if given is None else get_tags(given).non_deterministic
        return tags


def read_threshold(value: object) -> Threshold:
    """Return the rule that a parameter asks for.

    Examples
    --------
    >>> read_threshold("deviations:3"), read_threshold(0.25)
    (Deviations(multiple=3.0), Fixed(value=0.25))
    >>> read_threshold(read_threshold(0.25).name)
    Fixed(value=0.25)
    """
    settled = plain(value)
    if not isinstance(settled, str):
        return Fixed(settled)  # type: ignore[arg-type] # the rule refuses what is no number
    name, _, number = settled.partition(":")
    try:
        return RULES[name](float(number))  # type: ignore[call-arg] # every rule has one number
    except (KeyError, ValueError) as error:
        if isinstance(error, InvalidParameter):
            raise
        raise InvalidParameter(
            'threshold "family-wise:RATE", "deviations:C", or a number',
            f"threshold={settled!r:.80}",
            'pass threshold="family-wise:0.05"',
        ) from None


def _rule(certificate: Certificate) -> Threshold:
    claim = certificate.claim
    return read_threshold(claim.rule if isinstance(claim, PostProcessing) else "")


def _outputs(certificate: Certificate) -> int:
    claim = certificate.claim.trained
    return claim.problem.loss.outputs if isinstance(claim, Trained) else 1


def _threshold(certificate: Certificate) -> float:
    return _rule(certificate).place(WeightNoise.of(certificate), _compared(certificate))


def _compared(certificate: Certificate) -> int:
    """Return how many weights are compared with the threshold: the intercept's is not."""
    return _outputs(certificate) * certificate.n_features


def _refuse_schema(domain: object) -> None:
    if isinstance(domain, Schema):
        raise InvalidParameter(
            "a Domain, so that a column of the table is one weight",
            "a Schema, which turns one raw column into several",
            "put SchemaEncoder(schema) before the selector in a pipeline: encoded rows lie in Domain(row_norm=1.0), "
            "with the schema's classes, or labels in its target's range",
        )
