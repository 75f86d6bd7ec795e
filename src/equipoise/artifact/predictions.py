"""Predictions from a released folder without its estimator, which takes longer to load than most tables to predict."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.artifact.reading import ReadRelease, read_release
from equipoise.certify.claims import Trained
from equipoise.certify.claims.private_bounds import PrivateBounds
from equipoise.data.raw import RawTable
from equipoise.data.schema import Schema
from equipoise.estimators.scoring import PredictionFacts, decisions, encoded_products, within_range


class Predictor:
    """A released linear model with a schema: it says what `equipoise.load` says of the same table, bit for bit."""

    def __init__(self, release: ReadRelease, schema: Schema, claim: Trained) -> None:
        saved, nodes = release.saved, release.certificate.claim.nodes()
        bounds = (node.released or () for node in nodes if isinstance(node, PrivateBounds))
        paid = {entry.column: (entry.low, entry.high) for released in bounds for entry in released}
        seeded = release.certificate.terms.seeded
        schema = schema.reopened(seeded)
        self.schema_ = schema.with_bounds(paid, seeded) if paid else schema
        self._facts = PredictionFacts.of(release.certificate)
        self._weights = np.array(saved.coefficients).T
        self._intercepts = np.array(saved.intercepts)
        self._classes = np.array(saved.classes) if claim.problem.loss.task == "classification" else None

    @property
    def labels(self) -> tuple[Any, ...]:
        """The classes; none of a regression."""
        return () if self._classes is None else tuple(self._classes.tolist())

    def scores(self, table: RawTable) -> NDArray[np.float64]:
        """Return what the model computes of every row, a column an output."""
        with np.errstate(all="ignore"):
            scores = encoded_products(self.schema_, table, self._weights)
            self._facts.shortened(scores, lambda columns: encoded_products(self.schema_, table, columns))
            scores += self._intercepts
        return scores

    def decided(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Return the class or the number that scores say."""
        if self._classes is None:
            return within_range(scores, self._facts.domain, self.schema_)
        return decisions(scores, self._classes)

    def predict(self, table: RawTable) -> NDArray[Any]:
        """Return the class or the number that the model says of every row."""
        return self.decided(self.scores(table))


def predictor(folder: str | os.PathLike[str]) -> Predictor | None:
    """Return what predicts by a released folder; None where it takes the estimator itself to say how, or to refuse."""
    release = read_release(folder)
    if not isinstance(release, ReadRelease) or release.schema is None or release.saved.estimator is not None:
        return None
    claim = release.certificate.claim.trained
    return Predictor(release, release.schema, claim) if isinstance(claim, Trained) else None
