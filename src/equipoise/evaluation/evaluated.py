"""A released model as an evaluation sees it: what was released, public facts, and the cells that follow from them."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp
from sklearn.utils.validation import check_is_fitted

from equipoise.artifact import model_file
from equipoise.certify.certificate import Certificate
from equipoise.certify.claims import Noise
from equipoise.certify.claims.evaluation import Cells
from equipoise.certify.claims.evaluation import Evaluation as EvaluationClaim
from equipoise.data.products import products
from equipoise.data.rows import centred_targets, class_positions
from equipoise.data.schema import Column, Schema
from equipoise.data.tables import require_labels
from equipoise.data.unread import Unread
from equipoise.errors import InvalidData, InvalidParameter
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.estimators.regressor import PrivateRegressor
from equipoise.estimators.scoring import PredictionFacts, within_range
from equipoise.evaluation.grouping import groups_of, levels_of
from equipoise.evaluation.histogram import NoisyCounts
from equipoise.evaluation.looked import edges_after
from equipoise.evaluation.several_classes import number_of
from equipoise.planning.evaluation import (
    USUAL_RESIDUAL,
    bins,
    bins_of_numbers,
    bins_of_shares,
    cells_of_targets,
    edges_around,
    edges_of_margins,
    rest_of,
)
from equipoise.vocabulary.facts import Label
from equipoise.wording import of_type

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated(ABC):
    """A released linear model: weights, a row an output, and what maps rows and targets as in training."""

    certificate: Certificate
    facts: PredictionFacts
    # The schema as it was declared, and with the bounds that were paid for.
    declared: Schema | None
    schema: Schema | None
    labels: tuple[Label, ...]
    weights: Array
    intercepts: Array
    # The SHA-256 of its model.json.
    digest: str
    # The column of levels by which rows are told apart.
    by: Column | None = None
    # Of one class against the rest: the model's classes, and which of them it is.
    classes: tuple[Label, ...] = ()
    place: int = 0
    # What an earlier evaluation released, from which bins of two classes follow.
    looked: NoisyCounts | None = None

    @property
    def release(self) -> str:
        """The id of its release."""
        return "" if self.certificate.release is None else self.certificate.release.id

    @property
    def further(self) -> bool:
        """Whether rows are counted once more: all but those of two classes."""
        return len(self.labels) != 2

    @abstractmethod
    def cells(self, n_samples: int, noise: Noise) -> Cells:
        """Return the public cells for so many rows and so much noise on a count."""

    def after(self, looked: EvaluationClaim) -> Evaluated:
        """Return the same model, of which an evaluation has released these counts: bins follow from them."""
        return dataclasses.replace(self, looked=NoisyCounts.of(looked))

    @abstractmethod
    def known_target(self, target: Unread) -> Unread:
        """Return the target as the cells take it, still unread; a type that can hold none is refused."""

    def groups(self, rows: Any) -> NDArray[np.int64]:
        """Return the level of each encoded row: every row has exactly one, an unknown value that which is declared."""
        if self.by is None or self.schema is None:
            return np.zeros(rows.shape[0], dtype=np.int64)
        return groups_of(rows, self.schema, self.by)

    def _rows_a_group(self, n_samples: int) -> int:
        """Return how many rows a group has if all have as many: what is summed over groups has the noise of each."""
        return n_samples if self.by is None else n_samples // len(self.by.groups())

    def _apart(self) -> dict[str, Any]:
        """Return what cells say of groups."""
        return {} if self.by is None else {"groups": self.by.groups(), "by": self.by.name}

    def scores(self, rows: Any) -> Array:
        """Return what the model says of rows, a column an output, mapped into the domain as in training."""

        def times(columns: Array) -> Array:
            return products(rows, self.facts.domain, columns)

        margins = times(self.weights.T)
        self.facts.shortened(margins, times)
        return margins + self.intercepts


class EvaluatedClassifier(Evaluated):
    """One of classes: scores are margins."""

    def cells(self, n_samples: int, noise: Noise) -> Cells:
        """Return bins of shares.

        Shares of the second of two classes are divided where its margin can be, given the released weights and the row
        norm. Those of the predicted one of C classes lie between 1/C and 1, and are divided evenly; those of the true
        one, by which rows are counted once more, where differences of margins can be.
        """
        true_shares: tuple[float, ...] = ()
        if len(self.labels) > 2:
            count = bins(self._rows_a_group(n_samples), len(self.labels), noise)
            shares = np.linspace(1 / len(self.labels), 1.0, count + 1)[1:-1]
            true_shares = self._true_shares(bins_of_shares(n_samples, noise))
        else:
            shares = expit(np.array(self._edges(self._rows_a_group(n_samples), noise)))
        edges = tuple(sorted(set(shares.tolist())))
        return Cells(edges, self.labels, true_shares=true_shares, **self._apart())

    def _margins(self) -> tuple[float, float]:
        """Return the middle of where margins of the second of two classes can lie, and how far from it."""
        return float(self.intercepts[0]), float(np.linalg.norm(self.weights)) * self.facts.domain.row_norm

    def _edges(self, n_samples: int, noise: Noise) -> tuple[float, ...]:
        """Return edges of margins: by where these can be, or by where they were seen."""
        centre, reach = self._margins()
        if self.looked is None:
            return edges_of_margins(centre, reach, self.weights.shape[1], bins(n_samples, 2, noise))
        return edges_after(self.looked, (centre - reach, centre + reach), n_samples, noise)

    def _true_shares(self, count: int) -> tuple[float, ...]:
        """Return edges of bins of a class's share, by where the margins of any two classes can lie apart.

        If that is `reach`, the logit of a share lies within ``-log(classes - 1)`` plus or minus it. A row that points
        in no direction in particular comes about as far as ``reach/sqrt(columns)``.
        """
        squares, (classes, columns) = self.weights @ self.weights.T, self.weights.shape
        apart = np.sqrt(np.maximum(np.diag(squares)[:, None] + np.diag(squares) - 2.0 * squares, 0.0))
        lifted = np.abs(self.intercepts[:, None] - self.intercepts)
        reach = float(np.max(apart * self.facts.domain.row_norm + lifted))
        logits = edges_around(-math.log(classes - 1), reach, reach / math.sqrt(columns), count)
        return tuple(sorted(set(expit(np.array(logits)).tolist())))

    def known_target(self, target: Unread) -> Unread:
        """Return the labels as they are; those of a schema were looked at with its columns."""
        if self.schema is None:
            require_labels(target, self.labels)
        return target


class EvaluatedAgainstTheRest(EvaluatedClassifier):
    """One of several classes against all others: the score is its share, and the margin the log odds of that."""

    def _margins(self) -> tuple[float, float]:
        """Return the margin of a row of zeros, and how far from it any row's can lie.

        The margin is ``-log sum exp(-d)`` over the other classes, d the difference of the class's margin and another's.
        If no d moves by more than r, it moves by no more than r; a row moves each by at most ``|w - w'| row_norm``.
        """
        apart = np.linalg.norm(self.weights[self.place] - self.weights, axis=1)
        return float(self._against(self.intercepts[None])[0]), float(np.max(apart)) * self.facts.domain.row_norm

    def _against(self, margins: Array) -> Array:
        others = np.delete(margins, self.place, axis=1)
        return np.asarray(margins[:, self.place] - logsumexp(others, axis=1))

    def scores(self, rows: Any) -> Array:
        """Return the log odds of the class's share, as one column."""
        return self._against(super().scores(rows))[:, None]

    def known_target(self, target: Unread) -> Unread:
        """Return whether rows are of the class, in the names that cells have; an unknown label as in training."""
        if self.schema is None:
            require_labels(target, self.classes)
        rest, classes, place = self.labels[0], self.classes, self.place

        def read() -> NDArray[Any]:
            named = np.array([rest] * len(classes), dtype=object)
            named[place] = classes[place]
            told: NDArray[Any] = named[class_positions(target.read(), classes).astype(np.int64)]
            return told

        return Unread(target.shape, False, read)


