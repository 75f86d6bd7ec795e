"""`equipoise.evaluate`: scores of private rows, counted in public cells, with noise and a certificate of their own."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from equipoise.artifact import model_file
from equipoise.artifact.folder import load
from equipoise.certify.certificate import Certificate, Terms
from equipoise.certify.claims.evaluation import Cells
from equipoise.data.encoded import encoded_table
from equipoise.data.joined import raw_table
from equipoise.data.products import products
from equipoise.data.schema import Schema
from equipoise.data.tables import require_labels, target_column
from equipoise.data.unread import Unread
from equipoise.errors import InvalidData, InvalidParameter, LedgerRefused
from equipoise.estimators.base import PrivateLinearModel, dataset_of
from equipoise.estimators.classifier import PrivateClassifier
from equipoise.estimators.intake import PlainRows, refuse_persons
from equipoise.estimators.scoring import PredictionFacts
from equipoise.evaluation.evaluation import Evaluation
from equipoise.noise import noise_source
from equipoise.planning.evaluation import EvaluationRequest, bins, issue_evaluation, margins_between, noise_on_counts
from equipoise.release import release
from equipoise.vocabulary.facts import Budget, Label
from equipoise.vocabulary.numbers import require_count

Array = NDArray[np.float64]


def evaluate(
    model: PrivateLinearModel | str | os.PathLike[str],
    X: Any,
    y: Any = None,
    *,
    epsilon: float,
    delta: float = 0.0,
    ledger: str | None = None,
    groups: Any = None,
    n_samples: int | None = None,
    random_state: int | None = None,
) -> Evaluation:
    """Count private rows by their true class and by what a released model says of them, with noise, once (N4).

    Every figure is computed from these counts and costs nothing more. The spend is recorded first, and values never
    raise: they are mapped into the model's domain as in training, and an unknown label counts as the first class.

    Parameters
    ----------
    model : fitted classifier, or the path of a released folder
        What is evaluated. Its release is named by the certificate.
    X, y : table and target
        Rows that had no part in the model or in its choice; as `fit` takes them. A model with a schema takes raw
        columns, a file opened by `equipoise.open_table`, and the target as a column.
    epsilon, delta : float
        What the counts may cost. Any of the figures alone would cost as much.
    ledger : str, optional
        The URL or name of the ledger that must admit the spend before a row is read.
    groups : None
        Nothing is proved about all rows of a person.
    n_samples : int, optional
        The declared number of rows. Where a ledger is bound it never comes from the data; a file of text does not
        tell it.
    random_state : int, optional
        None draws from the operating system. A seed makes the counts repeatable and unfit for release.

    Examples
    --------
    >>> import numpy as np
    >>> import equipoise as eq
    >>> X = np.random.default_rng(0).uniform(-0.5, 0.5, (6000, 3))
    >>> y = (X[:, 0] + 0.3 * X[:, 1] + np.random.default_rng(1).normal(0.0, 0.2, 6000) > 0).astype(int)
    >>> model = eq.LogisticRegression(domain=eq.Domain(1.0, classes=(0, 1)), random_state=0).fit(X[:4000], y[:4000])
    >>> evaluation = eq.evaluate(model, X[4000:], y[4000:], epsilon=1.0, random_state=0)
    >>> evaluation.counts.counts.shape, evaluation.certificate.verify()
    ((1, 2, 16), ())
    >>> round(evaluation.accuracy, 2)
    0.85
    """
    given: Any = load(model) if isinstance(model, str | os.PathLike) else model
    found = _evaluated(given)
    refuse_persons("an evaluation", groups, found.facts.domain)
    features, target = _rows(given, X, y, n_samples)
    if ledger is not None and n_samples is None:
        raise LedgerRefused(
            "a declared number of rows, since a ledger is bound",
            "an evaluation that would take n from the data",
            "pass n_samples=..., the public number of rows",
        )
    asked, source = Budget(epsilon, delta), noise_source(random_state)
    about = found.certificate.terms
    terms = Terms(
        features.shape[0],
        features.shape[1],
        seeded=source.seeded,
        ledger=dataset_of(ledger),
        schema=about.schema,
        vouched=about.vouched,
    )
    cells = found.cells(bins(terms.n_samples, len(found.labels), noise_on_counts(asked)))
    certificate = issue_evaluation(EvaluationRequest(terms, asked, found.release, found.digest, cells))
    released = release(certificate, features, target, source, ledger, score=found.scores)
    return Evaluation(released.certificate, found.schema)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """A released model as an evaluation sees it: what was released, and public facts."""

    certificate: Certificate
    facts: PredictionFacts
    schema: Schema | None
    labels: tuple[Label, ...]
    weights: Array
    intercepts: Array
    # The SHA-256 of its model.json.
    digest: str

    @property
    def release(self) -> str:
        """The id of its release."""
        return "" if self.certificate.release is None else self.certificate.release.id

    def scores(self, rows: Any) -> Array:
        """Return the model's margins of rows, a column an output, mapped into the domain as in training."""

        def times(columns: Array) -> Array:
            return products(rows, self.facts.domain, columns)

        margins = times(self.weights.T)
        self.facts.shortened(margins, times)
        return margins + self.intercepts

    def cells(self, count: int) -> Cells:
        """Return public cells of so many bins.

        Shares of the second of two classes are divided where its margin can be, given the released weights and the row
        norm. Those of the predicted one of C classes lie between 1/C and 1, and are divided evenly.
        """
        if len(self.labels) > 2:
            shares = np.linspace(1 / len(self.labels), 1.0, count + 1)[1:-1]
        else:
            reach = float(np.linalg.norm(self.weights)) * self.facts.domain.row_norm
            shares = expit(np.array(margins_between(float(self.intercepts[0]), reach, count)))
        return Cells(tuple(sorted(set(shares.tolist()))), self.labels)


