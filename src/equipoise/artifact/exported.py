"""A released model as other programs need it: weights, public rules, and what it was made from."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.artifact.column_rules import PREDICT, Rule, rules_of
from equipoise.artifact.folder import opened
from equipoise.artifact.reading import read_release
from equipoise.certify.certificate import Certificate
from equipoise.data.encoder import Encoder
from equipoise.data.schema import Schema
from equipoise.errors import InvalidParameter
from equipoise.estimators.base import PrivateLinearModel
from equipoise.estimators.scoring import PredictionFacts, within_range
from equipoise.vocabulary.facts import Label

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Exported:
    """What is exported of a release: post-processing, which its certificate covers.

    Attributes
    ----------
    release, certificate : str
        The id of the release, empty where it has none, and the digest of its certificate.
    model : str
        The estimator's name.
    features : tuple of str
        The names of the encoded columns.
    weights, intercepts : arrays of shape (outputs, features) and (outputs,)
        As they were released: of encoded rows, whose norm is at most 1.
    classes : tuple of labels
        Those of a classification, empty for a regression.
    probabilities : bool
        Whether scores are log odds.
    range : (low, high)
        Between which the scores of a regression are kept.
    facts : PredictionFacts
        What predictions need besides weights.
    schema : Schema, optional
        By which raw columns are encoded.
    """

    release: str
    certificate: str
    model: str
    features: tuple[str, ...]
    weights: Array
    intercepts: Array
    classes: tuple[Label, ...]
    probabilities: bool
    range: tuple[float, float]
    facts: PredictionFacts
    schema: Schema | None

    @property
    def origin(self) -> str:
        """Where it comes from and what that promises, in a sentence or two."""
        release = f"the release {self.release}" if self.release else "a release without an id"
        return (
            f"Made from {release}, whose certificate has the digest {self.certificate}. It is computed from what was "
            "released and spends no privacy: that certificate covers it as it stands."
        )

    @property
    def encoding(self) -> Schema:
        """The schema of a model that has one."""
        assert self.schema is not None  # noqa: S101 - rows of others are plain
        return self.schema

    @property
    def plain_columns(self) -> tuple[str, ...]:
        """The names of the columns of a model without a schema; refuse one name for several of them."""
        twice = [name for place, name in enumerate(self.features) if name in self.features[:place]]
        if twice:
            raise InvalidParameter(
                "columns of different names", f"{twice[0]} twice", "export --to onnx, which takes them by their places"
            )
        return self.features

    @property
    def directions(self) -> Array:
        """The few random directions in which rows are clipped again, of shape (directions, features); none for most."""
        found = self.facts.directions
        return np.empty((0, self.weights.shape[1])) if found is None else found.T

    @property
    def rules(self) -> list[Rule]:
        """What becomes of the values of every raw column."""
        return rules_of(self.encoding)

    @property
    def row_norm(self) -> float:
        """What encoded rows are divided by, or by their length where that is larger."""
        schema = self.encoding
        return schema.longest_row if schema.row_norm is None else schema.row_norm

    @property
    def clips_rows(self) -> bool:
        """Whether a row can be longer than the norm."""
        return self.row_norm < self.encoding.longest_row

    def in_units(self) -> tuple[float, float]:
        """Return what the two ends of a regression's range are in units of the target."""
        low, high = within_range(np.array([[self.range[0]], [self.range[1]]]), self.facts.domain, self.schema)
        return float(low), float(high)


def exported(folder: str | os.PathLike[str]) -> Exported:
    """Return what is exported of a released folder; refuse one that was altered, or that holds no linear model."""
    model: Any = opened(read_release(folder))
    if not isinstance(model, PrivateLinearModel):
        asked, remedy = "a linear model, which is a table of weights", f"{PREDICT}, where it predicts"
        raise InvalidParameter(asked, f"a {type(model).__name__}", remedy)
    certificate: Certificate = model.certificate_
    schema: Schema | None = getattr(model, "schema_", None)
    if schema is not None:
        Encoder(schema)  # refuses a schema with blanks
    weights, facts = np.atleast_2d(model.coef_), PredictionFacts.of(certificate)
    domain, made = facts.domain, certificate.release
    names = schema.encoded_names() if schema is not None else _feature_names(model, weights.shape[1])
    return Exported(
        made.id if made is not None else "",
        certificate.digest,
        type(model).name,
        names,
        weights,
        np.atleast_1d(model.intercept_),
        tuple(model.classes_.tolist()) if hasattr(model, "classes_") else (),
        hasattr(model, "predict_proba"),
        (domain.label_centre - domain.label_bound, domain.label_centre + domain.label_bound),
        facts,
        schema,
    )


def _feature_names(model: Any, count: int) -> tuple[str, ...]:
    names = getattr(model, "feature_names_in_", None)
    return tuple(f"x{place}" for place in range(count)) if names is None else tuple(map(str, names))