class EvaluatedRegressor(Evaluated):
    """One of numbers: predictions and targets in the target's own units, inside its declared range."""

    def _range(self) -> tuple[float, float]:
        ends = np.array([[-self.facts.domain.label_bound], [self.facts.domain.label_bound]])
        low, high = within_range(ends + self.facts.domain.label_centre, self.facts.domain, self.schema).tolist()
        return low, high

    def cells(self, n_samples: int, noise: Noise) -> Cells:
        """Return bins of predictions, evenly in the range, and of residuals, more finely around 0.

        Targets, by which rows are counted once more, are dealt to cells whose knots lie evenly in the range.
        """
        predictions, residuals = bins_of_numbers(self._rows_a_group(n_samples), noise)
        low, high = self._range()
        inner = np.linspace(low, high, predictions + 1)[1:-1]
        return Cells(
            edges_around(0.0, high - low, USUAL_RESIDUAL * (high - low), residuals),
            predictions=tuple(inner.tolist()),
            range=(low, high),
            targets=tuple(np.linspace(low, high, cells_of_targets(n_samples, noise) - 1).tolist()),
            **self._apart(),
        )

    def scores(self, rows: Any) -> Array:
        """Return the predictions, as one column."""
        return within_range(super().scores(rows), self.facts.domain, self.schema)[:, None]

    def known_target(self, target: Unread) -> Unread:
        """Return the target clipped into its range, in its own units; what is no number lies in the middle."""
        if not target.numeric:
            found, remedy = "a target of text or objects", "convert it by a public rule"
            raise InvalidData("a numeric target", found, remedy)
        domain, schema = self.facts.domain, self.schema

        def read() -> Array:
            return within_range((centred_targets(target.read(), domain) + domain.label_centre)[:, None], domain, schema)

        return Unread(target.shape, True, read)