def _evaluated(model: Any) -> Evaluated:
    """Return a classifier of this version, with what it released."""
    if not isinstance(model, PrivateClassifier):
        found, remedy = f"a {type(model).__name__}", "pass a fitted classifier, or the folder of one"
        raise InvalidParameter("a private classifier, which can be evaluated", found, remedy)
    check_is_fitted(model, "coef_")
    certificate, labels = model.certificate_, tuple(model.classes_.tolist())
    if not isinstance(certificate, Certificate):
        remedy = "train again with this version"
        raise InvalidParameter("a model with a certificate of this version", "one of an older version", remedy)
    if len(labels) < 2:
        raise InvalidParameter("a model of two classes or more", f"{len(labels)}", "declare the classes in its domain")
    text = model_file.written(model._saved(), certificate.digest)
    return Evaluated(
        certificate,
        model._facts,
        model.domain if isinstance(model.domain, Schema) else None,
        labels,
        np.atleast_2d(model.coef_),
        np.atleast_1d(model.intercept_),
        hashlib.sha256(text.encode()).hexdigest(),
    )


def _rows(model: PrivateClassifier, X: Any, y: Any, n_samples: int | None) -> tuple[Unread, Unread]:
    """Return rows and true classes, unread; whatever names and types can tell is told now."""
    remedy = "pass n_samples=..., the public number of rows"
    schema: Schema | None = getattr(model, "schema_", None)
    if schema is None:
        table = PlainRows(model._facts.domain).known_columns(model, X)
        target = target_column(y, table.shape[0])
        require_labels(target, tuple(model.classes_.tolist()))
        if n_samples is not None and table.shape[0] != require_count("n_samples", n_samples, remedy):
            raise InvalidData(f"the declared {n_samples} rows", f"{table.shape[0]} rows", remedy)
        return table, target
    raw = raw_table(X, schema.target.name, y)
    encoded = encoded_table(schema, raw, require_count("n_samples", n_samples or raw.n_samples, remedy))
    return encoded.features, encoded.target