def evaluated(model: Any, by: str = "", positive: Label | None = None) -> Evaluated:
    """Return a linear model of this version, with what it released; anything else is refused.

    `by` names the column of levels by which rows are to be told apart, `positive` the one of several classes that is
    evaluated against all others.
    """
    if not isinstance(model, PrivateClassifier | PrivateRegressor):
        found, remedy = (
            of_type(model),
            "pass a fitted classifier or regressor, or the folder of one",
        )
        raise InvalidParameter("a private model that predicts, which can be evaluated", found, remedy)
    check_is_fitted(model, "coef_")
    certificate, labels = model.certificate_, tuple(getattr(model, "classes_", np.array([])).tolist())
    if not isinstance(certificate, Certificate):
        remedy = "train again with this version"
        raise InvalidParameter("a model with a certificate of this version", "one of an older version", remedy)
    if len(labels) == 1:
        raise InvalidParameter("a model of two classes or more", "one class", "declare the classes in its domain")
    made = (EvaluatedClassifier if labels else EvaluatedRegressor)(
        certificate,
        model._facts,
        facts.as_certified(certificate.terms.schema) if isinstance(facts := model._public_facts, Schema) else None,
        getattr(model, "schema_", None),
        labels,
        np.atleast_2d(model.coef_),
        np.atleast_1d(model.intercept_),
        _digest(model, certificate),
        levels_of(getattr(model, "schema_", None), by) if by else None,
    )
    return made if positive is None else _against_the_rest(made, positive)


def _against_the_rest(found: Evaluated, positive: Label) -> Evaluated:
    """Return the evaluation of one of several classes against all others."""
    asked = f"positive={positive!r:.80}"
    if len(found.labels) < 3:
        what = "a model of two classes, whose second one is the positive" if found.labels else "a regression"
        raise InvalidParameter(f"{asked}, one of several classes", what, "leave positive out")
    classes, place = found.labels, number_of(positive, found.labels, asked)
    fields = {each.name: getattr(found, each.name) for each in dataclasses.fields(found)}
    labels = (rest_of(classes[place]), classes[place])
    return EvaluatedAgainstTheRest(**{**fields, "labels": labels, "classes": classes, "place": place})


def _digest(model: PrivateLinearModel, certificate: Certificate) -> str:
    return hashlib.sha256(model_file.written(model._saved(), certificate.digest).encode()).hexdigest()
